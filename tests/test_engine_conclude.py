"""Conclusions: one finding for one cause on one subject, roots before what they explain, what is undecided as candidates, the verdict."""

from __future__ import annotations

import time
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.engine.diagnose import report as conclude
from gpudoctor.engine.evaluate import Hit
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.store import Store
from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.identity import Links
from gpudoctor.facts.kubernetes import Pod, Workload
from gpudoctor.facts.scheduling import Wait
from gpudoctor.report import EXIT_CODES, Report, Verdict
from gpudoctor.runbook.model import Check, Library, Runbook
from tests.engine_fakes import cause

BOOK = Runbook(id="book", title="T")
CAUSES = {
    one.id: one
    for one in (
        cause("lost-gpu", "gpu", explains=("short-node",), severity="critical"),
        cause("short-node", "node", explains=("waiting-pod",)),
        cause("broken-plugin", "pod", explains=("short-node",)),
        cause("unplugged-gpu", "gpu", explains=("short-node", "lost-gpu")),
        cause("broken-driver", "node", explains=("lost-gpu", "short-node")),
        cause("waiting-pod", "pod", explains=("stuck-job",)),
        cause("stuck-job", "workload"),
        cause("hint", "pod", severity="info"),
        cause("egg", "pod", explains=("hen",)),
        cause("hen", "pod", explains=("egg",)),
        cause("rock", "pod", explains=("scissors",)),
        cause("scissors", "pod", explains=("paper",)),
        cause("paper", "pod", explains=("rock",)),
        cause("no-plugin-at-all", "cluster", explains=("short-node",)),
        cause("broad", "pod", broader=True),
        cause("narrow", "pod"),
        cause("tainted", "pod", layer="scheduling"),
        cause("lost-node", "node", fixes=[{"title": "look", "risk": "safe", "run": ["kubectl", "describe", "node", "${node}"]}]),
    )
}
LIBRARY = Library(causes=CAUSES)
GPU = Subject(kind="gpu", node="n1", gpu="GPU-1")
NODE = Subject(kind="node", node="n1")
POD = Subject(kind="pod", namespace="ml", pod="train-0")
OTHER = Subject(kind="pod", namespace="web", pod="serve-0")
WAITS = [Wait(namespace="ml", pod="train-0", node="n1", lost=1)]


def found(
    name: str,
    *subjects: Subject,
    time: float | None = None,
    confidence: str = "confirmed",
    check: str = "",
    text: str = "",
    title: str = "",
) -> Checked:
    hits = [
        Hit(
            title=f"{title or name} on {s.name}",
            subject=s,
            time=time,
            origins=[Origin(source="log", line=1, text=text or f"{name} {s.name}")],
            settle_with=["look"],
        )
        for s in subjects
    ]
    made: Any = Check(id=check or name.replace("-", "_"), finds=name, confidence=confidence)  # type: ignore[arg-type]
    return Checked(book=BOOK, check=made, outcome="found", hits=hits)


def other(outcome: Any, name: str = "narrow", check: str = "c") -> Checked:
    return Checked(book=BOOK, check=Check(id=check, finds=name), outcome=outcome, why="403" if outcome == "unknown" else "")


def report(*checked: Checked, **facts: list[Any]) -> Report:
    store = Store()
    store.put(0, facts)
    return conclude(LIBRARY, store, list(checked), started=0.0)


def lines(made: Report) -> list[tuple[str, str, str]]:
    return [(one.cause, one.subject.name, one.role) for one in made.findings]


# --- one cause on one subject


def test_the_same_cause_on_the_same_subject_is_one_finding_with_the_evidence_of_all() -> None:
    made = report(
        found("lost-gpu", GPU, time=20.0, confidence="likely", text="from the log"),
        found("lost-gpu", GPU, time=10.0, check="smi", text="from nvidia-smi"),
    )
    (one,) = made.findings
    assert (one.confidence, one.check, one.time) == ("confirmed", "book.smi", "1970-01-01T00:00:10Z")
    assert {line.text for line in one.evidence} == {"from the log", "from nvidia-smi"}


