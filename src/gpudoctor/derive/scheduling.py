"""`scheduling.table`: every pod that waits for a scheduler decision against every node, in numbers.

The scheduler's message counts nodes by the first check that they fail; it says neither which nodes, nor what the GPU nodes among them
lack, nor what would help. The facts hold enough to compute that. Where the two differ the scheduler is right and `difference` says so.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from gpudoctor.derive.scheduling_asks import distinct_asks, records_of, requests
from gpudoctor.derive.scheduling_checks import evaluate
from gpudoctor.derive.scheduling_compare import count_by_reason, difference, latest_clauses, uncomputed_reasons
from gpudoctor.derive.scheduling_fit import nearest_fits
from gpudoctor.derive.scheduling_moves import fits_when_restored
from gpudoctor.derive.scheduling_near import WORDS, Near, most_common, one_kind
from gpudoctor.derive.scheduling_others import Around
from gpudoctor.derive.scheduling_plugins import Ask, Blocker, Host, Shortage, promised_amount
from gpudoctor.derive.scheduling_text import amount
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Node, NodeUsage, Pod, ScheduleReason
from gpudoctor.facts.monitoring import NamespaceLabels
from gpudoctor.facts.scheduling import NodeGroup, Scheduling, Wait
from gpudoctor.nodesets import fold

MOST_GROUPS = 32  # per pod; further reasons are counted together
MOST_WAITS = 256  # nodes per pod


def table(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Fills `node_groups`, `fits`, `scheduling` and `waits` for every target pod that has no node yet.

    Without `node_usage` nodes are measured by their allocatable alone, also when it is empty: a cluster on which nothing runs is one that
    could not be read. Claims and volumes count only where both were read. Where no node's amounts were read there is nothing to measure.
    """
    usage = {one.node: one for one in records_of(facts, "node_usage", NodeUsage)}
    nodes = records_of(facts, "nodes", Node)
    measured = [node for node in nodes if "allocatable" not in node.gaps]
    # Where no table shows amounts, labels and taints may be enough to see that no node will do.
    noted = next((one.noted for one in usage.values()), "")

    def hosts_for(pod: Pod | None = None) -> list[Host]:
        return [
            Host(node, taken(node, usage.get(node.node, NodeUsage(node=node.node, noted=noted)), pod) if usage and measured else None)
            for node in measured or nodes_with_labels(nodes)
        ]

    everybody = hosts_for()
    spaces = {one.namespace: one.labels for one in records_of(facts, "namespace_labels", NamespaceLabels)}
    common = Around(everybody, spaces)
    said = messages(records_of(facts, "schedule_reasons", ScheduleReason))
    filled: Facts = {"node_groups": [], "fits": [], "scheduling": [], "waits": []}
    if "nodes" not in facts or (nodes and not everybody):
        return filled

    def left_out(pod: Pod) -> list[str]:
        return uncomputed_reasons(said[pod.namespace, pod.pod], common.known_plugins(pod))

    for pods, ask in distinct_asks(
        facts, said, lambda pod: (left_out(pod), common.unclear(pod), device_claims(pod), common.alike(pod), pod.nominated)
    ):
        hosts, around = everybody, common
        if ask.pod.nominated:
            hosts = hosts_for(ask.pod)
            around = Around(hosts, spaces)
        besides = left_out(ask.pod)
        rules = " and ".join(dict.fromkeys([*besides, *around.unclear(ask.pod), *device_claims(ask.pod)]))
        verdicts = evaluate(ask, around)
        near = reach(ask, hosts, verdicts)
        groups, fits = node_groups(ask, hosts, verdicts), nearest_fits(ask, around, verdicts, [hosts[index] for index in near], rules)
        numbers, ours = (
            measure(ask, [hosts[index] for index in near], [verdicts[index] for index in near], len(hosts)),
            count_by_reason(verdicts),
        )
        if besides and not numbers.fitting:
            numbers = msgspec.structs.replace(numbers, **dict.fromkeys(("nearly", *WORDS), 0))
        waits = [] if numbers.fitting or besides else lost_gpus(ask, hosts, verdicts)
        for pod in pods:
            words = latest_clauses(said[pod.namespace, pod.pod])
            differs = (
                ""
                if names_nodes(pod)
                else difference(words, ours, len(hosts), counts_usage=bool(usage), computed=around.known_plugins(ask.pod))
            )
            origin = words[0].origin if words else pod.origin
            own = msgspec.structs.replace(numbers, agrees=not differs, difference=differs, origin=origin, stated=pod.stated)
            filled["scheduling"].append(for_pod(own, pod))
            filled["node_groups"] += [for_pod(group, pod) for group in groups]
            filled["fits"] += [for_pod(one, pod) for one in fits]
            filled["waits"] += [for_pod(wait, pod) for wait in waits]
    return filled


