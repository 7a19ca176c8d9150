"""How GPUs were used on average over a time: statistics of a job (Princeton's jobstats), rows of a PromQL answer as people copy them.

      Run Time: 18:02:27 (in progress)
      GPU utilization per node
          gpu-07 (GPU 0): 93.1%
    {"total_time": 113231, "nodes": {"gpu-07": {"gpu_utilization": {"0": 0.0}, "gpu_used_memory": {"0": 541065216}, …}}}

    avg_over_time(DCGM_FI_PROF_SM_ACTIVE{Hostname="gpu-07"}[6h])
    {gpu="4", exported_pod="notebook-0"}  0.0

Sources: https://github.com/PrincetonUniversity/jobstats (output_formatters.py), https://prometheus.io/docs/prometheus/latest/querying/basics/.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.knowledge import dcgm_fields
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.linux.ps import elapsed_seconds
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus.metrics_page import LABEL
from gpudoctor.tools.prometheus.range import holder, key

# "       Run Time: 1-18:02:27 (in progress)"  |  "         Job ID: 61204417"
RUN_TIME = regex(r"\s*Run Time: +([\d:-]{4,20})")
JOB = regex(r"\s*Job ID: +(\d{1,12})\b")
# "      gpu-07 (GPU 0): 93.1%"  |  "      gpu-07 (GPU 0): 21.7GB/80.0GB (27.1%)"
CARD = regex(r"\s*([\w.-]{1,253}) \(GPU ?#?(\d{1,3})\): (?:(\d{1,3}(?:\.\d{1,2})?)%|(\d{1,7}(?:\.\d{1,2})?)GB/(\d{1,7}(?:\.\d{1,2})?)GB)")
HEAD = "GPU utilization per node"
# {"total_time": 113231, "gpus": 2, "nodes": {
RECORD = regex(r"\{(?=.{0,400}\"(?:total_time|nodes)\")(?=.{0,4000}\"gpu_utilization\": ?\{).{10,60000}\}\s*$")
# avg_over_time(DCGM_FI_PROF_SM_ACTIVE{…}[6h])  |  max_over_time(DCGM_FI_DEV_GPU_UTIL[1h:])
QUERY = regex(r"\b(avg|max)_over_time\(\(?\s{0,4}(DCGM_FI_[A-Z0-9_]{1,80}).{0,300}?\[(\d{1,6})([smhdw])(?::[0-9a-z]{0,8})?\]")
# {gpu="4", exported_pod="notebook-0"}  0.0  |  {…} => 0.71 @[1772366400]                                    (the web page; promtool)
ROW = regex(r"\s*\{(.{1,2000})\} *(?:=>)? *(\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,3})?)(?: @\[\S{1,20}\])?\s*$")
SPACED = regex(r'", +(?=[A-Za-z_])')
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
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
    found = [*of_job(rows, output, about), *of_record(rows, output), *of_query(rows, output, about)]
    if not found:
        raise ParseError(f"{output.origin_name()}: no statistics of GPUs: {output.text[:80]!r}")
    return {"gpu_samples": [*found[:MOST]]}


def score(rows: Iterable[str]) -> int:
    """The heading, the record, or the query above its rows."""
    asked = False
    for row in rows:
        if HEAD in row or ('"gpu_utilization"' in row and RECORD.search(row)):
            return 82
        asked |= "_over_time(" in row and QUERY.search(row) is not None
        if asked and ROW.match(row):
            return 82
    return 0


def of_job(rows: list[tuple[int, str]], output: Output, about: Subject) -> list[GpuSample]:
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


def of_query(rows: list[tuple[int, str]], output: Output, about: Subject) -> list[GpuSample]:
    """The rows below a mean or a maximum over a time."""
    made: list[GpuSample] = []
    field, span, below = "", 0.0, ""
    for number, row in rows:
        if match := QUERY.search(row):
            known = dcgm_fields.find_field(match[2])
            field = dcgm_fields.SAMPLE.get(known.id, "") if known else ""
            span, below = float(int(match[3]) * SECONDS[match[4]]), row
        elif field and (match := ROW.match(row)):
            labels = dict(LABEL.findall(SPACED.sub('",', match[1])))
            asked = dict(LABEL.findall(below))
            node, uuid, address, index, model = key(asked | labels, about)
            if not (uuid or address or index):
                continue
            measured: dict[str, Any] = {field: float(match[2])}
            made.append(
                GpuSample(
                    node=node,
                    gpu=uuid or address or f"GPU {index}",
                    uuid=uuid,
                    pci=address,
                    index=int(index) if index.isdecimal() else None,
                    product=model,
                    span=span,
                    holder=holder(labels).removeprefix("/"),
                    origin=Origin(output.origin_name(), number, row.strip()),
                    **measured,
                )
            )
    return made
