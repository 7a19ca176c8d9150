"""What the commands of a run answered, for a report that shows it: what the findings rest on first, as much as a person can open."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from gpudoctor.engine.steps import Run, StepRun
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import Report, StepOutput

SHOWN = 200  # commands of one step
ROOM = 8 * 1024 * 1024  # characters of one report; browsers open that at once

Kept = Callable[[Command], tuple[Output, int] | None]  # an answer, and how many bytes of it were left out


def attach_outputs(report: Report, run: Run, kept: Kept) -> Report:
    """The report with the outputs of its steps; what several steps have asked stands in the first."""
    pieces = [*(one.evidence for one in report.findings), *(one.evidence for one in report.candidates)]
    cited = {piece.source for many in pieces for piece in many}
    seen: set[tuple[str, tuple[str, ...], int]] = set()
    made = [list(of_step(step, kept, seen, cited)) for step in run.steps]
    room = ROOM
    for wanted in (True, False):  # what is cited has the first right to the room
        for outputs in made:
            for number, one in enumerate(outputs):
                if (output_name(one) in cited) is wanted:
                    room -= len(one.text) + len(one.errors)
                    if room < 0:
                        room += len(one.text) + len(one.errors)
                        left_out = one.left_out + len(one.text) + len(one.errors)
                        outputs[number] = msgspec.structs.replace(one, text="", errors="", left_out=left_out)
    steps = [msgspec.structs.replace(step, outputs=outputs) for step, outputs in zip(report.steps, made, strict=True)]
    return msgspec.structs.replace(report, steps=steps)


def of_step(step: StepRun, kept: Kept, seen: set[tuple[str, tuple[str, ...], int]], cited: set[str]) -> Iterator[StepOutput]:
    """The outputs of a step that no earlier step has shown, those that are cited first where there are too many."""
    new = {(one.host, one.argv, one.sample): one for one in step.commands}
    found = [answer for key, command in new.items() if key not in seen and (answer := kept(command))]
    seen.update(new)
    if len(found) > SHOWN:
        found.sort(key=lambda answer: answer[0].origin_name() not in cited)
    for output, left_out in found[:SHOWN]:
        yield StepOutput(
            argv=list(output.command.public),
            host=output.command.host,
            sample=output.command.sample,
            exit=output.exit,
            why=output.reason or output.failure,
            via=output.via,
            text=output.text,
            errors=output.stderr.decode("utf-8", "replace"),
            left_out=left_out,
        )
    if len(found) > SHOWN:
        yield StepOutput(argv=[], why=f"{len(found) - SHOWN} more commands of this step are not shown here")


def output_name(output: StepOutput) -> str:
    """What evidence calls an output: `gpu-02: dmesg --time-format=iso`."""
    return Output(Command(argv=tuple(output.argv), host=output.host)).origin_name()
