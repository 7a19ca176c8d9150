"""What makes two records the same thing, and which subjects belong together.

Names are unified only from pairs that a parser has seen (a GPU's UUID beside its PCI address, a pod beside its node), never by guessing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpudoctor.facts.base import Fact, Subject

# The fields that identify a record of a type. The last one must be set, or the record stands for itself.
IDENTITY: dict[str, tuple[str, ...]] = {
    "claims": ("namespace", "claim"),
    "containers": ("namespace", "pod", "container"),
    "events": ("namespace", "kind", "name", "reason", "message"),
    "gpus": ("node", "gpu"),
    "hosts": ("node",),
    "ib_ports": ("node", "port", "ca"),
    "kernel_modules": ("node", "module"),
    "local_queues": ("namespace", "queue"),
    "monitors": ("namespace", "monitor"),
    "node_usage": ("node",),
    "nodes": ("node",),
    "nvlinks": ("node", "link", "gpu"),
    "pci_devices": ("node", "pci"),
    "pod_monitors": ("namespace", "monitor"),
    "pods": ("namespace", "pod"),
    "prometheuses": ("namespace", "prometheus"),
    "quotas": ("namespace", "quota", "resource"),
    "runtime_classes": ("runtime_class",),
    "services": ("namespace", "service"),
    "slurm_jobs": ("step", "workload"),
    "slurm_nodes": ("logged", "node"),
    "storage_classes": ("storage_class",),
    "stack": ("node", "component", "pod"),
    "units": ("node", "unit"),
    "volumes": ("volume",),
    "workloads": ("namespace", "workload"),
    "xids": ("node", "gpu", "code", "metric"),  # of one metric; a log tells of each one
}

AT_ONCE = 2.0  # seconds within which a device plugin logs an Xid that the driver has logged

# What every machine has under the same names: where no machine is named, two records may be of two machines.
EVERYWHERE = ("units",)


def identity_of(kind: str, record: Fact) -> tuple[Any, ...] | None:
    """The identity of a record, None when its type has none or its name was not seen."""
    names = IDENTITY.get(kind)
    if not names or not getattr(record, names[-1]):
        return None
    if kind in EVERYWHERE and not getattr(record, names[0]):
        return None
    return tuple(getattr(record, name) for name in names)


class Links:
    """Which nodes a subject is on, and which name a GPU goes by: built once from the facts of a run."""

    def __init__(
        self,
        pods: Iterable[Fact],
        waits: Iterable[Fact],
        gpus: Iterable[Fact],
        workloads: Iterable[Fact] = (),
        slurm_jobs: Iterable[Fact] = (),
        ranks: Iterable[Fact] = (),
        xids: Iterable[Fact] = (),
    ) -> None:
        self.nodes: dict[tuple[str, str], set[str]] = {}
        self.workloads: dict[tuple[str, str], str] = {}
        self.owners = {(getattr(w, "namespace", ""), getattr(w, "workload", "")): getattr(w, "owner", "") for w in workloads}
        for pod in pods:
            self.tie(pod)
            if getattr(pod, "workload", ""):
                self.workloads[(getattr(pod, "namespace", ""), getattr(pod, "pod", ""))] = getattr(pod, "workload", "")
        for wait in waits:
            self.tie(wait)
        self.work_nodes: dict[tuple[str, str], set[str]] = {}
        for name, workload in self.workloads.items():
            work = (name[0], self.top(name[0], workload))
            self.work_nodes.setdefault(work, set()).update(self.nodes.get(name, ()))
        for job in slurm_jobs:
            self.work_nodes.setdefault(("", getattr(job, "workload", "")), set()).update(getattr(job, "nodes", ()))
        self.jobs: dict[tuple[str, str, str], set[str]] = {}  # distributed jobs ("": the one that all logs are of), by their nodes and pods
        for rank in ranks:
            of_job, of_node, namespace, of_pod = (str(getattr(rank, field, "")) for field in ("job", "node", "namespace", "pod"))
            for place in ((of_node, "", ""), ("", namespace, of_pod)):
                self.jobs.setdefault(place, set()).add(of_job)
        self.uuids = one_name_of_gpus(gpus, xids)

    def tie(self, record: Any) -> None:
        """Note that a pod is on, or waits for, a node."""
        if record.node:
            self.nodes.setdefault((record.namespace, record.pod), set()).add(record.node)

    def unify(self, subject: Subject) -> Subject:
        """The subject with its GPU under the one name that all sources share."""
        uuid = self.uuids.get((subject.node, subject.gpu)) if subject.gpu else None
        return subject if uuid is None else Subject(kind=subject.kind, node=subject.node, gpu=uuid)

    def where(self, subject: Subject) -> set[str]:
        """The nodes that a subject is on or waits for; a workload is where its pods are."""
        known = {subject.node} if subject.node else set()
        if subject.pod:
            return known | self.nodes.get((subject.namespace, subject.pod), set())
        work = (subject.namespace, self.top(subject.namespace, subject.workload))
        return known | self.work_nodes.get(work, set()) if subject.workload else known

    def keys(self, subject: Subject) -> set[tuple[str, str]]:
        """What two subjects must have one of in common to be linked; none when nothing says where the subject is."""
        if has_no_place(subject):
            return set()
        work = subject.workload or self.workloads.get((subject.namespace, subject.pod), "")
        names = {("pod", subject.pod), ("workload", self.top(subject.namespace, work)), ("gpu", subject.gpu)}
        anywhere = {("ranks", "")} if self.jobs else set()  # a rank that never spoke may be on any machine
        return {("node", node) for node in self.where(subject)} | {key for key in names if key[1]} | anywhere

    def jobs_of(self, subject: Subject) -> set[str]:
        """The distributed jobs that have a rank in a subject's pod or on its node."""
        names = [("", subject.namespace, subject.pod)] if subject.pod else [(subject.node, "", "")] if subject.node else []
        return {job for name in names for job in self.jobs.get(name, ())}

    def of_one_job(self, one: Subject, other: Subject) -> bool:
        """Whether two subjects have ranks of one distributed job, which what happens to one rank brings to all."""
        return not self.jobs_of(one).isdisjoint(self.jobs_of(other))

    def are_linked(self, cause: Subject, effect: Subject) -> bool:
        """Whether something on `cause` can bring about something on `effect`: the same thing, or tied by gpu → node → pod → workload.

        A subject whose names were not seen at all (a pasted log) contradicts nothing.
        """
        somewhere = not has_no_place(cause) and not has_no_place(effect)
        if (
            cause.gpu and effect.gpu and (somewhere or naming_form(cause.gpu) == naming_form(effect.gpu))
        ):  # a UUID, a PCI address and an index can't be compared
            return cause.gpu == effect.gpu and (cause.node == effect.node or not cause.node or not effect.node)
        if not somewhere:
            return True
        if cause.kind in ("pod", "workload") and effect.kind in ("pod", "workload"):
            return self.same_work(cause, effect) or (bool(cause.component) and bool(self.where(cause) & self.where(effect)))
        return bool(self.where(cause) & self.where(effect))

    def same_work(self, one: Subject, other: Subject) -> bool:
        """The same pod, the same workload, or a pod and its workload. A name that was not seen contradicts nothing."""
        if one.namespace and other.namespace and one.namespace != other.namespace:
            return False
        if one.pod and other.pod:
            return one.pod == other.pod
        works = [self.top(s.namespace, s.workload or self.workloads.get((s.namespace, s.pod), "")) for s in (one, other)]
        return works[0] == works[1]

    def top(self, namespace: str, workload: str) -> str:
        """The outermost owner of a workload: a ReplicaSet's Deployment, a Kueue Workload's Job. A ring of owners ends somewhere."""
        for _ in range(8):
            owner = self.owners.get((namespace, workload), "")
            if not owner:
                break
            workload = owner
        return workload


