"""What a pod asks for as a whole, as the scheduler counts it.

Source: k8s.io/component-helpers/resource (PodRequests): the sum of the main containers and sidecars, or what an init container needs
beside the sidecars started before it, whichever is more; plus the overhead. Requests for the whole pod (1.32) take the place of the sum.
"""

from __future__ import annotations

from gpudoctor.tools.kubernetes.pod_shape import PodSpec, Resources, is_sidecar
from gpudoctor.tools.kubernetes.quantity import LARGEST, amounts

Amounts = dict[str, int]
# Resources of a quota that every container must then state. https://kubernetes.io/docs/concepts/policy/resource-quotas/
STATED = {f"{side}.{name}": (side, name) for side in ("limits", "requests") for name in ("cpu", "memory")} | {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
}


def pod_requests(spec: PodSpec) -> Amounts:
    """The effective requests of a pod: CPU in milli-cores, the rest in units or bytes."""
    total: Amounts = {}
    for container in spec.containers or ():
        add(total, container_requests(container.resources))
    if spec.initContainers:
        add_init_containers(total, spec)
    if spec.resources:
        total.update(container_requests(spec.resources))
    if spec.overhead:
        add(total, amounts(spec.overhead))
    return total


def add_init_containers(total: Amounts, spec: PodSpec) -> None:
    """Account for the init containers, which run one after the other beside the sidecars that came before."""
    sidecars: Amounts = {}
    largest: Amounts = {}
    for container in spec.initContainers or ():
        wanted = container_requests(container.resources)
        add(wanted, sidecars)
        if is_sidecar(container):
            sidecars = dict(wanted)
        for name, amount in wanted.items():
            largest[name] = max(largest.get(name, 0), amount)
    add(total, sidecars)
    for name, amount in largest.items():
        total[name] = max(total.get(name, 0), amount)


def container_requests(resources: Resources | None) -> Amounts:
    """The requests of one container; a limit without a request is a request, as the API server fills it in."""
    if resources is None:
        return {}
    requests = amounts(resources.requests)
    return {**amounts(resources.limits), **requests} if resources.limits else requests


def add(total: Amounts, more: Amounts) -> None:
    """Add amounts in place, saturating."""
    for name, amount in more.items():
        total[name] = min(total.get(name, 0) + amount, LARGEST)


def unstated(spec: PodSpec) -> list[str]:
    """The resources of a quota that some container states nothing of. A limit is a request too."""
    every = [box.resources or Resources() for box in (*(spec.containers or ()), *(spec.initContainers or ()))]
    limits = [set(amounts(one.limits)) for one in every]
    stated = {"limits": limits, "requests": [limit | set(amounts(one.requests)) for limit, one in zip(limits, every, strict=True)]}
    return [resource for resource, (side, name) in STATED.items() if any(name not in names for names in stated[side])]
