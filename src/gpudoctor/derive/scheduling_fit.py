"""The nearest fit: which change, or which two together, would let a pod run, and on which nodes.

A node fails for reasons, each of a kind; each kind has its ways out (`MOVES`). A node whose reasons have one way out is near; where no node
is, those that two together open are named. What else would keep the pod from the node counts too, so what is proposed is enough. Changes
are ranked by how little they disturb, then by how many nodes they open.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpudoctor.derive.scheduling_labels import HOSTNAME, is_owned
from gpudoctor.derive.scheduling_plugins import Ask, Blocker, Host, Shortage, requirement_text, requirements_text
from gpudoctor.derive.scheduling_text import amount, listed
from gpudoctor.facts.kubernetes import Requirement
from gpudoctor.facts.scheduling import Fit
from gpudoctor.nodesets import fold

MOST_FITS = 12  # per pod; what is further away is not worth a line
MOST_CHANGES = 2
MOST_TO_FREE = 3  # nodes for which the holders of GPUs are named
JOINED = " + "  # between two changes, and between what they are about

# First what only edits a manifest or a label, then asking for something else, then repair, then taking GPUs from somebody.
TIERS = {
    "tolerate": 0,
    "label": 0,
    "uncordon": 0,
    "rename": 0,
    "select": 1,
    "fewer_gpus": 1,
    "less_cpu": 1,
    "less_memory": 1,
    "less_other": 1,
    "restore_gpus": 2,
    "repair_node": 2,
    "free_gpus": 3,
}
LESS = {"cpu": "less_cpu", "memory": "less_memory"}

# The kind of change that a node needs → the word for such nodes.
KINDS = {
    "tolerate": "tainted",
    "uncordon": "cordoned",
    "repair_node": "not_ready",
    "label": "unmatched",
    "less": "other_resource",
    "volume": "pinned",
}
WORDS = (*KINDS.values(), "full", "lost")


class Move(NamedTuple):
    """One change, as it stands for one node. Moves with equal `change` and `what` are one change; of their levels the highest counts."""

    change: str
    what: str
    level: int = 0
    note: str = ""  # of this node


class Way(NamedTuple):
    """Changes that together open one node."""

    host: Host
    moves: tuple[Move, ...]


def one_kind(blockers: Sequence[Blocker]) -> str:
    """The kind of change that would lift all blockers of a node, "" when it takes several kinds or there are none."""
    kinds = {blocker.lift for blocker in blockers}
    return kinds.pop() if len(kinds) == 1 else ""


def words_of(blockers: Sequence[Blocker]) -> Iterator[str]:
    """The words of `WORDS` that say what separates one node from the pod; GPUs in use and lost ones may be both."""
    kind = one_kind(blockers)
    if kind in KINDS:
        yield KINDS[kind]
    elif kind == "gpus" and (short := [one.shortage for one in blockers if one.shortage]):
        if all(map(is_full, short)):
            yield "full"
        if all(map(fits_when_restored, short)):
            yield "lost"


def nearest_fits(
    ask: Ask, hosts: Sequence[Host], verdicts: Sequence[Sequence[Blocker]], reach: Sequence[Host], besides: str = ""
) -> list[Fit]:
    """The changes that help, nearest first, ranks from 1; one Fit with change "none" and a sentence when there is none, or no need.

    `reach` are the hosts that the pod chooses, `besides` what else the scheduler looks at, which isn't among the blockers.
    """
    if besides:
        return [
            fit(
                ask,
                "none",
                f"The scheduler also looks at {besides}, which is not computed here: no change is sure to be enough.",
                [],
                rank=1,
            )
        ]
    fitting = [host.node.node for host, blockers in zip(hosts, verdicts, strict=True) if not blockers]
    if fitting:
        return [fit(ask, "none", f"{len(fitting)} of {len(hosts)} nodes pass every check made here" + usage_note(hosts), fitting, rank=1)]
    renamed = not any(host.node.capacity.get(name) for host in reach for name in ask.pod.gpu_resources)
    ways = [way for host, blockers in zip(hosts, verdicts, strict=True) for way in ways_to(ask, host, blockers, renamed=renamed)]
    fewest = min((len(way.moves) for way in ways), default=0)
    found = proposals(ask, [way for way in ways if len(way.moves) == fewest])
    if not found:
        return [fit(ask, "none", nothing_helps(hosts), [], rank=1)]
    return [
        Fit(namespace=one.namespace, pod=one.pod, change=one.change, detail=one.detail, nodes=one.nodes, count=one.count, rank=rank)
        for rank, one in enumerate(found, 1)
    ]


def fit(ask: Ask, change: str, detail: str, nodes: Sequence[str], rank: int = 0) -> Fit:
    """One Fit of the pod; `nodes` are names."""
    pod = ask.pod
    return Fit(namespace=pod.namespace, pod=pod.pod, change=change, detail=detail, nodes=fold(nodes), count=len(nodes), rank=rank)


def usage_note(hosts: Sequence[Host]) -> str:
    """What a number is worth when the running pods were not read."""
    return "" if any(host.usage for host in hosts) else "; what runs on them was not read"


def nothing_helps(hosts: Sequence[Host]) -> str:
    """The sentence for a pod that no change helps."""
    if not hosts:
        return "There are no nodes."
    return "None within two changes: every node fails more checks, or lacks what no change to the pod or the node brings."


def ways_to(ask: Ask, host: Host, blockers: Sequence[Blocker], *, renamed: bool) -> Iterator[Way]:
    """The ways to open a node with at most `MOST_CHANGES` changes. `renamed`: no node has what the pod asks for under that name."""
    kinds: defaultdict[str, list[Blocker]] = defaultdict(list)
    for blocker in blockers:
        kinds[blocker.lift].append(blocker)
    if len(kinds) > MOST_CHANGES or not kinds.keys() <= MOVES.keys():
        return
    choices = [[*MOVES[kind](host, its, renamed)] for kind, its in kinds.items()]
    for chosen in itertools.product(*choices):
        moves = tuple(itertools.chain.from_iterable(chosen))
        if len(moves) <= MOST_CHANGES:
            yield Way(host, moves)


def proposals(ask: Ask, ways: Sequence[Way]) -> list[Fit]:
    """Ways that are the same change on several nodes as one Fit, the nearest first."""
    alike: defaultdict[tuple[tuple[str, str], ...], list[Way]] = defaultdict(list)
    for way in ways:
        alike[tuple(move[:2] for move in way.moves)].append(way)
    made: list[tuple[tuple[object, ...], Fit]] = []
    for group in alike.values():
        best = max(levels(way) for way in group)
        chosen = [way for way in group if levels(way) == best]
        changes = [move.change for move in chosen[0].moves]
        said = JOINED.join(detail([(way.host.node.node, way.moves[index]) for way in chosen]) for index in range(len(changes)))
        note = usage_note([way.host for way in group])
        one = fit(ask, JOINED.join(changes), said + note, [way.host.node.node for way in chosen])
        made.append(((max(TIERS[change] for change in changes), closeness(chosen[0]), -one.count, one.change, one.detail), one))
    made.sort(key=lambda pair: pair[0])
    freed = [one for _, one in made if "free_gpus" in one.change][MOST_TO_FREE:]
    return [one for _, one in made if one not in freed][:MOST_FITS]


def levels(way: Way) -> tuple[int, ...]:
    """By what the ways of one change are compared."""
    return tuple(move.level for move in way.moves)


def closeness(way: Way) -> int:
    """Of names and of numbers of GPUs, the nearest first; nothing for other changes."""
    return -sum(move.level for move in way.moves if move.change in ("rename", "fewer_gpus", "free_gpus"))


def detail(moves: Sequence[tuple[str, Move]]) -> str:
    """What a change is about, in words: the same move on several nodes."""
    first = moves[0][1]
    match first.change:
        case "uncordon":
            return f"uncordon {fold(name for name, _ in moves)}"
        case "restore_gpus":
            return f"{first.what}: {listed(f'{name} {move.note}' for name, move in moves)}"
    return first.note or first.what


def said_keys(change: str) -> Callable[[Host, list[Blocker], bool], Iterator[tuple[Move, ...]]]:
    """A change that the blockers' keys name: the taints to tolerate, or those that the node's own condition brings."""

    def moves(host: Host, blockers: list[Blocker], renamed: bool) -> Iterator[tuple[Move, ...]]:
        yield (Move(change, " and ".join(dict.fromkeys(blocker.key for blocker in blockers))),)

    return moves


def uncordon(host: Host, blockers: list[Blocker], renamed: bool) -> Iterator[tuple[Move, ...]]:
    """Put the node back into scheduling."""
    yield (Move("uncordon", "uncordon"),)


def chosen_otherwise(host: Host, blockers: list[Blocker], renamed: bool) -> Iterator[tuple[Move, ...]]:
    """Label the node, where the label is a person's to set; or let the pod choose otherwise."""
    needs = [need for blocker in blockers for need in blocker.needs]
    if needs and all(need.operator == "In" and len(need.values) == 1 and not need.field and not is_owned(need.key) for need in needs):
        yield (Move("label", requirements_text(needs)),)
    if 0 < len(needs) <= 3:
        yield (Move("select", other_choice(needs, host)),)


