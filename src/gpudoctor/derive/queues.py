"""What queues and node pools have too little left of for what waits.

Measured is the one queue that was shown: of several, nothing says which one a workload waits in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from gpudoctor.derive.scheduling_asks import records_of
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Pod, Workload
from gpudoctor.facts.scheduling import Allowance, PodTemplate, QueueShortage
from gpudoctor.knowledge.resources import is_gpu

# Kueue leaves these out of account (its configuration can leave out more: excludeResourcePrefixes).
UNCOUNTED = ("pods", "ephemeral-storage")


def shortages(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A record for each resource that a queue lacks for what waits, and for the GPUs of each node pool that has all it may have."""
    allowances = put_together(records_of(facts, "allowances", Allowance))
    pods = [pod for pod in records_of(facts, "pods", Pod) if not pod.component]
    phases = {pod.phase for pod in pods}
    owners = [one for one in records_of(facts, "workloads", Workload) if one.kind != "Workload" and not one.component]
    found = [
        *of_kueue(records_of(facts, "pod_templates", PodTemplate), owners, pods, [one for one in allowances if one.kind == "queue"]),
        *of_volcano(allowances, phases),
        *(of_node_pools(allowances) if "Pending" in phases else ()),
    ]
    return {"queue_shortages": [*found]}


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


def of_kueue(
    templates: Sequence[PodTemplate], owners: Sequence[Workload], pods: Sequence[Pod], queues: Sequence[Allowance]
) -> Iterator[QueueShortage]:
    """What a workload asks for of the one queue of Kueue: resources that it doesn't cover, or has too little left of."""
    suspended = any(one.suspended for one in templates) or any(one.suspended for one in owners)
    asking: list[Pod | Workload] = [one for one in owners if one.requests and (one.suspended or one.queue_name)]
    asking += [one.asks for one in templates if one.suspended or one.asks.queue_name]
    asking = sorted(asking, key=lambda one: -one.gpus)
    asking += [pod for pod in pods if pod.target and not pod.node and pod.requests and pod.queue_name]
    if len(queues) != 1 or not asking or not (queues[0].waiting or suspended):
        return
    queue, asks = queues[0], asking[0]
    for name, amount in sorted(asks.requests.items()):
        if name in UNCOUNTED or amount <= 0:
            continue
        if name not in queue.most or amount > left(queue, name):
            yield replace(
                shortage(queue, name, amount, queue.used),
                namespace=asks.namespace,
                workload=asks.workload,
                pod=asks.pod if isinstance(asks, Pod) else "",
            )


def of_volcano(allowances: Sequence[Allowance], phases: Collection[str]) -> Iterator[QueueShortage]:
    """What a group that waits asks for of the one queue of Volcano; `phases` are those of the pods.

    A queue that doesn't say what it has handed out, in which pods run while others wait, is taken to hold one group like this. What a
    queue has handed out while nothing of it runs, groups have left there.
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
    over = not groups and "Succeeded" in phases and "Running" not in phases
    ended = over if queue.running is None else queue.running == 0 and bool(queue.used)
    for name in sorted(wanted.keys() & queue.most.keys()):
        if wanted[name] > queue.most[name] - used.get(name, 0):
            yield replace(shortage(queue, name, wanted[name] if groups else 0, used), ended=ended)


def of_node_pools(allowances: Sequence[Allowance]) -> Iterator[QueueShortage]:
    """The GPUs of node pools that have all that they may have."""
    for pool in allowances:
        for name in sorted(pool.most) if pool.kind == "nodepool" else ():
            if is_gpu(name) and left(pool, name) <= 0:
                yield shortage(pool, name, 0, pool.used)


def left(one: Allowance, resource: str) -> int:
    """How much of a resource a queue or a pool may still hand out."""
    return one.most[resource] - one.used.get(resource, 0)


def shortage(one: Allowance, resource: str, wanted: int, used: Mapping[str, int]) -> QueueShortage:
    """The record of one resource."""
    return QueueShortage(
        kind=one.kind,
        queue=one.name,
        resource=resource,
        covered=resource in one.most,
        wanted=wanted,
        most=one.most.get(resource, 0),
        used=used.get(resource, 0),
        origin=one.origin,
    )
