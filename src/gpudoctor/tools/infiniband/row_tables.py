"""Ports, counters and interfaces out of the rows that people print of them (see `ib_rows`).

A port that comes again was looked at again: its counters make a series, and a state that leaves Active and comes back is a link that went
down. A table of differences is two looks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbCounters, IbPort, Interface
from gpudoctor.knowledge import infiniband
from gpudoctor.knowledge.infiniband import WORD
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.row_columns import DEVICE, Row, parse_rows
from gpudoctor.tools.infiniband.text import counters, number, rate
from gpudoctor.tools.parser import ParseError

# python3 watch.py --interval 10  |  sleep 60  |  every 10s  |  interval 30s, deltas
INTERVAL = regex(r"(?:\binterval[= :]{1,3}|\bsleep |\bevery |\bwatch -d?n ?)(\d{1,5})(?: ?(s|sec|seconds?|min|m)\b)?", 2)
# ibdelta.py, deltas; but no host of a cluster that is called delta
DIFFERENCES = regex(r"(?<!@)deltas?(?![\w-]|\.(?!py|sh))|\bdiffs?\b|differences?\b|increments?\b|growth|Δ|per second", 2)
# mlx5_2 4: ACTIVE 100 Gb/sec (4X EDR) Ethernet  (a loop over what sysfs says of a port)
LAYER = regex(r"\b(?:InfiniBand|Ethernet)\b")
UP, NOT_UP = {"up", "active", "running", "connected"}, {"down", "lowerlayerdown", "disconnected", "lower-layer-down"}


class Key(NamedTuple):
    """What tells one port from another."""

    node: str
    ca: str
    port: int


def score(texts: Sequence[str], whole: str) -> int:
    """0 or 56: two ports, or one of which much is said, or one several times."""
    found = parse_rows([*enumerate(texts, 1)], whole)
    if not found:
        return 0
    several = len({row.ca for row in found}) > 1 or len(found) > 2
    much = any(len(row.counts) > 2 or len(row.said.keys() & {"state", "physical", "rate", "sm_lid", "sm", "ip"}) > 1 for row in found)
    return 56 if several or much else 0


def table(output: Output, about: Subject) -> Facts:
    """The facts of all rows."""
    texts = [*lines(output)]
    found = parse_rows(texts, output.text[:8_000_000])
    if not found:
        raise ParseError(f"{output.origin_name()}: no rows of RDMA ports: {output.text.strip()[:80]!r}")
    mine = {row.line for row in found}
    around = " ".join([*output.command.argv, *(text for at, text in texts if at not in mine)][:200])
    grown = any(row.grown for row in found) or DIFFERENCES.search(around) is not None
    every = INTERVAL.search(around)
    span = float(every[1]) * (60.0 if (every[2] or "").startswith("m") else 1.0) if every else 0.0
    named = DEVICE.search(around)
    looks: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in found:
        port = number(row.said.get("port", "")) or 1
        node = row.said.get("node", "") or about.node
        looks[Key(node, row.ca or (named[1] if named else "adapter 1"), port if port < 1000 else 1)].append(row)
    ports, interfaces, counted = [], [], list[IbCounters]()
    for key, its in looks.items():
        counted += as_two_looks(key, its, span, output) if grown else series(key, its, span, output)
        if one := interface_of(key, its[-1], about, output):
            interfaces.append(one)
        if "state" in its[-1].said or "rate" in its[-1].said or (one and "physical" in its[-1].said):
            ports.append(port_of(key, its[-1], output))
    made: Facts = {"ib_ports": [*(one for one in ports if one.state)], "ib_counters": [*counted], "interfaces": [*interfaces]}
    return {name: facts for name, facts in made.items() if facts}


def port_of(key: Key, row: Row, output: Output) -> IbPort:
    """The port of a row. One of which no more than the rate is shown is up: it is none of those without a link."""
    said = row.said
    word = said.get("state", "").strip()
    physical = infiniband.physical(said.get("physical", "")) or infiniband.physical(word)
    state = infiniband.state(word) or (
        "Active" if word.lower() in UP else "Down" if word.lower() in NOT_UP | {"polling", "disabled"} else ""
    )
    speed = rate(said.get("rate", "").strip()) or bare_rate(said.get("rate", ""))
    net = said.get("interface", "").strip()
    net = net if net and net[0].isalpha() else ""
    if not state and not word and speed.get("rate", 0.0) > 40.0:
        state = "Active"
    layer = infiniband.layer(said.get("layer", "") or next(iter(LAYER.findall(row.text)), ""))
    known: dict[str, Any] = {name: read for name in ("lid", "sm_lid") if (read := number(said.get(name, ""))) is not None and read < 65536}
    return IbPort(
        node=key.node,
        ca=key.ca,
        port=key.port,
        state=state,
        physical=physical,
        link_layer=layer or ("InfiniBand" if net.startswith("ib") else ""),
        interface=net[:32],
        own=True,
        origin=Origin(output.origin_name(), row.line, row.text),
        **speed,
        **known,
    )


def bare_rate(text: str) -> dict[str, Any]:
    """A rate as people shorten it.

    >>> bare_rate("200G HDR"), bare_rate("400Gbps"), bare_rate("x16")
    ({'rate': 200.0}, {'rate': 400.0}, {})
    """
    digits = text.strip().partition(" ")[0].rstrip("GgbBps/ec")
    return {"rate": float(digits)} if digits.isdecimal() and 0 < len(digits) < 5 else {}


def interface_of(key: Key, row: Row, about: Subject, output: Output) -> Interface | None:
    """The network interface that a row names with its own state."""
    net, word = row.said.get("interface", "").strip(), row.said.get("ip", "").strip().lower()
    if not net or not net[0].isalpha() or not (word in UP or word in NOT_UP):
        return None
    layer = infiniband.layer(row.said.get("layer", ""))
    return Interface(
        node=key.node or about.node,
        interface=net[:40],
        state="up" if word in UP else "down",
        kind="infiniband" if layer == "InfiniBand" or net.startswith("ib") else "",
        ca=key.ca,
        port=key.port,
        origin=Origin(output.origin_name(), row.line, row.text),
    )


def series(key: Key, its: list[Row], span: float, output: Output) -> list[IbCounters]:
    """Each look at a port's counters, and how often its state left Active between two of them."""
    begun = output.time
    times = [begun + (span * at if row.clock is None else seconds_after(row.clock, its[0].clock)) for at, row in enumerate(its)]
    states = [infiniband.state(row.said.get("state", "")) for row in its]
    left = sum(one == "Active" and other not in ("Active", "") for one, other in pairwise(states))
    made = [look(key, row, row.counts, row.traffic, time, output) for row, time in zip(its, times, strict=True) if row.counts]
    watched = span > 0 or any(row.clock is not None for row in its)
    if left and watched and "Active" in states[1:] and not made:
        gone = next(
            row for row, (one, other) in zip(its[1:], pairwise(states), strict=True) if one == "Active" and other not in ("Active", "")
        )
        made = [look(key, gone, {"link_downed": count}, {}, time, output) for count, time in ((0, times[0]), (left, times[-1]))]
    return made


