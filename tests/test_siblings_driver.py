# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of drivers and kernel modules that do not come up, and the cause that stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import smi
from tests.pasted import diagnosed, judge

# What was pasted → the first cause; "?cause" = it is a candidate, and nothing is found; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    "boot: eks unit": (
        "boot-order-network-not-ready",
        """\
-- Journal begins at Tue 2025-03-04 10:11:02 UTC. --
Mar 04 10:11:20 ip-10-1-2-3.ec2.internal systemd[1]: Starting nvidia-kmod-load.service - Loads NVIDIA kernel modules...
Mar 04 10:11:20 ip-10-1-2-3.ec2.internal nvidia-kmod-load.sh[1642]: curl: (7) Failed to connect to 169.254.169.254 port 80: Network is unreachable
Mar 04 10:11:20 ip-10-1-2-3.ec2.internal systemd[1]: nvidia-kmod-load.service: Main process exited, code=exited, status=7/NOTRUNNING
Mar 04 10:11:20 ip-10-1-2-3.ec2.internal systemd[1]: nvidia-kmod-load.service: Failed with result 'exit-code'.
""",
    ),
    "boot: with smi": (
        "boot-order-network-not-ready",
        """\
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ journalctl -u configure-nvidia
Jun 02 08:00:11 ip-10-0-1-9 configure-nvidia.sh[1201]: + curl -X PUT http://169.254.169.254/latest/api/token
Jun 02 08:00:11 ip-10-0-1-9 configure-nvidia.sh[1201]: curl: (7) Failed to connect to 169.254.169.254 port 80 after 0 ms: Couldn't connect to server
Jun 02 08:00:11 ip-10-0-1-9 systemd[1]: configure-nvidia.service: Main process exited, code=exited, status=1/FAILURE
""",
    ),
    "boot: imds retries ok": (
        "",
        """\
Mar 04 10:11:20 ip-10-1-2-3 cloud-init[1642]: 2025-03-04 10:11:20,123 - url_helper.py[WARNING]: Calling 'http://169.254.169.254/latest/api/token' failed [0/120s]: request error
Mar 04 10:11:22 ip-10-1-2-3 systemd[1]: Finished nvidia-kmod-load.service - Loads NVIDIA kernel modules.
Mar 04 10:11:22 ip-10-1-2-3 kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.133.20  Sun Mar 30 00:00:00 UTC 2025
""",
    ),
    "old: torch warns": (
        "cuda-driver-too-old",
        """\
/opt/conda/lib/python3.11/site-packages/torch/cuda/__init__.py:129: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx Alternatively, go to: https://pytorch.org to install a PyTorch version that has been compiled with your version of the CUDA driver. (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)
  return torch._C._cuda_getDeviceCount() > 0
False
""",
    ),
    "old: docker requirement": (
        "cuda-driver-too-old",
        """\
docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'
nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your driver to a newer version, or use an earlier cuda container: unknown.
""",
    ),
    "old: insufficient with smi": (
        "cuda-driver-too-old",
        """\
# kubectl logs vectoradd
[Vector addition of 50000 elements]
Failed to allocate device vector A (error code CUDA driver version is insufficient for CUDA runtime version)!
# kubectl exec vectoradd -- nvidia-smi
Thu May  2 10:00:00 2024
"""
        + smi("470.161.03", "11.4")
        + """\
|   0  Tesla T4                       On  |   00000000:00:1E.0 Off |                    0 |
| N/A   31C    P8             11W /   70W |       0MiB /  15360MiB |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+
""",
    ),
    "old: nccl": (
        "cuda-driver-too-old",
        """\
node1:18:18 [0] NCCL INFO cudaDriverVersion 11040
node1:18:18 [0] misc/cudawrap.cc:36 NCCL WARN Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'
node1: Test NCCL failure common.cu:1005 'unhandled cuda error (run with NCCL_DEBUG=INFO for details)'
""",
    ),
    "old: banner of ngc": (
        "cuda-driver-too-old",
        """\
=============
== PyTorch ==
=============

NVIDIA Release 24.10 (build 114410972)
PyTorch Version 2.5.0a0+e000cf0

ERROR: This container was built for NVIDIA Driver Release 560.35 or later, but
       version 470.182.03 was detected and compatibility mode is UNAVAILABLE.

       [[Forward compatibility was attempted on non supported HW (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE) cuInit()=804]]
""",
    ),
    "old: ptx": (
        "cuda-driver-too-old",
        """\
RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
$ nvidia-smi | head -4
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13    CUDA Version: 12.0     |
|-------------------------------+----------------------+----------------------+
""",
    ),
    "old: ngc with compat ok": (
        "",
        """\
== PyTorch ==
NVIDIA Release 24.10 (build 114410972)

NOTE: CUDA Forward Compatibility mode ENABLED.
  Using CUDA 12.6 driver version 560.35.03 with kernel driver version 535.183.01.
  See https://docs.nvidia.com/deploy/cuda-compatibility/ for details.
""",
    ),
    "char: nvidiactl later": (
        "dev-char-symlink-creation-failed",
        """\
time="2025-05-06T10:11:12Z" level=info msg="version: 2d8d6b4c, commit: 2d8d6b4"
time="2025-05-06T10:11:12Z" level=info msg="creating symlinks under /dev/char that correspond to NVIDIA character devices"
Error: error validating driver installation: error creating symlink creator: failed to create NVIDIA device nodes: failed to create device node nvidia-uvm: failed to determine major: invalid device node
""",
    ),
    "char: modeset module": (
        "dev-char-symlink-creation-failed",
        """\
Error: error validating driver installation: error creating symlink creator: failed to load NVIDIA kernel modules: failed to load module nvidia-modeset: exit status 1; output=modprobe: FATAL: Module nvidia-modeset not found in directory /lib/modules/5.15.0-1053-gke

Failed to create symlinks under /dev/char that point to all possible NVIDIA character devices.
The existence of these symlinks is required to address the following bug:

    https://github.com/NVIDIA/gpu-operator/issues/430
""",
    ),
    "char: read only": (
        "dev-char-symlink-creation-failed",
        'level=info msg="Error: error validating driver installation: error creating symlinks: failed to create link /dev/char/195:0: symlink /dev/nvidia0 /dev/char/195:0: read-only file system\\n\\nFailed to create symlinks under /dev/char that point to all possible NVIDIA character devices.\n',
    ),
    "char: ctk": (
        "dev-char-symlink-creation-failed",
        """\
# nvidia-ctk system create-dev-char-symlinks --create-all
INFO[0000] Creating link /dev/char/195:255 => /dev/nvidiactl
CRIT[0000] Error creating symlinks: failed to create NVIDIA device nodes: failed to create device node nvidiactl: operation not permitted
""",
    ),
    "char: fine": (
        "",
        """\
time="2025-05-06T10:11:12Z" level=info msg="creating symlinks under /dev/char that correspond to NVIDIA character devices"
time="2025-05-06T10:11:12Z" level=info msg="Creating link /dev/char/195:254 => /dev/nvidia-modeset"
time="2025-05-06T10:11:12Z" level=warning msg="Could not create symlink: symlink /dev/nvidia-modeset /dev/char/195:254: file exists"
time="2025-05-06T10:11:12Z" level=info msg="Creating link /dev/char/195:0 => /dev/nvidia0"
""",
    ),
    "nodes: slurmd": (
        "device-nodes-missing",
        """\
Feb 10 09:01:02 gpu07 slurmd[2101]: error: Waiting for gres.conf file /dev/nvidia0
Feb 10 09:01:22 gpu07 slurmd[2101]: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory
""",
    ),
    "nodes: containerd": (
        "device-nodes-missing",
        "  Warning  Failed     5s (x3 over 30s)  kubelet            Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: detection error: stat failed: /dev/nvidia-uvm: no such file or directory: unknown\n",
    ),
    "nodes: ls": (
        "device-nodes-missing",
        """\
root@gpu-3:~# lsmod | grep nvidia
nvidia_uvm           1048576  0
nvidia              35282944  1 nvidia_uvm
root@gpu-3:~# ls -l /dev/nvidia*
ls: cannot access '/dev/nvidia*': No such file or directory
root@gpu-3:~# systemctl status nvidia-persistenced
Unit nvidia-persistenced.service could not be found.
""",
    ),
    "nodes: ctl only": (
        "device-nodes-missing",
        """\
$ ls -la /dev/nvidia*
crw-rw-rw- 1 root root 195, 255 Mar  3 09:22 /dev/nvidiactl
crw-rw-rw- 1 root root 509,   0 Mar  3 09:22 /dev/nvidia-uvm
crw-rw-rw- 1 root root 509,   1 Mar  3 09:22 /dev/nvidia-uvm-tools
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Tue Mar  5 22:42:15 UTC 2024
$ lspci | grep -i nvidia
3b:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)
""",
    ),
    "nodes: cdi": (
        "device-nodes-missing",
        "Error: container create failed: crun: cannot stat `/dev/nvidia0`: No such file or directory: OCI runtime attempted to invoke a command that was not found\n",
    ),
    "nodes: docker device": (
        "device-nodes-missing",
        'docker: Error response from daemon: error gathering device information while adding custom device "/dev/nvidia0": no such file or directory.\n',
    ),
    "nodes: all": (
        "",
        """\
$ ls -la /dev/nvidia*
crw-rw-rw- 1 root root 195,   0 Mar  3 09:22 /dev/nvidia0
crw-rw-rw- 1 root root 195, 255 Mar  3 09:22 /dev/nvidiactl
crw-rw-rw- 1 root root 195, 254 Mar  3 09:22 /dev/nvidia-modeset
crw-rw-rw- 1 root root 509,   0 Mar  3 09:22 /dev/nvidia-uvm
crw-rw-rw- 1 root root 509,   1 Mar  3 09:22 /dev/nvidia-uvm-tools
""",
    ),
    "image: ubuntu24 list": (
        "driver-image-not-found-for-os",
        """\
Events:
  Type     Reason     Age                   From               Message
  ----     ------     ----                  ----               -------
  Normal   Scheduled  12m                   default-scheduler  Successfully assigned gpu-operator/nvidia-driver-daemonset-7xk2p to worker-3
  Normal   Pulling    10m (x4 over 12m)     kubelet            Pulling image "nvcr.io/nvidia/driver:535.104.05-ubuntu24.04"
  Warning  Failed     10m (x4 over 12m)     kubelet            Failed to pull image "nvcr.io/nvidia/driver:535.104.05-ubuntu24.04": rpc error: code = NotFound desc = failed to pull and unpack image "nvcr.io/nvidia/driver:535.104.05-ubuntu24.04": failed to resolve reference "nvcr.io/nvidia/driver:535.104.05-ubuntu24.04": nvcr.io/nvidia/driver:535.104.05-ubuntu24.04: not found
  Warning  Failed     10m (x4 over 12m)     kubelet            Error: ErrImagePull
""",
    ),
    "image: crio rocky": (
        "driver-image-not-found-for-os",
        """\
Warning  Failed   2m  kubelet  Failed to pull image "nvcr.io/nvidia/driver:525.85.12-rocky8.7": rpc error: code = Unknown desc = reading manifest 525.85.12-rocky8.7 in nvcr.io/nvidia/driver: manifest unknown: manifest unknown
Warning  Failed   2m  kubelet  Error: ImagePullBackOff
""",
    ),
    "image: docker shim": (
        "driver-image-not-found-for-os",
        'Failed to pull image "nvcr.io/nvidia/driver:470.57.02-debian11": rpc error: code = Unknown desc = Error response from daemon: manifest for nvcr.io/nvidia/driver:470.57.02-debian11 not found: manifest unknown: manifest unknown\n',
    ),
    "image: precompiled": (
        "driver-image-not-found-for-os",
        """\
NAME                                             READY   STATUS             RESTARTS   AGE
nvidia-driver-daemonset-6.8.0-60-generic-xtr5q   0/1     ImagePullBackOff   0          8m
$ kubectl get events -n gpu-operator
8m   Warning  Failed  pod/nvidia-driver-daemonset-6.8.0-60-generic-xtr5q  Failed to pull image "nvcr.io/nvidia/driver:570-6.8.0-60-generic-ubuntu22.04": rpc error: code = NotFound desc = nvcr.io/nvidia/driver:570-6.8.0-60-generic-ubuntu22.04: not found
""",
    ),
    "image: backoff listing and desc": (
        "driver-image-not-found-for-os",
        """\
nvidia-driver-daemonset-ktz9v    0/1     ImagePullBackOff   0     5m
    State:          Waiting
      Reason:       ImagePullBackOff
    Image:         nvcr.io/nvidia/driver:550.90.07-sles15.6
  Warning  Failed   kubelet  Failed to pull image "nvcr.io/nvidia/driver:550.90.07-sles15.6": rpc error: code = NotFound desc = failed to pull and unpack image "nvcr.io/nvidia/driver:550.90.07-sles15.6": failed to resolve reference "nvcr.io/nvidia/driver:550.90.07-sles15.6": unexpected status from HEAD request to https://nvcr.io/v2/nvidia/driver/manifests/550.90.07-sles15.6: 404 Not Found
""",
    ),
    "image: timeout is not": (
        "image-pull-failed",
        '  Warning  Failed     10m   kubelet   Failed to pull image "nvcr.io/nvidia/driver:535.104.05-ubuntu22.04": rpc error: code = Unknown desc = failed to pull and unpack image "nvcr.io/nvidia/driver:535.104.05-ubuntu22.04": failed to resolve reference "nvcr.io/nvidia/driver:535.104.05-ubuntu22.04": failed to do request: Head "https://nvcr.io/v2/nvidia/driver/manifests/535.104.05-ubuntu22.04": dial tcp 192.0.2.80:443: i/o timeout\n',
    ),
    "mismatch: classic": (
        "driver-library-version-mismatch",
        """\
$ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.144
""",
    ),
    "mismatch: pod event": (
        "driver-library-version-mismatch",
        "  Warning  Failed  3s  kubelet  Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: could not apply required modification to OCI specification: error modifying OCI spec: failed to construct CDI spec for device 'all': failed to initialize NVML: Driver/library version mismatch: unknown\n",
    ),
    "mismatch: cli": (
        "driver-library-version-mismatch",
        "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown.\n",
    ),
    "mismatch: dmesg": (
        "driver-library-version-mismatch",
        """\
[ 8120.114] NVRM: API mismatch: the client has the version 535.171.04, but
            NVRM: this kernel module has the version 535.161.08.  Please
            NVRM: make sure that this kernel module and all NVIDIA driver
            NVRM: components have the same version.
""",
    ),
    "mismatch: plugin": (
        "driver-library-version-mismatch",
        """\
I0612 08:15:42.1  1 main.go:317] Retrieving plugins.
E0612 08:15:42.2  1 factory.go:68] Failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH.
E0612 08:15:42.2  1 factory.go:69] If this is a GPU node, did you set the docker default runtime to `nvidia`?
""",
    ),
    "mismatch: apt history": (
        "driver-library-version-mismatch",
        """\
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.07  Sat Feb 17 22:55:48 UTC 2024
$ dpkg -l | grep libnvidia-compute
ii  libnvidia-compute-535:amd64  535.171.04-0ubuntu0.22.04.1  amd64  NVIDIA libcompute package
$ tail /var/log/apt/history.log
Start-Date: 2024-04-25  06:33:10
Commandline: /usr/bin/unattended-upgrade
Upgrade: libnvidia-compute-535:amd64 (535.161.07-0ubuntu0.22.04.1, 535.171.04-0ubuntu0.22.04.1)
""",
    ),
    "mismatch: torch": (
        "driver-library-version-mismatch",
        """\
UserWarning: Can't initialize NVML
CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination
$ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
""",
    ),
    "mismatch: dcgm": (
        "driver-library-version-mismatch",
        'time="2024-07-01T10:00:00Z" level=fatal msg="Error initializing NVML: Driver/library version mismatch"\n',
    ),
    "mismatch: ollama": (
        "driver-library-version-mismatch",
        """\
time=2024-07-01T10:00:00Z level=INFO source=gpu.go:612 msg="Unable to load nvidia management library: nvml vram init failure: 18"
$ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
""",
    ),
    "noinst: gke": (
        "driver-not-installed",
        """\
kubectl -n kube-system logs nvidia-gpu-device-plugin-small-cos-xyz -c nvidia-driver-installer
GPU driver auto installation is disabled.
""",
    ),
    "noinst: node facts": (
        "?driver-not-installed",
        """\
[ec2-user@ip-10-0-0-5 ~]$ nvidia-smi
-bash: nvidia-smi: command not found
[ec2-user@ip-10-0-0-5 ~]$ lspci | grep -i nvidia
00:1e.0 3D controller: NVIDIA Corporation TU104GL [Tesla T4] (rev a1)
[ec2-user@ip-10-0-0-5 ~]$ lsmod | grep nvidia
[ec2-user@ip-10-0-0-5 ~]$ cat /etc/eks/release
BASE_AMI_ID="ami-0a1"
""",
    ),
    "noinst: toolkit says": (
        "driver-not-installed",
        "Warning  Failed  kubelet  Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory: unknown\n",
    ),
    "noinst: azure": (
        "driver-not-installed",
        """\
I0321 12:01:12.345  1 factory.go:107] Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file: No such file or directory
E0321 12:01:12.345  1 factory.go:115] Incompatible platform detected
E0321 12:01:12.345  1 factory.go:116] If this is a GPU node, did you configure the NVIDIA Container Toolkit?
---
root@aks-gpunp-1:/# nvidia-smi
bash: nvidia-smi: command not found
root@aks-gpunp-1:/# ls /dev/nvidia*
ls: cannot access '/dev/nvidia*': No such file or directory
root@aks-gpunp-1:/# lspci | grep -i nvidia
0001:00:00.0 3D controller: NVIDIA Corporation GV100GL [Tesla V100 PCIe 16GB] (rev a1)
""",
    ),
    "noinst: ubuntu hint": (
        "?driver-not-installed",
        """\
$ nvidia-smi
Command 'nvidia-smi' not found, but can be installed with:
sudo apt install nvidia-utils-470         # version 470.256.02-0ubuntu0.22.04.1, or
sudo apt install nvidia-utils-535         # version 535.183.01-0ubuntu0.22.04.1
$ lspci | grep -i nvidia
01:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 40GB] (rev a1)
""",
    ),
    "noinst: ctk cdi": (
        "driver-not-installed",
        """\
# nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml
INFO[0000] Auto-detected mode as 'nvml'
ERRO[0000] failed to generate CDI spec: failed to create device CDI specs: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND
# rpm -qa | grep -i nvidia-driver
# ls /proc/driver/nvidia
ls: cannot access '/proc/driver/nvidia': No such file or directory
""",
    ),
    "notready: pods": (
        "driver-not-ready",
        """\
NAME                                                          READY   STATUS             RESTARTS       AGE
gpu-feature-discovery-5tqnd                                   0/1     Init:0/1           0              41m
gpu-operator-7bbf8bb6b7-xz2qs                                 1/1     Running            0              42m
nvidia-container-toolkit-daemonset-8w4mz                      0/1     Init:0/1           0              41m
nvidia-dcgm-exporter-zlr9n                                    0/1     Init:0/1           0              41m
nvidia-device-plugin-daemonset-xs2x5                          0/1     Init:0/1           0              41m
nvidia-driver-daemonset-qv2mb                                 0/1     CrashLoopBackOff   9 (3m ago)     41m
nvidia-operator-validator-6bqhh                               0/1     Init:0/4           0              41m
""",
    ),
    "notready: toolkit log": (
        "driver-not-ready",
        """\
$ kubectl logs nvidia-container-toolkit-daemonset-8w4mz -c driver-validation
running command chroot with args [/run/nvidia/driver nvidia-smi]
chroot: failed to run command 'nvidia-smi': No such file or directory
command failed, retrying after 5 seconds
running command chroot with args [/run/nvidia/driver nvidia-smi]
chroot: failed to run command 'nvidia-smi': No such file or directory
command failed, retrying after 5 seconds
""",
    ),
    "notready: probe": (
        "driver-not-ready",
        """\
NAME                                       READY   STATUS     RESTARTS      AGE
nvidia-driver-daemonset-h2k9c              0/2     Init:CrashLoopBackOff    7 (2m ago)   30m
nvidia-container-toolkit-daemonset-hj22x   0/1     Init:0/1   0             30m
nvidia-device-plugin-daemonset-v8sgm       0/1     Init:0/1   0             30m
Events:
  Warning  Unhealthy  4m (x120 over 24m)  kubelet  Startup probe failed: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "notready: old resources ns": (
        "driver-not-ready",
        """\
gpu-operator-resources   nvidia-driver-daemonset-5lqqz              0/1     Error      12   1h
gpu-operator-resources   nvidia-container-toolkit-daemonset-gfcdn   0/1     Init:0/1   0    1h
gpu-operator-resources   nvidia-operator-validator-lskjf            0/1     Init:0/4   0    1h
""",
    ),
    "notready: ds numbers": (
        "driver-not-ready",
        """\
NAMESPACE      NAME                                 DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                      AGE
gpu-operator   gpu-feature-discovery                2         2         0       2            0           nvidia.com/gpu.deploy.gpu-feature-discovery=true   3h
gpu-operator   nvidia-container-toolkit-daemonset   2         2         0       2            0           nvidia.com/gpu.deploy.container-toolkit=true       3h
gpu-operator   nvidia-device-plugin-daemonset       2         2         0       2            0           nvidia.com/gpu.deploy.device-plugin=true           3h
gpu-operator   nvidia-driver-daemonset              2         2         0       2            0           nvidia.com/gpu.deploy.driver=true                  3h
""",
    ),
    "ready: young install": (
        "?driver-not-ready",
        """\
NAME                                       READY   STATUS     RESTARTS   AGE
nvidia-driver-daemonset-h2k9c              0/1     Running    0          90s
nvidia-container-toolkit-daemonset-hj22x   0/1     Init:0/1   0          90s
nvidia-device-plugin-daemonset-v8sgm       0/1     Init:0/1   0          90s
""",
    ),
    "repo: yum timeouts": (
        "driver-pod-no-package-repo-access",
        """\
Checking NVIDIA driver packages...
Updating the package cache...
Errors during downloading metadata for repository 'rhel-8-for-x86_64-baseos-rpms':
  - Curl error (28): Timeout was reached for https://cdn.redhat.com/content/dist/rhel8/8/x86_64/baseos/os/repodata/repomd.xml [Connection timed out after 30001 milliseconds]
Error: Failed to download metadata for repo 'rhel-8-for-x86_64-baseos-rpms': Cannot download repomd.xml: Cannot download repodata/repomd.xml: All mirrors were tried
""",
    ),
    "repo: dns": (
        "dns-resolution-failure",
        """\
Updating the package cache...
W: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Temporary failure resolving 'archive.ubuntu.com'
W: Failed to fetch http://security.ubuntu.com/ubuntu/dists/jammy-security/InRelease  Temporary failure resolving 'security.ubuntu.com'
W: Some index files failed to download. They have been ignored, or old ones used instead.
Resolving Linux kernel version...
Could not resolve Linux kernel version
""",
    ),
    "repo: centos7": (
        "driver-pod-no-package-repo-access",
        """\
Could not retrieve mirrorlist http://mirrorlist.centos.org/?release=7&arch=x86_64&repo=os&infra=container error was
12: Timeout on http://mirrorlist.centos.org/?release=7&arch=x86_64&repo=os&infra=container: (28, 'Connection timed out after 30002 milliseconds')
 One of the configured repositories failed (Unknown),
Cannot find a valid baseurl for repo: base/7/x86_64
""",
    ),
    "repo: zypper": (
        "driver-pod-no-package-repo-access",
        """\
Refreshing service 'container-suseconnect-zypp'.
Problem retrieving the repository index file for service 'container-suseconnect-zypp':
Timeout exceeded when accessing 'https://updates.suse.com/SUSE/Products/SLE-Module-Basesystem/15-SP4/x86_64/product/repodata/repomd.xml?token'.
""",
    ),
    "repo: proxy": (
        "driver-pod-no-package-repo-access",
        """\
========== NVIDIA Software Installer ==========
Starting installation of NVIDIA driver branch 550 for Linux kernel version 5.15.0-105-generic
Err:1 http://archive.ubuntu.com/ubuntu jammy InRelease
  403  Forbidden [IP: 10.0.0.9 3128]
E: The repository 'http://archive.ubuntu.com/ubuntu jammy InRelease' is no longer signed.
E: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  403  Forbidden [IP: 10.0.0.9 3128]
""",
    ),
    "repo: fine": (
        "",
        """\
Updating the package cache...
Resolving Linux kernel version...
Proceeding with Linux kernel version 5.15.0-105-generic
Installing Linux kernel headers...
Installing Linux kernel module files...
Generating Linux kernel version string...
Compiling NVIDIA driver kernel modules...
/usr/src/nvidia-550.90.07/kernel/nvidia/nv-pci.c:200:1: warning: the frame size of 1040 bytes is larger than 1024 bytes [-Wframe-larger-than=]
Relinking NVIDIA driver kernel modules...
Done
Loading ipmi and i2c_core kernel modules...
Loading NVIDIA driver kernel modules...
Starting NVIDIA persistence daemon...
Mounting NVIDIA driver rootfs...
Done, now waiting for signal
""",
    ),
    "root: toolkit cdi": (
        "driver-root-mismatch",
        (
            'time="2025-02-02T10:00:00Z" level=info msg="Generating CDI spec for management containers"\n'
            'time="2025-02-02T10:00:00Z" level=error msg="error running nvidia-toolkit: unable to setup runtime: failed to generate CDI spec: failed to create device nodes: failed to get driver version: failed to locate libcuda.so: pattern libcuda.so.*.* not found\\nunder driver root /run/nvidia/driver"\n'
            "$ nvidia-smi --query-gpu=driver_version --format=csv\n"
            "driver_version\n"
            "550.90.07\n"
        ),
    ),
    "root: plugin nvidia-smi on host works": (
        "driver-root-mismatch",
        """\
$ nvidia-smi -L
GPU 0: NVIDIA L4 (UUID: GPU-2c1f9a30-6a20-4a0e-8d3e-0f6b8f8b6c11)
$ kubectl logs -n gpu-operator nvidia-container-toolkit-daemonset-x -c driver-validation
Error: error validating driver installation: failed to locate driver libraries: pattern libnvidia-ml.so.1 not found
""",
    ),
    "root: dra": (
        "driver-root-mismatch",
        """\
Check failed. Has the NVIDIA GPU driver been set up? It is expected to be installed under NVIDIA_DRIVER_ROOT (currently set to '/run/nvidia/driver') in the host filesystem. If that path appears to be unexpected: review the DRA driver's 'nvidiaDriverRoot' Helm chart variable.
nvidia-smi: '', libnvidia-ml.so.1: '', current contents: [].
Hint: Directory /run/nvidia/driver on the host is empty
Hint: '/usr/bin/nvidia-smi' was found on the host; you may want to re-install the DRA driver Helm chart with --set nvidiaDriverRoot=/
""",
    ),
    "upgrade: labels": (
        "driver-upgrade-stuck",
        """\
$ kubectl get nodes -L nvidia.com/gpu-driver-upgrade-state
NAME      STATUS                     ROLES    AGE   VERSION   GPU-DRIVER-UPGRADE-STATE
gpu-01    Ready                      <none>   90d   v1.28.6   upgrade-done
gpu-02    Ready,SchedulingDisabled   <none>   90d   v1.28.6   upgrade-failed
""",
    ),
    "upgrade: paused": (
        "driver-upgrade-stuck",
        """\
Name:               gpu-02
Labels:             nvidia.com/gpu.deploy.container-toolkit=paused-for-driver-upgrade
                    nvidia.com/gpu.deploy.device-plugin=paused-for-driver-upgrade
                    nvidia.com/gpu.deploy.driver=true
                    nvidia.com/gpu-driver-upgrade-state=pod-restart-required
Taints:             node.kubernetes.io/unschedulable:NoSchedule
""",
    ),
    "upgrade: operator log": (
        "driver-upgrade-stuck",
        (
            '{"level":"info","ts":1707912345.1,"logger":"controllers.Upgrade","msg":"Node waiting for drain","node":"gpu-02","state":"drain-required"}\n'
            '{"level":"error","ts":1707912645.2,"logger":"controllers.Upgrade","msg":"Failed to drain node","node":"gpu-02","error":"error when waiting for pod \\"train-0\\" terminating: global timeout reached: 5m0s"}\n'
            '{"level":"info","ts":1707912645.3,"logger":"controllers.Upgrade","msg":"Changing node upgrade state label","node":"gpu-02","new state":"upgrade-failed"}\n'
        ),
    ),
    "upgrade: totals": (
        "driver-upgrade-stuck",
        """\
2024-02-14T12:05:45Z INFO controllers.Upgrade Upgrades in progress {"currently in progress": 1, "max parallel upgrades": 1, "upgrade slots available": 0, "currently unavailable nodes": 1, "total number of nodes": 8, "maximum nodes that can be unavailable": 2}
2024-02-14T12:05:45Z INFO controllers.Upgrade Driver pod on the node failed {"pod": "nvidia-driver-daemonset-9k2wz", "node": "gpu-02"}
2024-02-14T12:05:45Z INFO controllers.Upgrade Successfully changed node upgrade state label {"node": "gpu-02", "new state": "upgrade-failed"}
""",
    ),
    "upgrade: node labels json": (
        "driver-upgrade-stuck",
        """\
$ kubectl get node gpu-02 -o json | jq .metadata.labels
{
  "kubernetes.io/hostname": "gpu-02",
  "nvidia.com/gpu-driver-upgrade-state": "upgrade-failed",
  "nvidia.com/gpu.deploy.driver": "true"
}
""",
    ),
    "upgrade: done": (
        "",
        """\
NAME      STATUS   ROLES    AGE   VERSION   GPU-DRIVER-UPGRADE-STATE
gpu-01    Ready    <none>   90d   v1.28.6   upgrade-done
gpu-02    Ready    <none>   90d   v1.28.6   upgrade-done
""",
    ),
    "init: rm 470": (
        "gpu-not-initialised",
        """\
[   12.345678] nvidia 0000:06:00.0: enabling device (0000 -> 0003)
[   12.567] NVRM: GPU 0000:06:00.0: RmInitAdapter failed! (0x25:0xffff:1480)
[   12.568] NVRM: GPU 0000:06:00.0: rm_init_adapter failed, device minor number 0
$ nvidia-smi
No devices were found
""",
    ),
    "init: vfio vm gfw": (
        "gpu-not-initialised",
        """\
NVRM: gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progress 0x3)
NVRM: kgspWaitForGfwBootOk_TU102: failed to wait for GFW boot complete: 0x65 VBIOS version 94.02.11.00.02
NVRM: RmInitAdapter: Cannot initialize GSP firmware RM
NVRM: GPU 0000:8a:00.0: RmInitAdapter failed! (0x62:0x65:1801)
""",
    ),
    "init: only smi": (
        "gpu-not-initialised",
        """\
