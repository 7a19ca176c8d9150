"""Parts of API objects: what somebody cuts out of `kubectl get node -o yaml` has no kind, but a shape."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Node
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl.describe import NODE_SHOWS

#     pod-security.kubernetes.io/enforce: restricted
ENFORCES = regex(r'pod-security\.kubernetes\.io/enforce"?: ?"?\w+')
LONGEST = 8 << 20  # bytes of a page that is looked at
# Amounts of nodes; those of a PersistentVolume are named `storage`.
OF_NODE = {"cpu", "memory", "pods"}
# What only the spec of a node has.
OF_SPEC = {"podCIDR", "podCIDRs", "providerID", "unschedulable"}
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
OBJECT = msgspec.json.Decoder(dict[str, Any])


def node_of(value: Any, name: str) -> dict[str, Any] | None:
    """A Node with a kind and a name, of its status, or of the amounts in it; None for anything else."""
    if not isinstance(value, dict) or "kind" in value or "items" in value:
        return None
    spec = value.get("spec")
    if name and isinstance(spec, dict) and OF_SPEC & spec.keys() and not isinstance(value.get("status"), dict):
        return {"spec": spec, "kind": "Node", "apiVersion": "v1", "metadata": {**metadata_of(value), "name": name}}
    whole = value if isinstance(value.get("status"), dict) else {"status": value}
    status = whole["status"]
    listed = [status[key] for key in ("capacity", "allocatable") if isinstance(status.get(key), dict)]
    if not any(OF_NODE & amounts.keys() for amounts in listed):
        return None
    meta = metadata_of(whole)
    return {
        **whole,
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {**meta, "name": meta.get("name") or hostname(status) or name or NAMELESS},
    }


def metadata_of(value: dict[str, Any]) -> dict[str, Any]:
    """The metadata of an object, {} without any."""
    meta = value.get("metadata")
    return meta if isinstance(meta, dict) else {}


def hostname(status: dict[str, Any]) -> str:
    """The node's name as its addresses tell it, "" where they don't."""
    listed = status.get("addresses")
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and one.get("type") == "Hostname" and isinstance(one.get("address"), str):
            return str(one["address"])
    return ""


def node_fields(node: dict[str, Any]) -> set[str]:
    """The fields of a Node that a part of it shows."""
    fields = {"node"}
    for key, (section, inner) in PLACES.items():
        part = node.get(section)
        if isinstance(part, dict) and (not inner or inner in part):
            fields |= NODE_SHOWS[key]
    return fields


def with_gaps(facts: Facts, node: dict[str, Any]) -> Facts:
    """The facts of a part of a Node: what it doesn't show is not known."""
    missing = gaps(Node, node_fields(node), "only a part of the object was given")
    return remove_placeholders(
        {
            kind: [msgspec.structs.replace(one, gaps=missing) for one in records] if kind == "nodes" else records
            for kind, records in facts.items()
        }
    )


def labels_said(output: Output, about: Subject) -> list[Any]:
    """What a namespace's labels say of its pods' security."""
    return [
        message
        for match in list(ENFORCES.finditer(output.text))[:20]
        for message in scan_text(match[0], source="status", about=about, origin=Origin(output.origin_name(), 0, match[0]))
    ]


def with_kind(page: bytes) -> bytes:
    """The page; where it is no more than the `data` of a ConfigMap, with the kind that was cut off.

    The plugin's chart makes a ConfigMap of what stands in its values below `config.map`.
    """
    if b'"kind"' in page[:65536] or not page.startswith((b'{"data":{', b'{"config":{')) or len(page) > LONGEST:
        return page
    try:
        value = OBJECT.decode(page)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return page
    if "config" in value:
        inner = value["config"].get("map")
        if not isinstance(inner, dict):
            return page
        value = {"data": inner}
    return msgspec.json.encode({**value, "kind": "ConfigMap", "apiVersion": "v1"})
