"""The changes that the nearest fit may propose: the ways out of each kind of reason, and what the pod and the node would then be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gpudoctor.derive.scheduling_labels import HOSTNAME, is_owned
from gpudoctor.derive.scheduling_others import Around, pods_on, port_text
from gpudoctor.derive.scheduling_plugins import UNSCHEDULABLE, Ask, Blocker, Host, Shortage, requirement_text, requirements_text, taint_text
from gpudoctor.derive.scheduling_text import amount, first_words
from gpudoctor.facts.kubernetes import HostPort, Requirement, Toleration

LESS = {"cpu": "less_cpu", "memory": "less_memory"}
LAST_PORT = 65535

Edit = Callable[[Ask, Host], tuple[Ask, Host]]


class Move(NamedTuple):
    """One change, as it stands for one node. Moves with equal `change` and `what` are one change; of their levels the highest counts.

    `edit` makes of a pod and a node what they would be after it.
    """

    change: str
    what: str
    edit: Edit
    level: int = 0
    note: str = ""  # of this node


class Case(NamedTuple):
    """One node with what keeps the pod from it for one kind of reason. `renamed`: no node has the pod's GPUs under that name."""

    host: Host
    blockers: list[Blocker]
    around: Around
    ask: Ask
    renamed: bool


def with_pod(ask: Ask, **fields: Any) -> Ask:
    """The same pod, but for some of its fields."""
    return ask._replace(pod=msgspec.structs.replace(ask.pod, **fields))


def with_node(host: Host, **fields: Any) -> Host:
    """The same node, but for some of its fields."""
    return host._replace(node=msgspec.structs.replace(host.node, **fields))


def tolerate(case: Case) -> Iterator[tuple[Move, ...]]:
    """Let the pod tolerate the taints."""
    keys = [*dict.fromkeys(blocker.key for blocker in case.blockers)]
    further = [
        Toleration(key=taint.key, value=taint.value, effect=taint.effect) for taint in case.host.node.taints if taint_text(taint) in keys
    ]

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return with_pod(ask, tolerations=[*ask.pod.tolerations, *further]), host

    yield (Move("tolerate", " and ".join(keys), edit),)


def repair_node(case: Case) -> Iterator[tuple[Move, ...]]:
    """Let the condition of the node end that brings the taints."""
    keys = [*dict.fromkeys(blocker.key for blocker in case.blockers)]

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return ask, with_node(host, taints=[taint for taint in host.node.taints if taint_text(taint) not in keys])

    yield (Move("repair_node", " and ".join(keys), edit),)


def uncordon(case: Case) -> Iterator[tuple[Move, ...]]:
    """Put the node back into scheduling."""

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        taints = [taint for taint in host.node.taints if taint.key != UNSCHEDULABLE.key]
        return ask, with_node(host, unschedulable=False, taints=taints)

    yield (Move("uncordon", "uncordon", edit),)


