"""NVLink on one machine: what the links of each GPU add up to beside its neighbours, and what the fabric is as a whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts, Origin
from gpudoctor.facts.fabric import Fabric, NvLinkSum
from gpudoctor.facts.gpu import Gpu, GpuPath, NvLink
from gpudoctor.facts.node import PciDevice
from gpudoctor.knowledge.nvlink import FAILED_RECOVERIES, PACKET_ERRORS, SWITCHED_FROM, WITHOUT_SWITCH_FUNCTION, form_of, links_of

MESH = 3  # other GPUs that are all joined: a bridge joins two (or four of eight), so more is a baseboard
# Words of `topo -p2p` that name a reason outside the fabric: chipset, topology, a registry key.
DISABLED = ("CNS", "TNS", "DR")


class Machine(NamedTuple):
    """What was read of one machine."""

    gpus: list[Gpu]
    links: list[NvLink]
    paths: list[GpuPath]
    devices: list[PciDevice]


def measure_fabric(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Fills `nvlink_sums`, a row for each GPU of which something was read, and `fabrics`, one for each machine."""
    machines: dict[str, Machine] = defaultdict(lambda: Machine([], [], [], []))
    for kind, field in (("gpus", "gpus"), ("nvlinks", "links"), ("gpu_paths", "paths"), ("pci_devices", "devices")):
        for fact in facts.get(kind, ()):
            getattr(machines[getattr(fact, "node", "")], field).append(fact)
    sums: list[Fact] = []
    fabrics: list[Fact] = []
    for node, machine in sorted(machines.items()):
        of_node = [*nvlink_sums(node, machine)]
        sums += of_node
        fabrics.append(fabric(node, machine, of_node, bus="pci_devices" in facts))
    return {"nvlink_sums": sums, "fabrics": fabrics}


def nvlink_sums(node: str, machine: Machine) -> Iterable[NvLinkSum]:
    """A row for each GPU of one machine, compared with the GPUs of the same product."""
    by_gpu: dict[tuple[str, int | None], list[NvLink]] = defaultdict(list)
    for link in machine.links:
        by_gpu[(link.gpu, link.index)].append(link)
    gpus = {(gpu.gpu, gpu.index): gpu for gpu in machine.gpus if gpu.gpu or gpu.index is not None}
    for (name, index), links in by_gpu.items():
        if not any(name == gpu.gpu if name else index == gpu.index for gpu in gpus.values()):
            gpus[name, index] = Gpu(node=node, gpu=name, uuid=name, index=index, product=links[0].product, origin=links[0].origin)
    seen = {gpu.index for gpu in gpus.values() if gpu.index is not None} | {path.one for path in machine.paths}
    forms = matrix(machine.paths)
    made = []
    for gpu in gpus.values():
        links = [link for key, some in by_gpu.items() if (key[0] == gpu.gpu if key[0] else key[1] == gpu.index) for link in some]
        row = sum_links(gpu, once(links) if gpu.gpu or gpu.index is not None else links)
        joined = forms.get(gpu.index) if gpu.index is not None else None
        alone = len(gpus) < 2 and len(seen) < 2 and not gpu.index
        made.append(replace(row, alone=alone, **(joined or {})))
    if not gpus:
        made = [NvLinkSum(node=node, index=index, **joined) for index, joined in forms.items()]
    for row in made:
        same = [other.active for other in made if other.product == row.product and other.active is not None]
        yield replace(row, usual=most_common(same), peers=max(0, len(same) - (row.active is not None)))


def once(links: list[NvLink]) -> list[NvLink]:
    """Each link of one GPU once. nvidia-smi and DCGM count the same: what both show is not added up, the higher count is the later one."""
    found: dict[int | None, NvLink] = {}
    for link in links:
        known = found.setdefault(link.link, link)
        if known is not link:
            found[link.link] = both(known, link)
    return [*found.values()]


def both(one: NvLink, other: NvLink) -> NvLink:
    """What two answers say of one link; the worse of them is the one to quote."""
    counts: dict[str, Any] = {
        field: max((count for link in (one, other) if (count := getattr(link, field)) is not None), default=None)
        for field in ("replay_errors", "recovery_errors", "crc_errors")
    }
    names = one.other_errors.keys() | other.other_errors.keys()
    counts["other_errors"] = {name: max(one.other_errors.get(name, 0), other.other_errors.get(name, 0)) for name in sorted(names)}
    worse = max(one, other, key=link_badness)
    return replace(one, state=one.state or other.state, speed=one.speed or other.speed, **counts, origin=worse.origin)


