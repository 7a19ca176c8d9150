"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.prometheus import answers, metric_names, series, series_counts, up
from gpudoctor.tools.prometheus.exposition import NAME
from gpudoctor.tools.prometheus.metrics_page import METRIC
from gpudoctor.tools.prometheus.queries import score
from gpudoctor.tools.prometheus.rules import COUNTER, KEY, ROW

PANEL = regex(r'"expr": ?"[^"]{0,2000}DCGM_')


def of_range(whole: str) -> int:
    """An answer of Prometheus with DCGM's metrics in it."""
    return 90 if whole.lstrip()[:1] == "{" and '"resultType"' in whole[:400] and "DCGM_FI_" in whole[:100_000] else 0


def of_queries(whole: str, argv: Sequence[str] = ()) -> int:
    """Questions about DCGM's metrics with their answers."""
    return 81 if score(whole[:400_000], argv) else 0


def of_counts(whole: str, argv: Sequence[str] = ()) -> int:
    """How many series DCGM's metrics have."""
    return series_counts.score(whole[:400_000], argv)


def of_up(whole: str, argv: Sequence[str] = ()) -> int:
    """Rows of the metric `up`."""
    return up.score(whole[:400_000], argv)


def of_metrics(lines: list[str]) -> int:
    """The text that an exporter serves."""
    return 80 if any(METRIC.match(line) for line in lines) else 0


def of_targets(whole: str) -> int:
    """Prometheus' answer to /api/v1/targets, or targets picked from it."""
    head = whole.lstrip()[:4000]
    return 93 if head[:1] in ("{", "[") and ('"activeTargets"' in head or ('"scrapeUrl"' in head and '"health"' in head)) else 0


def of_names(whole: str) -> int:
    """Prometheus' answer to an instant query, or the values of a label, with metrics of DCGM."""
    head = whole.lstrip()[:400]
    answer = head[:1] == "{" and '"status"' in head and '"data"' in head and '"matrix"' not in head
    return 60 if answer and '"activeTargets"' not in head and ("DCGM_" in whole[:100_000] or "dcgm_" in whole[:100_000]) else 0


def of_rules(lines: list[str], whole: str) -> int:
    """Alerting rules or a dashboard over metrics of DCGM: an expression on a line of its own, or below its key."""
    if "DCGM_" not in whole[:1_000_000]:
        return 0
    if any(ROW.match(line) for line in lines):
        return 84
    keys = [match for line in lines if (match := KEY.match(line))]
    if "triggers:" in whole and any(match[1] == "query" and NAME.search(match[2]) for match in keys):
        return 23  # KEDA's, beside the object
    if not any(match[1] == "expr" for match in keys):
        return 84 if whole.lstrip()[:1] in ("{", "[") and PANEL.search(whole[:1_000_000]) else 0
    return 84 if any(match[1] == "expr" and (NAME.search(match[2]) or not match[2].strip(" |>-+")) for match in keys) else 0


def of_counters(lines: list[str]) -> int:
    """The exporter's list of counters."""
    return 85 if sum(COUNTER.match(line) is not None for line in lines) >= 3 else 0


FORMS: tuple[Form, ...] = (
    Form("prometheus.targets", lambda text: of_targets(text.whole)),
    Form("prometheus.rules", lambda text: of_rules(text.lines, text.whole), beside=True),
    Form("prometheus.names", lambda text: of_names(text.whole), beside=True),
    Form("prometheus.listing", lambda text: metric_names.score(text.lines, text.argv), metric_names.names),
    Form("dcgm.counters", lambda text: of_counters(text.lines), embedded=True, mixed=True),
    Form("prometheus.range", lambda text: of_range(text.whole), "prometheus.answer"),
    Form("prometheus.queries", lambda text: of_queries(text.whole, text.argv), embedded=True, beside=True, among_lines=True),
    Form("prometheus.counts", lambda text: of_counts(text.whole, text.argv), beside=True, among_lines=True),
    Form("prometheus.up", lambda text: of_up(text.whole, text.argv)),
    Form("prometheus.text", lambda text: of_metrics(text.lines), embedded=True),
    Form("prometheus.series", lambda text: series.score_answer(text.whole) or series.score_page(text.lines), embedded=True, beside=True),
    form("prometheus.answers", answers.READERS),
)
