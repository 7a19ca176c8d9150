"""What dcgm-exporter serves at /metrics, in Prometheus' text format → a GpuSample for each GPU, which metrics there are, and errors.

DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-…",pci_bus_id="00000000:1B:00.0",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-02"} 41
"""

from __future__ import annotations

import math
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.gpu_errors import Errors, Key
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.parser import LINE, ParseError
from gpudoctor.tools.prometheus.exposition import WHOLE, Summary
from gpudoctor.tools.prometheus.range import holder, key, put_value, sample

# DCGM_FI_DEV_SM_CLOCK{gpu="0",…} 1980  |  … 1980 1772366400000 (with its time in ms)
# 14:00 DCGM_FI_… (of somebody who asked again and again)
WHEN = r"(?:\[?(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z?\]?[ |:]{1,3})?"
METRIC = regex(rf"\s{{0,8}}{WHEN}(DCGM_FI_[A-Z0-9_]{{1,80}})\{{(.{{1,3000}})\}} +([-+0-9.eEInfNa]{{1,32}})(?: +(\d{{10,16}}))?\s*\Z")
# DCGM_EXP_XID_ERRORS_COUNT{gpu="0",…,xid="79"} 1  |  dcgm_gpu_temp{gpu="0",…} 54 (1.x, --use-old-namespace)
SERIES = regex(r"\s{0,8}(DCGM_EXP_[A-Z0-9_]{1,80}|dcgm_[a-z0-9_]{1,80})\{(.{0,3000})\} +([-+0-9.eEInfNa]{1,32})(?:\s|\Z)")
NUMBER = regex(r"\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,2})?")
CLOCK = regex(r"\s{0,8}\[?(\d\d):(\d\d)(?::(\d\d))?")
DAY = 86400.0
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
COMMENT = regex(r"#\s{0,4}(?:HELP|TYPE)\s{1,4}(?:DCGM_|dcgm_)")
LABEL = regex(r'([A-Za-z_]\w{0,63})="((?:[^"\\]|\\.){0,400})"')


def metrics(output: Output, about: Subject) -> Facts:
    """The samples in the order of the GPUs, and the summary."""
    found: dict[tuple[Key, float], dict[str, Any]] = {}
    errors = Errors(output.time)
    summary = Summary()
    cut = commented = False
    clock = output.time
    for number, line in enumerate(output.text.split("\n"), 1):
        line = line[:LINE].rstrip("\r")
        match = METRIC.match(line)
        if not match:
            commented |= bool(COMMENT.match(line))
            if other := SERIES.match(line):
                labels = dict(LABEL.findall(other[2]))
                summary.add(other[1], labels)
                where = Origin(output.origin_name(), number, line.strip())
                errors.add(key(labels, about), other[1], labels, [(clock, float(other[3]))] if NUMBER.fullmatch(other[3]) else [], where)
            continue
        name, text, value_text, moment = match.groups()
        clock = clock_of(line, clock, output.time)
        labels = dict(LABEL.findall(text))
        summary.add(name, labels)
        cut |= "..." in text
        who = key(labels, about)
        try:
            value = float(value_text)
        except ValueError:
            continue
        at = int(moment) / 1000 if moment else clock
        if any(who[1:4]) and math.isfinite(value):
            put_value(found.setdefault((who, at), {}), name, value, holder(labels))
            errors.add(who, name, labels, [(at, value)], Origin(output.origin_name(), number, line.strip()))
    if not summary.names:
        raise ParseError(f"{output.origin_name()}: no metrics of dcgm-exporter: {output.text[:120]!r}")
    source = output.origin_name()
    samples = [sample(who, moment, read, source) for (who, moment), read in sorted(found.items()) if read]
    # Without its comments the text went through grep or an editor, which may have left metrics out.
    whole = commented and not cut and len(summary.names) >= WHOLE
    there = summary.fact(place="exporter", whole=whole, source=source, node=about.node, namespace=about.namespace, pod=about.pod)
    return errors.facts() | {"gpu_samples": [*samples], "expositions": [there]}


def clock_of(line: str, before: float, read_at: float) -> float:
    """The moment that stands before a metric, that of the line before where none does. A clock alone is of the day of reading.

    >>> clock_of('14:10 DCGM_FI_…', 51000.0, 0.0), clock_of('00:10 DCGM_FI_…', 86000.0, 0.0), clock_of("DCGM_FI_…", 7.0, 7.0)
    (51000.0, 87000.0, 7.0)
    """
    if (dated := line_time(line)) is not None:
        return dated
    if not (match := CLOCK.match(line)):
        return before
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    moment = read_at - read_at % DAY + hours * 3600 + minutes * 60 + seconds
    return moment + DAY if moment + DAY / 2 < before else moment
