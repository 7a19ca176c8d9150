# ruff: noqa: E501 - what is pasted has long lines
"""What people tell of their GPUs in their own words, in any language and layout: each is one reading with units; of each what is decided,
what is a candidate, and what is well or of other things though it looks much alike.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.knowledge.board_power import default_limit
from gpudoctor.notes.amounts import stated
from gpudoctor.notes.clauses import clauses
from tests.pasted import diagnosed, judge

# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    # --- one GPU that counts as used and does little
    "little: english": (
        "?gpu-util-misleading-low-real-use",
        "The fine-tune crawls. GPU shows 99% util but the card only pulls 101 W of 400 W.\n",
    ),
    "little: wrapped": (
        "?gpu-util-misleading-low-real-use",
        "We see 800 tok/s, which is a tenth of what we had hoped for, GPU at 100% util and\nonly 148 W of 700 W, all night.\n",
    ),
    "little: german": ("?gpu-util-misleading-low-real-use", "- GPU-Auslastung 100 %, Leistung 92,5 W von 400 W\n- 1,9 it/s\n"),
    "little: polish": ("?gpu-util-misleading-low-real-use", "Wykorzystanie GPU 100%, pobór mocy 150 W z 600 W.\n"),
    "little: chinese": ("?gpu-util-misleading-low-real-use", "显卡利用率 100%，功耗 96W / 400W，速度很慢\n"),
    "little: french": ("?gpu-util-misleading-low-real-use", "Le GPU affiche 100 % d'utilisation, mais 88 W sur 350 W seulement.\n"),
    "little: spanish": ("?gpu-util-misleading-low-real-use", "GPU: uso 100 %, consumo 95 W (límite 400 W)\n"),
    "little: russian": ("?gpu-util-misleading-low-real-use", "Загрузка GPU 100 %, мощность 105 Вт из 450 Вт\n"),
    "little: japanese": ("?gpu-util-misleading-low-real-use", "GPU使用率 100%、消費電力 80W、上限 400W\n"),
    "little: lines": ("?gpu-util-misleading-low-real-use", "GPU util: 100 %\nPower: 110 W\nPower limit: 700 W\n"),
    "little: share of the limit": ("?gpu-util-misleading-low-real-use", "GPU 0 util 100 %, 18 % of its power limit\n"),
    "little: limit of the board": ("?gpu-util-misleading-low-real-use", "One H100 SXM: GPU util 100 %, draws 120 W.\n"),
    "little: sm": ("?gpu-util-misleading-low-real-use", "nvidia-smi: GPU-Util = 100%\nDCGM: SM_ACTIVE = 8-12%, PIPE_TENSOR_ACTIVE < 3%\n"),
    "little: sm share": ("?gpu-util-misleading-low-real-use", "GPU util 100 %, SM_ACTIVE=0.11, TENSOR_ACTIVE=0.02\n"),
    "little: table": (
        "?gpu-util-misleading-low-real-use",
        "| run | GPU util (%) | power (W) | limit (W) |\n|---|---|---|---|\n| a | 100 | 112 | 700 |\n| b | 100 | 108 | 700 |\n",
    ),
    "little: range": ("?gpu-util-misleading-low-real-use", "GPU load 98-100%, 85–95 W / 450 W, VRAM 20.1 / 24 GB\n"),
    "little: nvtop": (
        "?gpu-util-misleading-low-real-use",
        " Device 0 [NVIDIA A100-SXM4-80GB] PCIe GEN 4@16x\n GPU 1410MHz MEM 1593MHz TEMP  38°C FAN N/A% POW  88 / 400 W\n GPU[||||||||||||100%] MEM[|||||||||70.2Gi/80.0Gi]\n",
    ),
    # --- GPUs that wait for each other
    "hang: range of indexes": (
        "?collective-hang",
        "Training stands still.\n- GPU 0-7: 100% util, ~95W (cap 700W)\n- no output for a while\n",
    ),
    "hang: two gpus": ("?collective-hang", "GPU 0 and 1 both at 100 % util, 90 W of 400 W, the job hangs\n"),
    "hang: count": ("?collective-hang", "8 GPUs at 100 % @ 86 W (limit 400 W), training prints nothing\n"),
    "hang: chinese": ("?collective-hang", "训练卡住：8张卡 GPU利用率100%，功耗110W，上限700W\n"),
    "hang: german": ("?collective-hang", "Das Training steht. Alle 8 GPUs: 100 % Auslastung bei ca. 90 W (Limit 400 W).\n"),
    "hang: rows of tasks": (
        "?collective-hang",
        "nvidia-smi on H100 SXM:\nworker0   100 %   118.2 / 117.9 / 120.0 / 119.1 W   1980 MHz\nworker1   100 %   116.0 / 119.4 / 121.7 / 118.8 W   1980 MHz\n",
    ),
    "hang: rows without a header": (
        "?collective-hang",
        "GPUs, util, power, memory\n" + "".join(f"gpu{index} | {70 + index}W / 700W | 81000MiB / 81559MiB | 100%\n" for index in range(8)),
    ),
    "hang: list of shares": ("?collective-hang", "GPU util 100/100/100/100 %, power 88/91/86/90 W, cap 400 W, nothing moves\n"),
    "hang: spanish": ("?collective-hang", "Las GPUs están al 100 % de uso y a 90 W de 400 W, sin avanzar\n"),
    "hang: table of ranks": (
        "?collective-hang",
        "rank   gpu util   power draw   power limit\n" + "".join(f"{rank}      100        9{rank}          700\n" for rank in range(6)),
    ),
    "hang: hosts": (
        "?collective-hang",
        "Job hangs:\ngpu-07: 2x 100 % at 95 W, limit 400 W\ngpu-08: 2x 100 % at 97 W, limit 400 W\n",
    ),
    # --- one that does nothing while others wait
    "odd: rank": (
        "?hang-one-rank-outside-collective",
        "The job is stuck. rank 3: 0 %, others 100 % @ 86 W (400 W cards)\nall of it since 9:12; limit 400 W\n",
    ),
    "odd: gpu": (
        "?hang-one-rank-outside-collective",
        "Training stuck: GPU 5 at 0 % and 62 W, the other 7 at 100 % and 95 W, power limit 400 W.\n",
    ),
    "odd: rows": (
        "?hang-one-rank-outside-collective",
        "torchrun, 4 ranks, stuck\nGPU 0: 100% 92W/400W 40112MiB/81920MiB\nGPU 1: 100% 90W/400W 40112MiB/81920MiB\nGPU 2: 0% 61W/400W 40110MiB/81920MiB\nGPU 3: 100% 91W/400W 40112MiB/81920MiB\n",
    ),
    # --- shown as used, and nobody uses it
    "phantom: for days": ("?gpu-phantom-utilisation", "GPU 2 shows util 100%, 0 MiB used, no processes, ~60 W. It stays so for 2 days.\n"),
    "phantom: once": ("?gpu-phantom-utilisation", "GPU 2: 100% util, 3 MiB used, zero processes, 60 W\n"),
    "phantom: german": ("?gpu-phantom-utilisation", "GPU 1: Auslastung 100 %, 0 MiB belegt, keine Prozesse\n"),
    "phantom: chinese": ("?gpu-phantom-utilisation", "显卡3 利用率100%，显存 0 MiB，无进程，持续 3 天\n"),
    "phantom: no memory told": ("?gpu-phantom-utilisation", "GPU 4 at 100 % util, no process holds it, 70 W\n"),
    # --- limits
    "limit: not": ("?power-limit-lowered", "Today: GPU limit 150 W not 300 W, SM clock pinned at 405 MHz, SW_POWER_CAP, 100 % util\n"),
    "limit: default": (
        "?power-limit-lowered",
        "GPU 0 power limit 200 W (default 400 W), draws 199 W at 100 % util, `SW Power Cap: Active`\n",
    ),
    "limit: german": ("?power-limit-lowered", "GPU: Limit 100 W statt 250 W, SW_POWER_CAP aktiv, Takt 600 MHz bei 100 % Auslastung\n"),
    "limit: chinese": ("?power-limit-lowered", "GPU 功耗上限 150W，默认上限 400W，SW_POWER_CAP，利用率 100%\n"),
    "limit: bullets": (
        "?power-limit-lowered",
        "- GPU util 100 %, P2, about 99 W power draw, SW Power Cap: Active\n- current power limit 100 W while the default is a limit of 350 W\n",
    ),
    # --- heat
    "heat: reason": ("?thermal-slowdown", "GPU 3: SW_THERMAL_SLOWDOWN active, SM clock 1005 MHz, 87 °C, util 100 %\n"),
    "heat: hardware": ("?thermal-slowdown", "On GPU 1 we see HW Thermal Slowdown: Active at 94 C, 420 MHz of 1980 MHz.\n"),
    "brake": ("?power-brake-external", "GPU 6 clocks 345 MHz, HW_POWER_BRAKE_SLOWDOWN asserted, util 100 %\n"),
    # --- memory
    "memory: full": ("?gpu-memory-pressure", "GPU 0: 100 % util, 81100MiB / 81559MiB, 420 W\n"),
    # --- a slow one
    "slow: clock": (
        "?slow-gpu-straggler",
        "training, H100\nGPU 0: 100 %, 640 W, 1950 MHz\nGPU 1: 100 %, 300 W, 720 MHz\nGPU 2: 100 %, 645 W, 1965 MHz\nGPU 3: 100 %, 641 W, 1950 MHz\n",
    ),
    # --- GPUs that are held and not used
    "idle": ("?gpu-allocated-idle", "Job 812 has been allocated 4 GPUs: 0 % util, 61 W, for 3 h.\n"),
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
    # --- further languages and layouts
    "hang: korean": ("?collective-hang", "학습이 멈춤. GPU 8개 모두 사용률 100%, 전력 95W / 700W\n"),
    "little: portuguese": ("?gpu-util-misleading-low-real-use", "GPU com 100% de uso, mas consome só 80 W de 350 W.\n"),
    "hang: italian": ("?collective-hang", "Tutte le GPU (8x A100 SXM4) al 100 % di utilizzo e 90 W ciascuna, il job è fermo.\n"),
    "little: turkish": ("?gpu-util-misleading-low-real-use", "GPU kullanımı %100 ama güç 90 W / 400 W\n"),
    "little: swedish": ("?gpu-util-misleading-low-real-use", "GPU-användning 100 %, effekt 95 W av 400 W\n"),
    "hang: russian": ("?collective-hang", "Обучение зависло: все 8 GPU загружены на 100 %, потребление 90 Вт из 400 Вт каждая.\n"),
    "hang: japanese": ("?collective-hang", "学習が止まった。GPU 0〜7 すべて使用率100%、電力は約95W(上限700W)\n"),
    "odd: french": (
        "?hang-one-rank-outside-collective",
        "Le job est bloqué : GPU 2 à 0 %, les autres à 100 % et 92 W (limite 400 W), 4 GPUs\n",
    ),
    "hang: chat": ("?collective-hang", "anyone seen this? util pegged at 100%, power stuck ~75w/400w on all 4 cards, nccl job frozen\n"),
    "hang: in one line": (
        "?collective-hang",
        "gpu0 100% 97W/700W, gpu1 100% 95W/700W, gpu2 100% 96W/700W, gpu3 100% 94W/700W - no progress for 20 min\n",
    ),
    "little: key and value": ("?gpu-util-misleading-low-real-use", "gpu_util=100 power_draw=91W power_limit=400W\n"),
    "little: json": ("?gpu-util-misleading-low-real-use", '{"gpu": 0, "util": "100%", "power": "91 W", "limit": "400 W"}\n'),
    "little: counters": (
        "?gpu-util-misleading-low-real-use",
        "DCGM (10 min avg): GPU_UTIL 100%, SM_ACTIVE 9%, TENSOR_ACTIVE 0.4%, DRAM_ACTIVE 3%\n",
    ),
    "hang: german table": (
        "?collective-hang",
        "| Knoten | GPU | Auslastung | Leistung | Limit |\n|---|---|---|---|---|\n| gpu-01 | 0 | 100 % | 92 W | 400 W |\n| gpu-01 | 1 | 100 % | 90 W | 400 W |\n| gpu-01 | 2 | 100 % | 91 W | 400 W |\n| gpu-01 | 3 | 100 % | 93 W | 400 W |\n",
    ),
    "hang: titles with commas": (
        "?collective-hang",
        "gpu,util_pct,power_w,limit_w\n0,100,92,400\n1,100,91,400\n2,100,95,400\n3,100,90,400\n",
    ),
    "phantom: spanish": (
        "?gpu-phantom-utilisation",
        "La GPU 3 marca 100 % de uso con 0 MiB usados y sin procesos, lleva así durante 2 días.\n",
    ),
    "limit: russian": ("?power-limit-lowered", "GPU: лимит 150 Вт вместо 300 Вт, SW_POWER_CAP, загрузка 100 %\n"),
    "limit: enforced": (
        "?power-limit-lowered",
        "GPU enforced power limit 325 W (default limit 700 W), SW Power Cap active, util 99 %, 1005 MHz\n",
    ),
    "heat: chinese": ("?thermal-slowdown", "GPU 2 温度 92°C，频率 900 MHz，HW_THERMAL_SLOWDOWN 激活，利用率 100%\n"),
    "limit: polish": ("?power-limit-lowered", "Limit mocy GPU: 120 W zamiast 250 W, SW_POWER_CAP, zegar 600 MHz, wykorzystanie 100%\n"),
    "hang: limit of the board": ("?collective-hang", "H200 SXM, GPU-Util stuck at 100%, 130W, no log lines, 8 GPUs\n"),
    "odd: ranges of ranks": ("?hang-one-rank-outside-collective", "ranks 0-6: 100 %, 95 W; rank 7: 0 %, 70 W. (limit 400 W)\n"),
    "hang: bars": ("?collective-hang", "node03: GPU0 100% 90W/400W | GPU1 100% 91W/400W | GPU2 100% 90W/400W | GPU3 100% 92W/400W\n"),
    "hang: share of the limit": ("?collective-hang", "GPU-Util 100 %, power 15 % of TDP on all 8 GPUs, training frozen\n"),
    "idle: notebook": ("?gpu-allocated-idle", "GPU 1: 38112MiB / 40960MiB, 0 %, 52 W, for 5 h; a notebook pod has it\n"),
    "slow: ranges": ("?slow-gpu-straggler", "H100 node: GPU 0-6 1965 MHz 690 W 100 %, GPU 7 780 MHz 310 W 100 %\n"),
    "hang: wrapped": (
        "?collective-hang",
        "Observed during the stall on the big machine downstairs: every GPU shows\n100 % utilization, yet board power is only 96 W, where the limit of the\ncards is 400 W.\n",
    ),
    # --- further near misses
    "far: powerlimit tuning": (
        "",
        "RTX 3090 power limit sweep\n| limit (W) | tok/s | power (W) | GPU util (%) |\n|---|---|---|---|\n| 200 | 40 | 199 | 100 |\n| 250 | 48 | 249 | 100 |\n| 350 | 52 | 340 | 100 |\n",
    ),
    "far: pl tuning prose": (
        "",
        "I run my 3090 at a 250 W power limit instead of the default 350 W; 97 % of the performance. Works great.\n",
    ),
    "far: mining": ("", "8x 3080, 220 W each, 98 MH/s, core clock 1200 MHz, mem 10500 MHz, fans 60 %, 55 °C.\n"),
    "far: spec": (
        "",
        "- GPU: 8x H100 SXM 80GB, 700 W TDP\n- CPU: 2x Xeon 8480, 350 W TDP\n- RAM: 2 TB, NVMe 30 TB\n- PSU: 6x 3000 W, 100 % redundant\n",
    ),
    "far: idle report": ("", "GPU 0: 0%, 25 W / 300 W, 12 MiB / 24576 MiB, 38 C\nGPU 1: 0%, 24 W / 300 W, 12 MiB / 24576 MiB, 36 C\n"),
    "far: inference decode": ("", "vLLM decode on one H100 SXM: GPU util 100 %, 320 W, batch 1, memory bound.\n"),
    "far: mixed jobs": ("", "gpu-01: GPU 0-3 98 % 650 W / 700 W, GPU 4-7 0 % 70 W / 700 W (free)\n"),
    "far: llama": ("", "llama.cpp on RTX 4090: 100 % GPU load, 260 W, 45 tok/s\n"),
    "far: cloud cost": ("", "We pay 3.20 $/h for one H100 (700 W). Utilisation over the month was 35 %.\n"),
    "far: carbon": ("", "Training took 1000 GPU hours on A100 (400 W TDP), 100 % renewable, PUE 1.1\n"),
    "far: codecarbon": (
        "",
        "[codecarbon INFO @ 12:00:01] Energy consumed for all GPUs : 0.0021 kWh. Total GPU Power : 61.2 W\n[codecarbon INFO @ 12:00:01] Energy consumed for RAM : 0.001 kWh. RAM Power : 11.7 W\n[codecarbon INFO] CPU Model on constant consumption mode: 100 % 42.5 W\n",
    ),
    "far: zeus": (
        "",
        "zeus: GPU 0 power limit 300 W, energy 1203 J, time 8.1 s\nzeus: GPU 0 power limit 250 W, energy 1100 J, time 8.9 s\n",
    ),
    "far: ml log": (
        "",
        "step 100 loss 2.1 gpu util 97% power 380W mem 71.2/80GB\nstep 200 loss 2.0 gpu util 98% power 391W mem 71.2/80GB\n",
    ),
    "far: ml log low": ("", "epoch 1 loss 2.1 gpu 35% 120W\nepoch 2 loss 2.0 gpu 41% 130W\n"),
    "far: laptop": ("", "RTX 4070 Laptop GPU: TGP 115 W, on battery 40 W, 100 % brightness.\n"),
    "far: dcgm doc": (
        "",
        "SM_ACTIVE of 0.8 or greater is a necessary condition for effective use; less than 0.5 likely indicates ineffective use. GPU util can be 100 %.\n",
    ),
    "far: explain": ("", "GPU-Util 100% does not say that all SMs are busy; a kernel with one thread shows 100 % at 90 W of 400 W.\n"),
    "far: review": ("", "The fan is at 100 % when the GPU hits 83 °C; the card draws 350 W, and drops to 1200 MHz.\n"),
    "far: k8s": ("", "GPU node gpu-03: cpu 98 % memory 45 % 512 GB / 1024 GB, nvidia.com/gpu 8/8 (100%)\n"),
    "far: ups": ("", "UPS load 100 %, 950 W of 1000 W, the GPU server is on battery\n"),
    "far: switch": ("", "IB switch power 120 W of 1300 W, PSU2 0 %, feeding GPU rack 3\n"),
    "far: fixed german": ("", "Problem: 8 GPUs bei 100 % und 90 W von 700 W. Ursache war ein alter Treiber, behoben.\n"),
    "far: postmortem fix": ("", "Symptom: all 8 GPUs 100 % at 95 W of 700 W.\nRoot cause: bad NIC. Fixed by replacing it.\n"),
    "far: goal": ("", "Goal: raise GPU util from 60 % to 98 % at 690 W of 700 W.\n"),
    "far: test plan": ("", "Test: expect all GPUs at 100 % and ~95 W of 700 W while the barrier holds.\n"),
    "far: warmup": ("", "During NCCL init all 8 GPUs are at 0 %, 90 W of 700 W.\n"),
    "far: memory model": ("", "The weights take 75.2 GB / 80 GB of the H100, 30 W idle.\n"),
    "far: ckpt": ("", "Checkpoint 79.9 GB / 80 GB written from GPU 0 at 100 %\n"),
    "far: resnet": ("", "ResNet-50 on V100: 98 % util, 245 W, 1530 MHz, 61 °C\n"),
    "far: t4": ("", "T4: 100 % util, 69 W / 70 W, SW Power Cap: Active, 585 MHz, 78 C\n"),
    "far: a100 app clock": ("", "A100 100 % util, 300 W / 400 W, 1095 MHz of 1410 MHz (application clocks)\n"),
    "far: thermal doc": ("", "HW Thermal Slowdown kicks in at 90 °C and halves the clock, SW Thermal Slowdown at 83 °C\n"),
    "far: clock doc": (
        "",
        "`clocks_event_reasons.sw_thermal_slowdown` and SW Power Cap are reported by nvidia-smi; 1980 MHz is the maximum.\n",
    ),
    "far: limits eq": ("", "nvidia-smi -q: current power limit 700 W, default power limit 700 W, util 99 %\n"),
    "far: limit deliberate": ("", "Cluster policy: all H100 run with a power limit of 600 W instead of 700 W.\n"),
    "far: h200": ("", "H200: 100 % @ 560 W\nH100: 100 % @ 690 W\nA100: 100 % @ 390 W\n"),
    "far: speed": ("", "GPU A 100 % vs GPU B 60 % of the speed at 250 W\n"),
    "far: pcie": ("", "GPU 3 uses 3 % of PCIe bandwidth at 99 % util and 610 W\n"),
    "far: sched": ("", "Job 12: 4 GPUs requested, 0 % priority, 72 h limit, 90 W\n"),
    "far: util avg": ("", "Average GPU utilization over the run: 87.2 %, average power 512 W (TDP 700 W), peak memory 71 GB\n"),
    "far: two classes": ("", "train: GPU 0-3 at 100 % and 380 W; eval: GPU 4-7 at 30 % and 120 W (limit 400 W)\n"),
    "far: percent of peak": ("", "cuBLAS 92 % of peak at 680 W, my kernel 12 % of peak at 400 W, GPU util 100 % for both, H100 SXM\n"),
    "apart: idle beside": ("", "GPU 0 was at 0 % and 25 W for 2 days while the training ran on GPU 1 at 98 % and 340 W of 350 W.\n"),
    "apart: healthy ranks": ("", "rank 0: 98 %, 655 W\nrank 1: 97 %, 660 W\nrank 2: 99 %, 649 W\nlimit 700 W, H100\n"),
    "apart: pipeline": ("", "GPU 0 92 % 610 W, GPU 1 88 % 600 W, GPU 2 90 % 605 W, GPU 3 71 % 520 W (PP stage 3), H100 SXM\n"),
    "apart: eval one": ("", "Serving on 4x L40S: idle most of the day, 0 %, 35 W of 350 W each, bursts to 90 %\n"),
    "apart: undervolt": ("", "RTX 4090 undervolted: limit 300 W (default 450 W), 97 % util, 298 W, temps 61 °C. On purpose, quiet.\n"),
    "apart: thermals ok": ("", "GPU 0: 83 °C, 1755 MHz, 99 %, 298 W / 300 W, SW Power Cap\n"),
    "apart: reasons list": ("", "Throttle reasons: Idle: Active, SW Power Cap: Not Active, HW Slowdown: Not Active, 210 MHz, 15 W, 0 %\n"),
    "apart: spec table": (
        "",
        "| card | TDP | boost | memory |\n|---|---|---|---|\n| A100 | 400 W | 1410 MHz | 80 GB |\n| H100 | 700 W | 1980 MHz | 80 GB |\n",
    ),
    "apart: hw review table": (
        "",
        "| GPU | util % | power W | temp C | clock MHz |\n|---|---|---|---|---|\n| 4090 | 99 | 431 | 66 | 2730 |\n| 3090 | 99 | 347 | 71 | 1845 |\n",
    ),
    "apart: fix list": ("", "- [x] GPU util 100 % but 95 W of 400 W -> fixed (NCCL upgrade)\n- [ ] docs\n"),
    "apart: changelog": ("", "Changelog: util 35 % → 98 %, power 210 W → 660 W on all 8 GPUs (H100 SXM)\n"),
    "apart: sched rule": ("", "Jobs with GPU util 0 % for 2 h are cancelled (60 W draw).\n"),
    "apart: nominal": ("", "nominal: 8 GPUs, 100 % util, 95 W of 700 W is what the idle barrier shows in healthy runs\n"),
    "apart: cpu row": ("", "node01 cpu 100 % 280 W of 350 W; gpu 97 % 640 W of 700 W\n"),
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
