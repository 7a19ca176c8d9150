"""Pods that wait for the scheduler, and what keeps them from it."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.objects import cluster, daemonset, event, job, node, pod, pv, pvc, pytorchjob, queued_workload, resourcequota

TAINT = [("nvidia.com/gpu", "present", "NoSchedule")]
TOLERATION = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
OWNER = ["diagnose", "pod", "job/train", "-n", "ml"]
ASK = ["diagnose", "pod", "train-0", "-n", "ml"]
HELPLESS = "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
NO_VICTIMS = "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."


def pending(reason: str, *, gpus: int = 8, age: str = "20m", **more: Any) -> list[Any]:
    """A pod that the scheduler could not place, with its event."""
    waiting = pod("train-0", gpus=gpus, age=age, unschedulable=reason, **more)
    return [waiting, event(waiting, "FailedScheduling", reason, age="1m", component="default-scheduler")]


def pending_of(ns: str, reason: str, selector: dict[str, str]) -> list[Any]:
    """The same pod of another team."""
    waiting = pod("train-0", ns, gpus=8, age="20m", unschedulable=reason, node_selector=selector)
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


def undated(one: Any) -> Any:
    """An object as its manifest shows it, without what the API server gives."""
    given = ("uid", "creationTimestamp", "resourceVersion")
    return {**one, "metadata": {key: value for key, value in one["metadata"].items() if key not in given}}


# What the scheduler alone says, where the nodes can't be read: no table of ours, only its words.
WORDS: dict[str, tuple[str, ...]] = {
    "taint": ("3 node(s) had untolerated taint {nvidia.com/gpu: present}",),
    "taint-unnamed": ("3 node(s) had untolerated taint(s)",),
    "in-use": ("3 Insufficient nvidia.com/gpu", NO_VICTIMS),
    "in-use-on-one": (
        "3 Insufficient nvidia.com/gpu",
        "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
    ),
    "nowhere": ("3 Insufficient nvidia.com/gpu", HELPLESS),
    "bare": ("3 Insufficient nvidia.com/gpu", ""),
    "other-vendor": ("3 Insufficient amd.com/gpu", NO_VICTIMS),
    "card-shares": ("3 Insufficient nvidia.com/gpumem", NO_VICTIMS),
    "cpu": ("3 Insufficient cpu", NO_VICTIMS),
    "cpu-memory": ("3 Insufficient cpu, 2 Insufficient memory", NO_VICTIMS),
    "both": ("3 Insufficient cpu, 3 Insufficient nvidia.com/gpu", NO_VICTIMS),
    "affinity": ("3 node(s) didn't match Pod's node affinity/selector",),
    "cordoned": ("3 node(s) were unschedulable",),
    "volume": ("3 node(s) had volume node affinity conflict",),
    "taint-or-label": ("1 node(s) had taints that the pod didn't tolerate, 2 node(s) didn't match node selector", ""),
    "taint-or-gpus": ("1 node(s) had untolerated taint(s), 2 Insufficient nvidia.com/gpu", ""),
    "nodes-lost": ("3 node(s) had untolerated taint {node.kubernetes.io/unreachable: }",),
    "nodes-lost-and-full": ("1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 Insufficient nvidia.com/gpu", ""),
    "nodes-new-and-full": (
        "1 node(s) had untolerated taint {node.cloudprovider.kubernetes.io/uninitialized: true}, 2 Insufficient nvidia.com/gpu",
        "",
    ),
    "nodes-lost-too": ("1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 2 Insufficient cpu", ""),
    "cordoned-and-empty": ("1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu",),
    "pods-limit": ("3 Too many pods", NO_VICTIMS),
    "unknown-reason": ("3 node(s) were found to be too far away",),
    "device-claim": ("3 cannot allocate all claims",),
    "no-volume": ("3 node(s) didn't find available persistent volumes to bind",),
    "disk": ("3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }",),
}


def blind(body: str, preemption: str = HELPLESS) -> Case:
    """The scheduler's words without the right to read nodes."""
    refused = [{"match": "GET /api/v1/nodes", "status": 403}]
    return case([*pending(said(body, preemption).strip()), *nodes()], faults=refused)


