"""Counters of InfiniBand ports as Prometheus has them from node_exporter: its console, `promtool query`, the API's JSON.

> rate(node_infiniband_port_discards_transmitted_total[5m])
{device="mlx5_2", instance="gpu-17:9100", port="1"}   410.2
node_infiniband_link_downed_total{device="mlx5_2",instance="gpu-17:9100",port="1"} 3

A rate over a window is what two looks at the counter would give. Source: node_exporter, collector/infiniband_linux.go.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.parsers import ParseError
from gpudoctor.parsers.ib_text import MOST, counters
from gpudoctor.parsers.plain import lines
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

# The collector's name → sysfs'
NAMES = {
    "symbol_error": "symbol_error",
    "link_error_recovery": "link_error_recovery",
    "link_downed": "link_downed",
    "port_errors_received": "port_rcv_errors",
    "port_receive_remote_physical_errors": "port_rcv_remote_physical_errors",
    "port_discards_transmitted": "port_xmit_discards",
    "port_constraint_errors_received": "port_rcv_constraint_errors",
    "port_constraint_errors_transmitted": "port_xmit_constraint_errors",
    "local_link_integrity_errors": "local_link_integrity_errors",
    "excessive_buffer_overrun_errors": "excessive_buffer_overrun_errors",
    "vl15_dropped": "VL15_dropped",
    "port_transmit_wait": "port_xmit_wait",
}
NAME = regex(r"node_infiniband_(\w{3,60}?)(?:_total)?(?![\w])")
QUERY = regex(
    r"(?:(rate|irate|increase|delta|idelta|deriv)\s*\(\s*)?(node_infiniband_\w{3,60})(?:\{[^}]{0,200}\})?(?:\[(\d{1,6})([smhdw])\])?"
)
ROW = regex(r"\s*(node_infiniband_\w{3,60})?\{([^}]{1,600})\}(?:\s|=>)+([-+0-9.eE]{1,32})(?:\s*@.*|\s+\d{10,13})?\s*$")
LABEL = regex(r'(\w{1,40}) ?= ?"([^"]{0,200})"')
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
WINDOW = 300.0  # s, where a query doesn't show its own


class Asked(NamedTuple):
    """The counter that a query is about, and what it makes of it over which time."""

    name: str = ""
    function: str = ""
    span: float = WINDOW


def score(rows: Sequence[str]) -> int:
    """0 or 61: a series of the collector with a value, or a query and rows below it."""
    asked = False
    for row in rows:
        asked = asked or "node_infiniband_" in row
        if asked and ROW.match(row):
            return 61
    return 0


def series(output: Output, about: Subject) -> Facts:
    """The counters of each port, as one look for totals and as two for rates."""
    looks: defaultdict[tuple[str, str, str, float], dict[str, float]] = defaultdict(dict)
    places: dict[tuple[str, str, str, float], Origin] = {}
    for origin, asked, labels, value in rows(output):
        match = NAME.match(asked.name)
        name = NAMES.get(match[1], "") if match else ""
        span = 0.0 if not asked.function else asked.span
        if name and labels.get("device") and math.isfinite(value) and 0 <= value < 1 << 62 and len(looks) < MOST:
            key = labels.get("instance", "").rpartition(":")[0] or about.node, labels["device"], labels.get("port", "1"), span
            looks[key][name] = value * span if asked.function in ("rate", "irate", "deriv") else value
            if value or key not in places:
                places[key] = origin
    if not looks:
        raise ParseError(f"{output.named()}: no counters of InfiniBand in Prometheus' names: {output.text.strip()[:80]!r}")
    now = output.time
    made = []
    for (node, device, port, span), values in looks.items():
        about_port = {"node": node, "ca": device, "port": int(port) if port.isdecimal() and len(port) < 4 else 1}
        origin = places[node, device, port, span]
        if span:
            made.append(counters(dict.fromkeys(values, 0), time=now - span, origin=origin, **about_port))
        # more than a classic counter holds is what a 64-bit one has
        made.append(counters({name: round(value) for name, value in values.items()}, time=now, origin=origin, **about_port))
    return {"ib_counters": [*made]}


def rows(output: Output) -> Iterator[tuple[Origin, Asked, dict[str, str], float]]:
    """The values with their labels and the query that they answer."""
    asked = Asked()
    for at, line in lines(output):
        if match := ROW.match(line):
            one = Asked(match[1]) if match[1] else asked
            try:
                value = float(match[3])
            except ValueError:
                continue
            if one.name:
                yield Origin(output.named(), at, line.strip()), one, dict(LABEL.findall(match[2])), value
        elif query := QUERY.search(line):
            asked = Asked(query[2], query[1] or "", float(query[3]) * SECONDS[query[4]] if query[3] else WINDOW)
