"""Quantiles of the histograms on the page of a server of models, since it began, with the arithmetic of Prometheus' histogram_quantile.

vllm:time_to_first_token_seconds_bucket{le="0.5",model_name="m"} 812.0
Sources: https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile (classic histograms),
https://docs.vllm.ai/en/latest/design/metrics.html, https://docs.sglang.ai/references/production_metrics.html,
https://huggingface.co/docs/text-generation-inference/reference/metrics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import Line, Reading

KINDS = {
    "vllm:time_to_first_token_seconds": "ttft",
    "sglang:time_to_first_token_seconds": "ttft",
    "vllm:e2e_request_latency_seconds": "latency",
    "sglang:e2e_request_latency_seconds": "latency",
    "tgi_request_duration": "latency",
}
BUCKET = regex(
    r'^([\w:]{1,80})_bucket\{(?:[^}]{0,400},)?le="(\+Inf|\d{1,12}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)"[^}]{0,400}\} '
    r"(\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)\s*$"
)
PERCENTS = (95, 99)
FEWEST = 100  # requests: below it the 99th percentile is the slowest one


def quantiles(lines: Sequence[Line]) -> Iterator[Reading]:
    """The 95th and 99th percentile of each time, over all series of a metric."""
    found: dict[str, dict[float, float]] = {}
    where: dict[str, Line] = {}
    for number, text in lines:
        if "_bucket{" in text and (match := BUCKET.match(text)) and (kind := KINDS.get(match[1])):
            bound = math.inf if match[2] == "+Inf" else float(match[2])
            buckets = found.setdefault(kind, {})
            buckets[bound] = buckets.get(bound, 0.0) + float(match[3])
            where[kind] = (number, text)
    for kind, buckets in found.items():
        if buckets.get(math.inf, 0.0) < FEWEST:
            continue
        for percent in PERCENTS:
            if (value := quantile(percent / 100, buckets)) is not None:
                yield Reading("latency", value, where[kind], label=f"{kind} p{percent}")


def quantile(share: float, buckets: Mapping[float, float]) -> float | None:
    """The value below which a share of the observations lies: between the bounds of its bucket in proportion; the highest finite bound
    where it lies above all of them; None without a total or a finite bound. `buckets`: upper bound → observations up to it.

    >>> quantile(0.5, {1.0: 10.0, 2.0: 20.0, math.inf: 20.0}), quantile(0.75, {1.0: 10.0, 2.0: 20.0, math.inf: 20.0})
    (1.0, 1.5)
    >>> quantile(0.99, {1.0: 10.0, math.inf: 20.0}), quantile(0.99, {1.0: 10.0})
    (1.0, None)
    """
    bounds = sorted(buckets)
    if len(bounds) < 2 or bounds[-1] != math.inf or not buckets[math.inf]:
        return None
    rank, lower, before = share * buckets[math.inf], 0.0, 0.0
    for bound in bounds:
        if buckets[bound] >= rank:
            within = buckets[bound] - before
            return lower if bound == math.inf else lower + (bound - lower) * ((rank - before) / within if within > 0 else 1.0)
        lower, before = bound, buckets[bound]
    return bounds[-2]
