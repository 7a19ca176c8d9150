"""Flight recorder dumps of a job that hangs, one for each rank: finding out where all of them stand, in time and memory by ranks.

A dump has 2,000 operations (BENCH_ENTRIES), what torch keeps by default; one rank is one operation behind the others (BENCH_RANKS=64,…).
The others are copies: of links to one file only the first is read.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Run, run
from tests import flight

ENTRIES = int(os.environ.get("BENCH_ENTRIES", "2000"))
RANKS = [int(word) for word in os.environ.get("BENCH_RANKS", "64,256,1024").split(",")]
AT = 50_000  # the operation that the others wait in
BEHIND = 17
# What stands where: the largest number of a waiting rank, and the rank that is behind it.
PROGRAM = """
import sys
from gpudoctor.analyze.gather import gather
waits = {one.rank: one.sequence for one in gather(sys.argv[1:]).facts["collectives"] if one.state == "started"}
print(len(waits), max(waits.values()), min(waits, key=waits.get))
"""


def write(folder: Path, ranks: int) -> None:
    """The dumps of a job in a folder."""
    usual = folder / "nccl_trace_rank_0"
    usual.write_bytes(flight.pickled(flight.waiting(AT, first=AT - ENTRIES + 1, world=ranks)))
    for rank in range(1, ranks):
        shutil.copyfile(usual, folder / f"nccl_trace_rank_{rank}")
    late = folder / f"nccl_trace_rank_{BEHIND}"
    late.unlink()
    late.write_bytes(flight.pickled(flight.waiting(AT - 1, first=AT - ENTRIES, world=ranks)))


def once(ranks: int) -> Run:
    """One reading of the dumps of so many ranks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "dumps")
        folder.mkdir()
        write(folder, ranks)
        return run([sys.executable, "-c", PROGRAM, str(folder)], says=f"{ranks} {AT} {BEHIND}")


def measure() -> None:
    """Print the curve."""
    for ranks in RANKS:
        took = once(ranks)
        each = f"{took.processor / ranks * 1000:.0f} ms of processor a rank"
        print(f"flight recorder, {ranks} ranks x {ENTRIES} operations: {took.wall:.1f} s, {each}, {took.peak:.0f} MiB", flush=True)
