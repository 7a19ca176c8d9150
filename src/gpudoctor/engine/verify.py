"""After a repair: the checks behind the findings of an earlier run are tried again, on new answers, and each finding is judged.

Only the steps that these checks need are asked: their own, those that fill the fact types they read, those that decide whether to ask them,
and those of the expectations that refute the findings' causes. A finding that isn't found again is fixed only when such an expectation is
shown; where nothing of the kind is expected of its subject, when all that could show the finding has answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.engine import conclude, outcomes, precedence, relate
from gpudoctor.engine.evaluate import Answer, Hit, evaluate
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.plan import Planned, plan, used_types, with_dependencies
from gpudoctor.engine.refutation import Refuters, reasons_not_shown, refuting_observation
from gpudoctor.engine.remedies import Surroundings
from gpudoctor.engine.steps import Run, StepRun, may_concern, steps_behind
from gpudoctor.engine.successors import Works, count_gpus, node_read
from gpudoctor.engine.verification import Judged, Key, Times, by_now, hits_of, is_old_hit, links_of, spoken_of
from gpudoctor.facts import Subject
from gpudoctor.runbook.model import Library, Runbook

Inputs = dict[str, Any]


class Past(msgspec.Struct, kw_only=True, eq=False):
    """One cause on one subject as the earlier run found it, with the names of the checks that found it (RUNBOOK.CHECK)."""

    found: relate.Found
    checks: list[str]
    hits: list[Hit]

    @property
    def key(self) -> Key:
        """Cause, kind and name of the subject."""
        return (self.found.cause.id, self.found.subject.kind, self.found.subject.name)


class Before:
    """The earlier run, of the time `recorded`. `times` says when its commands were read; `pasts` are its alarms, the roots first."""

    def __init__(self, library: Library, run: Run, times: Times, recorded: str = "") -> None:
        self.library, self.run, self.times, self.recorded = library, run, times, recorded
        self.checked = outcomes.of_run(run)
        self.links = links_of(run)
        self.works = Works(run.store, self.links)
        self.refuters = Refuters(library, run, self.links, self.works)
        self.around = Surroundings(run.store, self.links)
        found = precedence.not_overridden(precedence.draw_conclusions(library, self.checked, self.links))
        hits = hits_of(library, self.checked, self.links)
        self.pasts = [
            Past(found=one, checks=[checked.name for checked, _ in pairs], hits=[hit for _, hit in pairs])
            for one in sorted(found, key=conclude.rank)
            if one.confidence != "possible" and one.severity != "info"
            for pairs in [hits.get((one.cause.id, one.subject.kind, one.subject.name), [])]
        ]
        # What had no answer then, and why: a finding may rest on that, so the same command without an answer for another reason counts.
        self.silent: set[tuple[str, ...]] = {tuple(trouble) for step in run.steps for trouble in step.failures}
        self.silent |= {(step.planned.name, step.undecided) for step in run.steps}

    @property
    def checks(self) -> set[str]:
        """The names of the checks behind the findings."""
        return {name for past in self.pasts for name in past.checks}

    @property
    def refuting_expectations(self) -> set[str]:
        """The names of the expectations that refute the causes of the findings."""
        return {name for past in self.pasts for name in past.found.cause.refuted_by}

    def steps(self, book: Runbook, inputs: Inputs, more: set[str]) -> list[Planned]:
        """What of a runbook is asked again, for `more` checks too: renumbered, in the order written."""
        naming = {"gpus"} if any(past.found.subject.kind == "gpu" for past in self.pasts) else set()
        return needed_steps(plan(self.library, book, inputs), self.checks | more, self.refuting_expectations, naming)

    def elsewhere(self, inputs: Inputs, missing: list[Past]) -> Inputs | None:
        """The inputs by which the owner of a pod that isn't there any more is asked about; None where that isn't what is asked."""
        if inputs.get("kind") != "pod" or not inputs.get("name"):
            return None
        works = {self.works.of(past.found.subject) for past in missing if past.found.subject.kind == "pod"} - {""}
        if len(works) != 1:
            return None
        kind, _, name = works.pop().partition("/")
        return inputs | {"kind": kind.lower(), "name": name}


def needed_steps(steps: list[Planned], checks: set[str], expected: set[str], naming: set[str]) -> list[Planned]:
    """The steps of a plan that checks and expectations need, and those that fill the fact types by which things get their names; numbered
    anew.
    """
    books = {one.book.id: one.book for one in steps}.values()
    seen = {kind for book in books for one in book.expects if f"{book.id}.{one.id}" in expected for kind in used_types(one)}
    todo = {one.order for one in steps if one.fills & (naming | seen)}
    for one in steps:
        wanted = [check for check in one.step.checks if f"{one.book.id}.{check.id}" in checks]
        types = {kind for check in wanted for kind in used_types(check)}
        todo |= {one.order for _ in wanted} | {other.order for other in steps if other.fills & types}
    numbers = {order: number for number, order in enumerate(with_dependencies(todo, steps))}
    return [
        msgspec.structs.replace(steps[order], order=number, waits_for=frozenset(numbers[other] for other in steps[order].waits_for))
        for order, number in numbers.items()
    ]


class After:
    """The new run of the steps that were needed, and what it says of the earlier findings."""

    def __init__(self, before: Before, run: Run) -> None:
        self.before, self.run = before, run
        self.checked = outcomes.of_run(run)
        self.links = links_of(run)
        self.works = Works(run.store, self.links)
        self.refuters = Refuters(before.library, run, self.links, self.works)
        self.hits = hits_of(before.library, self.checked, self.links)
        self.answers: dict[tuple[str, int], Answer] = {}
        self.rests_on: dict[tuple[str, int], list[StepRun]] = {}
        self.by_check: dict[str, list[Checked]] = {}
        for one in self.checked:
            self.by_check.setdefault(one.name, []).append(one)

    def judge_findings(self) -> list[Judged]:
        """Each earlier finding with what became of it."""
        return [self.judge(past) for past in self.before.pasts]

    def judge(self, past: Past) -> Judged:
        """What became of one finding."""
        again = [pair for key in self.same(past) for pair in self.hits[key]]
        fresh = [(one, hit) for one, hit in again if not is_old_hit(hit, self.before.times, past.hits)]
        if fresh:
            return spoken_of(past.found, "not-fixed", now=fresh[0][1].title, hits=[hit for _, hit in fresh])
        shown, doubts = self.judge_refutation(past)
        if again and not (shown and not doubts):
            return spoken_of(past.found, "unknown", why=by_now(again[0][1]), hits=[hit for _, hit in again])
        return spoken_of(past.found, "unknown" if doubts else "fixed", now=shown, why="; ".join(list(dict.fromkeys(doubts))[:3]))

    def judge_refutation(self, past: Past) -> tuple[str, list[str]]:
        """What shows that a cause is gone from its subject, and why it may not be. What the earlier run had shown in spite of the finding
        shows no repair: then, and where nothing is expected, the checks' own answers must be whole.
        """
        cause, subject = past.found.cause, past.found.subject
        work = self.before.works.of(subject)
        tried = self.refuters.tried_expectations(cause, subject, work)
        shown = refuting_observation(tried)
        if tried and not shown:
            return "", ["; ".join(["no longer found, but not shown to be healthy", *reasons_not_shown(tried)])]
        new = shown and not refuting_observation(self.before.refuters.tried_expectations(cause, subject, work))
        doubts = [] if new else [why for name in past.checks for why in self.doubts(name, subject)]
        return shown if new else "", doubts or self.gone(past)

    def same(self, past: Past) -> list[Key]:
        """The new findings that are the earlier one: the same cause on the same subject, or on a pod that has taken its place."""
        if past.key in self.hits:
            return [past.key]
        subject = past.found.subject
        work = self.before.works.of(subject)
        if subject.kind != "pod" or not work or self.works.has(subject):
            return []
        return [key for key, pairs in self.hits.items() if key[:2] == past.key[:2] and self.works.of(subject_of(pairs)) == work]

    def doubts(self, name: str, subject: Subject) -> Iterator[str]:
        """Why a check that doesn't find anything on a subject can't be called clear there."""
        if name not in self.by_check:
            yield f"the check {name} isn't asked any more"
        for one in self.by_check.get(name, []):
            step = one.step
            assert step is not None  # noqa: S101  of_run sets it
            for other in self.behind(one.name, step, used_types(one.check)):
                yield from self.unanswered_parts(other, subject)
            if step.absent and not step.answered:
                yield step.note
            answer = self.answer(one, step)
            if any(self.links.are_linked(record.subject(), subject) for record in answer.unsure_of) or (
                answer.unsure and not one.check.each
            ):
                yield from answer.unsure[:2]

    def behind(self, name: str, step: StepRun, types: set[str]) -> list[StepRun]:
        """The steps that a check's outcome rests on: its own, those that fill what it reads, and all that those waited for."""
        key = (name, step.planned.order)
        if key not in self.rests_on:
            self.rests_on[key] = steps_behind(types, self.run.steps, step)
        return self.rests_on[key]

    def answer(self, one: Checked, step: StepRun) -> Answer:
        """What the facts say about a check, looked up once for all findings."""
        key = (one.name, step.planned.order)
        if key not in self.answers:
            self.answers[key] = evaluate(step.planned.book, one.check, step.planned.inputs, self.run.store)
        return self.answers[key]

    def unanswered_parts(self, step: StepRun, subject: Subject) -> Iterator[str]:
        """What of a step has no answer that concerns a subject; what had none for the same reason before, has shown nothing then."""
        if step.undecided and (step.planned.name, step.undecided) not in self.before.silent:
            yield step.undecided
        for trouble in step.failures:
            if may_concern(trouble, subject) and tuple(trouble) not in self.before.silent:
                yield f"{trouble.host}: {trouble.why}" if trouble.host and trouble.host not in trouble.why else trouble.why

    def gone(self, past: Past) -> list[str]:
        """Why a finding whose subject isn't there any more is no repaired one."""
        subject, before, now = past.found.subject, self.before.run, self.run
        work = self.before.works.of(subject)
        if subject.kind == "pod" and now.inputs.get("name") and not (self.works.has(subject) or self.works.pods(work)):
            return [f"the pod isn't there any more, and {work} has no other" if work else "the pod isn't there any more"]
        if subject.node and node_read(before, subject.node) and now.store.has("nodes") and not node_read(now, subject.node):
            return [f"the node {subject.node} isn't there any more"]
        if subject.kind == "gpu" and count_gpus(now, subject.node) < count_gpus(before, subject.node) and now.store.has("gpus"):
            return [f"{subject.node} has fewer GPUs than before: the GPU may be gone, not repaired"]
        return []

    @property
    def missing(self) -> list[Past]:
        """The findings about pods that are not there any more, under any name."""
        return [past for past in self.before.pasts if past.found.subject.kind == "pod" and self.gone(past)]

    def new(self) -> list[Judged]:
        """The alarms that the earlier run didn't have: `worse`, or `seen` where it could not see them."""
        looked = {one.name: one.outcome for one in self.before.checked}
        pairs_of = self.unknown_before()
        found = precedence.not_overridden(precedence.draw_conclusions(self.before.library, self.checked, self.links))
        made: list[Judged] = []
        for one in sorted(found, key=conclude.rank):
            pairs = pairs_of.get((one.cause.id, one.subject.kind, one.subject.name), [])
            if pairs := [pair for pair in pairs if self.was_fully_asked(pair[0])]:
                blind = all(looked.get(checked.name) == "unknown" for checked, _ in pairs)
                made.append(spoken_of(one, "seen" if blind else "worse", now=one.title, hits=[hit for _, hit in pairs]))
        return made

    def unknown_before(self) -> dict[Key, list[tuple[Checked, Hit]]]:
        """What is found that the earlier run hadn't: not on a pod that has only another name, and no old line of a log."""
        known = {key for past in self.before.pasts for key in (*self.same(past), past.key)}
        made = {}
        for key, pairs in self.hits.items():
            newer = [pair for pair in pairs if not is_old_hit(pair[1], self.before.times, [])]
            if newer and key not in known:
                made[key] = newer
        return made

    def unsettled_checks(self) -> set[str]:
        """The names of checks that seem to find something new, and don't have all that they read: it is to be asked, too."""
        return {one.name for pairs in self.unknown_before().values() for one, _ in pairs if not self.was_fully_asked(one)}

    def was_fully_asked(self, one: Checked) -> bool:
        """Whether all that a check reads was asked: what is missing because nobody asked for it may look like a fault."""
        types = used_types(one.check)
        asked = {step.planned.name for step in self.run.steps}
        return all(step.planned.name in asked for step in self.before.run.steps if step.planned.fills & types)


def subject_of(pairs: list[tuple[Checked, Hit]]) -> Subject:
    """The subject of equal findings."""
    return pairs[0][1].subject
