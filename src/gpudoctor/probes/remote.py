"""Many commands in one round trip: a script goes to `sh -s` on a host, its answers come back through a wire (ssh, or exec in a pod).

What comes back is cut into answers by marks, see frames.py. Everything outside of the frames is noise: a banner, what a profile prints, the
last words of a program that outlived its time limit.
"""

from __future__ import annotations

import math
import re
import secrets
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Protocol

import msgspec

from gpudoctor.probes.base import Command, Failure, Output
from gpudoctor.probes.frames import Cutter

LIMIT = 64 << 20  # bytes of one answer
START = 30.0  # seconds until a shell runs: 10 to connect, and a login on a host under load
GRACE = 4.0  # seconds after a command's own limit: one until KILL, one to die, and the way back
TRIPS = 4  # round trips that may end early before the rest isn't asked any more
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # a shell's exit codes, and those of timeout(1)
ENDED_BY_TIMEOUT = (124, 137, 143)  # timeout(1): its own code, or that of KILL and TERM
_ABSENT = ("not found", "No such file or directory")  # as a shell and timeout(1) say it of a program
READERS = (("cat",), ("tail",), ("ls",))  # one file that hangs says nothing of another

NOISE = 1000  # bytes

Printed = list[tuple[int, bytes]]  # stream (1 or 2), bytes


