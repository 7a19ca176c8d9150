"""Questions to a Prometheus: argv in, the body of its answer out.

("promql", url, query, span, every)   /api/v1/query_range, of the last `span` seconds
("promql", url, query)                /api/v1/query, of this moment
("promql", url, "/targets")           /api/v1/targets, those that are scraped

Only what the person named is asked: no other host, no redirect, no proxy from elsewhere. Credentials may stand in the URL
(https://user:password@host/prefix) or, as a bearer token, in GPUDOCTOR_PROMETHEUS_TOKEN; they appear in no reason and no report.
"""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import TimeoutError as Late
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlencode, urlsplit

import msgspec

from gpudoctor.probes.base import Command, Failure, Output, decoder, time_limit_text
from gpudoctor.probes.deadline import Deadline, run_within
from gpudoctor.probes.foreign_text import bearer, clean_foreign_text, keep_out

if TYPE_CHECKING:
    import urllib3

LIMIT = 64 << 20  # bytes of one answer: 2,000 GPUs with 12 series of 100 points each; more is asked for with a coarser step
CHUNK = 1 << 16
POINTS = 11_000  # of one series: Prometheus refuses more ("exceeded maximum resolution of 11,000 points per timeseries")
LEAST_STEP = 0.001  # seconds
TOKEN = "GPUDOCTOR_PROMETHEUS_TOKEN"  # noqa: S105  # the name of an environment variable
TARGETS = "/targets"  # begins as no query does


class Address(NamedTuple):
    """Where to ask: `base` has no credentials, `shown` is what a person reads."""

    base: str
    shown: str
    credentials: str  # user:password, "" for none


class Question(NamedTuple):
    """What is asked: where, the path of the API, and the query's fields."""

    address: Address
    api: str
    fields: dict[str, str]


class Unusable(Exception):
    """There is no usable answer."""

    def __init__(self, failure: Failure, reason: str) -> None:
        super().__init__(reason)
        self.failure, self.reason = failure, reason


class _Refusal(msgspec.Struct, frozen=True):
    status: str = ""
    errorType: str = ""
    error: str = ""


def run(command: Command) -> Output:
    """The answer, as of now. Never raises for what the far side does; a total deadline and a byte limit hold."""
    deadline = Deadline(command.timeout)
    try:
        asked = question(command.argv)
        body = run_within(deadline.left, lambda: fetch(asked, deadline))
    except Unusable as why:
        return Output(command, exit=1, seconds=deadline.spent, time=time.time(), failure=why.failure, reason=why.reason)
    except Late:
        reason = f"Prometheus did not answer within {time_limit_text(command.timeout)}"
        return Output(command, exit=1, seconds=deadline.spent, time=time.time(), failure="timeout", reason=reason)
    return Output(command, pages=(body,), seconds=deadline.spent, time=time.time())


def question(argv: tuple[str, ...]) -> Question:
    """Where to ask what. Raises `Unusable`."""
    if len(argv) == 3:
        _, url, query = argv
        if query == TARGETS:
            return Question(address_of(url), "/api/v1/targets", {"state": "active"})
        return Question(address_of(url), "/api/v1/query", {"query": query})
    if len(argv) != 5:
        raise Unusable("not-allowed", "a question to Prometheus has a URL, a query, a span and a step")
    _, url, query, span_text, every_text = argv
    span, every = seconds(span_text), seconds(every_text)
    end = time.time()
    step = max(every, span / (POINTS - 1), LEAST_STEP)
    fields = {"query": query, "start": f"{end - span:.3f}", "end": f"{end:.3f}", "step": f"{step:.3f}"}
    return Question(address_of(url), "/api/v1/query_range", fields)


def seconds(text: str) -> float:
    """A number of seconds. Raises `Unusable`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 366 * 86400:
        raise Unusable("not-allowed", f"'{text[:40]}' is not a number of seconds")
    return value


def address_of(url: str) -> Address:
    """The parts of a URL; its path is a prefix that a proxy may want. Raises `Unusable`, without the URL: it may hold a password.

    >>> address_of("https://me:s%40crt@prom.example:9090/mon/")
    Address(base='https://prom.example:9090/mon', shown='prom.example:9090', credentials='me:s@crt')
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Unusable("not-allowed", "the address of Prometheus is not a URL") from None
    if parts.scheme not in ("http", "https") or not host:
        raise Unusable("not-allowed", "the address of Prometheus is a URL that begins with http:// or https://")
    if parts.query or parts.fragment:
        raise Unusable("not-allowed", "the address of Prometheus ends with its host, or the path before /api")
    shown = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    credentials = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.username is not None else ""
    return Address(f"{parts.scheme}://{shown}{parts.path.rstrip('/')}", shown, credentials)


