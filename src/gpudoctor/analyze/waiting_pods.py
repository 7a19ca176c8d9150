"""Pods that wait, completed from what several texts show of them: the template that was given, a claim, the pods beside them.

This is a matter of pasted texts only: a table or an event shows a part of a pod, and somebody adds the manifest it was made of. An API
gives pods whole. What it means that a queue, a node or a quota lacks something is measured in `derive`, of files and answers alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from gpudoctor.derive.scheduling_asks import records_of
from gpudoctor.derive.scheduling_labels import failed_term, fails
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Smi
from gpudoctor.facts.kubernetes import Claim, Message, Node, NodeUsage, Pod, Requirement, ScheduleReason, Workload
from gpudoctor.facts.scheduling import PodTemplate
from gpudoctor.knowledge.resources import gpu_count, is_gpu
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.kubectl.object_parts import SHOWN

GPU = "nvidia.com/gpu"
LOOKS = ("program_falls_back_to_cpu", "program_finds_no_gpu")  # messages: a program wants a GPU and has none
WAITS = "person_says_pending"  # a message: somebody writes that the pod waits


def complete(facts: Facts) -> Facts:
    """The facts with the pods that wait completed; a template that nothing else was given beside stands for its pod or its owner."""
    given = [one for one in facts.get("pod_templates", []) if isinstance(one, PodTemplate)]
    templates = distinct_templates(given)
    found = with_usage(with_claims(with_machines(taken_to_wait(fill_waiting_pods(whole_messages(facts), templates)))))
    return {**found, **stand_ins(found, templates)}


def stand_ins(facts: Facts, templates: Sequence[PodTemplate]) -> Facts:
    """A pod, or the owner of pods, that only a template shows: it asks for no GPU, and seems to want one."""
    if any(one.asks.gpus for one in templates):
        return {}
    found: Facts = {}
    hinted = [one.asks for one in templates if one.asks.wants_gpu_hint.startswith("image ") and not one.asks.component]
    if hinted and not any(facts.get(kind) for kind in ("pods", "nodes")):
        left = {field: why for field, why in hinted[0].gaps.items() if field not in ("phase", "wants_gpu_hint")}
        found["pods"] = [replace(hinted[0], phase="", gaps=left)]
    looks = any(one.name in LOOKS for one in records_of(facts, "messages", Message))
    idle = [one.asks for one in templates if (one.wants_gpu or looks) and not one.asks.gpus and not one.asks.component]
    if idle and not {"workloads", "pods"} & {*facts, *found}:
        one = idle[0]
        made = Workload(
            namespace=one.namespace, workload="", kind="", name="", node_selector=one.node_selector or {"": ""}, origin=one.origin
        )
        found["workloads"] = [replace(made, tolerations=one.tolerations)]
    return found


def distinct_templates(templates: Sequence[PodTemplate]) -> list[PodTemplate]:
    """Templates that ask for different things; of a JobSet's or a training job's roles the one with the most GPUs."""
    seen: dict[str, PodTemplate] = {}
    for one in templates:
        asks = one.asks
        seen.setdefault(
            repr((sorted(asks.requests.items()), sorted(asks.node_selector.items()), asks.tolerations, asks.node_affinity)), one
        )
    return sorted(seen.values(), key=lambda one: -one.asks.gpus)


def fill_waiting_pods(facts: Facts, templates: Sequence[PodTemplate]) -> Facts:
    """Fill in what the waiting pods ask for."""
    pods = records_of(facts, "pods", Pod)
    pending = [pod for pod in pods if pod.phase == "Pending" and not pod.node and not pod.component and not pod.deleting]
    blank = [pod for pod in pending if "requests" in pod.gaps]
    reasons = records_of(facts, "schedule_reasons", ScheduleReason)
    names = {(reason.namespace, reason.pod) for reason in reasons}
    made: dict[tuple[str, str], Pod] = {}
    if len(templates) == 1 or (templates and templates[0].asks.gpus > 0 == templates[1].asks.gpus):
        asks = templates[0].asks
        made = {(pod.namespace, pod.pod): fill_from_template(pod, asks) for pod in blank}
        heard = reasons or templates[0].waits or any(one.name == WAITS for one in records_of(facts, "messages", Message))
        if not pending and heard and not any(pod.requests for pod in pods if pod.target):
            space, name = next(iter(names)) if len(names) == 1 else ("", asks.pod)
            left = {field: why for field, why in asks.gaps.items() if field not in ("phase", "pod", "node", "scheduled", "schedule_reason")}
            made[space, name] = replace(asks, namespace=space or asks.namespace, pod=name, phase="Pending", gaps=left)
            pods = [*pods, made[space, name]]
    elif not templates and gpu_use_is_known(facts):
        made = {(pod.namespace, pod.pod): fill_from_template(pod, one_gpu(pod)) for pod in blank}
    asked = pending or [pod for pod in pods if pod.target]  # a manifest alone is of the pod that waits
    if not made and len(asked) != 1:
        return facts
    facts = {**facts, "pods": [made.get((pod.namespace, pod.pod), pod) for pod in pods]}
    if names == {("", "")} and len(asked) == 1:
        only = asked[0]
        facts["schedule_reasons"] = [replace(reason, namespace=only.namespace, pod=only.pod) for reason in reasons]
    return facts


def with_machines(facts: Facts) -> Facts:
    """The facts; machines on which nvidia-smi was run are the nodes of a pod that waits and asks for more GPUs than they have.

    Nobody has shown what nodes offer, and it can't be more than the driver has.
    """
    machines: list[Smi] = [one for one in records_of(facts, "smi", Smi) if one.inside != "pod" and not one.problem and one.gpus]
    nodes = records_of(facts, "nodes", Node)
    if not machines or any(gpu_count(node.allocatable) for node in nodes):
        return facts
    most = max(machines, key=lambda one: one.gpus or 0)
    reasons = records_of(facts, "schedule_reasons", ScheduleReason)
    short = {(one.namespace, one.pod) for one in reasons if one.resource == GPU}
    pods = records_of(facts, "pods", Pod)
    if not any((pod.namespace, pod.pod) in short and pod.requests.get(GPU, 0) > (most.gpus or 0) for pod in pods):
        return facts
    amounts, shown = {GPU: most.gpus or 0}, {"capacity", "allocatable", "gpu_resources", "gpus_capacity", "gpus_allocatable", "gpu_present"}
    made = Node(
        node=most.node,
        gpu_present=True,
        capacity=amounts,
        allocatable=amounts,
        gpu_resources=[GPU],
        gpus_capacity=most.gpus or 0,
        gpus_allocatable=most.gpus or 0,
        origin=most.origin,
        gaps=gaps(Node, shown, "only nvidia-smi was run there"),
    )
    return {**facts, "nodes": [*nodes, made]}


def taken_to_wait(facts: Facts) -> Facts:
    """The facts; a manifest beside nodes of which none has the labels that it chooses is of a pod that waits, as their reader says."""
    nodes = records_of(facts, "nodes", Node)
    if not nodes or facts.get("schedule_reasons"):
        return facts
    return {**facts, "pods": [waiting_if_unmatched(pod, nodes) for pod in facts["pods"]]} if "pods" in facts else facts


def waiting_if_unmatched(pod: Fact, nodes: Sequence[Node]) -> Fact:
    """The pod as one that waits, where nothing says whether it does and no node has what it chooses."""
    if not isinstance(pod, Pod) or not {"node", "phase"} <= pod.gaps.keys() or not pod.target or pod.component:
        return pod
    wanted = [Requirement(key=key, operator="In", values=(value,)) for key, value in pod.node_selector.items()]
    if not all(any(fails(need, node) for need in wanted) or failed_term(pod.node_affinity, node) for node in nodes):
        return pod
    return replace(pod, phase="Pending", stated=True, gaps={field: why for field, why in pod.gaps.items() if field != "phase"})


def whole_messages(facts: Facts) -> Facts:
    """The facts without the clauses that somebody quotes of a scheduler's message that is given as a whole."""
    reasons = records_of(facts, "schedule_reasons", ScheduleReason)
    said = {reason.reason for reason in reasons if reason.total}
    left = [reason for reason in reasons if reason.total or reason.count or reason.reason not in said]
    return facts if len(left) == len(reasons) else {**facts, "schedule_reasons": [*left]}


