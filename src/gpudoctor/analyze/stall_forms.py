"""How texts about stalls are recognised: lists of file systems and of processes, and logs with lines of progress."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.parsers.linux_df import HEAD, ROW
from gpudoctor.parsers.linux_ps import NAMES, STATES
from gpudoctor.parsers.step_words import step_in

FEWEST = 3  # lines of progress: one alone may be a sentence


def of_df(lines: Sequence[str]) -> int:
    """The header of `df`, or rows without it."""
    return 59 if any(HEAD.match(line) or ROW.match(line.lstrip()) for line in lines) else 0


def of_ps(lines: Sequence[str]) -> int:
    """A header of `ps` with a column for the state."""
    heads = (line.split() for line in lines if "PID" in line)
    return (
        59 if any("PID" in words and any(one in words for one in STATES) and any(one in words for one in NAMES) for words in heads) else 0
    )


def of_progress(lines: Sequence[str]) -> int:
    """Lines of progress; whatever else the text is wins."""
    found = 0
    for line in lines:
        found += step_in(line) is not None
        if found >= FEWEST:
            return 24
    return 0
