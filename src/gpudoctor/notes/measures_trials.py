"""Tables and lines that somebody made to compare the same program under several settings, or to count what became of many pods.

num_workers  samples/s  GPU util         tier     pods   OOMKilled   working set
0            41         6%               small    40     0%          466 MiB
8            212        61%              large    25     48%         486 MiB

No tool prints them: what a column is of is told by its title.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.notes.comparison_tables import VALUE, amount, direction, split
from gpudoctor.notes.measure import Line, Reading
from gpudoctor.patterns import regex

# The processes that make batches. Ray Train and Spark call the ranks of a job so, too: see `gain`.
WORKERS = regex(r"^-*(?:data_?loader[ _.-]?)?num[ _-]workers$|^(?:data[ _-]?)?loader[ _-]workers$", 2)
RATE = regex(r"^(?:steps?|batches|samples|images|it(?:er(?:ation)?)?s) (?:in|per) \d|(?:/|[ _]per[ _])(?:s|sec|second|min|minute)$", 2)
USE = regex(r"\b(?:gpu|sm)[ _-]?util|GPU_UTIL\b|utili[sz]ation", 2)
KILLED = regex(r"\bOOM[ _-]?(?:killed|kills?)\b", 2)
# num_workers=0: 41.2 samples/s   |   [num_workers=8] 212 img/s
PAIR = regex(r"\bnum_workers ?[=:] ?(\d{1,4})\b")
PERCENT = regex(r"^(\d{1,3}(?:\.\d{1,6})?) ?%$")
MOST = 200  # rows


class Trial(NamedTuple):
    """A run: with how many workers, how fast, how busy its GPU was."""

    workers: float
    rate: float
    use: float | None
    line: Line


def trials(lines: Sequence[Line]) -> Iterator[Reading]:
    """How much faster a program is with more workers that load its data; how many were killed for memory."""
    for titles, rows in tables(lines):
        yield from most_killed_row(titles, rows)
        if one := gain(in_table(titles, rows)):
            yield one
    if one := gain(in_lines(lines)):
        yield one


def tables(lines: Sequence[Line]) -> Iterator[tuple[list[str], list[tuple[list[str], Line]]]]:
    """The titles and rows of each table that has a column which is read."""
    for at, (_, text) in enumerate(lines):
        if "orkers" not in text and "OOM" not in text and "oom" not in text:  # a quick look before the patterns
            continue
        titles = cells(text)
        if len(titles) < 2 or not any(WORKERS.search(title) or KILLED.search(title) for title in titles):
            continue
        rows = []
        for line in lines[at + 1 : at + 1 + MOST]:
            if set(line[1]) <= set("-+|=: "):
                continue
            row = cells(line[1])
            if len(row) != len(titles):
                break
            rows.append((row, line))
        yield titles, rows


def cells(text: str) -> list[str]:
    """The cells of a line of a table, or of comma-separated values."""
    return [cell.strip() for cell in text.split(",")] if "," in text and "|" not in text and "  " not in text.strip() else split(text)


def most_killed_row(titles: Sequence[str], rows: Sequence[tuple[list[str], Line]]) -> Iterator[Reading]:
    """The row with most that were killed, by number or as a share."""
    for column in (at for at, title in enumerate(titles) if KILLED.search(title)):
        found = [(value, row[0], line) for row, line in rows if (value := number(row[column])) is not None]
        if found and (worst := max(found))[0] > 0:
            yield Reading("oom_killed", worst[0], worst[2], label=worst[1][:80])


def in_table(titles: Sequence[str], rows: Sequence[tuple[list[str], Line]]) -> list[Trial]:
    """The runs of a table."""
    workers = next((at for at, title in enumerate(titles) if WORKERS.search(title)), None)
    pace = next(((at, -1) for at, title in enumerate(titles) if RATE.search(title)), None) or next(
        ((at, sign) for at, title in enumerate(titles) if (sign := direction(title))), None
    )
    if workers is None or pace is None:
        return []
    used = next((at for at, title in enumerate(titles) if USE.search(title)), None)
    found = []
    for row, line in rows:
        many, value = amount(row[workers]), amount(row[pace[0]])
        if many is not None and value:
            found.append(Trial(many, value if pace[1] < 0 else 1 / value, None if used is None else number(row[used]), line))
    return found


def in_lines(lines: Sequence[Line]) -> list[Trial]:
    """The runs that a benchmark prints, each with its number of workers and one rate."""
    found = []
    for line in lines:
        if "num_workers" in line[1] and (many := PAIR.search(line[1])) and (value := VALUE.search(line[1])) and float(value[1]) > 0:
            rate = float(value[1]) if value[2].endswith(("/s", "/S")) or "FLOP" in value[2] else 1 / float(value[1])
            found.append(Trial(float(many[1]), rate, None, line))
    return found if len(found) <= MOST else []


def gain(runs: Sequence[Trial]) -> Reading | None:
    """The fastest run's rate beside that with the fewest workers.

    More ranks are faster, too: without a run that has no worker at all, the GPU must have become busier.
    """
    if len({one.workers for one in runs}) < 2:
        return None
    least = min(runs, key=lambda one: one.workers)
    best = max(runs, key=lambda one: one.rate)
    busier = least.use is not None and best.use is not None and best.use > 1.5 * least.use
    if best.workers <= least.workers or not (least.workers == 0 or busier):
        return None
    return Reading("loader_gain", best.rate / least.rate, least.line, label=f"{best.workers:.0f}")


def number(text: str) -> float | None:
    """The number of a cell, or its per cent.

    >>> number("48%"), number("3"), number("-")
    (48.0, 3.0, None)
    """
    match = PERCENT.match(text)
    return float(match[1]) if match else amount(text)
