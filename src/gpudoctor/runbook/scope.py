"""Which variables an expression may use, by where it stands. One place, for the lint and for the engine."""

from __future__ import annotations

from typing import Any

from gpudoctor.runbook.conditions import input_types, join_types, record_types
from gpudoctor.runbook.model import Check, Runbook, Step


def found_variables(book: Runbook, number: int) -> dict[str, Any]:
    """`found.X` for the checks of the steps before step `number`: branching goes forward only."""
    return {f"found.{check.id}": bool for step in book.steps[:number] for check in step.checks}


def step_types(book: Runbook, step: Step) -> dict[str, Any]:
    """Inputs and the step's own record."""
    record = record_types(step.each.name, step.each.type) if step.each else {}
    return {**input_types(book.inputs), **record}


def record_of(book: Runbook, check: Check) -> dict[str, Any]:
    """Inputs and the check's own record."""
    return {**input_types(book.inputs), **(record_types(check.each.name, check.each.type) if check.each else {})}


def check_types(book: Runbook, check: Check, upto: str = "") -> dict[str, Any]:
    """Inputs, the check's record and its joins (only those before `upto`, when given)."""
    types = record_of(book, check)
    for join in check.joins:
        if join.name == upto:
            break
        types |= join_types(join.name, join.type)
    return types