def test_a_pod_is_the_same_whether_its_node_was_seen_or_not() -> None:
    placed = Subject(kind="pod", namespace="ml", pod="train-0", node="n1", container="main", component="x")
    made = report(found("waiting-pod", POD, text="event"), found("waiting-pod", placed, check="status", text="status"))
    assert lines(made) == [("waiting-pod", "ml/train-0", "root")]
    assert made.findings[0].subject.node == "n1"
    assert len(made.findings[0].evidence) == 2


def test_a_subject_is_narrowed_to_what_the_cause_is_about() -> None:
    plugin = Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", node="n1")
    assert lines(report(found("short-node", plugin))) == [("short-node", "n1", "root")]
    assert report(found("no-plugin-at-all", plugin)).findings[0].subject.kind == "cluster"
    assert lines(report(found("lost-gpu", plugin))) == [("lost-gpu", "gpu-operator/plugin-x", "root")]


def test_a_gpu_has_one_name_where_its_pair_was_seen() -> None:
    by_address = Subject(kind="gpu", node="n1", gpu="0000:1b:00")
    elsewhere = Subject(kind="gpu", node="n2", gpu="0000:1b:00")
    seen = [Gpu(node="n1", gpu="GPU-1", uuid="GPU-1", pci="0000:1b:00")]
    assert [name for _, name, _ in lines(report(found("lost-gpu", by_address), found("lost-gpu", GPU, check="b"), gpus=seen))] == [
        "n1/GPU-1"
    ]
    made = report(found("lost-gpu", elsewhere), found("lost-gpu", GPU, check="b"), gpus=seen)
    assert [one.also for one in made.findings] == [["n1/GPU-1"]]
    made = report(found("lost-gpu", by_address), found("lost-gpu", GPU, check="b"))
    assert made.findings[0].also == ["n1/GPU-1"]  # without the pair nothing says that they are one


def test_findings_of_one_cause_on_many_subjects_are_folded() -> None:
    pods = [Subject(kind="pod", namespace="ml", pod=f"p{n}") for n in range(5)]
    made = report(found("narrow", *pods))
    assert lines(made) == [("narrow", "ml/p0", "root")]
    assert made.findings[0].also == ["ml/p1", "ml/p2", "ml/p3", "ml/p4"]
    assert len(made.findings[0].evidence) == 4


def test_what_pods_lack_is_folded_only_where_it_is_the_same() -> None:
    first, second = [Subject(kind="pod", namespace="ml", pod=f"p{n}") for n in (0, 1)], Subject(kind="pod", namespace="web", pod="q")
    same = report(
        found("tainted", *first, title="3 of 5 nodes have team=vision"), found("tainted", second, title="2 of 5 nodes have team=vision")
    )
    assert [(one.subject.name, one.also) for one in same.findings] == [("ml/p0", ["ml/p1", "web/q"])]
    differ = report(found("tainted", *first, title="nodes have team=vision"), found("tainted", second, title="nodes have spot=true"))
    assert [(one.subject.name, one.also) for one in differ.findings] == [("ml/p0", ["ml/p1"]), ("web/q", [])]


def test_fixes_have_the_node_that_the_check_names() -> None:
    for named, wanted in (("n7", "n7"), ("n[1-2]", "<node>"), ("", "<node>")):
        one = found("lost-node", POD)
        one = msgspec.structs.replace(one, hits=[msgspec.structs.replace(hit, node=named) for hit in one.hits])
        (made,) = report(one).findings
        assert (made.subject.name, made.fixes[0].run[-1]) == ("ml/train-0", wanted)


