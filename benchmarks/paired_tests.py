"""The paired tests of the runbooks: what one case costs, against starting Python."""

from __future__ import annotations

import re
import subprocess
import sys

from benchmarks.measure import GPUDOCTOR, Broken, compare, in_turn, processor, run

TIMES = 5


def measure() -> None:
    """Print the processor time of one case."""
    cases = count()
    ours, python = in_turn(TIMES, lambda: run([GPUDOCTOR, "test"], says=" passed"), lambda: run([sys.executable, "-c", "pass"]))
    compare(f"gpudoctor test, processor time of each of {cases} cases / python -c pass", processor(ours) / cases, processor(python), 1.0)


def count() -> int:
    """How many cases `gpudoctor test` runs."""
    done = subprocess.run([GPUDOCTOR, "test"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    # 41 passed, 0 failed
    found = re.search(r"^(\d+) passed, 0 failed$", done.stdout, re.MULTILINE)
    if found is None or int(found[1]) == 0:
        raise Broken(f"gpudoctor test: exit code {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return int(found[1])
