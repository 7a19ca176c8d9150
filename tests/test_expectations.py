"""What a sound subject shows: healthy is proven, a cause ruled out is refuted."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.engine.plan import used_types
from gpudoctor.engine.steps import Run, steps_behind
from gpudoctor.library import index
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Report, ReportSubject
from gpudoctor.runbook.model import Library, Runbook, Step
from tests import engine_fakes
from tests.engine_fakes import CAUSES, Fake, facts, fake_parsers, problems_of, refused, run
from tests.recorded_cases import BOOKS, executed, recorded

__all__ = ["fake_parsers"]
pytestmark = pytest.mark.usefixtures("fake_parsers")
MOST = 12  # commands that are refused in turn, of one expectation

STEPS = """\
- {id: pods, run: [kubectl, get, pods], parse: test.pods}
- {id: smi, run: [nvidia-smi, -q], optional: true, parse: test.gpus,
   checks: [{id: sick, each: gpu in gpus, when: gpu.remap_pending_known && gpu.remap_pending, finds: sick-gpu, title: t}]}
"""
SOUND = "[{id: sound, each: gpu in gpus, when: 'gpu.remap_pending_na || !gpu.remap_pending', title: '${gpu.gpu} is sound'}]"
OF_PODS = """[{id: seen, each: pod in pods, where: pod.target,
  with: {gpu: {from: gpus, on: {node: pod.node}, where: '!gpu.remap_pending', pick: count}}, when: gpu.count == 1,
  title: '${pod.pod} sees ${gpu.count}'}]"""
WELL = {"gpu": "GPU-1", "node": "gpu-01", "remap_pending": False}
REFUTED = Library(causes={**CAUSES, "sick-gpu": msgspec.structs.replace(CAUSES["sick-gpu"], refuted_by=["book.sound"])})


def gpus(*records: dict[str, Any]) -> dict[str, Any]:
    return {"kubectl get pods": facts(pods=[]), "nvidia-smi -q": facts(gpus=list(records))}


def looked(answers: dict[str, Any], folder: Path, expects: str = SOUND, **more: Any) -> Report:
    return run(STEPS, answers, folder, expects=expects, library=REFUTED, **more)


def test_what_is_shown_of_every_target_is_healthy_and_refutes(tmp_path: Path) -> None:
    report = looked(gpus(WELL, {**WELL, "gpu": "GPU-2"}), tmp_path)
    assert report.verdict == "healthy"
    assert [(one.expectation, one.says) for one in report.shown] == [("book.sound", "GPU-1 is sound"), ("book.sound", "GPU-2 is sound")]
    assert (report.not_shown, report.ruled_out) == ([], ["sick-gpu"])
    assert [(one.cause, one.subject.gpu, one.by) for one in report.refutations] == [
        ("sick-gpu", "GPU-1", "book.sound"),
        ("sick-gpu", "GPU-2", "book.sound"),
    ]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (gpus(WELL, {"gpu": "GPU-2", "node": "gpu-01"}), "row remap pending is not known"),
        (
            gpus(WELL, {"gpu": "GPU-2", "node": "gpu-01", "gaps": {"remap_pending": "Unknown Error"}}),
            "row remap pending is not known: Unknown Error",
        ),
        (gpus(), "no GPUs were read"),
        ({**gpus(), "nvidia-smi -q": refused("forbidden")}, "forbidden"),
        ({**gpus(), "nvidia-smi -q": Output(Command(()), exit=1)}, "exit code 1"),
        ({**gpus(), "nvidia-smi -q": b""}, "nvidia-smi printed nothing (exit code 0)"),
    ],
)
def test_what_was_not_shown_of_one_is_neither_healthy_nor_refuted(answers: dict[str, Any], why: str, tmp_path: Path) -> None:
    report = looked(answers, tmp_path)
    assert (report.verdict, report.ruled_out) == ("inconclusive", [])
    assert [one.why.partition(" (gpu-01")[0] for one in report.not_shown] == [why]


def test_what_a_product_lacks_is_needless(tmp_path: Path) -> None:
    assert looked(gpus({"gpu": "GPU-1", "node": "gpu-01", "gaps": {"remap_pending": "N/A"}}), tmp_path).verdict == "healthy"


def test_what_is_found_is_not_refuted_by_another_subject(tmp_path: Path) -> None:
    report = looked(gpus(WELL, {**WELL, "gpu": "GPU-2", "remap_pending": True}), tmp_path)
    assert (report.verdict, report.ruled_out) == ("problem", [])
    assert [one.why for one in report.not_shown] == ["row remap pending: yes, expected no"]


POD = {"pod": "train-0", "namespace": "ml", "node": "gpu-01", "target": True}


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({"kubectl get pods": facts(pods=[POD]), "nvidia-smi -q": facts(gpus=[WELL])}, "healthy"),
        # One of the joined records can't be decided: it may be the one that counts.
        ({"kubectl get pods": facts(pods=[POD]), "nvidia-smi -q": facts(gpus=[WELL, {"gpu": "GPU-2", "node": "gpu-01"}])}, "inconclusive"),
        # What is joined could not be read: none was counted.
        ({"kubectl get pods": facts(pods=[POD]), "nvidia-smi -q": refused("forbidden")}, "inconclusive"),
        # Nobody of whom it is expected.
        ({"kubectl get pods": facts(pods=[{**POD, "target": False}]), "nvidia-smi -q": facts(gpus=[WELL])}, "inconclusive"),
    ],
)
def test_joins_are_strict_and_targets_must_be_there(answers: dict[str, Any], verdict: str, tmp_path: Path) -> None:
    report = looked(answers, tmp_path, OF_PODS)
    assert report.verdict == verdict
    assert bool(report.not_shown) == (verdict != "healthy")


ON_HOSTS = """\
- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}
- {id: logs, each: node in nodes, host: '${node.node}', run: [dmesg], parse: test.xids,
   checks: [{id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: t}]}
