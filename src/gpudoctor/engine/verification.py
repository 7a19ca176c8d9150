"""What is said of a finding that was looked at again, as plain data: its JSON is a contract (`gpudoctor.verify/1`)."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpudoctor.engine import conclude, relate
from gpudoctor.engine.evaluate import Hit
from gpudoctor.engine.evidence import evidence
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.steps import Run
from gpudoctor.engine.times import stamp
from gpudoctor.facts import Subject
from gpudoctor.facts.identity import Links
from gpudoctor.facts.times import zone_is_known
from gpudoctor.report import Evidence, ReportSubject, Severity, StepResult
from gpudoctor.runbook.model import Library

Became = Literal["fixed", "not-fixed", "unknown", "worse", "seen"]
Outcome = Literal["fixed", "not-fixed", "unknown", "worse"]
EXIT: dict[Outcome, int] = {"fixed": 0, "not-fixed": 1, "worse": 1, "unknown": 3}
# What keeps a line after what it tells of is over. An answer of any other command is about now.
LOGS = ("dmesg", "journalctl", "tail", "kubectl logs", "kubectl get events")
Key = tuple[str, str, str]  # cause, kind of the subject, its name


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A finding and what became of it: `worse` is one that the earlier run had ruled out, `seen` one that it could not see."""

    cause: str
    severity: Severity
    role: Literal["root", "symptom"]
    subject: ReportSubject
    outcome: Became
    check: str
    was: str = ""  # the title of the earlier finding
    now: str = ""  # the title of the new one; of a fixed one what shows that it is
    why: str = ""  # it is unknown
    evidence: list[Evidence] = []


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The `verify` command of a fix: what it said, redacted, or why it was not run."""

    argv: list[str]
    host: str = ""
    fix: str = ""  # the title of the fix
    exit: int = 0
    text: str = ""
    why: str = ""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the findings of an earlier run."""

    schema: str = "gpudoctor.verify/1"
    tool: str
    started: str
    reference: str  # the session or bundle
    recorded: str
    runbook: str
    asked: str
    outcome: Outcome
    findings: list[Judged]
    new: list[Judged] = []
    commands: list[Ran] = []
    steps: list[StepResult] = []
    rounds: int = 1

    @property
    def exit_code(self) -> int:
        """0 fixed, 1 not fixed or worse, 3 it could not be told."""
        return EXIT[self.outcome]


class Times(msgspec.Struct, frozen=True):
    """When the earlier run read something: each command by the name that evidence has for it, and the whole at the latest."""

    commands: dict[str, float]
    last: float


def overall_outcome(findings: list[Judged], new: list[Judged]) -> Outcome:
    """The outcome of all: one new problem outweighs everything, and what could not be told is never fixed."""
    said = {one.outcome for one in (*findings, *new)}
    if "worse" in said:
        return "worse"
    if said & {"not-fixed", "seen"}:
        return "not-fixed"
    return "unknown" if "unknown" in said else "fixed"


def spoken_of(one: relate.Found, outcome: Became, *, now: str = "", why: str = "", hits: list[Hit] | None = None) -> Judged:
    """A finding with what became of it; the evidence is the new one, where there is any."""
    return Judged(
        cause=one.cause.id,
        severity=one.severity,
        role="root" if one.root else "symptom",
        subject=conclude.report_subject(one.subject),
        outcome=outcome,
        check=one.check,
        was=one.title if outcome not in ("worse", "seen") else "",
        now=now,
        why=why,
        evidence=evidence((origin for hit in hits or [] for origin in hit.origins), hits or []),
    )


def links_of(run: Run) -> Links:
    """The names that belong together in a run."""
    return Links(*(run.store.records(kind) for kind in ("pods", "waits", "gpus", "workloads", "slurm_jobs", "ranks", "xids")))


def hits_of(library: Library, checked: list[Checked], links: Links) -> dict[Key, list[tuple[Checked, Hit]]]:
    """The alarms of decided checks, by cause and subject."""
    made: dict[Key, list[tuple[Checked, Hit]]] = {}
    for one in checked:
        if one.outcome != "found" or not one.check.finds:
            continue
        cause = library.causes[one.check.finds]
        if one.check.weighs(cause) != "info":
            for hit in (hit for hit in one.hits if hit.confidence(one.check) != "possible"):
                subject: Subject = links.unify(hit.subject.as_kind(cause.subject))
                made.setdefault((one.check.finds, subject.kind, subject.name), []).append((one, hit))
    return made


def is_old_hit(hit: Hit, times: Times, before: list[Hit]) -> bool:
    """Whether a hit is only the memory of a log: what it tells of had happened when the earlier run read, or is among what it read."""
    if not hit.origins or not all(is_log(origin.source) for origin in hit.origins):
        return False
    if hit.last is not None:
        return hit.last <= times.commands.get(hit.origins[0].source, times.last)
    old = {(origin.source, origin.text) for one in before for origin in one.origins}
    return all((origin.source, origin.text) in old for origin in hit.origins)


def is_log(source: str) -> bool:
    """Whether a source keeps what is over.

    >>> is_log("gpu-02: dmesg --time-format=iso"), is_log("kubectl get pods -o json")
    (True, False)
    """
    return any(f"{text} ".startswith(f"{log} ") for text in (source, source.partition(": ")[2]) for log in LOGS)


def by_now(hit: Hit) -> str:
    """Why an old line says neither."""
    when = f" (the last at {stamp(hit.last, zone=zone_is_known(hit.record))})" if hit.last is not None else ""
    return f"the log has the lines from before{when} and no newer one: the error has not returned so far"
