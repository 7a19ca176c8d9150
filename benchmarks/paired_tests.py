"""The paired tests of the runbooks: what one case costs, against starting Python."""

from __future__ import annotations

import re
import subprocess
import sys

from benchmarks.measure import GPUDOCTOR, Broken, compare, in_turn, processor, run

TIMES = 5


def measure() -> None:
    """Print the processor time of one case."""
    cases, code = count()
    ours, python = in_turn(TIMES, lambda: run([GPUDOCTOR, "test"], exit=code, says=" passed"), lambda: run([sys.executable, "-c", "pass"]))
    compare(f"gpudoctor test, processor time of each of {cases} cases / python -c pass", processor(ours) / cases, processor(python), 1.0)


def count() -> tuple[int, int]:
    """How many cases `gpudoctor test` runs, and its exit code: a failing case costs as much as one that passes."""
    done = subprocess.run([GPUDOCTOR, "test"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    # 41 passed, 0 failed
    found = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    if found is None or done.returncode not in (0, 1):
        raise Broken(f"gpudoctor test: exit code {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return int(found[1]) + int(found[2]), done.returncode
