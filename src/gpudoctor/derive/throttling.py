"""What the samples of each GPU add up to: which reasons held its clock down, how much that cost, and how its neighbours fared.

It judges by the driver's own reasons and by the margin to the limit, not by one temperature: the limits differ from board to board
(V100 83 °C, A100 85 °C, H100 a margin only). One snapshot is one sample. The rules for what can't be true are in `implausible_readings`,
and where the trouble lies (card, chassis, row) in `throttling_sources`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

from gpudoctor.derive import throttling_sources
from gpudoctor.derive.implausible_readings import conflicting_views, stuck_fields
from gpudoctor.derive.throttling_heat import LEAST_LIMIT, Course, cost_in_words, course, heat_limit, is_at_slowdown, own_limit
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Gpu, GpuSample, Throttling
from gpudoctor.knowledge.clock_reasons import REASONS
from gpudoctor.knowledge.trend import counter_rise

Key = tuple[str, str]  # node, GPU
FASTEST_STATES = 2  # P0 to P2 are those of work: CUDA programs on GeForce boards run in P2
# NVML's older counters don't tell hardware from software; the milder of the two is sure.
ALIKE = {"thermal": "sw_thermal", "power": "sw_power_cap"}
UNLIKE, FULL = 0.98, 0.95  # of a limit: what was set anew (as limit_lowered), what counts as all of it (our choice)
CORRECTED = 10  # memory errors that are worth a look; a few in a lifetime are usual
# s for which Prometheus goes on with the last value of a series (https://prometheus.io/docs/prometheus/latest/querying/basics/), and the
# steps of a slower series (our choice): a longer silence is a gap.
STALE, STEPS = 300.0, 3


def measure_throttling(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One Throttling a GPU of which a sample tells a clock reason, a margin, a throttle counter, its limit, or what can't be true."""
    samples = [one for one in facts.get("gpu_samples", []) if isinstance(one, GpuSample)]
    gpus = [one for one in facts.get("gpus", []) if isinstance(one, Gpu)]
    limits = {key: gpu for gpu in gpus for key in lookup_keys(gpu)}
    sampled = by_gpu(samples, gpus)
    # Whose clock falls with the heat is compared with its neighbours, of whose clocks nothing else may be known.
    heated = {own[0].node for own in sampled if falls_with_heat(own, of_sample(own, limits))}
    newest = newest_times(samples)
    made = [of_gpu(own, limits, newest) for own in sampled if own[0].node in heated or is_telling(own, of_sample(own, limits))]
    return {"throttling": list(throttling_sources.add_likely_side(made))}


def is_telling(samples: Sequence[GpuSample], known: Gpu) -> bool:
    """Whether the samples of a GPU tell of throttling, of a limit that is reached, or what can't be true."""
    return bool(
        any(map(tells_of_throttling, samples))
        or stuck_fields(samples)
        or corrected_errors(samples)
        or lowered_limit(samples)
        or is_at_slowdown(samples, known)
        or (memory_left(samples, known) or 0.0) < 0
        or at_lowered_limit(samples)
        or conflicting_views(samples)
    )


def tells_of_throttling(sample: GpuSample) -> bool:
    """Whether a sample says anything of throttling; a reason that was asked for and couldn't be read is a gap, and so an answer."""
    return sample.reasons is not None or sample.margin is not None or bool(sample.throttled) or "reasons" in sample.gaps


def falls_with_heat(samples: Sequence[GpuSample], known: Gpu) -> Course | None:
    """How the clock falls as the card warms; None where it doesn't, or where the readings may be of several cards, or contradict."""
    return course(samples, known) if are_of_one_gpu(samples) and not conflicting_views(samples) else None


def are_of_one_gpu(samples: Sequence[GpuSample]) -> bool:
    """Whether samples without a name can't be of several GPUs: they stand in one text, or each says whose it is."""
    return len({sample.origin.source for sample in samples}) == 1 or all(sample.uuid or sample.pci or sample.node for sample in samples)


