"""What objects say when they are laid side by side, after all texts are read.

A pod that a table shows as Pending is completed from the one template that was given. What a controller would say of a queue, a quota or a
node pool beside the pod (Kueue, the API server, Karpenter) is said in the controller's place, as the known message of that meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from gpudoctor.analyze.exporters_missing import nodes_without
from gpudoctor.analyze.waiting_pods import of_claims, of_unselected, records_of, with_claims, with_usage
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Smi
from gpudoctor.facts.kubernetes import Message, Node, NodeUsage, ObjectName, Pod, Quota, ScheduleReason, Workload
from gpudoctor.knowledge.resources import gpu_count, is_gpu
from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.object_parts import PRIVATE, SHOWN, Allowance, PodTemplate
from gpudoctor.tools.kubernetes.cluster_policy import Policy, of_gpus, of_policies

# Kueue leaves these out of account (its configuration can leave out more: excludeResourcePrefixes).
UNCOUNTED = ("pods", "ephemeral-storage")
# Resources of a quota that every container must then state. https://kubernetes.io/docs/concepts/policy/resource-quotas/
STATED = {f"{side}.{name}": (side, name) for side in ("limits", "requests") for name in ("cpu", "memory")} | {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
}
LOOKS = ("program_falls_back_to_cpu", "program_finds_no_gpu")  # messages: a program wants a GPU and has none
WAITS = "person_says_pending"  # a message: somebody writes that the pod waits

# llm-6d5b9c7f48-x2x7k of a Deployment  |  llm-1 of a StatefulSet
REPLICA = regex(r"(\S{1,240}?)-(?:[a-f0-9]{5,10}-[a-z0-9]{5}|\d{1,4})$")


def add_implied(facts: Facts) -> Facts:
    """Return the facts with those that follow from several of them."""
    templates = distinct_templates([one for one in facts.get("pod_templates", []) if isinstance(one, PodTemplate)])
    allowances = put_together([one for one in facts.get("allowances", []) if isinstance(one, Allowance)])
    found: Facts = {kind: records for kind, records in facts.items() if kind not in PRIVATE}
    classes = [one.name for one in records_of(facts, "storage_classes", ObjectName)]
    policies = [one for one in facts.get("policies", []) if isinstance(one, Policy)]
    found = with_usage(in_use(with_claims(fill_waiting_pods(whole_messages(found), templates))))
    if missing := [*nodes_without(found)]:
        found["exporter_nodes"] = [*missing]
    said = [*controller_messages(found, templates, allowances), *of_claims(found, classes), *of_policies(policies, found), *of_gpus(found)]
    if homes := [*of_cordoned(found), *of_unselected(found)]:
        found["schedule_reasons"] = [*found.get("schedule_reasons", []), *homes]
    if said:
        found["messages"] = [*found.get("messages", []), *said]
    looks = any(one.name in LOOKS for one in records_of(found, "messages", Message))
    hinted = [one.asks for one in templates if one.asks.wants_gpu_hint.startswith("image ") and not one.asks.component]
    if hinted and not any(one.asks.gpus for one in templates) and not any(facts.get(kind) for kind in ("pods", "nodes")):
        left = {field: why for field, why in hinted[0].gaps.items() if field not in ("phase", "wants_gpu_hint")}
        found["pods"] = [replace(hinted[0], phase="", gaps=left)]
    idle = [one for one in templates if (one.wants_gpu or looks) and not one.asks.gpus and not one.asks.component]
    if idle and not any(one.asks.gpus for one in templates) and "workloads" not in found and "pods" not in found:
        one = idle[0].asks
        made = Workload(
            namespace=one.namespace, workload="", kind="", name="", node_selector=one.node_selector or {"": ""}, origin=one.origin
        )
        found["workloads"] = [replace(made, tolerations=one.tolerations)]
    return found


def put_together(allowances: Sequence[Allowance]) -> list[Allowance]:
    """One for each queue or pool, whose parts may stand in the answers of several commands."""
    found: dict[tuple[str, str], Allowance] = {}
    for one in allowances:
        known = found.get((one.kind, one.name))
        if known is None or not one.name:
            found[one.kind, one.name or f"#{len(found)}"] = one
            continue
        most = {name: max(known.most.get(name, 0), one.most.get(name, 0)) for name in known.most | one.most}
        waiting = known.waiting or one.waiting
        found[one.kind, one.name] = replace(known, most=most, used=known.used | one.used, waiting=waiting)
    return [*found.values()]


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
    pods: list[Pod] = records_of(facts, "pods", Pod)
    pending = [pod for pod in pods if pod.phase == "Pending" and not pod.node and not pod.component and not pod.deleting]
    blank = [pod for pod in pending if "requests" in pod.gaps]
    reasons: list[ScheduleReason] = records_of(facts, "schedule_reasons", ScheduleReason)
    names = {(reason.namespace, reason.pod) for reason in reasons}
    made: dict[tuple[str, str], Pod] = {}
    if len(templates) == 1 or (templates and templates[0].asks.gpus > 0 == templates[1].asks.gpus):
        asks = templates[0].asks
        made = {(pod.namespace, pod.pod): fill_from_template(pod, asks) for pod in blank}
        heard = reasons or any(one.name == WAITS for one in records_of(facts, "messages", Message))
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


def whole_messages(facts: Facts) -> Facts:
    """The facts without the clauses that somebody quotes of a scheduler's message that is given as a whole."""
    reasons: list[ScheduleReason] = records_of(facts, "schedule_reasons", ScheduleReason)
    said = {reason.reason for reason in reasons if reason.total}
    left = [reason for reason in reasons if reason.total or reason.count or reason.reason not in said]
    return facts if len(left) == len(reasons) else {**facts, "schedule_reasons": [*left]}


