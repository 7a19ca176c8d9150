"""The STATUS column of `kubectl get pods`, and the container that a pod is stuck at.

Source: printPod in pkg/printers/internalversion/printers.go of Kubernetes 1.32.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.tools.kubernetes.pod_shape import ContainerSpec, ContainerStatus, PodObject, PodSpec, PodStatus, Terminated, is_sidecar

ENDED = ("Succeeded", "Failed")
NOT_AN_ERROR = ("", "ContainerCreating", "PodInitializing")


def condition(status: PodStatus, kind: str) -> tuple[str, str, str]:
    """Status, reason and message of a condition; empty where it isn't there."""
    found = next((one for one in status.conditions or () if one.type == kind), None)
    return (found.status or "", found.reason or "", found.message or "") if found else ("", "", "")


def by_name(statuses: Iterable[ContainerStatus] | None) -> dict[str, ContainerStatus]:
    """Container statuses by the container's name."""
    return {status.name: status for status in statuses or () if status.name}


def shown_status(pod: PodObject) -> str:
    """STATUS: the reason of the container that matters, the pod's own, or the phase; "" for an object without a status."""
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    phase = status.phase or ""
    shown = status.reason or phase
    if condition(status, "PodScheduled")[1] == "SchedulingGated":
        shown = "SchedulingGated"
    starting = init_status(spec, status)
    initialized = condition(status, "Initialized")[0] == "True"
    shown = starting if starting and not initialized else main_status(status, starting or shown)
    if pod.meta.deletionTimestamp and status.reason == "NodeLost":
        return "Unknown"
    return "Terminating" if pod.meta.deletionTimestamp and phase not in ENDED else shown


def init_status(spec: PodSpec, status: PodStatus) -> str:
    """`Init:…` for the first init container that isn't through, "" when all are."""
    sidecars = {container.name for container in spec.initContainers or () if is_sidecar(container)}
    for position, one in enumerate(status.initContainerStatuses or ()):
        ended, waiting = one.now.terminated, one.now.waiting
        if (ended and ended.exitCode == 0) or (one.name in sidecars and one.started):
            continue
        if ended:
            return f"Init:{ended_as(ended)}"
        if waiting and waiting.reason and waiting.reason != "PodInitializing":
            return f"Init:{waiting.reason}"
        return f"Init:{position}/{len(spec.initContainers or ())}"
    return ""


def main_status(status: PodStatus, shown: str) -> str:
    """The reason of the first main container that has one."""
    running = False
    for one in reversed(status.containerStatuses or ()):
        now = one.now
        if now.waiting and now.waiting.reason:
            shown = now.waiting.reason
        elif now.terminated:
            shown = ended_as(now.terminated)
        elif one.ready and now.running:
            running = True
    if shown == "Completed" and running:
        return "Running" if condition(status, "Ready")[0] == "True" else "NotReady"
    return shown


def ended_as(ended: Terminated) -> str:
    """The reason a container ended for, or its signal or exit code."""
    return ended.reason or (f"Signal:{ended.signal}" if ended.signal else f"ExitCode:{ended.exitCode or 0}")


def restarts(pod: PodObject) -> int:
    """RESTARTS: of the main containers and sidecars, and of the init containers while the pod is still there."""
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    sidecars = {container.name for container in spec.initContainers or () if is_sidecar(container)}
    starting = bool(init_status(spec, status))
    counted = [one for one in status.initContainerStatuses or () if starting or one.name in sidecars]
    return sum(max(one.restartCount or 0, 0) for one in (*counted, *(status.containerStatuses or ())))


def stuck_at(pod: PodObject) -> str:
    """The name of the first container, in start order, that keeps the pod from running or from being ready; "" when there is none.

    Of several main containers, which start together, one with an error comes before one that merely waits or isn't ready yet.
    """
    spec, status = pod.spec or PodSpec(), pod.status or PodStatus()
    if status.phase == "Succeeded":
        return ""
    init = by_name(status.initContainerStatuses)
    for container in spec.initContainers or ():
        one = init.get(container.name or "")
        if one is not None and not is_through(container, one):
            return one.name or ""
    mains = [one for one in status.containerStatuses or () if keeps_back(one)]
    failing = [one for one in mains if has_error(one)]
    return next((one.name or "" for one in (*failing, *mains)), "")


def is_through(container: ContainerSpec, one: ContainerStatus) -> bool:
    """Whether an init container lets the next one start."""
    if is_sidecar(container):
        return bool(one.started)
    return one.now.terminated is not None and one.now.terminated.exitCode == 0


def keeps_back(one: ContainerStatus) -> bool:
    """Whether a main container is neither ready nor through."""
    ended = one.now.terminated
    return not one.ready and not (ended and ended.exitCode == 0)


def has_error(one: ContainerStatus) -> bool:
    """Whether a container's state itself tells of trouble."""
    waiting, ended = one.now.waiting, one.now.terminated
    return bool(ended and ended.exitCode) or bool(waiting and (waiting.reason or "") not in NOT_AN_ERROR)
