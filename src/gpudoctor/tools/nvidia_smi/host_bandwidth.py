"""The bandwidth between the host and each GPU, where it is unequal: nvbandwidth, and bandwidthTest of CUDA's samples.

memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)          Device 0: NVIDIA A100-SXM4-80GB
           0         1         2                             Host to Device Bandwidth, 1 Device(s)
 0     55.21     13.90     55.28                               32000000                     25.1

Sources: https://github.com/NVIDIA/nvbandwidth, https://github.com/NVIDIA/cuda-samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from gpudoctor.patterns import regex
from gpudoctor.tools.common import measures
from gpudoctor.tools.common.measures import Line, N, Reading

COPIES = regex(r"^memcpy \w{2} (?:CPU\(row\) (?:->|<-|<->) GPU\(column\)|GPU\(row\) (?:->|<-) CPU\(column\)) bandwidth")
COLUMNS = regex(r"^\s+\d{1,3}(?:\s+\d{1,3}){0,71}\s*$")
ROW = regex(r"^\s*\d{1,3}\s+(\d{1,6}\.\d{1,4}(?:\s+(?:\d{1,6}\.\d{1,4}|N/A)){0,71})\s*$")
DEVICE = regex(r"^\s*(?:Device|GPU) (\d{1,3})\s*[:=]", 2)
WAY = regex(r"\b(Host to Device|Device to Host|H2D|D2H|HtoD|DtoH)\b", 2)
LAST = regex(rf"^\s*\d{{4,12}}\s+{N}\s*$")
FEWEST, PAIR = 3, 2  # devices
LESS = 0.6  # of what most have: a link at half its lanes or a generation below it has half (our choice)


def unequal_devices(lines: Sequence[Line]) -> Iterator[Reading]:
    """The devices that are far below most others."""
    for found in (matrices(lines), devices(lines)):
        yield from far_below_most(found)


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


READERS = (unequal_devices,)
bandwidths = measures.parser(READERS)
