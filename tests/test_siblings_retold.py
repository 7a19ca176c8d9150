# ruff: noqa: E501 - what is pasted has long lines
"""The driver's numbered errors in the words of monitors, tables and people; and nvidia-smi -q as notes quote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

CARD = "GPU-5d20b7c1-7c0e-4a55-9f61-30b1c9a4d0e2"

# What was pasted → the first cause; "?cause" = it is a candidate, and nothing is found; "" = neither warning nor candidate
TEXTS: dict[str, tuple[str, str]] = {
    # --- Xids
    "without the driver's name": ("gpu-fallen-off-bus", "Xid (PCI:0000:8a:00): 79, pid=611, name=trainer, GPU has fallen off the bus.\n"),
    "the number before the address": ("row-remap-pending", "Jul  2 04:11:09  Xid 63 (PCI:0000:8a:00): Row Remapper: New row marked\n"),
    "a diagnostic that met one": ("gpu-fallen-off-bus", "targeted_stress     Fail    cudaMalloc failed, Xid 79 detected\n"),
    "DCGM's sentence": ("gpu-ecc-uncorrectable", "Detected XID 48 for GPU 6.\n"),
    "gpud": (
        "gpu-fallen-off-bus",
        '{"level":"warn","ts":"2025-07-02T04:11:09Z","msg":"xid event received","xid":79,"deviceUUID":"PCI:0000:8a:00"}\n',
    ),
    "a metric's last one": (
        "gpu-fallen-off-bus",
        f'DCGM_FI_DEV_XID_ERRORS{{gpu="6",UUID="{CARD}",device="nvidia6",modelName="NVIDIA H100",Hostname="n7"}} 79\n',
    ),
    "a metric's last one, of a program": (
        "",
        f'DCGM_FI_DEV_XID_ERRORS{{gpu="6",UUID="{CARD}",device="nvidia6",modelName="NVIDIA H100",Hostname="n7"}} 43\n',
    ),
    "a node's event": (
        "gpu-ecc-uncorrectable",
        "5m   Warning   GpuXid   node/n7   kernel: [812.4] NVRM: Xid (PCI:0000:8a:00): 95, pid=71, name=trainer, Uncontained: FBHUB\n",
    ),
    "a node's condition": (
        "gsp-rpc-timeout",
        """\
Name:               n7
Conditions:
  Type              Status  LastHeartbeatTime                 LastTransitionTime                Reason                      Message
  ----              ------  -----------------                 ------------------                ------                      -------
  Ready             True    Wed, 02 Jul 2025 04:11:09 +0000   Tue, 01 Jul 2025 04:11:09 +0000   KubeletReady                kubelet is posting ready status
  SysLogsXIDError   True    Wed, 02 Jul 2025 04:11:09 +0000   Wed, 02 Jul 2025 04:10:09 +0000   SysLogsXIDErrorIsNotHealthy  ErrorCode:119 PCI:0000:8a:00 Recommended Action=RESTART_BM;
