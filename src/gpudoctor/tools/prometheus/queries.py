"""Questions to Prometheus about DCGM's metrics with their answers, as people keep them: the metric may be named in the question only.

avg_over_time(DCGM_FI_DEV_GPU_UTIL{namespace="ml"}[24h])
{gpu="3", Hostname="gpu-02", pod="train-0"} => 96.4 @[1772366400]            (promtool query instant)

[{"query": "avg(DCGM_FI_PROF_SM_ACTIVE) by (gpu)", "result": [{"metric": {"gpu": "3"}, "value": [1772366400, "0.014"]}]}]
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.gpu_errors import Key
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus.range import holder, key, put_value, sample
from gpudoctor.tools.prometheus.rows import TAKEN, order_of, row_of, unescape_query

METRIC = regex(r"\bDCGM_FI_\w{3,60}")
# DCGM_FI_DEV_GPU_UTIL{gpu="3",…} => 96.4 @[1772366400.1]  |  {gpu="3"} 96.4  |  {gpu="3"} => 96.4 @[…]
ANSWER = regex(
    r"^\s*(DCGM_FI_\w{3,60})?\{([^{}]{1,4000})\}(\s+|\s*=>\s*)"
    r"(-?\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(?: @\[(\d{9,11})(?:\.\d{1,9})?\])?\s*$"
)
# 2026-04-14T00:00Z 0  |  2026-04-14 09:00:00,41.7  |  31740                (a console's or a dashboard's rows, of one series)
ALONE = regex(r"\s*(?:(\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\s,|]{0,16})[\s,|]{1,8})?(-?\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)\s*$")
LABEL = regex(r'(\w{1,100})="([^"]{0,500})"')
ALIKE = 60.0  # s between questions that belong together
QUESTIONS, MOST = ("q", "query", "expr", "promql"), 20_000
# Shares, differences and rates of a metric are other quantities.
CHANGED = regex(r"\b(?:rate|irate|increase|delta|deriv|count\w*|stddev\w*|absent\w*|changes|quantile)\s*\(|/|\*|[<>]=?|==")
# avg_over_time(…[24h])
SPAN = regex(r"\b(?:avg|max)_over_time\s*\(.{0,2000}\[(\d{1,6})([smhdw])(?::\w{0,8})?\]")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
Point = tuple[str, dict[str, str], float, float, float]


def score(whole: str, argv: Sequence[str] = ()) -> bool:
    """Whether a text has an answer without its metric's name, or one of promtool; the question may stand in the command that is shown."""
    text = text_with_command(whole, argv)
    return "DCGM_FI_" in text and any(True for _ in points(text))


def text_with_command(whole: str, argv: Sequence[str]) -> str:
    """The text, with the command before it where the command names a metric of DCGM."""
    command = " ".join(argv)[:5000]
    return f"{unescape_query(command)}\n{whole}" if "DCGM_FI_" in command else whole


def queries(output: Output, about: Subject) -> Facts:
    """A sample for each GPU, of all that was asked at about the same time."""
    found: dict[tuple[Key, int], dict[str, Any]] = {}
    moments: dict[tuple[Key, int], float] = {}
    asked: dict[tuple[Key, str], list[float]] = {}  # when the same was asked of the same GPU, more than a moment apart
    for name, labels, value, moment, span in points(text_with_command(plain_text(output), output.command.argv)):
        who = key(labels, about)
        owner = holder(labels)
        if not any(who[1:4]) and not who[0] and not owner:
            continue
        # Of a pod alone its GPU is known by the pod's name.
        who = (*who[:4], "" if any(who[1:4]) or who[0] else owner)
        before = asked.setdefault((who, name), [])
        if moment and not (before and abs(moment - before[-1]) < ALIKE):
            before.append(moment)
        at = (who, max(0, len(before) - 1))
        put_value(read := found.setdefault(at, {}), name, value, owner)
        if read and span:
            read["span"] = max(span, read.get("span", 0.0))
        moments[at] = max(moments.get(at, 0.0), moment)
    if not found and output.text.strip():
        raise ParseError(f"{output.origin_name()}: no answers about DCGM's metrics: {output.text.strip()[:80]!r}")
    return {"gpu_samples": [sample_of(at[0], moments[at], read, output.origin_name()) for at, read in found.items() if read]}


