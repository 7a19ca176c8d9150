"""The report on a terminal: the verdict, its root causes and their fixes on the first screen, the rest after it or with `-v`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gpudoctor.report import Candidate, Evidence, Finding, Fix, Report, StepResult, Table, Unknown
from gpudoctor.reporters.decision_path import path
from gpudoctor.reporters.hardware import hardware_rows as hardware_rows
from gpudoctor.reporters.lanes import lanes
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.plot import plot
from gpudoctor.reporters.symptoms import by_root
from gpudoctor.reporters.text import count, safe, shorten
from gpudoctor.reporters.words import (
    SHORT,
    by_reason,
    coverage,
    distinct_evidence,
    follows,
    further_subjects,
    headline,
    names,
    next_step_text,
    not_shown_lines,
    question,
    refuted_lines,
    shown_lines,
    to_do,
    troubles,
    unanswered_text,
)

RULED_OUT = 3  # lines
SHORT_FIXES = 2  # the first one often only reads, the second one changes something
VERDICT_STYLES = {"healthy": "bold green", "problem": "bold red", "inconclusive": "bold yellow"}
SEVERITY_STYLES = {"critical": "bold red", "warning": "bold yellow", "info": "bold"}
OUTCOME_STYLES = {"found": "red", "clear": "green", "skipped": "dim", "unknown": "yellow"}


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The report as text of `width` columns, with ANSI colours only when `color` is true. `verbose` leaves nothing out."""
    page = Page(width, color)
    roots, unexplained = by_root(report.findings)
    verdict(page, report, [root for root, _ in roots], verbose)
    for number, (root, symptoms) in enumerate(roots, 1):
        print_finding(page, root, number if len(roots) > 1 else 0, symptoms, verbose)
    if unexplained:
        page.gap()
        page.lines(("Also found", "bold"))
        symptom_lines(page, unexplained, verbose)
    for candidate in report.candidates:
        possible(page, candidate, verbose)
    if report.path is not msgspec.UNSET:
        path(page, report.path, verbose)
    for table in report.tables:
        print_table(page, table, verbose)
    print_series(page, report)
    if verbose:
        vendor(page, report)
    print_withheld(page, report, verbose)
    print_unknown(page, report.unknown, verbose, said=report.coverage.missing[0].why if next_step_text(report) else "")
    left_open(page, report, verbose)
    if verbose or (report.verdict == "inconclusive" and not next_step_text(report)):
        print_missed(page, report, verbose)
    if verbose or report.verdict == "healthy":
        print_coverage(page, report, verbose)
    page.gap()
    page.lines((coverage(report, verbose), ""), rows=0 if verbose else 3)
    return page.text()


def verdict(page: Page, report: Report, roots: Sequence[Finding], verbose: bool) -> None:
    """`PROBLEM  pod ml/train-0: The nodes that fit have a taint …`. A single root cause is not titled again below."""
    asked = question(report)
    page.lines(
        (report.verdict.upper(), VERDICT_STYLES[report.verdict]),
        (f"  {asked}: " if asked else "  ", ""),
        (headline(report, roots), "bold"),
        rows=0 if verbose else 2 + (len(roots) == 1) * 2,  # a single title stands nowhere else
    )
    if what := next_step_text(report):
        page.lines(("next  ", "dim"), (what, ""), indent=2)


def print_finding(page: Page, root: Finding, number: int, symptoms: Sequence[Finding], verbose: bool) -> None:
    """One root cause: what, where, how sure, what it means, the evidence, who acts, the fix, and what it explains."""
    page.gap()
    rows = 0 if verbose else 2
    if number:
        page.lines((f"{number}. {root.title}", "bold"), rows=rows)
    what = (f"  {root.cause}, {root.confidence}, ", "")
    severity = (root.severity, SEVERITY_STYLES[root.severity])
    since = (f", {root.time}" if root.time else "", "")
    page.lines((root.subject.name or root.subject.kind, "bold"), what, severity, since, indent=2, rows=rows)
    if root.also:
        page.lines((f"also {further_subjects(root, verbose)}", ""), indent=2, rows=rows)
    if root.means:
        page.lines((root.means, ""), indent=2, rows=rows)
    evidence(page, root.evidence, verbose, indent=2, most=1 if number else 2)  # one cause alone has the room for a second line
    if root.who or root.act:
        page.lines(("who acts  ", "dim"), (" - ".join(word for word in (root.who, root.act) if word), ""), indent=2)
    steps = to_do(root)
    for label, fix in steps if verbose else steps[:SHORT_FIXES]:
        remedy(page, fix, verbose, label)
    if len(steps) > SHORT_FIXES and not verbose:
        page.lines((f"{count(len(steps) - SHORT_FIXES, 'more step')} with -v", "dim"), indent=2)
    if symptoms:
        page.lines(("explains", "dim"), indent=2)
        symptom_lines(page, symptoms, verbose)
    if verbose:
        for link in root.references:
            page.lines(("see ", "dim"), (link, ""), indent=2)


