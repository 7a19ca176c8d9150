"""Running two programs in turn, and the line that compares them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

GPUDOCTOR = str(Path(sys.executable).parent / "gpudoctor")


class Broken(Exception):
    """A program that should be measured did not run as expected."""


class Run(NamedTuple):
    """One finished process: seconds on the wall, seconds of processor time, and the peak of its memory in MiB."""

    wall: float
    processor: float
    peak: float


def run(argv: Sequence[str], *, exit: int = 0, says: str = "", env: Mapping[str, str] | None = None, stdin: Path | str = os.devnull) -> Run:
    """Run a program to its end with its output thrown away. Raises Broken unless it exits with `exit` and prints `says`, if given.

    The peak is that of the largest process of its tree, and never less than our own, which it starts as a copy of.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, Path(stdin).open("rb") as given:
        started = time.perf_counter()
        try:
            process = subprocess.Popen(list(argv), stdin=given, stdout=out if says else subprocess.DEVNULL, stderr=err, env=env)
        except OSError as error:
            raise Broken(f"{argv[0]} can't be run: {error.strerror}") from None
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode != exit or (says and says.encode() not in out.read()):
            err.seek(0)
            said = err.read(2000).decode(errors="replace").strip() or "nothing on stderr"
            raise Broken(f"{' '.join(argv)[:200]}: exit code {process.returncode}, expected {exit} and {says!r} on stdout; {said}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # ru_maxrss is in bytes there, in KiB elsewhere
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def in_turn(times: int, *sides: Callable[[], Run]) -> list[list[Run]]:
    """Run all sides one after the other, `times` times, so that a slow moment of the machine meets them all. Runs by side."""
    rounds = [[side() for side in sides] for _ in range(times)]
    return [list(runs) for runs in zip(*rounds, strict=True)]


def wall(runs: Sequence[Run]) -> float:
    """The median wall time in seconds."""
    return median(one.wall for one in runs)


def processor(runs: Sequence[Run]) -> float:
    """The median processor time in seconds."""
    return median(one.processor for one in runs)


def compare(name: str, ours: float, theirs: float, most: float, unit: str = "s") -> None:
    """Print one promise: `--help against kubectl --help: ours 0.081 s / theirs 0.050 s = 1.6 (at most 2)`."""
    print(f"{name}: ours {ours:.3f} {unit} / theirs {theirs:.3f} {unit} = {ours / theirs:.2g} (at most {most:g})", flush=True)