def in_use(facts: Facts) -> Facts:
    """The facts with what a pod that runs says of one that waits and is made of the same template, or of the one before it: the nodes
    do have the GPUs, and they are in use.
    """
    pods: list[Pod] = [pod for pod in records_of(facts, "pods", Pod) if pod.target and not pod.component]
    held = {(pod.namespace, name) for pod in pods if pod.phase == "Running" and (pod.gpus or "gpus" in pod.gaps) and (name := made_by(pod))}
    waits = {(pod.namespace, pod.pod) for pod in pods if pod.phase == "Pending" and not pod.node and (pod.namespace, made_by(pod)) in held}
    reasons: list[ScheduleReason] = records_of(facts, "schedule_reasons", ScheduleReason)
    made = [
        replace(one, in_use=True) if one.of_gpus and not one.preemption and (one.namespace, one.pod) in waits else one for one in reasons
    ]
    return {**facts, "schedule_reasons": [*made]} if made != reasons else facts


def made_by(pod: Pod) -> str:
    """The Deployment or StatefulSet that made a pod, by its name; "" for any other pod.

    >>> made_by(Pod(namespace="ml", pod="llm-6d5b9c7f48-x2x7k")), made_by(Pod(namespace="ml", pod="llm-1"))
    ('llm', 'llm')
    """
    match = REPLICA.match(pod.pod)
    return match[1] if match else ""


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
    return replace(pod, requests={"nvidia.com/gpu": 1}, gpus=1, gpu_resources=["nvidia.com/gpu"], gaps=missing)


def controller_messages(facts: Facts, templates: Sequence[PodTemplate], allowances: Sequence[Allowance]) -> Iterator[Fact]:
    """The messages that controllers would write."""
    pods: list[Pod] = [pod for pod in records_of(facts, "pods", Pod) if pod.target and not pod.node and pod.requests]
    yield from of_queues(templates, pods, [one for one in allowances if one.kind == "queue"])
    pending = any(pod.phase == "Pending" and not pod.component for pod in records_of(facts, "pods", Pod))
    phases = {pod.phase for pod in records_of(facts, "pods", Pod) if not pod.component}
    yield from of_volcano(allowances, phases)
    for pool in allowances if pending else ():
        full = [name for name in pool.most if is_gpu(name) and pool.used.get(name, 0) >= pool.most[name]]
        if pool.kind == "nodepool" and full:
            yield Message(name="autoscaler_pool_limit", detail=pool.name, source="status", origin=pool.origin)
    yield from of_machines(facts)
    yield from of_quotas(
        templates, records_of(facts, "quotas", Quota), records_of(facts, "workloads", Workload), records_of(facts, "pods", Pod)
    )


