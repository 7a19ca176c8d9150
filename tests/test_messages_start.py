"""Sibling wordings of the messages between "created" and "running": other releases, runtimes and tools say the same thing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.message_files import MessageFiles

KNOWN = MessageFiles("container-runtime", "image-and-start", "workload", "scheduling")
names = KNOWN.names
SIBLINGS: tuple[tuple[str, str], ...] = (
    ("nvml_version_mismatch", "initialization error: nvml error: driver/library version mismatch: unknown"),
    ("nvml_version_mismatch", "Failed to initialize NVML: Driver/library version mismatch"),
    ("nvml_version_mismatch", "failed to create device CDI specs: failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH"),
    ("nvml_version_mismatch", "E0301 device_plugin: nvml init failed: Driver/library version mismatch"),
    ("nvml_version_mismatch", "pynvml.nvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch."),
    ("no_runtime_handler", 'rpc error: code = Unknown desc = RuntimeHandler "nvidia" not supported'),
    ("no_runtime_handler", "code = Unknown desc = failed to find runtime handler nvidia from runtime list map[crun:0xc000 runc:0xc001]"),
    ("no_runtime_handler", "docker: Error response from daemon: unknown or invalid runtime name: nvidia."),
    ("no_runtime_handler", "docker: Error response from daemon: Unknown runtime specified nvidia."),
    ("no_gpu_device_driver", 'Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'),
    ("no_gpu_device_driver", 'could not select device driver "nvidia" with capabilities: [[gpu compute utility]]'),
    ("runtime_class_not_found", 'Error creating: pods "cuda-x" is forbidden: pod rejected: RuntimeClass "nvidia" not found'),
    ("runtime_class_not_found", 'failed to get runtime handler: runtimeclass.node.k8s.io "nvidia-legacy" not found'),
    ("runtime_program_missing", "fork/exec /usr/bin/nvidia-container-runtime-hook: no such file or directory: unknown"),
    ("runtime_program_missing", "fork/exec /usr/local/nvidia/toolkit/nvidia-container-toolkit: no such file or directory: unknown"),
    ("toolkit_driver_not_loaded", 'initialization error: nvml error: driver not loaded\\\\\\\\n\\\\\\"\\"": unknown'),
    ("driver_rpc_failed", "nvidia-container-cli: initialization error: driver error: failed to process request"),
    ("driver_rpc_timed_out", "nvidia-container-cli: initialization error: driver rpc error: timed out"),
    ("toolkit_nvml_unknown_error", "nvidia-container-cli: detection error: nvml error: unknown error: unknown"),
    ("nvml_insufficient_permissions", "initialization error: nvml error: insufficient permissions: unknown"),
    ("requirement_unsatisfied", "nvidia-container-cli: requirement error: unsatisfied condition: brand = tesla: unknown"),
    ("requirement_unsatisfied", "requirements not met: unsatisfied condition: cuda>=12.6 (cuda=12.2)"),
    ("unknown_device", "device error: GPU-1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901: unknown device: unknown"),
    ("unknown_device", "nvidia-container-cli: device error: 3: unknown device: unknown"),
    ("unknown_device", "nvidia-container-cli: device error: unknown device id: 0"),
    ("driver_device_node_absent", "failed to generate spec: lstat /dev/nvidia-uvm: no such file or directory"),
    ("cdi_name_taken_for_path", "Error: stat nvidia.com/gpu=0: no such file or directory"),
    ("cdi_devices_unresolvable", "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all"),
    ("cdi_devices_unresolvable", "CDI device injection failed: unresolvable CDI devices management.nvidia.com/gpu=all"),
    ("cdi_devices_unresolvable", "unresolvable CDI devices runtime.nvidia.com/gpu=all: unknown"),
    ("cdi_devices_unresolvable", "unresolvable CDI device k8s.device-plugin.nvidia.com/gpu=GPU-1b2c"),
    ("cdi_driver_not_selectable", 'Error response from daemon: could not select device driver "cdi" with capabilities: []'),
    ("cdi_devices_unresolvable", "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=1"),
    ("cgroup_drivers_differ", 'kubelet cgroup driver: \\"systemd\\" is different from docker cgroup driver: \\"cgroupfs\\"'),
    ("mount_not_shared", 'path "/run/nvidia/driver" is mounted on "/run" but it is not a shared mount'),
    ("mount_not_shared", "path /run/nvidia is mounted on / but it is not a shared or slave mount"),
    ("mount_not_shared", 'failed to generate spec: path "/" is mounted on "/" but it is not a shared mount'),
    ("driver_file_exists_in_image", "mount error: file creation failed: /x/merged/usr/lib/libcuda.so.1: file exists"),
    ("ldconfig_not_found", "ldcache error: open failed: /sbin/ldconfig.real: no such file or directory: unknown"),
    ("ldconfig_failed", "nvidia-container-cli: ldcache error: process /sbin/ldconfig failed with error code: 1: unknown"),
    ("imex_channel_unsupported", "error parsing IMEX info: unsupported IMEX channel value: all: unknown"),
    ("toolkit_hook_read_only", "mkdirat etc/nvidia/nvidia-application-profiles-rc.d: read-only file system: unknown"),
    ("dxg_driver_store_absent", "initialization error: WSL environment detected but no adapters were found: unknown"),
    ("exec_format_error", "exec /entrypoint.sh: exec format error"),
    ("exec_format_error", "standard_init_linux.go:228: exec user process caused: exec format error"),
    ("glibc_too_old", "/opt/tool: /lib64/libc.so.6: version `GLIBC_2.34' not found (required by /opt/tool)"),
    ("glibc_too_old", "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by /x.so)"),
    ("image_registry_answer", "manifest for a.b/c:d not found: manifest unknown"),
    ("image_pull_state", "Error: ErrImagePull"),
    ("image_pull_error", 'Back-off pulling image "a.b/c:d"'),
    ("device_unregistered", "Allocate failed due to can't allocate unregistered device nvidia.com/gpu, which is unexpected"),
    ("topology_not_aligned", "Pod Resources cannot be allocated with Topology locality"),
    ("node_out_of_resource", "Node didn't have enough resource: cpu, requested: 8000, used: 90000, capacity: 96000"),
    ("node_predicate_failed", "Predicate NodeAffinity failed"),
    ("mount_failed", 'MountVolume.SetUp failed for volume "cfg" : configmap "train" not found'),
    ("config_object_not_found", 'Error: secret "hf-token" not found'),
    ("hostpath_wrong_kind", "hostPath type check failed: /dev/infiniband is not a directory"),
    ("node_low_on_resource", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi."),
    ("node_had_pressure", "The node had condition: [DiskPressure]."),
    ("local_storage_limit_exceeded", "Pod ephemeral local storage usage exceeds the total limit of containers 10Gi."),
    ("local_storage_limit_exceeded", 'Container main exceeded its local ephemeral storage limit "20Gi".'),
    ("cuda_version_insufficient", "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"),
    ("cuda_compat_not_supported", "CUDA error 804: forward compatibility was attempted on non supported HW"),
    ("cuda_driver_combination_unsupported", "Error 803: system has unsupported display driver / cuda driver combination"),
    ("cuda_memory_exhausted", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"),
    ("shared_memory_suspected", "Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."),
    ("inotify_too_many", "error: failed to create fsnotify watcher: too many open files"),
    ("inotify_too_many", "couldn't initialize inotify: too many open files"),
    ("inotify_too_many", "failed to create FS watcher: too many open files"),
    ("metadata_service_refused", "curl: (7) Failed to connect to 169.254.169.254 port 80: Connection refused"),
    ("executable_not_found", 'exec: "nvidia-smi": executable file not found in $PATH: unknown.'),
    ("program_nvml_unknown_error", "Failed to initialize NVML: Unknown Error"),
    ("no_runtime_handler", 'error="failed to get sandbox runtime: no runtime for \\"nvidia\\" is configured"'),
    ("image_pull_error", 'msg="PullImage \\"x\\" failed" error="failed to pull and unpack image \\"registry.example/x:1\\": not found"'),
    ("glibc_too_old", "libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /opt/x.so)"),
    ("runtime_program_missing", "createContainer hook #0: fork/exec /usr/bin/nvidia-cdi-hook: no such file or directory: unknown"),
    ("csi_driver_not_registered", 'AttachVolume.Attach failed for volume "pvc-1" : CSINode gpu-1 does not contain driver ebs.csi.aws.com'),
    ("shared_memory_exhausted", "RuntimeError: unable to write to file </torch_412_1_0>: No space left on device (28)"),
    ("program_finds_no_space", "npm ERR! ENOSPC: no space left on device, write"),
    ("quota_exceeded_by_request", "exceeded quota: team-a, requested: limits.nvidia.com/gpu=1, used: limits.nvidia.com/gpu=4"),
    ("limit_range_exceeded", "[maximum cpu usage per Container is 16, but limit is 32, maximum memory usage per Container is 64Gi]"),
    ("kueue_quota_insufficient", "insufficient unused quota in cohort for nvidia.com/gpu in flavor a100, 4 more needed"),
    ("kueue_topology_does_not_fit", 'topology "rack" allows to fit only 2 out of 4 pod(s)'),
    ("kueue_admitted", "Quota reserved in ClusterQueue research, wait time since queued was 61s"),
    ("autoscaler_scaling_up", "Pod should schedule on: nodeclaim/gpu-8fz2x"),
    ("autoscaler_group_at_maximum", "pod didn't trigger scale-up: 2 in backoff after failed scale-up, 1 max node group size reached"),
    ("autoscaler_pool_limit", 'all available instance types exceed limits for provisioner: "gpu"'),
    ("autoscaler_gpu_taint_not_tolerated", "did not tolerate taint (taint=nvidia.com/gpu=true:NoSchedule)"),
    ("autoscaler_taint_not_tolerated", "did not tolerate dedicated=research:NoSchedule"),
    ("autoscaler_requirement_incompatible", 'incompatible requirements, label "NodeGroupType" does not have known values'),
)
# A command that isn't there to exec, a guess at nothing, news of success: nothing to alarm about.
QUIET = (
    "Liveness probe succeeded",
    'Normal  Pulled  Container image "x" already present on machine',
    "waiting for first consumer to be created before binding",
    "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.16GiB with freed_by_count=0. This is not a failure",
    "NOTE: CUDA Forward Compatibility mode ENABLED.",
    "ERROR: out of shared memory HINT: You might need to increase max_locks_per_transaction",
    "unable to open shared memory object </torch_1_2> in read-write mode: Too many open files (24)",
    "oom_kill 0",
    "pod triggered scale-up: [{gpu-pool 0->1 (max: 4)}]",
)


@pytest.mark.parametrize(("name", "line"), SIBLINGS)
def test_a_sibling_wording_is_known(name: str, line: str) -> None:
    assert name in names(line)


@pytest.mark.parametrize("line", QUIET)
def test_harmless_lines_stay_quiet(line: str) -> None:
    harmless = KNOWN.benign | {"executable_not_found"}
    assert names(line) <= harmless


@given(st.text(max_size=200), st.sampled_from([wording.line for entry in KNOWN.entries for wording in entry.wordings]))
def test_a_message_is_found_wherever_it_stands_in_a_line(noise: str, line: str) -> None:
    around = "".join(noise.split())
    anchored = {
        entry.name for entry in KNOWN.entries if any(one.pattern.startswith(("^", "(?:^|[`|] ?)")) for one in entry.wordings)
    }  # what begins its line by design
    assert names(line) - anchored <= names(f"{around} {line}")
