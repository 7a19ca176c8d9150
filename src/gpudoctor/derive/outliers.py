"""What stands out: a GPU against the equal GPUs of its node, a node against the other nodes of the run with the same GPUs.

A property stands out when more than half of at least three are equal and this one differs: of two that differ nobody can say which is
the odd one. A temperature stands out by the modified z-score (Iglewicz and Hoaglin 1993; NIST/SEMATECH e-Handbook 1.3.5.17), among
GPUs of the node that draw about the same power.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TypeVar

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.node import KernelModule, Outlier

# field → unit. What a node's GPUs share, or should.
PROPERTIES = {
    "driver_version": "",
    "vbios": "",
    "memory_total": " MiB",
    "sm_clock_max": " MHz",
    "power_limit": " W",
    "pcie_width": " lanes",
    "ecc_mode": "",
    "mig_mode": "",
    "persistence": "",
}
Key = TypeVar("Key")
FEWEST = 3  # that are compared
SCORE = 3.5  # Iglewicz and Hoaglin: a modified z-score beyond it is a potential outlier
SCALE = 0.6745  # the third quartile of the normal distribution, which makes the MAD a standard deviation
HOTTER = 10.0  # °C above the median before it is said at all: places in one chassis differ by several degrees (our choice)
MOST = 64  # GPUs of a node whose temperatures are compared
ALIKE = 0.10  # share by which the power of two GPUs may differ and still be called equal (our choice)


def find_outliers(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The outliers among the GPUs of each node, then among the nodes."""
    nodes: defaultdict[str, list[Gpu]] = defaultdict(list)
    for gpu in facts.get("gpus", []):
        if isinstance(gpu, Gpu):
            nodes[gpu.node].append(gpu)
    drivers = {
        module.node: module.version
        for module in facts.get("kernel_modules", [])
        if isinstance(module, KernelModule) and module.module == "nvidia" and module.version
    }
    made: list[Fact] = [one for gpus in nodes.values() for one in outliers_within_nodes(gpus)]
    return {"outliers": [*made, *outliers_between_nodes(nodes, drivers)]}


def outliers_within_nodes(gpus: Sequence[Gpu]) -> Iterator[Outlier]:
    """The outliers among the GPUs of one node, of each product by itself."""
    for peers in by_product(gpus).values():
        for field, unit in PROPERTIES.items():
            held = {number: text(gpu, field, unit) for number, gpu in enumerate(peers)}
            for number, value, usual, count in odd_values(held):
                yield outlier(peers[number], field, value, usual, count)
        yield from hot(peers)


def by_product(gpus: Iterable[Gpu]) -> dict[str, list[Gpu]]:
    """GPUs of one product; those whose product could not be read are left out."""
    made: defaultdict[str, list[Gpu]] = defaultdict(list)
    for gpu in gpus:
        if gpu.product:
            made[gpu.product].append(gpu)
    return made


def text(gpu: Gpu, field: str, unit: str = "") -> str:
    """A property as a person reads it, "" where it wasn't read."""
    value = getattr(gpu, field)
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}{unit}" if isinstance(value, float) else f"{value}{unit}" if value not in (None, "") else ""


def odd_values(held: Mapping[Key, str]) -> Iterator[tuple[Key, str, str, int]]:
    """Who holds another value than most: key, value, the usual value, how many hold that."""
    known = {key: value for key, value in held.items() if value}
    if len(known) < FEWEST:
        return
    usual, count = Counter(known.values()).most_common(1)[0]
    if 2 * count > len(known):
        yield from ((key, value, usual, count) for key, value in known.items() if value != usual)


def outlier(gpu: Gpu, field: str, value: str, usual: str, peers: int) -> Outlier:
    """A GPU that stands out on its node."""
    return Outlier(
        node=gpu.node,
        gpu=gpu.gpu,
        field=field,
        value=value,
        usual=usual,
        peers=peers,
        below=is_smaller(value, usual),
        among="node",
        origin=gpu.origin,
    )


def is_smaller(value: str, usual: str) -> bool | None:
    """Whether a value is the smaller number; None where the values are no numbers.

    >>> is_smaller("8 lanes", "16 lanes"), is_smaller("96.00.74.00.01", "96.00.89.00.01")
    (True, None)
    """
    try:
        return float(value.split()[0]) < float(usual.split()[0])
    except ValueError:
        return None


def hot(peers: Sequence[Gpu]) -> Iterator[Outlier]:
    """The GPUs that are hotter than those that draw about the same power."""
    peers = peers[:MOST]
    for gpu in peers:
        if gpu.temperature is None or not gpu.power:
            continue
        others = [
            other.temperature
            for other in peers
            if other is not gpu and other.temperature is not None and other.power and abs(other.power - gpu.power) <= ALIKE * gpu.power
        ]
        if len(others) < FEWEST:
            continue
        middle = median(others)
        spread = median(abs(other - middle) for other in others) or 1.0  # sensors count whole degrees
        if gpu.temperature - middle >= HOTTER and SCALE * (gpu.temperature - middle) / spread > SCORE:
            yield outlier(gpu, "temperature", f"{gpu.temperature} °C", f"{middle:g} °C at the same power", len(others))


def outliers_between_nodes(nodes: Mapping[str, Sequence[Gpu]], drivers: Mapping[str, str]) -> Iterator[Outlier]:
    """The outliers among the nodes whose GPUs are of one product. What a node's own GPUs don't agree on is said of these GPUs."""
    groups: defaultdict[str, dict[str, Sequence[Gpu]]] = defaultdict(dict)
    for node, gpus in nodes.items():
        products = {gpu.product for gpu in gpus if gpu.product}
        if node and len(products) == 1:
            groups[products.pop()][node] = gpus
    for members in groups.values():
        tables = {field: {node: shared_value(gpus, field, unit) for node, gpus in members.items()} for field, unit in PROPERTIES.items()}
        tables["driver_version"] = {node: value or drivers.get(node, "") for node, value in tables["driver_version"].items()}
        tables["count"] = {node: str(len(gpus)) for node, gpus in members.items()}
        for field, held in tables.items():
            for node, value, usual, count in odd_values(held):
                origin = members[node][0].origin
                less = is_smaller(value, usual)
                yield Outlier(node=node, field=field, value=value, usual=usual, peers=count, below=less, among="run", origin=origin)


def shared_value(gpus: Sequence[Gpu], field: str, unit: str) -> str:
    """The value that the GPUs of a node agree on, "" where they don't."""
    values = {value for gpu in gpus if (value := text(gpu, field, unit))}
    return values.pop() if len(values) == 1 else ""