def of_queues(templates: Sequence[PodTemplate], pods: Sequence[Pod], queues: Sequence[Allowance]) -> Iterator[Message]:
    """Kueue, on a workload of the one queue that was given: a resource that it doesn't cover, or has too little left of."""
    asking = [one.asks for one in templates if one.suspended or one.asks.queue_name] + [pod for pod in pods if pod.queue_name]
    if len(queues) != 1 or not asking or not (queues[0].waiting or any(one.suspended for one in templates)):
        return
    queue, asks = queues[0], asking[0]
    wanted = {name: amount for name, amount in asks.requests.items() if name not in UNCOUNTED and amount > 0}
    missing = sorted(wanted.keys() - queue.most.keys())
    short = sorted(name for name in wanted.keys() & queue.most.keys() if wanted[name] > queue.most[name] - queue.used.get(name, 0))
    if missing:
        yield Message(name="kueue_resource_unavailable", detail=missing[0], source="status", namespace=asks.namespace, origin=queue.origin)
    elif short:
        yield Message(name="kueue_quota_insufficient", detail=short[0], source="status", namespace=asks.namespace, origin=queue.origin)


def of_cordoned(facts: Facts) -> Iterator[ScheduleReason]:
    """The scheduler, on the pods that wait where all machines that look like GPU nodes are cordoned; nobody has shown what they offer."""
    nodes: list[Node] = [node for node in records_of(facts, "nodes", Node) if node.gpu_present or node.gpus_capacity or "gpu" in node.node]
    if not nodes or facts.get("schedule_reasons") or not all(node.unschedulable for node in nodes):
        return
    for pod in records_of(facts, "pods", Pod):
        if pod.phase == "Pending" and pod.target and not pod.component and not pod.node and "unschedulable" not in nodes[0].gaps:
            yield ScheduleReason(
                namespace=pod.namespace, pod=pod.pod, reason="unschedulable", count=len(nodes), total=len(nodes), origin=nodes[0].origin
            )


def of_machines(facts: Facts) -> Iterator[Message]:
    """The scheduler, on a pod that asks for more GPUs than the machines have on which nvidia-smi was run."""
    machines: list[Smi] = [one for one in records_of(facts, "smi", Smi) if one.inside != "pod" and not one.problem and one.gpus]
    short = {(one.namespace, one.pod) for one in records_of(facts, "schedule_reasons", ScheduleReason) if one.resource == "nvidia.com/gpu"}
    most = max((one.gpus or 0 for one in machines), default=0)
    if most and not any(gpu_count(node.allocatable) for node in records_of(facts, "nodes", Node)):
        for pod in records_of(facts, "pods", Pod):
            if (pod.namespace, pod.pod) in short and pod.requests.get("nvidia.com/gpu", 0) > most:
                yield Message(
                    name="card_request_over_node",
                    detail=str(pod.gpus),
                    source="status",
                    namespace=pod.namespace,
                    pod=pod.pod,
                    origin=machines[0].origin,
                )


def of_volcano(allowances: Sequence[Allowance], phases: Collection[str]) -> Iterator[Message]:
    """Volcano, on a group that waits for the one queue that was given; `phases` are those of the pods.

    A queue that doesn't say what it has handed out, in which pods run while others wait, is taken to hold one group like this. One that has
    handed out all while all pods have ended holds what groups have left.
    """
    queues = [one for one in allowances if one.kind == "volcano"]
    groups = [one for one in allowances if one.kind == "group"]
    if len(queues) != 1 or not ("Pending" in phases or queues[0].waiting):
        return
    queue = queues[0]
    wanted = max(
        (one.most for one in groups), key=lambda most: sum(most.values()), default={name: 1 for name in queue.most if is_gpu(name)}
    )
    used = queue.used or (wanted if groups and "Running" in phases else {})
    short = sorted(name for name in wanted.keys() & queue.most.keys() if wanted[name] > queue.most[name] - used.get(name, 0))
    left = not groups and "Succeeded" in phases and "Running" not in phases
    if short:
        name = "volcano_resource_overused" if left else "volcano_queue_quota_insufficient"
        yield Message(name=name, detail=short[0], source="status", origin=queue.origin)


def of_quotas(
    templates: Sequence[PodTemplate], quotas: Sequence[Quota], owners: Sequence[Workload], pods: Sequence[Pod]
) -> Iterator[Message]:
    """The API server, on a container that doesn't state what a quota counts, where no pod was made."""
    without = {(side, name) for one in templates for side, names in one.without.items() for name in names}
    # a limit is a request too
    without -= {("requests", name) for side, name in [*without] if side == "requests" and ("limits", name) not in without}
    made = [owner.updated if owner.current is None else owner.current for owner in owners if owner.desired]
    none = 0 in made and not any(pod.target and not pod.component for pod in pods)
    for quota in quotas if none else ():
        if STATED.get(quota.resource) in without:
            yield Message(name="quota_needs_values", detail=quota.quota, source="status", namespace=quota.namespace, origin=quota.origin)
            return