def taken(node: Node, usage: NodeUsage, pod: Pod | None = None) -> NodeUsage:
    """What a pod finds taken on a node: what runs there, and what others are promised for which room is made there.

    Those who have to go still run, so both together may be more than the node has; no GPU of it is lost by that. A pod that could take
    the promised room by a higher priority does so at once, and waits for nothing.
    """
    own = requests(pod) if pod and pod.nominated == node.node else {}
    promises = {name: amount - own.get(name, 0) for name, amount in usage.nominated.items() if amount > own.get(name, 0)}
    if not promises:
        return usage
    held = usage.requested
    full = {name: min(held.get(name, 0) + more, max(held.get(name, 0), node.allocatable.get(name, 0))) for name, more in promises.items()}
    return msgspec.structs.replace(usage, requested=held | full)


def device_claims(pod: Pod) -> list[str]:
    """That a pod claims devices, in words."""
    return [words for words in pod.further_rules if words == "claims of devices"]


def nodes_with_labels(nodes: Sequence[Node]) -> list[Node]:
    """The nodes of which labels or taints were shown."""
    return [node for node in nodes if node.label_keys or not {"labels", "taints"} <= node.gaps.keys()]


def messages(reasons: Sequence[ScheduleReason]) -> defaultdict[tuple[str, str], list[ScheduleReason]]:
    """The scheduler's clauses by pod."""
    by_pod: defaultdict[tuple[str, str], list[ScheduleReason]] = defaultdict(list)
    for reason in reasons:
        by_pod[reason.namespace, reason.pod].append(reason)
    return by_pod


def for_pod(fact: Any, pod: Pod) -> Any:
    """The same measurement under another pod's name: pods with equal specs are evaluated once."""
    return msgspec.structs.replace(fact, namespace=pod.namespace, pod=pod.pod)


def names_nodes(pod: Pod) -> bool:
    """Whether its affinity names nodes: the scheduler then drops all others before it asks any check, and counts differ from ours."""
    return any(need.field for term in pod.node_affinity or [] for need in term)


def reach(ask: Ask, hosts: Sequence[Host], verdicts: Sequence[list[Blocker]]) -> list[int]:
    """The nodes that are measured: those that the pod chooses by its selector and affinity, if any of them has GPUs; else all.

    Where a pod asks for no GPU they need none.
    """
    asked = [name for name in ask.pod.gpu_resources if ask.requests.get(name, 0) > 0]
    chosen = [
        index
        for index, (host, blockers) in enumerate(zip(hosts, verdicts, strict=True))
        if not any(blocker.reason == "node_affinity" for blocker in blockers) and (has_gpus(host.node) or not asked or not_shown(host.node))
    ]
    return chosen or [*range(len(hosts))]


def not_shown(node: Node) -> bool:
    """Whether a node may have GPUs of which nothing was shown."""
    return "allocatable" in node.gaps and not of_control_plane(node)


def node_groups(ask: Ask, hosts: Sequence[Host], verdicts: Sequence[list[Blocker]]) -> list[NodeGroup]:
    """The nodes by the first reason that disqualifies them; the largest group of GPU nodes first."""
    members: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, blockers in enumerate(verdicts):
        members[first_reason(blockers)].append(index)
    ordered = sorted(
        members.items(),
        key=lambda item: (-sum(has_gpus(hosts[index].node) for index in item[1]), -len(item[1]), item[0]),
    )
    groups = [group(ask, reason[0], detail([verdicts[i] for i in chosen]), [hosts[i].node for i in chosen]) for reason, chosen in ordered]
    if len(groups) <= MOST_GROUPS:
        return groups
    rest = [hosts[index].node for _, chosen in ordered[MOST_GROUPS - 1 :] for index in chosen]
    return [*groups[: MOST_GROUPS - 1], group(ask, "other", f"{len(groups) - MOST_GROUPS + 1} further reasons", rest)]


