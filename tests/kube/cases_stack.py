"""The GPU stack of a node that doesn't come up, and GPUs that fall ill under it."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.objects import cluster, container, daemonset, event, exec_answer, gpu_stack, node, pod, pod_name, stack_pod

NODE = "gpu-02"
NS = "gpu-operator"
ASK = ["run", "gpu-stack", "--set", f"node={NODE}"]
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


def answers(dmesg: str = QUIET, smi: str = SMI, listed: str = "") -> dict[str, list[Any]]:
    """What the parts in which programs can run answer."""
    said = [exec_answer("dmesg", "--time-format=iso", stdout=dmesg), exec_answer("nvidia-smi", stdout=smi)]
    said += [exec_answer("nvidia-smi", "-L", stdout=listed)] if listed else []
    return {place(part): said for part in FEW}


def stack(
    *objects: Any,
    on: Any = None,
    parts: tuple[str, ...] = FEW,
    logs: dict[str, str] | None = None,
    dmesg: str = QUIET,
    smi: str = SMI,
    listed: str = "",
    ask: list[str] = ASK,
    faults: tuple[Any, ...] = (),
    **states: Any,
) -> Case:
    """A case over one node with some parts of the stack; `states` are those of `gpu_stack`, `on` the node."""
    here = on or node(NODE)
    said = {place("device_plugin"): STARTED} | (logs or {})
    run = answers(dmesg, smi, listed)
    return Case(ask, cluster([here, *gpu_stack(NODE, parts=parts, **states), *objects], logs=said, exec=run, faults=faults))


def crashing(part: str, *lines: str, parts: tuple[str, ...] = FEW, **more: Any) -> Case:
    """A case in which the main container of one part crashes after printing these lines."""
    text = "\n".join(lines) + "\n"
    state: dict[str, Any] = {part: CRASHES}
    return stack(parts=parts, logs={place(part): text, f"{place(part)}:previous": text}, **state, **more)


def init_stops(part: str, box: str, *lines: str, restarts: int = 6, parts: tuple[str, ...] = FEW, **more: Any) -> Case:
    """A case in which an init container of one part fails again and again, or is still at work (`restarts=0`)."""
    text = "\n".join(lines) + "\n"
    broken: dict[str, Any] = {"waiting": CRASHES, "last": ("Error", 1), "restarts": restarts} if restarts else {"running": True}
    logs = {place(part, box): text, f"{place(part, box)}:previous": text}
    state: dict[str, Any] = {part: {"init": {box: broken}}}
    return stack(parts=parts, logs=logs, **state, **more)


def operator(**state: Any) -> Any:
    """The operator's own pod."""
    box = container("gpu-operator", "nvcr.io/nvidia/gpu-operator:v24.9.2", **state)
    return pod("gpu-operator-7d9f8c6b5-x2x7q", NS, node="cpu-01", labels={"app": "gpu-operator"}, containers=[box], age="10d")


OPERATOR = f"{NS}/gpu-operator-7d9f8c6b5-x2x7q/gpu-operator"
PLUGIN_SET = daemonset("nvidia-device-plugin-daemonset", NS, desired=0, current=0, ready=0, updated=0, owner="ClusterPolicy/cluster-policy")
DRIVER_IMAGE = "nvcr.io/nvidia/driver:550.127.08-rhel9.9"
NOT_FOUND = f'failed to pull and unpack image "{DRIVER_IMAGE}": failed to resolve reference "{DRIVER_IMAGE}": {DRIVER_IMAGE}: not found'
FORBIDDEN = (
    'pods "nvidia-driver-daemonset-" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true), privileged'
)
driver_pod = stack_pod("driver", NODE, state=("ImagePullBackOff", f'Back-off pulling image "{DRIVER_IMAGE}"'))
driver_set = daemonset("nvidia-driver-daemonset", NS, desired=1, current=0, ready=0, updated=0)
# the kubelet plugin of the DRA driver
ROOT_EMPTY = (
    "Check failed. Has the NVIDIA GPU driver been set up? It is expected to be installed under NVIDIA_DRIVER_ROOT "
    "(currently set to '/run/nvidia/driver') in the host filesystem."
)

