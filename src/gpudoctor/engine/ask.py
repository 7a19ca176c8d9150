"""Commands and their answers: what a step asks for each record, and each command asked and read once in a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor import parsers
from gpudoctor.engine.store import Place, Store
from gpudoctor.facts import Fact, Facts, Subject
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.runbook import allowed
from gpudoctor.runbook.conditions import Lookup, Types, Unsure, Values, fill, pieces
from gpudoctor.runbook.model import Step

LATE = "not asked: the time of the whole run is used up (see --timeout)"
Key = tuple[str, tuple[str, ...], int, str]  # host, argv, sample, parser


class Question(msgspec.Struct, frozen=True):
    """A command of a step, what it is about, and its number among the step's commands."""

    command: Command
    about: Subject
    number: int

    def again(self, sample: int, number: int) -> Question:
        """The same question a sample later."""
        return Question(msgspec.structs.replace(self.command, sample=sample), self.about, self.number + number)


class Answered(msgspec.Struct):
    """A command that was asked and read: why there are no facts of it ("" when there are), and the earliest place that asked."""

    output: Output
    problem: str
    place: Place
    about: Subject


class Answers:
    """Asks the probe and puts what the parsers read into the store. Safe for several threads; `deadline` is in monotonic seconds.

    Of several steps with the same command and parser the first in the order written owns the facts, whichever asked first.
    """

    def __init__(self, probe: Probe, store: Store, deadline: float) -> None:
        self.probe, self.store, self.deadline = probe, store, deadline
        self.lock = threading.Lock()
        self.locks: dict[Key, threading.Lock] = {}
        self.done: dict[Key, Answered] = {}

    def __call__(self, step: Step, order: int, question: Question) -> tuple[Output, str]:
        """The output of a step's command and "", or why there are no facts of it."""
        command = question.command
        key = (command.host, command.argv, command.sample, step.parse)
        place = (order, question.number)
        with self.lock:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            done = self.done.get(key)
            if done is None:
                remaining = self.deadline - time.monotonic()
                if remaining <= 0:
                    return Output(command), LATE
                limited = msgspec.structs.replace(command, timeout=min(command.timeout, remaining))
                output, problem, facts = answer(self.probe, step.parse, limited, question.about)
                done = self.done[key] = Answered(output, problem, place, question.about)
                if facts is not None:
                    self.store.put(place[0], facts, place[1])
            elif place < done.place:
                self.hand_over(step, done, place, question.about)
            return done.output, done.problem

    def hand_over(self, step: Step, done: Answered, place: Place, about: Subject) -> None:
        """Give the facts to an earlier place that asked later. A text doesn't say what it is about: its facts are read anew."""
        if not done.problem:
            self.store.move(done.place, place)
            if about != done.about and done.output.pages:
                self.store.put(place[0], read(step.parse, done.output, about)[0], place[1])
        done.place, done.about = place, about


def answer(probe: Probe, parser: str, command: Command, about: Subject) -> tuple[Output, str, Facts | None]:
    """Ask the probe and read the answer: the output, why there are no facts of it, the facts."""
    if refused := allowed.refusal(list(command.argv)):
        return Output(command), refused, None
    fills, _, streams = parsers.PARSERS[parser]
    if streams:
        pages = Pages(probe.stream(command), Output(command))
        facts, problem = read(parser, pages, about)
        output = pages.last
    else:
        output = probe(command)
        facts, problem = ({}, "") if unusable(output) or not_there(output) else read(parser, output, about)
    if not_there(output):
        return output, "", {kind: [] for kind in fills}
    problem = unusable(output) or silent(output, facts) or problem
    # Objects of the API name themselves and may be many; a text may have to be read anew.
    kept = msgspec.structs.replace(output, pages=()) if command.argv[:2] == ("kubectl", "get") else output
    return kept, problem, None if problem else facts


def read(parser: str, output: Any, about: Subject) -> tuple[Facts, str]:
    """The facts of an output, or of the pages of one, and "", or why it can't be read."""
    try:
        return parsers.load(parser)(output, about), ""
    except parsers.ParseError as error:
        return {}, str(error)


def is_read(output: Output) -> bool:
    """Whether a command is one of those of kubectl whose exit code says whether they have answered."""
    return output.command.argv[:2] in (("kubectl", "get"), ("kubectl", "logs"))


def not_there(output: Output) -> bool:
    """Whether `kubectl get` or `logs` says that there is no such thing, which is an answer."""
    return not output.failure and output.exit != 0 and is_read(output) and b"not found" in output.stderr.lower()


def unusable(output: Output) -> str:
    """Why an output is no answer, "" when it is one."""
    if output.failure:
        return output.reason or output.failure
    return complaint(output) if output.exit != 0 and is_read(output) and not not_there(output) else ""


def silent(output: Output, facts: Facts) -> str:
    """What a command says on stderr that failed, printed nothing else and gave no facts: `dmesg: … Operation not permitted`."""
    return complaint(output) if output.exit != 0 and not any(output.pages) and not any(facts.values()) and not not_there(output) else ""


def complaint(output: Output) -> str:
    """The last line of stderr, else the exit code."""
    return output.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:500] or f"exit code {output.exit}"


class Pages:
    """The pages of a streamed answer, remembering the last; a failed piece ends the stream and is not a page."""

    def __init__(self, pages: Iterator[Output], last: Output) -> None:
        self.pages, self.last = pages, last

    def __iter__(self) -> Iterator[Output]:
        for output in self.pages:
            self.last = msgspec.structs.replace(output, pages=())
            if not output.failure:
                yield output


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
        except (Unsure, ValueError) as why:
            yield str(why)
            continue
        if (host, argv) in seen:
            continue
        seen.add((host, argv))
        # What runs on a host is about the host, whoever it was asked for.
        about = Subject(kind="node", node=host) if host else record.subject() if record else Subject(kind="cluster")
        yield Question(Command(argv=argv, host=host, timeout=step.timeout), about, len(seen) - 1)


def arguments(run: list[str], types: Types, values: Lookup) -> tuple[str, ...]:
    """The argv of a step; an element whose every `${…}` is empty is left out. Raises `Unsure`, and `ValueError` for a hostile value."""
    made = (argument(element, types, values, run[0]) for element in run)
    return tuple(text for text, element in zip(made, run, strict=True) if text or "${" not in element)


def argument(template: str, types: Types, values: Lookup, program: str) -> str:
    """One element filled in, "" when every `${…}` in it is empty. A value never becomes an option, and has no control characters."""
    parts = [(kind, fill("${" + text + "}", types, values) if kind == "cel" else text) for kind, text in pieces(template)]
    filled = [text for kind, text in parts if kind == "cel"]
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for text in filled for character in text):
        raise ValueError(f"a value for '{template}' has control characters: not asked")
    made = "".join(text for _, text in parts)
    if made.startswith("-") and not template.startswith("-"):
        raise ValueError(f"the value '{made[:40]}' would become an option of {program}: not asked")
    return made if any(filled) or not filled else ""
