"""Why these causes and no others, check by check, with the values that the conditions saw: `--explain-path`."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.report import Part, Reason, Tie, Tried, Value
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.text import count, shorten

REASONS, CHECKS, TIES = 3, 2, 3  # that are shown without -v
OTHERS = (5, 3, 2)  # of the first cause, the second, the third: all of it stays a page or two
LONGEST = 220  # characters of what was seen and of a part of a condition, without -v
ANSWERS = {True: ("holds  ", "green"), False: ("false  ", "red"), None: ("unknown", "yellow")}


def path(page: Page, reasons: Sequence[Reason], verbose: bool) -> None:
    """The reasons of the findings, roots first; without -v those of the first few roots."""
    chief = reasons if verbose else [one for one in reasons if one.role != "symptom"][:REASONS]
    page.gap()
    page.lines(("Why this and nothing else" if chief else "Nothing was found, so there is nothing to explain", "bold"))
    for number, one in enumerate(chief):
        reason(page, one, verbose, len(one.others) if verbose else OTHERS[number])
    if len(chief) < len(reasons):
        page.gap()
        page.lines((f"{count(len(reasons) - len(chief), 'more finding')} with -v", "dim"), indent=2)


def reason(page: Page, one: Reason, verbose: bool, others: int) -> None:
    """What one finding rests on, what ties it to others, and what else it could have been: so many causes."""
    page.gap()
    page.lines((one.cause, "bold"), (f"  {one.subject}, {one.role}", ""), indent=2)
    page.lines((one.confidence, "dim"), indent=2)
    for check in one.checks if verbose else one.checks[:CHECKS]:
        print_found(page, check, verbose)
    print_more(page, len(one.checks), verbose, CHECKS, "check", indent=4)
    ties(page, "explains", one.explains, verbose)
    ties(page, "explained by", one.explained_by, verbose)
    if one.others:
        page.lines(("What else it could have been", "bold"), indent=4)
    for other in one.others[:others]:
        ruled_out(page, other, verbose)
    print_more(page, len(one.others), verbose, others, "cause", indent=6)


def print_found(page: Page, check: Tried, verbose: bool) -> None:
    """A check that found it: its condition part by part, each variable with its value and place, and the records that were joined."""
    page.lines(("found by  ", "dim"), (check.check, ""), (f"  {check.place}, {check.confidence}", "dim"), indent=4)
    parts(page, check.decides, verbose)
    values(page, check.values, verbose)
    for line in check.joined:
        page.lines(("joined  ", "dim"), (data(line, verbose), ""), indent=6)


def ruled_out(page: Page, check: Tried, verbose: bool) -> None:
    """A check that didn't: by which part of its condition, or for want of what."""
    page.lines((check.cause, "bold"), (f"  {', '.join(check.near)}", ""), (f"  {check.check}, {check.place}", "dim"), indent=6)
    if check.outcome == "skipped":
        page.lines(("not looked at  ", "dim"), (check.why, ""), indent=8)
        return
    if not check.values and check.why:
        page.lines((f"{'unknown' if check.outcome == 'unknown' else 'false'}  ", "dim"), (explain_outcome(check), ""), indent=8)
        return
    parts(page, check.decides, verbose, indent=8)
    values(page, check.values, verbose, indent=8)
    if check.why:
        page.lines((check.why, "yellow"), indent=8)
    if any(value.name.endswith((".present", ".count")) for value in check.values):
        for line in check.joined:
            page.lines(("joined  ", "dim"), (data(line, verbose), ""), indent=8)


def explain_outcome(check: Tried) -> str:
    """Why a check without a record is what it is: `message.name == "x": for none of 12 messages`."""
    return ": ".join([*(part.text for part in check.decides), check.why])


def parts(page: Page, terms: Sequence[Part], verbose: bool, indent: int = 6) -> None:
    """The parts of a condition that decide."""
    for term in terms:
        word, style = ANSWERS[term.holds]
        page.lines((f"{word}  ", style), (data(term.text, verbose), ""), indent=indent)


def values(page: Page, seen: Sequence[Value], verbose: bool, indent: int = 6) -> None:
    """The variables with what they were; of one place in one line."""
    by_place: dict[str, list[Value]] = {}
    for value in seen:
        by_place.setdefault(f"{value.source}:{value.line}" if value.line else value.source, []).append(value)
    for place, own in by_place.items():
        texts = [f"{value.name} = {value.value}" if not value.why else f"{value.name} is not known: {value.why}" for value in own]
        page.lines(("saw  ", "dim"), (data(", ".join(texts), verbose), ""), (f"  {place}" if place else "", "dim"), indent=indent)


def ties(page: Page, label: str, links: Sequence[Tie], verbose: bool) -> None:
    """What it explains or is explained by, and why; and what it isn't, though the catalogue would allow it."""
    for tie in links if verbose else links[:TIES]:
        words = (label, "dim") if tie.holds else (f"not {label}", "yellow")
        page.lines(words, (f"  {tie.cause}, {tie.subject}: {tie.why}", ""), indent=4)
    print_more(page, len(links), verbose, TIES, "link", indent=4)


def data(text: str, verbose: bool) -> str:
    """What was read or is written in a runbook; without -v only its beginning and its end."""
    return text if verbose else shorten(text, LONGEST)


def print_more(page: Page, total: int, verbose: bool, most: int, noun: str, *, indent: int) -> None:
    """Print how many were left out."""
    if not verbose and total > most:
        page.lines((f"{count(total - most, f'more {noun}')} with -v", "dim"), indent=indent)
