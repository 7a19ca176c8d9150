"""What pods that wait say beside what else was given: claims, volumes, queues, and the labels and GPUs of nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from gpudoctor.derive.scheduling_asks import PERHAPS
from gpudoctor.derive.scheduling_labels import failed_term, fails
from gpudoctor.facts import Facts
from gpudoctor.facts.kubernetes import Claim, Message, Node, NodeUsage, Pod, Requirement, ScheduleReason
from gpudoctor.knowledge.resources import is_gpu


def records_of(facts: Facts, kind: str, fact_type: type[Any]) -> list[Any]:
    """The records of one type."""
    return [one for one in facts.get(kind, []) if isinstance(one, fact_type)]


def with_claims(facts: Facts) -> Facts:
    """The facts; a pod that waits has the claims that a StatefulSet makes for it (`data-ft-0` for `ft-0`), or the only one shown."""
    claims: list[Claim] = records_of(facts, "claims", Claim)
    waiting = [pod for pod in records_of(facts, "pods", Pod) if pod.phase == "Pending" and not pod.component and "claims" in pod.gaps]
    made: dict[tuple[str, str], Pod] = {}
    for pod in waiting if claims else ():
        near = [claim.claim for claim in claims if not claim.namespace or claim.namespace == pod.namespace]
        own = [name for name in near if name.endswith(f"-{pod.pod}")] or (near if len(waiting) == len(near) == 1 else [])
        if own:
            left = {field: why for field, why in pod.gaps.items() if field != "claims"}
            made[pod.namespace, pod.pod] = replace(pod, claims=own, gaps=left)
    pods = [made.get((pod.namespace, pod.pod), pod) for pod in records_of(facts, "pods", Pod)]
    return {**facts, "pods": pods} if made else facts


def of_claims(facts: Facts, classes: Sequence[str]) -> Iterator[Message]:
    """The controller of volumes, on a claim whose storage class isn't among those that were listed."""
    for claim in records_of(facts, "claims", Claim) if classes else ():
        if claim.phase == "Pending" and claim.storage_class and claim.storage_class not in classes:
            yield Message(
                name="claim_not_provisioned",
                detail=claim.storage_class,
                source="status",
                namespace=claim.namespace,
                origin=claim.origin,
            )


def of_unselected(facts: Facts) -> Iterator[ScheduleReason]:
    """What no node that was shown has of a pod's selector, where nothing says whether the pod waits."""
    nodes: list[Node] = records_of(facts, "nodes", Node)
    if not nodes or facts.get("schedule_reasons"):
        return
    for pod in records_of(facts, "pods", Pod):
        if {"node", "phase"} <= pod.gaps.keys() and pod.target and not pod.component:
            wanted = [Requirement(key=key, operator="In", values=(value,)) for key, value in pod.node_selector.items()]
            if all(any(fails(need, node) for need in wanted) or failed_term(pod.node_affinity, node) for node in nodes):
                yield ScheduleReason(
                    namespace=pod.namespace, pod=pod.pod, reason=PERHAPS, count=len(nodes), total=len(nodes), origin=pod.origin
                )


def with_usage(facts: Facts) -> Facts:
    """The facts; nodes whose pods, as far as they were shown, ask for all GPUs that it offers are full, whoever else runs there."""
    pods: list[Pod] = records_of(facts, "pods", Pod)
    if facts.get("node_usage") or not any(pod.phase == "Pending" for pod in pods):
        return facts
    held: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for pod in pods:
        for name in pod.gpu_resources if pod.node and pod.phase not in ("Succeeded", "Failed") else ():
            held[pod.node][name] = held[pod.node].get(name, 0) + pod.requests.get(name, 0)
    full = [
        NodeUsage(node=node.node, requested=held[node.node], origin=node.origin)
        for node in records_of(facts, "nodes", Node)
        if any(is_gpu(name) and 0 < node.allocatable.get(name, 0) <= amount for name, amount in held[node.node].items())
    ]
    return {**facts, "node_usage": [*full]} if full else facts
