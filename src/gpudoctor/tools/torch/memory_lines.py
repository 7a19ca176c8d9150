"""How a program's own lines divide its GPU's memory: statistics of PyTorch's allocator, and what a server measures before it serves.

An "out of memory" that was cut off, or says no amounts, is completed by them (`allocations`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.patterns import regex

N = r"(\d{1,15}(?:\.\d{1,12})?)"
UNIT = r" ?([KMGT]?)(?:i?B)?\b"
SCALE = {"": 1.0, "K": 1024.0, "M": 1024.0**2, "G": 1024.0**3, "T": 1024.0**4}


class Division(NamedTuple):
    """What a line says, in bytes. `reserved` is what the program's allocator holds, `peak` the most of it that was ever in use."""

    allocated: float
    reserved: float
    peak: float | None = None
    total: float | None = None  # that the program may have
    elsewhere: float = 0.0  # of others, and of libraries that don't ask the allocator
    lacks: float = 0.0  # what is missing by the line's own sum


# MA 41.2 GB         Max_MA 58.1 GB         CA 77.9 GB         Max_CA 78 GB             (DeepSpeed's see_memory_usage)
DEEPSPEED = regex(rf"\bMA {N} ([KMG])B\s+Max_MA {N} [KMG]B\s+CA {N} [KMG]B")
# … memory (MB) | allocated: 20480.5 | max allocated: 31000.2 | reserved: 76011.0 | max reserved: …   (Megatron; others in GiB)
MEGATRON = regex(rf"\(([KMG])i?B\) \| allocated: {N} \| max[ _]allocated: {N} \| reserved: {N}")
# model weights take 14.27GiB; non_torch_memory takes 31.5GiB; PyTorch activation peak memory takes 4.3GiB; the rest of the memory reserved
# for KV Cache is -14.5GiB.                                                                                      (vLLM up to 0.9)
VLLM = regex(
    rf"model weights take {N}GiB; non_torch_memory takes {N}GiB; PyTorch activation peak memory takes {N}GiB; "
    rf"the rest of the memory reserved for KV Cache is (-?){N}GiB"
)
#                  total allocation:  164.21GiB                       (XLA, of the buffers that one program needs)
XLA = regex(rf"^\s*total allocation: +{N}([KMGT])iB\s*$")
# "allocated_bytes.all.current": 47352643584  |  ('reserved_bytes.all.current', 788…)           (torch.cuda.memory_stats())
STATISTIC = regex(r"""['"]((?:allocated|reserved)_bytes\.all\.(?:current|peak))['"] ?[:,] ?(\d{1,15})""")
# | Allocated memory      |  44120 MiB |  58110 MiB | …   |  | GPU reserved memory   |  …    (torch.cuda.memory_summary())
SUMMARY = regex(rf"\| (Allocated|GPU reserved) memory +\| +{N} ([KMGT]?)i?B +\| +{N} ([KMGT]?)i?B +\|")
# allocated: 18.2 GiB, reserved: 71.0 GiB  |  memory_allocated=18.2GB memory_reserved=71GB  |  alloc 18.2G / reserved 71.0G
OWN = regex(
    rf"(?<!max )(?<!max_)(?<!max_memory_)(?<!peak )\b(?:memory_)?alloc(?:ated)?(?:\(\))?[:= ]{{1,2}}{N}{UNIT}"
    rf".{{1,60}}?(?<!max )(?<!max_)\b(?:memory_)?reserved(?:\(\))?[:= ]{{1,2}}{N}{UNIT}",
    re.IGNORECASE,
)
STATISTICS = {"allocated_bytes.all.current": 0, "allocated_bytes.all.peak": 1, "reserved_bytes.all.current": 2}


def division(line: str) -> Division | None:
    """What one line says of it, None for nothing.

    >>> division("MA 40.0 GB         Max_MA 50.0 GB         CA 70.0 GB         Max_CA 71 GB").reserved / 2**30
    70.0
    """
    if match := DEEPSPEED.search(line):
        unit = SCALE[match[2]]
        return Division(float(match[1]) * unit, float(match[4]) * unit, float(match[3]) * unit)
    if match := MEGATRON.search(line):
        unit = SCALE[match[1]]
        return Division(float(match[2]) * unit, float(match[4]) * unit, float(match[3]) * unit)
    if match := VLLM.search(line):
        weights, elsewhere, peak, rest = (float(match[group]) * SCALE["G"] for group in (1, 2, 3, 5))
        lacks, left = (rest, 0.0) if match[4] else (0.0, rest)
        held = weights + peak
        return Division(held, held, held, max(0.0, held + elsewhere - lacks + left), elsewhere, lacks)
    if match := XLA.match(line):
        needs = float(match[1]) * SCALE[match[2]]
        return Division(needs, needs)
    if "eserved" in line and (match := OWN.search(line)):
        allocated, reserved = float(match[1]) * SCALE[match[2].upper()], float(match[3]) * SCALE[match[4].upper()]
        return Division(allocated, reserved) if 0 < allocated <= reserved else None
    return None


def tables(rows: list[tuple[int, str]]) -> Iterator[tuple[int, Division]]:
    """(number of the line, what is said) of the statistics that are spread over lines; `rows` are the lines with their numbers."""
    known: dict[int, float] = {}
    for number, row in rows:
        said = [(STATISTICS[match[1]], float(match[2])) for match in STATISTIC.finditer(row) if match[1] in STATISTICS]
        if match := SUMMARY.search(row):
            now, peak = float(match[2]) * SCALE[match[3]], float(match[4]) * SCALE[match[5]]
            said += [(2, now)] if match[1] == "GPU reserved" else [(0, now), (1, peak)]
        known.update(said)
        if said and 0 in known and 2 in known:
            yield number, Division(known[0], known[2], known.get(1))
            known = {}
