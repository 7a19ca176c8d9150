"""Running: what is asked, when, how often, and what a step that fails makes unknown. A probe over a dict stands for the world."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor import registry
from gpudoctor.engine.diagnose import conclusions, diagnose
from gpudoctor.engine.run import Engine, NotThere
from gpudoctor.facts import FACTS
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import StepResult
from gpudoctor.runbook.model import Library
from tests.engine_fakes import CAUSES, Fake, book, facts, fake_parsers, outcomes, refused, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("fake_parsers")

PODS = "- {id: pods, run: [kubectl, get, pods], parse: test.pods}\n"
NODES = "- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}\n"
SICK_POD = "checks: [{id: sick, each: pod in pods, when: pod.phase == 'Failed', finds: sick-pod, title: '${pod.pod} is sick'}]"
SICK_NODE = "checks: [{id: down, each: node in nodes, when: '!node.ready', finds: sick-node, title: '${node.node} is down'}]"
LIBRARY = Library(causes=CAUSES)


def pods(*names: str, **more: Any) -> bytes:
    return facts(pods=[{"namespace": "ml", "pod": name, **more} for name in names])


# --- concurrency and order


def test_steps_that_do_not_depend_on_one_another_run_at_the_same_time(tmp_path: Path) -> None:
    both = threading.Barrier(2, timeout=5)

    def together(command: Command) -> Output:
        both.wait()
        return Output(command, pages=(facts(pods=[], nodes=[]),))

    report = run(PODS + NODES, {"kubectl get pods": together, "kubectl get nodes": together}, tmp_path)
    assert report.coverage.answered == 2


def test_the_commands_of_one_step_run_at_the_same_time(tmp_path: Path) -> None:
    both = threading.Barrier(3, timeout=5)

    def together(command: Command) -> Output:
        both.wait()
        return Output(command, pages=(facts(xids=[]),))

    steps = NODES + "- {id: logs, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.xids}"
    answers = {"kubectl get nodes": facts(nodes=[{"node": name} for name in "abc"]), **{f"{name}: dmesg": together for name in "abc"}}
    assert run(steps, answers, tmp_path).coverage.answered == 4


def test_a_step_waits_for_what_it_reads_and_for_what_steers_it(tmp_path: Path) -> None:
    steps = (
        "- {id: pods, run: [kubectl, get, pods], parse: test.pods, "
        "checks: [{id: failed, each: pod in pods, when: pod.phase == 'Failed'}]}\n"
        "- {id: nodes, each: pod in pods, run: [kubectl, get, nodes, '${pod.node}'], parse: test.nodes}\n"
        "- {id: events, when: found.failed, run: [kubectl, get, events], parse: test.events}\n"
        "- {id: logs, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.xids}\n"
    )
    answers = {
        "kubectl get pods": pods("x", node="n1", phase="Failed"),
        "kubectl get nodes n1": facts(nodes=[{"node": "n1"}]),
        "kubectl get events": facts(events=[]),
        "n1: dmesg": facts(xids=[]),
    }
    probe = Fake(answers, delays={"kubectl get pods": 0.1, "kubectl get nodes n1": 0.1})
    report = run(steps, probe, tmp_path)
    asked = [command.shown for command in probe.asked]
    assert asked[0] == "kubectl get pods"
    assert asked.index("kubectl get nodes n1") < asked.index("dmesg")
    assert [step.id for step in report.steps] == ["book.pods", "book.nodes", "book.events", "book.logs"]


MANY_STEPS = """\
- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes, checks: [{id: any_down, each: node in nodes, when: '!node.ready'}]}
- {id: pods, run: [kubectl, get, pods], parse: test.pods}
- id: logs
  each: node in nodes
  limit: 3
  host: ${node.node}
  run: [dmesg]
  parse: test.xids
  checks:
    - id: lost
      each: xid in xids
      with: {first: {from: xids}}
      when: xid.code == 79
      finds: sick-gpu
      title: Xid 79 on ${xid.node} (${first.text})
