"""The seam to the outside world: a Command goes in, an Output comes out.

Live, recorder and replay implement one `Protocol`, so nothing above this seam knows whether it talks to a cluster or to a bundle.
"""

from __future__ import annotations

import functools
import math
import shlex
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from gpudoctor.patterns import regex

# Why a command has no answer. "" means that it ran; its exit code then says the rest.
Failure = Literal["", "not-found", "timeout", "refused", "unreachable", "unkillable", "too-large", "not-recorded", "not-allowed", "broken"]

Via = Literal["auto", "pod", "ssh", "debug-pod"]  # how hosts are reached, see hosts.py
VIAS: tuple[Via, ...] = ("auto", "pod", "ssh", "debug-pod")

# https://user:password@prometheus.example:9090, and https://user:pass/word@…, which is no URL; behind a host stands a number
CREDENTIALS = regex(r"(https?://)(?:[^/\s\"']*|[^/\s\"':@]*:(?!\d{1,5}/)[^\s\"'@]*)@")

START = 30.0  # seconds until a host's shell runs: 10 to connect, and a login on a host under load
# s until a kubelet begins to answer, with a log or a shell: one that is well takes milliseconds, and the API server waits for a silent one
KUBELET = 5.0
GRACE = 4.0  # seconds after a command's own limit until its silence is told: one until KILL, two to die, and the way back

T = TypeVar("T")
_BUILDING = threading.Lock()


ASK = "ask"  # the "program" that a person is


class Command(msgspec.Struct, frozen=True):
    """What to ask: `host` is "" for this machine and the Kubernetes API, else a node's name."""

    argv: tuple[str, ...]
    host: str = ""
    stdin: bytes = b""
    timeout: float = 30.0  # seconds, for the whole answer
    sample: int = 0

    @property
    def public(self) -> tuple[str, ...]:
        """The argv without the credentials that a URL in it may carry: what may stand in a report."""
        return tuple(CREDENTIALS.sub(r"\1***@", word) if "@" in word else word for word in self.argv)

    @property
    def shown(self) -> str:
        """The command as a person would paste it; a question to a person as it is."""
        return self.argv[-1] if self.argv[:1] == (ASK,) else shlex.join(self.public)


class Output(msgspec.Struct, frozen=True):
    """What came back, whatever went wrong. `pages` holds the body; most answers have one page, a Kubernetes list has one per request.

    `failure` with `reason` (one sentence for a person) says why there is no usable answer: RBAC's missing rule, a time-out, …
    `time` is the clock of the side that answered (the API server's Date), in seconds since the epoch.
    """

    command: Command
    exit: int = 0
    pages: tuple[bytes, ...] = ()
    stderr: bytes = b""
    seconds: float = 0.0
    time: float = 0.0
    failure: Failure = ""
    reason: str = ""
    source: str = ""  # the file, for analyze; "" = the command itself
    via: str = ""  # how its host was reached: "ssh", "pod gpu-operator/nvidia-driver-daemonset-x7k2p"; "" = this machine or the API

    @property
    def ok(self) -> bool:
        """Whether there is an answer to parse. A non-zero exit can still be one: nvidia-smi prints its diagnosis and exits 9."""
        return self.failure == ""

    @property
    def text(self) -> str:
        """The whole body; undecodable bytes become U+FFFD, so no parser meets a surrogate."""
        return b"".join(self.pages).decode("utf-8", "replace")

    def origin_name(self) -> str:
        """What an origin calls this output: the file's name or the command."""
        return self.source or (f"{self.command.host}: {self.command.shown}" if self.command.host else self.command.shown)


class Probe(Protocol):
    """Anything that answers commands. Never raises for what the far side does; must be safe to call from several threads."""

    def __call__(self, command: Command) -> Output:
        """The whole answer."""
        ...

    def stream(self, command: Command) -> Iterator[Output]:
        """The answer in pieces, one page each, for lists too large to hold. The last piece carries failure, exit and seconds."""
        ...

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """The whole answers to commands of one host, in one round trip where there is a way: each as it comes, in any order.

        The engine takes an answer that doesn't come, or comes twice, as none and the first. `one_by_one` is this for a probe that has
        no better way: `many = one_by_one` in its class.
        """
        ...


def one_by_one(probe: Probe, commands: Sequence[Command]) -> Iterator[Output]:
    """The answers to commands, asked one after the other."""
    for command in commands:
        yield probe(command)


def time_limit_text(seconds: float) -> str:
    """A time limit in a sentence. Rounded up: what a run leaves to its steps differs by fractions, which are no other reason.

    >>> time_limit_text(29.97), time_limit_text(2.0), time_limit_text(0.25)
    ('30 s', '2 s', '0.25 s')
    """
    return f"{math.ceil(round(seconds, 3)) if seconds > 1 else round(seconds, 3):g} s"


def decoder(shape: type[T], *, strict: bool = True) -> msgspec.json.Decoder[T]:
    """The decoder of a type, for threads: msgspec (0.22) ends the process when two of them use a type for the first time at once, since
    what it knows of a Struct can be seen before it is complete.
    """
    with _BUILDING:
        return _built(shape, strict)  # type: ignore[arg-type]  # a class is hashable


@functools.cache
def _built(shape: Any, strict: bool) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape, strict=strict)
