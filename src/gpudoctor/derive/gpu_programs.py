"""Who has the memory of each GPU: the programs that the driver lists on it, side by side and over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from gpudoctor.derive.gpu_use import COMPUTE
from gpudoctor.derive.job_ranks import of_type
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import GpuProcess
from gpudoctor.facts.stall import GpuPrograms
from gpudoctor.knowledge.trend import climb, steady_rise

HOME = 4  # times the memory that a program has on a GPU, on another one: this is its own, and here it only has a context (our choice)
Key = tuple[str, str]


def programs(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A record for each GPU on which a program has memory."""
    held: dict[Key, dict[int, list[GpuProcess]]] = defaultdict(lambda: defaultdict(list))
    for one in of_type(facts.get("gpu_processes", []), GpuProcess):
        if one.kind in COMPUTE and one.memory is not None:
            held[one.node, one.gpu][one.pid].append(one)
    places: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for (node, gpu), own in held.items():
        for pid, readings in own.items():
            places[node, pid][gpu] = readings[-1].memory or 0
    return {"gpu_programs": [of_gpu(key, own, places) for key, own in held.items() if own]}


def of_gpu(key: Key, own: Mapping[int, list[GpuProcess]], places: Mapping[tuple[str, int], Mapping[str, int]]) -> GpuPrograms:
    """One GPU."""
    node, gpu = key
    last = {pid: readings[-1] for pid, readings in own.items()}
    largest = max(last.values(), key=lambda one: one.memory or 0)
    memory = largest.memory or 0
    readings = own[largest.pid]
    values = [float(one.memory) for one in readings if one.memory is not None]
    times = [one.time for one in readings if one.time is not None]
    strangers = [pid for pid, one in last.items() if max(places[node, pid].values()) > HOME * max(1, one.memory or 0)]
    return GpuPrograms(
        node=node,
        gpu=gpu,
        uuid=largest.uuid,
        pci=largest.pci,
        programs=len(last),
        pid=largest.pid,
        process=largest.process,
        memory=memory,
        others=sum(one.memory or 0 for one in last.values()) - memory,
        strangers=len(strangers),
        spread=sum(len(places[node, pid]) > 1 for pid in last),
        gpus=len(places[node, largest.pid]),
        seconds=max(times) - min(times) if times else 0.0,
        memory_rise=steady_rise(values) if len(times) == len(values) else None,
        memory_climb=climb(values) if len(times) == len(values) else None,
        origin=largest.origin,
        time=largest.time,
    )
