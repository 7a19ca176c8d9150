"""What a person sees while a run goes on: a line for each step as it finishes, how many hosts have answered, how many files were read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from gpudoctor.report import StepResult
from gpudoctor.reporters.text import count, safe

QUIET = 1.0  # seconds before a reading is worth a word
BETWEEN = 0.2  # seconds between two


def printer(stream: TextIO, *, width: int = 80) -> Callable[[StepResult], None] | None:
    """The `on_step` for a run, which writes to `stream`; None where that is no terminal. A closed stream is ignored. Thread-safe."""

    def on_step(step: StepResult) -> None:
        try:
            stream.write(line(step, width) + "\n")  # one write a line, so that lines of several workers don't mix
            stream.flush()
        except (OSError, ValueError):
            return

    return on_step if stream.isatty() else None


def counter(stream: TextIO, name: str, *, width: int = 80) -> Callable[[int, int], None]:
    """The `on_hosts` for a run: `node-health: 37 of 200 hosts`, in one line that the next one overwrites, on a terminal only."""

    def on_hosts(ended: int, total: int) -> None:
        text = f"{safe(name)}: {ended} of {total} hosts"[: width - 1]
        try:
            if total > 1:
                stream.write((text if ended < total else " " * len(text)) + "\r")
                stream.flush()
        except (OSError, ValueError):
            return

    return on_hosts if stream.isatty() else lambda ended, total: None


def reader(stream: TextIO, *, width: int = 80) -> Callable[[str, int, int, int], None]:
    """The `on_read` for files: `read 120 of 200 files, 310 MiB`, like `counter`; only of work that lasts, and a few times a second."""
    shown = time.monotonic() + QUIET - BETWEEN  # when it was last shown
    written = 0

    def on_read(doing: str, files: int, total: int, size: int) -> None:
        nonlocal shown, written
        now, done = time.monotonic(), bool(total) and files == total
        if now - shown < BETWEEN and not (done and written):
            return
        text = f"{doing} {files} of {total} files" if total else f"{doing} {count(files, 'file')}"
        text = "" if done else f"{text}, {size >> 20} MiB"[: width - 1]
        try:
            stream.write(text.ljust(written) + "\r")  # nothing is left of the last one
            stream.flush()
        except (OSError, ValueError):
            return
        shown, written = now, len(text)

    return on_read if stream.isatty() else lambda doing, files, total, size: None


def line(step: StepResult, width: int = 80) -> str:
    """`found    2.1 s  gpu-stack.plugin_logs  gpu-02`, cut to the width."""
    text = f"{step.outcome:8} {step.seconds:6.1f} s  {safe(step.title or step.id)}" + (f"  {safe(step.host)}" if step.host else "")
    return text if len(text) <= width else text[: width - 1] + "…"
