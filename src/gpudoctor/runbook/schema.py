"""The YAML of runbooks, catalogue, messages and tests as pydantic models: strict keys, located errors, JSON Schema.

Imported only where YAML is read; a run uses the compiled records of `model`.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from gpudoctor.report import Severity
from gpudoctor.runbook.fields import (
    TEXT,
    Argument,
    CauseName,
    CauseNameOrEmpty,
    Condition,
    Duration,
    Equalities,
    Kebab,
    Plain,
    Seconds,
    Snake,
    SnakeOrEmpty,
    Url,
    duration,
    each,
    free_name,
)


class Model(BaseModel):
    """Base: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


Version = Annotated[Literal[1], Field(alias="schema"), BeforeValidator(lambda value: None if value is True else value)]  # True == 1


class Each(Model):
    """`each: pod in pods`."""

    name: str
    type: str


EachField = Annotated[Each, BeforeValidator(each), TEXT]


class Input(Model):
    """An input with its type and default."""

    type: Literal["string", "int", "float", "bool", "duration"]
    default: Plain
    help: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def fits(self) -> Input:
        """The default is of the type."""
        if self.type == "duration":
            self.default = duration(self.default)
        wanted = {"string": str, "int": int, "float": (int, float), "bool": bool, "duration": float}[self.type]
        if not isinstance(self.default, wanted) or (self.type != "bool" and isinstance(self.default, bool)):  # type: ignore[arg-type]
            raise ValueError(f"default is not a {self.type}")
        return self


class Join(Model):
    """One entry of `with:`."""

    from_: Annotated[str, Field(alias="from")]
    on: Equalities = {}
    where: Condition = ""
    before: Condition = ""
    after: Condition = ""
    within: Duration | None = None
    pick: Literal["first", "last", "count", "none"] = "first"

    @model_validator(mode="after")
    def has_an_end(self) -> Join:
        """A window is measured from somewhere."""
        if self.within is not None and not (self.before or self.after):
            raise ValueError("has within without before or after: within what distance of which time?")
        return self


class Finds(Model):
    """What is said of a cause that is found: in which words, how sure, how severe, who acts where, and what would settle it."""

    title: str = ""
    confidence: Literal["confirmed", "likely", "possible"] = "confirmed"
    severity: Severity | None = None
    act: str = ""
    settle_with: list[str] = []
    node: str = ""


class Check(Finds):
    """One check."""

    id: Snake
    each: EachField | None = None
    with_: Annotated[dict[Snake, Join], Field(alias="with")] = {}
    when: Condition = "true"
    finds: CauseNameOrEmpty = ""

    @model_validator(mode="after")
    def named_apart(self) -> Check:
        """Every record of a check has a name of its own."""
        for name, join in self.with_.items():
            if free_name(name) == (self.each and self.each.name):
                raise ValueError(f"with.{name} has the name of the record that the check looks at")
            if isinstance(join.on, list) and self.each is None:
                raise ValueError(f"with.{name}.on is a list of fields of two records, and the check has no each")
        return self


class Row(Finds):
    """One row of a table: where the field has the value that the row is named after, or one of `is`, and `when` holds, it finds a cause,
    unless another record of the type has a value of `unless`.
    """

    is_: Annotated[Plain | Annotated[list[Plain], Field(min_length=1)] | None, Field(alias="is")] = None
    when: Condition = ""
    unless: Plain | Annotated[list[Plain], Field(min_length=1)] | None = None
    finds: CauseName


class Group(Model):
    """The rows that look at one field (`by`) of one fact type, or each at what its `when` says of the record. The title is of the rows that
    have none.
    """

    each: EachField
    by: SnakeOrEmpty = ""
    title: str = ""
    rows: Annotated[dict[Snake, Row], Field(min_length=1)]

    @model_validator(mode="after")
    def decides(self) -> Group:
        """Something decides in each row."""
        for name, row in self.rows.items():
            if not self.by and (not row.when or row.is_ is not None or row.unless is not None):
                raise ValueError(f"rows.{name}: without `by` a row has `when`, and neither `is` nor `unless`")
        return self


class Rules(Model):
    """A table of rules: each row leads from one value to one cause."""

    schema_: Version
    id: Kebab
    title: Annotated[str, Field(min_length=1)]
    references: list[Url] = []
    rules: Annotated[list[Group], Field(min_length=1)]


class Lists(Model):
    """Values that conditions name together: `message.name in list.NAME`."""

    lists: Annotated[dict[Snake, Annotated[list[Plain], Field(min_length=2)]], Field(min_length=1)]


class Expectation(Check):
    """One entry of `expects:`."""

    asked: Condition = ""
    where: Condition = ""
    texts: bool = False
    not_so: str = ""

    @model_validator(mode="after")
    def says_what_is_sound(self) -> Expectation:
        """It is about records, has a condition and words, and finds nothing."""
        if self.each is None or self.when == "true" or not self.title:
            raise ValueError("needs each, when and title: which records must show what, and in which words is it said?")
        if self.finds:
            raise ValueError("finds a cause: an expectation says what is sound; a check says what is wrong")
        if re.search(r"!\s*\w+\.\w+_known\s*\|\|", self.when):
            raise ValueError("holds where something is not known: what the product lacks is `f_na ||`, what could not be read is not shown")
        return self