def other_choice(needs: Sequence[Requirement], host: Host) -> str:
    """What the pod would choose by instead: the node's own value, or nothing."""
    one = needs[0]
    value = host.node.labels.get(one.key)
    if len(needs) == 1 and one.operator == "In" and not one.field and value and one.key != HOSTNAME:
        return f"{requirement_text(one)} → {value}"
    return f"drop {requirements_text(needs)}"


def gpus(host: Host, blockers: list[Blocker], renamed: bool) -> Iterator[tuple[Move, ...]]:
    """Ask for GPUs under the name that they have, ask for fewer, get lost ones back, or free some that are in use."""
    short = [blocker.shortage for blocker in blockers if blocker.shortage]
    yield from itertools.product(*([*ways_out(host, shortage, renamed)] for shortage in short))


def ways_out(host: Host, shortage: Shortage, renamed: bool) -> Iterator[Move]:
    """The ways out of one shortage of GPUs."""
    if renamed:
        for name in host.node.gpu_resources:
            used = host.usage.requested.get(name, 0) if host.usage else 0
            if name != shortage.resource and host.node.allocatable.get(name, 0) - used >= shortage.asked:
                yield Move("rename", f"{shortage.resource} → {name}", alike(name, shortage.resource))
    yield from fewer(shortage, "fewer_gpus")
    if fits_when_restored(shortage):
        yield Move("restore_gpus", shortage.resource, note=f"offers {shortage.offered} of {shortage.promised}")
    if is_full(shortage):
        missing = shortage.asked - (shortage.free or 0)
        holders = listed(host.usage.gpu_holders, 4) if host.usage and host.usage.gpu_holders else ""
        text = f"free {missing} {shortage.resource} on {host.node.node}" + (f", held by {holders}" if holders else "")
        yield Move("free_gpus", text, -missing)