""",
    ),
    "a queue's reason": ("gpu-fallen-off-bus", "n7  drain  Xid 79\n"),
    "none of them": ("", "$ dmesg | grep -i xid\nno Xid 79 and no Xid 48 since Monday\n"),
    "those that are passed over": (
        "",
        "I0702 04:11:09.1 1 health.go:90] Ignoring Xid 13, Xid 31 for health checks\nDP_DISABLE_HEALTHCHECKS=xid 13\n",
    ),
    "transactions": ("", "LOG:  transaction xid 79 committed\nDHCPREQUEST xid=48 offered\n"),
    "without number: an address": (
        "application-illegal-memory-access",
        "\\Device\\Video5\nGraphics SM Warp Exception on (GPC 2, TPC 1, SM 0): Out Of Range Address\n",
    ),
    "without number: an instruction": (
        "application-kernel-fault",
        "Graphics SM Warp Exception on (GPC 2, TPC 1, SM 0): Illegal Instruction Encoding\n",
    ),
    "without number: a row": ("row-remap-failure", "Row Remapper Error: (0x0000000311ac2280) - All reserved rows for bank are remapped\n"),
    "without its driver: the bus": ("gpu-fallen-off-bus", "GPU 0000:8a:00.0: GPU has fallen off the bus.\n"),
    "a switch without its name": ("nvswitch-sxid-fatal", "SXid (PCI:0000:c6:00.0): 20034, Fatal, Link 12 LTSSM Fault Up\n"),
    "wrapped, and counted once": (
        "?gpu-context-switch-timeout",
        "Jul 02 04:11:09 NVRM: Xid (PCI:0000:8a:00): 109, pid=611,\nname=trainer, channel 0x00000021, errorString CTX SWITCH TIMEOUT, Info 0x2c01d\n",
    ),
    "two programs that stuck": (
        "gpu-context-switch-timeout",
        "NVRM: Xid (PCI:0000:8a:00): 109, pid=611, name=trainer, channel 0x00000021, errorString CTX SWITCH TIMEOUT, Info 0x2c01d\n"
        "NVRM: Xid (PCI:0000:8a:00): 109, pid=702, name=render, channel 0x00000023, errorString CTX SWITCH TIMEOUT, Info 0x2c01d\n",
    ),
    "an assertion on purpose": (
        "",
        "check.cu:31: void check(int): block: [0,0,0], thread: [33,0,0] Assertion `i < n` failed.\nDevice assert failed as expected\n",
    ),
    "an assertion": (
        "application-device-side-assert",
        "check.cu:31: void check(int): block: [0,0,0], thread: [33,0,0] Assertion `i < n` failed.\n",
    ),
    "an offset, and an engine that stuck": (
        "unstable-overclock",
        "graphics clock offset: +275 MHz\nNVRM: Xid (PCI:0000:01:00): 109, pid=88, name=render, channel 0x0000001b, errorString CTX SWITCH TIMEOUT, Info 0x5c01a\n",
    ),
    "an offset that is nought": (
        "?gpu-context-switch-timeout",
        "graphics clock offset: 0 MHz\nNVRM: Xid (PCI:0000:01:00): 109, pid=88, name=render, channel 0x0000001b, errorString CTX SWITCH TIMEOUT, Info 0x5c01a\n",
    ),
    # --- nvidia-smi -q
    "in a comment": (
        "thermal-slowdown",
        "# Clocks Throttle Reasons\n#        Idle                              : Not Active\n#        SW Thermal Slowdown               : Active\n",
    ),
    "in a comment, and well": (
        "",
        "# Clocks Throttle Reasons\n#        Idle                              : Active\n#        SW Thermal Slowdown               : Not Active\n",
    ),
    "in a list": (
        "power-brake-external",
        "- HW Slowdown: Active\n- **HW Power Brake Slowdown**: Active\n- HW Thermal Slowdown: Not Active\n",
    ),
    "without indentation": (
        "row-remap-pending",
        "Remapped Rows\nCorrectable Error : 0\nUncorrectable Error : 1\nPending : Yes\nRemapping Failure Occurred : No\n",
    ),
    "without indentation, and well": (
        "",
        "Remapped Rows\nCorrectable Error : 0\nUncorrectable Error : 0\nPending : No\nRemapping Failure Occurred : No\n",
    ),
    "another case of letters": (
        "page-retirement-pending",
        "    Retired pages\n        Single Bit ECC             : 4\n        Double Bit ECC             : 0\n        Pending Page Blacklist     : Yes\n",
    ),
    "names of the query": (
        "gpu-ecc-uncorrectable",
        "ecc.errors.corrected.volatile.total:      2\necc.errors.uncorrected.volatile.total:    3\n",
    ),
    "names of the query, and well": ("", "ecc.errors.corrected.volatile.total:      2\necc.errors.uncorrected.volatile.total:    0\n"),
    # --- a guest whose NVSwitches stayed with its host
    "nothing to do, and 802": (
        "fabric-manager-not-running",
        "query NVSwitch device information failed: WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\nnvidia-smi -q | grep -A2 Fabric -> State : In Progress\ntorch: RuntimeError 802\n",
    ),
    "the service died, the GPUs keep their state": (
        "fabric-manager-not-running",
        """\
$ nvidia-smi -q
GPU 00000000:19:00.0
    Product Name                          : NVIDIA H200
    Fabric
        State                             : Completed
        Status                            : Success
$ systemctl status nvidia-fabricmanager
× nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)
     Active: failed (Result: oom-kill) since Wed 2025-07-02 04:11:09 UTC; 2 days ago
""",
    ),
    "links without a product": ("?nvlink-links-inactive", "NVML: Unable to retrieve NVLink information as all links are inActive\n"),
    "links of a product that may be alone": (
        "",
        f"GPU 0: NVIDIA GH200 96GB HBM3 (UUID: {CARD})\nNVML: Unable to retrieve NVLink information as all links are inActive\n",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)