$ lspci | grep -i nvidia
00:05.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)
$ lsmod | grep nvidia
nvidia_uvm           1540096  0
nvidia              56512512  1 nvidia_uvm
$ nvidia-smi
No devices were found
""",
    ),
    "init: persistenced": (
        "gpu-not-initialised",
        """\
Jan 01 00:00:10 gpu-9 nvidia-persistenced[1201]: Failed to open /dev/nvidia0: Input/output error
Jan 01 00:00:10 gpu-9 nvidia-persistenced[1201]: device 0000:06:00.0 - failed to open.
Jan 01 00:00:10 gpu-9 kernel: NVRM: GPU 0000:06:00.0: RmInitAdapter failed! (0x23:0x65:1438)
""",
    ),
    "gpup: toolkit": (
        "gpu-p-guest-driver-missing",
        "Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: could not apply required modification to OCI specification: error modifying OCI spec: failed to construct CDI spec for device 'all': failed to discover driver: failed to get driver store paths: no driver store paths found: unknown\n",
    ),
    "gpup: cdi generate": (
        "gpu-p-guest-driver-missing",
        """\
$ nvidia-ctk cdi generate
INFO[0000] Auto-detected mode as "wsl"
ERRO[0000] failed to generate CDI spec: failed to create edits common for entities: failed to create discoverer for WSL driver: failed to get driver store paths: no driver store paths found
""",
    ),
    "gpup: no dxg": (
        "gpu-p-guest-driver-missing",
        """\
