"""The proxy on the way to an API server, found by the rules that kubectl has: those of Go (golang.org/x/net/http/httpproxy).

A kubeconfig's `proxy-url` beats the environment, and for it NO_PROXY isn't asked. SOCKS 5 is RFC 1928 and 1929.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ProxyError

from gpudoctor.probes.foreign_text import keep_out

PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
SOCKS_REPLIES = {  # RFC 1928, 6
    1: "it failed",
    2: "its rules don't allow it",
    3: "the network is unreachable",
    4: "the host is unreachable",
    5: "the host refused the connection",
}
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxy(NamedTuple):
    """`source` is the variable or field that names it."""

    parts: SplitResult
    source: str

    @property
    def url(self) -> str:
        """Its address, without user and password: both stay out of every sentence."""
        host = f"[{self.parts.hostname}]" if ":" in (self.parts.hostname or "") else self.parts.hostname
        return f"{self.parts.scheme}://{host}:{self.port}"

    @property
    def port(self) -> int:
        """Its port."""
        return self.parts.port or PORTS[self.parts.scheme]

    @property
    def login(self) -> tuple[str, str] | None:
        """User and password."""
        return (unquote(self.parts.username), unquote(self.parts.password or "")) if self.parts.username else None

    @property
    def headers(self) -> dict[str, str]:
        """What an HTTP proxy must be told."""
        if not self.login:
            return {}
        basic = base64.b64encode(":".join(self.login).encode()).decode()
        keep_out(basic)
        return {"Proxy-Authorization": f"Basic {basic}"}


def find_proxy(server: str, named: str = "") -> Proxy | None:
    """The proxy for a server's URL; `named` is the kubeconfig's. Raises ValueError with a sentence that doesn't carry its password."""
    if named:
        return _proxy(named, "proxy-url of the kubeconfig")
    target = urlsplit(server)
    variable = f"{target.scheme.upper()}_PROXY"
    source = next((name for name in (variable, variable.lower()) if os.environ.get(name)), "")
    no_proxy = os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or ""
    if not source or bypasses_proxy(target.hostname or "", target.port or PORTS.get(target.scheme, 0), no_proxy):
        return None
    return _proxy(os.environ[source], f"${source}")


def bypasses_proxy(host: str, port: int, no_proxy: str) -> bool:
    """Whether a host is reached without a proxy. Entries: `*`, CIDRs, addresses and domains, the last two with or without a port."""
    host, address = host.lower(), _address(host)
    if host == "localhost" or (address and address.is_loopback):
        return True
    return any(_matches(entry.strip(), host, port, address) for entry in no_proxy.lower().split(","))


def _matches(entry: str, host: str, port: int, address: _Address | None) -> bool:
    """Whether an entry of NO_PROXY means this host."""
    if entry == "*":
        return True
    with suppress(ValueError):
        if "/" in entry:
            return address is not None and address in ipaddress.ip_network(entry, strict=False)
    name, colon, wanted = entry.rpartition(":")
    if not colon or _address(entry):  # the colons of an IPv6 address are those of no port
        name, wanted = entry, ""
    elif name.startswith("["):
        name = name[1:].removesuffix("]")
    if not name or wanted not in ("", str(port)):
        return False
    if address or _address(name):  # a domain isn't compared with an address (CVE-2025-22870)
        return address == _address(name)
    if name.startswith("*."):
        name = name[1:]
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _address(text: str) -> _Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _proxy(given: str, source: str) -> Proxy:
    try:
        parts = urlsplit(given if "://" in given else f"http://{given}")
        proxy = Proxy(parts, source)
        keep_out(*([parts.password] if parts.password else []))
        usable = bool(parts.hostname) and proxy.port > 0
    except (ValueError, KeyError):  # their words have a part of the URL
        usable = False
    if not usable or parts.scheme not in PORTS:
        raise ValueError(f"{source} is not the URL of a proxy (http, https or socks5)")
    return proxy


def manager(proxy: Proxy | None, trusted: Callable[[], ssl.SSLContext], **options: Any) -> urllib3.PoolManager:
    """The pool of connections that leads through the proxy. `trusted` makes the TLS context for a proxy that is itself behind TLS."""
    if proxy is None:
        return urllib3.PoolManager(**options)
    if proxy.parts.scheme.startswith("socks"):
        through = urllib3.PoolManager(**options)
        through.pool_classes_by_scheme = _socks_pools(proxy)
        return through
    tls = trusted() if proxy.parts.scheme == "https" else None
    return urllib3.ProxyManager(proxy.url, proxy_headers=proxy.headers, proxy_ssl_context=tls, **options)


def _socks_pools(proxy: Proxy) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    """Kinds of pools whose connections begin at the SOCKS proxy."""

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _through_socks(proxy, self.host, self.port, self.timeout)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _through_socks(proxy, self.host, self.port, self.timeout)

    class PlainPool(urllib3.HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(urllib3.HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


def _through_socks(proxy: Proxy, host: str, port: int | None, seconds: Any) -> socket.socket:
    """A connection by SOCKS 5; the proxy resolves the name, as for Go."""
    talk = socket.create_connection((proxy.parts.hostname or "", proxy.port), seconds if isinstance(seconds, (int, float)) else None)
    try:
        talk.sendall(b"\5\2\0\2" if proxy.login else b"\5\1\0")
        version, method = _receive_exactly(talk, 2)
        if version != 5 or method not in (0, 2):
            raise OSError("it wants another way to log in" if version == 5 else "it speaks no SOCKS 5")
        if method == 2:
            user, password = (part.encode()[:255] for part in proxy.login or ("", ""))
            talk.sendall(bytes((1, len(user))) + user + bytes((len(password),)) + password)
            if _receive_exactly(talk, 2)[1]:
                raise OSError("it did not accept user and password")
        if address := _address(host):
            target = bytes((1 if address.version == 4 else 4,)) + address.packed
        else:
            name = host.encode("idna")
            target = bytes((3, len(name))) + name
        talk.sendall(b"\5\1\0" + target + (port or 0).to_bytes(2, "big"))
        _, reply, _, kind = _receive_exactly(talk, 4)
        if reply:
            raise OSError(SOCKS_REPLIES.get(reply, f"SOCKS reply {reply}"))
        _receive_exactly(talk, (16 if kind == 4 else _receive_exactly(talk, 1)[0] if kind == 3 else 4) + 2)  # the address it uses
    except TimeoutError:
        talk.close()
        raise
    except (OSError, ValueError) as error:
        talk.close()
        raise ProxyError(str(error), error) from error
    return talk


def _receive_exactly(talk: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        chunk = talk.recv(size - len(data))
        if not chunk:
            raise OSError("it closed the connection")
        data += chunk
    return data
