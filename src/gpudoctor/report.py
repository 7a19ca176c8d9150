"""The report: what a run found, ruled out and could not see. Reporters read only this; its JSON form is a contract."""

from __future__ import annotations

from typing import Literal

import msgspec

Outcome = Literal["found", "clear", "skipped", "unknown"]
Severity = Literal["info", "warning", "critical"]
Verdict = Literal["healthy", "problem", "inconclusive"]
Confidence = Literal["confirmed", "likely", "possible"]
Risk = Literal["safe", "disruptive", "destructive"]

SCHEMA = "gpudoctor.report/1"
EXIT_CODES: dict[str, int] = {"healthy": 0, "problem": 1, "inconclusive": 3}
NO_CONSENT = 4
SEVERITY_ORDER: dict[str, int] = {"critical": 0, "warning": 1, "info": 2}


class Evidence(msgspec.Struct, frozen=True):
    source: str
    line: int
    text: str


class Fix(msgspec.Struct, frozen=True):
    title: str
    risk: Risk
    run: list[str] = []
    undo: list[str] = []
    verify: list[str] = []


class ReportSubject(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: str
    name: str
    namespace: str = ""
    pod: str = ""
    workload: str = ""
    node: str = ""
    gpu: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    role: Literal["root", "symptom"] = "root"
    severity: Severity
    confidence: Confidence
    subject: ReportSubject
    time: str | None = None
    check: str  # RUNBOOK.CHECK
    title: str
    means: str = ""
    explains: list[str] = []  # causes of findings in this report that this one explains
    explained_by: list[str] = []
    evidence: list[Evidence] = []
    act: str = ""
    who: str = ""
    fixes: list[Fix] = []
    references: list[str] = []
    also: list[str] = []  # names of further subjects with the same finding, folded into this one


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    why: str
    check: str = ""
    subject: ReportSubject
    evidence: list[Evidence] = []
    settle_with: list[str] = []


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    why: str
    settle_with: list[str] = []


class Missing(msgspec.Struct, frozen=True):
    what: str
    why: str


class Coverage(msgspec.Struct, frozen=True):
    asked: int = 0
    answered: int = 0
    missing: list[Missing] = []


class InputFile(msgspec.Struct, frozen=True):
    path: str
    recognised_as: list[str] = []
    note: str = ""


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    id: str  # RUNBOOK.STEP
    title: str = ""
    outcome: Outcome
    argv: list[str] = []
    host: str = ""
    seconds: float = 0.0
    note: str = ""  # why it was skipped or is unknown


class Table(msgspec.Struct, frozen=True):
    """Rows that a runbook shows beside its findings: the nodes by reason, the nearest fits."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One measured quantity of one thing over time. Those of one title are drawn together."""

    title: str  # SM clock
    unit: str
    name: str  # of what was measured: gpu-02/GPU-5a0c…
    points: list[tuple[float, float]]  # seconds since the epoch, value; in the order of time
    marked: bool = False  # it is one of those that the report is about, not a neighbour to compare with


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """Ranks of a distributed job against time: until when they ran, waited, were heard of, and when they ended. Seconds since the epoch."""

    name: str  # ranks, folded
    waits_from: float | None = None
    heard: float | None = None
    ended: float | None = None
    marked: bool = False  # one of those that the report is about


class Report(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = SCHEMA
    tool: str
    started: str
    runbook: str = ""
    asked: str = ""  # the question in one line: `pod ml/train-0`
    verdict: Verdict
    findings: list[Finding] = []
    candidates: list[Candidate] = []
    ruled_out: list[str] = []
    unknown: list[Unknown] = []
    coverage: Coverage = Coverage()
    withheld: list[Missing] = []  # commands that would disturb running work, and were not run for want of consent
    inputs: list[InputFile] = []
    tables: list[Table] = []
    series: list[Series] = []
    lanes: list[Lane] = []
    steps: list[StepResult] = []

    @property
    def exit_code(self) -> int:
        """The verdict's code; 4 where no problem was found and a step was not run for want of consent."""
        return NO_CONSENT if self.withheld and self.verdict == "inconclusive" else EXIT_CODES[self.verdict]
