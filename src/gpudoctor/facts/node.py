"""Facts about a machine below Kubernetes: how it is reached, its bus, its kernel modules, services and processes."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Host(Fact, frozen=True, kw_only=True):
    """A machine that the question is about. `local` is this machine."""

    node: str
    local: bool = False


class PciDevice(Fact, frozen=True, kw_only=True):
    """One NVIDIA or Mellanox device on the PCI bus, as lspci shows it. Kind `none`: the bus was listed and has no device of NVIDIA."""

    node: str = ""
    gpu: str = ""  # its PCI address where it is a GPU
    pci: str  # without the function where it is a GPU
    vendor: str = ""  # 10de
    device: str = ""  # 2330
    kind: str = ""  # gpu, virtual (a function of a GPU that is shared between virtual machines), switch, bridge, audio, nic, other, none
    product: str = ""
    infiniband: bool = False  # of the class of InfiniBand controllers
    slot: str = ""  # as the machine's firmware calls it
    revision: str = ""  # ff: the device doesn't answer
    driver: str | None = None  # kernel driver in use, "" = none; None = not shown
    modules: list[str] | None = None  # the modules of the running kernel that could drive it; None = not shown
    width: int | None = None
    width_max: int | None = None
    speed: float | None = None  # GT/s
    speed_max: float | None = None
    bars_unassigned: int = 0
    fatal: bool = False  # its status says that it had a fatal error since somebody cleared it
    answers: bool = True  # False: revision ff, or "Unknown header type 7f"


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module. For `nvidia` also its version and flavour, from /proc/driver/nvidia/version."""

    describes = True
    node: str = ""
    module: str
    loaded: bool = True
    version: str = ""
    open: bool | None = None
    users: int | None = None


class Clock(Fact, frozen=True, kw_only=True):
    """What a machine's time daemon says of its clock."""

    node: str = ""
    leap: str = ""  # Normal, Insert second, Delete second, Not synchronised; "" = not shown
    offset: float | None = None  # seconds between the clock and NTP time, never below 0
    fast: bool = False  # the clock is ahead of NTP time
    stratum: int | None = None
    reference: str = ""  # the name or address of the server that it follows


class Unit(Fact, frozen=True, kw_only=True):
    """A systemd unit, as `systemctl show` prints it."""

    node: str = ""
    unit: str
    load: str = ""  # loaded, not-found, masked
    active: str = ""  # active, inactive, failed, activating
    sub: str = ""
    result: str = ""
    enabled: str = ""


class ProcessPod(Fact, frozen=True, kw_only=True):
    """Which pod and container a process belongs to, from its control group."""

    describes = True
    node: str = ""
    pid: int
    pod_uid: str = ""
    container_id: str = ""


class Outlier(Fact, frozen=True, kw_only=True):
    """A value of a GPU or node that stands out against the others of its node, or against the other nodes of the run."""

    node: str = ""
    gpu: str = ""
    field: str  # driver_version, vbios, count, sm_clock_max, power_limit, temperature …
    value: str
    usual: str
    peers: int  # how many have the usual value
    below: bool | None = None  # it is the smaller number; None: they are no numbers
    among: str = ""  # node, run


class GpuRow(Fact, frozen=True, kw_only=True):
    """One row of the table of GPUs: those that are equal but for temperature and power stand in one. Not about one subject."""

    machines: str  # folded: gpu-[01-16]
    which: str  # "all 8", "GPU 3", "GPUs 0-2,5"; of several machines how many: 128
    product: str = ""
    driver: str = ""
    temperature: str = ""  # 34-41 °C
    draws: str = ""  # 70-120 W
    ecc: str = ""  # uncorrected errors since the driver was loaded: 0, 2, off, ?
    remapped: str = ""  # rows: 0, 3, pending, failed, ?
    state: str = ""  # ok, or what the driver says of it
