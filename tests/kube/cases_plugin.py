"""A device plugin, a sharing configuration, feature discovery or an operator that doesn't serve a node's GPUs."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_stack import (
    CRASHES,
    FEW,
    FORBIDDEN,
    NODE,
    NS,
    OPERATOR,
    PLUGIN_SET,
    QUIET,
    STARTED,
    crashing,
    driver_set,
    init_stops,
    operator,
    place,
    stack,
)
from tests.kube.objects import cluster, daemonset, event, node, pod, stack_pod

SHARED = """\
version: v1
sharing:
  timeSlicing:
    resources:
    - name: nvidia.com/gpu
      replicas: 4
"""
BY_MPS = """\
version: v1
sharing:
  mps:
    resources:
    - name: nvidia.com/gpu
      replicas: 4
"""
MPS = "nvidia-device-plugin-mps-control-daemon"
REFUSED = {"node": NODE, "phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Allocate failed, which is unexpected"}
FLAT = "version: v1\ntimeSlicing:\n  renameByDefault: true\n"
MIG = """\
version: v1
mig-configs:
  all-disabled:
  - devices: all
    mig-enabled: false
"""


def config_map(name: str, **data: str) -> dict[str, Any]:
    """A ConfigMap of the GPU operator's namespace."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": NS, "uid": f"uid-{name}"}, "data": data}


NO_PROFILES = "Failed to display GPU instance profiles: Unknown Error"

DISPLAY = "2026-03-01T09:02:44,000000+00:00 NVRM: rpcRmApiControl_dce: Failed RM ctrl call cmd:0x731341 result 0xffff (Generic Error)\n"

OF_VENDOR = {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}

PRESENT = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}


