"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.notes import gpu_means, gpu_statements, kernel_outcomes, missing_metrics, rank_counters
from gpudoctor.notes.comparison_tables import slow_rows
from gpudoctor.notes.measures import numbered_lines, readings
from gpudoctor.tools.form import Form


def of_missing_metrics(lines: Sequence[str]) -> int:
    """Score a text in which somebody misses a metric."""
    return missing_metrics.score(lines)


def of_measures(lines: Sequence[str], argv: Sequence[str] = ()) -> int:
    """Score a text with a number that a reader of measures knows, or a table in which a row stands out."""
    known = numbered_lines("\n".join(lines), argv)
    return 21 if readings(known) or any(True for _ in slow_rows(known)) else 0


def of_gpu_statements(lines: Sequence[str], whole: str) -> int:
    """Score a note that states what GPUs do."""
    return gpu_statements.score(lines, whole)


FORMS: tuple[Form, ...] = (
    Form("kernel.outcomes", lambda text: kernel_outcomes.score(text.lines, f"{' '.join(text.argv)}\n{text.whole}"), beside=True),
    Form("gpu.means", lambda text: gpu_means.score(text.lines), embedded=True, beside=True, among_lines=True),
    Form("prometheus.said", lambda text: of_missing_metrics(text.lines), embedded=True, beside=True),
    Form("job.counters", lambda text: rank_counters.score(text.lines), embedded=True, beside=True, among_lines=True),
    Form("text.measures", lambda text: of_measures(text.lines, text.argv), embedded=True, beside=True, among_lines=True),
    Form("gpu.stated", lambda text: of_gpu_statements(text.lines, text.whole), embedded=True, beside=True),
)
