"""How texts about stalls are recognised: lists of file systems and of processes, and logs with lines of progress."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gpudoctor.parsers import gpu_stated, quotas
from gpudoctor.parsers.linux_df import HEAD, ROW
from gpudoctor.parsers.linux_ps import NAMES, STATES, titles
from gpudoctor.parsers.measures import numbered, readings
from gpudoctor.parsers.memory_reports import said
from gpudoctor.parsers.odd_rows import odd
from gpudoctor.parsers.step_compare import slowest_in
from gpudoctor.parsers.step_tables import steps_in
from gpudoctor.parsers.step_words import memory_in, peak_in, step_in

FEWEST = 3  # lines of progress: one alone may be a sentence, if it doesn't tell the time for data or compare ranks


def of_df(lines: Sequence[str]) -> int:
    """The header of `df`, or rows without it."""
    return 59 if any(HEAD.match(line) or ("/" in line and ROW.match(line.lstrip())) for line in lines) else 0


def of_quota(lines: Sequence[str]) -> int:
    """A table of quotas."""
    return quotas.score(lines)


def of_ps(lines: Sequence[str], argv: Sequence[str] = ()) -> int:
    """A header of `ps` with a column for the state, or rows of a command that asked for these."""
    if len(asked := titles(argv)) > 2 and any(
        len(row := line.split()) >= len(asked) and row[asked.index("PID")].isdecimal() for line in lines
    ):
        return 59
    heads = (line.split() for line in lines if "PID" in line)
    return (
        59 if any("PID" in words and any(one in words for one in STATES) and any(one in words for one in NAMES) for words in heads) else 0
    )


def of_memory(lines: Sequence[str]) -> int:
    """A line that tells how a program's memory on its GPU is divided."""
    return 22 if any(map(said, lines)) else 0


def of_measures(lines: Sequence[str], argv: Sequence[str] = ()) -> int:
    """A number that a reader of measures knows, or a table in which a row stands out."""
    known = numbered("\n".join(lines), argv)
    return 21 if readings(known) or any(True for _ in odd(known)) else 0


def of_told(lines: Sequence[str], whole: str) -> int:
    """A note that tells what GPUs do."""
    return gpu_stated.score(lines, whole)


def of_progress(lines: Sequence[str]) -> int:
    """Lines of progress; whatever else the text is wins."""
    if len([*islice(steps_in(lines), FEWEST)]) == FEWEST:
        return 24
    found = 0
    for line in lines:
        step = step_in(line)
        told = (step is not None and step.data is not None and step.seconds is not None) or slowest_in(line) is not None
        whole = step is not None and step.total is not None and step.seconds is not None
        told = told or (whole and "elapsed time per iteration" in line)  # Megatron's is no sentence
        found += FEWEST if told else 1 + whole if step is not None else memory_in(line) is not None or peak_in(line) is not None
        if found >= FEWEST:
            return 24
    return 0
