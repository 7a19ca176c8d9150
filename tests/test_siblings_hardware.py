# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of sick GPUs, their memory and programs that fail on them, and the cause that stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import DIAG
from tests.pasted import diagnosed, judge

# What was pasted → the first cause; "?cause" = it is a candidate, and nothing is found; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    "diag: memory": (
        "dcgm-diag-failed",
        DIAG
        + """\
|-----  Deployment  --------+------------------------------------------------|
| Denylist                  | Pass                                           |
| NVML Library              | Pass                                           |
| CUDA Main Library         | Pass                                           |
| Permissions and OS Blocks | Pass                                           |
| Persistence Mode          | Pass                                           |
+-----  Integration  -------+------------------------------------------------+
| PCIe                      | Pass - All                                     |
+-----  Hardware  ----------+------------------------------------------------+
| GPU Memory                | Fail - GPU: 5                                  |
| Warning                   | GPU 5 Error reading from memory: 700 memory errors |
+---------------------------+------------------------------------------------+
""",
    ),
    "diag: pulse": (
        "dcgm-diag-failed",
        """\
+-----  Stress  ------------+------------------------------------------------+
| Targeted Stress           | Pass - All                                     |
| Targeted Power            | Pass - All                                     |
| Diagnostic                | Fail - GPU: 2                                  |
| Warning                   | GPU 2 The double precision matrix multiplication produced inconsistent results. |
+---------------------------+------------------------------------------------+
""",
    ),
    "diag: all pass": (
        "",
        DIAG
        + """\
| Denylist                  | Pass                                           |
| NVML Library              | Pass                                           |
| PCIe                      | Pass - All                                     |
| GPU Memory                | Pass - All                                     |
| Diagnostic                | Skip - All                                     |
+---------------------------+------------------------------------------------+
""",
    ),
    "unh: plugin old": (
        "device-unhealthy",
        """\
2024/05/01 11:22:33 XidCriticalError: Xid=94 on Device=GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90, the device will go unhealthy.
2024/05/01 11:22:33 'nvidia.com/gpu' device marked unhealthy: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90
""",
    ),
    "unh: plugin klog": (
        "device-unhealthy",
        """\
I0501 11:22:33.1  1 health.go:159] XidCriticalError: Xid=31 on Device=GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90; marking device as unhealthy.
I0501 11:22:33.1  1 server.go:245] 'nvidia.com/gpu' device marked unhealthy: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90
""",
    ),
    "unh: describe node": (
        "device-unhealthy",
        """\
Name:               gpu-node-4
Capacity:
  cpu:                96
  memory:             1056Gi
  nvidia.com/gpu:     8
Allocatable:
  cpu:                95
  memory:             1050Gi
  nvidia.com/gpu:     7
""",
    ),
    "unh: admission": (
        "device-unhealthy",
        """\
Events:
  Type     Reason                    Age   From     Message
  Warning  UnexpectedAdmissionError  12s   kubelet  Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
Name:               gpu-node-4
Roles:              <none>
Capacity:
  nvidia.com/gpu:     4
Allocatable:
  nvidia.com/gpu:     0
""",
    ),
    "unh: error nvml event": (
        "device-unhealthy",
        "I0501 11:22:33.1  1 health.go:135] Error waiting for event: Unknown Error; Marking all devices as unhealthy\n",
    ),
    "fmnn: journal": (
        "fabric-manager-not-needed",
        """\
nv-fabricmanager[2201]: Connected to 1 node.
nv-fabricmanager[2201]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]
systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE
systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.
systemd[1]: Failed to start NVIDIA fabric manager service.
""",
    ),
    "fmnn: with smi pcie cards": (
        "fabric-manager-not-needed",
        """\
$ systemctl status nvidia-fabricmanager
× nvidia-fabricmanager.service - NVIDIA fabric manager service
     Active: failed (Result: exit-code)
nv-fabricmanager[991]: detected no NVSwitch devices, nothing to do. NV_WARN_NOTHING_TO_DO
$ nvidia-smi -L
GPU 0: NVIDIA A10 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)
""",
    ),
    "fmnn: pre-flight": (
        "fabric-manager-not-needed",
        """\
fabric manager: Pre-NVL5 system detected
request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]
""",
    ),
    "fm: 802 torch": (
        "fabric-manager-not-running",
        """\
>>> torch.cuda.is_available()
/usr/lib/python3/dist-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)
False
""",
    ),
    "fm: inactive": (
        "fabric-manager-not-running",
        """\
$ systemctl status nvidia-fabricmanager
○ nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; disabled; vendor preset: enabled)
     Active: inactive (dead)
$ nvidia-smi -q | grep -A3 Fabric
    Fabric
        State                             : In Progress
        Status                            : N/A
""",
    ),
    "fm: missing unit": (
        "fabric-manager-not-running",
        """\
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c91)
$ systemctl status nvidia-fabricmanager
Unit nvidia-fabricmanager.service could not be found.
$ ./deviceQuery
cudaGetDeviceCount returned 802
-> system not yet initialized
Result = FAIL
""",
    ),
    "fm: cuda validator": (
        "fabric-manager-not-running",
        """\
$ kubectl logs nvidia-cuda-validator-2p6kd -n gpu-operator -c cuda-validation
Failed to allocate device vector A (error code system not yet initialized)!
[Vector addition of 50000 elements]
""",
    ),
    "fm: jax": (
        "fabric-manager-not-running",
        "jaxlib: failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized\n",
    ),
    "fm: gpu-burn": (
        "fabric-manager-not-running",
        """\
Couldn't init CUDA: Error in (gpu_burn-drv.cpp:214): system not yet initialized
No clients are alive!  Aborting
""",
    ),
    "fm: driver ctr": (
        "fabric-manager-not-running",
        """\
Starting NVIDIA fabric manager daemon...
"nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg" failed! Exit code 1
Stopping NVIDIA persistence daemon...
""",
    ),
    "fm: completed": (
        "",
        """\
    Fabric
        State                             : Completed
        Status                            : Success
$ systemctl is-active nvidia-fabricmanager
active
nv-fabricmanager[1201]: Successfully configured all the available NVSwitches to route GPU NVLink traffic.
""",
    ),
    "bus: smi handle": (
        "gpu-fallen-off-bus",
        "Unable to determine the device handle for GPU 0000:65:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
    ),
    "bus: smi new": (
        "gpu-fallen-off-bus",
        """\
Unable to determine the device handle for GPU3: 0000:65:00.0: Unknown Error
[ 9121.1] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
""",
    ),
    "bus: boot 3 lines": (
        "gpu-fallen-off-bus",
        """\
NVRM: The NVIDIA GPU 0000:65:00.0
NVRM: (PCI ID: 10de:20b5) installed in this system has
NVRM: fallen off the bus and is not responding to commands.
nvidia: probe of 0000:65:00.0 failed with error -1
""",
    ),
    "bus: lspci rev ff": (
        "gpu-fallen-off-bus",
        """\
$ lspci | grep -i nvidia
17:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff)
""",
    ),
    "bus: job log": (
        "gpu-fallen-off-bus",
        """\
[rank5]: RuntimeError: CUDA error: unspecified launch failure
node-12 kernel: NVRM: Xid (PCI:0000:9a:00): 79, pid=4411, name=python, GPU has fallen off the bus.
node-12 kernel: NVRM: GPU 0000:9a:00.0: GPU has fallen off the bus.
node-12 kernel: NVRM: A GPU crash dump has been created. If possible, please run
""",
    ),
    "bus: pod ecs": (
        "gpu-fallen-off-bus",
        "nvidia-container-cli: detection error: nvml error: gpu is lost: unknown\n",
    ),
    "bus: table lost": (
        "gpu-fallen-off-bus",
        """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |
|   3  GPU is lost             On  | 00000000:65:00.0 Off |                  N/A |
+-----------------------------------------------------------------------------+
|=============================================================================|
$ nvidia-smi --query-gpu=index,name --format=csv
0, NVIDIA A100-SXM4-80GB
1, [GPU is lost], [GPU is lost]
""",
    ),
    "bus: xid79 json": (
        "gpu-fallen-off-bus",
        '{"MESSAGE":"NVRM: Xid (PCI:0000:65:00): 79, GPU has fallen off the bus.","_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1718200000000000","SYSLOG_IDENTIFIER":"kernel","_HOSTNAME":"gpu-12"}\n',
    ),
    "hwf: 62 first": (
        "gpu-hardware-failure",
        """\
Jan 10 03:12:01 n7 kernel: NVRM: Xid (PCI:0000:65:00): 62, pid=411, name=python, 0000(0000) 00000000 00000000
Jan 10 03:13:01 n7 kernel: NVRM: Xid (PCI:0000:65:00): 13, pid=911, name=gmx, Graphics Exception: ESR 0x404490=0x80000001
Jan 10 03:14:01 n7 kernel: NVRM: Xid (PCI:0000:65:00): 43, pid=1011, name=python3, Ch 00000008
""",
    ),
    "hwf: unknown err one rank": (
        "?cuda-error-on-one-rank",
        """\
5: terminate called after throwing an instance of 'c10::CUDAError'
5:   what():  CUDA error: unknown error
5: Exception raised from query at ../aten/src/ATen/cuda/CUDAEvent.h:95 (most recent call first):
""",
    ),
    "info: smi warning": (
        "gpu-inforom-corrupted",
        "WARNING: infoROM is corrupted at gpu 0000:86:00.0\n",
    ),
    "info: dcgm": (
        "gpu-inforom-corrupted",
        """\
| Inforom                   | Fail                                           |
| Warning                   | GPU 1 A corrupt InfoROM has been detected in GPU 1. Flash the InfoROM to clear this corruption. |
""",
    ),
    "info: smi q": (
        "gpu-inforom-corrupted",
        """\
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
WARNING: infoROM is corrupted at gpu 00000000:86:00.0
""",
    ),
    "info: nvml": (
        "gpu-inforom-corrupted",
        "pynvml.nvml.NVMLError_CorruptedInforom: infoROM is corrupted\n",
    ),
    "hp: order": (
        "pcie-link-down-hotplug",
        """\
[ 100.1] pcieport 0000:40:01.1: pciehp: Slot(12): Link Down
[ 100.1] pcieport 0000:40:01.1: pciehp: Slot(12): Card not present
[ 100.9] NVRM: GPU at PCI:0000:41:00: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90
[ 100.9] NVRM: Xid (PCI:0000:41:00): 79, pid=11, name=python, GPU has fallen off the bus.
""",
    ),
    "hp: dpc": (
        "pcie-link-down-hotplug",
        """\
pcieport 0000:40:01.1: DPC: containment event, status:0x1f01 source:0x0000
pcieport 0000:40:01.1: DPC: unmasked uncorrectable error detected
pcieport 0000:40:01.1: pciehp: Slot(12): Link Down/Up ignored (recovered by DPC)
pcieport 0000:40:01.1: pciehp: Slot(12): Link Down
NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.
""",
    ),
    "hp: old kernel": (
        "pcie-link-down-hotplug",
        """\
kernel: pciehp 0000:40:01.1:pcie004: Slot(12): Link Down
kernel: pciehp 0000:40:01.1:pcie004: Slot(12): Card not present
kernel: NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.
""",
    ),
    "hp: boot said lost": (
        "pcie-link-down-hotplug",
        """\
pcieport 0000:00:1c.4: pciehp: Slot(4): Link Down
NVRM: GPU 0000:06:00.0: GPU has fallen off the bus.
""",
    ),
    "hp: after 79": (
        "gpu-fallen-off-bus",
        """\
[ 100.1] NVRM: Xid (PCI:0000:41:00): 79, pid=11, name=python, GPU has fallen off the bus.
[ 103.1] pcieport 0000:40:01.1: pciehp: Slot(12): Link Down
""",
    ),
    "sbe: xid92": (
        "ecc-correctable-rising",
        "NVRM: Xid (PCI:0000:41:00): 92, pid='<unknown>', name=<unknown>, High single-bit ECC error rate\n",
    ),
    "sbe: plain": (
        "ecc-correctable-rising",
        "Mar 3 10:00:00 gpu-2 kernel: [55121.2] NVRM: Xid (PCI:0000:c7:00): 92, High single-bit ECC error rate, see nvidia-smi -q\n",
    ),
    "sbe: few": (
        "",
        """\
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 2
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 5
            DRAM Uncorrectable            : 0
""",
    ),
    "rrf: xid64": (
        "row-remap-failure",
        "NVRM: Xid (PCI:0000:41:00): 64, pid=0, Row Remapper: Error recording the bank remapping\n",
    ),
    "rrf: q": (
        "row-remap-failure",
        """\
GPU 00000000:41:00.0
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 9
        Pending                           : No
        Remapping Failure Occurred        : Yes
""",
    ),
    "rrf: csv": (
        "row-remap-failure",
        """\
gpu_bus_id, remapped_rows.correctable, remapped_rows.uncorrectable, remapped_rows.pending, remapped_rows.failure
00000000:41:00.0, 0, 8, No, Yes
00000000:46:00.0, 0, 0, No, No
""",
    ),
    "rrf: dcgm": (
        "row-remap-failure",
        "| Warning                   | GPU 3 had uncorrectable memory errors and row remapping failed. Run a field diagnostic on the GPU. |\n",
    ),
    "rrf: histogram": (
        "row-remap-failure",
        "NVRM: Xid (PCI:0000:41:00): 64, All reserved rows for bank are remapped\n",
    ),
    "rrf: metrics": (
        "row-remap-failure",
        'DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3",UUID="GPU-8f1c2a44",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-2"} 1\n',
    ),
    "rrp: 63 & 94": (
        "row-remap-pending",
        """\
NVRM: Xid (PCI:0000:41:00): 63, pid=0, Row Remapper: New row marked for remapping, reset gpu to activate.
NVRM: Xid (PCI:0000:41:00): 94, pid=7194, name=python, Contained: SM (0x1). RST: No, D-RST: No
""",
    ),
    "rrp: 48 63": (
        "row-remap-pending",
        """\
NVRM: Xid (PCI:0000:41:00): 48, pid=7194, name=python, DBE (double bit error), Unknown Memory
NVRM: Xid (PCI:0000:41:00): 63, pid=7194, name=python, Row remapping event: bank 0x00000001 row 0x00001a20
NVRM: Xid (PCI:0000:41:00): 45, pid=7194, name=python, Ch 00000008
""",
    ),
    "rrp: 171": (
        "row-remap-pending",
        """\
NVRM: Xid (PCI:0000:19:00): 171, pid='<unknown>', name=<unknown>, Uncorrectable DRAM error (0x1,0x0). physAddr: 0x00000010'2c81aa00 partition 2, subpartition 1
NVRM: Xid (PCI:0000:19:00): 63, Row Remapper: New row (0x000000102c81aa00) marked for remapping, reset gpu to activate.
""",
    ),
    "rrp: q": (
        "row-remap-pending",
        """\
GPU 00000000:41:00.0
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
""",
    ),
    "rrp: query": (
        "row-remap-pending",
        """\
$ nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure,remapped_rows.correctable,remapped_rows.uncorrectable --format=csv
gpu_uuid, remapped_rows.pending, remapped_rows.failure, remapped_rows.correctable, remapped_rows.uncorrectable
GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90, 1, 0, 0, 1
""",
    ),
    "rrp: metric": (
        "row-remap-pending",
        """\
DCGM_FI_DEV_ROW_REMAP_PENDING{gpu="3",UUID="GPU-8f1c2a44",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-2"} 1
DCGM_FI_DEV_ROW_REMAP_FAILURE{gpu="3",UUID="GPU-8f1c2a44",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-2"} 0
""",
    ),
    "rrp: dcgm diag": (
        "row-remap-pending",
        """\
| GPU Memory                | Fail - GPU: 3                                  |
| Warning                   | GPU 3 GPU 3 has uncorrectable memory errors and row remappings are pending. Reset GPU 3. |
""",
    ),
    "rrp: done": (
        "",
        """\
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : No
        Remapping Failure Occurred        : No
        Bank Remap Availability Histogram
            Max                           : 639 bank(s)
            High                          : 1 bank(s)
            Partial                       : 0 bank(s)
            Low                           : 0 bank(s)
            None                          : 0 bank(s)
""",
    ),
    "sram: yes": (
        "sram-uncorrectable-over-threshold",
        """\
GPU 00000000:41:00.0
    ECC Errors
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable Parity     : 5
            SRAM Uncorrectable SEC-DED    : 0
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
            SRAM Threshold Exceeded       : Yes
""",
    ),
    "sram: count old": (
        "sram-uncorrectable-over-threshold",
        """\
GPU 00000000:41:00.0
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 12
            DRAM Correctable              : 0
            DRAM Uncorrectable            : 0
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 0
        Pending                           : No
        Remapping Failure Occurred        : No
""",
    ),
    "sram: dcgm": (
        "sram-uncorrectable-over-threshold",
        """\
| Warning                   | GPU 3 SRAM uncorrectable error threshold exceeded on GPU 3. |
DCGM_FI_DEV_THRESHOLD_SRM{gpu="3",Hostname="gpu-2"} 1
""",
    ),
    "sram: csv": (
        "sram-uncorrectable-over-threshold",
        """\
index, ecc.errors.uncorrected.aggregate.sram, ecc.errors.uncorrected.aggregate.dram
0, 0, 0
1, 9, 0
""",
    ),
    "assert: torch": (
        "application-device-side-assert",
        """\
/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu:144: operator(): block: [0,0,0], thread: [12,0,0] Assertion `idx_dim >= 0 && idx_dim < index_size && "index out of bounds"` failed.
RuntimeError: CUDA error: device-side assert triggered
""",
    ),
    "assert: xid43": (
        "application-device-side-assert",
        """\
RuntimeError: CUDA error: device-side assert triggered
[ 900.1] NVRM: Xid (PCI:0000:41:00): 43, pid=771, name=python, Ch 00000008
""",
    ),
    "assert: tf": (
        "application-device-side-assert",
        "E tensorflow/stream_executor/cuda/cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_ASSERT: device-side assert triggered\n",
    ),
    "assert: 710": (
        "application-device-side-assert",
        "CUDA error 710 at layer.cu:91: device-side assert triggered (cudaErrorAssert)\n",
    ),
    "assert: nccl watchdog": (
        "application-device-side-assert",
        """\
[rank2]:[E ProcessGroupNCCL.cpp:1414] [PG 0 Rank 2] Process group watchdog thread terminated with exception: CUDA error: device-side assert triggered
[rank2]: Assertion `t >= 0 && t < n_classes` failed.
""",
    ),
    "ima: torch": (
        "application-illegal-memory-access",
        """\
RuntimeError: CUDA error: an illegal memory access was encountered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
[ 91.1] NVRM: Xid (PCI:0000:41:00): 31, pid=771, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f2a_1c000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
""",
    ),
    "ima: torch only": (
        "application-illegal-memory-access",
        """\
RuntimeError: CUDA error: an illegal memory access was encountered
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.
""",
    ),
    "ima: xla": (
        "application-illegal-memory-access",
        "XlaRuntimeError: INTERNAL: Failed to launch CUDA kernel: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered\n",
    ),
    "ima: sanitizer": (
        "application-illegal-memory-access",
        """\
========= Invalid __global__ read of size 4 bytes
=========     at foo(float*)+0x90 in foo.cu:12
=========     by thread (0,0,0) in block (1,0,0)
=========     Address 0x7f2a1c000400 is out of bounds
""",
    ),
    "ima: 13 many SMs": (
        "application-illegal-memory-access",
        """\
NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 1): Out Of Range Address
NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 1, TPC 1, SM 1): Out Of Range Address
NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 2, TPC 2, SM 1): Out Of Range Address
NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 3, TPC 0, SM 1): Out Of Range Address
NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 4, TPC 1, SM 1): Out Of Range Address
NVRM: Xid (PCI:0000:41:00): 43, pid=771, name=python, Ch 00000008
""",
    ),
    "ima: llama": (
        "application-illegal-memory-access",
        """\
ggml_cuda_compute_forward: MUL_MAT failed
CUDA error: an illegal memory access was encountered
  current device: 0, in function ggml_backend_cuda_synchronize at ggml-cuda.cu:2481
""",
    ),
    "akf: illegal instr": (
        "application-kernel-fault",
        "NVRM: Xid (PCI:0000:41:00): 13, pid=771, name=python, Graphics SM Warp Exception on (GPC 1, TPC 0, SM 0): Illegal Instruction Encoding\n",
    ),
    "akf: 69": (
        "application-kernel-fault",
        "NVRM: Xid (PCI:0000:41:00): 69, pid=771, name=python, Class Error: ChId 000d, Class 0000c6c0, Offset 00000000, Data 00000000, ErrorCode 00000004\n",
    ),
    "akf: torch": (
        "application-kernel-fault",
        "RuntimeError: CUDA error: an illegal instruction was encountered\n",
    ),
    "sched: 51": (
        "driver-scheduler-fault-reset-required",
        "NVRM: Xid (PCI:0000:41:00): 51, pid=1, name=x, BAD_TSG 0x12\n",
    ),
    "sched: reset required": (
        "driver-scheduler-fault-reset-required",
        "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000083) returned from kfifoX\n",
    ),
    "oc: geforce": (
        "unstable-overclock",
        """\
NVRM: Xid (PCI:0000:01:00): 13, pid=771, name=python, Graphics Exception: ESR 0x404490=0x80000001
NVRM: Xid (PCI:0000:01:00): 109, pid=871, name=blender, Ch 00000012, errorString CTX SWITCH TIMEOUT, Info 0x2c014
NVRM: Xid (PCI:0000:01:00): 69, pid=971, name=game.exe, Class Error: ChId 000d
$ nvidia-settings -q GPUGraphicsClockOffsetAllPerformanceLevels
  Attribute 'GPUGraphicsClockOffsetAllPerformanceLevels' (node-1:0[gpu:0]): 165.
""",
    ),
    "q: plugin start": (
        "",
        """\
I0501 11:22:33.1  1 main.go:235] "Starting NVIDIA Device Plugin" version=<
I0501 11:22:33.1  1 main.go:279] Starting FS watcher for /var/lib/kubelet/device-plugins
I0501 11:22:33.1  1 factory.go:107] Detected NVML platform: found NVML library
I0501 11:22:33.1  1 factory.go:107] Detected non-Tegra platform: /sys/devices/soc0/family file not found
I0501 11:22:33.1  1 server.go:197] Starting GRPC server for 'nvidia.com/gpu'
I0501 11:22:33.1  1 server.go:141] Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
I0501 11:22:33.1  1 server.go:148] Registered device plugin for 'nvidia.com/gpu' with Kubelet
I0501 11:22:33.1  1 health.go:64] Ignoring the following XIDs for health checks: map[13:true 31:true 43:true 45:true 68:true 109:true]
""",
    ),
    "q: driver load": (
        "",
        """\
nvidia: loading out-of-tree module taints kernel.
nvidia-nvlink: Nvlink Core is being initialized, major device number 510
nvidia 0000:41:00.0: enabling device (0140 -> 0142)
NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024
nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver for UNIX platforms  550.54.15
[drm] [nvidia-drm] [GPU ID 0x00004100] Loading driver
[drm] Initialized nvidia-drm 0.0.0 20160202 for 0000:41:00.0 on minor 1
nvidia-uvm: Loaded the UVM driver, major device number 508.
""",
    ),
    "q: persistenced": (
        "",
        """\
nvidia-persistenced[991]: Started (991)
nvidia-persistenced[991]: device 0000:41:00.0 - registered
nvidia-persistenced[991]: device 0000:41:00.0 - persistence mode enabled.
nvidia-persistenced[991]: device 0000:41:00.0 - NUMA memory onlined.
""",
    ),
    "q: unload": (
        "",
        """\
nvidia-modeset: Unloading
nvidia-uvm: Unloaded the UVM driver.
nvidia-nvlink: Unregistered Nvlink Core, major device number 510
""",
    ),
    "failed units": (
        "fabric-manager-not-running",
        """\
$ systemctl list-units --failed
  UNIT                           LOAD   ACTIVE SUB    DESCRIPTION
● nvidia-fabricmanager.service   loaded failed failed NVIDIA fabric manager service
""",
    ),
    "fm vllm": (
        "fabric-manager-not-running",
        """\
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
(EngineCore pid=77) ERROR 03-01 10:00:00 core.py:718]
""",
    ),
    "npd condition": (
        "gpu-fallen-off-bus",
        """\
Name:   gpu-7
Conditions:
  Type                 Status  LastHeartbeatTime                 LastTransitionTime                Reason              Message
  ----                 ------  -----------------                 ------------------                ------              -------
  GPUHealthy           False   Mon, 03 Jun 2024 10:00:00 +0000   Mon, 03 Jun 2024 09:00:00 +0000   XidError            NVRM: Xid (PCI:0000:65:00): 79, pid=0, GPU has fallen off the bus.
""",
    ),
    "bugcheck compute": (
        "gpu-fallen-off-bus",
        "slurmd: error: health check: NHC: check_nvsmi_healthmon: Unable to determine the device handle for gpu 0000:65:00.0: GPU is lost.\n",
    ),
    "pynvml lost": (
        "gpu-fallen-off-bus",
        "pynvml.NVMLError_GpuIsLost: GPU is lost\n",
    ),
    "torch lost nvml": (
        "gpu-fallen-off-bus",
        """\
[W CUDAAllocatorConfig.h] nvmlDeviceGetHandleByPciBusId_v2_( pci_id, &nvml_device) INTERNAL ASSERT FAILED
RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":995
$ dmesg | tail -2
[11.1] NVRM: GPU at PCI:0000:65:00: GPU-8f1c2a44-0b3d-4a7e-9a55-2f0e6b1d7c90
[11.2] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
""",
    ),
    "chat paste 79": (
        "gpu-fallen-off-bus",
        """\
hi all, one of our A100 nodes lost a card during the night, nvidia-smi shows only 7. from the log:
> kernel: [88123.40] NVRM: Xid (PCI:0000:8a:00): 79, pid=2210, name=python, GPU has fallen off the bus.
> kernel: [88123.40] NVRM: GPU 0000:8a:00.0: GPU has fallen off the bus.
> kernel: [88123.40] NVRM: GPU 0000:8a:00.0: GPU serial number is 1320220000001.
we think it might be NCCL?
""",
    ),
    "xid short form": (
        "row-remap-failure",
        "node gpu-7: Xid 64 on 0000:90:1c.0 again, NVRM: Xid (PCI:0000:90:1c): 64, ...\n",
    ),
    "xid63 rsyslog": (
        "row-remap-pending",
        "2024-05-01T10:00:00.123456+00:00 gpu-7 kernel: NVRM: Xid (PCI:0000:90:1c): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row marked for remapping, reset gpu to activate.\n",
    ),
    "xid95": (
        "gpu-ecc-uncorrectable",
        """\
NVRM: Xid (PCI:0000:90:1c): 95, pid=0, Uncontained: FBHUB. RST: Yes, D-RST: No
NVRM: Xid (PCI:0000:90:1c): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
""",
    ),
    "retired pages": (
        "page-retirement-pending",
        "NVRM: Xid (PCI:0000:90:1c): 63, Dynamic Page Retirement: New retired page, reboot to activate (0x00000000000a1b2c).\n",
    ),
    "smi q retired no": (
        "",
        """\
    Retired Pages
        Single Bit ECC                    : 0
        Double Bit ECC                    : 0
        Pending Page Blacklist            : No
""",
    ),
    "gsp heartbeat": (
        "gsp-rpc-timeout",
        """\
NVRM: _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 9000, heartbeatMs 1000
NVRM: Xid (PCI:0000:4e:00): 119, pid=2311, name=nv-hostengine, Timeout after 45s of waiting for RPC response from GPU1 GSP! Expected function 10 (FREE) sequence 99 (0x0 0x0).
""",
    ),
    "gsp hung tasks": (
        "gsp-rpc-timeout",
        """\
INFO: task nvidia-smi:1201 blocked for more than 120 seconds.
 _kgspRpcRecvPoll+0x2aa/0x800 [nvidia]
NVRM: Xid (PCI:0000:4e:00): 119, pid=2311, name=nvidia-smi, Timeout waiting for RPC from GSP!
""",
    ),
    "hotplug surprise": (
        "pcie-link-down-hotplug",
        """\
pcieport 0000:5a:02.0: AER: Uncorrected (Fatal) error received: 0000:5a:02.0
pcieport 0000:5a:02.0:    [ 5] SDES                   (First)
pcieport 0000:5a:02.0: pciehp: Slot(9): Link Down
pcieport 0000:5a:02.0: pciehp: Slot(9): Card not present
NVRM: Xid (PCI:0000:5d:00): 79, pid=12, name=python, GPU has fallen off the bus.
""",
    ),
    "assert paddle": (
        "application-device-side-assert",
        """\
Error: /paddle/paddle/phi/kernels/gpu/cross_entropy_kernel.cu:99 Assertion `label >= 0 && label < D` failed. The value of label expected >= 0 and < 10
OSError: (External) CUDA error(710), device-side assert triggered.
""",
    ),
    "ima paddle": (
        "application-illegal-memory-access",
        """\
OSError: (External) CUDA error(700), an illegal memory access was encountered.
  [Hint: 'cudaErrorIllegalAddress'. The device encountered a load or store instruction on an invalid memory address.]
""",
    ),
    "ima xid31 vllm": (
        "application-illegal-memory-access",
        "kernel: NVRM: Xid (PCI:0000:17:00): 31, pid=123, name=VLLM::EngineCor, Ch 0000000c, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC2 GPCCLIENT_T1_3 faulted @ 0x7e12_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n",
    ),
    "akf gromacs": (
        "application-kernel-fault",
        """\
Program: gmx mdrun
CUDA error #717 (cudaErrorInvalidAddressSpace): operation not supported on global/shared address space.
""",
    ),
    "xid43 alone": (
        "gpu-program-error",
        "NVRM: Xid (PCI:0000:17:00): 43, pid=123, name=python, Ch 00000008\n",
    ),
    "xid109": (
        "?gpu-context-switch-timeout",
        "NVRM: Xid (PCI:0000:17:00): 109, pid=123, name=python, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x4c014\n",
    ),
    "oc log": (
        "unstable-overclock",
        """\
kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=7, name=hashcat, Graphics SM Warp Exception on (GPC 3, TPC 1, SM 0): Illegal Instruction Encoding
kernel: NVRM: Xid (PCI:0000:01:00): 109, pid=9, name=ffmpeg, Ch 0000001, errorString CTX SWITCH TIMEOUT
/etc/X11/xorg.conf:    Option "Coolbits" "28"
nvidia-settings -a '[gpu:0]/GPUMemoryTransferRateOffset[3]=1500'
""",
    ),
    "q aer corrected": (
        "",
        """\
pcieport 0000:40:01.1: AER: Corrected error received: 0000:41:00.0
nvidia 0000:41:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)
""",
    ),
    "q reset ok": (
        "",
        """\
$ nvidia-smi --gpu-reset -i 3
GPU 00000000:41:00.0 was successfully reset.
All done.
""",
    ),
    "q fm start": (
        "",
        """\
nv-fabricmanager[1201]: Fabric Manager version is : 550.90.07
nv-fabricmanager[1201]: Successfully configured all the available NVSwitches to route GPU NVLink traffic. NVLink Peer-to-Peer support will be enabled once the GPUs are successfully registered with the NVLink fabric.
systemd[1]: Started NVIDIA fabric manager service.
""",
    ),
    "q slot hotplug": (
        "",
        """\
pcieport 0000:5a:02.0: pciehp: Slot(9): Link Up
pcieport 0000:5a:02.0: pciehp: Slot(9): Card present
nvme nvme4: pci function 0000:5b:00.0
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    judge(report, cause, info=True)
    assert cause or not report.candidates
