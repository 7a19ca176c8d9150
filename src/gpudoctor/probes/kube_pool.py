"""Kept-alive connections to one server: `http.client` over sockets that are made directly or through a proxy.

urllib3 does the same and more. To import it takes a tenth of a short run, so only what needs its TLS inside TLS does.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import cast
from urllib.parse import urlsplit

from gpudoctor.probes.proxies import PORTS, Proxy, through

KEPT = 8  # idle connections; the engine runs at most this many steps at once
CHUNK = 1 << 18  # bytes of a body in one piece
Headers = list[tuple[str, str]]


class Line(HTTPConnection):
    """One connection, over a socket that is open already."""

    auto_open = 0  # never one of its own

    def __init__(self, host: str, port: int, talk: socket.socket) -> None:
        super().__init__(host, port)
        self.sock = talk

    def ask(self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes = b"") -> HTTPResponse:
        """The head of the response. Raises HTTPException and OSError."""
        self.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers:
            self.putheader(name, value)
        if body:
            self.putheader("Content-Length", str(len(body)))
        with suppress(BrokenPipeError):  # who stops listening may have said why
            self.endheaders(body or None)
        return self.getresponse()


class Pool:
    """The connections to the server of a URL. Safe for several threads. `name` is what its certificate says, if not the URL's host;
    `trusted` makes the TLS context for a proxy that is itself behind TLS.
    """

    def __init__(self, url: str, tls: ssl.SSLContext, name: str, proxy: Proxy | None, trusted: Callable[[], ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        self.tls, self.name = (tls if parts.scheme == "https" else None), name or self.host.rstrip(".")
        self.proxy, self.trusted = proxy, trusted
        # An HTTP proxy reads plain HTTP, and wants to know where it goes; it sees nothing of what is encrypted.
        self.read_on_the_way = bool(proxy and not proxy.is_socks and not self.tls)
        self.prefix = url if self.read_on_the_way else parts.path
        self.idle: deque[Line] = deque()
        self.made, self.closed = 0, False

    def line(self, seconds: float, *, tunnel: bool) -> Line:
        """A new connection; with a `tunnel` no proxy reads on the way. Raises OSError, `ProxyError` where it is the proxy's fault."""
        made = Line(self.host, self.port, self.reach(seconds, tunnel))
        self.made += 1
        return made

    def reach(self, seconds: float, tunnel: bool) -> socket.socket:
        """A socket to the server. Raises OSError."""
        if self.proxy:
            talk = through(self.proxy, self.trusted, (self.host, self.port), seconds, tunnel=tunnel)
        else:
            talk = socket.create_connection((self.host, self.port), seconds)
        talk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.tls:
            return talk
        try:
            return secured(talk, self.tls, self.name)
        except BaseException:
            talk.close()
            raise

    @contextmanager
    def asked(self, method: str, target: str, headers: Headers, body: bytes, seconds: float) -> Iterator[HTTPResponse]:
        """The response to a request; its connection is kept when the body was read to its end.

        A connection that was closed meanwhile is replaced once; what creates is sent only once. Raises HTTPException and OSError.
        """
        target = self.prefix + target
        if self.read_on_the_way and self.proxy:
            headers = [*headers, *self.proxy.headers.items()]
        line = self.kept() or self.line(seconds, tunnel=not self.read_on_the_way)
        try:
            try:
                response = answered(line, method, target, headers, body, seconds)
            except (HTTPException, ConnectionError):
                if method == "POST":
                    raise
                line.close()
                line = self.line(seconds, tunnel=not self.read_on_the_way)
                response = answered(line, method, target, headers, body, seconds)
            with response:
                yield response
        except BaseException:
            line.close()
            raise
        if line.sock is None or self.closed or len(self.idle) >= KEPT:
            line.close()
        else:
            self.idle.append(line)

    def kept(self) -> Line | None:
        """An idle connection that is still open: a server that closes one makes it readable."""
        with suppress(IndexError):
            while line := self.idle.pop():
                with selectors.DefaultSelector() as selector:
                    selector.register(line.sock, selectors.EVENT_READ)
                    if not selector.select(0):
                        return line
                line.close()
        return None

    def close(self) -> None:
        """Close the idle connections; those in use follow when they are done."""
        self.closed = True
        with suppress(IndexError):
            while True:
                self.idle.pop().close()


def answered(line: Line, method: str, target: str, headers: Headers, body: bytes, seconds: float) -> HTTPResponse:
    """The head of the response, with a time limit for each read."""
    line.sock.settimeout(seconds)
    return line.ask(method, target, headers, body)


def secured(talk: socket.socket, tls: ssl.SSLContext, name: str) -> socket.socket:
    """TLS over a socket, which may be one of TLS itself. Raises OSError."""
    if not isinstance(talk, ssl.SSLSocket):
        return tls.wrap_socket(talk, server_hostname=name)
    from urllib3.util.ssltransport import SSLTransport

    return cast("socket.socket", SSLTransport(talk, tls, server_hostname=name))


def pieces(response: HTTPResponse) -> Iterator[bytes]:
    """The body, unpacked, as it comes. Raises IncompleteRead where it is cut off, zlib.error, OSError."""
    packed = (response.getheader("Content-Encoding") or "").lower() == "gzip"
    unpacking, whole = zlib.decompressobj(16 + zlib.MAX_WBITS), True
    while chunk := response.read1(CHUNK):
        if not packed:
            yield chunk
            continue
        yield (piece := unpacking.decompress(chunk, CHUNK))
        while unpacking.unconsumed_tail or len(piece) == CHUNK:  # there is more in the chunk than it says
            yield (piece := unpacking.decompress(unpacking.unconsumed_tail, CHUNK))
        whole = unpacking.eof
    if response.length or not whole:
        raise IncompleteRead(b"", response.length)