class Early(Model):
    """What of a pod may pass by itself."""

    each: EachField
    when: Condition
    title: Annotated[str, Field(min_length=1)]
    lasting: list[CauseName] = []


class Question(Model):
    """What a run asks, in words."""

    when: Condition
    says: Annotated[str, Field(min_length=1)]


class Show(Model):
    """A table of the report."""

    title: str
    each: EachField
    where: Condition = ""
    columns: Annotated[dict[str, str], Field(min_length=1)]


class Sample(Model):
    """Repeat a probe: a number of times, or for a time."""

    every: Duration
    times: Annotated[int, Field(ge=0, le=10)] = 0
    span: str = ""

    @model_validator(mode="after")
    def one_end(self) -> Sample:
        """A number or a time."""
        if (self.times >= 2) == bool(self.span):
            raise ValueError("needs times (2 or more) or span, and not both")
        return self


class Promql(Model):
    """A question to a Prometheus: a range query (`span` is how far back it reaches, `every` the distance of its points), without a span
    a query of this moment, or `query: /targets` for what it scrapes.
    """

    url: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    span: Seconds = ""
    every: Seconds = "15"

    def argv(self) -> list[str]:
        """The form in which it is asked and recorded."""
        return ["promql", self.url, self.query, *([self.span, self.every] if self.span else [])]


# How the steps that are no command line of a program are asked, and the parsers that read their answers.
PARSERS = {"nvml gpus": "nvml.gpus", "nvml samples": "nvml.samples", "promql": "prometheus.range", "ask": "person.answer"}


class Step(Model):
    """One step: exactly one of run, nvml, promql, ask, derive, include."""

    id: SnakeOrEmpty = ""
    title: str = ""
    why: str = ""
    when: Condition = ""
    each: EachField | None = None
    where: Condition = ""
    limit: Annotated[int, Field(ge=1, le=10000)] = 16
    host: str = ""
    run: list[Argument] = []
    nvml: list[Argument] = []
    promql: Promql | None = None
    ask: str = ""
    choices: dict[Snake, Annotated[str, Field(min_length=1)]] = {}
    otherwise: list[Argument] = []
    optional: bool = False
    effect: Literal["", "disruptive"] = ""
    derive: str = ""
    include: str = ""
    set: dict[str, str] = {}
    parse: str = ""
    timeout: Duration = 30.0
    sample: Sample | None = None
    rules: list[Kebab] = []
    checks: list[Check] = []
    show: Show | None = None

    @model_validator(mode="after")
    def one_kind(self) -> Step:
        """A step does one thing."""
        kinds = [name for name in ("run", "nvml", "promql", "ask", "derive", "include") if getattr(self, name)]
        if len(kinds) > 1:
            raise ValueError(f"has {' and '.join(kinds)}: a step does one of run, nvml, promql, ask, derive, include")
        if self.rules and not kinds:
            raise ValueError("has rules, and reads nothing that they could be tried on")
        if not kinds and not self.checks and not self.show:
            raise ValueError("does nothing: give it run, nvml, promql, ask, derive, include, checks or show")
        if bool(self.ask) != bool(self.choices) or len(self.choices) == 1:
            raise ValueError("a question (ask) and its answers (choices, two or more) go together")
        if self.ask and (self.host or self.otherwise or self.optional or self.effect or self.sample):
            raise ValueError("has ask with host, otherwise, optional, effect or sample: a person is asked here, and once")
        self.as_a_command()
        if self.run and not self.parse:
            raise ValueError("has run without parse: which parser reads the answer?")
        if self.parse and not self.run:
            raise ValueError("has parse without run")
        if not self.include and not self.id:
            raise ValueError("needs an id")
        if self.include and (self.checks or self.each or self.show or self.rules):
            raise ValueError("an include has only set and when")
        if not self.run and (self.otherwise or self.optional or self.effect or self.sample):
            raise ValueError("has otherwise, optional, effect or sample, and no command")
        if self.effect and (self.optional or self.otherwise or self.sample):
            raise ValueError("has effect with optional, otherwise or sample: what disturbs is asked once")
        return self

    def as_a_command(self) -> None:
        """`nvml`, `promql` and `ask` in the form in which they are asked and recorded: as `run`, with the parser of their answer."""
        if self.nvml:
            self.run = ["nvml", *self.nvml]
        elif self.promql:
            self.run = self.promql.argv()
        elif self.ask:
            self.run = ["ask", self.id, self.ask]
        if self.run and not self.parse:
            self.parse = PARSERS.get(" ".join(self.run[:2]), PARSERS.get(self.run[0], ""))


