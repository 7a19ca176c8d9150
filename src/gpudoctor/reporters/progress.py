"""One line on a terminal for each step as it finishes, so that nobody wonders whether anything happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from gpudoctor.report import StepResult
from gpudoctor.reporters.text import safe


def printer(stream: TextIO, *, width: int = 80) -> Callable[[StepResult], None]:
    """The `on_step` for a run: writes to `stream` when it is a terminal, else does nothing. A closed stream is ignored. Thread-safe."""

    def on_step(step: StepResult) -> None:
        try:
            stream.write(line(step, width) + "\n")  # one write a line, so that lines of several workers don't mix
            stream.flush()
        except (OSError, ValueError):
            return

    return on_step if stream.isatty() else lambda step: None


def line(step: StepResult, width: int = 80) -> str:
    """`found    2.1 s  gpu-stack.plugin_logs  gpu-02`, cut to the width."""
    text = f"{step.outcome:8} {step.seconds:6.1f} s  {safe(step.title or step.id)}" + (f"  {safe(step.host)}" if step.host else "")
    return text if len(text) <= width else text[: width - 1] + "…"
