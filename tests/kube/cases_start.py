"""Pods that have a node and don't run: refused, waiting for an image, a volume or a runtime, or starting and ending again."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.objects import Object, cluster, container, event, node, pod

ASK = ["run", "pod-not-starting", "--set", "name=train-0", "--set", "namespace=ml"]
HOME = "gpu-01"
IMAGE = "registry.example.com/ml/trainer:2.4.1"
CREATING = ("ContainerCreating", "")
OCI = "Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
HOOK = (
    OCI
    + "unable to start container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: "
)
CLI = HOOK + "Auto-detected mode as 'legacy'\nnvidia-container-cli: "
SANDBOX = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: "
REFUSED = "Pod was rejected: Allocate failed due to {}, which is unexpected"
CRUN = "Error: container create failed: error executing hook `/usr/local/nvidia/toolkit/nvidia-container-runtime-hook` (exit code: 1)\n"
UUID = "GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90"


def nodes(**first: Any) -> list[Object]:
    """Three GPU nodes; the changes are those of the pod's node."""
    return [node(HOME, **first), node("gpu-02"), node("gpu-03")]


def about(subject: Object, *texts: str | tuple[str, str]) -> list[Object]:
    """Events about a pod: texts of failures, or (reason, text)."""
    pairs = [("Failed", text) if isinstance(text, str) else text for text in texts]
    return [event(subject, reason, text, count=3, age="1m", first="12m") for reason, text in pairs]


def case(subject: Object, *texts: str | tuple[str, str], home: dict[str, Any] | None = None, **more: Any) -> Case:
    """One pod with its events on three nodes."""
    return Case(ASK, cluster([subject, about(subject, *texts), nodes(**(home or {}))], **more))


def creating(*, age: str = "20m", waiting: tuple[str, str] = CREATING, **more: Any) -> Object:
    """A pod with one GPU whose container has never started."""
    return pod("train-0", gpus=1, node=HOME, waiting=waiting, age=age, **more)


def refused(reason: str, message: str, **more: Any) -> Object:
    """A pod that the kubelet refused or evicted."""
    return pod("train-0", gpus=1, node=HOME, phase="Failed", reason=reason, message=message, age="20m", **more)


def looping(code: int, reason: str = "Error", *, restarts: int = 6, **more: Any) -> Object:
    """A pod whose program ends after each start."""
    back_off = ("CrashLoopBackOff", "back-off 5m0s restarting failed container=main pod=train-0_ml(8c1d)")
    return pod("train-0", gpus=1, node=HOME, waiting=back_off, last=(reason, code), restarts=restarts, age="1h", **more)


def restarted(*, restarts: int = 4, code: int = 137) -> Object:
    """A server that runs, isn't ready, and has been restarted."""
    box = container("main", IMAGE, gpus=1, running=True, ready=False, restarts=restarts, last=("Error", code), age="2m")
    return pod("train-0", node=HOME, containers=[box], age="1h")


def probed() -> Object:
    """The same, with a liveness probe that lets a start take 80 s."""
    made = restarted()
    made["spec"]["containers"][0]["livenessProbe"] = {"initialDelaySeconds": 20, "periodSeconds": 20, "failureThreshold": 3}
    last = made["status"]["containerStatuses"][0]["lastState"]["terminated"]
    last |= {"startedAt": "2026-03-01T11:50:00Z", "finishedAt": "2026-03-01T11:51:47Z"}
    return made


def said(*lines: str, previous: bool = False) -> dict[str, str]:
    """A log of the pod's container."""
    return {"ml/train-0/main" + (":previous" if previous else ""): "".join(f"{line}\n" for line in lines)}


LIVENESS = 'Liveness probe failed: Get "http://192.0.2.17:8080/healthz": dial tcp 192.0.2.17:8080: connect: connection refused'

