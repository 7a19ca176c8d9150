"""Port counters over the fabric: `perfquery` (classic, -x, -a, -l) and `ibqueryerrors`.

# Port counters: Lid 32 port 1 (CapMask: 0x5A00)
SymbolErrorCounter:..............0
Errors for "gpu-03 mlx5_0"
   GUID 0x98039b0300a1b2c3 port 1: [SymbolErrorCounter == 65535] [LinkDownedCounter == 3]
   Link info:    117    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>  0x… 4   12[  ] "leaf-1" ( )

Classic counters stay at their highest value, which is then a gap. `-x` has 64-bit counters, with errors only where the port has such.
Source: infiniband-diags in rdma-core.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbCounters, IbPort
from gpudoctor.knowledge.infiniband import BY_NAME, HARDWARE, LIFETIME
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.links import LINK, port_of
from gpudoctor.tools.infiniband.text import MOST, counters, guid, host_and_adapter, number
from gpudoctor.tools.parser import ParseError

# # Port counters: Lid 32 port 1 (CapMask: 0x5A00)  |  # Port extended counters: Lid 32 port 1 (CapMask: …)  |  # Port counters: DR path …
# # PortXmitDiscardDetails: Lid 64 port 12        (perfquery --xmtdisc)
HEAD = regex(
    r"(?:# ?)?Port ?(?:(?:extended speeds |extended |\w{3,24} )?counters|\w{3,24}Details): "
    r"(?:Lid (\d{1,6})|[^()]{0,80}?) port (\d{1,3}|ALL)\b",
    re.IGNORECASE,
)
# PortXmitData:....................648  |  VL15Dropped:.....................0x0a
VALUE = regex(r"([A-Z][A-Za-z0-9]{2,60}):\.+(\S{1,24})\s*$")
# symbol_error:812  |  counters/symbol_error:812  |  symbol_error 812: sysfs, from within its folder or by a loop
FILE = regex(r"(?:[\w./-]{0,120}/)?([a-zA-Z]\w{3,40})(?: {0,24}[:=] ?|\s{1,20})(\d{1,20})(?: \([\d.]{1,12}[KMGT]?B\))?\s*$")
# "gpu-04 mlx5_0" 0x98039b0300aa1122 port 1 (Since Tue Mar 10 12:00:01 2026)      (OpenSM's opensm_port_counters.log)
OPENSM = regex(r'"([^"]{1,120})" (0x[0-9a-f]{1,16}) port (\d{1,3}) \(Since ')
# # sleep 60; perfquery 19 24  |  root@gpu-12:…/hw_counters# sleep 30; grep . np_cnp_sent
PAUSE = regex(r"(?:^|[#$;] ?|&& )sleep (\d{1,5})\b")
NOT_COUNTERS = frozenset({"PortSelect", "CounterSelect", "CounterSelect2"})
# Errors for 0xb83fd20300c0ffee "leaf-1"  |  Errors for "gpu-03 mlx5_0"  |  Data Counters for 0x… "…"
NODE = regex(r"(Errors|Data Counters) for (?:0x([0-9a-f]{1,16}) )?\"([^\"]{0,200})\"")
#    GUID 0x98039b0300a1b2c3 port 1: [SymbolErrorCounter == 65535] [PortXmitData == 5000 (20.0KB)]
# GUID 0x9803... port 1: whoever quotes it shortens it
PORT = regex(r"\s*GUID (0x[0-9a-f]{1,16})(?:\.{2,3}|…)? port (\d{1,3}|ALL):(.*)$")
ERROR = regex(r"\[([A-Z][A-Za-z0-9]{2,60}) == (\d{1,20})\b")
SUMMARY = regex(r"## Summary: (\d{1,7}) nodes checked, (\d{1,7}) bad nodes found")


def perfquery(output: Output, about: Subject) -> Facts:
    """A record for each port of the answer. Counters without a heading are of one port until one of them comes again."""
    found: list[IbCounters] = []
    values: dict[str, int] = {}
    head: dict[str, Any] = {}
    seen = False
    argv = output.command.argv
    # root@gpu-12:…/hw_counters# sleep 30; grep . np_cnp_sent rp_cnp_handled
    later = int(argv[1][:5]) if argv[:1] == ("sleep",) and len(argv) > 1 and argv[1].isdecimal() else 0
    begun = (output.time or 0.0) + later or None

    def keep() -> None:
        if values and (seen or are_port_counters(values)) and len(found) < MOST:
            found.append(counters(values, **head))

    for at, line in lines(output):
        if (pause := PAUSE.search(line)) and values:  # the same port again
            keep()
            head |= {"time": (head["time"] or 0.0) + int(pause.group(1)), "origin": Origin(output.origin_name(), at, line.strip())}
            values, seen = {}, True
        elif match := HEAD.match(line.strip()):
            keep()
            seen = True
            values = {}
            port = int(match.group(2)) if match.group(2).isdecimal() else 0
            lid = int(match.group(1)) if match.group(1) else None
            head = {"lid": lid, "port": port, "time": output.time or None, "origin": Origin(output.origin_name(), at, line.strip())}
            head |= owner(output, about)
        elif match := OPENSM.match(line.strip()):
            keep()
            node, ca = host_and_adapter(match.group(1), about)
            origin, seen, values = Origin(output.origin_name(), at, line.strip()), True, {}
            head = {"node": node, "ca": ca, "guid": guid(match.group(2)), "port": int(match.group(3)), "time": output.time or None}
            head["origin"] = origin
        elif (match := value_of(line)) and match.group(1) not in NOT_COUNTERS:
            value = number(match.group(2))
            if not seen and (not values or match.group(1) in values):
                keep()
                values = {}
                origin = Origin(output.origin_name(), at, line.strip())
                head = {"ca": f"adapter {len(found) + 1}", "time": begun, "origin": origin}
            if value is not None and value < 1 << 64:
                values[match.group(1)] = value
    keep()
    return answer(found, [], seen or bool(found), output, about)


def value_of(line: str) -> re.Match[str] | None:
    """The name and the value of a counter, as a MAD's or as a file of sysfs."""
    text = line.strip()
    if match := VALUE.match(text):
        return match
    match = FILE.match(text)
    return match if match and (match.group(1) in BY_NAME or match.group(1) in HARDWARE) else None


