"""What an answer of Prometheus says of the errors of GPUs: of now, of before (`offset`), or over time.

{"metric":{"__name__":"DCGM_FI_DEV_XID_ERRORS","UUID":"GPU-…","gpu":"3","pci_bus_id":"00000000:3B:00.0","Hostname":"gpu-02",…},"value":[1772366400,"79"]}
DCGM_EXP_XID_ERRORS_COUNT{gpu="3",UUID="GPU-…",…,window_size_in_ms="300000",xid="79"} 1
"""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.gpu_errors import Errors
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus import range as of_range
from gpudoctor.tools.prometheus.api import duration
from gpudoctor.tools.prometheus.rows import unescape_query

# {__name__=~"…"} offset 3600s  |  … offset 1h
OFFSET = regex(r"\boffset (\d{1,7}(?:s|m|h|d))\b")


def errors(output: Output, about: Subject) -> Facts:
    """The errors in an answer of Prometheus. Raises `ParseError` where one that was just asked shows no GPU, or none of now."""
    read = collect(output, about)
    made = read.facts()
    if not read.began and not read.ago and not output.source:
        raise ParseError(f"{output.origin_name()}: Prometheus has no series of a GPU for this query", made)
    return made


def answer(output: Output, about: Subject) -> Facts:
    """All that an answer says, which somebody has kept: samples and errors."""
    return of_range.samples(output, about) | collect(output, about).facts()


def collect(output: Output, about: Subject) -> Errors:
    """The series of an answer."""
    asked = OFFSET.search(unescape_query(" ".join(output.command.argv)[:5000].replace("%20", " ")))
    read = Errors(output.time, duration(asked[1]) or 0.0 if asked else 0.0)
    for series in of_range.all_series(output):
        name = series.metric.get("__name__", "")
        points = sorted(of_range.points(series))
        where = Origin(output.origin_name(), 0, quote(name, series.metric, points[-1][1]) if points else name)
        read.add(of_range.key(series.metric, about), name, series.metric, points, where)
    return read


def quote(name: str, labels: Mapping[str, str], value: float) -> str:
    """A series as an exporter prints it, with the labels that name the GPU.

    >>> quote("DCGM_FI_DEV_XID_ERRORS", {"gpu": "3", "UUID": "GPU-1", "job": "dcgm"}, 79.0)
    'DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-1"} 79'
    """
    shown = ",".join(f'{label}="{labels[label]}"' for label in ("Hostname", "gpu", "UUID", "pci_bus_id", "xid") if labels.get(label))
    return f"{name}{{{shown}}} {value:g}"[:1000]
