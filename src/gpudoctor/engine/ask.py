"""Commands and their answers: what a step asks for each record, and each command asked once in a run and read once by each parser."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gpudoctor.engine.plan import cast
from gpudoctor.engine.reading import Reading, ask_probe, failed_reading, is_worth_another_way, read, read_answer, second
from gpudoctor.engine.store import Place, Store
from gpudoctor.facts import Fact, Subject
from gpudoctor.probes.base import GRACE, Command, Probe
from gpudoctor.registry import PARSERS
from gpudoctor.runbook import allowed
from gpudoctor.runbook.conditions import Lookup, Types, Unsure, Values
from gpudoctor.runbook.model import Step
from gpudoctor.runbook.templates import fill, split_template

LATE = "not asked: the time of the whole run is used up (see --timeout)"
NEVER = "no answer in the time of the whole run (see --timeout)"
LATEST = GRACE + 2.0  # seconds after the time of the whole run in which probes tell what hangs; what is busy then is left behind
KEPT = 64 << 20  # bytes of texts that are kept, should another step say that they are about something else
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
    """What becomes of a question for one parser; `reading` is None until it is settled. `place` is the earliest that asked it, None while
    nobody has: another parser's step asked the same, and its answer is read for all. `readers` are these, by parser, for who asks.
    """

    place: Place | None
    about: Subject
    reading: Reading | None = None
    readers: dict[str, Asked] = {}
    settled: threading.Event = msgspec.field(default_factory=threading.Event)


class Answers:
    """Asks the probe and puts what the parsers read into the store. Safe for several threads; `deadline` is in monotonic seconds.

    An answer is read by every parser whose step will ask the same (`readers`), and then let go. Of several steps with the same command and
    parser the first in the order written owns the facts, whichever asked first.
    """

    def __init__(self, probe: Probe, store: Store, deadline: float, readers: Callable[[Step], set[str]] = lambda step: set()) -> None:
        self.probe, self.store, self.deadline, self.readers = probe, store, deadline, readers
        self.lock = threading.Lock()
        self.asked: dict[Key, Asked] = {}
        self.room = KEPT

    def __call__(self, step: Step, order: int, question: Question) -> Reading:
        """What became of a step's question: asked now, unless an equal one was."""
        asked, mine = self.claim(step, order, question)
        if mine:
            try:
                firsts = self.ask_and_read(step, question.command, asked, [*asked.readers])
                again = [parser for parser, reading in firsts.items() if question.otherwise and is_worth_another_way(reading)]
                others = self.ask_and_read(step, question.otherwise, asked, again) if question.otherwise and again else {}
                for parser, reading in firsts.items():
                    self.settle(asked.readers[parser], second(reading, others[parser]) if parser in others else reading)
            finally:
                self.give_up(asked, failed_reading(question.command, NEVER))  # after an error of ours nobody shall wait
        return self.shared_reading(step, order, question, asked)

    def claim(self, step: Step, order: int, question: Question) -> tuple[Asked, bool]:
        """The record of a question, and whether the caller is the first, who must settle it for all its readers."""
        key = question.key(step.parse)
        with self.lock:
            if known := self.asked.get(key):
                return known, False
            asked = self.asked[key] = Asked((order, question.number), question.about)
            asked.readers = {step.parse: asked}
            for parser in sorted(self.readers(step)):
                if (key := question.key(parser)) not in self.asked and not (pages(parser, question) or pages(step.parse, question)):
                    asked.readers[parser] = self.asked[key] = Asked(None, question.about)
            return asked, True

    def ask_and_read(self, step: Step, command: Command, asked: Asked, readers: list[str]) -> dict[str, Reading]:
        """Ask one command, in what is left of the time; what each parser reads in its answer."""
        if why := self.refusal(step, command):
            return dict.fromkeys(readers, failed_reading(command, why))
        if len(readers) == 1:
            return {readers[0]: ask_probe(self.probe, readers[0], self.limit_time(command), asked.about)}
        output = self.probe(self.limit_time(command))
        return {parser: read_answer(parser, output, asked.about) for parser in readers}

    def refusal(self, step: Step, command: Command) -> str:
        """Why a command is not asked, "" when it is."""
        return allowed.refusal(list(command.argv), disruptive=bool(step.effect)) or (LATE if self.deadline <= time.monotonic() else "")

    def limit_time(self, command: Command) -> Command:
        """A command that takes no longer than the run has."""
        return msgspec.structs.replace(command, timeout=max(0.1, min(command.timeout, self.deadline - time.monotonic())))

    def give_up(self, asked: Asked, reading: Reading) -> None:
        """Settle a question for all its readers that are not settled yet."""
        for reader in asked.readers.values():
            self.settle(reader, reading)

    def settle(self, asked: Asked, reading: Reading) -> None:
        """Say what became of a question, and keep its facts; what comes second is too late."""
        with self.lock:
            if asked.reading is not None:
                return
            size = sum(map(len, reading.output.pages))
            if size > self.room:
                reading = reading._replace(output=msgspec.structs.replace(reading.output, pages=()))
            else:
                self.room -= size
            asked.reading = reading
            if reading.facts is not None and asked.place is not None:
                self.store.put(asked.place[0], reading.facts, asked.place[1])
        asked.settled.set()

    def shared_reading(self, step: Step, order: int, question: Question, asked: Asked) -> Reading:
        """The reading of a question that this step asks too; an earlier step gets the facts of a later one."""
        asked.settled.wait(max(0.0, self.deadline + LATEST - time.monotonic()))
        with self.lock:
            if asked.reading is None:
                return failed_reading(question.command, NEVER)
            place = (order, question.number)
            if asked.place is None or place < asked.place:
                self.hand_over(step, asked, asked.reading, place, question.about)
            return asked.reading

    def hand_over(self, step: Step, asked: Asked, reading: Reading, place: Place, about: Subject) -> None:
        """Give the facts to the first place that asks, or to an earlier one. A text doesn't say what it is about: its facts are read anew,
        where it is still there.
        """
        if reading.facts is not None:
            if asked.place is None:
                self.store.put(place[0], reading.facts, place[1])
            else:
                self.store.move(asked.place, place)
            if about != asked.about and reading.output.pages:
                self.store.put(place[0], read(step.parse, reading.output, about)[0], place[1])
        asked.place, asked.about = place, about


def pages(parser: str, question: Question) -> bool:
    """Whether a parser reads an answer page by page that is too large to be held for others: a list of the cluster."""
    return PARSERS[parser].streams and question.command.argv[:2] == ("kubectl", "get")


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
    parts = [(kind, fill("${" + text + "}", types, values) if kind == "cel" else text) for kind, text in split_template(template)]
    filled = [text for kind, text in parts if kind == "cel"]
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for text in filled for character in text):
        raise ValueError(f"a value for '{template}' has control characters: not asked")
    made = "".join(text for _, text in parts)
    if made.startswith("-") and not template.startswith("-"):
        raise ValueError(f"the value '{made[:40]}' would become an option of {program}: not asked")
    return made if any(filled) or not filled else ""
