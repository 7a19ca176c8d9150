"""Lines over time for a terminal: one row a line, its height in eight steps, on a scale that all lines of a title share.

SM clock, MHz: 1200 to 1980, from 12:00:00 to 12:00:30
  gpu-02 GPU 3  ███████▇▆▅▄▃▃▂▂▁▁▁▁▁▁  1980 … 1215, down to 1200
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from gpudoctor.report import Series
from gpudoctor.reporters.text import safe

STEPS = "▁▂▃▄▅▆▇█"
# What stands for it where the terminal's character set has no blocks: the same eight steps, darker for higher.
PLAIN = str.maketrans({**dict(zip(STEPS, ".:-=+*#@", strict=True)), "…": "~", "°": " ", "─": "-", "░": "=", "✗": "x", "·": ","})
LEAST = 10  # columns of a line; a name is cut for it
LONGEST_NAME = 28
NARROWEST = 0.2  # of the highest value: a scale is at least as wide


def plot(series: Sequence[Series], width: int) -> Iterator[tuple[str, bool]]:
    """(row, whether it is marked) for each row; a title is a row of its own. No row is longer than `width`."""
    for title, group in groupby(sorted(series, key=lambda one: titles(series).index(one.title)), key=lambda one: one.title):
        lines = [one for one in group if one.points]
        if not lines:
            continue
        low, high = scale_range(lines)
        times = [moment for one in lines for moment, _ in one.points]
        begin, end = min(times), max(times)
        head = f"{title}, {lines[0].unit}: {low:.0f} to {high:.0f}, from {time_of_day(begin)} to {time_of_day(end)}"
        yield safe(head)[:width], False
        names = [safe(one.name)[-LONGEST_NAME:] for one in lines]
        ends = [describe_range([value for _, value in one.points]) for one in lines]
        room = width - 2 - max(map(len, names)) - 2 - max(map(len, ends)) - 2
        if room < LEAST:
            names = [name[-max(4, max(map(len, names)) - (LEAST - room)) :] for name in names]
            room = max(1, width - 6 - max(map(len, names)) - max(map(len, ends)))
        for one, name, words in zip(lines, names, ends, strict=True):
            row = f"  {name.ljust(max(map(len, names)))}  {draw_line(one, begin, end, low, high, room).ljust(room)}  {words}"
            yield row[:width].rstrip(), one.marked


def titles(series: Sequence[Series]) -> list[str]:
    """The titles in their first order."""
    return list(dict.fromkeys(one.title for one in series))


def scale_range(lines: Sequence[Series]) -> tuple[float, float]:
    """The lowest and highest value of a scale: one that makes no mountains of noise, and has some height where all values are equal."""
    values = [value for one in lines for _, value in one.points]
    low, high = min(values), max(values)
    low = min(low, high - NARROWEST * abs(high))
    return low, max(high, low + 1)


def draw_line(one: Series, begin: float, end: float, low: float, high: float, room: int) -> str:
    """A line in `room` characters: each column is the mean of what falls into it, the last known value where nothing does."""
    columns: list[list[float]] = [[] for _ in range(room)]
    for moment, value in one.points:
        columns[min(room - 1, int((moment - begin) / (end - begin) * room)) if end > begin else 0].append(value)
    text, last = "", None
    for column in columns:
        last = sum(column) / len(column) if column else last
        text += " " if last is None else STEPS[step(last, low, high)]
    return text


def step(value: float, low: float, high: float) -> int:
    """The height of a value, 0 to 7."""
    return min(len(STEPS) - 1, int((value - low) / (high - low) * len(STEPS)))


def describe_range(values: Sequence[float]) -> str:
    """Where a line begins and ends, and how far it went where that is not told by its ends.

    >>> describe_range([61, 90, 88]), describe_range([5])
    ('61 … 88, up to 90', '5')
    """
    first, last, low, high = (f"{value:.0f}" for value in (values[0], values[-1], min(values), max(values)))
    ends = first if first == last else f"{first} … {last}"
    return ends + ("" if low in (first, last) else f", down to {low}") + ("" if high in (first, last) else f", up to {high}")


def time_of_day(moment: float) -> str:
    """The time of day in UTC, for a moment that a clock can have."""
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return "?"
