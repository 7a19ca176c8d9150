"""What tools tell of the load of a machine or a container: memory, processors, disks.

`free`, `top`, `sar -r`, `vmstat`, `mpstat`, `iostat -x`, `taskset -cp`, `pidstat -r`, `docker stats`, /proc/meminfo, files of cgroups.
Sources: their manual pages; https://docs.kernel.org/admin-guide/cgroup-v2.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import Line, N, Reading, size

# MiB Mem : 515690.1 total,   1021.4 free, …  |  MiB Swap:   0.0 total, …  4412.8 avail Mem
TOP_MEMORY = regex(rf"^[KMG]iB Mem ?: *{N} total")
TOP_SWAP = regex(rf"^[KMG]iB Swap: .*?{N} avail Mem")
# a1b2c3d4e5f6   trainer   812.41%   63.94GiB / 64GiB   99.91%   1.2GB / 80MB …
DOCKER = regex(rf"\s{N}([KMG]i?B) / {N}([KMG]i?B) +{N}%\s")
# /sys/fs/cgroup/memory.max:68719476736  |  memory.peak 68719476736
CGROUP = regex(r"\bmemory\.(max|peak|current|high|limit_in_bytes|max_usage_in_bytes|usage_in_bytes|max_usage|limit)[:= ] ?(\d{6,20})\s*$")
CGROUP_FILE = regex(r"^\s*(?:\$|#)?.*\bcat\s.*memory\.(max|peak|current|limit_in_bytes|max_usage_in_bytes|usage_in_bytes)\s*$")
NUMBER = regex(r"^\s*(\d{6,20})\s*$")
LIMITS, USES = ("max", "limit_in_bytes", "limit"), ("peak", "max_usage_in_bytes", "max_usage", "current", "usage_in_bytes", "high")
# %Cpu(s): 98.2 us,  1.1 sy,  0.0 ni,  0.3 id,  0.4 wa, …
TOP_CPU = regex(rf"^%?Cpu\(s\): .*?{N}[ %]*id, +{N}[ %]*wa")
# pid 204411's current affinity list: 12  |  … 0-3,8  |  Cpus_allowed_list:	0-1
AFFINITY = regex(r"(?:current affinity list: |^Cpus_allowed_list:\s+)([\d,-]{1,400})\s*$")
THROTTLED = regex(r"^nr_(periods|throttled)[ :=]+(\d{1,15})\s*$")
MEMINFO = regex(r"^Mem(Total|Available): +(\d{1,15}) kB")
KNOWN = frozenset(("%memused", "%iowait", "%util", "available", "swpd", "majflt/s"))
NUMERIC = regex(r"^\d{1,15}(?:\.\d{1,6})?$")
DISK = regex(r"^(?:nvme|sd|vd|xvd|md|dm-|rbd|nbd|dasd)[a-z0-9-]{0,30}$")


def machine_load(lines: Sequence[Line]) -> Iterator[Reading]:
    """What any of these tools says."""
    for number, text in lines:
        if match := DOCKER.search(text):
            yield Reading("memory_share", float(match[5]) / 100, (number, text))
        elif match := TOP_CPU.search(text):
            yield Reading("cpu_idle", float(match[1]) / 100, (number, text))
            yield Reading("io_wait", float(match[2]) / 100, (number, text))
        elif match := AFFINITY.search(text):
            yield Reading("cpus", float(processors(match[1])), (number, text))
    for reader in (cgroup, cgroup_throttling, top_memory, meminfo, columns):
        yield from reader(lines)


def processors(text: str) -> int:
    """How many a list names.

    >>> processors("0-3,8"), processors("12")
    (5, 1)
    """
    found = 0
    for part in text.split(",")[:200]:
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found += max(1, int(last or first) - int(first) + 1)
    return found


def cgroup(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest use of a cgroup beside its limit, of files that stand in one text."""
    limit = used = None
    asked = ""
    for number, text in lines:
        name, value = "", ""
        if "memory." in text and (match := CGROUP.search(text)):
            name, value, asked = match[1], match[2], ""
        elif "memory." in text and (match := CGROUP_FILE.search(text)):
            asked = match[1]
            continue
        elif asked and (match := NUMBER.match(text)):
            name, value, asked = asked, match[1], ""
        if name in LIMITS:
            limit = (float(value), (number, text))
        elif name in USES and (used is None or float(value) >= used[0]):
            used = (float(value), (number, text))
    if limit and used:
        yield Reading("memory_share", used[0] / limit[0], used[1], of=limit[0])
    elif limit:
        yield Reading("memory_limit", *limit)
    elif used:
        yield Reading("memory_peak", *used)


