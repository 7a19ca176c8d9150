"""The report as one HTML file: no script, nothing loaded, dark and light, for a phone, a screen reader and paper.

Everything that was read is escaped (`markup`), and the Content-Security-Policy allows nothing but the style sheet that is in the file.
What the commands have answered is folded, and evidence links to it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from gpudoctor.report import Candidate, Evidence, Finding, Fix, Report, Table, Unknown
from gpudoctor.reporters.hardware import hardware_rows as hardware_rows
from gpudoctor.reporters.markup import LINE, NOTHING, Raw, join_markup, tag
from gpudoctor.reporters.page_steps import Outputs, steps
from gpudoctor.reporters.picture import pictures
from gpudoctor.reporters.symptoms import by_root
from gpudoctor.reporters.text import command, count
from gpudoctor.reporters.words import (
    by_reason,
    headline,
    not_shown_lines,
    question,
    refuted_lines,
    shown_lines,
    to_do,
    troubles,
    unanswered_text,
)

VERDICTS = {"healthy": "✓ Healthy", "problem": "✗ Problem", "inconclusive": "? Inconclusive"}
ROOTS = 50  # causes that have a section of their own
ROWS = 200  # of a table or list
SHORT_CELL = 24  # characters that stay in one line


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The whole file; what lays out a terminal changes nothing."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    roots, unexplained = by_root(report.findings)
    asked = question(report)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{report.verdict}: {asked or report.tool}"),
        Raw(f"<style>{style}</style>"),
    )
    outputs = Outputs(report)
    body = tag(
        "body",
        page_top(report, [root for root, _ in roots], asked),
        tag("main", sections(report, roots, unexplained, outputs)),
        foot(report),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, LINE, body, lang="en") + "\n"


def page_top(report: Report, roots: Sequence[Finding], asked: str) -> Raw:
    """The verdict, what was asked, and the answer in one sentence."""
    badge = tag("span", VERDICTS[report.verdict], class_=f"verdict {report.verdict}")
    line = tag("p", badge, " ", tag("span", asked), " ", tag("span", utc_text(report.started)), class_="question")
    return tag("header", line, LINE, tag("h1", headline(report, roots)), LINE, tag("p", coverage_text(report), class_="quiet"))


def coverage_text(report: Report) -> str:
    """What was covered: commands or files, the causes that are ruled out, the checks without an answer."""
    said = report.coverage
    read = f"{said.answered} of {count(said.asked, 'command')} answered"
    parts = [f"{said.answered} of {count(said.asked, 'file')} read" if report.inputs else read] if said.asked else []
    parts += [f"{count(len(report.ruled_out), 'cause')} ruled out"] if report.ruled_out else []
    parts += [unanswered_text(report.unknown)] if report.unknown else []
    return " · ".join(parts)


def sections(
    report: Report, roots: Sequence[tuple[Finding, list[Finding]]], unexplained: Sequence[Finding], outputs: Outputs
) -> Iterator[Raw]:
    """Everything below the headline, what matters first."""
    for number, (root, symptoms) in enumerate(roots[:ROOTS], 1):
        yield cause(root, symptoms, number if len(roots) > 1 else 0, outputs)
    rest = [*(root for root, _ in roots[ROOTS:]), *unexplained]
    if rest:
        yield section("Also found", bullet_list([finding_line(one) for one in rest]))
    if report.candidates:
        yield section("Possible, and not certain", (possible(one, outputs) for one in report.candidates))
    if drawn := [tag("figure", scroll(picture, name)) for name, picture in pictures(report)]:
        yield section("Over time", *drawn)
    for one in report.hardware:
        pairs = (join_markup(tag("dt", name), tag("dd", value)) for name, value in hardware_rows(one))
        yield section(f"For the vendor: {one.name}", tag("dl", pairs))
    for table in report.tables:
        yield section(table.title or "Table", grid(table))
    if report.withheld:
        yield section("Needs consent", bullet_list([join_markup(tag("code", one.what), f" {one.why}") for one in report.withheld]))
    if report.unknown:
        yield section(unanswered_text(report.unknown), (reason(why, own) for why, own in by_reason(report.unknown)))
    if report.unexplained:
        yield section("Not explained", bullet_list(troubles(report)))
    if report.not_shown and report.verdict != "problem":
        yield section("Not shown", bullet_list([f"{line} ({one.expectation})" for line, one in not_shown_lines(report)]))
    if report.shown:
        yield section("Shown", bullet_list(shown_lines(report.shown)))
    if report.coverage.missing:
        yield section("Could not be read", bullet_list([f"{one.what}: {one.why}" for one in report.coverage.missing]))
    if report.inputs:
        rows = [[one.path, ", ".join(one.recognised_as), one.note] for one in report.inputs]
        yield section("Files", grid(Table("Files", ["File", "Recognised as", "Note"], rows)))
    if report.steps:
        yield section("What was done", steps(report, outputs))
    if lines := refuted_lines(report, every=True):
        yield section("Ruled out", tag("details", tag("summary", count(len(report.ruled_out), "cause")), bullet_list(lines)))


def cause(root: Finding, symptoms: Sequence[Finding], number: int, outputs: Outputs) -> Raw:
    """One root cause: what, where, how sure, what it means, what it rests on, who acts, the fix, and what it explains."""
    parts: list[Raw] = [tag("h2", f"{number}. {root.title}" if number else "Root cause"), marks(root)]
    if root.also:
        parts.append(tag("p", "Also on ", ", ".join(root.also), class_="quiet"))
    if root.means:
        parts.append(tag("p", root.means))
    if root.evidence:
        parts += [tag("h3", "Evidence"), *(evidence(piece, outputs) for piece in root.evidence)]
    if steps := to_do(root):
        parts += [tag("h3", "What to do"), tag("ol", (tag("li", remedy(label, fix)) for label, fix in steps), class_="fixes")]
    if symptoms:
        parts += [tag("h3", "Explains"), bullet_list([finding_line(one) for one in symptoms])]
    if root.references:
        parts += [tag("h3", "Read more"), bullet_list([link(one) for one in root.references])]
    return tag("section", *(join_markup(part, LINE) for part in parts), class_=f"cause {root.severity}")


def marks(one: Finding) -> Raw:
    """Cause, place, how severe, how sure, since when, who acts."""
    said: list[Raw | None] = [
        tag("b", one.subject.name or one.subject.kind),
        tag("code", one.cause),
        tag("span", one.severity, class_=one.severity),
        tag("span", one.confidence),
        tag("span", f"since {utc_text(one.time)}") if one.time else None,
        tag("span", "who acts: ", tag("b", " - ".join(word for word in (one.who, one.act) if word))) if one.who or one.act else None,
    ]
    return tag("div", *(join_markup(part, " ") for part in said if part), class_="marks")


def evidence(piece: Evidence, outputs: Outputs) -> Raw:
    """Where a line stands, with a link to the whole output where the report has it, and the line."""
    target = outputs.ids.get(piece.source)
    source = tag("a", piece.source, href=f"#{target}") if target else piece.source
    return join_markup(
        tag("p", f"line {piece.line} of " if piece.line else "", source, class_="source"),
        wide_block(piece.text, "The line") if piece.text else "",
    )


def remedy(label: str, fix: Fix) -> Raw:
    """A fix with its risk, or a look, and its commands or manifest ready to paste."""
    parts = [tag("span", fix.title), " ", tag("span", f"({label})", class_=f"risk {fix.risk}")]
    if fix.manifest:
        parts.append(tag("pre", tag("code", fix.manifest), class_="command", tabindex=0))
    for label, argv in (("", fix.run), ("undo", fix.undo), ("verify", fix.verify)):
        if argv:
            shown = command(argv)
            parts.append(tag("div", label, class_="quiet") if label else "")
            parts.append(
                tag("pre", tag("code", shown), class_="command", tabindex=0) if shown else tag("p", "a shell can't express this command")
            )
    return join_markup(*parts)


def finding_line(one: Finding) -> Raw:
    """A finding in one line."""
    also = f" and {len(one.also)} more" if one.also else ""
    return join_markup(tag("b", one.subject.name or one.subject.kind), f"{also}: {one.title} ", tag("code", one.cause))


def possible(one: Candidate, outputs: Outputs) -> Raw:
    """A cause that is not certain: why, what it rests on, what would settle it."""
    head = tag("p", tag("code", one.cause), " on ", tag("b", one.subject.name or one.subject.kind), f": {one.why}")
    return join_markup(head, (evidence(piece, outputs) for piece in one.evidence), settle_block(one.settle_with))


def reason(why: str, own: Sequence[Unknown]) -> Raw:
    """Why checks have no answer, which ones, and what would settle them."""
    head = tag("summary", why, " ", tag("span", f"({count(len(own), 'check')})", class_="quiet"))
    texts = list(dict.fromkeys(text for one in own for text in one.settle_with))
    return tag("details", head, tag("p", ", ".join(one.check for one in own)), settle_block(texts))


def settle_block(texts: Sequence[str]) -> Raw:
    """The commands whose answer would decide, as a block."""
    return (
        join_markup(tag("p", "Settle it with", class_="quiet"), (tag("pre", tag("code", text), tabindex=0) for text in texts))
        if texts
        else NOTHING
    )


def grid(table: Table) -> Raw:
    """A table in a box that scrolls."""
    head = tag("tr", (tag("th", column, scope="col") for column in table.columns))
    rows = (tag("tr", (tag("td", cell, class_=len(cell) <= SHORT_CELL and "short") for cell in row)) for row in table.rows[:ROWS])
    more = tag("p", f"and {len(table.rows) - ROWS} more rows", class_="quiet") if len(table.rows) > ROWS else NOTHING
    return join_markup(scroll(tag("table", tag("thead", head), tag("tbody", rows)), table.title), more)


def scroll(content: Raw, name: str) -> Raw:
    """A box that scrolls sideways by itself; the keyboard reaches it."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=name or "table")


