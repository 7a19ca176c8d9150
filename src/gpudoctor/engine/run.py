"""Executes a runbook: asks what must be asked, concurrently where nothing depends, and keeps the order written for everything shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from gpudoctor import parsers
from gpudoctor.derive import DERIVATIONS
from gpudoctor.derive import load as load_derivation
from gpudoctor.engine.evaluate import Inputs, evaluate
from gpudoctor.engine.plan import Planned, plan
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact, Facts, Subject
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.runbook import allowed, scope
from gpudoctor.runbook.conditions import Lookup, Unsure, Values, compiled, fill, input_types, pieces
from gpudoctor.runbook.model import Check, Library, Runbook

FANOUT = 8  # commands of one step at a time; kubectl's own client allows bursts of 10


class StepRun(msgspec.Struct, kw_only=True):
    """What became of one step."""

    planned: Planned
    asked: bool = False
    commands: list[Command] = []
    failures: list[tuple[str, str]] = []  # what, why
    answered: int = 0
    seconds: float = 0.0
    undecided: str = ""  # why it could not be decided whether to ask
    note: str = ""
    done: bool = False


class Run(msgspec.Struct, kw_only=True):
    """A finished execution, ready for the conclusions."""

    book: Runbook
    inputs: Inputs
    store: Store
    steps: list[StepRun]


class NotThere(Exception):
    """What the user asked about doesn't exist. `close` are names that come close."""

    def __init__(self, what: str, close: list[str]) -> None:
        super().__init__(what)
        self.what, self.close = what, close


class Answered(msgspec.Struct):
    """A command that was asked and read once, and the earliest step that it belongs to."""

    output: Output
    problem: str
    facts: Facts | None
    order: int


