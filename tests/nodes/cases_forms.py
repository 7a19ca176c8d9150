"""Machines of which two outputs side by side tell what is wrong: counters at two moments, versions, programs that do not end."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from tests.nodes.case import Case, Said
from tests.nodes.cases_dcgm import diag
from tests.nodes.cases_smi import BOOT, GONE, NO_FILE, STARTED, detection, failed
from tests.nodes.cases_thermal import COOL, QUIET, also, measured, node
from tests.nodes.cases_xid import log, machines
from tests.nodes.smi import smi_xml
from tests.nodes.watched import HEAD, WAVES
from tests.nodes.watched import node as working

NO_HANDLE = "Unable to determine the device handle for GPU0000:1B:00.0: Unknown Error"
UNREAD = f"{STARTED}{BOOT}GPU UUID: \t GPU-????????-????-????-????-????????????\n"
OTHER_KERNEL = (
    f"{BOOT}cat: /proc/driver/nvidia/version: No such file or directory\n"
    "6.8.0-60-generic\n"
    f"{BOOT}nvidia/570.172.08, 6.8.0-58-generic, x86_64: installed\n"
)
TREX = (
    "TREX: Can't find nonce with device [ID=0, GPU #0], cuda exception in [synchronize, 63], try to reduce overclock to stabilize GPU state"
)
STAMP = "2026-03-01T10:00:00,000000+00:00"
BMC = f"{STAMP} idrac L4, S55 [1075]: GetGPGPUPwr: End of table reached (Entry 92). Didn't find a power table match for device\n"
CRASHED = "reboot   system boot  6.8.0-60-generic Wed Feb 11 09:02 - crash  (13:29)\n"
# <clocks_event_reasons>…</clocks_event_reasons>
REASONS = re.compile(r"<clocks_(?:event|throttle)_reasons>.*?</clocks_(?:event|throttle)_reasons>", re.DOTALL)
CAPPED = (
    CRASHED
    + CRASHED.replace("11 09:02", "12 22:31")
    + f"{STAMP} Power limit for GPU 00000000:1B:00.0 was set to 300.00 W from 700.00 W.\n"
    + " 18:20:05 up 9 days, 20:28,  3 users,  load average: 2.31, 1.90, 1.77\n"
)


def limited() -> str:
    """nvidia-smi on two cards, of which the first has a lowered limit, from a release that doesn't tell why clocks are low."""
    said = smi_xml([replace(COOL[0], power_limit=400.0, tlimit=None), replace(COOL[1], tlimit=None)])
    return REASONS.sub("", said)


def corrected(*counts: int) -> str:
    """What NVML says of two healthy cards, of which the first has corrected so many errors at each moment."""
    said = json.loads(measured(*[COOL] * len(counts)))
    for number, sample in enumerate(said["samples"]):
        sample["ecc_corrected"] = counts[number // len(COOL)] if sample["index"] == 0 else 0
    return json.dumps(said)


CASES: dict[str, Case] = {
    "never-started": detection(log=UNREAD, smi=failed(NO_HANDLE)),
    "module-of-other-kernel": detection(version=NO_FILE, modules=Said(exit=1, stderr="refused"), log=OTHER_KERNEL, smi=GONE),
    "xid-overclock-said": machines({"gpu-01": log(TREX)}),
    "throttle-errors-corrected": Case(
        "thermal-throttle",
        {"nodes": "gpu-01", "local": True, "for": 3.0},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvidia-smi -q -x": smi_xml(list(COOL)),
            "gpu-01: nvml samples 3 1": corrected(3120, 3388, 3701),
        },
    ),
    "throttle-limit-shown": Case(
        "thermal-throttle",
        {"nodes": "gpu-01", "local": True, "for": 3.0},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvidia-smi -q -x": limited(),
            "gpu-01: nvml samples 3 1": json.dumps({"nvml": 1, "driver": "", "code": 9, "error": "Driver Not Loaded", "samples": []}),
        },
    ),
    "throttle-bmc-table": also(node(COOL), dmesg=QUIET + BMC),
    "throttle-crashes-until-capped": also(node(COOL), dmesg=QUIET + CAPPED),
    "stall-tools-in-driver": working(
        *WAVES,
        ps=HEAD
        + f"D   41552     288 {'os_acquire_semaphore':<32} nvidia-smi\n"
        + f"D   41790     233 {'os_acquire_semaphore':<32} nvidia-smi\n",
    ),
    "diag-inforom": diag({"Deployment": [("inforom", {0: "Pass", 1: "Fail"}, [])]}),
}