def cgroup_throttling(lines: Sequence[Line]) -> Iterator[Reading]:
    """In how many of its periods a cgroup had to wait for its share of the processors (cpu.stat)."""
    periods = 0.0
    for number, text in lines:
        if match := THROTTLED.match(text.strip()):
            if match[1] == "periods":
                periods = float(match[2])
            elif periods >= 100:  # ten seconds of periods of 100 ms
                yield Reading("cpu_throttled", float(match[2]) / periods, (number, text))


def top_memory(lines: Sequence[Line]) -> Iterator[Reading]:
    """The header of `top`: what is available of the memory stands in the line of the swap."""
    total = None
    for number, text in lines:
        if match := TOP_MEMORY.match(text.strip()):
            total = float(match[1])
        elif total and (match := TOP_SWAP.match(text.strip())):
            yield Reading("memory_share", 1 - min(1.0, float(match[1]) / total), (number, text))
            total = None


def cells(text: str, titles: Sequence[str], last: bool = False) -> dict[str, str] | None:
    """The words of a row by the titles above them; counted from the end where the titles of the row itself have no name (`last`)."""
    words = text.split()
    if last:
        return dict(zip(reversed(titles), reversed(words), strict=False)) if len(words) >= len(titles) else None
    return dict(zip(titles, words, strict=True)) if len(words) == len(titles) else None


def meminfo(lines: Sequence[Line]) -> Iterator[Reading]:
    """/proc/meminfo, of a node or (with a number before it) of one of its NUMA nodes."""
    total = None
    for number, text in lines:
        if match := MEMINFO.match(text):
            if match[1] == "Total":
                total = float(match[2])
            elif total:
                yield Reading("memory_share", 1 - min(1.0, float(match[2]) / total), (number, text))


def columns(lines: Sequence[Line]) -> Iterator[Reading]:
    """Tables of free, sar, vmstat, mpstat and iostat: a header of known titles, and rows with as many words."""
    titles: list[str] = []
    for number, text in lines:
        words = text.split()
        known = KNOWN.intersection(words)
        if known:
            titles = words[1:] if words[0] in ("avg-cpu:", "#") else words
            continue
        if not titles:
            continue
        row = cells(text, titles, last=True)
        if row is None:
            continue
        here = (number, text)
        values = {name: float(cell) for name, cell in row.items() if NUMERIC.match(cell)}
        if "available" in row and text.lstrip().startswith("Mem"):
            total, free = size(row.get("total", "")), size(row["available"])
            if total and free is not None:
                yield Reading("memory_share", 1 - min(1.0, free / total), here)
        elif "%memused" in values:
            left, used = values.get("kbavail"), values.get("kbmemused")
            share = 1 - left / (left + used) if left is not None and used else values["%memused"] / 100
            yield Reading("memory_share", share, here)
        elif "wa" in values and "id" in values and "swpd" in titles:
            yield Reading("cpu_idle", values["id"] / 100, here)
            yield Reading("io_wait", values["wa"] / 100, here)
        elif "%iowait" in values and "%idle" in values:
            yield Reading("cpu_idle", values["%idle"] / 100, here)
            yield Reading("io_wait", values["%iowait"] / 100, here)
        elif "majflt/s" in values and "Command" in row and words[0][:1].isdigit():
            yield Reading("major_faults", values["majflt/s"], here, label=row["Command"][:60])
        elif "%util" in values and DISK.match(words[0]):
            yield Reading("disk_busy", values["%util"] / 100, here, label=words[0][:40])
