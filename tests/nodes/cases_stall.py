"""Jobs whose ranks wait for each other or for data, get on slowly, or stop; and one that works."""

from __future__ import annotations

import json

from tests.nodes.case import Case, Said
from tests.nodes.cases_thermal import QUIET, measured
from tests.nodes.watched import (
    AT_REST,
    BOOK,
    DF,
    FREE,
    GIVEN,
    HEAD,
    IDLE,
    INODES,
    LIMIT,
    LOGS,
    POD,
    POLLS,
    POWER,
    PS,
    ROOM,
    RUNS,
    USED,
    UTIL,
    WAVES,
    WELL,
    cards,
    changed,
    early,
    kept,
    log,
    megatron,
    node,
    stack,
    stacks,
    unready,
)

LOCKED = (
    "acquire (logging/__init__.py:935)",
    "handle (logging/__init__.py:1025)",
    "__getitem__ (app/images.py:41)",
    "_worker_loop (torch/utils/data/_utils/worker.py:351)",
)
DECODES = (
    "load (PIL/ImageFile.py:300)",
    "__getitem__ (app/images.py:44)",
    "fetch (torch/utils/data/_utils/fetch.py:52)",
    "_worker_loop (torch/utils/data/_utils/worker.py:351)",
)
SPACE = "S     PID     TIME WCHAN                            COMMAND\n"
STANDS = SPACE + "S   48391 00:48:02 futex_wait_queue                 pt_data_worker\n"
REDUCES = ("all_reduce (torch/distributed/distributed_c10d.py:2810)", "wrapper (torch/distributed/c10d_logger.py:81)", "step (train.py:88)")
LOADS = ("wait (threading.py:355)", "get (queue.py:180)", "_try_get_data (torch/utils/data/dataloader.py:1243)", "main (train.py:61)")
SAVES = (
    "write (torch/serialization.py:784)",
    "save (torch/serialization.py:944)",
    "save_checkpoint (trainer.py:210)",
    "main (train.py:95)",
)
hot = changed(cards(power=640.0), 2, temperature=87, tlimit=-1, power=402.0, sm_clock=1290, active=("sw_thermal",))
unread = {"error": 3, "text": "Not Supported"}
bare = json.loads(measured(*[cards(2, power=69.8, active=("idle",))] * 3))
for one in bare["samples"]:
    one |= {"utilisation": unread, "reasons": unread, "pstate": unread, "power": one["power"] + one["index"]}
busy = json.loads(measured(*[cards(2, utilisation=100)] * 3))
for one in busy["samples"]:
    one |= {"power": unread, "power_limit": unread, "power_limit_default": unread, "pstate": unread}

