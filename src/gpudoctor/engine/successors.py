"""Pods come and go under new names, and the work stays: which workload a pod belongs to, and what of a run is still there."""

from __future__ import annotations

from gpudoctor.engine.steps import Run
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact, Subject
from gpudoctor.facts.identity import Links

HASH = "pod-template-hash"  # the label by which a Deployment names its ReplicaSets: NAME-HASH


class Works:
    """The pods of a run by the outermost owner that is known."""

    def __init__(self, store: Store, links: Links) -> None:
        self.links = links
        self.by_pod = {(str(getattr(pod, "namespace", "")), str(getattr(pod, "pod", ""))): self.owner(pod) for pod in store.records("pods")}

    def owner(self, pod: Fact) -> str:
        """KIND/NAME of what keeps creating a pod, "" for a bare one."""
        labels: dict[str, str] = getattr(pod, "labels", {})
        work = self.links.top(getattr(pod, "namespace", ""), getattr(pod, "workload", ""))
        kind, _, name = work.partition("/")
        template = labels.get(HASH, "")
        return f"Deployment/{name.removesuffix(f'-{template}')}" if kind == "ReplicaSet" and template and name.endswith(template) else work

    def of(self, subject: Subject) -> str:
        """The workload of a pod, "" where that wasn't read."""
        return self.by_pod.get((subject.namespace, subject.pod), "")

    def has(self, subject: Subject) -> bool:
        """Whether the pod was read under its own name."""
        return (subject.namespace, subject.pod) in self.by_pod

    def pods(self, work: str) -> int:
        """How many pods of a workload were read."""
        return sum(other == work for other in self.by_pod.values()) if work else 0


def node_read(run: Run, node: str) -> bool:
    """Whether the cluster has shown a node."""
    return any(getattr(record, "node", "") == node for record in run.store.records("nodes"))


def count_gpus(run: Run, node: str) -> int:
    """How many GPUs of a node were read."""
    return sum(getattr(record, "node", "") == node for record in run.store.records("gpus"))