"""
OF_LOGS = "[{id: quiet, each: xid in xids, when: xid.code != 79, title: 'code ${xid.code}'}]"


def test_a_machine_that_gave_no_record_is_named(tmp_path: Path) -> None:
    nodes = facts(nodes=[{"node": "n1"}, {"node": "n2"}])
    answers = {"kubectl get nodes": nodes, "n1: dmesg": facts(xids=[{"code": 43, "node": "n1"}]), "n2: dmesg": refused("no right")}
    report = run(ON_HOSTS, answers, tmp_path, expects=OF_LOGS, library=REFUTED)
    assert report.verdict == "inconclusive"
    assert [(one.subject.node, one.why) for one in report.not_shown] == [("n2", "no right")]


def test_what_is_expected_of_texts_alone_is_not_expected_of_machines(tmp_path: Path) -> None:
    of_texts = SOUND.replace("each:", "texts: true, each:").replace("!gpu.remap_pending", "gpu.remap_pending")
    both = f"{SOUND[:-1]}, {of_texts[1:-1].replace('id: sound', 'id: never')}]"
    assert looked(gpus(WELL), tmp_path, both).verdict == "healthy"


OF_HOSTS = """\
- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}
- {id: smi, each: node in nodes, host: '${node.node}', run: [nvidia-smi, -q], optional: true, parse: test.gpus,
   checks: [{id: sick, each: gpu in gpus, when: gpu.remap_pending_known && gpu.remap_pending, finds: sick-gpu, title: t}]}
