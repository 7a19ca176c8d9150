"""Facts of a distributed job, as its ranks' logs, its flight recorder and its launcher tell them.

A rank is named by its number where a line says it; else by host, process and device. Hosts' clocks differ: an order between hosts is
sure only by what one says of another.
"""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Rank(Fact, frozen=True, kw_only=True):
    """One process of a distributed job, from everything that was read of it."""

    job: str = ""
    rank: int | None = None  # global
    node: str = ""  # host name, as the log has it
    namespace: str = ""
    pod: str = ""
    source: str = ""  # the file or pod that it was read from
    pid: int | None = None
    device: int | None = None  # CUDA device index
    pci: str = ""
    gpu: str = ""
    holds: str = ""  # the GPU that it prints or NCCL says it has: PCI address, UUID, or its number among CUDA_VISIBLE_DEVICES
    world: int | None = None  # number of ranks, by its own word
    # what it runs with
    nccl_version: str = ""
    driver_version: str = ""
    torch_version: str = ""
    network: str = ""  # IB, Socket, OFI, … as NCCL names what it uses
    plugin: str = ""
    interface: str = ""  # of the bootstrap
    address: str = ""  # on that interface
    hcas: list[str] = []
    sockets: str = ""  # the interfaces of NCCL's network over sockets, with commas
    link_layer: str = ""  # IB, RoCE, "" = not said
    gdr: bool | None = None  # GPUDirect RDMA in use
    transports: list[str] = []  # P2P, SHM, NET/IB, NET/Socket, NVLS …
    channels: str = ""  # of the collectives of its first communicator: all ranks of one must have the same number
    settings: dict[str, str] = {}  # NCCL_*, TORCH_NCCL_*, GLOO_*, UCX_*, FI_* that it reports
    # how far it came
    stage: str = ""  # started, rendezvous, init, running, ended; the furthest that its own words show
    set_up_last: bool = False  # its log ends with what NCCL says while it is set up
    last: float | None = None  # time of its last line
    said: str = ""  # its last line
    step: int | None = None  # training iteration
    # how it ended
    error: str = ""  # name of the known message that is its first error
    error_text: str = ""
    error_time: float | None = None
    survivor: bool | None = None  # its first error only says that another one is gone
    ras: str = ""  # what RAS says of its process: answers, unresponsive, dead; left = no longer in the communicator
    exit_code: int | None = None
    signal: int | None = None


class Communicator(Fact, frozen=True, kw_only=True):
    """One NCCL communicator: who began and who completed its set-up."""

    job: str = ""
    communicator: str  # commId
    world: int | None = None
    started: list[int] = []
    completed: list[int] = []
    missing: list[int] = []  # of 0 … world - 1, neither started nor completed
    order: int = 0  # of the communicators of the job, by first appearance
    again: list[int] = []  # ranks that began it once more after they had completed it
    destroyed: list[int] = []
    group: str = ""  # what the framework calls it: default_pg, TP 3
    members: str = ""  # its global ranks, folded: 0-7,16
    status: str = ""  # by RAS: init, running, finalize, abort, nocomm; the furthest of its ranks
    errors: list[str] = []  # by RAS: mismatch, error, incomplete
    count: int = 1  # communicators that it stands for, where RAS tells them together


class Collective(Fact, frozen=True, kw_only=True):
    """One operation of a rank that somebody reports: the watchdog, the flight recorder, RAS."""

    job: str = ""
    rank: int | None = None
    node: str = ""
    group: str = ""  # process group: name or description
    sequence: int | None = None
    operation: str = ""  # ALLREDUCE, in NCCL's own word without a prefix
    elements_in: int | None = None
    elements_out: int | None = None
    sizes: str = ""  # [[1024], [8]] of the flight recorder
    dtype: str = ""
    state: str = (
        ""  # scheduled, started, completed, timed_out; launched: by RAS or a call of NCCL, which do not know whether it is completed
    )
    timeout: float | None = None  # seconds
    waited: float | None = None
    frames: list[str] = []  # file:line function, innermost first
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None
    count: int = 1  # ranks that it stands for, where RAS counts them without a name (`rank` is then None)


class CollectiveTest(Fact, frozen=True, kw_only=True):
    """One test of nccl-tests: what it ran on, how far it came, what it measured."""

    node: str = ""  # where it ran on one
    namespace: str = ""
    pod: str = ""
    hosts: int = 0  # that its list of devices names, 0 = no list
    ranks: int = 0
    product: str = ""  # of the first rank
    rows: int = 0  # of its table: sizes that it is done with
    largest: int = 0  # bytes
    bandwidth: float | None = None  # GB/s on the bus, the best of the sizes that are large enough to measure it
    wrong: int = 0  # results that it found wrong
    out_of_bounds: int | None = None  # the same by its closing line
    ended: bool = False  # its last lines are there
    average: float | None = None  # GB/s, by its closing line
    mean: float | None = None  # GB/s, of the rows that are there: what the average was made of, unless some are missing


