"""Builders of nodes, events and namespaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.kube.pods import address
from tests.kube.shapes import Object, ago, condition, lean, meta, suffix, taint, uid

PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def node(
    name: str,
    gpus: int = 8,
    *,
    allocatable_gpus: int | None = None,
    gpu_resource: str = "nvidia.com/gpu",
    gpu_label_count: int | None = None,
    resources: Mapping[str, tuple[str, str]] | None = None,
    taints: Sequence[tuple[str, str, str]] = (),
    labels: Mapping[str, str | None] | None = None,
    annotations: Mapping[str, str] | None = None,
    cordoned: bool = False,
    ready: bool | None = True,
    pressure: Sequence[str] = (),
    conditions: Sequence[Object] = (),
    product: str = "NVIDIA-H100-80GB-HBM3",
    driver: str = "550.127.08",
    cpu: str = "96",
    memory: str = "1056270016Ki",
    pods: str = "110",
    runtime: str = "containerd://1.7.24",
    kubelet: str = "v1.31.4",
    age: str = "40d",
) -> Object:
    """A node with `gpus` GPUs in capacity and `allocatable_gpus` (the same by default) in allocatable.

    A node with GPUs has the labels that NFD, GPU feature discovery and the operator give it; `gpu_label_count` is
    `nvidia.com/gpu.count` where it differs. `labels` adds to them, a value of None removes one. `resources` maps further resource names to
    (capacity, allocatable). `taints` are (key, value, effect); `cordoned` and `ready=False` add the node controller's own.
    `ready=None` is a node whose kubelet stopped posting (Unknown).
    """
    labelled: dict[str, str | None] = {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    if gpus or gpu_label_count:
        labelled |= gpu_labels(gpu_label_count or gpus, product, driver)
    labelled |= labels or {}
    capacity = {"cpu": cpu, "ephemeral-storage": "1843217020Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": memory, "pods": pods}
    allocatable = capacity | {"ephemeral-storage": "1698708802820"}
    if gpus or allocatable_gpus:
        capacity[gpu_resource] = str(gpus)
        allocatable[gpu_resource] = str(gpus if allocatable_gpus is None else allocatable_gpus)
    for resource, (has, offers) in (resources or {}).items():
        capacity[resource], allocatable[resource] = has, offers
    metadata = meta(
        "Node",
        name,
        age=age,
        labels={key: value for key, value in labelled.items() if value is not None},
        annotations={"node.alpha.kubernetes.io/ttl": "0", **(annotations or {})},
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": lean(
            podCIDR="10.244.1.0/24",
            providerID=f"metal://{name}",
            unschedulable=cordoned or None,
            taints=[taint(entry) for entry in (*taints, *controller_taints(ready, cordoned))],
        ),
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "conditions": [*health(ready, pressure, age), *conditions],
            "addresses": [{"type": "InternalIP", "address": address(10, name)}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": uid("boot", name),
                "containerRuntimeVersion": runtime,
                "kernelVersion": "5.15.0-126-generic",
                "kubeProxyVersion": kubelet,
                "kubeletVersion": kubelet,
                "machineID": uid("machine", name).replace("-", ""),
                "operatingSystem": "linux",
                "osImage": "Ubuntu 22.04.5 LTS",
                "systemUUID": uid("system", name),
            },
        },
    }


def gpu_labels(count: int, product: str, driver: str) -> dict[str, str | None]:
    """What NFD, GPU feature discovery and the GPU operator write on a node with GPUs."""
    major, minor, revision = driver.split(".")
    operands = ("driver", "container-toolkit", "device-plugin", "gpu-feature-discovery", "dcgm", "dcgm-exporter", "operator-validator")
    return {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "nvidia.com/cuda.driver-version.full": driver,
        "nvidia.com/cuda.driver-version.major": major,
        "nvidia.com/cuda.driver-version.minor": minor,
        "nvidia.com/cuda.driver-version.revision": revision,
        "nvidia.com/cuda.runtime-version.full": "12.4",
        **{f"nvidia.com/gpu.deploy.{operand}": "true" for operand in operands},
        "nvidia.com/gpu.count": str(count),
        "nvidia.com/gpu.family": "hopper",
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/mig.strategy": "single",
    }


def controller_taints(ready: bool | None, cordoned: bool) -> list[tuple[str, str, str]]:
    """The taints that the node lifecycle controller adds by itself."""
    taints = [("node.kubernetes.io/unschedulable", "", "NoSchedule")] if cordoned else []
    if ready is not True:
        key = "node.kubernetes.io/unreachable" if ready is None else "node.kubernetes.io/not-ready"
        taints += [(key, "", "NoSchedule"), (key, "", "NoExecute")]
    return taints


def health(ready: bool | None, pressure: Sequence[str], age: str) -> list[Object]:
    """The kubelet's own four conditions."""
    if ready is None:
        return [
            condition(name, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", "10m") for name in (*PRESSURES, "Ready")
        ]
    made = [
        condition(name, name in pressure, *(("KubeletHas" + name, "") if name in pressure else calm), age)
        for name, calm in PRESSURES.items()
    ]
    said = ("KubeletReady", "kubelet is posting ready status") if ready else ("KubeletNotReady", "container runtime is down")
    return [*made, condition("Ready", ready, *said, age)]


def event(
    obj: Object,
    reason: str,
    message: str,
    *,
    type: str = "Warning",
    count: int = 1,
    age: str = "1m",
    first: str | None = None,
    component: str = "kubelet",
    host: str | None = None,
) -> Object:
    """An event about `obj`, last seen `age` ago and first seen `first` ago. Events about cluster-scoped objects live in `default`."""
    involved = obj["metadata"]
    ns = involved.get("namespace", "")
    name = f"{involved['name']}.{suffix(involved['uid'], reason, message, length=16)}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": meta("Event", name, ns or "default", age=first or age),
        "involvedObject": lean(
            apiVersion=obj["apiVersion"],
            kind=obj["kind"],
            name=involved["name"],
            namespace=ns,
            # the kubelet writes a node's name in the place of its UID
            uid=involved["name"] if obj["kind"] == "Node" and component == "kubelet" else involved["uid"],
            resourceVersion=involved.get("resourceVersion"),
        ),
        "reason": reason,
        "message": message,
        "source": lean(component=component, host=host or (obj.get("spec", {}).get("nodeName") if component == "kubelet" else None)),
        "firstTimestamp": ago(first or age),
        "lastTimestamp": ago(age),
        "count": count,
        "type": type,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host or "",
    }


def namespace(name: str, *, labels: Mapping[str, str] | None = None, terminating: bool = False, age: str = "90d") -> Object:
    """A namespace."""
    metadata = meta("Namespace", name, age=age, labels={"kubernetes.io/metadata.name": name, **(labels or {})})
    if terminating:
        metadata["deletionTimestamp"] = ago("1h")
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": metadata,
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Terminating" if terminating else "Active"},
    }
