"""The metrics of dcgm-exporter: in which unit a value stands, how large it can be, and which exist only once something has happened.

Sources: dcgm_fields.h and dcgm_fields.cpp of DCGM 2.1.4 to 4.6.0 for units; etc/*.csv and internal/pkg/collector of dcgm-exporter
2.x to 4.x for what is exported when. An old name and its new one since DCGM 4.6 are both there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpudoctor.patterns import regex


class Scale(NamedTuple):
    """The unit of a metric, and a value above which it never is."""

    unit: str
    most: float


# The first pattern that fits the name without DCGM_FI_ decides. The bounds are the unit's own (a ratio, a percentage), or far above any
# machine that is sold: 2 TiB of memory on one GPU, 10 kW, 10 GHz, 200 °C.
SCALES: tuple[tuple[re.Pattern[str], Scale], ...] = (
    (regex(r"PROF_(?:GR_ENGINE|SM|PIPE_\w+|DRAM|INTEGER)_(?:ACTIVE|OCCUPANCY|UTIL)\w*\Z"), Scale("a ratio from 0 to 1", 1.0)),
    (regex(r"DEV_FB_USED_PERCENT\Z"), Scale("a ratio from 0 to 1", 1.0)),
    (regex(r"DEV_(?:GPU|MEM_COPY|ENC|DEC)_UTIL\Z"), Scale("percent", 100.0)),
    (regex(r"DEV_FB_(?:USED|FREE|TOTAL|RESERVED)\Z"), Scale("MiB", 2.0 * 1024 * 1024)),
    (regex(r"DEV_(?:GPU|MEMORY)_TEMP(?:_CELSIUS)?\Z"), Scale("°C", 200.0)),
    (regex(r"DEV_(?:POWER_USAGE|BOARD_POWER_WATTS|POWER_USAGE_INSTANT)\Z"), Scale("W", 10_000.0)),
    (regex(r"DEV_(?:SM|MEM|VIDEO)_CLOCK\Z"), Scale("MHz", 10_000.0)),
    (regex(r"DEV_XID_ERRORS\Z"), Scale("the code of the last Xid", 1000.0)),
)
# DCGM_FI_DEV_XID_ERRORS is blank until an Xid has come, and a blank value is not exported (4.8); the exporter's own counters have a
# series for each Xid, each clock event and each health check that there was.
RARE = regex(r"DCGM_EXP_\w+|DCGM_FI_DEV_XID_ERRORS|dcgm_xid_errors")


def scale(metric: str) -> Scale | None:
    """The unit and the largest value of a metric, None where it isn't known.

    >>> scale("DCGM_FI_PROF_SM_ACTIVE").most, scale("DCGM_FI_DEV_FB_USED").unit, scale("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL")
    (1.0, 'MiB', None)
    """
    name = metric.removeprefix("DCGM_FI_")
    return next((known for pattern, known in SCALES if pattern.match(name)), None)


def is_rare(metric: str) -> bool:
    """Whether a metric is exported only once something has happened."""
    return bool(RARE.fullmatch(metric))