class NoWay(Exception):
    """No shell answered. `failure` and `reason` are those of every command; `bare` tells that somebody is there but has no `sh`.

    It is never a time-out: that one is a program's, and of some programs a finding.
    """

    def __init__(self, failure: Failure, reason: str, *, bare: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.bare = reason, bare
        self.failure: Failure = "unreachable" if failure == "timeout" else failure


class Wire(Protocol):
    """A connection to `sh -s` to which the script has been given."""

    @property
    def ended(self) -> bool:
        """Whether there is no more to read."""
        ...

    def read(self, seconds: float) -> Printed:
        """What has come, waiting for at most `seconds`."""
        ...

    def why(self) -> NoWay:
        """Why it has ended, when it has before everything was said."""
        ...

    def close(self) -> None:
        """Let go; what runs there still is left behind."""
        ...


Open = Callable[[bytes, float], Wire]  # the script, and the seconds that it may take; raises NoWay


def ask(host: str, commands: Sequence[Command], connect: Open) -> Iterator[Output]:
    """The answers of commands on one host, each as it comes. Raises NoWay when no shell has answered; what was yielded holds.

    What hangs in the kernel ends a round trip: it is named, and the commands after it are asked in another one.
    """
    rest = list(commands)
    for _ in range(TRIPS):
        trip = _Trip(host, rest, connect)
        yield from trip.answers()
        rest = trip.rest()
        if not rest:
            return
    for command in rest:
        yield Output(command, exit=1, failure="unreachable", reason=f"not asked: {TRIPS} round trips to {host} ended early")


def script(token: str, commands: Sequence[Command]) -> bytes:
    """What a shell reads: the fixed script, and a line for each command. In braces, so that half of it, cut off, runs nothing."""
    groups: dict[tuple[str, ...], int] = {}
    lines = [
        f"ask {number} {groups.setdefault(group(command), number)} {math.ceil(command.timeout)} {shlex.join(command.argv)}"
        for number, command in enumerate(commands)
    ]
    fixed = resources.files("gpudoctor.probes").joinpath("remote_script.sh").read_text(encoding="utf-8")
    return "\n".join([f"token={token}", fixed, "{", *lines, "mark bye", "exit 0", "}", ""]).encode("utf-8", "surrogateescape")


def group(command: Command) -> tuple[str, ...]:
    """What hangs together: the program, for one that only reads a file the whole command."""
    return command.argv if command.argv[:1] in READERS else command.argv[:1]


def not_asked(command: Command) -> Output:
    """The answer of a command that hangs together with one that ran into its time limit."""
    return Output(command, exit=1, failure="timeout", reason=f"not asked: {command.argv[0]} did not answer before")


def judged(output: Output, host: str) -> Output:
    """An output with the failure that its exit code stands for, if it does."""
    program, code, words = output.command.argv[0], output.exit, output.stderr.decode("utf-8", "replace")
    failure: Failure = ""
    reason = ""
    if code in ENDED_BY_TIMEOUT and output.seconds >= output.command.timeout - 0.1:
        failure, reason = "timeout", f"{program} did not answer within {output.command.timeout:.3g} s"
    elif code == NOT_FOUND and not any(output.pages) and any(sign in words for sign in _ABSENT):
        failure, reason = "not-found", f"{program}: command not found on {host}"
    elif code == NOT_EXECUTABLE and not any(output.pages):
        failure, reason = "refused", f"{program}: no permission to run it on {host}"
    return msgspec.structs.replace(output, failure=failure, reason=reason)


def last_line(text: str) -> str:
    """The last line that isn't empty, at most 200 characters of it."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:200]


class _Answer:
    """What has come of one command."""

    def __init__(self) -> None:
        self.printed = {1: bytearray(), 2: bytearray()}
        self.begun, self.ended, self.code = 0.0, 0.0, 0
        self.closed: set[int] = set()  # the streams that have said how it ended
        self.skipped = False


class _Trip:
    """One round trip."""

    def __init__(self, host: str, commands: Sequence[Command], connect: Open) -> None:
        self.host, self.commands, self.connect = host, commands, connect
        self.cutters: dict[int, Cutter] = {}
        self.at: dict[int, int | None] = {1: None, 2: None}  # the command that each stream is in
        self.found: dict[int, _Answer] = {}
        self.said: set[int] = set()  # commands that have been answered
        self.newest = -1  # the last command that was begun
        self.hello: tuple[float, float] | None = None  # the host's uptime and clock
        self.byes: set[int] = set()
        self.noise = b""  # what was printed before the shell ran
        self.since, self.patience = time.monotonic(), 0.0

    def answers(self) -> Iterator[Output]:
        """The answers as they come. Raises NoWay."""
        token = secrets.token_hex(16)
        self.cutters = {stream: Cutter(token) for stream in (1, 2)}
        longest = max(command.timeout for command in self.commands)
        wire = self.connect(script(token, self.commands), START + sum(command.timeout + GRACE for command in self.commands))
        self.wait(min(START, longest))
        try:
            while not (wire.ended or len(self.byes) == 2):
                for stream, chunk in wire.read(max(0.0, self.since + self.patience - time.monotonic())):
                    for number in self.take(stream, chunk):
                        yield self.output(number)
                if self.stopped():
                    break
            if self.hello is None:
                raise self.unheard(wire)
            if self.newest >= 0 and self.newest not in self.said:
                yield from self.interrupted(wire)
        finally:
            wire.close()

    def unheard(self, wire: Wire) -> NoWay:
        """Why no shell has answered: what the wire says, else the last that was printed (`This account is currently not available.`)."""
        if not wire.ended:
            return NoWay("timeout", f"{self.host} did not answer within {self.patience:.3g} s")
        no = wire.why()
        words = last_line((self.noise + self.cutters[1].held).decode("utf-8", "replace"))
        return NoWay(no.failure, f"{no.reason}: {words}") if words and no.failure == "broken" else no

    def rest(self) -> list[Command]:
        """What is still to be asked."""
        return [command for number, command in enumerate(self.commands) if number not in self.said]

    def wait(self, patience: float) -> None:
        """Be patient anew."""
        self.since, self.patience = time.monotonic(), patience

    def take(self, stream: int, chunk: bytes) -> Iterator[int]:
        """Sort in what has come; → the commands that it completes."""
        for piece in self.cutters[stream].feed(chunk):
            number = self.at[stream]
            if isinstance(piece, re.Match):
                yield from self.marked(stream, piece)
            elif number is not None:
                kept = self.found[number].printed[stream]
                kept += piece[: LIMIT + 1 - len(kept)]
            elif self.hello is None and stream == 1:
                self.noise = (self.noise + piece)[-NOISE:]

    def marked(self, stream: int, mark: re.Match[bytes]) -> Iterator[int]:
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
            return not_asked(command)
        up, clock = self.hello or (0.0, 0.0)
        output = Output(
            command,
            exit=answer.code,
            pages=(bytes(answer.printed[1]),),
            stderr=bytes(answer.printed[2]),
            seconds=max(0.0, answer.ended - answer.begun),
            time=clock + answer.ended - up if clock else 0.0,
        )
        return judged(output, self.host)

    def stopped(self) -> bool:
        """Whether to read no further: nothing came in time, or too much."""
        return self.too_much() or time.monotonic() - self.since >= self.patience

    def too_much(self) -> bool:
        """Whether the newest answer is larger than can be held."""
        newest = self.found.get(self.newest)
        return newest is not None and sum(map(len, newest.printed.values())) > LIMIT

    def interrupted(self, wire: Wire) -> Iterator[Output]:
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
            reason = f"{program} did not answer within {command.timeout:.3g} s, could not be ended and was left behind on {self.host}"
        self.said.add(number)
        pages = (bytes(answer.printed[1][:LIMIT]),)
        stderr = bytes(answer.printed[2][:LIMIT])
        yield Output(command, exit=1, pages=pages, stderr=stderr, seconds=time.monotonic() - self.since, failure=failure, reason=reason)
        if failure == "unkillable":
            for other, later in enumerate(self.commands):
                if other not in self.said and group(later) == group(command):
                    self.said.add(other)
                    yield not_asked(later)