$ lspci
5582:00:00.0 3D controller: Microsoft Corporation Basic Render Driver
$ ls -l /dev/dxg
ls: cannot access '/dev/dxg': No such file or directory
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "gsp: xid119 smi": (
        "gsp-rpc-timeout",
        """\
[Tue Sep 10 01:02:03 2024] NVRM: Xid (PCI:0000:8a:00): 119, pid=20817, name=nvidia-smi, Timeout waiting for RPC from GSP! Expected function 103 (GSP_RM_ALLOC) (0x80 0x38).
[Tue Sep 10 01:02:48 2024] NVRM: Xid (PCI:0000:8a:00): 119, pid=20817, name=nvidia-smi, Timeout waiting for RPC from GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800110 0x84).
INFO: task nv_queue:3211 blocked for more than 120 seconds.
""",
    ),
    "gsp: 570 words": (
        "gsp-rpc-timeout",
        """\
NVRM: GPU2 _kgspLogXid119: ********************************* GSP Timeout **********************************
NVRM: GPU2 _kgspLogXid119: Note: Please also check logs above.
NVRM: GPU at PCI:0000:4e:00: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90
NVRM: Xid (PCI:0000:4e:00): 119, pid=77123, name=python3, Timeout after 6s of waiting for RPC response from GPU2 GSP! Expected function 76 (GSP_RM_CONTROL) sequence 1221 (0x20800a4c 0x4).
""",
    ),
    "gsp: rm control status": (
        "gsp-rpc-timeout",
        """\
NVRM: rpcRmApiControl_GSP: GspRmControl failed: hClient=0xc1d00001; hObject=0xcaf00001; cmd=0x2080014b; paramsSize=0x00000005; paramsStatus=0x00000065; status=0x00000065
NVRM: GspRmControl failed: status=0x65
""",
    ),
    "gsp: system not ready": (
        "gsp-rpc-timeout",
        """\
$ nvidia-smi
Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error
$ dmesg | tail
NVRM: _kgspIsHeartbeatTimedOut: GSP heartbeat timed out
NVRM: Xid (PCI:0000:3b:00): 119, Timeout waiting for RPC from GSP1! Expected function 4097 (GSP_INIT_DONE) (0x0 0x0).
""",
    ),
    "gsp: unknown error host q": (
        "gsp-rpc-timeout",
        """\
Driver Version                            : 535.54.03
CUDA Version                              : 12.2
Attached GPUs                             : 1
GPU 00000000:00:1E.0
    Product Name                          : NVIDIA A10G
    Display Mode                          : Unknown Error
    ECC Mode
        Current                           : Unknown Error
        Pending                           : Unknown Error
    Temperature
        GPU Current Temp                  : Unknown Error
""",
    ),
    "inuse: manager new": (
        "host-driver-in-use",
        """\
2025-08-10T10:00:00Z INFO k8s-driver-manager Unloading NVIDIA driver kernel modules...
nvidia_modeset       1306624  3
nvidia              56717312  212 nvidia_uvm,nvidia_modeset
drm                   622592  7 drm_kms_helper,nvidia
Could not unload NVIDIA driver kernel modules, driver is in use
Unable to cleanup driver modules, attempting again with node drain...
Draining node gpu-02...
""",
    ),
    "inuse: installer": (
        "host-driver-in-use",
        """\
Stopping NVIDIA persistence daemon...
Unloading NVIDIA driver kernel modules...
rmmod: ERROR: Module nvidia_modeset is in use
rmmod: ERROR: Module nvidia is in use by: nvidia_modeset
Could not unload NVIDIA driver kernel modules, driver is in use
Stopping NVIDIA persistence daemon...
""",
    ),
    "inuse: run installer": (
        "host-driver-in-use",
        "ERROR: An NVIDIA kernel module 'nvidia-drm' appears to already be loaded in your kernel.  This may be because it is in use (for example, by an X server, a CUDA program, or the NVIDIA Persistence Daemon), but this may also happen if your kernel was configured without support for module unloading.  Please be sure to exit any programs that may be using the GPU(s) before attempting to upgrade your driver.\n",
    ),
    "inuse: refcount": (
        "host-driver-in-use",
        """\
nvidia driver module is already loaded with refcount 87
Uninstalling NVIDIA driver components failed
failed to uninstall nvidia driver components: module in use
""",
    ),
    "pre: manager": (
        "host-driver-preinstalled",
        """\
NVIDIA GPU driver is already pre-installed on the node, will not proceed with driver container installation
labeling node with nvidia.com/gpu.deploy.driver=pre-installed
""",
    ),
    "pre: new": (
        "host-driver-preinstalled",
        """\
2025-08-10T10:00:00Z ERROR k8s-driver-manager NVIDIA GPU driver is already pre-installed on the node, will not proceed with containerized driver install
pod/nvidia-driver-daemonset-abcde   0/1   Init:CrashLoopBackOff   5   6m
""",
    ),
    "hdr: ubuntu": (
        "kernel-headers-missing",
        """\
Updating the package cache...
Resolving Linux kernel version...
Could not resolve Linux kernel version
Stopping NVIDIA persistence daemon...
Unloading NVIDIA driver kernel modules...
Unmounting NVIDIA driver rootfs...
""",
    ),
    "hdr: apt": (
        "kernel-headers-missing",
        """\
Installing Linux kernel headers...
+ apt-get -qq install --no-install-recommends linux-headers-6.5.0-1018-aws
E: Unable to locate package linux-headers-6.5.0-1018-aws
E: Couldn't find any package by glob 'linux-headers-6.5.0-1018-aws'
""",
    ),
    "hdr: dnf": (
        "kernel-headers-missing",
        """\
+ dnf -q -y --releasever=9.2 install kernel-headers-5.14.0-284.30.1.el9_2.x86_64 kernel-devel-5.14.0-284.30.1.el9_2.x86_64
No match for argument: kernel-headers-5.14.0-284.30.1.el9_2.x86_64
No match for argument: kernel-devel-5.14.0-284.30.1.el9_2.x86_64
Error: Unable to find a match: kernel-headers-5.14.0-284.30.1.el9_2.x86_64 kernel-devel-5.14.0-284.30.1.el9_2.x86_64
""",
    ),
    "hdr: entitlement": (
        "kernel-headers-missing",
        "FATAL: failed to install elfutils packages. RHEL entitlement may be improperly deployed.\n",
    ),
    "hdr: dkms": (
        "kernel-headers-missing",
        """\
Error! Your kernel headers for kernel 5.15.0-97-generic cannot be found at /lib/modules/5.15.0-97-generic/build or /lib/modules/5.15.0-97-generic/source.
Please install the linux-headers-5.15.0-97-generic package or use the --kernelsourcedir option to tell DKMS where it's located.
""",
    ),
    "hdr: installer": (
        "kernel-headers-missing",
        """\
ERROR: Unable to find the kernel source tree for the currently running kernel.  Please make sure you have installed the kernel source files for your kernel and that they are properly configured; on Red Hat Linux systems, for example, be sure you have the 'kernel-source' or 'kernel-devel' RPM installed.
ERROR: Installation has failed.  Please see the file '/var/log/nvidia-installer.log' for details.
""",
    ),
    "hdr: flatcar/cos": (
        "kernel-headers-missing",
        """\
Resolving Linux kernel version...
Proceeding with Linux kernel version 5.10.0-28-amd64
Installing Linux kernel headers...
E: Package 'linux-headers-5.10.0-28-amd64' has no installation candidate
""",
    ),
    "hdr: vmlinux": (
        "kernel-headers-missing",
        """\
Installing Linux kernel module files...
Generating Linux kernel version string...
Could not locate Linux kernel version string
""",
    ),
    "hdr: sles": (
        "kernel-headers-missing",
        """\
Installing Linux kernel headers...
No provider of 'kernel-default-devel=5.14.21-150500.55.19' found.
""",
    ),
    "mofed: init": (
        "mofed-driver-not-ready",
        """\
$ kubectl logs nvidia-driver-daemonset-2m9w8 -c mofed-validation
time="2024-05-05T10:00:00Z" level=info msg="waiting for MOFED to be installed"
time="2024-05-05T10:00:05Z" level=info msg="waiting for MOFED to be installed"
""",
    ),
    "mofed: stat": (
        "mofed-driver-not-ready",
        """\
waiting for mofed driver to be installed
ls: cannot access '/run/mellanox/drivers/.driver-ready': No such file or directory
""",
    ),
    "mofed: listing": (
        "mofed-driver-not-ready",
        """\
NAMESPACE                NAME                                       READY   STATUS                  RESTARTS       AGE
network-operator         mofed-ubuntu22.04-ds-7bz2k                 0/1     CrashLoopBackOff        11 (2m ago)    40m
gpu-operator             nvidia-driver-daemonset-wxk4t              0/2     Init:0/1                0              39m
gpu-operator             nvidia-container-toolkit-daemonset-9cs2r   0/1     Init:0/1                0              39m
$ kubectl logs -n gpu-operator nvidia-driver-daemonset-wxk4t -c mofed-validation
Waiting for MOFED to be installed...
""",
    ),
    "mofed: peermem ctr": (
        "mofed-driver-not-ready",
        """\
$ kubectl logs nvidia-driver-daemonset-wxk4t -c nvidia-peermem-ctr
waiting for mellanox ofed and nvidia drivers to be installed
waiting for mellanox ofed and nvidia drivers to be installed
""",
    ),
    "mofed: resolved": (
        "",
        """\
waiting for MOFED to be installed
waiting for MOFED to be installed
MOFED driver is ready
Done, now waiting for signal
""",
    ),
    "nouv: dmesg": (
        "nouveau-conflict",
        """\
NVRM: The NVIDIA probe routine was not called for 4 device(s).
NVRM: This can occur when a driver such as:
NVRM: nouveau, rivafb, nvidiafb or rivatv
NVRM: was loaded and obtained ownership of the NVIDIA device(s).
NVRM: No NVIDIA graphics adapter probed!
""",
    ),
    "nouv: lsmod": (
        "nouveau-conflict",
        """\
$ lsmod | grep -e nouveau -e nvidia
nouveau              2306048  0
mxm_wmi                16384  1 nouveau
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "nouv: lspci": (
        "nouveau-conflict",
        """\
3b:00.0 3D controller [0302]: NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB] [10de:1db6] (rev a1)
	Subsystem: NVIDIA Corporation GV100GL [Tesla V100 PCIe 32GB] [10de:124a]
	Kernel driver in use: nouveau
	Kernel modules: nouveau, nvidia_drm, nvidia
