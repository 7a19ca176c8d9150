"""nvidia-smi's long answers: -q as text, -q -x (XML), and the CSV of --query-gpu."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Origin
from gpudoctor.facts.gpu import Gpu
from gpudoctor.parsers import pci
from gpudoctor.probes.base import Output

# (section, key) of -q, (section, tag) of -q -x, or the column of --query-gpu → the field of Gpu.
DETAILS: dict[tuple[str, str], str] = {
    ("", "Product Name"): "product",
    ("", "GPU UUID"): "uuid",
    ("MIG Mode", "Current"): "mig_mode",
    ("FB Memory Usage", "Total"): "memory_total",
    ("FB Memory Usage", "Used"): "memory_used",
    ("Utilization", "Gpu"): "utilisation",
    ("Utilization", "GPU"): "utilisation",
    ("Temperature", "GPU Current Temp"): "temperature",
    ("Remapped Rows", "Pending"): "remap_pending",
    ("Remapped Rows", "Remapping Failure Occurred"): "remap_failed",
    ("", "product_name"): "product",
    ("", "uuid"): "uuid",
    ("mig_mode", "current_mig"): "mig_mode",
    ("fb_memory_usage", "total"): "memory_total",
    ("fb_memory_usage", "used"): "memory_used",
    ("utilization", "gpu_util"): "utilisation",
    ("temperature", "gpu_temp"): "temperature",
    ("remapped_rows", "remapped_row_pending"): "remap_pending",
    ("remapped_rows", "remapped_row_failure"): "remap_failed",
}
COLUMNS: dict[str, str] = {
    "index": "index",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "pci.bus_id": "pci",
    "gpu_bus_id": "pci",
    "name": "product",
    "gpu_name": "product",
    "mig.mode.current": "mig_mode",
    "memory.used": "memory_used",
    "memory.total": "memory_total",
    "utilization.gpu": "utilisation",
    "temperature.gpu": "temperature",
    "remapped_rows.pending": "remap_pending",
    "remapped_rows.failure": "remap_failed",
}
NUMBERS = {"index", "memory_used", "memory_total", "utilisation", "temperature"}
FLAGS = {"remap_pending", "remap_failed"}
TRUTH = {"Yes": True, "1": True, "No": False, "0": False}
UNREADABLE = ("ERR!", "Unknown Error", "GPU requires reset", "GPU is lost")

# GPU 00000000:00:1E.0  |  <gpu id="00000000:0C:00.0">
HEAD = re.compile(r'^(?:GPU |\s*<gpu id=")([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])')
# <current_mig>N/A</current_mig>
TAG = re.compile(r"^\s*<(/?)([a-z_0-9]{1,64})>(?:([^<]{0,400})</)?")


def details(lines: list[str], output: Output) -> Iterator[Gpu]:
    """The GPUs of `nvidia-smi -q` and `-q -x`: a record a `GPU <address>` block."""
    found: dict[str, Any] = {}
    section = ""
    for number, line in enumerate(lines, 1):
        if match := HEAD.match(line):
            if found:
                yield Gpu(**found)
            found, section = {"pci": pci.canonical(match.group(1)), "unreadable": [], "origin": Origin(line=number)}, ""
        elif found and line:
            section, key, value = _entry(line, section)
            field = DETAILS.get((section, key))
            if key:
                put(found, field, value, f"{section} {key}".strip())
    if found:
        yield Gpu(**found)


def _entry(line: str, section: str) -> tuple[str, str, str]:
    """(section after this line, key, value); the key is "" for a line that only opens or closes a section."""
    if match := TAG.match(line):
        closes, tag, value = match.groups()
        if value is not None:
            return section, tag, value
        return ("" if closes else tag), "", ""
    key, colon, value = line.partition(" : ")
    indent = len(line) - len(line.lstrip())
    if colon:
        # Keys directly under a GPU have an indent of 4 and belong to no section.
        return (section if indent > 4 else ""), key.strip(), value.strip()
    return line.strip(), "", ""


def put(found: dict[str, Any], field: str | None, value: str, shown: str) -> None:
    """One value into the fields of a Gpu; a word for an error goes to `unreadable` under the name it was shown with."""
    bare = value.strip().strip("[]")
    if bare in UNREADABLE:
        if len(found["unreadable"]) < 32:
            found["unreadable"].append(field or shown)
    elif field in NUMBERS:
        match = re.match(r"\d{1,9}", bare)
        if match and found.get(field) is None:
            found[field] = int(match.group())
    elif field in FLAGS:
        found.setdefault(field, TRUTH.get(bare))
    elif field == "pci":
        found[field] = pci.canonical(bare)
    elif field and not found.get(field) and (field == "mig_mode" or bare not in ("N/A", "Not Supported")):
        found[field] = bare[:100]


def from_csv(lines: list[str], output: Output) -> Iterator[Gpu]:
    """`--query-gpu=… --format=csv`: columns from the header, else from the command; without both only self-evident cells are read."""
    columns = asked(output)
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.split(",")]
        titles = [cell.partition(" [")[0] for cell in cells]
        if len(set(titles) & COLUMNS.keys()) >= 2 or titles in (["index"], ["uuid"], ["pci.bus_id"], ["gpu_uuid"]):
            columns = titles
            continue
        row: dict[str, str] = {}
        if columns and len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
        elif len(cells) > 1 and cells[0].isdecimal() and any(cell.startswith("GPU-") and len(cell) == 40 for cell in cells):
            row = _guess(cells)
        if row and (gpu := _row(row, number)):
            yield gpu


def asked(output: Output) -> list[str]:
    """The columns that the command asked for."""
    option = next((arg for arg in output.command.argv if arg.startswith("--query-gpu=")), "")
    return [column for column in option.partition("=")[2].split(",") if column]


def _guess(cells: list[str]) -> dict[str, str]:
    """Cells that say what they are: a UUID, a PCI address, a leading number, the first other text."""
    row: dict[str, str] = {}
    for cell in cells:
        if cell.startswith("GPU-"):
            row.setdefault("uuid", cell)
        elif pci.canonical(cell):
            row.setdefault("pci.bus_id", cell)
        elif cell.isdecimal() and not row:
            row["index"] = cell
        elif cell[:1].isalpha():
            row.setdefault("name", cell)
    return row


def _row(row: dict[str, str], number: int) -> Gpu | None:
    found: dict[str, Any] = {"unreadable": [], "origin": Origin(line=number)}
    for column, cell in row.items():
        put(found, COLUMNS.get(column), cell, column)
    known = found.get("uuid") or found.get("pci") or found.get("index") is not None
    return Gpu(**found) if known else None
