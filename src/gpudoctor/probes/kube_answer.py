"""What the API server's answers and the connection's failures mean, in the words of an Output."""

from __future__ import annotations

import socket
import ssl
from email.utils import parsedate_to_datetime

import msgspec
import urllib3.exceptions

from gpudoctor.probes.base import Failure, decoder
from gpudoctor.probes.foreign_text import SHOWN, clean_foreign_text
from gpudoctor.probes.kube_request import Request

RETRIED = frozenset({429, 500, 502, 503, 504})
# Next steps that several troubles have.
REACH = "is the server up, and is a VPN or a proxy needed?"
CA = "name the cluster's certificate-authority in the kubeconfig"
NAMED = "give the server's name or address as its certificate has it"


class Stopped(Exception):
    """There is no (whole) answer. `partial` is what had come by then, where a part is worth something (a log)."""

    def __init__(self, failure: Failure, reason: str, *, exit: int = 1, stderr: bytes = b"", partial: bytes = b"") -> None:
        super().__init__(reason)
        self.failure = failure
        self.reason = reason
        self.exit = exit
        self.stderr = stderr
        self.partial = partial
        self.time = 0.0


class Answer(msgspec.Struct, frozen=True):
    """One HTTP response, read whole. `time` is the server's clock in seconds since the epoch, 0 where it doesn't say."""

    status: int
    body: bytes = b""
    time: float = 0.0
    retry_after: float | None = None  # seconds


class _Details(msgspec.Struct, frozen=True):
    name: str = ""


class _ListMeta(msgspec.Struct, frozen=True):
    continue_: str = msgspec.field(name="continue", default="")


class Status(msgspec.Struct, frozen=True):
    """The part of metav1.Status that is read; a body that is none decodes as an empty one."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None
    metadata: _ListMeta | None = None


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMeta


def status_of(body: bytes) -> Status:
    """The Status object in the body of an error, whatever else the body may be."""
    try:
        return decoder(Status).decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return Status()


def continue_token(page: bytes) -> str:
    """Where the list goes on, "" at its end. The JSON is checked on the way: raises Stopped("broken") when it isn't a list."""
    try:
        return decoder(_List).decode(page).metadata.continue_
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Stopped("broken", f"the API server's answer is not a list in JSON ({clean_foreign_text(str(error))})") from None


def check_object(body: bytes) -> None:
    """Raise Stopped("broken") unless the body is a JSON object."""
    try:
        msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Stopped("broken", f"the API server's answer is not an object in JSON ({clean_foreign_text(str(error))})") from None


def refusal(answer: Answer, request: Request, url: str) -> Stopped:
    """What an answer other than 200 means for the request."""
    status = status_of(answer.body)
    words = clean_foreign_text(status.message) or f"HTTP {answer.status}{_text_line(answer.body)}"
    named = status.details is not None and bool(status.details.name)
    match answer.status:
        case 401:
            if url.startswith("http:"):
                return Stopped("refused", f"{url} wants credentials, which no server without TLS is sent: {words}")
            return Stopped("refused", f"{url} did not accept the credentials ({words}): if they have expired, sign in again or renew them")
        case 403:
            return Stopped("refused", f"{words} (needs: {request.rule()})")
        case 404 if named:
            error = f"Error from server (NotFound): {words}\n".encode()
            return Stopped("", "", exit=0, stderr=b"") if request.ignore_not_found else Stopped("", "", stderr=error)
        case 404:
            return no_such_type(request.word)
        case 400:
            return Stopped("", "", stderr=f"Error from server ({clean_foreign_text(status.reason) or 'BadRequest'}): {words}\n".encode())
        case 429:
            return Stopped("unreachable", f"{url} has too many requests to answer: {words}")
        case code if code >= 500:
            return Stopped("unreachable", f"{url} could not answer: {words}")
        case _:
            return Stopped("broken", f"{url} answered HTTP {answer.status} ({words}); is it a Kubernetes API server?")


def _text_line(body: bytes) -> str:
    """What something on the way says in a line of text, where the API server would have sent a Status; no page and no other format."""
    line = body[:SHOWN].partition(b"\n")[0].strip()
    return f", {clean_foreign_text(line.decode())}" if len(body) < SHOWN and line.isascii() and line[:1].isalpha() else ""