def test_what_has_another_explanation_is_not_folded() -> None:
    made = report(found("short-node", NODE), found("waiting-pod", POD, OTHER), waits=WAITS)
    assert lines(made) == [("short-node", "n1", "root"), ("waiting-pod", "web/serve-0", "root"), ("waiting-pod", "ml/train-0", "symptom")]
    assert [one.explained_by for one in made.findings] == [[], [], ["short-node"]]


# --- who explains whom


def test_a_chain_from_the_gpu_to_the_pod_that_waits_for_it() -> None:
    made = report(found("waiting-pod", POD, OTHER), found("short-node", NODE), found("lost-gpu", GPU), waits=WAITS)
    assert lines(made) == [
        ("lost-gpu", "n1/GPU-1", "root"),
        ("waiting-pod", "web/serve-0", "root"),
        ("waiting-pod", "ml/train-0", "symptom"),
        ("short-node", "n1", "symptom"),
    ] or sorted(lines(made)) == sorted(
        [
            ("lost-gpu", "n1/GPU-1", "root"),
            ("waiting-pod", "web/serve-0", "root"),
            ("waiting-pod", "ml/train-0", "symptom"),
            ("short-node", "n1", "symptom"),
        ]
    )
    assert made.findings[0].cause == "lost-gpu"
    assert made.findings[0].explains == ["short-node", "waiting-pod"]
    roles = [one.role for one in made.findings]
    assert roles == sorted(roles)  # root before symptom


def test_a_pod_that_does_not_wait_for_the_node_is_not_explained() -> None:
    made = report(found("waiting-pod", OTHER), found("lost-gpu", GPU), waits=WAITS)
    assert [one.role for one in made.findings] == ["root", "root"]


def test_a_pod_explains_its_workload_and_a_node_the_workload_of_its_pods() -> None:
    pods = [Pod(namespace="ml", pod="train-0", node="n1", workload="Job/train")]
    job, twin = (
        Subject(kind="workload", namespace="ml", workload="Job/train"),
        Subject(kind="workload", namespace="web", workload="Job/train"),
    )
    assert lines(report(found("stuck-job", job), found("waiting-pod", POD), pods=pods))[0] == ("waiting-pod", "ml/train-0", "root")
    made = report(found("stuck-job", job, twin), found("lost-gpu", GPU), pods=pods)
    assert lines(made) == [
        ("lost-gpu", "n1/GPU-1", "root"),
        ("stuck-job", "web/Job/train", "root"),
        ("stuck-job", "ml/Job/train", "symptom"),
    ]


def test_the_owner_of_an_owner_is_the_same_work() -> None:
    pods = [Pod(namespace="ml", pod="web-5d-x", node="n1", workload="ReplicaSet/web-5d")]
    sets = [Workload(namespace="ml", workload="ReplicaSet/web-5d", kind="ReplicaSet", name="web-5d", owner="Deployment/web")]
    deployment = Subject(kind="workload", namespace="ml", workload="Deployment/web")
    pod = Subject(kind="pod", namespace="ml", pod="web-5d-x")
    assert lines(report(found("stuck-job", deployment), found("waiting-pod", pod), pods=pods, workloads=sets))[1][2] == "symptom"
    assert lines(report(found("stuck-job", deployment), found("lost-gpu", GPU), pods=pods, workloads=sets))[1][2] == "symptom"


@pytest.mark.parametrize(
    ("first", "second", "role"),
    [
        (10.0, 20.0, "symptom"),
        (20.0, 20.0, "symptom"),
        (21.0, 20.0, "symptom"),
        (30.0, 20.0, "root"),
        (None, 20.0, "symptom"),
        (30.0, None, "symptom"),
    ],
)
def test_a_cause_that_is_later_than_an_effect_does_not_explain_it(first: float | None, second: float | None, role: str) -> None:
    made = report(found("lost-gpu", GPU, time=first), found("short-node", NODE, time=second))
    assert [one.role for one in made.findings if one.cause == "short-node"] == [role]


