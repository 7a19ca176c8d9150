"""Pods as a real control plane leaves them: chosen nodes, other pods, silent parts of the control plane, claims of devices."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_pending import HELPLESS, OWNER, TAINT, busy, case, nodes, pending, said
from tests.kube.objects import Object, event, job, namespace, node, pod, pytorchjob
from tests.kube.shapes import meta

HOST = "kubernetes.io/hostname"
DRIVER = "gpu.example.com"
START = ["run", "pod-not-starting", "--set", "name=train-0", "--set", "namespace=ml"]
LIST = ["diagnose", "pod", "-n", "ml"]


def pinned(target: Any, words: str, *others: Any, gpus: int = 8) -> Case:
    """A pod that has chosen one node by its name, among nodes that would do."""
    waiting = pending(said(f"1 {words}, 2 node(s) didn't match Pod's node affinity/selector"), gpus=gpus, node_selector={HOST: "gpu-01"})
    return case([*waiting, target, node("gpu-02"), node("gpu-03"), *others])


def claiming(words: str, *more: Any, template: str = "one-gpu") -> Case:
    """A pod that claims a device."""
    waiting = pending(words, gpus=0)
    waiting[0]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template}]
    return case([*waiting, *more, *nodes(gpus=0)])


def device_slice(*devices: str) -> Object:
    """What a driver publishes."""
    spec = {"driver": DRIVER, "nodeName": "gpu-01", "devices": [{"name": name} for name in devices]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": meta("ResourceSlice", "gpu-01-gpus"), "spec": spec}


def device_claim(name: str, holder: str = "") -> Object:
    """A claim of one device; with a holder it has it."""
    made: Object = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": meta("ResourceClaim", name, "ml"),
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": DRIVER}}]}},
    }
    if holder:
        results = [{"request": "gpu", "driver": DRIVER, "pool": "gpu-01", "device": "gpu-0"}]
        made["status"] = {"allocation": {"devices": {"results": results}}, "reservedFor": [{"resource": "pods", "name": holder}]}
    return made


def nominated() -> list[Any]:
    """A pod for which another one has to go, which is held by a finalizer."""
    waiting = pending(said("3 Insufficient nvidia.com/gpu"))
    waiting[0]["status"]["nominatedNodeName"] = "gpu-01"
    return waiting


def refused(words: str, command: list[str]) -> Case:
    """A job whose pods the API server refuses."""
    owner = job("train", gpus=8, active=0, age="20m")
    return case([owner, event(owner, "FailedCreate", f'Error creating: pods "train-" is forbidden: {words}'), *nodes()], command=command)


def unseen() -> Object:
    """A job that no controller has looked at."""
    owner = job("train", gpus=8, active=0, age="20m")
    return {**owner, "status": {}}


def placed(*, age: str = "20m") -> Object:
    """A pod with a node and no word of its kubelet."""
    made = pod("train-0", gpus=8, node="gpu-01", age=age)
    placed_condition = [one for one in made["status"]["conditions"] if one["type"] == "PodScheduled"]
    return {**made, "status": {"phase": "Pending", "conditions": placed_condition, "qosClass": "Burstable"}}


def unready() -> Object:
    """A pod that ran when its node went away: the node controller has written that it isn't ready."""
    made = pod("train-0", gpus=8, node="gpu-01")
    for one in made["status"]["conditions"]:
        one["status"] = "False" if one["type"] == "Ready" else one["status"]
    return made


