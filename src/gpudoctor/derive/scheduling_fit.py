"""The nearest fit: which single change would let a pod run, and on which nodes.

A node that fails for one kind of reason only is what the matching change opens; a node that fails for two kinds needs two changes and is no
near fit. Changes are ranked by how little they disturb, then by how many nodes they open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpudoctor.derive.scheduling_plugins import Ask, Blocker, Host, Shortage
from gpudoctor.derive.scheduling_text import amount, listed
from gpudoctor.facts.scheduling import Fit
from gpudoctor.nodesets import fold

MOST_FITS = 12  # per pod; what is further away is not worth a line
MOST_TO_FREE = 3  # nodes for which the holders of GPUs are named

# First what only edits a manifest or a label, then asking for less, then repair, then taking GPUs from somebody.
TIERS = {
    "tolerate": 0,
    "label": 0,
    "uncordon": 0,
    "fewer_gpus": 1,
    "less_cpu": 1,
    "less_memory": 1,
    "less_other": 1,
    "restore_gpus": 2,
    "repair_node": 2,
    "free_gpus": 3,
    "none": 4,
}


class Near(NamedTuple):
    """A node that only one kind of change separates from the pod."""

    host: Host
    blockers: list[Blocker]


def one_kind(blockers: Sequence[Blocker]) -> str:
    """The kind of change that would lift all blockers of a node, "" when it takes several kinds or there are none."""
    kinds = {blocker.lift for blocker in blockers}
    return kinds.pop() if len(kinds) == 1 else ""


def nearest_fits(ask: Ask, hosts: Sequence[Host], verdicts: Sequence[Sequence[Blocker]]) -> list[Fit]:
    """The changes that help, nearest first, ranks from 1; one Fit with change "none" and a sentence when there is none, or no need."""
    near: defaultdict[str, list[Near]] = defaultdict(list)
    for host, blockers in zip(hosts, verdicts, strict=True):
        near[one_kind(blockers)].append(Near(host, list(blockers)))
    fitting = [host.node.node for host, blockers in zip(hosts, verdicts, strict=True) if not blockers]
    if fitting:
        return [fit(ask, "none", f"{len(fitting)} of {len(hosts)} nodes pass every check made here" + usage_note(hosts), fitting, rank=1)]
    found = [one for kind, changes in CHANGES.items() for one in changes(ask, near[kind])]
    found.sort(key=lambda one: (TIERS[one.change], -one.count, one.change, one.detail))
    if not found:
        return [fit(ask, "none", nothing_helps(hosts), [], rank=1)]
    return [
        Fit(namespace=one.namespace, pod=one.pod, change=one.change, detail=one.detail, nodes=one.nodes, count=one.count, rank=rank)
        for rank, one in enumerate(found[:MOST_FITS], 1)
    ]


def fit(ask: Ask, change: str, detail: str, nodes: Sequence[str], rank: int = 0) -> Fit:
    """One Fit of the pod; `nodes` are names."""
    pod = ask.pod
    return Fit(namespace=pod.namespace, pod=pod.pod, change=change, detail=detail, nodes=fold(nodes), count=len(nodes), rank=rank)


def usage_note(hosts: Sequence[Host]) -> str:
    """What a number is worth when the running pods were not read."""
    return "" if any(host.usage for host in hosts) else "; what runs on them was not read"


def nothing_helps(hosts: Sequence[Host]) -> str:
    """The sentence for a pod that no single change helps."""
    if not hosts:
        return "There are no nodes."
    return "No single change is enough: every node fails several checks, or lacks what no change to the pod or the node brings."


def edits(change: str) -> Callable[[Ask, list[Near]], Iterator[Fit]]:
    """Changes that one key names: the taints to tolerate, the requirements to meet or to drop. Nodes with the same keys are one Fit."""

    def fits(ask: Ask, near: list[Near]) -> Iterator[Fit]:
        nodes: defaultdict[str, list[str]] = defaultdict(list)
        for host, blockers in near:
            nodes[" and ".join(blocker.key for blocker in blockers)].append(host.node.node)
        for key, names in nodes.items():
            yield fit(ask, change, key + usage_note([host for host, _ in near]), names)

    return fits


def uncordon(ask: Ask, near: list[Near]) -> Iterator[Fit]:
    """The cordoned nodes that would hold the pod."""
    names = [host.node.node for host, _ in near]
    if names:
        yield fit(ask, "uncordon", f"uncordon {fold(names)}" + usage_note([host for host, _ in near]), names)


def fewer_or_restored_or_freed(ask: Ask, near: list[Near]) -> Iterator[Fit]:
    """Nodes that lack GPUs and nothing else: ask for fewer, get lost ones back, or free some that are in use."""
    for resource in dict.fromkeys(blocker.key for _, blockers in near for blocker in blockers):
        short = [(host, blockers[0].shortage) for host, blockers in near if len(blockers) == 1 and blockers[0].key == resource]
        counted = [(host, shortage) for host, shortage in short if shortage]
        yield from fewer(ask, counted, "fewer_gpus")
        yield from restored(ask, counted)
        yield from freed(ask, counted)


def less(ask: Ask, near: list[Near]) -> Iterator[Fit]:
    """Nodes that lack one resource other than GPUs: ask for less of it. Pod slots can't be asked for less."""
    by_resource: defaultdict[str, list[tuple[Host, Shortage]]] = defaultdict(list)
    for host, blockers in near:
        shortage = blockers[0].shortage
        if len(blockers) == 1 and shortage and blockers[0].reason == "insufficient":
            by_resource[shortage.resource].append((host, shortage))
    for resource, counted in by_resource.items():
        yield from fewer(ask, counted, {"cpu": "less_cpu", "memory": "less_memory"}.get(resource, "less_other"))


