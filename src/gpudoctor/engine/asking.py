"""What a run asks, in one line: `pod ml/train-0`, `16 nodes gpu-[01-16]`. The runbooks say it themselves (`question:`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpudoctor.nodesets import fold
from gpudoctor.runbook.conditions import Values, compile_expression, input_types, input_values
from gpudoctor.runbook.model import Library, Question, Runbook
from gpudoctor.runbook.templates import fill_for_person


def question_of(library: Library, book: Runbook, inputs: Mapping[str, Any], otherwise: str) -> str:
    """The first question of a runbook, and of those that it includes, whose condition holds; else what is given."""
    for owner, form in question_forms(library, book):
        types = {**input_types(owner.inputs), "asked.machines": str}
        known = {name: inputs.get(name, declared.default) for name, declared in owner.inputs.items()}
        values = Values({**input_values(known), "asked.machines": machines_text(str(known.get("nodes", "")))}, {})
        if compile_expression(form.when, types)(values):
            return fill_for_person(form.says, types, values)
    return otherwise


def question_forms(library: Library, book: Runbook) -> Iterator[tuple[Runbook, Question]]:
    """The questions of a runbook and those of the runbooks that it includes, each with its owner."""
    yield from ((book, form) for form in book.question)
    for step in book.steps:
        if step.include and (included := library.runbooks.get(step.include)):
            yield from question_forms(library, included)


def machines_text(nodes: str) -> str:
    """Names of machines with commas between as one text: `node gpu-02`, `16 nodes gpu-[01-16]`.

    >>> machines_text("gpu-02"), machines_text("gpu-01,gpu-02")
    ('node gpu-02', '2 nodes gpu-[01-02]')
    """
    names = [name for name in nodes.split(",") if name]
    return f"node {''.join(names)}" if len(names) < 2 else f"{len(names)} nodes {fold(names)}"
