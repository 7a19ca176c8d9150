"""A listing of /sys/class/infiniband: `grep -Rs … /sys/class/infiniband/`, `tail` or `cat` with headings, or JSON {path: content}.

/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE
/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:0
/sys/class/infiniband/mlx5_0/ports/1/gids/3:0000:0000:0000:0000:0000:ffff:0a01:0203

It needs no rights, and says of the ports, counters and GIDs of a host what `ibstat`, `perfquery` and `show_gids` say together.
Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Gid, IbCounters, IbPort, Interface
from gpudoctor.knowledge import infiniband
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.infiniband.gids import address_of, kind_of
from gpudoctor.tools.infiniband.text import MOST, counters, guid, number, rate

# …/infiniband/mlx5_0/ports/1/counters/symbol_error
OF_PORT = regex(r"/infiniband/([\w.-]{1,64})/ports/(\d{1,3})/([\w/]{1,80})$")
OF_ADAPTER = regex(r"/infiniband/([\w.-]{1,64})/(hca_type|fw_ver|board_id)$")
# …/0000:ba:00.0/net/ib6/operstate, beside …/0000:ba:00.0/infiniband/mlx5_8
OF_NET = regex(r"(?:^|/)([^/]{0,64})/(?:device/)?net/([\w.@-]{1,32})/(operstate|address|mtu|type|carrier_changes)$")
DEVICE = regex(r"/([^/]{1,64})/infiniband/([\w.-]{1,64})/")
LINE_OF = regex(r"(/sys/\S{0,200}?/(?:infiniband|net)/[^:\s]{1,120}):(.*)$")
JSON_LINE = regex(r'\s*"(/sys/[^"\s]{1,250})": ?"([^"]{0,200})"')
HEADING = regex(r"==> (/sys/\S{1,250}) <==$")
MINE = regex(r"/sys/\S{0,200}/infiniband/[\w.-]{1,64}/ports/\d")


def is_listing(output: Output) -> bool:
    """Whether an answer is such a listing."""
    return bool(MINE.search(output.text[:400_000]))


def files(output: Output) -> Iterator[tuple[int, str, str, str]]:
    """Line number, path, content and the line, for every file in the listing."""
    heading = ""
    for at, line in lines(output):
        if "/sys/" not in line:
            if heading and line.strip():
                yield at, heading, line.strip(), line.strip()
                heading = ""
            continue
        if match := HEADING.match(line):
            heading = match.group(1)
        elif match := JSON_LINE.match(line):
            yield at, match.group(1), match.group(2).replace("\\n", "\n").strip(), line.strip()
        elif match := LINE_OF.match(line):
            yield at, match.group(1), match.group(2).strip(), line.strip()


def listing(output: Output, about: Subject) -> Facts:
    """Ports, their counters and GIDs, and the network interfaces that stand beside them."""
    adapters: dict[str, dict[str, Any]] = defaultdict(dict)
    ports: dict[tuple[str, int], dict[str, tuple[int, str, str]]] = defaultdict(dict)
    nets: dict[tuple[str, str], dict[str, tuple[int, str, str]]] = defaultdict(dict)
    devices: dict[str, str] = {}
    for at, path, content, line in files(output):
        if match := DEVICE.search(path):
            devices[match.group(2)] = match.group(1)
        if (match := OF_PORT.search(path)) and len(ports) < MOST:
            ports[match.group(1), int(match.group(2))][match.group(3)] = (at, content, line)
        elif match := OF_ADAPTER.search(path):
            name = {"hca_type": "ca_type", "fw_ver": "firmware", "board_id": "board"}[match.group(2)]
            if content != match.group(2):  # some dumps hold the file's name in its place
                adapters[match.group(1)][name] = content[:80]
        elif match := OF_NET.search(path):
            nets[match.group(1), match.group(2)][match.group(3)] = (at, content, line)
    interfaces = [interface(name, read, output, about) for (_, name), read in nets.items()]
    found = [port(key, read, adapters[key[0]], output, about) for key, read in ports.items()]
    placed = [with_interface(one, devices.get(one.ca, "-"), nets) for one in found]
    made: Facts = {"ib_ports": [*placed]}
    if counted := [one for key, read in ports.items() if (one := counts(key, read, output, about))]:
        made["ib_counters"] = [*counted]
    made["gids"] = [gid for key, read in ports.items() for gid in gids(key, read, output, about)]
    if interfaces:
        made["interfaces"] = [*interfaces]
    return made


def port(key: tuple[str, int], read: dict[str, tuple[int, str, str]], adapter: dict[str, Any], output: Output, about: Subject) -> IbPort:
    """One port; the line of its state is the one to quote."""
    at, _, line = read.get("state", (0, "", ""))
    text = {name: content for name, (_, content, _) in read.items()}
    first = text.get("gids/0", "")
    return IbPort(
        node=about.node,
        ca=key[0],
        port=key[1],
        guid=guid(first[20:]) if first.startswith("fe80:") else "",
        lid=number(text.get("lid", "")),
        sm_lid=number(text.get("sm_lid", "")),
        state=infiniband.shown_state(text.get("state", "")),
        physical=infiniband.shown_physical(text.get("phys_state", "")),
        link_layer=infiniband.layer(text.get("link_layer", "")),
        interface=text.get("gid_attrs/ndevs/0", "")[:32],
        own=True,
        counted=any(name.startswith("counters/") for name in read),
        origin=Origin(output.origin_name(), at, line),
        **rate(text.get("rate", "")),
        **adapter,
    )


def with_interface(one: IbPort, device: str, nets: Iterable[tuple[str, str]]) -> IbPort:
    """A port with the network interface of its PCI device, where that has exactly one."""
    from msgspec.structs import replace

    own = [name for of, name in nets if of == device]
    if len(own) != 1 or one.port != 1:
        return one
    return replace(one, interface=one.interface or own[0])


def counts(key: tuple[str, int], read: dict[str, tuple[int, str, str]], output: Output, about: Subject) -> IbCounters | None:
    """The counters of one port, None where there are none."""
    values = {name: number(content) for name, (_, content, _) in read.items() if "counters/" in name}
    known = {name.rpartition("/")[2]: value for name, value in values.items() if value is not None and value < 1 << 64}
    if not known:
        return None
    at, _, line = next((read[name] for name in read if name.startswith("counters/") and values.get(name)), (0, "", ""))
    return counters(known, node=about.node, ca=key[0], port=key[1], time=output.time or None, origin=Origin(output.origin_name(), at, line))


def gids(key: tuple[str, int], read: dict[str, tuple[int, str, str]], output: Output, about: Subject) -> Iterator[Gid]:
    """The filled entries of a port's GID table."""
    for name, (at, content, line) in read.items():
        folder, _, index = name.rpartition("/")
        if folder != "gids" or not index.isdecimal() or len(index) > 4 or not content.replace(":", "").strip("0"):
            continue
        kind = read.get(f"gid_attrs/types/{index}", (0, "", ""))[1]
        device = read.get(f"gid_attrs/ndevs/{index}", (0, "", ""))[1]
        yield Gid(
            node=about.node,
            ca=key[0],
            port=key[1],
            index=int(index),
            gid=content[:39],
            kind=kind_of(kind),
            address=address_of(content),
            interface=device[:32],
            origin=Origin(output.origin_name(), at, line),
        )


def interface(name: str, read: dict[str, tuple[int, str, str]], output: Output, about: Subject) -> Interface:
    """One network interface; the line of its state is the one to quote."""
    at, state, line = read.get("operstate", (0, "", ""))
    # ARPHRD_INFINIBAND 32, ARPHRD_ETHER 1: Linux, if_arp.h
    kind = {"32": "infiniband", "1": "ether"}.get(read.get("type", (0, "", ""))[1], "")
    return Interface(node=about.node, interface=name, state=state.lower()[:16], kind=kind, origin=Origin(output.origin_name(), at, line))
