"""Which cluster: the kubeconfig's contexts, and what it takes to talk to the one that is chosen.

Contexts are read here, quickly and as kubectl merges files (the first file that says something wins; the `kubernetes` package lets the
last `current-context` win). Credentials are the package's business: it is imported, and a credential plugin run, at the first request.
"""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

CONNECTIONS = 8  # kept alive; the engine runs at most this many steps at once
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ProbeSetupError(ValueError):
    """The kubeconfig or context that was asked for can't be used. The message is one sentence for the person who asked."""


class Context(msgspec.Struct, frozen=True):
    """One way to reach a cluster. `trouble` says why there is none; only a cluster that was asked for by name is an error at once."""

    name: str = ""
    namespace: str = "default"
    plugin: str = ""  # the program that makes its credentials
    files: tuple[str, ...] = ()  # kubeconfig files; none = this process runs in a pod
    trouble: str = ""

    @property
    def shown(self) -> str:
        """The context in a sentence."""
        return f"context {self.name!r}" if self.name else "the service account of this pod"


def find_context(kubeconfig: str | None = None, name: str | None = None) -> Context:
    """The context to use, found as kubectl does: the file given, else $KUBECONFIG, else ~/.kube/config, else the pod we run in.

    Raises ProbeSetupError when a file or context that was named doesn't exist or can't be read.
    """
    files = [kubeconfig] if kubeconfig else _default_files()
    try:
        if not files:
            return _in_cluster(name)
        return _choose([(file, _read(file)) for file in files], name)
    except ProbeSetupError as error:
        if kubeconfig or name:
            raise
        return Context(trouble=str(error))


def context_names() -> list[str]:
    """The contexts there are, for completion. Raises ProbeSetupError for a kubeconfig that can't be read."""
    return sorted(_entries([(file, _read(file)) for file in _default_files()], "contexts", "context"))


def _default_files() -> list[str]:
    paths = os.environ.get("KUBECONFIG", "").split(os.pathsep)
    candidates = [Path(path).expanduser() for path in paths if path] or [Path("~/.kube/config").expanduser()]
    return [str(path) for path in candidates if path.is_file()]


def _in_cluster(name: str | None) -> Context:
    if name:
        raise ProbeSetupError(f"there is no context {name!r}: no kubeconfig was found")
    if "KUBERNETES_SERVICE_HOST" not in os.environ:
        return Context(trouble="no kubeconfig was found ($KUBECONFIG, ~/.kube/config) and this is not a pod")
    try:
        namespace = (_SERVICE_ACCOUNT / "namespace").read_text().strip()
    except OSError:
        namespace = ""
    return Context(namespace=namespace or "default")


def _read(file: str) -> dict[str, Any]:
    import yaml

    try:
        loaded = yaml.load(Path(file).expanduser().read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except OSError as error:
        raise ProbeSetupError(f"the kubeconfig {file} can't be read: {error.strerror or error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ProbeSetupError(f"the kubeconfig {file} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict):
        raise ProbeSetupError(f"the kubeconfig {file} holds no configuration")
    return loaded


def _choose(configs: list[tuple[str, dict[str, Any]]], name: str | None) -> Context:
    contexts, users = _entries(configs, "contexts", "context"), _entries(configs, "users", "user")
    current = [named for _, config in configs if isinstance(named := config.get("current-context"), str) and named]
    chosen = name or next(iter(current), "")
    known = f"the contexts are {', '.join(sorted(contexts))}" if contexts else "there are no contexts"
    where = ", ".join(file for file, _ in configs)
    if not chosen:
        raise ProbeSetupError(f"{where} has no current context; {known}")
    if chosen not in contexts:
        raise ProbeSetupError(f"there is no context {chosen!r} in {where}; {known}")
    context = contexts[chosen]
    user = users.get(str(context.get("user")), {})
    plugin = user.get("exec")
    return Context(
        name=chosen,
        namespace=str(context.get("namespace") or "default"),
        plugin=str(plugin.get("command", "")) if isinstance(plugin, dict) else "",
        files=tuple(str(Path(file).expanduser()) for file, _ in configs),
    )


def _entries(configs: list[tuple[str, dict[str, Any]]], section: str, key: str) -> dict[str, dict[str, Any]]:
    """The named entries of a section; the first file that has a name wins."""
    found: dict[str, dict[str, Any]] = {}
    for _, config in configs:
        entries = config.get(section)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get(key), dict) and isinstance(entry.get("name"), str):
                found.setdefault(entry["name"], entry[key])
    return found


