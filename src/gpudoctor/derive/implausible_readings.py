"""Readings that can't be true, whatever the GPU does: then the sensor, or what reads it, is broken and not the load."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from gpudoctor.facts.gpu import GpuSample

# Power management holds the averaged draw at the limit; the peaks above it last milliseconds and don't reach the average that
# `power.draw` is (one second on Ampere and later, nvidia-smi(1)). Half as much again for a whole sample is no peak.
ABOVE_LIMIT = 1.5
# Per cent of use at which a GPU rests and works; samples of each that it takes; W by which any GPU's draw differs between the two.
RESTS, WORKS, FEWEST, SAME = (0, 5), (90, 100), 3, 0.5
# °C. A GPU at work is warmer than the freezing point; boards shut down at 90 (V100) to 101 (GeForce RTX 40), by their own `nvidia-smi -q`.
COLDEST, HOTTEST = 0, 120
# Two tools' readings of one moment: within dcgm-exporter's own interval (30 s, its default), and further apart than a die warms meanwhile
# under the same load, two sensors of one board differ, and a tool rounds (our choice, °C and per cent of use).
SAME_MOMENT, TOO_FAR, SAME_LOAD = 30.0, 20.0, 30.0
MOST = 200  # readings of a tool that are compared


def stuck_fields(samples: Sequence[GpuSample]) -> list[str]:
    """The fields of which most readings can't be true: power, temperature."""
    # what is asked for once holds for a series beside it, which has no limits (dmon)
    limit = max((most for sample in samples for most in (sample.power_limit, sample.power_limit_default) if most), default=None)
    wrong = {
        "power": [impossible_power(sample, limit) for sample in samples],
        "temperature": [impossible_heat(sample) for sample in samples],
    }
    found = [field for field, known in wrong.items() if 2 * known.count(True) > len(known) - known.count(None) > 0]
    return ["power", *found] if "power" not in found and frozen(samples) else found


def impossible_power(sample: GpuSample, limit: float | None) -> bool | None:
    """Far above the limit, or nothing at all while kernels run; None where it isn't read."""
    if sample.power is None:
        return None
    if limit and sample.power > ABOVE_LIMIT * limit:
        return True
    return sample.power <= 0 and bool(sample.utilisation)


def frozen(samples: Sequence[GpuSample]) -> bool:
    """Whether the draw stays the same to the watt while the GPU goes from rest to full use, and its power management holds it."""
    if not any("sw_power_cap" in (sample.reasons or ()) for sample in samples):
        return False
    drawn = [(sample.power, sample.utilisation) for sample in samples if sample.power is not None and sample.utilisation is not None]
    rests, works = (sum(low <= use <= high for _, use in drawn) for low, high in (RESTS, WORKS))
    return rests >= FEWEST and works >= FEWEST and max(drawn)[0] - min(drawn)[0] < SAME


def impossible_heat(sample: GpuSample) -> bool | None:
    """At or below freezing, or hotter than any board lives; None where it isn't read."""
    return None if sample.temperature is None else not COLDEST < sample.temperature < HOTTEST


def conflicting_views(samples: Sequence[GpuSample]) -> str:
    """The temperatures that two tools show of a GPU at the same moments, where they never agree; "" where they do, or only one looked."""
    tools: dict[str, list[GpuSample]] = {}
    for sample in samples:
        if sample.seen_by and sample.temperature is not None:
            tools.setdefault(sample.seen_by, []).append(sample)
    for (one, own), (other, theirs) in combinations(tools.items(), 2):
        pairs = [(mine, yours) for mine in own[-MOST:] for yours in theirs[-MOST:] if at_one_moment(mine, yours)]
        if pairs and all(abs((mine.temperature or 0.0) - (yours.temperature or 0.0)) > TOO_FAR for mine, yours in pairs):
            mine, yours = pairs[-1]
            return f"{mine.temperature:.0f} °C by {one}, {yours.temperature:.0f} °C by {other}"
    return ""


def at_one_moment(one: GpuSample, other: GpuSample) -> bool:
    """Whether two readings are of the same moment and load; without a time on either side they stand in one text."""
    near = abs(one.time - other.time) <= SAME_MOMENT if one.time and other.time else one.time is other.time is None
    alike = one.utilisation is None or other.utilisation is None or abs(one.utilisation - other.utilisation) <= SAME_LOAD
    return near and alike
