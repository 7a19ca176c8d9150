"""How much queues and node pools may hand out: ClusterQueues of Kueue, Queues and PodGroups of Volcano, NodePools of Karpenter."""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.scheduling import Allowance, LocalQueue
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, evidence, objects
from gpudoctor.tools.kubernetes.quantity import amounts

OVER = ("Running", "Completed")  # phases of a PodGroup that waits for nothing


class AnyObject(Object):
    """An object of which a few entries are looked up."""

    spec: dict[str, Any] | None = None
    status: dict[str, Any] | None = None


def allowances(output: Output, about: Subject) -> Facts:
    """One record per queue, node pool, or group of pods that waits in a queue."""
    found = []
    for item in objects(output, AnyObject, ("ClusterQueue", "Queue", "NodePool", "PodGroup")):
        spec, status, name = item.spec or {}, item.status or {}, item.meta.name or ""
        origin = evidence(output, f"{item.kind} {name}")
        if item.kind == "ClusterQueue":
            found.append(of_cluster_queue(spec, status, name, origin))
        elif item.kind == "Queue":
            counts = {"running": 0, **status} if "state" in status else status  # a whole status leaves out what is 0
            found.append(of_volcano_queue(spec, counts, name, origin))
        elif item.kind == "NodePool":
            found.append(of_node_pool(spec, status, name, origin))
        elif status.get("phase") not in OVER:
            found.append(of_group(spec, origin))
    return {"allowances": [*found]}


def local_queues(output: Output, about: Subject) -> Facts:
    """One record per LocalQueue of Kueue."""
    return {
        "local_queues": [
            LocalQueue(
                namespace=item.meta.namespace or "",
                queue=item.meta.name,
                cluster_queue=str((item.spec or {}).get("clusterQueue") or ""),
                origin=evidence(output, f"LocalQueue {item.meta.namespace}/{item.meta.name}"),
            )
            for item in objects(output, AnyObject, ("LocalQueue",))
            if item.meta.name
        ]
    }


def of_cluster_queue(spec: dict[str, Any], status: dict[str, Any], name: str, origin: Origin) -> Allowance:
    """A ClusterQueue of Kueue: the nominal quota of all flavors, and what is reserved of it."""
    most: dict[str, int] = {}
    for group in inner_list(spec, "resourceGroups"):
        most |= dict.fromkeys((name for name in inner_list(group, "coveredResources") if isinstance(name, str)), 0)
        for flavor in inner_list(group, "flavors"):
            add_up(most, inner_list(flavor, "resources"), "nominalQuota")
    used: dict[str, int] = {}
    for flavor in inner_list(status, "flavorsReservation") or inner_list(status, "flavorsUsage"):
        add_up(used, inner_list(flavor, "resources"), "total")
    waiting = isinstance(status.get("pendingWorkloads"), int) and status["pendingWorkloads"] > 0
    return Allowance(kind="queue", name=name, most=most, used=used, waiting=waiting, origin=origin)


def of_volcano_queue(spec: dict[str, Any], status: dict[str, Any], name: str, origin: Origin) -> Allowance:
    """A queue of Volcano: what it may hand out, and what it has, {} where its status doesn't say."""
    waiting = any(isinstance(count := status.get(phase), int) and count > 0 for phase in ("pending", "inqueue"))
    most, used = amounts(flat_entries(spec.get("capability"))), amounts(flat_entries(status.get("allocated")))
    runs = status["running"] if isinstance(status.get("running"), int) else None
    return Allowance(kind="volcano", name=name, most=most, used=used, waiting=waiting, running=runs, origin=origin)


def of_node_pool(spec: dict[str, Any], status: dict[str, Any], name: str, origin: Origin) -> Allowance:
    """A NodePool of Karpenter: what its nodes may have together, and what they have."""
    most, used = amounts(flat_entries(spec.get("limits"))), amounts(flat_entries(status.get("resources")))
    return Allowance(kind="nodepool", name=name, most=most, used=used, origin=origin)


def of_group(spec: dict[str, Any], origin: Origin) -> Allowance:
    """What a PodGroup asks for, under the name of its queue."""
    return Allowance(kind="group", name=str(spec.get("queue") or ""), most=amounts(flat_entries(spec.get("minResources"))), origin=origin)


def flat_entries(value: Any) -> dict[str, str]:
    """The entries of a resource list that are no lists themselves."""
    return {str(k): str(v) for k, v in value.items() if isinstance(v, (str, int, float))} if isinstance(value, dict) else {}


def inner_list(value: Any, key: str) -> list[Any]:
    """A list inside a mapping, [] where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def add_up(total: dict[str, int], rows: list[Any], key: str) -> None:
    """Add the amounts of rows `{name: cpu, nominalQuota: "400"}` in place."""
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            for name, amount in amounts(flat_entries({row["name"]: row.get(key)})).items():
                total[name] = total.get(name, 0) + amount
