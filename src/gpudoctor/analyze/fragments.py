"""Parts of API objects: what somebody cuts out of `kubectl get node -o yaml` has no kind, but a shape."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.analyze.kubectl_describe import NODE_SHOWS
from gpudoctor.analyze.place import NAMELESS, gaps, unnamed
from gpudoctor.facts import Facts
from gpudoctor.facts.kubernetes import Node

# Amounts of nodes; those of a PersistentVolume are named `storage`.
OF_NODE = {"cpu", "memory", "pods"}
# Where in an object a field of `kubectl describe node` stands.
PLACES: dict[str, tuple[str, str]] = {
    "Labels": ("metadata", "labels"),
    "Taints": ("spec", ""),
    "Unschedulable": ("spec", ""),
    "Conditions": ("status", "conditions"),
    "Capacity": ("status", "capacity"),
    "Allocatable": ("status", "allocatable"),
    "Addresses": ("status", "addresses"),
    "System Info": ("status", "nodeInfo"),
}


def node_of(value: Any, name: str) -> dict[str, Any] | None:
    """A Node with a kind and a name, of its status, or of the amounts in it; None for anything else."""
    if not isinstance(value, dict) or "kind" in value or "items" in value:
        return None
    whole = value if isinstance(value.get("status"), dict) else {"status": value}
    status, meta = whole["status"], whole.get("metadata")
    listed = [status[key] for key in ("capacity", "allocatable") if isinstance(status.get(key), dict)]
    if not any(OF_NODE & amounts.keys() for amounts in listed):
        return None
    meta = meta if isinstance(meta, dict) else {}
    return {
        **whole,
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {**meta, "name": meta.get("name") or hostname(status) or name or NAMELESS},
    }


def hostname(status: dict[str, Any]) -> str:
    """The node's name as its addresses tell it, "" where they don't."""
    listed = status.get("addresses")
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("type") == "Hostname" and isinstance(one.get("address"), str):
            return str(one["address"])
    return ""


def shown(node: dict[str, Any]) -> set[str]:
    """The fields of a Node that a part of it shows."""
    fields = {"node"}
    for key, (section, inner) in PLACES.items():
        part = node.get(section)
        if isinstance(part, dict) and (not inner or inner in part):
            fields |= NODE_SHOWS[key]
    return fields


def with_gaps(facts: Facts, node: dict[str, Any]) -> Facts:
    """The facts of a part of a Node: what it doesn't show is not known."""
    missing = gaps(Node, shown(node), "only a part of the object was given")
    return unnamed(
        {
            kind: [msgspec.structs.replace(one, gaps=missing) for one in records] if kind == "nodes" else records
            for kind, records in facts.items()
        }
    )
