"""GPUs that are held and not used, seem busy and do little, or are unlike their peers; and some that work."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.case import Case, Said
from tests.nodes.cases_thermal import QUIET, also
from tests.nodes.smi import Process
from tests.nodes.watched import (
    ACTIVE,
    DRAM,
    ENGINE,
    FREE,
    FULL_LOAD,
    IDLE,
    LIMIT,
    POWER,
    TENSOR,
    USED,
    UTIL,
    WAVES,
    cards,
    changed,
    kept,
    node,
    seen_by,
    table,
)

REASONS = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS"
QUARTER = 900  # s
MEMORY = {USED: [[30212.0] * 64], FREE: [[51400.0] * 64]}
STRANGERS = tuple(replace(card, processes=(Process(5120 + card.index, f"/opt/run{card.index}", 61020),)) for card in FULL_LOAD)
ALL = tuple((Process(700, memory=20150 if not one else 7650),) for one in range(4))
LOCKED = '2026-03-01T10:00:00,000000+00:00 GPU clocks set to "(gpuClkMin 1710, gpuClkMax 1980)" for GPU 00000000:1B:00.0\n'

CASES: dict[str, Case] = seen_by(
    "gpu-use",
    {
        "use-well": node(*WAVES),
        "use-kept-well": kept(
            {
                UTIL: [[97.0] * 40] * 4,
                USED: [[61020.0] * 40] * 4,
                FREE: [[20100.0] * 40] * 4,
                ACTIVE: [[0.81] * 40, [0.82] * 40, [0.8] * 40, [0.83] * 40],
            },
            {REASONS: [[0.0] * 5] * 4},
        ),
        "use-kept-half": kept({UTIL: [[0.0] * 30 + [71.0] * 34], **MEMORY}, {REASONS: [[0.0] * 5]}, every=QUARTER),
        # one table of nvidia-smi, which tells no clocks
        "use-table-sound": table(FULL_LOAD),
        "use-kept-little": kept(
            {ENGINE: [[0.999] * 30], ACTIVE: [[0.14] * 30], TENSOR: [[0.0] * 30], DRAM: [[0.001] * 30], USED: [[61020.0] * 30]}
        ),
        "use-few-sms": kept({UTIL: [[100.0] * 40], ACTIVE: [[0.12] * 40]}),
        "use-kept-no-program": kept({UTIL: [[100.0] * 30], USED: [[0.0] * 30], FREE: [[81000.0] * 30], ACTIVE: [[0.0] * 30]}, pod=""),
        "use-nothing-held": kept({UTIL: [[100.0]], USED: [[4.0]], POWER: [[71.0]], LIMIT: [[700.0]]}, pod=""),
        "use-kept-idle": kept({UTIL: [[0.0] * 60] * 2, USED: [[4120.0] * 60] * 2, FREE: [[76900.0] * 60] * 2}),
        "use-kept-hardly": kept({UTIL: [[0.0] * 40 + [71.0] * 4 + [0.0] * 20], **MEMORY}, every=QUARTER),
        "use-idle": node(cards(**IDLE)),
        "use-table-idle": table(tuple(replace(card, utilisation=0, power=88.0, temperature=36) for card in FULL_LOAD)),
        "use-kept-unlike": kept(
            {UTIL: [[99.0] * 30] * 4, ACTIVE: [[0.81] * 30, [0.82] * 30, [0.55] * 30, [0.8] * 30], USED: [[61020.0] * 30] * 4},
            {REASONS: [[0.0] * 5] * 4},
        ),
        "use-kept-stages": kept(
            {UTIL: [[99.0] * 30] * 4, ACTIVE: [[0.84] * 30, [0.62] * 30, [0.61] * 30, [0.43] * 30], USED: [[61020.0] * 30] * 4}
        ),
        "use-uneven-at-once": node(
            changed(cards(utilisation=61, power=402.1), 0, utilisation=98, power=650.2, memory_used=80900), inputs={"for": 0.0}
        ),
        "use-one-program": node(
            changed(tuple(replace(one, processes=own) for one, own in zip(cards(4, utilisation=22), ALL, strict=True)), 0, utilisation=99),
            inputs={"for": 0.0},
        ),
        "use-far-clock": node(changed(cards(power=231.0, utilisation=100, sm_clock=345), 2, power=652.3, sm_clock=1755)),
        "use-hotter": node(changed(cards(power=641.0, temperature=64, utilisation=100), 1, power=263.5, sm_clock=345, temperature=91)),
        "use-hotter-than-peers": node(changed(FULL_LOAD, 1, power=420.5, sm_clock=1400, temperature=88)),
        "use-table-hotter": table(changed(FULL_LOAD, 1, power=291.0, temperature=91)),
        "use-slower-than-strangers": node(changed(STRANGERS, 1, power=402.5, sm_clock=1200, temperature=55)),
        "use-more-power": node(changed(FULL_LOAD, 1, power=330.5)),
        "use-lower-limit": node(changed(FULL_LOAD, 1, power=396.5, power_limit=400.0, active=("sw_power_cap",))),
        "use-swings": node(*(cards(utilisation=98 if number % 4 == 3 else 0, power=402.6) for number in range(12)), samples=12),
        "use-locked-clock": also(node(cards(1, power=81.4, utilisation=97, sm_clock=510)), dmesg=QUIET + LOCKED),
        "use-no-answer": node(*WAVES, smi=Said(failure="timeout")),
    },
)
