"""How measurements over time are recognised: nvidia-smi dmon, Prometheus' JSON, and what dcgm-exporter serves."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.parsers import gpustat, metric_counts, metric_said, prometheus_up, tracker_gpus
from gpudoctor.parsers.nvidia_dmon import HEAD
from gpudoctor.parsers.prometheus_queries import score
from gpudoctor.parsers.prometheus_text import METRIC


def of_dmon(lines: list[str]) -> int:
    """nvidia-smi dmon: the header that names its columns."""
    return 86 if any(HEAD.match(line.lstrip()) for line in lines) else 0


def of_range(whole: str) -> int:
    """An answer of Prometheus with DCGM's metrics in it."""
    return 90 if whole.lstrip()[:1] == "{" and '"resultType"' in whole[:400] and "DCGM_FI_" in whole[:100_000] else 0


def of_queries(whole: str, argv: Sequence[str] = ()) -> int:
    """Questions about DCGM's metrics with their answers."""
    return 81 if score(whole[:400_000], argv) else 0


def of_counts(whole: str, argv: Sequence[str] = ()) -> int:
    """How many series DCGM's metrics have."""
    return metric_counts.score(whole[:400_000], argv)


def of_said(lines: Sequence[str]) -> int:
    """Somebody misses a metric."""
    return metric_said.score(lines)


def of_up(whole: str, argv: Sequence[str] = ()) -> int:
    """Rows of the metric `up`."""
    return prometheus_up.score(whole[:400_000], argv)


def of_metrics(lines: list[str]) -> int:
    """The text that an exporter serves."""
    return 80 if any(METRIC.match(line) for line in lines) else 0


def of_gpustat(lines: Sequence[str]) -> int:
    """gpustat: its rows."""
    return gpustat.score(lines)


def of_tracker(lines: Sequence[str]) -> int:
    """An experiment tracker's rows of system metrics."""
    return tracker_gpus.score(lines)
