"""The GPU stack of a node that doesn't come up, GPUs that fall ill under it, and cluster services that fail."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.objects import cluster, container, daemonset, event, exec_answer, gpu_stack, node, pod, pod_name, stack_pod

NODE = "gpu-02"
NS = "gpu-operator"
ASK = ["run", "gpu-stack", "--set", f"node={NODE}"]
SERVICES = ["run", "cluster-services"]
CRASHES = ("CrashLoopBackOff", "back-off 5m0s restarting failed container")
FEW = ("driver", "container_toolkit", "device_plugin")
MAIN = {
    "driver": "nvidia-driver-ctr",
    "container_toolkit": "nvidia-container-toolkit-ctr",
    "device_plugin": "nvidia-device-plugin",
    "gpu_feature_discovery": "gpu-feature-discovery",
    "dcgm_exporter": "nvidia-dcgm-exporter",
    "mig_manager": "nvidia-mig-manager",
}
GPU = "GPU-6d1f2a50-0b0e-4c59-9a7e-3f1c5b8e0002"
PCI = "0000:3b:00"
SMI = """\
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.127.08             Driver Version: 550.127.08     CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   31C    P0             72W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""
STARTED = """\
I0301 09:00:01.000000       1 main.go:235] Starting NVIDIA Device Plugin
I0301 09:00:01.200000       1 factory.go:107] Detected NVML platform: found NVML library
I0301 09:00:01.300000       1 server.go:216] Starting GRPC server for 'nvidia.com/gpu'
I0301 09:00:01.400000       1 server.go:147] Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
I0301 09:00:01.500000       1 server.go:154] Registered device plugin for 'nvidia.com/gpu' with Kubelet
"""
QUIET = "2026-03-01T08:59:01,000000+00:00 NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.127.08\n"


def place(part: str, box: str = "") -> str:
    """Where a part's log and its exec answers are: namespace/pod/container."""
    return f"{NS}/{pod_name(part, NODE)}/{box or MAIN[part]}"


def kernel(*lines: str) -> str:
    """A kernel log with these lines at its end, an hour before the recording."""
    return QUIET + "".join(f"2026-03-01T11:30:{second:02},000000+00:00 {line}\n" for second, line in enumerate(lines))


def answers(dmesg: str = QUIET, smi: str = SMI) -> dict[str, list[Any]]:
    """What the parts in which programs can run answer."""
    said = [exec_answer("dmesg", "--time-format=iso", stdout=dmesg), exec_answer("nvidia-smi", stdout=smi)]
    return {place(part): said for part in FEW}


def stack(
    *objects: Any,
    on: Any = None,
    parts: tuple[str, ...] = FEW,
    logs: dict[str, str] | None = None,
    dmesg: str = QUIET,
    smi: str = SMI,
    ask: list[str] = ASK,
    faults: tuple[Any, ...] = (),
    **states: Any,
) -> Case:
    """A case over one node with some parts of the stack; `states` are those of `gpu_stack`, `on` the node."""
    here = on or node(NODE)
    said = {place("device_plugin"): STARTED} | (logs or {})
    return Case(ask, cluster([here, *gpu_stack(NODE, parts=parts, **states), *objects], logs=said, exec=answers(dmesg, smi), faults=faults))


def crashing(part: str, *lines: str, parts: tuple[str, ...] = FEW, **more: Any) -> Case:
    """A case in which the main container of one part crashes after printing these lines."""
    text = "\n".join(lines) + "\n"
    return stack(parts=parts, logs={place(part): text, f"{place(part)}:previous": text}, **{part: CRASHES}, **more)


def init_stops(part: str, box: str, *lines: str, restarts: int = 6, parts: tuple[str, ...] = FEW, **more: Any) -> Case:
    """A case in which an init container of one part fails again and again, or is still at work (`restarts=0`)."""
    text = "\n".join(lines) + "\n"
    broken: dict[str, Any] = {"waiting": CRASHES, "last": ("Error", 1), "restarts": restarts} if restarts else {"running": True}
    logs = {place(part, box): text, f"{place(part, box)}:previous": text}
    return stack(parts=parts, logs=logs, **{part: {"init": {box: broken}}}, **more)