class Job(Fact, frozen=True, kw_only=True):
    """What all ranks together show: the kind of failure, who was first, who is behind. A measurement, no cause."""

    job: str = ""
    world: int | None = None  # how many ranks there should be
    seen: int = 0
    kind: str = ""  # rendezvous, init, first_collective, hang, died, slow, ended, running, "" = can't be told
    missing: list[int] = []  # ranks of which nothing was read
    missing_text: str = ""  # folded: 3, 17-24
    first: int | None = None  # rank with the first error that isn't a survivor's
    first_node: str = ""
    first_error: str = ""  # its name
    first_text: str = ""
    behind: list[int] = []  # ranks whose last operation lies behind the others'
    behind_text: str = ""
    operation: str = ""  # that the others wait in
    sequence: int | None = None
    group: str = ""
    disagreement: str = ""  # operation, size, dtype: ranks at the same number do different things
    together: bool | None = None  # all ranks wait at the same operation and number
    namespace: str = ""
    workload: str = ""  # KIND/NAME, where its pods were read
    node: str = ""  # when all its ranks are on one host
    nodes: int = 0  # different hosts of its ranks
    failing: int = 0  # ranks with an error of their own: one is a fault, all of them are a mistake in common
    first_said: str = ""  # its error and how it ended, in words
    first_pod: str = ""
    first_signal: int | None = None
    first_exit: int | None = None
    lost: int = 0  # ranks that only say that another one is gone, or were ended because of it
    accuses: bool = False  # the first error is of a connection to another rank: who names it may be sound
    accused: str = ""  # the host or address that most of them name
    accused_by: int = 0  # by how many lines
    waiting: int = 0  # ranks that wait in the operation
    elements: int | None = None  # of the operation, on one rank
    timeout: float | None = None  # seconds
    silent: list[int] = []  # ranks that say nothing of the operation, where at least half of all wait in it
    silent_text: str = ""
    odd_text: str = ""  # who does what, where ranks disagree
    set_up: str = ""  # folded: ranks that began the set-up of a communicator and didn't complete it
    step: int | None = None  # the last training iteration that a rank names
    works: str = ""  # what shows that its ranks are set up and get on: RAS, a test that ended, a training step; "" = nothing does
    only_set_up: bool = False  # the logs of its ranks end with what NCCL says of its set-up, and show nothing that came after it
    suspects: list[str] = []  # hosts of the ranks that failed first, are behind, silent or odd
    suspects_text: str = ""


class RankGroup(Fact, frozen=True, kw_only=True):
    """Ranks in the same state, as one row: `0-1022  wait in ALLREDUCE #4211 (TP 3)`."""

    job: str = ""
    ranks: str  # folded
    count: int
    state: str
    where: str = ""  # hosts, folded
    order: int = 0  # of the rows, the worst first
    waits_from: float | None = None  # when the first of them began to wait in the operation
    heard: float | None = None  # when the last of them was last heard of
    ended: float | None = None  # when the first of them failed or was told that another one did


class RankDifference(Fact, frozen=True, kw_only=True):
    """A field in which some ranks or hosts differ from the most."""

    job: str = ""
    field: str  # nccl_version, settings.NCCL_ALGO, hcas, interface …
    name: str = ""  # the field for a person: adapters, NCCL_PROTO
    value: str
    usual: str
    ranks: str  # folded
    count: int
    node: str = ""  # when exactly one host has it


class Setting(Fact, frozen=True, kw_only=True):
    """An environment variable that is set, with what it does."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    container: str = ""
    rank: int | None = None
    pid: int | None = None
    name: str
    value: str = ""
    known: bool = True
    state: str = ""  # current, renamed, obsolete, removed, diagnostic (not for production)
    does: str = ""
    default: str = ""
    library: str = ""  # who reads it: nccl, torch, gloo, ucx, ofi, …
    instead: str = ""  # the newer name
    like: str = ""  # the known name that this unknown one nearly is
    same: bool = False  # must be the same on every rank
    fits: bool | None = None  # the library reads the value as it is meant; None = anything may stand
    whole: bool = False  # read from an environment as it is, so that what isn't there isn't set


class SettingRow(Fact, frozen=True, kw_only=True):
    """One value of one variable, with all places that have it: a row of the table of what is set."""

    name: str
    value: str
    does: str = ""
    default: str = ""
    state: str = ""
    where: str = ""  # folded: gpu-[01-16], ranks 0-7, ml/train-0
    count: int = 0
    of: int = 0  # places that were read
    node: str = ""  # when exactly one host has it
    same: bool = False
    usual: str = ""  # the value that the most others have, where the values differ
    odd: bool = False  # fewer have it than the usual one


class SettingMatch(Fact, frozen=True, kw_only=True):
    """Which of the interfaces or adapters of its machine a variable means."""

    node: str = ""
    namespace: str = ""
    pod: str = ""
    name: str
    value: str
    kind: str  # interface, adapter
    there: list[str] = []
    matches: list[str] = []
    text: str = ""  # of `there`, for a person
    wider: list[str] = []  # meant by a prefix that is itself the whole name of another one: mlx5_10 by mlx5_1


class Stack(Fact, frozen=True, kw_only=True):
    """A process' Python stack as py-spy dumps it."""

    job: str = ""
    node: str = ""
    rank: int | None = None
    pid: int | None = None
    thread: str = ""
    active: bool | None = None
    frames: list[str] = []  # innermost first: function (file:line)
    waits_in: str = ""  # collective, device, data_loader, loader_lock, file_system, checkpoint, lock, compile, "" = none of them
    worker: bool = False  # of a data loader
    count: int = 1  # processes with this stack
    calls: str = ""  # the collective that the program called, where it waits in one: all_reduce


class StackSum(Fact, frozen=True, kw_only=True):
    """What the main threads of all processes wait for whose stacks were read."""

    job: str = ""
    node: str = ""  # where all are on one
    processes: int = 0
    waiting: int = 0  # in a collective, or for what was put to the GPU
    same: int = 0  # of them, in the function that most are in
    function: str = ""
    elsewhere: int = 0  # in something else that is known: data, files, a checkpoint, a compiler