def choose_otherwise(case: Case) -> Iterator[tuple[Move, ...]]:
    """Label the node, where the label is a person's to set; or let the pod choose otherwise."""
    needs = [need for blocker in case.blockers for need in blocker.needs]
    labels = {need.key: need.values[0] for need in needs if need.operator == "In" and len(need.values) == 1 and not need.field}

    def labelled(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return ask, with_node(host, labels=host.node.labels | labels)

    if needs and len(labels) == len(needs) and not any(map(is_owned, labels)):
        yield (Move("label", requirements_text(needs), labelled),)
    if 0 < len(needs) <= 3:
        yield (other_choice(needs, case.host),)


def other_choice(needs: Sequence[Requirement], host: Host) -> Move:
    """What the pod would choose by instead: the node's own value, or nothing."""
    one = needs[0]
    value = host.node.labels.get(one.key)
    known = len(needs) == 1 and one.operator == "In" and not one.field and value and one.key != HOSTNAME
    instead = [Requirement(one.key, "In", (str(value),))] if known else []

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        selector = {key: there for key, there in ask.pod.node_selector.items() if Requirement(key, "In", (there,)) not in needs}
        dropped = len(selector) < len(ask.pod.node_selector)
        terms = [[changed for need in term for changed in (instead if need in needs else [need])] for term in ask.pod.node_affinity or []]
        selector |= {need.key: need.values[0] for need in instead if dropped}
        return with_pod(ask, node_selector=selector, node_affinity=terms if terms and all(terms) else None), host

    return Move("select", f"{requirement_text(one)} → {value}" if known else f"drop {requirements_text(needs)}", edit)


def change_gpus(case: Case) -> Iterator[tuple[Move, ...]]:
    """Ask for GPUs under the name that they have, ask for fewer, get lost ones back, or free some that are in use."""
    short = [blocker.shortage for blocker in case.blockers if blocker.shortage]
    yield from itertools.product(*([*ways_out(case.host, shortage, case.renamed)] for shortage in short))


def ways_out(host: Host, shortage: Shortage, renamed: bool) -> Iterator[Move]:
    """The ways out of one shortage of GPUs."""
    if renamed:
        for name in host.node.gpu_resources:
            used = host.usage.requested.get(name, 0) if host.usage else 0
            if name != shortage.resource and host.node.allocatable.get(name, 0) - used >= shortage.asked:
                yield rename(shortage.resource, name)
    yield from reduce_request(shortage, "fewer_gpus")
    if fits_when_restored(shortage):
        yield restore(shortage)
    if is_full(shortage):
        yield end_pods(host, shortage)


def rename(old: str, new: str) -> Move:
    """Ask for the same number of another resource."""

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        requests = {new if name == old else name: asked for name, asked in ask.requests.items()}
        names = [new if name == old else name for name in ask.pod.gpu_resources]
        return with_pod(ask, gpu_resources=names)._replace(requests=requests), host

    return Move("rename", f"{old} → {new}", edit, common_prefix_length(new, old))


def restore(shortage: Shortage) -> Move:
    """Get lost GPUs back."""

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return ask, with_node(host, allocatable=host.node.allocatable | {shortage.resource: shortage.promised})

    return Move("restore_gpus", shortage.resource, edit, note=f"offers {shortage.offered} of {shortage.promised}")


def end_pods(host: Host, shortage: Shortage) -> Move:
    """Let pods end that hold GPUs, the largest first."""
    missing = shortage.asked - (shortage.free or 0)
    named = host.usage.gpu_holders if host.usage else []
    holders = first_words(named, 4) if named else ""

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        if host.usage is None:
            return ask, host
        left, gone = missing, set()
        for name, _, count in (one.partition(" ") for one in named):
            if left > 0:
                gone.add(name)
                left -= int(count.strip("()"))
        used = host.usage.requested | {shortage.resource: host.usage.requested.get(shortage.resource, 0) - missing}
        others = [one for one in pods_on(host) if f"{one.namespace}/{one.pod}" not in gone]
        return ask, host._replace(usage=msgspec.structs.replace(host.usage, requested=used, neighbours=others))

    text = f"free {missing} {shortage.resource} on {host.node.node}" + (f", held by {holders}" if holders else "")
    return Move("free_gpus", text, edit, -missing)


def common_prefix_length(name: str, asked: str) -> int:
    """How many characters two names share at their start.

    >>> common_prefix_length("nvidia.com/gpu", "nvidia.com/gpus"), common_prefix_length("nvidia.com/mig-1g.10gb", "nvidia.com/gpus")
    (14, 11)
    """
    return next((index for index, (one, other) in enumerate(zip(name, asked, strict=False)) if one != other), min(len(name), len(asked)))


def request_less(case: Case) -> Iterator[tuple[Move, ...]]:
    """Ask for less of each resource that is short. Pod slots can't be asked for less."""
    if all(blocker.reason == "insufficient" for blocker in case.blockers):
        short = [blocker.shortage for blocker in case.blockers if blocker.shortage]
        yield from itertools.product(*([*reduce_request(shortage, LESS.get(shortage.resource, "less_other"))] for shortage in short))


def reduce_request(shortage: Shortage, change: str) -> Iterator[Move]:
    """Ask for what the node has: `8 → 4 nvidia.com/gpu`."""
    there = usable_amount(shortage)

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return ask._replace(requests=ask.requests | {shortage.resource: there}), host

    if there > 0:
        numbers = f"{amount(shortage.resource, shortage.asked)} → {amount(shortage.resource, there)} {shortage.resource}"
        yield Move(change, shortage.resource, edit, there, numbers)


def usable_amount(shortage: Shortage) -> int:
    """How much of the resource the pod could have there: what is free, or what is offered when usage is not known."""
    return shortage.offered if shortage.free is None else shortage.free


def fits_when_restored(shortage: Shortage) -> bool:
    """Whether lost GPUs are all that is missing."""
    lost = shortage.promised - shortage.offered
    return lost > 0 and usable_amount(shortage) + lost >= shortage.asked


def is_full(shortage: Shortage) -> bool:
    """Whether the node offers enough and others use it. Never true when usage is not known."""
    return shortage.free is not None and shortage.offered >= shortage.asked


def soften_pod_rules(case: Case) -> Iterator[tuple[Move, ...]]:
    """Let the pod prefer what it requires of other pods."""
    rules = [rule for blocker in case.blockers for rule in blocker.rules]

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        kept = {name: [one for one in getattr(ask.pod, name) if one not in rules] for name in ("beside", "apart", "spread")}
        return with_pod(ask, **kept), host

    yield (Move("prefer", " and ".join(dict.fromkeys(blocker.key for blocker in case.blockers)), edit),)


def other_port(case: Case) -> Iterator[tuple[Move, ...]]:
    """Take the next port that nobody has on any node."""
    taken = {port.port for host in case.around.hosts for one in pods_on(host) for port in one.ports}
    taken |= {port.port for port in case.ask.pod.host_ports}
    instead: dict[HostPort, HostPort] = {}
    for old in [rule for blocker in case.blockers for rule in blocker.rules if isinstance(rule, HostPort)]:
        free_one = next((port for port in range(old.port + 1, LAST_PORT + 1) if port not in taken), None)
        if free_one is None:
            return
        taken.add(free_one)
        instead[old] = HostPort(free_one, old.protocol, old.address)

    def edit(ask: Ask, host: Host) -> tuple[Ask, Host]:
        return with_pod(ask, host_ports=[instead.get(port, port) for port in ask.pod.host_ports]), host

    yield (Move("port", " and ".join(f"{port_text(old)} → {new.port}" for old, new in instead.items()), edit),)


MOVES: dict[str, Callable[[Case], Iterator[tuple[Move, ...]]]] = {
    "tolerate": tolerate,
    "label": choose_otherwise,
    "uncordon": uncordon,
    "repair_node": repair_node,
    "gpus": change_gpus,
    "less": request_less,
    "prefer": soften_pod_rules,
    "port": other_port,
}
