"""Builders of the controllers that own pods, and of the queue objects that hold them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.kube.pods import pod
from tests.kube.shapes import Object, condition, lean, meta


def template(name: str, ns: str, labels: Mapping[str, str], **pod_fields: Any) -> Object:
    """A pod template; `pod_fields` are those of `pod`."""
    made = pod(name, ns, **pod_fields)
    return {"metadata": {"labels": dict(labels)}, "spec": {key: value for key, value in made["spec"].items() if key != "nodeName"}}


def controller(
    kind: str,
    api: str,
    name: str,
    ns: str,
    spec: Object,
    status: Object,
    *,
    labels: Mapping[str, str],
    owner: str = "",
    age: str = "2h",
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """Any controller, with its metadata."""
    metadata = meta(kind, name, ns, age=age, labels=labels, owner=owner, annotations=annotations) | {"generation": 1}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec, "status": status}


def daemonset(
    name: str,
    ns: str = "gpu-operator",
    *,
    desired: int = 1,
    current: int | None = None,
    ready: int | None = None,
    updated: int | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str = "",
    age: str = "40d",
    **pod_fields: Any,
) -> Object:
    """A DaemonSet; what is not said about its numbers is `desired`. `pod_fields` describe its template."""
    labels = dict(labels or {"app": name})
    spec = {
        "selector": {"matchLabels": labels},
        "template": template(name, ns, labels, **pod_fields),
        "updateStrategy": {"type": "RollingUpdate"},
    }
    is_ready = desired if ready is None else ready
    status = {
        "currentNumberScheduled": desired if current is None else current,
        "desiredNumberScheduled": desired,
        "numberMisscheduled": 0,
        "numberReady": is_ready,
        "numberAvailable": is_ready,
        "observedGeneration": 1,
        "updatedNumberScheduled": desired if updated is None else updated,
    }
    return controller("DaemonSet", "apps/v1", name, ns, spec, status, labels=labels, owner=owner, age=age)


def replicated(
    kind: str,
    name: str,
    ns: str,
    wanted: int,
    ready: int | None,
    labels: Mapping[str, str] | None,
    owner: str,
    age: str,
    pod_fields: Object,
) -> Object:
    """What Deployment, ReplicaSet and StatefulSet have in common."""
    labels = dict(labels or {"app": name})
    is_ready = wanted if ready is None else ready
    spec = {"replicas": wanted, "selector": {"matchLabels": labels}, "template": template(name, ns, labels, **pod_fields)}
    status = lean(replicas=wanted, readyReplicas=is_ready or None, availableReplicas=is_ready or None, observedGeneration=1)
    if kind != "ReplicaSet":
        status["updatedReplicas"] = wanted
    return controller(kind, "apps/v1", name, ns, spec, status, labels=labels, owner=owner, age=age)


def deployment(
    name: str,
    ns: str = "ml",
    *,
    replicas: int = 1,
    ready: int | None = None,
    labels: Mapping[str, str] | None = None,
    age: str = "2h",
    **pod_fields: Any,
) -> Object:
    """A Deployment with `replicas` wanted pods, all of them ready by default."""
    made = replicated("Deployment", name, ns, replicas, ready, labels, "", age, pod_fields)
    enough = ready is None or ready >= replicas
    made["status"]["conditions"] = [condition("Available", enough, f"MinimumReplicas{'Available' if enough else 'Unavailable'}", age=age)]
    return made


def replicaset(
    name: str,
    ns: str = "ml",
    *,
    replicas: int = 1,
    ready: int | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str = "",
    failure: str = "",
    age: str = "2h",
    **pod_fields: Any,
) -> Object:
    """A ReplicaSet; `failure` is the message of its ReplicaFailure condition (a quota refused its pods)."""
    made = replicated("ReplicaSet", name, ns, replicas, ready, labels, owner, age, pod_fields)
    if failure:
        made["status"]["conditions"] = [condition("ReplicaFailure", True, "FailedCreate", failure, age)]
    return made


def statefulset(
    name: str,
    ns: str = "ml",
    *,
    replicas: int = 1,
    ready: int | None = None,
    labels: Mapping[str, str] | None = None,
    age: str = "2h",
    **pod_fields: Any,
) -> Object:
    """A StatefulSet."""
    return replicated("StatefulSet", name, ns, replicas, ready, labels, "", age, pod_fields)


def job(
    name: str,
    ns: str = "ml",
    *,
    parallelism: int = 1,
    active: int = 1,
    ready: int = 0,
    succeeded: int = 0,
    failed: int = 0,
    suspend: bool = False,
    queue: str = "",
    conditions: Sequence[Object] = (),
    labels: Mapping[str, str] | None = None,
    owner: str = "",
    age: str = "2h",
    **pod_fields: Any,
) -> Object:
    """A Job; `queue` is Kueue's label. A suspended Job has no active pods."""
    pod_labels = {"batch.kubernetes.io/job-name": name, "job-name": name, **(labels or {})}
    made = template(name, ns, pod_labels, **pod_fields)
    made["spec"]["restartPolicy"] = "Never"
    spec = {
        "parallelism": parallelism,
        "completions": parallelism,
        "backoffLimit": 6,
        "suspend": suspend,
        "selector": {"matchLabels": {"batch.kubernetes.io/job-name": name}},
        "template": made,
    }
    status = lean(
        active=0 if suspend else active, ready=ready, succeeded=succeeded or None, failed=failed or None, conditions=list(conditions)
    )
    if suspend:
        status["conditions"] = [condition("Suspended", True, "JobSuspended", "Job suspended", age), *conditions]
    queued = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    return controller("Job", "batch/v1", name, ns, spec, status, labels={**(labels or {}), **queued}, owner=owner, age=age)