def of_sample(samples: Sequence[GpuSample], limits: Mapping[Key, Gpu]) -> Gpu:
    """The GPU with the limits of samples."""
    return next((limits[key] for sample in samples for key in lookup_keys(sample) if key in limits), Gpu())


def corrected_errors(samples: Sequence[GpuSample]) -> int | None:
    """How many memory errors were corrected over the samples, None where they may be of several GPUs without a name, or tell too little."""
    rise = counter_rise([sample.ecc_corrected for sample in samples]) if are_of_one_gpu(samples) else None
    return rise if rise is not None and rise >= CORRECTED else None


def lowered_limit(samples: Sequence[GpuSample]) -> tuple[float, float] | None:
    """The limit before it fell, and the share of the samples since in which the draw is what it allows; None where it did not fall.

    One fall only: firmware that shares out watts (Dynamic Boost) moves a limit all the time, and so do two cards without names.
    """
    known = [(one.power_limit, one.power) for one in samples if one.power_limit is not None and one.time is not None]
    falls = [at for at, ((earlier, _), (later, _)) in enumerate(pairwise(known), 1) if earlier != later]
    if len(falls) != 1 or len(known) - falls[0] < 2 or len(known) < len(samples):
        return None
    before, limit = known[0][0], known[-1][0]
    since = [power for _, power in known[falls[0] :] if power is not None]
    if limit >= UNLIKE * before or not since:
        return None
    return before, sum(power >= FULL * limit for power in since) / len(since)


def at_lowered_limit(samples: Sequence[GpuSample]) -> float | None:
    """The share of the samples with work in which the draw is all that a limit below the default allows; None where it isn't lower, or
    where the reasons were read, which tell it better. Who states a limit in words may have set it on purpose."""
    if any(sample.reasons is not None or sample.stated for sample in samples):
        return None
    lowered = lowest(samples, "power_limit"), highest(samples, "power_limit_default")
    loaded = [sample for sample in samples if with_work(sample) and sample.power is not None]
    if lowered[0] is None or lowered[1] is None or lowered[0] >= UNLIKE * lowered[1] or not loaded:
        return None
    return sum((sample.power or 0.0) >= FULL * lowered[0] for sample in loaded) / len(loaded)


def newest_times(samples: Iterable[GpuSample]) -> dict[str, float]:
    """The newest moment of each text or answer."""
    newest: dict[str, float] = {}
    for sample in samples:
        if sample.time is not None:
            newest[sample.origin.source] = max(sample.time, newest.get(sample.origin.source, 0.0))
    return newest


def longest_silence(samples: Iterable[GpuSample], newest: Mapping[str, float]) -> float:
    """The longest time in a text or answer without a reading of this GPU's reasons, where that is longer than it should be, else 0."""
    told: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.time is not None and (sample.reasons is not None or "reasons" in sample.gaps):
            told[sample.origin.source].append(sample.time)
    silent = 0.0
    for source, times in told.items():
        steps = [later - earlier for earlier, later in pairwise(times)]
        usual = median(steps) if steps else 0.0
        longest = max([*steps, newest.get(source, 0.0) - times[-1]])
        silent = max(silent, longest if longest > max(STALE, STEPS * usual) else 0.0)
    return silent


def lookup_keys(one: Gpu | GpuSample) -> list[Key]:
    """The names under which a GPU may be looked up, best first; what has none (a part of an answer) is the GPU without a name."""
    index = "" if one.index is None else f"#{one.index}"
    return [(one.node, name) for name in (one.uuid, one.pci, one.gpu, index) if name] or [(one.node, "")]


def by_gpu(samples: Sequence[GpuSample], gpus: Sequence[Gpu]) -> list[list[GpuSample]]:
    """The samples of each GPU in the order of their times; names are one GPU's where a record shows them together."""
    same: dict[Key, Key] = {}
    records: list[Gpu | GpuSample] = [*gpus, *samples]
    for one in records:
        keys = lookup_keys(one)
        first = next((same[key] for key in keys if key in same), keys[0])
        for key in keys:
            same.setdefault(key, first)
    found: dict[Key, list[GpuSample]] = defaultdict(list)
    for sample in samples:
        found[same[lookup_keys(sample)[0]]].append(sample)
    return [sorted(own, key=lambda sample: (sample.time is None, sample.time or 0.0)) for own in found.values()]