def are_port_counters(names: Iterable[str]) -> bool:
    """Whether counters without their heading are those of a port: two names say so.

    >>> are_port_counters(["SymbolErrorCounter", "PortXmitWait"]), are_port_counters(["PortXmitWait"]), are_port_counters(["Name", "Value"])
    (True, False, False)
    """
    return sum(name in BY_NAME or name in HARDWARE for name in names) > 1


def owner(output: Output, about: Subject) -> dict[str, str]:
    """The node and adapter that a query names itself: `perfquery -C mlx5_0 -P 1` asks the adapter's own port, one with a lid another."""
    argv = output.command.argv
    own = len(argv) > 4 and argv[1] == "-C" and argv[3] == "-P" and len([word for word in argv if not word.startswith("-")]) == 3
    return {"node": about.node, "ca": argv[2]} if own else {}


def ibqueryerrors(output: Output, about: Subject) -> Facts:
    """A record for each port with errors, and the links that it shows beside them."""
    found: list[IbCounters] = []
    sums: dict[str, IbCounters] = {}  # of all ports of a switch, by its GUID
    links: list[IbPort] = []
    node: dict[str, Any] = {}
    seen = False
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if match := NODE.search(line):
            seen = True
            host, adapter = host_and_adapter(match.group(3))
            node = {"node": "", "ca": match.group(3)} if match.group(2) and match.group(1) == "Errors" else {"node": host, "ca": adapter}
        elif (match := PORT.match(line)) and len(found) + len(sums) < MOST:
            seen = True
            values = {name: int(value) for name, value in ERROR.findall(match.group(3)) if int(value) < 1 << 64}
            of, every = guid(match.group(1)), match.group(2) == "ALL"
            known = {"ca": of, **node, "port": 0 if every else int(match.group(2)), "time": output.time or None, "origin": origin}
            if every:
                sums.setdefault(of, counters(values, guid=of, **known))
            else:
                found.append(counters(values, guid=of, **known))
        elif found and (parts := {name: int(value) for name, value in ERROR.findall(line) if name in LIFETIME and int(value) < 1 << 64}):
            found[-1] = replace(found[-1], hardware=found[-1].hardware | parts)
        elif (match := LINK.match(line)) and node and len(links) < MOST:
            links.append(port_of(match, node["node"], node["ca"], "", origin))
        elif SUMMARY.search(line):
            seen = True
    apart = {one.guid for one in found}
    return answer([*found, *(one for one in sums.values() if one.guid not in apart)], links, seen, output, about)


def answer(found: list[IbCounters], links: list[IbPort], seen: bool, output: Output, about: Subject) -> Facts:
    """The facts of one answer, with what the tool complained of. Text of something else is an error."""
    said = output.stderr.decode("utf-8", "replace") + ("" if seen else "\n" + output.text[:65536])
    messages: list[Fact] = [*scan_text(said, source="log", about=about, origin=Origin(output.origin_name()))]
    if not seen and output.text.strip() and not messages and "ibwarn" not in said and "iberror" not in said:
        raise ParseError(f"{output.origin_name()}: no counters of InfiniBand ports: {output.text.strip()[:80]!r}")
    if not seen:
        return {"messages": messages} if messages else {}
    return {"ib_counters": [*found], "messages": messages, **({"ib_ports": [*links]} if links else {})}