CASES: dict[str, Case] = {
    "stall-healthy": node(*WAVES, *WAVES, log=log(*megatron(60))),
    "stall-loss-nan": node(
        *WAVES, *WAVES, log=log(*megatron(60), after=" iteration 61/ 120 | elapsed time per iteration (ms): 11800.0 | lm loss: NAN |")
    ),
    "stall-pod-not-ready": unready(node(*WAVES, *WAVES, log=log(*megatron(60)))),
    "stall-hang": node(cards(**POLLS), stacks=stacks(REDUCES, REDUCES, REDUCES, REDUCES)),
    "stall-hang-one-look": node(cards(**POLLS), inputs={"for": 0.0}),
    "stall-power-alone": Case(
        BOOK,
        {"nodes": "gpu-01", "local": True, "for": 3.0},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvml samples 3 1": json.dumps(bare),
            f"gpu-01: {PS}": WELL,
            f"gpu-01: {DF}": ROOM,
            f"gpu-01: {INODES}": GIVEN,
        },
    ),
    "stall-one-outside": node(changed(cards(**POLLS), 2, **IDLE), stacks=stacks(REDUCES, REDUCES, LOADS, REDUCES)),
    "stall-one-saves": node(changed(cards(**POLLS), 0, **IDLE), stacks=stacks(SAVES, REDUCES, REDUCES, REDUCES)),
    "stall-input": node(cards(**IDLE), stacks=stacks(LOADS, LOADS, LOADS, LOADS)),
    "stall-straggler": node(
        hot, changed(hot, 2, sm_clock=1215), log=log(*megatron(120, lambda number: 11800.0 if number < 60 else 16400.0 + number % 9))
    ),
    "stall-named-slow": node(
        *WAVES,
        log=log(
            *megatron(40), after="[WARNING] STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: {13}"
        ),
    ),
    "stall-told-by-tools": node(
        *WAVES,
        log=log(
            "[2026-03-01 11:58:00] | MnRtt/Rnk: 3453.08ms/8 | MxRtt/Rnk: 5180.20ms/21 | MnPwr/Rnk: 601796W/8 | MxPwr/Rnk: 683801W/18",
            "Your program is HIGHLY input-bound because 61.4% of the total step time sampled is waiting for input.",
            "  * This job did not use the GPU. Please resolve this before running additional jobs.",
        ),
    ),
    "stall-watchdog": node(
        *WAVES,
        log=log(
            "[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 600.00 seconds.",
            "[rank3]:[E ProcessGroupNCCL.cpp:1554] [PG ID 0 PG GUID 0(default_pg) Rank 3] ProcessGroupNCCL's watchdog got stuck for "
            "480 seconds without making progress in monitoring enqueued collectives.",
        ),
    ),
    "stall-one-rank-ends": node(
        *WAVES, log=log(*(f"[rank{n}]: iter {step} loss 7.7 lr 3.0e-4" for step in range(40) for n in range(3) if n != 1 or step < 22))
    ),
    "stall-host-memory": node(
        *WAVES,
        log=log(
            "RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
            "34359738368 bytes. Error code 12 (Cannot allocate memory)"
        ),
    ),
    "stall-interrupted": node(
        *WAVES,
        log=log(
            '  File "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", line 1132, in _try_get_data',
            "KeyboardInterrupt",
            gap=1,
        ),
    ),
    "stall-no-step": node(cards(**POLLS), log=early(log(*megatron(120)), 47)),
    "stall-waits-for-data": node(
        *WAVES,
        log=log(
            *(
                f"Epoch(train)  [1][{50 * number:5d}/10000]  lr: 1.0e-03  time: 0.91{number % 10}  data_time: 0.52  loss: 1.2"
                for number in range(1, 41)
            )
        ),
    ),
    "stall-driver": node(*WAVES, ps=HEAD + f"D   48213   51034 {'os_acquire_rwlock_write':<32} python3\n"),
    "stall-measured-work": node(
        *WAVES,
        log=log(
            " iteration      40/  50000 | consumed samples: 10240 | elapsed time per iteration (ms): 4800.0 | lm loss: 2.31E+00 |",
            "    batch-generator ................................: (2900.10, 3010.40)",
            "GPU Utilization            98.1 %",
            "Est. SM Efficiency         3.0 %",
            '[pid 48260] pread64(31, "\\0\\0"..., 262144, 88080384) = 262144 <41.483011>',
            "           ops/s       rpc bklog",
            "           0.000         812.000",
            "{'name': 'a'}",
            '{"state":"running","heartbeatAt":"2026-03-01T11:55:00Z","summaryMetrics":{"_step":900,"_timestamp":1772361000.5}}',
            "Memory Efficiency: 99.90% of 64.00 GB",
            "/var/spool/slurmd/job4242/slurm_script: line 31: 48213 Killed                  python train.py",
            "2026-03-01T12:00:00.401220118Z container kill 4f1c9a2b (image=trainer:2.1, name=train, signal=15)",
        ),
    ),
    "stall-measured-machine": node(
        cards(utilisation=31, power=240.0),
        cards(utilisation=28, power=220.5),
        log=log("nr_periods 81220", "nr_throttled 79012"),
    ),
    "stall-kept-fell": kept(
        {
            UTIL: [[98.0] * 25 + [100.0] * 15] * 4,
            POWER: [[640.0, 410.0] * 12 + [640.0] + [118.0] * 15] * 4,
            LIMIT: [[700.0] * 40] * 4,
            USED: [[61020.0] * 40] * 4,
            FREE: [[20100.0] * 40] * 4,
        }
    ),
    "stall-no-answer": node(
        *WAVES,
        smi=Said(failure="timeout"),
        ps=Said(failure="timeout"),
        df=Said(failure="refused", exit=1, reason="df: permission denied"),
    ),
    "stall-list-open": node(*WAVES, log=log("$ ps -ef", "^C", "$ uptime", gap=1)),
    "stall-looks-open": node(*WAVES, log=log("$ ssh gpu-04 ps -ef", "^C", "$ ls /mnt/team", "^C", "$ uptime", gap=1)),
    "stall-two-at-once": node(cards(2, **POLLS), inputs={"for": 0.0}),
    "stall-silent-at-once": node(cards(2, **POLLS), log=early(log(*megatron(120)), 47), inputs={"for": 0.0}),
    "stall-ray-data": node(
        *WAVES,
        log=log(
            "* Total time overall: 412.53s",
            "    * Total time in Ray Data iterator initialization code: 6.86s",
            "    * Total time user thread is blocked by Ray Data iter_batches: 309.76s",
            "    * Total execution time for user thread: 95.9s",
            gap=0,
        ),
    ),
    "stall-unequal": node(
        *WAVES,
        log=log(
            "UserWarning: There is an imbalance between your GPUs. You may want to exclude GPU 1 which has less than 75% of the memory"
        ),
    ),
    "stall-interrupted-worker": node(
        *WAVES,
        log=log(
            '  File "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py", line 302, in _worker_loop',
            "    return self._semlock.__enter__()",
            "KeyboardInterrupt",
            gap=1,
        ),
    ),
    "stall-worker-stands": node(*WAVES, ps=[STANDS, STANDS]),
    "stall-worker-moves": node(*WAVES, ps=[STANDS, STANDS.replace("00:48:02", "00:48:09")]),
    "stall-worker-in-lock": node(cards(2, **AT_REST), stacks={48213: stack(48213, *LOADS), 48214: stack(48214, *LOCKED)}),
    "stall-worker-decodes": node(
        cards(2, **AT_REST), stacks={48213: stack(48213, *LOADS).replace("(active)", "(idle)"), 48214: stack(48214, *DECODES)}
    ),
    "stall-server": node(
        *WAVES,
        log=log(
            "  http_req_duration",
            "  \u2717 'p(95)<500' p(95)=812.31ms",
            "E0301 12:00:10.412031 1 infer_handler.cc:184] [request id: 81] Exceeds maximum queue size",
            gap=1,
        ),
    ),
    "stall-busy-no-step": Case(
        BOOK,
        {"nodes": "gpu-01", "local": True, "for": 3.0, "pod": "train-0", "namespace": "ml"},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvml samples 3 1": json.dumps(busy),
            f"gpu-01: {PS}": WELL,
            f"gpu-01: {DF}": ROOM,
            f"gpu-01: {INODES}": GIVEN,
            LOGS: log("[WARNING] [RankMonitorServer:34] Did not get subsequent heartbeat. Waited 600.00 seconds."),
            POD: json.dumps(RUNS),
        },
    ),
    "stall-loader-without-workers": node(
        cards(4, utilisation=31, power=240.5), log=log("DataLoader(batch_size=24, num_workers=0, pin_memory=True)")
    ),
    "stall-before-the-weights": node(
        cards(2, **POLLS | {"memory_used": 412}),
        log=log("(Worker_TP1 pid=922) INFO 03-01 11:02:51 [pynccl.py:103] vLLM is using nccl==2.27.5"),
        inputs={"for": 0.0},
    ),
    "stall-hot-memory": node(*WAVES, log=log("VRAM Temps: |  112°c |")),
}
