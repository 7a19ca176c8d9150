"""What dcgm-exporter serves at /metrics, in Prometheus' text format → a GpuSample for each GPU, and which metrics there are.

DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-…",pci_bus_id="00000000:1B:00.0",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-02"} 41
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu
from gpudoctor.knowledge import dcgm_fields
from gpudoctor.parsers import LINE, ParseError
from gpudoctor.parsers.exposition import WHOLE, Summary
from gpudoctor.parsers.prometheus_range import Key, holder, key, put, sample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

# DCGM_FI_DEV_SM_CLOCK{gpu="0",…} 1980  |  … 1980 1772366400000 (with its time in ms)
METRIC = regex(r"\s{0,8}(DCGM_FI_[A-Z0-9_]{1,80})\{(.{1,3000})\} +([-+0-9.eEInfNa]{1,32})(?: +(\d{10,16}))?\s*\Z")
# DCGM_EXP_XID_ERRORS_COUNT{gpu="0",…,xid="79"} 1  |  dcgm_gpu_temp{gpu="0",…} 54 (1.x, --use-old-namespace)
SERIES = regex(r"\s{0,8}(DCGM_EXP_[A-Z0-9_]{1,80}|dcgm_[a-z0-9_]{1,80})\{(.{0,3000})\} +[-+0-9.eEInfNa]{1,32}(?:\s|\Z)")
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
COMMENT = regex(r"#\s{0,4}(?:HELP|TYPE)\s{1,4}(?:DCGM_|dcgm_)")
# What DCGM says of a card's memory with a 1 → the field of a Gpu; a 0 is left to nvidia-smi, which knows more
ALARMS = {346: "sram_threshold_exceeded", 395: "remap_failed", 396: "remap_pending"}
LABEL = regex(r'([A-Za-z_]\w{0,63})="((?:[^"\\]|\\.){0,400})"')


def metrics(output: Output, about: Subject) -> Facts:
    """The samples in the order of the GPUs, and the summary."""
    found: dict[tuple[Key, float], dict[str, Any]] = {}
    alarms: dict[Key, Gpu] = {}
    summary = Summary()
    cut = commented = False
    for number, line in enumerate(output.text.split("\n"), 1):
        line = line[:LINE].rstrip("\r")
        match = METRIC.match(line)
        if not match:
            commented |= bool(COMMENT.match(line))
            if other := SERIES.match(line):
                summary.add(other[1], dict(LABEL.findall(other[2])))
            continue
        name, text, value_text, moment = match.groups()
        labels = dict(LABEL.findall(text))
        summary.add(name, labels)
        cut |= "..." in text
        who = key(labels, about)
        try:
            value = float(value_text)
        except ValueError:
            continue
        known = dcgm_fields.named(name)
        if known and known.id in ALARMS and value == 1 and any(who[1:4]):
            alarms[who] = alarm(alarms.get(who), who, ALARMS[known.id], Origin(output.named(), number, line.strip()))
        if any(who[1:4]) and math.isfinite(value):
            put(found.setdefault((who, int(moment) / 1000 if moment else output.time), {}), name, value, holder(labels))
    if not summary.names:
        raise ParseError(f"{output.named()}: no metrics of dcgm-exporter: {output.text[:120]!r}")
    source = output.named()
    samples = [sample(who, moment, read, source) for (who, moment), read in sorted(found.items()) if read]
    # Without its comments the text went through grep or an editor, which may have left metrics out.
    whole = commented and not cut and len(summary.names) >= WHOLE
    there = summary.fact(place="exporter", whole=whole, source=source, node=about.node, namespace=about.namespace, pod=about.pod)
    return {"gpu_samples": [*samples], "expositions": [there], "gpus": [*alarms.values()]}


def alarm(card: Gpu | None, who: Key, field: str, where: Origin) -> Gpu:
    """The GPU with one more field that is true."""
    node, uuid, address, index, model = who
    number = int(index) if index.isdecimal() else None
    card = card or Gpu(node=node, gpu=uuid or address, uuid=uuid, pci=address, index=number, product=model, origin=where)
    return msgspec.structs.replace(card, **{field: True})
