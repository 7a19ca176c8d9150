"""What dcgm-exporter serves at /metrics, in Prometheus' text format → a GpuSample for each GPU.

DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-…",pci_bus_id="00000000:1B:00.0",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-02"} 41
"""

from __future__ import annotations

import math
import re
from typing import Any

from gpudoctor.facts import Facts, Subject
from gpudoctor.parsers import LINE, ParseError
from gpudoctor.parsers.prometheus_range import Key, key, put, sample
from gpudoctor.probes.base import Output

# DCGM_FI_DEV_SM_CLOCK{gpu="0",…} 1980  |  … 1980 1772366400000 (with its time in ms)
METRIC = re.compile(r"\s{0,8}(DCGM_FI_[A-Z0-9_]{1,80})\{(.{1,3000})\} +([-+0-9.eEInfNa]{1,32})(?: +(\d{10,16}))?\s*\Z")
LABEL = re.compile(r'([A-Za-z_]\w{0,63})="((?:[^"\\]|\\.){0,400})"')


def metrics(output: Output, about: Subject) -> Facts:
    """The samples in the order of the GPUs."""
    found: dict[tuple[Key, float], dict[str, Any]] = {}
    seen = False
    for line in output.text.split("\n"):
        match = METRIC.match(line[:LINE].rstrip("\r"))
        if not match:
            continue
        seen = True
        name, labels, text, moment = match.groups()
        who = key(dict(LABEL.findall(labels)), about)
        try:
            value = float(text)
        except ValueError:
            continue
        if any(who[1:4]) and math.isfinite(value):
            put(found.setdefault((who, int(moment) / 1000 if moment else output.time), {}), name, value)
    if not seen:
        raise ParseError(f"{output.named()}: no metrics of dcgm-exporter: {output.text[:120]!r}")
    source = output.named()
    return {"gpu_samples": [sample(who, moment, read, source) for (who, moment), read in sorted(found.items()) if read]}