def of_gpu(samples: list[GpuSample], limits: Mapping[Key, Gpu], newest: Mapping[str, float]) -> Throttling:
    """The measurements of one GPU."""
    first, last = samples[0], samples[-1]
    known = of_sample(samples, limits)
    index = next((sample.index for sample in samples if sample.index is not None), known.index)
    work = [busy for sample in samples if (busy := with_work(sample)) is not None]
    idle = all(map(idles, samples))
    loaded = [sample for sample in samples if with_work(sample)] or samples
    seconds = last.time - first.time if last.time and first.time else sum(sample.every or 0.0 for sample in samples[1:])
    rose = counter_growth(samples)
    shares = reason_shares(samples, rose, seconds)
    temperature = highest(samples, "temperature")
    memory = highest(samples, "memory_temperature")
    margin = degrees_left(lowest(samples, "margin"), temperature, own_limit(samples, known, "temperature_max_operating"))
    # A clock without work is low by design, and no loss.
    clock, reference = field_mean(loaded, "sm_clock"), None if idle else reference_clock(samples, shares)
    at_slowdown = is_at_slowdown(samples, known)
    heat = falls_with_heat(samples, known)
    before, at_limit = lowered_limit(samples) or (None, None)
    worst = max(
        samples,
        key=lambda one: (
            severity(one),
            before is not None and one.power_limit == last.power_limit,
            (one.temperature or 0.0, -(one.sm_clock or 0.0)) if heat else (),
        ),
    )
    return Throttling(
        node=first.node,
        gpu=first_name(samples, "uuid")
        or first_name(samples, "pci")
        or first_name(samples, "gpu")
        or ("" if index is None else f"GPU {index}"),
        uuid=first_name(samples, "uuid"),
        pci=first_name(samples, "pci"),
        index=index,
        product=first_name(samples, "product") or known.product,
        samples=len(samples),
        seconds=seconds,
        busy=sum(work) / len(work) if work else None,
        idle=idle,
        share=shares,
        rose=rose,
        temperature=temperature,
        memory_temperature=memory,
        margin=margin,
        # A V100 works at its 83 °C, a T4 at its 85 °C for hours without being slowed down.
        hot=not shares and ((margin is not None and margin <= 0) or at_slowdown),
        at_slowdown=at_slowdown,
        limit=heat_limit(samples, known),
        fell=heat.fell if heat else None,
        fell_at_limit=heat is not None and heat.at_limit,
        course=heat.text if heat else "",
        memory_margin=memory_left(samples, known),
        power=field_mean(loaded, "power"),
        power_limit=lowest(samples, "power_limit"),
        power_limit_default=highest(samples, "power_limit_default"),
        power_limit_before=before,
        at_limit=at_limit,
        at_lowered_limit=at_lowered_limit(samples),
        sm_clock=clock,
        sm_clock_lowest=lowest(loaded, "sm_clock"),
        sm_clock_reference=reference,
        loss=max(0.0, 100 * (1 - clock / reference)) if clock is not None and reference else None,
        clock=in_words(clock, reference, lowest(loaded, "sm_clock")),
        cost=cost_in_words(clock, reference),
        held_by=sorted((reason for reason, share in shares.items() if share > 0), key=lambda reason: -shares[reason]),
        fan=lowest(samples, "fan"),
        stuck=stuck_fields(samples),
        views=conflicting_views(samples),
        silent=longest_silence(samples, newest),
        ecc_corrected_rise=corrected_errors(samples),
        gaps=gaps(samples, shares),
        origin=worst.origin,
        time=worst.time,
    )


def with_work(sample: GpuSample) -> bool | None:
    """Whether the GPU had something to do: the driver's own word for idle first, then use, then the performance state."""
    if sample.reasons is not None and "idle" in sample.reasons:
        return False
    if sample.utilisation is not None:
        return sample.utilisation > 0
    return None if sample.pstate is None else sample.pstate <= FASTEST_STATES


