"""GPUs whose clocks nobody explains: the driver's reasons were not read, or other readings of the same card contradict them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from tests.nodes.case import Case
from tests.nodes.cases_gpu_use import CASES as USED
from tests.nodes.cases_thermal import AMPERE, QUIET, SECOND, STEPS, node
from tests.nodes.error_metrics import PROMETHEUS, SOUND, read
from tests.nodes.smi import Card, smi_xml
from tests.nodes.watched import LIMIT, POWER, UTIL, exported, seen_by

TEMPERATURE, CLOCK, MEMORY = "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MEMORY_TEMP"
DEFAULT, REASONS = "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"
HEATS = [70.0, 74.0, 78.0, 82.0, 84.0, 85.0, 86.0, 87.0, 88.0, 88.0]
FALLS = [1980.0, 1965.0, 1890.0, 1770.0, 1650.0, 1530.0, 1410.0, 1320.0, 1230.0, 1200.0]
DRAWS = [662.0, 655.0, 630.0, 598.0, 560.0, 531.0, 498.0, 470.0, 452.0, 447.0]
BUSY, FULL, COOL = [100.0] * 10, [1965.0] * 10, [61.0] * 10
ENTIRE = [700.0] * 10
Course = list[list[float]]


def asked(seconds: int = 300) -> str:
    """The question to Prometheus as it is recorded."""
    words = [text.replace("${input.prometheus}", PROMETHEUS) for text in STEPS["history"].run]
    return shlex.join([*words[:3], str(seconds), words[4]])


def kept(metrics: dict[str, Course], every: int = 30, seconds: int = 300, cut: tuple[int, int] = (0, 0)) -> Case:
    """What Prometheus keeps of two cards; `cut`: from where to where the readings are missing."""
    text = exported(metrics, pod="", every=every)
    if cut[1]:
        answer = json.loads(text)
        for series in answer["data"]["result"]:
            del series["values"][cut[0] : cut[1]]
        text = json.dumps(answer)
    inputs = {"prometheus": PROMETHEUS, "for": 0.0 if seconds == 300 else float(seconds)}
    return Case("thermal-throttle", inputs, {asked(seconds): text} | read(SOUND))


def told(*cards: Card) -> dict[str, Any]:
    """One look at a machine and its kernel log."""
    return {"gpu-01: dmesg --time-format=iso": QUIET, "gpu-01: nvidia-smi -q -x": smi_xml(list(cards), "550.163.01")}


heated: dict[str, Course] = {
    TEMPERATURE: [HEATS, COOL],
    CLOCK: [FALLS, FULL],
    UTIL: [BUSY, BUSY],
    POWER: [DRAWS, [640.0] * 10],
    LIMIT: [ENTIRE, ENTIRE],
}
sound: dict[str, Course] = {**heated, TEMPERATURE: [COOL, COOL], CLOCK: [FULL, FULL], POWER: [[640.0] * 10] * 2, REASONS: [[0.0] * 10] * 2}
COOLED = replace(AMPERE, index=1, pci="0000:43:00.0")
OVER = replace(AMPERE, temperature=90, sm_clock=1395)
OTHER = exported({TEMPERATURE: [[90.0], [60.0]]}, pod="").replace("gpu-07", "gpu-01")

# The same machines give the same answer, whichever of the two runbooks looks at them.
BOTH = ("far-clock", "hotter", "hotter-than-peers", "table-hotter", "slower-than-strangers", "lower-limit", "locked-clock")

CASES: dict[str, Case] = {
    **seen_by("thermal-throttle", {f"heat-{name}": USED[f"use-{name}"] for name in BOTH}),
    "heat-clock-falls": kept(heated),
    "heat-own-limit": kept(
        {**heated, TEMPERATURE: [[one + 4.0 for one in HEATS], COOL], "DCGM_FI_DEV_GPU_MAX_OP_TEMP": [[105.0] * 10, [87.0] * 10]}
    ),
    "heat-under-a-cap": kept({**heated, POWER: [[699.0] * 10, [640.0] * 10]}),
    "heat-kept-well": kept(sound),
    "heat-kept-with-a-gap": kept({name: [one * 12 for one in gpus] for name, gpus in sound.items()}, seconds=3600, cut=(40, 100)),
    "heat-memory": kept(
        {**sound, REASONS: [[]] * 2, MEMORY: [[98.0] * 10, [71.0] * 10], "DCGM_FI_DEV_MEM_MAX_OP_TEMP": [[95.0] * 10, [95.0] * 10]}
    ),
    "heat-violations": kept(
        {
            **heated,
            CLOCK: [[1410.0] * 10, FULL],
            "DCGM_FI_DEV_THERMAL_VIOLATION": [[4e9 + 6e9 * at for at in range(10)], [4e9] * 10],
            "DCGM_FI_DEV_POWER_VIOLATION": [[1e9] * 10, [1e9] * 10],
        }
    ),
    "heat-limit-reached": kept(
        {**sound, REASONS: [[]] * 2, POWER: [[399.0] * 10, [640.0] * 10], LIMIT: [[400.0] * 10, ENTIRE], DEFAULT: [ENTIRE, ENTIRE]}
    ),
    "heat-at-slowdown": node((OVER, COOLED), driver="550.163.01"),
    "heat-at-slowdown-margin": node((replace(SECOND, index=0, pci="0000:1b:00.0", temperature=88, tlimit=-2), SECOND)),
    "heat-two-views": Case(
        "thermal-throttle",
        {"nodes": "gpu-01", "for": 0.0, "prometheus": PROMETHEUS},
        {**told(replace(AMPERE, temperature=45), COOLED), asked(): OTHER} | read(SOUND),
    ),
}
