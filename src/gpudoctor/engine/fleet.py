"""Many hosts at once: all commands for a host in one round trip, so many hosts at a time, and none that hangs holds the others."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from gpudoctor.engine.ask import NEVER, Answers, Asked, Question
from gpudoctor.engine.reading import Reading, failed_reading, is_worth_another_way, read_answer, second
from gpudoctor.probes.base import GRACE, START, Command, Output, Probe, one_by_one
from gpudoctor.runbook.model import Step
from gpudoctor.threads import start_thread

FANOUT = 32  # hosts at a time
BEYOND = START + GRACE  # seconds that a host has beside the time of its longest command


class Ask(msgspec.Struct, eq=False):
    """A question of a step on its way; `arrived` is told once what became of it."""

    step: Step
    order: int
    question: Question
    arrived: Callable[[Reading], None]
    asked: Asked | None = None
    mine: bool = False
    reading: Reading | None = None

    def tell(self, reading: Reading) -> None:
        """What became of it."""
        self.reading = reading
        self.arrived(reading)


Wanted = tuple[Ask, Asked, Command, list[str]]  # a command to ask, and the parsers that read its answer


class Visit(msgspec.Struct, eq=False):
    """One host that is being asked. `over` when it has ended or nobody waits for it any longer (`ended` is called then), `told` when its
    questions know; `ends` is in monotonic seconds.
    """

    host: str
    asks: list[Ask]
    ends: float
    seconds: float  # that it has
    ended: Callable[[], None]
    over: bool = False
    told: bool = False


class Fleet:
    """Asks hosts. `stop` is told of an error of ours; `recorded` is for answers from a bundle, which need no threads."""

    def __init__(
        self,
        answers: Answers,
        stop: Callable[[BaseException], None],
        *,
        fanout: int = FANOUT,
        beyond: float = BEYOND,
        recorded: bool = False,
    ) -> None:
        self.answers, self.stop, self.recorded = answers, stop, recorded
        self.fanout, self.beyond = max(1, fanout), beyond
        self.changed = threading.Condition()
        self.busy = 0

    def ask(self, asks: Sequence[Ask], progress: Callable[[int, int], None] | None = None) -> None:
        """Ask all questions, each host once; returns when each has arrived."""
        groups: dict[str, list[Ask]] = {}
        for ask in asks:
            groups.setdefault(ask.question.command.host, []).append(ask)
        numbers = itertools.count(1)

        def ended() -> None:
            if progress:
                progress(next(numbers), len(groups))

        if self.recorded:
            for host, own in groups.items():
                self.busy += 1
                self.visit(Visit(host, own, 0.0, 0.0, ended))
            return
        waiting = deque(groups.items())
        running: list[Visit] = []
        with self.changed:
            while waiting or running:
                while waiting and self.busy < self.fanout:
                    host, own = waiting.popleft()
                    lasts = max(ask.question.command.timeout for ask in own) + self.beyond
                    ends = min(time.monotonic() + lasts, self.answers.deadline + GRACE + 1.0)
                    running.append(Visit(host, own, ends, lasts, ended))
                    self.busy += 1
                    start_thread(partial(self.visit, running[-1]))
                soonest = min((visit.ends for visit in running), default=time.monotonic() + 1.0)
                if not any(visit.told for visit in running):
                    self.changed.wait(max(0.0, soonest - time.monotonic()))
                for visit in running:
                    if not visit.over and visit.ends <= time.monotonic():
                        self.give_up(visit)
                running = [visit for visit in running if not visit.told]

    def visit(self, visit: Visit) -> None:
        """One host in its thread: an error of ours stops the run, and never leaves it waiting."""
        try:
            self.talk(visit)
        except BaseException as error:
            self.stop(error)
        finally:
            self.end(visit)

    def end(self, visit: Visit) -> None:
        """Tell what became of a host's questions, once, and make room for the next host."""
        with self.changed:
            if visit.over:
                return
            visit.over = True
            visit.ended()
        for ask in visit.asks:
            reading = ask.asked and ask.asked.reading
            ask.tell(reading or failed_reading(ask.question.command, f"no answer from {visit.host}", unreachable=True))
        with self.changed:
            visit.told = True
            self.busy -= 1
            self.changed.notify_all()

    def give_up(self, visit: Visit) -> None:
        """Leave a host that doesn't answer behind: what it has said counts, what it may still say doesn't."""
        why = NEVER if self.answers.deadline <= time.monotonic() else f"no answer from {visit.host} in {visit.seconds:g} s"
        for ask in visit.asks:
            if ask.asked is None:
                ask.asked, ask.mine = self.answers.claim(ask.step, ask.order, ask.question)
            if ask.mine:
                self.answers.give_up(ask.asked, failed_reading(ask.question.command, why, unreachable=True))
        self.end(visit)

    def talk(self, visit: Visit) -> None:
        """Ask a host what nobody has asked it before, then what its first answers make necessary; last take what others have asked."""
        for ask in visit.asks:
            if ask.asked is None:
                ask.asked, ask.mine = self.answers.claim(ask.step, ask.order, ask.question)
        mine = [(ask, ask.asked) for ask in visit.asks if ask.mine and ask.asked]
        firsts: dict[Asked, dict[str, Reading]] = {asked: {} for _, asked in mine}
        for ask, asked, parser, reading in self.round_trip([(ask, asked, ask.question.command, [*asked.readers]) for ask, asked in mine]):
            if ask.question.otherwise and is_worth_another_way(reading):
                firsts[asked][parser] = reading
            else:
                self.answers.settle(asked.readers[parser], reading)
        again = [(ask, asked, ask.question.otherwise, [*firsts[asked]]) for ask, asked in mine if ask.question.otherwise and firsts[asked]]
        for _, asked, parser, reading in self.round_trip(again):
            self.answers.settle(asked.readers[parser], second(firsts[asked][parser], reading))
        for ask in visit.asks:
            if ask.asked:
                self.answers.shared_reading(ask.step, ask.order, ask.question, ask.asked)

    def round_trip(self, todo: Sequence[Wanted]) -> Iterator[tuple[Ask, Asked, str, Reading]]:
        """Ask one host several commands, equal ones once; what each parser reads in each answer, as it comes."""
        waiting: dict[object, list[Wanted]] = {}
        commands: list[Command] = []
        for ask, asked, command, parsers in todo:
            if why := self.answers.refusal(ask.step, command):
                yield from ((ask, asked, parser, failed_reading(command, why)) for parser in parsers)
                continue
            if key_of(command) not in waiting:
                commands.append(self.answers.limit_time(command))
            waiting.setdefault(key_of(command), []).append((ask, asked, command, parsers))
        for output in all_answers(self.answers.probe, commands):
            for ask, asked, _, parsers in waiting[key_of(output.command)]:
                yield from ((ask, asked, parser, read_answer(parser, output, asked.about)) for parser in parsers)


def key_of(command: Command) -> tuple[str, tuple[str, ...], int]:
    """What an answer is known by."""
    return (command.host, command.argv, command.sample)


def all_answers(probe: Probe, commands: list[Command]) -> Iterator[Output]:
    """One answer to each command, whatever the probe does. What goes wrong with one host never costs the others."""
    waiting = {key_of(command): command for command in commands}
    why = "no answer came back"
    if not commands:
        return
    try:
        for output in getattr(probe, "many", partial(one_by_one, probe))(commands):
            if waiting.pop(key_of(output.command), None) is not None:
                yield output
    except Exception as error:
        why = f"an error in gpudoctor: {type(error).__name__}: {error}"[:500]
    for command in waiting.values():
        yield Output(command, failure="broken", reason=why)