def test_another_gpu_or_node_does_not_explain() -> None:
    far = Subject(kind="gpu", node="n2", gpu="GPU-2")
    assert [one.role for one in report(found("lost-gpu", far), found("short-node", NODE)).findings] == ["root", "root"]


def test_a_pod_of_the_stack_explains_what_is_on_its_node() -> None:
    plugin = Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", node="n1", component="device-plugin")
    assert lines(report(found("short-node", NODE), found("broken-plugin", plugin)))[1] == ("short-node", "n1", "symptom")


def test_what_has_no_place_contradicts_nothing_but_another_name_does() -> None:
    pasted = Subject(kind="gpu", gpu="GPU-1")
    links = Links([], [], [])
    assert links.are_linked(pasted, NODE)
    assert links.are_linked(Subject(kind="cluster"), POD)
    assert links.are_linked(pasted, GPU)
    assert not links.are_linked(pasted, Subject(kind="gpu", node="n1", gpu="GPU-2"))
    assert not links.are_linked(Subject(kind="gpu", gpu="GPU-2"), pasted)


@pytest.mark.parametrize("name", ["short-node", "lost-gpu"])
def test_what_was_seen_nowhere_explains_nothing_on_a_machine_that_is_named(name: str) -> None:
    paste = found("broken-driver", Subject(kind="cluster"))
    assert [one.role for one in report(paste, found(name, GPU if name == "lost-gpu" else NODE)).findings] == ["root", "root"]
    assert [one.role for one in report(paste, found(name, Subject(kind="cluster"))).findings] == ["root", "symptom"]
    assert [one.role for one in report(paste, found("waiting-pod", POD)).findings] == ["root", "symptom"]


def test_what_is_about_the_cluster_explains_what_is_on_its_machines() -> None:
    made = report(found("no-plugin-at-all", Subject(kind="cluster")), found("short-node", NODE))
    assert [one.role for one in made.findings] == ["root", "symptom"]


@pytest.mark.parametrize("other", ["GPU-2", "0000:1b:00"])
def test_a_critical_fault_of_one_gpu_is_no_symptom_of_another_ones(other: str) -> None:
    elsewhere = Subject(kind="gpu", gpu=other)
    made = report(found("unplugged-gpu", GPU), found("lost-gpu", elsewhere))
    assert {one.cause: one.role for one in made.findings} == {"unplugged-gpu": "root", "lost-gpu": "root"}


def test_two_that_explain_each_other_are_both_roots_and_a_ring_has_roots() -> None:
    assert [one.role for one in report(found("egg", POD), found("hen", POD)).findings] == ["root", "root"]
    made = report(found("rock", POD), found("paper", POD), found("scissors", POD))
    assert [one.role for one in made.findings] == ["root", "root", "root"]


@pytest.mark.parametrize(("confidence", "role"), [("confirmed", "symptom"), ("likely", "symptom"), ("possible", "root")])
def test_a_possibility_makes_nothing_a_symptom(confidence: str, role: str) -> None:
    made = report(found("lost-gpu", GPU, confidence=confidence), found("short-node", NODE))
    assert [(one.role, one.explained_by) for one in made.findings if one.cause == "short-node"] == [
        (role, ["lost-gpu"] if role == "symptom" else [])
    ]


# --- the order


def test_the_order_of_findings() -> None:
    pod = [Subject(kind="pod", namespace="a", pod=name) for name in "vwxyz"]
    made = report(
        found("hint", pod[0]),
        found("narrow", pod[1], confidence="likely"),
        found("broad", pod[2]),
        found("narrow", pod[3], check="n2"),
        found("lost-gpu", GPU),
    )
    assert [(one.cause, one.confidence) for one in made.findings] == [
        ("lost-gpu", "confirmed"),
        ("narrow", "confirmed"),
        ("broad", "confirmed"),
        ("narrow", "likely"),
        ("hint", "confirmed"),
    ]


