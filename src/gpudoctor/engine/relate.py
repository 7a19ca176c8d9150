"""Hits → causes on subjects, and who explains whom: by the catalogue, where the subjects are linked and the times agree."""

from __future__ import annotations

import msgspec

from gpudoctor.engine.evaluate import Hit
from gpudoctor.engine.outcomes import Checked
from gpudoctor.facts import Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.identity import Links
from gpudoctor.report import SEVERITY_ORDER, Confidence, Severity
from gpudoctor.runbook.model import ACTS, Cause, Library

CONFIDENCE_ORDER: dict[str, int] = {"confirmed": 0, "likely": 1, "possible": 2}
SLACK = 2.0  # seconds by which clocks of different sources may differ before "later" means later


class Found(msgspec.Struct, kw_only=True, eq=False):
    """A cause on a subject while the conclusions are drawn. `root`: nothing decided explains it."""

    cause: Cause
    subject: Subject
    check: str
    title: str
    confidence: Confidence
    severity: Severity
    time: float | None
    origins: list[Origin]
    settle_with: list[str]
    order: int
    act: str = ""  # what the check says is to be done; "" = what the cause says
    hits: list[Hit] = []
    overridden_by: list[Found] = []
    overrides: list[Found] = []
    explained_by: list[Found] = []
    explains: list[Found] = []
    root: bool = True
    general: bool = False  # another root could have brought it about, had it been seen in the same place


def gather(library: Library, checked: list[Checked], links: Links) -> list[Found]:
    """The hits of all checks; the same cause on the same subject is one, with the evidence of all."""
    found: dict[tuple[str, str, str], Found] = {}
    for one in checked:
        if one.outcome != "found" or not one.check.finds:
            continue
        cause = library.causes[one.check.finds]
        for hit in one.hits:
            subject = links.unify(hit.subject.as_kind(cause.subject))
            made = Found(
                cause=cause,
                subject=subject,
                check=one.name,
                title=hit.title,
                confidence=hit.confidence(one.check, cause),
                severity=one.check.weighs(cause),
                time=hit.time,
                origins=list(hit.origins),
                settle_with=hit.settle_with,
                order=len(found),
                act=hit.act if hit.act in ACTS else "",
                hits=[hit],
            )
            key = (cause.id, subject.kind, subject.name)
            found[key] = merge_findings(found[key], made) if key in found else made
    return list(found.values())


def merge_findings(first: Found, second: Found) -> Found:
    """Two findings of one cause on one subject: the surer one speaks, the evidence is shared, the earlier time counts."""
    lead, other = (second, first) if CONFIDENCE_ORDER[second.confidence] < CONFIDENCE_ORDER[first.confidence] else (first, second)
    lead.order = first.order
    lead.act = lead.act or other.act
    lead.severity = min(lead.severity, other.severity, key=SEVERITY_ORDER.__getitem__)
    lead.subject = Subject(**{key: getattr(lead.subject, key) or getattr(other.subject, key) for key in Subject.__struct_fields__})
    first.hits.extend(second.hits)
    lead.hits = first.hits
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
    reach = {name: brought_about(library, name) for name in {each.cause.id for one in found for each in (one, *one.overrides)}}
    nearby = Nearby(found, links)
    for effect in found:
        for cause in nearby.of(effect):
            # what it overrides was a reading of its own line: what that would have brought about, it has
            brings = any(effect.cause.id in reach[one.cause.id] for one in (cause, *cause.overrides)) or seen_from_afar(cause, effect)
            if brings and not is_seen_after(cause, effect) and can_bring_about(cause, effect, links):
                effect.explained_by.append(cause)
                cause.explains.append(effect)
    for one in found:
        brought = {id(other) for other in one.explains}  # two that explain each other are both roots
        one.root = all(other.confidence == "possible" or id(other) in brought for other in one.explained_by)
    set_back(found, reach, links)


def set_back(found: list[Found], reach: dict[str, set[str]], links: Links) -> None:
    """Mark as general what another root brings about by the catalogue, where the two may be of one place.

    Two machines that are named have each their own trouble; a program that fails on one of them may fail on the other.
    """
    roots: dict[str, bool] = {}  # by cause: whether it may be elsewhere too
    for one in found:
        if one.root and one.confidence != "possible":
            roots[one.cause.id] = roots.get(one.cause.id, False) or not of_one_machine(one.subject, links)
    bringing = {effect: [cause for cause in roots if effect in reach[cause] and cause not in reach[effect]] for effect in reach}
    for one in found:
        brings = bringing[one.cause.id] if one.root else []
        one.general = bool(brings) and (not of_one_machine(one.subject, links) or any(roots[cause] for cause in brings))


def of_one_machine(subject: Subject, links: Links) -> bool:
    """Whether a subject is a machine that is named, or a part of one."""
    return subject.kind in ("node", "gpu") and bool(links.where(subject))


def seen_from_afar(cause: Found, effect: Found) -> bool:
    """Whether a cause was found on its node, and on a pod that suffers by it: a node that is down, a pod that waits for that."""
    return effect.cause is cause.cause and cause.subject.kind == cause.cause.subject == "node" and effect.subject.kind in ("pod", "cluster")


def can_bring_about(cause: Found, effect: Found, links: Links) -> bool:
    """Whether something on one subject can bring about something on another.

    In a distributed job it stops the ranks of other nodes too; a machine of which no rank is known may have one that never spoke.
    """
    if lacks_location(cause, effect, links) or of_other_gpus(cause, effect):
        return False
    if links.are_linked(cause.subject, effect.subject):
        return True
    silent = cause.subject.kind in ("node", "gpu") and not links.jobs_of(cause.subject)
    return effect.cause.layer == "distributed" and (silent or links.of_one_job(cause.subject, effect.subject))


def lacks_location(cause: Found, effect: Found, links: Links) -> bool:
    """Whether a machine or GPU is named that suffers, and nothing names the one where a cause was seen: it may be any other one.

    Logs of a job that isn't named are of the one job.
    """
    unnamed = cause.subject.kind == "cluster" and cause.cause.subject not in ("cluster", "workload")
    return unnamed and of_one_machine(effect.subject, links)


def of_other_gpus(cause: Found, effect: Found) -> bool:
    """Whether a critical fault is seen on a GPU that isn't known to be the one of a cause: it stays a root of its own."""
    gpus = cause.subject.gpu, effect.subject.gpu
    return effect.severity == "critical" and cause.subject.kind == effect.subject.kind == "gpu" and gpus[0] != gpus[1]


def is_seen_after(cause: Found, effect: Found) -> bool:
    """Whether a cause was seen later than what it would explain."""
    return cause.time is not None and effect.time is not None and cause.time > effect.time + SLACK


class Nearby:
    """The findings that share a name with another, or have none: in a large cluster few of all pairs can be linked."""

    def __init__(self, found: list[Found], links: Links) -> None:
        self.found, self.links = found, links
        self.by_key: dict[tuple[str, str], list[Found]] = {}
        for one in found:
            for key in links.keys(one.subject) or {("", "")}:
                self.by_key.setdefault(key, []).append(one)

    def of(self, one: Found) -> list[Found]:
        """The other findings that may be linked to one, in their order."""
        keys = self.links.keys(one.subject)
        near = (
            {id(other): other for key in [*keys, ("", "")] for other in self.by_key.get(key, ())}
            if keys
            else {id(f): f for f in self.found}
        )
        near.pop(id(one), None)
        return sorted(near.values(), key=lambda other: other.order)
