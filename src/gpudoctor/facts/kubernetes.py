"""Facts about Kubernetes objects. Field names follow the API; sizes are bytes, CPU is milli-cores, times are seconds."""

from __future__ import annotations

import msgspec

from gpudoctor.facts.base import Fact, Subject


class Taint(msgspec.Struct, frozen=True):
    key: str
    value: str = ""
    effect: str = ""


class Toleration(msgspec.Struct, frozen=True):
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Requirement(msgspec.Struct, frozen=True):  # one `matchExpressions` or `matchFields` entry of a node selector
    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist, Gt, Lt
    values: tuple[str, ...] = ()
    field: bool = False  # matchFields (metadata.name) rather than a label


class PodTerm(msgspec.Struct, frozen=True):  # a required rule about other pods: beside them, or apart from them
    topology: str  # the label of nodes whose value is the place
    selector: tuple[Requirement, ...] | None  # None: no pod
    namespaces: tuple[str, ...] = ()
    namespace_selector: tuple[Requirement, ...] | None = None  # further namespaces; () = all of them, None = no further ones


class Spread(msgspec.Struct, frozen=True):  # a topology spread constraint that keeps pods from nodes
    topology: str
    selector: tuple[Requirement, ...] | None
    max_skew: int = 1
    min_domains: int = 1
    honors_affinity: bool = True  # nodes that the pod does not choose are no places
    honors_taints: bool = False  # nor are those whose taints it does not tolerate


class HostPort(msgspec.Struct, frozen=True):  # a port of the node that a pod takes for itself
    port: int
    protocol: str = "TCP"
    address: str = ""  # "" = every one


class Neighbour(msgspec.Struct, frozen=True):  # a pod on a node, as the rules of other pods see it
    namespace: str
    pod: str
    labels: dict[str, str] = {}
    leaving: bool = False
    ports: tuple[HostPort, ...] = ()
    apart: tuple[PodTerm, ...] = ()  # which pods it keeps away


class Pod(Fact, frozen=True, kw_only=True):
    """One pod. `target` is true for the pods the question is about, false for pods of the GPU stack that were read beside them."""

    namespace: str
    pod: str
    target: bool = True
    uid: str = ""
    node: str = ""  # "" = not scheduled
    phase: str = ""  # Pending, Running, Succeeded, Failed, Unknown
    status: str = ""  # what `kubectl get pods` prints in STATUS, for example Init:CrashLoopBackOff
    reason: str = ""  # status.reason, for example UnexpectedAdmissionError, Evicted
    message: str = ""  # status.message
    age: float | None = None  # seconds since creation
    ready: bool = False
    deleting: bool = False
    restarts: int = 0
    restarted: float | None = None  # seconds since the last restart, where `kubectl get pods` shows them
    workload: str = ""  # controlling owner as KIND/NAME
    component: str = ""  # the part of the GPU stack it belongs to (device-plugin, driver, …), "" for other pods
    labels: dict[str, str] = {}
    images: list[str] = []
    # scheduling
    scheduled: bool = False
    schedule_reason: str = ""  # PodScheduled=False reason: Unschedulable, SchedulingGated, …
    schedule_message: str = ""  # PodScheduled=False message, the scheduler's own words
    nominated: str = ""  # the node on which the scheduler ends others for it
    scheduler_name: str = "default-scheduler"
    scheduling_gates: list[str] = []
    runtime_class: str = ""
    node_selector: dict[str, str] = {}
    node_affinity: list[list[Requirement]] | None = None  # OR of ANDs; None = no requirement
    tolerations: list[Toleration] = []
    requests: dict[str, int] = {}  # effective requests: max(init, sum(main)) + overhead
    gpus: int = 0  # devices asked for, over all GPU resource names
    gpu_resources: list[str] = []  # the GPU resource names asked for
    claims: list[str] = []  # names of PersistentVolumeClaims
    claim_templates: list[str] = []  # of which it gets ResourceClaims of its own
    device_claims: list[str] = []  # ResourceClaims that it names itself
    beside: list[PodTerm] = []  # required podAffinity
    apart: list[PodTerm] = []  # required podAntiAffinity
    spread: list[Spread] = []
    host_ports: list[HostPort] = []
    further_rules: list[str] = []  # what else the scheduler looks at for this pod: host ports, other pods, spread, claims of devices
    queue_name: str = ""  # Kueue's queue label
    wants_gpu_hint: str = ""  # why it probably should use a GPU although it asks for none ("" = no hint)