""",
    ),
    "nouv: installer": (
        "nouveau-conflict",
        "ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver, and must be disabled before proceeding.  Please consult the NVIDIA driver README and your Linux distribution's documentation for details on how to correctly disable the Nouveau kernel driver.\n",
    ),
    "nouv: driver ctr": (
        "nouveau-conflict",
        """\
Loading NVIDIA driver kernel modules...
+ modprobe nvidia
modprobe: ERROR: could not insert 'nvidia': No such device
[  101.2] NVRM: GPU 0000:3b:00.0 is already bound to nouveau.
""",
    ),
    "nouv: manager unload": (
        "nouveau-conflict",
        """\
Unloading nouveau driver...
rmmod: ERROR: Module nouveau is in use
Failed to unload nouveau driver
""",
    ),
    "nouv: NovaCore": (
        "nouveau-conflict",
        """\
NVRM: GPU 0000:01:00.0 is already bound to NovaCore.
NVRM: The NVIDIA probe routine was not called for 1 device(s).
""",
    ),
    "dtk: 1": (
        "ocp-driver-toolkit-missing",
        "1.66e9\tINFO\tcontrollers.ClusterPolicy\tWARNING: OpenShift DriverToolkit was requested but could not be enabled (dependencies missing)\n",
    ),
    "dtk: rhcos missing": (
        "ocp-driver-toolkit-missing",
        '2024-03-01T10:00:00.000Z\tINFO\tcontrollers.ClusterPolicy\tWARNING: DriverToolkit image tag missing. Version-specific fall-back mode enabled.\t{"rhcosVersion": "412.86.202302170236-0"}\n',
    ),
    "dtk: pod": (
        "ocp-driver-toolkit-missing",
        """\
