"""What a sound subject shows: healthy is said, and a cause ruled out, only by what was seen.

An expectation of a runbook is tried on every record of its type. It is *shown* where its condition holds and everything that the condition
reads was answered whole for that record's host; where the condition doesn't hold, or something is not known, it is *not shown*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from gpudoctor.derive import DERIVATIONS
from gpudoctor.engine import deciding_commands
from gpudoctor.engine.conclude import report_subject as reported
from gpudoctor.engine.evaluate import Inputs, bind
from gpudoctor.engine.plan import used_types
from gpudoctor.engine.steps import REASONS, UNWANTED, Run, StepRun, first_hand, steps_behind
from gpudoctor.engine.store import FINAL, Store
from gpudoctor.engine.why_not import not_known, why_not
from gpudoctor.facts import FACTS, Fact, Subject
from gpudoctor.probes.base import Command
from gpudoctor.registry import PARSERS
from gpudoctor.report import InputFile, NotShown, Refutation, ReportSubject, Shown
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import Types, Unsure, Values, compile_expression, input_types, input_values
from gpudoctor.runbook.model import Expectation, Library, Runbook
from gpudoctor.runbook.templates import fill_for_person

Doubts = Callable[[Subject], list[str]]  # why what was read of a subject may not be all
Needless = Callable[[Subject], bool]  # whether something isn't expected of a subject
NOBODY = Subject(kind="cluster")
# What types are called whose own name isn't one that people use.
IN_WORDS = {
    "collective_tests": "results of nccl-tests",
    "dcgm_health": "lines of dcgmi health",
    "dcgm_tests": "results of dcgmi diag",
    "gpu_rows": "counters of GPUs",
    "gpu_use": "GPU utilisation samples",
    "gpus": "GPUs",
    "ib_counters": "port counters",
    "ib_growth": "port counters at two times",
    "ib_ports": "InfiniBand or RoCE ports",
    "messages": "known messages",
    "nvlink_sums": "NVLinks",
    "paces": "training steps",
    "pci_devices": "PCI devices",
    "processes": "programs on GPUs",
    "slurm_jobs": "Slurm jobs",
    "slurm_nodes": "Slurm nodes",
    "smi": "answers of nvidia-smi",
    "stack": "parts of the GPU stack",
    "targets": "selected pods",
    "throttling": "clock limits",
    "xids": "Xids",
}


class Weighed(msgspec.Struct):
    """What was shown of all targets, and what wasn't. `expected` says whether anything was expected at all."""

    shown: list[Shown] = []
    not_shown: list[NotShown] = []
    expected: bool = False

    @property
    def stated_expectations(self) -> set[str]:
        """The expectations of which something was said, for anybody."""
        return {one.expectation for one in self.shown} | {one.expectation for one in self.not_shown}

    @property
    def sound(self) -> bool:
        """Whether every expectation was shown for every target, and there was one."""
        return bool(self.shown) and not self.not_shown


def of_run(library: Library, run: Run) -> Weighed:
    """The expectations of a runbook and of all that it included and asked. What an included one expects of things that aren't there, or
    of a program that a machine doesn't have, is needless; what was asked about must be there. A part of other runbooks that expects nothing
    leaves it to them to say what is sound.
    """
    made = Weighed()
    seen: list[tuple[str, Inputs]] = []
    for step in run.steps:
        book, inputs = step.planned.book, step.planned.inputs
        if not book.expects or (book.id, inputs) in seen:
            continue
        seen.append((book.id, inputs))
        if not any(was_wanted(one) for one in run.steps if (one.planned.book.id, one.planned.inputs) == (book.id, inputs)):
            continue
        for one in (one for one in expectations_of(book, inputs) if not one.texts):
            made.expected = True
            steps = steps_behind(used_types(one), run.steps)
            doubts, needless = doubts_of(steps), lacking_of(steps) if book.id != run.book.id else none_needless
            weigh(made, book, one, inputs, run.store, doubts, needless)
            assert one.each is not None  # noqa: S101  the schema wants it
            made.not_shown += machines_without_record(
                book, one, [step for step in steps if one.each.type in step.planned.fills], run.store, needless
            )
            if run.store.records(one.each.type) or needless(NOBODY) or not asked_for(one.each.type, book, run.steps):
                continue
            if why := doubts(NOBODY) or ([none_read(one.each.type)] if book.id == run.book.id else []):
                made.not_shown.append(not_shown(book, one, NOBODY, why, [command.shown for command in commands_of(steps)]))
    own = [one for one in expectations_of(run.book, run.inputs) if not one.texts]
    if own and made.stated_expectations.isdisjoint(f"{run.book.id}.{one.id}" for one in own):
        made.not_shown.append(not_shown(run.book, own[0], NOBODY, ["nothing was read that it applies to"], []))
    whole = next((book.id for book in library.runbooks.values() if any(step.include == run.book.id for step in book.steps)), "")
    if whole and not made.expected:
        made.expected = True
        reason = f"{run.book.id} is a part of {whole}, which says what a healthy answer shows"
        made.not_shown.append(NotShown(expectation="", subject=reported(NOBODY), why=reason))
    return made


