"""Pods that wait for the scheduler, and what keeps them from it."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.objects import cluster, event, gpu_stack, job, node, pod, pv, pvc, resourcequota

TAINT = [("nvidia.com/gpu", "present", "NoSchedule")]
TOLERATION = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
ASK = ["diagnose", "pod", "train-0", "-n", "ml"]
HELPLESS = "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
NO_VICTIMS = "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."


def pending(reason: str, *, gpus: int = 8, age: str = "20m", **more: Any) -> list[Any]:
    """A pod that the scheduler could not place, with its event."""
    waiting = pod("train-0", gpus=gpus, age=age, unschedulable=reason, **more)
    return [waiting, event(waiting, "FailedScheduling", reason, age="1m", component="default-scheduler")]


def said(body: str, preemption: str = HELPLESS) -> str:
    """The scheduler's message over three nodes."""
    return f"0/3 nodes are available: {body}. {preemption}"


def nodes(**changes: Any) -> list[Any]:
    """Three GPU nodes, all changed alike."""
    return [node(f"gpu-0{number}", **changes) for number in (1, 2, 3)]


def busy(*names: str, gpus: int = 8) -> list[Any]:
    """Pods that hold all GPUs of nodes."""
    return [pod(f"other-{name}", ns="vision", gpus=gpus, node=name, tolerations=TOLERATION) for name in names]


def case(objects: list[Any], command: list[str] = ASK, **more: Any) -> Case:
    """A case over a cluster of these objects."""
    return Case(command, cluster(objects, **more))


CASES: dict[str, Case] = {
    "taint": case([*pending(said("3 node(s) had untolerated taint {nvidia.com/gpu: present}")), *nodes(taints=TAINT)]),
    "taint-young": case([*pending(said("3 node(s) had untolerated taint {nvidia.com/gpu: present}"), age="10s"), *nodes(taints=TAINT)]),
    "cordoned": case([*pending(said("3 node(s) were unschedulable")), *nodes(cordoned=True)]),
    "selector": case([*pending(said("3 node(s) didn't match Pod's node affinity/selector"), node_selector={"pool": "h100"}), *nodes()]),
    "full": case([*pending(said("3 Insufficient nvidia.com/gpu", NO_VICTIMS)), *nodes(), *busy("gpu-01", "gpu-02", "gpu-03")]),
    "too-large": case([*pending(said("3 Insufficient nvidia.com/gpu"), gpus=16), *nodes()]),
    "no-plugin": case([*pending(said("3 Insufficient nvidia.com/gpu")), *nodes(gpus=0, gpu_label_count=8)]),
    "cpu-short": case(
        [*pending(said("3 Insufficient cpu"), requests={"cpu": "120"}), *nodes(cpu="64")],
    ),
    "lost-gpus": case(
        [
            *pending(said("3 Insufficient nvidia.com/gpu")),
            node("gpu-01", allocatable_gpus=7),
            node("gpu-02"),
            node("gpu-03"),
            *busy("gpu-02", "gpu-03"),
        ]
    ),
    "pinned-volume": case(
        [
            *pending(said("3 node(s) had volume node affinity conflict"), claims=["data"]),
            pvc("data", volume="pv-zone-b"),
            pv("pv-zone-b", claim="ml/data", nodes=["storage-9"]),
            *nodes(),
        ]
    ),
    "unbound-claim": case(
        [
            *pending("0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. " + HELPLESS, claims=["data"]),
            pvc("data", phase="Pending"),
            *nodes(),
        ]
    ),
    "gated": case([pod("train-0", gpus=8, gates=["kueue.x-k8s.io/admission"], age="20m"), *nodes()]),
    "no-scheduler": case([pod("train-0", gpus=8, scheduler_name="volcanoo", age="20m"), *nodes()]),
    "api-refuses-nodes": case(
        [*pending(said("3 Insufficient nvidia.com/gpu")), *nodes()],
        faults=[{"match": "GET /api/v1/nodes", "status": 403}],
    ),
    "api-down": case(
        [*pending(said("3 Insufficient nvidia.com/gpu")), *nodes()],
        faults=[{"match": "GET /api/v1/", "status": 500, "message": "etcdserver: request timed out"}],
    ),
    "quota": case(
        [
            (owner := job("train", gpus=8, age="20m")),
            event(
                owner,
                "FailedCreate",
                'Error creating: pods "train-x7kqp" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=8, '
                "used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16",
                component="job-controller",
            ),
            resourcequota("gpu-quota", hard={"requests.nvidia.com/gpu": "16"}, used={"requests.nvidia.com/gpu": "16"}),
            *nodes(),
        ],
        command=["diagnose", "pod", "job/train", "-n", "ml"],
    ),
    "healthy": case([pod("train-0", gpus=8, node="gpu-01"), *nodes(), *gpu_stack("gpu-01")]),
}