class Container(Fact, frozen=True, kw_only=True):
    """One container of a pod with its state. `kind` is main, init or sidecar."""

    namespace: str
    pod: str
    container: str
    target: bool = True
    node: str = ""
    kind: str = "main"
    component: str = ""
    image: str = ""
    state: str = ""  # waiting, running, terminated, ""
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    last_reason: str = ""
    last_message: str = ""
    last_exit_code: int | None = None
    last_seconds: float | None = None  # how long the run before lasted
    probe_patience: float | None = None  # how long the liveness probe alone lets a start take: delay and all failures that it allows
    restarts: int = 0
    ready: bool = False
    age: float | None = None  # seconds since it entered the present state
    gpus: int = 0
    gpu_resources: list[str] = []
    memory_limit: int | None = None
    visible_devices: str | None = None  # NVIDIA_VISIBLE_DEVICES in the manifest; None = not set
    cuda_visible_devices: str | None = None
    driver_capabilities: str | None = None
    privileged: bool = False
    may_lock: bool | None = None  # memory beyond its limit: privileged, or IPC_LOCK; None where no manifest was read
    first_not_ready: bool = False  # the first container, in start order, that keeps the pod from running


class Node(Fact, frozen=True, kw_only=True):
    """One node. `target` is true for the nodes in question, false for those that were read only to measure the whole cluster."""

    node: str
    target: bool = True
    ready: bool | None = None
    unschedulable: bool = False
    leaving: bool | None = None  # an autoscaler ends it, or it was cordoned and its runtime has stopped
    age: float | None = None
    labels: dict[str, str] = {}
    label_keys: list[str] = []  # where a table showed some labels only: the keys of which it is known whether the node has them
    taints: list[Taint] = []
    taint_keys: list[str] = []
    capacity: dict[str, int] = {}
    allocatable: dict[str, int] = {}
    gpu_resources: list[str] = []  # GPU resource names in capacity or allocatable
    gpus_capacity: int = 0
    gpus_allocatable: int = 0
    gpus_expected: int | None = None  # from the labels nvidia.com/gpu.count (times replicas), None without them
    plugin_age: float | None = None  # seconds since the youngest device plugin on it was made, where the node's own text lists its pods
    gpu_present: bool = False  # a label or a resource says that the machine has an NVIDIA GPU
    pressure: list[str] = []  # MemoryPressure, DiskPressure, PIDPressure that are True
    addresses: list[str] = []
    kubelet_version: str = ""
    runtime_version: str = ""
    kernel_version: str = ""
    os_image: str = ""


class Event(Fact, frozen=True, kw_only=True):
    """One (possibly folded) event. `node`, `pod`, `workload` name the involved object, as far as they apply."""

    namespace: str = ""
    pod: str = ""
    workload: str = ""
    node: str = ""
    kind: str = ""
    name: str = ""
    type: str = ""  # Normal, Warning
    reason: str = ""
    message: str = ""
    count: int = 1
    age: float | None = None  # seconds since it was last seen
    component: str = ""  # source component: default-scheduler, kubelet, cluster-autoscaler, …

    def subject(self) -> Subject:
        """The involved object. Here `component` is who wrote the event, not a part of the GPU stack."""
        return msgspec.structs.replace(super().subject(), component="")


class Workload(Fact, frozen=True, kw_only=True):
    """A controller of pods: Job, DaemonSet, PyTorchJob, … Where `target` is false it was only listed beside what the question is about."""

    namespace: str
    workload: str  # KIND/NAME
    target: bool = True
    kind: str
    name: str
    uid: str = ""
    component: str = ""
    suspended: bool = False
    deleting: bool = False
    unseen: bool = False  # no controller has written a status; `own`: Kubernetes' own controllers serve this kind
    own: bool = False
    desired: int | None = None
    current: int | None = None
    ready: int | None = None
    updated: int | None = None
    status: str = ""  # of a Job, as kubectl 1.31 and later print it: Complete, Failed, Running …
    age: float | None = None  # seconds since creation
    selector: str = ""  # label selector that finds its pods
    owner: str = ""
    gpus: int = 0  # of one pod of its template
    requests: dict[str, int] = {}  # effective ones of that pod
    unstated: list[str] = []  # resources of a quota, as requests.cpu, that some container of it states nothing of
    queue_name: str = ""
    node_selector: dict[str, str] = {}
    affinity_labels: list[str] = []  # for each alternative of its template's node affinity the keys of labels that a node must have
    tolerations: list[Toleration] = []
    conditions: dict[str, str] = {}  # condition type=status → message


