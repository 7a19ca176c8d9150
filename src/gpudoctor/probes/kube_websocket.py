"""A websocket to a container, over a connection made as every other one to the API server is.

The protocol is https://kubernetes.io/docs/reference/using-api/websockets/ (channel.k8s.io). Frames are websocket-client's business; its own
way to connect is not used: it knows neither our proxies nor a limit for what a server answers instead, and drops what that says.
"""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from socket import SHUT_RDWR, socket
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import urllib3.exceptions
import websocket
from websocket import WebSocketException

from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.foreign_text import clean_foreign_text
from gpudoctor.probes.kube_answer import Answer, Stopped, broken_connection, date, refusal, status_of
from gpudoctor.probes.kube_connection import Connection
from gpudoctor.probes.kube_request import Request

LIMIT = 64 << 20  # bytes on the wire
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"  # v5 (Kubernetes 1.30) can close stdin
_SAID = 1 << 16  # bytes of an error's body; a Status has a few hundred
_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


class Socket(websocket.WebSocket):
    """A websocket over a connection that is there already, which stops after so many bytes however its frames are cut.

    What can't be sent is no error here: a far side that has stopped listening may have said why, and that is read first.
    """

    received = 0
    unheard = False

    def __init__(self) -> None:
        super().__init__()
        self._leaving = Lock()
        self.answer: Any = None  # the HTTP response, whose buffer may hold the first frames

    def hang_up(self) -> None:
        """End what another thread reads; that thread sees the end and closes.

        A descriptor that is closed under a reader becomes the next connection's, and the reader takes the first bytes of that one.
        """
        with self._leaving, suppress(OSError):
            if self.sock is not None:
                # The plain one, below TLS, which keeps its state for the reader; TLS inside TLS has its socket in `socket`.
                socket.shutdown(getattr(self.sock, "socket", self.sock), SHUT_RDWR)

    def shutdown(self) -> None:
        """Close the connection; for the thread that reads it."""
        with self._leaving:
            if self.answer is not None:
                self.answer.close()
            super().shutdown()  # type: ignore[no-untyped-call]

    def _send(self, data: str | bytes) -> int:
        try:
            return super()._send(data)
        except (TimeoutError, websocket.WebSocketTimeoutException):
            raise TimeoutError from None
        except (OSError, WebSocketException):
            self.unheard = True
            return len(data)

    def _recv(self, bufsize: int) -> bytes:
        chunk: bytes = self.answer.fp.read1(bufsize)
        if not chunk:
            raise websocket.WebSocketConnectionClosedException
        self.received += len(chunk)
        if self.received > LIMIT:
            raise Stopped("too-large", f"the program printed more than {LIMIT >> 20} MiB")
        return chunk


def enter(talk: Socket, connection: Connection, request: Request, deadline: Deadline) -> tuple[str, float]:
    """Connect; → the protocol that the server chose, and its clock. What it says instead is read as HTTP.

    Raises Stopped and TimeoutError.
    """
    try:
        made = connection.dial(deadline)
        talk.sock = made.sock
        key = base64.b64encode(os.urandom(16)).decode()
        asked = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Protocol": f"{V5},{V4}",
        }
        target = urlsplit(connection.url).path + request.target()
        made.request("GET", target, headers=connection.headers() | asked)
        answer = HTTPConnection.getresponse(made)  # Python's own, whose buffer the websocket goes on with
        talk.answer = answer
        when = date(answer.headers.get("Date"))
        if answer.status != HTTPStatus.SWITCHING_PROTOCOLS:
            raise _upgrade_refusal(Answer(answer.status, _body(answer), when), request, connection.url)
        accepted = base64.b64encode(hashlib.sha1(key.encode() + _ACCEPT, usedforsecurity=False).digest()).decode()
        protocol = answer.headers.get("Sec-WebSocket-Protocol", "")
        if answer.headers.get("Sec-WebSocket-Accept") != accepted or protocol not in (V5, V4):
            raise Stopped("unreachable", f"{connection.url}: its answer to `exec` is no websocket of Kubernetes")
        talk.connected = True
        return protocol, when
    except (HTTPException, urllib3.exceptions.HTTPError, OSError, ValueError) as error:
        stopped = broken_connection(error, connection.way)
        if stopped.failure == "timeout":
            raise TimeoutError from None
        raise stopped from error


def _body(answer: HTTPResponse) -> bytes:
    """The body of an error, as far as it comes."""
    try:
        return answer.read(_SAID)
    except IncompleteRead as error:
        return error.partial
    except (HTTPException, OSError):
        return b""


def _upgrade_refusal(answer: Answer, request: Request, url: str) -> Stopped:
    """The server did not switch to a websocket."""
    words = status_of(answer.body).message or answer.body.decode("utf-8", "replace")
    if "container not found" in words or "cannot exec" in words:  # the kubelet's words, and the API server's for a pod that has ended
        return Stopped("not-found", f"pod {request.namespace}/{request.name}: {clean_foreign_text(words)}")
    if answer.status == HTTPStatus.BAD_REQUEST:  # "Upgrade request required": a program that wasn't run has no exit code
        return Stopped(
            "unreachable", f"{url} let no websocket through for `exec`, or a proxy on the way did not: {clean_foreign_text(words)}"
        )
    stopped = refusal(answer, request, url)
    return stopped if stopped.failure else Stopped("not-found", f"pod {request.namespace}/{request.name}: {clean_foreign_text(words)}")
