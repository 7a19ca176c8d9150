"""`dcgmi dmon -e …`: a column for each field, by its short header, and a row for each entity and moment; only the rows of GPUs are read.

Source: dcgmi/DeviceMonitor.cpp. A column is as wide as its field needs; a value that DCGM doesn't have is N/A, one of another entity blank.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.knowledge import clock_reasons, dcgm_fields
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.gpu_errors import Errors
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import amount, gpu_name, not_read, problem

HEAD = regex(r"# ?Entity\b")
# GPU 0           1980  44.1   N/A
ROW = regex(r"\s{0,8}GPU (\d{1,4})(?=\s|\Z)")
DELAY = 1.0  # s between the rows of a GPU, the default of dmon's -d
Column = tuple[dcgm_fields.Field | None, int]  # the field of a header, and where the header begins
# What a column says of the GPU itself.
IDENTITY = {"UUID#": "uuid", "PCBID": "pci", "DVNAM": "product"}


def dmon(output: Output, about: Subject) -> Facts:
    """The samples of all GPUs in the order of the rows; {} where dcgmi says why it has none."""
    columns: list[Column] | None = None
    found: list[tuple[int, int, str, dict[str, str]]] = []
    for number, line in lines(output):
        if head := HEAD.match(line.lstrip()):
            start = len(line) - len(line.lstrip()) + head.end()
            columns = [(dcgm_fields.BY_HEADER.get(one.group()), one.start()) for one in re.finditer(r"\S+", line) if one.start() >= start]
        elif columns and (row := ROW.match(line)):
            found.append((number, int(row.group(1)), line, cells(line, row.end(), columns)))
    if columns is None:
        if problem(output)[0]:
            return {}
        raise not_read(output, "a table of `dcgmi dmon`")
    return errors(found, output, about) | {"gpu_samples": [*samples(found, output, about)]}


def cells(line: str, start: int, columns: list[Column]) -> dict[str, str]:
    """The values of a row by header. As many words as columns are the values; else each stands below its header."""
    words = line[start:].split()
    if len(words) == len(columns):
        texts = words
    else:
        ends = [begin for _, begin in columns[1:]] + [len(line)]
        texts = [line[begin:end].strip() for (_, begin), end in zip(columns, ends, strict=True)]
    return {field.header: text for (field, _), text in zip(columns, texts, strict=True) if field is not None}


def samples(found: list[tuple[int, int, str, dict[str, str]]], output: Output, about: Subject) -> Iterator[GpuSample]:
    """The samples. The last row of a GPU was printed when the command ended, those before it each a delay earlier."""
    step = delay(output)
    left: dict[int, int] = {}
    for _, index, _, _ in found:
        left[index] = left.get(index, 0) + 1
    for number, index, line, values in found:
        left[index] -= 1
        time = output.time - left[index] * step if output.time else None
        every = None if output.time else step
        yield sample(index, values, time, every, Origin(output.origin_name(), number, line.strip()), about)


def errors(found: list[tuple[int, int, str, dict[str, str]]], output: Output, about: Subject) -> Facts:
    """What the columns that count errors say, by the time of each row. Without the time of the command the rows have their distance."""
    step = delay(output)
    read = Errors(output.time)
    left = Counter(index for _, index, _, _ in found)
    for number, index, line, values in found:
        left[index] -= 1
        where = Origin(output.origin_name(), number, line.strip())
        who = (about.node, values.get("UUID#", ""), pci.canonical(values.get("PCBID", "")), str(index), values.get("DVNAM", ""))
        for header, text in values.items():
            if (value := amount(text)) is not None:
                read.add(who, f"DCGM_FI_{dcgm_fields.BY_HEADER[header].name}", {}, [(output.time - left[index] * step, value)], where)
    return read.facts()


def delay(output: Output) -> float:
    """Seconds between two rows of a GPU: what the command asked for, in milliseconds."""
    argv = output.command.argv
    for name, value in itertools.pairwise(argv):
        if name in ("-d", "--delay") and value.isascii() and value.isdecimal() and len(value) < 8:
            return int(value) / 1000
    return DELAY


def sample(index: int, values: dict[str, str], time: float | None, every: float | None, origin: Origin, about: Subject) -> GpuSample:
    """One row."""
    made: dict[str, Any] = {IDENTITY[header]: text for header, text in values.items() if header in IDENTITY and text not in ("", "N/A")}
    made["pci"] = pci.canonical(made.get("pci", ""))
    gaps: dict[str, str] = {}
    throttled: dict[str, float] = {}
    for header, text in values.items():
        field = dcgm_fields.BY_HEADER[header]
        value = amount(text)
        if name := dcgm_fields.SAMPLE.get(field.id):
            if value is None:
                gaps[name] = (text or "blank")[:40]
            else:
                made[name] = convert_value(name, value)
        elif value is not None and (reason := dcgm_fields.THROTTLED.get(field.id)):
            throttled[reason] = value * dcgm_fields.NANOSECONDS
    gpu = made.get("uuid") or made["pci"] or gpu_name("GPU", index)
    known: dict[str, Any] = {"node": about.node, "gpu": gpu, "index": index, "time": time, "every": every, "throttled": throttled}
    return GpuSample(**known, gaps=gaps, origin=origin, seen_by="DCGM", **made)


def convert_value(name: str, value: float) -> Any:
    """Convert a value to the type of its field."""
    if name == "reasons":
        return clock_reasons.from_mask(int(value)) if value >= 0 else None
    return int(value) if name in ("pstate", "ecc_corrected") else value