"""


@pytest.mark.parametrize(
    ("other", "ruled_out"),
    [(facts(gpus=[WELL]), ["sick-gpu"]), (refused("ssh timed out"), []), (b"", [])],
    ids=["well", "refused", "empty"],
)
def test_a_machine_that_does_not_answer_refutes_nothing_beside_one_that_does(
    other: bytes | Output, ruled_out: list[str], tmp_path: Path
) -> None:
    answers = {"kubectl get nodes": facts(nodes=[{"node": "gpu-01"}, {"node": "gpu-02"}]), "gpu-01: nvidia-smi -q": facts(gpus=[WELL])}
    report = run(OF_HOSTS, {**answers, "gpu-02: nvidia-smi -q": other}, tmp_path, expects=SOUND, library=REFUTED)
    assert report.ruled_out == ruled_out
    assert [one.subject.name for one in report.not_shown] == ([] if ruled_out else ["gpu-02"])
    assert all(one.settle_with == ["nvidia-smi -q"] for one in report.not_shown)


def test_a_runbook_without_expectations_says_what_its_checks_say(tmp_path: Path) -> None:
    assert looked(gpus(WELL), tmp_path, "[]").verdict == "healthy"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            "{id: a, each: gpu in gpus, when: '!gpu.remap_pending_known || !gpu.remap_pending', title: t}",
            "holds where something is not known",
        ),
        ("{id: a, each: gpu in gpus, title: t}", "needs each, when and title"),
        ("{id: a, each: gpu in gpus, when: gpu.fan_na, title: t, finds: sick-gpu}", "says what is sound"),
        ("{id: a, each: gpu in gpus, when: gpu.frob, title: t}", "undeclared reference"),
        ("{id: a, each: gpu in gpus, where: gpu.frob, when: gpu.fan_na, title: t}", "undeclared reference"),
    ],
)
def test_mistakes_are_named(wrong: str, words: str, tmp_path: Path) -> None:
    text = f"schema: 1\nid: book\ntitle: A test\nexpects: [{wrong}]\nsteps:\n- {{id: a, run: [nvidia-smi], parse: test.gpus}}\n"
    assert any(words in problem for problem in problems_of(text, tmp_path)), problems_of(text, tmp_path)


class Whole(NamedTuple):
    """A paired case as it is recorded."""

    name: str
    book: str
    inputs: dict[str, Any]
    replay: Replay
    run: Run
    report: Report


@functools.cache
def wholes() -> list[Whole]:
    """All paired cases in which what was asked about is there."""
    made = []
    for case, book, inputs, replay in (one for path in BOOKS for one in recorded(path)):
        if (done := executed(book, inputs, replay)) is not None:
            made.append(Whole(case.name, book, inputs, replay, *done))
    return made


def test_every_refuter_is_there_refutes_in_a_case_and_never_what_is_found() -> None:
    known = index.library()
    expectations = {f"{book.id}.{one.id}" for book in known.runbooks.values() for one in book.expects if not one.texts}
    wanted = {cause.id for cause in known.causes.values() if cause.refuted_by}
    assert {by for cause in known.causes.values() for by in cause.refuted_by} <= expectations
    assert len(wanted) >= 60
    ruled_out: set[str] = set()
    for name, *_, report in wholes():
        held = {one.cause for one in (*report.findings, *report.candidates)}
        assert not held & {*report.ruled_out}, name
        failed = {one.expectation for one in report.not_shown}
        assert not {one.by for one in report.refutations} & failed, name
        if report.verdict == "healthy":
            assert not report.not_shown, name
        ruled_out |= {*report.ruled_out}
    assert wanted - ruled_out == set()


@pytest.mark.parametrize(
    ("gpu", "when", "why"),
    [
        ({"remap_pending": True}, "!gpu.remap_pending", "row remap pending: yes, expected no"),
        ({"problem": "lost"}, "gpu.problem == ''", "problem: lost, expected none"),
        ({"recovery_action": "reset"}, "gpu.recovery_action in ['none', 'drain']", "recovery action: reset, expected none, drain"),
        ({"pcie_width": 4, "pcie_width_max": 16}, "gpu.pcie_width == gpu.pcie_width_max", "PCIe lanes: 4, expected 16"),
        ({"temperature": 91}, "gpu.temperature < 90", "temperature: 91, expected less than 90"),
        ({"temperature": 91}, "gpu.problem == '' && gpu.temperature <= 90", "temperature: 91, expected at most 90"),
        ({}, "gpu.problem == 'x' || gpu.problem == 'y'", "problem: none, expected x; problem: none, expected y"),
        ({}, "others.count > 1", "others gpus: 1, expected more than 1"),
        ({}, "others.present && others.problem == 'x'", "others problem: none, expected x"),
        ({}, "gpu.problem.startsWith('x')", "problem: none"),
        ({"unreadable": ["fan"]}, "size(gpu.unreadable) == 0", "unreadable: fan speed, expected none"),
        ({}, "size('a') == 2", "size('a') == 2 does not hold"),
    ],
)
def test_what_is_not_so_is_told_with_its_values(gpu: dict[str, Any], when: str, why: str, tmp_path: Path) -> None:
    join = "with: {others: {from: gpus, on: [node], where: 'others.gpu != gpu.gpu', pick: count}}"
    expects = f'[{{id: sound, each: gpu in gpus, where: "gpu.gpu == \'GPU-1\'", when: "{when}", title: well, {join}}}]'
    records = [{"gpu": "GPU-1", "node": "gpu-01", **gpu}, {"gpu": "GPU-2", "node": "gpu-01"}]
    steps = "- {id: gpus, title: Read the GPUs, run: [nvidia-smi], parse: test.gpus}\n"
    report = run(steps, {"nvidia-smi": facts(gpus=records)}, tmp_path, expects=expects)
    assert [one.why for one in report.not_shown] == [why]


def test_every_stable_runbook_expects_something_or_includes_what_does() -> None:
    known = index.library().runbooks
    nothing = {name for name, book in known.items() if book.status == "stable" and not book.expects and not included(book)}
    parts = {step.include for book in known.values() for step in book.steps if step.include}
    assert nothing <= parts  # a part of a runbook that does: by itself it is never healthy
    assert all(expects_somewhere(known, name) for name in parts & nothing)


def expects_somewhere(known: dict[str, Runbook], part: str) -> bool:
    """Whether each way up from a part leads to a runbook that expects something."""
    above = [book for book in known.values() if any(step.include == part for step in book.steps)]
    return any(book.expects or included(book) or expects_somewhere(known, book.id) for book in above)


def test_a_part_of_another_runbook_is_never_healthy_by_itself(tmp_path: Path) -> None:
    part = engine_fakes.book("- {id: pods, run: [kubectl, get, pods], parse: test.pods, why: Asks.}", tmp_path, "part")
    whole = msgspec.structs.replace(part, id="whole", steps=[Step(id="", include="part")])
    library = Library(causes=CAUSES, runbooks={"part": part, "whole": whole})
    report = diagnose(library, part, {}, Fake({"kubectl get pods": facts(pods=[])}), timeout=20.0)
    assert report.verdict == "inconclusive"
    assert [one.why for one in report.not_shown] == ["part is a part of whole, which says what a healthy answer shows"]


def included(book: Runbook) -> bool:
    """Whether a runbook includes one that expects something."""
    return any(index.library().runbooks[step.include].expects for step in book.steps if step.include)


def of_machines() -> set[str]:
    """The expectations that commands are asked for; those of texts alone have no cases."""
    return {f"{book.id}.{one.id}" for book in index.library().runbooks.values() for one in book.expects if not one.texts}


def test_every_expectation_is_shown_in_a_case_and_not_so_in_another() -> None:
    known = of_machines()
    assert known - {one.expectation for whole in wholes() for one in whole.report.shown} == set()
    assert known - {one.expectation for whole in wholes() for one in whole.report.not_shown if one.not_so} == set()


class Refused:
    """A replay in which one command is refused, and what would be asked instead of it isn't there."""

    def __init__(self, replay: Replay, command: Command) -> None:
        self.replay, self.key = replay, (command.host, command.argv)

    def __call__(self, command: Command) -> Output:
        if (command.host, command.argv) != self.key:
            return self.replay(command)
        return Output(command, exit=1, failure="refused", reason="forbidden")

    def stream(self, command: Command) -> Iterator[Output]:
        return iter([self(command)]) if (command.host, command.argv) == self.key else self.replay.stream(command)

    many = one_by_one