def wide_block(text: str, name: str) -> Raw:
    """A long line in a block that scrolls."""
    return tag("pre", tag("code", text), tabindex=0, role="region", aria_label=name)


def section(title: str, *content: Raw | Iterator[Raw]) -> Raw:
    """A part with its heading."""
    return tag("section", tag("h2", title), LINE, *content, LINE)


def bullet_list(lines: Sequence[str]) -> Raw:
    """A bullet list; further lines are counted."""
    more = [f"and {len(lines) - ROWS} more"] if len(lines) > ROWS else []
    return tag("ul", (tag("li", line) for line in [*lines[:ROWS], *more]))


def link(address: str) -> Raw:
    """A link where it is one of the web, else its text."""
    return tag("a", address, href=address, rel="noopener noreferrer") if address.startswith("https://") else tag("span", address)


def utc_text(stamp: str | None) -> str:
    """`2026-03-01 12:00:03 UTC` for a time in RFC 3339."""
    return f"{stamp.removesuffix('Z').replace('T', ' ')} UTC" if stamp and stamp.endswith("Z") else stamp or ""


def foot(report: Report) -> Raw:
    """Who wrote this, and what a reader should know before handing it on."""
    keeps = "It holds names of machines" + (", and serial numbers, which the vendor asks for" if report.hardware else "") + "."
    return tag("footer", tag("p", f"{report.tool}, runbook {report.runbook or 'none'}. What looks like a secret is redacted. {keeps}"))
