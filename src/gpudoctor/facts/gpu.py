"""Facts about the GPU as nvidia-smi, NVML and DCGM show it. Field names follow nvidia-smi's query fields; units are in the comments.

A value that reads N/A is None with the word in `gaps`; one that reads as an error (ERR!, [Unknown Error]) is named in `unreadable` too.
"""

from __future__ import annotations

from gpudoctor.facts.base import Fact, OfGpu


class Smi(Fact, frozen=True, kw_only=True):
    """One answer of nvidia-smi or NVML as a whole, on a node or inside a pod.

    `problem` is "" for a table or a list, else a neutral word for the error text: mismatch, unknown_error, driver_not_loaded,
    library_missing, no_devices, gpu_lost, insufficient_permissions, not_found (no nvidia-smi program), timeout, reset_required,
    in_use, power_cable, interrupt, inforom, other.
    """

    node: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    inside: str = ""  # pod, node, "" = not known
    problem: str = ""
    waited: float | None = None  # seconds for an answer that did not come
    text: str = ""
    driver_version: str | None = None
    library_version: str | None = None  # of libnvidia-ml, where the text names it
    cuda_version: str | None = None
    gpus: int | None = None
    mig: bool | None = None
    mig_profiles: list[str] = []  # the sizes of the instances that -L names: 1g.10gb, 3g.40gb

    @property
    def tells(self) -> bool:
        """Whether a GPU or a known error was seen."""
        return bool(self.problem or self.gpus)


class Gpu(Fact, frozen=True, kw_only=True):
    """One GPU as nvidia-smi, NVML or DCGM sees it."""

    node: str = ""
    gpu: str = ""  # UUID, else PCI address
    uuid: str = ""
    pci: str = ""  # canonical: domain:bus:device, for example 0000:1b:00
    index: int | None = None
    minor: int | None = None  # N of /dev/nvidiaN
    product: str = ""
    serial: str = ""
    part_number: str = ""
    vbios: str = ""
    inforom: str = ""  # image version
    gsp_firmware: str = ""
    driver_version: str = ""
    persistence: bool | None = None
    compute_mode: str | None = None  # Default, Exclusive_Process, Prohibited
    mig_mode: str | None = None  # Enabled, Disabled
    mig_pending: str | None = None
    pstate: int | None = None  # 0 is the fastest
    # memory, MiB
    memory_used: int | None = None
    memory_total: int | None = None
    memory_reserved: int | None = None
    bar1_total: int | None = None
    utilisation: int | None = None  # per cent of time with a kernel running
    processes: int | None = None  # that hold it, as far as this view sees them
    # temperature, °C; `margin` is T.Limit, the degrees left before slowdown
    temperature: int | None = None
    memory_temperature: int | None = None
    margin: int | None = None
    margin_slowdown: int | None = None  # the margin at which the hardware slows the card down: 0 or below
    temperature_max_operating: int | None = None
    temperature_slowdown: int | None = None
    temperature_shutdown: int | None = None
    memory_temperature_max: int | None = None
    fan: int | None = None  # per cent
    # power, W
    power: float | None = None
    power_average: float | None = None
    power_limit: float | None = None  # enforced now
    power_limit_default: float | None = None
    power_limit_max: float | None = None
    # clocks, MHz; `reasons` are names of knowledge/clock_reasons
    sm_clock: int | None = None
    sm_clock_max: int | None = None
    memory_clock: int | None = None
    application_clock: int | None = None
    application_clock_default: int | None = None
    reasons: list[str] | None = None
    # PCIe; `_max` is what device and slot can do together, `_device` and `_host` what each can
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_gen_device: int | None = None
    pcie_gen_host: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    pcie_replays: int | None = None
    # ECC: volatile since the driver was loaded, aggregate over the card's life
    ecc_mode: bool | None = None
    ecc_pending: bool | None = None
    ecc_corrected_volatile: int | None = None
    ecc_uncorrected_volatile: int | None = None
    ecc_corrected_aggregate: int | None = None
    ecc_uncorrected_aggregate: int | None = None
    sram_uncorrected_volatile: int | None = None
    sram_uncorrected_aggregate: int | None = None
    sram_threshold_exceeded: bool | None = None
    # row remapping (Ampere and later), page retirement (before)
    remap_pending: bool | None = None  # a memory row waits to be remapped at the next reset
    remap_failed: bool | None = None
    remapped_correctable: int | None = None
    remapped_uncorrectable: int | None = None
    remap_banks_none: int | None = None  # banks without a spare row left
    retired_pages: int | None = None
    retired_double: int | None = None  # of them, after an error of two bits, which can't be corrected
    retired_pending: bool | None = None
    # state
    recovery_action: str | None = None  # none, reset, reboot, drain_p2p, drain_and_reset, recover_imex
    fabric_state: str | None = None  # Completed, In Progress, Not Started, …
    fabric_status: str | None = None  # Success, …
    fabric_health: str | None = None  # summary: Healthy, Unhealthy, Limited Capacity
    cluster_uuid: str | None = None
    unreadable: list[str] = []  # fields that read ERR!, [Unknown Error], [GPU requires reset]
    problem: str = ""  # what the first of them reads, as a word of Smi.problem: unknown_error, gpu_lost, reset_required, timeout