def expectations_of_cases() -> dict[str, Whole]:
    """Each expectation with the case of fewest commands in which it is shown of all, and refutes what it refutes."""
    made: dict[str, Whole] = {}
    for whole in sorted(wholes(), key=lambda one: len(one.replay.bundle.outputs)):
        failed = {one.expectation for one in whole.report.not_shown}
        for one in whole.report.shown:
            if one.expectation not in failed:
                made.setdefault(one.expectation, whole)
    return made


def read_by(whole: Whole, expectation: str) -> list[Command]:
    """The commands that have filled what an expectation reads."""
    book, _, name = expectation.rpartition(".")
    one = next(one for one in index.library().runbooks[book].expects if one.id == name)
    steps = steps_behind(used_types(one), whole.run.steps)
    return list({(command.host, command.argv): command for step in steps if step.answered for command in step.commands}.values())


def test_no_expectation_is_shown_and_refutes_anything_where_one_of_the_commands_that_it_rests_on_is_refused() -> None:
    known = index.library()
    refuted: dict[str, set[str]] = {}  # expectation → causes that it ruled out, and no more without an answer
    for expectation, whole in expectations_of_cases().items():
        commands = read_by(whole, expectation)
        assert commands, expectation
        by = {cause.id for cause in known.causes.values() if expectation in cause.refuted_by}
        refuted[expectation] = by & {*whole.report.ruled_out}
        for command in commands[:MOST]:
            done = executed(whole.book, whole.inputs, Refused(whole.replay, command))
            if done is None:
                continue
            where = f"{expectation} in “{whole.name}” without {command.shown}"
            assert not [one for one in done[1].shown if one.expectation == expectation and about(one.subject, command)], where
            assert not refuted[expectation] & {*done[1].ruled_out}, where
    assert refuted.keys() == of_machines()
    assert len(set().union(*refuted.values())) >= 60


def about(subject: ReportSubject, command: Command) -> bool:
    """Whether a command may say something of a subject."""
    return not command.host or not subject.node or subject.node == command.host
