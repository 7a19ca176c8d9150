"""The steps of a run in the HTML report: each with what became of it, its commands folded under it, and what they have answered."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec

from gpudoctor.report import Report, StepOutput, StepResult
from gpudoctor.reporters.markup import NOTHING, Raw, block, tag
from gpudoctor.reporters.text import command, count

ABOVE = "What it answered stands with the first step that asked it."
SKIPPED = ("", "not needed")  # notes of steps that nobody has to read about


class Outputs:
    """Where in the page each output stands: `ids` by what evidence calls it (`gpu-02: dmesg --time-format=iso`)."""

    def __init__(self, report: Report) -> None:
        self.ids: dict[str, str] = {}
        for step in report.steps:
            for output in filter(lambda one: one.argv, outputs_of(step)):
                self.ids.setdefault(output_label(output), f"output-{len(self.ids) + 1}")
        self.placed: set[str] = set()

    def place(self, output: StepOutput) -> str | None:
        """The id for the element of an output; a page has each once."""
        target = self.ids.get(output_label(output))
        if target is None or target in self.placed:
            return None
        self.placed.add(target)
        return target


def outputs_of(step: StepResult) -> list[StepOutput]:
    """What the commands of a step answered, [] where the report doesn't have it."""
    return [] if isinstance(step.outputs, msgspec.UnsetType) else step.outputs


def output_label(output: StepOutput) -> str:
    """What evidence calls an output."""
    shown = shlex.join(output.argv)
    return f"{output.host}: {shown}" if output.host else shown


def steps(report: Report, outputs: Outputs) -> Iterator[Raw]:
    """The steps in the order written; those that nothing called for are only counted."""
    needed = [step for step in report.steps if step.outcome != "skipped" or step.note not in SKIPPED]
    yield from (one_step(step, outputs) for step in needed)
    if len(needed) < len(report.steps):
        yield tag("p", f"{count(len(report.steps) - len(needed), 'more step')}, not needed", class_="quiet")


def one_step(step: StepResult, outputs: Outputs) -> Raw:
    """One step, folded."""
    place = f" · {step.host}" if step.host else ""
    about = tag("span", f"{step.id}{place} · {step.seconds:.1f} s", class_="quiet")
    head = tag("summary", tag("span", step.outcome, class_=f"outcome {step.outcome}"), " ", step.title or step.id, " ", about)
    answers = outputs_of(step)
    asked = to_copy(command(step.argv)) if step.argv and not answers else NOTHING
    above = tag("p", ABOVE, class_="quiet") if asked and outputs.ids and step.outcome != "skipped" else NOTHING
    note = tag("p", step.note) if step.note else NOTHING
    return tag("details", head, asked, above, note, (answer(output, outputs) for output in answers))


def answer(output: StepOutput, outputs: Outputs) -> Raw:
    """What one command answered, folded."""
    if not output.argv:
        return tag("p", output.why, class_="quiet")
    ways = [output.host, f"via {output.via}" if output.via else "", f"sample {output.sample}" if output.sample else ""]
    became = output.why or (f"exit {output.exit}" if output.exit else "answered")
    place = " · ".join(word for word in (*ways, became) if word)
    head = tag("summary", tag("code", command(output.argv) or "?"), " ", tag("span", place, class_="quiet"))
    body = (to_copy(command(output.argv)), text(output.text, "Output"), text(output.errors, "Error output"), left_out(output))
    return tag("details", head, tag("div", *body, id=outputs.place(output)))  # inside: a link to what is folded opens it


def to_copy(shown: str) -> Raw:
    """A command or a manifest ready to paste: one click selects all of it, and the script of the page adds a button that copies it."""
    return tag("pre", tag("code", block(shown)), class_="command", tabindex=0)


def text(shown: str, name: str) -> Raw:
    """An output as it was; a long one scrolls in its box."""
    return tag("pre", tag("code", block(shown)), class_="output", tabindex=0, role="region", aria_label=name) if shown else NOTHING


def left_out(output: StepOutput) -> Raw:
    """That an output is not all here, or is empty."""
    if output.left_out:
        return tag("p", f"{output.left_out} characters are left out; --record keeps everything", class_="quiet")
    return NOTHING if output.text or output.errors or output.why else tag("p", "It printed nothing.", class_="quiet")