def evidence(page: Page, pieces: Sequence[Evidence], verbose: bool, *, indent: int, most: int = 1) -> None:
    """`source:line` and the line itself; without -v the first `most` that differ in both, each in a row and three rows at most."""
    if not verbose:
        pieces = distinct_evidence(pieces)[:most]
    for piece in pieces:
        line = f":{piece.line}" if piece.line else ""
        source = safe(piece.source)
        room = page.width - indent - len("evidence  ") - len(line)
        if len(source) > room and not verbose:
            source = source[: room - 1] + "…"  # the line number stays
        page.lines(("evidence  ", "dim"), (source + line, "dim"), indent=indent, rows=0 if verbose else 1)
        if piece.text:
            text = safe(piece.text)
            room = int((page.width - indent - 2) * 2.7)  # three rows less what wrapping at words costs
            page.lines((text if verbose else shorten(text, room), ""), indent=indent + 2, rows=0 if verbose else 3)


def remedy(page: Page, fix: Fix, verbose: bool, label: str) -> None:
    """A fix with its risk, or a look, its command or manifest ready to paste, and how to undo it."""
    page.lines((f"{label}  ", "dim" if fix.risk == "safe" else "yellow"), (fix.title, ""), indent=2, rows=0 if verbose else 2)
    page.command(fix.run, indent=4)
    page.verbatim(fix.manifest, indent=4)
    page.command(fix.undo, indent=4, label="undo    ", style="")
    if verbose:
        page.command(fix.verify, indent=4, label="verify  ", style="")


def symptom_lines(page: Page, symptoms: Sequence[Finding], verbose: bool) -> None:
    """One line a symptom; with -v its evidence too."""
    for symptom in symptoms if verbose else symptoms[:SHORT]:
        also = f" and {len(symptom.also)} more" if symptom.also else ""
        page.lines((f"{symptom.subject.name or symptom.subject.kind}{also}  ", ""), (symptom.title, ""), indent=4, rows=0 if verbose else 1)
        if verbose:
            evidence(page, symptom.evidence, verbose, indent=6)
    print_more(page, len(symptoms), verbose, indent=4)


def possible(page: Page, candidate: Candidate, verbose: bool) -> None:
    """What could be the cause, why it isn't certain, and what would settle it."""
    page.gap()
    page.lines(("possible  ", "yellow"), (candidate.cause, "bold"), (f"  {candidate.subject.name or candidate.subject.kind}", ""), rows=2)
    page.lines((candidate.why, ""), indent=2, rows=0 if verbose else 2)
    evidence(page, candidate.evidence, verbose, indent=2)
    print_deciding_commands(page, candidate.settle_with, verbose)


def print_deciding_commands(page: Page, commands: Sequence[str], verbose: bool, *, indent: int = 2) -> None:
    """Print the commands whose answer would decide."""
    for text in commands if verbose else commands[:2]:
        page.lines(("settle it with  ", "dim"), (text, "cyan"), indent=indent, rows=0 if verbose else 2)


def print_table(page: Page, table: Table, verbose: bool) -> None:
    """Print a runbook's table; without -v its first rows."""
    page.gap()
    page.lines((table.title, "bold"))
    page.table(table.columns, table.rows if verbose else table.rows[:SHORT], indent=2)
    print_more(page, len(table.rows), verbose, indent=2)


def print_series(page: Page, report: Report) -> None:
    """Print what was measured over time, one row a line."""
    if report.series:
        page.gap()
    for row, marked in plot(report.series, page.width):
        page.lines((row, "red" if marked else ""), rows=1)
    if report.lanes:
        page.gap()
    for row, marked in lanes(report.lanes, page.width):
        page.lines((row, "red" if marked else ""), rows=1)


def vendor(page: Page, report: Report) -> None:
    """What a vendor asks for about each GPU that is to be reset or replaced."""
    for one in report.hardware:
        page.gap()
        page.lines(("For the vendor  ", "bold"), (one.name, ""))
        page.table(["", ""], hardware_rows(one), indent=2)


def print_withheld(page: Page, report: Report, verbose: bool) -> None:
    """Print the commands that were not run because consent was not given."""
    for missing in report.withheld if verbose else report.withheld[:SHORT]:
        page.gap()
        page.lines(("needs consent  ", "yellow"), (missing.what, "cyan"), rows=0 if verbose else 2)
        page.lines((missing.why, ""), indent=2)


