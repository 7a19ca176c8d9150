"""Credential plugins: the `exec` of a kubeconfig's user, run under a deadline and ended with everything it started.

The protocol is https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ . A plugin has no terminal here: what it wants to
tell a person is in our sentence.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import msgspec

from gpudoctor.knowledge.environment import names_secret
from gpudoctor.knowledge.secrets import looks_random
from gpudoctor.probes.base import time_limit_text
from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.foreign_text import clean_foreign_text, keep_out
from gpudoctor.probes.kube_config import Context, ProbeSetupError, first_of
from gpudoctor.probes.process import Child, listen
from gpudoctor.probes.redact import Redactor

LIMIT = 1 << 20  # bytes that a plugin may print; a token and two certificates have some 10 KiB
GROUP = "client.authentication.k8s.io/"
EXTENSION = f"{GROUP}exec"  # the cluster's extension that is handed to a plugin


class Status(msgspec.Struct, frozen=True):
    """What a plugin gives."""

    token: str = ""
    clientCertificateData: str = ""
    clientKeyData: str = ""
    expirationTimestamp: datetime | None = None

    @property
    def end(self) -> float:
        """When it ends, in seconds since the epoch."""
        end = self.expirationTimestamp
        return float("inf") if end is None else (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp()


class _Variable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class _Exec(msgspec.Struct, frozen=True):
    command: str
    apiVersion: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    installHint: str = ""
    provideClusterInfo: bool = False
    interactiveMode: str = "IfAvailable"


class _Credential(msgspec.Struct, frozen=True):
    apiVersion: str = ""
    kind: str = ""
    status: Status | None = None


class Plugin:
    """A credential plugin. `said` is what it has printed for people, also while it runs."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.said = bytearray()

    def ask(self, seconds: float) -> Status:
        """Run it. Raises ProbeSetupError with a sentence."""
        try:
            wanted = msgspec.convert(self._context.user.fields["exec"], _Exec)
        except msgspec.ValidationError as error:
            raise ProbeSetupError(f"exec in the kubeconfig: {clean_foreign_text(error)}") from None
        if wanted.interactiveMode == "Always":
            raise self._trouble("it wants a terminal (interactiveMode: Always), and gets none here: log in with kubectl first")
        answer = self._run(wanted, seconds)
        try:
            credential = msgspec.convert(first_of(answer), _Credential)
        except (msgspec.MsgspecError, ValueError) as error:
            words = f" ({clean_foreign_text(error)})" if isinstance(error, msgspec.MsgspecError) else ""  # those of YAML would quote it
            raise self._trouble(f"what it printed is no ExecCredential{words}") from None
        status = credential.status or Status()
        keep_out(status.token, status.clientKeyData)
        if (credential.apiVersion, credential.kind) != (wanted.apiVersion, "ExecCredential"):
            asked = f"ExecCredential of {wanted.apiVersion}"
            other = credential.kind == "ExecCredential" and credential.apiVersion.startswith(GROUP)  # anything else may be a secret
            raise self._trouble(f"it gave {f'ExecCredential of {credential.apiVersion}' if other else 'something else'}, not {asked}")
        if bool(status.clientCertificateData) != bool(status.clientKeyData):
            raise self._trouble("it gave a certificate without its key, or a key alone")
        if not (status.token or status.clientKeyData):
            raise self._trouble("it gave neither a token nor a certificate")
        return status

    def _run(self, wanted: _Exec, seconds: float) -> bytes:
        """What it printed on stdout."""
        self.said.clear()
        _keep_out_the_secrets_of(wanted)
        printed = bytearray()
        variables = {variable.name: variable.value for variable in wanted.env or ()}
        try:
            argv = [self._context.user.resolve_path(wanted.command) if "/" in wanted.command else wanted.command, *(wanted.args or ())]
            child = Child(argv, environment=variables | {"KUBERNETES_EXEC_INFO": self._information(wanted)})
        except FileNotFoundError:
            raise self._trouble(f"command not found{wanted.installHint and f'; {wanted.installHint}'}") from None
        except (OSError, ValueError) as error:
            raise self._trouble(f"it cannot be started: {getattr(error, 'strerror', None) or error}") from None
        try:
            failure = listen(child, Deadline(seconds), LIMIT, {1: printed, 2: self.said})
        finally:
            child.stop()  # also what a plugin that has ended left running
        if failure == "too-large":
            raise self._trouble(f"it printed more than {LIMIT >> 20} MiB")
        if failure:
            raise self._trouble(f"it did not answer within {time_limit_text(seconds)}{self.words}")
        if child.exit:
            raise self._trouble(f"it ended with exit code {child.exit}{self.words}")
        return bytes(printed)

    @property
    def words(self) -> str:
        """What it said, for the end of a sentence."""
        words = clean_foreign_text(self.said.decode("utf-8", "replace")) if self.said else ""
        return words and f", saying: {words}"

    def _information(self, wanted: _Exec) -> str:
        """KUBERNETES_EXEC_INFO: what kubectl tells a plugin."""
        specified: dict[str, Any] = {"interactive": False}
        if wanted.provideClusterInfo:
            cluster = self._context.cluster
            extensions = cluster.fields.get("extensions") or []
            told = {name: cluster.fields.get(name) for name in ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url")}
            told["certificate-authority-data"] = base64.b64encode(cluster.data("certificate-authority")).decode()
            config = next((one.get("extension") for one in extensions if one.get("name") == EXTENSION), None)
            specified["cluster"] = {name: value for name, value in told.items() if value} | {"config": config}
        information = {"apiVersion": wanted.apiVersion, "kind": "ExecCredential", "spec": specified}
        return msgspec.json.encode(information).decode()

    def _trouble(self, words: str) -> ProbeSetupError:
        return ProbeSetupError(f"the credential plugin {self._context.plugin} failed: {words}")


def _keep_out_the_secrets_of(wanted: _Exec) -> None:
    """What the kubeconfig hands to the plugin: variables and options that have the name or the form of a secret."""
    keep_out(*(one.value for one in wanted.env or () if names_secret(one.name) or looks_random(one.value)))
    given = wanted.args or []
    keep_out(*(word.partition("=")[2] or word for word, public in zip(given, Redactor().argv(given), strict=True) if word != public))
