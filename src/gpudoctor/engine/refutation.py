"""What a run shows against a cause on one subject: the expectations that the catalogue names for it, as they came out there."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gpudoctor.engine import expectations
from gpudoctor.engine.steps import Run
from gpudoctor.engine.successors import Works
from gpudoctor.facts import Subject
from gpudoctor.facts.identity import Links, has_no_place
from gpudoctor.report import ReportSubject
from gpudoctor.runbook.model import Cause, Library

Key = tuple[str, str]


class Said(msgspec.Struct, frozen=True):
    """What was said of an expectation for one subject: what was seen, or why it could not be ("": it is known not to be so)."""

    subject: Subject
    says: str = ""
    why: str = ""


class Refuters:
    """The expectations of a run by their names and by whom they are about."""

    def __init__(self, library: Library, run: Run, links: Links, works: Works) -> None:
        self.links, self.works = links, works
        self.said: dict[str, dict[Key, list[Said]]] = {}
        weighed = expectations.of_run(library, run)
        for seen in weighed.shown:
            self.note(seen.expectation, Said(subject_of(seen.subject), says=seen.says))
        for unseen in weighed.not_shown:
            self.note(unseen.expectation, Said(subject_of(unseen.subject), why="" if unseen.not_so else unseen.why))

    def note(self, expectation: str, one: Said) -> None:
        """Keep it under each name by which it may be asked for."""
        by_key = self.said.setdefault(expectation, {})
        for key in self.keys(one.subject):
            by_key.setdefault(key, []).append(one)

    def keys(self, subject: Subject) -> set[Key]:
        """The names of a subject; what nothing says the place of is about everybody."""
        if has_no_place(subject):
            return {("", "")}
        work = self.works.of(subject)
        return self.links.keys(subject) | ({("work", work)} if work else set())

    def about(self, expectation: str, subject: Subject, work: str) -> list[Said]:
        """What was said of an expectation for a subject, or for the pods of `work` where the pod itself isn't there any more. Of a GPU that
        has another name now, what was said of all GPUs of its node.
        """
        gone = subject.kind == "pod" and work and not self.works.has(subject)
        by_key = self.said.get(expectation, {})
        keys = [("", ""), *sorted({("work", work)} if gone else self.keys(subject))]
        near = [one for key in keys for one in by_key.get(key, ())]
        made = near if gone else [one for one in near if self.links.are_linked(one.subject, subject)]
        if made or not subject.gpu:
            return made
        return self.about(expectation, Subject(kind="node", node=subject.node), "")

    def tried_expectations(self, cause: Cause, subject: Subject, work: str = "") -> list[list[Said]]:
        """What was said against a cause, for each expectation that refutes it and that is expected of the subject."""
        return [said for name in cause.refuted_by if (said := self.about(name, subject, work))]


def refuting_observation(tried: Iterable[list[Said]]) -> str:
    """What was seen that refutes a cause: one expectation that was shown for all it is expected of; "" where there is none."""
    return next((said[0].says for said in tried if all(one.says for one in said)), "")


def reasons_not_shown(tried: Iterable[list[Said]]) -> list[str]:
    """Why nothing of it was shown, but for what is known not to be so."""
    return list(dict.fromkeys(one.why for said in tried for one in said if one.why))


def subject_of(shown: ReportSubject) -> Subject:
    """The subject that a report names."""
    kind, where = shown.kind, ("namespace", "pod", "workload", "node", "gpu")
    return Subject(kind=kind, **{name: getattr(shown, name) for name in where})