class Engine:
    """One execution. `on_step` is called with a step and all steps as it ends, in the order written."""

    def __init__(self, library: Library, probe: Probe, *, timeout: float = 120.0) -> None:
        self.library, self.probe = library, probe
        self.on_step: Callable[[StepRun, list[StepRun]], None] | None = None
        self.deadline = time.monotonic() + timeout
        self.store = Store()
        self.changed = threading.Condition()
        self.parsed: dict[tuple[str, tuple[str, ...], int, str], Answered] = {}
        self.locks: dict[tuple[str, tuple[str, ...], int, str], threading.Lock] = {}
        self.stopped: BaseException | None = None

    def execute(self, book: Runbook, inputs: Inputs) -> Run:
        """Run all steps. Raises `NotThere`; whatever else goes wrong in a step is that step's failure."""
        steps = [StepRun(planned=one) for one in plan(self.library, book, inputs)]
        started: set[int] = set()
        reported = 0
        with self.changed:
            while not all(step.done for step in steps):
                for step in steps:
                    if step.planned.order not in started and all(steps[other].done for other in step.planned.waits_for):
                        started.add(step.planned.order)
                        threading.Thread(target=self.guarded, args=(step, steps), daemon=True).start()
                self.changed.wait(timeout=0.5)
                if self.stopped:
                    raise self.stopped
                while reported < len(steps) and steps[reported].done:
                    if self.on_step:
                        self.on_step(steps[reported], steps)
                    reported += 1
        return Run(book=book, inputs=inputs, store=self.store, steps=steps)

    def guarded(self, step: StepRun, steps: list[StepRun]) -> None:
        """A step in its thread: an error of ours stops the run, and never leaves it waiting."""
        try:
            self.step(step, steps)
        except BaseException as error:
            self.stopped = error
        finally:
            with self.changed:
                step.done = True
                self.changed.notify_all()

    def step(self, step: StepRun, steps: list[StepRun]) -> None:
        """Decide whether to ask, ask, parse."""
        planned = step.planned
        try:
            if not self.gates_open(planned, steps):
                step.note = "not needed"
                return
        except Unsure as why:
            step.undecided = str(why)
            return
        if planned.step.derive:
            self.derive(step, steps)
        elif planned.step.run:
            self.ask(step, steps)
        else:
            step.asked = True
        for target in self.store.records("targets"):
            if not getattr(target, "found", True):
                raise NotThere(missing(target), list(getattr(target, "close", [])))

    def gates_open(self, planned: Planned, steps: list[StepRun]) -> bool:
        """Whether every `when` above the step holds. A steering check that is itself unknown makes the step undecided."""
        for gate in planned.gates:
            types = {**input_types(gate.book.inputs)}
            values: dict[str, Any] = {f"input.{name}": value for name, value in gate.inputs.items()}
            for earlier in steps[: planned.order]:
                if earlier.planned.book.id != gate.book.id:
                    continue
                for check in earlier.planned.step.checks:
                    types[f"found.{check.id}"] = bool
                    if f"found.{check.id}" not in gate.when:
                        continue
                    answer = evaluate(gate.book, check, gate.inputs, self.store, planned.order)
                    if answer.hits or not (answer.unsure or obstacles(earlier, check, steps[: planned.order])):
                        values[f"found.{check.id}"] = bool(answer.hits)
            if not compiled(gate.when, types).holds(values):
                return False
        return True

    def derive(self, step: StepRun, steps: list[StepRun]) -> None:
        """A measurement over the facts read so far. What could not be read makes the checks that find nothing unknown."""
        planned = step.planned
        step.asked = True
        for kind in DERIVATIONS[planned.step.derive].needs:
            broken = [s for s in steps[: planned.order] if kind in s.planned.fills and (s.failures or s.undecided)]
            if broken and not self.store.has(kind, planned.order):
                step.failures.append((f"step {planned.name}", f"needs {kind}, which could not be read"))
        facts = self.store.everything(planned.order)
        self.store.put(planned.order, load_derivation(planned.step.derive)(facts, planned.inputs, now(facts)))

    def ask(self, step: StepRun, steps: list[StepRun]) -> None:
        """Run the step's command, or one for each record."""
        planned = step.planned
        todo = list(self.commands(step, steps))
        step.asked = bool(todo) or planned.step.each is None
        step.commands = [command for command, _ in todo]
        gate = threading.Semaphore(FANOUT)
        results: list[tuple[Output, str] | None] = [None] * len(todo)

        def one(number: int, command: Command, about: Subject) -> None:
            with gate:
                try:
                    results[number] = self.answer(planned, command, about)
                except BaseException as error:
                    self.stopped = error

        if len(todo) == 1:
            one(0, *todo[0])
        else:
            threads = [threading.Thread(target=one, args=(number, *item), daemon=True) for number, item in enumerate(todo)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        for result, (command, _) in zip(results, todo, strict=True):
            if result is None:
                continue
            output, problem = result
            step.seconds = max(step.seconds, output.seconds)
            if problem:
                step.failures.append((f"{command.host}: {command.shown}" if command.host else command.shown, problem))
            else:
                step.answered += 1

    def commands(self, step: StepRun, steps: list[StepRun]) -> Iterator[tuple[Command, Subject]]:
        """The commands of a step with the subject that each is about."""
        planned = step.planned
        spec = planned.step
        given = {f"input.{name}": value for name, value in planned.inputs.items()}
        types = scope.step_types(planned.book, spec)
        seen: set[tuple[str, tuple[str, ...], int]] = set()
        for record in self.each(step, steps, types, given):
            values = Values(given, {spec.each.name: record} if spec.each else {})
            about = record.subject() if record else Subject(kind="cluster")
            try:
                host = fill(spec.host, types, values)
                argv = arguments(spec.run, types, values)
            except (Unsure, ValueError) as why:
                step.failures.append((f"step {planned.name}", str(why)))
                continue
            if host:  # what runs on a host is about the host, whoever it was asked for
                about = Subject(kind="node", node=host)
            for sample in range(spec.sample.times if spec.sample else 1):
                if (host, argv, sample) not in seen:
                    seen.add((host, argv, sample))
                    yield Command(argv=argv, host=host, timeout=spec.timeout, sample=sample), about

    def each(self, step: StepRun, steps: list[StepRun], types: Any, given: Inputs) -> list[Fact | None]:
        """The records that the step asks about; [None] for a step without `each`."""
        planned = step.planned
        spec = planned.step
        if spec.each is None:
            return [None]
        wanted: list[Fact | None] = []
        for record in self.store.records(spec.each.type, planned.order):
            try:
                if not spec.where or compiled(spec.where, types).holds(Values(given, {spec.each.name: record})):
                    wanted.append(record)
            except Unsure as why:
                step.failures.append((f"step {planned.name}", str(why)))
        if not wanted and not self.store.has(spec.each.type, planned.order):
            broken = [other for other in steps[: planned.order] if spec.each.type in other.planned.fills and (other.failures or other.undecided)]
            if broken:
                step.undecided = f"needs {spec.each.type}, which could not be read"
            return []
        if len(wanted) > spec.limit:
            step.failures.append((f"{len(wanted) - spec.limit} more of {len(wanted)} in step {planned.name}", f"asked for {spec.limit} only"))
        return wanted[: spec.limit]

    def answer(self, planned: Planned, command: Command, about: Subject) -> tuple[Output, str]:
        """The output of a command and "", or why there are no facts of it. The same command is asked and parsed once in a run."""
        key = (command.host, command.argv, command.sample, planned.step.parse)
        with self.changed:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            done = self.parsed.get(key)
            if done is None:
                remaining = self.deadline - time.monotonic()
                if remaining <= 0:
                    return Output(command), "not asked: the time of the whole run is used up (see --timeout)"
                limited = msgspec.structs.replace(command, timeout=min(command.timeout, remaining))
                done = self.parsed[key] = Answered(*self.parse(planned, limited, about), planned.order)
                if done.facts is not None:
                    self.store.put(planned.order, done.facts)
            elif planned.order < done.order and done.facts is not None:
                self.store.move(done.facts, done.order, planned.order)
                done.order = planned.order
            return done.output, done.problem

    def parse(self, planned: Planned, command: Command, about: Subject) -> tuple[Output, str, Facts | None]:
        """Ask the probe and read the answer: the output, why there are no facts of it, the facts."""
        why = allowed.refusal(list(command.argv))
        if why:
            return Output(command), why, None
        parser = parsers.PARSERS[planned.step.parse]
        read = parsers.load(planned.step.parse)
        if parser.streams:
            pages = Pages(self.probe.stream(command))
            try:
                facts = read(pages, about)  # type: ignore[arg-type]
            except parsers.ParseError as error:
                return pages.last or Output(command), str(error), None
            output = pages.last or Output(command)
            if output.failure:
                return output, output.reason or output.failure, None
        else:
            output = self.probe(command)
            if output.failure:
                return output, output.reason or output.failure, None
            said = refused(output)
            if said:
                return output, said, None
            try:
                facts = {kind: [] for kind in parser.fills} if not_found(output) else read(output, about)
            except parsers.ParseError as error:
                return output, str(error), None
        return output, "", facts


def obstacles(step: StepRun, check: Check, steps: list[StepRun]) -> list[str]:
    """Why a check that finds nothing can't be called clear: its step could not be asked, or for a step that asks nothing itself,
    what fills the check's fact type could not.
    """
    own = step.planned.step
    concerned = [step]
    if not own.run and not own.derive and check.each:
        concerned += [other for other in steps if other.planned.order < step.planned.order and check.each.type in other.planned.fills]
    return list(dict.fromkeys(why for one in concerned for why in [one.undecided, *(reason for _, reason in one.failures)] if why))


def not_found(output: Output) -> bool:
    """Whether `kubectl get` or `logs` says that there is no such thing, which is an answer."""
    return output.exit != 0 and output.command.argv[:2] in (("kubectl", "get"), ("kubectl", "logs")) and b"not found" in output.stderr.lower()


def refused(output: Output) -> str:
    """The last line of what `kubectl get` or `logs` says instead of an answer, "" when it answered."""
    if output.exit == 0 or output.command.argv[:2] not in (("kubectl", "get"), ("kubectl", "logs")) or not_found(output):
        return ""
    return output.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1] or f"exit code {output.exit}"