class GpuProcess(Fact, frozen=True, kw_only=True):
    """A process that holds a GPU, as the driver lists it. `namespace` and `pod` where something tied it to a pod."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    pid: int
    process: str = ""
    kind: str = ""  # C compute, G graphics, M MPS client
    memory: int | None = None  # MiB
    namespace: str = ""
    pod: str = ""


class GpuSample(OfGpu, frozen=True, kw_only=True):
    """What a GPU did at one moment; `time` is that moment. Counters grow since the driver was loaded."""

    local_clock = True
    temperature: float | None = None  # °C
    memory_temperature: float | None = None
    margin: float | None = None  # T.Limit, degrees left
    # what DCGM says of the board's own limits, °C
    temperature_max_operating: float | None = None
    temperature_slowdown: float | None = None
    temperature_shutdown: float | None = None
    memory_temperature_max: float | None = None
    power: float | None = None  # W
    power_limit: float | None = None
    power_limit_default: float | None = None
    power_share: float | None = None  # of the limit, 0 to 1, where only that was told
    sm_clock: float | None = None  # MHz
    sm_clock_max: float | None = None
    application_clock: float | None = None
    memory_clock: float | None = None
    utilisation: float | None = None  # per cent
    memory_utilisation: float | None = None  # per cent of the time in which device memory was read or written
    memory_used: float | None = None  # MiB
    memory_free: float | None = None
    memory_total: float | None = None
    # DCGM's profiling counters, 0 to 1
    engine_active: float | None = None
    sm_active: float | None = None
    tensor_active: float | None = None
    dram_active: float | None = None
    holder: str = ""  # NAMESPACE/POD to which the exporter maps the GPU
    span: float = 0.0  # s, where the values are means over so long a time before `time`
    every: float | None = None  # s since the GPU's sample before, where no time is known
    pstate: int | None = None
    fan: float | None = None
    reasons: list[str] | None = None  # names of knowledge/clock_reasons; None = not asked
    throttled: dict[str, float] = {}  # reason → seconds since driver load, where counters were read
    ecc_corrected: int | None = None  # volatile
    processes: int | None = None  # that hold it, where only their number was told
    seen_by: str = ""  # whose reading it is: nvidia-smi, NVML, DCGM


class Throttling(OfGpu, frozen=True, kw_only=True):
    """What the samples of one GPU add up to. Shares are 0 to 1 of the samples; "busy" is a sample with work, by pstate and utilisation."""

    local_clock = True
    samples: int = 0
    seconds: float = 0.0  # between the first and the last sample
    busy: float | None = None
    idle: bool = False  # in all samples, by the driver's own word where it was read
    share: dict[str, float] = {}  # reason → share of the samples in which it was active; more where its counter tells more
    rose: dict[str, float] = {}  # reason → seconds by which its counter grew
    temperature: float | None = None  # the highest
    memory_temperature: float | None = None
    margin: float | None = None  # the lowest; where it wasn't read, what is left to the board's maximum operating temperature
    hot: bool = False  # nothing is left of the margin, and no reasons were read, which would tell whether that slows it down
    at_slowdown: bool = False  # as hot as the card itself says that its hardware slows it down, or shuts it down, at
    limit: float | None = None  # °C, at which the driver begins to lower the clocks: the card's own word, else the product's
    # The SM clock beside the temperature at full load, where no reasons were read: `fell` is by how many per cent it is lower where the
    # card is hottest than where it is coolest, known only where the one falls as the other rises.
    fell: float | None = None
    fell_at_limit: bool = False  # near the card's own limit, and below its power limit
    course: str = ""  # 1980 MHz at 70 °C, 1200 MHz at 90 °C
    memory_margin: float | None = None  # what is left to the memory's maximum operating temperature
    fan: float | None = None  # per cent, the lowest
    power: float | None = None  # mean, of busy samples where there are some
    power_limit: float | None = None
    power_limit_default: float | None = None
    power_limit_before: float | None = None  # until it was lowered once, while somebody watched, and stayed so
    at_limit: float | None = None  # share of the samples since then in which the GPU draws all that it may
    at_lowered_limit: float | None = None  # the same of a limit below the default, where no reasons were read
    sm_clock: float | None = None  # mean, of busy samples where there are some
    sm_clock_lowest: float | None = None
    sm_clock_reference: float | None = None  # what it is compared with: the maximum; the application clock where that holds it
    loss: float | None = None  # per cent of SM clock below the reference, 0 when not below
    clock: str = ""  # the three as a person reads them: 1200 of 1980 MHz (-39 %)
    cost: str = ""  # the clock, and what compute-bound work is expected to lose by it
    held_by: list[str] = []  # the reasons with a share above 0, most first
    stuck: list[str] = []  # fields whose reading can't be true: power, temperature
    views: str = ""  # two tools' readings of one moment that can't both be true: 45 °C by nvidia-smi, 90 °C by DCGM
    silent: float = 0.0  # s, the longest time without a reading in a series, where that is longer than it should be
    neighbours: int = 0  # other GPUs of the node in the samples
    neighbours_throttled: int = 0  # of them, with a thermal or power-brake reason
    neighbours_temperature: float | None = None  # median of their highest
    nodes_throttled: int = 0  # other nodes of the run with such a GPU
    nodes: int = 0  # other nodes of the run
    side: str = ""  # card, chassis, row, "" = can't be told
    ecc_corrected_rise: int | None = None


class NvLink(OfGpu, frozen=True, kw_only=True):
    """One NVLink of a GPU: its state, and the error counters where they were read. `link` None stands for all links of the GPU."""

    link: int | None = None
    state: str = ""  # active, inactive, disabled, not_supported, "" = not said
    speed: float | None = None  # GB/s
    remote: str = ""  # PCI address or kind of what is at the other end
    replay_errors: int | None = None
    recovery_errors: int | None = None
    crc_errors: int | None = None
    other_errors: dict[str, int] = {}  # further counters under the names that nvidia-smi prints


class GpuPath(Fact, frozen=True, kw_only=True):
    """One cell of `nvidia-smi topo`: how two devices of a node reach each other.

    `matrix`: m, or r w n a p of -p2p ("": one of these); t: what one of CUDA's own tests found, in the words of -p2p.
    """

    describes = True
    node: str = ""
    matrix: str = "m"
    one: str  # GPU0, NIC3
    other: str
    path: str  # NV18, SYS, NODE, PHB, PXB, PIX, X; for -p2p OK, NS, CNS, GNS, TNS, DR, NP, U


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
