"""`ibportstate LID PORT query`, and `smpquery portinfo`: one port with what its link can do and what it does.

# Port info: Lid 402 port 1
LinkState:.......................Active
LinkWidthSupported:..............1X or 4X or 2X
LinkWidthActive:.................2X
Source: infiniband-diags in rdma-core, ibportstate.c and libibmad, fields.c.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.text import MOST, number
from gpudoctor.tools.parser import ParseError

HEAD = regex(r"(?:# ?)?(?:Port info|Switch PortInfo|CA PortInfo|CA/RT PortInfo): ?(?:Lid (\d{1,6})|DR path [^()]{0,80}?) port (\d{1,3})")
# ibportstate 391 1 query | grep Active         (the command above the lines that were picked out)
ASKED = regex(r"\b(?:ibportstate|smpquery (?:portinfo|pi))(?: -\w \S+)* (\d{1,6}) (\d{1,3})\b")
FIELD = regex(r"(LinkState|PhysLinkState|SMLid|Lid|Link(?:Width|Speed|SpeedExt)(?:Supported|Enabled|Active)):\.+(\S.{0,120}?)\s*$")
WIDTHS = ("1X", "2X", "4X", "8X", "12X")


def score(rows: Sequence[str]) -> int:
    """0 or 89: the width or speed of a link in the form of libibmad."""
    return 89 if any((match := FIELD.match(row.strip())) and match[1].startswith("Link") for row in rows) else 0


def query(output: Output, about: Subject) -> Facts:
    """A record for each port."""
    ports: dict[tuple[int, int], dict[str, tuple[str, Origin]]] = {}
    place = (0, 1)
    for at, line in [(0, " ".join(output.command.argv)), *lines(output)]:
        text = line.strip()
        if head := HEAD.match(text) or ASKED.search(text):
            place = (int(head[1] or 0), int(head[2]))
        elif (field := FIELD.match(text)) and len(ports) < MOST:
            ports.setdefault(place, {})[field[1]] = field[2], Origin(output.origin_name(), at, text)
    if not ports:
        raise ParseError(f"{output.origin_name()}: no state of a port: {output.text.strip()[:80]!r}")
    widest = {key: width(read, "Active") for key, read in ports.items()}
    return {"ib_ports": [make_port(key, read, about, any(other > widest[key] for other in widest.values())) for key, read in ports.items()]}


def width(read: dict[str, tuple[str, Origin]], which: str) -> int:
    """The widest of the widths in a field, 0 where it isn't shown."""
    words = read.get(f"LinkWidth{which}", ("", Origin("")))[0].split(" or ")
    return max((int(word[:-1]) for word in words if word in WIDTHS), default=0)


def make_port(key: tuple[int, int], read: dict[str, tuple[str, Origin]], about: Subject, narrower: bool) -> IbPort:
    """One port. It could be wider where both sides have enabled more lanes than it uses."""
    text = {name: value for name, (value, _) in read.items()}
    active, enabled = width(read, "Active"), width(read, "Enabled")
    origin = read.get("LinkWidthActive", next(iter(read.values())))[1]
    return IbPort(
        node=about.node,
        ca=f"lid {key[0]}" if key[0] else "port",
        port=key[1],
        lid=key[0] or None,
        sm_lid=number(text.get("SMLid", "")),
        state=infiniband.shown_state(text.get("LinkState", "")),
        physical=infiniband.shown_physical(text.get("PhysLinkState", "")),
        link_layer="InfiniBand",
        width=f"{active}X" if active else "",
        narrower=0 < active < enabled and (narrower or active < 4),
        own=True,
        origin=origin,
    )
