"""Many commands in one round trip: a script goes to `sh -s` on a host, its answers come back through a wire (ssh, or exec in a pod).

What comes back is cut into answers by marks, see frames.py. Everything outside of the frames is noise: a banner, what a profile prints, the
last words of a program that outlived its time limit.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence

from gpudoctor.probes.base import GRACE, START, Command, Failure, Output, time_limit_text
from gpudoctor.probes.frames import Cutter
from gpudoctor.probes.remote import NoWay, Wire, group, last_line, not_asked, script, with_failure

LIMIT = 64 << 20  # bytes of one answer
TRIPS = 4  # round trips that may end early before the rest isn't asked any more
BESIDE = 4  # round trips to a host at a time
SLOW = 5.0  # seconds after which a command may hang; a sound nvidia-smi that has to start the GPUs takes longer and costs a login
TURN = 0.1  # seconds for one of several round trips to be looked at
NOISE = 1000  # bytes

Open = Callable[[bytes, float], Wire]  # the script, and the seconds that it may take; raises NoWay


def ask(host: str, commands: Sequence[Command], connect: Open, start: float = START) -> Iterator[Output]:
    """The answers of commands on one host, each as it comes. Raises NoWay when no shell has answered within `start` seconds; what was
    yielded holds.

    A command that takes long is overtaken: what doesn't hang together with it is asked in another round trip meanwhile, so that one that
    hangs takes no time of the others. What hangs in the kernel ends its round trip, and is named.
    """
    rest, early, beside = list(commands), 0, BESIDE
    trips: dict[_Trip, Iterator[Output | None]] = {}
    try:
        while rest or trips:
            if rest and len(trips) < beside and early < TRIPS:
                trip = _Trip(host, rest, connect, start)
                trips[trip], rest = trip.answers(), []
            elif not trips:
                break
            for trip, answers in tuple(trips.items()):
                trip.turn = TURN if len(trips) > 1 else SLOW
                try:
                    output = next(answers)
                except NoWay:
                    if len(trips) == 1:
                        raise
                    beside = 1  # it lets nobody in beside the others
                except StopIteration:
                    early += bool(trip.rest()) and not trip.overtaken
                else:
                    if output:
                        yield output
                    elif trip.slow() and len(trips) < beside:
                        rest += trip.handed_over()
                    continue
                del trips[trip]
                rest += trip.rest()
    finally:
        for answers in trips.values():
            answers.close()  # type: ignore[attr-defined]  # a generator
    for command in rest:
        yield Output(command, exit=1, failure="unreachable", reason=f"not asked: {TRIPS} round trips to {host} ended early")


class _Answer:
    """What has come of one command."""

    def __init__(self) -> None:
        self.printed = {1: bytearray(), 2: bytearray()}
        self.begun, self.ended, self.code = 0.0, 0.0, 0
        self.closed: set[int] = set()  # the streams that have said how it ended
        self.skipped = False


class _Trip:
    """One round trip."""

    def __init__(self, host: str, commands: Sequence[Command], connect: Open, start: float) -> None:
        self.host, self.commands, self.connect, self.start = host, commands, connect, start
        self.cutters: dict[int, Cutter] = {}
        self.at: dict[int, int | None] = {1: None, 2: None}  # the command that each stream is in
        self.found: dict[int, _Answer] = {}
        self.said: set[int] = set()  # commands that have been answered
        self.newest = -1  # the last command that was begun
        self.hung: dict[tuple[str, ...], float] = {}  # seconds that a group was waited for in vain
        self.overtaken = False  # the rest was handed over: it ends with the newest
        self.turn = SLOW  # seconds until somebody else wants to look
        self.hello: tuple[float, float] | None = None  # the host's uptime and clock
        self.byes: set[int] = set()
        self.noise = b""  # what was printed before the shell ran
        self.since, self.patience = time.monotonic(), 0.0

    def answers(self) -> Iterator[Output | None]:
        """The answers as they come, None now and then. Raises NoWay."""
        token = secrets.token_hex(16)
        self.cutters = {stream: Cutter(token) for stream in (1, 2)}
        longest = max(command.timeout for command in self.commands)
        wire = self.connect(script(token, self.commands), START + sum(command.timeout + GRACE for command in self.commands))
        self.wait(min(self.start, longest))
        try:
            while not (wire.ended or len(self.byes) == 2):
                for stream, chunk in wire.read(max(0.0, min(self.turn, self.since + self.patience - time.monotonic()))):
                    for number in self.take(stream, chunk):
                        yield self.output(number)
                if self.overtaken and self.newest in self.said:
                    yield from self.not_asked()
                    break
                if self.must_stop():
                    break
                yield None
            if self.hello is None:
                raise self.unheard(wire)
            if self.newest >= 0 and self.newest not in self.said:
                yield from self.interrupted_answers(wire)
        finally:
            wire.close()

    def unheard(self, wire: Wire) -> NoWay:
        """Why no shell has answered: what the wire says, else the last that was printed (`This account is currently not available.`)."""
        if not wire.ended:
            return NoWay("timeout", f"{self.host} did not answer within {time_limit_text(self.patience)}")
        no = wire.why()
        words = last_line((self.noise + self.cutters[1].held).decode("utf-8", "replace"))
        return NoWay(no.failure, f"{no.reason}: {words}") if words and no.failure == "broken" else no

    def rest(self) -> list[Command]:
        """What is still to be asked."""
        return [command for number, command in enumerate(self.commands) if number not in self.said]

    def slow(self) -> bool:
        """Whether the newest command has been running for long."""
        return self.newest >= 0 and self.newest not in self.said and time.monotonic() - self.since >= SLOW

    def handed_over(self) -> list[Command]:
        """What need not wait for the newest command: from now on somebody else asks it."""
        slow = group(self.commands[self.newest])
        others = [number for number, command in enumerate(self.commands) if number not in self.said and group(command) != slow]
        self.overtaken = self.overtaken or bool(others)
        self.said.update(others)
        return [self.commands[number] for number in others]

    def not_asked(self) -> Iterator[Output]:
        """The answers of commands that hang together with one that has hung."""
        for number, command in enumerate(self.commands):
            if number not in self.said and group(command) in self.hung:
                self.said.add(number)
                yield not_asked(command, self.hung[group(command)])

    def wait(self, patience: float) -> None:
        """Be patient anew."""
        self.since, self.patience = time.monotonic(), patience

    def take(self, stream: int, chunk: bytes) -> Iterator[int]:
        """Sort in what has come; → the commands that it completes."""
        for piece in self.cutters[stream].feed(chunk):
            number = self.at[stream]
            if isinstance(piece, re.Match):
                yield from self.take_mark(stream, piece)
            elif number is not None:
                kept = self.found[number].printed[stream]
                kept += piece[: LIMIT + 1 - len(kept)]
            elif self.hello is None and stream == 1:
                self.noise = (self.noise + piece)[-NOISE:]

    def take_mark(self, stream: int, mark: re.Match[bytes]) -> Iterator[int]:
        """Take one mark of one stream; → the command that it completes."""
        kind, number, up = mark["kind"], int(mark["number"] or 0), float(mark["up"])
        self.at[stream] = None
        if kind == b"hello":
            self.hello = (up, float(number))
            if self.newest < 0:  # the other stream may be further
                self.wait(START)
        elif kind == b"bye":
            self.byes.add(stream)
        elif number < len(self.commands) and number not in self.said:
            answer = self.found.setdefault(number, _Answer())
            if number > self.newest:
                self.newest = number
                self.wait(self.commands[number].timeout + GRACE)
            if kind == b"begin":
                answer.begun, self.at[stream] = up, number
                return
            answer.ended, answer.code, answer.skipped = up, int(mark["code"] or 0), kind == b"skip"
            answer.closed.add(stream)
            if len(answer.closed) == 2:
                self.said.add(number)
                if number == self.newest:
                    self.wait(START)
                yield number

    def output(self, number: int) -> Output:
        """A completed answer."""
        command, answer = self.commands[number], self.found.pop(number)
        if answer.skipped:
            return not_asked(command, self.hung.get(group(command), 0.0))
        up, clock = self.hello or (0.0, 0.0)
        output = Output(
            command,
            exit=answer.code,
            pages=(bytes(answer.printed[1]),),
            stderr=bytes(answer.printed[2]),
            seconds=max(0.0, answer.ended - answer.begun),
            time=clock + answer.ended - up if clock else 0.0,
        )
        output = with_failure(output, self.host)
        if output.failure == "timeout":
            self.hung[group(command)] = output.seconds
        return output

    def must_stop(self) -> bool:
        """Whether to read no further: nothing came in time, or too much."""
        return self.too_much() or time.monotonic() - self.since >= self.patience

    def too_much(self) -> bool:
        """Whether the newest answer is larger than can be held."""
        newest = self.found.get(self.newest)
        return newest is not None and sum(map(len, newest.printed.values())) > LIMIT

    def interrupted_answers(self, wire: Wire) -> Iterator[Output]:
        """The answer of the command at which the round trip ended early, and of those that hang together with it."""
        number = self.newest
        command, answer = self.commands[number], self.found[number]
        for stream, cutter in self.cutters.items():
            if self.at[stream] == number:
                answer.printed[stream] += cutter.held  # no mark comes any more
        program = command.argv[0]
        failure: Failure
        if self.too_much():
            failure, reason = "too-large", f"{program} printed more than {LIMIT >> 20} MiB"
        elif wire.ended:
            failure, reason = "broken", f"the connection to {self.host} was lost while {program} ran: {wire.why().reason}"
        else:
            failure = "unkillable"
            reason = (
                f"{program} did not answer within {time_limit_text(command.timeout)}, could not be ended and was left behind on {self.host}"
            )
        self.said.add(number)
        pages = (bytes(answer.printed[1][:LIMIT]),)
        stderr = bytes(answer.printed[2][:LIMIT])
        seconds = time.monotonic() - self.since
        if failure == "unkillable":
            self.hung[group(command)] = seconds
        yield Output(command, exit=1, pages=pages, stderr=stderr, seconds=seconds, failure=failure, reason=reason)
        yield from self.not_asked()