$ oc logs nvidia-driver-daemonset-410.84.202203290245-0-rtztx -c openshift-driver-toolkit-ctr
Error from server (BadRequest): container "openshift-driver-toolkit-ctr" in pod "nvidia-driver-daemonset-410.84.202203290245-0-rtztx" is waiting to start: trying and failing to pull image
$ oc get is/driver-toolkit -n openshift
Error from server (NotFound): imagestreams.image.openshift.io "driver-toolkit" not found
""",
    ),
    "dtk: metrics": (
        "ocp-driver-toolkit-missing",
        """\
# oc get imagestream -n openshift driver-toolkit
NAME             IMAGE REPOSITORY                                                                  TAGS    UPDATED
2024-03-01T10:00:00.000Z ERROR controllers.ClusterPolicy ocpHasDriverToolkitImageStream: driver-toolkit imagestream is broken, see RHBZ#2015024 {"tag": "49.84.202110081407-0"}
""",
    ),
    "open: dmesg": (
        "open-kernel-module-required",
        """\
NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2bb1)
NVRM: installed in this system requires use of the NVIDIA open kernel modules.
NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:884)
NVRM: GPU 0000:01:00.0: rm_init_adapter failed, device minor number 0
""",
    ),
    "open: installer": (
        "open-kernel-module-required",
        """\
