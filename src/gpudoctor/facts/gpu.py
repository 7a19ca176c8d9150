"""Facts about the GPU, its driver and the kernel log."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Smi(Fact, frozen=True, kw_only=True):
    """One answer of nvidia-smi as a whole, on a node or inside a pod.

    `problem` is "" for a table or a list, else a neutral word for the error text: mismatch, unknown_error, driver_not_loaded,
    library_missing, no_devices, gpu_lost, insufficient_permissions, not_found (no nvidia-smi program), timeout, reset_required, other.
    """

    node: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    inside: str = ""  # pod, node, "" = not known
    problem: str = ""
    text: str = ""
    driver_version: str | None = None
    cuda_version: str | None = None
    gpus: int | None = None
    mig: bool | None = None


class Gpu(Fact, frozen=True, kw_only=True):
    """One GPU as nvidia-smi or NVML sees it."""

    node: str = ""
    gpu: str = ""  # UUID, else PCI address
    uuid: str = ""
    pci: str = ""  # canonical: domain:bus:device, for example 0000:1b:00
    index: int | None = None
    product: str = ""
    mig_mode: str | None = None
    memory_used: int | None = None  # MiB
    memory_total: int | None = None
    utilisation: int | None = None  # per cent
    temperature: int | None = None  # °C
    remap_pending: bool | None = None  # a memory row waits to be remapped at the next reset
    remap_failed: bool | None = None
    unreadable: list[str] = []  # fields that read ERR!, [Unknown Error], [GPU requires reset]


class Xid(Fact, frozen=True, kw_only=True):
    """One NVRM Xid line of the kernel log, or the device plugin's word of it."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    code: int
    pid: int | None = None
    process: str = ""
    text: str = ""
    age: float | None = None
    count: int = 1


class Allocation(Fact, frozen=True, kw_only=True):
    """A program's failed allocation on a GPU, in bytes, as its allocator reports it."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    tried: int
    total: int  # of the GPU
    free: int
    allocated: int  # in use by the program's tensors
    cached: int  # held by the program's allocator and not in use
    elsewhere: int  # neither: other processes, and this one's CUDA context and libraries (some hundred MiB)