class Connection:
    """An open way to the API server: `url`, a pool of kept-alive connections, the TLS context and the credentials."""

    def __init__(self, context: Context) -> None:
        """Load the configuration. Slow (it imports `kubernetes`) and may hang in a credential plugin: run it under a deadline.

        Raises ConnectionError with one sentence.
        """
        import urllib3
        from kubernetes.client import Configuration
        from kubernetes.config import load_incluster_config, load_kube_config

        self._shown = context.shown
        self._settings = settings = Configuration()
        self._lock = threading.Lock()
        with _heard() as messages, tempfile.TemporaryDirectory(prefix="gpudoctor-") as folder:
            try:
                if context.files:
                    load_kube_config(os.pathsep.join(context.files), context.name, settings, temp_file_path=folder)  # type: ignore[no-untyped-call]
                else:
                    load_incluster_config(settings)  # type: ignore[no-untyped-call]
                # Keys and certificates live in the TLS context from here on: the files that the package wrote for them go.
                self.tls = _tls(settings)
            except Exception as error:  # a kubeconfig can be wrong in any way: KeyError, TypeError, binascii.Error, ssl.SSLError …
                raise ConnectionError(f"{context.shown} can't be used: {_line(error)}") from None
        if messages and context.plugin and not (settings.auth_settings() or settings.cert_file):
            raise ConnectionError(
                f"the credential plugin {context.plugin} failed: {_line(messages[-1])}"
            )  # logged, not raised, by the package
        self.url: str = settings.host.rstrip("/")
        self.server_name: str | None = getattr(settings, "tls_server_name", None)
        self.proxy: str | None = None if _bypassed(self.url, settings.no_proxy) else settings.proxy
        options: dict[str, Any] = {"ssl_context": self.tls, "maxsize": CONNECTIONS, "retries": False}
        if self.server_name:
            options |= {"server_hostname": self.server_name, "assert_hostname": self.server_name}
        if self.proxy:
            self.pool: urllib3.PoolManager = urllib3.ProxyManager(self.proxy, proxy_headers=settings.proxy_headers, **options)
        else:
            self.pool = urllib3.PoolManager(**options)

    def headers(self) -> dict[str, str]:
        """What each request says of us. Runs a credential plugin again when its token is about to expire: run it under a deadline.

        Raises Stopped.
        """
        from gpudoctor import __version__
        from gpudoctor.probes.kube_answer import Stopped

        try:
            with self._lock, _heard():
                authorization = self._settings.auth_settings().get("BearerToken", {}).get("value")
        except Exception as error:  # as for the first time: KeyError, ConfigException, OSError …
            raise Stopped("unreachable", f"the credentials of {self._shown} could not be renewed: {_line(error)}") from None
        headers = {"User-Agent": f"gpudoctor/{__version__}"}
        return headers | {"Authorization": authorization} if authorization else headers

    def close(self) -> None:
        """Close the kept-alive connections."""
        self.pool.clear()


def _tls(settings: Any) -> ssl.SSLContext:
    # Not ssl.create_default_context: from Python 3.13 on it is strict in ways that the certificates of many clusters don't meet.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif settings.ssl_ca_cert:
        context.load_verify_locations(settings.ssl_ca_cert)
    else:
        context.load_default_certs()
    if settings.cert_file:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context


def _bypassed(url: str, no_proxy: str | None) -> bool:
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # the rules that curl and requests follow

    return bool(no_proxy and proxy_bypass_environment(urlsplit(url).netloc, {"no": no_proxy}))


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What this thread logs, kept instead of printed: the package reports a plugin's failure by `logging.error` only."""
    messages: list[str] = []
    thread = threading.get_ident()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread == thread:
                messages.append(record.getMessage())

    listener = Listener(logging.WARNING)
    logging.getLogger().addHandler(listener)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(listener)


def _line(error: object) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:300] + "…"
