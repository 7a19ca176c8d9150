"""After a repair: what is asked again is what the findings rest on, and nothing is called fixed that couldn't be seen."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.verify import Reference, earlier_run, look
from gpudoctor.cli.where import Where
from gpudoctor.engine import confirm
from gpudoctor.engine.run import Engine
from gpudoctor.engine.verification import Ran, Times, overall_outcome
from gpudoctor.engine.verify import After, Before
from gpudoctor.library.index import library
from gpudoctor.runbook import allowed
from gpudoctor.runbook.model import Library, Runbook
from tests.engine_fakes import CAUSES, READ_PODS, READ_THEIR_NODES, Answer, Fake, book, facts, fake_parsers, refused  # noqa: F401 - a fixture
from tests.fixture_files import FIXTURES, unpacked
from tests.kube import objects as build
from tests.kube.cases_plugin import CASES as STACKS
from tests.kube.fixtures import Served

LIBRARY = Library(causes=CAUSES)
STEPS = (
    READ_PODS
    + """\
- {id: events, title: Read the events, run: [kubectl, get, events], parse: test.events}
"""
    + READ_THEIR_NODES
)
READ = 1000.0  # when the earlier run read everything


def pod(name: str = "x-1", phase: str = "Failed", **more: Any) -> dict[str, Any]:
    return {"namespace": "ml", "pod": name, "phase": phase, "workload": "Job/x", **more}


def node(name: str, ready: bool = True) -> dict[str, Any]:
    return {"node": name, "ready": ready}


def xid(at: float | None, gpu: str = "0000:1b:00", **more: Any) -> dict[str, Any]:
    return {"code": 79, "gpu": gpu, "pci": gpu, "time": at, **more}


PODS, NODES, N1, N2 = "kubectl get pods", "kubectl get nodes", "n1: dmesg", "n2: dmesg"
WAS: dict[str, Answer] = {
    PODS: facts(pods=[pod(node="n1")]),
    NODES: facts(nodes=[node("n1", False), node("n2")]),
    N1: facts(xids=[]),
    N2: facts(xids=[]),
    "kubectl get events": facts(events=[]),
}
WITH_XID = {**WAS, N1: facts(xids=[xid(900.0)])}
NO_ANSWER = refused("no answer in 30 s")


def looked(
    steps: str,
    folder: Path,
    was: Mapping[str, Answer],
    now: Mapping[str, Answer],
    inputs: Any = None,
    *,
    library: Library = LIBRARY,
    expects: str = "[]",
    declared: str = "{}",
) -> tuple[After, Fake]:
    """Two runs of one runbook: all of it first, then what its findings need."""
    made: Runbook = book(steps, folder, library=library, expects=expects, inputs=declared)
    before = Before(library, Engine(library, Fake(was), recorded=True).execute(made, inputs or {}), Times({}, READ))
    probe = Fake({**was, **now})

    def again(more: set[str]) -> After:
        return After(before, Engine(library, probe, recorded=True).execute(made, inputs or {}, before.steps(made, inputs or {}, more)))

    after = again(set())
    return (again(more) if (more := after.unsettled_checks()) else after), probe


def became(after: After) -> dict[str, str]:
    """Cause and subject → what became of it, new findings too."""
    return {f"{one.cause} {one.subject.name}": one.outcome for one in [*after.judge_findings(), *after.new()]}


POD, NODE, GPU = "sick-pod ml/x-1", "sick-node n1", "sick-gpu n1/0000:1b:00"
CASES: dict[str, tuple[Mapping[str, Answer], Mapping[str, Answer], dict[str, str], str]] = {
    "nothing has changed": (WAS, {}, {POD: "not-fixed", NODE: "not-fixed"}, "not-fixed"),
    "all is well, and the step behind a closed gate is not asked": (
        WAS,
        {PODS: facts(pods=[pod(phase="Running", node="n1")])},
        {POD: "fixed", NODE: "fixed"},
        "fixed",
    ),
    "one of two": (WAS, {NODES: facts(nodes=[node("n1"), node("n2")])}, {POD: "not-fixed", NODE: "fixed"}, "not-fixed"),
    "what doesn't answer is never fixed": (WAS, {PODS: NO_ANSWER}, {POD: "unknown", NODE: "unknown"}, "unknown"),
    "an answer that can't be read is none": (WAS, {PODS: b"\x1b[31mForbidden\0"}, {POD: "unknown", NODE: "unknown"}, "unknown"),
    "no answer for another reason than before is no repair": (
        {**WITH_XID, N2: NO_ANSWER},
        {N1: refused("Connection refused"), N2: refused("Connection refused")},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "unknown"},
        "not-fixed",
    ),
    "a part doesn't answer": (WAS, {NODES: NO_ANSWER}, {POD: "not-fixed", NODE: "unknown"}, "not-fixed"),
    "a second node is down": (
        WAS,
        {NODES: facts(nodes=[node("n1", False), node("n2", False)])},
        {POD: "not-fixed", NODE: "not-fixed", "sick-node n2": "worse"},
        "worse",
    ),
    "a node that is gone is not repaired": (WAS, {NODES: facts(nodes=[node("n2")])}, {POD: "not-fixed", NODE: "unknown"}, "not-fixed"),
    "an old line of the log says neither": (
        WITH_XID,
        {PODS: facts(pods=[pod()]), NODES: facts(nodes=[node("n1"), node("n2")])},
        {POD: "not-fixed", NODE: "fixed", GPU: "unknown"},
        "not-fixed",
    ),
    "an old burst that goes on": (
        WITH_XID,
        {N1: facts(xids=[xid(900.0, last=1200.0)])},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "not-fixed"},
        "not-fixed",
    ),
    "a new line after an old one": (
        WITH_XID,
        {N1: facts(xids=[xid(900.0), xid(1300.0)])},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "not-fixed"},
        "not-fixed",
    ),
    "a log that has begun anew is clear": (
        WITH_XID,
        {N1: facts(xids=[])},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "fixed"},
        "not-fixed",
    ),
    "a log without times says the same as before": (
        {**WAS, N1: facts(xids=[xid(None)])},
        {},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "unknown"},
        "not-fixed",
    ),
    "what another host doesn't say makes no difference": (
        WITH_XID,
        {N1: facts(xids=[]), N2: NO_ANSWER},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "fixed"},
        "not-fixed",
    ),
    "what the host itself doesn't say does": (
        WITH_XID,
        {N1: NO_ANSWER},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "unknown"},
        "not-fixed",
    ),
    "what another host says doesn't speak for it": (
        WITH_XID,
        {N1: NO_ANSWER, N2: facts(xids=[xid(1200.0)])},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "unknown", "sick-gpu n2/0000:1b:00": "worse"},
        "worse",
    ),
    "an old line that could be read only now is nothing new": (
        {**WITH_XID, N2: NO_ANSWER},
        {N2: facts(xids=[xid(800.0)])},
        {POD: "not-fixed", NODE: "not-fixed", GPU: "unknown"},
        "not-fixed",
    ),
    "a pod that its Job has made anew is the same work": (
        WAS,
        {PODS: facts(pods=[pod("x-2", node="n1")])},
        {POD: "not-fixed", NODE: "not-fixed"},
        "not-fixed",
    ),
    "and is well": (WAS, {PODS: facts(pods=[pod("x-2", "Running", node="n1")])}, {POD: "fixed", NODE: "fixed"}, "fixed"),
    "a sick pod beside a healed one of the same work": (
        WAS,
        {PODS: facts(pods=[pod(phase="Running"), pod("x-2")]), NODES: facts(nodes=[node("n1"), node("n2")])},
        {POD: "fixed", NODE: "fixed", "sick-pod ml/x-2": "worse"},
        "worse",
    ),
    "a sick pod of other work is not its successor": (
        WAS,
        {PODS: facts(pods=[pod("y-1", workload="Job/y")]), NODES: facts(nodes=[node("n1"), node("n2")])},
        {POD: "fixed", NODE: "fixed", "sick-pod ml/y-1": "worse"},
        "worse",
    ),
}


@pytest.mark.usefixtures("fake_parsers")
@pytest.mark.parametrize("name", CASES)
def test_what_becomes_of_a_finding(name: str, tmp_path: Path) -> None:
    was, now, wanted, outcome = CASES[name]
    after, _ = looked(STEPS, tmp_path, was, now)
    assert became(after) == wanted
    assert overall_outcome(after.judge_findings(), after.new()) == outcome
    assert all(one.why for one in after.judge_findings() if one.outcome == "unknown")


# --- what refutes a cause

REFUTED = Library(causes={**CAUSES, "sick-gpu": msgspec.structs.replace(CAUSES["sick-gpu"], refuted_by=["book.sound"])})
WITH_GPUS = STEPS + "- {id: smi, each: node in nodes, host: '${node.node}', run: [nvidia-smi], parse: test.gpus}\n"
SOUND = """[{id: sound, each: gpu in gpus, where: "gpu.problem == ''", when: 'gpu.remap_pending_na || !gpu.remap_pending',
  title: '${gpu.gpu} is sound'}]"""
G1 = {"gpu": "0000:1b:00", "pci": "0000:1b:00", "remap_pending": False}
G2 = {**G1, "gpu": "0000:5e:00", "pci": "0000:5e:00"}
SMI1, SMI2 = "n1: nvidia-smi", "n2: nvidia-smi"
HELD = {**WITH_XID, SMI1: facts(gpus=[{**G1, "remap_pending": True}, G2]), SMI2: facts(gpus=[G1])}
ANEW = {N1: facts(xids=[])}
GPU_CASES: dict[str, tuple[Mapping[str, Answer], Mapping[str, Answer], str, str]] = {
    "it is shown, and the log has begun anew": (HELD, {**ANEW, SMI1: facts(gpus=[G1, G2])}, "fixed", "0000:1b:00 is sound"),
    "it is shown, and the log still has the old line": (HELD, {SMI1: facts(gpus=[G1, G2])}, "fixed", "0000:1b:00 is sound"),
    "it is shown, and there is a new line": (HELD, {N1: facts(xids=[xid(1300.0)]), SMI1: facts(gpus=[G1, G2])}, "not-fixed", ""),
    "it is not so": (HELD, ANEW, "unknown", "not shown to be healthy"),
    "it is not known": (HELD, {**ANEW, SMI1: facts(gpus=[{"gpu": "0000:1b:00"}, G2])}, "unknown", "row remap pending is not known"),
    "it could not be asked": (HELD, {**ANEW, SMI1: NO_ANSWER}, "unknown", "no answer in 30 s"),
    "another GPU isn't sound": (HELD, {SMI1: facts(gpus=[G1, {**G2, "remap_pending": True}])}, "fixed", "0000:1b:00 is sound"),
    "the GPU has been replaced": (HELD, {**ANEW, SMI1: facts(gpus=[{**G1, "gpu": "0000:9a:00"}, G2])}, "fixed", "is sound"),
    "one of two that may be its successor isn't sound": (
        HELD,
        {**ANEW, SMI1: facts(gpus=[{**G1, "gpu": "0000:9a:00"}, {**G2, "remap_pending": True}])},
        "unknown",
        "not shown to be healthy",
    ),
    "the GPU is gone": (HELD, {**ANEW, SMI1: facts(gpus=[G2])}, "unknown", "fewer GPUs"),
    "it was shown before, too, and the log still has the old line": (
        {**HELD, SMI1: facts(gpus=[G1, G2])},
        {},
        "unknown",
        "lines from before",
    ),
    "it was shown before, too, and the log has begun anew": ({**HELD, SMI1: facts(gpus=[G1, G2])}, ANEW, "fixed", ""),
    "it was shown before, too, and the log can't be read": ({**HELD, SMI1: facts(gpus=[G1, G2])}, {N1: NO_ANSWER}, "unknown", "no answer"),
    "nothing of the kind is expected of it": (
        HELD,
        {**ANEW, SMI1: facts(gpus=[{**G1, "problem": "odd"}, {**G2, "problem": "odd"}])},
        "fixed",
        "",
    ),
}


@pytest.mark.usefixtures("fake_parsers")
@pytest.mark.parametrize("name", GPU_CASES)
def test_a_finding_is_fixed_when_what_refutes_it_is_shown(name: str, tmp_path: Path) -> None:
    was, now, outcome, words = GPU_CASES[name]
    after, _ = looked(WITH_GPUS, tmp_path, was, now, library=REFUTED, expects=SOUND)
    judged = next(one for one in after.judge_findings() if one.cause == "sick-gpu")
    assert (judged.outcome, words in judged.now + judged.why) == (outcome, True), judged


PODS_SOUND = "[{id: runs, each: pod in pods, when: pod.phase == 'Running' && pod.ready, title: '${pod.pod} runs'}]"


@pytest.mark.usefixtures("fake_parsers")
@pytest.mark.parametrize(
    ("pods", "outcome"),
    [
        ([pod("x-2", "Running", ready=True)], "fixed"),
        ([pod("x-2", "Running", ready=True), pod("x-3", "Running", ready=False)], "unknown"),
        ([pod("x-2", "Pending")], "unknown"),
        ([pod("y-1", "Running", ready=True, workload="Job/y")], "unknown"),
    ],
    ids=["well", "one of two is not ready", "pending", "another job's"],
)
def test_the_pods_in_a_pods_place_show_that_it_is_fixed(pods: list[dict[str, Any]], outcome: str, tmp_path: Path) -> None:
    given = Library(causes={**CAUSES, "sick-pod": msgspec.structs.replace(CAUSES["sick-pod"], refuted_by=["book.runs"])})
    inputs = {"name": "x-1"}
    declared = "{name: {type: string, default: '', help: x}}"
    after, _ = looked(READ_PODS, tmp_path, WAS, {PODS: facts(pods=pods)}, inputs, library=given, expects=PODS_SOUND, declared=declared)
    assert became(after) == {POD: outcome}


@pytest.mark.usefixtures("fake_parsers")
def test_only_what_the_findings_rest_on_is_asked_again(tmp_path: Path) -> None:
    _, probe = looked(STEPS, tmp_path, WAS, {})
    assert probe.lines == [NODES, PODS]  # no events, no kernel logs: nothing was found there
    _, probe = looked(STEPS, tmp_path, WITH_XID, {})
    assert probe.lines == [NODES, PODS, N1, N2]


@pytest.mark.usefixtures("fake_parsers")
def test_many_findings_are_judged_in_linear_time(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(1500)]
    steps = STEPS.replace("each: node in nodes\n  host", "each: node in nodes\n  limit: 9999\n  host")
    was = {**WAS, NODES: facts(nodes=[node(name, False) for name in names])}
    was |= {f"{name}: dmesg": facts(xids=[xid(900.0)]) for name in names}
    began = time.process_time()
    after, _ = looked(steps, tmp_path, was, {f"{name}: dmesg": NO_ANSWER for name in names[::2]})
    judged = {one.outcome for one in after.judge_findings() if one.cause == "sick-gpu"}
    assert judged == {"unknown"}
    assert time.process_time() - began < 20


ABSENT = """\
- id: nodes
  title: Read the nodes
  run: [kubectl, get, nodes]
  parse: test.nodes
  checks:
    - {id: down, each: node in nodes, when: '!node.ready', finds: sick-node, title: '${node.node} is down'}
    - id: alone
      each: node in nodes
      with: {pod: {from: pods, on: [node], pick: none}}
      when: '!pod.present && node.ready'
      finds: sick-pod
      title: 'no pod on ${node.node}'
