"""How the GPUs of a job were used on average over its time: Princeton's jobstats.

      Run Time: 18:02:27 (in progress)
      GPU utilization per node
          gpu-07 (GPU 0): 93.1%
    {"total_time": 113231, "nodes": {"gpu-07": {"gpu_utilization": {"0": 0.0}, "gpu_used_memory": {"0": 541065216}, …}}}

Source: https://github.com/PrincetonUniversity/jobstats (output_formatters.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.linux.ps import elapsed_seconds
from gpudoctor.tools.parser import ParseError

# "       Run Time: 1-18:02:27 (in progress)"  |  "         Job ID: 61204417"
RUN_TIME = regex(r"\s*Run Time: +([\d:-]{4,20})")
JOB = regex(r"\s*Job ID: +(\d{1,12})\b")
# "      gpu-07 (GPU 0): 93.1%"  |  "      gpu-07 (GPU 0): 21.7GB/80.0GB (27.1%)"
CARD = regex(r"\s*([\w.-]{1,253}) \(GPU ?#?(\d{1,3})\): (?:(\d{1,3}(?:\.\d{1,2})?)%|(\d{1,7}(?:\.\d{1,2})?)GB/(\d{1,7}(?:\.\d{1,2})?)GB)")
HEAD = "GPU utilization per node"
# {"total_time": 113231, "gpus": 2, "nodes": {
RECORD = regex(r"\{(?=.{0,400}\"(?:total_time|nodes)\")(?=.{0,4000}\"gpu_utilization\": ?\{).{10,60000}\}\s*$")
MOST = 10_000


class _Node(msgspec.Struct, frozen=True):
    gpu_utilization: dict[str, float] = {}
    gpu_used_memory: dict[str, float] = {}
    gpu_total_memory: dict[str, float] = {}


class _Job(msgspec.Struct, frozen=True):
    nodes: dict[str, _Node] = {}
    total_time: float = 0.0


def means(output: Output, about: Subject) -> Facts:
    """A sample for each GPU, which says over how long its values are a mean."""
    rows = [*lines(output)]
    found = [*of_job(rows, output), *of_record(rows, output)]
    if not found:
        raise ParseError(f"{output.origin_name()}: no statistics of GPUs: {output.text[:80]!r}")
    return {"gpu_samples": [*found[:MOST]]}


def score(rows: Iterable[str]) -> int:
    """The heading, or the record."""
    return 82 if any(HEAD in row or ('"gpu_utilization"' in row and RECORD.search(row)) for row in rows) else 0


def of_job(rows: list[tuple[int, str]], output: Output) -> list[GpuSample]:
    """jobstats' page."""
    span, job = 0.0, ""
    made: dict[tuple[str, int], dict[str, Any]] = {}
    for number, row in rows:
        if match := RUN_TIME.match(row):
            span = elapsed_seconds(match[1]) or 0.0
        elif match := JOB.match(row):
            job = f"job {match[1]}"
        elif match := CARD.match(row):
            one = made.setdefault((match[1], int(match[2])), {"origin": Origin(output.origin_name(), number, row.strip())})
            if match[3]:
                one["utilisation"] = float(match[3])
            else:
                one |= {"memory_used": float(match[4]) * 1024, "memory_total": float(match[5]) * 1024}
    return [GpuSample(node=node, gpu=f"GPU {index}", index=index, span=span, holder=job, **one) for (node, index), one in made.items()]


def of_record(rows: list[tuple[int, str]], output: Output) -> list[GpuSample]:
    """The record from which jobstats makes its page."""
    made: list[GpuSample] = []
    for number, row in rows:
        if '"gpu_utilization"' not in row or not (match := RECORD.search(row)):
            continue
        try:
            job = decoder(_Job).decode(match[0].strip())
        except (msgspec.MsgspecError, RecursionError):
            continue
        origin = Origin(output.origin_name(), number, row.strip()[:500])
        for name, node in job.nodes.items():
            for index, use in node.gpu_utilization.items():
                if index.isascii() and index.isdecimal() and len(index) < 4:
                    memory: dict[str, Any] = {
                        field: held[index] / 2**20
                        for field, held in (("memory_used", node.gpu_used_memory), ("memory_total", node.gpu_total_memory))
                        if index in held
                    }
                    where: dict[str, Any] = {"node": name[:253], "gpu": f"GPU {index}", "index": int(index), "holder": "a job"}
                    made.append(GpuSample(**where, utilisation=use, span=job.total_time, origin=origin, **memory))
    return made
