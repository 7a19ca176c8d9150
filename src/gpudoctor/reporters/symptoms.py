"""Which root cause each symptom is shown under."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gpudoctor.report import Finding, ReportSubject


def by_root(findings: Sequence[Finding]) -> tuple[list[tuple[Finding, list[Finding]]], list[Finding]]:
    """The roots, in order, each with the symptoms that it explains, also through other symptoms; and the symptoms that no root explains.

    `explained_by` names causes, and several roots may have one cause: the root that shares most of the symptom's subject takes it.
    """
    roots = [(finding, list[Finding]()) for finding in findings if finding.role == "root"]
    parents: defaultdict[str, set[str]] = defaultdict(set)
    for finding in findings:
        parents[finding.cause].update(finding.explained_by)
    unexplained = []
    for symptom in findings:
        if symptom.role == "root":
            continue
        behind = ancestors(symptom.explained_by, parents)
        able = [(root, own) for root, own in roots if root.cause in behind]
        if able:
            max(able, key=lambda pair: kinship(pair[0].subject, symptom.subject))[1].append(symptom)
        else:
            unexplained.append(symptom)
    return roots, unexplained


def ancestors(causes: Sequence[str], parents: dict[str, set[str]]) -> set[str]:
    """The causes and whatever explains them, and so on; a circle ends the walk."""
    seen: set[str] = set()
    waiting = list(causes)
    while waiting:
        cause = waiting.pop()
        if cause not in seen:
            seen.add(cause)
            waiting.extend(parents.get(cause, ()))
    return seen


def kinship(one: ReportSubject, other: ReportSubject) -> int:
    """How many keys two subjects share; the first root wins among equals."""
    keys = ("gpu", "pod", "workload", "node", "namespace")
    return sum(bool(getattr(one, key)) and getattr(one, key) == getattr(other, key) for key in keys)
