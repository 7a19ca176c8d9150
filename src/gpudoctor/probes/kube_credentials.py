"""Who asks: the credentials of a context's user, renewed when their time is over. Nothing of them is written to a disk.

Tokens, certificates and passwords are read here and a plugin is run by `kube_plugin`; signing in by an `auth-provider` (oidc, gcp) is the
business of the `kubernetes` package, which is imported for that alone. As kubectl does, a server without TLS is told none of it, and what
stands in the server's URL is used there and beats the rest.
"""

from __future__ import annotations

import base64
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from gpudoctor.probes.foreign_text import bearer, clean_foreign_text, keep_out
from gpudoctor.probes.kube_config import Context, Entry, ProbeSetupError

if TYPE_CHECKING:
    from gpudoctor.probes.kube_plugin import Plugin

REREAD = 60.0  # seconds after which a token's file is read again, as client-go does: the kubelet replaces it
EARLY = 60.0  # seconds before its end at which a plugin's credential is renewed
AT_MOST = 10.0  # seconds between runs of a plugin whose credentials have ended already, or are refused
HEADER = "!#$&'*+-.^_`|~"  # may stand in a header's name beside letters and digits (RFC 9110, 5.6.2); % escapes what may not
SECRETS = ("token", "password", "client-key-data", "id-token", "refresh-token", "access-token", "client-secret")  # fields of a user


class Credential(NamedTuple):
    """`authorization` is a header's value, `certificate` and `key` are PEM; `until` is when it has to be asked for again."""

    authorization: str = ""
    certificate: bytes = b""
    key: bytes = b""
    until: float = float("inf")


class Credentials:
    """The credentials of a context. Safe for several threads. `patience` is how many seconds a plugin has."""

    def __init__(self, context: Context, patience: float) -> None:
        self._context, self._patience = context, patience
        self._lock = threading.Lock()
        self._plugin: Plugin | None = None
        if "exec" in context.user.fields:
            from gpudoctor.probes.kube_plugin import Plugin

            self._plugin = Plugin(context)
        self._signed_in: Callable[[], str] | None = None
        self._held: Credential | None = None
        self._obtained = 0.0

    def __call__(self) -> Credential:
        """What is valid now. May take as long as a plugin does. Raises ProbeSetupError, and what the package raises."""
        with self._lock:
            if self._held is None or time.time() >= self._held.until:
                self._held, self._obtained = self._obtain(), time.time()
            return self._held

    def again(self) -> bool:
        """The server takes them no longer; → whether a plugin gives others to the next who asks, which it may do every AT_MOST seconds."""
        with self._lock:
            if self._plugin is None or self._held is None or time.time() < self._obtained + AT_MOST:
                return False
            self._held = self._held._replace(until=0.0)
            return True

    @property
    def waiting(self) -> str:
        """A sentence on what has not answered yet."""
        if self._plugin:
            return f"the credential plugin {self._context.plugin} of {self._context.shown} did not answer{self._plugin.words}"
        return f"the configuration of {self._context.shown} could not be loaded in time"

    def _obtain(self) -> Credential:
        user = self._context.user
        _keep_out(user.fields)
        server = self._context.server()
        own = Credential(certificate=user.data("client-certificate"), key=user.data("client-key"))
        if server.username:
            keep_out(server.password or "")
            return own._replace(authorization=_basic(unquote(server.username), unquote(server.password or "")))
        if server.scheme == "http":
            return own
        if "auth-provider" in user.fields:
            self._signed_in = self._signed_in or _sign_in(self._context)
            return own._replace(authorization=self._signed_in(), until=0.0)
        if user.text("tokenFile"):
            with suppress(ProbeSetupError) if user.text("token") else nullcontext():
                return own._replace(
                    authorization=bearer(user.file("tokenFile").decode("utf-8", "replace"), "tokenFile"), until=time.time() + REREAD
                )
        if token := user.text("token"):
            return own._replace(authorization=bearer(token, "token"))
        if self._plugin:
            given = self._plugin.ask(self._patience)
            own = own._replace(until=max(given.end - EARLY, time.time() + AT_MOST))
            if given.clientKeyData:
                own = own._replace(certificate=given.clientCertificateData.encode(), key=given.clientKeyData.encode())
            return own._replace(authorization=bearer(given.token, "the plugin's token")) if given.token else own
        if name := user.text("username"):
            return own._replace(authorization=_basic(name, user.text("password")))
        return own


def _basic(name: str, password: str) -> str:
    basic = base64.b64encode(f"{name}:{password}".encode()).decode()
    keep_out(basic)
    return f"Basic {basic}"


def impersonation(user: Entry) -> list[tuple[str, str]]:
    """The headers for another user, in whose name the kubeconfig's user asks (`as`). Raises ProbeSetupError."""
    name, uid, groups, extra = user.text("as"), user.text("as-uid"), user.fields.get("as-groups", []), user.fields.get("as-user-extra", {})
    try:
        msgspec.convert((groups, extra), tuple[list[str], dict[str, list[str]]])
    except msgspec.ValidationError as error:
        raise ProbeSetupError(f"as-groups or as-user-extra in the kubeconfig: {clean_foreign_text(error)}") from None
    if not name and (uid or groups or extra):
        raise ProbeSetupError("the kubeconfig has as-groups, as-uid or as-user-extra without `as`, the user whom they belong to")
    headers = [("User", name), ("Uid", uid), *(("Group", group) for group in groups)]
    headers += [(f"Extra-{quote(key, safe=HEADER)}", value) for key, values in extra.items() for value in values]
    return [(f"Impersonate-{key}", value.encode().decode("latin-1")) for key, value in headers if value]  # as http.client writes it


def _keep_out(fields: dict[str, Any]) -> None:
    """Every secret in a user's entry, whatever the way in: an error may quote it."""
    for name, value in fields.items():
        if isinstance(value, dict):
            _keep_out(value)
        elif name in SECRETS and isinstance(value, str):
            keep_out(value)


def _sign_in(context: Context) -> Callable[[], str]:
    """What gives the header for an `auth-provider`. A token that it renews is kept in the kubeconfig, as kubectl does."""
    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

    merger = KubeConfigMerger(os.pathsep.join(context.files))
    users = merger.config.value["users"]
    wanted = merger.config["contexts"].get_with_name(context.name)["context"]["user"]
    # Of the cluster the package is told nothing: it would write certificates into files.
    alone = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": wanted}}],
        "clusters": [{"name": "one", "cluster": {}}],
        "users": users,
    }
    settings = Configuration()
    with _captured_log() as messages:
        KubeConfigLoader(alone, config_persister=merger.save_changes).load_and_set(settings)

    def header() -> str:
        with _captured_log():
            value = settings.auth_settings().get("BearerToken", {}).get("value") or ""
        _keep_out(context.user.fields)
        if not value:
            said = f": {clean_foreign_text(messages[-1])}" if messages else ""
            raise ProbeSetupError(f"the auth-provider {context.user.fields['auth-provider'].get('name')} gave no credentials{said}")
        scheme, _, token = value.partition(" ")
        return bearer(token, "the auth-provider's token") if scheme.lower() == "bearer" else value

    return header


@contextmanager
def _captured_log() -> Iterator[list[str]]:
    """What this thread logs, kept instead of printed: the package reports some failures by `logging.error` only."""
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
