"""What a report says as a whole: the verdict, what could not be decided, and which causes it rules out."""

from __future__ import annotations

from collections.abc import Collection

from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.store import Store
from gpudoctor.facts.stall import Pace
from gpudoctor.report import Candidate, Finding, InputFile, Unknown, Verdict

# What no parser knows: only known lines, or numbers of a known kind, were looked for in it. What stands beside them is still unknown.
SEARCHED = frozenset({"text", "logs.text", "text.measures", "gpu.stated"})
# Known as far as it goes: that steps were as long as ever doesn't say that the next one came, unless the last one is there.
PROGRESS = "training.log"


def unknowns(checked: list[Checked]) -> list[Unknown]:
    """The checks that could not be decided, with what would settle them."""
    return [Unknown(check=one.name, why=one.why, settle_with=one.settle_with) for one in checked if one.outcome == "unknown"]


def unsettled(checked: list[Checked]) -> set[str]:
    """The causes of which a check found something or could not be decided."""
    return {one.check.finds for one in checked if one.outcome in ("found", "unknown")}


def verdict(
    decided: list[Finding],
    open_: list[Candidate],
    unsure: list[Unknown],
    checked: list[Checked],
    inputs: list[InputFile],
    ended: Collection[str] = (),
) -> Verdict:
    """A warning or critical finding is a problem; anything undecided or not understood, or nothing checked at all, is inconclusive.

    `ended` are the logs that show the last step of their work.
    """
    if any(one.severity != "info" for one in decided):
        return "problem"
    if open_ or unsure or not any(one.outcome in ("clear", "found") for one in checked):
        return "inconclusive"
    return "healthy" if decided or all(understood(one, ended) for one in inputs) else "inconclusive"


def understood(given: InputFile, ended: Collection[str] = ()) -> bool:
    """Whether all of a file was read by what knows it. That no known line stands in other words doesn't make them good ones."""
    goes_on = PROGRESS in given.recognised_as and given.path not in ended
    whole = not given.note and not given.unknown  # a note says what was not read of it
    return given.note == "empty" or (whole and not goes_on and not SEARCHED.issuperset(given.recognised_as))


def ended(store: Store) -> set[str]:
    """The logs of training that show the last one of their steps."""
    paces = (one for one in store.records("paces") if isinstance(one, Pace))
    return {one.origin.source for one in paces if one.step is not None and one.total is not None and one.step >= one.total - 1}
