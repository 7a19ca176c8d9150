"""The report as Markdown for a ticket or a channel: verdict, cause, evidence, what was done, what is open, what is next; the rest folded.

Nothing that was read can become markup, a mention or a link: lines of a log stand in fenced blocks, and in a sentence every word that is
more than letters or a number is a code span. Fences and spans are longer than any run of backticks in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from gpudoctor.patterns import regex
from gpudoctor.report import Candidate, Evidence, Finding, Fix, Report, StepResult
from gpudoctor.reporters import words
from gpudoctor.reporters.hardware import hardware_rows
from gpudoctor.reporters.lanes import lanes
from gpudoctor.reporters.plot import plot
from gpudoctor.reporters.text import command, count, excerpt, safe, shorten

FIRST = 3  # root causes, reasons and so on that are not folded
LONG = 300  # characters of a line that is not folded
PARTS = 8  # GPUs, causes and tables that are folded one by one
FOLDED = 200  # lines of one folded part; a ticket isn't an archive
MANIFEST = 12  # lines of a manifest that are not folded
WIDE = 100  # columns of what is drawn
ROOM = 60_000  # characters: GitHub takes 65,536 in a comment
# What stays as it is in a sentence: the, row-remap, node(s), H100, 79, 1.5, 16 %, (of, them), "says:", →
PLAIN = regex(
    r"""[("']*(?:[^\W\d_]+(?:[-'’/][^\W\d_]+)*(?:\(s\))?|[A-Z]{1,4}\d{1,4}|\d{1,6}(?:\.\d{1,3})?|[→×°%–…])["')]*[.,;:?!…]?["')]*\Z"""
)
# gpu-02: | (gpu-02) | nvidia.com/gpu=present:NoSchedule,
NAMED = regex(r"""([("']*)(.*?)(["')]*[.,;:?!]?)\Z""")
OTHER = regex(r"[^\w ,()'-]")  # what the title of a folded part goes without
LISTED = regex(r"\d+[.)]")  # what would begin a list
BACKTICKS = regex("`+")


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The report as GitHub-flavoured Markdown; what lays out a terminal changes nothing."""
    parts = words.parts_of(report)
    made = [*visible_part(report, parts)]
    room = ROOM - sum(map(len, made))
    for one in folded_part(report, parts):
        room -= len(one)
        if room < 0:
            made.append("The rest has no room here; `--format html` shows everything.")
            break
        made.append(one)
    return "\n\n".join(made) + "\n"


def visible_part(report: Report, parts: words.Parts) -> Iterator[str]:
    """The part that is always visible: under 60 lines, whatever the report holds."""
    asked, roots = words.question(report), [root for root, _ in parts.causes]
    yield f"## {report.verdict.upper()}" + (f": {safe_sentence(asked, LONG)}" if asked else "")
    said = safe_sentence(words.headline(parts), 2 * LONG)
    yield f"**{said}**" if roots else said
    for root in roots[:1]:
        yield from cause(root)
    if len(roots) > 1:
        further = [f"- {safe_sentence(one.title, LONG)} ({code(one.cause)}, {one.severity})" for one in roots[1:]]
        yield lines("**Further causes**", further)
    if parts.notes:
        yield f"**Notes:** {'; '.join(safe_sentence(one.title, LONG) for one in parts.notes[:FIRST])}"
    if report.candidates:
        yield lines("**Possible causes**", [f"- {possible(one)}" for one in report.candidates])
    yield f"**Done:** {done(report)}"
    if left := [*open_ends(report)]:
        yield lines("**Open**", [f"- {safe_sentence(text, LONG)}" for text in left])
    if asks := next_commands(report, roots):
        yield labelled_block("**Next**", fence(asks[:FIRST], "sh"))
    yield f"<sub>{code(report.tool)}, {code(report.started)}</sub>"


def cause(root: Finding) -> Iterator[str]:
    """The first root cause."""
    since = f", since {code(root.time)}" if root.time else ""
    also = f"; also {safe_sentence(words.further_subjects(root, verbose=False), LONG)}" if root.also else ""
    on = code(root.subject.name or root.subject.kind)
    acts = f". {safe_sentence(words.who_acts(root), LONG)}" if root.who or root.act else ""
    yield f"{code(root.cause)}, {root.confidence}, {root.severity}{since}, on {on}{also}{acts}"
    if root.means:
        yield safe_sentence(root.means, 2 * LONG)
    if pieces := words.distinct_evidence(root.evidence)[:2]:
        yield labelled_block("**Seen in**", fence([line for piece in pieces for line in evidence_lines(piece)]))
    for label, fix in words.to_do(root)[:2]:
        yield remedy(label, fix)


def evidence_lines(piece: Evidence) -> Iterator[str]:
    """The place of a line, and the line."""
    yield shorten(safe(words.place(piece)), LONG)
    if said := excerpt(piece, 2 * LONG):
        yield f"  {said}"


def remedy(label: str, fix: Fix) -> str:
    """A fix with its risk, its command or manifest ready to paste, and how to undo it. What verifies it stands under `Next`."""
    run, undo = command(fix.run), command(fix.undo)
    shown = [line for line in (run, undo and f"# undo: {undo}") if line] or fix.manifest.splitlines()[:MANIFEST]
    said = safe_sentence("; ".join([words.with_risk(fix), *words.beside(fix, False)]), LONG)
    return labelled_block(f"**{label.capitalize()}**: {said}", fence(shown, "sh" if run else "yaml") if shown else "")


def labelled_block(label: str, block: str) -> str:
    """A block with a line above it."""
    return f"{label}\n{block}" if block else label


def possible(one: Candidate) -> str:
    """A cause that is not certain, and why."""
    return f"{code(one.cause)} on {code(one.subject.name or one.subject.kind)}: {safe_sentence(one.why, LONG)}"


def done(report: Report) -> str:
    """What was looked at, in one line."""
    said = report.coverage
    ruled = f", ruled out {count(len(report.ruled_out), 'cause')}" if report.ruled_out else ""
    return (f"checked {said.answered} of {said.asked}" if said.asked else f"read {count(len(report.inputs), 'file')}") + ruled


def open_ends(report: Report) -> Iterator[str]:
    """What has no answer: commands that need consent, the reasons why checks are unknown, and what could not be read."""
    for missing in report.withheld:
        yield f"needs consent: {missing.what}"
    for line in words.troubles(report)[: FIRST if report.verdict != "problem" else 0]:
        yield f"not explained: {shorten(line, LONG - 60)}"
    for why, own in words.by_reason(words.open_checks(report)):
        yield words.not_run(words.sentences(why, LONG - 60), own)
    for missing in report.coverage.missing:
        if not words.follows(missing.why):
            yield f"{missing.what}: {missing.why.removeprefix(f'{missing.what}: ')}"


def next_commands(report: Report, roots: Sequence[Finding]) -> list[str]:
    """What would settle what is open; where a cause is found, what shows that it is gone."""
    asks = [text for one in report.candidates for text in one.settle_with]
    asks += [text for check in report.unknown for text in check.settle_with]
    if roots:
        asks = [command(fix.verify) for fix in roots[0].fixes if fix.verify] + asks
    return list(dict.fromkeys(shorten(safe(text), LONG) for text in asks if text))


def folded_part(report: Report, parts: words.Parts) -> Iterator[str]:
    """The part that the reader can unfold."""
    roots = parts.causes
    for number, one in enumerate(report.hardware[:PARTS], 1):
        yield details(f"For the vendor: GPU {number} of {len(report.hardware)}", align_rows(hardware_rows(one)))
    for number, (root, symptoms) in enumerate(roots[:PARTS], 1):
        told = [*words.finding_lines(root), *(f"so: {words.one_line(one)}" for one in symptoms)]
        yield details(f"Cause {number} of {len(roots)} in full" if len(roots) > 1 else "The cause in full", told)
    for title, more in (("Also found", parts.others), ("Notes", parts.notes)):
        if more:
            yield details(title, [line for one in more for line in words.finding_lines(one)])
    for table in report.tables[:PARTS]:
        yield details(OTHER.sub(" ", table.title).strip() or "Table", align_rows([table.columns, *table.rows]))
    drawn = [row for row, _ in (*plot(report.series, WIDE), *lanes(report.lanes, WIDE))]
    if drawn:
        yield details("Over time", drawn)
    if report.unknown:
        unknown = [
            f"{words.not_run(why, own)} {words.names([one.check for one in own], verbose=True)}"
            for why, own in words.by_reason(report.unknown)
        ]
        yield details(count(len(report.unknown), "check") + " not run", unknown)
    if report.unexplained:
        yield details("Not explained", words.troubles(report))
    if report.not_shown and report.verdict != "problem":
        yield details("Not shown", [f"{line} ({one.expectation})" for line, one in words.not_shown_lines(report)])
    if report.shown:
        yield details("Shown", words.shown_lines(report.shown))
    if report.inputs:
        yield details("Files", [f"{one.path}: {', '.join(one.recognised_as) or one.note or 'not recognised'}" for one in report.inputs])
    steps = [step for step in report.steps if step.outcome != "skipped" or step.note not in ("", "not needed")]
    if steps:
        yield details(count(len(steps), "step"), [line for step in steps for line in step_lines(step)])
    if lines := words.refuted_lines(report):
        yield details(count(len(report.ruled_out), "cause") + " ruled out", [row for line in lines for row in wrap(line, WIDE)])


def step_lines(step: StepResult) -> Iterator[str]:
    """The lines of a step: its outcome, its commands, and why it has no answer."""
    yield f"{step.outcome:8}{step.seconds:7.1f} s  {step.id}  {step.host}".rstrip()
    yield from (f"    {line}" for line in (command(step.argv), step.note) if line)


def safe_sentence(text: str, longest: int) -> str:
    """A sentence, in which everything that could be markup, a mention or a link is a code span; foreign characters are escaped.

    >>> print(safe_sentence("gpu-02: 3 node(s) of @ops have nvidia.com/gpu=present:NoSchedule, see https://x", 99))
    `gpu-02`: 3 node(s) of `@ops` have `nvidia.com/gpu=present:NoSchedule`, see `https://x`
    """
    first, *rest = words.sentences(safe(text).strip(), longest).split(" ")
    begun = code_span(first) if LISTED.match(first) or not PLAIN.match(first) else first
    return " ".join([begun, *(word if PLAIN.match(word) or word == "-" else code_span(word) for word in rest)])


def code_span(word: str) -> str:
    """A word as a code span, the punctuation around it outside."""
    if not word:
        return ""
    match = NAMED.match(word)
    before, name, after = match.groups() if match else ("", word, "")
    return f"{before}{code(name)}{after}" if name else code(word)


def code(text: str) -> str:
    """A code span that nothing in the text can end."""
    shown = safe(text, LONG).strip() or "?"
    ticks = "`" * (1 + max((len(run) for run in BACKTICKS.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(rows: Sequence[str], language: str = "text") -> str:
    """A block that nothing in its lines can end. Each row is one line."""
    shown = [safe(row) for row in rows]
    ticks = "`" * max(3, 1 + max((len(run) for row in shown for run in BACKTICKS.findall(row)), default=0))
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def lines(title: str, rows: Sequence[str]) -> str:
    """A list under its title; what is too much is counted."""
    more = [f"- and {len(rows) - FIRST} more"] if len(rows) > FIRST else []
    return "\n".join([title, *rows[:FIRST], *more])


def details(title: str, rows: Sequence[str]) -> str:
    """A folded block; the title is ours."""
    more = [f"and {len(rows) - FOLDED} more lines"] if len(rows) > FOLDED else []
    return f"<details><summary>{title}</summary>\n\n{fence([*rows[:FOLDED], *more])}\n\n</details>"


def align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, their columns below each other; a long cell pushes the rest aside."""
    shown = [[safe(cell) for cell in row] for row in rows]
    widths = [min(40, max((len(row[at]) for row in shown if at < len(row)), default=0)) for at in range(max(map(len, shown), default=0))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in shown]
