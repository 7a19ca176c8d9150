"""Facts about a machine below Kubernetes: how it is reached, its bus, its kernel modules, services and processes."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Host(Fact, frozen=True, kw_only=True):
    """A machine that the question is about. `local` is this machine."""

    node: str
    local: bool = False


class PciDevice(Fact, frozen=True, kw_only=True):
    """One NVIDIA or Mellanox device on the PCI bus, as lspci shows it."""

    node: str = ""
    gpu: str = ""  # its PCI address where it is a GPU
    pci: str
    vendor: str = ""  # 10de
    device: str = ""  # 2330
    kind: str = ""  # gpu, switch, bridge, audio, nic, other
    product: str = ""
    revision: str = ""  # ff: the device doesn't answer
    driver: str | None = None  # kernel driver in use, "" = none; None = not shown
    width: int | None = None
    width_max: int | None = None
    speed: float | None = None  # GT/s
    speed_max: float | None = None
    bars_unassigned: int = 0
    answers: bool = True  # False: revision ff, or "Unknown header type 7f"


class KernelModule(Fact, frozen=True, kw_only=True):
    """A loaded kernel module. For `nvidia` also its version and flavour, from /proc/driver/nvidia/version."""

    node: str = ""
    module: str
    loaded: bool = True
    version: str = ""
    open: bool | None = None
    users: int | None = None


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
    among: str = ""  # node, run