def was_wanted(step: StepRun) -> bool:
    """Whether a step was wanted, even if there was nothing to ask: a pod that is ready needs no events."""
    return step.done and step.note != UNWANTED


def machines_without_record(
    book: Runbook, one: Expectation, filling: list[StepRun], store: Store, needless: Needless
) -> Iterator[NotShown]:
    """The machines whose answer gave no record to try an expectation on."""
    assert one.each is not None  # noqa: S101  the schema wants it
    reasons: dict[str, list[str]] = {}
    for trouble in (trouble for step in filling for trouble in step.failures if trouble.host):
        reasons.setdefault(trouble.host, []).append(trouble.why)
    known = {record.subject().node for record in store.records(one.each.type)} if reasons else set()
    for host, why in reasons.items():
        subject = Subject(kind="node", node=host)
        if known and host not in known and not needless(subject):  # without a single record the whole wasn't shown
            yield not_shown(
                book, one, subject, first_hand(why), [command.shown for command in commands_of(filling) if command.host == host]
            )


def expectations_of(book: Runbook, inputs: Inputs) -> list[Expectation]:
    """The expectations of a runbook that hold for these inputs."""
    given, types = input_values(inputs), input_types(book.inputs)
    return [one for one in book.expects if not one.asked or compile_expression(one.asked, types).holds(given)]


def asked_for(kind: str, book: Runbook, steps: list[StepRun]) -> bool:
    """Whether a runbook's question wants records of a type. It doesn't where none of its own steps that fill it had anything to ask (a list
    of pods instead of one pod), nor where a list answered that leaves out what is well: how many these are, `targets` says.
    """
    filling = [step for step in steps if kind in step.planned.fills]
    own = [step for step in filling if step.planned.book.id == book.id] or filling
    return any((step.asked or step.undecided) and not left_out(kind, step) for step in own)


def left_out(kind: str, step: StepRun) -> bool:
    """Whether a step has answered whole, and its parser keeps only those records that aren't well."""
    parser = PARSERS.get(step.planned.step.parse)
    return parser is not None and kind in parser.sifts and step.answered > 0 and not step.failures and not step.undecided


def none_needless(subject: Subject) -> bool:
    """Return False: no subject is needless."""
    return False


def none_read(kind: str) -> str:
    """What is said where a type has no record: `no InfiniBand ports were read`."""
    return f"no {IN_WORDS.get(kind) or kind.replace('_', ' ')} were read"


def no_doubts(subject: Subject) -> list[str]:
    """Of files all that was read is what there is."""
    return []


def of_facts(library: Library, store: Store) -> Weighed:
    """The expectations that files can show: those about records that stand in them."""
    made = Weighed(expected=True)
    for book in library.runbooks.values():
        inputs: Inputs = {name: given.default for name, given in book.inputs.items()}
        for one in expectations_of(book, inputs) if book.status == "stable" else ():
            if one.each and store.records(one.each.type):
                weigh(made, book, one, inputs, store, no_doubts, none_needless)
    return made


def silent_about(library: Library, weighed: Weighed, inputs: Iterable[InputFile]) -> list[NotShown]:
    """What files gave and no expectation that was shown speaks of: nothing says that it is well. One entry for each kind of part."""
    said = weighed.stated_expectations
    tried = (one for book in library.runbooks.values() for one in book.expects if f"{book.id}.{one.id}" in said)
    spoken = frozenset[str]().union(*map(behind_types, tried))
    made: dict[tuple[str, ...], NotShown] = {}
    for given in inputs:
        for part in given.facts:
            kinds = tuple(kind for kind in part if kind in FACTS and not FACTS[kind].describes)
            if kinds and spoken.isdisjoint(kinds) and kinds not in made:
                why = f"nothing in {given.path} shows that what it describes is healthy"
                made[kinds] = NotShown(expectation="", subject=reported(NOBODY), why=why)
    return list(made.values())


def behind_types(one: Expectation) -> set[str]:
    """The types that an expectation reads, and those that they are measured from."""
    kinds = used_types(one)
    return kinds | {need for derived in DERIVATIONS.values() if kinds & {*derived.fills} for need in (*derived.needs, *derived.beside)}


