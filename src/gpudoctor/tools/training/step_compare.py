"""Lines in which a program compares its ranks or nodes, by a time that each of them took for the same work."""

from __future__ import annotations

from statistics import median_low
from typing import NamedTuple

from gpudoctor.patterns import regex


class Slowest(NamedTuple):
    """Who took longest, and how many times longer than the others: than their median, or than the fastest where only that is told."""

    names: str
    factor: float


# … | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 3468.20ms/0 | …   (Megatron --log-straggler, megatron/core/README_STRAGGLER.md)
FASTEST, LAST = (regex(rf"\b{word}Rtt/Rnk: (\d{{1,9}}\.\d{{1,6}})ms/(\d{{1,7}})") for word in ("Mn", "Mx"))
# The elapsed time of nodes are {2: 20.18, 3: 18.73, 0: 181.81}   (DLRover's check of its nodes, in seconds)
NODES = regex(r"elapsed time of nodes are \{([\d:., ]{4,4000})\}")
PAIR = regex(r"(\d{1,7}): (\d{1,9}(?:\.\d{1,20})?)")
FEWEST = 3  # nodes: of two nobody can say which is the odd one
SLOW = 1.5  # times the median, above which DLRover calls a node a straggler
LONGEST = 4000  # characters of a line
NAMED = 8  # that are named; more are counted


def slowest_in(text: str) -> Slowest | None:
    """What a line says of the slowest, None for a line that compares nothing.

    >>> slowest_in("The elapsed time of nodes are {0: 18.5, 1: 19.0, 2: 57.0}")
    Slowest(names='node 2', factor=3.0)
    >>> slowest_in("| MnRtt/Rnk: 1000.00ms/8 | MxRtt/Rnk: 1010.00ms/3 |")
    Slowest(names='rank 3', factor=1.01)
    """
    text = text[:LONGEST]
    if "Rtt/Rnk" not in text and "time of nodes" not in text:  # a quick look before the patterns
        return None
    fastest, last = FASTEST.search(text), LAST.search(text)
    if fastest and last:
        least = float(fastest[1])
        return Slowest(f"rank {last[2]}", float(last[1]) / least) if least > 0 else None
    if not (nodes := NODES.search(text)):
        return None
    times = {name: float(seconds) for name, seconds in PAIR.findall(nodes[1])}
    usual = median_low(times.values()) if len(times) >= FEWEST else 0.0
    if usual <= 0:
        return None
    slow = sorted((name for name in times if times[name] > SLOW * usual), key=int) or [max(times, key=times.__getitem__)]
    named = ", ".join(slow[:NAMED]) + (f" and {len(slow) - NAMED} more" if len(slow) > NAMED else "")
    return Slowest(f"node{'s' * (len(slow) > 1)} {named}", max(times[name] for name in slow) / usual)
