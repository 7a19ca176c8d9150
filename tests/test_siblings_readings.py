# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of the state of GPUs in parts, in other forms or at two moments, and the cause that stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

# What was pasted → the first cause; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    "clocks: lact configuration": (
        "unstable-overclock",
        """\
$ cat /etc/lact/config.yaml
gpus:
  10DE:2684-1043:88D2-0000:01:00.0:
    power_cap: 450.0
    gpu_clock_offsets:
      0: 210
$ journalctl -k -b | grep Xid
Feb 03 10:02:55 box kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=4410, name=blender, Graphics SM Warp Exception on (GPC 2, TPC 1, SM 1): Illegal Instruction Encoding
Feb 03 18:31:47 box kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=7120, name=python3, Graphics SM Warp Exception on (GPC 2, TPC 1, SM 0): Illegal Instruction Encoding
Feb 04 19:31:47 box kernel: NVRM: Xid (PCI:0000:01:00): 109, pid=7190, name=game.exe, channel 0x00000067, errorString CTX SWITCH TIMEOUT, Info 0x4c049
""",
    ),
    "clocks: nvidia_oc": (
        "unstable-overclock",
        """\
$ systemctl cat nvidia-oc
[Service]
ExecStart=/usr/bin/nvidia_oc set --index 0 --power-limit 200000 --freq-offset 160 --mem-offset 850 --min-clock 0 --max-clock 2000
$ dmesg -T | grep Xid
[Tue Jun  3 20:02:55 2025] NVRM: Xid (PCI:0000:01:00): 69, pid=4410, name=comfyui, Class Error: ChId 0018, Class 0000c9c0, Offset 000002c0, Data 00000000, ErrorCode 0000000c
[Tue Jun  3 22:31:47 2025] NVRM: Xid (PCI:0000:01:00): 13, pid=7120, name=cs2, Graphics Exception: ESR 0x504648=0x102000e 0x504650=0x20
""",
    ),
    "clocks: a miner blames them": (
        "unstable-overclock",
        """\
20220105 11:02:03 GPU #0: Gigabyte NVIDIA RTX 3070 - 61.20 MH/s, [T:52C, P:121W, F:60%, E:506kH/W]
20220105 11:04:17 TREX: Can't find nonce with device [ID=0, GPU #0], cuda exception in [synchronize, 63], CUDA_ERROR_ILLEGAL_ADDRESS, try to reduce overclock to stabilize GPU state
20220105 11:04:18 WARN: Miner is going to shutdown...
""",
    ),
    "clocks: as they came": (
        "application-illegal-memory-access",
        """\
Feb 03 10:02:55 box kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=4410, name=python3, Graphics SM Warp Exception on (GPC 2, TPC 1, SM 1): Out Of Range Address
Feb 03 10:02:55 box kernel: NVRM: Xid (PCI:0000:01:00): 43, pid=4410, name=python3, Ch 00000010
""",
    ),
    "reset: refused for a client": (
        "gpu-reset-blocked-by-clients",
        """\
$ nvidia-smi -r -i 2
The following GPUs could not be reset:
  GPU 00000000:5D:00.0: In use by another client

1 device is currently being used by one or more other processes
""",
    ),
    "reset: wanted by the scheduler": (
        "driver-scheduler-fault-reset-required",
        """\
[ 6123.1] NVRM: Xid (PCI:0000:3b:00): 51, pid='<unknown>', name=<unknown>, BAD_TSG encountered on runlist: 0 with error code: 4
[ 6123.2] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
""",
    ),
    "power: status of the start": (
        "power-cable-missing",
        """\
[   14.210000] nvidia 0000:21:00.0: enabling device (0140 -> 0142)
[   15.884423] NVRM: GPU 0000:21:00.0: RmInitAdapter failed! (0x24:0x1c:1407)
[   15.884991] NVRM: GPU 0000:21:00.0: rm_init_adapter failed, device minor number 1
""",
    ),
    "gsp: second line of the message": (
        "gsp-stale-state-power-cycle",
        """\
[   15.1] NVRM: _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)
[   15.2] NVRM: RmInitAdapter: Cannot initialize GSP firmware RM
[   15.3] NVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x62:0x40:1964)
""",
    ),
    "ecc: csv in a loop": (
        "ecc-correctable-rising",
        """\
$ nvidia-smi --query-gpu=timestamp,index,uuid,ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total --format=csv -l 60
timestamp, index, uuid, ecc.errors.corrected.volatile.total, ecc.errors.uncorrected.volatile.total
2025/05/02 10:00:00.120, 0, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b01, 0, 0
2025/05/02 10:00:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3120, 0
2025/05/02 10:01:00.120, 0, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b01, 0, 0
2025/05/02 10:01:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3388, 0
2025/05/02 10:02:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3701, 0
""",
    ),
    "ecc: no rise": (
        "",
        """\
$ nvidia-smi --query-gpu=timestamp,index,uuid,ecc.errors.corrected.volatile.total,ecc.errors.uncorrected.volatile.total --format=csv -l 60
timestamp, index, uuid, ecc.errors.corrected.volatile.total, ecc.errors.uncorrected.volatile.total
2025/05/02 10:00:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3120, 0
2025/05/02 10:01:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3120, 0
2025/05/02 10:02:00.122, 1, GPU-5a9c64c5-6d19-3d7e-9f1f-0c3d7f7a9b02, 3121, 0
""",
    ),
    "ecc: two looks": (
        "ecc-correctable-rising",
        """\
[root@n4 ~]# date; nvidia-smi -q -d ECC -i 2
Mon Jun  2 08:00:01 UTC 2025

==============NVSMI LOG==============

Timestamp                                 : Mon Jun  2 08:00:01 2025
Driver Version                            : 535.183.06
CUDA Version                              : 12.2

Attached GPUs                             : 4
GPU 00000000:81:00.0
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 812
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 71225
            DRAM Uncorrectable            : 0

[root@n4 ~]# nvidia-smi -q -d ECC -i 2

==============NVSMI LOG==============

Timestamp                                 : Mon Jun  2 09:30:44 2025
Driver Version                            : 535.183.06
CUDA Version                              : 12.2

Attached GPUs                             : 4
GPU 00000000:81:00.0
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 19240
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Correctable              : 0
            SRAM Uncorrectable            : 0
            DRAM Correctable              : 89653
            DRAM Uncorrectable            : 0
""",
    ),
    "power: reading that never moves": (
        "power-sensor-stuck",
        """\
$ nvidia-smi --query-gpu=timestamp,utilization.gpu,power.draw,clocks.sm,clocks_event_reasons.active --format=csv -l 1
timestamp, utilization.gpu [%], power.draw [W], clocks.current.sm [MHz], clocks_event_reasons.active
2025/05/02 10:00:00.122, 0 %, 312.11 W, 210 MHz, 0x0000000000000004
2025/05/02 10:00:01.122, 0 %, 312.11 W, 210 MHz, 0x0000000000000004
2025/05/02 10:00:02.122, 0 %, 312.11 W, 210 MHz, 0x0000000000000004
2025/05/02 10:00:03.122, 99 %, 312.11 W, 225 MHz, 0x0000000000000004
2025/05/02 10:00:04.122, 100 %, 312.11 W, 225 MHz, 0x0000000000000004
2025/05/02 10:00:05.122, 100 %, 312.11 W, 225 MHz, 0x0000000000000004
""",
    ),
    "xml: two lines": (
        "row-remap-failure",
        """\
$ nvidia-smi -q -x | grep -E 'remapped_row_(pending|failure)|minor_number'
		<minor_number>0</minor_number>
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>Yes</remapped_row_failure>
""",
    ),
    "xml: a section": (
        "sram-uncorrectable-over-threshold",
        """\
<aggregate>
    <sram_correctable>0</sram_correctable>
    <sram_uncorrectable_parity>0</sram_uncorrectable_parity>
    <sram_uncorrectable_secded>11</sram_uncorrectable_secded>
    <sram_threshold_exceeded>Yes</sram_threshold_exceeded>
</aggregate>
""",
    ),
    "xml: sound": (
        "",
        """\
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
			<sram_threshold_exceeded>No</sram_threshold_exceeded>
""",
    ),
    "xml: clock reasons": (
        "thermal-slowdown",
        """\
<clocks_event_reasons>
    <clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
    <clocks_event_reason_hw_slowdown>Active</clocks_event_reason_hw_slowdown>
    <clocks_event_reason_hw_thermal_slowdown>Active</clocks_event_reason_hw_thermal_slowdown>
    <clocks_event_reason_sw_thermal_slowdown>Not Active</clocks_event_reason_sw_thermal_slowdown>
</clocks_event_reasons>
""",
    ),
    "exit: corrupted InfoROM": (
        "gpu-inforom-corrupted",
        """\
# nvidia-smi --query-gpu=index,name,temperature.gpu --format=csv; echo rc=$?
index, name, temperature.gpu
0, Tesla V100-SXM2-16GB, 41
1, Tesla V100-SXM2-16GB, 39
rc=14
""",
    ),
    "exit: none": (
        "",
        """\
# nvidia-smi --query-gpu=index,name,temperature.gpu --format=csv; echo rc=$?
index, name, temperature.gpu
0, Tesla V100-SXM2-16GB, 41
1, Tesla V100-SXM2-16GB, 39
rc=0
""",
    ),
    "exit: retold": (
        "gpu-inforom-corrupted",
        """\
time="2024-02-01T10:11:12Z" level=info msg="Error: error validating driver installation: nvidia-smi failed: exit status 14"
level=error msg="nvidia-smi exited with status 14"
""",
    ),
    "diag: InfoROM without a sentence": (
        "gpu-inforom-corrupted",
        """\
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
| Denylist                  | Pass                                           |
| NVML Library              | Pass                                           |
| Page Retirement/Row Remap | Pass                                           |
| Graphics Processes        | Pass                                           |
| Inforom                   | Fail                                           |
+---------------------------+------------------------------------------------+
""",
    ),
    "exit: of timeout": (
        "gpu-hung",
        """\
$ timeout 30 nvidia-smi; echo $?
124
""",
    ),
    "diag: rows alone": (
        "dcgm-diag-failed",
        """\
# dcgmi diag -r 3 -i 4 | grep -iE 'fail|error|warn'
| GPU Memory                | Fail - GPU: 4                                  |
| Error                     | GPU 4 There was a miscompare at offset 0x2fe  |
""",
    ),
    "dmon: remap pending": (
        "row-remap-pending",
        """\
# dcgmi dmon -e 393,394,395,396 -c 1
#Entity   URMPS               CRMPS               RRF                 RRP
ID
GPU 3     0                   0                   0                   0
GPU 2     1                   0                   0                   1
""",
    ),
    "ps: two tools": (
        "gpu-hung",
        """\
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root       41552  0.0  0.0  13256  3120 ?        D    09:10   0:00 nvidia-smi
root       41790  0.0  0.0  13256  3124 ?        D    09:15   0:00 nvidia-smi -q
""",
    ),
    "ps: one for hours": (
        "gpu-hung",
        """\
$ ps -eo pid,stat,etime,wchan:32,comm | grep D
  PID STAT     ELAPSED WCHAN                            COMMAND
 7741 D       03:11:04 nvidia_ioctl                     nvidia-smi
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_pasted(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)
