"""All plugins of the scheduler that are computed here, in its own order (apis/config/v1/default_plugins.go)."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.derive.scheduling_others import Around, inter_pod_affinity, node_ports, topology_spread
from gpudoctor.derive.scheduling_plugins import (
    Ask,
    Blocker,
    Host,
    node_affinity,
    node_resources_fit,
    node_unschedulable,
    taint_toleration,
    volume_affinity,
)


def evaluate(ask: Ask, around: Around, hosts: Sequence[Host] | None = None) -> list[list[Blocker]]:
    """All blockers of every node, in the scheduler's order; [] for one that fits. Same order as `hosts`, which are all by default."""
    checks = [
        node_unschedulable(ask),
        taint_toleration(ask),
        node_affinity(ask),
        node_ports(ask, around),
        node_resources_fit(ask),
        volume_affinity(ask),
        topology_spread(ask, around),
        inter_pod_affinity(ask, around),
    ]
    return [[blocker for check in checks for blocker in check(host)] for host in (around.hosts if hosts is None else hosts)]
