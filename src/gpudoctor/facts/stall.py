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
    diverged: bool = False  # the loss of the last one that tells it is no number
    step: int | None = None  # the last one
    total: int | None = None  # that there shall be, where the lines say so
    seconds: float | None = None  # for one step, the median
    slower: float | None = None  # how many times longer steps take since the change at `since`; 1.0 without a lasting change
    slower_clear: bool = False  # that change is many times what steps otherwise differ by
    since: int | None = None  # step
    data_share: float | None = None  # of a step's time that it waits for data, by the program's own clock; 0 to 1
    slowest: str = ""  # the ranks or nodes that were last in the last line that compares them
    slowest_by: float | None = None  # how many times longer than the others they took
    memory: float | None = None  # MiB that it has allocated on its GPU, by the last line
    memory_rise: float | None = None  # MiB by which that grew from quarter to quarter of the lines, else 0
    memory_climb: float | None = None  # MiB by which the highest so far grew, where it did by the same from line to line, else 0
    memory_climb_few: float | None = None  # MiB by which it grew by the same over a few lines, one for each epoch as a rule; else 0
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
    """A process that sleeps where it can't be interrupted (D), or that has ended and wasn't waited for (Z); or a worker of a
    data loader (S) that stands in a lock."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    pid: int
    process: str = ""
    state: str  # D, Z
    channel: str = ""  # the kernel's function that it sleeps in
    waits_in: str = ""  # network_file_system, disk, driver, lock, "" = not known
    used: str = ""  # the time of a CPU that it has used, as it was printed, of a worker
    seconds: float | None = None  # that it has lived
    listed: int = 1  # lists of one text, made one after the other, that show it so, without time on a processor in between
    ranks_beside: int = 0  # of one that has ended: the processes of ranks that its launcher has beside it
    missing_text: str = ""  # and the local rank that none of them is, where their command lines name theirs


class Orphan(Fact, frozen=True, kw_only=True):
    """A worker of a server or launcher whose parent is process 1."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    pid: int
    process: str = ""
    parent_gone: bool = False  # process 1 isn't the server itself: it is an init, or a process that was asked for isn't there


class Measure(Fact, frozen=True, kw_only=True):
    """One number that a tool or a log states of a machine, a program or a service. Shares are 0 to 1, times seconds.

    Of a machine or container: memory_share, memory_peak and memory_limit (bytes), cpu_idle, io_wait, cpu_throttled, cpus, disk_busy,
    host_copy (GB/s between the host and a GPU, `of`: that of most), file_versions (of one file on several machines, `label`: its path),
    ecc_corrected_rise and gpu_memory_share (of a GPU, by a query, `label`: which),
    rpc_backlog (`of`: calls answered a second), path_silent (`label`: the path), list_open (a list of processes that was ended by hand,
    `label`: what it was asked through), look_open (the same of a look at files, `label`: the command), memory_temperature (°C, of a GPU's
    memory, the highest).
    Of a program: call_open (a system call that had not returned, `label`: its name), call_seconds (one call), major_faults (a second),
    data_share, sm_efficiency, gpu_utilisation, since_progress (`of`: what a step takes), step_clock (second of the day of the last step,
    `of` as before), clock (that of `date`), exit_code, gpu_unused (seconds that somebody had GPUs, `label`: who).
    Of a service, `label` being which: latency, latency_objective, error_share, goodput_share, queue_ratio, requests_waiting,
    cache_share; means of seconds: first_token_seconds, queue_seconds, prefill_seconds, decode_seconds (`of`: the whole request).
    """

    node: str = ""
    namespace: str = ""
    pod: str = ""
    quantity: str
    value: float
    of: float | None = None
    label: str = ""  # ttft p99, errors


