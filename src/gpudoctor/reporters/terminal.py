"""The report on a terminal or in a pipe: the answer, and its details.

On a terminal, where the last lines are what a person sees, the details come first, and the most important of them stand next to the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gpudoctor.report import Report, StepResult, Table
from gpudoctor.reporters import words
from gpudoctor.reporters.answer import answer, cause, check, possible, seen
from gpudoctor.reporters.decision_path import path
from gpudoctor.reporters.hardware import hardware_rows
from gpudoctor.reporters.lanes import lanes
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.plot import plot
from gpudoctor.reporters.text import count, short_table

OUTCOME_STYLES = {"found": "red", "clear": "green", "skipped": "dim", "unknown": "yellow"}


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False, last: bool = False) -> str:
    """The report as text of `width` columns, with ANSI colours only when `color` is true. `verbose` leaves nothing out; `last` puts the
    answer below its details.
    """
    page, parts = Page(width, color), words.parts_of(report)
    if last:
        for section in reversed(SECTIONS):
            section(page, parts, verbose)
        page.gap()
    answer(page, parts, verbose)
    if not last:
        for section in SECTIONS:
            section(page, parts, verbose)
    return page.text().lstrip("\n")


def why_path(page: Page, parts: words.Parts, verbose: bool) -> None:
    """Why these causes and no others."""
    if parts.report.path is not msgspec.UNSET:
        path(page, parts.report.path, verbose)


def further_causes(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The causes after the first."""
    for number, (root, symptoms) in enumerate(parts.causes[1:], 2):
        page.heading(f"{number}. {root.title}")
        cause(page, root, symptoms, verbose, known=root.title)


