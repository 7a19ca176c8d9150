"""What series say over their time → a Series for each: of an answer of Prometheus, or of the page that an exporter serves.

{"metric":{"__name__":"training_last_step_timestamp_seconds","job":"train","pod":"llm-0"},"values":[[1772366400,"1772362400"],…]}
training_last_step_timestamp_seconds{run="llm"} 1.7723624e+09
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.metrics import Series
from gpudoctor.knowledge import job_metrics
from gpudoctor.knowledge.trend import QUARTERS, change, counter_rise, steady_rise
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.gpu_errors import names
from gpudoctor.tools.parser import LINE, ParseError
from gpudoctor.tools.prometheus import range as of_range
from gpudoctor.tools.prometheus.metrics_page import LABEL

# training_loss{run="llm"} 2.31  |  training_loss NaN 1772366400000
ROW = regex(r"\s{0,8}([a-zA-Z_:][\w:]{0,199})(?:\{(.{0,3000})\})? +([-+]?(?:[0-9.eE+-]{1,32}|Inf|NaN))(?: +(\d{10,16}))?\s*\Z")
MOST = 20_000  # series of a page
EPOCH = 1e9  # s: a number above it is a moment; above a thousand times that one in milliseconds
# What tells series of one metric apart, beside the names of what they are of.
TELLING = ("reason", "error", "cause", "rank", "run", "run_id", "model", "model_name", "engine", "quantile", "split")
FEWEST = 2 * QUARTERS

Points = Sequence[tuple[float, float]]  # moment (0 = not known) and value, in order


def series(output: Output, about: Subject) -> Facts:
    """The series of an answer or a page. Raises `ParseError` for a text that is neither."""
    rows = page_rows(output) if not output.text.lstrip().startswith("{") else answer_rows(output)
    found = [made for name, labels, points, where in rows if (made := of_points(name, labels, points, output.time, about, where))]
    if not found and output.command.argv[:1] != ("promql",):
        raise ParseError(f"{output.origin_name()}: no series: {output.text[:120]!r}")
    return {"series": [*found]}


def answer_rows(output: Output) -> Iterator[tuple[str, Mapping[str, str], Points, Origin]]:
    """The series of an answer of Prometheus."""
    for one in of_range.all_series(output):
        name, points = one.metric.get("__name__", ""), sorted(of_range.all_points(one), key=lambda point: point[0])
        if points:
            said = f"{name}{{{', '.join(f'{key}={text}' for key, text in one.metric.items() if key != '__name__')}}} {points[-1][1]:.12g}"
            yield name, one.metric, points, Origin(output.origin_name(), 0, said[:1000])


def page_rows(output: Output) -> Iterator[tuple[str, Mapping[str, str], Points, Origin]]:
    """The series of a page, of which the time is that of the reading where it names none."""
    for number, line in enumerate(output.text.split("\n")[:MOST], 1):
        if row := page_row(line):
            name, labels, value, moment = row
            yield name, labels, [(moment or output.time or 0.0, value)], Origin(output.origin_name(), number, line.strip()[:1000])


def page_row(line: str) -> tuple[str, dict[str, str], float, float] | None:
    """Metric, labels, value and moment (0 = not said) of a line.

    >>> page_row('training_loss{run="a"} 2.5'), page_row("a training: 2.5")
    (('training_loss', {'run': 'a'}, 2.5, 0.0), None)
    """
    if not (match := ROW.match(line[:LINE])) or line.lstrip().startswith("#"):
        return None
    try:
        value = float(match[3])
    except ValueError:
        return None
    return match[1], dict(LABEL.findall(match[2] or "")), value, int(match[4]) / 1000 if match[4] else 0.0


def of_points(name: str, labels: Mapping[str, str], points: Points, read_at: float, about: Subject, where: Origin) -> Series | None:
    """The record of one series, None where it has no point."""
    if not points:
        return None
    pod = labels.get("exported_pod") or labels.get("pod") or about.pod
    end = points[-1][0]
    return Series(
        **names(of_range.key(dict(labels), about)),
        namespace=(labels.get("exported_namespace") or labels.get("namespace") or about.namespace) if pod else "",
        pod=pod[:253],
        job=(labels.get("exported_job") or labels.get("job") or labels.get("job_name") or "")[:200],
        service=labels.get("service", "")[:200],
        metric=name[:200],
        about=job_metrics.about(name),
        unit=job_metrics.unit(name),
        label=", ".join(f"{key} {labels[key]}" for key in TELLING if labels.get(key))[:200],
        age=max(0.0, read_at - end) if read_at and end else None,
        time=end or None,
        origin=where,
        **course(points, counts=job_metrics.unit(name) == "total"),
    )


def course(points: Points, *, counts: bool = False) -> dict[str, Any]:
    """What the points say, as fields.

    >>> [course([(0.0, 5.0), (60.0, 7.0), (120.0, 1.0)], counts=True)[name] for name in ("growth", "resets", "moves", "every")]
    [3.0, 1, 2, 60.0]
    """
    finite = [(at, value) for at, value in points if math.isfinite(value)]
    values = [value for _, value in finite]
    made: dict[str, Any] = {"points": len(points), "seconds": points[-1][0] - points[0][0]}
    made["not_finite"] = next((number for number, (_, value) in enumerate(reversed(points)) if math.isfinite(value)), len(points))
    made["gap"] = max((later - earlier for (earlier, _), (later, _) in pairwise(points)), default=None)
    if not values:
        return made
    moved = [at for (_, before), (at, value) in pairwise(finite) if value != before]
    steps = [later - earlier for earlier, later in pairwise(values)]
    made |= {"first": values[0], "last": values[-1], "lowest": min(values), "highest": max(values), "mean": fmean(values)}
    made |= {"moves": len(moved), "still": points[-1][0] - moved[-1] if moved else None}
    made["every"] = median(later - earlier for earlier, later in pairwise([finite[0][0], *moved])) if moved else None
    if counts and len(values) > 1:
        made["growth"] = counter_rise(values)
        made["resets"] = sum(step < 0 for step in steps)
    if len(values) >= FEWEST:
        cut = len(values) * (QUARTERS - 1) // QUARTERS
        made |= {"earlier": median(values[:cut]), "recent": median(values[cut:])}
        made |= {"rise": steady_rise(values), "fall": steady_rise([-value for value in values])}
        made["change"] = change(values)[0] if min(values) > 0 else None
    moment = values[-1] / 1000 if values[-1] > EPOCH * 1000 else values[-1]
    if moment > EPOCH and points[-1][0] >= moment:
        made["past"] = points[-1][0] - moment
    return made


def score_page(lines: Sequence[str]) -> int:
    """The page of a training job's exporter: one of its metrics at least."""
    return 70 if any((row := page_row(line)) and job_metrics.about(row[0]) for line in lines) else 0


def score_answer(whole: str) -> int:
    """An answer of Prometheus with such a metric."""
    if whole.lstrip()[:1] != "{" or '"resultType"' not in whole[:400]:
        return 0
    return 88 if any(job_metrics.about(name) for name in NAMED.findall(whole[:100_000])) else 0


NAMED = regex(r'"__name__": ?"([\w:]{1,200})"')
