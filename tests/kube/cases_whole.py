"""Whole incidents, looked at as an engineer would: from the pod, or over all GPU pods. The demo's scenarios are among them."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_pending import HELPLESS, NO_VICTIMS, TOLERATION, pending, said
from tests.kube.cases_stack import CRASHES, MAIN, STARTED
from tests.kube.cases_without_gpu import FALLBACK, HOME, NO_PROGRAM, smi
from tests.kube.objects import (
    cluster,
    daemonset,
    event,
    exec_answer,
    gpu_stack,
    namespace,
    node,
    pod,
    pod_name,
    pytorchjob,
    runtimeclass,
)

ASK = ["diagnose", "pod", "train-0", "-n", "ml"]
ALL = ["diagnose", "pod", "-A"]
LOST = "GPU-6d1f2a50-0b0e-4c59-9a7e-3f1c5b8e0007"
BOOT = "2026-03-01T06:12:01,000000+00:00 NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.127.08\n"
XID_79 = (
    "2026-03-01T11:31:07,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    "2026-03-01T11:31:07,412377+00:00 NVRM: GPU 0000:ab:00.0: GPU has fallen off the bus.\n"
)
UNHEALTHY = STARTED + (
    f"I0301 11:31:07.501000       1 health.go:185] XidCriticalError: Xid=79 on Device={LOST}; marking device as unhealthy.\n"
    f"I0301 11:31:07.502000       1 server.go:276] 'nvidia.com/gpu' device marked unhealthy: {LOST}\n"
)
MISMATCH = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
    "container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: "
    "Auto-detected mode as 'legacy'\n"
    "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown"
)
API_MISMATCH = (
    "2026-03-01T11:40:02,000000+00:00 NVRM: API mismatch: the client 'nvidia-smi' (pid 41233)\n"
    "2026-03-01T11:40:02,000001+00:00 NVRM: has the version 550.144.03, but\n"
    "2026-03-01T11:40:02,000002+00:00 NVRM: this kernel module has the version 550.127.08.  Please\n"
)


def at(part: str, where: str = HOME) -> str:
    """namespace/pod/container of a part of the stack on a node."""
    return f"gpu-operator/{pod_name(part, where)}/{MAIN[part]}"


def answering(where: str = HOME, dmesg: str = BOOT, smi_answer: Any = None) -> dict[str, list[Any]]:
    """What programs say in the driver pod of a node."""
    return {
        at("driver", where): [
            exec_answer("dmesg", "--time-format=iso", stdout=dmesg),
            smi_answer or exec_answer("nvidia-smi", stdout=smi()),
        ]
    }


def inside(answer: Any = None, env: str = "") -> dict[str, list[Any]]:
    """What programs say in the training pod."""
    return {"ml/train-0/main": [answer or exec_answer("nvidia-smi", stdout=smi(1)), exec_answer("env", stdout=f"PATH=/usr/bin\n{env}")]}


def holders(*names: str, ns: str = "vision", gpus: int = 8) -> list[Any]:
    """Healthy pods that hold GPUs."""
    return [pod(f"serve-{name}", ns=ns, gpus=gpus, node=name, tolerations=TOLERATION) for name in names]


def lost_gpu(command: list[str], *more: Any) -> Case:
    """Three nodes; the one that would be free lost a GPU to Xid 79."""
    reason = said("3 Insufficient nvidia.com/gpu", NO_VICTIMS)
    objects = [
        *pending(reason),
        node("gpu-01", gpus=8, allocatable_gpus=7),
        node("gpu-02"),
        node("gpu-03"),
        gpu_stack("gpu-01"),
        *holders("gpu-02", "gpu-03"),
        *more,
    ]
    return Case(command, cluster(objects, logs={at("device_plugin"): UNHEALTHY}, exec=answering(dmesg=BOOT + XID_79)))


def driver_crashes() -> Case:
    """No GPU is offered anywhere, because the driver pod can't build its module; what comes after it only waits."""
    text = "ERROR: Unable to find the kernel source tree for the currently running kernel.\nCould not resolve Linux kernel version\n"
    waits = dict.fromkeys(("container_toolkit", "device_plugin", "gpu_feature_discovery", "dcgm_exporter", "operator_validator"), "waits")
    objects = [
        *pending(said("3 Insufficient nvidia.com/gpu")),
        *(node(f"gpu-0{number}", gpus=0, gpu_label_count=8) for number in (1, 2, 3)),
        *(gpu_stack(f"gpu-0{number}", driver=CRASHES, **waits) for number in (1, 2, 3)),
    ]
    logs = {f"{at('driver', f'gpu-0{number}')}{suffix}": text for number in (1, 2, 3) for suffix in ("", ":previous")}
    return Case(ASK, cluster(objects, logs=logs))


