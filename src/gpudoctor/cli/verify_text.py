"""What `gpudoctor verify` says: a line for each finding, what the fixes' own commands said, and the sentence that counts first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from gpudoctor.nodesets import fold
from gpudoctor.reporters.answer import seen
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.text import count, shorten

if TYPE_CHECKING:
    from gpudoctor.engine.verification import Judged, Ran, Verification

WORDS = {"fixed": "fixed", "not-fixed": "not fixed", "unknown": "could not tell", "worse": "worse", "seen": "not seen before"}
STYLES = {"fixed": "bold green", "not-fixed": "bold red", "worse": "bold red", "unknown": "bold yellow", "seen": "bold yellow"}
ORDER = ("worse", "seen", "not-fixed", "unknown", "fixed")
FOLDED = 3  # lines of a command's answer without -v


def render(made: Verification, *, width: int, color: bool, verbose: bool) -> str:
    """The verification as text."""
    page = Page(width, color)
    page.lines((WORDS[made.outcome].upper(), STYLES[made.outcome]), (f"  {made.asked}: ", ""), (summary(made), "bold"))
    page.lines((f"compared with {made.reference}, {made.recorded}", "dim"))
    page.gap()
    for alike in group_judged([*made.new, *made.findings], verbose):
        print_judged(page, alike, verbose)
    if made.commands:
        page.gap()
        for ran in made.commands:
            add_command_output(page, ran, verbose)
    if verbose:
        page.gap()
        for step in made.steps:
            page.lines((f"{step.outcome:<8}", "dim"), (f"{step.id}  {step.note}".rstrip(), ""), indent=2)
    return page.text()


def summary(made: Verification) -> str:
    """The state of all findings in a sentence."""
    total = len(made.findings)
    done = sum(one.outcome == "fixed" for one in made.findings)
    parts = [f"{done} of {count(total, 'finding')} fixed" if done < total else f"{count(total, 'finding')} fixed"]
    if open_ := sum(one.outcome == "unknown" for one in made.findings):
        parts.append(f"{open_} could not be told")
    if worse := sum(one.outcome == "worse" for one in made.new):
        parts.append(f"{worse} new")
    if seen := sum(one.outcome == "seen" for one in made.new):
        parts.append(f"{seen} that the earlier run could not see")
    return ", ".join(parts) + (f", after {count(made.rounds, 'look')}" if made.rounds > 1 else "")


def group_judged(findings: list[Judged], verbose: bool) -> list[list[Judged]]:
    """What is to be repaired first; without -v one cause that became the same on many subjects is one."""
    groups: dict[object, list[Judged]] = {}
    for number, one in enumerate(sorted(findings, key=lambda one: ORDER.index(one.outcome))):
        groups.setdefault(number if verbose else (one.cause, one.outcome, one.subject.kind), []).append(one)
    return list(groups.values())


def print_judged(page: Page, alike: list[Judged], verbose: bool) -> None:
    """What became of a finding on which subjects, what it was, and of what isn't fixed: what is seen now, or why nothing can be said."""
    one, *others = alike
    more = f"  and {len(others)} more: {fold([other.subject.name for other in others])}" if others else ""
    word = "new" if one.outcome == "worse" else WORDS[one.outcome]
    page.lines((word, STYLES[one.outcome]), (f"  {one.subject.name or one.subject.kind}", "bold"), (more, ""))
    page.lines((one.was or one.now, ""), indent=2)
    if one.was and one.now and one.now != one.was:
        page.lines(("now  ", "dim"), (one.now, ""), indent=2)
    if one.why:
        page.lines((one.why, ""), indent=2)
    if one.outcome != "fixed" or verbose:
        seen(page, one.evidence, verbose)


def add_command_output(page: Page, ran: Ran, verbose: bool) -> None:
    """A command of a fix, with the first lines of what it said."""
    page.command(ran.argv, "", f"{ran.host}: " if ran.host else "")
    if ran.why:
        page.entry("", ran.why, style="dim")
        return
    lines = [line for line in ran.text.splitlines() if line.strip()]
    for line in lines if verbose else lines[:FOLDED]:
        page.entry("", line if verbose else shorten(line, page.room(1)))
    more = [] if verbose or len(lines) <= FOLDED else [f"{count(len(lines) - FOLDED, 'more line')} with -v"]
    ended = [f"exit code {ran.exit}"] if ran.exit else [] if lines else ["it printed nothing"]
    if more or ended:
        page.entry("", ", ".join([*ended, *more]), style="dim")


def waiting_line(made: Verification, pause: float, left: float) -> str:
    """A line between two looks: `not fixed: 1 of 2 findings fixed; looking again in 8 s, at most 9 min more`."""
    rest = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
    return f"{WORDS[made.outcome]}: {summary(made)}; looking again in {pause:.0f} s, at most {rest} more"


def as_json(made: Verification) -> str:
    """The verification for programs, redacted as every report that is handed on, with everything unprintable escaped."""
    from gpudoctor.cli.sharing import redact_value
    from gpudoctor.probes.redact import Redactor

    told = redact_value(msgspec.to_builtins(made), Redactor(), "")
    text = json.dumps(told, indent=2, ensure_ascii=False)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text) + "\n"