def one_name_of_gpus(gpus: Iterable[Any], xids: Iterable[Any]) -> dict[tuple[str, str], str]:
    """The name that each GPU goes by, its UUID where that is known, for its node and each of its other names.

    What names a card twice ties the names: a table of nvidia-smi, an Xid in whose log the driver says which UUID is at which address. So
    does an event: see `names_of_events`.
    """
    names: dict[tuple[str, str], str] = {}
    xids = list(xids)
    for one in (*gpus, *xids):
        uuid, pci, node, index = (getattr(one, name, "") for name in ("uuid", "pci", "node", "index"))
        if uuid and pci:
            names[node, pci] = uuid
        if (uuid or pci) and index not in (None, ""):
            names[node, f"GPU {index}"] = uuid or pci
    taken = {(node, uuid) for (node, _), uuid in names.items()}
    for (node, pci), uuid in names_of_events(xids).items():
        if (node, uuid) not in taken:
            names.setdefault((node, pci), uuid)
    return names


def names_of_events(xids: Iterable[Any]) -> dict[tuple[str, str], str]:
    """Node and PCI address → UUID, for cards that one Xid names both ways.

    The device plugin repeats by UUID what the driver tells it, and the kernel's log has every Xid by address. One code that in one moment
    was seen on one address and on one UUID of a node is one event, hence one card. Two of either may be any of each other, and tie nothing.
    """
    events: dict[tuple[str, int], list[Any]] = {}
    for one in xids:
        if one.node and one.time is not None and bool(one.pci) != bool(one.uuid):
            events.setdefault((one.node, one.code), []).append(one)
    names: dict[tuple[str, str], str] = {}
    for (node, _), told in events.items():
        if not any(one.uuid for one in told):
            continue
        for one in told:
            near = [other for other in told if abs(other.time - one.time) <= AT_ONCE]
            addresses, uuids = ({getattr(other, name) for other in near} - {""} for name in ("pci", "uuid"))
            if len(addresses) == len(uuids) == 1:
                names.setdefault((node, *addresses), *uuids)
    return names


def naming_form(gpu: str) -> str:
    """How a GPU is named: by its PCI address, by DCGM's index (`GPU 3`), or by its UUID.

    >>> naming_form("0000:1b:00"), naming_form("GPU 3"), naming_form("GPU-7f3c2a10-0000-0000-0000-000000000000")
    (':', ' ', '-')
    """
    return next((mark for mark in ": -" if mark in gpu), "")


def has_no_place(subject: Subject) -> bool:
    """Whether nothing says where the subject is."""
    if subject.kind == "cluster":
        return True
    return subject.kind in ("gpu", "node") and not subject.node
