"""What a guided run and the person who guides it say to each other; the run itself is in `guided.py`."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from gpudoctor.engine.ask import Question
from gpudoctor.engine.diagnose import table
from gpudoctor.engine.outcomes import Checked, of_step
from gpudoctor.engine.plan import FOUND, Planned
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import StepRun
from gpudoctor.engine.store import Store
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import Finding, Report, Shown, Table
from gpudoctor.runbook.conditions import Unsure, compile_expression, input_types, input_values

Did = Literal["run", "skip", "paste", "answer", "withhold"]
Word = Literal["run", "again", "skip", "paste", "answer", "withhold", "back", "stop"]

# Why a question of a step has no answer, by what was decided about the step.
WHY: dict[str, str] = {
    "run": "no answer when it was asked in this session",
    "skip": "skipped by the person who guides",
    "paste": "skipped by the person who guides",
    "answer": "the person who guides can't tell",
    "withhold": "not consented to",
    "stop": "not asked: stopped before it",
}


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about a step, and when (seconds since the epoch). The outputs and the answers are in the bundle."""

    step: str  # RUNBOOK.STEP, with #2 for the second inclusion
    did: Did
    at: float


class Journal(Protocol):
    """Where decisions are kept, in their order; `save` makes them outlive the process."""

    @property
    def decisions(self) -> list[Decision]:
        """The decisions, to be added to and taken from."""
        ...

    def save(self) -> None:
        """Keep them."""
        ...


class Kept(Protocol):
    """What keeps answers: `probes.record.Recorder`."""

    def holds(self, command: Command) -> bool:
        """Whether a command has an answer."""
        ...

    def put(self, output: Output) -> Output:
        """Keep an answer that somebody else has got."""
        ...

    def forget(self, command: Command) -> None:
        """Drop the answers of a command."""
        ...


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a person wants of a step. `pasted` are outputs, `answers` a choice and a note, each by the number of the question."""

    word: Word
    pasted: dict[int, bytes] = {}
    answers: dict[int, tuple[str, str]] = {}


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is when a person is to decide: before step `number` of `most` at the most, with what is known."""

    number: int
    most: int
    step: StepRun
    todo: list[Question]
    led_by: list[str]  # what opened the way to this step, in words
    seconds: float  # that it may take
    read: float | None  # when its answers were read, if they are there already
    disturbs: list[Table]  # who would suffer
    consented: bool  # to what disturbs running work, on the command line
    known: Report


class News(msgspec.Struct, frozen=True, kw_only=True):
    """What a step has brought. `passed` are the steps after it that were not needed."""

    step: StepRun
    facts: list[tuple[str, int]]
    checked: list[Checked]  # of the step
    found: list[Finding]
    shown: list[Shown]
    ruled_out: list[str]
    gone: list[Finding]  # what was found before, and is not held any more
    passed: list[StepRun]
    following: StepRun | None
    report: Report


class Person(Protocol):
    """Who decides."""

    def show_position(self, steps: int, since: float, report: Report) -> None:
        """Told where an execution stands that has taken so many decided steps from the session; the oldest was read at `since`."""
        ...

    def choose(self, place: Place) -> Reply:
        """Asked what to do about a step."""
        ...

    def news(self, news: News) -> Literal["next", "retest", "back", "stop"]:
        """Told what a step has brought; asked what then, if it has found something."""
        ...


def person_answer(step: StepRun, choice: str, note: str) -> bytes:
    """The answer of a person as it is kept: what `tools/common/person.py` reads."""
    spec = step.planned.step
    return msgspec.json.encode({"question": spec.id, "choice": choice, "label": spec.choices[choice], "note": note})


def name_of(step: StepRun, steps: list[StepRun]) -> str:
    """The name of a step, which a runbook that is included twice has twice: RUNBOOK.STEP#2."""
    name = step.planned.name
    times = sum(one.planned.name == name for one in steps[: step.planned.order + 1])
    return name if times == 1 else f"{name}#{times}"


def asks(planned: Planned) -> tuple[str, ...]:
    """What a step would ask, as it is written: steps of several runbooks that ask the same are one step for a person."""
    step = planned.step
    return (step.host, step.each.type if step.each else "", step.where, *step.run)


def may_come(planned: Planned) -> bool:
    """Whether a step may still be asked, by what is already known: the inputs."""
    for gate in planned.gates:
        try:
            if not FOUND.search(gate.when) and not compile_expression(gate.when, input_types(gate.book.inputs)).holds(
                input_values(gate.inputs)
            ):
                return False
        except Unsure:
            continue
    return True


def led_by(step: StepRun, steps: list[StepRun], store: Store) -> list[str]:
    """The findings that a step's conditions name, by the step they are of: `waiting (Find the pods that wait for the scheduler)`."""
    words = []
    for gate in step.planned.gates:
        names = set(FOUND.findall(gate.when))
        for earlier in steps[: step.planned.order]:
            if gate.steered_by(earlier.planned):
                checks = (check for check in earlier.planned.step.checks if check.id in names)
                found = [check.id.replace("_", " ") for check in checks if of_step(earlier, check, store, steps).outcome == "found"]
                words += [f"{', '.join(found)} ({earlier.planned.step.title})"] if found else []
    return list(dict.fromkeys(words))


def suffer(step: StepRun, steps: list[StepRun], engine: Engine) -> list[Table]:
    """The tables that earlier steps of the same runbook show: whose work a step would disturb."""
    own = (one.planned for one in steps[: step.planned.order] if one.asked and one.planned.book.id == step.planned.book.id)
    made = [table(one.step.show, one.book, one.inputs, engine.store) for one in own if one.step.show]
    return [one for one in made if one.rows]
