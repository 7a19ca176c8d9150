"""`gpustat`: a line for each GPU, with what it does, and whose programs have its memory.

gpu-07                     Sun Mar  1 12:00:00 2026  550.54.15
[0] NVIDIA A100-SXM4-80GB | 36'C, 100 %,   88 / 400 W |     4 / 81920 MB | ann:python/8123(40112M)
Source: https://github.com/wookayin/gpustat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.nvidia_smi.errors import find_problem
from gpudoctor.tools.parser import ParseError

ROW = regex(
    r"\s*\[(\d{1,3})\] ([^|]{2,80}?) *\| *(?:(\d{1,3})['°]C|\?\?)(?:, +\d{1,3} %(?=, +\d{1,3} %))?, +(\d{1,3}) %"
    r"(?:, +(?:E: +\d{1,3} %.{0,20}, +)?(\d{1,4}) /+ *(\d{1,4}) W)? *\| *(\d{1,7}) / *(\d{1,7}) MB *(?:\|(.{0,2000}))?$"
)
# [1] ((Unknown Error)) |  ?°C,   ? % |     ? /     ? MB    (InvalidGPU of core.py: the text of NVML's error for a name)
LOST = regex(r"\s*\[(\d{1,3})\] \(\(([^()|]{2,80})\)\)")
# gpu-07     Sun Mar  1 12:00:00 2026  550.54.15
HEAD = regex(r"([\w.-]{1,253}) {2,}(?:\[\S{1,20}\] +)?[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b")
# ann:python/8123(40112M)  |  python/8123(40112M)
PROGRAM = regex(r"(?:^|\s)(?:[\w.-]{1,64}:)?([^\s:/()]{1,100})/(\d{1,10})\((\d{1,7})M\)")
OWNED = regex(r"\(\d{1,7}M\)")
MOST = 2_000


def gpustat(output: Output, about: Subject) -> Facts:
    """The GPUs, a sample of each, and the processes whose id is shown."""
    gpus: list[Gpu] = []
    samples: list[GpuSample] = []
    programs: list[GpuProcess] = []
    node = about.node
    for number, line in lines(output):
        if head := HEAD.match(line):
            node = about.node or head[1]
        if len(gpus) >= MOST:
            break
        if lost := LOST.match(line):
            gpus.append(unreadable_gpu(lost, node, Origin(output.origin_name(), number, line.strip()[:500])))
        if not (match := ROW.match(line)):
            continue
        index, used, total, use = int(match[1]), int(match[7]), int(match[8]), int(match[4])
        name, origin = f"GPU {index}", Origin(output.origin_name(), number, line.strip()[:500])
        shown = match[9] is not None
        gpus.append(
            Gpu(
                node=node,
                gpu=name,
                index=index,
                product=match[2].strip(),
                utilisation=use,
                memory_used=used,
                memory_total=total,
                processes=len(OWNED.findall(match[9])) if shown else None,
                origin=origin,
            )
        )
        samples.append(
            GpuSample(
                node=node,
                gpu=name,
                index=index,
                product=match[2].strip(),
                utilisation=float(use),
                temperature=float(match[3]) if match[3] else None,
                power=float(match[5]) if match[5] else None,
                power_limit=float(match[6]) if match[6] else None,
                memory_used=float(used),
                memory_total=float(total),
                origin=origin,
            )
        )
        programs += [
            GpuProcess(node=node, gpu=name, pid=int(one[2]), process=one[1], kind="C", memory=int(one[3]), origin=origin)
            for one in PROGRAM.finditer(match[9] or "")
        ]
    if not gpus:
        raise ParseError(f"{output.origin_name()}: no row of gpustat: {output.text.strip()[:80]!r}")
    return {"gpus": [*gpus], "gpu_samples": [*samples], "gpu_processes": [*programs]}


def unreadable_gpu(row: re.Match[str], node: str, origin: Origin) -> Gpu:
    """A GPU of which NVML gives no handle, but an error."""
    word = find_problem([f"Unable to determine the device handle for GPU: {row[2]}"])[0]
    return Gpu(node=node, gpu=f"GPU {row[1]}", index=int(row[1]), problem=word, unreadable=["name"], origin=origin)


def score(text: Sequence[str]) -> int:
    """A row."""
    return 84 if any(ROW.match(line) or LOST.match(line) for line in text) else 0