Feb 3 10:00:00 host kernel: nvidia: loading out-of-tree module taints kernel.
Feb 3 10:00:00 host kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.86.15  Fri Jan 24 00:00:00 UTC 2025
Feb 3 10:00:01 host kernel: NVRM: installed in this system requires use of the NVIDIA open kernel modules.
$ nvidia-smi
No devices were found
""",
    ),
    "open: eks": (
        "open-kernel-module-required",
        """\
Mar 01 00:00:01 node-1 kernel: NVRM: installed in this system requires use of the NVIDIA open kernel modules.
Mar 01 00:00:01 node-1 kernel: nvidia: probe of 0000:31:00.0 failed with error -1
Mar 01 00:00:01 node-1 kernel: NVRM: The NVIDIA probe routine failed for 8 device(s).
Mar 01 00:00:01 node-1 kernel: NVRM: None of the NVIDIA devices were initialized.
""",
    ),
    "bar: bar1": (
        "pci-bar-not-assigned",
        """\
NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
NVRM: BAR1 is 0M @ 0x0 (PCI:0000:06:00.0)
nvidia: probe of 0000:06:00.0 failed with error -1
NVRM: The NVIDIA probe routine failed for 1 device(s).
""",
    ),
    "bar: bar0 only": (
        "pci-bar-not-assigned",
        """\
