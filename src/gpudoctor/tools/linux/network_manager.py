"""Network interfaces as NetworkManager and the files of /sys/class/net show them, and links that were lost more often than their siblings'.

ib0:infiniband:disconnected:                       (nmcli -t device)
ib0     infiniband  disconnected  --               (nmcli device)
/sys/class/net/ens3f0np0/carrier_changes:41        (grep . /sys/class/net/*/carrier_changes)
Sources: nmcli(1); Linux, Documentation/ABI/testing/sysfs-class-net: `carrier_changes` counts both directions.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Interface
from gpudoctor.facts.kubernetes import Message
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

KINDS = {"infiniband": "infiniband", "ethernet": "ether"}
# What NetworkManager's states say of the link: `disconnected` has a carrier and no address, `unavailable` has none.
STATES = {"connected": "up", "connected (externally)": "up", "disconnected": "down", "unavailable": "down", "unmanaged": ""}
TERSE = regex(r"([\w.@-]{1,40}):(infiniband|ethernet):([a-z() ]{3,40}):")
ROW = regex(r"([\w.@-]{1,40}) +(infiniband|ethernet) +(connected \(externally\)|connected|disconnected|unavailable|unmanaged)\b")
FILE = regex(r"(?:/sys/class/net|\.|net)/([\w.@-]{1,40})/(carrier_changes|operstate|carrier_down_count)[: =]+(\S{1,20})\s*$")
FEW = 6  # changes of carrier: three times down and up; a boot with a driver's reload leaves two to four


def score(rows: Sequence[str]) -> int:
    """0 or 84: whether it is one of these."""
    return 84 if any(TERSE.match(row) or ROW.match(row) or FILE.match(row) for row in rows) else 0


def nets(output: Output, about: Subject) -> Facts:
    """The interfaces, and for each that changed far more often than its siblings the message that says so."""
    found: list[Interface] = []
    files: defaultdict[str, dict[str, tuple[str, Origin]]] = defaultdict(dict)
    for at, line in lines(output):
        origin = Origin(output.origin_name(), at, line.strip())
        if match := TERSE.match(line) or ROW.match(line):
            name, kind, state = match.groups()
            found.append(interface(name, STATES.get(state.strip(), ""), KINDS[kind], about, origin))
        elif match := FILE.match(line):
            files[match[1]][match[2]] = match[3], origin
    if not found and not files:
        raise ParseError(f"{output.origin_name()}: no network interfaces: {output.text.strip()[:80]!r}")
    for name, read in files.items():
        if "operstate" in read:
            state, origin = read["operstate"]
            found.append(interface(name, state.lower()[:16], "infiniband" if name.startswith("ib") else "", about, origin))
    changes = {name: downs(read) for name, read in files.items()}
    usual = statistics.median(count for count, _ in changes.values()) if changes else 0
    messages = [
        Message(name="carrier_lost", detail=name, count=count, source="file", node=about.node, origin=origin)
        for name, (count, origin) in changes.items()
        if 2 * count >= FEW and len(changes) > 1 and count > 3 * usual
    ]
    return {kind: [*records] for kind, records in (("interfaces", found), ("messages", messages)) if records}


def downs(read: dict[str, tuple[str, Origin]]) -> tuple[int, Origin]:
    """How often the link was lost."""
    for name, each in (("carrier_down_count", 1), ("carrier_changes", 2)):
        text, origin = read.get(name, ("", Origin("")))
        if text.isdecimal() and len(text) < 10:
            return int(text) // each, origin
    return 0, Origin("")


def interface(name: str, state: str, kind: str, about: Subject, origin: Origin) -> Interface:
    """One interface of the host."""
    return Interface(node=about.node, interface=name, state=state, kind=kind, origin=origin)
