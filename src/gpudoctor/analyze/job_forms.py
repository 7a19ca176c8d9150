"""What tells the dumps of a distributed job: the flight recorder's in JSON (a pickle is told by its bytes), RAS, Python stacks."""

from __future__ import annotations

from gpudoctor.parsers.py_spy import PYTHON, THREAD, frame
from gpudoctor.parsers.stack_summary import COUNTED, HEADING, NAME, functions

HEAD = 1 << 20  # characters of a JSON text that are looked at; its keys come sorted, and `entries` before `pg_config`
FEWEST = 3  # frames without a thread's line above them


def of_flight_recorder(whole: str) -> int:
    """One object with the operations of a rank, or only its process groups."""
    head = whole[:HEAD].lstrip()
    if not head.startswith("{"):
        return 0
    return 85 if '"pg_config"' in head or ('"entries"' in head and '"collective_seq_id"' in head) else 0


def of_ras(lines: list[str], whole: str) -> int:
    """The text's own headings, or the JSON's own keys."""
    if whole[:HEAD].lstrip().startswith("{"):
        return 85 if '"communicators"' in whole[:HEAD] and '"nccl_version"' in whole[:HEAD] else 0
    return 75 if any(line.startswith("Communicators...") for line in lines) else 0


def of_functions(lines: list[str]) -> int:
    """Names of functions and of hosts, and nothing else; or frames on one line behind a count."""
    if any(COUNTED.match(one) for one in lines):
        return 64
    return 40 if all(NAME.match(one) or HEADING.match(one) for one in lines if one.strip()) and functions(lines) else 0


def of_stacks(lines: list[str]) -> int:
    """A thread with a frame below it, or frames one below the other."""
    found = [bool(THREAD.match(one)) or -bool(frame(one) and PYTHON.search(one)) for one in lines]
    if any(one == 1 and frame(below) for one, below in zip(found, lines[1:], strict=False)):
        return 65
    return 50 if any(found[at : at + FEWEST] == [-1] * FEWEST for at in range(len(found))) else 0
