"""Readers of what should be the same everywhere and isn't: the bandwidth between the host and each GPU, the copies of one file.

memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)          Device 0: NVIDIA A100-SXM4-80GB
           0         1         2                             Host to Device Bandwidth, 1 Device(s)
 0     55.21     13.90     55.28                               32000000                     25.1

6cd3556deb0da54bca060b4c39479839  /etc/munge/munge.key
Sources: https://github.com/NVIDIA/nvbandwidth, bandwidthTest of https://github.com/NVIDIA/cuda-samples, md5sum(1).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from gpudoctor.notes.measure import Line, N, Reading
from gpudoctor.patterns import regex

COPIES = regex(r"^memcpy \w{2} (?:CPU\(row\) (?:->|<-|<->) GPU\(column\)|GPU\(row\) (?:->|<-) CPU\(column\)) bandwidth")
COLUMNS = regex(r"^\s+\d{1,3}(?:\s+\d{1,3}){0,71}\s*$")
ROW = regex(r"^\s*\d{1,3}\s+(\d{1,6}\.\d{1,4}(?:\s+(?:\d{1,6}\.\d{1,4}|N/A)){0,71})\s*$")
DEVICE = regex(r"^\s*(?:Device|GPU) (\d{1,3})\s*[:=]", 2)
WAY = regex(r"\b(Host to Device|Device to Host|H2D|D2H|HtoD|DtoH)\b", 2)
LAST = regex(rf"^\s*\d{{4,12}}\s+{N}\s*$")
# GPU 3: H2D 12.9 GB/s D2H 13.1 GB/s  |  GPU3 h2d bandwidth = 12.9 GB/s
SAID = regex(
    rf"^\s*\[?(?:Device|GPU)[ :#]?(\d{{1,3}})\]?\b.{{0,60}}?\b(?:H2D|D2H|HtoD|DtoH|host[ -]to[ -]device"
    rf"|device[ -]to[ -]host)\b\D{{0,40}}{N} ?GB/s",
    2,
)
SUM = regex(r"(?:^|:\s)([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})  ?\*?(/\S{1,200})\s*$")
FEWEST, PAIR = 3, 2  # devices; hosts
LESS = 0.6  # of what most have: a link at half its lanes or a generation below it has half (our choice)


def unequal_devices(lines: Sequence[Line]) -> Iterator[Reading]:
    """The readings of all devices that are unequal."""
    for found in (matrices(lines), devices(lines), gpu_lines(lines)):
        yield from far_below_most(found)
    yield from copies(lines)


def far_below_most(found: dict[str, dict[str, tuple[float, Line]]]) -> Iterator[Reading]:
    """For each way of copying the devices that are far below most others."""
    for rows in found.values():
        if len(rows) < PAIR:
            continue
        usual = median(value for value, _ in rows.values()) if len(rows) >= FEWEST else max(value for value, _ in rows.values())
        slow = {name: one for name, one in rows.items() if one[0] < LESS * usual}
        if slow and 2 * len(slow) <= len(rows):
            name, (value, line) = min(slow.items(), key=lambda item: item[1][0])
            yield Reading("host_copy", value, line, of=usual, label=f"GPU {name}")
            return


def matrices(lines: Sequence[Line]) -> dict[str, dict[str, tuple[float, Line]]]:
    """nvbandwidth's matrices of one row, by their titles."""
    found: dict[str, dict[str, tuple[float, Line]]] = defaultdict(dict)
    title, names = "", list[str]()
    for number, text in lines:
        if COPIES.match(text):
            title, names = f"{text} {number}", []
        elif title and not names and COLUMNS.match(text):
            names = text.split()
        elif title and names and (match := ROW.match(text)):
            for name, cell in zip(names, match[1].split(), strict=False):
                if cell != "N/A":
                    found[title][name] = (float(cell), (number, text))
        elif text.strip():
            title = ""
    return found


def devices(lines: Sequence[Line]) -> dict[str, dict[str, tuple[float, Line]]]:
    """bandwidthTest's block of each device: the last size of each way."""
    found: dict[str, dict[str, tuple[float, Line]]] = defaultdict(dict)
    device = way = ""
    for number, text in lines:
        if match := DEVICE.match(text):
            device, way = match[1], ""
        elif match := WAY.search(text):
            way = match[1].lower()
        elif device and way and (match := LAST.match(text)):
            found[way][device] = (float(match[1]), (number, text))
    return found


def gpu_lines(lines: Sequence[Line]) -> dict[str, dict[str, tuple[float, Line]]]:
    """A line for each GPU, as people's own tests print it."""
    found: dict[str, dict[str, tuple[float, Line]]] = defaultdict(dict)
    for number, text in lines:
        if ("GB/s" in text or "gb/s" in text) and (match := SAID.match(text)):
            found["said"][match[1]] = (float(match[2]), (number, text))
    return found


def copies(lines: Sequence[Line]) -> Iterator[Reading]:
    """Files of which two machines and more have a checksum, and not the same one: how many there are."""
    sums: dict[str, dict[str, Line]] = defaultdict(dict)
    for number, text in lines:
        if "/" in text and (match := SUM.search(text)):
            sums[match[2]].setdefault(match[1], (number, text))
    for path, versions in sums.items():
        if len(versions) > 1:
            yield Reading("file_versions", float(len(versions)), [*versions.values()][-1], label=path)
