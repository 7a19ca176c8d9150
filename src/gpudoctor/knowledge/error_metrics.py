"""The metrics of DCGM that count errors of a GPU: what each is about, and which values no sound card has.

Source: dcgm_fields.h of DCGM 2.1 to 4.6 (see dcgm_fields), nvml.h for the recovery actions. Whether growth is too much, rules say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpudoctor.knowledge import dcgm_fields

XID = 230  # a gauge that keeps the last Xid until the next one, or until DCGM starts anew
XID_COUNTS = (
    "DCGM_EXP_XID_ERRORS_COUNT"  # of dcgm-exporter itself: how often each code came in the last window_size_in_ms, 5 min by default
)

Fields = Mapping[str, Any]  # of a Gpu

# Field id → what is counted. The numbers of one GPU under one word are of one kind: since the driver was loaded, and over the card's life.
ABOUT: dict[int, str] = {
    XID: "xid",
    311: "ecc_uncorrected",
    313: "ecc_uncorrected",
    346: "sram_threshold",
    389: "banks_without_spare",
    390: "retired_pages",
    391: "retired_pages",
    392: "retired_pending",
    395: "remap_failed",
    396: "remap_pending",
    1523: "recovery_action",
    310: "ecc_corrected",
    312: "ecc_corrected",
    393: "remapped_rows",
    394: "remapped_rows",
    202: "pcie_replays",
    409: "nvlink_crc",
    419: "nvlink_crc",
    429: "nvlink_replays",
    439: "nvlink_recoveries",
}
# Those that stand for themselves, whenever they came: the last error of a GPU, and what is wrong with its memory.
STANDING = frozenset(ABOUT[field] for field in (XID, 311, 346, 389, 390, 392, 395, 396, 1523))
# States, not counts.
GAUGES = frozenset({"xid", "recovery_action"})

FLAGS = {346: "sram_threshold_exceeded", 392: "retired_pending", 395: "remap_failed", 396: "remap_pending"}
COUNTS = {
    311: ("ecc_uncorrected_volatile",),
    389: ("remap_banks_none",),
    390: ("retired_pages",),
    391: ("retired_pages", "retired_double"),
}
ACTIONS = {1: "reset", 2: "reboot", 3: "drain_p2p", 4: "drain_and_reset", 5: "recover_imex"}
BLANK = 1e9  # DCGM's numbers for "no value" are far above: 0x7ffffff0 and 0x7ffffffffffffff0 (dcgm_structs.h)


def about(metric: str) -> str:
    """What a metric counts, "" where it counts no error.

    >>> about("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"), about("DCGM_EXP_XID_ERRORS_COUNT"), about("DCGM_FI_DEV_GPU_TEMP")
    ('ecc_uncorrected', 'xid', '')
    """
    known = dcgm_fields.find_field(metric)
    return ABOUT.get(known.id, "") if known else "xid" if metric == XID_COUNTS else ""


def alarm(field: int, value: float) -> Fields:
    """What a value says of a card that no sound card has, as fields of a Gpu. The rest is left to nvidia-smi, which knows more.

    >>> alarm(396, 1.0), alarm(396, 0.0), alarm(391, 3.0), alarm(1523, 2.0)
    ({'remap_pending': True}, {}, {'retired_pages': 3, 'retired_double': 3}, {'recovery_action': 'reboot'})
    """
    if field in FLAGS and value == 1:
        return {FLAGS[field]: True}
    if field in COUNTS and 1 <= value < BLANK:
        return dict.fromkeys(COUNTS[field], int(value))
    return {"recovery_action": ACTIONS[int(value)]} if field == 1523 and value in ACTIONS else {}


def add_up(said: Iterable[Fields]) -> dict[str, Any]:
    """The fields of one GPU. Pages that were retired after errors of one bit and after those of two are counted apart.

    >>> add_up([alarm(390, 60.0), alarm(391, 4.0)])
    {'retired_pages': 64, 'retired_double': 4}
    """
    made: dict[str, Any] = {}
    for name, value in (pair for fields in said for pair in fields.items()):
        before = made.get(name)
        made[name] = before + value if name == "retired_pages" and before else value
    return made
