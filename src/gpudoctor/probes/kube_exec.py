"""`kubectl exec`: run a program in a container by websocket, under a total deadline and a byte limit.

The protocol is https://kubernetes.io/docs/reference/using-api/websockets/ (channel.k8s.io): the first byte of a message is its
channel. The `kubernetes` package's own `stream()` has no deadline and swaps a method of the client that it is given.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

import msgspec
import websocket
from websocket import WebSocketException

from gpudoctor.probes.base import Command, Failure, Output, decoder, time_limit_text
from gpudoctor.probes.deadline import Deadline, run_within, start_work
from gpudoctor.probes.foreign_text import clean_foreign_text
from gpudoctor.probes.kube_answer import Stopped
from gpudoctor.probes.kube_connection import Connection
from gpudoctor.probes.kube_request import Request
from gpudoctor.probes.kube_websocket import V5, Socket, enter
from gpudoctor.probes.remote import NoWay

STDIN, STDOUT, STDERR, ERROR = range(4)
_CLOSE_STDIN = bytes([255, STDIN])
_CHUNK = 1 << 15
NO_PROGRAM = 127  # a shell's exit code for a program that isn't there
_NO_PROGRAM = ("executable file not found", "no such file or directory")  # runc's and crun's words


Put = Callable[[int, bytes], None]  # channel, bytes


class _Cause(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""


class _Details(msgspec.Struct, frozen=True):
    causes: list[_Cause] = []


class _End(msgspec.Struct, frozen=True):
    """The Status on the error channel: how the program ended."""

    status: str = ""
    message: str = ""
    details: _Details | None = None


def run(connection: Connection, request: Request, command: Command, deadline: Deadline) -> Output:
    """What the program printed in its container, and its exit code.

    Failures: those of every API read, and not-found when the container isn't there. When the deadline passes the
    connection is closed; the program may live on in its container, which Kubernetes has no means to end.
    """
    printed: dict[int, bytearray] = {STDOUT: bytearray(), STDERR: bytearray(), ERROR: bytearray()}
    opened: list[Socket] = []
    failure: Failure = ""
    reason, code, when, extra = "", 1, 0.0, b""
    try:
        when = run_within(deadline.left, lambda: _converse(connection, request, command.stdin, deadline, _channel_writer(printed), opened))
        code, failure, reason = _exit_of(bytes(printed[ERROR]), request)
        if not failure:
            extra, reason = reason.encode(), ""
    except TimeoutError:
        failure, reason = (
            "timeout",
            f"{request.argv[0]} in pod {request.namespace}/{request.name} did not answer within {time_limit_text(command.timeout)}",
        )
        if opened:
            opened[0].hang_up()
    except Stopped as stopped:
        failure, reason, code, extra = stopped.failure, stopped.reason, stopped.exit, stopped.stderr
    return Output(
        command,
        exit=code,
        pages=(bytes(printed[STDOUT]),),
        stderr=bytes(printed[STDERR]) + extra,
        seconds=deadline.spent,
        time=when or time.time(),
        failure=failure,
        reason=reason,
    )


class Session:
    """A wire (see remote.py) into a container. A thread reads the websocket; `deadline` is for everything."""

    def __init__(self, connection: Connection, request: Request, stdin: bytes, deadline: Deadline) -> None:
        self.request, self.ended = request, False
        self._opened: list[Socket] = []
        self._status = bytearray()
        self._arrived: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._reading = start_work(lambda: _converse(connection, request, stdin, deadline, self._take, self._opened))
        self._reading.add_done_callback(lambda _: self._arrived.put(None))

    def read(self, seconds: float) -> list[tuple[int, bytes]]:
        """What has come, waiting for at most `seconds`."""
        try:
            arrived = self._arrived.get(timeout=seconds)
        except queue.Empty:
            return []
        self.ended = arrived is None
        return [arrived] if arrived else []

    def why(self) -> NoWay:
        """Why it has ended."""
        place = f"pod {self.request.namespace}/{self.request.name}"
        error = self._reading.exception()
        if isinstance(error, Stopped):
            return NoWay(error.failure or "not-found", error.reason or error.stderr.decode("utf-8", "replace").strip())
        if error is not None:
            return NoWay("timeout" if isinstance(error, TimeoutError) else "broken", f"{place} did not answer ({error or 'too late'})")
        code, failure, reason = _exit_of(bytes(self._status), self.request)
        if code == NO_PROGRAM:
            return NoWay("not-found", reason, bare=True)
        return NoWay(failure or "broken", reason or f"the shell in {place} ended with exit code {code}")

    def close(self) -> None:
        """Close the connection; a program that still runs lives on in its container, which Kubernetes has no means to end."""
        if self._opened:
            self._opened[0].hang_up()

    def _take(self, channel: int, chunk: bytes) -> None:
        if channel == ERROR:
            self._status += chunk
        elif channel in (STDOUT, STDERR):
            self._arrived.put((channel, chunk))


def _channel_writer(printed: dict[int, bytearray]) -> Put:
    """A function that writes each channel into its own buffer."""

    def put(channel: int, chunk: bytes) -> None:
        if channel in printed:
            printed[channel] += chunk

    return put


def _converse(connection: Connection, request: Request, stdin: bytes, deadline: Deadline, put: Put, opened: list[Socket]) -> float:
    """Open, send stdin, read until the far side closes; → the server's clock. Raises Stopped and TimeoutError."""
    talk = Socket()
    opened.append(talk)
    try:
        protocol, when = enter(talk, connection, request, deadline)
        if request.stdin:
            for start in range(0, len(stdin), _CHUNK):
                if not talk.unheard:
                    talk.send_binary(bytes([STDIN]) + stdin[start : start + _CHUNK])
            if protocol == V5:
                talk.send_binary(_CLOSE_STDIN)
        _read(talk, deadline, put)
        return when
    finally:
        talk.shutdown()


