"""An open way to the API server: its address, the proxy, TLS, a pool of kept-alive connections, and who asks."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from urllib3 import HTTPHeaderDict
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, ProxyError

from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.foreign_text import clean_foreign_text
from gpudoctor.probes.kube_answer import Stopped
from gpudoctor.probes.kube_config import Context, Entry, ProbeSetupError
from gpudoctor.probes.kube_credentials import Credential, Credentials, impersonation
from gpudoctor.probes.proxies import find_proxy, manager

CONNECTIONS = 8  # kept alive; the engine runs at most this many steps at once


class Connection:
    """`url` is the server's address, `way` the same for a sentence about what lies between, `pool` what requests go through."""

    def __init__(self, context: Context, credentials: Credentials) -> None:
        """Get the credentials. May take as long as a plugin does: run it under a deadline. Raises ConnectionError with one sentence."""
        self._shown, self._credentials = context.shown, credentials
        try:
            cluster = context.cluster
            server = context.server()
            self.url = f"{server.scheme}://{server.netloc.rpartition('@')[2]}{server.path.rstrip('/')}"
            self._held = credentials()
            self._impersonation = impersonation(context.user)
            self._tls = _tls(cluster, self._held)
            proxy = find_proxy(self.url, cluster.text("proxy-url"))
            options: dict[str, Any] = {"ssl_context": self._tls, "maxsize": CONNECTIONS, "retries": False}
            if name := cluster.text("tls-server-name"):
                options["server_hostname"] = name
            self.pool = manager(proxy, lambda: _proxy_tls_context(cluster), **options)
        except Exception as error:  # a kubeconfig can be wrong in any way: KeyError, TypeError, ssl.SSLError …
            raise ConnectionError(f"{context.shown} can't be used: {clean_foreign_text(error)}") from None
        self.way = f"{self.url} through the proxy {proxy.url} ({proxy.source})" if proxy else self.url

    def headers(self) -> HTTPHeaderDict:
        """What each request says of us. Runs a credential plugin again when its token is about to expire: run it under a deadline.

        Raises Stopped.
        """
        from gpudoctor import __version__

        try:
            held = self._credentials()
            if held.key != self._held.key:
                _introduce(self._tls, held)
                self._held = held
        except Exception as error:  # as for the first time: KeyError, ConfigException, OSError …
            raise Stopped("unreachable", f"the credentials of {self._shown} could not be renewed: {clean_foreign_text(error)}") from None
        headers = HTTPHeaderDict({"User-Agent": f"gpudoctor/{__version__}"})
        if held.authorization:
            headers["Authorization"] = held.authorization
        for name, value in self._impersonation:
            headers.add(name, value)
        return headers

    @property
    def waiting(self) -> str:
        """A sentence on what has not answered yet."""
        return self._credentials.waiting

    def dial(self, deadline: Deadline) -> HTTPConnection:
        """A connection of its own, made in the same way as those of the pool. Raises the errors of urllib3 and of sockets."""
        pool: Any = self.pool.connection_from_url(self.url)
        made: HTTPConnection = pool._new_conn()  # what the pool itself does; it lends none of its own for a change of protocol
        made.timeout = max(0.001, deadline.left)
        try:
            if pool.proxy is not None:
                target = urlsplit(self.url)
                tunnel = "https" if pool.proxy.scheme == "https" and target.scheme == "https" else "http"
                made.set_tunnel(target.hostname or "", target.port or (443 if target.scheme == "https" else 80), pool.proxy_headers, tunnel)
            made.connect()
        except BaseException as error:
            made.close()
            if pool.proxy is not None and isinstance(error, OSError | HTTPError) and not made.has_connected_to_proxy:
                raise ProxyError(str(error), error) from error
            raise
        return made

    def close(self) -> None:
        """Close the kept-alive connections."""
        self.pool.clear()


def _tls(cluster: Entry, held: Credential) -> ssl.SSLContext:
    # Not ssl.create_default_context: from Python 3.13 on it is strict in ways that the certificates of many clusters don't meet.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if cluster.fields.get("insecure-skip-tls-verify") is True:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority := cluster.data("certificate-authority"):
        _trust(context, authority)
    else:
        context.load_default_certs()
    if held.certificate or held.key:
        _introduce(context, held)
    return context


def _proxy_tls_context(cluster: Entry) -> ssl.SSLContext:
    """For a proxy that is behind TLS: what the system trusts, and what the cluster's kubeconfig does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    if authority := cluster.data("certificate-authority"):
        _trust(context, authority)
    return context


def _trust(context: ssl.SSLContext, authority: bytes) -> None:
    try:
        context.load_verify_locations(cadata=authority.decode("ascii", "ignore"))
    except ssl.SSLError as error:
        raise ProbeSetupError(f"its certificate-authority holds no certificate in PEM ({clean_foreign_text(error)})") from None


def _introduce(context: ssl.SSLContext, held: Credential) -> None:
    """Load the client certificate. A key never touches a disk where the system has files in memory."""

    def locked() -> str:  # without it OpenSSL asks on the terminal, and waits
        raise ProbeSetupError("its client key is encrypted; kubectl takes no such key either")

    try:
        with _as_file(held.certificate + b"\n" + held.key) as path:
            context.load_cert_chain(path, password=locked)
    except ssl.SSLError as error:
        raise ProbeSetupError(f"its client certificate and key can't be used ({clean_foreign_text(error)})") from None


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """The path of a file with this content, which is gone afterwards."""
    try:
        descriptor = os.memfd_create("gpudoctor")
    except (AttributeError, OSError):  # not Linux, or forbidden
        with tempfile.NamedTemporaryFile(prefix="gpudoctor-") as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    with os.fdopen(descriptor, "wb") as memory:
        memory.write(content)
        memory.flush()
        yield f"/proc/self/fd/{descriptor}"
