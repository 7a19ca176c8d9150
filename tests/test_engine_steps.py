"""The keys of a step: nested includes, other ways to ask, what isn't there, samples over a time, what needs consent, NVML and PromQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpudoctor import registry
from gpudoctor.cli.library import step_lines, steps_of
from gpudoctor.engine.diagnose import diagnose
from gpudoctor.engine.plan import plan
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import CONSENT
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay
from gpudoctor.reporters import render
from gpudoctor.runbook.model import Library, Runbook
from tests.engine_fakes import CAUSES, Fake, book, facts, fake_parsers, outcomes, problems_of, refused, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("fake_parsers")

LIBRARY = Library(causes=CAUSES)
HEAD = "schema: 1\nid: book\ntitle: A test\nsteps:\n"
LOST = "checks: [{id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: t}]"
XIDS = facts(xids=[{"code": 79, "gpu": "g"}])
QUIET = facts(xids=[])


def gone(command: Command) -> Output:
    return Output(command, exit=127, failure="not-found", reason=f"{command.argv[0]}: command not found")


# --- includes


def nested(folder: Path) -> tuple[Library, Runbook]:
    """A runbook that includes two others, which both include `names`."""
    inputs = "{nodes: {type: string, default: '', help: h}}"
    shelf: dict[str, Runbook] = {}
    for name, steps in {
        "names": "- {id: all, run: [kubectl, get, nodes, '${input.nodes}'], parse: test.nodes, checks: [{id: any, each: node in nodes}]}",
        "logs": "- {include: names}\n- {id: log, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.xids, " + LOST + "}",
        "bus": "- {include: names}\n- {id: bus, each: node in nodes, host: '${node.node}', run: [lspci], parse: test.pci_devices}",
        "whole": "- {include: names}\n- {include: logs}\n- {include: bus}\n- {include: names, set: {nodes: other}}",
    }.items():
        shelf[name] = book(steps, folder, name=name, inputs=inputs, library=Library(causes=CAUSES, runbooks=dict(shelf)))
    return Library(causes=CAUSES, runbooks=shelf), shelf["whole"]


def test_what_is_included_again_with_the_same_inputs_adds_nothing(tmp_path: Path) -> None:
    library, whole = nested(tmp_path)
    assert [one.name for one in plan(library, whole, {"nodes": ""})] == ["names.all", "logs.log", "bus.bus", "names.all"]
    assert [f"{owner.id}.{step.id}" for owner, step in steps_of(library, whole)] == ["names.all", "logs.log", "bus.bus", "names.all"]


def test_a_nested_include_runs(tmp_path: Path) -> None:
    library, whole = nested(tmp_path)
    probe = Fake(
        {"kubectl get nodes": facts(nodes=[{"node": "a"}]), "kubectl get nodes other": facts(nodes=[]), "a: dmesg": XIDS}
        | {"a: lspci": facts(pci_devices=[])}
    )
    report = diagnose(library, whole, {"nodes": ""}, probe, timeout=10.0)
    assert probe.lines == ["a: dmesg", "a: lspci", "kubectl get nodes", "kubectl get nodes other"]
    assert outcomes(report) == {"sick-gpu": "found"}


@pytest.mark.parametrize(
    ("first", "second", "times"),
    [("", "", 1), ("", "true", 1), ("true", "", 2), ("true", "true", 1), ("true", "1 == 1", 2)],
)
def test_an_include_behind_more_gates_adds_nothing(first: str, second: str, times: int, tmp_path: Path) -> None:
    library, _ = nested(tmp_path)
    whens = [f", when: {when}" if when else "" for when in (first, second)]
    outer = book("\n".join(f"- {{include: names{when}}}" for when in whens), tmp_path, name="outer", library=library)
    assert len(plan(library, outer, {})) == times


def test_found_speaks_of_the_same_inclusion(tmp_path: Path) -> None:
    inputs = "{name: {type: string, default: '', help: h}}"
    steps = (
        "- {id: pods, run: [kubectl, get, pods, '${input.name}'], parse: test.pods, checks: [{id: some, each: pod in pods,"
        " when: pod.pod == input.name}]}\n"
        "- {id: events, when: found.some, run: [kubectl, get, events, '${input.name}'], parse: test.events}"
    )
    inner = book(steps, tmp_path, name="inner", inputs=inputs)
    library = Library(causes=CAUSES, runbooks={"inner": inner})
    outer = book("- {include: inner, set: {name: a}}\n- {include: inner, set: {name: b}}", tmp_path, name="outer", library=library)
    answers = {"kubectl get pods a": facts(pods=[]), "kubectl get pods b": facts(pods=[{"namespace": "ml", "pod": "b"}])}
    probe = Fake(answers | {"kubectl get events b": facts(events=[])})
    diagnose(library, outer, {}, probe, timeout=10.0)
    assert probe.lines == ["kubectl get events b", "kubectl get pods a", "kubectl get pods b"]


# --- otherwise and optional

DMESG = f"- {{id: log, run: [dmesg], otherwise: [journalctl, -k], parse: test.xids, {LOST}}}"


@pytest.mark.parametrize(
    ("first", "wanted"),
    [
        (gone, ["dmesg", "journalctl -k"]),
        (refused("forbidden"), ["dmesg", "journalctl -k"]),
        (Output(Command(()), exit=1, stderr=b"dmesg: read kernel buffer failed: Operation not permitted\n"), ["dmesg", "journalctl -k"]),
        (Output(Command(()), exit=1, pages=(QUIET,)), ["dmesg", "journalctl -k"]),
        (Output(Command(()), exit=1, pages=(XIDS,)), ["dmesg"]),  # a diagnosis, whatever the exit code
        (Output(Command(()), failure="timeout", reason="no answer"), ["dmesg"]),
        (XIDS, ["dmesg"]),
        (QUIET, ["dmesg"]),
    ],
)
def test_another_way_is_asked_when_the_first_has_no_answer(first: Any, wanted: list[str], tmp_path: Path) -> None:
    probe = Fake({"dmesg": first, "journalctl -k": XIDS})
    report = run(DMESG, probe, tmp_path)
    assert probe.lines == wanted
    if len(wanted) == 2:
        assert outcomes(report) == {"sick-gpu": "found"}
        assert report.steps[0].argv == ["journalctl", "-k"]
        assert (report.coverage.asked, report.coverage.answered, report.coverage.missing) == (1, 1, [])


def test_an_option_that_this_version_does_not_have_is_no_answer(tmp_path: Path) -> None:
    steps = (
        "- {id: q, run: [nvidia-smi, --query-gpu=clocks_event_reasons.active], otherwise: [nvidia-smi, -q], parse: test.smi,"
        " checks: [{id: error, each: smi in smi, when: smi.problem != '', finds: sick-node, title: t}]}"
    )
    usage = Output(Command(()), exit=2, pages=(facts(smi=[{"problem": "unknown_error"}]),))
    probe = Fake({"nvidia-smi --query-gpu=clocks_event_reasons.active": usage, "nvidia-smi -q": facts(smi=[{"gpus": 1}])})
    assert outcomes(run(steps, probe, tmp_path)) == {"sick-node": "clear"}


def test_when_neither_way_has_an_answer_both_reasons_are_said(tmp_path: Path) -> None:
    report = run(DMESG, {"dmesg": refused("not permitted"), "journalctl -k": gone}, tmp_path)
    assert report.unknown[0].why == "not permitted; journalctl: command not found"


def test_another_way_on_hosts_is_one_more_round_trip_for_those_that_need_it(tmp_path: Path) -> None:
    steps = (
        "- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}\n"
        f"- {{id: log, each: node in nodes, host: '${{node.node}}', run: [dmesg], otherwise: [journalctl, -k], parse: test.xids, {LOST}}}"
    )
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": "a"}, {"node": "b"}]),
        "a: dmesg": QUIET,
        "b: dmesg": gone,
        "b: journalctl -k": XIDS,
    }
    recorder = Recorder(Fake(answers), tmp_path / "kept", "book", {})
    live = run(steps, recorder, tmp_path)
    recorder.close()
    again = run(steps, Replay(tmp_path / "kept"), tmp_path, recorded=True)
    assert live.findings[0].subject.name == "b/g"
    assert again == live


OPTIONAL = f"- {{id: log, optional: true, run: [tail, -c, 100, /var/log/fabricmanager.log], parse: test.xids, {LOST}}}"


@pytest.mark.parametrize(
    ("answer", "outcome", "verdict"),
    [
        (gone, "skipped", "healthy"),
        (Output(Command(()), exit=127, stderr=b"sh: tail: not found\n"), "skipped", "healthy"),
        (
            Output(Command(()), exit=1, stderr=b"tail: cannot open '/var/log/fabricmanager.log' for reading: No such file or directory\n"),
            "skipped",
            "healthy",
        ),
        (Output(Command(()), exit=1, stderr=b"tail: cannot open: Permission denied\n"), "unknown", "inconclusive"),
        (Output(Command(()), failure="timeout", reason="no answer"), "unknown", "inconclusive"),
        (refused("forbidden"), "unknown", "inconclusive"),
        (QUIET, "clear", "healthy"),
        (XIDS, "found", "problem"),
    ],
)
def test_what_is_not_there_is_skipped_and_what_fails_is_unknown(answer: Any, outcome: str, verdict: str, tmp_path: Path) -> None:
    well = "- {id: other, run: [kubectl, get, pods], parse: test.pods, checks: [{id: p, each: pod in pods, finds: sick-pod, title: t}]}\n"
    report = run(well + OPTIONAL, {"kubectl get pods": facts(pods=[]), "tail -c 100 /var/log/fabricmanager.log": answer}, tmp_path)
    assert (report.steps[1].outcome, report.verdict) == (outcome, verdict)
    assert bool(report.coverage.missing) is (outcome in ("skipped", "unknown"))
    if outcome == "skipped":
        assert "not found" in report.steps[1].note or "No such file" in report.steps[1].note
        assert (report.coverage.asked, report.coverage.answered) == (1, 1)


@pytest.mark.parametrize(("answer", "seen"), [(QUIET, {"clear"}), (gone, {"clear", "skipped"})])
def test_what_was_not_seen_is_skipped(answer: Any, seen: set[str], tmp_path: Path) -> None:
    other = "- {id: other, run: [kubectl, get, pods], parse: test.pods, checks: [{id: p, each: pod in pods, finds: sick-gpu, title: t}]}\n"
    report = run(other + OPTIONAL, {"kubectl get pods": facts(pods=[]), "tail -c 100 /var/log/fabricmanager.log": answer}, tmp_path)
    assert {one.outcome for one in report.checks} == seen
    assert report.ruled_out == []


def test_without_the_word_a_program_that_is_not_there_leaves_its_checks_open(tmp_path: Path) -> None:
    report = run(OPTIONAL.replace("optional: true, ", ""), {"tail -c 100 /var/log/fabricmanager.log": gone}, tmp_path)
    assert outcomes(report) == {"lost": "unknown"}


def test_some_machines_without_the_program_do_not_matter(tmp_path: Path) -> None:
    steps = (
        "- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}\n"
        f"- {{id: log, optional: true, each: node in nodes, host: '${{node.node}}', run: [dmesg], parse: test.xids, {LOST}}}"
    )
    answers = {"kubectl get nodes": facts(nodes=[{"node": "a"}, {"node": "b"}]), "a: dmesg": QUIET, "b: dmesg": gone}
    report = run(steps, answers, tmp_path)
    assert outcomes(report) == {"sick-gpu": "clear"}
    assert [one.what for one in report.coverage.missing] == ["b: dmesg"]


# --- parsers that read failures


@pytest.mark.parametrize(("failure", "told"), [("timeout", True), ("unkillable", True), ("not-found", True), ("refused", False)])
def test_a_parser_may_read_that_a_program_hangs(failure: Any, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.PARSERS, "test.smi", registry.PARSERS["test.smi"]._replace(failures=True))
    steps = (
        "- {id: q, run: [nvidia-smi, -q], parse: test.smi, checks: ["
        "{id: hung, each: smi in smi, when: smi.problem == 'timeout', finds: sick-node, title: t},"
        "{id: error, each: smi in smi, when: smi.problem == 'mismatch', finds: sick-gpu, title: t}]}"
    )
    hung = Output(Command(()), failure=failure, reason="it hangs", pages=(facts(smi=[{"problem": "timeout"}]),))
    report = run(steps, {"nvidia-smi -q": hung}, tmp_path)
    assert outcomes(report) == {"sick-node": "found", "error": "unknown"} if told else {"hung": "unknown", "error": "unknown"}
    assert [one.why for one in report.coverage.missing] == ["it hangs"]


# --- samples


def sampled(folder: Path, sample: str, **more: Any) -> tuple[Engine, Fake, list[float]]:
    """A step that samples for as long as the input `for` says, run with pauses that are only noted."""
    declared = "{for: {type: duration, default: 10s, help: h}}"
    made = book(f"- {{id: log, run: [dmesg], parse: test.gpu_samples, sample: {sample}}}", folder, inputs=declared)
    probe = Fake({"dmesg": lambda command: Output(command, pages=(facts(gpu_samples=[{"gpu": "g", "power": float(command.sample)}]),))})
    pauses: list[float] = []
    engine = Engine(LIBRARY, probe, pause=pauses.append, **more)
    engine.execute(made, {"for": 10.0})
    return engine, probe, pauses


@pytest.mark.parametrize(
    ("sample", "times"),
    [
        ("{every: 2s, span: '${input.for}'}", 6),
        ("{every: 2s, span: 4s}", 3),
        ("{every: 1m, span: '${input.for}'}", 2),
        ("{every: 0s, span: '${input.for}'}", 600),
        ("{every: 0.001s, span: 3h}", 600),
    ],
)
def test_samples_over_a_time(sample: str, times: int, tmp_path: Path) -> None:
    engine, probe, pauses = sampled(tmp_path, sample)
    assert [command.sample for command in probe.asked] == list(range(times))
    assert [one.power for one in engine.store.records("gpu_samples")] == [float(n) for n in range(times)]  # type: ignore[attr-defined]
    assert len(pauses) == times - 1


def test_a_replay_does_not_pause_and_samples_may_take_longer_than_the_run(tmp_path: Path) -> None:
    engine, probe, pauses = sampled(tmp_path, "{every: 2s, span: '${input.for}'}", recorded=True, timeout=5.0)
    assert (len(probe.asked), pauses) == (6, [])
    assert engine.answers.deadline > 10


def test_a_span_that_is_none_is_an_error(tmp_path: Path) -> None:
    step = "{id: log, run: [dmesg], parse: test.xids, sample: {every: 2s, span: '%s'}}"
    assert "sample.span: is a duration such as 90s" in problems_of(HEAD + f"  - {step % '-5s'}\n", tmp_path)[0]
    assert "sample.span: " in problems_of(HEAD + f"  - {step % '${input.x}'}\n", tmp_path)[0]
    report = run("- " + step % "${input.word}", {}, tmp_path, declared="{word: {type: string, default: soon, help: h}}")
    assert "is a duration such as 90s" in report.coverage.missing[0].why


def test_a_host_that_does_not_answer_is_not_sampled_again(tmp_path: Path) -> None:
    steps = (
        "- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}\n"
        "- {id: log, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.gpu_samples, sample: {every: 0.01s, times: 3}}"
    )
    answers = {
        "kubectl get nodes": facts(nodes=[{"node": "a"}, {"node": "b"}]),
        "a: dmesg": facts(gpu_samples=[]),
        "b: dmesg": Output(Command(()), failure="timeout", reason="no answer"),
    }
    probe = Fake(answers)
    report = run(steps, probe, tmp_path)
    assert probe.lines == [*["a: dmesg"] * 3, "b: dmesg", "kubectl get nodes"]
    assert [(one.what, one.why) for one in report.coverage.missing] == [("b: dmesg", "no answer")]


# --- consent

DIAG = (
    "- {id: jobs, run: [nvidia-smi, -q], parse: test.gpu_processes,"
    " show: {title: Would suffer, each: process in gpu_processes, columns: {PID: '${process.pid}'}}}\n"
    f"- {{id: diag, effect: disruptive, run: [dcgmi, diag, -r, 1, -j], parse: test.xids, timeout: 1h, {LOST}}}"
)
JOBS = {"nvidia-smi -q": facts(gpu_processes=[{"gpu": "g", "pid": 4242}])}


def test_what_disturbs_is_not_asked_without_consent(tmp_path: Path) -> None:
    probe = Fake({**JOBS, "dcgmi diag -r 1 -j": XIDS})
    report = run(DIAG, probe, tmp_path)
    assert probe.lines == ["nvidia-smi -q"]
    assert [(one.check, one.why) for one in report.unknown] == [("book.lost", CONSENT)]
    assert [(one.what, one.why) for one in report.withheld] == [("dcgmi diag -r 1 -j", CONSENT)]
    assert (report.verdict, report.exit_code, report.coverage.asked) == ("inconclusive", 4, 1)
    assert report.tables[0].rows == [["4242"]]
    shown = render(report, "terminal", width=100)
    assert "needs consent  dcgmi diag -r 1 -j" in shown
    assert "--allow-disruptive" in shown


def test_a_problem_found_elsewhere_wins(tmp_path: Path) -> None:
    steps = DIAG + f"\n- {{id: log, run: [dmesg], parse: test.xids, {LOST.replace('id: lost', 'id: seen')}}}"
    report = run(steps, {**JOBS, "dmesg": XIDS}, tmp_path)
    assert (report.verdict, report.exit_code, len(report.withheld)) == ("problem", 1, 1)


def test_what_disturbs_is_asked_with_consent_and_has_its_time(tmp_path: Path) -> None:
    probe = Fake({**JOBS, "dcgmi diag -r 1 -j": XIDS})
    report = run(DIAG, probe, tmp_path, consent=True)
    assert (report.verdict, report.exit_code, report.withheld) == ("problem", 1, [])
    assert [command.timeout > 1000 for command in probe.asked if command.argv[0] == "dcgmi"] == [True]


def test_a_step_that_has_nothing_to_ask_needs_no_consent(tmp_path: Path) -> None:
    steps = DIAG.replace("id: diag,", "id: diag, when: input.deep,")
    report = run(steps, JOBS, tmp_path, declared="{deep: {type: bool, default: false, help: h}}")
    assert (report.withheld, report.exit_code) == ([], 3)


@pytest.mark.parametrize("consent", [True, False])
def test_a_replay_says_what_the_run_said_that_was_recorded(consent: bool, tmp_path: Path) -> None:
    recorder = Recorder(Fake({**JOBS, "dcgmi diag -r 1 -j": XIDS}), tmp_path / "kept", "book", {})
    live = run(DIAG, recorder, tmp_path, consent=consent)
    recorder.close()
    assert run(DIAG, Replay(tmp_path / "kept"), tmp_path, recorded=True, consent=True) == live


def test_lint_wants_the_effect_where_it_belongs(tmp_path: Path) -> None:
    step = HEAD + "  - {id: d, run: [dcgmi, diag, -r, 1], parse: test.xids}\n"
    assert "it disturbs: effect: disruptive" in problems_of(step, tmp_path)[0]
    wrong = HEAD + "  - {id: d, effect: disruptive, run: [dmesg], parse: test.xids}\n"
    assert problems_of(wrong, tmp_path) == ["book.yaml:5: steps.d: effect: the command only reads, and disturbs nothing"]
    assert "what disturbs is asked once" in problems_of(wrong.replace("[dmesg]", "[dcgmi, diag], optional: true"), tmp_path)[0]


# --- NVML, PromQL, and what `show` says


SHOWN = {
    "nvml: [gpus]": (["nvml", "gpus"], "nvml.gpus", "", "nvml    gpus   (at most 30 s)"),
    "nvml: [samples, '${input.for}', 1]": (
        ["nvml", "samples", "${input.for}", "1"],
        "nvml.samples",
        "${input.for}",
        "nvml    samples for ${input.for} s, every 1 s   (at most 30 s)",
    ),
    "promql: {url: '${input.url}', query: 'up{a=\"b\"}', span: 5m}": (
        ["promql", "${input.url}", 'up{a="b"}', "300", "15"],
        "prometheus.range",
        "",
        'promql  up{a="b"}   of the last 300 s, every 15 s, at ${input.url}   (at most 30 s)',
    ),
}
INPUTS = "{for: {type: duration, default: 30s, help: h}, url: {type: string, default: '', help: h}}"


@pytest.mark.parametrize("written", SHOWN)
def test_nvml_and_promql_are_commands(written: str, tmp_path: Path) -> None:
    step = book(f"- {{id: x, {written}}}", tmp_path, inputs=INPUTS).steps[0]
    argv, parser, lasts, line = SHOWN[written]
    assert (step.run, step.parse, step.lasts) == (argv, parser, lasts)
    assert list(step_lines(step)) == [line]


def test_a_command_that_measures_for_a_time_has_that_time_beside_its_timeout(tmp_path: Path) -> None:
    probe = Fake({"nvml samples 300 1": facts(gpu_samples=[])})
    steps = "- {id: x, nvml: [samples, '${input.for}', 1], parse: test.gpu_samples}"
    run(steps, probe, tmp_path, declared=INPUTS, inputs={"for": 300.0}, timeout=60.0)
    assert probe.asked[0].timeout == pytest.approx(330.0)


def test_a_step_does_one_thing(tmp_path: Path) -> None:
    two = problems_of(HEAD + "  - {id: x, nvml: [gpus], run: [dmesg], parse: test.xids}\n", tmp_path)
    assert "has run and nvml: a step does one of run, nvml, promql, ask, derive, include" in two[0]
    for key in ("optional: true", "otherwise: [dmesg]", "sample: {every: 1s, times: 2}"):
        assert "and no command" in problems_of(HEAD + f"  - {{id: x, derive: gpus.compared, {key}}}\n", tmp_path)[0]


def test_show_tells_how_a_step_asks(tmp_path: Path) -> None:
    step = book(
        "- {id: x, optional: true, run: [dmesg], otherwise: [journalctl, -k], parse: test.xids, sample: {every: 2s, span: 30s}}", tmp_path
    ).steps[0]
    assert list(step_lines(step)) == [
        "run     dmesg   (at most 30 s)",
        "        else journalctl -k",
        "again   every 2 s, for 30s",
        "        a machine without it is passed over",
    ]


def test_lint_reads_the_other_way_too(tmp_path: Path) -> None:
    found = problems_of(HEAD + "  - {id: x, run: [dmesg], otherwise: [rm, '${x}'], parse: test.xids}\n", tmp_path)
    assert any("otherwise: " in one and "undeclared" in one for one in found)
    assert any("otherwise: the program 'rm' is not on the list" in one for one in found)
