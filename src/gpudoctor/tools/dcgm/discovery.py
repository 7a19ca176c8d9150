"""`dcgmi discovery -l`: which GPU has which index, UUID and PCI address. DCGM counts in the order of NVML."""

from __future__ import annotations

from gpudoctor.facts import Fact, Facts, Subject
from gpudoctor.facts.gpu import Gpu
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import Row, box_rows, not_read, number, problem

# 8 GPUs found.
FOUND = regex(r"\s*(\d{1,4}) (?:active )?GPUs? found\.")
# GPU-7f3c2a10-0b1d-4c5e-9f00-1a2b3c4d5e6f
UUID = regex(r"GPU-[0-9A-Fa-f-]{8,60}\Z")


def discovery(output: Output, about: Subject) -> Facts:
    """The GPUs; {} where dcgmi says why it can't list them."""
    counted = any(FOUND.match(line) for _, line in lines(output))
    found: list[tuple[Row, dict[str, str]]] = []
    section = ""
    for row in box_rows(output):
        label = row.left.strip()
        if label and not label.isdecimal():  # the heading of a box: GPU ID, Switch ID, CPU ID
            section = label
            continue
        if section != "GPU ID":
            continue
        if label:
            found.append((row, {}))
        key, colon, value = row.right.partition(":")
        if found and colon:
            found[-1][1].setdefault(key.strip(), value.strip())
    if not counted and not found and section != "GPU ID":
        if problem(output)[0]:
            return {}
        raise not_read(output, "a list of `dcgmi discovery -l`")
    gpus: list[Fact] = [gpu(row, values, output, about) for row, values in found]
    return {"gpus": gpus}


def gpu(row: Row, values: dict[str, str], output: Output, about: Subject) -> Gpu:
    """One GPU of the list. DCGM 1 and 2 write `Device Name` and `Device Information`; the rest is the same."""
    uuid = values.get("Device UUID", "")
    uuid = uuid if UUID.match(uuid) else ""
    address = pci.canonical(values.get("PCI Bus ID", ""))
    return Gpu(
        node=about.node,
        gpu=uuid or address,
        uuid=uuid,
        pci=address,
        index=number(row.left),
        product=(values.get("Name") or values.get("Device Name") or "")[:100],
        origin=row.origin(output),
    )
