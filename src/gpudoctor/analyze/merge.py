"""One record for one thing: a pod that a table, its description and its manifest show becomes one pod.

Only what was seen is joined: a name without a namespace takes the only namespace that the name was seen with.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from gpudoctor.analyze.expected_output import without_expected
from gpudoctor.analyze.waiting_pods import complete
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.identity import IDENTITY
from gpudoctor.facts.kubernetes import Message, Pod

# The fields that name a thing; a record without the last one stands for itself.
NAMES: dict[str, tuple[str, ...]] = {"pods": ("namespace", "pod"), "containers": ("namespace", "pod", "container"), "nodes": ("node",)}
# Other states of a thing: of what one text shows of it, the last counts.
STATES = ("workloads", "claims", "quotas", "volumes", "slurm_nodes", "slurm_jobs", "units")
OF_RANKS = ("ranks", "messages", "settings")  # whose `node` may be a host name of a log


def merge_facts(facts: Facts) -> Facts:
    """The facts with namespaces completed, partial records of one thing joined, equal messages folded, and without what was wanted."""
    named = with_namespaces(with_pods(without_expected(facts)))
    for kind, names in NAMES.items():
        if kind in named:
            named[kind] = join_records(named[kind], names)
    for kind in STATES:
        if kind in named:
            named[kind] = [record for same in group_by_identity(named[kind], IDENTITY[kind]) for record in latest_per_text(same)]
    named = with_nodes(complete(named))
    if "messages" in named:
        named["messages"] = fold_messages(named["messages"])
    if "gpu_samples" in named:
        named["gpu_samples"] = as_printed(named["gpu_samples"])
    return named


def as_printed(samples: list[Fact]) -> list[Fact]:
    """The samples that a tool has printed, where there are any; else what people tell of them."""
    return [one for one in samples if not one.stated] or samples


def with_pods(facts: Facts) -> Facts:
    """In a container the host name that a rank's log has is the pod's: where a pod of that name was seen, it is that pod."""
    pods = {getattr(pod, "pod", "") for pod in facts.get("pods", [])} - {""}
    if not pods:
        return facts
    return {kind: [_on_pod(fact, pods) if kind in OF_RANKS else fact for fact in records] for kind, records in facts.items()}


def _on_pod(fact: Fact, pods: set[str]) -> Fact:
    host = getattr(fact, "node", "")
    return msgspec.structs.replace(fact, node="", pod=host) if host in pods and not getattr(fact, "pod", "") else fact


def with_nodes(facts: Facts) -> Facts:
    """What a pod's log says is said on the node that the pod was seen on, as a command that reads the log knows it."""
    homes = {(pod.namespace, pod.pod): pod.node for pod in facts.get("pods", []) if isinstance(pod, Pod) and pod.pod and pod.node}
    messages = facts.get("messages", []) if homes else []
    made = [on_node(one, homes) if isinstance(one, Message) and one.source == "log" else one for one in messages]
    return {**facts, "messages": made} if made else facts


def on_node(message: Message, homes: dict[tuple[str, str], str]) -> Message:
    """A message with the node of its pod, where only the pod is known."""
    home = homes.get((message.namespace, message.pod), "") if message.pod and not message.node else ""
    return msgspec.structs.replace(message, node=home) if home else message


def with_namespaces(facts: Facts) -> Facts:
    """Pods' names that were seen in exactly one namespace have it everywhere."""
    seen: dict[str, set[str]] = defaultdict(set)
    for records in facts.values():
        for fact in records:
            pod, namespace = getattr(fact, "pod", ""), getattr(fact, "namespace", "")
            if pod and namespace:
                seen[pod].add(namespace)
    only = {pod: min(namespaces) for pod, namespaces in seen.items() if len(namespaces) == 1}
    return {kind: [_with_namespace(fact, only) for fact in records] for kind, records in facts.items()}


def _with_namespace(fact: Fact, only: dict[str, str]) -> Fact:
    pod, namespace = getattr(fact, "pod", ""), getattr(fact, "namespace", "")
    if namespace or pod not in only:
        return fact
    return msgspec.structs.replace(fact, namespace=only[pod])


def join_records(records: list[Fact], names: tuple[str, ...]) -> list[Fact]:
    """Records of one thing as one: the one with the fewest gaps, its gaps filled by the others."""
    made: list[Fact] = []
    for same in group_by_identity(records, names):
        first, *rest = sorted(latest_per_text(same), key=lambda record: len(record.gaps))
        for other in rest:
            first = fill_gaps(first, other)
        made.append(first)
    return made


def group_by_identity(records: list[Fact], names: tuple[str, ...]) -> Iterable[list[Fact]]:
    """Group the records by the thing they describe; a record without a name is a group of its own."""
    groups: dict[tuple[Any, ...], list[Fact]] = defaultdict(list)
    for record in records:
        named = getattr(record, names[-1])
        groups[tuple(getattr(record, name) for name in names) if named else (id(record),)].append(record)
    return groups.values()


def latest_per_text(records: list[Fact]) -> list[Fact]:
    """One record for each text: a text tells of a thing in the order in which things happened, so what it shows last is how it is.

    What is said in one breath of several outputs side by side is the same everywhere, and the last is then as good as the first.
    """
    texts: dict[str, Fact] = {}
    for record in records:
        earlier = texts.pop(record.origin.source, None)
        texts[record.origin.source] = fill_gaps(record, earlier) if earlier is not None else record
    return list(texts.values())


def fill_gaps(first: Fact, other: Fact) -> Fact:
    """Fill the gaps of the first record with the fields that the other shows."""
    changes: dict[str, Any] = {field: getattr(other, field) for field in first.gaps if field not in other.gaps}
    # Optional in every form; a manifest has no phase either, and one that names a node itself passes by what waits.
    for field in ("age", "node") if getattr(first, "node", "") else ("age", "node", "phase"):
        if not getattr(first, field, None) and getattr(other, field, None):
            changes[field] = getattr(other, field)
    if not changes:
        return first
    left = {field: why for field, why in first.gaps.items() if field not in changes}
    return msgspec.structs.replace(first, **changes, gaps=left)


def fold_messages(records: list[Fact]) -> list[Fact]:
    """Messages that blocks of one file or sections of one file repeat, as one with their counts added up."""
    fields = ("name", "detail", "source", "namespace", "pod", "container", "node", "workload", "component", "pci")
    by_key: dict[tuple[Any, ...], Fact] = {}
    for record in records:
        key = (record.origin.source, *(getattr(record, field, "") for field in fields))
        known = by_key.get(key)
        if known is None:
            by_key[key] = record
        else:
            by_key[key] = msgspec.structs.replace(known, count=getattr(known, "count", 1) + getattr(record, "count", 1))
    return list(by_key.values())
