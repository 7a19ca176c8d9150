"""What a row of readings shows: that something grows all the time, or that it changed once and stayed so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import correlation, fmean, median
from typing import TypeVar

N = TypeVar("N", int, float)

QUARTERS = 4
FEWEST = 20  # readings in which a lasting change is looked for
STEPS = 6  # readings that show the same step all the time
EDGE = 6  # readings before and after it, at least
FEW = 4  # readings, in which only a jump is looked for that is many times what they otherwise differ by
JUMP, CLEAR = 8.0, 5.0  # times that: of few readings, of many (our choice)
OUTLIER = 5.0  # times the median: a step with a checkpoint or an evaluation in it counts as no more


def steady_rise(readings: Sequence[float]) -> float | None:
    """By how much a reading grew where each quarter's median is above that of the one before, else 0; None with fewer than eight.

    What fills up at the beginning and then stays (an allocator's cache) does not grow so.

    >>> steady_rise([10, 11, 12, 13, 14, 15, 16, 17]), steady_rise([10, 90, 90, 90, 90, 90, 90, 90]), steady_rise([1, 2])
    (6.0, 0.0, None)
    """
    if len(readings) < 2 * QUARTERS:
        return None
    size = len(readings) / QUARTERS
    steps = [median(readings[int(number * size) : int((number + 1) * size)]) for number in range(QUARTERS)]
    return float(steps[-1] - steps[0]) if all(later > earlier for earlier, later in pairwise(steps)) else 0.0


def lives(readings: Sequence[float]) -> list[Sequence[float]]:
    """The readings, cut where one falls below half of the one before: there something began anew. The longest life first.

    >>> lives([10, 20, 30, 40, 12, 22])
    [[10, 20, 30, 40], [12, 22]]
    """
    cuts = [at for at, (earlier, later) in enumerate(pairwise(readings), 1) if later < earlier / 2]
    return sorted((readings[start:end] for start, end in pairwise([0, *cuts, len(readings)])), key=len, reverse=True)


def climb(readings: Sequence[float], fewest: int = STEPS, at: Sequence[float] = ()) -> float | None:
    """By how much a reading that can't fall grew where it never stopped: by about the same from one to the next; else 0. None with fewer
    than `fewest`. `at`: where each was taken, as lines are left out of what is pasted.

    A peak that shapes of the input push up does so ever less often.

    >>> climb([10, 12, 14, 17, 19, 21]), climb([10, 16, 18, 18, 18, 18, 18]), climb([1, 2])
    (11.0, 0.0, None)
    >>> climb([10, 12, 14, 24], 4), climb([10, 12, 14, 24], 4, at=[1, 2, 3, 8])
    (0.0, 14.0)
    """
    if len(readings) < fewest:
        return None
    apart = [later - earlier for earlier, later in pairwise(at)] if len(at) == len(readings) else []
    apart = apart if all(one > 0 for one in apart) else []
    steps = [(later - earlier) / (apart[place] if apart else 1) for place, (earlier, later) in enumerate(pairwise(readings))]
    usual = median(steps)
    return float(readings[-1] - readings[0]) if usual > 0 and all(usual / 2 <= one <= usual * 2 for one in steps) else 0.0


def change(readings: Sequence[float]) -> tuple[float | None, int | None]:
    """(how many times larger readings are after the largest lasting change, its place); (1.0, None) without one, None with too few.

    The place is where the cumulative sum of the deviations from the mean is furthest below 0 (CUSUM: E. S. Page, Biometrika 1954). The
    change lasts when three quarters of the readings after it are larger than three quarters of those before it.

    >>> change([2.0] * 15 + [3.0] * 15), change([2.0] * 30), change([2.0])
    ((1.5, 15), (1.0, None), (None, None))
    """
    if len(readings) < FEWEST:
        return jump(readings)
    most = OUTLIER * median(readings)
    clipped = [min(one, most) for one in readings]
    mean = fmean(clipped)
    total, furthest, place = 0.0, 0.0, 0
    for number, one in enumerate(clipped, 1):
        total += one - mean
        if EDGE <= number <= len(clipped) - EDGE and total < furthest:
            furthest, place = total, number
    before, after = sorted(clipped[:place]), sorted(clipped[place:])
    if not place or not median(before) or after[len(after) // 4] <= before[3 * len(before) // 4]:
        return 1.0, None
    return median(after) / median(before), place


def jump(readings: Sequence[float]) -> tuple[float | None, int | None]:
    """The same of few readings: two levels, with one reading between them at most, that are far more apart than the readings of each.

    >>> jump([64.0, 64.0, 66.0, 80.0, 80.0]), jump([80.1, 82.2, 83.0, 84.1, 85.3]), jump([80.0])
    ((1.25, 2), (1.0, None), (None, None))
    """
    if len(readings) < FEW:
        return None, None
    for between in (0, 1):
        for start in range(2, len(readings) - 1 - between):
            before, after = readings[:start], readings[start + between :]
            noise = max(max(before) - min(before), max(after) - min(after))
            if min(after) - max(before) > JUMP * noise and median(before):
                return median(after) / median(before), start
    return 1.0, None


def is_clear_change(readings: Sequence[float], place: int | None) -> bool:
    """Whether a lasting change is many times what the readings before and after it differ by.

    >>> is_clear_change([2.0, 2.01] * 10 + [2.2, 2.21] * 10, 20), is_clear_change([2.0, 2.2] * 10 + [2.4, 2.6] * 10, 20)
    (True, False)
    >>> is_clear_change([2.0], None)
    False
    """
    if place is None:
        return False
    if len(readings) < FEWEST:
        return True
    before, after = sorted(readings[:place]), sorted(readings[place:])
    (low, high), (later_low, later_high) = ((side[len(side) // 4], side[3 * len(side) // 4]) for side in (before, after))
    return later_low - high > CLEAR * max(high - low, later_high - later_low)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation: -1.0 where one always falls as the other rises; 0.0 where one of them stays the same, or of two.

    >>> round(rank_correlation([70, 80, 85, 88, 90], [1980, 1900, 1500, 1500, 1200]), 2), rank_correlation([1, 2, 3], [5, 5, 5])
    (-0.97, 0.0)
    """
    if len(one) < 3 or len({*one}) < 2 or len({*other}) < 2:
        return 0.0
    return correlation(ranks(one), ranks(other))


def ranks(readings: Sequence[float]) -> list[float]:
    """The place of each reading by size; equal ones share the mean of their places.

    >>> ranks([30, 10, 20, 20])
    [4.0, 1.0, 2.5, 2.5]
    """
    ordered = sorted(range(len(readings)), key=lambda place: readings[place])
    found = [0.0] * len(readings)
    start = 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or readings[ordered[end]] != readings[ordered[start]]:
            for place in ordered[start:end]:
                found[place] = (start + 1 + end) / 2
            start = end
    return found


def counter_rise(counts: Iterable[N | None]) -> N | None:
    """How much a counter rose over its readings, None with fewer than two."""
    known = [count for count in counts if count is not None]
    if len(known) < 2:
        return None
    return sum((later - earlier if later >= earlier else later) for earlier, later in pairwise(known))
