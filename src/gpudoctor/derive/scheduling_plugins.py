"""What the scheduler's filter plugins say about one pod and one node, re-computed from the facts.

Each plugin is a function `Ask -> (Host -> [Blocker])`: what depends on the pod alone is prepared once, the returned check is then asked for
every node. Unlike the scheduler we ask all of them, since the nearest fit needs to know whether a node fails one check or several. Those
that look at other pods are in `scheduling_others`. Semantics follow k8s.io/component-helpers (`nodeaffinity.go`,
`corev1.Toleration.ToleratesTaint`) and the plugins of kubernetes/pkg/scheduler/framework/plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpudoctor.derive.scheduling_labels import failed_term, fails, is_known, label
from gpudoctor.facts.kubernetes import HostPort, Node, NodeUsage, Pod, PodTerm, Requirement, Spread, Taint, Toleration

UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
# Taints that the node's own condition brings and takes away; nobody should tolerate them to get a GPU.
# https://kubernetes.io/docs/reference/labels-annotations-taints/
CONDITION_TAINTS = frozenset(
    {f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable", "out-of-disk", "out-of-service", "network-unavailable")}
    | {f"node.kubernetes.io/{name}-pressure" for name in ("memory", "disk", "pid")}
    | {"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown", "ToBeDeletedByClusterAutoscaler"}
)
FIRST_RESOURCES = ("cpu", "memory", "ephemeral-storage")
SLOTS = "pods"


class Ask(NamedTuple):
    """A pod as the scheduler sees it: `requests` by resource, and its bound volumes as (name, node affinity)."""

    pod: Pod
    requests: dict[str, int]
    volumes: Sequence[tuple[str, list[list[Requirement]]]]


class Host(NamedTuple):
    """A node with what runs on it; `usage` is None when the running pods were not read."""

    node: Node
    usage: NodeUsage | None


class Shortage(NamedTuple):
    """One resource that a node has too little of.

    `free` is None when usage is not known, and negative where pods hold GPUs that the node has lost; `promised` is what its
    capacity or its labels say.
    """

    resource: str
    asked: int
    offered: int
    free: int | None
    promised: int


class Blocker(NamedTuple):
    """One reason why one node can't hold the pod.

    `reason` is a word of `ScheduleReason`; `key` names the taint, the selector's requirement, the resource or the volume; `lift` is the
    kind of change that would remove it; `found` is what the node has instead (None where that says nothing); `needs` is what it lacks,
    `rules` are those of the pod that other pods keep from holding there.
    """

    reason: str
    key: str
    lift: str
    found: str | None = None
    shortage: Shortage | None = None
    needs: tuple[Requirement, ...] = ()
    rules: tuple[PodTerm | Spread | HostPort, ...] = ()


Check = Callable[[Host], list[Blocker]]


def node_unschedulable(ask: Ask) -> Check:
    """A cordon, unless the pod tolerates the taint that stands for it."""
    if tolerates(ask.pod.tolerations, UNSCHEDULABLE):
        return lambda host: []
    cordoned = [Blocker("unschedulable", "cordoned", "uncordon")]
    return lambda host: cordoned if host.node.unschedulable else []


def taint_toleration(ask: Ask) -> Check:
    """Taints with effect NoSchedule or NoExecute that no toleration matches, in the node's order."""
    known: dict[tuple[tuple[Taint, ...], bool], list[Blocker]] = {}

    def untolerated(taints: tuple[Taint, ...], cordoned: bool) -> list[Blocker]:
        return [
            Blocker("taint", taint_text(taint), taint_lift(taint))
            for taint in taints
            if taint.effect in ("NoSchedule", "NoExecute", "")  # "": a table showed the keys alone
            and not (cordoned and taint.key == UNSCHEDULABLE.key)  # said by the cordon itself
            and not tolerates(ask.pod.tolerations, taint)
        ]

    def check(host: Host) -> list[Blocker]:
        if not host.node.taints:
            return []
        case = (tuple(host.node.taints), host.node.unschedulable)
        if case not in known:
            known[case] = untolerated(*case)
        return known[case]

    return check


def node_affinity(ask: Ask) -> Check:
    """`nodeSelector` (all pairs) and the required node affinity (one term of several, each an AND)."""
    selector = [Requirement(key=key, operator="In", values=(value,)) for key, value in sorted(ask.pod.node_selector.items())]
    terms = ask.pod.node_affinity
    if not selector and terms is None:
        return lambda host: []
    keys = sorted({need.key for need in [*selector, *(need for term in terms or [] for need in term)] if not need.field})
    by_name = any(need.field for term in terms or [] for need in term)
    known: dict[tuple[str | None, ...], list[Blocker]] = {}

    def check(host: Host) -> list[Blocker]:
        known_keys = [key for key in keys if is_known(host.node, key)]
        case = (host.node.node if by_name else None, *(f"{key}={label(host.node, key)}" for key in known_keys))
        if case not in known:
            failed = [need for need in selector if fails(need, host.node)] + failed_term(terms, host.node)
            known[case] = [affinity_blocker(failed, host.node)] if failed else []
        return known[case]

    return check