def sample_of(who: Key, moment: float, read: dict[str, Any], source: str) -> GpuSample:
    """A sample under the name of its GPU, by its index where it has no other, else that of the pod that has it."""
    made = sample((*who[:4], ""), moment, read, source)
    return replace(made, gpu=made.gpu or who[4] or (f"GPU {made.index}" if made.index is not None else ""))


def points(whole: str) -> Iterator[Point]:
    """Metric, labels, value, time, the seconds over which it is a mean or the highest."""
    if whole.lstrip()[:1] == "[":
        yield from json_points(whole)
        return
    asked, span = "", 0.0
    order: list[str] = []
    chosen: dict[str, str] = {}  # by the question's own selector
    for line in whole.split("\n")[:MOST]:
        match = ANSWER.match(line[:5000]) if "}" in line else None
        if match and (name := match[1] or of_label(match[2]) or asked) and (match[1] is None or "=>" in match[3]):
            yield name, dict(LABEL.findall(match[2])), float(match[4]), float(match[5] or 0), span
        elif not match and (metric := METRIC.search(line)):
            bare = FILTER.split(line.replace(metric[0], "", 1))[0]
            asked = "" if CHANGED.search(BRACED.sub("", bare)) else metric[0]
            span = over_seconds(line)
            order = order_of(line) if TAKEN.search(line) else []
            chosen = dict(LABEL.findall(line))
        elif asked and chosen and (alone := ALONE.match(line[:200])):
            yield asked, chosen, float(alone[2]), moment_of(alone[1]), span
        elif asked and order and (row := row_of(line[:5000], order)):
            yield asked, row[0], row[1], 0.0, span
        elif asked and not order and len(line) < 1000:
            order = order_of(line)


def moment_of(text: str | None) -> float:
    """Seconds of a time in UTC where it names no zone, 0 without one.

    >>> moment_of("1970-01-02T00:00Z"), moment_of("1970-01-01 00:01:00"), moment_of("1970-01-01 25:00"), moment_of(None)
    (86400.0, 60.0, 0.0, 0.0)
    """
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return 0.0
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def of_label(labels: str) -> str:
    """The metric's name where it stands among its labels."""
    return next((text for name, text in LABEL.findall(labels) if name == "__name__"), "")


FILTER = regex(r"\| ?(?:jq|cut|column|sort|head|tail|tee|python3?)\b")  # what comes behind it is done with the answer
# What says nothing of what is done with a metric: texts, labels, spans, addresses.
BRACED = regex(r'https?://[^\s?]{1,500}\??|"[^"]{0,500}"|\{[^{}]{0,2000}\}|\[\w{1,10}\]')


def over_seconds(asked: str) -> float:
    """The seconds of the range in `…_over_time`.

    >>> over_seconds("avg_over_time(DCGM_FI_DEV_GPU_UTIL[6h])"), over_seconds("DCGM_FI_DEV_GPU_UTIL")
    (21600.0, 0.0)
    """
    match = SPAN.search(asked)
    return float(int(match[1]) * SECONDS[match[2]]) if match else 0.0


def json_points(whole: str) -> Iterator[Point]:
    """The points of a list of queries in JSON."""
    try:
        items = json.loads(whole)
    except (ValueError, RecursionError):
        return
    for item in items[:MOST] if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        asked = next((item[name] for name in QUESTIONS if isinstance(item.get(name), str)), "")
        metric = METRIC.search(asked)
        data = item.get("result", item.get("data"))
        rows = data.get("result") if isinstance(data, dict) else data
        if not metric or CHANGED.search(BRACED.sub("", asked)) or not isinstance(rows, list):
            continue
        for row in rows[:MOST]:
            labels, value = (row.get("metric"), row.get("value")) if isinstance(row, dict) else (None, None)
            if not isinstance(labels, dict) or not isinstance(value, list) or len(value) != 2:
                continue
            try:
                moment, number = float(value[0]), float(value[1])
            except (TypeError, ValueError, OverflowError):
                continue
            if math.isfinite(moment) and math.isfinite(number) and abs(number) < 2**63:
                yield metric[0], {str(name): str(text) for name, text in labels.items()}, number, moment, over_seconds(asked)
