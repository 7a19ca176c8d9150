"""The cluster that every setting starts from, and its restoration after one."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from gpudoctor.cli.app import app
from tests.cluster.api import Api, Object, Refused, gone, path_of, plural
from tests.cluster.control_plane import until

HERE = Path(__file__).parent
FAKE = "kwok.x-k8s.io/node"  # nodes with this annotation are kept alive
OWN = ("default", "gpu-operator", "kube-system", "kube-public", "kube-node-lease")
UNREACHABLE = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
# What a scenario may make that belongs to no namespace.
MADE = (
    "/api/v1/persistentvolumes",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/node.k8s.io/v1/runtimeclasses",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/resource.k8s.io/v1/deviceclasses",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
)


@functools.cache
def stand() -> dict[str, Any]:
    """What stand.yaml says."""
    return dict(yaml.safe_load((HERE / "stand.yaml").read_text(encoding="utf-8")))


def node(name: str, said: dict[str, Any]) -> Object:
    """A node in full; `offers` is what its allocatable has less than its capacity."""
    gpus = {"nvidia.com/gpu": said["gpus"]} if "gpus" in said else said.get("resources", {})
    base = {
        "cpu": said.get("cpu", 96),
        "memory": said.get("memory", "1056Gi"),
        "pods": said.get("pods", 110),
        "ephemeral-storage": "2000Gi",
    }
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/region": "north",
        "topology.kubernetes.io/zone": said.get("zone", "north-a"),
    }
    if gpus:
        labels |= {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": said["product"], "nvidia.com/mig.capable": "true"}
        labels |= {"nvidia.com/gpu.count": str(said.get("gpus", 8)), "nvidia.com/gpu.deploy.device-plugin": "true"}
    down = bool(said.get("down"))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels | said.get("labels", {}), "annotations": {} if down else {FAKE: "fake"}},
        "spec": {"unschedulable": bool(said.get("unschedulable")), "taints": said.get("taints", [])},
        "status": {
            "capacity": written(base | gpus),
            "allocatable": written(base | gpus | said.get("offers", {})),
            "nodeInfo": {"kubeletVersion": "v1.34.1", "containerRuntimeVersion": "containerd://2.1.4", "operatingSystem": "linux"},
            "conditions": [UNREACHABLE] if down else [],
        },
    }


def written(amounts: dict[str, Any]) -> dict[str, str]:
    """Amounts as the API has them."""
    return {name: str(value) for name, value in amounts.items()}


def daemonset(name: str, image: str) -> Object:
    """One part of the GPU stack."""
    labels = {"app": name}
    spec = {
        "nodeSelector": stand()["stack"]["selector"],
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": name.removesuffix("-daemonset"), "image": image}],
        "priorityClassName": "system-node-critical",
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": stand()["stack"]["namespace"], "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def definition(said: dict[str, Any]) -> Object:
    """A kind that takes any object."""
    word, group = plural(said["kind"]), said["group"]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": name, "served": True, "storage": number == 0, "schema": schema, "subresources": {"status": {}}}
        for number, name in enumerate([said["version"], *said.get("further", [])])
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{word}.{group}"},
        "spec": {
            "group": group,
            "scope": said.get("scope", "Namespaced"),
            "names": {"kind": said["kind"], "plural": word, "singular": said["kind"].lower()},
            "versions": versions,
        },
    }


def rights() -> list[Object]:
    """What `gpudoctor show diagnose-pod --rbac` prints, for the viewer's group."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        app(["show", "diagnose-pod", "--rbac"], standalone_mode=False)
    return list(yaml.safe_load_all(printed.getvalue()))


def role(user: str, rules: list[Object]) -> list[Object]:
    """What a user may do, and that it may."""
    group = "rbac.authorization.k8s.io"
    meta = {"name": f"test-{user}"}
    ref = {"apiGroup": group, "kind": "ClusterRole", "name": meta["name"]}
    return [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": meta, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": meta,
            "roleRef": ref,
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
        },
    ]


def load(api: Api) -> None:
    """Make the nodes, the GPU stack and the kinds."""
    until(lambda: exists(api, "/api/v1/namespaces/default/serviceaccounts/default"), "the default service account", 180)
    for said in stand()["kinds"]:
        api.create(definition(said))
    until(lambda: all(exists(api, f"/apis/{kind}") for kind in own_kinds()), "the kinds of operators", 60)
    for name, said in stand()["nodes"].items():
        api.create(node(name, said))
    for one in [*rights(), *role("podsonly", stand()["rights"]["podsonly"])]:
        api.create(one)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": stand()["stack"]["namespace"]}})
    for name, image in stand()["stack"]["daemonsets"].items():
        api.create(daemonset(name, image))
    until(lambda: settled(api), "the nodes and the GPU stack", 240)


def exists(api: Api, path: str) -> bool:
    """Whether there is something under a path."""
    try:
        api.get(path)
    except Refused as refused:
        if refused.code in (404, 429):  # 429: the storage of a new kind is not there yet
            return False
        raise
    return True