def exporter_without_port() -> Case:
    """A DaemonSet's pod, for which one node alone comes into question, and there another has its port."""
    reason = said("1 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't match Pod's node affinity/selector")
    waiting = pod("dcgm-exporter-4kq9x", age="20m", unschedulable=reason)
    told = event(waiting, "FailedScheduling", reason, age="1m", component="default-scheduler")
    plugin = daemonset("nvidia-device-plugin-daemonset", "gpu-operator", desired=3)
    return case([waiting, told, plugin, *nodes()], ["diagnose", "pod", "dcgm-exporter-4kq9x", *ASK[3:]])


def spoken(reason: str, message: str, *, component: str = "volcano", **more: Any) -> Case:
    """A pod about which another controller says something."""
    waiting = pod("train-0", gpus=8, age="20m", **more)
    return case([waiting, event(waiting, reason, message, age="1m", component=component), *nodes()])


def disk_pressure_named() -> Case:
    """A pod that waits; an operator's event names the taint of a node that can't be read."""
    waiting = pod("train-0", gpus=8, age="20m")
    told = event(waiting, "Waiting", "gpu-01 has the taint node.kubernetes.io/disk-pressure", age="1m", component="train-operator")
    return case([waiting, told, *nodes()], faults=[{"match": "GET /api/v1/nodes", "status": 403}])


def refused(why: str) -> Case:
    """A job whose pod is refused before it is made."""
    owner = job("train", gpus=8, active=0, age="20m")
    text = f'Error creating: pods "train-x7kqp" is forbidden: {why}'
    return case([owner, event(owner, "FailedCreate", text, component="job-controller"), *nodes()], command=OWNER)


def queued(message: str) -> Case:
    """A suspended job whose Kueue workload says why it waits."""
    owner = job("train", gpus=8, active=0, suspend=True, queue="gpu-queue", age="20m")
    label = {"kueue.x-k8s.io/job-uid": owner["metadata"]["uid"]}
    return case([owner, queued_workload("job-train-4f2c1", owner="Job/train", reserved=message, labels=label), *nodes()], command=OWNER)


