"""The YAML of runbooks, catalogue, messages and tests as pydantic models: strict keys, located errors, JSON Schema.

Imported only where YAML is read; a run uses the compiled records of `model`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from gpudoctor.runbook.fields import (
    RESERVED,
    TEXT,
    Argument,
    Condition,
    Duration,
    Equalities,
    Kebab,
    KebabOrEmpty,
    Plain,
    Snake,
    SnakeOrEmpty,
    Url,
    duration,
    each,
    free,
)


class Model(BaseModel):
    """Base: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


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


class Check(Model):
    """One check."""

    id: Snake
    title: str = ""
    each: EachField | None = None
    with_: Annotated[dict[Snake, Join], Field(alias="with")] = {}
    when: Condition = "true"
    finds: KebabOrEmpty = ""
    confidence: Literal["confirmed", "likely", "possible"] = "confirmed"
    settle_with: list[str] = []

    @model_validator(mode="after")
    def named_apart(self) -> Check:
        """Every record of a check has a name of its own."""
        for name, join in self.with_.items():
            if free(name) == (self.each and self.each.name):
                raise ValueError(f"with.{name} has the name of the record that the check looks at")
            if isinstance(join.on, list) and self.each is None:
                raise ValueError(f"with.{name}.on is a list of fields of two records, and the check has no each")
        return self


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


class Step(Model):
    """One step: exactly one of run, derive, include."""

    id: SnakeOrEmpty = ""
    title: str = ""
    why: str = ""
    when: Condition = ""
    each: EachField | None = None
    where: Condition = ""
    limit: Annotated[int, Field(ge=1, le=10000)] = 16
    host: str = ""
    run: list[Argument] = []
    otherwise: list[Argument] = []
    optional: bool = False
    effect: Literal["", "disruptive"] = ""
    derive: str = ""
    include: str = ""
    set: dict[str, str] = {}
    parse: str = ""
    timeout: Duration = 30.0
    sample: Sample | None = None
    checks: list[Check] = []
    show: Show | None = None

    @model_validator(mode="before")
    @classmethod
    def reserved(cls, given: Any) -> Any:
        """Words that the format keeps for later."""
        if isinstance(given, dict):
            for word in RESERVED:
                if word in given:
                    raise ValueError(f"'{word}' is a reserved word: not yet")
        return given

    @model_validator(mode="after")
    def one_kind(self) -> Step:
        """A step does one thing."""
        kinds = [name for name in ("run", "derive", "include") if getattr(self, name)]
        if len(kinds) > 1:
            raise ValueError(f"has {' and '.join(kinds)}: a step does one of run, derive, include")
        if not kinds and not self.checks and not self.show:
            raise ValueError("does nothing: give it run, derive, include, checks or show")
        if self.run and not self.parse:
            raise ValueError("has run without parse: which parser reads the answer?")
        if self.parse and not self.run:
            raise ValueError("has parse without run")
        if not self.include and not self.id:
            raise ValueError("needs an id")
        if self.include and (self.checks or self.each or self.show):
            raise ValueError("an include has only set and when")
        return self


class Runbook(Model):
    """A runbook file."""

    schema_: Annotated[Literal[1], Field(alias="schema"), BeforeValidator(lambda value: None if value is True else value)]  # True == 1
    id: Kebab
    title: Annotated[str, Field(min_length=1)]
    status: Literal["experimental", "stable", "deprecated"] = "stable"
    summary: str = ""
    alerts: list[str] = []
    references: list[Url] = []
    inputs: dict[Snake, Input] = {}
    steps: Annotated[list[Step], Field(min_length=1)]


class Fix(Model):
    """A fix of a cause."""

    title: str
    risk: Literal["safe", "disruptive", "destructive"]
    run: list[Argument] = []
    undo: list[Argument] = []
    verify: list[Argument] = []


class Cause(Model):
    """An entry of the catalogue."""

    title: Annotated[str, Field(min_length=1)]
    subject: Literal["pod", "workload", "node", "gpu", "cluster"]
    severity: Literal["info", "warning", "critical"]
    layer: Kebab
    act: Literal["watch", "fix-config", "restart-job", "restart-service", "reset-gpu", "reboot", "power-cycle", "replace"]
    who: Literal["job-owner", "operator", "datacenter", "vendor"]
    means: Annotated[str, Field(min_length=1), AfterValidator(lambda text: " ".join(text.split()))]
    explains: list[Kebab] = []
    references: list[Url] = []
    fixes: list[Fix] = []
    broader: bool = False


class Catalogue(Model):
    """A catalogue file: one layer."""

    causes: Annotated[dict[Kebab, Cause], Field(min_length=1)]


class Message(Model):
    """An entry of a messages file."""

    name: Snake
    pattern: Annotated[str, Field(min_length=1)]
    line: Annotated[str, Field(min_length=1)]
    source: str = ""
    benign: bool = False


class Messages(Model):
    """A messages file."""

    messages: Annotated[list[Message], Field(min_length=1)]


class ExpectedFinding(Model):
    """What a test names of a finding; what it doesn't name may be anything."""

    check: str
    cause: str = ""
    subject: str = ""
    role: Literal["root", "symptom", ""] = ""
    severity: str = ""
    confidence: str = ""
    title: str = ""


class ExpectedCandidate(Model):
    """What a test names of a candidate."""

    check: str = ""
    cause: str


class Case(Model):
    """One case of a paired test."""

    name: str
    bundle: str
    inputs: dict[str, Plain] = {}
    verdict: Literal["healthy", "problem", "inconclusive", "not-found"]
    findings: list[ExpectedFinding] = []
    candidates: list[ExpectedCandidate] = []
    skipped: list[str] = []
    unknown: list[str] = []


class PairedTest(Model):
    """A `.test.yaml` file."""

    runbook: str
    fixtures: str
    cases: Annotated[list[Case], Field(min_length=1)]
