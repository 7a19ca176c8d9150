"""What fields of records are called in a sentence, where their own names with spaces would not be read."""

from __future__ import annotations

WORDS = {
    "ecc_corrected_volatile": "corrected ECC errors since the driver was loaded",
    "ecc_mode": "ECC mode",
    "ecc_pending": "pending ECC mode",
    "ecc_uncorrected_aggregate": "uncorrected ECC errors over the GPU's life",
    "ecc_uncorrected_volatile": "uncorrected ECC errors since the driver was loaded",
    "fan": "fan speed",
    "mig_mode": "MIG mode",
    "mig_pending": "pending MIG mode",
    "pcie_gen": "PCIe generation",
    "pcie_gen_max": "maximum PCIe generation",
    "pcie_replays": "PCIe replays",
    "pcie_width": "PCIe lanes",
    "pcie_width_max": "maximum PCIe lanes",
    "persistence": "persistence mode",
    "power": "power draw",
    "power_average": "average power draw",
    "pstate": "performance state",
    "reasons": "clock event reasons",
    "remap_failed": "row remap failed",
    "remap_pending": "row remap pending",
    "retired_pending": "page retirement pending",
    "sm_clock": "SM clock",
    "sm_clock_max": "maximum SM clock",
    "sram_threshold_exceeded": "SRAM threshold exceeded",
}


def in_words(field: str) -> str:
    """A field's name in words.

    >>> in_words("sm_clock"), in_words("memory_used")
    ('SM clock', 'memory used')
    """
    return WORDS.get(field) or field.replace("_", " ")
