"""Machines whose GPUs are held and not used, jobs that wait, file systems without room; and one that works."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from gpudoctor.runbook.index import library
from tests.nodes.case import Case, Said
from tests.nodes.cases_thermal import FIRST, PROMETHEUS, QUIET, WATCH, csv, measured
from tests.nodes.smi import Card, Process, smi_xml

BOOK = "training-stall"
STEPS = {step.id: step for step in library().runbooks[BOOK].steps} if BOOK in library().runbooks else {}
PS, DF, INODES = "ps -eo state,pid,etimes,wchan:32,comm", "df -P", "df -Pi"
LOGS = "kubectl logs train-0 --namespace ml --container main --tail=20000 --timestamps"
POD = "kubectl get pods train-0 --namespace ml -o json"
RUNS = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "train-0", "namespace": "ml", "uid": "3f2a", "creationTimestamp": "2026-03-01T06:00:00Z"},
    "spec": {
        "nodeName": "gpu-01",
        "containers": [{"name": "main", "image": "registry.example/ml/trainer:2.1", "resources": {"limits": {"nvidia.com/gpu": "4"}}}],
    },
    "status": {
        "phase": "Running",
        "startTime": "2026-03-01T06:00:02Z",
        "conditions": [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")],
        "containerStatuses": [
            {
                "name": "main",
                "ready": True,
                "started": True,
                "restartCount": 0,
                "image": "registry.example/ml/trainer:2.1",
                "state": {"running": {"startedAt": "2026-03-01T06:00:09Z"}},
            }
        ],
    },
}
HEAD = "S     PID ELAPSED WCHAN                            COMMAND\n"
WELL = HEAD + "S       1  864000 do_epoll_wait                    systemd\nR   48213   51034 -                                python3\n"
ROOM = (
    "Filesystem            1024-blocks       Used Available Capacity Mounted on\n"
    "/dev/nvme0n1p2          459850824  121340036 315078636      28% /\n"
    "tmpfs                   132006528          0 132006528       0% /dev/shm\n"
    "/dev/loop3                  65536      65536         0     100% /snap/core20/2318\n"
    "10.0.8.4:/export/ml   52428800000 31457280000 20971520000      60% /mnt/ml\n"
)
FULL = ROOM.replace("31457280000 20971520000      60%", "52428800000           0     100%")
GIVEN = (
    "Filesystem              Inodes     IUsed     IFree IUse% Mounted on\n"
    "/dev/nvme0n1p2        29212672    912344  28300328    4% /\n"
    "10.0.8.4:/export/ml 3276800000 120000000 3156800000   4% /mnt/ml\n"
)
DAEMON = "rpc_wait_bit_killable"


def cards(count: int = 4, **changes: Any) -> tuple[Card, ...]:
    """GPUs of one job, at work unless told otherwise."""
    made = []
    for index in range(count):
        work = (Process(48213 + index, "/usr/bin/python3", 61020),)
        made.append(replace(FIRST, index=index, pci=f"0000:{0x1B + 0x10 * index:02x}:00.0", processes=work, **changes))
    return tuple(made)


def changed(base: tuple[Card, ...], which: int, **changes: Any) -> tuple[Card, ...]:
    """The cards with one of them changed."""
    return tuple(replace(card, **changes) if card.index == which else card for card in base)


WAVES = (cards(power=652.3), cards(power=388.1), cards(power=671.0), cards(power=402.6))
POLLS: dict[str, Any] = {"utilisation": 100, "power": 121.4, "temperature": 41, "tlimit": 45}
IDLE: dict[str, Any] = {"utilisation": 0, "power": 88.2, "temperature": 36, "tlimit": 50, "active": ("idle",), "sm_clock": 1980}


def node(*courses: tuple[Card, ...], samples: int = 5, inputs: dict[str, Any] | None = None, **said: Any) -> Case:
    """A machine that is watched: its GPUs at the moments (the last stays), and what ps, df, df -Pi, smi, py-spy and the log answer."""
    seconds = 2.0 * (samples - 1)
    moments = [courses[min(number, len(courses) - 1)] for number in range(samples)]
    names = {"ps": f"gpu-01: {PS}", "df": f"gpu-01: {DF}", "inodes": f"gpu-01: {INODES}", "smi": "gpu-01: nvidia-smi -q -x", "log": LOGS}
    answers: dict[str, Any] = {
        "gpu-01: dmesg --time-format=iso": QUIET,
        names["smi"]: smi_xml(list(courses[0])),
        f"gpu-01: {WATCH}": [csv(shown, 2 * number) for number, shown in enumerate(moments)],
        names["ps"]: WELL,
        names["df"]: ROOM,
        names["inodes"]: GIVEN,
    }
    for key, value in said.items():
        if key == "stacks":
            answers |= {f"gpu-01: py-spy dump --nonblocking --pid {pid}": text for pid, text in value.items()}
        else:
            answers[names[key]] = value
    given = {"nodes": "gpu-01", "for": seconds, **(inputs or {})}
    if "log" in said:
        given |= {"pod": "train-0", "namespace": "ml"}
        answers[POD] = json.dumps(RUNS)
    return Case(BOOK, given, answers)


def stack(pid: int, *frames: str) -> str:
    """A dump of py-spy with one thread."""
    body = "".join(f"    {frame}\n" for frame in frames)
    return f'Process {pid}: /usr/bin/python3 train.py\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread {pid} (active): "MainThread"\n{body}'


REDUCES = ("all_reduce (torch/distributed/distributed_c10d.py:2810)", "wrapper (torch/distributed/c10d_logger.py:81)", "step (train.py:88)")
LOADS = ("wait (threading.py:355)", "get (queue.py:180)", "_try_get_data (torch/utils/data/dataloader.py:1243)", "main (train.py:61)")
SAVES = (
    "write (torch/serialization.py:784)",
    "save (torch/serialization.py:944)",
    "save_checkpoint (trainer.py:210)",
    "main (train.py:95)",
)


def stacks(*frames: tuple[str, ...]) -> dict[int, str]:
    """What each process does, by its number."""
    return {48213 + number: stack(48213 + number, *one) for number, one in enumerate(frames)}


def log(*lines: str, gap: int = 12, after: str = "") -> str:
    """The log of a pod: a line every `gap` seconds, the last before twelve; `after` is written now."""
    start = 12 * 3600 - gap * len(lines)
    moments = [start + gap * number for number in range(len(lines))]
    text = "".join(
        f"2026-03-01T{at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}.100000000Z {line}\n"
        for at, line in zip(moments, lines, strict=True)
    )
    return text + (f"2026-03-01T11:59:59.900000000Z {after}\n" if after else "")


def megatron(count: int, milliseconds: Any = 11800.0) -> list[str]:
    """Megatron's lines of progress."""
    return [
        f" iteration {number:8d}/  50000 | consumed samples: {256 * number:12d} | elapsed time per iteration (ms): "
        f"{milliseconds(number) if callable(milliseconds) else milliseconds + number % 7:.1f} | lm loss: 2.31E+00 |"
        for number in range(1, count + 1)
    ]