- {id: pods, title: Read the pods, run: [kubectl, get, pods], parse: test.pods}
"""


@pytest.mark.usefixtures("fake_parsers")
def test_what_was_not_asked_again_is_no_new_finding(tmp_path: Path) -> None:
    was = {NODES: facts(nodes=[node("n1", False)]), PODS: facts(pods=[pod(node="n1")])}
    after, probe = looked(ABSENT, tmp_path, was, {NODES: facts(nodes=[node("n1")])})
    assert became(after) == {NODE: "fixed"}
    assert probe.lines.count(PODS) == 1  # asked only since it seemed to be missing


ASKED_BY_NAME = """\
- id: pod
  title: Read the pod
  when: input.kind == "pod"
  run: [kubectl, get, pods, "${input.name}"]
  parse: test.pods
  checks:
    - {id: sick, each: pod in pods, when: pod.phase == 'Failed', finds: sick-pod, title: '${pod.pod} is sick'}
- id: owner
  title: Read the pods of the owner
  when: input.kind != "pod"
  run: [kubectl, get, "${input.kind}", "${input.name}"]
  parse: test.pods
"""


@pytest.mark.usefixtures("fake_parsers")
@pytest.mark.parametrize(
    ("owner", "asked", "outcome"),
    [
        (facts(pods=[pod("x-2", "Running")]), "kubectl get job x", "fixed"),
        (facts(pods=[pod("x-2")]), "kubectl get job x", "not-fixed"),
        (facts(pods=[]), "kubectl get job x", "unknown"),
        (NO_ANSWER, "kubectl get job x", "unknown"),
    ],
    ids=["well", "sick", "none", "silent"],
)
def test_of_a_pod_that_is_gone_its_owner_is_asked(owner: Answer, asked: str, outcome: str, tmp_path: Path) -> None:
    declared = "{kind: {type: string, default: pod, help: x}, name: {type: string, default: '', help: x}}"
    made = book(ASKED_BY_NAME, tmp_path, library=LIBRARY, inputs=declared)
    inputs = {"kind": "pod", "name": "x-1"}
    name = "kubectl get pods x-1"
    before = Before(LIBRARY, Engine(LIBRARY, Fake({name: facts(pods=[pod()])}), recorded=True).execute(made, inputs), Times({}, READ))
    probe = Fake({name: facts(pods=[]), asked: owner})
    first = After(before, Engine(LIBRARY, probe, recorded=True).execute(made, inputs, before.steps(made, inputs, set())))
    assert became(first) == {POD: "unknown"}
    other = before.elsewhere(inputs, first.missing)
    assert other == {"kind": "job", "name": "x"}
    after = After(before, Engine(LIBRARY, probe, recorded=True).execute(made, other, before.steps(made, other, set())))
    assert became(after) == {POD: outcome}
    assert probe.lines == [asked, name]


# --- the commands of the fixes


def test_no_verify_command_of_the_catalogue_runs_that_does_not_only_read() -> None:
    for one in library().causes.values():
        for fix in one.fixes:
            if fix.verify and not confirm.refusal(fix.verify, "gpu-01"):
                assert not allowed.refusal(list(confirm.api_command(fix.verify))), fix.verify


@pytest.mark.parametrize(
    ("argv", "host", "word"),
    [
        (["rm", "-rf", "/"], "n1", "not on the list"),
        (["kubectl", "describe", "node", "n1"], "", "not a verb that only reads"),
        (["kubectl", "get", "pods", "<pod>"], "", "a name in it is not known"),
        (["nvidia-smi", "-L"], "", "on which machine is not known"),
        (["dcgmi", "diag", "-r", "1"], "n1", "dcgmi"),
    ],
    ids=["rm", "describe", "placeholder", "no-machine", "diag"],
)
def test_a_command_that_is_not_run_is_left_to_the_person_with_the_reason(argv: list[str], host: str, word: str) -> None:
    assert word in confirm.refusal(argv, host)
    probe = Fake({})
    ran = confirm.run(probe, [Ran(argv=argv, host=host, why=confirm.refusal(argv, host))])
    assert probe.asked == []
    assert ran[0].why.startswith("yours to run")


@pytest.mark.parametrize("page", [b"{}", b"[]", b"null", b'{"items": [null, 7, {"metadata": []}]}', b"[" * 100_000, b"\xff\xc3"])
def test_an_object_in_any_form_is_told_in_lines(page: bytes) -> None:
    ran = confirm.run(Fake({"kubectl get pods -o json": page}), [Ran(argv=["kubectl", "get", "pods"])])
    assert isinstance(ran[0].text, str)


def test_an_object_is_told_in_a_line() -> None:
    one = build.node("gpu-01", gpus=8)
    argv = ["kubectl", "get", "node", "gpu-01", "-o", "jsonpath={.status.allocatable}"]
    ran = confirm.run(Fake({"kubectl get node gpu-01 -o json": json.dumps(one).encode()}), [Ran(argv=argv)])
    assert "Node/gpu-01" in ran[0].text
    assert "Ready=True" in ran[0].text
    assert "nvidia.com/gpu: 8" in ran[0].text


# --- the command


def gpudoctor(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "gpudoctor"
    clean = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": "100", "TERM": "dumb"} | environment
    return subprocess.run(
        [program, "verify", *map(str, words)], capture_output=True, text=True, env=clean, timeout=60, check=False, stdin=subprocess.DEVNULL
    )


POD_CASES = FIXTURES / "diagnose-pod"
TAINT = POD_CASES / "taint"
XIDS = FIXTURES / "xid-triage"


@pytest.mark.parametrize(
    ("was", "now", "code", "word"),
    [
        ("taint", "whole-healthy", 0, "FIXED  pod ml/train-0: 1 finding fixed"),
        ("taint", "taint", 1, "NOT FIXED  pod ml/train-0: 0 of 1 finding fixed"),
        # the nodes take pods again, but the pod is still on none: that the old cause is gone was not shown
        ("cordoned", "taint", 1, "WORSE  pod ml/train-0: 0 of 1 finding fixed, 1 could not be told, 1 new"),
        ("taint", "api-down", 3, "COULD NOT TELL  pod ml/train-0: 0 of 1 finding fixed, 1 could not be told"),
        ("whole-lost-gpu", "whole-healthy", 0, "4 findings fixed"),
    ],
    ids=["fixed", "not-fixed", "worse", "unknown", "gpu"],
)
def test_two_recordings_are_compared(was: str, now: str, code: int, word: str) -> None:
    done = gpudoctor(POD_CASES / was, "--replay", POD_CASES / now)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.split("\n")[0].endswith(word) or word in done.stdout
    told = json.loads(gpudoctor(POD_CASES / was, "--replay", POD_CASES / now, "--format", "json").stdout)
    assert told["schema"] == "gpudoctor.verify/1"
    assert {"fixed": 0, "not-fixed": 1, "worse": 1, "unknown": 3}[told["outcome"]] == code


def test_a_node_whose_log_still_has_the_line(tmp_path: Path) -> None:
    was = XIDS / "xid-fell-off"
    done = gpudoctor(was, "--replay", was)
    assert done.returncode in (1, 3)
    assert "the error has not returned so far" in " ".join(done.stdout.split())
    rebooted = tmp_path / "rebooted"
    unpacked(was.with_suffix(".txt"), rebooted)
    for answer in json.loads((rebooted / "bundle.json").read_text())["outputs"]:
        if answer["argv"][0] in ("dmesg", "journalctl"):
            for name in answer["stdout"]:
                kept = [line for line in (rebooted / name).read_text().splitlines(keepends=True) if line.startswith("2026-02-27")]
                (rebooted / name).write_text("".join(kept))
    told = json.loads(gpudoctor(was, "--replay", rebooted, "--format", "json").stdout)
    of_log = [one for one in told["findings"] if one["check"].startswith("xid-triage.")]
    assert of_log
    assert {one["outcome"] for one in of_log} == {"fixed"}


BOOKS = sorted(folder.name for folder in FIXTURES.iterdir() if folder.name in library().runbooks)


@pytest.mark.parametrize("name", BOOKS)
def test_no_recording_is_a_repair_of_itself_and_none_without_answers_tells_anything(name: str, tmp_path: Path) -> None:
    alarms = 0
    for case in sorted((FIXTURES / name).iterdir()):
        empty = tmp_path / case.name
        empty.write_text(case.read_text().partition("\n=== ")[0])
        same = Reference(case.name, case, "", Where(replay=case))
        try:
            made, before = earlier_run(library(), same)
        except Refused:  # it is well: there is nothing to verify
            continue
        alarms += 1
        again = look(made, before, same, 60.0, every=True, rounds=1)
        assert {one.outcome for one in again.findings} <= {"not-fixed", "unknown"}, case.name
        assert again.new == [], case.name
        assert look(made, before, same._replace(where=Where(replay=empty)), 60.0, every=True, rounds=1).outcome == "unknown", case.name
        if alarms == 8:
            break
    assert alarms


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no session yet"),
        (["k3f"], "no session 'k3f'"),
        (["/nowhere/at-all"], "is not a bundle"),
        ([POD_CASES / "whole-healthy", "--replay", TAINT], "nothing to verify"),
        ([TAINT, "--replay", TAINT, "--for", "1m"], "a recording doesn't change"),
        ([TAINT, "--for", "soon"], "--for"),
        ([TAINT, "--format", "html"], "terminal, json"),
        ([POD_CASES / "whole-namespace-typo", "--replay", TAINT], "nothing to verify"),
    ],
    ids=["no-session", "unknown", "no-bundle", "healthy", "for-replay", "for", "format", "not-found"],
)
def test_mistakes_are_one_sentence(words: list[object], said: str, tmp_path: Path) -> None:
    done = gpudoctor(*words, XDG_STATE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_another_machine_is_not_taken_for_the_one_that_was_looked_at(tmp_path: Path) -> None:
    unpacked(XIDS / "xid-fell-off.txt", tmp_path / "was")
    index = tmp_path / "was" / "bundle.json"
    raw = json.loads(index.read_text())
    raw["inputs"] |= {"local": True, "nodes": "gpu-of-somebody-else"}
    index.write_text(json.dumps(raw))
    done = gpudoctor(tmp_path / "was")
    assert done.returncode == 2
    assert "run verify on that machine" in done.stderr


def session(home: Path, name: str, bundle: Path, **where: Any) -> Path:
    """A guided session with a recording."""
    folder = home / "gpudoctor" / "sessions" / name
    unpacked(bundle.with_suffix(".txt"), folder / "bundle")
    state = {"runbook": "diagnose-pod", "asked": "", "started": 0.0, "timeout": 60.0, "inputs": {}, "where": where}
    (folder / "session.json").write_text(json.dumps(state))
    return folder


def test_without_a_name_the_last_session_is_meant(tmp_path: Path) -> None:
    session(tmp_path, "2026-11-20-diagnose-pod-aaa", POD_CASES / "cordoned")
    time.sleep(0.02)
    session(tmp_path, "2026-11-21-diagnose-pod-bbb", TAINT)
    replay = ("--replay", POD_CASES / "whole-healthy")
    done = gpudoctor(*replay, XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "compared with 2026-11-21-diagnose-pod-bbb" in done.stdout
    assert "diagnose-pod-aaa" in gpudoctor("aaa", *replay, XDG_STATE_HOME=str(tmp_path)).stdout
    assert "may be" in gpudoctor("2026-11", *replay, XDG_STATE_HOME=str(tmp_path)).stderr


def test_a_session_over_a_recording_never_asks_the_cluster_at_hand(tmp_path: Path) -> None:
    session(tmp_path, "2026-11-21-diagnose-pod-bbb", TAINT, replay=str(TAINT), guided=True)
    done = gpudoctor(XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 2
    assert "where nothing can change" in done.stderr


# --- a cluster that is repaired

WORDS = "0/1 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}."
TAINTED = [("nvidia.com/gpu", "present", "NoSchedule")]
LABELS = {"pod-template-hash": "6d4f", "app": "train"}


def recorded(served: Served, folder: Path, pod: str) -> Path:
    """What `diagnose pod` has recorded of a cluster."""
    program = Path(sys.executable).parent / "gpudoctor"
    command: list[str | Path] = [program, "diagnose", "pod", pod, "-n", "ml", "--kubeconfig", served.kubeconfig, "--record", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    return folder


@pytest.fixture(scope="module")
def sick(kube_server: Callable[..., Served]) -> Served:
    waiting: Any = {"gpus": 1, "age": "10m", "unschedulable": WORDS}
    return kube_server(
        build.cluster(
            [
                build.pod("train-0", **waiting),
                build.pod("train-6d4f-x7k2p", owner="ReplicaSet/train-6d4f", labels=LABELS, **waiting),
                build.replicaset("train-6d4f", owner="Deployment/train", labels={"app": "train"}),
                build.deployment("train", ready=0, labels={"app": "train"}),
                build.node("gpu-01", taints=TAINTED),
            ]
        )
    )


@pytest.fixture(scope="module")
def well(kube_server: Callable[..., Served]) -> Served:
    new = {**LABELS, "pod-template-hash": "7f5a"}
    return kube_server(
        build.cluster(
            [
                build.pod("train-0", gpus=1, node="gpu-01"),
                build.pod("train-7f5a-qqqqq", gpus=1, node="gpu-01", owner="ReplicaSet/train-7f5a", labels=new),
                build.replicaset("train-7f5a", owner="Deployment/train", labels={"app": "train"}),
                build.deployment("train", labels={"app": "train"}),
                build.node("gpu-01", taints=TAINTED),
                *build.gpu_stack("gpu-01"),
            ]
        )
    )


def test_a_pending_pod_runs(sick: Served, well: Served, tmp_path: Path) -> None:
    before = recorded(sick, tmp_path / "before", "train-0")
    sick.clear()
    done = gpudoctor(before, "--kubeconfig", sick.kubeconfig)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "not fixed  ml/train-0" in done.stdout
    assert {line.split()[0] for line in sick.requests()} == {"GET"}
    done = gpudoctor(before, "--kubeconfig", well.kubeconfig)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed  ml/train-0" in done.stdout


def test_a_pod_that_its_deployment_has_renamed(sick: Served, well: Served, tmp_path: Path) -> None:
    before = recorded(sick, tmp_path / "before", "train-6d4f-x7k2p")
    done = gpudoctor(before, "--kubeconfig", well.kubeconfig)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed  ml/train-6d4f-x7k2p" in done.stdout
    assert any("/deployments/train" in line for line in well.requests())


def test_for_looks_until_it_is_fixed(sick: Served, well: Served, tmp_path: Path) -> None:
    before = recorded(sick, tmp_path / "before", "train-0")
    config = tmp_path / "kubeconfig"
    config.write_bytes(sick.kubeconfig.read_bytes())

    sick.clear()

    def repair() -> None:
        """Once it was looked at for the first time."""
        while not sick.requests():
            time.sleep(0.1)
        draft = tmp_path / "draft"
        draft.write_bytes(well.kubeconfig.read_bytes())
        draft.replace(config)

    thread = threading.Thread(target=repair, daemon=True)
    thread.start()
    done = gpudoctor(before, "--kubeconfig", config, "--for", "45s", "--format", "json")
    thread.join(timeout=10)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["rounds"] > 1


def test_the_command_that_verifies_the_fix_is_run_and_its_answer_folded(kube_server: Callable[..., Served], tmp_path: Path) -> None:
    served = kube_server(STACKS["operator-memory"].cluster)
    program = Path(sys.executable).parent / "gpudoctor"
    command: list[str | Path] = [program, *STACKS["operator-memory"].words, "--kubeconfig", served.kubeconfig, "--record", tmp_path / "was"]
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 1
    done = gpudoctor(tmp_path / "was", "--kubeconfig", served.kubeconfig, "--via", "pod")
    assert done.returncode == 1, done.stderr
    assert "kubectl get pods --namespace gpu-operator -l app=gpu-operator\n           Pod/gpu-operator-" in done.stdout
    other = kube_server(build.cluster([build.node("gpu-02"), *build.gpu_stack("gpu-02")]))
    told = json.loads(gpudoctor(tmp_path / "was", "--kubeconfig", other.kubeconfig, "--via", "pod", "--format", "json").stdout)
    assert {one["outcome"] for one in told["findings"]} == {"fixed"}
    assert {one["exit"] for one in told["commands"]} == {0}


def test_a_cluster_that_does_not_answer(sick: Served, tmp_path: Path) -> None:
    before = recorded(sick, tmp_path / "before", "train-0")
    done = gpudoctor(before, "--kubeconfig", sick.kubeconfig_with({"token": "stale"}, "kubeconfig.stale"), "--timeout", "5")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "could not tell  ml/train-0" in done.stdout