def settled(api: Api) -> bool:
    """Whether each node is as stand.yaml says, and the GPU stack runs where a kubelet answers."""
    for one in api.items("/api/v1/nodes"):
        said = stand()["nodes"].get(one["metadata"]["name"])
        if said is None:
            return False
        keys = {taint["key"] for taint in one["spec"].get("taints", []) if taint["key"].startswith("node.kubernetes.io/")}
        up = any(seen["type"] == "Ready" and seen["status"] == "True" for seen in one["status"].get("conditions", []))
        wanted = {"node.kubernetes.io/unreachable"} if said.get("down") else set()
        if up == bool(said.get("down")) or keys - {"node.kubernetes.io/unschedulable"} != wanted:
            return False
    pods = api.items(f"/api/v1/namespaces/{stand()['stack']['namespace']}/pods")
    lost = {name for name, said in stand()["nodes"].items() if said.get("down")}
    sets = api.items(f"/apis/apps/v1/namespaces/{stand()['stack']['namespace']}/daemonsets")
    running = all(pod["status"]["phase"] == "Running" or pod["spec"].get("nodeName") in lost for pod in pods)
    return bool(pods) and running and all(one["status"].get("desiredNumberScheduled") for one in sets)


def change_node(api: Api, name: str, change: dict[str, Any]) -> None:
    """Make a node another one: `change` is what stand.yaml says of a node. `down` takes its kubelet away; None deletes it."""
    if change is None:
        api.delete(f"/api/v1/nodes/{name}")
        return
    made = node(name, copy.deepcopy(stand()["nodes"].get(name, {})) | change)
    path = path_of(made)
    if not exists(api, path):
        api.create(made)
        return
    for again in range(20, -1, -1):
        try:
            there = api.get(path)
            own = [taint for taint in there["spec"].get("taints", []) if taint["key"].startswith("node.kubernetes.io/")]
            keep = [taint for taint in own if taint["key"] != "node.kubernetes.io/unschedulable" and change.get("down")]
            there["metadata"]["labels"], there["metadata"]["annotations"] = made["metadata"]["labels"], made["metadata"]["annotations"]
            there["spec"] |= {"unschedulable": made["spec"]["unschedulable"], "taints": [*made["spec"]["taints"], *keep]}
            there = api.ask("PUT", path, there)
            there["status"] |= {key: made["status"][key] for key in ("capacity", "allocatable")}
            state = UNREACHABLE if made["status"]["conditions"] else ready()
            others = [one for one in there["status"].get("conditions", []) if one["type"] != "Ready"]
            there["status"]["conditions"] = [*others, state, *said_conditions(change)]
            api.ask("PUT", f"{path}/status", there)
            heard(api, name, not change.get("down"))
            return
        except Refused as refused:  # the node controller was faster
            if refused.code != 409 or not again:
                raise


def ready() -> Object:
    """What a kubelet posts. Without a new time the node controller takes it for an old post: after 50 s the node counts as silent."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now}


def heard(api: Api, name: str, up: bool) -> None:
    """What the node controller writes on the pods of a node whose kubelet falls silent, or the kubelet when it is back."""
    for pod in api.items(f"/api/v1/pods?fieldSelector=spec.nodeName={name}"):
        conditions = pod["status"].get("conditions", [])
        for one in conditions:
            one["status"] = str(up) if one["type"] == "Ready" else one["status"]
        if pod["status"]["phase"] == "Running":
            api.patch(
                f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status",
                {"status": {"conditions": conditions}},
            )


def said_conditions(change: dict[str, Any]) -> list[Object]:
    """Conditions that a change asks for, by their type: `conditions: {DiskPressure: "True"}`."""
    return [{"type": kind, "status": status, "reason": f"Kubelet{kind}"} for kind, status in change.get("conditions", {}).items()]


def restore(api: Api, changed: set[str]) -> None:
    """Take away all that a setting has made, and make its nodes what they were."""
    spaces = [one["metadata"]["name"] for one in api.items("/api/v1/namespaces") if one["metadata"]["name"] not in OWN]
    for path in MADE:
        for one in api.items(path):
            if not one["metadata"]["name"].startswith("system-"):
                unbind(api, f"{path}/{one['metadata']['name']}")
                api.delete(f"{path}/{one['metadata']['name']}")
    for space in spaces:
        api.delete(f"/api/v1/namespaces/{space}")
    for kind in ("batch/v1/jobs", "apps/v1/deployments", "apps/v1/statefulsets", "policy/v1/poddisruptionbudgets", *own_kinds()):
        version, _, word = kind.rpartition("/")
        for one in api.items(f"/apis/{version}/{word}"):
            if one["metadata"]["namespace"] in spaces:
                path = f"/apis/{version}/namespaces/{one['metadata']['namespace']}/{word}/{one['metadata']['name']}"
                unbind(api, path)
                api.delete(path)
    until(lambda: emptied(api, spaces), "the end of the pods of the setting before", 180)
    for space in spaces:
        with gone():
            api.delete(f"/api/v1/namespaces/{space}/events")  # a question about all namespaces would find them
    for name in changed:
        if name in stand()["nodes"]:
            change_node(api, name, {})
        else:
            api.delete(f"/api/v1/nodes/{name}")
    until(lambda: settled(api), "the nodes as they were", 180)


def own_kinds() -> list[str]:
    """The kinds of operators that live in namespaces, as GROUP/VERSION/PLURAL."""
    return [f"{one['group']}/{one['version']}/{plural(one['kind'])}" for one in stand()["kinds"] if one.get("scope") != "Cluster"]


def emptied(api: Api, spaces: list[str]) -> bool:
    """Whether no pod of these namespaces is left; those that a dead kubelet or a finalizer would hold are removed by force."""
    pods = [one for one in api.items("/api/v1/pods") if one["metadata"]["namespace"] in spaces]
    for one in pods:
        path = f"/api/v1/namespaces/{one['metadata']['namespace']}/pods/{one['metadata']['name']}"
        unbind(api, path)
        api.delete(path)
    return not pods


def unbind(api: Api, path: str) -> None:
    """Take the finalizers off an object."""
    with gone():
        api.patch(path, {"metadata": {"finalizers": None}})
