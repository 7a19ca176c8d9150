"""The nearest fit: which change, or which two together, would let a pod run, and on which nodes.

A node fails for reasons, each of a kind; each kind has its ways out (`MOVES`). A node whose reasons have one way out is near; where no node
is, those that two together open are named. A change alters more than it is meant to (what a pod chooses decides where its like are counted,
who frees a GPU was perhaps to be near), so each is made on a copy of the pod and the nodes, which are judged again: what is proposed is
enough. Changes are ranked by how little they disturb, then by how many nodes they open.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gpudoctor.derive.scheduling_checks import evaluate
from gpudoctor.derive.scheduling_moves import MOVES, Case, Move
from gpudoctor.derive.scheduling_others import Around
from gpudoctor.derive.scheduling_patch import patch
from gpudoctor.derive.scheduling_plugins import Ask, Blocker, Host
from gpudoctor.derive.scheduling_text import first_words
from gpudoctor.facts.scheduling import JOINED, Fit
from gpudoctor.nodesets import fold

MOST_FITS = 12  # per pod; what is further away is not worth a line
MOST_CHANGES = 2
MOST_TRIED = 200  # proposals that are judged for one pod
MOST_TO_FREE = 3  # nodes for which the holders of GPUs are named

# First what only edits a manifest or a label, then asking for something else, then repair, then taking GPUs from somebody.
TIERS = {
    "tolerate": 0,
    "label": 0,
    "uncordon": 0,
    "rename": 0,
    "select": 1,
    "port": 1,
    "prefer": 1,
    "fewer_gpus": 1,
    "less_cpu": 1,
    "less_memory": 1,
    "less_other": 1,
    "restore_gpus": 2,
    "repair_node": 2,
    "free_gpus": 3,
}


class Way(NamedTuple):
    """Changes that together open one node."""

    host: Host
    moves: tuple[Move, ...]


def nearest_fits(ask: Ask, around: Around, verdicts: Sequence[Sequence[Blocker]], reach: Sequence[Host], besides: str = "") -> list[Fit]:
    """The changes that help, nearest first, ranks from 1; one Fit with change "none" and a sentence when there is none, or no need.

    `reach` are the hosts that the pod chooses, `besides` what else the scheduler looks at, which isn't among the blockers.
    """
    if besides:
        return [
            pod_fit(
                ask,
                "none",
                f"The scheduler also looks at {besides}, which is not computed here: no change is sure to be enough.",
                [],
                rank=1,
            )
        ]
    hosts = around.hosts
    fitting = [host.node.node for host, blockers in zip(hosts, verdicts, strict=True) if not blockers]
    if fitting:
        return [
            pod_fit(ask, "none", f"{len(fitting)} of {len(hosts)} nodes pass every check made here" + usage_note(hosts), fitting, rank=1)
        ]
    renamed = not any(host.node.capacity.get(name) for host in reach for name in ask.pod.gpu_resources)
    ways = [way for host, blockers in zip(hosts, verdicts, strict=True) for way in ways_to(ask, around, host, blockers, renamed=renamed)]
    for number in range(1, MOST_CHANGES + 1):
        if found := proposals(ask, around, [way for way in ways if len(way.moves) == number]):
            return [msgspec.structs.replace(one, rank=rank) for rank, one in enumerate(found, 1)]
    return [pod_fit(ask, "none", nothing_helps(hosts), [], rank=1)]


def pod_fit(ask: Ask, change: str, detail: str, nodes: Sequence[str], rank: int = 0) -> Fit:
    """Make a Fit of the pod; `nodes` are names."""
    named = Fit(namespace=ask.pod.namespace, pod=ask.pod.pod, change=change, detail=detail, rank=rank)
    return msgspec.structs.replace(named, nodes=fold(nodes), count=len(nodes))


def usage_note(hosts: Sequence[Host]) -> str:
    """What a number is worth when the running pods were not read."""
    return "" if any(host.usage for host in hosts) else "; what runs on them was not read"


def nothing_helps(hosts: Sequence[Host]) -> str:
    """The sentence for a pod that no change helps."""
    if not hosts:
        return "There are no nodes."
    return "None within two changes: every node fails more checks, or lacks what no change to the pod or the node brings."


def ways_to(ask: Ask, around: Around, host: Host, blockers: Sequence[Blocker], *, renamed: bool) -> Iterator[Way]:
    """The ways to open a node with at most `MOST_CHANGES` changes. `renamed`: no node has what the pod asks for under that name."""
    kinds: defaultdict[str, list[Blocker]] = defaultdict(list)
    for blocker in blockers:
        kinds[blocker.lift].append(blocker)
    if len(kinds) > MOST_CHANGES or not kinds.keys() <= MOVES.keys():
        return
    choices = [[*MOVES[kind](Case(host, its, around, ask, renamed))] for kind, its in kinds.items()]
    for chosen in itertools.product(*choices):
        moves = tuple(itertools.chain.from_iterable(chosen))
        if len(moves) <= MOST_CHANGES:
            yield Way(host, moves)


def proposals(ask: Ask, around: Around, ways: Sequence[Way]) -> list[Fit]:
    """Ways that are the same change on several nodes as one Fit, the nearest first, as far as they hold."""
    alike: defaultdict[tuple[tuple[str, str], ...], list[Way]] = defaultdict(list)
    for way in ways:
        alike[tuple(move[:2] for move in way.moves)].append(way)
    made: list[tuple[tuple[object, ...], list[Way]]] = []
    for group in alike.values():
        best = max(levels(way) for way in group)
        chosen = [way for way in group if levels(way) == best]
        changes = [move.change for move in chosen[0].moves]
        key = (max(TIERS[change] for change in changes), closeness(chosen[0]), -len(chosen), JOINED.join(changes), describe_changes(chosen))
        made.append((key, chosen))
    made.sort(key=lambda pair: pair[0])
    found: list[Fit] = []
    freed = 0
    for _, chosen in made[:MOST_TRIED]:
        change = JOINED.join(move.change for move in chosen[0].moves)
        frees = "free_gpus" in change
        if not (frees and freed == MOST_TO_FREE) and (left := working_ways(ask, around, chosen)):
            freed += frees
            text = describe_changes(left) + usage_note([way.host for way in left])
            fit = pod_fit(ask, change, text, [way.host.node.node for way in left])
            found.append(msgspec.structs.replace(fit, **in_manifest(ask, left[0])))
        if len(found) == MOST_FITS:
            break
    return found


def in_manifest(ask: Ask, way: Way) -> dict[str, Any]:
    """What a way changes in the pod's spec and in the node's labels."""
    changed, host = ask, way.host
    for move in way.moves:
        changed, host = move.edit(changed, host)
    before, after = way.host.node.labels, host.node.labels
    made = patch(ask, changed)
    labels = {key: value for key, value in after.items() if before.get(key) != value}
    return {"first": host.node.node, "patch": made.steps, "fragment": made.fragment, "labels": labels}


def working_ways(ask: Ask, around: Around, ways: list[Way]) -> list[Way]:
    """Those of the ways of one change that open their nodes once it is made on all of them."""
    while ways:
        changed, hosts = ask, []
        for way in ways:
            changed, host = ask, way.host
            for move in way.moves:
                changed, host = move.edit(changed, host)
            hosts.append(host)
        same = all(host is way.host for host, way in zip(hosts, ways, strict=True))
        after = around if same else around.with_changed_nodes(hosts)
        left = [way for way, blockers in zip(ways, evaluate(changed, after, hosts), strict=True) if not blockers]
        if len(left) == len(ways):
            break
        ways = left
    return ways


def describe_changes(ways: Sequence[Way]) -> str:
    """What the changes are about, in words: the same ones on several nodes."""
    moves = ([(way.host.node.node, way.moves[index]) for way in ways] for index in range(len(ways[0].moves)))
    return JOINED.join(map(detail, moves))


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
            return f"{first.what}: {first_words(f'{name} {move.note}' for name, move in moves)}"
    return first.note or first.what
