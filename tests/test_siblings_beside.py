# ruff: noqa: E501 - what is pasted has long lines
"""What two outputs of drivers, runtimes and Slurm say side by side, and the cause that stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

# What was pasted → the first cause; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    "kernel: installer log": (
        "nvidia-module-missing-for-kernel",
        """\
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ uname -r
6.5.0-41-generic
$ grep -i "kernel source path" /var/log/nvidia-installer.log
   Kernel source path: '/lib/modules/6.5.0-35-generic/build'
""",
    ),
    "kernel: program and dkms": (
        "nvidia-module-missing-for-kernel",
        """\
$ python3 train.py
RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx
$ uname -r
6.8.0-1021-aws
$ dkms status
nvidia/550.127.05, 6.8.0-1018-aws, x86_64: installed
""",
    ),
    "kernel: both built": (
        "",
        """\
$ uname -r
6.8.0-1021-aws
$ dkms status
nvidia/550.127.05, 6.8.0-1018-aws, x86_64: installed
nvidia/550.127.05, 6.8.0-1021-aws, x86_64: installed
""",
    ),
    "proc: idle card": (
        "",
        """\
$ cat /proc/driver/nvidia/gpus/0000:3b:00.0/information
Model: 		 Tesla T4
IRQ:   		 64
GPU UUID: 	 GPU-????????-????-????-????-????????????
Video BIOS: 	 ??.??.??.??.??
Bus Type: 	 PCIe
DMA Size: 	 47 bits
""",
    ),
    "vgpu: host and guest": (
        "vgpu-guest-driver-required",
        """\
==> host.txt <==
[root@esx1:~] nvidia-smi vgpu
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.161.05             Driver Version: 535.161.05                |
|---------------------------------+------------------------------+------------+
| GPU  Name                       | Bus-Id                       | GPU-Util   |
|      vGPU ID     Name           | VM ID     VM Name            | vGPU-Util  |
|=================================+==============================+============|
|   0  NVIDIA A40                 | 00000000:3B:00.0             |   0%       |
|      3251634212  NVIDIA A40-8Q  | 2101...   render-1           |      0%    |
+---------------------------------+------------------------------+------------+
==> guest.txt <==
root@render-1:~# dmesg | grep -i nvidia
[    5.881244] nvidia: loading out-of-tree module taints kernel.
[    5.993311] nvidia: probe of 0000:02:00.0 failed with error -1
root@render-1:~# nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "runtime: still gone": (
        "nvidia-runtime-not-configured",
        """\
$ kubectl -n gpu-operator get events | grep Warn
4m          Warning   FailedCreatePodSandBox   pod/nvidia-dcgm-exporter-5tq6v   Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured
$ kubectl -n gpu-operator get pods
NAME                                       READY   STATUS     RESTARTS   AGE
nvidia-dcgm-exporter-5tq6v                 0/1     Init:0/1   0          41m
nvidia-device-plugin-daemonset-x2x9d       0/1     Init:0/1   0          41m
nvidia-driver-daemonset-4h9tt              1/1     Running    0          41m
""",
    ),
    "runtime: there by now": (
        "",
        """\
$ kubectl -n gpu-operator get events | grep Warn
14m          Warning   FailedCreatePodSandBox   pod/nvidia-dcgm-exporter-5tq6v   Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured
$ kubectl -n gpu-operator get pods
NAME                                       READY   STATUS     RESTARTS   AGE
nvidia-dcgm-exporter-5tq6v                 1/1     Running   0          21m
nvidia-device-plugin-daemonset-x2x9d       1/1     Running   0          21m
nvidia-driver-daemonset-4h9tt              1/1     Running   0          21m
""",
    ),
    "sinfo: reasons without header": (
        "slurm-kill-task-failed",
        """\
$ sinfo -hR
Kill task failed     root      2025-02-02T22:11:10 gn[03-04]
""",
    ),
    "sinfo: words without header": (
        "slurm-node-drained",
        """\
$ sinfo -N -h -o '%N %T %E'
gn01 idle none
gn02 drained bad DIMM A3
gn03 mixed none
""",
    ),
    "sinfo: sound": (
        "",
        """\
$ sinfo -N -h -o '%N %T %E'
gn01 idle none
gn03 mixed none
""",
    ),
    "sinfo: bars without header": (
        "slurm-kill-task-failed",
        """\
$ sinfo -R --noheader -o '%n|%E|%H'
gn03|Kill task failed|2025-02-02T22:11:10
""",
    ),
    "boot: requests": (
        "boot-order-network-not-ready",
        """\
Jul 08 07:11:02 gke-gpu-1 systemd[1]: Starting gpu-driver-load.service - Load GPU driver...
Jul 08 07:11:02 gke-gpu-1 gpu-load[911]: requests.exceptions.ConnectionError: HTTPConnectionPool(host='169.254.169.254', port=80): Max retries exceeded with url: /latest/meta-data/instance-type (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f>: Failed to establish a new connection: [Errno 101] Network is unreachable'))
Jul 08 07:11:02 gke-gpu-1 systemd[1]: gpu-driver-load.service: Main process exited, code=exited, status=1/FAILURE
Jul 08 07:11:02 gke-gpu-1 systemd[1]: Failed to start gpu-driver-load.service - Load GPU driver.
""",
    ),
    "files: no uvm": (
        "device-nodes-missing",
        """\
$ ls /dev/nvidia*
/dev/nvidia0  /dev/nvidiactl  /dev/nvidia-modeset
$ python -c "import torch; torch.cuda.init()"
RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start. Setting the available devices to be zero.
$ nvidia-smi -L
GPU 0: NVIDIA A10 (UUID: GPU-9d7c2c8e-3a0e-1b55-8a1e-0f2f6c1b0a11)
""",
    ),
    "versions: alone": (
        "driver-library-version-mismatch",
        """\
$ cat /sys/module/nvidia/version
550.90.07
$ modinfo -F version nvidia
550.107.02
""",
    ),
    "bar: lspci -v": (
        "pci-bar-not-assigned",
        """\
$ lspci -v -s 65:00.0
65:00.0 3D controller: NVIDIA Corporation GH100 [H100 PCIe] (rev a1)
	Subsystem: NVIDIA Corporation Device 1626
	Flags: fast devsel, IRQ 11, NUMA node 0
	Memory at <unassigned> (64-bit, prefetchable) [disabled]
	Memory at <unassigned> (64-bit, prefetchable) [disabled]
	Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_pasted(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)