class GpuUse(OfGpu, frozen=True, kw_only=True):
    """What the samples of one GPU say of its use. Shares are 0 to 1; means are over the samples that have the value."""

    samples: int = 0
    seconds: float = 0.0  # between the first and the last sample
    averaged: bool = False  # they are means over two minutes and more
    state: str = ""  # idle, spins (a kernel runs all the time and does next to nothing), works, "" = can't be told
    utilisation: float | None = None  # per cent of the time with a kernel, the mean
    utilisation_lowest: float | None = None  # the 5th percentile
    utilisation_highest: float | None = None  # the 95th
    idle_share: float | None = None  # of the samples without work
    worked_before: bool | None = None  # it had work before the last ten minutes of the samples
    sm_active: float | None = None
    tensor_active: float | None = None
    power: float | None = None  # W
    power_share: float | None = None  # of the limit
    power_steady: bool | None = None  # it hardly varies from sample to sample
    sm_clock: float | None = None  # MHz
    temperature: float | None = None  # °C, the same
    fastest_sm_clock: float | None = None  # the highest of the other GPUs of the same product that run a kernel all the time
    fastest_temperature: float | None = None  # of that GPU
    power_limit: float | None = None  # W
    # Of the other GPUs of the node of the same product that run a kernel all the time, where their clocks agree: medians
    loaded_peers: int = 0
    loaded_sm_clock: float | None = None
    loaded_power: float | None = None
    loaded_power_spread: float | None = None  # between them, as a share of it
    loaded_temperature: float | None = None
    usual_power_limit: float | None = None  # that most of the other GPUs of the same product have
    memory_used: float | None = None  # MiB, in the last sample
    memory_share: float | None = None  # of what programs can have, the lowest of the samples
    memory_rise: float | None = None  # MiB, where it grows from quarter to quarter of the samples, else 0
    memory_climb: float | None = None  # MiB, where it grew by about the same from sample to sample, in one life of the program; else 0
    memory_lives: int = 0  # in which it grew so: after a restart it began anew
    processes: int | None = None  # that compute on it, as far as this view sees them; None = nobody listed any
    held: bool | None = None  # a program has memory on it, or a pod has it
    holder: str = ""  # NAMESPACE/POD, or job N
    held_for: float | None = None  # s that a job has had it, of one with nothing in its memory
    together: bool = False  # all GPUs of the node that are held are held by one pod, or by programs of one name
    peers: int = 0  # other GPUs of the node of the same product that are held
    usual_utilisation: float | None = None  # medians over the peers
    usual_sm_active: float | None = None
    peers_work: bool = False  # a tenth of the time and more, and none only waits with a kernel
    apart: float | None = None  # SM activity, else utilisation / 100, less that of the peers, where the peers agree


class GpuPrograms(OfGpu, frozen=True, kw_only=True):
    """The programs that compute on one GPU, by the memory that the driver lists for each; MiB."""

    programs: int = 0
    pid: int = 0  # of the one that has most
    process: str = ""
    memory: int = 0
    others: int = 0  # of all others together
    strangers: int = 0  # programs that have several times as much on another GPU
    spread: int = 0  # programs that are on other GPUs too
    gpus: int = 1  # that the largest program is on
    seconds: float = 0.0  # between the first and the last reading
    memory_rise: float | None = None  # of the largest one, where it grows from quarter to quarter of the readings, else 0
    memory_climb: float | None = None  # the same where it grew by about the same from reading to reading


class EngineLoad(Fact, frozen=True, kw_only=True):
    """How many requests one engine of a server has; medians of its newest reports."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    engine: str
    engines: int = 0
    running: float = 0.0
    waiting: float = 0.0
    others_running: float = 0.0  # of the other engine that has most
    others_waiting: float = 0.0


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
    spread: float | None = None  # of SM activity, else utilisation / 100, between the most and the least active, where all work
    samples: int = 0  # of the GPU that was sampled least
    seconds: float = 0.0
    power_share: float | None = None  # of the limit, over all GPUs
    power_share_highest: float | None = None
