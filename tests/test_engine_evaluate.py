"""Checks over facts: four outcomes, joins, and an index that gives what trying every record gives."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpudoctor.engine import evaluate as evaluation
from gpudoctor.engine.evaluate import Answer, evaluate
from gpudoctor.engine.outcomes import decide_check
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact, Origin
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.kubernetes import Event, Node, Pod
from gpudoctor.facts.scheduling import Wait
from gpudoctor.runbook.model import Check, Each, Input, Join, Runbook

BOOK = Runbook(id="book", title="T", inputs={"n": Input(type="int", default=1, help="h")})


def store(**facts: list[Any]) -> Store:
    made = Store()
    made.put(0, facts)
    return made


def check(each: str = "", when: str = "true", title: str = "", **joins: dict[str, Any]) -> Check:
    name, _, kind = each.partition(" in ")
    return Check(
        id="c",
        each=Each(name=name, type=kind) if each else None,
        when=when,
        title=title,
        joins=[Join(name=n, **j) for n, j in joins.items()],
    )


def answer(given: Check, facts: Store, **inputs: Any) -> Answer:
    return evaluate(BOOK, given, {"n": 1, **inputs}, facts)


def titles(found: Answer) -> list[str]:
    return [hit.title for hit in found.hits]


def outcome(given: Check, facts: Store) -> str:
    return decide_check(BOOK, given, answer(given, facts), []).outcome


def xid(code: int, time: float | None = None, **more: Any) -> Xid:
    return Xid(code=code, time=time, origin=Origin("log", code, f"Xid {code}"), **{"node": "n", "gpu": "g", **more})


# --- the four outcomes


def test_found_when_one_record_is_clear_when_none_is_skipped_when_the_type_was_not_read() -> None:
    sick = check("node in nodes", "node.gpus_allocatable < node.gpus_capacity")
    well, ill = Node(node="a", gpus_capacity=8, gpus_allocatable=8), Node(node="b", gpus_capacity=8, gpus_allocatable=7)
    assert outcome(sick, store(nodes=[well, ill])) == "found"
    assert outcome(sick, store(nodes=[well])) == "clear"
    assert outcome(sick, store(nodes=[])) == "clear"
    assert outcome(sick, store(pods=[])) == "skipped"


def test_unknown_when_no_record_is_found_and_one_is_not_decided() -> None:
    hot = check("gpu in gpus", "gpu.temperature > 90", title="${gpu.gpu}")
    mute = Gpu(node="n", gpu="x", gaps={"temperature": "N/A"})
    got = answer(hot, store(gpus=[mute, Gpu(node="n", gpu="y", temperature=40)]))
    assert (got.hits, got.unsure) == ([], ["gpu.temperature is not known: N/A (n/x)"])
    assert outcome(hot, store(gpus=[mute])) == "unknown"
    assert outcome(hot, store(gpus=[mute, Gpu(node="n", gpu="z", temperature=95)])) == "found"


def test_what_the_known_fields_decide_is_not_unknown() -> None:
    mute = Node(node="a", ready=None, unschedulable=True)
    assert outcome(check("node in nodes", "node.ready || node.unschedulable"), store(nodes=[mute])) == "found"
    assert outcome(check("node in nodes", "node.ready && !node.unschedulable"), store(nodes=[mute])) == "clear"


def test_a_check_without_each_looks_at_inputs_and_joins_once() -> None:
    assert outcome(check(when="input.n == 1"), store()) == "found"
    none = check(when="!bad.present", bad={"type": "xids", "pick": "count"})
    assert outcome(none, store(xids=[])) == "found"
    assert outcome(none, store(xids=[xid(79)])) == "clear"
    assert outcome(none, store(pods=[])) == "skipped"


def test_a_hit_carries_title_subject_time_and_every_line_it_rests_on() -> None:
    both = check(
        "xid in xids", "smi.present", title="Xid ${xid.code} of ${xid.pid} by ${smi.text}", smi={"type": "smi", "on": {"node": "xid.node"}}
    )
    facts = store(xids=[xid(79, 5.0)], smi=[Smi(node="n", text="lost", origin=Origin("smi.txt", 3, "GPU is lost"))])
    hit = answer(both, facts).hits[0]
    assert hit.title == "Xid 79 of ? by lost"
    assert (hit.subject.kind, hit.subject.name, hit.time) == ("gpu", "n/g", 5.0)
    assert [origin.source for origin in hit.origins] == ["log", "smi.txt"]


# --- joins

PODS = [Pod(namespace="a", pod="x", node="n1"), Pod(namespace="b", pod="x", node="n2"), Pod(namespace="b", pod="y", node="")]
EVENTS = [
    Event(namespace="a", pod="x", reason="Failed", message="1"),
    Event(namespace="b", pod="x", reason="Pulled", message="2"),
    Event(namespace="b", pod="x", reason="Failed", message="3"),
    Event(namespace="b", pod="x", reason="Failed", message="4"),
]


@pytest.mark.parametrize("on", [{"namespace": "pod.namespace", "pod": "pod.pod"}, {"pod": "pod.pod", "namespace": "pod.namespace"}])
@pytest.mark.parametrize(
    ("pick", "wanted"),
    [
        ("first", ["a/x 1 1", "b/x 3 1", "b/y ? ?"]),
        ("last", ["a/x 1 1", "b/x 4 1", "b/y ? ?"]),
        ("count", ["a/x 1 1", "b/x 3 2", "b/y ? 0"]),
    ],
)
def test_on_where_and_pick(on: dict[str, str], pick: str, wanted: list[str]) -> None:
    joined = check(
        "pod in pods",
        title="${pod.namespace}/${pod.pod} ${e.message} ${e.count}",
        e={"type": "events", "on": on, "where": 'e.reason == "Failed"', "pick": pick},
    )
    assert titles(answer(joined, store(pods=PODS, events=EVENTS))) == wanted


@pytest.mark.parametrize(("pick", "wanted"), [("first", "4"), ("last", "1"), ("count", "2")])
def test_the_count_of_a_picked_record_is_its_own(pick: str, wanted: str) -> None:
    seen = store(xids=[xid(79, count=4), xid(48, count=1)], pods=[Pod(namespace="ml", pod="a")])
    assert titles(answer(check("pod in pods", title="${other.count}", other={"type": "xids", "pick": pick}), seen)) == [wanted]


def test_absence() -> None:
    silent = check(
        "pod in pods", "!e.present && e.count == 0", title="${pod.pod}", e={"type": "events", "on": {"pod": "pod.pod"}, "pick": "count"}
    )
    assert titles(answer(silent, store(pods=PODS, events=EVENTS))) == ["y"]
    assert titles(answer(silent, store(pods=PODS))) == ["x", "x", "y"]


def test_a_join_may_use_the_joins_before_it() -> None:
    chain = check(
        "wait in waits",
        "pod.present && node.present",
        title="${pod.pod} on ${node.node}",
        pod={"type": "pods", "on": {"pod": "wait.pod"}},
        node={"type": "nodes", "on": {"node": "pod.node"}, "where": "node.gpus_capacity > size(pod.pod)"},
    )
    facts = store(waits=[Wait(namespace="a", pod="x", node="", lost=1)], pods=PODS, nodes=[Node(node="n1", gpus_capacity=8)])
    assert titles(answer(chain, facts)) == ["x on n1"]


def test_a_join_whose_key_is_not_known_joins_nothing_and_decides_nothing() -> None:
    by_pid = check("xid in xids", "other.present || xid.code == 79", title="${xid.code}", other={"type": "xids", "on": {"pid": "xid.pid"}})
    got = answer(by_pid, store(xids=[xid(79), xid(31)]))
    assert titles(got) == ["79"]
    assert len(got.unsure) == 1
    assert "xid.pid is not known" in got.unsure[0]


def test_unknown_keys_are_not_equal_to_one_another() -> None:
    twin = check("gpu in gpus", "twin.present", title="${gpu.gpu}", twin={"type": "gpus", "on": {"index": "gpu.index"}})
    facts = store(gpus=[Gpu(gpu="a"), Gpu(gpu="b"), Gpu(gpu="c", index=1), Gpu(gpu="d", index=1)])
    assert titles(answer(twin, facts)) == ["c", "d"]


def test_a_joined_record_that_can_not_be_decided_does_not_count() -> None:
    warm = check("node in nodes", "hot.present", hot={"type": "gpus", "on": {"node": "node.node"}, "where": "hot.temperature > 80"})
    assert outcome(warm, store(nodes=[Node(node="n")], gpus=[Gpu(node="n", gpu="g")])) == "clear"


def test_a_record_is_not_joined_with_itself_but_with_its_equal() -> None:
    again = check("xid in xids", "again.present", again={"type": "xids", "on": {"gpu": "xid.gpu"}})
    assert outcome(again, store(xids=[xid(79)])) == "clear"
    assert outcome(again, store(xids=[xid(79), xid(79)])) == "found"


@pytest.mark.parametrize(
    ("window", "wanted"),
    [
        ({"before": "xid.time"}, [62, 48, 13]),
        ({"after": "xid.time"}, [13, 45]),
        ({"before": "xid.time", "within": 100.0}, [48, 13]),
        ({"before": "xid.time", "within": 49.0}, [13]),
        ({"after": "xid.time", "within": 10.0}, [13]),
        ({"before": "xid.time + 60.0", "after": "xid.time - 60.0"}, [48, 13, 45]),
        ({"before": "double(input.n)"}, []),
    ],
)
def test_windows_in_time(window: dict[str, Any], wanted: list[int]) -> None:
    facts = store(xids=[xid(79, 1000.0), xid(62, 800.0), xid(48, 950.0), xid(13, 1000.0), xid(45, 1050.0), xid(1, None)])
    for code in (62, 48, 13, 45, 1):
        near = check("xid in xids", "xid.code == 79 && o.present", o={"type": "xids", "where": f"o.code == {code}", **window})
        assert (outcome(near, facts) == "found") is (code in wanted), code


def test_first_and_last_of_a_window_are_first_and_last_in_time() -> None:
    facts = store(xids=[xid(79, 1000.0), xid(13, 950.0), xid(31, 900.0), xid(43, 990.0)])
    for pick, wanted in (("first", ["31"]), ("last", ["43"])):
        near = check("xid in xids", "xid.code == 79", title="${o.code}", o={"type": "xids", "before": "xid.time", "pick": pick})
        assert titles(answer(near, facts)) == wanted


def test_without_the_time_of_the_record_a_window_decides_nothing() -> None:
    near = check("xid in xids", "xid.code == 79 && o.present", o={"type": "xids", "before": "xid.time"})
    assert outcome(near, store(xids=[xid(79), xid(13, 5.0)])) == "unknown"
    either = check("xid in xids", "xid.code == 79 || o.present", o={"type": "xids", "before": "xid.time"})
    assert outcome(either, store(xids=[xid(79), xid(13, 5.0)])) == "found"


# --- the index

CONDITIONS = [
    'pod.phase == "Pending"',
    'pod.phase == "Pending" && pod.gpus > 0',
    'pod.phase == "Pending" && pod.age > 60.0',
    'pod.phase == "Pending" || pod.gpus > 0',
    'pod.phase == "Pending" ? pod.gpus > 0 : pod.ready',
    'pod.phase == "Pending" && pod.ready ? pod.gpus > 0 : pod.gpus == 0',
    'pod.phase == "Pending" == pod.ready',
    'pod.phase == "Pending" && pod.ready == pod.deleting',
    '(pod.phase == "Pending" && pod.ready) == pod.deleting',
    'pod.phase == "Pending" && (pod.ready || pod.gpus > 0)',
    'pod.phase == "Pending" && pod.phase == "Running"',
    'pod.gpus > 0 && pod.ready && pod.phase == "Pending" && !pod.deleting',
    'pod.phase == "Pending" && e.present',
    'pod.phase == "" && e.present',
    "pod.ready",
    "pod.ready && pod.gpus > 0",
    "pod.ready ? pod.deleting : true",
    "pod.ready && pod.deleting ? pod.gpus > 0 : pod.gpus == 0",
    "pod.ready == pod.deleting",
    "pod.ready || pod.deleting",
    "pod.age_known && pod.gpus > 0",
    'pod.ready && pod.phase == "a\\"" || pod.phase == "\\"" || pod.gpus > 0',
    '!(pod.phase == "Pending") && pod.ready',
    '!(pod.phase == "Pending")',
    'pod.phase in ["Pending", ""]',
    'pod.phase in ["Pending", ""] && e.present',
    '!(pod.phase in ["Pending"]) || pod.ready',
    '(pod.phase == "Pending" || pod.phase == "") && pod.gpus > 0',
    'pod.phase == "Pending" || pod.phase in ["Running"] && pod.age > 60.0',
    'pod.phase == "Pending" && pod.age > 60.0 || pod.ready && pod.phase == "Running"',
    'pod.phase == "Pending" || pod.gpus == 1',
    '(pod.phase == "Pending" && pod.ready) == (pod.gpus == 0 && pod.deleting)',
    "!pod.ready",
    "!pod.ready && pod.gpus == 0",
    "!(pod.ready && pod.deleting)",
    "pod.gpus in [1]",
    "pod.gpus in [1] || e.present",
    'pod.phase in ["a\\"", "Pending"]',
    'pod.phase == r"\\d" || pod.phase == "Pending"',
    'pod.phase == "(" || pod.ready && pod.phase == "Pending"',
    'pod.phase.matches("^P")',
    '!pod.phase.matches("^P")',
    'pod.phase.matches("^P") && pod.ready',
    'pod.ready && pod.phase.matches("(?i)^p|RUN") && pod.gpus > 0',
    'pod.phase.matches("P|\\\\w{7}$") && e.present',
    'pod.phase.matches("\\x50") && pod.ready',
    'pod.phase.matches("\\"|P")',
    'pod.phase.matches("^P") || pod.phase == "Running"',
    'pod.phase.matches("^P") || pod.phase.matches("g$")',
    'pod.phase.matches("n") && pod.phase == "Running"',
    'pod.phase.matches("P") ? pod.ready : pod.deleting',
    'pod.phase.matches("(") || pod.ready',
    'pod.phase.matches("(") && pod.ready',
]
SOME_PODS = st.builds(
    lambda n, phase, gpus, ready, deleting, age, gap: Pod(
        namespace="a", pod=f"p{n}", phase=phase, gpus=gpus, ready=ready, deleting=deleting, age=age, gaps={gap: "cut off"} if gap else {}
    ),
    st.integers(0, 5),
    st.sampled_from(["Pending", "Running", ""]),
    st.integers(0, 1),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 10.0, 100.0]),
    st.sampled_from(["", "", "", "phase", "ready", "gpus"]),
)


@settings(max_examples=60)
@given(st.lists(SOME_PODS, max_size=8))
def test_the_index_gives_what_trying_every_record_gives(pods: list[Fact]) -> None:
    facts = store(pods=pods, events=[Event(pod="p1", namespace="a", reason="r", message="m")])
    for when in CONDITIONS:
        one = check("pod in pods", when, title="${pod.pod}", e={"type": "events", "on": {"pod": "pod.pod"}})
        short = answer(one, facts)
        with patch.object(evaluation, "candidate_records", lambda condition, name, kind, store, before: store.records("pods", before)):
            full = answer(one, facts)
        assert sorted(titles(short)) == sorted(titles(full)), when
        assert sorted(short.unsure) == sorted(full.unsure), when


@settings(max_examples=60)
@given(st.lists(SOME_PODS, max_size=8), st.lists(st.sampled_from(["p0", "p1", "x"]), max_size=3), st.sampled_from(["Pending", ""]))
def test_what_no_record_can_match_is_what_none_matches(pods: list[Fact], events: list[str], phase: str) -> None:
    facts = store(pods=pods, events=[Event(pod=pod, namespace="a", reason="r", message="m") for pod in events])
    for when in (
        "e.present && pod.ready",
        "!e.present",
        "pod.ready || e.count > 1",
        "o.present && pod.gpus > 0",
        "e.present && !o.present",
    ):
        joins: dict[str, dict[str, Any]] = {
            "e": {"type": "events", "on": {"pod": '"p1"'}, "pick": "count"},
            "o": {"type": "pods", "where": f'o.phase == "{phase}"', "pick": "count"},
        }
        one = check("pod in pods", when, title="${pod.pod}", **joins)
        at_once = [answer(one, facts) for evaluation.MANY in (1, 1_000)]
        hits = [[replace(hit, seen=None) for hit in made.hits] for made in at_once]  # the same record, seen anew
        assert (hits[0], at_once[0].unsure) == (hits[1], at_once[1].unsure), when


# --- the store


def test_what_a_check_sees_is_in_the_order_of_steps_and_commands_not_of_answers() -> None:
    made = Store()
    for order, number in [(2, 0), (1, 1), (1, 0), (0, 0)]:
        made.put(order, {"xids": [xid(order * 10 + number)]}, number)
    assert [one.code for one in made.records("xids")] == [0, 10, 11, 20]  # type: ignore[attr-defined]
    assert [one.code for one in made.records("xids", 2)] == [0, 10, 11]  # type: ignore[attr-defined]
    assert not made.has("xids", 0)
    assert made.has("xids", 1)


def test_a_later_measurement_replaces_the_earlier_and_an_earlier_step_still_sees_its_own() -> None:
    made = Store()
    made.put(1, {"waits": [Wait(namespace="a", pod="x", node="n1", lost=1)]})
    made.put(3, {"waits": [Wait(namespace="a", pod="y", node="n2", lost=1)]})
    assert [one.pod for one in made.records("waits")] == ["y"]  # type: ignore[attr-defined]
    assert [one.pod for one in made.records("waits", 2)] == ["x"]  # type: ignore[attr-defined]


def test_the_same_thing_read_twice_is_one_record_completed() -> None:
    made = Store()
    made.put(0, {"pods": [Pod(namespace="a", pod="x", target=False, phase="Running")]})
    made.put(1, {"pods": [Pod(namespace="a", pod="x", phase="Pending", node="n1"), Pod(namespace="b", pod="x")]})
    assert made.records("pods", 1) == [Pod(namespace="a", pod="x", target=False, phase="Running")]
    first, second = made.records("pods")
    assert first == Pod(namespace="a", pod="x", target=True, phase="Running", node="n1")
    assert second == Pod(namespace="b", pod="x")


@pytest.mark.parametrize("asked_first", [True, False])
def test_the_thing_in_question_stays_in_question_when_it_is_read_beside_others_too(asked_first: bool) -> None:
    made = Store()
    made.put(0, {"nodes": [Node(node="n1", target=asked_first, ready=False)]})
    made.put(1, {"nodes": [Node(node="n1", target=not asked_first)]})
    assert made.records("nodes") == [Node(node="n1", target=True, ready=False)]


def test_a_record_stays_the_same_object_while_other_types_arrive() -> None:
    made = Store()
    made.put(0, {"pods": [Pod(namespace="a", pod="x", phase="Running")]})
    made.put(1, {"pods": [Pod(namespace="a", pod="x", node="n1")]})
    before = made.records("pods")[0]
    made.put(2, {"nodes": [Node(node="n1")]})
    assert made.records("pods")[0] is before
    assert made.index("pods", ("pod",))[("x",)][0] is before


def test_old_answers_of_the_store_are_not_kept() -> None:
    made = Store()
    for number in range(50):
        made.put(number, {"xids": [xid(number)]})
        made.records("xids")
        made.index("xids", ("code",))
    assert len(made.lists) + len(made.indexes) <= 4
