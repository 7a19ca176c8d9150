"""Readers of tables that say how a service answers: a row for each load, time or model, percentiles by the titles.

| Concurrency | TTFT p95 | TPOT p95 | Errors % |        | metric   | target | measured |
|------------:|---------:|---------:|---------:|        | p99 TTFT | 800 ms | 2.9 s    |
| 32          | 214ms    | 41ms     | 0.0%     |

What holds for such a table is what holds for half of its rows: a load test goes on until its service gives in, and one model of many, or
one minute of an hour, is not the service. The titles are anybody's: a percentile, a unit there or in the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median_high

from gpudoctor.notes.measure import SECONDS, Line, N, Reading
from gpudoctor.notes.measures_latency import AMOUNT, label
from gpudoctor.patterns import regex

# TTFT p95  |  p99_ttft_ms  |  E2E P99 (s)  |  ttft_p95 [ms]
TITLE = regex(r"(?<![A-Za-z0-9])[pP]\(?(9\d(?:\.\d)?)(?![0-9])")
# the unit of a whole column: the end of its title
UNIT = regex(r"[(\[_ ,](ms|s|sec|us)[)\]]?$")
# 208ms  |  1.2 s  |  ~5.8s
CELL = regex(rf"[~<]?{N} ?(ms|s|sec|us|µs)$")
# Error %  |  error_rate  |  Failed (%)  |  5xx %
ERRORS = regex(r"(?:error|fail|5xx).{0,20}(?:%|rate|share|percent|pct)", 2)
PERCENT = regex(rf"{N} ?(%?)$")
TARGET, ACTUAL = (
    regex(r"\b(?:target|sl[oa]|objective|goal|budget)\b", 2),
    regex(r"\b(?:actual|measured|observed|current|now|result|got)\b", 2),
)
WIDE, BARE = regex(r"\s{2,}|\t"), regex(r"[*`<≤=~]")
WORDS = ("p9", "P9", "arget", "SL", "sl", "bjective", "oal", "udget")  # one is in each line of titles
MOST = 500  # rows of one table


def cells_of(text: str) -> list[str]:
    """The cells of a line: by bars, by two blanks where there are several, by commas, else by one blank."""
    if "|" in text or "│" in text:
        parts = text.replace("│", "|").strip().strip("|").split("|")
    else:
        parts = [cell for cell in WIDE.split(text.strip()) if cell]
        parts = parts if len(parts) >= 3 else text.split(",") if "," in text else text.split()
    return [BARE.sub("", cell).strip() for cell in parts]


def sweep(lines: Sequence[Line]) -> Iterator[Reading]:
    """What half of the rows of each table say."""
    titles: list[str] = []
    rows: list[tuple[list[str], Line]] = []
    for number, text in lines:
        if not titles and not any(word in text for word in WORDS):
            continue
        cells = cells_of(text)
        if heads(cells):
            yield from table(titles, rows)
            titles, rows = cells, []
        elif titles and len(cells) == len(titles) and len(rows) < MOST:
            rows.append((cells, (number, text)))
        elif titles and set(text) - set("-+|=:─│┼ "):
            yield from table(titles, rows)
            titles, rows = [], []
    yield from table(titles, rows)


def heads(cells: list[str]) -> bool:
    """Whether these are titles: of percentiles, or of what is aimed at beside what came out, and none of them is a number."""
    if len(cells) < 3 or cells[0] in ("Statistic", "Metric") or any(CELL.match(cell) or PERCENT.match(cell) for cell in cells):
        return False
    return any(map(TITLE.search, cells[1:])) or (any(map(TARGET.search, cells)) and any(map(ACTUAL.search, cells)))


def table(titles: list[str], rows: list[tuple[list[str], Line]]) -> Iterator[Reading]:
    """One table."""
    found: dict[str, list[tuple[float, Line]]] = {}
    targets = [at for at, title in enumerate(titles) if TARGET.search(title)]
    results = [at for at, title in enumerate(titles) if ACTUAL.search(title)]
    for cells, line in rows:
        if targets and results and (match := TITLE.search(cells[0])):
            aimed, got = (seconds(titles[at], cells[at]) for at in (targets[0], results[0]))
            if aimed is not None and got is not None:
                yield Reading("latency_objective", aimed, line, label=label(cells[0], match[1]))
                yield Reading("latency", got, line, label=label(cells[0], match[1]))
            continue
        for title, cell in zip(titles[1:], cells[1:], strict=True):
            if (match := TITLE.search(title)) and not TARGET.search(title) and (value := seconds(title, cell)) is not None:
                found.setdefault(label(title, match[1]), []).append((value, line))
            elif ERRORS.search(title) and (percent := PERCENT.match(cell)) and (percent[2] or "%" in title):
                found.setdefault("errors", []).append((float(percent[1]) / 100, line))
    for name, values in found.items():
        value, line = median_high(sorted(values))
        yield Reading("error_share" if name == "errors" else "latency", value, line, label=name)


def seconds(title: str, cell: str) -> float | None:
    """Seconds of a cell, by its own unit or that of its title; None without one.

    >>> seconds("TTFT p95", "250ms"), seconds("ttft_p95_ms", "1,250"), seconds("p95", "12")
    (0.25, 1.25, None)
    """
    if match := CELL.match(cell):
        return float(match[1]) * SECONDS[match[2]]
    unit = UNIT.search(title)
    return float(cell.replace(",", "")) * SECONDS[unit[1]] if unit and AMOUNT.match(cell) else None
