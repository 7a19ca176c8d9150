"""Controllers that own pods, and Kueue's Workloads, as records of one form."""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Message, Requirement, Workload
from gpudoctor.knowledge import components
from gpudoctor.knowledge.resources import gpu_count
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import fold, scan_text
from gpudoctor.tools.kubernetes.api_json import age, controller, evidence, objects, seconds
from gpudoctor.tools.kubernetes.pod_requests import pod_requests, unstated
from gpudoctor.tools.kubernetes.pod_shape import tolerations
from gpudoctor.tools.kubernetes.pods import QUEUE_LABEL, node_affinity
from gpudoctor.tools.kubernetes.workload_shape import (
    ReplicaStatus,
    WorkloadObject,
    WorkloadSpec,
    WorkloadStatus,
    first_known,
    roles,
    selector_text,
)

# Kind → the label that its pods carry with the workload's name; "" = its own selector says it, or it owns no pods itself.
# Objects of other kinds count when they hold a pod template.
KINDS: dict[str, str] = {
    "CronJob": "",
    "DaemonSet": "",
    "Deployment": "",
    "InferenceService": "serving.kserve.io/inferenceservice",
    "JAXJob": "training.kubeflow.org/job-name",
    "Job": "job-name",
    "JobSet": "jobset.sigs.k8s.io/jobset-name",
    "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/name",
    "MPIJob": "training.kubeflow.org/job-name",
    "Notebook": "notebook-name",
    "PaddleJob": "training.kubeflow.org/job-name",
    "PyTorchJob": "training.kubeflow.org/job-name",
    "RayCluster": "ray.io/cluster",
    "RayJob": "ray.io/cluster",
    "RayService": "",
    "ReplicaSet": "",
    "StatefulSet": "",
    "TFJob": "training.kubeflow.org/job-name",
    "TrainJob": "jobset.sigs.k8s.io/jobset-name",
    "Workload": "",
    "XGBoostJob": "training.kubeflow.org/job-name",
}
REPLICATED = ("Deployment", "ReplicaSet", "StatefulSet")
OWN = {"apps/v1", "batch/v1"}  # the versions that Kubernetes' own controllers serve


class Counts(NamedTuple):
    """Pods wanted, there (of a job also those that have ended), ready, and of the newest template; None where nothing says."""

    desired: int | None = None
    current: int | None = None
    ready: int | None = None
    updated: int | None = None


def workloads(output: Output, about: Subject) -> Facts:
    """One record per controller, and the known messages in its conditions."""
    found: list[Workload] = []
    known: list[Message] = []
    for item in objects(output, WorkloadObject, None):
        if item.meta.name and (item.kind in KINDS or (item.spec and any(roles(item.spec)))):
            fact = workload_fact(item, output)
            found.append(fact)
            known += condition_messages(item, fact, output)
    return {"workloads": [*found], "messages": [*fold(known)]}


def affinity_keys(term: list[Requirement]) -> str:
    """The keys of the labels that a term of a node affinity asks for, with blanks between."""
    return " ".join(one.key for one in term if one.operator in ("In", "Exists") and not one.field)


