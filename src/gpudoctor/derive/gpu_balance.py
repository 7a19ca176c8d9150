"""GPUs beside each other: which of a node does more or less than those held like it, and how fast equal ones are under full load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from gpudoctor.facts.stall import GpuUse

BUSY = 95.0  # per cent: a kernel runs all the time
WORKS = 0.1  # of the time, or of the SMs
AGREE = 0.05  # the peers' own spread of activity, up to which one that differs from them stands out (our choice)
OTHER_PRODUCT = (
    4.0  # times: the clocks of sound products under full load, from a T4 at its power cap to an H100, are less apart (our choice)
)
PAIR = 2  # peers that do the same
FEWEST = 3  # peers for that: of two nobody can say which is the odd one


def compare_gpus(uses: list[GpuUse], one_job: bool) -> list[GpuUse]:
    """The GPUs of a node, each beside those of the same product that are held like it."""
    made = []
    for one in uses:
        alike = [other for other in uses if other is not one and other.product == one.product]
        peers = [other for other in alike if other.held and one.held]
        activity = [active for other in peers if (active := active_share(other)) is not None]
        faster = fastest(alike)
        own = active_share(one)
        loaded = at_one_clock(alike)
        agree = len(activity) >= FEWEST and own is not None and max(activity) - min(activity) <= AGREE
        made.append(
            replace(
                one,
                together=one_job,
                peers=len(peers),
                fastest_sm_clock=faster.sm_clock if faster else None,
                fastest_temperature=faster.temperature if faster else None,
                loaded_peers=len(loaded),
                loaded_sm_clock=median_of(loaded, "sm_clock"),
                loaded_power=median_of(loaded, "power"),
                loaded_power_spread=apart_in(loaded, "power"),
                loaded_temperature=median_of(loaded, "temperature"),
                usual_power_limit=usual_limit(alike),
                usual_utilisation=median_of(peers, "utilisation"),
                usual_sm_active=median_of(peers, "sm_active"),
                peers_work=bool(activity) and median(activity) >= WORKS and not any(other.state == "spins" for other in peers),
                apart=own - median(activity) if agree and own is not None else None,
                gaps=one.gaps if agree else {**one.gaps, "apart": "fewer than three GPUs of the node that agree"},
            )
        )
    return made


def beside_nodes(uses: Iterable[GpuUse]) -> dict[str, GpuUse]:
    """Of each product the GPU that runs fastest of those that never pause, on whatever node."""
    alike: dict[str, list[GpuUse]] = defaultdict(list)
    for one in uses:
        alike[one.product].append(one)
    return {product: faster for product, own in alike.items() if (faster := fastest(own))}


def with_faster(one: GpuUse, known: Mapping[str, GpuUse]) -> GpuUse:
    """A GPU beside the fastest of its product on another node. Where the product isn't known, only far apart is no other product."""
    faster = known.get(one.product)
    if faster is None or faster.node == one.node or faster.sm_clock is None or one.sm_clock is None:
        return one
    if faster.sm_clock <= (one.fastest_sm_clock or 0.0) or not (one.product or faster.sm_clock >= OTHER_PRODUCT * one.sm_clock):
        return one
    return replace(one, fastest_sm_clock=faster.sm_clock, fastest_temperature=faster.temperature)


def fastest(uses: Iterable[GpuUse]) -> GpuUse | None:
    """The one with the highest SM clock of those that never pause."""
    return max((one for one in uses if one.sm_clock is not None and never_pauses(one)), key=lambda one: one.sm_clock or 0.0, default=None)


def at_one_clock(uses: Iterable[GpuUse]) -> list[GpuUse]:
    """Those that never pause, where their clocks agree, or where none was read; [] where they don't, or are too few."""
    busy = [one for one in uses if never_pauses(one)]
    loaded = [one for one in busy if one.sm_clock] or busy
    clocks = [one.sm_clock or 0.0 for one in loaded]
    return loaded if len(clocks) >= PAIR and max(clocks) - min(clocks) <= AGREE * max(clocks) else []


def usual_limit(uses: Iterable[GpuUse]) -> float | None:
    """The power limit that all of some GPUs have, of two at least."""
    limits = [one.power_limit for one in uses if one.power_limit]
    return limits[0] if len(limits) >= PAIR and len({*limits}) == 1 else None


def never_pauses(one: GpuUse) -> bool:
    """Whether a kernel runs on it all the time."""
    return one.utilisation_lowest is not None and one.utilisation_lowest >= BUSY


def active_share(one: GpuUse) -> float | None:
    """How much it does, 0 to 1: SM activity where it was counted."""
    if one.sm_active is not None:
        return one.sm_active
    return None if one.utilisation is None else one.utilisation / 100


def median_of(uses: Iterable[GpuUse], field: str) -> float | None:
    """The median of a field over the GPUs that have it."""
    known = [value for one in uses if (value := getattr(one, field)) is not None]
    return median(known) if known else None


def apart_in(uses: Sequence[GpuUse], field: str) -> float | None:
    """How far a field lies apart, as a share of its median."""
    known = [value for one in uses if (value := getattr(one, field)) is not None]
    return (max(known) - min(known)) / median(known) if len(known) > 1 and median(known) > 0 else None


def activity_spread(held: Sequence[GpuUse]) -> float | None:
    """How far the activity of GPUs of one product lies apart that all are at work; None where that can't be said.

    Stages of a pipeline that have unequal parts make groups of GPUs, so that none stands out against all others.
    """
    shares = [active_share(one) for one in held]
    known = [share for share in shares if share is not None and share >= WORKS]
    alike = len({one.product for one in held}) == 1 and not any(one.state == "spins" for one in held)
    return max(known) - min(known) if alike and len(known) == len(held) >= FEWEST else None
