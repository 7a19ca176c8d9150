"""Tables that somebody made to compare: ranks, GPUs or nodes at the same work, or runs one after the other.

host   ranks  fwd_ms  step_ms            run        image       tok/s/gpu
n01    0-7    411     2571               base-04    24.12       11903
n02    8-15   413     4127               base-05    25.02       8214

No tool prints them: what a row is of is told by its first word, what a column is by the unit in its title, or by the unit behind the
number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from gpudoctor.facts import Origin
from gpudoctor.notes.measure import Line, Reading
from gpudoctor.patterns import regex

KEYS = frozenset(
    [
        "host",
        "hosts",
        "hostname",
        "node",
        "nodes",
        "nodename",
        "rank",
        "ranks",
        "local_rank",
        "gpu",
        "gpus",
        "worker",
        "workers",
        "machine",
        "pod",
        "name",
    ]
)
RUNS = frozenset(
    ["run", "runs", "job", "date", "day", "version", "image", "driver", "build", "commit", "experiment", "exp", "release", "container"]
)
# By the last part of a title: fwd_ms, step(s), latency, tok/s/gpu, tflops, busbw(GB/s), it/s
TIME = regex(r"(?:^|[_(/\[. ])(?:ms|s|sec|secs|seconds|us|min|time|latency|duration|ms/step|s/it|s/step)\)?\]?$", 2)
RATE = regex(
    r"[tg]flops?|[GMT]i?B/?ps\b|[GM]i?B/s|gbps|samples?/s|sps\b|tok(?:ens?)?[/_]s|im(?:g|ages)/s|it/s|steps?/s|throughput"
    r"|busbw|algbw|bandwidth|mfu|goodput",
    2,
)
NOT = regex(r"elapsed|uptime|start|since|total|wait|timestamp", 2)
NUMBER = regex(r"-?\d{1,3}(?:[, ]\d{3})+(?:\.\d{1,6})?$|-?\d{1,12}(?:\.\d{1,9})?[kKMG]?$")
# [rank3]: gemm 512.1 TFLOPS  |  n03: allreduce busbw 371.2 GB/s  |  GPU 5 matmul 8192: 3.41 ms  |  gpu-07: 2841 img/s
ITEM = regex(
    r"^\s*\[?((?:(?:rank|gpu|node|host|worker|local_rank)[ =:_-]{0,2}\d{1,5}|[a-z][a-z-]{0,20}\d{1,5}(?:[a-z0-9.-]{0,30}\d)?)"
    r"(?:[ :/]{1,2}(?:gpu|rank|cuda:)[ =:]?\d{1,3})?)\]?[:=\s|]\s*(.{1,200})$",
    2,
)
VALUE = regex(
    r"(?<![\w.])(\d{1,9}(?:\.\d{1,6})?) ?"
    r"([TG]FLOP(?:[Ss]|/s)|[GM]i?B/s|samples/s|img/s|images/s|tok/s|tokens/s|it/s|ms|s/it|s/step|s)(?![\w/])"
)
FEWEST, MOST = 4, 4096  # rows
ODD, AGREE = 1.2, 1.1  # a fifth apart, as of steps (training-stall); the others within a tenth (our choice)
NAMED = 8


class Odd(NamedTuple):
    """The rows of a table that are slower than the others."""

    slowest: str
    factor: float
    line: Line

    def origin(self, source: str) -> Origin:
        """Where the first of them stands."""
        return Origin(source, self.line[0], self.line[1].strip()[:500])


class Row(NamedTuple):
    """A row of a table: its cells by title."""

    cells: dict[str, str]
    key: str
    line: Line


def words_of(text: str) -> list[str]:
    """The cells of a row: by bars, by two and more blanks where a title has one inside, else by blanks."""
    if "|" in text:
        return [cell.strip() for cell in text.strip().strip("|").split("|")]
    return text.replace(", ", " ").split()


def tables(lines: Sequence[Line], keys: frozenset[str]) -> Iterator[list[Row]]:
    """The tables whose first title is one of some words; the rows have as many cells, or a row's rest is left out."""
    rows: list[Row] = []
    titles: list[str] = []
    wide = False
    for number, text in lines:
        words = words_of(text)
        if words and words[0].strip("#*` ").lower() in keys and len(words) >= 2 and not any(NUMBER.match(word) for word in words[1:]):
            if rows:
                yield rows
            rows, titles, wide = [], [TITLE.sub("", word) or word for word in split(text)], "  " in text.strip()
            continue
        if not titles:
            continue
        if set(text) <= set("-+|=: "):
            continue
        cells = split(text)
        if len(cells) < 2 or len(rows) >= MOST or (len(cells) < len(titles) - 1 and not wide):
            titles = []
        else:
            rows.append(Row(dict(zip(titles, cells, strict=False)), cells[0], (number, text)))
        if not titles and rows:
            yield rows
            rows = []
    if rows:
        yield rows


TITLE = regex(r"[*`]")
WIDE = regex(r"\s{2,}|\t")
NOTED = regex(r" ?\| ?|\t+|\s{2,}")


def split(text: str) -> list[str]:
    """The cells of a line."""
    if "|" in text:
        return words_of(text)
    cells = [cell for cell in WIDE.split(text.strip()) if cell]
    return cells if len(cells) >= 3 else text.split()


