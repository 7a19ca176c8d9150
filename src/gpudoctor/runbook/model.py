"""What a runbook is, after it was checked: plain frozen records that the engine executes, from YAML or from the compiled index."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpudoctor.knowledge.compiled import KnownMessage
from gpudoctor.knowledge.nccl_settings import Known
from gpudoctor.report import Confidence, Risk, Severity


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of the compiled records."""


class Input(Struct, frozen=True, kw_only=True):
    """One input of a runbook; it appears as an option and as `input.NAME` in conditions. Durations are seconds."""

    type: Literal["string", "int", "float", "bool", "duration"]
    default: str | int | float | bool
    help: str


class Each(Struct, frozen=True, kw_only=True):
    """`each: pod in pods`: one record of a fact type at a time, under a name."""

    name: str
    type: str


# What somebody is to do: `act` of a cause.
ACTS = ("watch", "fix-config", "restart-job", "restart-service", "reset-gpu", "reboot", "power-cycle", "replace")


class Join(Struct, frozen=True, kw_only=True):
    """Records of another type that belong to the present one: `on` equality (hashed), `where` CEL, order and window in time."""

    name: str
    type: str
    on: dict[str, str] = {}  # field of the joined record → CEL over the present one
    where: str = ""
    before: str = ""  # CEL that gives a time: joined records not later than it
    after: str = ""
    within: float | None = None  # seconds between the joined record and `before`/`after`
    pick: Literal["first", "last", "count", "none"] = "first"


class Check(Struct, frozen=True, kw_only=True):
    """A condition over facts; when it holds for a record, the cause is found on the record's subject.

    Without `finds` it is a question that steers later steps by `found.ID`.
    """

    id: str
    title: str = ""
    each: Each | None = None
    joins: list[Join] = []
    when: str = "true"
    finds: str = ""
    confidence: Confidence = "confirmed"
    severity: Severity | None = None  # where what is seen here weighs less, or more, than the cause mostly does
    act: str = ""  # a template that gives one of the acts, where the driver says more than the catalogue; "" = the cause's own
    settle_with: list[str] = []
    node: str = ""  # a template: the node that the fixes are about, where the subject is a pod that is on none
    table: str = ""  # the table whose row it is
    line: int = 0

    def weighs(self, cause: Cause) -> Severity:
        """How bad it is where this check finds its cause."""
        return self.severity or cause.severity


class Expectation(Check, frozen=True, kw_only=True):
    """What a sound subject shows: a condition that must be seen true of every record (of those with `where`) before the runbook's question
    is answered with healthy. It finds nothing; what is wrong where it doesn't hold, the checks say.
    """

    asked: str = ""  # over the inputs: nothing of it is expected where this doesn't hold
    where: str = ""
    texts: bool = False  # only of what somebody has in files; where a machine is asked, another one says it
    not_so: str = ""  # a template: how it is where the condition doesn't hold


class Early(Struct, frozen=True, kw_only=True):
    """What may pass by itself: where the condition holds for a record of a pod, what checks find on that pod is only possible so far."""

    each: Each
    when: str
    title: str  # a template: what is said behind the title of each
    lasting: list[str] = []  # the causes that no time mends
    line: int = 0


class Question(Struct, frozen=True, kw_only=True):
    """What a run asks, where the condition over its inputs holds: a template over the inputs and `asked.machines`, the machines' names."""

    when: str
    says: str
    line: int = 0


class Show(Struct, frozen=True, kw_only=True):
    """A table that the report shows: one row for each record, a CEL template for each column."""

    title: str
    each: Each
    where: str = ""
    columns: dict[str, str]


class Sample(Struct, frozen=True, kw_only=True):
    """Ask the same thing several times, `times` or for as long as `span` says (seconds, a template: `${input.for}`)."""

    every: float
    times: int = 0
    span: str = ""


class Step(Struct, frozen=True, kw_only=True):
    """One step: a command (or a measurement over facts, or a question to a person), its parser, and the checks that read the answer."""

    id: str
    title: str = ""
    why: str = ""
    when: str = ""
    each: Each | None = None
    where: str = ""
    limit: int = 16
    host: str = ""
    run: list[str] = []
    otherwise: list[str] = []  # asked of the same host when `run` has no answer: no such program, no right
    optional: bool = False  # a program that isn't there makes the checks skipped, not unknown
    effect: Literal["", "disruptive"] = ""  # disruptive: disturbs running work, so it runs only with consent
    derive: str = ""
    include: str = ""
    set: dict[str, str] = {}
    parse: str = ""
    choices: dict[str, str] = {}  # the step is a question to a person, and these are its answers: id → label
    timeout: float = 30.0
    lasts: str = ""  # seconds that the command itself takes, beside `timeout`: a template
    sample: Sample | None = None
    rules: list[str] = []  # tables that are tried on the answer; their rows stand among the checks
    checks: list[Check] = []
    show: Show | None = None
    line: int = 0