# --- candidates, unknowns, what is ruled out


def test_what_another_root_could_have_brought_about_elsewhere_comes_behind_it() -> None:
    elsewhere = Subject(kind="node", node="n2")
    plugin = Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", node="n1", component="device-plugin")
    made = report(found("short-node", elsewhere), found("broken-plugin", plugin))
    assert lines(made) == [("broken-plugin", "gpu-operator/plugin-x", "root"), ("short-node", "n2", "root")]
    unsure = report(found("short-node", elsewhere), found("broken-plugin", plugin, confidence="likely"))
    assert [one.cause for one in unsure.findings] == ["short-node", "broken-plugin"]


def test_two_machines_have_each_their_own_trouble() -> None:
    elsewhere = found("short-node", Subject(kind="node", node="n2"))
    assert [one.cause for one in report(elsewhere, found("unplugged-gpu", GPU)).findings] == ["short-node", "unplugged-gpu"]


def test_what_is_only_possible_is_a_candidate_with_what_would_settle_it() -> None:
    made = report(found("narrow", POD, confidence="possible"))
    assert made.findings == []
    assert [(one.cause, one.why, one.settle_with, one.subject.name) for one in made.candidates] == [
        ("narrow", "narrow on ml/train-0", ["look"], "ml/train-0")
    ]
    assert (made.verdict, made.ruled_out) == ("inconclusive", [])


def test_a_candidate_that_a_decided_cause_makes_needless_is_not_shown() -> None:
    assert report(found("waiting-pod", POD, confidence="possible"), found("short-node", NODE), waits=WAITS).candidates == []


def test_a_candidate_that_would_explain_a_decided_finding_is_shown() -> None:
    made = report(found("lost-gpu", GPU, confidence="possible"), found("short-node", NODE))
    assert [one.cause for one in made.candidates] == ["lost-gpu"]
    assert made.verdict == "problem"


def test_a_check_without_an_answer_decides_where_it_may_change_the_verdict() -> None:
    def decides(*checked: Checked) -> list[bool]:
        return [one.decides for one in report(*checked).unknown]

    assert decides(other("unknown"), other("unknown", "hint", check="d")) == [True, False]  # what is mere information changes nothing
    assert decides(found("lost-gpu", GPU), other("unknown")) == [False]  # beside a problem


def test_what_no_check_finds_is_not_ruled_out_and_what_is_unknown() -> None:
    made = report(
        other("clear", "narrow"),
        other("skipped", "narrow", "d"),
        other("clear", "broad"),
        other("unknown", "broad", "d"),
        other("skipped", "egg"),
        other("clear", "hen"),
        found("hen", POD),
    )
    assert made.ruled_out == []
    assert [(one.check, one.why) for one in made.unknown] == [("book.d", "403")]


# --- the verdict

VERDICTS: list[tuple[list[Checked], Verdict]] = [
    ([], "inconclusive"),
    ([other("skipped")], "inconclusive"),
    ([other("clear")], "healthy"),
    ([other("clear"), other("skipped", check="d")], "healthy"),
    ([other("clear"), other("unknown", check="d")], "inconclusive"),
    ([other("unknown")], "inconclusive"),
    ([found("narrow", POD)], "problem"),
    ([found("narrow", POD), other("unknown")], "problem"),
    ([found("narrow", POD, confidence="likely")], "problem"),
    ([found("narrow", POD, confidence="possible"), other("clear")], "inconclusive"),
    ([found("hint", POD)], "healthy"),
    ([found("hint", POD), other("unknown")], "inconclusive"),
    ([found("hint", POD), found("lost-gpu", GPU)], "problem"),
    ([Checked(book=BOOK, check=Check(id="question"), outcome="found")], "healthy"),
]


