"""The tables of nccl-tests (and of rccl-tests): how far a test came, how fast it was, and whether its results were right.

#  Rank  0 Group  0 Pid   4410 on     gpu-01 device  0 [0x1b] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
   134217728      33554432     float     sum      -1   2831.2   47.41   88.89      0   2840.0   47.26   88.61      0
# Avg bus bandwidth    : 61.2
Source: https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import CollectiveTest
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

TYPES = r"(?:float|half|bfloat16|double|u?int(?:8|32|64)|fp8_\w{2,8}|f8e\dm\d)"
# 134217728      33554432     float     sum      -1   2831.2   47.41   88.89      0   2840.0   47.26   88.61      0
ROW = regex(
    rf"(?:^|Z |>:|\]:)\s*(\d{{1,15}})\s+\d{{1,15}}\s+{TYPES}\s+(?:(?:sum|prod|max|min|avg|none|mulsum|all)\s+)?(?:-?\d{{1,6}}\s+)?"
    r"[\d.]{1,12}\s+[\d.]{1,10}\s+([\d.]{1,10})\s+([\w.+/-]{1,12})(?:\s+[\d.]{1,12}\s+[\d.]{1,10}\s+([\d.]{1,10})\s+([\w.+/-]{1,12}))?\s*$"
)
# Rank  0 Group  0 Pid   4410 on     gpu-01 device  0 [0x1b] NVIDIA H100 80GB HBM3
DEVICE = regex(r"#\s+Rank +\d{1,7} .{0,40}?Pid +\d{1,10} on +([\w.-]{1,253}) device +\d{1,4}(?: +\[[^\]]{1,16}\])? ?(.{0,80})")
# # nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) …
HEAD = regex(r"# ?nThreads? \d")
# #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
TITLES = regex(r"#\s+\(B\)\s+\(elements\)\s+")
# # Avg bus bandwidth    : 371.224  |  # Out of bounds values : 0 OK  |  # Collective test concluded: all_reduce_perf
END = regex(r"# (?:Avg bus bandwidth|Out of bounds values|Collective test concluded)\b")
# # Avg bus bandwidth    : 371.224
AVERAGE = regex(r"# Avg bus bandwidth +: +([\d.]{1,12})")
# # Out of bounds values : 0 OK
BOUNDS = regex(r"# Out of bounds values : (\d{1,12}) (\w+)")
MOST = 200  # tests of one text
LARGE = 1 << 26  # bytes: smaller messages measure how long a step takes, and not how much a link carries


class Test:
    """One test while its table is read."""

    def __init__(self) -> None:
        self.hosts: dict[str, None] = {}
        self.product = ""
        self.ranks = self.rows = self.wrong = self.largest = 0
        self.best: float | None = None
        self.ended = False
        self.total, self.measured = 0.0, 0  # of the bandwidths of all rows
        self.average: float | None = None
        self.out_of_bounds: int | None = None
        self.origin = Origin()

    def row(self, size: int, cells: Sequence[str | None], origin: Origin) -> None:
        """One size: the better of both bandwidths counts, and each result that was wrong."""
        self.rows += 1
        self.wrong += sum(int(cell) for cell in (cells[1], cells[3]) if cell and cell.isdigit())
        speeds = [float(cell) for cell in (cells[0], cells[2]) if cell]
        speed = max(speeds)
        self.total, self.measured = self.total + sum(speeds), self.measured + len(speeds)
        self.largest = max(self.largest, size)
        if size >= LARGE and (self.best is None or speed > self.best):
            self.best, self.origin = speed, origin
        self.origin = self.origin if self.best is not None else origin

    def closing(self, line: str) -> None:
        """One of the closing lines. A word other than OK counts as one value at least."""
        self.ended = True
        if match := AVERAGE.search(line):
            self.average = number(match.group(1))
        elif match := BOUNDS.search(line):
            self.out_of_bounds = max(int(match.group(1)), match.group(2) != "OK")

    def fact(self, about: Subject) -> CollectiveTest:
        """The record."""
        return CollectiveTest(
            node=about.node or (next(iter(self.hosts)) if len(self.hosts) == 1 else ""),
            namespace=about.namespace,
            pod=about.pod,
            hosts=len(self.hosts),
            ranks=self.ranks,
            product=self.product,
            rows=self.rows,
            largest=self.largest,
            bandwidth=self.best,
            wrong=self.wrong,
            out_of_bounds=self.out_of_bounds,
            ended=self.ended,
            average=self.average,
            mean=self.total / self.measured if self.measured else None,
            origin=self.origin,
        )


def tests(output: Output, about: Subject) -> Facts:
    """A record for each test; [] for a log of something else."""
    found: list[Test] = []
    for number, line in lines(output):
        if "#" not in line and not ROW.search(line):
            continue
        read(found, line, Origin(output.origin_name(), number, line.strip()[:500]))
    if not found and not output.text.strip():
        raise ParseError(f"{output.origin_name()}: no log")
    return {"collective_tests": [one.fact(about) for one in found]}


def read(found: list[Test], line: str, origin: Origin) -> None:
    """One line: of the test that is read, or of the next one."""
    device, row = DEVICE.search(line), ROW.search(line)
    if not (device or row or HEAD.search(line) or TITLES.search(line) or END.search(line)):
        return
    begins = HEAD.search(line) is not None or (device is not None and bool(found) and (found[-1].rows > 0 or found[-1].ended))
    if (begins or not found) and len(found) < MOST:
        found.append(Test())
        found[-1].origin = origin
    test = found[-1]
    if device:
        test.hosts[device[1]] = None
        test.ranks += 1
        test.product = test.product or device[2].strip()
    elif row:
        test.row(int(row[1]), row.groups()[1:], origin)
    elif END.search(line):
        test.closing(line)


def number(text: str) -> float | None:
    """A number, None for points without one."""
    return float(text) if text.count(".") < 2 and text != "." else None


def test_lines(text: Sequence[str]) -> Iterator[str]:
    """The lines that only such a test prints."""
    return (line for line in text if ROW.search(line) or HEAD.search(line) or DEVICE.search(line) or TITLES.search(line))


def score(text: Sequence[str]) -> int:
    """A head or a row."""
    return 20 if next(test_lines(text), None) is not None else 0