def note_cells(text: str) -> list[str]:
    """The cells of a line of a note, by bars, tabs or wide gaps; a line of prose is one.

    >>> note_cells("| A  | works |"), note_cells("16   no   301.2"), note_cells("all of it works")
    (['A', 'works'], ['16', 'no', '301.2'], ['all of it works'])
    """
    return [cell for cell in NOTED.split(text.strip("| ")) if cell]


def amount(text: str) -> float | None:
    """The number of a cell.

    >>> amount("11 903"), amount("8.2k"), amount("640..652")
    (11903.0, 8200.0, None)
    """
    if not NUMBER.match(text):
        return None
    factor = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1.0)
    return float(text.rstrip("kKMG").replace(" ", "").replace(",", "")) * factor


def direction(title: str) -> int:
    """1 where more is slower, -1 where less is, 0 for a column that is neither a time nor a rate."""
    if NOT.search(title):
        return 0
    return -1 if RATE.search(title) else 1 if TIME.search(title) else 0


def slow_rows(lines: Sequence[Line]) -> Iterator[Odd]:
    """For each table of ranks, GPUs or nodes the rows that are a fifth slower while the others agree."""
    for rows in tables(lines, KEYS):
        found = [one for title in rows[0].cells if (sign := direction(title)) and (one := slow_outliers(column(rows, title), sign))]
        if found:
            yield max(found, key=lambda one: one.factor)
    for items, sign in comparable_lines(lines):
        if one := slow_outliers(items, sign):
            yield one


def column(rows: Sequence[Row], title: str) -> list[tuple[str, float, Line]]:
    """The numbers of a column with the names of their rows."""
    return [(row.key, value, row.line) for row in rows if (value := amount(row.cells.get(title, ""))) is not None and value > 0]


def comparable_lines(lines: Sequence[Line]) -> Iterator[tuple[list[tuple[str, float, Line]], int]]:
    """Lines of one form, each of another rank, GPU or node, with a number and its unit."""
    groups: dict[tuple[str, str], dict[str, tuple[float, Line]]] = {}
    unit = ""
    for number, text in lines:
        if (head := UNIT.search(text)) and (text.rstrip().endswith(":") or PER_RANK.search(text)):
            unit = head[1]
        if not (match := ITEM.match(text)):
            continue
        cell = match[2].strip()
        if not (value := VALUE.search(f"{cell} {unit}" if unit and NUMBER.match(cell) else match[2])):
            continue
        form = BLANK.sub("#", match[2][: value.start()]).strip()
        group = groups.setdefault((form, value[2]), {})
        if len(group) < MOST and len(groups) < 200:
            group[match[1]] = (float(value[1]), (number, text))
    for (_, unit), group in groups.items():
        rows = [(name, value, line) for name, (value, line) in group.items() if value > 0]
        if unit != "ms" or (rows and median(value for _, value, _ in rows) >= 1.0):  # below it a time of the network, which varies
            yield rows, -1 if RATE.search(unit) else 1


# times across ranks (ms):      (Megatron, --timing-log-option all)
UNIT = regex(r"\((ms|s|TFLOPS|GB/s)(?:\)|, )")
# step time per rank (ms, mean over 200 steps)
PER_RANK = regex(r"\b(?:per|by|each|across) (?:rank|gpu|node|host|worker)", 2)
BLANK = regex(r"\d+(?:\.\d+)?")


def slow_outliers(items: Sequence[tuple[str, float, Line]], sign: int) -> Odd | None:
    """The few that are slower, where the others agree."""
    if len({name for name, _, _ in items}) < FEWEST or len(items) != len({name for name, _, _ in items}):
        return None
    usual = median(value for _, value, _ in items)
    late = [(name, value / usual if sign > 0 else usual / value, line) for name, value, line in items]
    slow = [one for one in late if one[1] >= ODD]
    others = [factor for _, factor, _ in late if factor < ODD]
    if not slow or 3 * len(slow) > len(items) or max(others) > AGREE * min(others):
        return None
    slow.sort(key=lambda one: -one[1])
    names = ", ".join(name for name, _, _ in slow[:NAMED]) + (f" and {len(slow) - NAMED} more" if len(slow) > NAMED else "")
    return Odd(names, slow[0][1], slow[0][2])


def runs(lines: Sequence[Line]) -> Iterator[Reading]:
    """For each table of runs the rate of the slower ones beside that of the others, where they fall into two groups."""
    for rows in tables(lines, RUNS):
        for title in rows[0].cells:
            sign = direction(title)
            items = column(rows, title) if sign else []
            if len(items) < 3:
                continue
            speeds = sorted((value if sign < 0 else 1 / value, line, name) for name, value, line in items)
            gaps = [(later[0] / earlier[0], at) for at, (earlier, later) in enumerate(pairwise(speeds), 1)]
            widest, at = max(gaps)
            slow, fast = speeds[:at], speeds[at:]
            tight = slow[-1][0] <= AGREE * slow[0][0] and fast[-1][0] <= AGREE * fast[0][0]
            if widest >= ODD and tight and len(fast) >= 2:
                yield Reading("run_rate", slow[0][0], slow[0][1], of=fast[0][0], label=slow[0][2][:80])
                break
