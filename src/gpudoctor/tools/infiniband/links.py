"""The links of a fabric: `iblinkinfo` (also -l), and what `ibdiagnet` writes of ports and cables.

CA: gpu-01 mlx5_0:
      0x98039b0300a1b2c3    117    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       4   12[  ] "leaf-1" ( )
Switch: 0xb83fd20300c0ffee leaf-1:
           4   12[  ] ==( 1X          53.125 Gbps Active/  LinkUp)==>     117    1[  ] "gpu-01 mlx5_0" (Could be 4X )

"Could be" names what both ends support. ibdiagnet's -E- and -W- lines are known messages.
Source: infiniband-diags in rdma-core; ibdiagnet 2 of ibutils2.
"""

from __future__ import annotations

import re

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_lines
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.text import MOST, guid, host_and_adapter, number
from gpudoctor.tools.parser import ParseError

# Switch: 0xb83fd20300c0ffee leaf-1:  |  CA: gpu-01 mlx5_0:  |  CA: MT25408 ConnectX Mellanox Technologies:
NODE = regex(r"[<>]?\s?(Switch|CA|Router): (?:(0x[0-9a-f]{16}) )?(.{1,200}):$")
# 4   12[  ] ==( 1X          53.125 Gbps Active/  LinkUp)==>     117    1[  ] "gpu-01 mlx5_0" (Could be 4X )
LINK = regex(
    r"[<>]?\s{0,20}(?:Link info:\s{0,20})?(?:(0x[0-9a-f]{16}) )?(?:\"(?P<own>[^\"]{1,200})\" )?"
    r"\s{0,20}(?P<lid>\d{1,6})\s{1,20}(?P<port>\d{1,3})\[[ \d]{0,3}\] ==\(\s{0,40}"
    r"(?:(?P<width>\d{1,2}X|\S{1,8}) {1,40}(?P<speed>[\d.,]{1,8} Gbps(?: \(FDR10\))?|undefined \(\d{1,4}\)|\S{1,20}) {1,40})?"
    r"(?P<state>[A-Za-z]{3,12})/ {0,20}(?P<physical>[A-Za-z]{3,26})\)(?: \(HOQ[^)]{1,40}\))?==> {1,20}"
    r"(?:0x[0-9a-f]{16} )?\s{0,20}(?:(?P<far_lid>\d{1,6})\s{1,20}(?P<far>\d{1,3}))?\[[ \d]{0,3}\] \"(?P<name>[^\"]{0,200})\""
    r" ?(?:\( ?(?P<could>[^)]{0,80})\))?"
)
COULD = regex(r"Could be (?:Found link at )?(\S+(?: Gbps)?(?: \(FDR10\)?)?)")
ANSWER = regex(r"ibwarn|iberror|Failed to open|discover failed", re.IGNORECASE)


def iblinkinfo(output: Output, about: Subject) -> Facts:
    """A record for each end of each link, and for each port that is down."""
    found: list[IbPort] = []
    host = name = adapter_guid = ""
    kind = ""
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if match := NODE.match(line):
            kind, adapter_guid = match.group(1), guid(match.group(2) or "")
            host, name = host_and_adapter(match.group(3)) if kind == "CA" else ("", match.group(3))
        elif (match := LINK.match(line)) and len(found) < MOST:
            if own := match.group("own"):  # line mode: every line names its node, and says not what it is
                host, name = host_and_adapter(own.strip())
                host, kind = (host, "CA") if host != name else ("", "")
            found.append(port_of(match, host, name, guid(match.group(1) or "") or adapter_guid, origin))
    said = output.stderr.decode("utf-8", "replace") + output.text[:4096]
    messages = scan_lines(output, about, source="log") if not found else []
    if not found and output.text.strip() and not messages and not ANSWER.search(said):
        raise ParseError(f"{output.origin_name()}: no links of a fabric: {output.text.strip()[:80]!r}")
    return {"ib_ports": [*found]} if found else {"messages": [*messages]} if messages else {}


def port_of(match: re.Match[str], host: str, name: str, adapter_guid: str, origin: Origin) -> IbPort:
    """The near end of a link."""
    far = f"{match.group('name').strip()} port {match.group('far')}" if match.group("name") and match.group("far") else ""
    could = " ".join(COULD.findall(match.group("could") or ""))
    width = match.group("width") or ""
    return IbPort(
        node=host,
        ca=name,
        port=int(match.group("port")),
        guid=adapter_guid,
        lid=number(match.group("lid")),
        state=infiniband.shown_state(match.group("state")),
        physical=infiniband.shown_physical(match.group("physical")),
        width=width if width[:1].isdecimal() else "",
        speed=match.group("speed") or "",
        link_layer="InfiniBand",
        remote=far,
        could_be=could,
        origin=origin,
    )
