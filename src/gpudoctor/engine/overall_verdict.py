"""What a report says as a whole: the verdict, what could not be decided, and which causes it rules out."""

from __future__ import annotations

import msgspec

from gpudoctor.engine.outcomes import Checked
from gpudoctor.report import Candidate, Finding, InputFile, Unknown, Verdict
from gpudoctor.runbook.model import Library

# What no parser knows: only known lines, or numbers of a known kind, were looked for in it. What stands beside them is still unknown.
SEARCHED = frozenset(
    {
        "text",
        "logs.text",
        "cuda.bandwidth",
        "linux.measures",
        "notes.said",
        "prometheus.answers",
        "serving.measures",
        "slurm.accounting",
        "training.figures",
        "training.values",
    }
)


def unknowns(checked: list[Checked]) -> list[Unknown]:
    """The checks that could not be decided, with what would settle them."""
    return [Unknown(check=one.name, why=one.why, settle_with=one.settle_with) for one in checked if one.outcome == "unknown"]


def with_weight(unsure: list[Unknown], checked: list[Checked], library: Library, verdict: Verdict, settled: set[str]) -> list[Unknown]:
    """The undecided checks, each with whether its answer may change the verdict: none beside a problem, none that would find what is mere
    information, or a cause that is `settled`.
    """
    alarms = {
        one.name
        for one in checked
        if one.check.finds and one.check.finds not in settled and one.check.weighs(library.causes[one.check.finds]) != "info"
    }
    return [msgspec.structs.replace(one, decides=verdict != "problem" and one.check in alarms) for one in unsure]


def unsettled_causes(checked: list[Checked]) -> set[str]:
    """The causes of which a check found something or could not be decided."""
    return {one.check.finds for one in checked if one.outcome in ("found", "unknown")}


def verdict(
    decided: list[Finding], open_: list[Candidate], unsure: list[Unknown], checked: list[Checked], inputs: list[InputFile]
) -> Verdict:
    """A warning or critical finding is a problem; anything undecided or not understood, or nothing checked at all, is inconclusive."""
    if any(one.severity != "info" for one in decided):
        return "problem"
    if open_ or unsure or not any(one.outcome in ("clear", "found") for one in checked):
        return "inconclusive"
    return "healthy" if all(map(is_understood, inputs)) else "inconclusive"


def is_understood(given: InputFile) -> bool:
    """Whether all of a file was read by what knows it. That no known line stands in other words doesn't make them good ones."""
    whole = not given.note and not given.unknown  # a note says what was not read of it
    return given.note == "empty" or (whole and not SEARCHED.issuperset(given.recognised_as))
