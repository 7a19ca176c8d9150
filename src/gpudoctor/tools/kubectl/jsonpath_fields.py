"""Which fields of a fact the parts of an object show: by the path in the object that a field is read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# Fact type → field of the object, with dots → fields of the fact that are read from it (the readers beside this).
FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "nodes": {
        "metadata.labels": ("labels",),
        "spec.taints": ("taints", "taint_keys"),
        "spec.unschedulable": ("unschedulable",),
        "status.capacity": ("capacity", "gpus_capacity", "gpu_resources"),
        "status.allocatable": ("allocatable", "gpus_allocatable", "gpu_resources"),
        "status.conditions": ("ready", "pressure"),
        "status.addresses": ("addresses",),
        "status.nodeInfo.osImage": ("os_image",),
        "status.nodeInfo.kernelVersion": ("kernel_version",),
        "status.nodeInfo.kubeletVersion": ("kubelet_version",),
        "status.nodeInfo.containerRuntimeVersion": ("runtime_version",),
    },
    "pods": {
        "metadata.uid": ("uid",),
        "metadata.labels": ("labels",),
        "metadata.ownerReferences": ("workload",),
        "spec.nodeName": ("node", "scheduled"),
        "spec.schedulerName": ("scheduler_name",),
        "spec.runtimeClassName": ("runtime_class",),
        "spec.nodeSelector": ("node_selector",),
        "spec.affinity": ("node_affinity",),
        "spec.tolerations": ("tolerations",),
        "spec.resourceClaims": ("claim_templates",),
        "spec.containers.resources": ("requests", "gpus", "gpu_resources"),
        "spec.containers.image": ("images",),
        "status.phase": ("phase", "status"),
        "status.reason": ("reason", "status"),
        "status.message": ("message",),
        "status.conditions": ("schedule_reason", "schedule_message"),
        "status.containerStatuses.ready": ("ready",),
        "status.containerStatuses.restartCount": ("restarts",),
    },
    "containers": {
        "spec.containers.image": ("image",),
        "spec.containers.resources": ("gpus", "gpu_resources", "memory_limit"),
        "spec.containers.env": ("visible_devices", "cuda_visible_devices", "driver_capabilities"),
        "spec.containers.securityContext": ("privileged", "may_lock"),
        "spec.nodeName": ("node",),
        "status.containerStatuses.state": ("state", "reason", "message", "exit_code"),
        # who asks for the last state alone has seen that the present one says nothing
        "status.containerStatuses.lastState": ("last_reason", "last_message", "last_exit_code", "reason", "message"),
        "status.containerStatuses.restartCount": ("restarts",),
        "status.containerStatuses.ready": ("ready",),
    },
    "workloads": {
        "status.desiredNumberScheduled": ("desired",),
        "status.currentNumberScheduled": ("current",),
        "status.numberReady": ("ready",),
        "status.updatedNumberScheduled": ("updated",),
        "status.replicas": ("current",),
        "status.readyReplicas": ("ready",),
        "status.updatedReplicas": ("updated",),
        "status.conditions": ("conditions",),
        "spec.replicas": ("desired",),
        "spec.suspend": ("suspended",),
        "spec.template.spec.nodeSelector": ("node_selector",),
        "spec.template.spec.affinity": ("affinity_labels",),
        "spec.template.spec.tolerations": ("tolerations",),
        "spec.template.spec.containers.resources": ("gpus", "requests", "unstated"),
    },
}
MAPS = ("labels", "annotations", "allocatable", "capacity", "nodeSelector")  # whose keys have dots
ALWAYS = {
    "nodes": {"node"},
    "pods": {"namespace", "pod", "component", "deleting"},
    "containers": {"namespace", "pod", "container", "component", "kind"},
    "workloads": {"namespace", "workload", "kind", "name", "component"},
}


def requested_fields(kind: str, paths: Iterable[Sequence[object]]) -> set[str]:
    """The fields that were asked for: a path leads to a field, into it, or to something that holds it."""
    dotted = [".".join(step for step in path if isinstance(step, str)).replace("initContainer", "container") + "." for path in paths]
    found = set(ALWAYS[kind])
    for place, fields in FIELDS[kind].items():
        if any((place + ".").startswith(path) or path.startswith(place + ".") for path in dotted):
            found.update(fields)
    return found


def whole_keys(found: Sequence[Any]) -> tuple[Any, ...]:
    """The steps with the name of a label or resource in one, whose dots a shell without quotes has laid bare."""
    at = next((index for index, step in enumerate(found) if step in MAPS), len(found))
    names = [step for step in found[at + 1 :] if isinstance(step, str)]
    return (*found[: at + 1], ".".join(names)) if len(names) > 1 and len(names) == len(found) - at - 1 else tuple(found)
