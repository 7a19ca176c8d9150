"""PyTorch's report of an allocation on the GPU that failed, which says who holds the memory (c10/cuda/CUDACachingAllocator.cpp)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.gpu import Allocation
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.parser import LINE

SIZE = r"(\d{1,7}(?:\.\d{1,3})?) (bytes|[KMGT]iB)"
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
BEGINS = "Tried to allocate "
# … Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.25 GiB is free. … Of the allocated memory 20.57 GiB is
#   allocated by PyTorch, and 1.62 GiB is reserved by PyTorch but unallocated. …                         (2.1 and later)
#   … 101.75 MiB free; 5.10 GiB cached)                                                                 (before 1.4, less what is allocated)
# … Tried to allocate 2.00 GiB (GPU 0; 14.76 GiB total capacity; 13.50 GiB already allocated; 101.75 MiB free; 13.70 GiB reserved in total …
TRIED = regex(rf"{BEGINS}{SIZE}")
TOTAL = regex(rf"total capaci?ty of {SIZE}|; {SIZE} total capacity")
FREE = regex(rf"of which {SIZE} is free|; {SIZE} free")
ALLOCATED = regex(rf"{SIZE} (?:is allocated by PyTorch|already allocated)")
UNALLOCATED = regex(rf"{SIZE} is reserved by PyTorch but unallocated| free; {SIZE} cached\)")
RESERVED = regex(rf"{SIZE} reserved in total by PyTorch")
# Including non-PyTorch memory, this process has 1.97 GiB memory in use. Process 41377 has 70.30 GiB memory in use.     (2.1 and later)
IN_USE = regex(rf"(?:this process|Process \d{{1,10}}) has {SIZE} memory in use")
LONGEST = 1500  # characters of one report
MOST = 5000  # reports of one log that are looked at


def allocations(whole: str, output: Output, about: Subject) -> Iterator[Allocation]:
    """The reports of one log, equal ones once. One without the amounts (cut off, another library) gives no record."""
    seen: set[tuple[int, ...]] = set()
    for number, line, report in islice(reports(whole), MOST):
        sizes = {pattern: size(pattern, report) for pattern in (TRIED, TOTAL, FREE, ALLOCATED)}
        tried, total, free, allocated = sizes.values()
        # Of processes without PyTorch's own share only what none of them has is sure: where it is most, others have it.
        if allocated is None and total and free is not None and (in_use := reported_bytes(report)) and (total - free - in_use) * 2 >= total:
            allocated = in_use
        if tried is None or total is None or free is None or allocated is None:
            continue
        reserved = size(RESERVED, report)
        cached = (size(UNALLOCATED, report) or 0) if reserved is None else max(0, reserved - allocated)
        key = (tried, total, free, allocated, cached)
        if key in seen:
            continue
        seen.add(key)
        yield Allocation(
            node=about.node,
            namespace=about.namespace,
            pod=about.pod,
            container=about.container,
            tried=tried,
            total=total,
            free=free,
            allocated=allocated,
            cached=cached,
            elsewhere=max(0, total - free - allocated - cached),
            time=line_time(line, output.time),
            origin=Origin(output.origin_name(), number, line.strip()),
        )


def reports(whole: str) -> Iterator[tuple[int, str, str]]:
    """(number of the line from 1, the line, what is said from there to the next report). Terminals and forms wrap the long line."""
    number, counted = 1, 0
    at = whole.find(BEGINS)
    while at >= 0:
        number += whole.count("\n", counted, at)
        counted = at
        earliest = max(0, at - LINE)
        start = max(whole.rfind("\n", earliest, at) + 1, earliest)
        line = whole[start : start + LINE].split("\n", 1)[0]
        after = at + len(BEGINS)
        said = whole[after : after + LONGEST].split(BEGINS, 1)[0]
        yield number, line, BEGINS + " ".join(said.split())
        at = whole.find(BEGINS, after)


def reported_bytes(report: str) -> int:
    """Bytes that all processes have together which a report names."""
    return sum(int(float(number) * UNITS[unit]) for number, unit in IN_USE.findall(report))


def size(pattern: re.Pattern[str], line: str) -> int | None:
    """Bytes of the first size that a pattern finds.

    >>> size(TRIED, "Tried to allocate 1.50 GiB. GPU 0 has …"), size(FREE, "nothing")
    (1610612736, None)
    """
    match = pattern.search(line)
    if not match:
        return None
    number, unit = (group for group in match.groups() if group is not None)
    return int(float(number) * UNITS[unit])