def mismatch() -> Case:
    """The driver's libraries were upgraded under the loaded module."""
    made = pod(
        "train-0", gpus=1, node=HOME, waiting=("RunContainerError", MISMATCH), last=("StartError", 128, MISMATCH), restarts=4, age="25m"
    )
    bad = exec_answer(
        "nvidia-smi", stdout="Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.144\n", exit=18
    )
    objects = [made, event(made, "Failed", f"Error: {MISMATCH}", count=4, age="1m"), node(HOME), node("gpu-02"), gpu_stack(HOME)]
    return Case(ASK, cluster(objects, exec=answering(dmesg=BOOT + API_MISMATCH, smi_answer=bad), logs={at("device_plugin"): STARTED}))


def image(name: str, ns: str) -> list[Any]:
    """A pod whose image is not there."""
    text = 'Back-off pulling image "registry.example.com/ml/trainer:2.4.9"'
    made = pod(name, ns=ns, gpus=1, node=HOME, waiting=("ImagePullBackOff", text), image="registry.example.com/ml/trainer:2.4.9", age="15m")
    why = 'Failed to pull image "registry.example.com/ml/trainer:2.4.9": rpc error: code = NotFound desc = failed to pull: not found'
    return [made, event(made, "Failed", why, age="2m")]


def running(gpus: int = 1, **more: Any) -> Any:
    """The training pod, running for two hours."""
    return pod("train-0", gpus=gpus, node=HOME, age="2h", **more)


def well(subject: Any, *more: Any, command: list[str] = ASK, said_inside: Any = None, log: str = "step 1200 loss 2.31\n") -> Case:
    """A pod on a node whose stack is well."""
    objects = [subject, *more, node(HOME), node("gpu-02"), gpu_stack(HOME), runtimeclass()]
    logs = {"ml/train-0/main": log, at("device_plugin"): STARTED}
    return Case(command, cluster(objects, exec=answering() | inside(said_inside), logs=logs))


def job_of(*pods: Any) -> Case:
    """A PyTorchJob whose worker can't be placed."""
    owner = pytorchjob("train", workers=1, gpus=8)
    return Case(["diagnose", "pod", "pytorchjob/train", "-n", "ml"], cluster([owner, *pods, *(node(f"gpu-0{n}") for n in (1, 2, 3))]))


CASES: dict[str, Case] = {
    "whole-healthy": well(running()),
    "whole-namespace-typo": Case(
        ["diagnose", "pod", "train-0", "-n", "mll"], cluster([namespace("ml"), namespace("vision"), running(), node(HOME)])
    ),
    "whole-namespace-typo-listed": Case(
        ["diagnose", "pod", "-n", "mll"], cluster([namespace("ml"), namespace("vision"), running(), node(HOME)])
    ),
    "whole-no-gpu-pods": Case(["diagnose", "pod", "-n", "shop"], cluster([pod("web-0", ns="shop", node="cpu-01"), node("cpu-01", gpus=0)])),
    "whole-all-healthy": well(running(), *holders("gpu-02", gpus=4), command=ALL),
    "whole-lost-gpu": lost_gpu(ASK),
    "whole-lost-gpu-two-teams": lost_gpu(
        ALL,
        *(
            other := pending(
                said("3 node(s) didn't match Pod's node affinity/selector", HELPLESS), ns="audio", node_selector={"pool": "a100"}
            )
        )[:1],
        other[1],
    ),
    "whole-driver-crashes": driver_crashes(),
    "whole-mismatch": mismatch(),
    "whole-no-gpu-asked": well(
        running(0, image="nvcr.io/nvidia/pytorch:24.10-py3"), said_inside=NO_PROGRAM, log=f"{FALLBACK}\nstep 12 loss 9.1\n"
    ),
    "whole-plugin-tainted": Case(
        ASK,
        cluster(
            [
                *pending(said("2 Insufficient nvidia.com/gpu"), gpus=1, tolerations=[{"operator": "Exists"}]),
                node("gpu-01", gpus=0, gpu_label_count=8, taints=[("team", "ml", "NoSchedule")]),
                node("gpu-02", gpus=0, gpu_label_count=8, taints=[("team", "ml", "NoSchedule")]),
                daemonset("nvidia-device-plugin-daemonset", "gpu-operator", desired=0, current=0, ready=0, updated=0),
            ]
        ),
    ),
    "whole-image": Case(ALL, cluster([*image("train-0", "ml"), *image("eval-0", "vision"), node(HOME), gpu_stack(HOME)], exec=answering())),
    "whole-pytorchjob": job_of(
        *pending(
            said("3 Insufficient cpu"),
            owner="PyTorchJob/train",
            requests={"cpu": "500"},
            labels={"training.kubeflow.org/job-name": "train"},
        )
    ),
}