- {id: again, each: pod in pods, host: '${pod.node}', run: [dmesg], parse: test.xids}
- {id: events, when: found.any_down, run: [kubectl, get, events], parse: test.events}
- id: ends
  checks:
    - id: sick
      each: pod in pods
      with: {node: {from: nodes, on: [node]}}
      when: '!node.ready'
      finds: sick-pod
      title: ${pod.pod} on ${node.node}
    - {id: down, each: node in nodes, when: '!node.ready', finds: sick-node, title: '${node.node} is down'}
"""
MANY_ANSWERS = {
    "kubectl get nodes": facts(nodes=[{"node": name, "ready": name != "b"} for name in "abcd"]),
    "kubectl get pods": facts(pods=[{"namespace": "ml", "pod": f"p{name}", "node": name} for name in "cba"]),
    "a: dmesg": facts(xids=[{"code": 79, "gpu": "g1", "text": "a"}]),
    "b: dmesg": facts(xids=[{"code": 79, "gpu": "g2", "text": "b"}, {"code": 13, "gpu": "g2", "text": "b"}]),
    "c: dmesg": Output(Command(()), exit=1, stderr=b"dmesg: read kernel buffer failed: Operation not permitted\n"),
    "kubectl get events": facts(events=[{"reason": "r", "message": "m"}]),
}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries({name: st.sampled_from([0.0, 0.005, 0.02]) for name in MANY_ANSWERS}))
def test_the_report_does_not_depend_on_which_command_answers_first(tmp_path: Path, delays: dict[str, float]) -> None:
    wanted = msgspec.json.encode(run(MANY_STEPS, Fake(MANY_ANSWERS), tmp_path))
    assert msgspec.json.encode(run(MANY_STEPS, Fake(MANY_ANSWERS, delays), tmp_path)) == wanted


def test_the_parts_of_that_report(tmp_path: Path) -> None:
    report = run(MANY_STEPS, MANY_ANSWERS, tmp_path)
    assert [(one.cause, one.role, one.subject.name, one.also) for one in report.findings] == [
        ("sick-gpu", "root", "b/g2", ["a/g1"]),
        ("sick-node", "symptom", "b", []),
        ("sick-pod", "symptom", "ml/pb", []),
    ]
    assert report.findings[0].title == "Xid 79 on b (a)"
    assert [(one.what, one.why) for one in report.coverage.missing] == [
        ("1 more of 4 in step book.logs", "asked for 3 only"),
        ("c: dmesg", "dmesg: read kernel buffer failed: Operation not permitted"),
    ]


def test_on_step_sees_the_steps_in_the_order_written(tmp_path: Path) -> None:
    seen: list[StepResult] = []
    probe = Fake(MANY_ANSWERS, delays={"kubectl get nodes": 0.05})
    report = run(MANY_STEPS, probe, tmp_path, on_step=seen.append)
    assert [one.id for one in seen] == [one.id for one in report.steps if one.argv]


# --- asking


def test_the_same_command_is_asked_once(tmp_path: Path) -> None:
    steps = (
        PODS
        + "- {id: again, run: [kubectl, get, pods], parse: test.pods}\n"
        + "- {id: third, each: pod in pods, run: [kubectl, get, pods], parse: test.pods}\n"
    )
    probe = Fake({"kubectl get pods": pods("x", "y")})
    report = run(steps, probe, tmp_path)
    assert probe.lines == ["kubectl get pods"]
    assert [step.outcome for step in report.steps] == ["clear", "clear", "clear"]


def test_facts_belong_to_the_first_step_that_asks_for_them_whoever_asked_first(tmp_path: Path) -> None:
    steps = (
        "- {id: slow, run: [kubectl, get, nodes], parse: test.nodes}\n"
        "- {id: one, each: node in nodes, run: [kubectl, logs, x], parse: test.xids, checks: [{id: lost, each: xid in xids}]}\n"
        "- {id: two, run: [kubectl, logs, x], parse: test.xids, checks: [{id: gpu, each: xid in xids, finds: sick-gpu, title: t}]}\n"
        "- {id: three, when: found.lost, run: [kubectl, get, events], parse: test.events}\n"
    )
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": "n1"}]),
        "kubectl logs x": facts(xids=[{"code": 79, "gpu": "g"}]),
        "kubectl get events": facts(events=[]),
    }
    for slow in ("kubectl get nodes", "kubectl logs x"):
        probe = Fake(answers, delays={slow: 0.1})
        report = run(steps, probe, tmp_path)
        assert report.findings[0].subject.name == "n1/g", slow  # the facts are about what the first step asked about
        assert "kubectl get events" in probe.lines, slow


def test_limit_is_said_in_the_coverage_and_leaves_the_checks_open(tmp_path: Path) -> None:
    steps = (
        NODES + f"- {{id: more, each: node in nodes, limit: 2, run: [kubectl, get, pods, '${{node.node}}'], parse: test.pods, {SICK_POD}}}"
    )
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": name} for name in "abcde"]),
        "kubectl get pods a": pods("x"),
        "kubectl get pods b": pods("y"),
    }
    report = run(steps, answers, tmp_path)
    assert [(one.what, one.why) for one in report.coverage.missing] == [("3 more of 5 in step book.more", "asked for 2 only")]
    assert (report.verdict, outcomes(report)["sick"]) == ("inconclusive", "unknown")


def test_a_limit_counts_what_is_asked_and_not_for_whom(tmp_path: Path) -> None:
    """Many pods of two nodes: both nodes are asked about."""
    more = f"- {{id: more, each: xid in xids, limit: 2, run: [kubectl, get, pods, '${{xid.gpu}}'], parse: test.pods, {SICK_POD}}}"
    steps = "- {id: first, run: [kubectl, get, events], parse: test.xids}\n" + more
    answers = {
        "kubectl get events": facts(xids=[{"code": code, "gpu": gpu} for gpu in "ab" for code in range(9)]),
        "kubectl get pods a": pods("x"),
        "kubectl get pods b": pods("y"),
    }
    probe = Fake(answers)
    assert run(steps, probe, tmp_path).coverage.missing == []
    assert sorted(probe.lines) == sorted(answers)


def test_a_step_over_no_record_asks_nothing_and_its_checks_are_skipped(tmp_path: Path) -> None:
    more = f"- {{id: more, each: node in nodes, run: [kubectl, get, pods, '${{node.node}}'], parse: test.pods, {SICK_POD}}}"
    report = run(NODES + more, {"kubectl get nodes": facts(nodes=[])}, tmp_path)
    assert (report.steps[1].outcome, report.unknown, report.ruled_out) == ("skipped", [], [])
    assert report.verdict == "inconclusive"  # nothing was checked


def test_a_step_over_a_type_that_could_not_be_read_is_not_decided(tmp_path: Path) -> None:
    more = f"- {{id: more, each: node in nodes, run: [kubectl, get, pods, '${{node.node}}'], parse: test.pods, {SICK_POD}}}"
    report = run(NODES + more, {"kubectl get nodes": refused("no")}, tmp_path)
    assert report.steps[1].outcome == "unknown"
    assert [(one.check, one.why) for one in report.unknown] == [("book.sick", "needs nodes, which could not be read")]


def test_where_chooses_the_records_and_one_that_can_not_be_decided_leaves_the_checks_open(tmp_path: Path) -> None:
    more = (
        f"- {{id: more, each: node in nodes, where: node.ready, run: [kubectl, get, pods, '${{node.node}}'], parse: test.pods, {SICK_POD}}}"
    )
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": "a", "ready": True}, {"node": "b", "ready": False}, {"node": "c"}]),
        "kubectl get pods a": pods("x"),
    }
    probe = Fake(answers)
    report = run(NODES + more, probe, tmp_path)
    assert probe.lines == ["kubectl get nodes", "kubectl get pods a"]
    assert "node.ready is not known" in report.unknown[0].why


def test_samples_are_asked_one_after_the_other_with_a_pause(tmp_path: Path) -> None:
    made = book("- {id: logs, run: [dmesg], parse: test.xids, sample: {times: 3, every: 10s}}", tmp_path)
    probe = Fake({"dmesg": lambda command: Output(command, pages=(facts(xids=[{"code": command.sample}]),))})
    pauses: list[float] = []
    engine = Engine(LIBRARY, probe, pause=lambda seconds: pauses.append(seconds))
    made_run = engine.execute(made, {})
    assert [command.sample for command in probe.asked] == [0, 1, 2]
    assert pauses == pytest.approx([10.0, 10.0], abs=1.0)  # from start to start
    assert [one.code for one in made_run.store.records("xids")] == [0, 1, 2]  # type: ignore[attr-defined]
    assert conclusions(LIBRARY, made_run, asked="", started=0)[0].coverage.asked == 3


# --- values that come from the cluster


@pytest.mark.parametrize("name", ["-rf", "--all", "-", "a\nb", "a\x1b[2J", "a\x00b", "a\x7f", "a\x9b2J"])
def test_a_hostile_value_never_becomes_an_argument(name: str, tmp_path: Path) -> None:
    steps = PODS + f"- {{id: logs, each: pod in pods, run: [kubectl, logs, '${{pod.pod}}', '--tail=5'], parse: test.messages, {SICK_POD}}}"
    probe = Fake({"kubectl get pods": pods(name, "good"), "kubectl logs good --tail=5": facts(messages=[])})
    report = run(steps, probe, tmp_path)
    assert probe.lines == ["kubectl get pods", "kubectl logs good --tail=5"]
    assert any("not asked" in one.why or "NUL" in one.why for one in report.coverage.missing)
    assert report.unknown


@pytest.mark.parametrize("name", ["-oProxyCommand=reboot", "n\n1", ""])
def test_a_hostile_or_missing_host_is_not_asked(name: str, tmp_path: Path) -> None:
    steps = NODES + "- {id: logs, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.xids}"
    probe = Fake({"kubectl get nodes": facts(nodes=[{"node": name}]), "dmesg": facts(xids=[])})
    report = run(steps, probe, tmp_path)
    assert probe.lines == ["kubectl get nodes"]
    assert "not asked" in report.coverage.missing[0].why


def test_a_value_that_begins_with_a_dash_may_stand_inside_an_option(tmp_path: Path) -> None:
    steps = PODS + "- {id: more, each: pod in pods, run: [kubectl, get, nodes, '--selector=${pod.pod}'], parse: test.nodes}"
    probe = Fake({"kubectl get pods": pods("-x"), "kubectl get nodes --selector=-x": facts(nodes=[])})
    assert run(steps, probe, tmp_path).coverage.missing == []


def test_an_element_whose_every_expression_is_empty_is_left_out(tmp_path: Path) -> None:
    declared = "{a: {type: string, default: '', help: h}, b: {type: string, default: '', help: h}}"
    steps = "- {id: pods, run: [kubectl, get, pods, '${input.a}', '--selector=${input.a}${input.b}', -o, json], parse: test.pods}"
    for inputs, line in (
        ({}, "kubectl get pods -o json"),
        ({"b": "x=y"}, "kubectl get pods --selector=x=y -o json"),
        ({"a": "n"}, "kubectl get pods n --selector=n -o json"),
    ):
        probe = Fake({line: pods()})
        assert run(steps, probe, tmp_path, declared=declared, inputs=inputs).coverage.answered == 1, line


def test_a_command_that_a_value_makes_forbidden_is_not_asked(tmp_path: Path) -> None:
    steps = PODS + f"- {{id: more, each: pod in pods, run: [kubectl, get, '${{pod.pod}}'], parse: test.pods, {SICK_POD}}}"
    probe = Fake({"kubectl get pods": pods("secrets")})
    report = run(steps, probe, tmp_path)
    assert probe.lines == ["kubectl get pods"]
    assert report.unknown[0].why == "secrets are never read"


# --- failure


def test_a_failed_step_makes_exactly_its_checks_unknown_and_quotes_why(tmp_path: Path) -> None:
    reason = 'nodes is forbidden: User "eve" cannot list resource "nodes" in API group "" at the cluster scope'
    steps = (
        f"- {{id: pods, run: [kubectl, get, pods], parse: test.pods, {SICK_POD}}}\n"
        f"- {{id: nodes, run: [kubectl, get, nodes], parse: test.nodes, {SICK_NODE}}}"
    )
    report = run(steps, {"kubectl get pods": pods("x"), "kubectl get nodes": refused(reason)}, tmp_path)
    assert outcomes(report) == {"sick-pod": "clear", "down": "unknown"}
    assert (report.unknown[0].why, report.unknown[0].settle_with) == (reason, ["kubectl get nodes"])
    assert [(step.outcome, step.note) for step in report.steps] == [("clear", ""), ("unknown", reason)]
    assert (report.verdict, report.coverage.asked, report.coverage.answered) == ("inconclusive", 2, 1)


def test_found_wins_over_a_failure(tmp_path: Path) -> None:
    steps = NODES + f"- {{id: more, each: node in nodes, run: [kubectl, get, pods, '${{node.node}}'], parse: test.pods, {SICK_POD}}}"
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": "a"}, {"node": "b"}]),
        "kubectl get pods a": refused("403"),
        "kubectl get pods b": pods("x", phase="Failed"),
    }
    report = run(steps, answers, tmp_path)
    assert (report.verdict, outcomes(report)) == ("problem", {"sick-pod": "found"})
    assert len(report.coverage.missing) == 1


ANSWERS: list[tuple[Any, str]] = [
    (
        Output(Command(()), exit=1, stderr=b"Error from server (Forbidden): pods is forbidden\n"),
        "Error from server (Forbidden): pods is forbidden",
    ),
    (Output(Command(()), exit=3), "exit code 3"),
    (Output(Command(()), failure="timeout", reason="no answer in 30 s"), "no answer in 30 s"),
    (Output(Command(()), failure="unkillable"), "unkillable"),
    (b"<html>a proxy</html>", "kubectl get pods: not facts: '<html>a proxy</html>'"),
    (b"", "kubectl printed nothing (exit code 0)"),
]


@pytest.mark.parametrize(("answer", "why"), ANSWERS)
def test_an_answer_that_is_none_is_never_read_as_clear(answer: Any, why: str, tmp_path: Path) -> None:
    report = run(f"- {{id: pods, run: [kubectl, get, pods], parse: test.pods, {SICK_POD}}}", {"kubectl get pods": answer}, tmp_path)
    assert [one.why for one in report.unknown] == [why]
    assert report.ruled_out == []


def test_a_thing_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    gone = Output(Command(()), exit=1, stderr=b'Error from server (NotFound): pods "x" not found\n')
    report = run(f"- {{id: pods, run: [kubectl, get, pods, x], parse: test.pods, {SICK_POD}}}", {"kubectl get pods x": gone}, tmp_path)
    assert outcomes(report) == {"sick-pod": "clear"}


def test_a_program_that_fails_without_a_word_of_fact_is_not_clear(tmp_path: Path) -> None:
    check = "checks: [{id: lost, each: xid in xids, finds: sick-gpu, title: t}]"
    mute = Output(Command(()), exit=1, stderr=b"dmesg: read kernel buffer failed: Operation not permitted\n")
    report = run(f"- {{id: logs, run: [dmesg], parse: kernel.log, {check}}}", {"dmesg": mute}, tmp_path)
    assert report.unknown[0].why == "dmesg: read kernel buffer failed: Operation not permitted"


def test_a_stream_that_breaks_off_gives_no_facts(tmp_path: Path) -> None:
    class Broken(Fake):
        def stream(self, command: Command) -> Any:
            yield Output(command, pages=(facts(nodes=[{"node": "a", "ready": True}]),))
            yield Output(command, failure="broken", reason="the connection broke")

    report = run(f"- {{id: nodes, run: [kubectl, get, nodes], parse: test.stream, {SICK_NODE}}}", Broken({}), tmp_path)
    assert report.unknown[0].why == "the connection broke"


def test_a_stream_is_read_page_by_page(tmp_path: Path) -> None:
    class Paged(Fake):
        def stream(self, command: Command) -> Any:
            for name in "ab":
                yield Output(command, pages=(facts(nodes=[{"node": name, "ready": name == "a"}]),))

    report = run(f"- {{id: nodes, run: [kubectl, get, nodes], parse: test.stream, {SICK_NODE}}}", Paged({}), tmp_path)
    assert report.findings[0].subject.name == "b"


# --- branching


GATED = """\
- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes, checks: [{id: down, each: node in nodes, when: '!node.ready'}]}
- id: pods
  when: %s
  run: [kubectl, get, pods]
  parse: test.pods
  checks: [{id: sick, each: pod in pods, when: pod.phase == "Failed", finds: sick-pod, title: t}]
