"""A run that a person guides: one step after the other, each with a decision, on answers that are kept.

An execution is a function of the decisions and of the answers that its session holds. So going on with a session, going back, and asking a
step again are one thing: execute from the start, and ask the person at the first step that has no decision.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from gpudoctor.engine.ask import Question
from gpudoctor.engine.diagnose import conclusions, diagnose
from gpudoctor.engine.fleet import key_of
from gpudoctor.engine.guidance import (
    WHY,
    Decision,
    Did,
    Journal,
    Kept,
    News,
    Person,
    Place,
    Reply,
    asks,
    led_by,
    may_come,
    name_of,
    person_answer,
    suffer,
)
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.plan import used_types
from gpudoctor.engine.rounds import step_duration
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import UNWANTED, Chosen, Run, StepRun
from gpudoctor.probes.base import Output, Probe
from gpudoctor.report import Report
from gpudoctor.runbook.model import Library, Runbook


class Again(Exception):
    """Execute again from the start: a decision was taken back."""


class Guided:
    """The guide of an engine that asks a person, and remembers. `ages` are the times of what was read before, by the source's name."""

    def __init__(self, library: Library, journal: Journal, kept: Kept, person: Person, clock: Callable[[], float]) -> None:
        self.library, self.journal, self.kept, self.person, self.clock = library, journal, kept, person, clock
        self.redo = ""  # the name of a step that is to be asked again without a question
        self.stopping = False
        self.taken_back: dict[str, float] = {}  # names of steps whose decision was taken back → when they were asked
        self.ages: dict[str, float] = {}

    def execution_begins(self, engine: Engine) -> None:
        """An execution begins."""
        self.engine = engine
        self.settled: dict[object, str] = {}  # commands that were decided about in this execution → why they have no answer
        self.number = self.replayed = 0
        self.since = self.clock()
        self.current: tuple[int, Decision] | None = None  # of the step that is being asked: its order, and the new decision
        self.last: tuple[StepRun, list[Question]] | None = None  # the step that was asked last, and has not been told of
        self.passed: list[StepRun] = []
        self.known: Report | None = None
        self.ages.clear()

    def pause(self, seconds: float) -> None:
        """Wait between samples, where they are new."""
        if self.current and not self.engine.recorded:
            time.sleep(seconds)

    def decide(self, step: StepRun, todo: list[Question], steps: list[StepRun]) -> Chosen:
        """What of a step's questions to ask: what nobody has decided about, the person decides."""
        new = [question for question in todo if key_of(question.command) not in self.settled]
        if not new:
            return self.chosen(todo, "withhold")
        self.number += 1
        name = name_of(step, steps)
        decision = next((one for one in self.journal.decisions if one.step == name), None)
        if decision and not self.stopping:
            return self.as_before(decision, step, todo)
        self.tell(step, steps)
        if self.stopping:
            return self.chosen(todo, "stop")
        did = self.reply(step, new, steps, name)
        if did is None:
            return self.chosen(todo, "stop")
        self.current = (step.planned.order, Decision(step=name, did=did, at=self.clock()))
        self.last = (step, new)
        return self.chosen(todo, did, new=did == "run")

    def as_before(self, decision: Decision, step: StepRun, todo: list[Question]) -> Chosen:
        """A step that was decided about before."""
        self.replayed += 1
        self.since = min(self.since, decision.at)
        for question in todo:
            command = question.command
            self.ages[f"{command.host}: {command.shown}" if command.host else command.shown] = decision.at
        return self.chosen(todo, decision.did)

    def chosen(self, todo: list[Question], did: str, *, new: bool = False) -> Chosen:
        """The questions of a step that are asked after a decision: what is kept, and with a new decision to run all."""
        asked: list[Question] = []
        declined: list[tuple[Question, str]] = []
        for question in todo:
            held = did != "stop" and (new or did == "withhold" or self.kept.holds(question.command))
            why = self.settled.setdefault(key_of(question.command), "" if held else WHY[did])
            if why:
                declined.append((question, why))
            else:
                asked.append(question)
        return Chosen(todo=asked, declined=declined, consent=did == "run", once=did == "paste")

    def reply(self, step: StepRun, new: list[Question], steps: list[StepRun], name: str) -> Did | None:
        """Ask the person, and keep what they bring; None when they stop. Raises `Again` for a step back."""
        reply = Reply(word="again") if self.redo == name else self.person.choose(self.place(step, new, steps, name))
        self.redo = ""
        if reply.word == "back":
            self.take_back()
        if reply.word == "stop":
            self.stopping = True
            return None
        sampled = step.planned.step.sample is not None
        for number, question in enumerate(new):
            command = question.command
            if number in reply.pasted:
                self.kept.put(Output(command, pages=(reply.pasted[number],), time=self.clock(), via="pasted"))
            elif number in reply.answers:
                self.kept.put(Output(command, pages=(person_answer(step, *reply.answers[number]),), time=self.clock()))
            elif reply.word != "run" or sampled:
                self.forget(question)
        return "run" if reply.word == "again" else reply.word

    def forget(self, question: Question) -> None:
        """Drop what is kept of a question, of its other way to ask too."""
        for command in (question.command, question.otherwise):
            if command is not None:
                self.kept.forget(command)

    def take_back(self) -> NoReturn:
        """Drop the last decision and execute again."""
        if self.journal.decisions:
            last = self.journal.decisions.pop()
            self.taken_back[last.step] = last.at
            self.journal.save()
        raise Again

    def step_ended(self, step: StepRun, steps: list[StepRun]) -> None:
        """Note what was decided about a step when it has ended: one that dies in the middle is asked again."""
        if self.current and self.current[0] == step.planned.order:
            self.journal.decisions.append(self.current[1])
            self.journal.save()
            self.current = None
            self.last = self.last and (step, self.last[1])
        elif step.planned.step.run and (step.note == UNWANTED or step.undecided) and may_come(step.planned):
            self.passed.append(step)

    def execution_ended(self, steps: list[StepRun]) -> None:
        """All steps have ended."""
        self.tell(None, steps)

    def tell(self, following: StepRun | None, steps: list[StepRun]) -> None:
        """Tell what the last step has brought, with all that was measured after it; `following` is what comes next."""
        report, checked = self.conclude_so_far(steps)
        before, self.known = self.known, report
        last, self.last = self.last, None
        passed, self.passed = self.passed, []
        if self.stopping:
            return
        if before is None or last is None:
            if self.replayed and following is not None:
                self.person.show_position(self.replayed, self.since, report)
            return
        step, todo = last
        known = {(one.cause, one.subject.name) for one in before.findings}
        held = {one.cause for one in report.findings}
        shown = {*before.shown}
        news = News(
            step=step,
            facts=self.engine.store.counts(step.planned.order),
            checked=[one for one in checked if one.step is step],
            found=[one for one in report.findings if (one.cause, one.subject.name) not in known],
            shown=[one for one in report.shown if one not in shown],
            ruled_out=[cause for cause in report.ruled_out if cause not in before.ruled_out],
            gone=[one for one in before.findings if one.severity != "info" and one.cause not in held],
            passed=passed,
            following=following,
            report=report,
        )
        word = self.person.news(news)
        if word == "stop":
            self.stopping = True
        elif word == "back":
            self.take_back()
        elif word == "retest":
            self.redo = name_of(step, steps)
            for question in todo:
                self.forget(question)
            self.take_back()

    def conclude_so_far(self, steps: list[StepRun]) -> tuple[Report, list[Checked]]:
        """What is known so far. Nothing is shown yet of which a later step may say more, and no cause ruled out that it may still find."""
        run = Run(book=self.engine.book, inputs=self.engine.inputs, store=self.engine.store, steps=steps)
        report, checked = conclusions(self.library, run, asked="", started=0.0)
        later = [step.planned for step in steps if not step.done and may_come(step.planned)]
        causes = {check.finds for one in later for check in one.step.checks}
        types = {kind for one in later for kind in one.fills}
        books = {step.planned.book.id: step.planned.book for step in steps}.values()
        open_ = {f"{book.id}.{one.id}" for book in books for one in book.expects if used_types(one) & types}
        refutations = [one for one in report.refutations if one.by not in open_ and one.cause not in causes]
        shown = [one for one in report.shown if one.expectation not in open_]
        ruled_out = sorted({one.cause for one in refutations})
        return msgspec.structs.replace(report, shown=shown, refutations=refutations, ruled_out=ruled_out), checked

    def place(self, step: StepRun, new: list[Question], steps: list[StepRun], name: str) -> Place:
        """What the person is to know before a step."""
        planned = step.planned
        rest = {asks(one.planned) for one in steps[planned.order + 1 :] if one.planned.step.run and may_come(one.planned)}
        held = [self.kept.holds(question.command) for question in new]
        return Place(
            number=self.number,
            most=self.number + len(rest - {asks(one.planned) for one in steps[: planned.order + 1]}),
            step=step,
            todo=new,
            led_by=led_by(step, steps, self.engine.store),
            seconds=max(question.command.timeout for question in new) + step_duration(planned, False),
            read=self.taken_back.get(name, self.clock()) if all(held) else None,
            disturbs=suffer(step, steps, self.engine) if planned.step.effect else [],
            consented=self.engine.consent,
            known=self.known or self.conclude_so_far(steps)[0],
        )


def walk(library: Library, book: Runbook, inputs: dict[str, Any], probe: Probe, guide: Guided, **more: Any) -> Report:
    """Execute a runbook with somebody who guides, again and again as they go back. Raises what `diagnose` raises."""
    while True:
        try:
            return diagnose(library, book, inputs, probe, guide=guide, **more)
        except Again:
            continue
