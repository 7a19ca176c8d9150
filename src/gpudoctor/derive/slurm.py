"""Which nodes of a Slurm cluster to look at: those that are out of service, where the reason lies on the machine."""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.derive.hosts import hosts as named
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.slurm import SlurmNode

MOST = 16  # machines that are asked: after an outage hundreds are out for one reason, and a few tell it
# The kinds of reason that the machine itself can explain, those that name its GPUs first.
ORDER = ("gres_count", "health", "kill", "prolog", "silent", "rebooted", "launch", "memory", "shape", "")


def hosts(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A host for each node that is out of service and was not put out on purpose, at most `MOST`."""
    out = [node for node in facts.get("slurm_nodes", []) if isinstance(node, SlurmNode) and node.out]
    out.sort(key=lambda node: ORDER.index(node.reason_kind) if node.reason_kind in ORDER else len(ORDER))
    return {"hosts": named(node.node for node in out[:MOST])}
