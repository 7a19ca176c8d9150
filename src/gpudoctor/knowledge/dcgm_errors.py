"""The errors that DCGM's health check and diagnostic report: DCGM_FR_*, with what we say of each. The table is `dcgm_errors.csv`.

Source: dcgm_errors.h and dcgm_errors.c of DCGM 4.6.0 (ids, names, severities, categories), whose texts were compared with 2.1.4, 3.1.8,
3.3.9, 4.0.0 and 4.4.2. `says` is what a message of that error contains in any of them, since only the diagnostic's JSON has the number:
parts with ` … ` between them come in this order, ` / ` separates wordings. `condition` is our word for errors that state one thing, "" for
those that have nothing in common with another. `means` and `act` are ours.
"""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_suffix(".csv")
# dcgmErrorSeverity_enum
SEVERITIES = {0: "", 1: "monitor", 2: "isolate", 3: "unknown", 4: "triage", 5: "config", 6: "reset"}
# An Xid that the health check repeats → the condition that it states. Those of application programs are no condition of the GPU.
# Source: NVIDIA's Xid catalogue; the device plugin ignores the same application Xids (internal/rm/health.go).
XIDS = {
    13: "application",
    31: "application",
    43: "application",
    45: "application",
    48: "memory_uncorrectable",
    63: "row_remap_pending",
    64: "row_remap_failed",
    74: "nvlink_failed",
    79: "off_bus",
    94: "memory_contained",
    95: "memory_uncorrectable",
    119: "gsp_timeout",
    120: "gsp_crash",
    140: "memory_uncorrectable",
}
# What decides in the message of an error that says several things → the condition. CUDA's 802, cudaErrorSystemNotReady, and an older
# wording of it; a GPU that waits for the fabric manager; which of its reasons held the clocks.
WORDS = {
    "system not yet initialized": "fabric_not_ready",
    "system not initialized": "fabric_not_ready",
    "fabric state is in progress": "fabric_not_ready",
    "fabric state is not started": "fabric_not_ready",
    "reason_sw_thermal_slowdown": "heat",
    "reason_hw_thermal_slowdown": "heat",
}


class Known(NamedTuple):
    """One error. `severity` is monitor (keep working), isolate (take the GPU out), reset, triage (look into it), config, or unknown."""

    id: int
    name: str
    severity: str
    category: str
    condition: str
    says: tuple[tuple[str, ...], ...]  # wordings, each as its parts in lower case
    means: str
    act: str


@functools.cache
def errors() -> dict[int, Known]:
    """All errors by their number."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {int(row["id"]): parse_row(row) for row in csv.DictReader(file)}


def parse_row(row: dict[str, str]) -> Known:
    """One row of the table."""
    wordings = tuple(tuple(wording.lower().split(" … ")) for wording in row["says"].split(" / ") if wording)
    return Known(int(row["id"]), row["name"], row["severity"], row["category"], row["condition"], wordings, row["means"], row["act"])


@functools.lru_cache(maxsize=1024)
def of_text(text: str) -> Known | None:
    """The error behind a message: of those whose words it has, the one with the most.

    >>> of_text("GPU 3 has uncorrectable memory errors and row remappings are pending").name
    'PENDING_ROW_REMAP'
    """
    lower = text.lower()
    found = [(length(wording), error) for error in errors().values() for wording in error.says if has_wording(lower, wording)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def condition(known: Known | None, text: str, xid: int | None) -> str:
    """The condition that an error states: that of its Xid, of words that decide, or of its code.

    >>> condition(of_text("Detected XID 79 for GPU 3"), "Detected XID 79 for GPU 3", 79)
    'off_bus'
    """
    by_text = (word for phrase, word in WORDS.items() if phrase in text.lower())
    return XIDS.get(xid or 0, "") or next(by_text, "") or (known.condition if known else "")


def length(wording: tuple[str, ...]) -> int:
    """How many characters a wording fixes."""
    return sum(map(len, wording))


def has_wording(text: str, wording: tuple[str, ...]) -> bool:
    """Whether a text has the parts of a wording in their order."""
    at = 0
    for part in wording:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
