"""The answer: what is wrong and where, the line that shows it, who acts, what to type, how sure it is, and how to see more.

Without -v it fits into 24 rows of 80 columns: each thing on a line under its label. With -v nothing of it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.report import CONFIDENCE_MEANS, Candidate, Evidence, Finding, Fix, Report
from gpudoctor.reporters import words
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.text import LONGEST, count, excerpt, safe, shorten

ROWS = 3  # of what is quoted
FEW = 2  # commands, notes
SCREEN = 23  # rows of a terminal but for the prompt's
SPARED = 5  # steps in which an answer gets shorter
VERDICT_STYLES = {"healthy": "bold green", "problem": "bold red", "inconclusive": "bold yellow"}


def answer(page: Page, parts: words.Parts, verbose: bool) -> None:
    """The answer with all that there is room for on a screen; with -v all of it."""
    fitting = (spare for spare in range(SPARED) if verbose or rows(page.width, parts, spare) <= SCREEN)
    spared(page, parts, verbose, next(fitting, SPARED - 1))


def rows(width: int, parts: words.Parts, spare: int) -> int:
    """How many rows of a terminal an answer takes."""
    trial = Page(width, color=False)
    spared(trial, parts, False, spare)
    return sum(-(-len(line) // width) for line in trial.text().splitlines())


def spared(page: Page, parts: words.Parts, verbose: bool, spare: int) -> None:
    """The verdict, the first cause or what stands for it, notes, what was read, and how to see more. `spare` is how much of it is left out
    for want of room: what was not read, what else the cause brings about, the words beside a second step, further subjects.
    """
    report, asked = parts.report, words.question(parts.report)
    page.lines((report.verdict.upper(), VERDICT_STYLES[report.verdict]), (f"  {asked}" if asked else "", ""))
    page.lines((words.headline(parts), "bold"), indent=2)
    if parts.causes:
        cause(page, *parts.causes[0], verbose, known=f"{asked} {words.headline(parts)}", spare=spare)
    elif report.candidates:
        possible(page, report.candidates[0], verbose)
    elif what := words.next_step_text(report):
        page.entry("next", what)
    elif report.verdict == "inconclusive":
        check(page, [command for _, one in words.not_shown_lines(report) for command in one.settle_with][:FEW], True)
    note(page, parts.notes)
    page.entry("read", words.coverage(report, verbose, room=page.room(FEW if spare else ROWS + 1)), style="dim")
    more(page, report, parts, verbose)


def cause(page: Page, root: Finding, symptoms: Sequence[Finding], verbose: bool, *, known: str = "", spare: int = 0) -> None:
    """A cause under its title: its name, place and time, its line, who acts, what mends it, how sure it is, what it brings about.

    The place is left out where `known`, which stands above, names it.
    """
    on = "" if all(part in known for part in root.subject.name.split("/")) else f" on {root.subject.name or root.subject.kind}"
    page.entry("cause", f"{root.cause} ({root.severity}){on}" + (f", since {root.time}" if root.time else ""))
    if verbose and root.means:
        page.entry("means", root.means)
    seen(page, root.evidence, verbose)
    if action := words.action(root):
        page.entry("action", action)
    for label, fix in words.to_do(root) if verbose else words.chosen(root):
        remedy(page, label, fix, verbose, brief=(label == "or" and words.takes_out(fix)) or (label != "fix" and spare > 2))
    if not verbose:
        afterwards(page, [fix for _, fix in words.chosen(root)])
    page.entry("sure", f"{root.confidence}: {CONFIDENCE_MEANS[root.confidence]}")
    if root.also and spare < 4:
        page.entry("also", words.further_subjects(root, verbose))
    if symptoms and not verbose and spare < 2:
        page.entry("so", symptoms[0].title + (f" (and {count(len(symptoms) - 1, 'more finding')})" if len(symptoms) > 1 else ""))
    for symptom in symptoms if verbose else ():
        page.entry("so", words.one_line(symptom))
        seen(page, symptom.evidence, verbose)
    for link in root.references if verbose else ():
        page.entry("see", link)


def possible(page: Page, one: Candidate, verbose: bool) -> None:
    """What could be the cause, why it isn't certain, its line, and what would decide."""
    page.entry("possible", f"{one.cause} on {one.subject.name or one.subject.kind}: {one.why}")
    seen(page, one.evidence, verbose)
    check(page, one.settle_with, verbose)


def remedy(page: Page, label: str, fix: Fix, verbose: bool, *, brief: bool = False) -> None:
    """A command ready to paste, then, unless it is `brief`, what it is for, its risk, how to undo it and, with -v, to verify it. Without a
    command what to do.
    """
    if brief and fix.run:
        page.command(fix.run, label)
        return
    if fix.run:
        page.command(fix.run, label)
        page.entry("", words.with_risk(fix) + ("; or put in:" if fix.manifest else ""))
    else:
        page.entry(label, words.with_risk(fix))
    page.verbatim(fix.manifest)
    for said in words.beside(fix, verbose):
        page.entry("", said)
    page.command(fix.undo if verbose or not words.takes_out(fix) else [], "", "undo: ", style="")
    page.command(fix.verify if verbose else [], "", "verify: ", style="")


def afterwards(page: Page, done: Sequence[Fix]) -> None:
    """How to see that it is mended, and what brings a node back that was taken out."""
    last = next((fix for fix in reversed(done) if fix.verify and not words.takes_out(fix)), None)
    if last:
        page.command(last.verify, "verify")
    for label, fix in zip(("after", "or"), filter(words.takes_out, done), strict=False):
        page.command(fix.undo, label)


def check(page: Page, asks: Sequence[str], verbose: bool) -> None:
    """The commands, or questions, whose answer would decide."""
    for text in asks if verbose else asks[:FEW]:
        page.entry("check", text, style="cyan")


def seen(page: Page, evidence: Sequence[Evidence], verbose: bool) -> None:
    """The line that shows it, under the place where it stands; with -v all of them, in full."""
    for piece in evidence if verbose else evidence[:1]:
        where = safe(words.place(piece))
        page.entry("seen in", where if verbose or len(where) <= page.room(ROWS) else shorten(where, page.room(2)), style="dim")
        if said := excerpt(piece, LONGEST if verbose else page.room(ROWS)):
            page.entry("", said)


def note(page: Page, notes: Sequence[Finding]) -> None:
    """What else is worth to know; it is no cause of anything here."""
    for one in notes[:FEW]:
        page.entry("note", one.title)
    if len(notes) > FEW:
        page.entry("", f"{count(len(notes) - FEW, 'more note')} with -v", style="dim")


def more(page: Page, report: Report, parts: words.Parts, verbose: bool) -> None:
    """How to see more."""
    name = parts.causes[0][0].cause if parts.causes else report.candidates[0].cause if report.candidates else ""
    ways = ["" if verbose else "-v", "-o report.html", f"gpudoctor explain {name}" if name else ""]
    page.entry("more", " · ".join(filter(None, ways)), style="dim")
