"""Our counts against the scheduler's own message. The scheduler is right; a difference tells how far our table can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from gpudoctor.derive.scheduling_plugins import Blocker
from gpudoctor.facts.kubernetes import ScheduleReason

# Reasons that both sides count node by node, in words.
WORDS = {
    "unschedulable": "cordoned nodes",
    "taint": "nodes with untolerated taints",
    "node_affinity": "nodes outside the pod's node selector or affinity",
    "too_many_pods": "nodes without a free pod slot",
    "volume_affinity": "nodes that a volume excludes",
    "ports": "nodes without a free host port",
    "topology_spread": "nodes that a topology spread constraint excludes",
    "pod_affinity": "nodes that rules about other pods exclude",
}
OTHERS = frozenset({"ports", "topology_spread", "pod_affinity"})
# Checks of the scheduler that come before the resources and that we can't make: they take nodes out of its later counts.
EARLIER = frozenset({"node_name", "other", "resource_claim", "no_nodes", "volume_unbound"})


# What the scheduler looks at and we don't, or not always: where it leaves a node out for one of these that isn't computed, no change of
# ours is sure to be enough.
UNKNOWN = {
    "pod_affinity": "rules about other pods",
    "topology_spread": "topology spread constraints",
    "ports": "host ports",
    "resource_claim": "claims of devices",
    "volume_binding": "volumes that can't be bound",
    "volume_unbound": "claims that are not bound",
    "volume_in_use": "volumes in use",
    "volume_count": "the number of volumes",
}


def uncomputed_reasons(reasons: Sequence[ScheduleReason], computed: Collection[str]) -> list[str]:
    """What the latest message names of `UNKNOWN` and isn't computed, in words."""
    return [UNKNOWN[one.reason] for one in latest_clauses(reasons) if one.reason in UNKNOWN.keys() - computed]


def latest_clauses(reasons: Sequence[ScheduleReason]) -> list[ScheduleReason]:
    """The clauses of the latest message; a pod's condition and its events may each have brought one."""
    if not reasons:
        return []
    last = max(reasons, key=lambda reason: reason.time if reason.time is not None else float("-inf"))
    return [one for one in reasons if (one.origin, one.time) == (last.origin, last.time)]


def difference(said: Sequence[ScheduleReason], ours: Counter[str], nodes: int, *, counts_usage: bool, computed: Collection[str]) -> str:
    """The first difference as a sentence, "" when the counts agree or can't be compared.

    `said` is one message, `ours` what `count_by_reason` gives for as many `nodes`. Resources and what the scheduler checks after them are
    compared only when the running pods were read, and what looks at other pods only when it is `computed`.
    """
    total = max((reason.total for reason in said), default=0)
    if not total or any(reason.reason in EARLIER or (reason.reason == "ports" and "ports" not in computed) for reason in said):
        return ""
    if total != nodes:
        return f"the scheduler counts {total} nodes, we read {nodes}"
    theirs: Counter[str] = Counter()
    for reason in said:
        theirs[f"insufficient {reason.resource}" if reason.reason == "insufficient" else reason.reason] += reason.count
    if sum(theirs.values()) < total:  # part of the message is missing
        return ""
    for kind in sorted(theirs.keys() | ours.keys(), key=lambda kind: (kind not in WORDS, kind)):
        after_filters = kind.startswith("insufficient") or kind in ("too_many_pods", "volume_affinity")
        if theirs[kind] == ours[kind] or (after_filters and not counts_usage) or (kind in OTHERS and kind not in computed):
            continue
        if kind in WORDS:
            return f"the scheduler counts {theirs[kind]} {WORDS[kind]}, we count {ours[kind]}"
        if kind.startswith("insufficient"):
            return f"the scheduler counts {theirs[kind]} nodes with {kind}, we count {ours[kind]}"
    return ""


def count_by_reason(verdicts: Sequence[list[Blocker]]) -> Counter[str]:
    """Nodes by reason as the scheduler counts them: the first check that fails; of the resources, each one that is short."""
    ours: Counter[str] = Counter()
    for blockers in verdicts:
        first = blockers[0] if blockers else None
        if first and first.shortage:
            ours.update(f"insufficient {one.key}" if one.reason == "insufficient" else one.reason for one in blockers if one.shortage)
        elif first and first.reason in WORDS:
            ours[first.reason] += 1
    return ours