def group(ask: Ask, reason: str, text: str, nodes: Sequence[Node]) -> NodeGroup:
    """One group of the pod."""
    return NodeGroup(
        namespace=ask.pod.namespace,
        pod=ask.pod.pod,
        reason=reason,
        detail=text,
        count=len(nodes),
        nodes=fold(node.node for node in nodes),
        gpu_nodes=sum(has_gpus(node) for node in nodes),
        origin=ask.pod.origin,
    )


def has_gpus(node: Node) -> bool:
    """Whether the machine has GPUs, by its labels or by what it offers or once offered."""
    return node.gpu_present or node.gpus_capacity > 0


def of_control_plane(node: Node) -> bool:
    """Whether a taint keeps the node for the cluster's own work."""
    return any(key.startswith("node-role.kubernetes.io/") for key in node.taint_keys)


def first_reason(blockers: Sequence[Blocker]) -> tuple[str, ...]:
    """What a node is grouped by: the first reason and its key; for resources, all that are short and in which way the first one is."""
    if not blockers:
        return ("fits",)
    first = blockers[0]
    if not first.shortage:
        return (first.reason, first.key)
    return (first.reason, shortage_way(first.shortage), *(one.key for one in blockers if one.shortage))


def shortage_way(shortage: Shortage) -> str:
    """In which of four ways a resource is short: `none` on the node, `lost` in part, `small`, or in `use`."""
    if shortage.offered >= shortage.asked:
        return "use"
    if shortage.promised > shortage.offered:
        return "lost"
    return "small" if shortage.offered else "none"


