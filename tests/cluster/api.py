"""A small client of the API server, for the side of the tests: gpudoctor's own probes are what is tested."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Object = dict[str, Any]
WHOLE_CLUSTER = {
    "Namespace", "Node", "PersistentVolume", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", "ResourceSlice", "ClusterRole",
    "ClusterRoleBinding", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "CSINode", "CSIDriver", "ClusterQueue",
}  # fmt: skip


class Refused(Exception):
    """The API server said no; `code` is its HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Api:
    """Requests by path, with the certificate of one user. One connection per thread."""

    def __init__(self, keys: Path, user: str, host: str, port: int) -> None:
        self.where = (host, port)
        self.context = ssl.create_default_context(cafile=str(keys / "ca.crt"))
        self.context.load_cert_chain(keys / f"{user}.crt", keys / f"{user}.key")
        self.own = threading.local()

    def ask(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Any:
        """One request; its answer as JSON. Raises `Refused`."""
        data = None if body is None else json.dumps(body).encode()
        for again in (True, False):
            connection = getattr(self.own, "connection", None)
            if connection is None:
                connection = self.own.connection = http.client.HTTPSConnection(*self.where, timeout=30, context=self.context)
            try:
                connection.request(method, path, data, {"Content-Type": kind, "Accept": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                connection.close()
                self.own.connection = None
                if not again:
                    raise
        if answer.status >= 300:
            try:
                message = json.loads(text).get("message", "")
            except ValueError:
                message = text[:200].decode("utf-8", "replace")
            raise Refused(answer.status, message)
        try:
            return json.loads(text)
        except ValueError:
            return text.decode("utf-8", "replace")

    def close(self) -> None:
        """End this thread's connection."""
        if connection := getattr(self.own, "connection", None):
            connection.close()
            self.own.connection = None

    def ready(self) -> bool:
        """Whether the API server answers."""
        try:
            return str(self.ask("GET", "/readyz")) == "ok"
        except (OSError, Refused, http.client.HTTPException):
            return False

    def get(self, path: str) -> Any:
        return self.ask("GET", path)

    def items(self, path: str) -> list[Object]:
        return list(self.ask("GET", path)["items"])

    def create(self, one: Object) -> Object:
        made = self.ask("POST", collection(one), one)
        if one.get("status") and one["kind"] != "Node":  # whoever creates an object may not say how it is
            made = self.ask(
                "PUT", f"{path_of(made | {'kind': one['kind'], 'apiVersion': one['apiVersion']})}/status", made | {"status": one["status"]}
            )
        return dict(made)

    def patch(self, path: str, change: object) -> Any:
        return self.ask("PATCH", path, change, "application/merge-patch+json")

    def delete(self, path: str) -> None:
        """Delete at once; what isn't there is no mistake."""
        with gone():
            self.ask(
                "DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
            )


@contextlib.contextmanager
def gone() -> Iterator[None]:
    """What isn't there is no mistake."""
    try:
        yield
    except Refused as refused:
        if refused.code != 404:
            raise


def plural(kind: str) -> str:
    """The word of a kind in a path."""
    word = kind.lower()
    return word + "es" if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"


def collection(one: Object) -> str:
    """The path under which objects of its kind lie."""
    version = one["apiVersion"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = "" if one["kind"] in WHOLE_CLUSTER else f"/namespaces/{one['metadata'].get('namespace', 'default')}"
    return f"{base}{namespace}/{plural(one['kind'])}"


def path_of(one: Object) -> str:
    """The path of an object."""
    return f"{collection(one)}/{one['metadata']['name']}"