WAITED = looping(1)
SLOW_MOUNT = [
    event(
        WAITED, "FailedMount", 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32', count=3, age="55m", first="58m"
    ),
    event(WAITED, "Started", "Started container main", type="Normal", count=7, age="4m", first="54m"),
]
# Incidents as they happen: one story each.
STORIES: dict[str, Case] = {
    "runs": case(pod("train-0", gpus=1, node=HOME, age="2h")),
    "just-created": case(creating(age="10s"), ("Pulling", f'Pulling image "{IMAGE}"')),
    "events-refused": case(
        creating(),
        faults=[{"match": "GET /api/v1/namespaces/ml/events", "status": 403, "message": "events is forbidden"}],
    ),
    "mount-came-late": Case(
        ASK, cluster([WAITED, SLOW_MOUNT, nodes()], logs=said("torch.OutOfMemoryError: CUDA out of memory.", previous=True))
    ),
    "image-not-found": case(
        creating(waiting=("ImagePullBackOff", f'Back-off pulling image "{IMAGE}"')),
        f'Failed to pull image "{IMAGE}": rpc error: code = NotFound desc = failed to pull and unpack image "{IMAGE}": not found',
    ),
    "no-space-for-image": case(
        creating(waiting=("ErrImagePull", "no space left on device")),
        f'Failed to pull image "{IMAGE}": failed to extract layer sha256:0a1b: write /x: no space left on device: unknown',
    ),
    "no-nvidia-runtime": case(
        creating(runtime_class="nvidia"), ("FailedCreatePodSandBox", SANDBOX + 'no runtime for "nvidia" is configured')
    ),
    "no-nvidia-runtime-yet": case(
        creating(runtime_class="nvidia", age="90s"), ("FailedCreatePodSandBox", SANDBOX + 'no runtime for "nvidia" is configured')
    ),
    "versions-differ": case(
        pod(
            "train-0",
            gpus=1,
            node=HOME,
            age="30m",
            restarts=5,
            waiting=("CrashLoopBackOff", "back-off 2m40s restarting failed container=main"),
            last=("StartError", 128, CLI + "initialization error: nvml error: driver/library version mismatch: unknown"),
        ),
    ),
    "after-reboot": case(
        refused("UnexpectedAdmissionError", REFUSED.format("no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu")),
    ),
    "sick-gpus": case(
        refused(
            "UnexpectedAdmissionError",
            REFUSED.format("requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0"),
        ),
        home={"allocatable_gpus": 0},
    ),
    "refused-node-unseen": case(
        refused(
            "UnexpectedAdmissionError",
            REFUSED.format("requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0"),
        ),
        faults=[{"match": "GET /api/v1/nodes", "status": 403, "message": "nodes is forbidden"}],
    ),
    "placed-by-hand": case(
        refused(
            "OutOfnvidia.com/gpu", "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8"
        ),
        ("OutOfnvidia.com/gpu", "Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8"),
    ),
    "placed-past-its-plugin": case(
        refused(
            "UnexpectedAdmissionError",
            REFUSED.format(f"rpc error: code = Unknown desc = no binding pod found on node {HOME}"),
        ),
    ),
    "evicted-without-a-word": case(refused("Evicted", "")),
    "can-not-be-started": case(creating(waiting=("RunContainerError", "context deadline exceeded"))),
    "numa": case(refused("TopologyAffinityError", "Pod was rejected: Resources cannot be allocated with Topology locality")),
    "out-of-gpus": case(
        refused(
            "OutOfnvidia.com/gpu", "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 8, used: 4, capacity: 8"
        ),
    ),
    "deadline": case(refused("DeadlineExceeded", "Pod was active on the node longer than the specified deadline")),
    "evicted-for-disk": case(
        refused("Evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 3Gi."),
        home={"pressure": ["DiskPressure"], "ready": True},
    ),
    "evicted-for-memory": case(
        refused("Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 24Mi."),
        home={"pressure": ["MemoryPressure"]},
    ),
    "memory-limit": case(looping(137, "OOMKilled")),
    "probe-gives-up": case(probed()),
    "dropin": case(looping(1), logs=said("containerd: drop-in config version 3 higher than root config version 2", previous=True)),
    "told-to-end": case(
        looping(143),
        logs=said("Loading safetensors checkpoint shards:  42% Completed | 8/19 [01:12<01:39]", "Signal (15) received.", previous=True),
    ),
    "killed-alone": case(
        pod("train-0", gpus=1, node=HOME, phase="Failed", terminated=("OOMKilled", 137), age="1h"),
    ),
    "killed-by-whom": case(looping(137)),
    "bus-error": case(looping(135), logs=said("epoch 1", previous=True)),
    "ends-again": case(looping(1), logs=said("Traceback (most recent call last):", "KeyError: 'lr'", previous=True)),
    "ended": case(
        pod("train-0", gpus=1, node=HOME, phase="Failed", terminated=("Error", 3), age="1h"),
        logs=said("Traceback (most recent call last):", '  File "/srv/train.py", line 9, in <module>', "ValueError: bad checkpoint"),
    ),
    "shared-memory": case(
        looping(1),
        logs=said(
            "DataLoader worker (pid 412) is killed by signal: Bus error. It is possible that its workers are out of shared memory.",
            previous=True,
        ),
    ),
    "waits-in-init": case(pod("train-0", gpus=1, node=HOME, init=[container("fetch", running=True)], age="40m")),
    "slow-start": case(restarted(), ("Unhealthy", LIVENESS), logs=said("Loading safetensors checkpoint shards:  42% Completed | 8/19")),
    "never-listens": case(restarted(), ("Unhealthy", LIVENESS), ("Killing", "Container main failed liveness probe, will be restarted")),
    "asks-wrongly": case(
        restarted(),
        ("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 404"),
        ("Killing", "Container main failed liveness probe, will be restarted"),
    ),
    "startup-gives-up": case(
        restarted(),
        ("Unhealthy", "Startup probe failed: HTTP probe failed with statuscode: 503"),
        ("Killing", "Container main failed startup probe, will be restarted"),
    ),
    "nothing-happens": case(creating(age="30m")),
    "config-map-missing": case(
        creating(waiting=("CreateContainerConfigError", 'configmap "train-config" not found')), 'Error: configmap "train-config" not found'
    ),
    "settings-refused": case(creating(waiting=("CreateContainerConfigError", "cannot use this setting here"))),
}