def fill_from_template(pod: Pod, asks: Pod) -> Pod:
    """Fill in what a pod of a table asks for."""
    changes = {field: getattr(asks, field) for field in SHOWN if field in pod.gaps and field not in asks.gaps}
    left = {field: why for field, why in pod.gaps.items() if field not in changes and field not in ("node", "scheduled")}
    return replace(pod, **changes, gaps=left)


def gpu_use_is_known(facts: Facts) -> bool:
    """Whether the GPUs in use are known on every node that has GPUs."""
    counted = {usage.node for usage in records_of(facts, "node_usage", NodeUsage) if any(map(is_gpu, usage.requested))}
    offering = {node.node for node in records_of(facts, "nodes", Node) if gpu_count(node.allocatable)}
    return bool(offering) and offering <= counted


def one_gpu(pod: Pod) -> Pod:
    """A pod that asks for the least that a GPU pod can ask for: where that fits nowhere, the pod doesn't."""
    known = {"requests", "gpus", "gpu_resources", "node_selector", "node_affinity", "tolerations"}
    missing = dict.fromkeys(SHOWN - known, "not shown")
    return replace(pod, requests={GPU: 1}, gpus=1, gpu_resources=[GPU], gaps=missing)


def with_claims(facts: Facts) -> Facts:
    """The facts; a pod that waits has the claims that a StatefulSet makes for it (`data-ft-0` for `ft-0`), or the only one shown."""
    claims = records_of(facts, "claims", Claim)
    waiting = [pod for pod in records_of(facts, "pods", Pod) if pod.phase == "Pending" and not pod.component and "claims" in pod.gaps]
    made: dict[tuple[str, str], Pod] = {}
    for pod in waiting if claims else ():
        near = [claim.claim for claim in claims if not claim.namespace or claim.namespace == pod.namespace]
        own = [name for name in near if name.endswith(f"-{pod.pod}")] or (near if len(waiting) == len(near) == 1 else [])
        if own:
            left = {field: why for field, why in pod.gaps.items() if field != "claims"}
            made[pod.namespace, pod.pod] = replace(pod, claims=own, gaps=left)
    pods = [made.get((pod.namespace, pod.pod), pod) for pod in records_of(facts, "pods", Pod)]
    return {**facts, "pods": [*pods]} if made else facts


def with_usage(facts: Facts) -> Facts:
    """The facts; nodes whose pods, as far as they were shown, ask for all GPUs that it offers are full, whoever else runs there.

    A run adds up all pods of the cluster; texts show some of them, and of a node that isn't full nothing follows.
    """
    pods = records_of(facts, "pods", Pod)
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
