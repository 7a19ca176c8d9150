# ruff: noqa: E501 - what is pasted has long lines
"""What people tell of their GPUs in their own words, in any language and layout: each is one reading with units; of each what is decided,
what is a candidate, and what is well or of other things though it looks much alike.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.knowledge.board_power import default_limit
from gpudoctor.parsers.stated_amounts import stated
from gpudoctor.parsers.stated_clauses import clauses
from tests.pasted import diagnosed, judge

# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    # --- one GPU that counts as used and does little
    "little: english": (
        "gpu-util-misleading-low-real-use",
        "The fine-tune crawls. GPU shows 99% util but the card only pulls 101 W of 400 W.\n",
    ),
    "little: wrapped": (
        "gpu-util-misleading-low-real-use",
        "We see 800 tok/s, which is a tenth of what we had hoped for, GPU at 100% util and\nonly 148 W of 700 W, all night.\n",
    ),
    "little: german": ("gpu-util-misleading-low-real-use", "- GPU-Auslastung 100 %, Leistung 92,5 W von 400 W\n- 1,9 it/s\n"),
    "little: polish": ("gpu-util-misleading-low-real-use", "Wykorzystanie GPU 100%, pobór mocy 150 W z 600 W.\n"),
    "little: chinese": ("gpu-util-misleading-low-real-use", "显卡利用率 100%，功耗 96W / 400W，速度很慢\n"),
    "little: french": ("gpu-util-misleading-low-real-use", "Le GPU affiche 100 % d'utilisation, mais 88 W sur 350 W seulement.\n"),
    "little: spanish": ("gpu-util-misleading-low-real-use", "GPU: uso 100 %, consumo 95 W (límite 400 W)\n"),
    "little: russian": ("gpu-util-misleading-low-real-use", "Загрузка GPU 100 %, мощность 105 Вт из 450 Вт\n"),
    "little: japanese": ("gpu-util-misleading-low-real-use", "GPU使用率 100%、消費電力 80W、上限 400W\n"),
    "little: lines": ("gpu-util-misleading-low-real-use", "GPU util: 100 %\nPower: 110 W\nPower limit: 700 W\n"),
    "little: share of the limit": ("gpu-util-misleading-low-real-use", "GPU 0 util 100 %, 18 % of its power limit\n"),
    "little: limit of the board": ("gpu-util-misleading-low-real-use", "One H100 SXM: GPU util 100 %, draws 120 W.\n"),
    "little: sm": ("gpu-util-misleading-low-real-use", "nvidia-smi: GPU-Util = 100%\nDCGM: SM_ACTIVE = 8-12%, PIPE_TENSOR_ACTIVE < 3%\n"),
    "little: sm share": ("gpu-util-misleading-low-real-use", "GPU util 100 %, SM_ACTIVE=0.11, TENSOR_ACTIVE=0.02\n"),
    "little: table": (
        "gpu-util-misleading-low-real-use",
        "| run | GPU util (%) | power (W) | limit (W) |\n|---|---|---|---|\n| a | 100 | 112 | 700 |\n| b | 100 | 108 | 700 |\n",
    ),
    "little: range": ("gpu-util-misleading-low-real-use", "GPU load 98-100%, 85–95 W / 450 W, VRAM 20.1 / 24 GB\n"),
    "little: nvtop": (
        "gpu-util-misleading-low-real-use",
        " Device 0 [NVIDIA A100-SXM4-80GB] PCIe GEN 4@16x\n GPU 1410MHz MEM 1593MHz TEMP  38°C FAN N/A% POW  88 / 400 W\n GPU[||||||||||||100%] MEM[|||||||||70.2Gi/80.0Gi]\n",
    ),
    # --- GPUs that wait for each other
    "hang: range of indexes": (
        "collective-hang",
        "Training stands still.\n- GPU 0-7: 100% util, ~95W (cap 700W)\n- no output for a while\n",
    ),
    "hang: two gpus": ("?collective-hang", "GPU 0 and 1 both at 100 % util, 90 W of 400 W, the job hangs\n"),
    "hang: count": ("collective-hang", "8 GPUs at 100 % @ 86 W (limit 400 W), training prints nothing\n"),
    "hang: chinese": ("collective-hang", "训练卡住：8张卡 GPU利用率100%，功耗110W，上限700W\n"),
    "hang: german": ("collective-hang", "Das Training steht. Alle 8 GPUs: 100 % Auslastung bei ca. 90 W (Limit 400 W).\n"),
    "hang: rows of tasks": (
        "collective-hang",
        "nvidia-smi on H100 SXM:\nworker0   100 %   118.2 / 117.9 / 120.0 / 119.1 W   1980 MHz\nworker1   100 %   116.0 / 119.4 / 121.7 / 118.8 W   1980 MHz\n",
    ),
    "hang: rows without a header": (
        "collective-hang",
        "GPUs, util, power, memory\n" + "".join(f"gpu{index} | {70 + index}W / 700W | 81000MiB / 81559MiB | 100%\n" for index in range(8)),
    ),
    "hang: list of shares": ("collective-hang", "GPU util 100/100/100/100 %, power 88/91/86/90 W, cap 400 W, nothing moves\n"),
    "hang: spanish": ("?collective-hang", "Las GPUs están al 100 % de uso y a 90 W de 400 W, sin avanzar\n"),
    "hang: table of ranks": (
        "collective-hang",
        "rank   gpu util   power draw   power limit\n" + "".join(f"{rank}      100        9{rank}          700\n" for rank in range(6)),
    ),
    "hang: hosts": (
        "?collective-hang",
        "Job hangs:\ngpu-07: 2x 100 % at 95 W, limit 400 W\ngpu-08: 2x 100 % at 97 W, limit 400 W\n",
    ),
    # --- one that does nothing while others wait
    "odd: rank": (
        "hang-one-rank-outside-collective",
        "The job is stuck. rank 3: 0 %, others 100 % @ 86 W (400 W cards)\nall of it since 9:12; limit 400 W\n",
    ),
    "odd: gpu": (
        "hang-one-rank-outside-collective",
        "Training stuck: GPU 5 at 0 % and 62 W, the other 7 at 100 % and 95 W, power limit 400 W.\n",
    ),
    "odd: rows": (
        "hang-one-rank-outside-collective",
        "torchrun, 4 ranks, stuck\nGPU 0: 100% 92W/400W 40112MiB/81920MiB\nGPU 1: 100% 90W/400W 40112MiB/81920MiB\nGPU 2: 0% 61W/400W 40110MiB/81920MiB\nGPU 3: 100% 91W/400W 40112MiB/81920MiB\n",
    ),
    # --- shown as used, and nobody uses it
    "phantom: for days": ("gpu-phantom-utilisation", "GPU 2 shows util 100%, 0 MiB used, no processes, ~60 W. It stays so for 2 days.\n"),
    "phantom: once": ("?gpu-phantom-utilisation", "GPU 2: 100% util, 3 MiB used, zero processes, 60 W\n"),
    "phantom: german": ("?gpu-phantom-utilisation", "GPU 1: Auslastung 100 %, 0 MiB belegt, keine Prozesse\n"),
    "phantom: chinese": ("gpu-phantom-utilisation", "显卡3 利用率100%，显存 0 MiB，无进程，持续 3 天\n"),
    "phantom: no memory told": ("?gpu-phantom-utilisation", "GPU 4 at 100 % util, no process holds it, 70 W\n"),
    # --- limits
    "limit: not": ("power-limit-lowered", "Today: GPU limit 150 W not 300 W, SM clock pinned at 405 MHz, SW_POWER_CAP, 100 % util\n"),
    "limit: default": (
        "power-limit-lowered",
        "GPU 0 power limit 200 W (default 400 W), draws 199 W at 100 % util, `SW Power Cap: Active`\n",
    ),
    "limit: german": ("power-limit-lowered", "GPU: Limit 100 W statt 250 W, SW_POWER_CAP aktiv, Takt 600 MHz bei 100 % Auslastung\n"),
    "limit: chinese": ("power-limit-lowered", "GPU 功耗上限 150W，默认上限 400W，SW_POWER_CAP，利用率 100%\n"),
    "limit: bullets": (
        "power-limit-lowered",
        "- GPU util 100 %, P2, about 99 W power draw, SW Power Cap: Active\n- current power limit 100 W while the default is a limit of 350 W\n",
    ),
    # --- heat
    "heat: reason": ("thermal-slowdown", "GPU 3: SW_THERMAL_SLOWDOWN active, SM clock 1005 MHz, 87 °C, util 100 %\n"),
    "heat: hardware": ("thermal-slowdown", "On GPU 1 we see HW Thermal Slowdown: Active at 94 C, 420 MHz of 1980 MHz.\n"),
    "brake": ("power-brake-external", "GPU 6 clocks 345 MHz, HW_POWER_BRAKE_SLOWDOWN asserted, util 100 %\n"),
    # --- memory
    "memory: full": ("?gpu-memory-pressure", "GPU 0: 100 % util, 81100MiB / 81559MiB, 420 W\n"),
    # --- a slow one
    "slow: clock": (
        "slow-gpu-straggler",
        "training, H100\nGPU 0: 100 %, 640 W, 1950 MHz\nGPU 1: 100 %, 300 W, 720 MHz\nGPU 2: 100 %, 645 W, 1965 MHz\nGPU 3: 100 %, 641 W, 1950 MHz\n",
    ),
    # --- GPUs that are held and not used
    "idle": ("gpu-allocated-idle", "Job 812 has been allocated 4 GPUs: 0 % util, 61 W, for 3 h.\n"),
    # --- near misses
    "well: eight": ("", "8 GPUs at 98 % and 690 W of 700 W, step time as always\n"),
    "well: one": ("", "GPU 100% util, 388 W / 400 W, 71 °C, 1410 MHz\n"),
    "well: swings": ("", "GPU util 40-100 %, 90 W of 400 W in between\n"),
    "well: idle machine": ("", "All 8 GPUs idle: 0 %, 68 W of 700 W, 0 MiB used, no processes\n"),
    "well: repaired": ("", "All 8 GPUs sat at 100 % and 95 W of 700 W. Upgraded NCCL, resolved.\n"),
    "well: before and after": ("", "Before the fix: GPU util 100 %, 95 W of 700 W\nAfter the fix: GPU util 99 %, 640 W of 700 W\n"),
    "well: german before": ("", "Vorher: GPU-Auslastung 100 %, 95 W von 700 W. Jetzt 99 % bei 640 W von 700 W.\n"),
    "well: chinese repaired": ("", "之前 8 张卡利用率100%，功耗 90W / 700W，已修复\n"),
    "well: a rule": ("", "If GPU util is 100% but power is below 100 W of 400 W, a collective hangs.\n"),
    "well: a doc": ("", "100% util at 90 W of 400 W usually means that a rank is missing.\n"),
    "well: german rule": ("", "Wenn die GPU-Auslastung bei 100 % liegt und nur 90 W von 400 W gezogen werden, wartet ein Rang.\n"),
    "other: cpu": ("", "CPU 100 %, 95 W of 400 W package power; GPU not used\n"),
    "other: psu": ("", "GPU node: PSU 1 at 100 %, 300 W of 3000 W\n"),
    "other: rack": ("", "GPU rack: 100 % of 40 slots filled, 9 kW of 40 kW\n"),
    "other: loss": ("", "GPU run: train loss fell 100 % to 0.0, 90 W of 400 W saved by the new kernel\n"),
    "other: packet loss": ("", "ping from the GPU node: 0% packet loss; switch 90 W of 400 W\n"),
    "other: progress": ("", "GPU burn progress 100 %, disk 90 GB of 100 GB\n"),
    "other: fan": ("", "GPU 0 fan 100 %, 340 W of 350 W, 79 °C\n"),
    "other: memory share": ("", "GPU memory utilization 98 %, 330 W of 400 W\n"),
    "other: kv cache": ("", "GPU KV cache usage: 100.0%, 350 W of 400 W\n"),
    "other: ram": ("", "GPU node RAM 1007 / 1008 GB used, swap 0 %\n"),
    "other: accuracy": ("", "On one GPU the accuracy is 100 %, with 82 W less power of 400 W\n"),
    "other: mfu": ("", "H100 SXM: MFU 12 %, GPU power 610 W, util 100 %\n"),
    "other: peak": ("", "GPU util 100 %, peak 120 W above the others, 380 W of 400 W\n"),
    "other: idle draw": ("", "An H100 has an idle power of 70 W; under load 100 % it draws 690 W of 700 W.\n"),
    "other: benchmark": (
        "",
        "| GPU | batch | util (%) | power (W) | limit (W) |\n|---|---|---|---|---|\n| A100 | 1 | 35 | 110 | 400 |\n| A100 | 64 | 99 | 382 | 400 |\n",
    ),
    "other: limit raised": ("", "GPU power limit raised from 300 W to 400 W, util 99 %, 395 W\n"),
    "other: limit equal": ("", "GPU limit 400 W (default 400 W), 398 W, SW Power Cap: Active, util 100 %\n"),
    "other: reasons not active": ("", "GPU 0 util 99 %, 640 W, HW Thermal Slowdown: Not Active, SW Thermal Slowdown: Not Active\n"),
    "other: board of several powers": ("", "A100 at 100 % util, 112 W\n"),
    "other: healthy beside": ("", "GPU util 100 %, 655 W of 700 W (healthy: 690 W)\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_told_of_gpus(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    judge(report, cause, info=True)
    if not cause:
        assert not report.findings
        assert not report.candidates


def test_of_several_boards_the_lowest_limit_counts() -> None:
    assert default_limit("an A100 PCIe") == 250.0
    assert default_limit("no board") is None


def test_an_amount_is_of_what_stands_beside_it() -> None:
    assert stated("GPUs 0-3: 100% util, ~100W (cap 600W)").fields == {"utilisation": (100.0,), "power": (100.0,), "power_limit": (600.0,)}
    assert stated("CPU 100 %, GPU 30 %, PSU 1200 W").fields == {"utilisation": (30.0,)}
    assert stated("limit 30 W not 60 W").fields == {"power_limit": (30.0,), "power_limit_default": (60.0,)}


def test_a_row_of_a_table_becomes_a_sentence() -> None:
    rows = ["| GPU | util (%) | power (W) |", "|---|---|---|", "| 0 | 100 | 86 |"]
    assert [one.text for one in clauses([*enumerate(rows, 1)])] == ["GPU 0, util: 100 %, power: 86 W"]