def detail(alike: Sequence[Sequence[Blocker]]) -> str:
    """What the nodes of one group have in common, in words; `alike` are their blockers."""
    if not alike[0]:
        return ""
    first = alike[0][0]
    if first.shortage:
        return shortage_detail(
            [blockers[0].shortage for blockers in alike if blockers[0].shortage], [one.key for one in alike[0] if one.shortage][1:]
        )
    if first.found is None:
        return first.key
    found = sorted({cast(str, blockers[0].found) for blockers in alike})
    there = ", ".join(value or "no such label" for value in found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    return f"{first.key} (there: {there})"


def shortage_detail(shortages: Sequence[Shortage], also: Sequence[str]) -> str:
    """`nvidia.com/gpu: asks 8, at most 4 free; also short of cpu`. The amounts are the best over the nodes."""
    one = shortages[0]
    offered, promise = max((each.offered, each.promised) for each in shortages)
    have = {
        "none": "none offered",
        "lost": f"offers {amount(one.resource, offered)} of {amount(one.resource, promise)}",
        "small": f"offers at most {amount(one.resource, offered)}",
        "use": f"at most {amount(one.resource, max(0, *(each.free or 0 for each in shortages)))} free",
    }[shortage_way(one)]
    more = f"; also short of {', '.join(also[:3])}" if also else ""
    return f"{one.resource}: asks {amount(one.resource, one.asked)}, {have}{more}"


def measure(ask: Ask, hosts: Sequence[Host], verdicts: Sequence[list[Blocker]], nodes: int) -> Scheduling:
    """The counts of `Scheduling` over the nodes in reach, of all `nodes`.

    For a pod that asks for no GPU, all of them count as the ones that could hold it.
    """
    asked = [name for name in ask.pod.gpu_resources if ask.requests.get(name, 0) > 0]
    gpu = asked[0] if asked else ""
    # Where neither amounts nor labels tell which nodes have GPUs, each that isn't the control plane's may.
    blind = not any(host.node.gpu_present or "allocatable" not in host.node.gaps for host in hosts)
    own = [
        any(name in host.node.capacity or name in host.node.allocatable or promised_amount(host.node, name) > 0 for name in asked)
        or ("allocatable" in host.node.gaps and (host.node.gpu_present or (blind and not of_control_plane(host.node))))
        for host in hosts
    ]
    chosen = [(host, blockers) for mine, host, blockers in zip(own, hosts, verdicts, strict=True) if mine or not asked]
    near = Near([host for host, _ in chosen], [blockers for _, blockers in chosen])
    largest = max((host.node.capacity.get(gpu, 0) for host in hosts), default=0)
    too_much = unmeetable_resource(ask, [host for host, _ in chosen], asked)
    # A request that no node could ever meet is the reason, whatever else is in its way.
    if near.together > 1 and (too_much or 0 < largest < ask.requests.get(gpu, 0)):
        near.counted.clear()
    names = near.nodes_by_word()
    read = bool(hosts) and all(host.usage for host in hosts)
    used = [host.usage.requested.get(gpu, 0) if host.usage else 0 for host in hosts]
    offered = [host.node.allocatable.get(gpu, 0) for host in hosts]
    missing = {} if read else dict.fromkeys(("most_free", "gpus_used"), "the running pods were not read")
    if hosts and all("allocatable" in host.node.gaps for host in hosts):
        missing |= dict.fromkeys(
            ("offering", "largest", "largest_capacity", "gpus_total", "wrong_name", "full"), "no node's amounts were shown"
        )
    known: dict[str, Any] = {word: len(names[word]) for word in WORDS}
    known |= {f"{word}_nodes": fold(host.node.node for host in names[word]) for word in WORDS}
    return Scheduling(
        namespace=ask.pod.namespace,
        pod=ask.pod.pod,
        nodes=nodes,
        gpu_nodes=sum(own),
        offering=sum(bool(asked) and all(host.node.allocatable.get(name, 0) > 0 for name in asked) for host in hosts),
        fitting=sum(not blockers for blockers in verdicts),
        largest=max(offered, default=0),
        largest_capacity=largest,
        most_free=max((max(0, there - busy) for there, busy in zip(offered, used, strict=True)), default=0) if read else None,
        gpus_total=sum(offered),
        gpus_used=sum(used) if read else None,
        nearly=len(near.nodes),
        **known,
        full_gpus=sum(host.node.allocatable.get(gpu, 0) for host in names["full"]),
        wrong_name=wrong_name(asked, [host.node for host in hosts]),
        taint=near.most("tainted"),
        scarce=near.most("other_resource"),
        volume=near.most("pinned"),
        rule=near.most("ruled_out"),
        port=near.most("port_taken"),
        unmatched_by=near.most("unmatched"),
        together=near.together,
        obstacles=near.obstacles(),
        beyond=too_much,
        gaps=missing,
    )


def unmeetable_resource(ask: Ask, hosts: Sequence[Host], gpus: Sequence[str]) -> str:
    """The first other resource that no node would have enough of if it were empty; "" without one, or where a node isn't known."""
    offers = [host.node.allocatable for host in hosts if host.node.allocatable]
    others = (name for name, wanted in ask.requests.items() if wanted > 0 and name not in gpus)
    return next((name for name in others if offers and all(ask.requests[name] > offer.get(name, sys.maxsize) for offer in offers)), "")


def wrong_name(asked: Sequence[str], nodes: Sequence[Node]) -> str:
    """The GPU resource that most nodes offer, when one that the pod asks for is offered by none and never was."""
    missing = [name for name in asked if not any(node.allocatable.get(name) or node.capacity.get(name) for node in nodes)]
    others = Counter(name for node in nodes for name in node.gpu_resources if node.allocatable.get(name, 0) > 0 and name not in asked)
    return most_common(others) if missing else ""


def lost_gpus(ask: Ask, hosts: Sequence[Host], verdicts: Sequence[list[Blocker]]) -> list[Wait]:
    """The nodes on which the pod would fit if their lost GPUs came back."""
    waits = []
    for host, blockers in zip(hosts, verdicts, strict=True):
        shortages = [one.shortage for one in blockers if one.shortage] if one_kind(blockers) == "gpus" else []
        if shortages and all(fits_when_restored(shortage) for shortage in shortages):
            lost = sum(shortage.promised - shortage.offered for shortage in shortages)
            waits.append(Wait(namespace=ask.pod.namespace, pod=ask.pod.pod, node=host.node.node, lost=lost, origin=host.node.origin))
    return waits[:MOST_WAITS]