nvidia 0000:00:06.0: BAR 0: can't reserve [mem 0x00000000-0x00ffffff]
NVRM: BAR0 is 0M @ 0x0 (PCI:0000:00:06.0)
NVRM: The system BIOS may have misconfigured your GPU.
""",
    ),
    "bar: 6.x kernel": (
        "pci-bar-not-assigned",
        """\
pci 0000:07:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: can't assign; no space
pci 0000:07:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: failed to assign
nvidia 0000:07:00.0: probe with driver nvidia failed with error -1
NVRM: None of the NVIDIA devices were initialized.
""",
    ),
    "bar: lspci": (
        "pci-bar-not-assigned",
        """\
06:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)
	Region 0: Memory at c0000000 (32-bit, non-prefetchable) [size=16M]
	Region 1: Memory at <unassigned> (64-bit, prefetchable)
	Region 3: Memory at <unassigned> (64-bit, prefetchable)
	Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia
""",
    ),
    "bar: ignored on slot": (
        "",
        """\
pci 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]
pci 0000:00:1c.0: BAR 13: failed to assign [io  size 0x1000]
pci 0000:00:1c.0: PCI bridge to [bus 02]
""",
    ),
    "sb: modprobe": (
        "secure-boot-unsigned-module",
        """\
$ sudo modprobe nvidia
modprobe: ERROR: could not insert 'nvidia': Key was rejected by service
$ mokutil --sb-state
SecureBoot enabled
""",
    ),
    "sb: required key": (
        "secure-boot-unsigned-module",
        "modprobe: ERROR: could not insert 'nvidia': Required key not available\n",
    ),
    "sb: lockdown": (
        "secure-boot-unsigned-module",
        "Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7\n",
    ),
    "sb: installer": (
        "secure-boot-unsigned-module",
        """\
-> Kernel messages:
[  512.771] Loading of unsigned module is rejected
ERROR: The kernel module failed to load. Secure boot is enabled on this system, so this is likely because it was not signed by a key that is trusted by the kernel. Please try installing the driver again, and sign the kernel module when prompted to do so.
ERROR: Unable to load the kernel module 'nvidia.ko'.
""",
    ),
    "sb: perm": (
        "secure-boot-unsigned-module",
        """\
Loading NVIDIA driver kernel modules...
+ modprobe nvidia
modprobe: ERROR: could not insert 'nvidia': Operation not permitted
""",
    ),
    "sb: pkcs": (
        "secure-boot-unsigned-module",
        """\
PKCS#7 signature not signed with a trusted key
NVRM: No NVIDIA GPU found.
""",
    ),
    "sb: taints only": (
        "",
        """\
nvidia: loading out-of-tree module taints kernel.
nvidia: module license 'NVIDIA' taints kernel.
Disabling lock debugging due to kernel taint
nvidia: module verification failed: signature and/or required key missing - tainting kernel
NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024
""",
    ),
    "plat: mps jetson": (
        "unsupported-platform",
        "E0101 10:00:00.1 1 main.go:132] error starting plugins: error creating plugin manager: unable to create plugins: MPS sharing is not supported on Tegra-based systems\n",
    ),
    "plat: wsl minor": (
        "unsupported-platform",
        "E0101 main.go:123] error starting plugins: error getting plugins: failed to construct NVML resource managers: error building device map: error building device map from config.resources: error building GPU device map: error getting device paths: error getting GPU device minor number: Not Supported\n",
    ),
    "vgpu: dmesg": (
        "vgpu-guest-driver-required",
        """\
NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:20f1)
NVRM: installed in this system is not supported by the
NVRM: NVIDIA 535.104.05 driver release.
NVRM: Please see 'Appendix A - Supported NVIDIA GPU Products' in this release's README
$ lspci -nn
02:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA100 [GRID A100-10C] [10de:20f1] (rev a1)
""",
    ),
    "vgpu: util": (
        "vgpu-guest-driver-required",
        """\
cannot find match for compatible vgpu driver from available list, please check /var/log/vgpu-util.log for more details...
Failed to find compatible vGPU driver, host driver branch r535
""",
    ),
    "sb systemd-modules": (
        "secure-boot-unsigned-module",
        "May 02 10:00:00 n1 systemd-modules-load[512]: Failed to insert module 'nvidia': Operation not permitted\n",
    ),
    "sb insmod": (
        "secure-boot-unsigned-module",
        """\
insmod: ERROR: could not insert module /lib/modules/6.1/extra/nvidia.ko: Operation not permitted
SecureBoot enabled
""",
    ),
    "sb talos": (
        "secure-boot-unsigned-module",
        """\
user: warning: [2024-05-01T10:00:00Z]: Loading of module with unavailable key is rejected
talosctl: error loading module nvidia: load nvidia failed: key was rejected by service
""",
    ),
    "sb akmods": (
        "secure-boot-unsigned-module",
        "modprobe: ERROR: could not insert 'nvidia_drm': Key was rejected by service\n",
    ),
    "persistenced no files": (
        "?device-nodes-missing",
        "nvidia-persistenced[812]: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, and that user 0 has read and write permissions for those files.\n",
    ),
    "ptxas version": (
        "cuda-driver-too-old",
        """\
numba.cuda.cudadrv.driver.LinkerError: [222] Call to cuLinkAddData results in UNKNOWN_CUDA_ERROR
ptxas application ptx input, line 9; fatal   : Unsupported .version 7.8; current version is '7.4'
""",
    ),
    "onnx 35": (
        "?cuda-driver-too-old",
        "onnxruntime::CudaCall CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=0 ; hostname=n1\n",
    ),
    "describe pod driver": (
        "driver-not-ready",
        """\