def idles(sample: GpuSample) -> bool:
    """Whether the GPU is known to have nothing to do; one that a power brake holds has no use either, and isn't idle for the driver."""
    return "idle" in sample.reasons if sample.reasons is not None else sample.utilisation == 0


def severity(sample: GpuSample) -> int:
    """How much a sample shows, so that the evidence is the sample that shows it: its reasons that no healthy GPU has."""
    return sum(not REASONS[reason].normal for reason in sample.reasons or () if reason in REASONS)


def reason_shares(samples: list[GpuSample], rose: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Each reason's share of the samples, or of the time where its counter tells more than the samples caught."""
    told = [sample.reasons for sample in samples if sample.reasons is not None]
    shares = {reason: sum(reason in reasons for reasons in told) / len(told) for reason in REASONS} if told else {}
    for reason, grew in rose.items():
        shares[reason] = max(shares.get(reason, 0.0), min(1.0, grew / seconds) if seconds > 0 else 0.0)
    return shares


def counter_growth(samples: list[GpuSample]) -> dict[str, float]:
    """The seconds by which each throttle counter grew; a counter that falls was reset (driver reload) and begins at 0 again."""
    series: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for reason, counted in sample.throttled.items():
            series[ALIKE.get(reason, reason)].append(counted)
    return {reason: rise for reason, counts in series.items() if (rise := counter_rise(counts)) is not None}


def reference_clock(samples: list[GpuSample], shares: Mapping[str, float]) -> float | None:
    """What the SM clock could be: the maximum; the application clock only where the driver says that this is what holds it."""
    chosen = highest(samples, "application_clock") if shares.get("applications_clocks") else None
    return chosen or highest(samples, "sm_clock_max") or highest(samples, "application_clock")


def in_words(clock: float | None, reference: float | None, least: float | None) -> str:
    """A mean clock beside what it could be.

    >>> in_words(1584, 1980, 1200), in_words(1980, 1980, 1980), in_words(1200, None, 1200), in_words(None, 1980, None)
    ('1584 of 1980 MHz (-20 %), lowest 1200', '1980 MHz', '1200 MHz', '')
    """
    if clock is None:
        return ""
    beside = f" of {reference:.0f} MHz (-{100 * (1 - clock / reference):.0f} %)" if reference and clock < reference else " MHz"
    return f"{clock:.0f}{beside}" + (f", lowest {least:.0f}" if least is not None and least < 0.99 * clock else "")


def degrees_left(margin: float | None, temperature: float | None, limit: float | None) -> float | None:
    """The degrees that are left: the margin that was read (Hopper, Ada and later), else the distance to the board's own limit."""
    if margin is not None or temperature is None or limit is None or limit < LEAST_LIMIT:
        return margin
    return limit - temperature


def memory_left(samples: Sequence[GpuSample], known: Gpu) -> float | None:
    """The degrees that are left to the memory's own limit."""
    return degrees_left(None, highest(samples, "memory_temperature"), own_limit(samples, known, "memory_temperature_max"))


def gaps(samples: list[GpuSample], shares: Mapping[str, float]) -> dict[str, str]:
    """Why the clock's reasons are not known."""
    if shares:
        return {}
    return {"share": next((why for sample in samples if (why := sample.gaps.get("reasons"))), "the clock event reasons were not read")}


def values(samples: Iterable[GpuSample], field: str) -> list[float]:
    """The readings of a field that are known."""
    return [value for sample in samples if (value := getattr(sample, field)) is not None]


def field_mean(samples: Iterable[GpuSample], field: str) -> float | None:
    """The mean of a field over the samples that have it."""
    known = values(samples, field)
    return fmean(known) if known else None


def highest(samples: Iterable[GpuSample], field: str) -> float | None:
    """The highest reading of a field."""
    return max(values(samples, field), default=None)


def lowest(samples: Iterable[GpuSample], field: str) -> float | None:
    """The lowest reading of a field."""
    return min(values(samples, field), default=None)


def first_name(samples: Iterable[GpuSample], field: str) -> str:
    """The first name that a sample has."""
    return next((name for sample in samples if (name := getattr(sample, field))), "")