def operator(**state: Any) -> Any:
    """The operator's own pod."""
    box = container("gpu-operator", "nvcr.io/nvidia/gpu-operator:v24.9.2", **state)
    return pod("gpu-operator-7d9f8c6b5-x2x7q", NS, node="cpu-01", labels={"app": "gpu-operator"}, containers=[box], age="10d")


OPERATOR = f"{NS}/gpu-operator-7d9f8c6b5-x2x7q/gpu-operator"
PLUGIN_SET = daemonset("nvidia-device-plugin-daemonset", NS, desired=0, current=0, ready=0, updated=0, owner="ClusterPolicy/cluster-policy")
DRIVER_IMAGE = "nvcr.io/nvidia/driver:550.127.08-rhel9.9"
NOT_FOUND = f'failed to pull and unpack image "{DRIVER_IMAGE}": failed to resolve reference "{DRIVER_IMAGE}": {DRIVER_IMAGE}: not found'
FORBIDDEN = 'pods "nvidia-driver-daemonset-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true), privileged'
driver_pod = stack_pod("driver", NODE, state=("ImagePullBackOff", f'Back-off pulling image "{DRIVER_IMAGE}"'))
driver_set = daemonset("nvidia-driver-daemonset", NS, desired=1, current=0, ready=0, updated=0)