def seconds_after(clock: float, first: float | None) -> float:
    """Seconds since the first row, over midnight too."""
    return (clock - first) % 86400.0 if first is not None else 0.0


def as_two_looks(key: Key, its: list[Row], span: float, output: Output) -> list[IbCounters]:
    """Differences as two looks: what was counted in all rounds, and nothing before."""
    counts: dict[str, int] = {}
    traffic: dict[str, float] = {}
    for row in its:
        for name, value in row.counts.items():
            counts[name] = counts.get(name, 0) + value
        for name, volume in row.traffic.items():
            traffic[name] = traffic.get(name, 0.0) + (volume * span if row.each_second else volume)
    if not counts:
        return []
    worst = max(its, key=lambda row: sum(row.counts.values()))
    before = look(key, worst, dict.fromkeys(counts, 0), dict.fromkeys(traffic, 0.0), output.time - span * len(its), output)
    return [before, look(key, worst, counts, traffic, output.time, output)]


def look(key: Key, row: Row, counts: dict[str, int], traffic: dict[str, float], time: float, output: Output) -> IbCounters:
    """One look at a port's counters."""
    words = {f"port_{way}_data": round(volume / WORD) for way, volume in traffic.items() if volume < 1e30}
    origin = Origin(output.origin_name(), row.line, row.text)
    return counters({**counts, **words}, origin=origin, node=key.node, ca=key.ca, port=key.port, time=time)