def workload_fact(item: WorkloadObject, output: Output) -> Workload:
    """The record of one controller. Of several kinds of pods, the one with the most GPUs counts."""
    meta, spec, status = item.meta, item.spec or WorkloadSpec(), item.status or WorkloadStatus()
    kind, name, labels = item.kind or "", meta.name or "", meta.labels or {}
    template = max((pod for _, pod in roles(spec)), key=lambda pod: gpu_count(pod_requests(pod)), default=None)
    requests = pod_requests(template) if template else {}
    # What `--dry-run` prints has an empty status, and no uid: nothing has counted its pods.
    counts = counts_of(kind, spec, item.status if meta.uid or status != WorkloadStatus() else None)
    conditions = {f"{one.type}={one.status}": one.message or one.reason or "" for one in status.conditions or ()}
    said = "; ".join(f"{state}: {text}" if text else state for state, text in conditions.items())
    return Workload(
        namespace=meta.namespace or "",
        workload=f"{kind}/{name}",
        kind=kind,
        name=name,
        uid=meta.uid or "",
        component=components.of_pod(name, "", labels),
        suspended=bool(spec.suspend or (spec.runPolicy and spec.runPolicy.suspend) or spec.active is False),
        deleting=meta.deletionTimestamp is not None,
        unseen=bool(meta.uid) and kind not in ("CronJob", "Workload") and status == initial_status(kind),
        own=item.apiVersion in OWN,
        desired=counts.desired,
        current=counts.current,
        ready=counts.ready,
        updated=counts.updated,
        age=age(seconds(meta.creationTimestamp), output),
        selector=selector_of(item, kind, spec, status),
        owner=controller(meta),
        gpus=gpu_count(requests),
        requests=requests,
        unstated=unstated(template) if template else [],
        queue_name=spec.queueName or spec.queue or labels.get(QUEUE_LABEL, ""),
        node_selector=(template.nodeSelector if template else None) or {},
        affinity_labels=[*map(affinity_keys, (node_affinity(template) if template else None) or ())],
        tolerations=tolerations(template.tolerations) if template else [],
        conditions=conditions,
        origin=evidence(output, f"{kind}/{name}: {counts.ready} of {counts.desired} ready" + (f", {said}" if said else "")),
    )


def initial_status(kind: str) -> WorkloadStatus:
    """The status of a new object before any controller has written it: the API fills in the number of replicas."""
    return WorkloadStatus(replicas=0) if kind in ("ReplicaSet", "StatefulSet") else WorkloadStatus()


def selector_of(item: WorkloadObject, kind: str, spec: WorkloadSpec, status: WorkloadStatus) -> str:
    """The label selector that finds the workload's pods, "" where there is none."""
    if spec.selector and (text := selector_text(spec.selector)):
        return text
    label = "volcano.sh/job-name" if "volcano" in (item.apiVersion or "") else KINDS.get(kind, "")
    name = status.rayClusterName if kind == "RayJob" else item.meta.name
    return f"{label}={name}" if label and name else ""


def counts_of(kind: str, spec: WorkloadSpec, status: WorkloadStatus | None) -> Counts:
    """The numbers of pods. The API leaves out zeros, so within a status that is there an absent number is 0."""
    if kind == "CronJob":
        return Counts()
    if kind == "DaemonSet":
        if status is None:
            return Counts()
        seen = (status.desiredNumberScheduled, status.currentNumberScheduled, status.numberReady, status.updatedNumberScheduled)
        return Counts(*map(first_known, seen))
    desired = sum(many for many, _ in roles(spec))
    if kind in REPLICATED and status is not None:
        return Counts(desired, *map(first_known, (status.replicas, status.readyReplicas, status.updatedReplicas)))
    if kind == "Job" and status is not None and not spec.tasks:
        active, ready = (first_known(number if isinstance(number, int) else None) for number in (status.active, status.ready))
        return Counts(desired, active + first_known(status.succeeded) + first_known(status.failed), ready)
    if status is not None and status.replicaStatuses:
        return Counts(desired, sum(map(created_pods, status.replicaStatuses.values())))
    return Counts(desired)


def created_pods(role: ReplicaStatus) -> int:
    """The number of pods that were created, those that have ended included."""
    return sum(map(first_known, (role.active, role.succeeded, role.failed)))


def condition_messages(item: WorkloadObject, fact: Workload, output: Output) -> list[Message]:
    """The known messages in the conditions: why a Job's pods can't be made, why Kueue holds a workload back."""
    found: list[Message] = []
    for one in (item.status.conditions if item.status else None) or ():
        if one.message:
            since = seconds(one.lastTransitionTime)
            where = evidence(output, f"{fact.workload} {one.type}={one.status}: {one.message}")
            found += scan_text(one.message, source="status", about=fact.subject(), origin=where, age=age(since, output), time=since)
    return found