def fetch(asked: Question, deadline: Deadline) -> bytes:
    """The body of the answer. Raises `Unusable`."""
    import urllib3

    address = asked.address
    timeout = urllib3.Timeout(connect=min(10.0, deadline.left), read=deadline.left)
    pool = urllib3.PoolManager(num_pools=1, retries=False, timeout=timeout)
    try:
        response = pool.request(
            "GET", f"{address.base}{asked.api}?{urlencode(asked.fields)}", headers=headers(address), redirect=False, preload_content=False
        )
        with response:
            body = read(response, deadline, address)
            judge(response.status, response.headers.get("Location") or "", body, asked)
            return body
    except urllib3.exceptions.HTTPError as error:
        raise unreachable(error, address) from None
    finally:
        pool.clear()


def headers(address: Address) -> dict[str, str]:
    """The headers of a request. Raises `Unusable`."""
    import urllib3

    made = {"Accept": "application/json", "User-Agent": "gpudoctor"}
    if address.credentials:
        made |= urllib3.make_headers(basic_auth=address.credentials)
        user, _, password = address.credentials.partition(":")
        keep_out(password or user, made["authorization"].partition(" ")[2])
    elif token := os.environ.get(TOKEN, "").strip():
        try:
            made["Authorization"] = bearer(token, f"${TOKEN}")
        except ValueError as error:
            raise Unusable("not-allowed", str(error)) from None
    return made


def read(response: urllib3.BaseHTTPResponse, deadline: Deadline, address: Address) -> bytes:
    """The body, at most `LIMIT` bytes of it after it was unpacked. Raises `Unusable`."""
    body = bytearray()
    for chunk in response.stream(CHUNK, decode_content=True):
        body += chunk
        if len(body) > LIMIT:
            raise Unusable("too-large", f"Prometheus at {address.shown} answered with more than {LIMIT >> 20} MiB: ask for less time")
        if not deadline.left:
            raise Late
    return bytes(body)


def judge(status: int, location: str, body: bytes, asked: Question) -> None:
    """Raise `Unusable` for anything but an answer of Prometheus."""
    address = asked.address
    where = f"Prometheus at {address.shown}"
    refusal = _decode(body, _Refusal)
    if status in (401, 403):
        how = f"put a user and a password into its URL, or a token into {TOKEN}"
        raise Unusable("refused", f"{where} refuses without credentials, or with these (HTTP {status}): {how}")
    if 300 <= status < 400:
        raise Unusable(
            "refused", f"{where} sends on to {origin(location)}, which is not followed: name that address if it is the right one"
        )
    if refusal and refusal.status == "error":
        raise Unusable("broken", f"{where} says: {refusal.errorType or 'error'}: {clean_foreign_text(refusal.error)}"[:500])
    if status == 404:
        raise Unusable("not-found", f"{address.shown} has no {asked.api}: is it a Prometheus, and does its address need a path?")
    if status != 200:
        raise Unusable("broken", f"{where} answers with HTTP {status}")
    if refusal is None or refusal.status != "success":
        raise Unusable("broken", f"{address.shown} does not answer as a Prometheus does")


def origin(location: str) -> str:
    """Scheme and host of an address that a server names: nothing of it that could be a secret."""
    try:
        parts = urlsplit(location)
        return f"{parts.scheme}://{parts.hostname}"[:100] if parts.hostname else "another path"
    except ValueError:
        return "another address"


def unreachable(error: Exception, address: Address) -> Unusable:
    """What went wrong on the way, in one sentence."""
    import urllib3

    said = _innermost_error(error)
    where = f"Prometheus at {address.shown}"
    if isinstance(error, urllib3.exceptions.SSLError) or "CERTIFICATE_VERIFY_FAILED" in said or "WRONG_VERSION_NUMBER" in said:
        return Unusable("unreachable", f"{where}: no TLS connection: {said[:300]}")
    if isinstance(error, urllib3.exceptions.NameResolutionError):
        return Unusable("unreachable", f"{address.shown}: no such host")
    if "refused" in said.lower():
        return Unusable("unreachable", f"nothing listens at {address.shown}: connection refused")
    timed_out = isinstance(error, urllib3.exceptions.TimeoutError)
    if timed_out and not isinstance(error, urllib3.exceptions.NewConnectionError):  # a connection that fails at once is one too
        return Unusable("timeout", f"{where} does not answer")
    return Unusable("unreachable", f"{where} can't be reached: {said[:300]}")


def _innermost_error(error: BaseException) -> str:
    """The words of the innermost error, without urllib3's object before them."""
    inner = error
    while isinstance(reason := getattr(inner, "reason", None), BaseException):
        inner = reason
    return clean_foreign_text(str(inner).rpartition(">: ")[2])


def _decode(body: bytes, kind: type[_Refusal]) -> _Refusal | None:
    try:
        return decoder(kind).decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return None