class Pages:
    """The pages of a streamed answer, remembering the last."""

    def __init__(self, pages: Iterator[Output]) -> None:
        self.pages = pages
        self.last: Output | None = None

    def __iter__(self) -> Iterator[Output]:
        for output in self.pages:
            self.last = msgspec.structs.replace(output, pages=())
            if not output.failure:
                yield output


def arguments(run: list[str], types: Any, values: Lookup) -> tuple[str, ...]:
    """The argv of a step. An element whose every `${…}` is empty is left out; a value never becomes an option."""
    made = []
    for element in run:
        parts = [(kind, fill("${" + text + "}", types, values) if kind == "cel" else text) for kind, text in pieces(element)]
        filled = [text for kind, text in parts if kind == "cel"]
        if filled and not any(filled):
            continue
        argument = "".join(text for _, text in parts)
        if argument.startswith("-") and not element.startswith("-"):
            raise ValueError(f"the value '{argument[:40]}' would become an option of {run[0]}: not asked")
        if any(ord(character) < 32 or ord(character) == 127 for text in filled for character in text):
            raise ValueError(f"a value for '{element}' has control characters: not asked")
        made.append(argument)
    return tuple(made)


def now(facts: dict[str, list[Fact]]) -> float:
    """The newest time that a fact carries; derivations need no clock of their own."""
    return max((fact.time for many in facts.values() for fact in many if fact.time is not None), default=0.0)


def missing(target: Fact) -> str:
    """`pod "trian-0" in namespace "ml"`."""
    name, namespace, kind = (str(getattr(target, field, "")) for field in ("name", "namespace", "kind"))
    what = f'{kind} "{name}"' if name else "a pod that should use a GPU"
    return what + (f' in namespace "{namespace}"' if namespace else "")
