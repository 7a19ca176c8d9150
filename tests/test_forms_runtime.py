# ruff: noqa: E501 - what is pasted has long lines
"""Forms in which people show container runtimes, drivers and modules beside the textbook line: tables, files, two outputs side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

SMI = "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
CRI = 'plugins."io.containerd.grpc.v1.cri"'
TOML = f'version = 2\ndisabled_plugins = [%s]\n[{CRI}.containerd]\n  default_runtime_name = "nvidia"\n  [{CRI}.containerd.runtimes.nvidia]\n    runtime_type = "io.containerd.runc.v2"\n'
STREAM = "NAME             IMAGE REPOSITORY                                                            TAGS                           UPDATED\ndriver-toolkit   image-registry.openshift-image-registry.svc:5000/openshift/driver-toolkit   416.94.202407081958-0,latest   3 weeks ago\n"
PODS = "NAME                                                  READY   STATUS             RESTARTS      AGE\n"
WIDE = "NAME     STATUS   ROLES    AGE   VERSION           INTERNAL-IP   EXTERNAL-IP   OS-IMAGE                                                       KERNEL-VERSION                  CONTAINER-RUNTIME\nnode-5   Ready    worker   80d   v1.30.4           10.8.0.5      <none>        Red Hat Enterprise Linux CoreOS %s   5.14.0-427.50.1.el9_4.x86_64    cri-o://1.30.4\n"
WAITS = 'level=info msg="Attempting to validate a driver container installation"\nlevel=warning msg="failed to validate the driver, retrying after 5 seconds\\n"\n'
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  Release Build  (dvs-builder@U22)\nGCC version:  gcc version 12.3.0\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  Wed Feb 26 02:13:40 UTC 2025\nGCC version:  gcc version 12.3.0\n"

# What was pasted, in one file or more → the first cause; "?cause" = a candidate, and nothing found; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    # --- containerd and the kubelet's interface
    "cri off": ("containerd-cri-disabled", (TOML % '"cri"',)),
    "cri off by its whole name": ("containerd-cri-disabled", (TOML % '"io.containerd.grpc.v1.cri", "io.containerd.snapshotter.v1.btrfs"',)),
    "cri on": ("", (TOML % "",)),
    "cri on, another plugin off": ("", (TOML % '"io.containerd.snapshotter.v1.btrfs"',)),
    "cri off, as Docker's package has it": (
        "",
        ('disabled_plugins = ["cri"]\n\n#root = "/var/lib/containerd"\n#[grpc]\n#  address = "/run/containerd/containerd.sock"\n',),
    ),
    "cri unknown to kubeadm": (
        "containerd-cri-disabled",
        (
            '\t[ERROR CRI]: container runtime is not running: output: level=fatal msg="validate service connection: CRI v1 runtime API is not implemented for endpoint \\"unix:///run/containerd/containerd.sock\\": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"\n',
        ),
    ),
    "cri unknown to an old kubelet": (
        "containerd-cri-disabled",
        (
            '"Version from runtime service failed" err="rpc error: code = Unimplemented desc = unknown service runtime.v1alpha2.RuntimeService"\n',
        ),
    ),
    "default runtime without entry": (
        "containerd-misconfigured",
        (
            'level=warning msg="failed to load plugin io.containerd.grpc.v1.cri" error="invalid plugin config: no corresponding runtime configured in `containerd.runtimes` for `containerd` `default_runtime_name = \\"runc\\"`"\n',
            'err="rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService"\n',
        ),
    ),
    "containerd 2": (
        "containerd-misconfigured",
        (
            'level=warning msg="failed to load plugin" error="invalid plugin config: `mirrors` cannot be set when `config_path` is provided" id=io.containerd.cri.v1.images type=io.containerd.cri.v1\n',
        ),
    ),
    "toml": ("containerd-misconfigured", ("containerd: failed to load TOML: /etc/containerd/config.toml: (31, 2): unexpected token\n",)),
    "plugins listed": (
        "containerd-misconfigured",
        ("$ ctr plugins ls | grep cri\nio.containerd.grpc.v1            cri                      linux/amd64    error\n",),
    ),
    "plugins listed, fine": (
        "",
        ("$ ctr plugins ls | grep cri\nio.containerd.grpc.v1            cri                      linux/amd64    ok\n",),
    ),
    "another plugin": (
        "",
        ('level=warning msg="failed to load plugin io.containerd.snapshotter.v1.devmapper" error="devmapper not configured"\n',),
    ),
    "docker since 28.3": (
        "nvidia-runtime-not-configured",
        ("docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found.\n",),
    ),
    "daemon.json on one line": (
        "cgroup-driver-mismatch",
        (
            '{"default-runtime":"nvidia","runtimes":{"nvidia":{"path":"nvidia-container-runtime","runtimeArgs":[]}},"exec-opts":["native.cgroupdriver=cgroupfs"]}\n',
            "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\n",
        ),
    ),
    # --- a module for another kernel
    "files of another kernel": (
        "nvidia-module-missing-for-kernel",
        (
            f"{SMI}$ uname -r\n5.14.0-503.14.1.el9_5.x86_64\n$ find /lib/modules -name 'nvidia.ko*'\n/lib/modules/5.14.0-427.40.1.el9_4.x86_64/extra/nvidia.ko.xz\n",
        ),
    ),
    "files of this kernel": (
        "?driver-not-loaded",
        (
            f"{SMI}$ uname -r\n5.14.0-503.14.1.el9_5.x86_64\n$ find /lib/modules -name 'nvidia.ko*'\n/lib/modules/5.14.0-503.14.1.el9_5.x86_64/extra/nvidia.ko.xz\n",
        ),
    ),
    "package of another kernel": (
        "nvidia-module-missing-for-kernel",
        (
            f"$ uname -a\nLinux vm3 6.8.0-1021-aws #23~22.04.1-Ubuntu SMP Tue Dec 10 16:50:46 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux\n$ dpkg -l | grep nvidia\nii  linux-modules-nvidia-535-server-6.8.0-1018-aws   6.8.0-1018.19  amd64  Linux kernel nvidia modules\n{SMI}",
        ),
    ),
    "package of this kernel": (
        "",
        (
            "$ uname -r\n6.8.0-1018-aws\n$ dpkg -l | grep nvidia\nii  linux-modules-nvidia-535-server-6.8.0-1018-aws   6.8.0-1018.19  amd64  Linux kernel nvidia modules\n",
        ),
    ),
    "modprobe of old": ("nvidia-module-missing-for-kernel", (f"$ sudo modprobe nvidia\nmodprobe: FATAL: Module nvidia not found.\n{SMI}",)),
    "headers: broken link": (
        "kernel-headers-missing",
        (
            "$ ls -l /lib/modules/6.1.0-28-cloud-amd64/build\nls: cannot access '/lib/modules/6.1.0-28-cloud-amd64/build': No such file or directory\n",
        ),
    ),
    "headers: a script's cd": (
        "kernel-headers-missing",
        ("./install.sh: line 20: cd: /lib/modules/6.6.65-flatcar/build: No such file or directory\n",),
    ),
    # --- a module that is refused, or not
    "signature complaint, and it runs": (
        "driver-does-not-support-gpu",
        (
            "[  8.7] PKCS#7 signature not signed with a trusted key\n[  8.8] nvidia-nvlink: Nvlink Core is being initialized, major device number 510\n[  8.9] NVRM: The NVIDIA GPU 0000:af:00.0 (PCI ID: 10de:1db4)\n               NVRM: installed in this system is not supported by open\n               NVRM: nvidia.ko because it does not include the required GPU\n",
        ),
    ),
    "signature complaint, and nothing more": (
        "",
        (
            "[  8.7] PKCS#7 signature not signed with a trusted key\n[  8.8] nvidia-nvlink: Nvlink Core is being initialized, major device number 510\n",
        ),
    ),
    "signature refused": (
        "secure-boot-unsigned-module",
        ("[  8.7] PKCS#7 signature not signed with a trusted key\n[  8.8] Loading of module with unavailable key is rejected\n",),
    ),
    "secure boot, module not loaded": (
        "?secure-boot-unsigned-module",
        (
            f"$ mokutil --sb-state\nSecureBoot enabled\n$ uname -r\n6.8.0-60-generic\n$ dkms status\nnvidia/550.120, 6.8.0-60-generic, x86_64: installed\n{SMI}",
        ),
    ),
    "secure boot, and it works": (
        "",
        ("$ mokutil --sb-state\nSecureBoot enabled\n$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)\n",),
    ),
    "proprietary module, new card": (
        "open-kernel-module-required",
        (
            CLOSED,
            "$ lspci -nn -d 10de:\n17:00.0 3D controller [0302]: NVIDIA Corporation GB100 [B200] [10de:2901] (rev a1)\n",
            "$ nvidia-smi\nNo devices were found\n",
        ),
    ),
    "proprietary module, older card": (
        "gpu-not-initialised",
        (
            CLOSED,
            "$ lspci -nn -d 10de:\n17:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n",
            "$ nvidia-smi\nNo devices were found\n",
        ),
    ),
    "region not claimed": (
        "pci-bar-not-assigned",
        (
            "[  1.0] nvidia 0000:05:00.0: BAR 1 [mem 0x00000000-0x1fffffffff 64bit pref]: not claimed; can't enable device\n[  1.0] nvidia 0000:05:00.0: probe with driver nvidia failed with error -22\n",
        ),
    ),
    # --- versions
    "modinfo beside what runs": (
        "driver-library-version-mismatch",
        (
            "$ modinfo nvidia\nfilename:       /lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko\nversion:        550.127.05\n",
            OPEN % "550.120",
        ),
    ),
    "modinfo, same": (
        "",
        (
            "$ modinfo nvidia\nfilename:       /lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko\nversion:        550.120\n",
            OPEN % "550.120",
        ),
    ),
    "fabric manager beside what runs": (
        "fabric-manager-version-mismatch",
        (
            "$ rpm -q nvidia-fabric-manager\nnvidia-fabric-manager-550.54.15-1.x86_64\n",
            OPEN % "550.90.07",
            "RuntimeError: CUDA error: system not yet initialized\n",
        ),
    ),
    "fabric manager, same": ("", ("$ rpm -q nvidia-fabric-manager\nnvidia-fabric-manager-550.90.07-1.x86_64\n", OPEN % "550.90.07")),
    "library's link beside what runs": (
        "driver-library-version-mismatch",
        (
            "lrwxrwxrwx 1 root root 25 Jan  8 06:41 /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1 -> libnvidia-ml.so.550.163.01\n",
            OPEN % "550.120",
        ),
    ),
    "library's link, same": (
        "",
        (
            "lrwxrwxrwx 1 root root 25 Jan  8 06:41 /usr/lib64/libnvidia-ml.so.1 -> libnvidia-ml.so.550.120\n",
            OPEN % "550.120",
        ),
    ),
    "nomad": ("nvidia-runtime-not-configured", ('Failed to create container: requested docker runtime "nvidia" was not found\n',)),
    "jax": (
        "cuda-driver-too-old",
        ("W0305 10:01:02 The NVIDIA driver's CUDA version is 11.4 which is older than the PTX compiler version (12.3.103).\n",),
    ),
    "cuda's unknown error": (
        "?device-nodes-missing",
        (
            "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.\n",
        ),
    ),
    # --- a guest of Hyper-V
    "dxgkrnl not there": (
        "gpu-p-guest-driver-missing",
        ("$ sudo modprobe dxgkrnl\nmodprobe: FATAL: Module dxgkrnl not found in directory /lib/modules/6.8.0-45-generic\n",),
    ),
    "the ordinary driver for a part of a GPU": (
        "gpu-p-guest-driver-missing",
        (f"$ lspci\n1f6c:00:00.0 3D controller: Microsoft Corporation Basic Render Driver\n{SMI}",),
    ),
    "a part of a GPU that works": (
        "",
        (
            "$ lspci\n1f6c:00:00.0 3D controller: Microsoft Corporation Basic Render Driver\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A5000 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)\n",
        ),
    ),
    # --- the GPU stack
    "image stream and log": (
        "ocp-driver-toolkit-missing",
        (
            f"$ oc get is driver-toolkit -n openshift\n{STREAM}",
            "error: a container name must be specified for pod nvidia-driver-daemonset-417.94.202410160352-0-kk7zq, choose one of: [nvidia-driver-ctr openshift-driver-toolkit-ctr]\n",
        ),
    ),
    "image stream and pods": (
        "ocp-driver-toolkit-missing",
        (STREAM, f"{PODS}nvidia-driver-daemonset-417.94.202410160352-0-kk7zq   0/2     CrashLoopBackOff   9 (12s ago)   31m\n"),
    ),
    "image stream and nodes": ("ocp-driver-toolkit-missing", (STREAM, WIDE % "417.94.202410160352-0 (Plow)")),
    "image stream fits": (
        "",
        (STREAM, f"{PODS}nvidia-driver-daemonset-416.94.202407081958-0-kk7zq   2/2     Running            0             31m\n"),
    ),
    "image stream fits the nodes": ("", (STREAM, WIDE % "416.94.202407081958-0 (Plow)")),
    "validator, and helm says no driver": (
        "driver-root-mismatch",
        (WAITS, "helm upgrade gpu nvidia/gpu-operator \\\n  --set toolkit.enabled=false --set driver.enabled=false\n"),
    ),
    "validator, and a program works": (
        "driver-root-mismatch",
        (WAITS, "[Vector addition of 50000 elements]\nCopy output data from the CUDA device to the host memory\nTest PASSED\n"),
    ),
    "validator alone": ("?driver-root-mismatch", (WAITS,)),
    "validator got through": (
        "",
        (f'{WAITS}level=info msg="all validations are successful"\n', "helm upgrade gpu nvidia/gpu-operator --set driver.enabled=false\n"),
    ),
    "ofed's pod": (
        "mofed-driver-not-ready",
        (
            f"{PODS}mofed-ubuntu22.04-6d7c9b-ds-4l2kz                     0/1     CrashLoopBackOff   12            51m\nnvidia-driver-daemonset-2hv6t                         0/2     Init:1/2           0             51m\n",
        ),
    ),
    "exporter above what waits": (
        "?driver-not-ready",
        (
            f"{PODS}nvidia-container-toolkit-daemonset-5kq2v              0/1     Init:0/1           0             3h\nnvidia-dcgm-exporter-9x4tl                            0/1     CrashLoopBackOff   41 (74s ago)  3h\n",
        ),
    ),
    "exporter alone": (
        "exporter-not-running",
        (
            f"{PODS}nvidia-container-toolkit-daemonset-5kq2v              1/1     Running            0             3h\nnvidia-dcgm-exporter-9x4tl                            0/1     CrashLoopBackOff   41 (74s ago)  3h\n",
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_forms(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)
