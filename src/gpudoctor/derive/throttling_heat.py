"""Whether heat lowers a clock, where nobody read the driver's reasons: the SM clock beside the temperature, under full load.

A clock that falls as the card warms is what heat does, and what a power cap does too: a warm chip leaks more, and gets less for the same
watts. So it speaks for heat only near the card's own limit and below the power limit. NVML's reasons decide wherever they were read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from gpudoctor.facts.gpu import Gpu, GpuSample
from gpudoctor.knowledge.board_heat import operating_limit
from gpudoctor.knowledge.trend import rank_correlation

FULL_LOAD = 95.0  # per cent of the time with a kernel running: below it the clock may fall for want of work (as gpu_use.BUSY)
FEWEST = 5  # points: of four, one order in 24 falls all the way by chance; of five one in 120
RANKS = -0.8  # Spearman's: of five points one order in 15 does as well by chance; the two bounds below are there for that (our choice)
FALL = 0.10  # of the clock: a warm-up under a power cap costs some hundredths (our choice)
WARMER = 5.0  # °C: sensors count whole degrees, and fans let it swing by a few (our choice)
NEAR = 5.0  # °C below the card's own limit: the driver regulates around it, and sensors are read between its steps (our choice)
BELOW_CAP = 0.95  # of the enforced power limit: a capped GPU is held at it (our choice, as throttling.FULL)
ABOVE = 2.0  # °C: readings within it are of the same heat
LEAST_LIMIT = 50  # °C: below it a "limit" is a margin (`GPU Slowdown T.Limit Temp : -2 C`), not a temperature


class Course(NamedTuple):
    """The clock where the card is coolest and where it is hottest."""

    cool: float  # °C
    hot: float
    before: float  # MHz
    after: float
    at_limit: bool  # near the card's own limit, and below its power limit

    @property
    def fell(self) -> float:
        """Per cent."""
        return 100 * (1 - self.after / self.before)

    @property
    def text(self) -> str:
        """As a person reads it."""
        return f"{self.before:.0f} MHz at {self.cool:.0f} °C, {self.after:.0f} MHz at {self.hot:.0f} °C"


def course(samples: Sequence[GpuSample], known: Gpu) -> Course | None:
    """How the clock of one GPU falls as it warms; None where it doesn't, or too little is known."""
    loaded = [one for one in samples if one.reasons is None and one.temperature is not None and one.sm_clock and is_loaded(one)]
    points = by_degree([(one.temperature or 0.0, one.sm_clock or 0.0) for one in loaded])
    if len(points) < FEWEST or rank_correlation([heat for heat, _ in points], [clock for _, clock in points]) > RANKS:
        return None
    edge = max(1, len(points) // FEWEST)
    (cool, before), (hot, after) = (middle(points[:edge]), middle(points[-edge:]))
    if hot - cool < WARMER or after > (1 - FALL) * before or reasons_say_otherwise(samples, hot):
        return None
    hottest = [one for one in loaded if (one.temperature or 0.0) >= hot - ABOVE]
    return Course(cool, hot, before, after, is_near_limit(hottest, hot, known) and is_below_cap(hottest))


def is_loaded(sample: GpuSample) -> bool:
    """Whether a kernel ran all the time, or nobody read whether one did."""
    return sample.utilisation is None or sample.utilisation >= FULL_LOAD


def by_degree(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """(°C, MHz) in the order of the temperature, each degree once, so that hours at the limit weigh no more than the way there.

    >>> by_degree([(70, 1980), (90, 1200), (90, 1230), (90, 1260), (80, 1700), (75, 1900), (85, 1500)])[-2:]
    [(85, 1500), (90, 1230)]
    """
    degrees: dict[float, list[float]] = defaultdict(list)
    for heat, clock in points:
        degrees[round(heat)].append(clock)
    folded = [(heat, median(clocks)) for heat, clocks in sorted(degrees.items())]
    return folded if len(folded) >= FEWEST else sorted(points, key=lambda point: point[0])


def middle(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The median of the temperatures and of the clocks."""
    return median(heat for heat, _ in points), median(clock for _, clock in points)


def reasons_say_otherwise(samples: Sequence[GpuSample], hot: float) -> bool:
    """Whether the driver's reasons were read while the card was as hot under load, and none of them is heat."""
    told = [one.reasons for one in samples if one.reasons is not None and (one.temperature or 0.0) >= hot - ABOVE and is_loaded(one)]
    return bool(told) and not any("thermal" in reason or reason == "hw_slowdown" for reasons in told for reason in reasons)


def is_near_limit(hottest: Sequence[GpuSample], hot: float, known: Gpu) -> bool:
    """Whether hardly anything is left to the limit, by the margin (T.Limit) where it was read."""
    margins = [one.margin for one in hottest if one.margin is not None]
    if margins:
        return min(margins) <= NEAR
    limit = heat_limit(hottest, known)
    return limit is not None and limit - hot <= NEAR


def is_below_cap(hottest: Sequence[GpuSample]) -> bool:
    """Whether the draw is known to be below the power limit, and a kernel to have run all the time."""
    shares = [one.power / one.power_limit for one in hottest if one.power is not None and one.power_limit]
    return bool(shares) and median(shares) < BELOW_CAP and all(one.utilisation is not None for one in hottest)


def heat_limit(samples: Sequence[GpuSample], known: Gpu) -> float | None:
    """The temperature at which the driver begins to lower the clocks: the card's own word, else its product's, else the slowdown."""
    product = known.product or next((one.product for one in samples if one.product), "")
    operating = own_limit(samples, known, "temperature_max_operating")
    return operating or operating_limit(product) or own_limit(samples, known, "temperature_slowdown")


def own_limit(samples: Sequence[GpuSample], known: Gpu, field: str) -> float | None:
    """A limit as the card says it to nvidia-smi or to DCGM; None for one that is told as a margin."""
    told: list[float | None] = [getattr(known, field), *(getattr(one, field) for one in samples)]
    return next((limit for limit in told if limit is not None and limit >= LEAST_LIMIT), None)


def is_at_slowdown(samples: Sequence[GpuSample], known: Gpu) -> bool:
    """Whether a card is as hot as it says itself that its hardware slows it down, or shuts it down, at. T.Limit counts down."""
    heat = max((one.temperature for one in samples if one.temperature is not None), default=None)
    limits = [limit for field in ("temperature_slowdown", "temperature_shutdown") if (limit := own_limit(samples, known, field))]
    margin = min((one.margin for one in samples if one.margin is not None), default=None)
    by_margin = margin is not None and known.margin_slowdown is not None and margin <= known.margin_slowdown
    return by_margin or (heat is not None and any(heat >= limit for limit in limits))


def cost_in_words(clock: float | None, reference: float | None) -> str:
    """What a lower clock costs. Work that waits for arithmetic loses as much as the clock does, since the SMs do a fixed number of
    operations a cycle; work that waits for memory loses less (https://docs.nvidia.com/deeplearning/performance/dl-performance-gpu-background/).

    >>> cost_in_words(1584.0, 1980.0), cost_in_words(1980.0, 1980.0), cost_in_words(1200.0, None), cost_in_words(None, 1980.0)
    ('1584 of 1980 MHz (-20 %), compute-bound work about -20 %', '1980 MHz', '1200 MHz', '')
    """
    if clock is None:
        return ""
    if not reference or clock >= reference:
        return f"{clock:.0f} MHz"
    lost = f"-{100 * (1 - clock / reference):.0f} %"
    return f"{clock:.0f} of {reference:.0f} MHz ({lost}), compute-bound work about {lost}"
