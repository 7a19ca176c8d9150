"""Links slower than their neighbours', and memory at its limit."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.bus import lspci
from tests.nodes.case import Case
from tests.nodes.cases_smi import GONE, SLOTS, detection
from tests.nodes.watched import WAVES, log, node

FASTER = replace(SLOTS[0], pci="0000:9d:00.0")

CASES: dict[str, Case] = {
    "one-slow-link": detection(bus=lspci([SLOTS[0], replace(SLOTS[1], speed=("32GT/s", "8GT/s")), FASTER]), smi=GONE),
    "one-slow-link-or-at-rest": detection(bus=lspci([SLOTS[0], replace(SLOTS[1], speed=("32GT/s", "2.5GT/s")), FASTER]), smi=GONE),
    "stall-hot-memory": node(*WAVES, log=log("VRAM Temps: |  112°c |")),
}