CASES: dict[str, Case] = {
    "taint": case([*pending(said("3 node(s) had untolerated taint {nvidia.com/gpu: present}")), *nodes(taints=TAINT)]),
    "taint-young": case([*pending(said("3 node(s) had untolerated taint {nvidia.com/gpu: present}"), age="10s"), *nodes(taints=TAINT)]),
    "cordoned": case([*pending(said("3 node(s) were unschedulable")), *nodes(cordoned=True)]),
    "selector": case([*pending(said("3 node(s) didn't match Pod's node affinity/selector"), node_selector={"pool": "h100"}), *nodes()]),
    "full": case([*pending(said("3 Insufficient nvidia.com/gpu", NO_VICTIMS)), *nodes(), *busy("gpu-01", "gpu-02", "gpu-03")]),
    "too-large-beside-gpus": case([*pending(said("3 Insufficient memory"), requests={"memory": "40Ti"}), *nodes()]),
    "too-large": case([*pending(said("3 Insufficient nvidia.com/gpu"), gpus=16), *nodes()]),
    "no-plugin": case([*pending(said("3 Insufficient nvidia.com/gpu")), *nodes(gpus=0, gpu_label_count=8)]),
    "nothing-installed": case(
        [*pending(said("3 Insufficient nvidia.com/gpu")), *nodes(gpus=0), daemonset("node-exporter", "monitoring")],
    ),
    "plugin-elsewhere": case(
        [
            *pending(said("3 Insufficient nvidia.com/gpu")),
            *nodes(gpus=0),
            daemonset("nvidia-device-plugin-daemonset", "gpu-operator", desired=0),
        ],
    ),
    "cpu-short": case(
        [
            *pending(said("3 Insufficient cpu"), requests={"cpu": "60"}),
            *nodes(cpu="64"),
            *[
                pod(f"web-{home}", ns="vision", requests={"cpu": "16"}, node=home, tolerations=TOLERATION)
                for home in ("gpu-01", "gpu-02", "gpu-03")
            ],
        ],
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
    "volumes-full": case(
        [
            *pending(said("3 node(s) exceed max volume count"), claims=["data"]),
            pvc("data", volume="pv-zone-b"),
            pv("pv-zone-b", claim="ml/data", nodes=["gpu-01", "gpu-02", "gpu-03"]),
            *nodes(),
        ]
    ),
    "claim-pending": case([pod("train-0", gpus=8, age="40s", claims=["data"]), pvc("data", phase="Pending"), *nodes()]),
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
    "nowhere-one": case(
        [*pending(said("3 Insufficient nvidia.com/gpu"), gpus=1), *nodes()], faults=[{"match": "GET /api/v1/nodes", "status": 403}]
    ),
    "exporter-pod-port": exporter_without_port(),
    **{f"words-{name}": blind(body, *rest) for name, (body, *rest) in WORDS.items()},
    "api-down": case(
        [*pending(said("3 Insufficient nvidia.com/gpu")), *nodes()],
        faults=[{"match": "GET /api/v1/", "status": 500, "message": "etcdserver: request timed out"}],
    ),
    "quota": case(
        [
            (owner := job("train", gpus=8, active=0, age="20m")),
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
        command=OWNER,
    ),
    "not-ready": case(
        [
            *pending(said("3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }")),
            *nodes(ready=False),
        ]
    ),
    "other-name": case(
        [*pending(said("3 Insufficient nvidia.com/gpu"), gpus=1), *nodes(gpus=7, gpu_resource="nvidia.com/mig-1g.10gb")],
    ),
    "autoscaler": case(
        [
            *(waiting := pending(said("3 Insufficient nvidia.com/gpu", NO_VICTIMS))),
            event(
                waiting[0],
                "NotTriggerScaleUp",
                "pod didn't trigger scale-up: 1 max node group size reached",
                component="cluster-autoscaler",
                type="Normal",
            ),
            *nodes(),
            *busy("gpu-01", "gpu-02", "gpu-03"),
        ]
    ),
    "two-teams": case(
        [
            *pending(
                said("2 Insufficient nvidia.com/gpu, 1 node(s) didn't match Pod's node affinity/selector"), node_selector={"pool": "a"}
            ),
            *pending_of(
                "vision", said("1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector"), {"pool": "b"}
            ),
            node("gpu-01", allocatable_gpus=7, labels={"pool": "a"}),
            node("gpu-02", labels={"pool": "a"}),
            node("gpu-03", labels={"pool": "b"}),
            *busy("gpu-02", "gpu-03"),
        ],
        command=["diagnose", "pod", "-A"],
    ),
    "quota-values": case(
        [
            (asker := job("train", gpus=8, active=0, age="20m")),
            event(
                asker,
                "FailedCreate",
                'Error creating: pods "train-x7kqp" is forbidden: failed quota: compute: must specify limits.memory for: main',
                component="job-controller",
            ),
            *nodes(),
        ],
        command=OWNER,
    ),
    "policy": case(
        [
            (denied := job("train", gpus=8, active=0, age="20m")),
            event(
                denied,
                "FailedCreate",
                'Error creating: admission webhook "gpu-limits.example.com" denied the request: team ml may use at most 4 GPUs in a pod',
                component="job-controller",
            ),
            *nodes(),
        ],
        command=OWNER,
    ),
    "volcano-quota": spoken("FailedScheduling", "queue resource quota insufficient: insufficient nvidia.com/gpu", scheduler_name="volcano"),
    "volcano-overused": spoken("FailedScheduling", "resource in cluster is overused", scheduler_name="volcano"),
    "gang": spoken("FailedScheduling", "pod group is not ready, 8 Pending, 8 minAvailable", scheduler_name="volcano"),
    "karpenter": spoken(
        "FailedScheduling",
        'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, no instance type has enough resources',
        component="karpenter",
    ),
    "karpenter-one-gpu": spoken(
        "FailedScheduling",
        'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, no instance type satisfied resources '
        '{"cpu":"9","nvidia.com/gpu":"4","pods":"5"} and requirements node.kubernetes.io/instance-type In [g5.4xlarge g6.8xlarge] '
        "(no instance type has enough resources)",
        component="karpenter",
    ),
    "karpenter-taint": spoken(
        "FailedScheduling",
        "Failed to schedule pod, did not tolerate taint (taint=CriticalAddonsOnly:NoSchedule); "
        "did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)",
        component="karpenter",
    ),
    "karpenter-label": spoken(
        "FailedScheduling",
        'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, incompatible requirements, '
        'label "pool" does not have known values',
        component="karpenter",
    ),
    "karpenter-other-group": spoken(
        "FailedScheduling",
        'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, did not tolerate '
        'nvidia.com/gpu=true:NoSchedule; incompatible with nodepool "any", daemonset overhead={"cpu":"1"}, incompatible requirements, '
        'label "eks.amazonaws.com/nodegroup" does not have known values',
        component="karpenter",
    ),
    "karpenter-no-offering": spoken(
        "FailedScheduling",
        'Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, no instance type satisfied resources '
        '{"nvidia.com/gpu":"8","pods":"5"} and requirements karpenter.sh/capacity-type In [spot] (no instance type which met the '
        "scheduling requirements and had enough resources, had a required offering)",
        component="karpenter",
    ),
    "disk-pressure-named": disk_pressure_named(),
    "cloud-is-out": spoken(
        "FailedScaleUp",
        "Node scale up in zones europe-west4-a associated with this pod failed: GCE out of resources.",
        component="cluster-autoscaler",
    ),
    "cloud-quota": spoken(
        "FailedScaleUp",
        "Node scale up in zones europe-west4-a associated with this pod failed: GCE quota exceeded.",
        component="cluster-autoscaler",
    ),
    "kai": spoken(
        "Unschedulable",
        "no nodes with enough resources were found: 3 node(s) didn't have enough resources: GPUs.",
        component="kai-scheduler",
        scheduler_name="kai-scheduler",
    ),
    "hami-node-too-small": spoken(
        "FilteringFailed",
        "request devices nums cannot exceed the total number of devices on the node.",
        component="hami-scheduler",
        scheduler_name="hami-scheduler",
    ),
    "no-storage-class": spoken(
        "FailedScheduling",
        'running PreBind plugin "VolumeBinding": storageclass.storage.k8s.io "fast" not found',
        component="default-scheduler",
    ),
    "pod-security": refused('violates PodSecurity "baseline:latest": hostPath volumes (volume "shm")'),
    "limit-range": refused("maximum memory usage per Container is 64Gi, but limit is 128Gi"),
    "webhook-silent": case(
        [
            (unheard := job("train", gpus=8, active=0, age="20m")),
            event(
                unheard,
                "FailedCreate",
                'Error creating: Internal error occurred: failed calling webhook "mpod.example.com": failed to call webhook: Post '
                '"https://hook.guard.svc:443/mutate": no endpoints available for service "hook"',
                component="job-controller",
            ),
            *nodes(),
        ],
        command=OWNER,
    ),
    "kueue-flavor": queued("couldn't assign flavors to pod set main: topology \"block\" doesn't allow to fit any of 16 pod(s)"),
    "kueue-inactive": queued("ClusterQueue gpu-cq is inactive"),
    "kueue-held": case(
        [
            (second := job("train", gpus=8, active=0, suspend=True, queue="gpu-queue", age="20m")),
            *(
                queued_workload(name, owner="Job/train", reserved=words, labels={"kueue.x-k8s.io/job-uid": second["metadata"]["uid"]})
                for name, words in (("job-train-1", None), ("job-train-2", "The workload is not admitted yet"))
            ),
            *nodes(),
        ],
        command=OWNER,
    ),
    "kueue-quota": queued(
        "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed"
    ),
    "kueue-uncovered": queued("couldn't assign flavors to pod set main: resource nvidia.com/gpu unavailable in ClusterQueue"),
    "kueue-waits": queued("The workload is not admitted yet"),
    "kueue-no-queue": queued("LocalQueue gpu-queue doesn't exist"),
    "quota-of-pytorchjob": case(
        [
            (training := pytorchjob("train", workers=3, active=0, gpus=8)),
            event(
                training,
                "FailedCreatePod",
                'Error creating: pods "train-master-0" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=8, '
                "used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16",
                component="pytorchjob-controller",
            ),
            *nodes(),
        ],
        command=["diagnose", "pod", "pytorchjob/train", "-n", "ml"],
    ),
    "quota-of-another": case(
        [
            job("train", gpus=8, active=0, age="20m"),
            event(
                job("nightly", gpus=8, active=0),
                "FailedCreate",
                'Error creating: pods "nightly-1" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=8, '
                "used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16",
                component="job-controller",
            ),
            *nodes(),
        ],
        command=OWNER,
    ),
    "silent-owner": case([job("train", gpus=8, active=0, age="20m"), *nodes()], command=OWNER),
    "quota-of-an-hour-ago": case(
        [
            job("train", gpus=8, active=0, age="3h"),
            resourcequota("gpu-quota", hard={"requests.nvidia.com/gpu": "16"}, used={"requests.nvidia.com/gpu": "16"}),
            *nodes(),
        ],
        command=OWNER,
    ),
    "suspended": case([job("train", gpus=8, active=0, suspend=True, age="20m"), *nodes()], command=OWNER),
    "suspended-undated": case([undated(job("train", gpus=8, active=0, suspend=True)), *nodes()], command=OWNER),
}