# One pod each whose events carry every text of a kind: they prove the checks, they are no stories.
WORDS: dict[str, Case] = {
    "words-of-the-runtime": case(
        creating(),
        SANDBOX + 'no runtime for "kata-qemu" is configured',
        'Failed to create pod sandbox: failed to get runtime handler: runtimeclass.node.k8s.io "nvidia-legacy" not found',
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        HOOK + "invoking the NVIDIA Container Runtime Hook directly (e.g. specifying the docker --gpus flag) is not supported.",
        OCI + "unable to retrieve OCI runtime error: fork/exec /usr/local/nvidia/toolkit/nvidia-container-runtime: no such file",
        OCI + 'expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/pod1/ab" instead: unknown',
        SANDBOX + "rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService",
        'Error: failed to generate container "ab" spec: path "/run/nvidia" is mounted on "/run" but it is not a shared mount',
        f"CDI device injection failed: unresolvable CDI devices nvidia.com/gpu={UUID}",
        'error gathering device information while adding custom device "nvidia.com/gpu=all": no such file or directory',
    ),
    "words-of-containerd": case(
        creating(),
        'failed to load plugin io.containerd.grpc.v1.cri" error="invalid plugin config: '
        "`mirrors` cannot be set when `config_path` is provided",
        SANDBOX + "rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService",
    ),
    "words-of-the-driver": case(
        creating(),
        CLI + "initialization error: nvml error: driver not loaded: unknown",
        CLI + "initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file",
        CLI + "initialization error: driver rpc error: timed out: unknown",
        CLI + "initialization error: nvml error: insufficient permissions: unknown",
        CLI + "requirement error: unsatisfied condition: cuda>=12.6, please update your driver to a newer version",
        'Error: failed to generate container "ab" spec: failed to generate spec: lstat /dev/nvidiactl: no such file or directory',
        OCI + "failed to create the automatic CDI modifier: failed to create discoverer for WSL driver: no driver store paths found",
    ),
    "words-of-a-lost-gpu": case(creating(), CLI + "detection error: nvml error: gpu is lost: unknown"),
    "words-of-a-sick-driver": case(creating(), CLI + "detection error: nvml error: unknown error: unknown"),
    "words-of-an-unknown-device": case(creating(), CLI + f"device error: {UUID}: unknown device: unknown"),
    "words-of-a-device-by-hand": case(creating(env={"NVIDIA_VISIBLE_DEVICES": "9"}), CLI + "device error: 9: unknown device: unknown"),
    "words-of-the-toolkit": case(
        creating(),
        CLI + "mount error: file creation failed: /run/containerd/ab/rootfs/usr/bin/nvidia-smi: file exists: unknown",
        CLI + "error parsing IMEX info: unsupported IMEX channel value: all: unknown",
        HOOK + "Incorrect Usage: flag provided but not defined: -cuda-compat-mode",
        HOOK.replace("prestart hook #0", "createContainer hook #2")
        + "failed to create link [libcuda.so.1 /usr/lib/libcuda.so]: file exists",
        CLI + "container error: cgroup subsystem devices not found: unknown",
        CLI + "ldcache error: open failed: /run/nvidia/driver/sbin/ldconfig.real: no such file or directory: unknown",
    ),
    "nvidia-runtime-ends": case(
        creating(),
        OCI.replace("runc create failed: ", "") + "nvidia-container-runtime did not terminate successfully: exit status 2: unknown",
        ("Failed", "Ignoring devices requested by environment variable(s) in unprivileged container: [NVIDIA_VISIBLE_DEVICES]"),
    ),
    "nvidia-runtime-ends-updated": case(
        creating(),
        OCI.replace("runc create failed: ", "") + "nvidia-container-runtime did not terminate successfully: exit status 2: unknown",
        ("Updated", "2026-03-02 06:11:40 upgrade nvidia-container-toolkit:amd64 1.17.6-1 1.17.8-1"),
    ),
    "start-fails-since-an-update": case(
        creating(),
        CLI + "mount error: open failed: /proc/driver/nvidia/capabilities: permission denied: unknown",
        ("Updated", "Upgrade: libnvidia-container1:amd64 (1.17.6-1, 1.17.7-1), nvidia-container-toolkit:amd64 (1.17.6-1, 1.17.7-1)"),
    ),
    "crun-hook-fails": case(creating(), CRUN),
    "crun-hook-fails-updated": case(creating(), CRUN, ("Updated", "  crun 1.21-1.el9 -> 1.23-1.el9")),
    "runc-fails-itself": case(
        creating(),
        OCI
        + "unable to start container process: error during container init: open sysctl net.ipv4.ip_unprivileged_port_start file: reopen "
        "fd 8: permission denied",
    ),
    "mounted-list-unknown": case(creating(), CLI + "device error: /var/run/nvidia-container-devices: unknown device: unknown"),
    "visible-devices-refused": case(
        creating(), HOOK + "panic: insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES envvar"
    ),
    "words-of-the-image": case(
        looping(127),
        OCI + 'unable to start container process: exec: "trainer": executable file not found in $PATH: unknown',
        logs=said(
            "exec /usr/local/bin/trainer: exec format error",
            "/usr/bin/trainer: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /usr/bin/trainer)",
            previous=True,
        ),
    ),
    "words-of-the-kubelet": case(
        refused("UnexpectedAdmissionError", REFUSED.format("cannot allocate unregistered device nvidia.com/gpu")),
        REFUSED.format("device plugin Allocate rpc failed with err: rpc error: code = Unavailable desc = error reading from server: EOF"),
        REFUSED.format(
            f"device plugin Allocate rpc failed with err: invalid allocation request for 'nvidia.com/gpu': unknown device: {UUID}"
        ),
        REFUSED.format("device plugin Allocate rpc failed with err: too large: maximum request size for shared resources is 1"),
        "Error: endpoint not found in cache for a registered resource: nvidia.com/gpu",
    ),
    "words-of-a-silent-gpu": case(
        refused(
            "UnexpectedAdmissionError",
            REFUSED.format(
                "device plugin GetPreferredAllocation rpc failed with err: rpc error: error creating nvml.Device 0: nvml: Unknown Error"
            ),
        ),
    ),
    "words-of-the-storage": case(
        creating(),
        ("FailedAttachVolume", 'Multi-Attach error for volume "pvc-2c11" Volume is already exclusively attached to one node'),
        (
            "FailedMount",
            'MountVolume.MountDevice failed for volume "pvc-2c12" : driver name csi.x not found in the list of registered CSI drivers',
        ),
        ("FailedMount", 'MountVolume.SetUp failed for volume "host-mps" : hostPath type check failed: /run/nvidia/mps is not a directory'),
    ),
    "words-of-a-mount": case(
        creating(),
        ("FailedMount", 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32'),
        "Error: container has runAsNonRoot and image will run as root (pod: train-0_ml(1b2c), container: main)",
        ("Evicted", 'Usage of EmptyDir volume "scratch" exceeds the limit "8Gi".'),
    ),
    "words-of-the-program": case(
        looping(1),
        logs=said(
            "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).",
            "RuntimeError: can't start new thread",
            "CUDA error: CUDA driver version is insufficient for CUDA runtime version",
            "Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
            "Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination",
            "CUDA error: no kernel image is available for execution on the device",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.",
            "Memory cgroup out of memory: Killed process 4242 (python) total-vm:268435456kB",
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "RuntimeError: unable to allocate shared memory(shm) for file </torch_412_1>: No space left on device (28)",
            "error: couldn't initialize inotify: too many open files",
            "curl: (7) Failed to connect to 169.254.169.254 port 80 after 0 ms: Network is unreachable",
            previous=True,
        ),
    ),
}

# What programs say of their own set-up; each row of the table `programs` once.
SET_UP: dict[str, Case] = {
    "set-up-of-a-model": case(
        looping(1),
        logs=said(
            "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8).",
            "Cannot access gated repo for url https://huggingface.co/acme/llama-8b/resolve/main/config.json.",
            "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
            "OSError: /models/llama-8b does not appear to have a file named config.json.",
            "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
            "ValueError: Model architectures ['AcmeMoeForCausalLM'] are not supported for now. Supported architectures: dict_keys([])",
            "ValueError: User-specified max_model_len (131072) is greater than the derived max_model_len (max_position_embeddings=32768).",
            "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 80.",
            "RuntimeError: Cannot re-initialize CUDA in forked subprocess.",
            "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
            "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
            previous=True,
        ),
    ),
    "set-up-of-a-job": case(
        looping(1),
        logs=said(
            "AssertionError: global batch size (100) is not divisible by micro batch size (4) times data parallel size (8)",
            "ZeRORuntimeException: The checkpoint being loaded used a DP world size of 8 but the current world size is 4.",
            "Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
            "FileNotFoundError: [Errno 2] No such file or directory: '/data/text_document_train_indexmap_100ns_1024sl_1234s_doc_idx.npy'",
            "RuntimeError: Using hostfile at /job/hostfile but host=gpu-02 was not reachable via ssh.",
            previous=True,
        ),
    ),
    "set-up-of-ray": case(
        looping(1),
        logs=said(
            "(autoscaler +1m10s) Error: No available node types can fulfill resource request {'GPU': 16.0}.",
            "(raylet) Failed to connect to GCS. Please check `gcs_server.out` for more details.",
            "(raylet) [2026-03-01 11:50:00,123 E 8 9] (raylet) file_system_monitor.cc:116: /tmp/ray/session_1 is over 95% full, available",
            "ray.exceptions.ObjectStoreFullError: Failed to put object ffff01 in object store because it is full.",
            "[1772365800.1] [train-0:41 :0] select.c:722  UCX  ERROR no active messages transport to <no debug data>: self/memory -",
            "[1772365800.1] [train-0:41 :0] ucp_context.c:1508 UCX  WARN  transport 'rcx' is not available, please use one or more of: tcp",
            "[1772365800.1] [train-0:41 :0] mm_posix.c:234 UCX  ERROR open(file_name=/proc/8/fd/3 flags=0x0) failed: Permission denied",
            previous=True,
        ),
    ),
    "set-up-of-ray-spills": case(
        looping(1),
        logs=said(
            "(raylet) [2026-03-01 11:50:00,123 E 8 9] (raylet) file_system_monitor.cc:116: /tmp/ray/session_1 is over 95% full, available",
            "[1772365800.1] [train-0:41 :0] ucp_context.c:1508 UCX  WARN  transport 'rcx' is not available, please use one or more of: tcp",
            previous=True,
        ),
    ),
}

FAILED = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of 79.15 GiB of which {} is free. "
HELD = "Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch but unallocated."


def out_of_memory(tried: str, free: str, allocated: str, cached: str, *more: str) -> Case:
    """A program whose allocation on the GPU failed."""
    return case(looping(1), logs=said(FAILED.format(tried, free) + HELD.format(allocated, cached), *more, previous=True))


# Programs that say in numbers what they ran out of.
MEMORY: dict[str, Case] = {
    "model-too-large": out_of_memory("4.00 GiB", "2.10 GiB", "75.80 GiB", "310.00 MiB"),
    "memory-in-pieces": out_of_memory("4.00 GiB", "2.10 GiB", "55.10 GiB", "20.90 GiB"),
    "memory-elsewhere": out_of_memory("256.00 MiB", "101.25 MiB", "7.20 GiB", "120.00 MiB"),
    "memory-beside-weights": case(
        looping(1),
        logs=said(
            "ValueError: To serve at least one request with the models's max seq len (65536), (8.0 GiB KV cache is needed, which is larger "
            "than the available KV cache memory (5.1 GiB). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`.",
            previous=True,
        ),
    ),
    "loader-killed": case(looping(1), logs=said("RuntimeError: DataLoader worker (pid 4141) is killed by signal: Killed.", previous=True)),
    "memory-taken": case(
        looping(1),
        logs=said(
            "ValueError: Free memory on device cuda:0 (9.21/79.11 GiB) on startup is less than desired GPU memory utilization.",
            previous=True,
        ),
    ),
    "no-space-for-a-cache": case(
        looping(1), logs=said("OSError: [Errno 28] No space left on device: '/cache/models/ab12.incomplete'", previous=True)
    ),
    "ends-again-in-events": case(looping(1), ("BackOff", "Back-off restarting failed container main in pod train-0_ml(1b2c)")),
    "older-toolkit": case(creating(), CLI + "initialization error: driver error: failed to process request: unknown"),
}

CASES: dict[str, Case] = {**STORIES, **WORDS, **SET_UP, **MEMORY}
