"""An allocation on the GPU that failed without saying who holds the memory, completed by what the program had said of it before.

Also what a program finds on its GPU before it has allocated anything: what is not free then is held by others.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Allocation
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.torch.allocations import TRIED, allocations, size
from gpudoctor.tools.torch.memory_lines import DEEPSPEED, MEGATRON, OWN, SCALE, STATISTIC, SUMMARY, VLLM, XLA, Division, division, tables

OUT = regex(r"out of memory|OutOfMemory|RESOURCE_EXHAUSTED|No available memory for the cache blocks|['\"]num_ooms['\"] ?[:,] ?[1-9]")
# | CUDA OOMs: 1            | cudaMalloc retries: 12        |                           (torch.cuda.memory_summary())
SUMMARY_OUT = regex(r"\bCUDA OOMs: [1-9]")
SIZE = r'(\d{1,9}(?:\.\d{1,3})?) ?"?([KMGT])i?B'
# Total memory: 7.92GiB          (TensorFlow 1.x; from 1.5 on "totalMemory: 10.92GiB freeMemory: 10.75GiB")
TOTAL, FREE = regex(rf"\b(?:Total memory|totalMemory): {SIZE}"), regex(rf"\b(?:Free memory|freeMemory): {SIZE}")
# msg="inference compute" id=GPU-… library=cuda … total="23.6 GiB" available="300.1 MiB"                (Ollama, at its start)
OLLAMA = regex(rf'msg="inference compute".{{1,300}} total="{SIZE}" available="{SIZE}')
# [2026-03-01 07:14:36 TP3] Load weight begin. avail mem=21.87 GB                                        (SGLang, each rank)
SGLANG = regex(rf"\b(TP\d{{1,4}})[^\]]{{0,20}}\] Load weight begin\. avail mem={SIZE}")
STARTS = (TOTAL, OLLAMA, SGLANG)
REPORTS = (DEEPSPEED, MEGATRON, VLLM, STATISTIC, SUMMARY, OWN, XLA)
WORDS = ("em", "MA ", "bytes", "lloc", "avail")  # one is in each of these lines
FULL = 0.9  # of what the allocator holds (our choice)
FEWEST = 2  # ranks beside which one is short of memory


def is_memory_line(text: str) -> bool:
    """Whether a line is one of these."""
    return any(word in text for word in WORDS) and any(one.search(text) for one in (*STARTS, *REPORTS))


def reports(output: Output, about: Subject) -> Facts:
    """The completed reports; raises ParseError where no line tells of memory."""
    rows = [*lines(output)]
    if not any(is_memory_line(text) for _, text in rows):
        raise ParseError(f"{output.origin_name()}: nothing about the memory of a GPU: {output.text[:80]!r}")
    taken = (one for one in at_start(rows, output, about) if one.elsewhere * 2 >= one.total)  # a GPU that is free is no failed allocation
    found = [*failed_allocation(rows, output, about), *taken]
    return {"allocations": [*found]} if found else {}


def failed_allocation(rows: list[tuple[int, str]], output: Output, about: Subject) -> Iterator[Allocation]:
    """The first failed allocation without amounts, with those of the newest line before it; none where one tells its own."""
    if next(allocations(output.text, output, about), None) is not None:
        return
    listed = dict(tables(rows))
    out = any(OUT.search(text) or SUMMARY_OUT.search(text) for _, text in rows)
    last: tuple[int, str, Division] | None = None
    for number, text in rows:
        if told := listed.get(number) or division(text):
            last = number, text, told
        if last and (last[2].lacks or (out and (OUT.search(text) or number == rows[-1][0]))):
            tried = size(TRIED, text) or int(last[2].lacks)
            yield make_allocation(last[2], tried, about, Origin(output.origin_name(), last[0], last[1].strip()))
            return


def make_allocation(one: Division, tried: int, about: Subject, origin: Origin) -> Allocation:
    """The record. Where nearly all was in use once, it counts as in use: between two lines of a report it is again."""
    used = one.peak if one.peak is not None and one.peak >= FULL * one.reserved else one.allocated
    total = one.total or one.reserved + one.elsewhere
    return Allocation(
        **place_fields(about),
        tried=tried,
        total=int(total),
        free=0,
        allocated=int(used),
        cached=int(max(0.0, one.reserved - used)),
        elsewhere=int(one.elsewhere),
        origin=origin,
    )


def at_start(rows: list[tuple[int, str]], output: Output, about: Subject) -> Iterator[Allocation]:
    """What each GPU had free before the program took any; of SGLang's ranks beside what most of them found."""
    ranks: dict[str, tuple[float, Origin]] = {}
    total: tuple[float, Origin] | None = None
    for number, text in rows:
        origin = Origin(output.origin_name(), number, text.strip())
        if match := OLLAMA.search(text):
            yield start(about, amount(match[1], match[2]), amount(match[3], match[4]), origin)
        elif match := SGLANG.search(text):
            ranks.setdefault(match[1], (amount(match[2], match[3]), origin))
        elif match := TOTAL.search(text):
            total = amount(match[1], match[2]), origin
        if total and (match := FREE.search(text)):
            yield start(about, total[0], amount(match[1], match[2]), origin)
            total = None
    if len(ranks) > FEWEST:
        usual = median(free for free, _ in ranks.values())
        yield from (start(about, usual, free, origin) for free, origin in ranks.values() if free < usual)


def start(about: Subject, total: float, free: float, origin: Origin) -> Allocation:
    """A GPU of which the program has nothing yet."""
    elsewhere = int(max(0.0, total - free))
    return Allocation(
        **place_fields(about), tried=0, total=int(total), free=int(free), allocated=0, cached=0, elsewhere=elsewhere, origin=origin
    )


def place_fields(about: Subject) -> dict[str, Any]:
    """The fields that say where a record comes from."""
    return {"node": about.node, "namespace": about.namespace, "pod": about.pod, "container": about.container}


def amount(number: str, unit: str) -> float:
    """Bytes.

    >>> amount("1.5", "G")
    1610612736.0
    """
    return float(number) * SCALE[unit]
