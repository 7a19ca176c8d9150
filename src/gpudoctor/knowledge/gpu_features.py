"""What a product has, by its name: `[N/A]` of that says that it was not read, and not that the product lacks it.

Sources: nvidia-smi(1), "ECC Mode", "Remapped Rows" and "Retired pages"; https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/ (row
remapping from A100 on) and https://docs.nvidia.com/deploy/dynamic-page-retirement/ (page retirement before it); names as nvidia-smi prints
them. Of a product that isn't named here `[N/A]` is believed: GeForce has no ECC, and neither remaps rows nor retires pages.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

LACKING = ("N/A", "Not Supported")  # what nvidia-smi prints for what a product does not have: nvidia-smi(1)
# Their memory has ECC that is always there, or on unless somebody switched it off.
STACKED = regex(r"\b(?:[VP]100|A100|A800|A30|H100|H800|H200|H20|GH200|B100|B200|B300|GB200|GB300)\b")
REMAPS = regex(r"\b(?:A100|A800|A30|H100|H800|H200|H20|GH200|B100|B200|B300|GB200|GB300)\b")
RETIRES = regex(r"\b(?:[VP]100|P40|T4)\b")
# GRID A100D-40C, NVIDIA A100-40C: a part of a GPU in a guest, of which only the host sees the memory's state
VIRTUAL = regex(r"^GRID\b|-\d+[ABCQ]\b")
COUNTERS = ("ecc_corrected_volatile", "ecc_uncorrected_volatile", "ecc_corrected_aggregate", "ecc_uncorrected_aggregate")


def has_feature(product: str, field: str, ecc: bool | None) -> bool:
    """Whether a product surely has what a field of a GPU tells; `ecc` says whether its ECC is on. Without ECC nothing is counted.

    >>> has_feature("NVIDIA H100 80GB HBM3", "remap_pending", True), has_feature("NVIDIA GeForce RTX 4090", "ecc_mode", None)
    (True, False)
    >>> has_feature("NVIDIA RTX A6000", "ecc_uncorrected_volatile", False), has_feature("NVIDIA A100-40C", "remap_pending", None)
    (False, False)
    """
    if VIRTUAL.search(product):
        return False
    if field in COUNTERS:
        return ecc is True or (ecc is None and bool(STACKED.search(product)))
    if field == "ecc_mode":
        return bool(STACKED.search(product))
    if field in ("remap_pending", "remap_failed"):
        return bool(REMAPS.search(product))
    return field == "retired_pending" and bool(RETIRES.search(product))


def doubted_gaps(gaps: dict[str, str], product: str, ecc: bool | None) -> dict[str, str]:
    """The gaps of a GPU, where what the product has isn't called lacking."""
    return {
        name: f"{why}, though {product} has it" if why.strip("[]") in LACKING and has_feature(product, name, ecc) else why
        for name, why in gaps.items()
    }
