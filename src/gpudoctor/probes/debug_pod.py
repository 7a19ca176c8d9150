"""Debug pods: for a node that has no pod of the GPU stack and no ssh. The only thing that gpudoctor ever creates, and only when asked to.

A pod is pinned to its node, sees the host's processes and files (read-only), and its commands run in the host's own tree by chroot. It
ends by itself after its time, and is deleted when the run ends, however that is; what could not be deleted is named.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from gpudoctor import leaving
from gpudoctor.probes.base import decoder, time_limit_text
from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.foreign_text import clean_foreign_text
from gpudoctor.probes.kube_answer import Stopped, status_of
from gpudoctor.probes.kube_http import exchange
from gpudoctor.probes.kube_request import Request
from gpudoctor.probes.kube_resources import PODS
from gpudoctor.probes.pods import Place
from gpudoctor.probes.remote import NoWay

if TYPE_CHECKING:
    from gpudoctor.probes.kube import Kube

IMAGE = "busybox:1.36"  # any image with `sleep` and `chroot`; $GPUDOCTOR_DEBUG_IMAGE names another one, for a registry of one's own
IMAGE_VARIABLE = "GPUDOCTOR_DEBUG_IMAGE"
NAME = "gpudoctor-debug"
LIFE = 900  # seconds after which a pod ends by itself
LOOK = 0.5  # seconds between looks at a pod that is starting
GONE = 15.0  # seconds for deleting all of them
CONTAINER = "debug"


class _State(msgspec.Struct, frozen=True):
    reason: str = ""
    message: str = ""


class _Container(msgspec.Struct, frozen=True):
    state: dict[str, _State] = {}


class _Status(msgspec.Struct, frozen=True):
    phase: str = ""
    message: str = ""
    containerStatuses: list[_Container] = []


class _Started(msgspec.Struct, frozen=True):
    status: _Status = _Status()


class DebugPods:
    """Makes a debug pod for a node when it is first asked for. Safe for several threads. `close` deletes them all."""

    def __init__(self, kube: Callable[[], Kube], namespace: str) -> None:
        self._kube, self._namespace = kube, namespace
        self._path = Request("get", resource=PODS, namespace=namespace).path()
        self._lock = threading.Condition()
        self._locks: dict[str, threading.Lock] = {}
        self._made: dict[str, str] = {}  # pod → node
        self._being_made = 0  # pods whose creation is not answered yet
        self._places: dict[str, Place | NoWay] = {}
        self._closing = False
        leaving.in_haste(self.left)

    def place(self, node: str, seconds: float) -> Place:
        """The running container on a node. Raises NoWay, always with the same words for the same node."""
        with self._lock:
            alone = self._locks.setdefault(node, threading.Lock())
        with alone:
            if node not in self._places:
                try:
                    self._places[node] = self._make(node, Deadline(seconds))
                except NoWay as no:
                    self._places[node] = no
            found = self._places[node]
        if isinstance(found, NoWay):
            raise found
        return found

    def close(self) -> list[str]:
        """Delete every pod that was made; → a sentence for each that could not be."""
        deadline = Deadline(GONE)
        with self._lock:
            self._closing = True
            # Deleted before the server has made it, it would be made afterwards.
            self._lock.wait_for(lambda: not self._being_made, deadline.left)
        words = ""
        for pod in tuple(self._made):
            status, words = self._send("DELETE", f"/{pod}?gracePeriodSeconds=0", None, deadline)
            if status in (200, 202, 404):
                del self._made[pod]
        leaving.forget_end(self.left)
        return self.left(words)

    def left(self, why: str = "") -> list[str]:
        """A sentence for each pod that was made and not deleted, with the command that deletes it."""
        because = f" ({why})" if why else ""
        return [
            f"the debug pod {pod} was not deleted from node {node}{because}: kubectl delete pod -n {self._namespace} {pod}"
            for pod, node in tuple(self._made.items())
        ]

    def _make(self, node: str, deadline: Deadline) -> Place:
        name = f"{NAME}-{secrets.token_hex(4)}"
        with self._lock:
            if self._closing:
                raise NoWay("broken", "the run has ended")
            self._made[name] = node  # before it is there: an answer that is lost may still have made it
            self._being_made += 1
        try:
            status, words = self._send("POST", "", manifest(name, node), deadline)
        finally:
            with self._lock:
                self._being_made -= 1
                self._lock.notify_all()
        if status != 201:
            if status:
                self._made.pop(name, None)
            raise NoWay("refused" if status in (401, 403) else "broken", f"no debug pod on node {node}: {words}")
        while deadline.left:
            state = self._state(name, deadline)
            if state.phase == "Running":
                return Place("", self._namespace, name, CONTAINER, ("chroot", "/host"))
            waiting = [one.state["waiting"] for one in state.containerStatuses if "waiting" in one.state]
            ill = next((f"{one.reason}: {one.message}" for one in waiting if "Image" in one.reason or "Err" in one.reason), "")
            if ill or state.phase in ("Failed", "Succeeded"):
                raise NoWay("broken", f"the debug pod on node {node} did not start: {ill or state.message or state.phase}"[:500])
            time.sleep(min(LOOK, deadline.left))
        raise NoWay("timeout", f"the debug pod on node {node} did not start within {time_limit_text(deadline.seconds)}")

    def _state(self, name: str, deadline: Deadline) -> _Status:
        status, body = self._send("GET", f"/{name}", None, deadline)
        try:
            return decoder(_Started).decode(body).status if status == 200 else _Status()
        except (msgspec.MsgspecError, RecursionError):
            return _Status()

    def _send(self, method: str, path: str, body: dict[str, Any] | None, deadline: Deadline) -> tuple[int, str]:
        """One request; → the HTTP status and the body, for an error its message; status 0 is no answer."""
        try:
            sent = msgspec.json.encode(body) if body else b""
            answer = exchange(self._kube().connection(deadline), method, self._path + path, deadline, body=sent)
        except Stopped as stopped:
            return 0, stopped.reason
        if answer.status < 400:
            return answer.status, answer.body.decode("utf-8", "replace")
        return answer.status, clean_foreign_text(status_of(answer.body).message) or f"HTTP {answer.status}"


def manifest(name: str, node: str) -> dict[str, Any]:
    """The pod. It tolerates everything, asks for nothing, and is privileged: a chroot and the kernel's log need that."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": NAME}},
        "spec": {
            "nodeName": node,
            "hostPID": True,
            "restartPolicy": "Never",
            "activeDeadlineSeconds": LIFE,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "tolerations": [{"operator": "Exists"}],
            "containers": [
                {
                    "name": CONTAINER,
                    "image": os.environ.get(IMAGE_VARIABLE) or IMAGE,
                    "command": ["sleep", str(LIFE)],
                    "securityContext": {"privileged": True},
                    "volumeMounts": [{"name": "host", "mountPath": "/host", "readOnly": True}],
                }
            ],
            "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
        },
    }
