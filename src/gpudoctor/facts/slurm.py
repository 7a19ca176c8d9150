"""Facts about a Slurm cluster, as scontrol, sinfo, squeue, sacct, its log files and its configuration tell them."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class SlurmNode(Fact, frozen=True, kw_only=True):
    """A node as the controller sees it. `out`: it takes no new work, and nobody planned that (None: no state was read)."""

    node: str
    state: str = ""  # the base: IDLE, ALLOCATED, MIXED, DOWN, UNKNOWN, FUTURE, ERROR; "" = not shown
    flags: list[str] = []  # DRAIN, NOT_RESPONDING, INVALID_REG, MAINTENANCE, POWERED_DOWN …
    shown: str = ""  # the state as it was printed
    out: bool | None = None
    down: bool = False
    drained: bool = False
    silent: bool = False  # slurmd doesn't answer the controller
    intended: bool = False  # in maintenance, being rebooted, powered down to save energy
    reason: str = ""
    reason_kind: str = ""  # gres_count, memory, shape, kill, prolog, silent, rebooted, launch, health, reboot; knowledge.slurm
    reason_by: str = ""
    since: str = ""  # when the reason was set, as printed: it has no time zone
    restarted: bool = False  # slurmd answers, and has started after the reason was set
    reported: int | None = None  # of a reason with two amounts: what slurmd reported (GPUs; MiB)
    configured: int | None = None
    gpus: int | None = None  # by the controller's Gres
    gpus_allocated: int | None = None
    gres: str = ""
    memory: int | None = None  # RealMemory, MiB
    partitions: list[str] = []
    avail: str = ""  # the state of the partition it is listed in: up, down, drain, inact
    version: str = ""
    logged: bool = False  # told by the controller's log, which may be older than the node's present state


class SlurmJob(Fact, frozen=True, kw_only=True):
    """A job, as the queue or the accounting shows it. Its id stands in `workload`, so that what is found is found on the job."""

    workload: str
    name: str = ""
    user: str = ""
    partition: str = ""
    state: str = ""  # PENDING, RUNNING, FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY …
    reason: str = ""
    wait: str = ""  # of one that doesn't run: nodes, launch, held, impossible, partition, dependency, limit, queue; knowledge.slurm
    nodes: list[str] = []  # it runs or ran on, or waits for
    nodes_text: str = ""  # folded, as Slurm does
    exit_code: int | None = None
    signal: int | None = None
    restarts: int | None = None
    time_limit: str = ""
    limit: float | None = None  # the same in seconds
    elapsed: float | None = None  # seconds that it has run
    gpus: int | None = None  # over all its nodes
    step: str = ""  # sacct: batch, extern, 0


class SlurmGres(Fact, frozen=True, kw_only=True):
    """The GPUs and the memory that a configuration gives a node. `node` is "" in a gres.conf that is each node's own."""

    describes = True
    node: str = ""
    file: str  # slurm.conf, gres.conf; "slurmd -C" for what slurmd finds on the machine
    devices: int | None = None  # None: left to detection
    types: list[str] = []
    detected: str = ""  # AutoDetect: nvml, nvidia, off …
    memory: int | None = None  # RealMemory, MB
