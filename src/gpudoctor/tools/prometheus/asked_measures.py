"""Answers of Prometheus to expressions that say with labels what they measure → measures.

{"metric":{"quantity":"latency","label":"ttft p99","namespace":"ml","pod":"llm-0"},"value":[1772366400,"4.2"]}
"""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import Measure
from gpudoctor.probes.base import Output
from gpudoctor.tools.prometheus import range as of_range


def measures(output: Output, about: Subject) -> Facts:
    """A Measure for each row that names its quantity; a value that is no number (0 of 0 requests) is none."""
    found = []
    for series in of_range.all_series(output):
        quantity, points = series.metric.get("quantity", ""), list(of_range.points(series))
        if not quantity or not points:
            continue
        moment, value = points[-1]
        label, pod = series.metric.get("label", ""), series.metric.get("pod", "") or about.pod
        whose = " ".join(f"{key}={series.metric[key]}" for key in ("job", "namespace", "pod") if key in series.metric)
        found.append(
            Measure(
                quantity=quantity[:60],
                value=value,
                label=label[:120],
                namespace=(series.metric.get("namespace", "") or about.namespace) if pod else "",
                pod=pod[:253],
                time=moment,
                origin=Origin(output.origin_name(), 0, f"{label or quantity} {whose} = {value:.6g}"[:1000]),
            )
        )
    return {"measures": [*found]}