def titan(step: int) -> str:
    """torchtitan's line of progress, of a program that leaks."""
    return f"step: {step}  loss:  2.31  memory: {30 + step / 2:.2f}GiB({40 + step / 2:.2f}%)  tps: 7,12{step % 10}  mfu: 41.9%"


def early(text: str, minutes: int) -> str:
    """A log whose lines were written some minutes earlier."""
    made = []
    for line in text.splitlines():
        at = int(line[11:13]) * 60 + int(line[14:16]) - minutes
        made.append(f"{line[:11]}{at // 60:02d}:{at % 60:02d}{line[16:]}\n")
    return "".join(made)


def history() -> str:
    """The question to Prometheus as it is recorded."""
    words = [text.replace("${input.prometheus}", PROMETHEUS) for text in STEPS["history"].run] if STEPS else [""] * 5
    return shlex.join([*words[:3], "3600", words[4]])


def throttle_history() -> str:
    """What the included thermal-throttle asks of it."""
    step = next(one for one in library().runbooks["thermal-throttle"].steps if one.id == "history")
    words = [text.replace("${input.prometheus}", PROMETHEUS) for text in step.run]
    return shlex.join([*words[:3], "300", words[4]])


def exported(metrics: dict[str, list[list[float]]], pod: str = "train-0", every: int = 60) -> str:
    """What Prometheus keeps: metric → for each GPU its values, the last one now."""
    result = []
    for metric, gpus in metrics.items():
        for index, values in enumerate(gpus):
            labels = {
                "__name__": metric,
                "Hostname": "gpu-07",
                "UUID": f"GPU-5a0c1f2e-0000-4000-8000-{index:012d}",
                "gpu": str(index),
                "pci_bus_id": f"00000000:{0x1B + 0x10 * index:02X}:00.0",
                "modelName": "NVIDIA H100 80GB HBM3",
                "pod": "nvidia-dcgm-exporter-x7",
                **({"exported_pod": pod, "exported_namespace": "ml", "exported_container": "main"} if pod else {}),
            }
            begin = 1772366400 - every * (len(values) - 1)
            result.append({"metric": labels, "values": [[begin + every * at, str(value)] for at, value in enumerate(values)]})
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def kept(metrics: dict[str, list[list[float]]], **more: Any) -> Case:
    """A look at the history alone."""
    empty = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}})
    return Case(BOOK, {"prometheus": PROMETHEUS, "for": 0.0}, {history(): exported(metrics, **more), throttle_history(): empty})


