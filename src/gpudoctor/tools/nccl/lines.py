"""What NCCL's own lines say of a process: communicators, network, plugins, transports, settings. One function a kind of line."""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor.facts.job import Communicator
from gpudoctor.patterns import regex
from gpudoctor.tools.ranks.line import Line
from gpudoctor.tools.ranks.process import MOST_SETTINGS, Process, address

# What makes a line of NCCL's worth looking at: (name, RE2, how many of a block are looked at; 0 = all of them).
MARKS: tuple[tuple[str, str, int], ...] = (
    ("=communicator", "- (?:Init|Destroy|Abort) (?:START|COMPLETE)", 0),
    ("=version", r"NCCL version \d|cudaDriverVersion \d", 0),
    (
        "=network",
        r"NCCL INFO (?:NET/\w+ ?: Using|Using network|Assigned NET plugin|Bootstrap ?: Using|P2P plugin|(?:NET/Plugin ?: L|L)oaded)",
        0,
    ),
    ("=setting", r" set (?:by environment )?to ", 0),
    ("=connected", "Connected all (?:rings|trees)", 0),
    ("=channels", r" \d+ coll channels, ", 0),
    # Thousands of lines a rank: some of each block tell what it uses.
    ("=gdr", r" via NET/\S+/GDRDMA", 1),
    ("=net", r" via NET/\w+/\d+(?:\(\d+\))?(?:/Shared)?\s*$", 1),
    ("=p2p", r" via (?:P2P/|NVLS)", 1),
    ("=shm", r" via (?:SHM|direct shared memory)", 1),
    ("=call", r": opCount [0-9a-f]+ sendbuff", 1),
)

# ncclCommInitRankConfig comm 0x58 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 100000 commId 0x56bea185a98d5193 - Init START
# comm 0x1511d4005e60 rank 31 nranks 64 cudaDev 3 busId 8a000 - Init COMPLETE                                        (2.4 to 2.13)
COMMUNICATOR = regex(
    r"(?:\bcomm (?P<comm>0x[0-9a-f]{1,16}) )?"
    r"\brank (?P<rank>\d{1,7}) n[rR]anks (?P<world>\d{1,7})(?: cudaDev (?P<device>-?\d{1,4}))?(?: nvmlDev -?\d{1,4})?"
    r"(?: busId (?P<bus>[0-9a-f]{1,12}))?(?: commId (?:0x)?(?P<id>[0-9a-f]{1,16}))?"
    r".{0,40}- (?P<what>Init|Destroy|Abort) (?P<how>START|COMPLETE)"
)
# NCCL version 2.21.5+cuda12.4  |  cudaDriverVersion 12040
VERSION = regex(r"NCCL version (\d+\.\d+(?:\.\d+)?)")
DRIVER = regex(r"cudaDriverVersion (\d{1,3})0(\d)\d")
# Bootstrap : Using [0]ib0:10.148.0.57<0> [1]ib1:…  |  Bootstrap: Using eth0:10.0.0.2<0>
BOOTSTRAP = regex(r"Bootstrap ?: Using (?:\[0\])?([^:\s]{1,64}):(?:([\d.]{7,15})<|\[?([0-9a-f:]{2,45})(?:%\S{1,20})?\]?<)?")
# NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.2<0>
HCA = regex(r"\[\d{1,4}\]([\w.-]{1,64}(?::\d{1,3})?)/(\w{1,16})")
# NET/Socket : Using [0]eth0:10.0.0.2<0> [1]ib0:10.1.0.2<0>
SOCKETS = regex(r"\[\d{1,4}\]([\w.@-]{1,32}):")
# Using network IB  |  Using network AWS Libfabric  |  Assigned NET plugin IBext_v10 to comm (since 2.27)
NETWORK = regex(r"(?:Using network|Assigned NET plugin) (.{1,64}?)(?: to comm)?$")
# P2P plugin IBext_v8  |  NET/Plugin: Loaded net plugin AWS Libfabric (v8)
PLUGIN = regex(r"(?:P2P plugin|[Ll]oaded net plugin) (.{1,64}?)(?: \(v\d+\))?$")
# NCCL_IB_HCA set by environment to mlx5_0,mlx5_1.  |  NCCL_SOCKET_IFNAME set to eth0
SETTING = regex(r"^((?:NCCL|TORCH|GLOO|UCX|FI|OMPI|CUDA|NVIDIA)_[A-Z0-9_]{1,80}) set (?:by environment )?to (.{0,1000}?)\.?$")
# Connected all rings, use ring PXN 0 GDR 1: 0 where a connection over the network goes through host memory (since 2.22)
RINGS = regex(r"Connected all rings, use ring PXN \d GDR (\d)")
# 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer
CHANNELS = regex(r"(?:^| )(\d{1,4}) coll channels, ")
# Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA  |  … via P2P/CUMEM  |  … via SHM/direct/direct
VIA = regex(r" via (?:(NET)/([\w ]{1,32})|(P2P|SHM|NVLS|COLLNET)|direct shared (memory))")
# AllReduce: opCount 1c sendbuff 0x7f recvbuff 0x7f count 1024 datatype 7 op 0 root 0 comm 0x55 [nranks=8] stream 0x56
CALL = regex(r"(\w{1,40}): opCount ([0-9a-f]{1,16}) .{0,120}? count (\d{1,20}) .{0,80}?comm (0x[0-9a-f]{1,16})")