class Runbook(Model):
    """A runbook file."""

    schema_: Version
    id: Kebab
    title: Annotated[str, Field(min_length=1)]
    status: Literal["experimental", "stable", "deprecated"] = "stable"
    summary: str = ""
    alerts: list[str] = []
    references: list[Url] = []
    inputs: dict[Snake, Input] = {}
    steps: Annotated[list[Step], Field(min_length=1)]
    expects: list[Expectation] = []
    early: Early | None = None
    question: list[Question] = []


class Look(Model):
    """What shows more of a cause: a command that only reads."""

    title: Annotated[str, Field(min_length=1)]
    run: Annotated[list[Argument], Field(min_length=1)]


def pattern(text: str) -> str:
    """A regular expression. Raises ValueError where it is none."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return text


class Fix(Model):
    """What mends a cause: a command, a piece of a manifest or a configuration to put in, or what a person does.

    It is offered where a line of the evidence has the pattern `seen`, whose named groups fill `${seen.NAME}`, and where `by` schedules the
    node; with `otherwise`, where nothing more precise is offered.
    """

    title: Annotated[str, Field(min_length=1)]
    risk: Literal["safe", "disruptive", "destructive"]
    seen: Annotated[str, AfterValidator(pattern)] = ""
    by: Literal["", "kubernetes", "slurm"] = ""
    otherwise: bool = False
    run: list[Argument] = []
    manifest: str = ""
    undo: list[Argument] = []
    verify: list[Argument] = []


class SharedFix(Model):
    """A fix of `shared-fixes.yaml` by its name; the other words fill `${before}` and `${until}` in its titles."""

    do: Kebab
    before: str = ""
    until: str = ""
    verify: list[Argument] = []  # in place of the fix's own


def which(given: object) -> str:
    """Whether a fix is written out or named, by its key `do`."""
    return "shared" if isinstance(given, SharedFix) or (isinstance(given, dict) and "do" in given) else "own"


class SharedFixes(Model):
    """Fixes that many causes have, by name; of one name there may be one for each scheduler."""

    fixes: Annotated[dict[Kebab, list[Fix]], Field(min_length=1)]


OneLine = Annotated[str, Field(min_length=1), AfterValidator(lambda text: " ".join(text.split()))]


class Cause(Model):
    """An entry of the catalogue."""

    title: Annotated[str, Field(min_length=1)]
    subject: Literal["pod", "workload", "node", "gpu", "cluster"]
    severity: Literal["info", "warning", "critical"]
    layer: Kebab
    act: Literal["watch", "fix-config", "restart-job", "restart-service", "reset-gpu", "reboot", "power-cycle", "replace"]
    who: Literal["job-owner", "operator", "datacenter", "vendor"]
    means: OneLine
    tell: OneLine | Literal[""] = ""
    confused_with: dict[CauseName, OneLine] = {}
    explains: list[CauseName] = []
    references: list[Url] = []
    look: list[Look] = []
    fixes: list[Annotated[Annotated[Fix, Tag("own")] | Annotated[SharedFix, Tag("shared")], Discriminator(which)]] = []
    fits: list[Snake] = []
    no_fix: OneLine | Literal[""] = ""
    broader: bool = False
    yields_to: list[CauseName] = []
    refuted_by: list[Annotated[str, Field(pattern=r"^[a-z0-9-]+\.[a-z0-9_]+$")]] = []


class Catalogue(Model):
    """A catalogue file: one layer."""

    causes: Annotated[dict[CauseName, Cause], Field(min_length=1)]


class Benign(Model):
    """Why a line that a program marks as an error or a warning is none."""

    why: OneLine
    at_most: Annotated[int, Field(ge=1)] | None = None
    not_last: bool = False


class Wording(Model):
    """How one program says a message."""

    pattern: Annotated[str, Field(min_length=1)]
    line: Annotated[str, Field(min_length=1)]


class Message(Model):
    """An entry of a messages file: one pattern with its line, or several of them."""

    name: Snake
    pattern: str = ""
    line: str = ""
    any: Annotated[list[Wording], Field(min_length=2)] = []
    unless: str = ""
    source: str = ""
    benign: bool | Benign = False
    sampled: bool = False
    survivor: bool = False

    @model_validator(mode="after")
    def has_one_form(self) -> Message:
        """`pattern` and `line`, or `any` with both in each."""
        if bool(self.any) == bool(self.pattern or self.line) or bool(self.pattern) != bool(self.line):
            raise ValueError("needs a pattern and a line, or any: a list of both")
        return self

    @model_validator(mode="after")
    def counts_what_is_an_error(self) -> Message:
        """Only of what is benign a sample may do."""
        if self.sampled and not self.benign:
            raise ValueError("sampled: every line of what is not benign is read")
        return self

    def wordings(self) -> list[Wording]:
        """All patterns, each with its line."""
        return self.any or [Wording(pattern=self.pattern, line=self.line)]


class Messages(Model):
    """A messages file."""

    messages: Annotated[list[Message], Field(min_length=1)]
