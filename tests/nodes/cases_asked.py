"""Machines that other cases describe, looked at by somebody who answers what a runbook asks a person."""

from __future__ import annotations

import json

from tests.nodes.case import Case
from tests.nodes.cases_nccl import CASES as JOBS
from tests.nodes.cases_smi import CASES as MACHINES
from tests.nodes.cases_thermal import CASES as THROTTLED
from tests.nodes.cases_thermal import hot, node


def answered(case: Case, question: str, step: str, choice: str, label: str, note: str = "") -> Case:
    """A case with the answer to a question, as the guided dialogue keeps it."""
    said = json.dumps({"question": step, "choice": choice, "label": label, "note": note})
    return case._replace(answers={**case.answers, question: said})


LOST = "Was the GPU at 0000:5d:00 of gpu-07 lost before, and did a power cycle bring it back?"
SUPPLY = "Is a power supply of gpu-01 dark, amber, or without its cord?"
AIR = "What do you notice at gpu-01?"
WIRING = "Are the adapters of the job's hosts joined by a switch, or port to port by a cable?"
ALONE = node((hot(-2, 1200, "sw_thermal"),))  # no neighbour to compare with

CASES: dict[str, Case] = {
    "asked-lost-again": answered(
        MACHINES["revision-ff"], LOST, "lost_before", "again", "Yes, it came back and is lost again", "twice in May"
    ),
    "asked-lost-first": answered(MACHINES["revision-ff"], LOST, "lost_before", "first", "No, this is the first time"),
    "asked-supply-faulty": answered(THROTTLED["throttle-one-reason"], SUPPLY, "power_supplies", "faulty", "Yes, one is", "left, amber"),
    "asked-supply-sound": answered(THROTTLED["throttle-one-reason"], SUPPLY, "power_supplies", "sound", "No, all are lit green"),
    "asked-air-room": answered(ALONE, AIR, "air", "room", "Other machines of the rack are hot too, or the air in front of it is warm"),
    "asked-air-fan": answered(ALONE, AIR, "air", "fan", "One of its fans stands still or roars"),
    "asked-wired-by-rails": answered(JOBS["job-queue-pair"], WIRING, "wiring", "rails", "By switches, one for each adapter of a host"),
    "asked-wired-by-cable": answered(JOBS["job-queue-pair"], WIRING, "wiring", "cable", "Port to port, without a switch"),
}
