"""The NVIDIA GPU operator's pods and DaemonSets, with the names, labels and containers that operator v24.9 gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.kube.pods import container, pod
from tests.kube.shapes import Object, suffix
from tests.kube.workloads import daemonset


class Operand(NamedTuple):
    """One DaemonSet of the stack. `init` are its init containers in order; `deploy` the word in its node label."""

    daemonset: str
    container: str
    image: str
    init: tuple[str, ...] = ()
    deploy: str = ""
    nvidia_runtime: bool = True


VALIDATOR = "nvcr.io/nvidia/cloud-native/gpu-operator-validator:v24.9.2"
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"
TOOLKIT = "nvcr.io/nvidia/k8s/container-toolkit:v1.17.4-ubuntu20.04"
EXPORTER = "nvcr.io/nvidia/k8s/dcgm-exporter:3.3.9-3.6.1-ubuntu22.04"
DRIVER = "nvcr.io/nvidia/driver:550.127.08-ubuntu22.04"
NFD = "registry.k8s.io/nfd/node-feature-discovery:v0.16.6"

# From the operator's assets/state-*/ manifests: https://github.com/NVIDIA/gpu-operator/tree/v24.9.2/assets
OPERANDS = {
    "nfd_worker": Operand("gpu-operator-node-feature-discovery-worker", "worker", NFD, nvidia_runtime=False),
    "driver": Operand("nvidia-driver-daemonset", "nvidia-driver-ctr", DRIVER, ("k8s-driver-manager",), "driver", False),
    "container_toolkit": Operand(
        "nvidia-container-toolkit-daemonset", "nvidia-container-toolkit-ctr", TOOLKIT, ("driver-validation",), "container-toolkit", False
    ),
    "operator_validator": Operand(
        "nvidia-operator-validator",
        "nvidia-operator-validator",
        VALIDATOR,
        ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"),
        "operator-validator",
    ),
    "device_plugin": Operand("nvidia-device-plugin-daemonset", "nvidia-device-plugin", PLUGIN, ("toolkit-validation",), "device-plugin"),
    "gpu_feature_discovery": Operand(
        "gpu-feature-discovery", "gpu-feature-discovery", PLUGIN, ("toolkit-validation",), "gpu-feature-discovery"
    ),
    "dcgm_exporter": Operand("nvidia-dcgm-exporter", "nvidia-dcgm-exporter", EXPORTER, ("toolkit-validation",), "dcgm-exporter"),
    "mig_manager": Operand(
        "nvidia-mig-manager",
        "nvidia-mig-manager",
        "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.10.0",
        ("toolkit-validation",),
        "mig-manager",
    ),
}
USUAL = tuple(name for name in OPERANDS if name != "mig_manager")  # the MIG manager runs only where nvidia.com/mig.config is set
WAITS = "waits"


def labels_of(name: str) -> dict[str, str]:
    """The labels of an operand's pods."""
    if name == "nfd_worker":
        return {"app.kubernetes.io/instance": "gpu-operator", "app.kubernetes.io/name": "node-feature-discovery", "role": "worker"}
    component = {"driver": {"app.kubernetes.io/component": "nvidia-driver"}}.get(name, {})
    return {
        "app": OPERANDS[name].daemonset,
        "app.kubernetes.io/managed-by": "gpu-operator",
        "helm.sh/chart": "gpu-operator-v24.9.2",
        **component,
    }


def pod_name(name: str, node: str) -> str:
    """The name that `gpu_stack` gives to an operand's pod on a node."""
    return f"{OPERANDS[name].daemonset}-{suffix(name, node)}"


def stack_pod(name: str, node: str, ns: str = "gpu-operator", state: Any = None, age: str = "10d") -> Object:
    """One operand's pod on one node; `state` as in `gpu_stack`."""
    operand = OPERANDS[name]
    fields: dict[str, Any] = dict(state) if isinstance(state, dict) else {}
    in_main: dict[str, Any] = (
        fields if not isinstance(state, tuple) else {"waiting": state, "restarts": 7 if state[0] == "CrashLoopBackOff" else 0}
    )
    mains = {key: in_main.pop(key) for key in ("waiting", "terminated", "last", "restarts", "ready", "env") if key in in_main}
    stuck: dict[str, Any] = fields.pop("init", {})  # init container → its container fields
    if state == WAITS and operand.init:
        stuck = {operand.init[0]: {"running": True}}
    boxes = [container(each, VALIDATOR if "validation" in each else operand.image, age=age, **stuck.get(each, {})) for each in operand.init]
    return pod(
        pod_name(name, node),
        ns,
        node=node,
        owner=f"DaemonSet/{operand.daemonset}",
        labels=labels_of(name),
        containers=[container(operand.container, operand.image, privileged=True, age=age, **mains)],
        init=boxes,
        age=age,
        **template_fields(operand),
        **fields,
    )


def is_ready(pod: Object) -> bool:
    """Whether the pod's Ready condition is True."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in pod["status"].get("conditions", ()))


def template_fields(operand: Operand) -> dict[str, Any]:
    """What the DaemonSet's template and its pods share."""
    return {
        "tolerations": [("nvidia.com/gpu", "", "NoSchedule")],
        "node_selector": {f"nvidia.com/gpu.deploy.{operand.deploy}": "true"} if operand.deploy else {},
        "runtime_class": "nvidia" if operand.nvidia_runtime else None,
        "priority_class": "system-node-critical",
    }


def gpu_stack(
    node: str | Sequence[str], ns: str = "gpu-operator", *, parts: Sequence[str] = USUAL, age: str = "10d", **not_ready: Any
) -> list[Object]:
    """The GPU operator's pods and DaemonSets for one node or several, each Running unless told otherwise.

    `not_ready` maps an operand (a name of OPERANDS) to its state on all these nodes: (reason, message) its container waits with;
    "waits" = its first init container waits for an earlier operand; None = the pod is absent; a dict of fields of `pod`/`container`, and
    `init={"driver-validation": {…}}` with fields of `container` for an init container.
    A DaemonSet is desired once a node and ready where its pod is; `cluster` adds up those of several calls.

    >>> [each["kind"] for each in gpu_stack("gpu-02", parts=["driver"], driver=("CrashLoopBackOff", "back-off 5m0s"))]
    ['DaemonSet', 'Pod']
    """
    unknown = not_ready.keys() - OPERANDS.keys()
    if unknown:
        raise TypeError(f"no such operand: {', '.join(sorted(unknown))}; there are {', '.join(OPERANDS)}")
    nodes = [node] if isinstance(node, str) else list(node)
    made: list[Object] = []
    for name in dict.fromkeys([*parts, *not_ready]):
        operand = OPERANDS[name]
        absent = name in not_ready and not_ready[name] is None
        pods = [] if absent else [stack_pod(name, each, ns, not_ready.get(name), age) for each in nodes]
        ready = sum(is_ready(each) for each in pods)
        main = container(operand.container, operand.image, privileged=True)
        set_ = daemonset(
            operand.daemonset,
            ns,
            desired=len(nodes),
            current=len(pods),
            updated=len(pods),
            ready=ready,
            labels=labels_of(name),
            owner="ClusterPolicy/cluster-policy" if name != "nfd_worker" else "",
            containers=[main],
            **template_fields(operand),
        )
        made += [set_, *pods]
    return made
