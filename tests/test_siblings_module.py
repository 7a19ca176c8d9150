# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of kernel modules that are not built, not loaded or refuse a GPU, and of the driver pods' helpers; pairs that differ in one word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

SMI = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
WORKS = "$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)\n"

# What was pasted → the first cause; "?cause" = it is a candidate, and nothing is found; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    # --- the module of a kernel
    "built: dkms log": (
        "nvidia-module-missing-for-kernel",
        "Error! Bad return status for module build on kernel: 6.8.0-71-generic (x86_64)\nConsult /var/lib/dkms/nvidia/535.216.03/build/make.log for more information.\n",
    ),
    "built: other module": (
        "",
        "Error! Bad return status for module build on kernel: 6.8.0-71-generic (x86_64)\nConsult /var/lib/dkms/zfs/2.2.2/build/make.log for more information.\n",
    ),
    "built: autoinstall": ("nvidia-module-missing-for-kernel", "dkms autoinstall on 6.1.0-32-amd64/x86_64 failed for nvidia-current(10)\n"),
    "built: autoinstall 3": (
        "nvidia-module-missing-for-kernel",
        "Autoinstall on 6.12.41+deb13-amd64 failed for module(s) nvidia-current(10).\n",
    ),
    "built: autoinstall fine": (
        "",
        "Autoinstall of module nvidia-current/550.163.01 for kernel 6.12.41+deb13-amd64 (x86_64)\nBuilding module(s)....... done.\nAutoinstall on 6.12.41+deb13-amd64 succeeded for module(s) nvidia-current.\n",
    ),
    "built: beside smi": (
        "nvidia-module-missing-for-kernel",
        SMI + "\nunset ARCH; env NV_VERBOSE=1 'make' -j64 KERNEL_UNAME=6.5.0-44-generic modules.....(bad exit status: 2)\n",
    ),
    "built: pacman": (
        "nvidia-module-missing-for-kernel",
        "==> WARNING: `dkms install --no-depmod nvidia/575.64 -k 6.15.7-arch1-1' exited 10\n==> ERROR: module not found: 'nvidia'\n",
    ),
    "built: dpkg": ("nvidia-module-missing-for-kernel", "dpkg: error processing package nvidia-dkms-570 (--configure):\n"),
    "built: only added": ("nvidia-module-missing-for-kernel", f"$ dkms status\nnvidia/535.216.03: added\n$ nvidia-smi\n{SMI}"),
    "built: added, and works": ("", f"$ dkms status\nnvidia/535.216.03: added\n{WORKS}"),
    "headers: build folder": (
        "kernel-headers-missing",
        "make[1]: *** /lib/modules/5.15.0-122-generic/build: No such file or directory.  Stop.\nConsult /var/lib/dkms/nvidia/550.90.07/build/make.log for more information.\n",
    ),
    "headers: old dkms": (
        "kernel-headers-missing",
        "Module build for the currently running kernel was skipped since the\nkernel source for this kernel does not seem to be installed.\n",
    ),
    "none: modinfo": (
        "driver-not-installed",
        "$ nvidia-smi\nbash: nvidia-smi: command not found\n$ modinfo nvidia\nmodinfo: ERROR: Module nvidia not found.\n$ lspci -nnk\n3b:00.0 3D controller [0302]: NVIDIA Corporation GA102GL [A10] [10de:2236] (rev a1)\n\tSubsystem: NVIDIA Corporation GA102GL [A10] [10de:1482]\n",
    ),
    # --- nvidia-smi alone
    "smi alone": ("?driver-not-loaded", SMI),
    "smi and no module": (
        "driver-not-loaded",
        f"{SMI}$ cat /proc/driver/nvidia/version\ncat: /proc/driver/nvidia/version: No such file or directory\n",
    ),
    # --- the module and the card
    "legacy": (
        "driver-does-not-support-gpu",
        "NVRM: The NVIDIA Tesla K80 GPU installed in this system is\nNVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\nNVRM:  information.  The 550.90.07 NVIDIA driver will ignore\nNVRM:  this GPU.  Continuing probe...\nNVRM: No NVIDIA GPU found.\n",
    ),
    "legacy: installer": (
        "driver-does-not-support-gpu",
        "WARNING: The NVIDIA Quadro K2200 GPU installed in this system is supported through the NVIDIA 580.xx legacy Linux graphics drivers.  Please visit the site for more information.\n",
    ),
    "legacy: beside a card that works": ("", f"NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\n{WORKS}"),
    "guest: model that the release knows": (
        "vgpu-guest-driver-required",
        "NVRM: The NVIDIA GPU 0000:00:07.0 (PCI ID: 10de:2235)\nNVRM: installed in this system is not supported by the\nNVRM: NVIDIA 550.144.03 driver release.\n",
    ),
    "branch: release before the model": (
        "driver-does-not-support-gpu",
        "NVRM: The NVIDIA GPU 0000:18:00.0 (PCI ID: 10de:2330)\nNVRM: installed in this system is not supported by the\nNVRM: NVIDIA 470.256.02 driver release.\n",
    ),
    "open: wrapped": (
        "open-kernel-module-required",
        "[  9.1] NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:2901)\n[  9.1] NVRM: installed in this system requires use of the\n[  9.1] NVRM: NVIDIA open kernel modules.\n",
    ),
    "none started": (
        "gpu-not-initialised",
        "NVRM: The NVIDIA probe routine failed for 2 device(s).\nNVRM: None of the NVIDIA devices were initialized.\n",
    ),
    "none started, then works": ("", f"NVRM: None of the NVIDIA devices were initialized.\n{WORKS}"),
    "none found": ("?gpu-not-on-pci-bus", "NVRM: No NVIDIA GPU found.\n"),
    "bridge": (
        "pci-bar-not-assigned",
        "NVRM: This is a 64-bit BAR mapped above 16 TB by the system\nNVRM: BIOS or the Linux kernel. This can cause problems\n",
    ),
    "attach": ("gpu-not-initialised", "NVRM: osInitNvMapping: *** Cannot attach gpu\n"),
    "sb: crypto": ("secure-boot-unsigned-module", "Loading of module with unsupported crypto is rejected\n"),
    "mismatch: library": (
        "driver-library-version-mismatch",
        "Error: API mismatch: the NVIDIA kernel module has version 550.90.07,\nbut this NVIDIA driver component has version 550.127.05.\n",
    ),
    "mismatch: tensorflow": (
        "driver-library-version-mismatch",
        "E external/xla/cuda_diagnostics.cc:309] kernel version 550.90.7 does not match DSO version 550.127.5 -- cannot find working devices in this configuration\n",
    ),
    "nouveau: lshw": (
        "nouveau-conflict",
        "  *-display\n       vendor: NVIDIA Corporation\n       configuration: depth=32 driver=nouveau latency=0 resolution=1024,768\n",
    ),
    "nouveau: lshw of nvidia": ("", "  *-display\n       vendor: NVIDIA Corporation\n       configuration: driver=nvidia latency=0\n"),
    "nouveau: packages": (
        "",
        "driver   : nvidia-driver-570-server - distro non-free recommended\ndriver   : xserver-xorg-video-nouveau - distro free builtin\n",
    ),
    "uvm: cdi": (
        "device-nodes-missing",
        'Error: setting up CDI devices: failed to inject devices: failed to stat CDI host device "/dev/nvidia-uvm": no such file or directory\n',
    ),
    # --- the driver waits, and its GSP
    "hung: trace": (
        "gpu-hung",
        "[ 901.1] INFO: task trainer:7719 blocked for more than 122 seconds.\n[ 901.1] Call Trace:\n[ 901.1]  rwsem_down_write_slowpath+0x33a/0x4d0\n[ 901.1]  os_acquire_rwlock_write+0x35/0x50 [nvidia]\n",
    ),
    "hung: another trace": (
        "process-in-D-state",
        "[ 901.1] INFO: task trainer:7719 blocked for more than 122 seconds.\n[ 901.1] Call Trace:\n[ 901.1]  btrfs_commit_transaction+0x31/0x9f0 [btrfs]\n[ 901.1]  ? nvidia_close+0x1a/0x40 [nvidia]\n",
    ),
    "gsp: crash": ("gsp-firmware-crash", "NVRM: GPU3 GSP task exception: load access fault (cause:0x5) @ pc:0x15e3cf2, task: 1\n"),
    "gsp: after": (
        "gsp-rpc-timeout",
        "NVRM: Timeout after 45s of waiting for RPC response from GPU2 GSP! Expected function 103 (GSP_RM_ALLOC) (0x0 0x6c).\n",
    ),
    "gsp: poll": ("gsp-rpc-timeout", "NVRM: _issueRpcAndWait: rpcRecvPoll timedout for fn 76!\n"),
    "gsp: control refused": ("", "NVRM: rpcRmApiControl_GSP: GspRmControl failed: hClient=0xc1d00053; status=0x00000056\n"),
    # --- the driver's pods
    "drain: manager": (
        "driver-upgrade-stuck",
        'Draining node gpu-9 of any GPU pods...\nerror: unable to drain node "gpu-9" due to error:cannot delete Pods with local storage: ml/eval-0, continuing command...\n',
    ),
    "drain: a person": (
        "",
        'node/gpu-9 cordoned\nerror: unable to drain node "gpu-9" due to error:cannot delete Pods with local storage: ml/eval-0\n',
    ),
    "in use: unload": ("host-driver-in-use", "Failed to unload kernel module nvidia_uvm: resource temporarily unavailable\n"),
    "waits: container": (
        "driver-not-ready",
        "running command bash with args [-c stat /run/nvidia/validations/.driver-ctr-ready]\nstat: cannot statx '/run/nvidia/validations/.driver-ctr-ready': No such file or directory\ncommand failed, retrying after 5 seconds\n",
    ),
    "waits: no more": (
        "",
        "stat: cannot statx '/run/nvidia/validations/.driver-ctr-ready': No such file or directory\ncommand failed, retrying after 5 seconds\n  File: /run/nvidia/validations/.driver-ctr-ready\n",
    ),
    "toolkit: broken image": (
        "ocp-driver-toolkit-missing",
        "WARNING: broken Driver Toolkit image detected:\n- Node kernel:    5.14.0-427.el9.x86_64\n",
    ),
    "stack: all wait": (
        "?toolkit-not-ready",
        """\
NAME                                       READY   STATUS     RESTARTS   AGE
gpu-feature-discovery-8wzkp                0/1     Init:0/1   0          3h
nvidia-container-toolkit-daemonset-5tq2x   0/1     Init:0/1   0          3h
nvidia-device-plugin-daemonset-m4c7d       0/1     Init:0/1   0          3h
nvidia-driver-daemonset-v6n8s              1/1     Running    0          3h
""",
    ),
    "curl": (
        "driver-pod-no-package-repo-access",
        "curl: (28) Failed to connect to us.download.nvidia.com port 443 after 130021 ms: Connection timed out\n",
    ),
    # --- CUDA is newer
    "jax": (
        "cuda-driver-too-old",
        "CUDA backend failed to initialize: Found CUDA version 11070, but JAX was built against version 12030, which is newer.\n",
    ),
    "old release": (
        "cuda-driver-too-old",
        """\
cudaGetDeviceCount returned 35: CUDA driver version is insufficient for CUDA runtime version
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.67       Driver Version: 418.67       CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
|   0  Tesla P4            On   | 00000000:02:00.0 Off |                    0 |
| N/A   37C    P8     8W /  75W |      0MiB /  7611MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    judge(report, cause, info=True)
    assert cause or not report.candidates