def pytorchjob(
    name: str,
    ns: str = "ml",
    *,
    workers: int = 1,
    active: int | None = None,
    suspend: bool = False,
    queue: str = "",
    conditions: Sequence[Object] | None = None,
    age: str = "2h",
    **pod_fields: Any,
) -> Object:
    """A PyTorchJob of the Kubeflow training operator with one master and `workers` workers."""

    def group(role: str, count: int) -> Object:
        made = template(name, ns, {}, **pod_fields)
        made["spec"]["containers"][0]["name"] = "pytorch"  # the operator insists on this name
        return {"replicas": count, "restartPolicy": "OnFailure", "template": made | {"metadata": {}}}

    states = [condition("Created", True, "PyTorchJobCreated", f"PyTorchJob {name} is created.", age)]
    if suspend:
        states.append(condition("Suspended", True, "PyTorchJobSuspended", f"PyTorchJob {name} is suspended.", age))
    elif active is None or active:
        states.append(condition("Running", True, "PyTorchJobRunning", f"PyTorchJob {ns}/{name} is running.", age))
    spec = {
        "runPolicy": lean(suspend=suspend or None, cleanPodPolicy="None"),
        "pytorchReplicaSpecs": {"Master": group("Master", 1), "Worker": group("Worker", workers)},
    }
    selector = f"training.kubeflow.org/job-name={name},training.kubeflow.org/replica-type="
    numbers = {"Master": min(1, active if active is not None else 1), "Worker": max(0, active - 1) if active is not None else workers}
    status = {
        "conditions": list(conditions) if conditions is not None else states,
        "replicaStatuses": {role: lean(active=count or None, selector=selector + role.lower()) for role, count in numbers.items()},
    }
    queued = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    return controller("PyTorchJob", "kubeflow.org/v1", name, ns, spec, status, labels=queued, age=age)


def queued_workload(
    name: str,
    ns: str = "ml",
    *,
    queue: str = "gpu-queue",
    owner: str = "",
    reserved: str | None = None,
    admitted: bool = False,
    labels: Mapping[str, str] | None = None,
    age: str = "2h",
) -> Object:
    """Kueue's Workload for a job; `reserved` is the message of QuotaReserved=False (why it waits), None once it has its quota."""
    waits = reserved is not None
    conditions = [
        condition(
            "QuotaReserved", not waits, "Pending" if waits else "QuotaReserved", reserved or "Quota reserved in ClusterQueue gpu", age
        )
    ]
    if admitted:
        conditions.append(condition("Admitted", True, "Admitted", "The workload is admitted", age))
    spec = {"queueName": queue, "active": True, "podSets": [{"name": "main", "count": 1}]}
    return controller(
        "Workload", "kueue.x-k8s.io/v1beta1", name, ns, spec, {"conditions": conditions}, labels=labels or {}, owner=owner, age=age
    )
