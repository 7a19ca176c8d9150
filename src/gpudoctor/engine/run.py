"""Executes a runbook: asks what must be asked, concurrently where nothing depends, and keeps the order written for everything shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from functools import partial

from gpudoctor.derive import DERIVATIONS, run_derivation
from gpudoctor.engine.ask import LATEST, NEVER, Answers, Question, questions
from gpudoctor.engine.evaluate import Inputs, evaluate
from gpudoctor.engine.fleet import BEYOND, FANOUT, Ask, Fleet
from gpudoctor.engine.plan import FOUND, Planned, plan
from gpudoctor.engine.rounds import Rounds, samples, step_duration
from gpudoctor.engine.steps import CONSENT, UNWANTED, Chosen, Guide, NotThere, Run, StepRun, Trouble, further, obstacles
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact
from gpudoctor.probes.base import Probe
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import Types, Unsure, Values, compile_expression, input_types, input_values
from gpudoctor.runbook.model import Library, Runbook, Step
from gpudoctor.threads import start_thread
from gpudoctor.tools.parser import mistake

Form = tuple[str, tuple[str, ...], tuple[str, ...], str, str]  # host, argv, argv of the other way, effect, samples


class Engine:
    """One execution. `on_step` is called with a step and all steps as it ends, in the order written, `on_hosts` with how many hosts of how
    many have ended; `pause` waits between samples. Steps that disturb running work run with `consent` only.

    With a `guide` the steps are taken one at a time, in the order written, and it decides what each of them asks.

    `recorded` is for a probe that answers at once, from a bundle: then nothing needs a thread, or a pause.
    """

    def __init__(
        self,
        library: Library,
        probe: Probe,
        *,
        timeout: float = 120.0,
        beyond: float = BEYOND,
        fanout: int = FANOUT,
        consent: bool = False,
        pause: Callable[[float], None] = time.sleep,
        recorded: bool = False,
        guide: Guide | None = None,
    ) -> None:
        self.library, self.recorded, self.consent, self.guide, self.timeout = library, recorded, consent, guide, timeout
        self.on_step: Callable[[StepRun, list[StepRun]], None] | None = None
        self.on_hosts: Callable[[int, int], None] | None = None
        self.store = Store()
        self.answers = Answers(probe, self.store, time.monotonic() + timeout, self.readers)
        self.fleet = Fleet(self.answers, self.stop, fanout=fanout, beyond=beyond, recorded=recorded)
        self.changed = threading.Condition()
        pausing = guide.pause if guide else (lambda seconds: None) if recorded else pause
        self.rounds = Rounds(self.answers, self.fleet, self.changed, self.stop, self.spawn, pausing)
        self.stopped: BaseException | None = None
        self.alike: dict[Form, list[StepRun]] = {}  # steps that ask the same
        if guide:
            self.on_step = guide.step_ended
            guide.execution_begins(self)

    def stop(self, error: BaseException) -> None:
        """An error of ours, or an answer, ends the run."""
        self.stopped = self.stopped or error

    def execute(self, book: Runbook, inputs: Inputs, only: list[Planned] | None = None) -> Run:
        """Run all steps, or `only` some. Raises `NotThere`, and errors of ours; what else goes wrong in a step is that step's failure."""
        self.book, self.inputs = book, inputs
        steps = [StepRun(planned=one) for one in (plan(self.library, book, inputs) if only is None else only)]
        for step in steps if self.guide is None else ():  # what somebody pastes is another answer
            self.alike.setdefault(form(step.planned.step), []).append(step)
        self.answers.deadline += max((step_duration(step.planned, self.consent) for step in steps), default=0.0)
        started: set[int] = set()
        reported = 0
        with self.changed:
            while not all(step.done for step in steps):
                due = self.due(steps, started)
                asks: list[Ask] = []
                for step in due:
                    started.add(step.planned.order)
                    asks += self.begin(step, steps)
                if asks:
                    self.spawn(self.run_guarded, partial(self.fleet.ask, asks, self.on_hosts))
                if not any(step.done for step in due):
                    self.changed.wait(timeout=0.5)
                if isinstance(self.stopped, NotThere):
                    self.stopped.run = Run(book=book, inputs=inputs, store=self.store, steps=steps)
                if self.stopped:
                    raise self.stopped
                if time.monotonic() > self.answers.deadline + LATEST:
                    self.leave_behind(steps, started)
                while reported < len(steps) and steps[reported].done:
                    if self.on_step:
                        self.on_step(steps[reported], steps)
                    reported += 1
            if self.guide:
                self.guide.execution_ended(steps)
        return Run(book=book, inputs=inputs, store=self.store, steps=steps)

    def readers(self, step: Step) -> set[str]:
        """The parsers of the steps that have not ended and ask what a step asks."""
        return {other.planned.step.parse for other in self.alike.get(form(step), ()) if not other.done} - {step.parse}

    def due(self, steps: list[StepRun], started: set[int]) -> list[StepRun]:
        """The steps that wait for nothing any more; with a guide the next one, when those before it have ended."""
        waiting = [step for step in steps if step.planned.order not in started]
        if self.guide:
            return waiting[:1] if sum(step.done for step in steps) == len(started) else []
        return [step for step in waiting if all(steps[other].done for other in step.planned.waits_for)]

    def leave_behind(self, steps: list[StepRun], started: set[int]) -> None:
        """End without the steps that are still busy: a probe hangs and can't be interrupted. What it may still bring is not taken. A run
        that somebody guides goes on with the next step.
        """
        if self.guide is None:
            self.store.close()
        for number, step in enumerate(steps):
            if not step.done and (self.guide is None or number in started):
                failures = [Trouble(f"step {step.planned.name}", NEVER)]
                steps[number] = StepRun(planned=step.planned, commands=list(step.commands), failures=failures, done=True)

    def begin(self, step: StepRun, steps: list[StepRun]) -> list[Ask]:
        """Decide whether to ask; returns what to ask of hosts. Only commands are worth a thread; everything else is done at once."""
        kind = step.planned.step
        try:
            if not self.gates_open(step.planned, steps):
                step.note = UNWANTED
            elif kind.run:
                chosen = self.chosen(step, self.todo(step, steps), steps)
                todo = chosen.todo
                if kind.effect and not chosen.consent:
                    step.undecided, step.withheld = CONSENT if todo else step.undecided, [question.command for question in todo]
                elif todo and kind.sample and not chosen.once:
                    self.spawn(self.run_guarded, partial(self.rounds.ask_samples, step, todo, self.on_hosts))
                    return []
                elif todo and kind.host:
                    return self.rounds.ready(step, todo)
                elif todo:
                    self.spawn(self.run_guarded, partial(self.rounds.here, self.rounds.ready(step, todo)))
                    return []
            elif kind.derive:
                self.derive(step, steps)
            else:
                step.asked = True
        except Unsure as why:
            step.undecided = str(why)
        except BaseException as error:
            self.stop(error)
        step.done = True
        return []

    def chosen(self, step: StepRun, todo: list[Question], steps: list[StepRun]) -> Chosen:
        """What of a step's questions is asked: all of them, unless somebody guides. Their time to think is not the run's."""
        if self.guide is None or not todo:
            return Chosen(todo=todo, consent=self.consent)
        chosen = self.guide.decide(step, todo, steps)
        self.answers.deadline = time.monotonic() + self.timeout + step_duration(step.planned, chosen.consent)
        step.commands += [question.command for question, _ in chosen.declined]
        step.failures += [Trouble(question.command.shown, why, question.command.host) for question, why in chosen.declined]
        return chosen

    def spawn(self, task: Callable[..., None], *arguments: object) -> threading.Thread | None:
        """Do something in a thread of its own, which may be left behind; at once where nothing can hang."""
        if self.recorded:
            task(*arguments)
            return None
        return start_thread(partial(task, *arguments))

    def run_guarded(self, task: Callable[[], None]) -> None:
        """Something in its thread: an error of ours stops the run, and never leaves it waiting."""
        try:
            task()
        except BaseException as error:
            self.stop(error)
        finally:
            with self.changed:
                self.changed.notify_all()

    def gates_open(self, planned: Planned, steps: list[StepRun]) -> bool:
        """Whether every `when` above the step holds. A steering check that is itself unknown makes the step undecided."""
        for gate in planned.gates:
            types = input_types(gate.book.inputs)
            values = input_values(gate.inputs)
            undecided: list[str] = []
            wanted = FOUND.findall(gate.when)
            for earlier in steps[: planned.order]:
                for check in earlier.planned.step.checks:
                    if check.id in wanted and gate.steered_by(earlier.planned):
                        types[f"found.{check.id}"] = bool
                        answer = evaluate(gate.book, check, gate.inputs, self.store, planned.order)
                        why = [] if answer.hits else [*obstacles(earlier, check, steps[: planned.order]), *answer.unsure]
                        values[f"found.{check.id}"] = None if why else bool(answer.hits)
                        undecided += why
            try:
                if not compile_expression(gate.when, types).holds(values):
                    return False
            except Unsure as error:
                raise Unsure("; ".join([str(error), *dict.fromkeys(undecided)][:3])) from None
        return True

    def derive(self, step: StepRun, steps: list[StepRun]) -> None:
        """A measurement over the facts read so far. What could not be read makes the checks that find nothing unknown."""
        planned = step.planned
        step.asked = True
        derivation = DERIVATIONS[planned.step.derive]
        step.failures += self.wanting(derivation.needs, planned, steps)
        kinds = [kind for kind in (*derivation.needs, *derivation.beside) if self.store.has(kind, planned.order)]
        read = {kind: self.store.records(kind, planned.order) for kind in kinds}
        try:
            facts = run_derivation(planned.step.derive, read, planned.inputs, newest_time(read))
        except Exception as error:  # of ours: the rest of the run goes on
            step.failures.append(Trouble(f"step {planned.name}", mistake(planned.step.derive, "the facts", error)))
            return
        for target in facts.get("targets", ()):
            if not getattr(target, "found", True):
                raise NotThere(missing_target(target), list(getattr(target, "close", [])))
        if not facts:
            step.failures += self.wanting(derivation.beside, planned, steps)
        self.store.put(planned.order, facts)

    def wanting(self, kinds: Iterable[str], planned: Planned, steps: list[StepRun]) -> list[Trouble]:
        """What a measurement needs and could not be read."""
        unread = [kind for kind in kinds if self.not_read(kind, planned, steps)]
        return [Trouble(f"step {planned.name}", f"needs {kind}, which could not be read") for kind in unread]

    def not_read(self, kind: str, planned: Planned, steps: list[StepRun]) -> bool:
        """Whether a fact type is missing because an earlier step that fills it got no answer; one that nobody asked for isn't, and no step
        waits for what an optional list would have added.
        """
        fillers = (other for other in steps[: planned.order] if kind in other.planned.fills and not further(other.planned.step))
        return not self.store.has(kind, planned.order) and any(other.failures or other.undecided for other in fillers)

    def todo(self, step: StepRun, steps: list[StepRun]) -> list[Question]:
        """The commands of a step: one, or one for each record; at most as many different ones as its limit says."""
        planned, spec = step.planned, step.planned.step
        types = scope.step_types(planned.book, spec)
        given = input_values(planned.inputs)
        todo: list[Question] = []
        for question in questions(spec, self.each(step, steps, types, given), types, given):
            if isinstance(question, Question):
                todo.append(question)
            elif len(step.failures) < spec.limit:
                step.failures.append(Trouble(f"step {planned.name}", question))
        if len(todo) > spec.limit:
            what = f"{len(todo) - spec.limit} more of {len(todo)} in step {planned.name}"
            step.failures.append(Trouble(what, f"asked for {spec.limit} only"))
            del todo[spec.limit :]
        step.asked = bool(todo) or spec.each is None
        try:
            samples(planned)
        except ValueError as why:
            step.failures.append(Trouble(f"step {planned.name}", f"sample.span: {why}"))
            return []
        return todo

    def each(self, step: StepRun, steps: list[StepRun], types: Types, given: Inputs) -> list[Fact | None]:
        """The records that the step asks about; [None] for a step without `each`."""
        planned = step.planned
        spec = planned.step
        if spec.each is None:
            return [None]
        wanted: list[Fact | None] = []
        for record in self.store.records(spec.each.type, planned.order):
            try:
                if not spec.where or compile_expression(spec.where, types).holds(Values(given, {spec.each.name: record})):
                    wanted.append(record)
            except Unsure as why:
                step.failures.append(Trouble(f"step {planned.name}", str(why)))
        if not wanted and self.not_read(spec.each.type, planned, steps):
            step.undecided = f"needs {spec.each.type}, which could not be read"
        return wanted


def form(step: Step) -> Form:
    """What steps have in common that ask the same, of whatever records."""
    return (step.host, tuple(step.run), tuple(step.otherwise), step.effect, str(step.sample))


def newest_time(facts: dict[str, list[Fact]]) -> float:
    """The newest time that a fact carries; derivations need no clock of their own."""
    return max((fact.time for many in facts.values() for fact in many if fact.time is not None), default=0.0)


def missing_target(target: Fact) -> str:
    """`pod "trian-0" in namespace "ml"`, `a node with the labels "typo=x"`."""
    name, namespace, kind, selector = (str(getattr(target, field, "")) for field in ("name", "namespace", "kind", "selector"))
    what = f'{kind} "{name}"' if name else f'a {kind} with the labels "{selector}"' if selector else "a pod that should use a GPU"
    return what + (f' in namespace "{namespace}"' if namespace else "")
