"""`nvidia-smi dmon`: a row for each GPU and moment below a header that names the columns and one that names their units.

# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  pviol  tviol
# Idx      W      C      C      %      %    MHz    MHz      %   bool
    0    298     88     94    100     61   1215    915      0      1
"""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.parser import LINE, ParseError

# # gpu   pwr  temp    sm   mem  …  |  #Date       Time        gpu    pwr  …  |  #Time  gpu …
HEAD = regex(r"#\s?(?:Date\s+)?(?:Time\s+)?gpu\s")
# nvidia-smi(1), DEVICE MONITORING: `temp` is the name of `gtemp` up to R3xx; the clock of the processor is `pclk`.
FIELDS = {
    "pwr": "power",
    "temp": "temperature",
    "gtemp": "temperature",
    "mtemp": "memory_temperature",
    "sm": "utilisation",
    "mem": "memory_utilisation",
    "fb": "memory_used",
    "mclk": "memory_clock",
    "pclk": "sm_clock",
}
# Violations: per cent of the time at the power limit, and whether there was a thermal one, by software or hardware.
VIOLATIONS = {"pviol": "sw_power_cap", "tviol": "sw_thermal"}
NUMBER = regex(r"-?\d{1,9}(?:[.,]\d{1,6})?\Z")
MOST = 200_000  # rows


def dmon(output: Output, about: Subject) -> Facts:
    """The samples in the order of the rows."""
    columns: list[str] = []
    found: list[GpuSample] = []
    for number, text in enumerate(output.text.split("\n"), 1):
        line = text[:LINE].rstrip()
        if HEAD.match(line.lstrip()):
            columns = line.lstrip("# ").lower().split()
        elif (
            columns
            and not line.lstrip().startswith("#")
            and len(found) < MOST
            and (one := row_sample(line, number, columns, output, about))
        ):
            found.append(one)
    if not columns:
        raise ParseError(f"{output.origin_name()}: not a table of `nvidia-smi dmon`: {output.text[:120]!r}")
    return {"gpu_samples": list(found)}


def row_sample(line: str, number: int, columns: list[str], output: Output, about: Subject) -> GpuSample | None:
    """One row, None for anything else; a dash is a value that the GPU doesn't have."""
    cells = dict(zip(columns, line.split(), strict=False))
    index = cells.get("gpu", "")
    if not (index.isascii() and index.isdecimal() and len(index) < 5) or len(line.split()) != len(columns):
        return None
    read = {name: float(text.replace(",", ".")) for name, text in cells.items() if NUMBER.match(text)}
    values: dict[str, Any] = {field: read[name] for name, field in FIELDS.items() if name in read}
    if any(name in read for name in VIOLATIONS):
        values["reasons"] = [reason for name, reason in VIOLATIONS.items() if read.get(name)]
    stamp = " ".join(part for part in (cells.get("date", ""), cells.get("time", "")) if part)
    moment = (line_time(f"{stamp[:4]}/{stamp[4:6]}/{stamp[6:]}") if stamp[:8].isdecimal() else line_time(stamp)) if stamp else None
    return GpuSample(
        node=about.node,
        gpu=f"GPU {index}",
        index=int(index),
        time=moment,
        seen_by="nvidia-smi",
        origin=Origin(output.origin_name(), number, line.strip()),
        **values,
    )
