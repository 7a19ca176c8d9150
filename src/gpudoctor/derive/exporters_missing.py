"""GPU nodes on which the metrics exporter can't or doesn't run, by its DaemonSet or its pods beside the nodes or beside other parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from gpudoctor.derive.scheduling_plugins import tolerates
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Node, Pod, Workload
from gpudoctor.facts.monitoring import ExporterNode

PART = "dcgm-exporter"
BESIDE = ("device-plugin", "container-toolkit", "gpu-feature-discovery", "operator-validator")  # the operator puts them on the same nodes
DEPLOY = "nvidia.com/gpu.deploy.dcgm-exporter"  # the label by which the operator's DaemonSet selects its nodes
SEVERAL = 2  # exporters that are listed with their nodes: one alone was asked for by name


def nodes_without(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A record for each such node, once; none of the others, whose exporters nobody has listed."""
    nodes = [one for one in facts.get("nodes", []) if isinstance(one, Node) and one.gpu_present and one.node]
    sets = [one for one in facts.get("workloads", []) if isinstance(one, Workload) and one.component == PART and one.kind == "DaemonSet"]
    every = [one for one in facts.get("pods", []) if isinstance(one, Pod) and one.node]
    covered = {pod.node for pod in every if pod.component == PART}
    some = any(node.labels.get(DEPLOY) == "true" for node in nodes)
    found: dict[str, ExporterNode] = {}
    for node in nodes:
        listed = len(covered) >= SEVERAL and covered <= {one.node for one in nodes}
        refused = some and node.labels.get(DEPLOY) == "false"
        if node.node not in covered and (listed or refused or any(passes_over(one, node) for one in sets)):
            found[node.node] = ExporterNode(node=node.node, origin=node.origin)
    for pod in ready_neighbours(every):
        if pod.node not in covered:
            found.setdefault(pod.node, ExporterNode(node=pod.node, origin=pod.origin))
    return {"exporter_nodes": [*found.values()]} if found else {}


def ready_neighbours(pods: list[Pod]) -> Iterator[Pod]:
    """The ready pods of parts that stand with an exporter in one list of one namespace: a list of what isn't ready has no such one."""
    lists: dict[tuple[str, str], list[Pod]] = defaultdict(list)
    for pod in pods:
        if pod.component and pod.ready:
            lists[pod.origin.source, pod.namespace].append(pod)
    for listed in lists.values():
        # another part on every node that has one of them, so the list was not cut to some rows
        together = [pod for pod in listed if pod.component in BESIDE]
        if any(pod.component == PART for pod in listed) and len({pod.component for pod in together}) > 1:
            many = {part: {pod.node for pod in together if pod.component == part} for part in BESIDE}
            everywhere = set.intersection(*(nodes for nodes in many.values() if nodes))
            yield from (pod for pod in together if pod.node in everywhere)


def passes_over(one: Workload, node: Node) -> bool:
    """Whether a DaemonSet leaves a node out: by a label that is known to differ, or a taint that it is known not to tolerate."""
    known = node.label_keys or ([] if "labels" in node.gaps else list(one.node_selector))
    if any(key in known and node.labels.get(key) != value for key, value in one.node_selector.items()):
        return True
    if "tolerations" in one.gaps or "taints" in node.gaps or not (one.tolerations or one.gaps):
        return False
    hard = [taint for taint in node.taints if taint.effect in ("NoSchedule", "NoExecute", "")]
    return any(not tolerates(one.tolerations, taint) for taint in hard if not taint.key.startswith("node.kubernetes.io/"))
