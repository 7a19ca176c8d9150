"""The report on a terminal, where the last lines are what a person sees: the details come first, the answer last.

The answer fits into 24 rows of 80 columns: what is wrong and where, how sure that is, the line that shows it, who acts, what to
type now, and how to see more.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.report import CONFIDENCE_MEANS, Candidate, Evidence, Finding, Fix, Report
from gpudoctor.reporters import terminal
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.symptoms import by_root
from gpudoctor.reporters.text import count, safe, shorten
from gpudoctor.reporters.words import ACTIONS, ACTORS, coverage, further_subjects, headline, next_step_text, not_shown_lines, question

LABEL = 9  # columns of the names of the answer's lines
ROWS = 3  # of one text of the answer
LINES = 2  # of those that the answer only names


def render(report: Report, *, width: int = 80, color: bool = False) -> str:
    """The report as text of `width` columns."""
    page = Page(width, color)
    roots, unexplained = by_root(report.findings)
    before(page, report, roots, unexplained)
    if page.file.getvalue():
        page.gap()
    answer(page, report, roots)
    return page.text().lstrip("\n")


def before(page: Page, report: Report, roots: Sequence[tuple[Finding, list[Finding]]], unexplained: Sequence[Finding]) -> None:
    """What stands above the answer: the tables, the other causes, what could not be read."""
    for table in report.tables:
        terminal.print_table(page, table, verbose=False)
    terminal.print_series(page, report)
    for number, (root, symptoms) in enumerate(roots[1:], 2):
        terminal.print_finding(page, root, number, symptoms, verbose=False)
    if unexplained:
        page.gap()
        page.lines(("Also found", "bold"))
        terminal.symptom_lines(page, unexplained, verbose=False)
    for candidate in report.candidates[0 if roots else 1 :]:
        terminal.possible(page, candidate, verbose=False)
    terminal.print_withheld(page, report, verbose=False)
    terminal.print_unknown(page, report.unknown, False, said=report.coverage.missing[0].why if next_step_text(report) else "")
    terminal.left_open(page, report, verbose=False)
    if report.verdict == "inconclusive" and not next_step_text(report):
        terminal.print_missed(page, report, verbose=False)
    if report.verdict == "healthy":
        terminal.print_coverage(page, report, verbose=False)


def answer(page: Page, report: Report, roots: Sequence[tuple[Finding, list[Finding]]]) -> None:
    """The last lines."""
    asked = question(report)
    page.lines((report.verdict.upper(), terminal.VERDICT_STYLES[report.verdict]), (f"  {asked}" if asked else "", ""), rows=1)
    page.lines((headline(report, [root for root, _ in roots]), "bold"), indent=2, rows=ROWS)
    if roots:
        cause(page, *roots[0])
    elif report.candidates:
        candidate(page, report.candidates[0])
    elif what := next_step_text(report):
        line(page, "next", what)
    elif report.verdict == "inconclusive":
        for command in [command for _, one in not_shown_lines(report) for command in one.settle_with][:LINES]:
            type_now(page, command)
    line(page, "read", coverage(report, verbose=False), style="dim")
    name = roots[0][0].cause if roots else report.candidates[0].cause if report.candidates else ""
    line(page, "more", "-v · --format html -o report.html" + (f" · gpudoctor explain {name}" if name else ""), style="dim")


def cause(page: Page, root: Finding, symptoms: Sequence[Finding]) -> None:
    """The first cause: its name, its line, who acts, what to type, how sure it is, and what it brings about."""
    line(page, "cause", f"{root.cause} ({root.severity})" + (f", since {root.time}" if root.time else ""))
    shown(page, root.evidence)
    action = ": ".join(word for word in (ACTORS.get(root.who, root.who), ACTIONS.get(root.act, root.act)) if word)
    if action:
        line(page, "action", action)
    for fix in chosen(root):
        remedy(page, fix)
    line(page, "sure", f"{root.confidence}: {CONFIDENCE_MEANS[root.confidence]}")
    if root.also:
        line(page, "also", further_subjects(root, verbose=False))
    if symptoms:
        more = f" (and {count(len(symptoms) - 1, 'more finding')})" if len(symptoms) > 1 else ""
        line(page, "so", f"{symptoms[0].title}{more}", rows=LINES)


def candidate(page: Page, one: Candidate) -> None:
    """The first candidate where nothing is decided, and what would decide it."""
    line(page, "possible", f"{one.cause}: {one.why}")
    shown(page, one.evidence)
    for command in one.settle_with[:LINES]:
        type_now(page, command)


def chosen(root: Finding) -> list[Fix]:
    """What to show: the first fix with a command or a manifest, else the first, and then the first look."""
    ready = [fix for fix in root.fixes if fix.run or fix.manifest]
    looks = [] if ready else [Fix(look.title, "safe", look.run) for look in root.look[:1]]
    none = [Fix(root.no_fix, "safe")] if root.no_fix else []
    return [*ready, *root.fixes, *none][:1] + looks


def remedy(page: Page, fix: Fix) -> None:
    """A command ready to paste, then what it is for, its risk, and how to undo it; without a command what to do."""
    if fix.manifest:
        line(page, "put in", fix.title)
        page.verbatim(fix.manifest, indent=2 + LABEL)
        return
    if not fix.run:
        line(page, "do", fix.title)
        return
    page.command(fix.run, indent=2, label=f"{'type':{LABEL}}")
    page.lines((fix.title + ("" if fix.risk == "safe" else f" ({fix.risk})"), ""), indent=2 + LABEL, rows=ROWS)
    page.command(fix.undo, indent=2 + LABEL, label="undo: ", style="")


def shown(page: Page, evidence: Sequence[Evidence]) -> None:
    """The line that shows it, under the place where it stands."""
    for piece in evidence[:1]:
        place = piece.source + (f":{piece.line}" if piece.line else "")
        line(page, "seen in", place, style="dim", rows=LINES)
        if piece.text:
            room = int((page.width - 2 - LABEL) * (ROWS - 0.3))  # wrapping at words costs a part of a row
            page.lines((shorten(safe(piece.text), room), ""), indent=2 + LABEL, rows=ROWS)


def type_now(page: Page, command: str) -> None:
    """A command that would tell more."""
    line(page, "type", command, style="cyan")


def line(page: Page, label: str, text: str, *, style: str = "", rows: int = ROWS) -> None:
    """A line of the answer under its name; what goes on is indented."""
    first, *rest = page.wrapped(text, page.width - 2 - LABEL, rows)
    page.lines((f"{label:{LABEL}}", "dim"), (first, style), indent=2)
    for more in rest:
        page.lines((more, style), indent=2 + LABEL)