def also_found(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What no cause of the report explains; a line each, with -v their evidence too."""
    if not verbose:
        print_list(page, "Also found", [words.one_line(one) for one in parts.others], verbose)
        return
    for number, one in enumerate(parts.others):
        page.heading("" if number else "Also found")
        page.lines((words.one_line(one), ""), indent=2)
        seen(page, one.evidence, verbose)


def candidates(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The possible causes that the answer doesn't show."""
    for one in parts.report.candidates[0 if parts.causes else 1 :]:
        page.gap()
        possible(page, one, verbose)


def notes(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The notes in full; the answer has their titles."""
    for one in parts.notes if verbose else ():
        page.heading(f"Note: {one.title}")
        cause(page, one, [], verbose, known=one.title)


def withheld(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The commands that were not run because consent was not given."""
    for missing in parts.report.withheld if verbose else parts.report.withheld[: words.SHORT]:
        page.gap()
        page.lines(("needs consent  ", "yellow"), (missing.what, "cyan"))
        page.lines((missing.why, ""), indent=2)


def not_answered(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The checks that were not run, by the reason: one trouble often leaves hundreds of checks without an answer. Without -v those that
    would change the verdict, for reasons that the answer doesn't say.
    """
    report = parts.report
    if not verbose:
        said = report.coverage.missing[0].why if words.next_step_text(report) else None
        reasons = [(why, own) for why, own in words.by_reason(words.open_checks(report)) if not words.follows(why) and why != said]
        print_list(page, "Not known", [words.not_run(why, own) for why, own in reasons], verbose)
        return
    for number, (why, own) in enumerate(words.by_reason(report.unknown)):
        page.heading("" if number else "Not known")
        page.lines((words.not_run(why, own), ""), (f"  ({words.names([one.check for one in own], True)})", "dim"), indent=2)
        check(page, list(dict.fromkeys(text for one in own for text in one.settle_with)), verbose)


def left_open(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What no finding explains, and, where nothing was found, the parts of files that nobody knows."""
    report = parts.report
    if report.verdict != "problem" or verbose:
        print_list(page, "Not explained", words.troubles(report), verbose)
    if not report.findings or verbose:
        print_list(page, "Not understood", [f"{one.path}  {part}" for one in report.inputs for part in one.unknown], verbose)


def missed(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What a healthy subject shows and was not shown, with the command that shows it."""
    if not verbose and (parts.report.verdict != "inconclusive" or words.next_step_text(parts.report)):
        return
    lines = words.not_shown_lines(parts.report, every=verbose)
    if not verbose:
        said = {one.why for one in words.open_checks(parts.report)} | {one.why for one in parts.report.coverage.missing}
        print_list(page, "Not shown", list(dict.fromkeys(line for line, one in lines if one.why not in said)), verbose)
        return
    for number, (line, one) in enumerate(lines):
        page.heading("" if number else "Not shown")
        page.lines((line, ""), (f"  ({one.expectation})", "dim"), indent=2)
        check(page, one.settle_with, verbose)


def tables(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The runbooks' tables; without -v their first rows."""
    for table in parts.report.tables:
        print_table(page, table, verbose)


def print_table(page: Page, table: Table, verbose: bool) -> None:
    """Print a table."""
    page.heading(table.title)
    page.table(table.columns, table.rows if verbose else short_table(table, words.SHORT), indent=2)
    print_more(page, 0 if table.telling else len(table.rows), verbose)


def over_time(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What was measured over time, one row a line."""
    for rows in (list(plot(parts.report.series, page.width)), list(lanes(parts.report.lanes, page.width))):
        if rows:
            page.gap()
        for row, marked in rows:
            page.lines((row, "red" if marked else ""))


def vendor(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What a vendor asks for about each GPU that is to be reset or replaced."""
    for one in parts.report.hardware if verbose else ():
        page.heading(f"For the vendor: {one.name}")
        page.table(["", ""], hardware_rows(one), indent=2)


def covered(page: Page, parts: words.Parts, verbose: bool) -> None:
    """What was shown, what that rules out, and the steps; with -v also what each step ran, how long it took and why it was skipped."""
    report = parts.report
    if not verbose and report.verdict != "healthy":
        return
    print_list(page, "Shown", words.shown_lines(report.shown, every=verbose), verbose)
    if verbose:
        lines = [f"{one.title or one.cause}  ({one.cause}, overridden by {', '.join(one.overridden_by)})" for one in report.overridden]
        print_list(page, "Overridden", lines, verbose)
    refuted = words.refuted_lines(report)  # without -v the causes alone: what was seen stands above
    print_list(page, "Ruled out", refuted if verbose or not refuted else [words.names(report.ruled_out, verbose)], verbose)
    needed = [step for step in report.steps if step.outcome != "skipped" or step.note not in ("", "not needed")]
    if not verbose:  # what was seen says more than what was asked
        asked = dict.fromkeys(step.title or step.id for step in needed if step.outcome == "clear")
        print_list(page, "Checked", [] if report.shown else list(asked), verbose)
        return
    page.heading("Steps")
    for step in needed:
        step_lines(page, step)
    if len(needed) < len(report.steps):
        page.lines((f"{count(len(report.steps) - len(needed), 'more step')}, not needed", "dim"), indent=2)


def step_lines(page: Page, step: StepResult) -> None:
    """One step in full."""
    place = f"  {step.host}" if step.host else ""
    page.lines(
        (f"{step.outcome:8}", OUTCOME_STYLES[step.outcome]), (f"{step.seconds:6.1f} s  {step.id}{place}  {step.title}", ""), indent=2
    )
    page.command(step.argv, "", style="dim")
    if step.note:
        page.entry("", step.note, style="dim")


def print_list(page: Page, title: str, lines: Sequence[str], verbose: bool) -> None:
    """Print lines under a title, if there are any; without -v the first few."""
    if lines:
        page.heading(title)
    for line in lines if verbose else lines[: words.SHORT]:
        page.lines((line, ""), indent=2)
    print_more(page, len(lines), verbose)


def print_more(page: Page, total: int, verbose: bool) -> None:
    """Print how many were left out."""
    if not verbose and total > words.SHORT:
        page.lines((f"{total - words.SHORT} more with -v", "dim"), indent=2)


# What stands beside the answer, the most important first.
SECTIONS: tuple[Callable[[Page, words.Parts, bool], None], ...] = (
    why_path,
    further_causes,
    also_found,
    candidates,
    notes,
    withheld,
    not_answered,
    left_open,
    missed,
    tables,
    over_time,
    vendor,
    covered,
)
