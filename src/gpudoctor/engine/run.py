"""Executes a runbook: asks what must be asked, concurrently where nothing depends, and keeps the order written for everything shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec

from gpudoctor.derive import DERIVATIONS
from gpudoctor.derive import load as load_derivation
from gpudoctor.engine.ask import Answers, Question, questions
from gpudoctor.engine.evaluate import Inputs, evaluate
from gpudoctor.engine.plan import FOUND, Planned, plan
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import Types, Unsure, Values, compiled, input_types, input_values
from gpudoctor.runbook.model import Check, Library, Runbook

FANOUT = 8  # commands of one step at a time; kubectl's own client allows bursts of 10
GRACE = 2.0  # seconds after the time of the whole run for probes to keep their own time-outs; what is still busy then is left behind


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
        self.run: Run | None = None  # as far as it came


class Engine:
    """One execution. `on_step` is called with a step and all steps as it ends, in the order written; `pause` waits between samples.

    `recorded` is for a probe that answers at once, from a bundle: then nothing needs a thread, or a pause.
    """

    def __init__(
        self,
        library: Library,
        probe: Probe,
        *,
        timeout: float = 120.0,
        pause: Callable[[float], None] = time.sleep,
        recorded: bool = False,
    ) -> None:
        self.library, self.recorded = library, recorded
        self.pause = (lambda seconds: None) if recorded else pause
        self.on_step: Callable[[StepRun, list[StepRun]], None] | None = None
        self.deadline = time.monotonic() + timeout
        self.store = Store()
        self.answers = Answers(probe, self.store, self.deadline)
        self.changed = threading.Condition()
        self.stopped: BaseException | None = None

    def execute(self, book: Runbook, inputs: Inputs) -> Run:
        """Run all steps. Raises `NotThere`, and errors of ours; whatever else goes wrong in a step is that step's failure."""
        steps = [StepRun(planned=one) for one in plan(self.library, book, inputs)]
        started: set[int] = set()
        reported = 0
        with self.changed:
            while not all(step.done for step in steps):
                due = [s for s in steps if s.planned.order not in started and all(steps[other].done for other in s.planned.waits_for)]
                for step in due:
                    started.add(step.planned.order)
                    self.begin(step, steps)
                if not any(step.done for step in due):
                    self.changed.wait(timeout=0.5)
                if isinstance(self.stopped, NotThere):
                    self.stopped.run = Run(book=book, inputs=inputs, store=self.store, steps=steps)
                if self.stopped:
                    raise self.stopped
                if time.monotonic() > self.deadline + GRACE:
                    self.leave_behind(steps)
                while reported < len(steps) and steps[reported].done:
                    if self.on_step:
                        self.on_step(steps[reported], steps)
                    reported += 1
        return Run(book=book, inputs=inputs, store=self.store, steps=steps)

    def leave_behind(self, steps: list[StepRun]) -> None:
        """End without the steps that are still busy: a probe hangs and can't be interrupted. What it may still bring is not taken."""
        self.store.close()
        why = "no answer in the time of the whole run (see --timeout)"
        for number, step in enumerate(steps):
            if not step.done:
                failures = [(f"step {step.planned.name}", why)]
                steps[number] = StepRun(planned=step.planned, commands=list(step.commands), failures=failures, done=True)

    def begin(self, step: StepRun, steps: list[StepRun]) -> None:
        """Decide whether to ask. Only commands are worth a thread; everything else is done at once."""
        kind = step.planned.step
        try:
            if not self.gates_open(step.planned, steps):
                step.note = "not needed"
            elif kind.run:
                self.spawn(self.guarded, step, steps)
                return
            elif kind.derive:
                self.derive(step, steps)
            else:
                step.asked = True
        except Unsure as why:
            step.undecided = str(why)
        except BaseException as error:
            self.stopped = self.stopped or error
        step.done = True

    def spawn(self, task: Callable[..., None], *arguments: object) -> threading.Thread | None:
        """Do something in a thread of its own, which may be left behind; at once where nothing can hang."""
        if self.recorded:
            task(*arguments)
            return None
        thread = threading.Thread(target=task, args=arguments, daemon=True)
        thread.start()
        return thread

    def guarded(self, step: StepRun, steps: list[StepRun]) -> None:
        """A step in its thread: an error of ours stops the run, and never leaves it waiting."""
        try:
            self.ask(step, steps)
        except BaseException as error:
            self.stopped = self.stopped or error
        finally:
            with self.changed:
                step.done = True
                self.changed.notify_all()

    def gates_open(self, planned: Planned, steps: list[StepRun]) -> bool:
        """Whether every `when` above the step holds. A steering check that is itself unknown makes the step undecided."""
        for gate in planned.gates:
            types = input_types(gate.book.inputs)
            values = input_values(gate.inputs)
            undecided: list[str] = []
            wanted = FOUND.findall(gate.when)
            for earlier in steps[: planned.order]:
                for check in earlier.planned.step.checks if earlier.planned.book.id == gate.book.id else ():
                    types[f"found.{check.id}"] = bool
                    if check.id in wanted:
                        answer = evaluate(gate.book, check, gate.inputs, self.store, planned.order)
                        why = [] if answer.hits else [*obstacles(earlier, check, steps[: planned.order]), *answer.unsure]
                        values[f"found.{check.id}"] = None if why else bool(answer.hits)
                        undecided += why
            try:
                if not compiled(gate.when, types).holds(values):
                    return False
            except Unsure as error:
                raise Unsure("; ".join([str(error), *dict.fromkeys(undecided)][:3])) from None
        return True

    def derive(self, step: StepRun, steps: list[StepRun]) -> None:
        """A measurement over the facts read so far. What could not be read makes the checks that find nothing unknown."""
        planned = step.planned
        step.asked = True
        derivation = DERIVATIONS[planned.step.derive]
        failed = [f"needs {kind}, which could not be read" for kind in derivation.needs if self.not_read(kind, planned, steps)]
        step.failures += [(f"step {planned.name}", why) for why in failed]
        kinds = [kind for kind in (*derivation.needs, *derivation.beside) if self.store.has(kind, planned.order)]
        read = {kind: self.store.records(kind, planned.order) for kind in kinds}
        facts = load_derivation(planned.step.derive)(read, planned.inputs, now(read))
        for target in facts.get("targets", ()):
            if not getattr(target, "found", True):
                raise NotThere(missing(target), list(getattr(target, "close", [])))
        self.store.put(planned.order, facts)

    def not_read(self, kind: str, planned: Planned, steps: list[StepRun]) -> bool:
        """Whether a fact type is missing because an earlier step that fills it got no answer; one that nobody asked for isn't."""
        fillers = (other for other in steps[: planned.order] if kind in other.planned.fills)
        return not self.store.has(kind, planned.order) and any(other.failures or other.undecided for other in fillers)

    def ask(self, step: StepRun, steps: list[StepRun]) -> None:
        """Run the step's command, or one for each record; a step that samples does so several times."""
        planned, spec = step.planned, step.planned.step
        types = scope.step_types(planned.book, spec)
        given = input_values(planned.inputs)
        todo: list[Question] = []
        for question in questions(spec, self.each(step, steps, types, given), types, given):
            if isinstance(question, Question):
                todo.append(question)
            else:
                step.failures.append((f"step {planned.name}", question))
        step.asked = bool(todo) or spec.each is None
        self.ask_all(step, todo)
        for sample in range(1, spec.sample.times if spec.sample else 1):
            self.pause(max(0.0, min(spec.sample.every if spec.sample else 0.0, self.deadline - time.monotonic())))
            self.ask_all(step, [question.again(sample, sample * len(todo)) for question in todo])

    def ask_all(self, step: StepRun, todo: list[Question]) -> None:
        """Ask some commands, a few at a time, and note in their order what came of them."""
        step.commands = [*step.commands, *(question.command for question in todo)]
        results: list[tuple[Output, str] | None] = [None] * len(todo)
        gate = threading.Semaphore(FANOUT)

        def one(number: int) -> None:
            with gate:
                try:
                    results[number] = self.answers(step.planned.step, step.planned.order, todo[number])
                except BaseException as error:
                    self.stopped = self.stopped or error

        threads = [self.spawn(one, number) for number in range(1, len(todo))]
        if todo:
            one(0)
        for thread in threads:
            if thread is not None:
                thread.join()
        for question, result in zip(todo, results, strict=True):
            output, problem = result or (Output(question.command), "")
            step.seconds = max(step.seconds, output.seconds)
            if problem:
                host = question.command.host
                step.failures.append((f"{host}: {question.command.shown}" if host else question.command.shown, problem))
            else:
                step.answered += 1

    def each(self, step: StepRun, steps: list[StepRun], types: Types, given: Inputs) -> list[Fact | None]:
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
        if not wanted and self.not_read(spec.each.type, planned, steps):
            step.undecided = f"needs {spec.each.type}, which could not be read"
        if len(wanted) > spec.limit:
            step.failures.append(
                (f"{len(wanted) - spec.limit} more of {len(wanted)} in step {planned.name}", f"asked for {spec.limit} only")
            )
        return wanted[: spec.limit]


def obstacles(step: StepRun, check: Check, steps: list[StepRun]) -> list[str]:
    """Why a check that finds nothing can't be called clear: its step could not be asked, or for a step that asks nothing itself,
    what fills the check's fact type could not.
    """
    own = step.planned.step
    concerned = [step]
    if not own.run and not own.derive and check.each:
        concerned += [other for other in steps if other.planned.order < step.planned.order and check.each.type in other.planned.fills]
    return list(dict.fromkeys(why for one in concerned for why in [one.undecided, *(reason for _, reason in one.failures)] if why))


def now(facts: dict[str, list[Fact]]) -> float:
    """The newest time that a fact carries; derivations need no clock of their own."""
    return max((fact.time for many in facts.values() for fact in many if fact.time is not None), default=0.0)


def missing(target: Fact) -> str:
    """`pod "trian-0" in namespace "ml"`."""
    name, namespace, kind = (str(getattr(target, field, "")) for field in ("name", "namespace", "kind"))
    what = f'{kind} "{name}"' if name else "a pod that should use a GPU"
    return what + (f' in namespace "{namespace}"' if namespace else "")
