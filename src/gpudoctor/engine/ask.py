"""Commands and their answers: what a step asks for each record, and each command asked and read once in a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.engine.plan import cast
from gpudoctor.engine.reading import Reading, failed, heard, read, second, unanswered
from gpudoctor.engine.store import Place, Store
from gpudoctor.facts import Fact, Subject
from gpudoctor.probes.base import GRACE, Command, Probe
from gpudoctor.runbook import allowed
from gpudoctor.runbook.conditions import Lookup, Types, Unsure, Values
from gpudoctor.runbook.model import Step
from gpudoctor.runbook.templates import fill, pieces

LATE = "not asked: the time of the whole run is used up (see --timeout)"
NEVER = "no answer in the time of the whole run (see --timeout)"
LATEST = GRACE + 2.0  # seconds after the time of the whole run in which probes tell what hangs; what is busy then is left behind
Key = tuple[str, tuple[str, ...], int, str, tuple[str, ...]]  # host, argv, sample, parser, argv of the other way to ask


class Question(msgspec.Struct, frozen=True):
    """A command of a step, what it is about, and its number among the step's commands; `otherwise` is asked when it has no answer."""

    command: Command
    about: Subject
    number: int
    otherwise: Command | None = None

    def again(self, sample: int, number: int) -> Question:
        """The same question in a later sample, as the step's command of that number."""
        otherwise = self.otherwise and msgspec.structs.replace(self.otherwise, sample=sample)
        return Question(msgspec.structs.replace(self.command, sample=sample), self.about, number, otherwise)

    def key(self, parser: str) -> Key:
        """What equal questions have in common."""
        other = self.otherwise.argv if self.otherwise else ()
        return (self.command.host, self.command.argv, self.command.sample, parser, other)


class Asked(msgspec.Struct, eq=False):
    """A question that was asked, with the earliest place that asked it; `reading` is None until it is settled."""

    place: Place
    about: Subject
    reading: Reading | None = None
    settled: threading.Event = msgspec.field(default_factory=threading.Event)


class Answers:
    """Asks the probe and puts what the parsers read into the store. Safe for several threads; `deadline` is in monotonic seconds.

    Of several steps with the same command and parser the first in the order written owns the facts, whichever asked first.
    """

    def __init__(self, probe: Probe, store: Store, deadline: float) -> None:
        self.probe, self.store, self.deadline = probe, store, deadline
        self.lock = threading.Lock()
        self.asked: dict[Key, Asked] = {}

    def __call__(self, step: Step, order: int, question: Question) -> Reading:
        """What became of a step's question: asked now, unless an equal one was."""
        asked, mine = self.claim(step, order, question)
        if mine:
            try:
                reading = self.heard(step, question.command, asked.about)
                if question.otherwise and unanswered(reading):
                    reading = second(reading, self.heard(step, question.otherwise, asked.about))
                self.settle(asked, reading)
            finally:
                self.settle(asked, failed(question.command, NEVER))  # after an error of ours nobody shall wait
        return self.joined(step, order, question, asked)

    def claim(self, step: Step, order: int, question: Question) -> tuple[Asked, bool]:
        """The record of a question, and whether the caller is the first, who must settle it."""
        key = question.key(step.parse)
        with self.lock:
            known = self.asked.get(key)
            if known is None:
                self.asked[key] = Asked((order, question.number), question.about)
            return self.asked[key], known is None

    def heard(self, step: Step, command: Command, about: Subject) -> Reading:
        """Ask one command, in what is left of the time."""
        if why := self.refusal(step, command):
            return failed(command, why)
        return heard(self.probe, step.parse, self.limited(command), about)

    def refusal(self, step: Step, command: Command) -> str:
        """Why a command is not asked, "" when it is."""
        return allowed.refusal(list(command.argv), disruptive=bool(step.effect)) or (LATE if self.deadline <= time.monotonic() else "")

    def limited(self, command: Command) -> Command:
        """A command that takes no longer than the run has."""
        return msgspec.structs.replace(command, timeout=max(0.1, min(command.timeout, self.deadline - time.monotonic())))

    def settle(self, asked: Asked, reading: Reading) -> None:
        """Say what became of a question, and keep its facts; what comes second is too late."""
        with self.lock:
            if asked.reading is not None:
                return
            asked.reading = reading
            if reading.facts is not None:
                self.store.put(asked.place[0], reading.facts, asked.place[1])
        asked.settled.set()

    def joined(self, step: Step, order: int, question: Question, asked: Asked) -> Reading:
        """The reading of a question that this step asks too; an earlier step gets the facts of a later one."""
        asked.settled.wait(max(0.0, self.deadline + LATEST - time.monotonic()))
        with self.lock:
            if asked.reading is None:
                return failed(question.command, NEVER)
            if (place := (order, question.number)) < asked.place:
                self.hand_over(step, asked, asked.reading, place, question.about)
            return asked.reading

    def hand_over(self, step: Step, asked: Asked, reading: Reading, place: Place, about: Subject) -> None:
        """Give the facts to an earlier place that asked later. A text doesn't say what it is about: its facts are read anew."""
        if reading.facts is not None:
            self.store.move(asked.place, place)
            if about != asked.about and reading.output.pages:
                self.store.put(place[0], read(step.parse, reading.output, about)[0], place[1])
        asked.place, asked.about = place, about


