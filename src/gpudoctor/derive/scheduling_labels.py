"""A node's labels against what a pod or a volume requires of them, as far as the labels are known."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.facts.kubernetes import Node, Requirement

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"  # the node's name, unless the kubelet was told otherwise
# Whose labels a component writes: the kubelet, a cloud's controller, discovery, an autoscaler. A node that is given one by hand lies.
OWNERS = (
    "kubernetes.io",
    "k8s.io",
    "nvidia.com",
    "amd.com",
    "intel.com",
    "amazonaws.com",
    "k8s.aws",
    "azure.com",
    "google.com",
    "karpenter.sh",
)


def label(node: Node, key: str) -> str | None:
    """A node's label. The zone that a storage driver writes (topology.ebs.csi.aws.com/zone) is the node's own where only that was shown."""
    value = node.labels.get(key, node.node if key == HOSTNAME and "labels" in node.gaps else None)
    return node.labels.get(ZONE) if value is None and is_zone(key) else value


def is_zone(key: str) -> bool:
    """Whether a label is a storage driver's word for the zone."""
    return key.startswith("topology.") and key.endswith("/zone") and key != ZONE


def is_owned(key: str) -> bool:
    """Whether a component writes labels of this name; roles are a person's.

    >>> [is_owned(key) for key in ("topology.kubernetes.io/zone", "nvidia.com/gpu.product", "node-role.kubernetes.io/train", "pool")]
    [True, True, False, False]
    """
    domain = key.rpartition("/")[0]
    return domain != "node-role.kubernetes.io" and any(domain == owner or domain.endswith(f".{owner}") for owner in OWNERS)


def is_known(node: Node, key: str) -> bool:
    """Whether it is known what a node has under a label: only a table may leave that open."""
    if key in ("metadata.name", HOSTNAME):
        return True
    if node.label_keys:
        return key in node.label_keys or key in node.labels or (is_zone(key) and ZONE in node.label_keys)
    return "labels" not in node.gaps


def matches(need: Requirement, node: Node) -> bool:
    """One requirement against a node's labels (or its name). An invalid one (unknown operator, no number for Gt) matches nothing."""
    value = (node.node if need.key == "metadata.name" else None) if need.field else label(node, need.key)
    match need.operator:
        case "In":
            return value is not None and value in need.values
        case "NotIn":
            return bool(need.values) and value not in need.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            there, limit = integer(value), integer(need.values[0] if len(need.values) == 1 else None)
            if there is None or limit is None:
                return False
            return there > limit if need.operator == "Gt" else there < limit
    return False


def fails(need: Requirement, node: Node) -> bool:
    """Whether a node is known not to meet a requirement."""
    return is_known(node, need.key) and not matches(need, node)


def failed_term(terms: Sequence[Sequence[Requirement]] | None, node: Node) -> list[Requirement]:
    """What the node lacks for the term that comes closest; [] where one may match or nothing is required. An empty term matches nothing."""
    if terms is None:
        return []
    closest: list[Requirement] | None = None
    for term in terms:
        failed = [need for need in term if fails(need, node)]
        if term and not failed:
            return []
        if failed and (closest is None or len(failed) < len(closest)):
            closest = failed
    return closest or [Requirement(key="a node selector term that is not empty", operator="Exists")]


def integer(text: str | None) -> int | None:
    """A label as Go's strconv.ParseInt(s, 10, 64) reads it: a sign and digits, 64 bits; None for anything else.

    >>> [integer(text) for text in ("+80", "8.0", " 8", "9223372036854775808", None)]
    [80, None, None, None, None]
    """
    if text is None or len(text) > 20 or not re.fullmatch(r"[+-]?[0-9]+", text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