def named_claim() -> Case:
    """A pod that names a claim: the scheduler keeps it out of its queue and says nothing."""
    waiting = pod("train-0", gpus=0, age="20m")
    waiting["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "mine"}]
    return case([waiting, device_claim("other"), *nodes()])


def ruled(words: str, rules: Object, *others: Any) -> Case:
    """A pod with rules about others, and others that run."""
    waiting = pending(said(words), labels={"app": "ring"})
    waiting[0]["spec"] |= rules
    return case([*waiting, *nodes(), *others])


def about(word: str, **term: Any) -> Object:
    """A required rule about pods with the label app=ring."""
    rule = {"labelSelector": {"matchLabels": {"app": "ring"}}, "topologyKey": HOST, **term}
    return {"affinity": {word: {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}}


def going(one: Object, *, ends: bool = True, **more: Any) -> Case:
    """Something that is being deleted, which a finalizer holds; its namespace `ends` too."""
    one["metadata"] |= {"deletionTimestamp": "2026-03-01T11:50:00Z", "finalizers": ["example.com/hold"]}
    return case([namespace("ml", terminating=ends), one, *nodes()], **more)


def ring(ns: str = "ml") -> list[Any]:
    """A pod of that label on each node, which holds no GPU."""
    return [pod(f"ring-{name}", ns=ns, node=name, labels={"app": "ring"}) for name in ("gpu-01", "gpu-02", "gpu-03")]


def port_of_all() -> Case:
    """A pod that takes a port of the node, which is taken everywhere."""
    waiting = pending(said("3 node(s) didn't have free ports for the requested pod ports"))
    taken = [pod(f"agent-{name}", node=name) for name in ("gpu-01", "gpu-02", "gpu-03")]
    for one in [waiting[0], *taken]:
        one["spec"]["containers"][0]["ports"] = [{"containerPort": 29500, "hostPort": 29500}]
    return case([*waiting, *nodes(), *taken])


CASES: dict[str, Case] = {
    "pinned-cordoned": pinned(node("gpu-01", cordoned=True), "node(s) were unschedulable"),
    "pinned-full": pinned(node("gpu-01"), "Insufficient nvidia.com/gpu", *busy("gpu-01")),
    "pinned-tainted-and-full": pinned(
        node("gpu-01", taints=TAINT), "node(s) had untolerated taint {nvidia.com/gpu: present}", *busy("gpu-01")
    ),
    "beside-its-own": case([*pending(said("3 node(s) didn't match pod anti-affinity rules")), *nodes()]),
    "spread": case([*pending(said("3 node(s) didn't match pod topology spread constraints")), *nodes()]),
    "port-taken": case([*pending(said("3 node(s) didn't have free ports for the requested pod ports")), *nodes()]),
    "apart-from-its-own": ruled("3 node(s) didn't match pod anti-affinity rules", about("podAntiAffinity"), *ring()),
    "beside-another-namespace": ruled(
        "3 node(s) didn't match pod affinity rules",
        about("podAffinity", namespaceSelector={"matchLabels": {"team": "storage"}}),
        namespace("vision", labels={"team": "vision"}),
        *ring("vision"),
    ),
    "port-of-all": port_of_all(),
    "namespace-ends": going(pod("train-0", gpus=8, age="20m", unschedulable=said("3 Insufficient nvidia.com/gpu"))),
    "pod-ends-unplaced": going(pod("train-0", gpus=8, age="20m", unschedulable=said("3 Insufficient nvidia.com/gpu")), ends=False),
    "namespace-ends-under-a-job": going(job("train", gpus=8, active=0, age="20m"), command=OWNER),
    "namespace-ends-said": refused("unable to create new content in namespace ml because it is being terminated", OWNER),
    "scheduler-silent": case([pod("train-0", gpus=8, age="20m"), *nodes()]),
    "scheduler-silent-young": case([pod("train-0", gpus=8, age="20s"), *nodes()]),
    "victim-stays": case([*nominated(), *nodes(), *busy("gpu-01", "gpu-02", "gpu-03")]),
    "controllers-silent": case([unseen(), *nodes()], command=OWNER),
    "kubelet-silent": case([placed(), *nodes()], command=START),
    "kubelet-silent-young": case([placed(age="20s"), *nodes()], command=START),
    "node-down-under-it": case([unready(), node("gpu-01", ready=None), node("gpu-02")], command=START),
    "no-device-published": claiming(said("3 cannot allocate all claims")),
    "devices-claimed": claiming(
        said("3 cannot allocate all claims"), device_slice("gpu-0"), device_claim("train-0-gpu"), device_claim("other-gpu", "other-0")
    ),
    "device-class-absent": claiming(f"0/3 nodes are available: request gpu: device class {DRIVER} does not exist. {HELPLESS}"),
    "claim-absent": claiming(f'0/3 nodes are available: resourceclaim "mine" not found. {HELPLESS}'),
    "named-claim-absent": named_claim(),
    "volume-claim-absent": case(
        [*pending(f'0/3 nodes are available: persistentvolumeclaim "data" not found. {HELPLESS}', claims=["data"]), *nodes()]
    ),
    "volume-claims-forbidden": case(
        [*pending(f"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. {HELPLESS}", claims=["data"]), *nodes()],
        faults=[{"match": "GET /api/v1/namespaces/ml/persistentvolumeclaims", "status": 403}],
    ),
    "larger-than-servers": case(
        [*pending(said("1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 Insufficient nvidia.com/gpu"), gpus=16), *nodes()],
        faults=[{"match": "GET /api/v1/nodes", "status": 403}],
    ),
    "taint-or-choice": case(
        [
            *pending(
                said("1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 node(s) didn't match Pod's node affinity/selector"),
                node_selector={"pool": "a"},
            ),
            *nodes(),
        ],
        faults=[{"match": "GET /api/v1/nodes", "status": 403}],
    ),
    "operator-silent": case(
        [{**pytorchjob("train", workers=3, gpus=8), "status": {}}, *nodes()], command=["diagnose", "pod", "pytorchjob/train", "-n", "ml"]
    ),
    "account-absent": refused('error looking up service account ml/trainer: serviceaccount "trainer" not found', OWNER),
    "owners-denied": case(
        [*pending(said("3 Insufficient nvidia.com/gpu"), gpus=16), *nodes()],
        command=LIST,
        faults=[{"match": "GET /apis/(apps|batch|kubeflow.org|ray.io)/", "status": 403}],
    ),
    "owners-without-pods": case(
        [
            {**pytorchjob("train", workers=3, gpus=8), "status": {}},
            job("held", gpus=8, active=0, suspend=True, age="20m"),
            job("plain", gpus=0, active=0, suspend=True, age="20m"),
            *nodes(),
        ],
        command=LIST,
    ),
    "refused-in-namespace": refused("no PriorityClass with name urgent was found", LIST),
}
