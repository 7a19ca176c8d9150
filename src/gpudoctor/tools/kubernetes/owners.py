"""The owners of a list that should have GPU pods and have none. All others are dropped as they are read: a large list costs little."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Workload
from gpudoctor.knowledge.resources import gpu_names
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import age, objects, seconds, whole_list
from gpudoctor.tools.kubernetes.pod_requests import pod_requests
from gpudoctor.tools.kubernetes.workload_shape import WorkloadObject, WorkloadSpec, WorkloadStatus, roles
from gpudoctor.tools.kubernetes.workloads import workload_fact

ENDED_WELL = ("Complete=True", "Completed=True", "Succeeded=True", "Finished=True")
REMEMBERED = 3600.0  # s: how long the API server keeps events (its --event-ttl); nothing says why an older job has failed
STOPPED = "kubeflow-resource-stopped"  # Notebook: somebody has let it rest


def without_pods(outputs: Iterable[Output], about: Subject) -> Facts:
    """One record per owner whose GPU pods are not there, by what its own status says.

    Parts of the GPU stack are left to the runbooks of the stack. What their conditions say stands in their events too, and isn't read
    here: who may not list owners can still be told all about pods. Raises `ParseError` when the list breaks off.
    """
    found: list[Workload] = []
    for output in whole_list(outputs, "owners"):
        wanting = (item for item in objects(output, WorkloadObject, None) if item.meta.name and wants_gpus(item))
        found += [fact for item in wanting if misses_pods(item, fact := workload_fact(item, output), output)]
    return {"workloads": [*found]}


def wants_gpus(item: WorkloadObject) -> bool:
    """Whether some of its pods should have a GPU. What a TrainJob doesn't say its runtime says, which is made for GPUs here."""
    spec = item.spec or WorkloadSpec()
    templates = [pod for _, pod in roles(spec)]
    if item.kind == "TrainJob" and not templates:
        return True
    return any(gpu_names(pod_requests(pod)) or pod.resourceClaims for pod in templates)


def misses_pods(item: WorkloadObject, fact: Workload, output: Output) -> bool:
    """Whether it should have pods now and has none. What is held back together with its owner is that one's matter."""
    conditions = fact.conditions
    wants_none = fact.desired == 0 and any(roles(item.spec or WorkloadSpec()))
    if fact.component or wants_none or STOPPED in (item.meta.annotations or {}) or any(one in conditions for one in ENDED_WELL):
        return False
    if "Failed=True" in conditions:
        return failed_for(item, output) < REMEMBERED  # its pods are taken away, or fail beside it
    if fact.suspended:
        return not fact.owner and not fact.current
    return fact.unseen or fact.current == 0


def failed_for(item: WorkloadObject, output: Output) -> float:
    """For how many seconds a job has been a failed one."""
    status = item.status or WorkloadStatus()
    since = [age(seconds(one.lastTransitionTime), output) for one in status.conditions or () if one.type == "Failed"]
    return next((one for one in since if one is not None), 0.0)
