"""A runbook and what it includes as one flat list of steps, each with the steps that it must wait for."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

from gpudoctor.derive import DERIVATIONS
from gpudoctor.patterns import regex
from gpudoctor.registry import PARSERS
from gpudoctor.runbook.conditions import input_types, input_values
from gpudoctor.runbook.model import Check, Library, Runbook, Step
from gpudoctor.runbook.templates import fill

FOUND = regex(r"\bfound\.([a-z][a-z0-9_]*)")
INTEGER = regex(r"[-+]?[0-9]{1,18}\Z")
NUMBER = regex(r"[-+]?[0-9]{1,18}(\.[0-9]{0,18})?\Z")


class Gate(msgspec.Struct, frozen=True):
    """A condition that decides whether a step is asked, in the words of the runbook that states it."""

    book: Runbook
    when: str
    inputs: dict[str, Any]

    def steered_by(self, planned: Planned) -> bool:
        """Whether `found.X` of the condition may be a check of that step: `found` speaks of one inclusion of one runbook."""
        return planned.book.id == self.book.id and planned.inputs == self.inputs


Inclusion = tuple[dict[str, Any], list[Gate]]


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the flat list."""

    order: int
    book: Runbook
    step: Step
    inputs: dict[str, Any]
    gates: list[Gate]
    waits_for: frozenset[int] = frozenset()

    @property
    def name(self) -> str:
        """RUNBOOK.STEP, the name of the step in a report."""
        return f"{self.book.id}.{self.step.id}"

    @property
    def fills(self) -> frozenset[str]:
        """The fact types that the step may fill."""
        return filled_by(self.step.parse, self.step.derive)


@functools.cache
def filled_by(parse: str, derive: str) -> frozenset[str]:
    """The fact types that a parser or a derivation may fill."""
    if parse:
        return frozenset(PARSERS[parse].fills)
    return frozenset(DERIVATIONS[derive].fills) if derive else frozenset()


def plan(library: Library, book: Runbook, inputs: dict[str, Any]) -> list[Planned]:
    """The flat list, in the order written."""
    steps: list[Planned] = []
    flatten(library, book, inputs, [], steps, {})
    return [msgspec.structs.replace(one, waits_for=needed_steps(one, steps)) for one in steps]


def flatten(
    library: Library, book: Runbook, inputs: dict[str, Any], gates: list[Gate], steps: list[Planned], seen: dict[str, list[Inclusion]]
) -> None:
    """Append the steps of a runbook and of what it includes. One that is there already, with equal inputs and behind no other gates than
    this time, adds nothing: its steps are asked whenever this inclusion wants them.
    """
    before = seen.setdefault(book.id, [])
    if any(given == inputs and all(gate in gates for gate in behind) for given, behind in before):
        return
    before.append((inputs, gates))
    for step in book.steps:
        more = [*gates, Gate(book, step.when, inputs)] if step.when else gates
        if step.include:
            inner = library.runbooks[step.include]
            flatten(library, inner, included_inputs(book, step, inner, inputs), more, steps, seen)
        else:
            steps.append(Planned(order=len(steps), book=book, step=step, inputs=inputs, gates=more))


def included_inputs(book: Runbook, step: Step, inner: Runbook, inputs: dict[str, Any]) -> dict[str, Any]:
    """The inputs of an included runbook: `set`, else the value of an input of the same name, else the default."""
    values = input_values(inputs)
    given = {name: inputs.get(name, declared.default) for name, declared in inner.inputs.items()}
    for name, template in step.set.items():
        given[name] = cast(fill(template, input_types(book.inputs), values), inner.inputs[name].type)
    return given


def cast(text: str, kind: str) -> str | int | float | bool:
    """The text of an input as a value of its type; a duration may be bare seconds. Raises ValueError with a sentence.

    >>> cast("1h30m", "duration"), cast("90", "duration"), cast("TRUE", "bool"), cast("7", "int")
    (5400.0, 90.0, True, 7)
    """
    if kind == "string":
        return text
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "int" and INTEGER.match(text):
        return int(text)
    if kind in ("float", "duration") and NUMBER.match(text):
        return float(text)
    if kind == "duration":
        from gpudoctor.runbook.fields import duration

        return duration(text)
    raise ValueError(f"'{text[:80]}' is not a{'n' if kind == 'int' else ''} {kind}")


def needed_steps(one: Planned, steps: list[Planned]) -> frozenset[int]:
    """The earlier steps that must have ended: those that fill what this one reads, and those whose checks steer it."""
    derivation = DERIVATIONS.get(one.step.derive)
    types = {*derivation.needs, *derivation.beside} if derivation else set()
    if one.step.each:
        types.add(one.step.each.type)
    steering: set[int] = set()
    for gate in one.gates:
        for name in FOUND.findall(gate.when):
            for earlier in steps[: one.order]:
                for check in earlier.step.checks:
                    if check.id == name and gate.steered_by(earlier):
                        steering.add(earlier.order)
                        types |= used_types(check)
    fillers = {earlier.order for earlier in steps[: one.order] if earlier.fills & types}
    return frozenset(steering | fillers)


def used_types(check: Check) -> set[str]:
    """The fact types that a check reads."""
    return ({check.each.type} if check.each else set()) | {join.type for join in check.joins}


def with_dependencies(orders: set[int], steps: list[Planned]) -> list[int]:
    """These steps and all that they wait for, directly or not, in the order written."""
    todo, kept = set(orders), set[int]()
    while todo:
        order = todo.pop()
        kept.add(order)
        todo |= steps[order].waits_for - kept
    return sorted(kept)