"""


@pytest.mark.parametrize(
    ("when", "nodes", "outcome"),
    [
        ("found.down", facts(nodes=[{"node": "a", "ready": False}]), "clear"),
        ("found.down", facts(nodes=[{"node": "a", "ready": True}]), "skipped"),
        ("found.down", facts(nodes=[{"node": "a", "ready": True}, {"node": "b"}]), "unknown"),
        ("found.down", refused("forbidden here"), "unknown"),
        ("'!found.down'", refused("forbidden here"), "unknown"),
        ("found.down || true", refused("forbidden here"), "clear"),
        ("found.down && false", refused("forbidden here"), "skipped"),
        ("found.down", facts(nodes=[{"node": "a", "ready": False}, {"node": "b"}]), "clear"),
    ],
)
def test_gates(when: str, nodes: Any, outcome: str, tmp_path: Path) -> None:
    probe = Fake({"kubectl get nodes": nodes, "kubectl get pods": pods("x")})
    report = run(GATED % when, probe, tmp_path)
    assert report.steps[1].outcome == outcome
    assert ("kubectl get pods" in probe.lines) is (outcome == "clear")
    if outcome == "unknown":
        why = "forbidden here" if isinstance(nodes, Output) else "node.ready is not known"
        assert why in report.unknown[-1].why


def test_a_check_of_a_skipped_step_finds_what_others_have_read(tmp_path: Path) -> None:
    steps = PODS + f"- {{id: never, when: 'false', run: [kubectl, get, pods, -A], parse: test.pods, {SICK_POD}}}"
    assert outcomes(run(steps, {"kubectl get pods": pods("x", phase="Failed")}, tmp_path)) == {"sick-pod": "found"}
    report = run(steps, {"kubectl get pods": pods("x")}, tmp_path)
    assert (report.steps[1].outcome, report.steps[1].note, outcomes(report)) == ("skipped", "not needed", {})


def test_an_include_runs_with_its_inputs_and_under_its_gate(tmp_path: Path) -> None:
    declared = "{ns: {type: string, default: a, help: h}, grace: {type: duration, default: 5m, help: h}}"
    inner = book(
        "- {id: pods, run: [kubectl, get, pods, -n, '${input.ns}'], parse: test.pods, "
        + SICK_POD.replace("pod.phase", "pod.age > input.grace && pod.phase")
        + "}",
        tmp_path,
        name="inner",
        inputs=declared,
    )
    library = Library(causes=CAUSES, runbooks={"inner": inner})
    probe = Fake({"kubectl get pods -n b": pods("x", age=90.0, phase="Failed")})
    more: dict[str, Any] = {
        "library": library,
        "declared": "{to: {type: string, default: b, help: h}, grace: {type: duration, default: 1m, help: h}}",
    }
    report = run("- {include: inner, set: {ns: '${input.to}'}}", probe, tmp_path, **more)
    assert [(one.check, one.subject.name) for one in report.findings] == [("inner.sick", "ml/x")]
    assert [step.id for step in report.steps] == ["inner.pods"]
    report = run("- {include: inner, set: {ns: '${input.to}', grace: 2m}}", probe, tmp_path, **more)
    assert report.findings == []
    report = run("- {include: inner, when: input.to == 'c'}", probe, tmp_path, **more)
    assert report.steps[0].outcome == "skipped"


# --- measurements

STACK = (
    "- {id: stack%s, run: [kubectl, get, pods, s%s], parse: test.pods}\n"
    "- {id: more%s, run: [kubectl, get, events, s%s], parse: test.containers}\n"
    "- {id: order%s, derive: stack.order}\n"
)


def test_a_measurement_taken_again_replaces_the_earlier(tmp_path: Path) -> None:
    part = {"namespace": "gpu-operator", "component": "device-plugin", "ready": True, "node": "n1", "phase": "Running"}
    answers = {
        "kubectl get pods s1": facts(pods=[{**part, "pod": "plugin-a"}]),
        "kubectl get events s1": facts(containers=[]),
        "kubectl get pods s2": facts(pods=[{**part, "pod": "driver-b", "component": "driver"}]),
        "kubectl get events s2": facts(containers=[]),
    }
    show = "- id: show\n  show: {title: Parts, each: part in stack, columns: {Pod: '${part.pod}', Ready: '${part.ready}'}}\n"
    report = run(STACK.replace("%s", "1") + STACK.replace("%s", "2") + show, answers, tmp_path)
    assert [table.rows for table in report.tables] == [[["driver-b", "true"], ["plugin-a", "true"]]]


def test_a_measurement_without_what_it_needs_makes_its_checks_unknown(tmp_path: Path) -> None:
    steps = (
        PODS
        + "- {id: more, run: [kubectl, get, events], parse: test.containers}\n"
        + "- {id: order, derive: stack.order, checks: [{id: stops, each: part in stack, finds: sick-node, title: t}]}"
    )
    report = run(steps, {"kubectl get pods": refused("403"), "kubectl get events": facts(containers=[])}, tmp_path)
    assert [(one.check, one.why) for one in report.unknown] == [("book.stops", "needs pods, which could not be read")]


def test_what_the_user_asked_about_is_not_there(tmp_path: Path) -> None:
    words = {"kind": "pod", "name": "trian", "namespace": "ml"}
    declared = "{" + ", ".join(f"{name}: {{type: string, default: {value}, help: h}}" for name, value in words.items()) + "}"
    steps = PODS + "- {id: target, derive: targets.found}\n"
    with pytest.raises(NotThere) as caught:
        run(steps, {"kubectl get pods": pods("train")}, tmp_path, declared=declared)
    assert (caught.value.what, caught.value.close) == ('pod "trian" in namespace "ml"', ["ml/train"])


# --- the tables


def test_a_table_has_the_rows_that_hold_and_says_what_is_not_known(tmp_path: Path) -> None:
    show = "show: {title: Nodes, each: n in nodes, where: n.gpus_capacity > 0, columns: {Name: '${n.node}', Ready: '${n.ready}'}}"
    steps = f"- {{id: nodes, run: [kubectl, get, nodes], parse: test.nodes, {show}}}"
    many = [{"node": f"cpu{n}", "ready": True} for n in range(300)] + [
        {"node": "a", "gpus_capacity": 8, "ready": True},
        {"node": "b", "gpus_capacity": 8},
    ]
    report = run(steps, {"kubectl get nodes": facts(nodes=many)}, tmp_path)
    assert [(table.columns, table.rows) for table in report.tables] == [(["Name", "Ready"], [["a", "true"], ["b", "?"]])]


# --- time and errors of ours


def test_the_time_of_the_whole_run_is_kept_and_said(tmp_path: Path) -> None:
    steps = PODS + "- {id: nodes, each: pod in pods, run: [kubectl, get, nodes], parse: test.nodes}\n"
    report = run(
        steps,
        Fake({"kubectl get pods": pods("x"), "kubectl get nodes": facts(nodes=[])}, {"kubectl get pods": 0.15}),
        tmp_path,
        timeout=0.1,
    )
    assert [one.why for one in report.coverage.missing] == ["not asked: the time of the whole run is used up (see --timeout)"]


def test_a_command_gets_no_more_time_than_is_left(tmp_path: Path) -> None:
    probe = Fake({"kubectl get pods": pods()})
    run(PODS, probe, tmp_path, timeout=5.0)
    assert 0 < probe.asked[0].timeout <= 5.0


def test_a_probe_that_never_returns_does_not_hold_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudoctor.engine.run.LATEST", 0.1)
    hang = threading.Event()

    def never(command: Command) -> Output:
        hang.wait(30)
        return Output(command, pages=(pods("x", phase="Failed"),))

    steps = (
        f"- {{id: pods, run: [kubectl, get, pods], parse: test.pods, {SICK_POD}}}\n"
        f"- {{id: nodes, run: [kubectl, get, nodes], parse: test.nodes, {SICK_NODE}}}\n"
        f"- {{id: later, each: pod in pods, run: [kubectl, get, events], parse: test.events}}"
    )
    started = time.monotonic()
    try:
        report = run(
            steps, {"kubectl get pods": never, "kubectl get nodes": facts(nodes=[{"node": "n", "ready": False}])}, tmp_path, timeout=0.2
        )
    finally:
        hang.set()
    assert time.monotonic() - started < 5
    assert outcomes(report) == {"sick-node": "found", "sick": "unknown"}
    assert [step.outcome for step in report.steps] == ["unknown", "found", "unknown"]
    assert "in the time of the whole run" in report.unknown[0].why


def crash(command: Command) -> Output:
    raise RuntimeError("a bug in the probe")


@pytest.mark.parametrize(
    "steps",
    [
        PODS,
        NODES
        + "- {id: pods, each: node in nodes, run: [kubectl, get, pods, '${node.node}'], parse: test.pods}\n"
        + "- {id: all, run: [kubectl, get, pods], parse: test.pods}\n",
    ],
)
def test_a_bug_in_a_probe_surfaces_and_does_not_hang(steps: str, tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        "kubectl get pods": crash,
        "kubectl get nodes": facts(nodes=[{"node": "a"}, {"node": "b"}]),
        "kubectl get pods a": crash,
        "kubectl get pods b": crash,
    }
    started = time.monotonic()
    with pytest.raises(RuntimeError, match="a bug in the probe"):
        run(steps, answers, tmp_path)
    assert time.monotonic() - started < 10


def test_a_bug_in_a_parser_is_that_of_its_answer(tmp_path: Path) -> None:
    started = time.monotonic()
    report = run(PODS, {"kubectl get pods": b"crash"}, tmp_path)
    assert time.monotonic() - started < 10
    assert [missing.why for missing in report.coverage.missing if "a bug in the parser" in missing.why]
    assert report.verdict == "inconclusive"


def test_an_error_in_on_step_surfaces(tmp_path: Path) -> None:
    def broken(step: StepResult) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run(PODS, {"kubectl get pods": pods()}, tmp_path, on_step=broken)


HOSTILE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(sorted(FACTS["pods"].__struct_fields__)), HOSTILE, max_size=5))
def test_hostile_values_in_facts_end_in_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any]) -> None:
    made = book(
        PODS
        + f"- {{id: logs, each: pod in pods, where: pod.gpus > 0, run: [kubectl, logs, '${{pod.pod}}'], parse: test.messages, {SICK_POD}}}",
        tmp_path,
    )
    fact = FACTS["pods"](
        **{"namespace": "ml", "pod": "x", **{k: v for k, v in values.items() if k not in ("origin", "gaps", "namespace", "pod")}}
    )

    with monkeypatch.context() as patch:
        patch.setattr(registry, "load", lambda name: lambda output, about: {"pods": [fact], "messages": []})
        report = diagnose(LIBRARY, made, {}, Fake({"kubectl get pods": b"{}", "kubectl logs x": b"{}"}), timeout=5.0)
    assert report.verdict in ("healthy", "problem", "inconclusive")
