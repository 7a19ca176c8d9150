"""What queues, quotas, node pools and the GPU operator's policy lack for what waits, where nobody has said so."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_pending import HELPLESS, OWNER, case, nodes, spoken
from tests.kube.cases_plugin import SHARED, config_map
from tests.kube.cases_stack import CRASHES, NODE, SMI, stack
from tests.kube.objects import Object, event, job, node, pod, pvc, resourcequota
from tests.kube.shapes import meta

GPUS = "nvidia.com/gpu"
UNBOUND = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. " + HELPLESS
KUEUE = "kueue.x-k8s.io/v1beta1"
VOLCANO = "scheduling.volcano.sh/v1beta1"
CARD = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-6d1f2a50-0b0e-4c59-9a7e-3f1c5b8e0002)\n"
SLICE = "  MIG 1g.10gb     Device  0: (UUID: MIG-0f1a2b3c-1111-5222-8333-444455556666)\n"
IN_MIG_MODE = SMI.replace("Disabled", " Enabled")


def custom(api: str, kind: str, name: str, ns: str = "", spec: Object | None = None, status: Object | None = None) -> Object:
    """A custom resource."""
    return {"apiVersion": api, "kind": kind, "metadata": meta(kind, name, ns, age="40d"), "spec": spec or {}, "status": status or {}}


def kueue(most: dict[str, str], reserved: dict[str, str]) -> Case:
    """A suspended job, of which Kueue says nothing, and its queue."""
    rows = [{"name": name, "nominalQuota": amount} for name, amount in most.items()]
    group = {"coveredResources": [*most], "flavors": [{"name": "h100", "resources": rows}]}
    used = {"flavorsReservation": [{"name": "h100", "resources": [{"name": name, "total": amount} for name, amount in reserved.items()]}]}
    queues = [
        custom(KUEUE, "LocalQueue", "gpu-queue", "ml", {"clusterQueue": "team-a"}),
        custom(KUEUE, "ClusterQueue", "team-a", "", {"resourceGroups": [group]}, used),
        custom(KUEUE, "ClusterQueue", "team-b", "", {"resourceGroups": [group]}),
    ]
    return case([job("train", gpus=8, active=0, suspend=True, queue="gpu-queue", age="20m"), *queues, *nodes()], command=OWNER)


def volcano(**counts: int) -> Case:
    """A pod of a group that waits, of which Volcano says nothing, and its queue with all GPUs handed out."""
    waiting = pod("train-0", gpus=8, age="20m", scheduler_name="volcano")
    group = custom(VOLCANO, "PodGroup", "train", "ml", {"queue": "team-a", "minResources": {GPUS: "8"}}, {"phase": "Pending"})
    status = {"state": "Open", "pending": 1, "allocated": {GPUS: "16"}, **counts}
    queue = custom(VOLCANO, "Queue", "team-a", "", {"capability": {GPUS: "16"}}, status)
    told = event(waiting, "FailedScheduling", "pod group is not ready, 1 Pending, 1 minAvailable", age="1m", component="volcano")
    return case([waiting, told, group, queue, custom(VOLCANO, "Queue", "default"), *nodes()])


def policy(**spec: Any) -> Object:
    """The operator's ClusterPolicy."""
    return custom("nvidia.com/v1", "ClusterPolicy", "cluster-policy", "", {"operator": {"defaultRuntime": "containerd"}, **spec})


def pool_is_full() -> Case:
    """A pod that Karpenter refuses a node, and a node pool that has all the GPUs that it may have."""
    refusal = 'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"pods":"5"}'
    made = spoken("FailedScheduling", refusal, component="karpenter")
    pool = custom("karpenter.sh/v1", "NodePool", "gpu", "", {"limits": {GPUS: "24"}}, {"resources": {GPUS: "24"}})
    return Case(made.command, {**made.cluster, "objects": [*made.cluster["objects"], pool]})


def cut(*objects: Object, listed: str = CARD + SLICE) -> Case:
    """A node whose GPU is in MIG mode and offered as a whole."""
    return stack(*objects, smi=IN_MIG_MODE, listed=listed, on=node(NODE, gpus=0, gpu_label_count=1))


def shared(default: str) -> Case:
    """A device plugin that crashes, and the policy that names its configuration."""
    told = {"enabled": True, "config": {"name": "plugin-config", "default": default}}
    return stack(policy(devicePlugin=told), config_map("plugin-config", shared=SHARED), device_plugin=CRASHES)


CASES: dict[str, Case] = {
    "class-absent": case(
        [
            pod(
                "train-0",
                gpus=8,
                age="3h",
                claims=["data"],
                unschedulable=UNBOUND,
            ),
            pvc("data", phase="Pending", storage_class="fast-nvme"),
            custom("storage.k8s.io/v1", "StorageClass", "standard"),
            *nodes(),
        ]
    ),
    "kueue-queue-short": kueue({"cpu": "400", "memory": "4Ti", GPUS: "16"}, {GPUS: "12"}),
    "kueue-queue-uncovered": kueue({"cpu": "400", "memory": "4Ti"}, {}),
    "volcano-queue-short": volcano(running=2),
    "volcano-queue-held": volcano(completed=2),
    "node-pool-full": pool_is_full(),
    "quota-unstated": case(
        [job("train", gpus=8, active=0, age="3h"), resourcequota("team", hard={"limits.cpu": "64"}), *nodes()], command=OWNER
    ),
    "all-cordoned-unheard": case([pod("train-0", gpus=8, age="20m"), *nodes(cordoned=True)]),
    "mig-none-listed": cut(listed=CARD),
    "mig-none-in-policy": cut(policy(mig={"strategy": "none"})),
    "mig-mixed-in-policy": cut(policy(mig={"strategy": "mixed"})),
    "policy-names-no-configuration": shared("any"),
    "policy-names-a-configuration": shared("shared"),
}
