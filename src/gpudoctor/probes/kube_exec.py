"""`kubectl exec`: run a program in a container by websocket, under a total deadline and a byte limit.

The protocol is https://kubernetes.io/docs/reference/using-api/websockets/ (channel.k8s.io): the first byte of a message is its
channel. The `kubernetes` package's own `stream()` has no deadline and swaps a method of the client that it is given.
"""

from __future__ import annotations

import queue
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from socket import SHUT_RDWR, socket
from threading import Lock
from typing import Any

import msgspec
import websocket
from websocket import WebSocketBadStatusException, WebSocketException

from gpudoctor.probes.base import Command, Failure, Output, decoder
from gpudoctor.probes.deadline import Deadline, begin, within
from gpudoctor.probes.kube_answer import Answer, Stopped, broken_connection, date, refusal, status_of
from gpudoctor.probes.kube_config import Connection
from gpudoctor.probes.kube_request import Request
from gpudoctor.probes.remote import NoWay

LIMIT = 64 << 20  # bytes on the wire
STDIN, STDOUT, STDERR, ERROR = range(4)
_V5, _V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"  # v5 (Kubernetes 1.30) can close stdin
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


class _Socket(websocket.WebSocket):
    """A websocket that stops after so many bytes, however its frames are cut (a frame may claim any length)."""

    received = 0

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._leaving = Lock()

    def hang_up(self) -> None:
        """End what another thread reads; that thread sees the end and closes.

        A descriptor that is closed under a reader becomes the next connection's, and the reader takes the first bytes of that one.
        """
        with self._leaving, suppress(OSError):
            if self.sock is not None:
                socket.shutdown(self.sock, SHUT_RDWR)  # the plain one: TLS keeps its state for the reader

    def shutdown(self) -> None:
        """Close the connection; for the thread that reads it."""
        with self._leaving:
            super().shutdown()  # type: ignore[no-untyped-call]

    def _recv(self, bufsize: int) -> bytes:
        chunk: bytes = super()._recv(bufsize)  # type: ignore[no-untyped-call]
        self.received += len(chunk)
        if self.received > LIMIT:
            raise Stopped("too-large", f"the program printed more than {LIMIT >> 20} MiB")
        return chunk


