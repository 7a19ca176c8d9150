"""Findings → root causes → report: equal findings are one, a cause that explains others comes first, what is undecided is said."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from gpudoctor import __version__
from gpudoctor.engine.outcomes import Checked
from gpudoctor.facts import Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.identity import Links
from gpudoctor.report import SEVERITY_ORDER, Candidate, Confidence, Evidence, Finding, Fix, ReportSubject, Unknown, Verdict
from gpudoctor.runbook.conditions import fill
from gpudoctor.runbook.model import Cause, FixTemplate, Library

CONFIDENCE_ORDER: dict[str, int] = {"confirmed": 0, "likely": 1, "possible": 2}
EVIDENCE = 4  # lines of evidence of one finding; the rest is in the bundle
SLACK = 2.0  # seconds by which clocks of different sources may differ before "later" means later


class Found(msgspec.Struct, kw_only=True):
    """A cause on a subject while the conclusions are drawn."""

    cause: Cause
    subject: Subject
    check: str
    title: str
    confidence: Confidence
    time: float | None
    origins: list[Origin]
    settle_with: list[str]
    order: int
    explained_by: list[Found] = []
    explains: list[Found] = []


def gather(library: Library, checked: list[Checked], links: Links) -> list[Found]:
    """The hits of all checks; the same cause on the same subject is one, with the evidence of all."""
    found: dict[tuple[str, Subject], Found] = {}
    for one in checked:
        if one.outcome != "found" or not one.check.finds:
            continue
        cause = library.causes[one.check.finds]
        for hit in one.hits:
            subject = links.unified(hit.subject.narrowed(cause.subject))
            made = Found(
                cause=cause,
                subject=subject,
                check=one.name,
                title=hit.title,
                confidence=one.check.confidence,
                time=hit.time,
                origins=list(hit.origins),
                settle_with=hit.settle_with,
                order=len(found),
            )
            key = (cause.id, msgspec.structs.replace(subject, container="", component=""))
            found[key] = together(found[key], made) if key in found else made
    return list(found.values())


def together(first: Found, second: Found) -> Found:
    """Two findings of one cause on one subject: the surer one speaks, the evidence is shared, the earlier time counts."""
    lead, other = (second, first) if CONFIDENCE_ORDER[second.confidence] < CONFIDENCE_ORDER[first.confidence] else (first, second)
    lead.order = first.order
    lead.origins = list(dict.fromkeys([*lead.origins, *other.origins]))
    lead.time = min((t for t in (lead.time, other.time) if t is not None), default=None)
    return lead


def brought_about(library: Library, cause: str) -> set[str]:
    """What a cause explains, over any number of links: a GPU off the bus makes a device unhealthy, which makes a pod wait."""
    reached: set[str] = set()
    todo = [cause]
    while todo:
        for other in library.causes[todo.pop()].explains:
            if other not in reached:
                reached.add(other)
                todo.append(other)
    return reached - {cause}


def relate(library: Library, found: list[Found], links: Links) -> None:
    """Fill in who explains whom: A explains B when the catalogue says so, their subjects are linked, and A is not later than B."""
    reach = {one.cause.id: brought_about(library, one.cause.id) for one in found}
    for effect in found:
        effect.explained_by = [
            cause
            for cause in found
            if cause is not effect
            and effect.cause.id in reach[cause.cause.id]
            and links.linked(cause.subject, effect.subject)
            and not (cause.time is not None and effect.time is not None and cause.time > effect.time + SLACK)
        ]
    for cause in found:
        cause.explains = [effect for effect in found if cause in effect.explained_by]


def is_root(one: Found) -> bool:
    """Nothing but a possibility explains it; two that explain each other are both roots."""
    return all(other in one.explains or other.confidence == "possible" for other in one.explained_by)


def rank(one: Found) -> tuple[int, int, int, int, int]:
    """Roots first; then what is alarming, what is sure, what is named precisely, what explains most, and the order written."""
    alarming = SEVERITY_ORDER[one.cause.severity]
    return (
        alarming == 2,
        not is_root(one),
        CONFIDENCE_ORDER[one.confidence],
        one.cause.broader + alarming,
        -len(one.explains) * 1000 + one.order,
    )


def folded(found: list[Found]) -> list[tuple[Found, list[Found]]]:
    """Findings of one cause and one explanation on several subjects of one kind, folded under the first."""
    groups: dict[tuple[object, ...], list[Found]] = {}
    for one in found:
        key = (one.cause.id, one.subject.kind, is_root(one), tuple(sorted({other.cause.id for other in one.explained_by})), one.confidence)
        groups.setdefault(key, []).append(one)
    return [(many[0], many[1:]) for many in groups.values()]


def findings(found: list[Found]) -> list[Finding]:
    """The decided findings, roots first."""
    made = []
    for one, others in folded(sorted((f for f in found if f.confidence != "possible"), key=rank)):
        made.append(
            Finding(
                cause=one.cause.id,
                role="root" if is_root(one) else "symptom",
                severity=one.cause.severity,
                confidence=one.confidence,
                subject=shown(one.subject),
                time=stamp(one.time),
                check=one.check,
                title=one.title,
                means=one.cause.means,
                explains=sorted({other.cause.id for other in one.explains if other.confidence != "possible"}),
                explained_by=sorted({other.cause.id for other in one.explained_by if other.confidence != "possible"}),
                evidence=evidence([origin for each in (one, *others) for origin in each.origins]),
                act=one.cause.act,
                who=one.cause.who,
                fixes=[fix(template, one.subject) for template in one.cause.fixes],
                references=one.cause.references,
                also=[other.subject.name for other in others],
            )
        )
    return made


def candidates(found: list[Found]) -> list[Candidate]:
    """What is only possible, where nothing decided makes it needless."""
    sure = [one for one in found if one.confidence != "possible"]
    made = []
    for one in found:
        if one.confidence != "possible":
            continue
        if any(other.cause.id == one.cause.id or other in one.explained_by for other in sure):
            continue
        candidate = Candidate(
            cause=one.cause.id,
            why=one.title,
            check=one.check,
            subject=shown(one.subject),
            evidence=evidence(one.origins),
            settle_with=one.settle_with,
        )
        made.append(candidate)
    return made


def unknowns(checked: list[Checked]) -> list[Unknown]:
    """The checks that could not be decided, with what would settle them."""
    return [Unknown(check=one.name, why=one.why, settle_with=one.settle_with) for one in checked if one.outcome == "unknown"]


def ruled_out(checked: list[Checked]) -> list[str]:
    """The causes whose every check that ran was clear, and at least one ran."""
    outcomes: dict[str, set[str]] = {}
    for one in checked:
        if one.check.finds:
            outcomes.setdefault(one.check.finds, set()).add(one.outcome)
    return sorted(cause for cause, seen in outcomes.items() if "clear" in seen and not seen & {"found", "unknown"})


def verdict(decided: list[Finding], open_: list[Candidate], unsure: list[Unknown], checked: list[Checked]) -> Verdict:
    """A warning or critical finding is a problem; anything undecided, or nothing checked at all, is inconclusive."""
    if any(one.severity != "info" for one in decided):
        return "problem"
    if open_ or unsure or not any(one.outcome in ("clear", "found") for one in checked):
        return "inconclusive"
    return "healthy"


def fix(template: FixTemplate, subject: Subject) -> Fix:
    """A fix for a subject; a name that is not known, or that the command would take for an option, stays a placeholder."""
    fields = ("namespace", "pod", "container", "workload", "node", "gpu", "component")
    types = {f"subject.{name}": str for name in fields}
    names = {name: str(getattr(subject, name)) for name in fields}
    values = {f"subject.{name}": f"<{name}>" if not text or text.startswith("-") else text for name, text in names.items()}

    def filled(argv: list[str]) -> list[str]:
        return [fill(element.replace("${", "${subject."), types, values) for element in argv]

    return Fix(
        title=template.title, risk=template.risk, run=filled(template.run), undo=filled(template.undo), verify=filled(template.verify)
    )


def evidence(origins: list[Origin]) -> list[Evidence]:
    """The first lines that findings rest on, each once."""
    unique = dict.fromkeys(Evidence(source=o.source, line=o.line, text=o.text[:1000]) for o in origins if o.source)
    return list(unique)[:EVIDENCE]


def shown(subject: Subject) -> ReportSubject:
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


def stamp(seconds: float | None) -> str | None:
    """RFC 3339 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


TOOL = f"gpudoctor {__version__}"
