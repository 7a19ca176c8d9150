"""GID tables: `show_gids`; `rdma link [show]`, which names a port's state and its network interface;
`ibdev2netdev`, which names the interface and its state.

DEV     PORT  INDEX  GID                                      IPv4          VER  DEV
mlx5_0  1     3      0000:0000:0000:0000:0000:ffff:0a01:0203  10.1.2.3      v2   ens1f0np0
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0
mlx5_0 port 1 ==> ens1f0np0 (Up)
Sources: show_gids and ibdev2netdev of Mellanox OFED; iproute2, rdma(8).
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Gid, IbPort, Interface
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.text import MOST, number
from gpudoctor.tools.parser import ParseError

HEAD = regex(r"\s*DEV\s+PORT\s+INDEX\s+GID\b")
ROW = regex(
    r"\s*([\w.-]{1,64})\s+(\d{1,3})\s+(\d{1,4})\s+([0-9a-fA-F:]{15,39})(?:\s+(\d{1,3}(?:\.\d{1,3}){3}))?(?:\s+(v[12]|IB))?(?:\s+(\S{1,32}))?\s*$"
)
# link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP  |  0/1: mlx5_0/1: state DOWN …
LINK = regex(r"\s*(?:link\s+|\d{1,4}/\d{1,3}:\s+)([\w.-]{1,64})/(\d{1,3}):?\s+(.*\bstate\s+\S+.*)$")
# mlx5_0 port 1 ==> ib0 (Up)  |  with -v: 0000:18:00.0 mlx5_0 (MT4129 - MCX75310AAS-NEAT) … fw 28.39.1002 port 1 (ACTIVE) ==> ib0 (Up)
NETDEV = regex(
    r"(?:[0-9a-f]{4}:\S{7} )?([\w.-]{1,64}) (?:\(.{0,160} )?port (\d{1,3})(?: \((\w{1,12}) {0,4}\))? ==> ([\w.-]{1,32}) \((Up|Down)\)"
)


def table(output: Output, about: Subject) -> Facts:
    """The GIDs of `show_gids`, the ports of `rdma link`, the interfaces of `ibdev2netdev`."""
    gids: list[Gid] = []
    ports: list[IbPort] = []
    netdevs: list[Interface] = []
    seen = False
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if HEAD.match(line) or line.startswith("n_gids_found="):
            seen = True
        elif (match := ROW.match(line)) and len(gids) < MOST:
            ca, port, index, gid, ip, version, interface = match.groups(default="")
            kind = {"v1": "RoCE v1", "v2": "RoCE v2"}.get(version, version)
            address = ip or address_of(gid)
            gids.append(
                Gid(
                    node=about.node,
                    ca=ca,
                    port=int(port),
                    index=int(index),
                    gid=gid,
                    kind=kind,
                    address=address,
                    interface=interface,
                    origin=origin,
                )
            )
        elif (match := LINK.match(line)) and len(ports) < MOST:
            ports.append(link(match, about, origin))
        elif (match := NETDEV.match(line.strip())) and len(netdevs) < MOST:
            ca, port, link_state, interface, state = match.groups()
            netdevs.append(Interface(node=about.node, interface=interface, state=state.lower(), ca=ca, port=int(port), origin=origin))
            over_infiniband = interface.startswith("ib")
            # IP over InfiniBand may be down by itself, and is up on an active port only
            if link_state or not over_infiniband or state == "Up":
                ports.append(
                    IbPort(
                        node=about.node,
                        ca=ca,
                        port=int(port),
                        state=infiniband.state(link_state or "") or ("Active" if state == "Up" else "Down"),
                        link_layer="InfiniBand" if over_infiniband else "Ethernet",
                        interface=interface,
                        own=True,
                        origin=origin,
                    )
                )
    ports += ipoib_ports_down(netdevs, ports)
    if not (seen or gids or ports or netdevs) and output.text.strip():
        raise ParseError(f"{output.origin_name()}: neither a table of GIDs nor of RDMA links: {output.text.strip()[:80]!r}")
    found: Facts = {"gids": [*gids]} if gids or seen else {}
    return found | ({"ib_ports": [*ports]} if ports else {}) | ({"interfaces": [*netdevs]} if netdevs else {})


def ipoib_ports_down(netdevs: list[Interface], ports: list[IbPort]) -> list[IbPort]:
    """The ports behind the few interfaces over InfiniBand that are down where most are up: somebody set IP up on each of them."""
    down = [one for one in netdevs if one.state == "down" and not any(port.ca == one.ca and port.port == one.port for port in ports)]
    up = sum(one.state == "up" and one.interface.startswith("ib") for one in netdevs)
    return [
        IbPort(
            node=one.node,
            ca=one.ca,
            port=one.port,
            state="Down",
            link_layer="InfiniBand",
            interface=one.interface,
            own=True,
            origin=one.origin,
        )
        for one in down
        if up > 2 * len(down)
    ]


def link(match: re.Match[str], about: Subject, origin: Origin) -> IbPort:
    """A line of `rdma link`. It names no link layer: a port with a subnet prefix is InfiniBand's."""
    words = match.group(3).split()
    said = dict(zip(words[::2], words[1::2], strict=False))
    lids: dict[str, Any] = {name: read for name in ("lid", "sm_lid") if (read := number(said.get(name, ""))) is not None}
    return IbPort(
        node=about.node,
        ca=match.group(1),
        port=int(match.group(2)),
        state=infiniband.shown_state(said.get("state", "")),
        physical=infiniband.shown_physical(said.get("physical_state", "")),
        link_layer="InfiniBand" if "subnet_prefix" in said else "Ethernet" if "netdev" in said else "",
        interface=said.get("netdev", "")[:32],
        own=True,
        origin=origin,
        **lids,
    )


def address_of(gid: str) -> str:
    """The IPv4 address that a GID holds, "" for none.

    >>> address_of("0000:0000:0000:0000:0000:ffff:0a01:0203"), address_of("fe80:0000:0000:0000:58a2:e103:00a7:820e")
    ('10.1.2.3', '')
    """
    try:
        mapped = ipaddress.IPv6Address(gid.strip()).ipv4_mapped
    except ValueError:
        return ""
    return str(mapped) if mapped else ""


def kind_of(text: str) -> str:
    """The kind of a GID as sysfs' gid_attrs/types names it: `IB/RoCE v1` doesn't tell the two apart."""
    return "RoCE v2" if "v2" in text else "RoCE v1" if "v1" in text and "IB" not in text else "IB" if "IB" in text else ""