UTIL, POWER, LIMIT = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT"
USED, FREE, ENGINE = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
ACTIVE, TENSOR, DRAM = "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE"
SERVER = (
    "INFO 03-01 12:00:10 [loggers.py:123] Engine 000: Avg prompt throughput: 5120.3 tokens/s, Avg generation throughput: 812.0 tokens/s, "
    "Running: 256 reqs, Waiting: {} reqs, GPU KV cache usage: {}%, Prefix cache hit rate: 3.1%"
)
hot = changed(cards(power=640.0), 2, temperature=87, tlimit=-1, power=402.0, sm_clock=1290, active=("sw_thermal",))
unread = {"error": 3, "text": "Not Supported"}
bare = json.loads(measured(*[cards(2, power=69.8, active=("idle",))] * 3))
for one in bare["samples"]:
    one |= {"utilisation": unread, "reasons": unread, "pstate": unread, "power": one["power"] + one["index"]}

CASES: dict[str, Case] = {
    "stall-healthy": node(*WAVES, *WAVES, log=log(*megatron(60))),
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
    "stall-idle": node(cards(**IDLE)),
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
    "stall-dead-mount": node(*WAVES, log=log("OSError: [Errno 116] Stale file handle: '/mnt/ml/shard-00012.tar'")),
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
    "stall-stack-once": node(*WAVES, log=log("[<0>] rpc_wait_bit_killable+0x24/0xb0 [sunrpc]")),
    "stall-server-once": node(*WAVES, log=log(SERVER.format(431, 99.8), gap=10)),
    "stall-far-clock": node(changed(cards(power=231.0, utilisation=100, sm_clock=345), 2, power=652.3, sm_clock=1755)),
    "stall-swings": node(*(cards(utilisation=98 if number % 4 == 3 else 0, power=402.6) for number in range(12)), samples=12),
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
    "stall-memory-steps": node(
        *WAVES,
        log=log(
            *(titan(number) for number in range(1, 81)),
            after="[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.",
        ),
    ),
    "stall-memory-steps-still": node(
        *WAVES,
        log=log(*(titan(number) for number in range(1, 81))),
    ),
    "stall-space": node(*WAVES, df=FULL),
    "stall-local-space": node(*WAVES, df=ROOM.replace("121340036 315078636      28%", "459850824         0     100%")),
    "stall-df-hangs": node(
        *WAVES,
        df=Said(failure="timeout", reason="no answer within 20 s"),
        ps=HEAD + f"D   48213   51034 {DAEMON:<32} python3\n",
    ),
    "stall-list-once": node(
        *WAVES, ps=[HEAD + f"D   48213   51034 {DAEMON:<32} python3\n", Said(failure="timeout", reason="no answer within 30 s")]
    ),
    "stall-driver": node(*WAVES, ps=HEAD + f"D   48213   51034 {'os_acquire_rwlock_write':<32} python3\n"),
    "stall-quota": node(
        *WAVES, log=log(*megatron(40), after="OSError: [Errno 122] Disk quota exceeded: '/lustre/ml/ckpt/step_40/optim.pt'")
    ),
    "stall-no-space": node(
        *WAVES, log=log(*megatron(40), after="OSError: [Errno 28] No space left on device: '/mnt/ml/ckpt/step_40/optim.pt'")
    ),
    "stall-server": node(*WAVES, log=log(*(SERVER.format(431 + number, 99.8) for number in range(20)), gap=10)),
    "stall-server-well": node(*WAVES, log=log(*(SERVER.format(0, 61.2) for _ in range(20)), gap=10)),
    "stall-measured-service": node(
        *WAVES,
        log=log(
            "agreed with product: p99 TTFT < 2 s, errors < 1 %",
            "P99 TTFT (ms):                           9120.44",
            "         Aggregated              8211   612(7.45%) |   4110     180   60009   3100 |   18.24        1.36",
            "Request throughput (req/s):              9.40",
            "Request goodput (req/s):                 1.10",
        ),
    ),
    "stall-measured-work": node(
        *WAVES,
        log=log(
            " iteration      40/  50000 | consumed samples: 10240 | elapsed time per iteration (ms): 4800.0 | lm loss: 2.31E+00 |",
            "    batch-generator ................................: (2900.10, 3010.40)",
            "GPU Utilization            98.1 %",
            "Est. SM Efficiency         3.0 %",
            "run            image          tok/s/gpu",
            "base-1         trainer:2.0    10402",
            "base-2         trainer:2.0    10398",
            "base-3         trainer:2.1    7120",
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
    "stall-server-refuses": node(
        *WAVES, log=log("E0301 12:00:10.412031 1 infer_handler.cc:184] [request id: 81] Exceeds maximum queue size")
    ),
    "stall-kept-well": kept(
        {
            UTIL: [[97.0] * 40] * 4,
            USED: [[61020.0] * 40] * 4,
            FREE: [[20100.0] * 40] * 4,
            ACTIVE: [[0.81] * 40, [0.82] * 40, [0.8] * 40, [0.83] * 40],
        }
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
    "stall-kept-idle": kept({UTIL: [[0.0] * 60] * 2, USED: [[4120.0] * 60] * 2, FREE: [[76900.0] * 60] * 2}),
    "stall-kept-little": kept(
        {ENGINE: [[0.999] * 30], ACTIVE: [[0.14] * 30], TENSOR: [[0.0] * 30], DRAM: [[0.001] * 30], USED: [[61020.0] * 30]}
    ),
    "stall-kept-no-program": kept({UTIL: [[100.0] * 30], USED: [[0.0] * 30], FREE: [[81000.0] * 30], ACTIVE: [[0.0] * 30]}, pod=""),
    "stall-kept-unlike": kept(
        {UTIL: [[99.0] * 30] * 4, ACTIVE: [[0.81] * 30, [0.82] * 30, [0.55] * 30, [0.8] * 30], USED: [[61020.0] * 30] * 4}
    ),
    "stall-kept-stages": kept(
        {UTIL: [[99.0] * 30] * 4, ACTIVE: [[0.84] * 30, [0.62] * 30, [0.61] * 30, [0.43] * 30], USED: [[61020.0] * 30] * 4}
    ),
    "stall-kept-memory": kept(
        {
            UTIL: [[93.0] * 40] * 2,
            USED: [[79800.0] * 40, [40000.0 + 500 * number for number in range(40)]],
            FREE: [[1200.0] * 40, [41000.0 - 500 * number for number in range(40)]],
        }
    ),
    "stall-no-answer": node(
        *WAVES,
        smi=Said(failure="timeout", reason="nvidia-smi did not answer within 30 s"),
        ps=Said(failure="timeout", reason="no answer within 30 s"),
        df=Said(failure="refused", exit=1, reason="df: permission denied"),
    ),
}
