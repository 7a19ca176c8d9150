"""GPUs that count as fully used and hardly compute, hold nothing, or run on while no step comes: of some only a part was measured."""

from __future__ import annotations

import json

from tests.nodes.case import Case
from tests.nodes.cases_stall import (
    ACTIVE,
    BOOK,
    DF,
    GIVEN,
    INODES,
    LIMIT,
    LOGS,
    POD,
    POWER,
    PS,
    ROOM,
    RUNS,
    USED,
    UTIL,
    WELL,
    cards,
    kept,
    log,
)
from tests.nodes.cases_thermal import QUIET, measured

unread = {"error": 3, "text": "Not Supported"}
busy = json.loads(measured(*[cards(2, utilisation=100)] * 3))
for one in busy["samples"]:
    one |= {"power": unread, "power_limit": unread, "power_limit_default": unread, "pstate": unread}

CASES: dict[str, Case] = {
    "stall-few-sms": kept({UTIL: [[100.0] * 40], ACTIVE: [[0.12] * 40]}),
    "stall-nothing-held": kept({UTIL: [[100.0]], USED: [[4.0]], POWER: [[71.0]], LIMIT: [[700.0]]}, pod=""),
    "stall-busy-no-step": Case(
        BOOK,
        {"nodes": "gpu-01", "local": True, "for": 3.0, "pod": "train-0", "namespace": "ml"},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvml samples 3 1": json.dumps(busy),
            f"gpu-01: {PS}": WELL,
            f"gpu-01: {DF}": ROOM,
            f"gpu-01: {INODES}": GIVEN,
            LOGS: log("[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 600.00 seconds."),
            POD: json.dumps(RUNS),
        },
    ),
}