def questions(step: Step, records: list[Fact | None], types: Types, given: dict[str, Any]) -> Iterator[Question | str]:
    """The commands that a step asks for its records, each once; for a record without a command, why there is none."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for record in records:
        values = Values(given, {step.each.name: record} if step.each else {})
        try:
            host = argument(step.host, types, values, "the host")
            if step.host and not host:
                raise ValueError(f"the host {step.host} is not known: not asked")  # an empty host would be this machine
            argv = arguments(step.run, types, values)
            other = arguments(step.otherwise, types, values) if step.otherwise else ()
            timeout = step.timeout + seconds(step.lasts, types, values)
        except (Unsure, ValueError) as why:
            yield str(why)
            continue
        if (host, argv) in seen:
            continue
        seen.add((host, argv))
        # What runs on a host is about the host, whoever it was asked for.
        about = Subject(kind="node", node=host) if host else record.subject() if record else Subject(kind="cluster")
        otherwise = Command(argv=other, host=host, timeout=timeout) if other else None
        yield Question(Command(argv=argv, host=host, timeout=timeout), about, len(seen) - 1, otherwise)


def seconds(template: str, types: Types, values: Lookup) -> float:
    """The number of seconds that a template gives, 0 without one. Raises `Unsure`, and `ValueError` for what isn't one."""
    return float(cast(fill(template, types, values), "duration")) if template else 0.0


def arguments(run: list[str], types: Types, values: Lookup) -> tuple[str, ...]:
    """The argv of a step; an element whose every `${…}` is empty is left out. Raises `Unsure`, and `ValueError` for a hostile value."""
    made = (argument(element, types, values, run[0]) for element in run)
    return tuple(text for text, element in zip(made, run, strict=True) if text or "${" not in element)


def argument(template: str, types: Types, values: Lookup, program: str) -> str:
    """One element filled in, "" when every `${…}` in it is empty. A value never becomes an option, and has no control characters."""
    if "${" not in template:
        return template
    parts = [(kind, fill("${" + text + "}", types, values) if kind == "cel" else text) for kind, text in pieces(template)]
    filled = [text for kind, text in parts if kind == "cel"]
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for text in filled for character in text):
        raise ValueError(f"a value for '{template}' has control characters: not asked")
    made = "".join(text for _, text in parts)
    if made.startswith("-") and not template.startswith("-"):
        raise ValueError(f"the value '{made[:40]}' would become an option of {program}: not asked")
    return made if any(filled) or not filled else ""