Name:             nvidia-driver-daemonset-2xk8f
Namespace:        gpu-operator
Node:             gpu-2/10.0.0.12
Status:           Running
Containers:
  nvidia-driver-ctr:
    Image:          nvcr.io/nvidia/driver:550.90.07-ubuntu22.04
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       Error
      Exit Code:    1
    Ready:          False
    Restart Count:  14
Events:
  Type     Reason     Age                  From     Message
  Warning  BackOff    2m (x30 over 40m)    kubelet  Back-off restarting failed container nvidia-driver-ctr in pod nvidia-driver-daemonset-2xk8f_gpu-operator(1b2c)
""",
    ),
    "upgrade event": (
        "driver-upgrade-stuck",
        """\
Events:
  Type     Reason            Age    From              Message
  ----     ------            ----   ----              -------
  Normal   GPUDriverUpgrade  40m    nvidia-gpu-operator  Successfully updated node state label to [drain-required]
  Warning  GPUDriverUpgrade  30m    nvidia-gpu-operator  Failed to drain node, error when evicting pods/"train-0" -n "ml": global timeout reached: 5m0s
  Normal   GPUDriverUpgrade  30m    nvidia-gpu-operator  Successfully updated node state label to [upgrade-failed]
""",
    ),
    "upgrade cordon": (
        "driver-upgrade-stuck",
        """\
$ kubectl get node gpu-2 --show-labels
NAME    STATUS                     ROLES    AGE   VERSION   LABELS
gpu-2   Ready,SchedulingDisabled   <none>   90d   v1.28.6   kubernetes.io/hostname=gpu-2,nvidia.com/gpu-driver-upgrade-state=upgrade-failed,nvidia.com/gpu.present=true
""",
    ),
    "dkms skipped": (
        "kernel-headers-missing",
        """\
Building for 5.15.0-97-generic
Module build for kernel 5.15.0-97-generic was skipped since the
kernel headers for this kernel does not seem to be installed.
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "rhel sub": (
        "kernel-headers-missing",
        "Error: Unable to find a match: kernel-headers-4.18.0-372.9.1.el8.x86_64 kernel-devel-4.18.0-372.9.1.el8.x86_64\n",
    ),
    "driver image ocp": (
        "driver-image-not-found-for-os",
        'Failed to pull image "nvcr.io/nvidia/driver:535.104.05-rhcos4.17": initializing source docker://nvcr.io/nvidia/driver:535.104.05-rhcos4.17: reading manifest 535.104.05-rhcos4.17 in nvcr.io/nvidia/driver: manifest unknown\n',
    ),
    "bar hyperv": (
        "pci-bar-not-assigned",
        "hv_pci 1a2b: Need 0x4000000000 of high MMIO space. Consider reconfiguring the VM.\n",
    ),
    "bar esx": (
        "pci-bar-not-assigned",
        """\
NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
NVRM: BAR1 is 131072M @ 0x0 (PCI:0000:03:00.0)
NVRM: The system BIOS may have misconfigured your GPU.
""",
    ),
    "nouveau fb dmesg": (
        "nouveau-conflict",
        """\
[    4.1] nouveau 0000:3b:00.0: vgaarb: deactivate vga console
[    4.2] nouveau 0000:3b:00.0: NVIDIA GV100 (140000a1)
[    4.9] nouveau 0000:3b:00.0: DRM: VRAM: 32768 MiB
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
""",
    ),
    "probe routine new": (
        "nouveau-conflict",
        """\
NVRM: GPU 0000:01:00.0 is already bound to nouveau.
NVRM: The NVIDIA probe routine was not called for 1 device(s).
NVRM: This can occur when another driver was loaded and obtained ownership of the NVIDIA device(s).
modprobe: ERROR: could not insert 'nvidia': No such device
""",
    ),
    "mismatch ecs": (
        "driver-library-version-mismatch",
        'time="2024" level=error msg="failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #1: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as \'legacy\'\\nnvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown"\n',
    ),
    "mismatch nvml py": (
        "driver-library-version-mismatch",
        "pynvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.\n",
    ),
    "mismatch cuda": (
        "driver-library-version-mismatch",
        """\
NVRM: API mismatch: the client 'cuda-EvtHandlr' (pid 1201)
NVRM: has the version 550.90.12, but this kernel module has
NVRM: the version 550.54.15.
""",
    ),
    "mismatch exporter": (
        "driver-library-version-mismatch",
        'level=error msg="Failed to collect metrics; err: Error getting devices: Driver/library version mismatch"\n',
    ),
    "q manager unload": (
        "",
        """\
nvidia driver module is already loaded with refcount 0
Unloading NVIDIA driver kernel modules...
Successfully uninstalled nvidia driver components
Unmounting NVIDIA driver rootfs...
""",
    ),
    "q upgrade ok": (
        "",
        """\
INFO controllers.Upgrade Node state {"node": "gpu-2", "state": "validation-required"}
INFO controllers.Upgrade Successfully changed node upgrade state label {"node": "gpu-2", "new state": "upgrade-done"}
""",
    ),
    "cdi warnings": (
        "",
        """\
INFO[0000] Selecting /dev/nvidia0 as /dev/nvidia0
WARN[0000] Could not locate /dev/nvidia-modeset: pattern /dev/nvidia-modeset not found
WARN[0000] Could not locate /dev/nvidia-nvswitchctl: pattern /dev/nvidia-nvswitchctl not found
INFO[0000] Generated CDI spec with version 0.8.0
""",
    ),
    "same package": (
        "",
        """\
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.171.04  Tue Mar 19 20:30:00 UTC 2024
$ dpkg -l | grep libnvidia-compute
ii  libnvidia-compute-535:amd64  535.171.04-0ubuntu0.22.04.1  amd64  NVIDIA libcompute package
""",
    ),
    "upgrade walks": (
        "",
        """\
10m Normal GPUDriverUpgrade node/gpu-1 Successfully updated node state label to [upgrade-required]
9m Normal GPUDriverUpgrade node/gpu-1 Successfully updated node state label to [cordon-required]
9m Normal GPUDriverUpgrade node/gpu-1 Successfully updated node state label to [drain-required]
5m Normal GPUDriverUpgrade node/gpu-1 Successfully updated node state label to [upgrade-done]
""",
    ),
    "metrics fine": (
        "",
        """\
DCGM_FI_DEV_ROW_REMAP_PENDING{gpu="3",UUID="GPU-8f1c2a44",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-2"} 0
DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3",UUID="GPU-8f1c2a44",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-2"} 0
""",
    ),
    "fetch retried": (
        "",
        """\
Err:3 http://archive.ubuntu.com/ubuntu jammy InRelease
Get:3 http://archive.ubuntu.com/ubuntu jammy InRelease [270 kB]
Fetched 32.1 MB in 4s
Installing Linux kernel headers...
Done, now waiting for signal
""",
    ),
    "dxg linux host": (
        "",
        """\
$ ls /dev/dxg
ls: cannot access '/dev/dxg': No such file or directory
$ nvidia-smi -L
GPU 0: NVIDIA L4 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)
""",
    ),
    "dpc recovered": (
        "",
        """\
pcieport 0000:40:01.1: pciehp: Slot(12): Link Down/Up ignored (recovered by DPC)
""",
    ),
    "pod without gpu shell": (
        "",
        """\
root@web-0:/# ls /dev/nvidia*
ls: cannot access '/dev/nvidia*': No such file or directory
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    judge(report, cause, info=True)
    assert cause or not report.candidates
