"""What the report draws: temperature and SM clock of the GPUs that were watched, those that throttled before their neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.derive.throttling import by_gpu
from gpudoctor.derive.throttling_sources import clock_is_held_down
from gpudoctor.engine.store import Store
from gpudoctor.facts.gpu import Gpu, GpuSample, Throttling
from gpudoctor.report import Series

LINES = 8  # GPUs that are drawn: as many as a machine has, and as many as an eye tells apart
MOMENTS = 3  # with fewer there is no course of time to see
POINTS = 600  # of one line; a longer one is thinned
DRAWN = (("sm_clock", "SM clock", "MHz"), ("temperature", "Temperature", "°C"))


def of_store(store: Store) -> list[Series]:
    """The lines that a report shows, none when nothing was watched."""
    samples = [one for one in store.records("gpu_samples") if isinstance(one, GpuSample) and one.time is not None]
    gpus = [one for one in store.records("gpus") if isinstance(one, Gpu)]
    measured = {(one.node, one.gpu): one for one in store.records("throttling") if isinstance(one, Throttling)}
    watched = [(series_for_gpu(own, measured), own) for own in by_gpu(samples, gpus) if len({sample.time for sample in own}) >= MOMENTS]
    chosen = sorted(watched, key=lambda pair: order(pair[0]))[:LINES]
    return [line for field, title, unit in DRAWN for line in lines(chosen, field, title, unit)]


def series_for_gpu(samples: Sequence[GpuSample], measured: dict[tuple[str, str], Throttling]) -> Throttling:
    """What was measured of the GPU of some samples."""
    names = (name for sample in samples for name in (sample.uuid, sample.pci, sample.gpu))
    first = samples[0]
    known = (measured[first.node, name] for name in names if (first.node, name) in measured)
    return next(known, Throttling(node=first.node, gpu=first.gpu, index=first.index))


def order(one: Throttling) -> tuple[bool, float, float, str, int]:
    """Those that throttle first, then what loses most, then the hottest."""
    return (not is_slowed(one), -(one.loss or 0.0), -(one.temperature or 0.0), one.node, one.index or 0)


def is_slowed(one: Throttling) -> bool:
    """Whether the report is about this GPU's clock: something holds it down, or it falls as the card warms."""
    return clock_is_held_down(one) or one.fell is not None


def lines(chosen: Sequence[tuple[Throttling, list[GpuSample]]], field: str, title: str, unit: str) -> Iterator[Series]:
    """One quantity of the chosen GPUs."""
    for one, samples in chosen:
        read = {sample.time: value for sample in samples if sample.time is not None and (value := getattr(sample, field)) is not None}
        points = [(moment, float(value)) for moment, value in sorted(read.items())]
        if len(points) >= MOMENTS:
            name = f"{one.node} GPU {one.index}".strip() if one.index is not None else f"{one.node} {one.gpu}".strip()
            yield Series(title=title, unit=unit, name=name, points=points[:: 1 + len(points) // POINTS], marked=is_slowed(one))
