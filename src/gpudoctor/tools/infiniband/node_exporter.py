"""Counters and states of InfiniBand ports as Prometheus has them from node_exporter: its console, `promtool query`, an exporter's page.

> rate(node_infiniband_port_discards_transmitted_total[5m])
{device="mlx5_2", instance="gpu-17:9100", port="1"}   410.2
node_infiniband_link_downed_total{device="mlx5_2",instance="gpu-17:9100",port="1"} 3
node_infiniband_vl15_dropped_total{device="mlx5_2", instance="gpu-17:9100", port="1"} =>
12 @[1741852800]
190 @[1741854600]

A rate over a window is what two looks at the counter would give. Source: node_exporter, collector/infiniband_linux.go.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.knowledge import infiniband
from gpudoctor.knowledge.port_titles import COUNTERS, meaning
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.text import MOST, counters
from gpudoctor.tools.parser import ParseError

# The collector's name → sysfs', where it isn't the same
NAMES = {
    "port_errors_received": "port_rcv_errors",
    "port_receive_remote_physical_errors": "port_rcv_remote_physical_errors",
    "port_discards_transmitted": "port_xmit_discards",
    "port_constraint_errors_received": "port_rcv_constraint_errors",
    "port_constraint_errors_transmitted": "port_xmit_constraint_errors",
    "port_transmit_wait": "port_xmit_wait",
    "switch_port_transmit_discards": "port_xmit_discards",  # treydock's exporter
    "switch_port_receive_errors": "port_rcv_errors",
}
# What isn't counted: numbers of sysfs' states, and the rate.
STATES = {"state_id": "state", "physical_state_id": "physical", "rate_bytes_per_second": "rate"}
STATE = {1: "Down", 2: "Initializing", 3: "Armed", 4: "Active"}
PHYSICAL = {2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery"}
# of node_exporter; of guilbaults' and treydock's exporters, which ask the fabric
SERIES = r"(?:node_)?infiniband_\w{3,60}"
NAME = regex(r"(?:node_)?infiniband_(\w{3,60}?)(?:_total)?(?![\w])")
QUERY = regex(rf"(?:(rate|irate|increase|delta|idelta|deriv)\s*\(\s*)?({SERIES})(?:\{{[^}}]{{0,200}}\}})?(?:\[(\d{{1,6}})([smhdw])\])?")
ROW = regex(rf"\s*({SERIES})?\{{([^}}]{{1,600}})\}}(?:\s|=>)+([-+0-9.eE]{{1,32}})(?:\s*@\[?([\d.]{{1,20}})?.*|\s+\d{{10,13}})?\s*$")
# node_infiniband_vl15_dropped_total{device="mlx5_2", …} =>      (promtool query range: the values stand below)
TITLE = regex(rf"\s*({SERIES})?\{{([^}}]{{1,600}})\}} =>\s*$")
POINT = regex(r"\s*([-+0-9.eE]{1,32}) @\[(\d{9,13}(?:\.\d{1,6})?)\]\s*$")
LABEL = regex(r'(\w{1,40}) ?= ?"([^"]{0,200})"')
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
WINDOW = 300.0  # s, where a query doesn't show its own


class Asked(NamedTuple):
    """The counter that a query is about, and what it makes of it over which time."""

    name: str = ""
    function: str = ""
    span: float = WINDOW


class Value(NamedTuple):
    """A value of a series; `time` where the answer has several of it."""

    origin: Origin
    asked: Asked
    labels: dict[str, str]
    value: float
    time: float | None = None


class Of(NamedTuple):
    """The port of a series, and one look at it: the window of its rate, or a moment."""

    node: str
    device: str
    port: int
    span: float
    time: float | None


def score(rows: Sequence[str], whole: str = "") -> int:
    """0 or 61: a series of the collector with a value, or a query and rows below it; 91 for Prometheus' JSON."""
    if whole.lstrip()[:1] == "{" and '"resultType"' in whole[:400]:
        return 91 if regex(rf'"__name__": ?"{SERIES}"').search(whole[:100_000]) else 0
    asked = False
    for row in rows:
        asked = asked or "infiniband_" in row
        if asked and (ROW.match(row) or TITLE.match(row)):
            return 61
    return 0