STACK: dict[str, Case] = {
    "stack-healthy": stack(),
    "stack-refused": stack(
        driver=CRASHES,
        logs={place("driver"): "ERROR: Unable to load the kernel module 'nvidia.ko'.\n"},
        faults=({"match": "GET .*/daemonsets", "status": 403}, {"match": "GET .*/pods/nvidia-driver.*/log", "stall": 60}),
    ),
    # --- driver
    "driver-packages": crashing(
        "driver",
        "Updating the package cache...",
        "W: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Could not connect to archive.ubuntu.com:80 (192.0.2.9).",
        "Resolving Linux kernel version...",
        "Could not resolve Linux kernel version",
    ),
    "driver-in-use": init_stops(
        "driver",
        "k8s-driver-manager",
        "Unloading NVIDIA driver kernel modules...",
        "Could not unload NVIDIA driver kernel modules, driver is in use",
        "Failed to uninstall nvidia driver components",
    ),
    "driver-preinstalled": init_stops(
        "driver", "k8s-driver-manager", "NVIDIA GPU driver is already pre-installed on the node, will not proceed with driver container"
    ),
    "driver-waits-for-ofed": init_stops(
        "driver", "k8s-driver-manager", *['level=info msg="Waiting for MOFED to be installed..."'] * 5, restarts=0, container_toolkit="waits"
    ),
    "driver-nouveau": init_stops(
        "driver",
        "k8s-driver-manager",
        "Unloading nouveau driver...",
        "Failed to unload nouveau driver",
        dmesg=kernel("NVRM: The NVIDIA probe routine was not called for 8 device(s)."),
    ),
    "driver-installer-off": crashing("driver", "GPU driver auto installation is disabled.", "Waiting for GPU driver libraries to be available."),
    "driver-unsigned": crashing(
        "driver",
        "-> Kernel module compilation complete.",
        "ERROR: Unable to load the kernel module 'nvidia.ko'.",
        dmesg=kernel("Loading of unsigned module is rejected"),
    ),
    "driver-build": crashing("driver", "ERROR: The nvidia kernel module was not created."),
    "driver-openshift": stack(
        operator(),
        driver=CRASHES,
        logs={
            OPERATOR: "INFO controllers.ClusterPolicy ocpHasDriverToolkitImageStream: driver-toolkit imagestream not found\n",
            place("driver"): "FATAL: failed to install elfutils-libel-devel. RHEL entitlement may be improperly deployed.\n",
        },
    ),
    "driver-vgpu-guest": crashing(
        "driver",
        "cannot find match for compatible vgpu driver from available list, please check /var/log/vgpu-util.log for more details...",
        dmesg=kernel("NVRM: installed in this system is not supported by the NVIDIA 550.127.08 driver release."),
    ),
    "driver-image": stack(
        driver_pod,
        event(driver_pod, "Failed", f'Failed to pull image "{DRIVER_IMAGE}": {NOT_FOUND}'),
        driver_set,
        parts=("container_toolkit", "device_plugin"),
        container_toolkit="waits",
        device_plugin="waits",
    ),
    "driver-upgrade": stack(
        on=node(
            NODE,
            labels={
                "nvidia.com/gpu-driver-upgrade-state": "upgrade-failed",
                "nvidia.com/gpu.deploy.device-plugin": "paused-for-driver-upgrade",
            },
        ),
        driver=CRASHES,
        logs={place("driver"): "Done, now waiting for signal\n"},
    ),
    "driver-rollout": stack(
        daemonset("nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b", NS, desired=4, current=4, ready=4, updated=3),
        on=node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9),
    ),
    # --- toolkit and validator
    "toolkit-runtime": crashing(
        "container_toolkit",
        'level=error msg="error running nvidia-toolkit: unable to setup runtime: unable to restart containerd: no such file or directory"',
    ),
    "validator-driver-root": init_stops(
        "operator_validator",
        "driver-validation",
        'msg="Error: error validating driver installation: lstat /run/nvidia/driver/dev/nvidiactl: no such file or directory"',
        parts=(*FEW, "operator_validator"),
    ),
    "validator-empty-root": init_stops(
        "container_toolkit",
        "driver-validation",
        *["chroot: failed to run command 'nvidia-smi': No such file or directory", "command failed, retrying after 5 seconds"] * 3,
        restarts=0,
        driver=None,
    ),
    "validator-dev-char": init_stops(
        "operator_validator",
        "driver-validation",
        'msg="Error: error validating driver installation: error creating symlinks: failed to determine major: invalid device node"',
        parts=(*FEW, "operator_validator"),
    ),
    "validator-fabric": init_stops(
        "operator_validator",
        "cuda-validation",
        "Failed to allocate device vector A (error code system not yet initialized)!",
        parts=(*FEW, "operator_validator"),
        dmesg=kernel(
            "nvidia-fabricmanager.service: Main process exited, code=exited, status=1/FAILURE",
            "fabric manager NVIDIA GPU driver interface version 550.54.15 don't match with driver version 550.127.08.",
        ),
    ),
    "fabric-idle": crashing(
        "driver",
        "request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
    ),
    # --- device plugin
    "plugin-privileges": crashing("device_plugin", '      "deviceListStrategy": "volume-mounts",', "Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND."),
    "plugin-no-library": crashing("device_plugin", "Incompatible strategy detected auto", "did you configure the NVIDIA Container Toolkit?"),
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
    "plugin-endpoint": stack(
        device_plugin=("CreateContainerConfigError", "endpoint not found in cache for a registered resource: nvidia.com/gpu"),
    ),
    "plugin-mps": crashing("device_plugin", "Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon health: exit status 1"),
    "plugin-mps-mig": crashing("device_plugin", "unable to create plugins: sharing using MPS is not supported for MIG devices"),
    "plugin-mig-types": crashing("device_plugin", "invalid MIG configuration: more than one MIG device type present on node"),
    "plugin-mig-empty": crashing("device_plugin", "invalid MIG configuration: device 0 has no MIG devices configured"),
    "plugin-config": crashing("device_plugin", "unable to load config: unable to parse config file: error parsing config file: unmarshal error"),
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
    "plugin-wanted-nowhere": stack(PLUGIN_SET, on=node(NODE, gpus=0, gpu_label_count=8), parts=("driver", "container_toolkit"), driver=CRASHES),
    "plugin-tainted": stack(
        PLUGIN_SET,
        on=node(NODE, gpus=0, gpu_label_count=8, taints=[("nvidia.com/gpu", "true", "NoSchedule")]),
        parts=("container_toolkit",),
        container_toolkit="waits",
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
    "mig-not-applied": crashing(
        "mig_manager",
        "Warning: MIG mode is in pending enable state for GPU 00000000:3B:00.0:In use by another client",
        "Error setting MIGConfig: error attempting multiple config orderings: all orderings failed",
        parts=(*FEW, "mig_manager"),
        on=node(NODE, labels={"nvidia.com/mig.config": "all-1g.10gb", "nvidia.com/mig.config.state": "failed"}),
    ),
    "sharing-not-offered": stack(on=node(NODE, labels={"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"})),
    "sharing-none": stack(on=node(NODE, labels={"nvidia.com/device-plugin.config": "shared", "nvidia.com/gpu.sharing-strategy": "none"})),
    # --- operator, feature discovery, exporter
    "operator-memory": stack(
        operator(waiting=CRASHES, last=("OOMKilled", 137), restarts=9),
        pod("gpu-operator-5c9d7f6b8-aaaaa", NS, node="cpu-02", labels={"app": "gpu-operator"}, terminated=("OOMKilled", 137), phase="Failed"),
        driver=CRASHES,
    ),
    "operator-blind": stack(
        operator(),
        driver=CRASHES,
        logs={OPERATOR: "Failed to get kernel version of GPU node using Node Feature Discovery (NFD) labels. Is NFD installed in the cluster?\n"},
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
    "exporter-memory": stack(
        parts=(*FEW, "dcgm_exporter"), dcgm_exporter={"waiting": CRASHES, "last": ("OOMKilled", 137), "restarts": 12}
    ),
    # --- GPUs that fall ill
    "xid-79": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        logs={
            place("device_plugin"): STARTED
            + f"I0301 11:30:02.000000 1 health.go:185] XidCriticalError: Xid=79 on Device={GPU}; marking device as unhealthy.\n"
            + f"I0301 11:30:02.000000 1 server.go:276] 'nvidia.com/gpu' device marked unhealthy: {GPU}\n"
        },
        dmesg=kernel(
            f"NVRM: GPU at PCI:{PCI}: {GPU}",
            "pcieport 0000:3a:00.0: pciehp: Slot(4): Link Down",
            f"NVRM: Xid (PCI:{PCI}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ),
    ),
    "gpu-lost-at-boot": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        logs={place("device_plugin"): STARTED + f"Could not determine device placement for {GPU}: not found; Marking it unhealthy.\n"},
        dmesg=kernel("NVRM: The NVIDIA GPU 0000:3b:00.0", "NVRM: fallen off the bus and is not responding to commands."),
    ),
    "gsp": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 119, pid=4711, name=python3, Timeout waiting for RPC from GSP!",
            f"NVRM: Xid (PCI:{PCI}): 120, pid=4711, name=python3, GSP task exception",
        ),
        smi=SMI.replace("31C    P0             72W /  700W", "ERR!   P0             ERR!/  700W"),
    ),
    "gsp-silent": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        dmesg=kernel("NVRM: _kgspRpcRecvPoll: GPU0 GSP RPC timeout", "INFO: task nvidia-smi:21834 blocked for more than 120 seconds."),
    ),
    "memory-errors": stack(
        on=node(NODE, gpus=8, allocatable_gpus=6),
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 48, pid=4711, name=python3, DBE (double bit error)",
            f"NVRM: Xid (PCI:{PCI}): 63, pid=4711, name=python3, Row Remapper: New row marked for remapping",
            "NVRM: Xid (PCI:0000:5d:00): 64, pid=4712, name=python3, Row remapper failure",
        ),
    ),
    "program-errors": stack(
        pod("train-0", gpus=8, node=NODE, waiting=CRASHES, restarts=4, last=("Error", 1)),
        ask=["run", "gpu-stack", "--set", "name=train-0", "-n", "ml"],
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 31, pid=4711, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS",
            "NVRM: Xid (PCI:0000:5d:00): 69, pid=4712, name=python3, Class Error: ChId 0008, Class 0000c6c0",
        ),
    ),
    "module-flavour": stack(
        driver=CRASHES,
        dmesg=kernel("NVRM: installed in this system requires use of the NVIDIA open kernel modules.", "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x22:0x56:897)"),
    ),
    "machine-setup": stack(
        driver=CRASHES,
        dmesg=kernel(
            "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:",
            "NVRM: GPU 0000:5d:00.0: GPU does not have the necessary power cables connected.",
        ),
    ),
    "driver-files": stack(
        driver=CRASHES,
        dmesg=kernel("NVRM: RmFetchGspRmImages: No firmware image found", "NVRM: API mismatch: the client 'nvidia-smi' (pid 4021)"),
    ),
}

CASES: dict[str, Case] = {**STACK}
