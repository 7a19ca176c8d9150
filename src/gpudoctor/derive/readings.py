"""Readings that can't be true, whatever the GPU does: then the sensor, or what reads it, is broken and not the load."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts.gpu import GpuSample

# Power management holds the averaged draw at the limit; the peaks above it last milliseconds and don't reach the average that
# `power.draw` is (one second on Ampere and later, nvidia-smi(1)). Half as much again for a whole sample is no peak.
ABOVE_LIMIT = 1.5
# °C. A GPU at work is warmer than the freezing point; boards shut down at 90 (V100) to 101 (GeForce RTX 40), by their own `nvidia-smi -q`.
COLDEST, HOTTEST = 0, 120


def stuck(samples: Sequence[GpuSample]) -> list[str]:
    """The fields of which most readings can't be true: power, temperature."""
    wrong = {"power": [impossible_power(sample) for sample in samples], "temperature": [impossible_heat(sample) for sample in samples]}
    return [field for field, found in wrong.items() if 2 * found.count(True) > len(found) - found.count(None) > 0]


def impossible_power(sample: GpuSample) -> bool | None:
    """Far above the limit, or nothing at all while kernels run; None where it isn't read."""
    if sample.power is None:
        return None
    if sample.power_limit and sample.power > ABOVE_LIMIT * max(sample.power_limit, sample.power_limit_default or 0.0):
        return True
    return sample.power <= 0 and bool(sample.utilisation)


def impossible_heat(sample: GpuSample) -> bool | None:
    """At or below freezing, or hotter than any board lives; None where it isn't read."""
    return None if sample.temperature is None else not COLDEST < sample.temperature < HOTTEST