def series(output: Output, about: Subject) -> Facts:
    """The counters of each port, as one look for totals, as two for rates, as many as there are in a range; and the states."""
    looks: defaultdict[Of, dict[str, float]] = defaultdict(dict)
    places: dict[Of, Origin] = {}
    ports: defaultdict[tuple[str, str, int], dict[str, Any]] = defaultdict(dict)
    for origin, asked, labels, value, time in values(output):
        match = NAME.match(asked.name)
        name, device = sysfs_name(match[1]) if match else "", device_of(labels)
        if not name or not device or not math.isfinite(value) or not 0 <= value < 1 << 62 or len(looks) >= MOST:
            continue
        port = labels.get("port") or labels.get("local_port") or "1"
        numbered = int(port) if port.isdecimal() and len(port) < 4 else 1
        node = (labels.get("instance", "").rpartition(":")[0] if "device" in labels else "") or about.node
        if name in STATES.values():
            ports[node, device, numbered] |= port_property(name, value, origin)
            continue
        key = Of(node, device, numbered, asked.span if asked.function else 0.0, None if asked.function else time)
        grown = value * asked.span if asked.function in ("rate", "irate", "deriv") else value
        looks[key][name] = max(grown, looks[key].get(name, 0.0)) if asked.function else grown
        if value or key not in places:
            places[key] = origin
    if not looks and not ports:
        raise ParseError(f"{output.origin_name()}: no counters of InfiniBand in Prometheus' names: {output.text.strip()[:80]!r}")
    made = []
    for of, read in looks.items():
        origin, about_port = places[of], {"node": of.node, "ca": of.device, "port": of.port}
        now = output.time if of.time is None else of.time
        if of.span:
            made.append(counters(dict.fromkeys(read, 0), time=now - of.span, origin=origin, **about_port))
        # more than a classic counter holds is what a 64-bit one has
        made.append(counters({name: round(value) for name, value in read.items()}, time=now, origin=origin, **about_port))
    found = [IbPort(node=node, ca=ca, port=port, own=True, **said) for (node, ca, port), said in ports.items() if "state" in said]
    facts: Facts = {"ib_counters": [*made], "ib_ports": [*found]}
    return {name: records for name, records in facts.items() if records}


def sysfs_name(name: str) -> str:
    """Sysfs' name for an exporter's, or the property of a port; "" for anything else.

    >>> sysfs_name("vl15_dropped"), sysfs_name("portxmitdiscards"), sysfs_name("state_id"), sysfs_name("info")
    ('vl15_dropped', 'port_xmit_discards', 'state', '')
    """
    if name in NAMES or name in STATES or name in infiniband.BY_NAME:
        return NAMES.get(name) or STATES.get(name) or name
    of = meaning(name.removeprefix("switch_").removeprefix("hca_"))
    return of if of in COUNTERS else ""


def device_of(labels: dict[str, str]) -> str:
    """The adapter, or the switch, that a series is of."""
    return next((labels[name] for name in ("device", "local_name", "hca", "switch", "guid", "local_guid") if labels.get(name)), "")


def port_property(name: str, value: float, origin: Origin) -> dict[str, Any]:
    """A property of a port by its number."""
    if name == "rate":
        return {"rate": round(value * 8 / 1e9, 1)}
    read = (STATE if name == "state" else PHYSICAL).get(int(value), "")
    return {name: read, "origin": origin} if name == "state" else {name: read}


def values(output: Output) -> Iterator[Value]:
    """The values with their labels and the query that they answer."""
    if output.text.lstrip()[:1] == "{":
        yield from of_json(output)
        return
    asked, labels = Asked(), dict[str, str]()
    last = None
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if match := ROW.match(line):
            one, last = Asked(match[1]) if match[1] else asked, None
            if one.name and (value := real_number(match[3])) is not None:
                yield Value(origin, one, dict(LABEL.findall(match[2])), value)
        elif match := TITLE.match(line):
            last = Asked(match[1]) if match[1] else asked
            labels = dict(LABEL.findall(match[2]))
        elif last and (match := POINT.match(line)):
            if last.name and (value := real_number(match[1])) is not None:
                yield Value(origin, last, labels, value, float(match[2]))
        elif query := QUERY.search(line):
            asked, last = Asked(query[2], query[1] or "", float(query[3]) * SECONDS[query[4]] if query[3] else WINDOW), None


def of_json(output: Output) -> Iterator[Value]:
    """The same of the API's JSON, of one moment or of a range."""
    try:
        answer = msgspec.json.decode(output.text)
    except (msgspec.DecodeError, RecursionError):
        return
    data = answer.get("data") if isinstance(answer, dict) else None
    result = data.get("result") if isinstance(data, dict) else None
    for one in result if isinstance(result, list) else []:
        metric = one.get("metric") if isinstance(one, dict) else None
        if not isinstance(metric, dict):
            continue
        labels = {str(name): str(value) for name, value in metric.items()}
        points = one.get("values") if isinstance(one.get("values"), list) else [one.get("value")]
        for point in points[:MOST]:
            if (
                isinstance(point, list)
                and len(point) == 2
                and isinstance(point[0], int | float)
                and (value := real_number(str(point[1]))) is not None
            ):
                origin = Origin(output.origin_name(), 0, f"{labels.get('__name__', '')} {labels.get('device', '')} {point[1]}"[:200])
                yield Value(origin, Asked(labels.get("__name__", "")), labels, value, float(point[0]) if len(points) > 1 else None)


def real_number(text: str) -> float | None:
    """The number in a text, None where there is none."""
    try:
        return float(text[:40])
    except ValueError:
        return None
