"""GPUs whose errors only the metrics of their exporter tell."""

from __future__ import annotations

from collections.abc import Sequence

from tests.nodes.case import Case, Said
from tests.nodes.error_metrics import BOOK, PROMETHEUS, SOUND, Values, over_time, question, read

INPUTS: dict[str, object] = {"prometheus": PROMETHEUS}


def second(metric: str, value: float) -> Values:
    """The sound GPUs, one metric of GPU 1 with another value."""
    return {**SOUND, metric: (SOUND[metric][0], value)}


def moved(metric: str, value: float, **asked: str) -> Case:
    """A metric of GPU 1 that has moved within the hour."""
    return Case(BOOK, INPUTS, read(second(metric, value), **asked))


BAD = (
    ("GET_GPU_RECOVERY_ACTION", 1.0),
    ("GET_GPU_RECOVERY_ACTION", 2.0),
    ("GET_GPU_RECOVERY_ACTION", 3.0),
    ("BANKS_REMAP_ROWS_AVAIL_NONE", 3.0),
    ("THRESHOLD_SRM", 1.0),
    ("RETIRED_PENDING", 1.0),
    ("RETIRED_SBE", 64.0),
    ("ROW_REMAP_FAILURE", 1.0),
    ("ROW_REMAP_PENDING", 1.0),
    ("ECC_DBE_VOL_TOTAL", 2.0),
)


def each(bad: Sequence[tuple[str, float]]) -> Values:
    """A GPU for each of the values."""
    return {metric: [value if metric == own else 0.0 for own, value in bad] for metric, _ in bad}


CASES: dict[str, Case] = {
    "error-metrics-healthy": Case(BOOK, INPUTS, read(SOUND)),
    "error-metrics-xid": moved("XID_ERRORS", 79, XID_ERRORS=over_time("XID_ERRORS", 1, 0, 79, 20)),
    "error-metrics-old-xid": Case(BOOK, INPUTS, read(second("XID_ERRORS", 79), second("XID_ERRORS", 79))),
    "error-metrics-double-bit": moved("ECC_DBE_VOL_TOTAL", 2, ECC_DBE_VOL_TOTAL=over_time("ECC_DBE_VOL_TOTAL", 1, 0, 2, 30)),
    "error-metrics-corrected": moved("ECC_SBE_VOL_TOTAL", 900),
    "error-metrics-pcie": moved("PCIE_REPLAY_COUNTER", 9000),
    "error-metrics-nvlink": moved("NVLINK_RECOVERY_ERROR_COUNT_TOTAL", 5),
    "error-metrics-replays": moved("NVLINK_REPLAY_ERROR_COUNT_TOTAL", 720),
    "error-metrics-each": Case(BOOK, INPUTS, read(each(BAD), each(BAD))),
    "error-metrics-no-answer": Case(
        BOOK,
        INPUTS,
        {step: Said(failure="timeout", reason="no answer within 30 s") for step in (question("errors_now"), question("errors_before"))},
    ),
}
