"""Where throttling comes from, told by who shares it: one card of a machine, all of them, or the machines around it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from gpudoctor.facts.gpu import Throttling

# Reasons that come from heat or from a signal of the chassis. A power cap or clocks that somebody set say nothing of the surroundings.
FROM_AROUND = ("sw_thermal", "hw_thermal", "hw_power_brake")


def clock_is_held_down(one: Throttling) -> bool:
    """Whether heat or the power brake holds this GPU's clock down."""
    return any(one.share.get(reason, 0.0) > 0 for reason in FROM_AROUND) or one.hot or one.fell_at_limit


def add_likely_side(records: Sequence[Throttling]) -> Iterator[Throttling]:
    """The records with their neighbours counted and the likely side: `card`, `chassis`, `row`, "" where it can't be told."""
    nodes: dict[str, list[Throttling]] = defaultdict(list)
    for one in records:
        nodes[one.node].append(one)
    suffering = {node for node, own in nodes.items() if any(map(clock_is_held_down, own))}
    for node, all_of_node in nodes.items():
        # A part of an answer that names no GPU may be of any: it is nobody's neighbour.
        own = [one for one in all_of_node if one.gpu]
        yield from (one for one in all_of_node if not one.gpu)
        throttled = sum(map(clock_is_held_down, own))
        # A card that has nothing to do is cool, and says nothing of how well the others are cooled.
        heat = sorted(one.temperature for one in own if one.temperature is not None and one.busy != 0)
        for one in own:
            counted = msgspec.structs.replace(
                one,
                neighbours=len(own) - 1,
                neighbours_throttled=throttled - clock_is_held_down(one),
                neighbours_temperature=median_beside(heat, None if one.busy == 0 else one.temperature),
                nodes=len(nodes) - 1,
                nodes_throttled=len(suffering) - (node in suffering),
            )
            yield msgspec.structs.replace(counted, side=side(counted))


def median_beside(ordered: Sequence[float], own: float | None) -> float | None:
    """The median of an ordered list without one value of it.

    >>> median_beside([40, 50, 90], 90), median_beside([90], 90), median_beside([40, 50, 60], None)
    (45.0, None, 50)
    """
    place = len(ordered) if own is None else bisect_left(ordered, own)
    count = len(ordered) - (own is not None)
    if count < 1:
        return None
    middle = [ordered[number + (number >= place)] for number in {(count - 1) // 2, count // 2}]
    return middle[0] if len(middle) == 1 else sum(middle) / 2


def side(one: Throttling) -> str:
    """A row when most of several other machines suffer too, the chassis when most of its other GPUs do, the card when only it does."""
    if not clock_is_held_down(one):
        return ""
    if one.nodes_throttled > 1 and 2 * one.nodes_throttled > one.nodes:
        return "row"
    if one.neighbours and 2 * one.neighbours_throttled >= one.neighbours:
        return "chassis"
    return "card" if one.neighbours_temperature is not None and not one.neighbours_throttled else ""
