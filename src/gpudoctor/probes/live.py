"""The live probe: commands go to the Kubernetes API, to this machine, or into a pod of the GPU stack on the node that they name."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import msgspec

from gpudoctor.knowledge import components
from gpudoctor.probes import process
from gpudoctor.probes.base import Command, Failure, Output
from gpudoctor.probes.deadline import Deadline, within
from gpudoctor.probes.kube_config import Context, ProbeSetupError, find_context
from gpudoctor.probes.kube_request import NO_EXEC, is_subdomain

if TYPE_CHECKING:
    from gpudoctor.probes.kube import Kube

__all__ = ["Live", "ProbeSetupError"]

# Where a node's command is run, best first: what stays up longest when the driver is ill and sees most of the host comes first.
STACK = ("driver", "container-toolkit", "device-plugin", "dcgm-exporter")
NO_PROGRAM = 127  # a shell's exit code for a program that isn't there
COMPLETION = 1.0  # seconds that a person waits for the Tab key


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


class _Pod(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    status: _PodStatus = _PodStatus()


class _Pods(msgspec.Struct, frozen=True):
    items: list[_Pod] = []


class _Place(msgspec.Struct, frozen=True):
    """A running container of the GPU stack."""

    component: str
    namespace: str
    pod: str
    container: str


class Live:
    """Asks the real world. Safe for several threads; never raises for what the far side does.

    `hosts` are names of nodes that are this machine, so that their commands run here. Raises ProbeSetupError when a kubeconfig or
    context that was asked for doesn't exist; one that merely lies around broken is told of by the commands that need it.
    """

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        namespace: str | None = None,
        allow_exec: bool = True,
        hosts: Collection[str] = (),
    ) -> None:
        found = find_context(kubeconfig, context)
        self._context: Context = msgspec.structs.replace(found, namespace=namespace) if namespace else found
        self._allow_exec = allow_exec
        self._hosts = frozenset(hosts)
        self._lock = threading.Lock()
        self._api: Kube | None = None
        self._node_locks: dict[str, threading.Lock] = {}
        self._places: dict[str, list[_Place]] = {}

    @property
    def context(self) -> str:
        """The name of the kubeconfig context, "" inside a pod or where there is none."""
        return self._context.name

    @property
    def namespace(self) -> str:
        """The namespace that kubectl would use."""
        return self._context.namespace

    def __call__(self, command: Command) -> Output:
        """The whole answer."""
        if _is_kubectl(command):
            return self._kube()(command)
        if not command.host or command.host in self._hosts:
            return process.run(command)
        return self._on_node(command)

    def stream(self, command: Command) -> Iterator[Output]:
        """The answer page by page; only Kubernetes lists have more than one."""
        if _is_kubectl(command):
            yield from self._kube().stream(command)
        else:
            yield self(command)

    def names(self, kind: str, namespace: str = "", prefix: str = "") -> list[str]:
        """Names for the shell to complete, sorted; [] after a second, or on any trouble. `namespace` "" means all."""
        scope = ("-n", namespace) if namespace else ("-A",)
        command = Command(("kubectl", "get", kind, *scope, "-o", "json"), timeout=COMPLETION)
        try:
            # The whole call is under the deadline: the first one also imports the client.
            pages = within(COMPLETION, lambda: list(self._name_pages(command)))
        except Exception:  # a completion that prints an error spoils the command line
            return []
        return sorted({name for page in pages for name in page if name.startswith(prefix) and is_subdomain(name)})

    def close(self) -> None:
        """Close the connections to the API server."""
        if self._api:
            self._api.close()

    def _name_pages(self, command: Command) -> Iterator[list[str]]:
        for output in self.stream(command):
            if not output.ok:
                raise LookupError(output.reason)
            yield [pod.metadata.name for page in output.pages for pod in msgspec.json.decode(page, type=_Pods).items]

    def _kube(self) -> Kube:
        with self._lock:
            if self._api is None:
                from gpudoctor.probes.kube import Kube

                self._api = Kube(self._context, self._allow_exec)
            return self._api

    def _on_node(self, command: Command) -> Output:
        """Run the command in the first container of the GPU stack on its node that has the program."""
        if not self._allow_exec:
            return _failed(command, "not-allowed", NO_EXEC)
        if not is_subdomain(command.host):
            return _failed(command, "not-allowed", f"{command.host[:60]!a} is not the name of a node")
        deadline = Deadline(command.timeout)
        places, trouble = self._find_places(command, deadline)
        if trouble:
            return trouble
        program = command.argv[0] if command.argv else ""
        places = sorted(places, key=lambda place: program not in components.BY_NAME[place.component].commands)
        for place in places:
            output = self._enter(place, command, deadline)
            if output.failure != "not-found" and output.exit != NO_PROGRAM:
                return output
        if not places:
            reason = f"no container of the GPU stack runs on node {command.host}: looked for {', '.join(STACK)}"
        else:
            tried = ", ".join(f"{place.namespace}/{place.pod}" for place in places)
            reason = f"{program} is in no container of the GPU stack on node {command.host}: tried {tried}"
        return _failed(command, "not-found", reason)

    def _enter(self, place: _Place, command: Command, deadline: Deadline) -> Output:
        stdin = ("-i",) if command.stdin else ()
        argv = ("kubectl", "exec", *stdin, "-n", place.namespace, place.pod, "-c", place.container, "--", *command.argv)
        output = self._kube()(Command(argv, stdin=command.stdin, timeout=deadline.left))
        return msgspec.structs.replace(output, command=command, seconds=deadline.spent)

    def _find_places(self, command: Command, deadline: Deadline) -> tuple[list[_Place], Output | None]:
        """Where commands of a node can be run, best first; the node's pods are listed once, at the first successful try."""
        node = command.host
        with self._lock:
            lock = self._node_locks.setdefault(node, threading.Lock())
        if not lock.acquire(timeout=deadline.left):
            return [], _failed(command, "timeout", f"the pods of node {node} could not be listed in time")
        try:
            if node in self._places:
                return self._places[node], None
            selector = f"spec.nodeName={node},status.phase=Running"
            listed = self._kube()(
                Command(("kubectl", "get", "pods", "-A", "--field-selector", selector, "-o", "json"), timeout=deadline.left)
            )
            if not listed.ok:
                return [], msgspec.structs.replace(
                    listed, command=command, pages=(), reason=f"looking for a pod on node {node}: {listed.reason}"
                )
            try:
                pods = [pod for page in listed.pages for pod in msgspec.json.decode(page, type=_Pods).items]
            except (msgspec.MsgspecError, RecursionError) as error:
                return [], _failed(command, "broken", f"the pods of node {node} could not be read: {error}")
            self._places[node] = _places(pods)
            return self._places[node], None
        finally:
            lock.release()


def _is_kubectl(command: Command) -> bool:
    return command.argv[:1] == ("kubectl",)


def _places(pods: list[_Pod]) -> list[_Place]:
    found = [place for pod in pods if (place := _place(pod))]
    return sorted(found, key=lambda place: (STACK.index(place.component), place.namespace, place.pod))


def _place(pod: _Pod) -> _Place | None:
    """The container to enter: the component's own if it runs, else the first that does."""
    owner = pod.metadata.ownerReferences[0].name if pod.metadata.ownerReferences else ""
    component = components.of_pod(pod.metadata.name, owner, pod.metadata.labels or {})
    if component not in STACK:
        return None
    running = [container.name for container in pod.status.containerStatuses or () if "running" in (container.state or {})]
    wanted = [name for name in components.BY_NAME[component].containers if name in running] or running
    return _Place(component, pod.metadata.namespace, pod.metadata.name, wanted[0]) if wanted else None


def _failed(command: Command, failure: Failure, reason: str) -> Output:
    return Output(command, exit=1, failure=failure, reason=reason)
