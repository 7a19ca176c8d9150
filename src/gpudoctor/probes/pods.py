"""The running containers of the GPU stack on each node: where a node's commands can be run without ssh."""

from __future__ import annotations

import contextlib
import difflib
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from gpudoctor.knowledge import components
from gpudoctor.probes.base import Command, Output, decoder
from gpudoctor.probes.remote import NoWay

if TYPE_CHECKING:
    from gpudoctor.probes.kube import Kube

# Where a node's command is run, best first: what stays up longest when the driver is ill and sees most of the host comes first.
STACK = ("driver", "container-toolkit", "device-plugin", "dcgm", "dcgm-exporter")
LISTING = 10.0  # seconds; a cluster that is out of reach must not keep ssh waiting
CLOSE = 3  # names of nodes that are proposed
SINGLY = 4  # nodes whose pods are listed one by one; then a list of the namespaces in which the stack was found serves all the others


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _Meta(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    ownerReferences: list[_Named] | None = None


class _Container(msgspec.Struct, frozen=True):
    name: str = ""
    state: dict[str, msgspec.Raw] | None = None


class _PodStatus(msgspec.Struct, frozen=True):
    phase: str = ""
    containerStatuses: list[_Container] | None = None


class _PodSpec(msgspec.Struct, frozen=True):
    nodeName: str = ""


class _Pod(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: _PodSpec = _PodSpec()
    status: _PodStatus = _PodStatus()


class Pods(msgspec.Struct, frozen=True):
    """A list of pods, as much of it as is needed here."""

    items: list[_Pod] = []


class _Object(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()


class _Nodes(msgspec.Struct, frozen=True):
    items: list[_Object] = []


class Place(msgspec.Struct, frozen=True):
    """A running container. `component` is "" for one of ours; `root` goes before what is run in it."""

    component: str
    namespace: str
    pod: str
    container: str
    root: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The pod in a sentence."""
        return f"{self.namespace}/{self.pod}"

    def knows(self, program: str) -> bool:
        """Whether the program is one that this part is known to have."""
        return bool(self.component) and program in components.BY_NAME[self.component].commands

    def entering(self, argv: Iterable[str], *, stdin: bool) -> tuple[str, ...]:
        """The kubectl command that runs `argv` in it."""
        where = ("-n", self.namespace, self.pod, "-c", self.container, "--")
        return ("kubectl", "exec", *(("-i",) if stdin else ()), *where, *self.root, *argv)


class Stack:
    """Finds places. The pods of a node are listed once, at the first try that succeeds; safe for several threads."""

    def __init__(self, kube: Callable[[], Kube]) -> None:
        self._kube = kube
        self._lock = threading.Lock()
        self._places: dict[str, list[Place]] = {}
        self._whole = False  # whether the namespaces were listed
        self._trouble: NoWay | None = None
        self._nodes: list[str] | None = None  # names of the cluster's nodes, listed for the first name that none of them has

    def places(self, node: str, seconds: float) -> list[Place]:
        """Where commands of a node can be run, best first. Raises NoWay; a cluster that can't be reached is tried once."""
        if not self._lock.acquire(timeout=seconds):
            raise NoWay("timeout", f"the pods of node {node} could not be listed in time")
        try:
            if self._trouble:
                raise self._trouble
            if node not in self._places and len(self._places) >= SINGLY and not self._whole:
                self._whole = True
                self._list_namespaces(min(seconds, LISTING))
            if node not in self._places:
                self._places[node] = self._list(node, ("-A", "--field-selector", f"spec.nodeName={node},status.phase=Running"), seconds)[
                    node
                ]
            return self._places[node]
        finally:
            self._lock.release()

    def nothing_on(self, node: str, seconds: float) -> NoWay:
        """Why a node has no places: the cluster has none of this name, or no part of the stack runs there."""
        patience = min(seconds, LISTING)
        if b"(NotFound)" not in self._kube()(Command(("kubectl", "get", "nodes", node, "-o", "json"), timeout=patience)).stderr:
            return NoWay("not-found", f"no container of the GPU stack runs on node {node}: looked for {', '.join(STACK)}")
        with self._lock:
            if self._nodes is None:
                self._nodes = self._node_names(patience)
        close = difflib.get_close_matches(node[:253], self._nodes, n=CLOSE)
        beside = f", close to it: {', '.join(close)}" if close else ""
        return NoWay("not-found", f"the cluster has no node {node}{beside}", stranger=True)

    def _node_names(self, seconds: float) -> list[str]:
        """The names of the nodes, as far as they could be read: they only help to find the right one."""
        names: list[str] = []
        for listed in self._kube().stream(Command(("kubectl", "get", "nodes", "-o", "json"), timeout=seconds)):
            with contextlib.suppress(msgspec.MsgspecError, RecursionError):
                names += [one.metadata.name for page in listed.pages for one in decoder(_Nodes).decode(page).items]
        return names

    def _list_namespaces(self, seconds: float) -> None:
        """What a few nodes have in common is taken for the rule; a node that isn't in it is listed by itself."""
        for namespace in sorted({place.namespace for places in self._places.values() for place in places}):
            found = self._list("", ("-n", namespace, "--field-selector", "status.phase=Running"), seconds)
            for node, places in found.items():
                if node and node not in self._places:
                    self._places[node] = places

    def _list(self, node: str, options: tuple[str, ...], seconds: float) -> dict[str, list[Place]]:
        """The places of each node in a list of pods; `node` has an entry in any case. Raises NoWay."""
        whose = f"node {node}" if node else "the GPU stack"
        command = Command(("kubectl", "get", "pods", *options, "-o", "json"), timeout=min(seconds, LISTING))
        found: dict[str, list[Place]] = {node: []}
        for listed in self._kube().stream(command):
            if not listed.ok:
                self._remember(listed, whose)
            try:
                for pod in (pod for page in listed.pages for pod in decoder(Pods).decode(page).items):
                    if place := _place(pod):
                        found.setdefault(pod.spec.nodeName or node, []).append(place)
            except (msgspec.MsgspecError, RecursionError) as error:
                raise NoWay("broken", f"the pods of {whose} could not be read: {error}") from None
        return {
            name: sorted(places, key=lambda place: (STACK.index(place.component), place.namespace, place.pod))
            for name, places in found.items()
        }

    def _remember(self, listed: Output, whose: str) -> None:
        """A list that failed; what the cluster would say of every node is said once."""
        no = NoWay(listed.failure, f"looking for a pod on {whose}: {listed.reason}")
        if listed.failure in ("unreachable", "timeout", "refused"):
            self._trouble = no
        raise no


def _place(pod: _Pod) -> Place | None:
    """The container to enter: the component's own if it runs, else the first that does."""
    owner = pod.metadata.ownerReferences[0].name if pod.metadata.ownerReferences else ""
    component = components.of_pod(pod.metadata.name, owner, pod.metadata.labels or {})
    if component not in STACK:
        return None
    running = [container.name for container in pod.status.containerStatuses or () if "running" in (container.state or {})]
    wanted = [name for name in components.BY_NAME[component].containers if name in running] or running
    return Place(component, pod.metadata.namespace, pod.metadata.name, wanted[0]) if wanted else None