class NodeUsage(Fact, frozen=True, kw_only=True):
    """What the running and scheduled pods of one node request together."""

    describes = True
    node: str
    requested: dict[str, int] = {}
    pods: int = 0
    nominated: dict[str, int] = {}  # what pods request for which the scheduler makes room there
    gpu_holders: list[str] = []  # namespace/pod (gpus), the largest first, at most 16
    neighbours: list[Neighbour] = []
    noted: str = ""  # who is among `neighbours`: demanding, the pods that take host ports or keep others away; all; "" = nobody was read


class Claim(Fact, frozen=True, kw_only=True):
    namespace: str
    claim: str
    phase: str = ""
    volume: str = ""
    storage_class: str = ""


class StorageClass(Fact, frozen=True, kw_only=True):
    """A storage class that the cluster has."""

    describes = True
    storage_class: str


class Volume(Fact, frozen=True, kw_only=True):
    volume: str
    node_affinity: list[list[Requirement]] | None = None


class Quota(Fact, frozen=True, kw_only=True):  # one resource of one ResourceQuota
    namespace: str
    quota: str
    resource: str
    hard: int
    used: int


class StackConfig(Fact, frozen=True, kw_only=True):
    """One configuration of the device plugin or the MIG manager, for each resource that it shares; one without any has `replicas` 0."""

    namespace: str
    config_map: str
    key: str
    tool: str  # device-plugin, mig-manager
    method: str = ""  # timeSlicing, mps
    resource: str = ""
    replicas: int = 0
    one_share: bool = False  # a container may ask for one share only: MPS, or failRequestsGreaterThanOne
    misplaced: str = ""  # an option that stands on a level of the file where the plugin doesn't look for it
    layouts: list[str] = []  # of the MIG manager: the names that a node's label may choose


class ScheduleReason(Fact, frozen=True, kw_only=True):
    """One clause of the scheduler's message: `4 Insufficient nvidia.com/gpu`."""

    describes = True
    namespace: str = ""
    pod: str = ""
    reason: str  # a neutral word: insufficient, taint, unschedulable, other, or one of REASONS in `tools/kubernetes/scheduler_message.py`
    count: int = 0
    total: int = 0
    resource: str = ""  # for insufficient
    of_gpus: bool = False  # the resource is a GPU, or a share of one, of any vendor or sharing plugin
    key: str = ""  # for taint
    value: str = ""
    left: int | None = None  # nodes of the message that no clause takes but those about amounts, which may share nodes; None without a head
    no_victims: int | None = None  # of the preemption part, as the next; None where the message has none
    not_helpful: int | None = None
    clause: str = ""  # as the message has it: 4 Insufficient nvidia.com/gpu
    preemption: str = ""  # what these say of the clause's nodes: helps_nowhere, helps_none, no_victims, no_victims_on_some; "" = nothing

    @property
    def said(self) -> str:
        """The clause."""
        return self.clause


class Message(Fact, frozen=True, kw_only=True):
    """A line whose meaning is known: an entry of `knowledge/messages` was recognised in a log, an event or a status.

    `name` is the entry's name; `detail` what its pattern captured; equal messages on one subject are one record with `count`.
    """

    describes = True
    name: str
    detail: str = ""
    count: int = 1
    source: str = ""  # log, event, status, exec, file
    namespace: str = ""
    pod: str = ""
    container: str = ""
    node: str = ""
    workload: str = ""
    component: str = ""
    age: float | None = None
    gpu: str = ""  # of the kernel log: the GPU that the NVIDIA driver names in the line
    pci: str = ""  # of the kernel log: the PCI device that the line names
    moment: float = 0.0  # of the kernel log: as of an Xid
    last_moment: float = 0.0  # of the last of equal lines
    last: float | None = None  # of the kernel log: time of the last such line
    uptime: float | None = None  # of the kernel log: seconds since boot
    until: float | None = None  # of the kernel log: the same of the last such line
    rank: int | None = None  # of a distributed job's log: the rank that says so


class ObjectName(Fact, frozen=True, kw_only=True):
    """The name of an object, read only to say what comes close to a name that isn't there."""

    describes = True
    kind: str
    namespace: str = ""
    name: str

    def subject(self) -> Subject:
        """Nothing: a name only tells what comes close."""
        return Subject(kind="cluster")


class Target(Fact, frozen=True, kw_only=True):
    """What the user asked about, and whether it is there."""

    kind: str
    namespace: str = ""
    name: str = ""
    selector: str = ""
    found: bool = True
    close: list[str] = []  # names that come close, where it was not found
    pods: int = 0

    def subject(self) -> Subject:
        """Nothing: the question is not a thing in the cluster."""
        return Subject(kind="cluster")