def weigh(made: Weighed, book: Runbook, one: Expectation, inputs: Inputs, store: Store, doubt: Doubts, needless: Needless) -> None:
    """Try an expectation on every record of its type."""
    assert one.each is not None  # noqa: S101  the schema wants it
    given = input_values(inputs)
    types = scope.check_types(book, one)
    outers = [scope.check_types(book, one, upto=join.name) for join in one.joins]
    target = compile_expression(one.where, scope.record_of(book, one)) if one.where else None
    for record in store.records(one.each.type):
        subject = record.subject()
        values = Values(given, {one.each.name: record})
        try:
            if (target and not target.holds(values)) or needless(subject):
                continue
            why = doubt(subject) or missing_joins(one, outers, record, values, store)
            holds = not why and compile_expression(one.when, types).holds(values)
        except Unsure as error:
            why, holds = [not_known(str(error), one, record)], False
        if holds:
            says = fill_for_person(one.title, types, values)
            made.shown.append(Shown(expectation=f"{book.id}.{one.id}", subject=reported(subject), says=says))
            continue
        commands = deciding_commands.commands(one.each.type, [record])
        words = [] if why else [not_so(one, types, values)]
        made.not_shown.append(not_shown(book, one, subject, why or words, commands, not_so=not why))


def not_so(one: Expectation, types: Types, values: Values) -> str:
    """How it is where an expectation isn't so, by its own words unless they need what isn't known."""
    own = fill_for_person(one.not_so, types, values) if one.not_so else ""
    return own if own.strip(" ?:") else why_not(one, types, values)


def missing_joins(one: Expectation, outers: list[dict[str, Any]], record: Fact, values: Values, store: Store) -> list[str]:
    """What no record was read of though a condition joins it; binds the joins. `outers` are the variables that each join may use. Raises
    `Unsure`.
    """
    if record.stated:
        return ["a person says so, and no output of a tool shows it"]
    for join, outer in zip(one.joins, outers, strict=True):
        if not store.has(join.type):
            return [none_read(join.type)]
        bind(join, outer, record, values, store, FINAL, {}, strict=True)
    return []


def not_shown(
    book: Runbook, one: Expectation, subject: Subject, why: Iterable[str], commands: list[str], *, not_so: bool = False
) -> NotShown:
    """The entry of the report."""
    name, words = f"{book.id}.{one.id}", "; ".join(list(dict.fromkeys(why))[:REASONS])
    return NotShown(expectation=name, subject=reported(subject), why=words, not_so=not_so, settle_with=commands[:REASONS])


def commands_of(steps: list[StepRun]) -> Iterator[Command]:
    """The commands of steps."""
    return (command for step in steps for command in step.commands)


def doubts_of(steps: list[StepRun]) -> Doubts:
    """What says why that which steps read of a subject may not be all of it. Of thousands of hosts each has few reasons of its own."""
    troubles = [("", part) for step in steps if step.undecided for part in step.undecided.split("; ")]
    troubles += [(trouble.host, trouble.why) for step in steps for trouble in step.failures]
    by_host: dict[str, list[tuple[int, str]]] = {}
    for place, (host, why) in enumerate(troubles):
        by_host.setdefault(host, []).append((place, why))

    def doubts(subject: Subject) -> list[str]:
        if not subject.node:
            return first_hand(why for _, why in troubles)
        return first_hand(why for _, why in sorted([*by_host.get("", ()), *by_host.get(subject.node, ())]))

    return doubts


def lacking_of(steps: list[StepRun]) -> Needless:
    """What says whether a machine has none of the programs that these steps ask for more than which machines there are."""
    programs = [step for step in steps if step.planned.step.optional]
    hosts = [{trouble.host for trouble in step.absent} for step in programs]
    nowhere = bool(programs) and all(step.absent and not (step.answered or step.failures) for step in programs)

    def lacking(subject: Subject) -> bool:
        if not subject.node:
            return nowhere
        return bool(programs) and all(subject.node in absent or "" in absent for absent in hosts)

    return lacking


def refutations(library: Library, weighed: Weighed, open_: set[str]) -> list[Refutation]:
    """The causes that an expectation refutes that was shown for all its targets; `open_` are those that are found or possible."""
    failed = {one.expectation for one in weighed.not_shown}
    shown: dict[str, list[ReportSubject]] = {}
    for one in weighed.shown:
        if one.expectation not in failed:
            shown.setdefault(one.expectation, []).append(one.subject)
    return [
        Refutation(cause=cause.id, subject=subject, by=by)
        for cause in library.causes.values()
        if cause.id not in open_
        for by in cause.refuted_by
        for subject in shown.get(by, ())
    ]
