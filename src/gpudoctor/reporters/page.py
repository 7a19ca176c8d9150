"""The report as one HTML file: nothing loaded, dark and light, for a phone, a screen reader and paper.

Everything that was read is escaped (`markup`), and the Content-Security-Policy allows nothing but the style sheet and the script in the
file. The script only adds buttons that copy a command; without it a click selects the command.
What the commands have answered is folded, and evidence links to it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from gpudoctor.report import Candidate, Evidence, Finding, Fix, Report, Table, Unknown
from gpudoctor.reporters import words
from gpudoctor.reporters.hardware import hardware_rows
from gpudoctor.reporters.markup import LINE, NOTHING, Raw, join_markup, tag
from gpudoctor.reporters.page_steps import Outputs, steps, to_copy
from gpudoctor.reporters.picture import pictures
from gpudoctor.reporters.text import LONGEST, command, count, excerpt

VERDICTS = {"healthy": "✓ Healthy", "problem": "✗ Problem", "inconclusive": "? Inconclusive"}
ROOTS = 50  # causes that have a section of their own
ROWS = 200  # of a table or list


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The whole file; what lays out a terminal changes nothing."""
    style, script = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'"
    parts, asked = words.parts_of(report), words.question(report)
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
        page_top(parts, asked),
        tag("main", sections(report, parts, outputs)),
        foot(report),
        Raw(f"<script>{script}</script>"),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, LINE, body, lang="en") + "\n"


def digest(text: str) -> str:
    """A text's hash as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page_top(parts: words.Parts, asked: str) -> Raw:
    """The verdict, what was asked, and the answer in one sentence."""
    report = parts.report
    badge = tag("span", VERDICTS[report.verdict], class_=f"verdict {report.verdict}")
    line = tag("p", badge, " ", tag("span", asked), " ", tag("span", utc_text(report.started)), class_="question")
    return tag("header", line, LINE, tag("h1", words.headline(parts)), LINE, tag("p", coverage_text(report), class_="quiet"))


def coverage_text(report: Report) -> str:
    """What was covered: commands or files, the causes that are ruled out, the checks without an answer."""
    said = report.coverage
    read = f"{said.answered} of {count(said.asked, 'command')} answered"
    parts = [f"{said.answered} of {count(said.asked, 'file')} read" if report.inputs else read] if said.asked else []
    parts += [f"{count(len(report.ruled_out), 'cause')} ruled out"] if report.ruled_out else []
    parts += [count(len(report.unknown), "check") + " not run"] if report.unknown else []
    return " · ".join(parts)


def sections(report: Report, parts: words.Parts, outputs: Outputs) -> Iterator[Raw]:
    """Everything below the headline, what matters first."""
    roots = parts.causes
    for number, (root, symptoms) in enumerate(roots[:ROOTS], 1):
        yield cause(root, symptoms, f"{number}. {root.title}" if len(roots) > 1 else "Root cause", outputs)
    rest = [*(root for root, _ in roots[ROOTS:]), *parts.others, *parts.notes[ROOTS:]]
    if rest:
        yield section("Also found", bullet_list([finding_line(one) for one in rest]))
    for note in parts.notes[:ROOTS]:
        yield cause(note, [], f"Note: {note.title}", outputs)
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
        yield section(count(len(report.unknown), "check") + " not run", (reason(why, own) for why, own in words.by_reason(report.unknown)))
    if report.unexplained:
        yield section("Not explained", bullet_list(words.troubles(report)))
    if report.not_shown and report.verdict != "problem":
        yield section("Not shown", bullet_list([f"{line} ({one.expectation})" for line, one in words.not_shown_lines(report)]))
    if report.shown:
        yield section("Shown", bullet_list(words.shown_lines(report.shown)))
    if report.coverage.missing:
        yield section("Could not be read", bullet_list([f"{one.what}: {one.why}" for one in report.coverage.missing]))
    if report.inputs:
        rows = [[one.path, ", ".join(one.recognised_as), one.note] for one in report.inputs]
        yield section("Files", grid(Table("Files", ["File", "Recognised as", "Note"], rows)))
    if report.steps:
        yield section("What was done", steps(report, outputs))
    if lines := words.refuted_lines(report):
        yield section("Ruled out", tag("details", tag("summary", count(len(report.ruled_out), "cause")), bullet_list(lines)))


def cause(root: Finding, symptoms: Sequence[Finding], title: str, outputs: Outputs) -> Raw:
    """One cause: what, where, how sure, what it means, what it rests on, who acts, the fix, and what it explains."""
    parts: list[Raw] = [tag("h2", title), marks(root)]
    if root.also:
        parts.append(tag("p", "Also on ", ", ".join(root.also), class_="quiet"))
    if root.means:
        parts.append(tag("p", root.means))
    if root.evidence:
        parts += [tag("h3", "Seen in"), *(evidence(piece, outputs) for piece in root.evidence)]
    if steps := words.to_do(root):
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
        tag("span", words.who_acts(one)) if one.who or one.act else None,
    ]
    return tag("div", *(join_markup(part, " ") for part in said if part), class_="marks")


def evidence(piece: Evidence, outputs: Outputs) -> Raw:
    """Where a line stands, with a link to the whole output where the report has it, and the line."""
    target = outputs.ids.get(piece.source)
    source = tag("a", piece.source, href=f"#{target}") if target else piece.source
    return join_markup(
        tag("p", f"line {piece.line} of " if piece.line else "", source, class_="source"),
        wide_block(said, "The line") if (said := excerpt(piece, LONGEST)) else "",
    )


def remedy(label: str, fix: Fix) -> Raw:
    """A fix with its risk, or a look, and its commands or manifest ready to paste."""
    parts = [tag("b", label), " ", tag("span", words.with_risk(fix), class_=fix.risk)]
    parts += [tag("p", said, class_="quiet") for said in words.beside(fix, True)]
    if fix.manifest:
        parts.append(to_copy(fix.manifest))
    for before, argv in words.commands_of(fix):
        if argv:
            shown = command(argv)
            parts.append(tag("div", before, class_="quiet") if before else "")
            parts.append(to_copy(shown) if shown else tag("p", "a shell can't express this command"))
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
    return join_markup(tag("p", "Check", class_="quiet"), (to_copy(text) for text in texts)) if texts else NOTHING


def grid(table: Table) -> Raw:
    """A table; on a phone each of its rows is a block, and a cell has the name of its column."""
    head = tag("tr", (tag("th", column, scope="col") for column in table.columns))
    cells = (zip_longest(table.columns, row, fillvalue="") for row in table.rows[:ROWS])
    rows = (tag("tr", (tag("td", cell, data_label=name) for name, cell in named)) for named in cells)
    more = tag("p", f"and {len(table.rows) - ROWS} more rows", class_="quiet") if len(table.rows) > ROWS else NOTHING
    return join_markup(tag("table", tag("thead", head), tag("tbody", rows)), more)


def scroll(content: Raw, name: str) -> Raw:
    """A box that scrolls sideways by itself; the keyboard reaches it."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=name)


def wide_block(text: str, name: str) -> Raw:
    """A line in a block of its own."""
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
