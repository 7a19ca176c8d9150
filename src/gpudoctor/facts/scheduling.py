"""What pods ask for, and what nodes, queues and node pools have for them: what the scheduler's plugins would say, node by node."""

from __future__ import annotations

from gpudoctor.facts.base import Fact
from gpudoctor.facts.kubernetes import Pod


class NodeGroup(Fact, frozen=True, kw_only=True):
    """The nodes that one pod can't use for one and the same first reason. `reason` uses the words of `ScheduleReason`, or `fits`."""

    namespace: str
    pod: str
    reason: str
    detail: str = ""  # the taint, the label, the resource and amounts
    count: int
    nodes: str = ""  # folded: gpu-[01-16]
    gpu_nodes: int = 0  # how many of them have GPUs


JOINED = " + "  # between two changes of a fit, and between what they are about


class Fit(Fact, frozen=True, kw_only=True):
    """The nearest fit: one change, or two that are needed together, that would let the pod run, and where."""

    namespace: str
    pod: str
    change: str  # a kind of `derive.scheduling_fit.TIERS`, two joined by `JOINED`, or none
    detail: str
    nodes: str = ""
    first: str = ""  # the name of one of them
    count: int = 0
    rank: int = 0  # 1 = the nearest
    patch: str = ""  # JSON patch (RFC 6902) of the pod's spec, where the whole change can be said so
    fragment: str = ""  # what of a manifest changes, as YAML
    labels: dict[str, str] = {}  # that the nodes get

    @property
    def changes(self) -> list[str]:
        """The kinds of change that are needed together."""
        return self.change.split(JOINED)


class Scheduling(Fact, frozen=True, kw_only=True):
    """One pod against the nodes that it chooses, in numbers. Where it chooses none that has GPUs: against all nodes."""

    namespace: str
    pod: str
    nodes: int  # of the whole cluster
    gpu_nodes: int  # nodes that offer, or once offered, a GPU resource that the pod asks for
    offering: int = 0  # nodes whose allocatable has every GPU resource that the pod asks for, in any amount
    fitting: int = 0  # nodes that pass every check of ours
    largest: int = 0  # the most GPUs of the asked kind that one node's allocatable has
    largest_capacity: int = 0
    most_free: int | None = None  # the most GPUs of the asked kind free on one node; None when usage was not read
    gpus_total: int = 0  # allocatable GPUs of the asked kind over the nodes
    gpus_used: int | None = None
    nearly: int = 0  # the nearest GPU nodes: the sum of the following and of those short of GPUs
    together: int = 0  # kinds of change that each of them needs at once; where several, only what most of them need is counted
    obstacles: str = ""  # where it is several: all that is in the way
    tainted: int = 0  # GPU nodes that would hold the pod but for a taint it does not tolerate
    cordoned: int = 0  # … but for a cordon
    not_ready: int = 0  # … but for a taint that the node's own condition brings: not-ready, unreachable, pressure
    unmatched: int = 0  # … but for the pod's selector or affinity
    full: int = 0  # … but for GPUs in use
    lost: int = 0  # … but for GPUs that capacity or labels promise and allocatable lacks
    other_resource: int = 0  # … with the GPUs free, but for CPU, memory or pod slots
    pinned: int = 0  # … but for a bound volume's node affinity
    port_taken: int = 0  # … but for a host port that another pod has
    ruled_out: int = 0  # … but for rules about other pods, the pod's own or theirs
    tainted_nodes: str = ""  # the names of those that were counted, folded
    cordoned_nodes: str = ""
    not_ready_nodes: str = ""
    unmatched_nodes: str = ""
    unmatched_by: str = ""  # the requirements of the pod that most of them fail
    full_nodes: str = ""
    full_gpus: int = 0  # what the full ones offer together
    lost_nodes: str = ""
    other_resource_nodes: str = ""
    pinned_nodes: str = ""
    port_taken_nodes: str = ""
    ruled_out_nodes: str = ""
    port: str = ""  # the host port that is taken on most of them
    rule: str = ""  # the rule that rules most of them out: podAntiAffinity to app=ring per zone
    volume: str = ""  # the volume that `pinned` nodes don't reach, and where it lives
    wrong_name: str = ""  # a GPU resource that nodes offer under another name than the pod asks for
    taint: str = ""  # the taint that `tainted` nodes have most often, as key=value:effect
    scarce: str = ""  # the resource behind `other_resource`
    beyond: str = ""  # a resource, not a GPU, of which the pod asks more than the largest of the nodes with its GPUs has when empty
    agrees: bool = True  # our reasons against the scheduler's message
    difference: str = ""


class PodTemplate(Fact, frozen=True, kw_only=True):
    """What a pod asks for, by a template or a part of its manifest."""

    describes = True
    asks: Pod
    waits: bool = False  # a pod's own status beside it says that it is Pending
    suspended: bool = False
    wants_gpu: bool = False  # it selects GPU nodes, tolerates their taint, or names devices


class Allowance(Fact, frozen=True, kw_only=True):
    """How much a queue or a node pool may hand out of each resource, and how much it has."""

    describes = True
    kind: str  # queue (Kueue), nodepool (Karpenter), volcano; group for what a PodGroup asks of one
    name: str = ""
    most: dict[str, int] = {}
    used: dict[str, int] = {}
    waiting: bool = False  # it says itself that something waits
    running: int | None = None  # groups that run in a queue of Volcano, where it says so


class LocalQueue(Fact, frozen=True, kw_only=True):
    """A queue of Kueue in a namespace, and the ClusterQueue that has its quota."""

    describes = True
    namespace: str
    queue: str
    cluster_queue: str = ""


class QueueShortage(Fact, frozen=True, kw_only=True):
    """A resource that what waits asks of the one queue that was shown, or of a node pool, and that has too little of it left."""

    kind: str  # as of an Allowance
    queue: str = ""
    namespace: str = ""  # of the workload or the pod that asks, where it is known
    workload: str = ""
    pod: str = ""
    resource: str
    covered: bool = True  # the queue speaks of the resource at all
    wanted: int = 0  # 0: nothing says how much
    most: int = 0
    used: int = 0
    ended: bool = False  # nothing runs any more that has it


class Sibling(Fact, frozen=True, kw_only=True):
    """A pod that waits, and one that runs with GPUs and is made of the same template, or of the one before it."""

    namespace: str
    pod: str
    runs: str


class Wait(Fact, frozen=True, kw_only=True):
    """This pod would fit on this node if the node's missing GPUs came back: the link from a lost GPU to the pod that waits."""

    namespace: str
    pod: str
    node: str
    lost: int


class StackPart(Fact, frozen=True, kw_only=True):
    """One pod of the GPU stack on one node, in the order in which the parts depend on each other."""

    node: str
    component: str
    namespace: str = ""
    pod: str = ""
    order: int = 0
    container: str = ""  # the first container that isn't ready, where it has printed something
    restarted: bool = False  # that container has run before
    present: bool = True
    ready: bool = False
    first_not_ready: bool = False  # the first part of its node that is not ready and doesn't merely wait for an earlier one
    waiting: bool = False  # sits in Init:0/N for an earlier part
    status: str = ""
