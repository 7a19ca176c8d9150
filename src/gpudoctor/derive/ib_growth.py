"""How the counters of InfiniBand ports grew between two looks at them: per second, and with what was reset or is full named.

Nobody resets a counter here. One that went back was reset by somebody (a driver's reload, `perfquery -R`): what it shows now has come
since, so it is taken as the growth, and the record says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import median_low
from typing import NamedTuple

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.infiniband import IbCounters, IbGrowth, IbPort
from gpudoctor.knowledge.infiniband import COUNTERS, DATA, WORD

FIELDS = tuple(dict.fromkeys(counter.field for counter in COUNTERS))
DATED = 1e8  # s: a smaller time counts from the first look, of which the day isn't known
NO_ERRORS = DATA | {"transmit_wait"}


class Name(NamedTuple):
    """What tells one port from another: its adapter where that is known, else its address in the fabric."""

    node: str
    ca: str
    port: int
    lid: int | None


def growth(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One record for each port that was looked at twice."""
    looks: dict[Name, list[IbCounters]] = defaultdict(list)
    for one in facts.get("ib_counters", []):
        if isinstance(one, IbCounters):
            looks[Name(one.node, one.ca, one.port, None if one.ca else one.lid)].append(one)
    ends = far_ends(facts.get("ib_ports", []))
    made = []
    for name, samples in looks.items():
        # `perfquery -x` and `perfquery` of one moment are one look at its errors, which the other has not
        if len(samples) > 1 and sum(bool((read(one).keys() | set(one.saturated)) - NO_ERRORS) for one in samples) != 1:
            samples.sort(key=lambda one: one.time or 0.0)  # files without a time are in the order in which they were given
            made.append(port_growth(name, samples[0], samples[-1], ends))
    return {"ib_growth": [*compare_waiting(made)]}


def compare_waiting(made: list[IbGrowth]) -> list[IbGrowth]:
    """The records with their waiting beside that of the machine's other ports, where there are three of these at least."""
    waits: dict[str, list[int]] = defaultdict(list)
    for one in made:
        if one.waited is not None or "transmit_wait" in one.grew:
            waits[one.node].append(one.grew.get("transmit_wait", 0))
    factors = {node: max(1.0, float(median_low(values))) for node, values in waits.items() if len(values) > 3}
    return [
        replace(one, wait_factor=one.grew["transmit_wait"] / factors[one.node])
        if one.node in factors and "transmit_wait" in one.grew
        else one
        for one in made
    ]


def far_ends(ports: list[Fact]) -> dict[tuple[str, str, int] | tuple[int, int], str]:
    """What is at the other end of a port, by its adapter and by its lid."""
    found: dict[tuple[str, str, int] | tuple[int, int], str] = {}
    for port in ports:
        if isinstance(port, IbPort) and port.remote:
            found[port.node, port.ca, port.port] = port.remote
            if port.lid:
                found[port.lid, port.port] = port.remote
    return found


def port_growth(name: Name, first: IbCounters, last: IbCounters, ends: Mapping[tuple[str, str, int] | tuple[int, int], str]) -> IbGrowth:
    """The growth of one port from the first to the last look; a counter that either of the two doesn't know is left out."""
    seconds = (last.time or 0.0) - (first.time or 0.0)
    before, after = read(first), read(last)
    back = {field for field in before.keys() & after.keys() if after[field] < before[field]}
    rise = {field: after[field] - (0 if field in back else before[field]) for field in after if field in before}
    grew = {field: value for field, value in rise.items() if value > 0}
    return IbGrowth(
        node=name.node,
        ca=name.ca,
        port=name.port,
        lid=last.lid,
        named=f"{name.ca or f'lid {last.lid}'} port {name.port}",
        seconds=seconds,
        grew=grew,
        rate={field: value / seconds for field, value in grew.items()} if seconds > 0 else {},
        errors=", ".join(f"{field.replace('_', ' ')} +{grew[field]}" for field in FIELDS if field in grew and field not in NO_ERRORS),
        saturated=sorted(field for field, why in last.gaps.items() if why == "saturated"),
        waited=waiting_share(rise),
        remote=ends.get((name.node, name.ca, name.port)) or ends.get((last.lid or 0, name.port), ""),
        time=last.time if last.time and last.time > DATED else None,
        origin=last.origin,
    )


def read(one: IbCounters) -> dict[str, int]:
    """The counters that are known, those of the hardware too."""
    known = {field: value for field in FIELDS if (value := getattr(one, field)) is not None}
    return {**one.hardware, **known}


def waiting_share(rise: Mapping[str, int]) -> float | None:
    """The share of waiting in the time that a port had data: PortXmitWait counts ticks of about the time that one word takes."""
    if "transmit_wait" not in rise or "transmit_data" not in rise:
        return None
    words = rise["transmit_data"] / WORD
    busy = rise["transmit_wait"] + words
    return rise["transmit_wait"] / busy if busy else 0.0
