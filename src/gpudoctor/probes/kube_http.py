"""One HTTP exchange with the API server: whatever the method, with a total deadline and a limit in bytes."""

from __future__ import annotations

from collections.abc import Mapping

import urllib3
import urllib3.exceptions

from gpudoctor.probes.base import KUBELET, time_limit_text
from gpudoctor.probes.deadline import Deadline, run_within
from gpudoctor.probes.kube_answer import Answer, Stopped, broken_connection, date, retry_after
from gpudoctor.probes.kube_connection import Connection

HELD = 64 << 20  # bytes of one answer that is kept whole, and of one page
STREAMED = 1 << 30  # bytes of one answer that is read page by page; 50,000 pods are 172 MiB
JSON, TEXT = "application/json", "*/*"
_CHUNK = 1 << 18


def exchange(
    connection: Connection,
    method: str,
    target: str,
    deadline: Deadline,
    *,
    accept: str = JSON,
    limit: int | None = None,
    body: bytes = b"",
    kubelet: bool = False,
) -> Answer:
    """The answer, read whole, in a thread of its own, since a server that drips resets the timeout of each read. Raises Stopped.

    Where a `kubelet` has to say it, behind the API server, its silence ends the wait.
    """
    chunks: list[bytes] = []

    def partial() -> bytes:
        return b"".join(chunks) if accept == TEXT else b""  # half a JSON text is worth nothing

    try:
        headers = run_within(deadline.left, connection.headers) | {"Accept": accept, "Accept-Encoding": "gzip"}
    except TimeoutError:
        raise Stopped("timeout", connection.waiting) from None
    if body:
        headers["Content-Type"] = JSON
    late = f"{connection.way} did not answer within {time_limit_text(deadline.seconds)}"
    silence = KUBELET if kubelet else deadline.seconds
    most = HELD if limit is None else limit
    try:
        return run_within(deadline.left, lambda: _read(connection, method, target, headers, body, deadline, silence, most, chunks))
    except TimeoutError:
        raise Stopped("timeout", late, partial=partial()) from None
    except Stopped as stopped:
        stopped.partial = partial()
        if stopped.failure == "timeout":  # the socket's clock, set to the same moment, was first: it is the same to a reader
            stopped.reason = (
                f"the kubelet was silent for {time_limit_text(silence)}" if silence < deadline.seconds and deadline.left else late
            )
        raise


def _read(
    connection: Connection,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
    deadline: Deadline,
    silence: float,
    limit: int,
    chunks: list[bytes],
) -> Answer:
    """Ask, and read the body into `chunks`."""
    try:
        with _open(connection, method, target, headers, body, deadline, silence) as response:
            size = 0
            while chunk := response.read1(_CHUNK):
                size += len(chunk)
                if size > limit:
                    raise Stopped(
                        "too-large", f"the answer is larger than {HELD >> 20} MiB ({STREAMED >> 20} MiB where it is read page by page)"
                    )
                if not deadline.left:
                    raise TimeoutError  # nobody waits for this any more
                chunks.append(chunk)
            head = response.headers
            return Answer(response.status, b"".join(chunks), date(head.get("Date")), retry_after(head.get("Retry-After")))
    except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:  # ValueError: a Location or a length that is none
        raise broken_connection(error, connection.way) from error


def _open(
    connection: Connection, method: str, target: str, headers: Mapping[str, str], body: bytes, deadline: Deadline, silence: float
) -> urllib3.BaseHTTPResponse:
    """The response's head. A kept-alive connection that was closed meanwhile is replaced once; what creates is sent only once."""

    def ask() -> urllib3.BaseHTTPResponse:
        return connection.pool.request(
            method,
            connection.url + target,
            body=body or None,
            headers=headers,
            timeout=urllib3.Timeout(connect=max(0.001, deadline.left), read=max(0.001, min(silence, deadline.left))),
            retries=False,
            redirect=False,  # it would carry our credentials elsewhere
            preload_content=False,
        )

    try:
        return ask()
    except urllib3.exceptions.ProtocolError:
        if method == "POST":
            raise
        return ask()
