"""Which processes of a list of `ps` are the ranks of one launcher, so that one of them that has ended is told from any other child.

  PID    PPID STAT     ELAPSED CMD
20441   20411 Rl      09:12:44 python -u train.py --local-rank=4
20442   20411 Z       09:12:44 [python] <defunct>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpudoctor.patterns import regex

MOST = 4_096  # processes
SHOWN = 8  # local ranks that are named
NAMES = ("COMMAND", "CMD", "ARGS", "COMM")
# --local-rank=3  |  --local_rank 3
LOCAL = regex(r"--local[-_]rank[= ](\d{1,3})\b")
LAUNCHER = regex(
    r"\b(?:torchrun|torch[./]distributed[./](?:run|launch)|mpirun|mpiexec|prterun|hydra_pmi_proxy|slurmstepd|deepspeed|accelerate|orted)\b"
)

Row = Mapping[str, str]


def command_of(row: Row) -> str:
    """The command line, or the name where only that was listed."""
    return next((row[name] for name in NAMES if name in row), "")


def remaining_ranks(ended: Row, rows: Sequence[Row]) -> tuple[int, str]:
    """(how many ranks the launcher of an ended process still has, the local rank that none of them is).

    (0, "") where its parent isn't seen to be a launcher: then it may be a worker of a rank's data loader.

    >>> live = [{"PID": str(pid), "PPID": "9", "S": "R", "CMD": f"python train.py --local-rank={pid - 10}"} for pid in (10, 11, 13)]
    >>> remaining_ranks({"PID": "12", "PPID": "9", "S": "Z", "CMD": "[python] <defunct>"}, live)
    (3, '2')
    """
    parent = ended.get("PPID", "")
    if not parent or parent in ("0", "1"):
        return 0, ""
    live = [
        row
        for row in rows[:MOST]
        if row.get("PPID") == parent and row.get("PID") != ended.get("PID") and "<defunct>" not in command_of(row)
    ]
    local = sorted({int(match[1]) for row in live if (match := LOCAL.search(command_of(row)))})
    launched = any(row.get("PID") == parent and LAUNCHER.search(command_of(row)) for row in rows[:MOST])
    alike = sum("python" in command_of(row) for row in live)
    if len(local) < 2 and not (launched and alike):
        return 0, ""
    missing = sorted(set(range(local[-1] + 1)) - set(local)) if len(local) > 1 else []
    return max(len(local), alike), ", ".join(str(number) for number in missing[:SHOWN])