def node_resources_fit(ask: Ask) -> Check:
    """Allocatable less what runs there, against the request; GPUs are named first, then the scheduler's order, then pod slots.

    Without usage a node is measured by its allocatable alone: what it says then is "too small", never "full".
    """
    gpus = [name for name in ask.pod.gpu_resources if ask.requests.get(name, 0) > 0]
    others = sorted((name for name in ask.requests if name not in gpus), key=lambda name: (name not in FIRST_RESOURCES, name))
    wanted = [(name, ask.requests[name], "gpus" if name in gpus else "less") for name in [*gpus, *others] if ask.requests[name] > 0]

    def check(host: Host) -> list[Blocker]:
        allocatable = host.node.allocatable
        if "allocatable" in host.node.gaps:
            return []
        if not allocatable and not host.node.capacity:
            if host.node.gaps:  # a table of GPUs, in which this node has none
                return [resource_blocker(host, name, asked, lift) for name, asked, lift in wanted if lift == "gpus"]
            return [Blocker("other", "its resources were not read", "")]
        used = host.usage.requested if host.usage else {}
        short = [
            resource_blocker(host, name, asked, lift)
            for name, asked, lift in wanted
            if not (lift == "less" and name not in allocatable and host.node.gaps)  # every node has some: the table doesn't show it
            and asked > allocatable.get(name, 0) - used.get(name, 0)
        ]
        if host.usage and SLOTS in allocatable and host.usage.pods + 1 > allocatable[SLOTS]:
            slots = Shortage(SLOTS, 1, allocatable[SLOTS], allocatable[SLOTS] - host.usage.pods, allocatable[SLOTS])
            short.append(Blocker("too_many_pods", SLOTS, "less", shortage=slots))
        return short

    return check


def volume_affinity(ask: Ask) -> Check:
    """The node affinity of the volumes that the pod's claims are bound to."""

    def check(host: Host) -> list[Blocker]:
        failed = ((name, failed_term(affinity, host.node)) for name, affinity in ask.volumes)
        return [Blocker("volume_affinity", f"volume {name}: {requirements_text(needs)}", "volume") for name, needs in failed if needs]

    return check


def tolerates(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    """Whether one of the tolerations matches: an empty key or effect matches all, `Exists` ignores the value, other operators match none.

    >>> tolerates([Toleration(operator="Exists")], Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"))
    True
    """
    return any(
        (not one.effect or one.effect == taint.effect or not taint.effect)
        and (not one.key or one.key == taint.key)
        and (one.operator == "Exists" or (one.operator in ("", "Equal") and one.value == taint.value))
        for one in tolerations
    )


def promised_amount(node: Node, resource: str) -> int:
    """How many of a resource the node should have: its capacity, or the GPU count of its labels where they speak of this resource.

    The labels count whole GPUs, so they say nothing about a node that offers MIG devices or several GPU resources.
    """
    capacity = node.capacity.get(resource, 0)
    meant = node.gpu_resources == [resource] or (not node.gpu_resources and resource == "nvidia.com/gpu")
    return max(capacity, node.gpus_expected or 0) if meant else capacity


def resource_blocker(host: Host, resource: str, asked: int, lift: str) -> Blocker:
    """The shortage of one resource on one node, in numbers."""
    offered = host.node.allocatable.get(resource, 0)
    free = None if host.usage is None else offered - host.usage.requested.get(resource, 0)
    expected = promised_amount(host.node, resource) if lift == "gpus" else offered
    return Blocker("insufficient", resource, lift, shortage=Shortage(resource, asked, offered, free, max(offered, expected)))


def affinity_blocker(failed: Sequence[Requirement], node: Node) -> Blocker:
    """The requirements of the selector that the node fails, with the label it has instead where there is just one."""
    one = failed[0] if len(failed) == 1 and not failed[0].field else None
    found = None if one is None else label(node, one.key) or ""
    return Blocker("node_affinity", requirements_text(failed), "label", found, needs=tuple(failed))


def taint_lift(taint: Taint) -> str:
    """Which change would remove a taint: a toleration, an uncordon, or the repair of the node whose condition it tells."""
    if taint.key == UNSCHEDULABLE.key:
        return "uncordon"
    return "repair_node" if taint.key in CONDITION_TAINTS else "tolerate"


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it: `nvidia.com/gpu=present:NoSchedule`."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def requirements_text(needs: Sequence[Requirement]) -> str:
    """Requirements in kubectl's selector notation, joined by "and"; at most three are written out."""
    shown = " and ".join(requirement_text(need) for need in needs[:3])
    return shown if len(needs) <= 3 else f"{shown} and {len(needs) - 3} more"


def requirement_text(need: Requirement) -> str:
    """One requirement in kubectl's selector notation: `gpu-type=h100`, `zone in (a, b)`, `!spot`, `memory>40000`."""
    if need.operator == "In" and len(need.values) == 1:
        return f"{need.key}={need.values[0]}"
    if need.operator == "NotIn" and len(need.values) == 1:
        return f"{need.key}!={need.values[0]}"
    if need.operator in ("Exists", "DoesNotExist"):
        return need.key if need.operator == "Exists" else f"!{need.key}"
    if need.operator in ("Gt", "Lt") and need.values:
        return f"{need.key}{'>' if need.operator == 'Gt' else '<'}{need.values[0]}"
    more = f", {len(need.values) - 4} more" if len(need.values) > 4 else ""
    return f"{need.key} {need.operator.lower()} ({', '.join(need.values[:4])}{more})"
