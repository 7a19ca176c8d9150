"""Which machines the question is about: those that were named, those that a selector chose, or those that a part of the GPU stack is on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Node, Target
from gpudoctor.facts.node import Host
from gpudoctor.facts.scheduling import StackPart


def requested_hosts(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The machines of `inputs`: `nodes` are names with commas between; with a `selector` they are the nodes that the cluster gave.

    Where nobody named any, the machines that another runbook found stay as they are. A selector that chose none of the nodes that were
    read is a question about nothing.
    """
    local = bool(inputs.get("local"))
    if selector := str(inputs.get("selector") or ""):
        if "nodes" not in facts:
            return {}
        chosen = hosts((node.node for node in facts["nodes"] if isinstance(node, Node)), local)
        return {"hosts": chosen} if chosen else {"targets": [Target(kind="node", selector=selector, found=False)]}
    named = hosts((name.strip() for name in str(inputs.get("nodes", "")).split(",")), local)
    return {"hosts": named} if named else {}


def of_stack(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The machines on which a part of the GPU stack runs that has the host's kernel log and devices before it."""
    parts = (part for part in facts.get("stack", []) if isinstance(part, StackPart))
    return {"hosts": hosts(part.node for part in parts if part.present and part.component in ("driver", "container-toolkit"))}


def hosts(names: Iterable[str], local: bool = False) -> list[Fact]:
    """One Host a name, each once."""
    return [Host(node=name, local=local) for name in dict.fromkeys(names) if name]