@pytest.mark.parametrize(("checked", "verdict"), VERDICTS)
def test_the_verdict(checked: list[Checked], verdict: Verdict) -> None:
    assert report(*checked).verdict == verdict
    assert set(EXIT_CODES) == set(get_args(Verdict))


# --- fixes


def test_fixes_are_filled_with_the_names_of_the_subject_and_placeholders() -> None:
    fixes = [
        {
            "title": "f",
            "risk": "safe",
            "run": ["kubectl", "logs", "${pod}", "-n", "${namespace}", "-c", "${container}"],
            "undo": ["x-${node}"],
            "verify": ["y"],
        }
    ]
    library = Library(causes={"a": cause("a", "pod", fixes=fixes)})
    store = Store()
    made = conclude(library, store, [found("a", POD)], started=0.0)
    fix = made.findings[0].fixes[0]
    assert fix.run == ["kubectl", "logs", "train-0", "-n", "ml", "-c", "<container>"]
    assert (fix.undo, fix.verify) == (["x-<node>"], ["y"])


@pytest.mark.parametrize("name", ["-rf", "--all", "a;reboot", "$(reboot)", "a b", "a\nb", "`x`", "a\x1b[0m", "'", "<node>"])
def test_a_hostile_name_is_not_put_into_a_command_to_paste(name: str) -> None:
    library = Library(causes={"a": cause("a", "node", fixes=[{"title": "f", "risk": "safe", "run": ["kubectl", "cordon", "${node}"]}])})
    made = conclude(library, Store(), [found("a", Subject(kind="node", node=name))], started=0.0)
    assert made.findings[0].fixes[0].run == ["kubectl", "cordon", "<node>"]


@pytest.mark.parametrize("seconds", [1e300, -1e300, 1e12, float("inf"), float("nan"), -1.0, 0.0])
def test_any_time_ends_in_a_report(seconds: float) -> None:
    made = report(found("lost-gpu", GPU, time=seconds), found("short-node", NODE, time=5.0))
    assert made.findings[0].time is None or made.findings[0].time.endswith("Z")


NAMES = st.sampled_from(["", "a", "b"])
SUBJECTS = st.builds(
    Subject,
    kind=st.sampled_from(["pod", "node", "gpu", "workload", "cluster"]),
    namespace=NAMES,
    pod=NAMES,
    node=NAMES,
    gpu=NAMES,
    workload=NAMES,
)
FOUND = st.builds(
    lambda name, subjects, time, confidence, n: found(name, *subjects, time=time, confidence=confidence, check=f"c{n}"),
    st.sampled_from(sorted(CAUSES)),
    st.lists(SUBJECTS, min_size=1, max_size=3),
    st.none() | st.floats(0, 10),
    st.sampled_from(["confirmed", "likely", "possible"]),
    st.integers(0, 3),
)


@settings(max_examples=150)
@given(st.lists(FOUND, max_size=6))
def test_any_findings_have_a_root_and_each_symptom_a_decided_explanation(checked: list[Checked]) -> None:
    made = report(*checked, waits=WAITS)
    if made.findings:
        assert any(one.role == "root" for one in made.findings)
    decided = {one.cause for one in made.findings}
    for one in made.findings:
        assert set(one.explained_by) <= decided
        assert set(one.explains) <= decided
        assert (one.role == "root") or one.explained_by
    names = [(one.cause, one.subject.kind, name) for one in made.findings for name in (one.subject.name, *one.also)]
    assert len(names) == len(set(names))


def test_thousands_of_findings_are_concluded_in_time() -> None:
    pods = [Subject(kind="pod", namespace="ml", pod=f"p{n}", node=f"n{n}") for n in range(3000)]
    nodes = [Subject(kind="node", node=f"n{n}") for n in range(3000)]
    started = time.monotonic()
    made = report(found("waiting-pod", *pods), found("short-node", *nodes))
    assert time.monotonic() - started < 5
    assert sum(1 + len(one.also) for one in made.findings) == 6000
