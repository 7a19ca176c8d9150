"""Prometheus' JSON for a range (or instant) query over dcgm-exporter's metrics → a GpuSample for each GPU and moment.

{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","UUID":"GPU-…","gpu":"0",
"pci_bus_id":"00000000:1B:00.0","modelName":"NVIDIA H100 80GB HBM3","Hostname":"gpu-02",…},"values":[[1772366400,"31"],…]}]}}
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.knowledge import dcgm_fields
from gpudoctor.knowledge.clock_reasons import from_mask
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.gpu_errors import Key, names
from gpudoctor.tools.parser import ParseError

WHOLE = ("pstate", "ecc_corrected")  # fields that are integers
SERIES = 200_000  # that are read; 2,000 GPUs have 12 each
STALE = (
    300.0  # s for which Prometheus goes on with the last value of a series: https://prometheus.io/docs/prometheus/latest/querying/basics/
)
# dcgm-exporter says Hostname; a Prometheus that relabels says node, or puts `exported_` before what a target label hides
HOSTS = ("Hostname", "hostname", "exported_hostname", "node", "kubernetes_node", "nodename")


class Series(msgspec.Struct, frozen=True):
    """One series, with its points or its one point."""

    metric: dict[str, str] = {}
    values: list[Any] = []
    value: Any = None


class _Data(msgspec.Struct, frozen=True):
    result: list[msgspec.Raw] = []


class _Answer(msgspec.Struct, frozen=True):
    status: str = ""
    data: _Data | None = None


def samples(output: Output, about: Subject) -> Facts:
    """The samples in the order of GPU and time. A series or a point that can't be read is left out."""
    found: dict[tuple[Key, float], dict[str, Any]] = {}
    for series in all_series(output):
        name = series.metric.get("__name__", "")
        who = key(series.metric, about)
        if not any(who[1:4]):
            continue
        owner = holder(series.metric)
        for moment, value in points(series):
            put_value(found.setdefault((who, moment), {}), name, value, owner)
    source = output.origin_name()
    facts: Facts = {"gpu_samples": [sample(who, moment, read, source) for (who, moment), read in sorted(found.items()) if read]}
    if why := why_outdated(found, output):
        raise ParseError(f"{source}: {why}", facts)
    return facts


def all_series(output: Output) -> Iterator[Series]:
    """The series of an answer that can be read. Raises `ParseError` for what is no answer."""
    try:
        answer = decoder(_Answer).decode(b"".join(output.pages))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ParseError(f"{output.origin_name()}: not an answer of Prometheus: {output.text[:120]!r}") from None
    if answer.status != "success" or answer.data is None:
        raise ParseError(f"{output.origin_name()}: Prometheus has no answer: {output.text[:120]!r}")
    for raw in answer.data.result[:SERIES]:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            yield decoder(Series).decode(raw)


def why_outdated(found: Iterable[tuple[Key, float]], output: Output) -> str:
    """Why the answer to a query that was just asked says nothing of now, "" where it does. What people keep in files has its own time."""
    if output.command.argv[:1] != ("promql",) or not output.time:
        return ""
    newest: dict[Key, float] = {}
    for who, moment in found:
        newest[who] = max(moment, newest.get(who, 0.0))
    over = [output.time - moment for moment in newest.values() if output.time - moment > STALE]
    if not newest:
        return "Prometheus has no series of a GPU for this query"
    return f"{len(over)} of {len(newest)} series of GPUs ended {max(over) / 60:.0f} min ago" if over else ""


def key(labels: dict[str, str], about: Subject) -> Key:
    """Which GPU a series is of."""
    node = next((labels[name] for name in HOSTS if labels.get(name)), about.node)
    return (
        node[:253],
        labels.get("UUID", "")[:60],
        pci.canonical(labels.get("pci_bus_id", "")),
        labels.get("gpu", "")[:4],
        product(labels),
    )


def product(labels: dict[str, str]) -> str:
    """The GPU's name."""
    return labels.get("modelName", "")[:100]


def points(series: Series) -> Iterator[tuple[float, float]]:
    """The moments and values that are finite numbers."""
    return ((at, value) for at, value in all_points(series) if math.isfinite(value) and abs(value) < 2**63)


def all_points(series: Series) -> Iterator[tuple[float, float]]:
    """The moments and values, NaN and infinity among them."""
    for point in series.values or [series.value]:
        try:
            moment, text = point
            value, at = float(text), float(moment)
        except (TypeError, ValueError, OverflowError):
            continue
        if math.isfinite(at):
            yield at, value


def holder(labels: dict[str, str]) -> str:
    """The pod that has the GPU, as NAMESPACE/POD. Where Prometheus adds its target's own labels, those of the exporter become `exported_`.

    >>> holder({"exported_pod": "train-0", "exported_namespace": "ml", "pod": "dcgm-exporter-x7"}), holder({"pod": "dcgm-exporter-x7"})
    ('ml/train-0', '')
    """
    for prefix in ("exported_", ""):
        pod = labels.get(f"{prefix}pod", "") or labels.get(f"{prefix}pod_name", "")
        if pod and "dcgm-exporter" not in pod:
            return f"{labels.get(f'{prefix}namespace', '')}/{pod}"[:317]
    return ""


def put_value(read: dict[str, Any], metric: str, value: float, owner: str = "") -> None:
    """One value into the fields of a sample; what is no measurement of a GPU is left out."""
    known = dcgm_fields.find_field(metric)
    if known is None:
        return
    if owner:
        read["holder"] = owner
    field = dcgm_fields.SAMPLE.get(known.id)
    if field == "reasons":
        read.setdefault(field, from_mask(int(value)) if value >= 0 else None)
    elif field:
        read.setdefault(field, int(value) if field in WHOLE else value)
    elif reason := dcgm_fields.THROTTLED.get(known.id):
        read.setdefault("throttled", {}).setdefault(reason, value * dcgm_fields.NANOSECONDS)


def sample(who: Key, moment: float, read: dict[str, Any], source: str) -> GpuSample:
    """One sample with its names."""
    said = [f"{name}={value:g}" for name, value in read.items() if isinstance(value, float | int)]
    where = Origin(source, 0, " ".join([*said, *(read.get("reasons") or ())]))
    return GpuSample(**names(who), time=moment, origin=where, seen_by="DCGM", **read)