def _read(talk: Socket, deadline: Deadline, put: Put) -> None:
    """Until the far side closes or the connection ends, which is the same: the error channel says whether all was there."""
    told = False
    while True:
        if not deadline.left:
            raise TimeoutError
        talk.settimeout(deadline.left)
        try:
            code, message = talk.recv_data()
        except TimeoutError:
            raise
        except (WebSocketException, OSError):
            return
        if code == websocket.ABNF.OPCODE_CLOSE:
            if not told:
                put(ERROR, message[2:])  # in front of the reason stands its number
            return
        if message:
            told = told or message[0] == ERROR
            put(message[0], message[1:])


def _exit_of(status: bytes, request: Request) -> tuple[int, Failure, str]:
    """Exit code, failure and reason from the error channel; without a failure the words belong to stderr.

    A program that isn't in the container is an answer, with a shell's exit code for it: 127.
    """
    try:
        end = decoder(_End).decode(status)
    except (msgspec.MsgspecError, RecursionError):
        said = clean_foreign_text(status.decode("utf-8", "replace"))
        closed = f"the connection to pod {request.namespace}/{request.name} was closed before {request.argv[0]} had ended"
        return 1, "broken", f"{closed}{said and f': {said}'}"
    if end.status == "Success":
        return 0, "", ""
    words = clean_foreign_text(end.message)
    if any(sign in end.message for sign in _NO_PROGRAM):
        return NO_PROGRAM, "", f"{request.argv[0]}: command not found in pod {request.namespace}/{request.name}"
    codes = [cause.message for cause in (end.details.causes if end.details else []) if cause.reason == "ExitCode"]
    if codes and len(codes[0]) <= 3 and codes[0].isascii() and codes[0].isdigit():
        return int(codes[0]), "", ""
    return 1, "broken", f"{request.argv[0]} could not be run in pod {request.namespace}/{request.name}: {words or 'no reason was given'}"