def no_such_type(word: str) -> Stopped:
    """The server doesn't know the resource type."""
    return Stopped("not-found", f'the server doesn\'t have a resource type "{word}"')


# What an error means, and the next step; the first class that occurs in the chain of causes decides, so the precise ones come first.
_MEANINGS: tuple[tuple[type[BaseException], Failure, str, str], ...] = (
    (ssl.SSLCertVerificationError, "unreachable", "its certificate is not accepted", ""),
    (socket.gaierror, "unreachable", "the name of the server can't be resolved", "check it in the kubeconfig; it may need a VPN"),
    (ConnectionRefusedError, "unreachable", "connection refused", "is something running there, and is the port right?"),
    (urllib3.exceptions.ProxyError, "unreachable", "the proxy doesn't let us through", ""),
    (ssl.SSLError, "unreachable", "no TLS connection", ""),
    (urllib3.exceptions.SSLError, "unreachable", "no TLS connection", ""),
    (TimeoutError, "timeout", "no answer in time", REACH),
    (urllib3.exceptions.ReadTimeoutError, "timeout", "no answer in time", ""),
    (urllib3.exceptions.NewConnectionError, "unreachable", "no connection", REACH),  # is a ConnectTimeoutError, though none
    (urllib3.exceptions.ConnectTimeoutError, "timeout", "no answer in time", REACH),
    (urllib3.exceptions.IncompleteRead, "broken", "the answer was cut off", ""),
    (urllib3.exceptions.DecodeError, "broken", "the answer can't be decompressed", ""),
    (urllib3.exceptions.ProtocolError, "broken", "the connection was closed in the middle", ""),
    (ConnectionError, "broken", "the connection was closed in the middle", ""),
)
# The next step, by OpenSSL's number of what is wrong with a certificate (X509_V_ERR_… of openssl/x509_vfy.h).
_CERTIFICATES = {
    9: "compare the clocks of this machine and of the server",  # not yet valid
    10: "renew it on the server, or compare the clocks",  # has expired
    18: CA,  # self-signed
    19: CA,  # self-signed in the chain
    20: CA,  # no issuer
    21: CA,  # the first can't be verified
    62: NAMED,  # another name
    64: NAMED,  # another address
}


def broken_connection(error: Exception, way: str) -> Stopped:
    """What an error of the connection means, in one sentence that names the server, what lies before it, and the next step."""
    chain = _chain(error)
    for kind, failure, meaning, step in _MEANINGS:
        cause = next((each for each in chain if isinstance(each, kind)), None)
        if cause is not None:
            detail, step = _detail(cause), _CERTIFICATES.get(getattr(cause, "verify_code", 0), step)
            return Stopped(failure, f"{way}: {meaning}{detail and f' ({detail})'}{step and f': {step}'}")
    return Stopped("unreachable", f"{way}: {clean_foreign_text(error)}")


def _detail(cause: BaseException) -> str:
    """What OpenSSL or the system says, where it says more than the meaning does."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return clean_foreign_text(cause.verify_message)
    if isinstance(cause, ssl.SSLError | urllib3.exceptions.NewConnectionError | urllib3.exceptions.ProxyError):
        return clean_foreign_text(str(cause))
    return ""


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it was raised from or carries, at most 8 deep."""
    chain: list[BaseException] = []
    rest: list[object] = [error]
    while rest and len(chain) < 8:
        found = rest.pop(0)
        if isinstance(found, BaseException) and found not in chain:
            chain.append(found)
            rest += [found.__cause__, found.__context__, getattr(found, "reason", None), *found.args]
    return chain


def date(header: str | None) -> float:
    """Seconds since the epoch of a Date header; 0.0 when it is missing or no date."""
    try:
        return parsedate_to_datetime(header).timestamp() if header else 0.0
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0


def retry_after(header: str | None) -> float | None:
    """The seconds of a Retry-After header. (The API server never sends its other form, a date.)"""
    return float(header) if header and len(header) <= 6 and header.isascii() and header.isdigit() else None
