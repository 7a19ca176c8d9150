"""GPUs that count as fully used and hardly compute, hold nothing, or run on while no step comes: of some only a part was measured."""

from __future__ import annotations

import json

from tests.nodes.case import Case
from tests.nodes.cases_thermal import QUIET, measured
from tests.nodes.watched import (
    BOOK,
    DF,
    GIVEN,
    INODES,
    LOGS,
    POD,
    PS,
    ROOM,
    RUNS,
    WELL,
    cards,
    log,
)

unread = {"error": 3, "text": "Not Supported"}
busy = json.loads(measured(*[cards(2, utilisation=100)] * 3))
for one in busy["samples"]:
    one |= {"power": unread, "power_limit": unread, "power_limit_default": unread, "pstate": unread}

CASES: dict[str, Case] = {
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
