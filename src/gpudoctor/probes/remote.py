"""What a shell on a host is given, the wire to it (ssh, or exec in a pod), and what the exit codes of its answers mean; see trips.py."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from importlib import resources
from typing import Protocol

import msgspec

from gpudoctor.probes.base import Command, Failure, Output, time_limit_text

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # a shell's exit codes, and those of timeout(1)
ENDED_BY_TIMEOUT = (124, 137, 143)  # timeout(1): its own code, or that of KILL and TERM
_ABSENT = ("not found", "No such file or directory")  # as a shell and timeout(1) say it of a program
READERS = (("cat",), ("tail",), ("ls",))  # one file that hangs says nothing of another

Printed = list[tuple[int, bytes]]  # stream (1 or 2), bytes


class NoWay(Exception):
    """No shell answered. `failure` and `reason` are those of every command; `bare` tells that somebody is there but has no `sh`, `stranger`
    that nobody has the host's name.

    It is never a time-out: that one is a program's, and of some programs a finding.
    """

    def __init__(self, failure: Failure, reason: str, *, bare: bool = False, stranger: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.bare, self.stranger = reason, bare, stranger
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


def not_asked(command: Command, waited: float) -> Output:
    """The answer of a command that hangs together with one that has not answered in some seconds: its program's silence is known."""
    return Output(command, exit=1, failure="timeout", seconds=waited, reason=f"not asked: {command.argv[0]} did not answer before")


def with_failure(output: Output, host: str) -> Output:
    """Return an output with the failure that its exit code means, if any."""
    program, code, words = output.command.argv[0], output.exit, output.stderr.decode("utf-8", "replace")
    failure: Failure = ""
    reason = ""
    if code in ENDED_BY_TIMEOUT and output.seconds >= output.command.timeout - 0.1:
        failure, reason = "timeout", f"{program} did not answer within {time_limit_text(output.command.timeout)}"
    elif code == NOT_FOUND and not any(output.pages) and any(sign in words for sign in _ABSENT):
        failure, reason = "not-found", f"{program}: command not found on {host}"
    elif code == NOT_EXECUTABLE and not any(output.pages):
        failure, reason = "refused", f"{program}: no permission to run it on {host}"
    return msgspec.structs.replace(output, failure=failure, reason=reason)


def last_line(text: str) -> str:
    """The last line that isn't empty, at most 200 characters of it."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:200]
