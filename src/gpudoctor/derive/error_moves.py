"""How the metrics that count errors of a GPU moved: what they read first and last, by how much they grew, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise

from gpudoctor.derive.job_ranks import of_type
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.dcgm import ErrorMove, ErrorReading
from gpudoctor.knowledge.error_metrics import ABOUT, GAUGES, STANDING
from gpudoctor.knowledge.trend import counter_rise

NEAR = 300.0  # s between two readings that show when a counter moved: as long as Prometheus goes on with the last value of a series
ORDER = {word: place for place, word in enumerate(dict.fromkeys(ABOUT.values()))}


def measure_moves(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A record for each metric of each GPU, those that stand for themselves first."""
    by_metric: dict[tuple[str, str, str], list[ErrorReading]] = defaultdict(list)
    for one in of_type(facts.get("error_readings", []), ErrorReading):
        by_metric[one.node, one.gpu or f"GPU {one.index}", one.metric].append(one)
    newest = max((one.time or 0.0 for found in by_metric.values() for one in found), default=0.0)
    moves = [measure_move(found, newest) for found in by_metric.values()]
    moves.sort(key=lambda one: ORDER.get(one.about, len(ORDER)))
    return {"error_moves": [*moves]}


def measure_move(found: list[ErrorReading], newest: float) -> ErrorMove:
    """One metric of one GPU. `newest` is when the newest of all readings was made."""
    found = sorted(found, key=lambda one: one.time or 0.0)
    first, last = found[0], found[-1]
    at = moved_at(found)
    return ErrorMove(
        node=last.node,
        gpu=last.gpu,
        uuid=last.uuid,
        pci=last.pci,
        index=last.index,
        product=last.product,
        metric=last.metric,
        about=last.about,
        value=last.value,
        before=first.value if first is not last else None,
        growth=growth([one.value for one in found], gauge=last.about in GAUGES) if (last.time or 0.0) > (first.time or 0.0) else None,
        seconds=(last.time or 0.0) - (first.time or 0.0),
        age=newest - (last.time or 0.0),
        standing=last.about in STANDING,
        when=f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC" if at else "",
        time=at,
        origin=last.origin,
    )


def growth(values: list[float], *, gauge: bool) -> float:
    """By how much a counter grew, one that began anew counted from 0; of a gauge how often it changed to something else than 0.

    >>> growth([3.0, 3.0, 5.0, 1.0], gauge=False), growth([0.0, 79.0, 79.0, 31.0, 0.0], gauge=True)
    (3.0, 2.0)
    """
    if gauge:
        return float(sum(after not in (before, 0.0) for before, after in pairwise(values)))
    return counter_rise(values) or 0.0


def moved_at(found: list[ErrorReading]) -> float | None:
    """When the value last changed, where two readings near to each other show it."""
    for before, after in reversed([*pairwise(found)]):
        if before.value != after.value:
            near = (after.time or 0.0) - (before.time or 0.0) <= NEAR
            return after.time if near and (after.time or 0.0) > 0 else None
    return None