def demanding(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A node affinity of which any one expression is enough."""
    terms = [{"matchExpressions": [one]} for one in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


CASES: dict[str, Case] = {
    "plugin-privileges": crashing(
        "device_plugin", '      "deviceListStrategy": "volume-mounts",', "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND."
    ),
    "plugin-no-library": crashing(
        "device_plugin", "Incompatible strategy detected auto", "did you configure the NVIDIA Container Toolkit?"
    ),
    "plugin-driver-unloaded": crashing("device_plugin", "Failed to initialize NVML: Driver Not Loaded."),
    "plugin-may-not-open": crashing("device_plugin", "Failed to initialize NVML: Insufficient Permissions."),
    "plugin-registration": crashing(
        "device_plugin",
        "Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock",
        "Could not register device plugin: context deadline exceeded",
        "GRPC server for 'nvidia.com/gpu' has repeatedly crashed recently. Quitting",
    ),
    "plugin-old-kubelet": crashing(
        "device_plugin",
        "Starting to serve on /var/lib/kubelet/device-plugins/nvidia.sock",
        "Could not register device plugin: context deadline exceeded",
    ),
    "plugin-beside-ancient-kubelet": stack(on=node(NODE, gpus=0, gpu_label_count=8, kubelet="v1.9.7")),
    "plugin-endpoint": stack(
        device_plugin=("CreateContainerConfigError", "endpoint not found in cache for a registered resource: nvidia.com/gpu"),
    ),
    "plugin-mps": crashing(
        "device_plugin", "Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon health: exit status 1"
    ),
    "plugin-mps-mig": crashing("device_plugin", "unable to create plugins: sharing using MPS is not supported for MIG devices"),
    "plugin-mig-types": crashing("device_plugin", "invalid MIG configuration: more than one MIG device type present on node"),
    "plugin-mig-empty": crashing("device_plugin", "invalid MIG configuration: device 0 has no MIG devices configured"),
    "plugin-config": crashing(
        "device_plugin", "unable to load config: unable to parse config file: error parsing config file: unmarshal error"
    ),
    "plugin-config-name": init_stops("device_plugin", "toolkit-validation", "error: specified config a100-shared does not exist"),
    "plugin-no-devices": stack(
        on=node(NODE, gpus=0, gpu_label_count=8),
        logs={place("device_plugin"): "Detected NVML platform: found NVML library\nNo devices found. Waiting indefinitely.\n"},
    ),
    "plugin-unknown-error": stack(
        logs={
            place("device_plugin"): STARTED
            + "unable to retrieve list of available devices: error creating nvml.Device 0: nvml: Unknown Error\n"
            + "invalid allocation request: maximum request size for shared resources is 1; found 2\n"
        },
    ),
    "plugin-absent": stack(on=node(NODE, gpus=0, gpu_label_count=8), device_plugin=None, operator_validator="waits"),
    "plugin-wanted-nowhere": stack(PLUGIN_SET, on=node(NODE, gpus=0, gpu_label_count=8), parts=("driver", "container_toolkit")),
    "plugin-of-a-managed-cluster": Case(
        ["run", "gpu-stack", "--set", "node=pool-1"],
        cluster(
            [
                node("pool-1", gpus=0),
                stack_pod("container_toolkit", "pool-1", state="waits"),
                daemonset("nvidia-device-plugin-daemonset", "kube-system", desired=0, node_selector={"pool": "gpu"}),
            ]
        ),
    ),
    "plugin-tainted": stack(
        PLUGIN_SET,
        on=node(NODE, gpus=0, gpu_label_count=8, taints=[("nvidia.com/gpu", "true", "NoSchedule")]),
        parts=("container_toolkit",),
        container_toolkit="waits",
    ),
    "plugin-tainted-told": stack(
        PLUGIN_SET,
        on=node(NODE, gpus=0),
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
        logs={place("container_toolkit"): "the GPU nodes are tainted nvidia.com/gpu=present:NoSchedule\n"},
    ),
    "daemonset-tainted-told": crashing(
        "container_toolkit",
        "kubectl get ds shows DESIRED 0 for the exporter; the GPU nodes are tainted",
        "nvidia.com/gpu=present:NoSchedule",
        on=node(NODE, gpus=0),
        parts=("container_toolkit",),
    ),
    "stack-forbidden": stack(
        event(driver_set, "FailedCreate", f"Error creating: {FORBIDDEN}", component="daemonset-controller", count=17),
        event(pod("nvidia-driver-0", NS), "FailedCreate", f"Error creating: {FORBIDDEN}", component="daemonset-controller"),
        driver_set,
        parts=("container_toolkit",),
        container_toolkit="waits",
    ),
    # --- MIG and sharing
    "mig-invalid": crashing(
        "gpu_feature_discovery",
        "Invalid configuration detected for mig-strategy=single: devices are not all MIG-enabled",
        parts=(*FEW, "gpu_feature_discovery"),
        on=node(NODE, labels={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID"}),
    ),
    "mig-layout-balanced": crashing(
        "gpu_feature_discovery",
        "Invalid configuration detected for mig-strategy=single: more than one MIG device type present on node",
        parts=(*FEW, "gpu_feature_discovery"),
        on=node(
            NODE,
            labels={
                "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID",
                "nvidia.com/mig.config": "all-balanced",
                "nvidia.com/mig.strategy": "single",
            },
        ),
    ),
    "mig-not-applied": crashing(
        "mig_manager",
        "Warning: MIG mode is in pending enable state for GPU 00000000:3B:00.0:In use by another client",
        "Error setting MIGConfig: error attempting multiple config orderings: all orderings failed",
        parts=(*FEW, "mig_manager"),
        on=node(NODE, labels={"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}),
    ),
    "sharing-not-offered": stack(on=node(NODE, labels={"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"})),
    "sharing-not-applied": stack(
        config_map("plugin-config", shared=SHARED, flat=FLAT), on=node(NODE, labels={"nvidia.com/device-plugin.config": "shared"})
    ),
    "sharing-misplaced": stack(
        config_map("plugin-config", shared=SHARED, flat=FLAT), on=node(NODE, labels={"nvidia.com/device-plugin.config": "flat"})
    ),
    "sharing-not-there": stack(
        config_map("plugin-config", plain="version: v1\nflags:\n  migStrategy: none\n"),
        config_map("mig-parted-config", **{"config.yaml": MIG}),
        on=node(NODE, labels={"nvidia.com/device-plugin.config": "shared", "nvidia.com/mig.config": "all-2g.20gb"}),
    ),
    "sharing-refused": stack(
        config_map("plugin-config", shared=BY_MPS),
        pod("nvidia-cuda-validator-7kqzd", NS, gpus=2, labels={"app": "nvidia-cuda-validator"}, **REFUSED),
        on=node(NODE, labels={"nvidia.com/device-plugin.config": "shared"}),
    ),
    "sharing-without-daemon": stack(
        config_map("plugin-config", shared=BY_MPS),
        daemonset(MPS, NS, desired=0, current=0, ready=0, updated=0),
        pod(f"{MPS}-x8tbd", NS, node=NODE, phase="Failed", reason="Evicted", message="The node was low on memory.", labels={"app": MPS}),
        on=node(NODE, labels={"nvidia.com/device-plugin.config": "shared"}),
        parts=("container_toolkit", "device_plugin"),
        container_toolkit="waits",
    ),
    "mps-daemon-nowhere": stack(
        daemonset(MPS, NS, desired=0, current=0, ready=0, updated=0),
        daemonset("nvidia-device-plugin-daemonset", NS, desired=1, current=1, ready=0, updated=1),
        parts=("device_plugin",),
        device_plugin=CRASHES,
    ),
    "plugin-booked": stack(
        pod("nvidia-cuda-validator-7kqzd", NS, gpus=1, labels={"app": "nvidia-cuda-validator"}, **REFUSED),
        logs={place("device_plugin"): STARTED + '"PodUID": "5f0b1c6e-33f0-4b55-8a35-6f2f6b1d9a01",\n'},
    ),
    "stack-not-made": stack(
        driver_set,
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
        logs={place("container_toolkit"): "the namespace has pod-security.kubernetes.io/enforce=baseline\n"},
    ),
    "mig-reset-refused": crashing(
        "mig_manager",
        "The following GPUs could not be reset:",
        "  GPU 00000000:3B:00.0: In use by another client",
        parts=(*FEW, "mig_manager"),
        on=node(NODE, labels={"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}),
    ),
    "plugin-minor": crashing("device_plugin", "error getting device paths: error getting GPU device minor number: Not Supported"),
    "no-gpu-healthy": stack(on=node(NODE, gpus=8, allocatable_gpus=0)),
    "discovery-crashes": stack(parts=(*FEW, "nfd_worker"), nfd_worker=CRASHES),
    "exporter-memory-now": stack(parts=(*FEW, "dcgm_exporter"), dcgm_exporter={"terminated": ("OOMKilled", 137), "restarts": 3}),
    # --- operator, feature discovery, exporter
    "operator-memory": stack(
        operator(waiting=CRASHES, last=("OOMKilled", 137), restarts=9),
        pod(
            "gpu-operator-5c9d7f6b8-aaaaa", NS, node="cpu-02", labels={"app": "gpu-operator"}, terminated=("OOMKilled", 137), phase="Failed"
        ),
        driver=CRASHES,
    ),
    "operator-killed": stack(
        pod(
            "gpu-operator-7d9f8c6b5-x2x7q",
            NS,
            node="cpu-01",
            labels={"app": "gpu-operator"},
            waiting=CRASHES,
            last=("Error", 137),
            restarts=9,
            limits={"memory": "350Mi"},
        ),
        driver=CRASHES,
    ),
    "operator-blind": stack(
        operator(),
        driver=CRASHES,
        logs={OPERATOR: "Failed to get kernel version using NFD labels. Is NFD installed in the cluster?\n"},
    ),
    "operator-no-nodes": stack(
        operator(),
        on=node(NODE, gpus=0),
        parts=("container_toolkit",),
        container_toolkit="waits",
        logs={OPERATOR: "No GPU node can be found in the cluster.\n"},
    ),
    "labels-of-other-form": stack(
        on=node(NODE, gpus=0, labels={"feature.node.kubernetes.io/pci-0302_10de.present": "true"}), parts=("nfd_worker",)
    ),
    "labels-of-other-form-told": crashing(
        "gpu_feature_discovery",
        "feature.node.kubernetes.io/pci-0302_10de.present=true",
        parts=("container_toolkit", "gpu_feature_discovery"),
        on=node(NODE, gpus=0),
    ),
    "exporter-memory": stack(parts=(*FEW, "dcgm_exporter"), dcgm_exporter={"waiting": CRASHES, "last": ("OOMKilled", 137), "restarts": 12}),
    "no-gpu-yet": stack(
        stack_pod("device_plugin", NODE, age="20s"), on=node(NODE, gpus=8, allocatable_gpus=0), parts=("driver", "container_toolkit")
    ),
    "mig-without-profiles": crashing("device_plugin", NO_PROFILES),
    "mig-without-profiles-on-a-board": crashing("device_plugin", NO_PROFILES, dmesg=QUIET + DISPLAY),
    "discovery-labels-demanded": stack(
        daemonset("gpu-dra-kubelet-plugin", NS, desired=0, affinity=demanding(OF_VENDOR, PRESENT)),
        on=node(NODE, gpus=0, labels={"kubernetes.azure.com/accelerator": "nvidia"}),
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
    ),
    "discovery-labels-of-other-vendor": stack(
        daemonset("rdma-shared-plugin", NS, desired=0, affinity=demanding({**OF_VENDOR, "key": "example.com/rdma"})),
        on=node(NODE, gpus=0, labels={"kubernetes.azure.com/accelerator": "nvidia"}),
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
    ),
}