def fewer(ask: Ask, counted: Sequence[tuple[Host, Shortage]], change: str) -> Iterator[Fit]:
    """Ask for the most that one of the nodes has: `8 → 4 nvidia.com/gpu`."""
    most = max((usable(shortage) for _, shortage in counted), default=0)
    if most <= 0:
        return
    shortage = counted[0][1]
    nodes = [host.node.node for host, one in counted if usable(one) == most]
    numbers = f"{amount(shortage.resource, shortage.asked)} → {amount(shortage.resource, most)} {shortage.resource}"
    yield fit(ask, change, numbers + usage_note([host for host, _ in counted]), nodes)


def restored(ask: Ask, counted: Sequence[tuple[Host, Shortage]]) -> Iterator[Fit]:
    """The nodes on which the pod would fit if the GPUs that they promise and don't offer came back."""
    back = [(host, shortage) for host, shortage in counted if fits_when_restored(shortage)]
    if back:
        numbers = listed(f"{host.node.node} offers {shortage.offered} of {shortage.promised}" for host, shortage in back)
        yield fit(ask, "restore_gpus", f"{back[0][1].resource}: {numbers}", [host.node.node for host, _ in back])


def freed(ask: Ask, counted: Sequence[tuple[Host, Shortage]]) -> Iterator[Fit]:
    """The nodes that offer enough GPUs, all in use or nearly: how many have to become free, and who holds them. The fewest first."""
    full = [(shortage.asked - (shortage.free or 0), host.node.node, host, shortage) for host, shortage in counted if is_full(shortage)]
    full.sort(key=lambda one: one[:2])
    for missing, name, host, shortage in full[:MOST_TO_FREE]:
        holders = listed(host.usage.gpu_holders, 4) if host.usage and host.usage.gpu_holders else ""
        yield fit(ask, "free_gpus", f"free {missing} {shortage.resource} on {name}" + (f", held by {holders}" if holders else ""), [name])


def usable(shortage: Shortage) -> int:
    """How much of the resource the pod could have there: what is free, or what is offered when usage is not known."""
    return shortage.offered if shortage.free is None else shortage.free


def fits_when_restored(shortage: Shortage) -> bool:
    """Whether lost GPUs are all that is missing."""
    lost = shortage.promised - shortage.offered
    return lost > 0 and usable(shortage) + lost >= shortage.asked


def is_full(shortage: Shortage) -> bool:
    """Whether the node offers enough and others use it. Never true when usage is not known."""
    return shortage.free is not None and shortage.offered >= shortage.asked


CHANGES: dict[str, Callable[[Ask, list[Near]], Iterator[Fit]]] = {
    "tolerate": edits("tolerate"),
    "label": edits("label"),
    "uncordon": uncordon,
    "repair_node": edits("repair_node"),
    "gpus": fewer_or_restored_or_freed,
    "less": less,
}
