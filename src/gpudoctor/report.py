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
CONFIDENCE_MEANS: dict[str, str] = {
    "confirmed": "direct evidence of the cause itself",
    "likely": "evidence of its signature",
    "possible": "consistent with it, and not only with it",
}
SEVERITY_ORDER: dict[str, int] = {"critical": 0, "warning": 1, "info": 2}


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    source: str
    line: int
    text: str
    match: tuple[int, int] = (0, 0)  # from where to where the text says it; (0, 0) where that is not known
    values: list[str] = []  # what was read there, where the text alone doesn't show it: `temperature: 88`
    time: str | None = None  # of this line


class Look(msgspec.Struct, frozen=True):
    """A command that shows more."""

    title: str
    run: list[str]


class Fix(msgspec.Struct, frozen=True):
    title: str
    risk: Risk
    run: list[str] = []
    undo: list[str] = []
    verify: list[str] = []
    manifest: str = ""
    stops: list[str] = []  # the work on the node that it ends, as far as it was read
    find: list[str] = []  # of each name that is not known: `<gpu>: nvidia-smi -L`


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
    look: list[Look] = []
    no_fix: str = ""  # why nothing mends it, and who has to act
    references: list[str] = []
    also: list[str] = []  # names of further subjects with the same finding, folded into this one


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    cause: str
    why: str
    check: str = ""
    subject: ReportSubject
    evidence: list[Evidence] = []
    settle_with: list[str] = []


