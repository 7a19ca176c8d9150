"""The YAML of paired tests, `X.test.yaml`, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gpudoctor.runbook.fields import Kebab, Plain
from gpudoctor.runbook.schema import Model


class ExpectedFinding(Model):
    """What a test names of a finding; what it doesn't name may be anything."""

    check: str
    cause: str = ""
    subject: str = ""
    role: Literal["root", "symptom", ""] = ""
    severity: str = ""
    confidence: str = ""
    title: str = ""
    fix: str = ""  # words in the command or the fragment of the first fix


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
    covers: list[Kebab] = []  # runbooks that it includes, which these cases try too
    fixtures: str
    cases: Annotated[list[Case], Field(min_length=1)]