def sum_links(gpu: Gpu, links: list[NvLink]) -> NvLinkSum:
    """One GPU's links added up. A GPU that has none at all has neither active nor inactive ones."""
    stated = [link for link in links if link.state and link.state != "not_supported"]
    single = [link for link in stated if link.link is not None]
    down = [link for link in stated if link.state != "active"]
    # Where somebody kept only the lines with "inactive", the numbers have holes or begin late.
    picked = bool(down) and len(down) == len(single) and [link.link for link in down] != [*range(len(down))]
    made = links_of(gpu.product)
    active = len(stated) - len(down) if not picked else max(0, made - len(down)) if made is not None else None
    worst = max(links, key=link_badness, default=None)
    bad = worst if worst is not None and link_badness(worst) > (0, 0, 0, 0) else None
    origin = down[0].origin if down else bad.origin if bad else links[0].origin if links else gpu.origin
    return NvLinkSum(
        node=gpu.node,
        gpu=gpu.gpu,
        uuid=gpu.uuid,
        pci=gpu.pci,
        index=gpu.index,
        product=gpu.product,
        form=form_of(gpu.product),
        made=made,
        links=len(single) if stated else None,
        active=active if stated else None,
        down=sorted(link.link for link in down if link.link is not None),
        recoveries=counter_total(links, "recovery_errors", (FAILED_RECOVERIES,)),
        replays=counter_total(links, "replay_errors", ()),
        crc_errors=counter_total(links, "crc_errors", ()),
        packet_errors=counter_total(links, "", PACKET_ERRORS),
        worst=bad.link if bad else None,
        origin=origin,
        time=gpu.time,
    )


def link_badness(link: NvLink) -> tuple[int, int, int, int]:
    """What makes one link worse than another: failed or repeated training, then spoilt packets, then repeated ones."""
    failed = (link.recovery_errors or 0) + link.other_errors.get(FAILED_RECOVERIES, 0)
    return failed, sum(link.other_errors.get(name, 0) for name in PACKET_ERRORS), link.replay_errors or 0, link.crc_errors or 0


def counter_total(links: list[NvLink], field: str, names: tuple[str, ...]) -> int | None:
    """The sum of a counter over the links, or what stands for all of them together; None where neither shows it."""
    sums = []
    for some in ([link for link in links if link.link is not None], [link for link in links if link.link is None]):
        known = [getattr(link, field) for link in some if field and getattr(link, field) is not None]
        known += [link.other_errors[name] for link in some for name in names if name in link.other_errors]
        sums += [sum(known)] if known else []
    return max(sums, default=None)


def most_common(values: list[int]) -> int | None:
    """The most frequent value; of two equally frequent ones the higher."""
    return max(Counter(values).items(), key=lambda pair: (pair[1], pair[0]))[0] if values else None


def matrix(paths: list[GpuPath]) -> dict[int, dict[str, Any]]:
    """For each GPU of `topo -m`: how many it reaches over NVLink, how wide, and whether the others all reach each other.

    Somebody may have kept some rows only: of a pair that no row shows nothing is known.
    """
    cells = {(path.one, path.other): path for path in paths if path.matrix == "m" and path.one[:3] == path.other[:3] == "GPU"}
    names = sorted({name for pair in cells for name in pair}, key=lambda name: int(name[3:]))
    widths = {pair: int(path.path[2:]) for pair, path in cells.items() if path.path.startswith("NV")}
    found: dict[int, dict[str, Any]] = {}
    widest = {one: max((width for (row, _), width in widths.items() if row == one), default=0) for one in names}
    apart = {pair for pair in cells if pair not in widths and (pair[1], pair[0]) not in widths}
    share = Counter(name for pair in apart for name in pair)  # with all of them on one GPU, the others all reach each other
    for one in names:
        origin = next((path.origin for (row, _), path in cells.items() if row == one), Origin())
        others = [name for name in names if (one, name) in cells or (name, one) in cells]
        found[int(one[3:])] = {
            "neighbours": sum((one, other) in widths or (other, one) in widths for other in others),
            "others": len(others),
            "meshed": len(others) >= MESH and share[one] == len(apart) and any(one not in pair for pair in widths),
            "width": widest[one] or None,
            "usual_width": most_common([width for width in widest.values() if width]),
            **({"origin": origin} if share[one] else {}),
        }
    return found


