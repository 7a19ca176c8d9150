"""How the questions of one step are asked: here, a few at a time, or of hosts; once, or again and again for samples."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from gpudoctor.engine.ask import NEVER, Answers, Question, seconds
from gpudoctor.engine.fleet import Ask, Fleet
from gpudoctor.engine.plan import Planned
from gpudoctor.engine.reading import Reading, failed_reading
from gpudoctor.engine.steps import StepRun, count
from gpudoctor.runbook.conditions import Unsure, input_types, input_values

AT_ONCE = 8  # commands of one step at a time that don't go to a host; kubectl's own client allows bursts of 10
SAMPLES = 600  # at most

Spawn = Callable[..., threading.Thread | None]


class Rounds:
    """Asks rounds of questions. `changed` is notified when a step ends; `spawn` does something in a thread, `pause` waits."""

    def __init__(
        self,
        answers: Answers,
        fleet: Fleet,
        changed: threading.Condition,
        stop: Callable[[BaseException], None],
        spawn: Spawn,
        pause: Callable[[float], None],
    ) -> None:
        self.answers, self.fleet, self.changed = answers, fleet, changed
        self.stop, self.spawn, self.pause = stop, spawn, pause

    def ready(self, step: StepRun, todo: list[Question], *, step_ends: bool = True) -> list[Ask]:
        """Some questions of a step made ready: as the last of them has arrived, the step learns what came of all, and may end."""
        step.commands += [question.command for question in todo]
        readings: list[Reading | None] = [None] * len(todo)
        missing = len(todo)

        def arrived(number: int, reading: Reading) -> None:
            nonlocal missing
            with self.changed:
                readings[number] = reading
                missing -= 1
                if missing == 0:
                    count(step, todo, readings)
                    if step_ends:
                        step.done = True
                        self.changed.notify_all()

        spec, order = step.planned.step, step.planned.order
        return [Ask(spec, order, question, partial(arrived, number)) for number, question in enumerate(todo)]

    def here(self, asks: list[Ask]) -> None:
        """Ask what goes to no host, a few at a time."""
        gate = threading.Semaphore(AT_ONCE)

        def one(ask: Ask) -> None:
            reading = failed_reading(ask.question.command, NEVER)
            try:
                with gate:
                    reading = self.answers(ask.step, ask.order, ask.question)
            except BaseException as error:
                self.stop(error)
            ask.tell(reading)

        threads = [self.spawn(one, ask) for ask in asks[1:]]
        one(asks[0])
        for thread in threads:
            if thread is not None:
                thread.join()

    def ask_samples(self, step: StepRun, todo: list[Question], progress: Callable[[int, int], None] | None) -> None:
        """Ask the same several times, with a pause from start to start; what doesn't answer once is not asked again."""
        spec, size = step.planned.step, len(todo)
        every = spec.sample.every if spec.sample else 0.0
        started = time.monotonic()
        for sample in range(samples(step.planned)):
            if sample:
                self.pause(max(0.0, min(started + every, self.answers.deadline) - time.monotonic()))
                started = time.monotonic()
                todo = [question.again(sample, sample * size + question.number % size) for question in todo]
            asks = self.ready(step, todo, step_ends=False)
            if spec.host:
                self.fleet.ask(asks, None if sample else progress)
            else:
                self.here(asks)
            todo = [ask.question for ask in asks if ask.reading and not ask.reading.output.failure]
            if not todo:
                break
        with self.changed:
            step.done = True
            self.changed.notify_all()


def step_duration(planned: Planned, consent: bool) -> float:
    """The seconds that a step takes by its nature, beside its time-out: as long as it samples, or a command measures or tests."""
    step = planned.step
    types, values = input_types(planned.book.inputs), input_values(planned.inputs)
    try:
        span = seconds(step.sample.span, types, values) if step.sample else 0.0
        return max(span, seconds(step.lasts, types, values), step.timeout if step.effect and consent else 0.0)
    except (Unsure, ValueError):  # said when the step is asked
        return 0.0


def samples(planned: Planned) -> int:
    """How often a step asks. Raises ValueError for a span that isn't a number of seconds."""
    sample = planned.step.sample
    if sample is None or not sample.span:
        return sample.times if sample else 1
    span = seconds(sample.span, input_types(planned.book.inputs), input_values(planned.inputs))
    return max(2, min(SAMPLES, int(span / sample.every) + 1 if sample.every > 0 else SAMPLES))