CASES: dict[str, Case] = {
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
        "W: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Could not connect to archive.ubuntu.com:80",
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
        "driver",
        "k8s-driver-manager",
        *['level=info msg="Waiting for MOFED to be installed..."'] * 5,
        restarts=0,
        container_toolkit="waits",
    ),
    "driver-nouveau": init_stops(
        "driver",
        "k8s-driver-manager",
        "Unloading nouveau driver...",
        "Failed to unload nouveau driver",
        dmesg=kernel("NVRM: The NVIDIA probe routine was not called for 8 device(s)."),
    ),
    "driver-installer-off": crashing(
        "driver", "GPU driver auto installation is disabled.", "Waiting for GPU driver libraries to be available."
    ),
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
    "driver-unsupported": stack(
        driver=CRASHES, dmesg=kernel("NVRM: installed in this system is not supported by the NVIDIA 550.127.08 driver release.")
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
    "driver-rollout-underway": stack(
        daemonset("nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b", NS, desired=4, current=4, ready=3, updated=2),
        on=node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9),
    ),
    "driver-ready-nowhere": stack(
        daemonset("nvidia-driver-daemonset", NS, desired=2, current=2, ready=0, updated=2, age="3h"),
        on=node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9),
        parts=(),
    ),
    "exporter-ready-nowhere": stack(
        daemonset("nvidia-dcgm-exporter", NS, desired=2, current=2, ready=0, updated=2, age="3h"),
        on=node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9),
        parts=(),
    ),
    "driver-upgrade-given-up": stack(
        operator(),
        parts=FEW,
        on=node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9),
        logs={OPERATOR: 'INFO controllers.Upgrade Driver pod is failing on node with repeated restarts {"node": "gpu-05"}\n'},
    ),
    "driver-root-elsewhere": crashing(
        "device_plugin",
        ROOT_EMPTY,
        "Hint: '/usr/bin/nvidia-smi' was found on the host, you may want to re-install the DRA driver Helm chart "
        "with --set nvidiaDriverRoot=/",
    ),
    "driver-root-empty-hint": crashing(
        "device_plugin",
        ROOT_EMPTY,
    ),
    "driver-begins": stack(
        stack_pod("driver", NODE, state={"ready": False}, age="3m"), parts=("container_toolkit",), container_toolkit="waits"
    ),
    "driver-other-kernel": crashing("driver", "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-49-generic"),
    # --- toolkit and validator
    "toolkit-runtime": crashing(
        "container_toolkit",
        'level=error msg="error running nvidia-toolkit: unable to setup runtime: unable to restart containerd: no such file or directory"',
    ),
    "toolkit-crashes": crashing("container_toolkit", 'level=info msg="Starting nvidia-toolkit"'),
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
    "validator-wants-container": init_stops(
        "operator_validator",
        "driver-validation",
        'level=info msg="Attempting to validate a driver container installation"',
        'level=warning msg="failed to validate the driver, retrying after 5 seconds"',
        parts=("container_toolkit", "device_plugin", "operator_validator"),
        smi="",
    ),
    "validator-wants-container-off": init_stops(
        "operator_validator",
        "driver-validation",
        "helm install gpu-operator nvidia/gpu-operator --set driver.enabled=false",
        'level=info msg="Attempting to validate a driver container installation"',
        'level=warning msg="failed to validate the driver, retrying after 5 seconds"',
        parts=("container_toolkit", "device_plugin", "operator_validator"),
    ),
    "driver-toolkit-of-other-release": crashing(
        "driver",
        "driver-toolkit   image-registry.openshift-image-registry.svc:5000/openshift/driver-toolkit"
        "   414.92.202306141028-0,latest   2 days ago",
        "error: a container name must be specified for pod nvidia-driver-daemonset-415.92.202402201450-0-x5x5x",
    ),
    "exporter-above-what-waits": stack(
        parts=("container_toolkit", "device_plugin", "dcgm_exporter"), container_toolkit="waits", dcgm_exporter=CRASHES
    ),
    "ofed-fails": stack(
        pod(
            "mofed-ubuntu22.04-5d8f7b6c9-ds-k2k2k",
            "network-operator",
            node=NODE,
            labels={"app": "mofed-ubuntu22.04-5d8f7b6c9-ds"},
            containers=[container("mofed-container", "nvcr.io/nvidia/mellanox/doca-driver:24.10", waiting=CRASHES)],
            age="2h",
        ),
        driver="waits",
    ),
    "validator-dev-char": init_stops(
        "operator_validator",
        "driver-validation",
        'msg="Error: error validating driver installation: error creating symlinks: failed to determine major: invalid device node"',
        parts=(*FEW, "operator_validator"),
    ),
    "validator-toolkit": init_stops(
        "operator_validator",
        "toolkit-validation",
        "toolkit is not ready",
        'msg="Error: error validating toolkit installation: exec: \\"nvidia-smi\\": executable file not found in $PATH"',
        parts=(*FEW, "operator_validator"),
    ),
    "validator-plugin": init_stops(
        "operator_validator",
        "plugin-validation",
        *[f'level=info msg="GPU resources are not yet discovered by the node, retry: {retry}"' for retry in (1, 2, 30)],
        'level=info msg="Error: error validating plugin installation: GPU resources are not discovered by the node"',
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
}
