"""Causes on subjects → the report's findings and candidates: roots first, what is alike folded, what is undecided said."""

from __future__ import annotations

from collections import Counter

from gpudoctor import __version__
from gpudoctor.engine import remedies
from gpudoctor.engine.evidence import evidence
from gpudoctor.engine.relate import CONFIDENCE_ORDER, Found
from gpudoctor.engine.times import stamp
from gpudoctor.facts import Subject
from gpudoctor.facts.times import zone_is_known
from gpudoctor.report import (
    SEVERITY_ORDER,
    Candidate,
    Evidence,
    Finding,
    Overridden,
    ReportSubject,
)

CANDIDATES = 4  # of one cause; a thousand ranks say the same
# Layers whose titles name what a pod lacks, or what refuses it: with another name it is another case.
BEFORE_START = frozenset({"scheduling", "quota", "queueing", "storage"})
TOOL = f"gpudoctor {__version__}"


def rank(one: Found) -> tuple[int, ...]:
    """Alarms before information, roots first; then a tool's failures before its warnings, what is sure, what is severe and named precisely,
    what another root does not bring about elsewhere, what explains most, the order.
    """
    severity = SEVERITY_ORDER[one.severity]
    alarms, precision = severity < SEVERITY_ORDER["info"], (one.cause.broader or one.general) + severity
    mild = bool(one.hits) and all(hit.record is not None and hit.record.mild for hit in one.hits)
    return (not alarms, not one.root, mild, CONFIDENCE_ORDER[one.confidence], precision, one.general, -len(one.explains), one.order)


def fold_subjects(found: list[Found]) -> list[tuple[Found, list[Found]]]:
    """Findings of one cause and one explanation on several subjects of one kind, folded under the first; titles say the same."""
    groups: dict[tuple[object, ...], list[Found]] = {}
    for one in found:
        key = (
            one.cause.id,
            one.subject.kind,
            one.root,
            tuple(sorted({other.cause.id for other in one.explained_by})),
            one.confidence,
            one.severity,
            one.act,
            said_of_any(one.title, one.subject) if one.cause.layer in BEFORE_START else "",
        )
        groups.setdefault(key, []).append(one)
    return [(many[0], many[1:]) for many in groups.values()]


def said_of_any(title: str, subject: Subject) -> str:
    """A title without the names of its subject and without numbers: two taints differ, two pods or 15 and 16 GPUs don't."""
    names = {name for key in Subject.__struct_fields__ if key != "kind" for name in str(getattr(subject, key)).split("/")}
    words = (word.strip("().,:;'\"") for piece in title.split() for word in piece.split("/"))
    return " ".join(word for word in words if word not in names and not word[:1].isdigit())


def findings(found: list[Found], around: remedies.Surroundings) -> list[Finding]:
    """The decided findings, roots first."""
    made = []
    for one, others in fold_subjects(sorted((f for f in found if f.confidence != "possible"), key=rank)):
        made.append(
            Finding(
                cause=one.cause.id,
                role="root" if one.root else "symptom",
                severity=one.severity,
                confidence=one.confidence,
                subject=report_subject(one.subject),
                time=time_of(one),
                check=one.check,
                title=one.title,
                means=one.cause.means,
                explains=sorted({other.cause.id for other in one.explains if other.confidence != "possible"}),
                explained_by=sorted({other.cause.id for other in one.explained_by if other.confidence != "possible"}),
                evidence=evidence_of(one, *others),
                act=one.act or one.cause.act,
                who=one.cause.who,
                fixes=remedies.fixes(one, around),
                look=remedies.looks(one, around),
                no_fix=one.cause.no_fix,
                references=one.cause.references,
                also=[other.subject.name for other in others],
            )
        )
    return made


def candidates(found: list[Found]) -> list[Candidate]:
    """What is only possible, where nothing decided makes it needless; what is named precisely first.

    Of one cause on many subjects the first few stand for all. Of a class of causes nobody asks where a member of its layer was decided.
    """
    decided = {one.cause.id for one in found if one.confidence != "possible"}
    alarmed = {one.cause.layer for one in found if one.confidence != "possible" and one.severity != "info"}
    counted: Counter[str] = Counter()
    open_ = []
    for one in sorted(found, key=lambda one: one.cause.broader):
        counted[one.cause.id] += one.confidence == "possible"
        if counted[one.cause.id] <= CANDIDATES:
            open_.append(one)
    return [
        Candidate(
            cause=one.cause.id,
            why=one.title,
            check=one.check,
            subject=report_subject(one.subject),
            evidence=evidence_of(one),
            settle_with=one.settle_with,
        )
        for one in open_
        if one.confidence == "possible"
        and one.cause.id not in decided
        and not (one.cause.broader and one.cause.layer in alarmed)
        and all(other.confidence == "possible" for other in one.explained_by)
    ]


def overridden(found: list[Found]) -> list[Overridden]:
    """The causes that another one overrides, in the order in which they were found."""
    return [
        Overridden(
            cause=one.cause.id,
            confidence=one.confidence,
            subject=report_subject(one.subject),
            check=one.check,
            title=one.title,
            overridden_by=sorted({other.cause.id for other in one.overridden_by}),
            evidence=evidence_of(one),
        )
        for one in found
        if one.overridden_by
    ]


def time_of(one: Found) -> str | None:
    """When a finding was first seen, by the clock of the record that has this time."""
    first = next((hit.record for hit in one.hits if hit.time == one.time), None)
    return stamp(one.time, zone=zone_is_known(first))


def evidence_of(*found: Found) -> list[Evidence]:
    """What findings rest on."""
    return evidence((origin for one in found for origin in one.origins), (hit for one in found for hit in one.hits))


def report_subject(subject: Subject) -> ReportSubject:
    """A subject as the report has it."""
    return ReportSubject(
        kind=subject.kind,
        name=subject.name,
        namespace=subject.namespace,
        pod=subject.pod,
        workload=subject.workload,
        node=subject.node,
        gpu=subject.gpu,
    )
