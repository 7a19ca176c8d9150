"""Cases of the `nccl` runbook that asks NCCL's RAS: the answers are those of tests/test_ras.py."""

from __future__ import annotations

from typing import Any

from tests.nodes.case import Case
from tests.test_ras import BEHIND, DEAD, HEALTHY, UNRESPONSIVE

ASKED = "ncclras -v -h gpu-01 -p 28028"


def ras(*answers: str) -> Case:
    """A job whose RAS is asked twice."""
    inputs: dict[str, Any] = {"ras": "gpu-01"}
    return Case("nccl", inputs, {ASKED: list(answers)})


CASES: dict[str, Case] = {
    "ras-healthy": ras(HEALTHY, HEALTHY),
    "ras-dead": ras(DEAD, DEAD),
    "ras-unresponsive": ras(UNRESPONSIVE, UNRESPONSIVE),
    "ras-behind": ras(BEHIND, BEHIND),
    # It differs, but another way each time: the job runs.
    "ras-runs": ras(
        BEHIND,
        BEHIND.replace("4211", "4216")
        .replace("4210", "4215")
        .replace("operation 1\n", "operation 2\n")
        .replace("has not launched any operations", "has launched up to operation 1"),
    ),
    "ras-once": ras(BEHIND, ""),
}