class Overridden(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that isn't said, since another one reads the same line better or is declared to go before it."""

    cause: str
    confidence: Confidence
    subject: ReportSubject
    check: str  # RUNBOOK.CHECK
    title: str
    overridden_by: list[str]  # the causes
    evidence: list[Evidence] = []


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    check: str
    why: str
    settle_with: list[str] = []
    decides: bool = False  # its answer may change the verdict


class Unexplained(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a program said is not well, and no finding explains."""

    source: str
    line: int
    text: str
    count: int = 1  # how often it was said, apart from numbers


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a subject that is sound."""

    expectation: str  # RUNBOOK.ID
    subject: ReportSubject
    says: str


class NotShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a sound subject shows and this one didn't, and why."""

    expectation: str
    subject: ReportSubject
    why: str
    not_so: bool = False  # it was read, and is otherwise; else it could not be read
    settle_with: list[str] = []


class Refutation(msgspec.Struct, frozen=True, kw_only=True):
    """A cause that is ruled out, for whom, and by what was seen."""

    cause: str
    subject: ReportSubject
    by: str  # the expectation


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
    facts: list[list[str]] = []  # the types of what was read, of each of its parts
    note: str = ""
    unknown: list[str] = []  # parts that no parser knows, by their command or first line


class StepOutput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one command of a step answered, redacted as in a bundle."""

    argv: list[str]
    host: str = ""
    sample: int = 0
    exit: int = 0
    why: str = ""  # it has no answer
    via: str = ""  # how its host was reached
    text: str = ""
    errors: str = ""  # what it said on stderr
    left_out: int = 0  # characters of `text` and `errors` that are too many for a report


class StepResult(msgspec.Struct, frozen=True, kw_only=True):
    id: str  # RUNBOOK.STEP
    title: str = ""
    outcome: Outcome
    argv: list[str] = []
    host: str = ""
    seconds: float = 0.0
    note: str = ""  # why it was skipped or is unknown
    outputs: list[StepOutput] | msgspec.UnsetType = msgspec.UNSET  # only where the form of the report shows them


class CheckResult(msgspec.Struct, frozen=True):
    """The outcome of one check."""

    check: str  # RUNBOOK.CHECK
    outcome: Outcome
    cause: str
    why: str = ""  # it is skipped or unknown


class Table(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows that a runbook shows beside its findings: the nodes by reason, the nearest fits."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    telling: list[int] = []  # the rows that say most, where they are not the first ones


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


class XidLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A burst of equal numbered errors of the driver. Times are RFC 3339 in UTC, None where the log has none."""

    code: int
    text: str
    time: str | None = None
    last: str | None = None
    count: int = 1


class Hardware(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a vendor asks for about a GPU that is to be reset, power-cycled or replaced. What was not read is left out."""

    name: str  # of the finding's subject: gpu-02/GPU-5a0c…
    causes: list[str] = []
    node: str = ""
    uuid: str = ""
    pci: str = ""
    slot: str = ""  # as the machine's firmware calls it
    index: int | None = None
    product: str = ""
    serial: str = ""
    part_number: str = ""
    vbios: str = ""
    inforom: str = ""
    driver: str = ""
    gsp_firmware: str = ""
    remapped_correctable: int | None = None  # rows
    remapped_uncorrectable: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    retired_pages: int | None = None
    retired_pending: bool | None = None
    ecc_uncorrected: int | None = None  # over the card's life
    recovery_action: str = ""  # the driver's own word
    xids: list[XidLine] = []
    more_xids: int = 0  # further bursts, which are in the kernel's log
    diagnostics: list[str] = []  # what DCGM says of it, a line each


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A variable of a condition as the check saw it, and where it was read; an input was read nowhere."""

    name: str  # xid.code
    value: str = ""
    why: str = ""  # it is not known
    source: str = ""
    line: int = 0


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a condition; `holds` is None where it could not be decided."""

    text: str
    holds: bool | None


class Tie(msgspec.Struct, frozen=True, kw_only=True):
    """Why one finding explains another, or doesn't."""

    cause: str  # of the other one
    subject: str
    holds: bool
    why: str


class Tried(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A check on the one record that it found, or that came nearest to being found."""

    check: str  # RUNBOOK.CHECK
    place: str  # of the check: file:line
    cause: str
    confidence: Confidence
    outcome: Outcome
    subject: str = ""
    near: list[str] = []  # why it is looked at beside a finding
    condition: str = ""
    decides: list[Part] = []  # the parts of the condition by which it is what it is
    values: list[Value] = []
    joined: list[str] = []  # the records that belong to this one, a line for each rule
    records: int = 0  # of its type were looked at
    why: str = ""  # it is skipped or unknown


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a finding is reported, and on what it rests."""

    cause: str
    subject: str
    role: Literal["root", "symptom", "candidate"]
    confidence: str  # the word and what it means
    checks: list[Tried] = []
    explains: list[Tie] = []
    explained_by: list[Tie] = []
    others: list[Tried] = []  # what else it could have been, the nearest first


class Report(msgspec.Struct, frozen=True, kw_only=True):
    schema: str = SCHEMA
    tool: str
    started: str
    runbook: str = ""
    asked: str = ""  # the question in one line: `pod ml/train-0`
    verdict: Verdict
    findings: list[Finding] = []
    candidates: list[Candidate] = []
    overridden: list[Overridden] = []
    shown: list[Shown] = []
    not_shown: list[NotShown] = []
    unexplained: list[Unexplained] = []
    refutations: list[Refutation] = []
    ruled_out: list[str] = []
    unknown: list[Unknown] = []
    coverage: Coverage = Coverage()
    withheld: list[Missing] = []  # commands that would disturb running work, and were not run for want of consent
    inputs: list[InputFile] = []
    tables: list[Table] = []
    series: list[Series] = []
    lanes: list[Lane] = []
    hardware: list[Hardware] = []
    steps: list[StepResult] = []
    checks: list[CheckResult] = []  # all of them; not in the JSON, which would be ten times as long
    path: list[Reason] | msgspec.UnsetType = msgspec.UNSET  # why these causes and no others; only where somebody asked

    @property
    def exit_code(self) -> int:
        """The verdict's code; 4 where no problem was found and a step was not run for want of consent."""
        return NO_CONSENT if self.withheld and self.verdict == "inconclusive" else EXIT_CODES[self.verdict]
