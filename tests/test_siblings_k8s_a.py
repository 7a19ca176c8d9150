# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of container runtimes, the toolkit, device plugins, MIG and feature discovery, cut and wrapped; and what is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.intake import embedded_objects
from tests.pasted import diagnosed, judge

SHARED = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: plugin-shares
  namespace: gpu
data:
  half: |-
    version: v1
    {flags}sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 6
"""
PLAIN = SHARED.format(flags="")
CREATE = "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: "

# What was pasted → the first cause; "?cause" = it is a candidate, and nothing is found; "" = nothing at all
TEXTS: dict[str, tuple[str, str]] = {
    # --- the runtime and the toolkit
    "glibc, its quotes lost": (
        "image-glibc-mismatch",
        "/opt/toolkit/nvidia-container-cli.real: /lib64/libm.so.6: versionGLIBC_2.29' not found (required by /opt/toolkit/libnvidia-container.so.1)",
    ),
    "musl": ("image-glibc-mismatch", "Error relocating /usr/bin/trainer: __vsnprintf_chk: symbol not found"),
    "glibc that is there": ("", "ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35\n/usr/bin/trainer: no version information available\n"),
    "compose without a driver's name": (
        "nvidia-runtime-not-configured",
        "Error response from daemon: could not select device driver with capabilities: [[gpu video]]",
    ),
    "a template instead of a configuration": (
        "nvidia-runtime-not-configured",
        'time="2025-01-14T08:00:07Z" level=fatal msg="Error: unable to load config: (12, 7): was expecting token =, but got \\"{{\\" instead"',
    ),
    "the variable is refused": (
        "visible-devices-envvar-not-permitted",
        CREATE
        + "runc create failed: error running prestart hook #0: exit status 2, stdout: , stderr: panic: insufficient privileges to read device list from NVIDIA_VISIBLE_DEVICES envvar",
    ),
    "the variable is passed over": (
        "?visible-devices-envvar-not-permitted",
        'time="2025-01-14T08:00:07Z" level=warning msg="Ignoring devices requested by environment variable(s) in unprivileged container: [NVIDIA_VISIBLE_DEVICES]"',
    ),
    "the runtime ends": (
        "?container-toolkit-bug",
        CREATE + "nvidia-container-runtime did not terminate successfully: exit status 2: unknown.",
    ),
    "the runtime ends since apt": (
        "container-toolkit-version-regression",
        CREATE
        + "nvidia-container-runtime did not terminate successfully: exit status 2: unknown.\n"
        + "Unpacking nvidia-container-toolkit-base (1.16.2-1) over (1.15.0-1) ...\n",
    ),
    "an update alone": ("", "2025-01-14 08:00:07 upgrade nvidia-container-toolkit-base:amd64 1.15.0-1 1.16.2-1\n"),
    "a library of the toolkit of another release": (
        "toolkit-component-version-mismatch",
        "nvidia-container-cli: symbol lookup error: nvidia-container-cli: undefined symbol: nvc_nvcaps_device_from_proc_path, version NVC_1.0",
    ),
    "a library of the host is missing": (
        "container-toolkit-bug",
        CREATE
        + "error running hook: exit status 127, stdout: , stderr: nvidia-container-cli: error while loading shared libraries: libtirpc.so.3: cannot open shared object file: No such file or directory",
    ),
    # --- MIG and MPS
    "no instance fits": (
        "mig-config-not-applied",
        "$ sudo nvidia-smi mig -cgi 5,5,5 -C\nUnable to create a GPU instance on GPU  3 using profile 5: Insufficient Resources\nFailed to create GPU instances: Insufficient Resources\n",
    ),
    "instances are made": (
        "",
        "$ sudo nvidia-smi mig -cgi 5 -C\nSuccessfully created GPU instance ID  2 on GPU  3 using profile MIG 4g.20gb (ID  5)\n",
    ),
    "a row of the table": (
        "mig-mode-change-pending",
        "| N/A   31C    P0    55W / 400W |      4MiB / 81920MiB |      0%      Default |\n|                               |                      |             Enabled* |\n",
    ),
    "the plugin goes on without MIG": ("", "2024/03/01 07:00:10 No MIG devices found. Falling back to mig.strategy=none\n"),
    "the plugin misses instances": ("mig-enabled-without-instances", "2024/03/01 07:00:10 device 3 has no MIG devices configured\n"),
    "the plugin may not ask for MIG": (
        "device-plugin-missing-privileges",
        "E0301 07:00:10.000000       1 main.go:126] error starting plugins: error building GPU device map: error visiting device: error checking if MIG is enabled: Insufficient Permissions",
    ),
    "the MPS daemon fails": (
        "mps-daemon-not-ready",
        "E0301 07:00:10.000000      61 main.go:213] Failed to start MPS daemon: error setting compute mode: exit status 4",
    ),
    "the MPS daemon starts": (
        "",
        'I0301 07:00:10.000000      61 daemon.go:97] "Staring MPS daemon" resource="nvidia.com/gpu"\nI0301 07:00:11.000000      61 daemon.go:129] "Starting log tailer" resource="nvidia.com/gpu"\n',
    ),
    # --- sharing, in notes
    "a configuration in notes": (
        "time-slicing-config-not-applied",
        f"$ kubectl describe node lab-3\nCapacity:\n  cpu:             32\n  nvidia.com/gpu:  1\nAllocatable:\n  cpu:             32\n  nvidia.com/gpu:  1\n\nplugin.yaml\n{PLAIN}",
    ),
    "a configuration that is in force": (
        "",
        f"$ kubectl describe node lab-3\nCapacity:\n  cpu:             32\n  nvidia.com/gpu:  6\nAllocatable:\n  cpu:             32\n  nvidia.com/gpu:  6\n\nplugin.yaml\n{PLAIN}",
    ),
    "an option at the wrong level, in a letter": (
        "sharing-config-mismatch",
        "This is what we gave to the plugin:\n\n"
        + SHARED.format(flags="flags:\n      failRequestsGreaterThanOne: true\n    ")
        + "\nNothing is refused, though. Has anybody seen this?\n",
    ),
    "a here-document": (
        "sharing-config-mismatch",
        "cat <<EOF | kubectl apply -f -\n" + SHARED.format(flags="flags:\n      renameByDefault: true\n    ") + "EOF\n",
    ),
    # --- parts of nodes
    "a status alone": (
        "device-unhealthy",
        '    status:\n      addresses:\n      - address: lab-3\n        type: Hostname\n      allocatable:\n        cpu: "32"\n        nvidia.com/gpu: "3"\n      capacity:\n        cpu: "32"\n        nvidia.com/gpu: "4"\n',
    ),
    "a status that is well": (
        "",
        'status:\n  allocatable:\n    cpu: "32"\n    nvidia.com/gpu: "4"\n  capacity:\n    cpu: "32"\n    nvidia.com/gpu: "4"\n',
    ),
    "a volume's capacity": ("", "status:\n  accessModes:\n  - ReadWriteOnce\n  capacity:\n    storage: 10Gi\n  phase: Bound\n"),
    "amounts picked by grep": (
        "device-unhealthy",
        "$ kubectl describe node lab-3 | grep nvidia\n  nvidia.com/gpu:     4\n  nvidia.com/gpu:     3\n",
    ),
    "amounts of several nodes": (
        "",
        "$ kubectl describe nodes | grep nvidia\n" + "  nvidia.com/gpu:     4\n  nvidia.com/gpu:     4\n  nvidia.com/gpu:     2\n" * 2,
    ),
    "limits of a pod": ("", "    resources:\n      limits:\n        nvidia.com/gpu: 2\n      requests:\n        nvidia.com/gpu: 1\n"),
    # --- feature discovery, operator, taints
    "labels in a sentence": (
        "nfd-label-format-mismatch",
        "My worker got `feature.node.kubernetes.io/pci-0302_10de.present=true,feature.node.kubernetes.io/pci-0200_15b3.present=true` and nothing starts.",
    ),
    "both labels in a sentence": (
        "",
        "feature.node.kubernetes.io/pci-0302_10de.present=true,feature.node.kubernetes.io/pci-10de.present=true and all is well",
    ),
    "the operator waits for nodes": (
        "nfd-labels-missing",
        '1.700000001e+09\tINFO\tcontrollers.ClusterPolicy\tNo GPU node in the cluster, do not create DaemonSets\t{"DaemonSet": "nvidia-mig-manager"}',
    ),
    "the operator sees nodes later": (
        "",
        '{"level":"info","ts":1700000001.1,"logger":"controllers.ClusterPolicy","msg":"Number of nodes with GPU label","NodeCount":0}\n'
        '{"level":"info","ts":1700000061.1,"logger":"controllers.ClusterPolicy","msg":"Number of nodes with GPU label","NodeCount":2}\n',
    ),
    "a plugin wanted nowhere, in notes": (
        "device-plugin-repelled-by-taint",
        "* `kubectl get ds -n gpu nvidia-device-plugin` -> `DESIRED 0`\n* the pool has the taint nvidia.com/gpu=only:NoSchedule\n",
    ),
    "a plugin wanted nowhere, without a taint": (
        "device-plugin-not-running",
        "* `kubectl get ds -n gpu nvidia-device-plugin` -> `DESIRED 0`\n",
    ),
    "an exporter wanted nowhere": (
        "untolerated-taint",
        "The exporter's DaemonSet shows DESIRED 0, our GPU pool is tainted nvidia.com/gpu=only:NoSchedule.",
    ),
    "a taint alone": ("", "Our GPU pool is tainted nvidia.com/gpu=only:NoSchedule."),
    # --- what the sources of the stack print, a line of each condition
    "feature discovery may not ask": (
        "device-plugin-missing-privileges",
        "E0301 07:00:10.000000       1 main.go:95] error creating labeler: failed to construct GPU labeler: failed to get memory info for device: Insufficient Permissions",
    ),
    "a GPU that the kubelet made up": (
        "kubelet-device-manager-stale-state",
        "Allocate failed due to rpc error: code = Unknown desc = invalid allocation request with non-existing device nvidia7, which is unexpected",
    ),
    "a field of the plugin's file": (
        "sharing-config-mismatch",
        "unable to parse config file: error parsing config file: unmarshal error: devices set as 'some' but the only valid string input is 'all'",
    ),
    "GKE's plugin registers nowhere": (
        "kubelet-plugin-socket-dir-mismatch",
        "E0301 07:00:10.000000       1 beta_plugin.go:158] device-plugin: cannot connect to kubelet service: context deadline exceeded",
    ),
    "GKE's plugin marks a GPU": (
        "device-unhealthy",
        "I0301 07:00:10.000000       1 beta_plugin.go:56] device-plugin: nvidia5 device marked as Unhealthy",
    ),
    "GKE without MPS": (
        "mps-daemon-not-ready",
        "failed to start GPU device manager: NVIDIA MPS is not running on this node: exit status 1",
    ),
    "MIG instances in use": (
        "mig-config-not-applied",
        "level=error msg=\"error clearing existing MIG configurations: error destroying Compute instance for profile '(0, 0)': In use by another client\"",
    ),
    "MIG set fails at last": ("mig-config-not-applied", "Changing the 'nvidia.com/mig.config.state' node label to 'failed'"),
    "MIG set succeeds": (
        "",
        "Assertion failure: selected configuration not currently applied\nChanging the 'nvidia.com/mig.config.state' node label to 'pending'\n"
        "Changing the 'nvidia.com/mig.config.state' node label to 'success'\n",
    ),
    "the toolkit finds no socket": (
        "nvidia-runtime-not-configured",
        'level=warning msg="Error signaling containerd, attempt 5/6: unable to dial: dial unix /runtime/sock-dir/containerd.sock: connect: no such file or directory"',
    ),
    "the toolkit's signal is heard later": (
        "",
        'level=warning msg="Error signaling containerd, attempt 1/6: unable to dial: dial unix /runtime/sock-dir/containerd.sock: connect: connection refused"\n'
        'level=info msg="Successfully signaled containerd"\n',
    ),
    "the toolkit may not change its rights": (
        "container-device-permission",
        CREATE + "nvidia-container-cli: permission error: capability change failed: operation not permitted",
    ),
    "a GPU that the CDI mode doesn't know": (
        "?kubelet-device-manager-stale-state",
        'failed to create device CDI specs: failed to construct device spec generators: failed to get device handle from UUID "GPU-2f0e6b1d-7c90-5a44-8f1c-0b3d4a7e9a55": Not Found',
    ),
    "CDI is off": ("cdi-spec-missing", "CDI container edits did not apply -- is CDI enabled in your container runtime?"),
    "a container that can't be drained": (
        "driver-upgrade-stuck",
        'level=error msg="error reported by drain helper: cannot delete Pods with local storage (use --delete-emptydir-data to override): ml/train-2"',
    ),
    "an upgrade's drain fails": (
        "driver-upgrade-stuck",
        "  Warning  GPUDriverUpgrade  4m  nvidia-gpu-operator  Failed to drain the node, drain did not complete within 5m0s\n",
    ),
    "upgrades counted": (
        "",
        '{"level":"info","logger":"controllers.Upgrade","msg":"Node states:","Unknown":0,"upgrade-done":4,"cordon-required":0,"upgrade-failed":0}',
    ),
    "an upgrade's plugin stays": (
        "driver-upgrade-stuck",
        'level=error msg="Failed to wait for nvidia-device-plugin-daemonset to shutdown: timed out waiting for the condition"',
    ),
    "a driver's files in use": (
        "host-driver-in-use",
        "failed to cleanup NVIDIA driver: failed to unmount rootfs: failed to recursively unmount /run/nvidia/driver: device or resource busy",
    ),
    "the driver toolkit is of another RHCOS": (
        "ocp-driver-toolkit-missing",
        "WARNING: RHCOS '417.94.202501010000-0' imagetag missing, using entitlement-based fallback",
    ),
    "the operator misses a label": (
        "nfd-labels-missing",
        '{"level":"info","msg":"WARNING: Could not find NFD label for node. Is NFD installed?","Node":"lab-3","Label":"feature.node.kubernetes.io/system-os_release.ID"}',
    ),
    "a compute domain's node": (
        "imex-not-ready",
        "error preparing devices for claim ml/train-2: error asserting ComputeDomain Ready: current node not ready in ComputeDomain",
    ),
    "a GPU outside the fabric": (
        "fabric-manager-not-running",
        "error getting cliqueID: NVLink fabric not attached (device 0/GPU-2f0e): state=2, refusing to start",
    ),
    "the driver of DRA elsewhere": (
        "driver-root-mismatch",
        "Hint: '/run/nvidia/driver/usr/bin/nvidia-smi' exists on the host, you may want to re-install the DRA driver Helm chart with --set nvidiaDriverRoot=/run/nvidia/driver",
    ),
    "the root of DRA's driver is empty": ("?driver-root-mismatch", "Hint: Directory /run/nvidia/driver on the host is empty"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_pasted(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)


def test_pieces_cover_the_text() -> None:
    lines = f"words\n{PLAIN}more: words\nNote: this\n{PLAIN}{PLAIN}end".split("\n")
    found = [*embedded_objects.pieces(lines)]
    assert [start for start, _, _ in found[1:]] == [end for _, end, _ in found[:-1]]
    assert (found[0][0], found[-1][1]) == (0, len(lines))
    assert sum(is_object for _, _, is_object in found) == 3


def test_one_object_is_not_cut() -> None:
    lines = f"# a comment\n\n{PLAIN}".split("\n")
    assert [*embedded_objects.pieces(lines)] == [(0, len(lines), True)]


def test_json_among_words() -> None:
    lines = ["our node:", "{", '  "kind": "Node",', '  "metadata": {', '    "name": "lab-3"', "  }", "}", "what now?"]
    assert [*embedded_objects.pieces(lines)] == [(0, 1, False), (1, 7, True), (7, 8, False)]


@pytest.mark.parametrize("text", ["kind: x\n" * 20_000, "apiVersion: v1\n" + " a\n" * 50_000, "{\n" * 20_000, '{\n"kind": 1\n' * 5_000])
def test_hostile_lines_end(text: str) -> None:
    lines = text.split("\n")
    found = [*embedded_objects.pieces(lines)]
    assert found[-1][1] == len(lines)
