"""A line for each cause, for pipes: verdict, place, cause, confidence, first command. What a cause explains has no line."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.nodesets import fold
from gpudoctor.report import Candidate, Finding, Report
from gpudoctor.reporters.text import command, safe
from gpudoctor.reporters.words import chosen, headline, next_step_text, not_shown_lines, parts_of

NONE = "-"  # stands where there is nothing, so that each column keeps its number


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The lines. No column but the last has a blank in it; a report without a cause has one line that says why."""
    rows = [[*(safe(word).replace(" ", "_") or NONE for word in words), safe(last) or NONE] for *words, last in lines(report)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join("  ".join([*map(str.ljust, row[:-1], widths), row[-1]]) + "\n" for row in rows)


def lines(report: Report) -> Iterator[list[str]]:
    """The columns of each line."""
    parts = parts_of(report)
    found = [(report.verdict, one) for one in [*(root for root, _ in parts.causes), *parts.others]] + [("note", one) for one in parts.notes]
    for verdict, one in found:
        first = next((shown for _, fix in chosen(one) if (shown := command(fix.run))), "")
        yield [verdict, where(one), one.cause, one.confidence, first]
    for candidate in report.candidates:
        yield [report.verdict, where(candidate), candidate.cause, "possible", next(iter(candidate.settle_with), "")]
    if not found and not report.candidates:
        asks = [ask for _, one in not_shown_lines(report) for ask in one.settle_with] if report.verdict == "inconclusive" else []
        yield [report.verdict, report.asked, NONE, NONE, next_step_text(report) or ": ".join([headline(parts), *asks[:1]])]


def where(one: Finding | Candidate) -> str:
    """All subjects: nodes as a node set, the rest by name."""
    also = one.also if isinstance(one, Finding) else []
    name = one.subject.name or one.subject.kind
    return fold([name, *also]) if one.subject.kind == "node" and also else ",".join([name, *also])