def alike(name: str, asked: str) -> int:
    """How many characters two names share at their start.

    >>> alike("nvidia.com/gpu", "nvidia.com/gpus"), alike("nvidia.com/mig-1g.10gb", "nvidia.com/gpus")
    (14, 11)
    """
    return next((index for index, (one, other) in enumerate(zip(name, asked, strict=False)) if one != other), min(len(name), len(asked)))


def less(host: Host, blockers: list[Blocker], renamed: bool) -> Iterator[tuple[Move, ...]]:
    """Ask for less of each resource that is short. Pod slots can't be asked for less."""
    if all(blocker.reason == "insufficient" for blocker in blockers):
        short = [blocker.shortage for blocker in blockers if blocker.shortage]
        yield from itertools.product(*([*fewer(shortage, LESS.get(shortage.resource, "less_other"))] for shortage in short))


def fewer(shortage: Shortage, change: str) -> Iterator[Move]:
    """Ask for what the node has: `8 → 4 nvidia.com/gpu`."""
    there = usable(shortage)
    if there > 0:
        numbers = f"{amount(shortage.resource, shortage.asked)} → {amount(shortage.resource, there)} {shortage.resource}"
        yield Move(change, shortage.resource, there, numbers)


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


MOVES: dict[str, Callable[[Host, list[Blocker], bool], Iterator[tuple[Move, ...]]]] = {
    "tolerate": said_keys("tolerate"),
    "label": chosen_otherwise,
    "uncordon": uncordon,
    "repair_node": said_keys("repair_node"),
    "gpus": gpus,
    "less": less,
}
