"""`mlxlink -d DEVICE`: state, speed and width; its advice is a known message.

Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-NDR
Width                              : 4x
Recommendation                     : No issue was observed
Source: NVIDIA Firmware Tools, mlxlink utility.
"""

from __future__ import annotations

import re
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_lines
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

FIELD = regex(r"([A-Z][A-Za-z0-9 ()/.%-]{2,40}?) *: (.{0,200})$")
# State                              : Active  |  Speed                              : IB-HDR  |  … : 100G
KEYS = ("State", "Physical state", "Speed", "Width", "Enabled Link Speed", "Supported Cable Speed")
# 0x000000f1 (NDR,HDR,EDR,FDR,SDR): the fastest first
LISTED = regex(r"0x[0-9a-f]{1,8} \(([\w,]{1,120})\)")
# mlxlink's words for physical states: AN/LT phases, `Disable`, `ETH_AN_FSM_ENABLE`, `LinkUp`
DOWN = regex(r"disable", re.IGNORECASE)


def mlxlink(output: Output, about: Subject) -> Facts:
    """One port, named by the device that was asked."""
    said: dict[str, tuple[str, Origin]] = {}
    for at, line in lines(output):
        match = FIELD.match(line.strip())
        if match and match.group(1) in KEYS:
            said.setdefault(match.group(1), (match.group(2).strip(), Origin(output.origin_name(), at, line.strip())))
    if "State" not in said or "Physical state" not in said:
        if output.text.strip() and "-E-" not in output.text:
            raise ParseError(f"{output.origin_name()}: not an answer of mlxlink: {output.text.strip()[:80]!r}")
        return {}
    argv = output.command.argv
    device = argv[argv.index("-d") + 1] if "-d" in argv[:-1] else ""
    physical = said["Physical state"][0]
    speed = said.get("Speed", ("", Origin()))[0]
    width = said.get("Width", ("", Origin()))[0].upper()
    values: dict[str, Any] = {"physical": "Disabled" if DOWN.match(physical) else infiniband.physical(physical)}
    if re.fullmatch(r"\d{1,2}X", width):
        values["width"] = width
    if speed.startswith("IB-"):
        values["link_layer"] = "InfiniBand"
        enabled, cable = (mask_speeds(said.get(key, ("", Origin()))[0]) for key in ("Enabled Link Speed", "Supported Cable Speed"))
        values["speed_supported"] = next((one for one in enabled if one in cable), "")
    state = infiniband.state(said["State"][0])
    if not state and said["State"][0] in ("Polling", "Disable"):  # beside a physical state that only Ethernet knows, or LinkUp
        state, values["physical"] = "Down", "Polling" if said["State"][0] == "Polling" else "Disabled"
    state = state or ("Down" if values["physical"] in ("Disabled", "Polling") else "")
    port = IbPort(
        node=about.node,
        ca=device or "adapter",
        own=True,
        state=state,
        speed=speed.removeprefix("IB-") if speed not in ("", "N/A") else "",
        origin=said["State"][1],
        **values,
    )
    return {"ib_ports": [port], "messages": [*scan_lines(output, about, source="log")]}


def mask_speeds(text: str) -> list[str]:
    """The speeds of a mask, the fastest first.

    >>> mask_speeds("0x000000f1 (NDR,HDR,EDR,FDR,SDR)"), mask_speeds("N/A")
    (['NDR', 'HDR', 'EDR', 'FDR', 'SDR'], [])
    """
    match = LISTED.match(text)
    return match.group(1).split(",") if match else []