class Runbook(Struct, frozen=True, kw_only=True):
    """A list of steps with a header. `path` is where it was read."""

    id: str
    title: str
    status: Literal["experimental", "stable", "deprecated"] = "stable"
    summary: str = ""
    alerts: list[str] = []
    references: list[str] = []
    inputs: dict[str, Input] = {}
    steps: list[Step] = []
    expects: list[Expectation] = []
    early: Early | None = None
    question: list[Question] = []  # the first that holds is the question; then those of the runbooks that it includes
    path: str = ""

    def checks(self) -> list[Check]:
        """All checks, in the order written."""
        return [check for step in self.steps for check in step.checks]


class LookTemplate(Struct, frozen=True, kw_only=True):
    """A command that shows more, with `${…}` for the fields of the subject."""

    title: str
    run: list[str]


class FixTemplate(Struct, frozen=True, kw_only=True):
    """A fix with `${…}` for the fields of the subject, for the cause, and for what `seen` names."""

    title: str
    risk: Risk
    seen: str = ""  # a pattern: it is offered where a line of the evidence has it; its named groups fill `${seen.NAME}`
    by: str = ""  # kubernetes or slurm: it is offered where that schedules the node
    otherwise: bool = False  # it is offered where nothing more precise is: no fix with `seen`, and no nearest fit
    run: list[str] = []
    manifest: str = ""  # a piece of a manifest or of a configuration, to be put in by hand or by GitOps
    undo: list[str] = []
    verify: list[str] = []


class Cause(Struct, frozen=True, kw_only=True):
    """An entry of the catalogue: what a cause means, how severe it is, how to tell, what to do and who can, what it explains."""

    id: str
    title: str
    subject: Literal["pod", "workload", "node", "gpu", "cluster"]
    severity: Severity
    layer: str
    act: str
    who: str
    means: str
    tell: str = ""  # what to look at, with the command
    confused_with: dict[str, str] = {}  # another cause → how to tell the two apart, in one sentence
    explains: list[str] = []
    references: list[str] = []
    look: list[LookTemplate] = []
    fixes: list[FixTemplate] = []
    fits: list[str] = []  # changes of the nearest fit that mend it: tolerate, select … (`facts.scheduling.Fit`)
    no_fix: str = ""  # why nothing mends it, and who has to act
    broader: bool = False
    yields_to: list[str] = []  # causes that speak instead of it where both are found on one thing, or on linked ones
    refuted_by: list[str] = []  # expectations, as RUNBOOK.ID: where one was shown for every target, the cause is ruled out


class Library(Struct, frozen=True, kw_only=True):
    """Everything declarative in one piece: what is compiled into the index."""

    runbooks: dict[str, Runbook] = {}
    tables: dict[str, Runbook] = {}  # of rules: each is one step, and each row a check of it
    lists: dict[str, str] = {}  # name of a list → how a condition spells it
    causes: dict[str, Cause] = {}
    messages: list[KnownMessage] = []
    harmless: list[KnownMessage] = []  # those that are looked for only in lines that say trouble
    literals: dict[str, list[str]] = {}  # name of a message → texts of which every line of it has one (`knowledge.literals`)
    texts: dict[str, list[str]] = {}  # the same as plain texts in lower case: to make thousands takes longer than to read them
    settings: list[Known] = []
    signs: Runbook = Runbook(
        id="signs", title="", path="signs.yaml"
    )  # of trouble, of which no check says the cause (`knowledge/signs.yaml`)

    def found_by(self, cause: str) -> list[str]:
        """The checks that find a cause, as `runbook.check`."""
        return [f"{book.id}.{check.id}" for book in self.runbooks.values() for check in book.checks() if check.finds == cause]

    def told_apart(self, cause: str) -> dict[str, str]:
        """The causes that are taken for this one, and how to tell: what its entry says, and what theirs say of it."""
        own = self.causes[cause].confused_with
        others = [one for one in self.causes.values() if cause in one.confused_with and one.id not in own]
        return own | {one.id: one.confused_with[cause] for one in others}
