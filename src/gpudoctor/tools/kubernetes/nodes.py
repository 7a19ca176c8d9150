"""Nodes: what they offer and refuse; and what the pods on them request together, read page by page from a list of any length."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Neighbour, Node, NodeUsage, Taint
from gpudoctor.knowledge.resources import expected_gpus, gpu_count, gpu_names, has_nvidia_gpu
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Condition, Meta, Object, Quantities, age, evidence, objects, seconds, whole_list
from gpudoctor.tools.kubernetes.pod_requests import add, pod_requests
from gpudoctor.tools.kubernetes.pod_rules import as_neighbour
from gpudoctor.tools.kubernetes.pod_shape import PodObject, PodSpec
from gpudoctor.tools.kubernetes.pod_status import ENDED
from gpudoctor.tools.kubernetes.quantity import amounts

# Up to 1.10 the kubelet counted the cards itself, beside any plugin; 0 stands on every node.
COUNTED_BY_KUBELET = "alpha.kubernetes.io/nvidia-gpu"
# What autoscalers put on a node before they end it.
REMOVED = frozenset(("ToBeDeletedByClusterAutoscaler", "karpenter.sh/disrupted", "karpenter.sh/disruption"))
HOLDERS = 16  # pods with GPUs that are named per node


class TaintSpec(msgspec.Struct):
    """One taint."""

    key: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSpec(msgspec.Struct):
    """What keeps pods away."""

    unschedulable: bool | None = None
    taints: list[TaintSpec] | None = None


class Address(msgspec.Struct):
    """One address or host name."""

    address: str | None = None


class NodeInfo(msgspec.Struct):
    """The versions that run on the node."""

    kernelVersion: str | None = None
    osImage: str | None = None
    containerRuntimeVersion: str | None = None
    kubeletVersion: str | None = None


class NodeStatus(msgspec.Struct):
    """What the kubelet reports."""

    capacity: Quantities = None
    allocatable: Quantities = None
    conditions: list[Condition] | None = None
    addresses: list[Address] | None = None
    nodeInfo: NodeInfo | None = None


class NodeObject(Object):
    """A node."""

    spec: NodeSpec | None = None
    status: NodeStatus | None = None


def nodes(output: Output, about: Subject) -> Facts:
    """One record per node."""
    return {"nodes": [node_fact(item, output) for item in objects(output, NodeObject, ("Node",)) if item.meta.name]}


def all_nodes(outputs: Iterable[Output], about: Subject) -> Facts:
    """One record per node of the cluster, read page by page to measure it: none of them is the one in question.

    Raises `ParseError` when the list breaks off: a node that wasn't read can't be said not to fit.
    """
    found: list[Node] = []
    for output in whole_list(outputs, "nodes"):
        named = (item for item in objects(output, NodeObject, ("Node",)) if item.meta.name)
        found += [msgspec.structs.replace(node_fact(item, output), target=False) for item in named]
    return {"nodes": [*found]}


def node_fact(item: NodeObject, output: Output) -> Node:
    """The record of one node. `ready` is false as well when the kubelet has stopped reporting (status Unknown)."""
    meta, spec, status = item.meta, item.spec or NodeSpec(), item.status or NodeStatus()
    labels, info = meta.labels or {}, status.nodeInfo or NodeInfo()
    capacity, allocatable = amounts(status.capacity), amounts(status.allocatable)
    states = {one.type or "": one.status or "" for one in status.conditions or ()}
    taints = [Taint(taint.key, taint.value or "", taint.effect or "") for taint in spec.taints or () if taint.key]
    names = gpu_names({**capacity, **allocatable})
    offers = ", ".join(f"{name} {allocatable.get(name, 0)} of {capacity.get(name, 0)}" for name in names) or "no GPU resource"
    refuses = [f"{taint.key}={taint.value}:{taint.effect}" for taint in taints]
    return Node(
        node=meta.name or "",
        ready=states["Ready"] == "True" if "Ready" in states else None,
        unschedulable=bool(spec.unschedulable),
        leaving=leaves(bool(spec.unschedulable), info.containerRuntimeVersion or "", [taint.key for taint in taints]),
        age=age(seconds(meta.creationTimestamp), output),
        labels=labels,
        taints=taints,
        taint_keys=[taint.key for taint in taints],
        capacity=capacity,
        allocatable=allocatable,
        gpu_resources=names,
        gpus_capacity=gpu_count(capacity),
        gpus_allocatable=gpu_count(allocatable),
        gpus_expected=expected_gpus(labels),
        gpu_present=has_nvidia_gpu(labels, names) or capacity.get(COUNTED_BY_KUBELET, 0) > 0,
        pressure=sorted(name for name, value in states.items() if name.endswith("Pressure") and value == "True"),
        addresses=[one.address for one in status.addresses or () if one.address],
        kubelet_version=info.kubeletVersion or "",
        runtime_version=info.containerRuntimeVersion or "",
        kernel_version=info.kernelVersion or "",
        os_image=info.osImage or "",
        gaps={} if "Ready" in states else {"ready": "no Ready condition"},
        origin=evidence(
            output,
            f"{meta.name}: allocatable {offers}"
            + (", cordoned" if spec.unschedulable else "")
            + (f", taints {', '.join(refuses)}" if refuses else ""),
        ),
    )


def leaves(cordoned: bool, runtime: str, taints: Iterable[str]) -> bool:
    """Whether a node is taken out: marked by an autoscaler, or cordoned before its runtime stopped under a kubelet that still reported.

    >>> leaves(True, "containerd://Unknown", ()), leaves(True, "containerd://2.1.6", ()), leaves(False, "containerd://Unknown", ())
    (True, False, False)
    """
    return (cordoned and runtime.endswith("://Unknown")) or not REMOVED.isdisjoint(taints)


class Held:
    """What the pods of one node request so far."""

    def __init__(self) -> None:
        self.requested: dict[str, int] = {}
        self.nominated: dict[str, int] = {}
        self.pods = 0
        self.holders: list[tuple[int, str]] = []
        self.neighbours: list[Neighbour] = []


def usage(outputs: Iterable[Output], about: Subject) -> Facts:
    """What the pods on each node request together, one record per node with pods. Keeps sums, and the few pods that forbid something."""
    return sum_usage(outputs, "demanding")


def neighbours(outputs: Iterable[Output], about: Subject) -> Facts:
    """The same with the labels of all pods, for a pod that is to be beside others, apart from them, or spread among them."""
    return sum_usage(outputs, "all")


def sum_usage(outputs: Iterable[Output], noted: str) -> Facts:
    """The records of `usage`. Raises `ParseError` when the list breaks off: half of the pods would make full nodes look free."""
    held: dict[str, Held] = {}
    last = None
    for output in whole_list(outputs, "pods"):
        last = output
        for item in objects(output, PodObject, ("Pod",)):
            node = item.spec.nodeName if item.spec else None
            if node and item.spec and (item.status is None or item.status.phase not in ENDED):  # a pod that has ended holds nothing
                its = held.setdefault(node, Held())
                count(its, item.meta, item.spec)
                one = as_neighbour(item.meta, item.spec)
                if noted == "all" or one.ports or one.apart:
                    its.neighbours.append(one)
            elif item.spec and item.status and item.status.nominatedNodeName:
                add(held.setdefault(item.status.nominatedNodeName, Held()).nominated, pod_requests(item.spec))
    return {"node_usage": [usage_fact(node, one, last, noted) for node, one in held.items()]}


def count(held: Held, meta: Meta, spec: PodSpec) -> None:
    """Add one pod to its node's sums."""
    requests = pod_requests(spec)
    add(held.requested, requests)
    held.pods += 1
    if gpus := gpu_count(requests):
        held.holders.append((gpus, f"{meta.namespace}/{meta.name}"))


def usage_fact(node: str, held: Held, output: Output | None, noted: str) -> NodeUsage:
    """The record of one node."""
    largest = sorted(held.holders, key=lambda holder: (-holder[0], holder[1]))[:HOLDERS]
    gpus = gpu_count(held.requested)
    return NodeUsage(
        node=node,
        requested=held.requested,
        nominated=held.nominated,
        pods=held.pods,
        gpu_holders=[f"{name} ({amount})" for amount, name in largest],
        neighbours=held.neighbours,
        noted=noted,
        origin=evidence(output, f"{node}: {held.pods} pods request {gpus} GPUs") if output else Origin(),
    )
