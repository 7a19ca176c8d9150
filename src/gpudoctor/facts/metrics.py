"""What the series of a metric says over a time: one fact, whoever has kept the points."""

from __future__ import annotations

from gpudoctor.facts.base import OfGpu


class Series(OfGpu, frozen=True, kw_only=True):
    """One metric of one thing: a GPU, a pod, a job, a service. Times are seconds; a value that is no finite number counts in
    `points` and `not_finite` alone.
    """

    namespace: str = ""
    pod: str = ""
    job: str = ""  # by its labels
    service: str = ""
    metric: str
    about: str = ""  # what is known to be measured: last_step, step, loss …; "" = nothing is known of it
    unit: str = ""  # by the ending of its name: seconds, bytes, ratio; total = it counts
    label: str = ""  # what else its labels say: the reason of a failure, a rank
    points: int = 0
    seconds: float = 0.0  # between the first and the last point
    first: float | None = None
    last: float | None = None
    lowest: float | None = None
    mean: float | None = None
    highest: float | None = None
    growth: float | None = None  # of what counts: the sum of all that was added, over resets too
    resets: int = 0
    earlier: float | None = None  # the median of all but the last quarter; None with fewer than eight points
    recent: float | None = None  # the median of the last quarter
    rise: float | None = None  # where each quarter's median is above that of the one before, else 0
    fall: float | None = None  # the same downwards
    change: float | None = None  # how many times larger they are since a lasting change, 1.0 without one; of positive values
    not_finite: int = 0  # points at its end that are NaN or infinite
    moves: int = 0
    still: float | None = None  # since it moved last; None where it never did
    every: float | None = None  # between two moves, the median
    gap: float | None = None  # the longest time between two points
    age: float | None = None  # from its last point to the reading
    past: float | None = None  # where the value is a moment: how long before the last point that was
