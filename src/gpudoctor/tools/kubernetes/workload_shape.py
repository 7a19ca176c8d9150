"""The fields of controllers that make pods, whatever their kind: each kind uses a few of them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpudoctor.tools.kubernetes.api_json import Condition, Object, Strings
from gpudoctor.tools.kubernetes.pod_shape import ContainerSpec, Expression, PodSpec, PodTemplate, Resources


class Selector(msgspec.Struct):
    """A label selector."""

    matchLabels: Strings = None
    matchExpressions: list[Expression] | None = None


class Role(msgspec.Struct):
    """Some equal pods of a job: a Kubeflow replica, a Volcano task, a Ray group, a Kueue pod set (which says `count`)."""

    replicas: int | None = None
    count: int | None = None
    template: PodTemplate | None = None


class JobSpec(msgspec.Struct):
    """The inside of a Job."""

    parallelism: int | None = None
    template: PodTemplate | None = None


class JobTemplate(msgspec.Struct):
    """The Job that a CronJob or a JobSet makes."""

    spec: JobSpec | None = None


class ReplicatedJob(msgspec.Struct):
    """One kind of Job in a JobSet."""

    replicas: int | None = None
    template: JobTemplate | None = None


class RayGroups(msgspec.Struct):
    """The head and the workers of a Ray cluster."""

    headGroupSpec: Role | None = None
    workerGroupSpecs: list[Role] | None = None


class LeaderWorker(msgspec.Struct):
    """One group of a LeaderWorkerSet: `size` pods, the leader included."""

    size: int | None = None
    leaderTemplate: PodTemplate | None = None
    workerTemplate: PodTemplate | None = None


class Trainer(msgspec.Struct):
    """The pods of a TrainJob, where it doesn't leave them to its runtime."""

    numNodes: int | None = None
    resourcesPerNode: Resources | None = None


class RunPolicy(msgspec.Struct):
    """How a Kubeflow job runs."""

    suspend: bool | None = None


class WorkloadSpec(msgspec.Struct):
    """All specs in one."""

    suspend: bool | None = None
    active: bool | None = None  # Kueue: false takes the workload out of its queue
    queueName: str | None = None  # Kueue
    queue: str | None = None  # Volcano
    replicas: int | None = None
    parallelism: int | None = None
    selector: Selector | None = None
    template: PodTemplate | None = None
    jobTemplate: JobTemplate | None = None
    runPolicy: RunPolicy | None = None
    pytorchReplicaSpecs: dict[str, Role] | None = None
    mpiReplicaSpecs: dict[str, Role] | None = None
    tfReplicaSpecs: dict[str, Role] | None = None
    xgbReplicaSpecs: dict[str, Role] | None = None
    paddleReplicaSpecs: dict[str, Role] | None = None
    jaxReplicaSpecs: dict[str, Role] | None = None
    tasks: list[Role] | None = None
    podSets: list[Role] | None = None
    replicatedJobs: list[ReplicatedJob] | None = None
    headGroupSpec: Role | None = None
    workerGroupSpecs: list[Role] | None = None
    rayClusterSpec: RayGroups | None = None
    rayClusterConfig: RayGroups | None = None
    leaderWorkerTemplate: LeaderWorker | None = None
    trainer: Trainer | None = None


class ReplicaStatus(msgspec.Struct):
    """How many pods of one Kubeflow role run, and have ended."""

    active: int | None = None
    succeeded: int | None = None
    failed: int | None = None


class WorkloadStatus(msgspec.Struct):
    """All statuses in one. A CronJob's `active` is a list of its Jobs."""

    replicas: int | None = None
    readyReplicas: int | None = None
    updatedReplicas: int | None = None
    active: int | list[msgspec.Raw] | None = None
    ready: int | bool | None = None
    succeeded: int | None = None
    failed: int | None = None
    desiredNumberScheduled: int | None = None
    currentNumberScheduled: int | None = None
    numberReady: int | None = None
    updatedNumberScheduled: int | None = None
    replicaStatuses: dict[str, ReplicaStatus] | None = None
    rayClusterName: str | None = None
    conditions: list[Condition] | None = None


class WorkloadObject(Object):
    """A controller."""

    spec: WorkloadSpec | None = None
    status: WorkloadStatus | None = None


def roles(spec: WorkloadSpec) -> Iterator[tuple[int, PodSpec]]:
    """The kinds of pods that a workload makes: how many of each, and their spec."""
    for role in groups(spec):
        if role.template and role.template.spec:
            yield first_known(role.replicas, role.count, 1), role.template.spec


def groups(spec: WorkloadSpec) -> Iterator[Role]:
    """All places in which the kinds keep their pod templates."""
    if spec.template:
        yield Role(first_known(spec.replicas, spec.parallelism, 1), template=spec.template)
    if spec.jobTemplate and spec.jobTemplate.spec:
        yield Role(spec.jobTemplate.spec.parallelism, template=spec.jobTemplate.spec.template)
    kubeflow = (spec.pytorchReplicaSpecs, spec.mpiReplicaSpecs, spec.tfReplicaSpecs, spec.xgbReplicaSpecs, spec.paddleReplicaSpecs)
    for by_role in (*kubeflow, spec.jaxReplicaSpecs):
        yield from (by_role or {}).values()
    yield from (*(spec.tasks or ()), *(spec.podSets or ()))
    for job in spec.replicatedJobs or ():
        if job.template and job.template.spec:
            inner = job.template.spec
            yield Role(first_known(job.replicas, 1) * first_known(inner.parallelism, 1), template=inner.template)
    for ray in (RayGroups(spec.headGroupSpec, spec.workerGroupSpecs), spec.rayClusterSpec, spec.rayClusterConfig):
        if ray:
            yield from (*((ray.headGroupSpec,) if ray.headGroupSpec else ()), *(ray.workerGroupSpecs or ()))
    if spec.trainer and spec.trainer.resourcesPerNode:
        box = ContainerSpec(resources=spec.trainer.resourcesPerNode)
        yield Role(spec.trainer.numNodes, template=PodTemplate(PodSpec(containers=[box])))
    if spec.leaderWorkerTemplate:
        group, many = spec.leaderWorkerTemplate, first_known(spec.replicas, 1)
        if group.leaderTemplate:
            yield Role(many, template=group.leaderTemplate)
        yield Role(many * (first_known(group.size, 1) - bool(group.leaderTemplate)), template=group.workerTemplate)


def first_known(*numbers: int | None) -> int:
    """The first number that is there, 0 when none is."""
    return next((number for number in numbers if number is not None), 0)


def selector_text(selector: Selector) -> str:
    """A label selector as `kubectl -l` takes it.

    >>> selector_text(Selector({"app": "train"}, [Expression("tier", "In", ["a", "b"]), Expression("old", "DoesNotExist")]))
    'app=train,tier in (a,b),!old'
    """
    parts = [f"{key}={value}" for key, value in (selector.matchLabels or {}).items()]
    for term in selector.matchExpressions or ():
        listed = f"({','.join(term.values or ())})"
        forms = {
            "In": f"{term.key} in {listed}",
            "NotIn": f"{term.key} notin {listed}",
            "Exists": f"{term.key}",
            "DoesNotExist": f"!{term.key}",
        }
        parts += [forms[term.operator]] if term.key and term.operator in forms else []
    return ",".join(parts)
