"""Ranks against time for a terminal: a row for those in one state.

Ranks against time, from 11:48:10 to 11:58:12
  1023    ─────────────
  0-1022  ─────────────────░░░░░░░░░░░░░░░░░░░✗
  ─ runs, ░ waits in a collective, ✗ fails or loses a peer, blank: not heard
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.report import Lane
from gpudoctor.reporters.plot import time_of_day
from gpudoctor.reporters.text import safe

RUNS, WAITS, ENDS = "─", "░", "✗"
LONGEST_NAME = 28
LEAST = 10  # columns of a row; a name is cut for it
LATEST = 1e11  # seconds since the epoch: no clock shows the year 5138
MARGIN = 0.1  # of the time shown that lies before the first known moment


def lanes(rows: Sequence[Lane], width: int) -> Iterator[tuple[str, bool]]:
    """(row, whether it is marked) for each row; the title comes first, the key last. No row is longer than `width`."""
    moments = [moment for row in rows for moment in known_moments(row)]
    if not moments:
        return
    end = max(moments)
    begin = min(moments) - MARGIN * max(1.0, end - min(moments))
    names = [safe(row.name)[:LONGEST_NAME] for row in rows]
    room = max(LEAST, width - 4 - max(map(len, names)))
    yield safe(f"Ranks against time, from {time_of_day(begin)} to {time_of_day(end)}")[:width], False
    for row, name in zip(rows, names, strict=True):
        yield f"  {name.ljust(max(map(len, names)))}  {draw_lane(row, begin, end, room)}"[:width].rstrip(), row.marked
    yield f"  {RUNS} runs, {WAITS} waits in a collective, {ENDS} fails or loses a peer, blank: not heard"[:width], False


def known_moments(row: Lane) -> list[float]:
    """The moments of a row that a clock can have shown."""
    return [moment for moment in (row.waits_from, row.heard, row.ended) if moment is not None and 0 < moment < LATEST]


def draw_lane(row: Lane, begin: float, end: float, room: int) -> str:
    """Draw one row in `room` columns."""

    def column(moment: float) -> int:
        return min(room - 1, max(0, int((moment - begin) / (end - begin) * room))) if end > begin else 0

    last = max(map(column, known_moments(row)), default=-1)
    text = [RUNS] * (last + 1)
    if row.waits_from in known_moments(row):
        text[column(row.waits_from) :] = [WAITS] * (last + 1 - column(row.waits_from))
    if row.ended in known_moments(row):
        text[column(row.ended)] = ENDS
    return "".join(text)
