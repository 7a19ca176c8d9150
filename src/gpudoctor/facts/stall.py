"""Facts of work that goes on slowly or not at all: how GPUs are used, the pace of a training loop, file systems, sleeping processes."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, OfGpu


class Pace(Fact, frozen=True, kw_only=True):
    """How a training loop goes, by its own lines of progress; of one process of one log. Times in seconds."""

    job: str = ""
    node: str = ""
    namespace: str = ""
    pod: str = ""
    rank: int | None = None
    lines: int = 0  # of progress
    step: int | None = None  # the last one
    total: int | None = None  # that there shall be, where the lines say so
    seconds: float | None = None  # for one step, the median
    slower: float | None = None  # how many times longer steps take since the change at `since`; 1.0 without a lasting change
    since: int | None = None  # step
    data_share: float | None = None  # of a step's time that it waits for data, by the program's own clock; 0 to 1
    slowest: str = ""  # the ranks or nodes that were last in the last line that compares them
    slowest_by: float | None = None  # how many times longer than the others they took
    memory: float | None = None  # MiB that it has allocated on its GPU, by the last line
    memory_rise: float | None = None  # MiB by which that grew from quarter to quarter of the lines, else 0
    memory_never_falls: bool = False  # from line to line
    last: float | None = None  # when the last line of progress was written
    every: float | None = None  # between two lines of progress, the median
    silent: float | None = None  # since the last line of progress, until the log was read or wrote its last line
    went_on: float | None = None  # of that, until the last line of anything in the same log


class FileSystem(Fact, frozen=True, kw_only=True):
    """One row of `df`: space or inodes. `problem` is timeout where the command did not return."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    device: str = ""
    mount: str = ""
    kind: str = ""  # nfs4, lustre, xfs …, where it was asked for
    counts: str = "space"  # or inodes
    size: float | None = None  # bytes, or inodes
    free: float | None = None
    use: float | None = None  # per cent
    remote: bool = False  # served over a network
    full: bool = False  # nothing is left of what can be written to
    problem: str = ""


class Process(Fact, frozen=True, kw_only=True):
    """A process that sleeps where it can't be interrupted (D), or that has ended and wasn't waited for (Z)."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    pid: int
    process: str = ""
    state: str  # D, Z
    channel: str = ""  # the kernel's function that it sleeps in
    waits_in: str = ""  # network_file_system, disk, driver, "" = not known
    seconds: float | None = None  # that it has lived


class GpuUse(OfGpu, frozen=True, kw_only=True):
    """What the samples of one GPU say of its use. Shares are 0 to 1; means are over the samples that have the value."""

    samples: int = 0
    seconds: float = 0.0  # between the first and the last sample
    state: str = ""  # idle, spins (a kernel runs all the time and does next to nothing), works, "" = can't be told
    utilisation: float | None = None  # per cent of the time with a kernel, the mean
    utilisation_lowest: float | None = None  # the 5th percentile
    utilisation_highest: float | None = None  # the 95th
    idle_share: float | None = None  # of the samples without work
    worked_before: bool | None = None  # it had work before the last ten minutes of the samples
    sm_active: float | None = None
    tensor_active: float | None = None
    dram_active: float | None = None
    power: float | None = None  # W
    power_share: float | None = None  # of the limit
    power_steady: bool | None = None  # it hardly varies from sample to sample
    sm_clock: float | None = None  # MHz
    fastest_sm_clock: float | None = None  # the highest of the other GPUs of the node of the same product that run a kernel all the time
    memory_used: float | None = None  # MiB, in the last sample
    memory_share: float | None = None  # of what programs can have, the lowest of the samples
    memory_rise: float | None = None  # MiB, where it grows from quarter to quarter of the samples, else 0
    processes: int | None = None  # that compute on it, as far as this view sees them; None = nobody listed any
    held: bool | None = None  # a program has memory on it, or a pod has it
    holder: str = ""  # NAMESPACE/POD
    together: bool = False  # all GPUs of the node that are held are held by one pod, or by programs of one name
    peers: int = 0  # other GPUs of the node of the same product that are held
    usual_utilisation: float | None = None  # medians over the peers
    usual_sm_active: float | None = None
    usual_power_share: float | None = None
    apart: float | None = None  # SM activity, else utilisation / 100, less that of the peers, where the peers agree


class NodeUse(Fact, frozen=True, kw_only=True):
    """How the GPUs of one node that programs hold are used."""

    node: str = ""
    gpus: int = 0  # that were sampled
    held: int = 0
    idle: int = 0  # of those that are held
    spinning: int = 0
    working: int = 0
    unsaid: int = 0  # nothing tells whether somebody holds them
    unread: int = 0  # of which nothing but power or memory was read, so that what they do isn't known
    fell: int = 0  # of those that are held: they worked before the last ten minutes, and now are idle or spin
    odd: list[str] = []  # held GPUs that are idle while the others spin, by index
    odd_text: str = ""
    steady: bool | None = None  # the power of all that spin hardly varies
    together: bool = False  # one pod, or programs of one name, hold them
    samples: int = 0  # of the GPU that was sampled least
    seconds: float = 0.0
    power_share: float | None = None  # of the limit, over all GPUs
    power_share_highest: float | None = None
