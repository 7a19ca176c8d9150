"""The GPU pods of a list that aren't well. Pods that are well are counted and dropped, so that a large cluster costs little."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Target
from gpudoctor.knowledge.resources import gpu_count, gpu_names
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import age, controller, seconds
from gpudoctor.tools.kubernetes.pod_requests import pod_requests
from gpudoctor.tools.kubernetes.pod_shape import ContainerStatus, PodObject, PodSpec, PodStatus
from gpudoctor.tools.kubernetes.pod_status import condition
from gpudoctor.tools.kubernetes.pods import component_of, read, wants_gpu
from gpudoctor.tools.parser import ParseError

SETTLED = 600.0  # s after which the kubelet takes a container that was restarted as well, and forgets its back-off


def gpu_pods(outputs: Iterable[Output], about: Subject) -> Facts:
    """Pods that ask for a GPU, or look as if they should, and aren't well; `targets` says how many GPU pods there were at all.

    Pods of the GPU stack itself are left to the runbooks of the stack. Raises `ParseError` when the list breaks off: what wasn't read
    can't be called well.
    """
    kept: Facts = {"pods": [], "containers": [], "messages": [], "schedule_reasons": []}
    seen = 0

    for output in outputs:

        def ill(item: PodObject, output: Output = output) -> bool:
            nonlocal seen
            gpus = gpus_of(item)
            seen += gpus is not None
            return gpus is not None and not is_well(item.status or PodStatus(), gpus, output)

        if not output.ok:
            raise ParseError(f"{output.origin_name()}: the list of pods is not complete: {output.reason or output.failure}")
        found = read(output, target=True, wanted=ill)
        for kind, records in kept.items():
            records += found[kind]
    return {**kept, "targets": [Target(kind="GPU pod", found=True, pods=seen)]}


def gpus_of(item: PodObject) -> int | None:
    """How many GPUs a pod asks for, 0 where it only looks as if it should; None for the parts of the GPU stack and all other pods."""
    spec = item.spec or PodSpec()
    requests = pod_requests(spec)
    if component_of(item.meta):
        return None
    if gpu_names(requests):
        return gpu_count(requests)
    if spec.resourceClaims:  # what else would a pod of this cluster claim
        return len(spec.resourceClaims)
    return 0 if wants_gpu(spec) and not controller(item.meta).startswith("DaemonSet/") else None


def is_well(status: PodStatus, gpus: int, output: Output) -> bool:
    """Whether nothing needs a look: it has ended well, or runs, is ready, has the GPU that it should have, and was not restarted lately."""
    if status.phase == "Succeeded":
        return True
    runs = status.phase == "Running" and gpus > 0 and condition(status, "Ready")[0] == "True"
    return runs and not any(was_restarted_lately(one, output) for one in status.containerStatuses or ())


def was_restarted_lately(container: ContainerStatus, output: Output) -> bool:
    """Whether a container runs that was restarted a short time ago."""
    since = container.now.running.startedAt if container.restartCount and container.now.running else None
    lately = age(seconds(since), output)
    return lately is not None and lately < SETTLED
