"""GPU nodes on which the metrics exporter can't or doesn't run, by its DaemonSet or its pods beside the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.derive.scheduling_plugins import tolerates
from gpudoctor.facts import Facts
from gpudoctor.facts.kubernetes import Node, Pod, Workload
from gpudoctor.facts.monitoring import ExporterNode

PART = "dcgm-exporter"
SEVERAL = 2  # exporters that are listed with their nodes: one alone was asked for by name


def nodes_without(facts: Facts) -> Iterator[ExporterNode]:
    """A record for each such node, once."""
    nodes = [one for one in facts.get("nodes", []) if isinstance(one, Node) and one.gpu_present and one.node]
    sets = [one for one in facts.get("workloads", []) if isinstance(one, Workload) and one.component == PART and one.kind == "DaemonSet"]
    pods = [one for one in facts.get("pods", []) if isinstance(one, Pod) and one.component == PART and one.node]
    covered = {pod.node for pod in pods}
    for node in nodes:
        listed = len(covered) >= SEVERAL and node.node not in covered and covered <= {one.node for one in nodes}
        if node.node not in covered and (listed or any(passes_over(one, node) for one in sets)):
            yield ExporterNode(node=node.node, origin=node.origin)


def passes_over(one: Workload, node: Node) -> bool:
    """Whether a DaemonSet leaves a node out: by a label that is known to differ, or a taint that it is known not to tolerate."""
    known = node.label_keys or ([] if "labels" in node.gaps else list(one.node_selector))
    if any(key in known and node.labels.get(key) != value for key, value in one.node_selector.items()):
        return True
    if "tolerations" in one.gaps or "taints" in node.gaps or not (one.tolerations or one.gaps):
        return False
    hard = [taint for taint in node.taints if taint.effect in ("NoSchedule", "NoExecute", "")]
    return any(not tolerates(one.tolerations, taint) for taint in hard if not taint.key.startswith("node.kubernetes.io/"))