def fabric(node: str, machine: Machine, sums: list[NvLinkSum], *, bus: bool) -> Fabric:
    """The fabric of one machine."""
    products = {gpu.product for gpu in machine.gpus if gpu.product}
    forms = {form_of(product) for product in products}
    form = forms.pop() if len(forms) == 1 else ""
    switches = [device for device in machine.devices if device.kind == "switch"]
    on_bus = len(switches) if bus and machine.devices else None
    used_here = any(gpu.gpu for gpu in machine.gpus) or any(
        device.kind == "gpu" and device.driver == "nvidia" for device in machine.devices
    )
    unbound = [device for device in switches if device.driver == "" or (device.driver == "vfio-pci" and used_here)]
    indices = {gpu.index for gpu in machine.gpus if gpu.index is not None}
    count = max(len({gpu.gpu or gpu.index for gpu in machine.gpus}), len(indices), gpu_functions(machine.devices))
    silent = [gpu for gpu in machine.gpus if gpu.gaps.get("fabric_state") and always_has_state(gpu, on_bus)]
    known = [row.active for row in sums if row.active is not None]
    modes = [gpu.mig_mode for gpu in machine.gpus if gpu.mig_mode is not None]
    pairs = access(machine.paths)
    refused = [path for path in pairs if path.path != "OK"]
    linked = {(path.one, path.other) for path in machine.paths if path.matrix == "m" and path.path.startswith("NV")}
    joined = [path for path in refused if path.path not in DISABLED and linked & {(path.one, path.other), (path.other, path.one)}]
    shown = [path for path in machine.paths if path.matrix == "m" and path.one[:3] == path.other[:3] == "GPU"]
    telling = [*unbound, *silent, *joined, *refused, *machine.gpus, *machine.devices, *machine.paths, *machine.links]
    return Fabric(
        node=node,
        gpus=count,
        form=form,
        switches=on_bus,
        unbound=[device.pci for device in unbound],
        manager=manager(form, count, on_bus, products),
        mig="Enabled" in modes if modes else None,
        settled=sum(gpu.fabric_state == "Completed" and gpu.fabric_status in (None, "Success") for gpu in machine.gpus),
        silent=[gpu.gpu for gpu in silent],
        active_links=sum(known) if known else None,
        pairs=len(pairs),
        pairs_refused=len(refused),
        pairs_disabled=sum(path.path in DISABLED for path in refused),
        first_refused=first_pair_text(refused),
        joined_refused=len(joined),
        first_joined_refused=first_pair_text(joined),
        pairs_shown=len(shown),
        pairs_joined=len([path for path in shown if path.path.startswith("NV")]),
        origin=telling[0].origin if telling else Origin(),
    )


def first_pair_text(paths: list[GpuPath]) -> str:
    """The first pair of devices as text, "" without one."""
    return f"{paths[0].one} and {paths[0].other}" if paths else ""


def gpu_functions(devices: list[PciDevice]) -> int:
    """GPUs on the bus."""
    return sum(device.kind == "gpu" for device in devices)


def always_has_state(gpu: Gpu, switches: int | None) -> bool:
    """Whether a GPU of this product has a fabric state wherever it is in order: in a rack always, from Hopper on beside NVSwitches."""
    form = form_of(gpu.product)
    hopper = any(word in gpu.product for word in ("H100", "H200", "H800", "H20", "B200", "B300"))
    return form == "rack" or (form == "switched" and hopper and bool(switches))


def manager(form: str, gpus: int, switches: int | None, products: set[str]) -> str:
    """Where the fabric is managed: here beside its switches, elsewhere (a rack's switch trays, the host of a guest), nowhere."""
    if switches:
        return "here"
    if form == "rack":
        return "elsewhere"
    if form == "switched" and any(WITHOUT_SWITCH_FUNCTION.search(product) for product in products):
        return "here" if gpus >= SWITCHED_FROM else ""
    if form == "switched" and gpus >= SWITCHED_FROM:
        return "" if switches is None else "elsewhere"
    return "nowhere" if form in ("bridge", "direct", "none") or (form == "switched" and switches == 0 and gpus > 1) else ""


def access(paths: list[GpuPath]) -> list[GpuPath]:
    """One cell for each pair of GPUs of the tables that say whether they reach each other's memory (not -p2p p: over PCIe)."""
    pairs: dict[tuple[str, str], GpuPath] = {}
    for path in paths:
        if path.matrix not in ("m", "p") and path.one[:3] == path.other[:3] == "GPU":
            pair = (min(path.one, path.other), max(path.one, path.other))
            if pair not in pairs or pairs[pair].path == "OK":
                pairs[pair] = path
    return [*pairs.values()]