def print_unknown(page: Page, checks: Sequence[Unknown], verbose: bool, said: str = "") -> None:
    """The checks that have no answer, by the reason: one trouble often leaves hundreds of checks without one. One reason that is `said`
    already isn't repeated.
    """
    if not checks:
        return
    page.gap()
    page.lines((unanswered_text(checks), "bold"))
    reasons = by_reason(checks)
    direct = [reason for reason in reasons if verbose or not follows(reason[0])]
    if not verbose and [why for why, _ in direct] == [said]:
        return
    for why, own in direct if verbose else direct[:SHORT]:
        of = f"  ({names([one.check for one in own], verbose, 2)})"
        page.lines(
            (shorten(why, 2 * page.width - 4 - len(of)) if not verbose else why, ""), (of, "dim"), indent=2, rows=0 if verbose else 3
        )
        if verbose:
            print_deciding_commands(page, list(dict.fromkeys(text for one in own for text in one.settle_with)), verbose, indent=4)
    print_more(page, len(direct), verbose, indent=2)
    rest = sum(len(own) for why, own in reasons if follows(why))
    if rest and not verbose:
        page.lines((f"{count(rest, 'more check')} for want of what could not be read, with -v", "dim"), indent=2)


def left_open(page: Page, report: Report, verbose: bool) -> None:
    """What no finding explains, and, where nothing was found, the parts of files that nobody knows."""
    if report.verdict != "problem" or verbose:
        print_list(page, "not explained", troubles(report), verbose)
    if not report.findings or verbose:
        print_list(page, "not understood", [f"{one.path}  {part}" for one in report.inputs for part in one.unknown], verbose)


def print_list(page: Page, title: str, lines: Sequence[str], verbose: bool) -> None:
    """Print lines under a title, if there are any."""
    if lines:
        page.gap()
        page.lines((title, "bold"))
    for line in lines if verbose else lines[:SHORT]:
        page.lines((line, ""), indent=2, rows=0 if verbose else 2)
    print_more(page, len(lines), verbose, indent=2)


def print_missed(page: Page, report: Report, verbose: bool) -> None:
    """What a healthy subject shows and was not shown, with the command that shows it."""
    lines = not_shown_lines(report, every=verbose)
    if lines:
        page.gap()
        page.lines(("not shown", "bold"))
    for line, one in lines if verbose else lines[:SHORT]:
        page.lines((line, ""), (f"  ({one.expectation})", "dim"), indent=2, rows=0 if verbose else 2)
        if verbose:
            print_deciding_commands(page, one.settle_with, verbose, indent=4)
    print_more(page, len(lines), verbose, indent=2)


def print_coverage(page: Page, report: Report, verbose: bool) -> None:
    """What was shown, what that rules out, and the steps; with -v also what each step ran, how long it took and why it was skipped."""
    if lines := shown_lines(report.shown, every=verbose):
        page.gap()
        page.lines(("shown", "bold"))
        for line in lines if verbose else lines[:SHORT]:
            page.lines((line, ""), indent=2, rows=0 if verbose else 2)
        print_more(page, len(lines), verbose, indent=2)
    if verbose and report.overridden:
        page.gap()
        page.lines(("overridden", "dim"))
        for one in report.overridden:
            by = f"  ({one.cause}, overridden by {', '.join(one.overridden_by)})"
            page.lines((one.title or one.cause, ""), (by, "dim"), indent=2)
    if lines := refuted_lines(report, every=verbose):
        page.gap()
        page.lines(("ruled out", "bold"))
        for line in lines if verbose else lines[:RULED_OUT]:
            page.lines((line, ""), indent=2, rows=0 if verbose else 1)
        print_more(page, len(lines), verbose, indent=2, most=RULED_OUT)
    needed = [step for step in report.steps if step.outcome != "skipped" or step.note not in ("", "not needed")]
    steps = needed if verbose else list({step.title or step.id: step for step in needed if step.outcome == "clear"}.values())
    if not steps or (report.shown and not verbose):  # what was seen says more than what was asked
        return
    page.gap()
    page.lines(("Steps" if verbose else "Checked", "bold"))
    for step in steps if verbose else steps[:SHORT]:
        step_line(page, step, verbose)
    print_more(page, len(steps), verbose, indent=2)
    if verbose and len(needed) < len(report.steps):
        page.lines((f"{count(len(report.steps) - len(needed), 'more step')}, not needed", "dim"), indent=2)


def step_line(page: Page, step: StepResult, verbose: bool) -> None:
    """One step; with -v in full."""
    if not verbose:
        page.lines((step.title or step.id, ""), indent=2, rows=1)
        return
    place = f"  {step.host}" if step.host else ""
    page.lines(
        (f"{step.outcome:8}", OUTCOME_STYLES[step.outcome]), (f"{step.seconds:6.1f} s  {step.id}{place}  {step.title}", ""), indent=2
    )
    page.command(step.argv, indent=12, style="dim")
    if step.note:
        page.lines((step.note, "dim"), indent=12)


def print_more(page: Page, total: int, verbose: bool, *, indent: int, most: int = SHORT) -> None:
    """Print how many were left out."""
    if not verbose and total > most:
        page.lines((f"{total - most} more with -v", "dim"), indent=indent)
