"""Lint: names, types and commands are checked when a runbook is loaded; a catalogue and the messages hang together."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.knowledge.compiled import Harmless, KnownMessage, Wording
from gpudoctor.runbook import lint, style
from gpudoctor.runbook.allowed import refusal
from gpudoctor.runbook.model import Check, Each, FixTemplate, Input, Join, Library, Runbook, Step
from tests.engine_fakes import CAUSES, cause, problems_of

HEAD = """\
schema: 1
id: book
title: T
inputs: {grace: {type: duration, default: 5m, help: h}, ns: {type: string, default: x, help: h}}
steps:
"""
PODS = "  - {id: pods, run: [kubectl, get, pods, -o, json], parse: kubernetes.pods, checks: [{id: seen, each: pod in pods}]}\n"


def step(text: str) -> str:
    return HEAD + PODS + textwrap.indent(textwrap.dedent(text), "  ")


def check(text: str) -> str:
    return HEAD + PODS.removesuffix("]}\n") + ", {id: c, " + text + "}]}\n"


SOUND = [
    check('each: pod in pods, when: pod.phase == "Pending" && pod.age > input.grace'),
    check("each: pod in pods, with: {node: {from: nodes, on: [node], pick: first}}, when: node.present && node.gpus_capacity == 0"),
    check("each: xid in xids, with: {x: {from: xids, on: [gpu], before: xid.time, within: 10m}}, when: x.count > 0"),
    check('each: pod in pods, finds: sick-pod, title: \'${pod.namespace}/${pod.pod} ${pod.images} ${pod.gpus > 0 ? "a" : "b"}\''),
    step("- {id: a, when: found.seen, each: pod in pods, where: pod.ready, run: [kubectl, logs, '${pod.pod}'], parse: logs.text}"),
    step("- {id: a, each: node in nodes, host: '${node.node}', run: [nvidia-smi, -L], parse: nvidia.smi}"),
    step("- {id: a, derive: stack.order, show: {title: T, each: part in stack, columns: {Node: '${part.node}', In: '${input.ns}'}}}"),
]

EARLY = "early: {each: pod in pods, when: pod.age < input.grace, title: 'for ${pod.age} s', lasting: [sick-pod]}\n"
SOUND.append(HEAD + PODS + EARLY)


@pytest.mark.parametrize("text", SOUND)
def test_what_is_right_passes(text: str, tmp_path: Path) -> None:
    assert problems_of(text, tmp_path) == []


WRONG: list[tuple[str, str]] = [
    (HEAD + PODS + EARLY.replace("pods", "nodes"), "early: each: nodes are not records of pods"),
    (HEAD + PODS + EARLY.replace("sick-pod", "sick-pud"), "unknown cause 'sick-pud'"),
    (HEAD + PODS + EARLY.replace("pod.age <", "pod.agee <"), "agee"),
    # names
    (
        step("- {id: a, run: [kubectl, get, pods], parse: kubernetes.pod}"),
        "unknown parser 'kubernetes.pod'; did you mean 'kubernetes.pods'?",
    ),
    (step("- {id: a, derive: stack.ordr}"), "unknown derivation 'stack.ordr'; did you mean 'stack.order'?"),
    (
        step("- {id: a, each: node in nods, run: [kubectl, get, pods], parse: kubernetes.pods}"),
        "unknown fact type 'nods'; did you mean 'nodes'?",
    ),
    (check("each: pod in podz"), "unknown fact type 'podz'; did you mean 'pods'?"),
    (check("each: pod in pods, with: {x: {from: nods}}"), "unknown with.x: fact type 'nods'; did you mean 'nodes'?"),
    (check("each: pod in pods, finds: sick-pot, title: t"), "unknown cause 'sick-pot'; did you mean 'sick-pod'?"),
    (
        step("- {id: a, derive: stack.order, show: {title: T, each: part in stak, columns: {A: b}}}"),
        "unknown fact type 'stak'; did you mean 'stack'?",
    ),
    (step("- {include: other}"), "unknown runbook 'other'"),
    (step("- {include: bok}"), "unknown runbook 'bok'"),
    (step("- {id: pods, derive: stack.order}"), "steps.pods: the id is there twice"),
    (check("each: pod in pods}, {id: seen"), "checks.seen: the id is there twice"),
    # conditions
    (check("each: pod in pods, when: pod.phse == 'a'"), "when: column 4: undeclared reference to 'pod.phse'; did you mean 'pod.phase'?"),
    (check("each: pod in pods, when: pod.age > 60"), "found no matching overload for '_>_' applied to '(double, int)'"),
    (check("each: pod in pods, when: pod.gpus > '1'"), "found no matching overload for '_>_' applied to '(int, string)'"),
    (check("each: pod in pods, when: pod.phase"), "'pod.phase' is a STRING, not a BOOL"),
    (check("each: pod in pods, when: 'pod.phase =='"), "Syntax error"),
    (check("each: pod in pods, when: node.ready"), "undeclared reference to 'node.ready'"),
    (check("each: pod in pods, when: input.grce > 1.0"), "undeclared reference to 'input.grce'; did you mean 'input.grace'?"),
    (check("each: pod in pods, when: found.seen"), "undeclared reference to 'found.seen'"),
    (check("each: pod in pods, when: pod.node_affinity == 1"), "undeclared reference to 'pod.node_affinity'"),
    (check("each: pod in pods, when: pod.ready && pod.ready_known"), "undeclared reference to 'pod.ready_known'"),
    (check("each: pod in pods, finds: sick-pod"), "finds a cause without a title"),
    (
        check("each: pod in pods, finds: sick-pod, title: '${pod.pood}'"),
        "title: column 4: undeclared reference to 'pod.pood'; did you mean 'pod.pod'?",
    ),
    (check("each: pod in pods, finds: sick-pod, title: '${pod.pod'"), "has a '${' that is not closed"),
    (check("each: pod in pods, finds: sick-pod, title: '${pod.labels}'"), "'${pod.labels}' is a MAP<STRING, STRING>: only text"),
    (
        check("each: pod in pods, finds: sick-pod, title: t, settle_with: ['kubectl get ${x.y}']"),
        "settle_with: column 2: undeclared reference",
    ),
    (check("each: pod in pods, finds: sick-pod, title: '${}'"), "title: "),
    (
        step("- {id: a, when: found.later, derive: stack.order, checks: [{id: later, each: part in stack}]}"),
        "undeclared reference to 'found.later'",
    ),
    (step("- {id: a, when: input.ns, derive: stack.order}"), "when: 'input.ns' is a STRING, not a BOOL"),
    (
        step("- {id: a, each: pod in pods, when: pod.ready, run: [kubectl, get, pods], parse: kubernetes.pods}"),
        "undeclared reference to 'pod.ready'",
    ),
    (step("- {id: a, each: pod in pods, run: [kubectl, get, pods, '${pod.pood}'], parse: kubernetes.pods}"), "run: column 4: undeclared"),
    (step("- {id: a, each: pod in pods, host: '${pod.nod}', run: [nvidia-smi], parse: nvidia.smi}"), "host: column 4: undeclared"),
    (
        step("- {id: a, derive: stack.order, show: {title: T, each: part in stack, columns: {A: '${part.nod}'}}}"),
        "show.columns.A: column 5",
    ),
    (
        step("- {id: a, derive: stack.order, show: {title: T, each: part in stack, where: part.order, columns: {A: b}}}"),
        "show.where: 'part.order' is a INT",
    ),
    # joins
    (
        check("each: pod in pods, with: {x: {from: nodes, on: {nod: pod.node}}}"),
        "unknown with.x: field of nodes 'nod'; did you mean 'node'?",
    ),
    (
        check("each: pod in pods, with: {x: {from: nodes, on: {node: pod.nod}}}"),
        "with.x.on.node: column 4: undeclared reference to 'pod.nod'",
    ),
    (check("each: pod in pods, with: {x: {from: nodes, on: {node: pod.gpus}}}"), "with.x.on.node: 'pod.gpus' is a INT, not a STRING"),
    (check("each: pod in pods, with: {x: {from: nodes, on: {labels: pod.labels}}}"), "unknown with.x: field of nodes 'labels'"),
    (check("each: pod in pods, with: {x: {from: pods, on: [images]}}"), "unknown with.x: field of pods 'images'"),
    (check("each: xid in xids, with: {x: {from: xids, on: {pid_known: xid.pid_known}}}"), "unknown with.x: field of xids 'pid_known'"),
    (check("each: pod in pods, with: {x: {from: nodes, where: x.gpus_capacity}}"), "with.x.where: 'x.gpus_capacity' is a INT, not a BOOL"),
    (check("each: xid in xids, with: {x: {from: xids, before: xid.code}}"), "with.x: time: 'xid.code' is a INT, not a DOUBLE"),
    (check("each: pod in pods, with: {x: {from: nodes, where: y.present}, y: {from: nodes}}"), "undeclared reference to 'y.present'"),
]


@pytest.mark.parametrize(("text", "wanted"), WRONG)
def test_what_is_wrong_is_told_once_with_its_place(text: str, wanted: str, tmp_path: Path) -> None:
    found = problems_of(text, tmp_path)
    assert len(found) == 1, found
    assert wanted in found[0]
    assert found[0].startswith(("book.yaml:6: ", "book.yaml:7: "))


def test_a_check_is_located_by_its_own_line(tmp_path: Path) -> None:
    text = step("""\
        - id: a
          derive: stack.order
          checks:
            - id: one
              each: part in stack
            - id: two
              each: part in stack
              when: part.nod == ""
        """)
    assert [problem.split(" ")[0] for problem in problems_of(text, tmp_path)] == ["book.yaml:12:"]


def test_an_include_sets_inputs_that_are_there_and_never_leads_back(tmp_path: Path) -> None:
    inner = Runbook(id="inner", title="I", inputs={"n": Input(type="int", default=1, help="h")})
    outer = Runbook(id="outer", title="O", steps=[Step(id="", include="inner")])
    library = Library(causes=CAUSES, runbooks={"inner": inner, "outer": outer})
    assert problems_of(step("- {include: inner, set: {n: '${input.ns}'}, when: found.seen}"), tmp_path, library=library) == []
    assert "unknown input of inner 'm'" in problems_of(step("- {include: inner, set: {m: '1'}}"), tmp_path, library=library)[0]
    assert "set.n: column 6" in problems_of(step("- {include: inner, set: {n: '${input.m}'}}"), tmp_path, library=library)[0]
    assert problems_of(step("- {include: outer}"), tmp_path, library=library) == []
    back = Runbook(id="back", title="B", steps=[Step(id="", include="round"), Step(id="", include="inner")])
    ring = Library(causes=CAUSES, runbooks={"back": back, "round": Runbook(id="round", title="R", steps=[Step(id="", include="book")])})
    assert "includes itself: book → back → round → book" in problems_of(step("- {include: back}"), tmp_path, library=ring)[0]
    assert "includes itself: book → book" in problems_of(step("- {include: book}"), tmp_path, library=Library(runbooks={"book": back}))[0]
    assert "unknown runbook 'iner'; did you mean 'inner'?" in problems_of(step("- {include: iner}"), tmp_path, library=library)[0]


def test_the_id_is_the_name_of_the_file(tmp_path: Path) -> None:
    assert problems_of(HEAD + PODS, tmp_path, name="other") == ["other.yaml:1: id 'book' is not the file's name 'other'"]


# --- commands

READS = [
    "kubectl get pods -A -o json",
    "kubectl get pods x -n secrets -o json",
    "kubectl get pods --field-selector=spec.nodeName=a -o wide",
    "kubectl logs x -n y --tail=10 --previous",
    "kubectl exec x -n y -c z -- nvidia-smi -q -x",
    "kubectl exec x -- env",
    "kubectl version",
    "nvidia-smi",
    "nvidia-smi -i 0 -q -d MEMORY,ECC",
    "nvidia-smi --query-gpu=index,uuid --format=csv,noheader",
    "nvidia-smi topo -m",
    "nvidia-smi nvlink -s",
    "nvidia-smi mig -lgi",
    "dmesg --time-format=iso",
    "dmesg -T -l err",
    "uname -r",
    "cat /proc/driver/nvidia/version",
    "ls /dev",
    "ls -l /dev/nvidia0",
]
CHANGES = [
    "",
    "rm -rf /",
    "sh -c id",
    "bash",
    "sudo nvidia-smi",
    "kubectl",
    "kubectl delete pod x",
    "kubectl apply -f x",
    "kubectl drain n",
    "kubectl debug node/x",
    "kubectl cp a b",
    "kubectl --context=x get pods",
    "kubectl get secrets",
    "kubectl get Secret/x",
    "kubectl get pods,secrets",
    "kubectl get secrets.v1. -o json",
    "kubectl get -n a secret token",
    "kubectl get -A secrets",
    "kubectl get --raw /api/v1/secrets",
    "kubectl get --raw=/api/v1/secrets",
    "kubectl get pods -w",
    "kubectl get pods -Aw",
    "kubectl get pods --watch=true",
    "kubectl get pods --watch-only",
    "kubectl get -f x.yaml",
    "kubectl logs x -f",
    "kubectl logs x --follow",
    "kubectl exec x nvidia-smi",
    "kubectl exec x -- sh -c id",
    "kubectl exec x --",
    "kubectl exec x -- nvidia-smi -r",
    "kubectl exec x -- kubectl delete pod y",
    "kubectl exec x -- cat /etc/shadow",
    "nvidia-smi -r",
    "nvidia-smi --gpu-reset",
    "nvidia-smi -i 0 -pl 300",
    "nvidia-smi -pl=300",
    "nvidia-smi --power-limit=300",
    "nvidia-smi -i -r",
    "nvidia-smi -pm 1",
    "nvidia-smi -mig 1",
    "nvidia-smi mig -cgi 9",
    "nvidia-smi mig -dgi",
    "nvidia-smi nvlink -r 0",
    "nvidia-smi drain -p 0 -m 1",
    "nvidia-smi -q -f /etc/passwd",
    "nvidia-smi --filename=/etc/passwd",
    "nvidia-smi -l 1",
    "nvidia-smi --loop=1",
    "nvidia-smi dmon",
    "nvidia-smi 0",
    "dmesg -c",
    "dmesg -Tc",
    "dmesg --clear",
    "dmesg -w",
    "dmesg -n 1",
    "uname x",
    "env sh",
    "env -i sh",
    "cat",
    "cat -",
    "cat /etc/shadow",
    "cat /proc/driver/nvidia/../../1/environ",
    "cat /dev/sda",
    "cat /root/.kube/config",
    "ls /root",
    "ls /devil",
]


@pytest.mark.parametrize("line", READS)
def test_commands_that_read_may_run(line: str) -> None:
    assert refusal(line.split()) == ""


@pytest.mark.parametrize("line", CHANGES)
def test_commands_that_change_something_or_read_a_secret_or_never_end_may_not(line: str) -> None:
    assert refusal(line.split())


def test_the_program_of_a_step_is_written_out(tmp_path: Path) -> None:
    for run in (
        "['${input.ns}', get, pods]",
        "[kubectl, '${input.ns}', pods]",
        "[kubectl, exec, x, --, '${input.ns}']",
        "[nvidia-smi, '${input.ns}']",
    ):
        found = problems_of(step(f"- {{id: a, run: {run}, parse: kubernetes.pods}}"), tmp_path)
        assert len(found) == 1, (run, found)


# --- catalogue and messages


def fix(*run: str, **more: Any) -> dict[str, Any]:
    return {"title": "do", "risk": "safe", "run": list(run), "undo": [], "verify": [], **more}


def test_the_catalogue_names_only_what_is_there() -> None:
    causes = {
        "a": cause("a", explains=("b", "c"), confused_with={"a": "…", "b": "…", "dd": "…"}),
        "b": cause("b", "node", fixes=[fix("kubectl", "describe", "node", "${node}"), fix("kubectl", "get", "pod", "${pod}")]),
        "d": cause("d", "pod", fixes=[fix("kubectl", "get", "${pod")]),
    }
    found = [str(problem) for problem in lint.library(Library(causes=causes))]
    assert len(found) == 5, found
    assert "a: explains: unknown cause 'c'" in found[0]
    assert "a: confused_with: names itself" in found[1]
    assert "a: confused_with: unknown cause 'dd'; did you mean 'd'?" in found[2]
    assert "b: fix 'do': unknown field of node 'pod'" in found[3]
    assert "d: fix 'do': '${pod' has a '${' that is not closed" in found[4]


def test_messages_match_their_own_line_and_name_no_cause() -> None:
    entries = [
        KnownMessage(name="good", wordings=[Wording("no (.+) here", "no luck here")]),
        KnownMessage(name="good", wordings=[Wording("x", "x")]),
        KnownMessage(name="wrong_line", wordings=[Wording("abc", "ab")]),
        KnownMessage(name="not_a_pattern", wordings=[Wording("(", "(")]),
        KnownMessage(name="two_groups", wordings=[Wording("(a)(b)", "ab")]),
        KnownMessage(name="backreference", wordings=[Wording(r"(a)\1", "aa")]),
        KnownMessage(name="sick_pod", wordings=[Wording("x", "x")]),
        KnownMessage(name="second_wrong", wordings=[Wording("x", "x"), Wording("abc", "ab")]),
        KnownMessage(name="excepted", wordings=[Wording("x", "x"), Wording("y", "y no")], unless="no"),
        KnownMessage(name="flag", wordings=[Wording("(?i)x", "X"), Wording("y", "y")]),
    ]
    found = [problem.message for problem in lint.library(Library(causes=CAUSES, messages=entries))]
    assert [text.split(":")[0] for text in found] == [
        "good",
        "wrong_line",
        "not_a_pattern",
        "two_groups",
        "backreference",
        "sick_pod",
        "second_wrong",
        "excepted",
        "flag",
    ]


def test_style_wants_short_patterns_needed_wordings_and_messages_that_are_read(tmp_path: Path) -> None:
    check = Check(
        id="heard",
        each=Each(name="message", type="messages"),
        joins=[Join(name="other", type="messages", on={"name": '"joined"'}, where='other.name == "sought"')],
        when='message.name in ["asked", "long", "needless"]',
    )
    a = Wording("a", "a")
    entries = [
        KnownMessage(name="asked", wordings=[a, Wording("b", "b")]),
        KnownMessage(name="long", wordings=[Wording("a|" * 125 + "b", "a")]),
        KnownMessage(name="needless", wordings=[a, Wording("b", "ba")]),
        KnownMessage(name="unread", wordings=[a], benign=True),
        *(KnownMessage(name=name, wordings=[a]) for name in ("joined", "sought", "nccl_refused_by_nobody")),
        KnownMessage(name="excused", wordings=[a], benign=True, harmless=Harmless(why="it comes and goes")),
        KnownMessage(name="lost", wordings=[a], survivor=True),
    ]
    book = Runbook(id="r", title="r", steps=[Step(id="s", checks=[check])])
    library = Library(runbooks={"r": book}, messages=entries)
    found = [text.split(": ")[1:3] for text in style.problems(library, tmp_path) if text.startswith("knowledge/messages")]
    assert found == [
        ["unread", "no check and no measurement reads it"],
        ["nccl_refused_by_nobody", "no check and no measurement reads it"],
        ["long", "a pattern has 251 characters, at most 250"],
        ["needless", "two patterns match this line, so one is needless or the line is not its own"],
    ]


@pytest.mark.parametrize(
    ("argv", "only_reads"),
    [
        (["nvidia-ctk", "cdi", "list"], True),
        (["nvidia-ctk", "cdi", "generate", "--output=/var/run/cdi/nvidia.yaml"], False),
        (["nvidia-ctk", "runtime", "configure", "--runtime=containerd"], False),
        (["mokutil", "--sb-state"], True),
        (["mokutil", "--import", "MOK.der"], False),
        (["chronyc", "tracking"], True),
        (["chronyc", "makestep"], False),
    ],
)
def test_the_words_after_a_program_decide_whether_it_reads(argv: list[str], only_reads: bool) -> None:
    assert style.reads(argv) == only_reads


def test_style_wants_fixes_that_can_be_undone_and_verified(tmp_path: Path) -> None:
    fixes = [
        fix("kubectl", "describe", "pod", "${pod}"),
        fix("kubectl", "label", "node", "x", "a=b"),
        fix("kubectl", "cordon", "x", undo=["kubectl", "uncordon", "x"], verify=["kubectl", "get", "node", "x"]),
        fix("kubectl", "delete", "pod", "${pod}", risk="disruptive", verify=["kubectl", "get", "pods"]),
        fix("kubectl", "exec", "x", "--", "nvidia-smi", "-r", risk="destructive"),
    ]
    library = Library(causes={"a": cause("a", fixes=fixes, tell="Look."), "b": cause("b", severity="critical")})
    found = list(style.problems(library, tmp_path))
    assert found == [
        "catalogue: a: no check finds it",
        "catalogue: a: fix 'do' only reads: it belongs under `look`",
        "catalogue: a: fix 'do' is safe and changes something: give undo",
        "catalogue: a: fix 'do' changes something: give verify",
        "catalogue: a: fix 'do': name it (do: drain or keep-away), so that a node of Slurm gets Slurm's command",
        "catalogue: a: fix 'do' changes something: give verify",
        "catalogue: b: no check finds it",
        "catalogue: b: give `tell`, what to look at, with the command",
        "catalogue: b: give `fixes`, or say in `no_fix` why nothing mends it and who has to act, and not both",
    ]
    assert isinstance(library.causes["a"].fixes[0], FixTemplate)


def test_causes_of_one_message_are_told_apart_on_one_side_at_least(tmp_path: Path) -> None:
    def complaints(**apart: dict[str, str]) -> list[str]:
        whens = {"a": 'message.name == "heard"', "b": 'message.name in ["seen", "heard"]', "c": 'message.name == "seen" && true'}
        each = Each(name="message", type="messages")
        checks = [Check(id=name, each=each, when=when, finds=name, title=name) for name, when in whens.items()]
        library = Library(
            runbooks={"r": Runbook(id="r", title="r", steps=[Step(id="s", checks=checks)])},
            causes={name: cause(name, confused_with=apart.get(name, {})) for name in whens},
            messages=[KnownMessage(name=name, wordings=[Wording("x", "x")]) for name in ("heard", "seen")],
        )
        return [text for text in style.problems(library, tmp_path) if "may also mean" in text]

    assert complaints() == [
        "catalogue: a: the message heard may also mean b: give `confused_with`",
        "catalogue: b: the message heard may also mean a: give `confused_with`",
        "catalogue: b: the message seen may also mean c: give `confused_with`",
        "catalogue: c: the message seen may also mean b: give `confused_with`",
    ]
    assert complaints(a={"b": "how"}, c={"b": "how"}) == []


def test_a_benign_message_alone_finds_nothing_alarming(tmp_path: Path) -> None:
    def noisy(when: str) -> list[str]:
        check = Check(id="heard", each=Each(name="message", type="messages"), when=when, finds="a", title="heard")
        book = Runbook(id="r", title="r", steps=[Step(id="s", checks=[check])], references=["https://example.com"])
        entry = KnownMessage(name="noise", wordings=[Wording("x", "x")], benign=True)
        library = Library(runbooks={"r": book}, causes={"a": cause("a", severity="warning")}, messages=[entry])
        return [text for text in style.problems(library, tmp_path) if "benign" in text]

    assert len(noisy('message.name == "noise"')) == 1
    assert noisy('message.name == "noise" && message.count > 100') == []
    assert noisy('message.name == "signal"') == []