class Communicators:
    """All communicators of a job: ranks that began, completed and destroyed each."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.sets: dict[tuple[str, str], dict[int, int]] = {}  # (id, what) → rank → number of the process
        self.mixed: set[str] = set()  # without an id, and claimed by too many: several of one size

    def seen(self, name: str, world: int, rank: int, what: str, process: Process) -> None:
        """A rank does something with a communicator."""
        self.sizes.setdefault(name, world)
        started, done = self.sets.setdefault((name, "start"), {}), self.sets.setdefault((name, "complete"), {})
        if what == "start" and rank in done and done[rank] == process.number:
            self.sets.setdefault((name, "again"), {})[rank] = process.number
        if what == "complete" and name.startswith("#") and done.get(rank, process.number) != process.number:
            self.mixed.add(name)
        {"start": started, "complete": done}.get(what, self.sets.setdefault((name, what), {}))[rank] = process.number

    def facts(self) -> list[Communicator]:
        """The records, by first appearance."""
        made = []
        for order, (name, world) in enumerate((name, world) for name, world in self.sizes.items() if name not in self.mixed):
            started, completed, again, destroyed = (
                sorted(self.sets.get((name, what), ())) for what in ("start", "complete", "again", "destroy")
            )
            met = {*started, *completed}
            made.append(
                Communicator(
                    communicator=name,
                    world=world,
                    started=started,
                    completed=completed,
                    missing=[rank for rank in range(min(world, 1 << 17)) if rank not in met],
                    order=order,
                    again=again,
                    destroyed=destroyed,
                )
            )
        return made


def read_communicator(line: Line, process: Process, known: Communicators) -> None:
    """A communicator is begun, complete, or destroyed."""
    match = COMMUNICATOR.search(line.text)
    if not match:
        return
    rank, world = int(match["rank"]), int(match["world"])
    if rank >= world:
        return
    process.claims.setdefault(world, rank)
    if match["bus"]:
        process.set_first("pci", address(match["bus"]))
    if match["device"]:
        process.device = int(match["device"])
    what = {"Init": match["how"].lower(), "Destroy": "destroy", "Abort": "destroy"}[match["what"]]
    # Who destroys one doesn't name it before 2.18, but by its address.
    name = match["id"] or (process.comms.get(match["comm"] or "") if what == "destroy" else None)
    if name is None:
        if what != "complete":
            return
        nth = process.made[world] = process.made.get(world, 0) + 1
        name = f"#{nth} of {world} ranks"
    if match["comm"]:
        process.comms[match["comm"]] = name
    known.seen(name, world, rank, what, process)
    process.reach_stage("running" if what == "complete" else "init")
    if what == "destroy" and world == max(process.claims):
        process.reach_stage("ended")


def read_version(line: Line, process: Process, _: Communicators) -> None:
    """NCCL's version, or the driver's as CUDA counts it."""
    if match := VERSION.search(line.text):
        process.set_first("nccl_version", match[1])
    if match := DRIVER.search(line.text):
        process.set_first("driver_version", f"CUDA {match[1]}.{match[2]}")


def read_network(line: Line, process: Process, _: Communicators) -> None:
    """Interfaces, HCAs, the network and its plugin."""
    process.reach_stage("init")
    if match := BOOTSTRAP.search(line.text):
        process.set_first("interface", match[1])
        if address_ := match[2] or match[3]:
            process.set_first("address", address_)
    elif match := NETWORK.search(line.text):
        process.set_first("network", match[1].strip())
    elif match := PLUGIN.search(line.text):
        process.set_first("plugin", match[1].strip())
    elif line.text.startswith("NET/IB") and (devices := HCA.findall(line.text)):
        process.hcas = [name for name, _ in devices]
        layers = {"RoCE" if layer == "RoCE" else "IB" for _, layer in devices}
        process.set_first("link_layer", layers.pop() if len(layers) == 1 else "IB, RoCE")
    elif line.text.startswith("NET/Socket") and (names := SOCKETS.findall(line.text)):
        process.set_first("sockets", ", ".join(names[:16]))


def read_setting(line: Line, process: Process, _: Communicators) -> None:
    """A variable that NCCL found set."""
    match = SETTING.match(line.text)
    if match and len(process.settings) < MOST_SETTINGS:
        process.settings[match[1]] = match[2].strip()


def read_connected(line: Line, process: Process, _: Communicators) -> None:
    """The channels are made."""
    process.reach_stage("running")
    if process.gdr is None and (match := RINGS.search(line.text)) and match[1] == "0":
        process.gdr = False


def read_channels(line: Line, process: Process, _: Communicators) -> None:
    """How many channels the collectives of its first communicator have."""
    if match := CHANNELS.search(line.text):
        process.set_first("channels", match[1])


def read_channel(line: Line, process: Process, _: Communicators) -> None:
    """What a channel goes over."""
    match = VIA.search(line.text)
    if not match:
        return
    if match[1]:
        process.transports.add(f"NET/{match[2].strip()}")
        if match[2] != "Socket":
            process.gdr = "GDRDMA" in line.text or bool(process.gdr)
    else:
        process.transports.add(match[3] or "SHM")


HANDLERS: dict[str, Callable[[Line, Process, Communicators], None]] = {
    "=communicator": read_communicator,
    "=version": read_version,
    "=network": read_network,
    "=setting": read_setting,
    "=connected": read_connected,
    "=channels": read_channels,
    "=gdr": read_channel,
    "=net": read_channel,
    "=p2p": read_channel,
    "=shm": read_channel,
}
