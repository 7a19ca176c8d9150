"""The outcome of every check of a run: found, clear, skipped or unknown. A failed probe never reads as clear."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from gpudoctor.engine import deciding_commands
from gpudoctor.engine.evaluate import Answer, Hit, Inputs, evaluate
from gpudoctor.engine.field_demands import candidate_records
from gpudoctor.engine.steps import Run, StepRun, obstacles, reasons
from gpudoctor.engine.store import FINAL, Store
from gpudoctor.report import Outcome
from gpudoctor.runbook.conditions import Values, compile_expression, input_types, input_values, record_types
from gpudoctor.runbook.model import Check, Library, Runbook
from gpudoctor.runbook.templates import fill


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """One check with its outcome."""

    book: Runbook
    check: Check
    outcome: Outcome
    hits: list[Hit] = []
    why: str = ""
    settle_with: list[str] = []
    step: StepRun | None = None

    @property
    def name(self) -> str:
        """RUNBOOK.CHECK, the name of the check in a report."""
        return f"{self.book.id}.{self.check.id}"


def of_run(run: Run) -> list[Checked]:
    """Every check of a run, in the order written."""
    pairs = ((step, check) for step in run.steps for check in step.planned.step.checks)
    doubtful = [step for step in run.steps if reasons(step)]  # only these can keep a check from being clear
    return [msgspec.structs.replace(of_step(step, check, run.store, doubtful), step=step) for step, check in pairs]


def of_step(step: StepRun, check: Check, store: Store, steps: list[StepRun]) -> Checked:
    """A check of a live or replayed run: what the facts say, and whether its step could be asked."""
    planned = step.planned
    answer = evaluate(planned.book, check, planned.inputs, store)
    blocked = [] if answer.hits else obstacles(step, check, steps)
    if blocked:
        return Checked(book=planned.book, check=check, outcome="unknown", why="; ".join(blocked), settle_with=first_commands(step))
    if not answer.hits and step.nothing:
        return Checked(book=planned.book, check=check, outcome="skipped", why=step.note)
    return decide_check(
        planned.book, check, sofar(planned.book, check, planned.inputs, store, answer), first_commands(step) if answer.unsure else []
    )


def first_commands(step: StepRun) -> list[str]:
    """The first commands of a step, as a person would paste them."""
    return [command.shown for command in step.commands[:3]]


def of_facts(library: Library, store: Store, all_of: Collection[str] = ()) -> list[Checked]:
    """Every check of every stable runbook over facts that no step has asked for (`analyze`); `all_of` are types of which a file has all."""
    checked = []
    rows: set[tuple[str, str]] = set()  # of tables that several runbooks try
    for book in library.runbooks.values():
        inputs: Inputs = {name: given.default for name, given in book.inputs.items()}
        if book.status != "stable":
            continue
        for check in book.checks():
            if check.table and (check.table, check.id) in rows:
                continue
            rows |= {(check.table, check.id)}
            answer = evaluate(book, check, inputs, store)
            # Nobody asked for what isn't in the files: without a single record of its type a check has looked at nothing.
            nothing = check.each is not None and check.each.type not in all_of and not has_subjects(check, store)
            answer = sofar(book, check, inputs, store, answer)
            commands = deciding_commands.commands(check.each.type if check.each else "", answer.unsure_of)
            checked.append(Checked(book=book, check=check, outcome="skipped") if nothing else decide_check(book, check, answer, commands))
    return checked


def sofar(book: Runbook, check: Check, inputs: Inputs, store: Store, answer: Answer) -> Answer:
    """An answer in which what was found on a pod for which it is early may pass by itself yet."""
    early = book.early
    if early is None or not check.finds or check.finds in early.lasting or not answer.hits:
        return answer
    pods = store.index(early.each.type, ("namespace", "pod"))
    types = {**input_types(book.inputs), **record_types(early.each.name, early.each.type)}
    condition, given = compile_expression(early.when, types), input_values(inputs)
    hits = []
    for hit in answer.hits:
        for record in pods.get((hit.subject.namespace, hit.subject.pod), ()) if hit.subject.pod else ():
            values = Values(given, {early.each.name: record})
            if condition.surely(values):
                hit = msgspec.structs.replace(hit, early=True, title=f"{hit.title}; {fill(early.title, types, values)}")
                break
        hits.append(hit)
    return msgspec.structs.replace(answer, hits=hits)


def has_subjects(check: Check, store: Store) -> bool:
    """Whether there is anything that a check is about; of what texts say only the lines that it asks for."""
    if check.each is None or check.each.type != "messages":
        return bool(check.each and store.records(check.each.type))
    return bool(candidate_records(check.when, check.each.name, check.each.type, store, FINAL))


def decide_check(book: Runbook, check: Check, answer: Answer, commands: list[str]) -> Checked:
    """Decide a check: found if any record is found, else unknown if any is, else clear."""
    if answer.hits:
        return Checked(book=book, check=check, outcome="found", hits=answer.hits)
    if answer.unsure:
        return Checked(book=book, check=check, outcome="unknown", why="; ".join(answer.unsure[:3]), settle_with=commands)
    return Checked(book=book, check=check, outcome="skipped" if answer.absent else "clear")