def run(connection: Connection, request: Request, command: Command, deadline: Deadline) -> Output:
    """What the program printed in its container, and its exit code.

    Failures: those of every API read, and not-found when the container isn't there. When the deadline passes the
    connection is closed; the program may live on in its container, which Kubernetes has no means to end.
    """
    printed: dict[int, bytearray] = {STDOUT: bytearray(), STDERR: bytearray(), ERROR: bytearray()}
    opened: list[_Socket] = []
    failure: Failure = ""
    reason, code, when, extra = "", 1, 0.0, b""
    try:
        when = within(deadline.left, lambda: _converse(connection, request, command.stdin, deadline, _into(printed), opened))
        code, failure, reason = _ended(bytes(printed[ERROR]), request)
        if not failure:
            extra, reason = reason.encode(), ""
    except TimeoutError:
        failure, reason = (
            "timeout",
            f"{request.argv[0]} in pod {request.namespace}/{request.name} did not answer within {command.timeout:.3g} s",
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
        self._opened: list[_Socket] = []
        self._status = bytearray()
        self._arrived: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._reading = begin(lambda: _converse(connection, request, stdin, deadline, self._take, self._opened))
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
        code, failure, reason = _ended(bytes(self._status), self.request)
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


def _into(printed: dict[int, bytearray]) -> Put:
    """What keeps each channel by itself."""

    def put(channel: int, chunk: bytes) -> None:
        if channel in printed:
            printed[channel] += chunk

    return put


def _converse(connection: Connection, request: Request, stdin: bytes, deadline: Deadline, put: Put, opened: list[_Socket]) -> float:
    """Open, send stdin, read until the far side closes; → the server's clock. Raises Stopped and TimeoutError."""
    talk = _Socket(sslopt=_tls(connection))
    opened.append(talk)
    try:
        headers = connection.headers()
        talk.connect(  # type: ignore[no-untyped-call]
            "ws" + (connection.url + request.target()).removeprefix("http"),
            header=[f"{name}: {value}" for name, value in headers.items()],
            subprotocols=[_V5, _V4],
            timeout=max(0.001, deadline.left),
            redirect_limit=0,  # it would carry our credentials elsewhere
            suppress_origin=True,
            **_proxy(connection),
        )
        if request.stdin:
            for start in range(0, len(stdin), _CHUNK):
                talk.send_binary(bytes([STDIN]) + stdin[start : start + _CHUNK])
            if talk.getsubprotocol() == _V5:
                talk.send_binary(_CLOSE_STDIN)
        _read(talk, deadline, put)
        return date((talk.getheaders() or {}).get("date"))
    except WebSocketBadStatusException as error:
        raise _refused(error, request, connection.url) from None
    except (WebSocketException, OSError, ValueError) as error:
        if isinstance(error, websocket.WebSocketTimeoutException):
            raise TimeoutError from None
        raise broken_connection(error, connection.url) from error
    finally:
        talk.shutdown()


def _read(talk: _Socket, deadline: Deadline, put: Put) -> None:
    while True:
        if not deadline.left:
            raise TimeoutError
        talk.settimeout(deadline.left)
        try:
            code, message = talk.recv_data()
        except websocket.WebSocketConnectionClosedException:
            return
        if code == websocket.ABNF.OPCODE_CLOSE:
            return
        if message:
            put(message[0], message[1:])


def _ended(status: bytes, request: Request) -> tuple[int, Failure, str]:
    """Exit code, failure and reason from the error channel; without a failure the words belong to stderr.

    A program that isn't in the container is an answer, with a shell's exit code for it: 127.
    """
    try:
        end = decoder(_End).decode(status)
    except (msgspec.MsgspecError, RecursionError):
        return 1, "broken", f"the connection to pod {request.namespace}/{request.name} was closed before {request.argv[0]} had ended"
    if end.status == "Success":
        return 0, "", ""
    words = " ".join(end.message.split())[:500]
    if any(sign in end.message for sign in _NO_PROGRAM):
        return NO_PROGRAM, "", f"{request.argv[0]}: command not found in pod {request.namespace}/{request.name}"
    codes = [cause.message for cause in (end.details.causes if end.details else []) if cause.reason == "ExitCode"]
    if codes and len(codes[0]) <= 3 and codes[0].isascii() and codes[0].isdigit():
        return int(codes[0]), "", ""
    return 1, "broken", f"{request.argv[0]} could not be run in pod {request.namespace}/{request.name}: {words or 'no reason was given'}"


def _refused(error: Any, request: Request, url: str) -> Stopped:
    """The server did not switch to a websocket."""
    body = error.resp_body or b""
    words = status_of(body).message or body.decode("utf-8", "replace")
    if "container not found" in words or "cannot exec" in words:  # the kubelet's words, and the API server's for a pod that has ended
        return Stopped("not-found", f"pod {request.namespace}/{request.name}: {' '.join(words.split())[:500]}")
    return refusal(Answer(error.status_code, body), request, url)


def _tls(connection: Connection) -> dict[str, object]:
    options: dict[str, object] = {"context": connection.tls, "cert_reqs": connection.tls.verify_mode}
    options["check_hostname"] = connection.tls.verify_mode != ssl.CERT_NONE
    return options | ({"server_hostname": connection.server_name} if connection.server_name else {})


def _proxy(connection: Connection) -> dict[str, object]:
    """The proxy that the configuration names. Without one, "*" keeps websocket-client from taking the environment's."""
    if not connection.proxy:
        return {"http_no_proxy": ["*"]}
    from urllib.parse import urlsplit

    proxy = urlsplit(connection.proxy)
    auth = (proxy.username, proxy.password or "") if proxy.username else None
    return {
        "http_proxy_host": proxy.hostname,
        "http_proxy_port": proxy.port or 80,
        "http_proxy_auth": auth,
        "proxy_type": proxy.scheme or "http",
    }
