"""System metrics of experiment trackers: the samples of GPUs in their rows, as JSON or as a table with a header.

{"system.gpu.0.gpu": 99, "system.gpu.0.powerWatts": 149.1, "system.gpu.0.enforcedPowerLimitWatts": 700, "_timestamp": 1770760611.2}
_timestamp,system.gpu.0.gpu,system.gpu.0.memoryAllocatedBytes
Sources: https://docs.wandb.ai/models/ref/python/experiments/system-metrics, https://mlflow.org/docs/latest/ml/tracking/system-metrics/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

NAME = regex(r"(?:system[./])?gpu[._/](\d{1,2})[._/](\w{2,40})\Z")
CELL = regex(r'"([^"]{1,80})": ?(-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?)(?=[,}\s])')
NUMBER = regex(r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?\Z")
# name → field and factor. The memory of `memory` is the share of the time in which it was read or written.
FIELDS: dict[str, tuple[str, float]] = {
    "gpu": ("utilisation", 1.0),
    "utilization_percentage": ("utilisation", 1.0),
    "memory": ("memory_utilisation", 1.0),
    "memoryAllocatedBytes": ("memory_used", 2.0**-20),
    "memory_usage_megabytes": ("memory_used", 1.0),
    "powerWatts": ("power", 1.0),
    "power_usage_watts": ("power", 1.0),
    "enforcedPowerLimitWatts": ("power_limit", 1.0),
    "smClock": ("sm_clock", 1.0),
    "temp": ("temperature", 1.0),
    "smActive": ("sm_active", 0.01),
    "pipeTensorActive": ("tensor_active", 0.01),
    "dramActive": ("dram_active", 0.01),
}
TIMES, SHARE = ("_timestamp", "timestamp", "_runtime"), "powerPercent"
MOST = 50_000


def samples(output: Output, about: Subject) -> Facts:
    """A sample for each GPU of each row."""
    found: list[GpuSample] = []
    for number, row, text in tracker_rows([line for _, line in lines(output)]):
        origin = Origin(output.origin_name(), number, text.strip()[:500])
        moment = next((float(row[name]) for name in TIMES if name in row), None)
        for index, values in of_gpus(row).items():
            found.append(GpuSample(node=about.node, gpu=f"GPU {index}", index=index, time=moment, origin=origin, holder="a run", **values))
    if not found:
        raise ParseError(f"{output.origin_name()}: no rows of GPUs: {output.text[:80]!r}")
    return {"gpu_samples": [*found[:MOST]]}


def score(text: Sequence[str]) -> int:
    """A row that names a GPU's metric, or the header of such rows."""
    return 83 if any("gpu" in line and has_metric_name(line) for line in text[:200]) else 0


def has_metric_name(line: str) -> bool:
    """Whether a line has such a name in it."""
    cells = [name for name, _ in CELL.findall(line[:20_000])] if line.lstrip().startswith("{") else titles(line)
    return any((match := NAME.match(cell)) and (match[2] in FIELDS) for cell in cells)


def titles(line: str) -> list[str]:
    """The cells of a header."""
    return [cell.strip().strip('"') for cell in line.split(",")[:400]]


def tracker_rows(log: Sequence[str]) -> Iterator[tuple[int, dict[str, str], str]]:
    """(number from 1, name → number, the line)."""
    head: list[str] = []
    for number, line in enumerate(log[:MOST], 1):
        if line.lstrip().startswith("{"):
            yield number, dict(CELL.findall(line[:20_000])), line
        elif "gpu" in line and has_metric_name(line):
            head = titles(line)
        elif head and len(cells := titles(line)) == len(head):
            yield number, {name: cell for name, cell in zip(head, cells, strict=True) if NUMBER.match(cell)}, line


def of_gpus(row: dict[str, str]) -> dict[int, dict[str, Any]]:
    """Index → the fields of its sample. Where the limit isn't there, the share of it tells it."""
    found: dict[int, dict[str, Any]] = {}
    shares: dict[int, float] = {}
    for name, cell in row.items():
        if not (match := NAME.match(name)):
            continue
        index = int(match[1])
        if match[2] in FIELDS:
            field, factor = FIELDS[match[2]]
            found.setdefault(index, {})[field] = float(cell) * factor
        elif match[2] == SHARE:
            shares[index] = float(cell)
    for index, share in shares.items():
        one = found.get(index, {})
        if share > 0 and one.get("power") and "power_limit" not in one:
            one["power_limit"] = one["power"] * 100 / share
    return found
