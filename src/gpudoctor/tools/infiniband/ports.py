"""The ports of a host's adapters, as `ibstat`, `ibstatus`, `ibv_devinfo [-v]` and a listing of /sys/class/infiniband show them.

All four say the same of a port in other words, so one parser reads them all; the listing also has counters and GIDs (see `ib_sysfs`).
What the tools print on stderr (`ibpanic: … stat of IB device 'mlx5_2' failed`) are known messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.facts.kubernetes import Message
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_lines, scan_text
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband import sysfs
from gpudoctor.tools.infiniband.text import MOST, guid, number, rate
from gpudoctor.tools.parser import ParseError

# CA 'mlx5_0'  |  CA: 'mlx5_0' (of one port)  |  hca_id: mlx5_0  |  Infiniband device 'mlx5_0' port 1 status:
HEADS = regex(r"(?:CA:? '([^']{1,64})'|hca_id:\s*(\S{1,64})|[Ii]nfini[Bb]and device '([^']{1,64})' port (\d{1,3}) status:)")
ADAPTER = regex(rf"\s*{HEADS.pattern}")
TOOLS = ("ibstat", "ibstatus", "ibv_devinfo", "cat")
# 4: ACTIVE
BARE = regex(r"[1-5]: (ACTIVE|DOWN|INIT|ARMED)\Z")
# 400 Gb/sec (4X NDR)                           (cat …/ports/1/rate)
BARE_RATE = regex(r"\d{1,5}(?:\.\d)? Gb/sec \(\d{1,2}X [A-Z]{3,4}\d{0,2}\)\Z")
RESTING = 40.0  # Gb/s: no more is shown of a port without a link (10, 4X SDR; of Ethernet 40, 4X QDR)
# 0x8042                                        (cat …/pkeys/0)
KEY = regex(r"0x[0-9a-f]{4}")
# Port 1:  |  port:   1
PORT = regex(r"\s*[Pp]ort:?\s+(\d{1,3}):?\s*$")
# State: Active  |  phys state:      5: LinkUp  |  fw_ver:    28.39.1002  |  GID[  0]:   fe80:…
FIELD = regex(r"\s*([A-Za-z][\w ]{0,24}?(?:\[ {0,2}\d{1,3}\])?):\s+(\S.{0,120}?)\s*$")
# What each tool calls a field of the adapter, and of the port.
OF_ADAPTER = {"ca type": "ca_type", "firmware version": "firmware", "fw_ver": "firmware", "board_id": "board"}
OF_PORT = {
    "state": "state",
    "physical state": "physical",
    "phys state": "physical",
    "phys_state": "physical",
    "rate": "rate",
    "base lid": "lid",
    "port_lid": "lid",
    "sm lid": "sm_lid",
    "sm_lid": "sm_lid",
    "port guid": "guid",
    "link layer": "link_layer",
    "link_layer": "link_layer",
    "active_mtu": "mtu",
    "active_width": "width",
    "active_speed": "speed",
    "default gid": "gid",
    "gid[  0]": "gid",
}
ANSWER = regex(r"No IB devices found|No devices|can't (?:init UMAD|list IB device|open UMAD)|ibpanic|ibwarn|[Ff]ailed|rror")


def ports(output: Output, about: Subject) -> Facts:
    """A record for each port; counters and GIDs too where the answer is a listing of sysfs."""
    if sysfs.is_listing(output):
        found_there = sysfs.listing(output, about)
        keys = scan_lines(output, about, source="log") if "/pkeys/" in output.text[:400_000] else []
        return found_there | ({"messages": [*keys]} if keys else {})
    if of_partition(output.command.argv):
        return {"messages": [*partitions(output, about)]}
    found: list[IbPort] = []
    adapter: dict[str, Any] = {}
    port: dict[str, Any] = {}
    saw_adapter = False
    # `ibstat | grep State` and `ibv_devinfo -d mlx5_0 | grep state` leave ports without their adapters' names
    # so does `cat /sys/class/infiniband/*/ports/1/state`
    unnamed = bool(output.command.argv) and output.command.argv[0] in TOOLS and not HEADS.search(output.text)
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if unnamed and (match := BARE.match(line.strip()) or BARE_RATE.match(line.strip())):
            read = {"state": infiniband.state(match.group(1))} if match.lastindex else rate(line)
            keep(found, {"ca": f"adapter {len(found) + 1}"}, {"port": 1, "origin": origin, **read}, about)
            saw_adapter = True
        elif match := ADAPTER.match(line):
            keep(found, adapter, port, about)
            saw_adapter = True
            adapter, port = {"ca": match.group(1) or match.group(2) or match.group(3)}, {}
            if match.group(4):
                port = {"port": int(match.group(4)), "origin": origin}
        elif adapter and (match := PORT.match(line)):
            keep(found, adapter, port, about)
            port = {"port": int(match.group(1)), "origin": origin}
        elif (adapter or unnamed) and (match := FIELD.match(line)):
            name = match.group(1).lower()
            # `… | sort` may put another field before the state, `… | grep Rate` leaves no state at all
            if unnamed and name in OF_PORT and (not adapter or OF_PORT[name] in port):
                keep(found, adapter, port, about)
                adapter, port = {"ca": requested_adapter(output.command.argv) or f"adapter {len(found) + 1}"}, {"port": 1, "origin": origin}
                saw_adapter = True
            set_field(adapter, port, match.group(1).lower(), match.group(2), origin)
    keep(found, adapter, port, about)
    said = output.stderr.decode("utf-8", "replace") + "\n" + output.text[:65536]
    messages: list[Fact] = [*scan_text(said, source="log", about=about, origin=Origin(output.origin_name()))]
    if not saw_adapter and output.text.strip() and not messages and not ANSWER.search(said):
        raise ParseError(f"{output.origin_name()}: no ports of InfiniBand: {output.text.strip()[:80]!r}")
    # An adapter that isn't there is an answer; a tool that was not let in isn't.
    none = "No IB devices found" in said or "No devices" in said or (output.exit == 0 and not messages)
    told: Facts = {"ib_ports": [*found]} if saw_adapter or none else {}
    return told | ({"messages": messages} if messages or saw_adapter else {})


def of_partition(argv: Sequence[str]) -> bool:
    """Whether somebody prints a partition key of a port."""
    return argv[:1] == ("cat",) and any("/sys/class/infiniband/" in word and "/pkeys/" in word for word in argv)


def partitions(output: Output, about: Subject) -> Iterator[Message]:
    """Each key, as the line of sysfs that names its file too would say it."""
    for at, line in lines(output):
        if KEY.fullmatch(line.strip()):
            yield from scan_text(
                f"pkeys/0:{line.strip()}", source="log", about=about, origin=Origin(output.origin_name(), at, line.strip())
            )


def requested_adapter(argv: Sequence[str]) -> str:
    """The adapter that the command names, "" for none.

    >>> requested_adapter(("ibv_devinfo", "-d", "mlx5_0")), requested_adapter(("ibstat", "mlx5_1", "1")), requested_adapter(("ibstat",))
    ('mlx5_0', 'mlx5_1', '')
    """
    if "-d" in argv[:-1]:
        return argv[argv.index("-d") + 1]
    return next((word for word in argv[1:2] if not word.startswith("-")), "")


def set_field(adapter: dict[str, Any], port: dict[str, Any], name: str, value: str, origin: Origin) -> None:
    """Take in one field."""
    if name in OF_ADAPTER:
        adapter[OF_ADAPTER[name]] = value
    elif port and name in OF_PORT:
        read = field(OF_PORT[name], value)
        port.update(read)
        if "state" in read:
            port["origin"] = origin
    elif not port and name in ("state", "physical state", "rate"):  # `ibstat CA PORT` shows a port without its heading
        port.update(field(OF_PORT[name], value), port=1, origin=origin)


def field(name: str, value: str) -> dict[str, Any]:
    """One field of a port as IbPort names it; {} for what can't be read.

    >>> field("speed", "100.0 Gbps (128)"), field("width", "4X (2)"), field("gid", "fe80:0000:0000:0000:58a2:e103:00a7:820e")
    ({'speed': '100.0 Gbps'}, {'width': '4X'}, {'guid': '0x58a2e10300a7820e'})
    """
    if name == "state":
        return {"state": infiniband.shown_state(value)}
    if name == "physical":
        return {"physical": infiniband.shown_physical(value)}
    if name == "rate":
        return rate(value)
    if name == "link_layer":
        return {"link_layer": infiniband.layer(value)}
    if name in ("lid", "sm_lid", "mtu"):
        read = number(value.split()[0])
        return {} if read is None or read > 1 << 32 else {name: read}
    if name in ("guid", "gid"):
        text = value if name == "guid" else value[20:] if value.lower().startswith("fe80:") and len(value) == 39 else ""
        return {"guid": guid(text)} if guid(text) else {}
    return {name: value.partition(" (")[0]}


def keep(found: list[IbPort], adapter: dict[str, Any], port: dict[str, Any], about: Subject) -> None:
    """Add the port that has been read, if there is one that says anything."""
    # cut down to its rate it is up, if that is none of those without a link
    if not port.get("state") and port.get("rate", 0.0) > RESTING:
        port["state"] = "Active"
    if "ca" in adapter and port.get("state") and len(found) < MOST:
        found.append(IbPort(node=about.node, own=True, **adapter, **port))
