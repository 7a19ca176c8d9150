"""Network interfaces: `ip -j link`, `ip -j addr`, the same as text, `ip addr` and `ip -br addr`, and a listing of /sys/class/net.

[{"ifindex":4,"ifname":"ib0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":4092,"operstate":"UP","link_type":"infiniband",…}]
4: ib0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 4092 qdisc mq state DOWN mode DEFAULT group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:a7:82:0e brd 00:ff:…
Source: iproute2, ip-link(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.infiniband import Interface
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.text import MOST, guid
from gpudoctor.tools.parser import ParseError

HEAD = regex(r"(\d{1,6}): ([\w.@-]{1,40}?)(?:@[\w.-]{1,40})?: <([A-Z0-9_,-]{0,200})> mtu (\d{1,6}).*? state ([A-Z]{2,16})\b")
# ib0              DOWN           00:00:10:29:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:11:22:31 <BROADCAST,MULTICAST>
BRIEF = regex(r"([\w.-]{1,40}?)(?:@[\w.-]{1,40})? +([A-Z]{2,16}) +([0-9a-f]{2}(?::[0-9a-f]{2}){5,19}) <([A-Z0-9_,-]{0,200})>")
# ens1f0np0        UP             10.1.0.4/24 fe80::1270:fdff:fe3a:1100/64    (ip -br addr)
BRIEF_ADDRESSES = regex(
    r"([\w.-]{1,40}?)(?:@[\w.-]{1,40})? +(UP|DOWN|UNKNOWN) +((?:[0-9a-f.:]{2,39}/\d{1,3}(?: metric \d{1,9})? {0,4}){1,40})$"
)
# 2: eno1    inet 10.3.0.8/24 brd 10.3.0.255 scope global eno1  (ip -o addr)  |  eno1 10.3.0.8/24  (what awk leaves of it)
ROW = regex(
    r"(?:\d{1,6}: )?([\w.-]{1,40})(?:@[\w.-]{1,40})?\s{1,12}(?:inet6? )?([0-9a-f.:]{2,39})/\d{1,3}(?:$| (?:brd|scope|peer|metric) )"
)
LOOPBACK = regex(r"^(?:\d{1,6}: )?lo\s{1,12}(?:inet )?127\.0\.0\.1/8", re.MULTILINE)
# ib2              DOWN                           (ip -br addr, of one without an address)
BRIEF_BARE = regex(r"([\w.-]{1,40}) {2,}(UP|DOWN)$")
# /sys/class/net/ib2/operstate:down  |  ib2: down  |  ib2 down        (grep, or a loop over the files)
OPERSTATE = regex(
    r"(?:/sys/class/net/)?([A-Za-z][\w.-]{0,30}?)(/operstate)?(?:[:=]| ?->|,)? {0,12}(up|down|lowerlayerdown|dormant|unknown)$", 2
)
# ib2:infiniband:disconnected  |  ib2     infiniband  disconnected  --                     (nmcli device)
MANAGED = regex(r"([A-Za-z][\w.-]{0,30})[: ]\s{0,20}(infiniband|ethernet)[: ]\s{0,20}(connected|disconnected)\b")
#     inet 10.1.0.4/24 brd 10.1.0.255 scope global ens1f0np0
ADDRESS = regex(r"\s+(?:inet|inet6) ([0-9a-f.:]{2,39})/\d{1,3}\b")
OVER_IB = regex(r"(?:net)?ib(?:\d|[ps]\d)")
KIND = regex(r"\s+link/(\w{1,20})\b(?: ([0-9a-f:]{17,59}))?")
LISTED = regex(r"[\w.@-]{1,40}")
LARGEST = 65536  # bytes, the MTU of the loopback interface
INFINIBAND = 59  # characters of its addresses, of 20 bytes
GUID = 23  # of the last eight of them, the port's GUID (RFC 4391, 9.1.1)


def link(output: Output, about: Subject) -> Facts:
    """A record for each interface."""
    text = output.text.strip()
    if is_listing(text, output.command.argv):
        return {"interfaces": [*of_listing(output, about)]}
    found = of_json(text, output, about) if text[:1] == "[" else of_text(output, about)
    if not found and text not in ("", "[]"):
        raise ParseError(f"{output.origin_name()}: no network interfaces: {text[:80]!r}")
    return {"interfaces": [*found]}


def in_words(line: str, argv: Sequence[str] = ()) -> tuple[str, str, str] | None:
    """Name, kind and state of an interface as sysfs' operstate, nmcli or `ip -br` without an address say them.

    A name and a word alone are an interface's where the name is one over InfiniBand, or the command read the file.

    >>> in_words("ib2: down"), in_words("/sys/class/net/ens1/operstate:up"), in_words("backup: up"), in_words("ib0:infiniband:connected")
    (('ib2', 'infiniband', 'down'), ('ens1', '', 'up'), None, ('ib0', 'infiniband', 'up'))
    """
    if match := MANAGED.match(line):
        return match[1], match[2].replace("ethernet", "ether"), "up" if match[3] == "connected" else "down"
    asked = any("operstate" in word for word in argv)
    match = OPERSTATE.fullmatch(line) or BRIEF_BARE.fullmatch(line)
    if not match or not (asked or OVER_IB.match(match[1]) or (match.re.groups == 3 and match[2])):
        return None
    state = match[match.lastindex or 0].lower()
    return match[1], "infiniband" if OVER_IB.match(match[1]) else "", "down" if state == "lowerlayerdown" else state


def is_listing(text: str, argv: Sequence[str]) -> bool:
    """Whether it is what `ls /sys/class/net` prints: names, and the loopback interface among them.

    >>> is_listing("eno1  ens5f0  lo", ("ls", "/sys/class/net")), is_listing("eno1  ens5f0", ("ls", "/sys/class/net/"))
    (True, False)
    """
    if not any(word.rstrip("/").endswith("/sys/class/net") for word in argv):
        return False
    words = text[:65536].split()
    return "lo" in words and all(LISTED.fullmatch(word) for word in words)


def of_listing(output: Output, about: Subject) -> Iterator[Interface]:
    """The names alone."""
    for at, line in lines(output):
        for name in line.split()[:MOST]:
            yield Interface(
                node=about.node, pod=about.pod, namespace=about.namespace, interface=name, origin=Origin(output.origin_name(), at, line)
            )


def of_json(text: str, output: Output, about: Subject) -> list[Fact]:
    """The interfaces of `ip -j link`."""
    try:
        rows = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ParseError(f"{output.origin_name()}: {error}") from None
    named = [row for row in rows if isinstance(row, dict) and isinstance(row.get("ifname"), str)] if isinstance(rows, list) else []
    return [make_interface(row, about, Origin(output.origin_name(), 0, quote(row))) for row in named[:MOST]]


def make_interface(row: dict[str, Any], about: Subject, origin: Origin) -> Interface:
    """Make an interface from its JSON."""
    state, kind, flags, address, mtu = (row.get(name) for name in ("operstate", "link_type", "flags", "address", "mtu"))
    return Interface(
        node=about.node,
        interface=row["ifname"][:40],
        state=state.lower()[:16] if isinstance(state, str) else "",
        kind=kind[:20] if isinstance(kind, str) else "",
        guid=port_guid(address) if isinstance(address, str) else "",
        enabled="UP" in flags if isinstance(flags, list) else None,
        address=address_of(row["addr_info"]) if isinstance(row.get("addr_info"), list) else None,
        mtu=mtu if isinstance(mtu, int) and 0 < mtu <= LARGEST else None,
        origin=origin,
    )


def address_of(found: list[Any]) -> str:
    """The first address of `ip -j addr` that is not link-local, "" for none."""
    told = [one["local"] for one in found if isinstance(one, dict) and one.get("scope") != "link" and isinstance(one.get("local"), str)]
    return told[0][:39] if told else ""


def port_guid(address: str) -> str:
    """The GUID of the port behind an interface over InfiniBand, "" for an address of Ethernet.

    >>> port_guid("00:00:10:29:fe:80:00:00:00:00:00:00:58:a2:e1:03:00:a7:82:0e"), port_guid("b0:7b:25:d1:0c:6e")
    ('0x58a2e10300a7820e', '')
    """
    return guid(address[-GUID:].replace(":", "")) if len(address) == INFINIBAND else ""


def quote(row: dict[str, Any]) -> str:
    """What to quote of an interface."""
    return f"{str(row['ifname'])[:40]}: operstate {str(row.get('operstate'))[:16]}"


def of_text(output: Output, about: Subject) -> list[Fact]:
    """The interfaces of `ip link`, of which each has a second line with its kind."""
    found: list[Interface] = []
    addressed = False  # addresses are shown: one without has none
    rows = LOOPBACK.search(output.text[:65536]) is not None
    for at, line in lines(output):
        if match := HEAD.match(line.strip()):
            flags, state, mtu = match.group(3).split(","), match.group(5).lower(), int(match.group(4)) or None
            origin = Origin(output.origin_name(), at, line.strip())
            found.append(Interface(node=about.node, interface=match.group(2), state=state, enabled="UP" in flags, mtu=mtu, origin=origin))
        elif match := BRIEF.match(line.strip()):
            kind = "infiniband" if len(match.group(3)) == INFINIBAND else "ether"
            origin, enabled = Origin(output.origin_name(), at, line.strip()), "UP" in match.group(4).split(",")
            brief: dict[str, Any] = {"interface": match.group(1), "state": match.group(2).lower(), "kind": kind}
            found.append(Interface(node=about.node, guid=port_guid(match.group(3)), enabled=enabled, origin=origin, **brief))
        elif match := BRIEF_ADDRESSES.match(line.strip()):
            address = next((word for word in match.group(3).split() if "/" in word and not word.startswith("fe80")), "")
            origin = Origin(output.origin_name(), at, line.strip())
            named: dict[str, Any] = {"interface": match.group(1), "state": match.group(2).lower(), "address": address.partition("/")[0]}
            found.append(Interface(node=about.node, origin=origin, **named))
        elif rows and (match := ROW.match(line.strip())) and match.group(1) not in {one.interface for one in found}:
            address = "" if match.group(2).startswith("fe80") else match.group(2)
            origin = Origin(output.origin_name(), at, line.strip())
            found.append(Interface(node=about.node, interface=match.group(1), address=address, origin=origin))
        elif read := in_words(line.strip(), output.command.argv):
            name, kind, state = read
            origin = Origin(output.origin_name(), at, line.strip())
            found.append(Interface(node=about.node, interface=name, kind=kind, state=state, origin=origin))
        elif found and not found[-1].kind and (match := KIND.match(line)):
            found[-1] = msgspec.structs.replace(found[-1], kind=match.group(1), guid=port_guid(match.group(2) or ""))
        elif found and not found[-1].address and (match := ADDRESS.match(line)):
            addressed = True
            found[-1] = msgspec.structs.replace(found[-1], address="" if match.group(1).startswith("fe80") else match.group(1))
        if len(found) > MOST:
            break
    if addressed:  # only what `link/…` stands below was not cut off before its address
        found = [msgspec.structs.replace(one, address=one.address or "") if one.kind and one.enabled is not None else one for one in found]
    return [*found]
