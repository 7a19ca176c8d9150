"""Machines whose GPUs are watched, with a pod of a job on them: what their commands, its log and Prometheus say."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from gpudoctor.library.index import library
from tests.nodes.case import Case
from tests.nodes.cases_thermal import FIRST, QUIET, WATCH, csv
from tests.nodes.error_metrics import PROMETHEUS, SOUND, read
from tests.nodes.smi import Card, Process, smi_xml
from tests.nodes.smi_table import smi_table

BOOK = "training-stall"
BOOKS = library().runbooks
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
GIVEN = (
    "Filesystem              Inodes     IUsed     IFree IUse% Mounted on\n"
    "/dev/nvme0n1p2        29212672    912344  28300328    4% /\n"
    "10.0.8.4:/export/ml 3276800000 120000000 3156800000   4% /mnt/ml\n"
)


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
FULL_LOAD = cards(power=641.0, temperature=64, utilisation=100)
POLLS: dict[str, Any] = {"utilisation": 100, "power": 121.4, "temperature": 41, "tlimit": 45}
AT_REST: dict[str, Any] = {"utilisation": 0, "power": 88.2}
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


def unready(case: Case) -> Case:
    """The same, of a pod that runs and isn't ready."""
    conditions = [
        one | ({"status": "False"} if one["type"] in ("Ready", "ContainersReady") else {}) for one in RUNS["status"]["conditions"]
    ]
    return case._replace(answers=case.answers | {POD: json.dumps(RUNS | {"status": RUNS["status"] | {"conditions": conditions}})})


def stack(pid: int, *frames: str) -> str:
    """A dump of py-spy with one thread."""
    body = "".join(f"    {frame}\n" for frame in frames)
    return f'Process {pid}: /usr/bin/python3 train.py\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread {pid} (active): "MainThread"\n{body}'


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


def early(text: str, minutes: int) -> str:
    """A log whose lines were written some minutes earlier."""
    made = []
    for line in text.splitlines():
        at = int(line[11:13]) * 60 + int(line[14:16]) - minutes
        made.append(f"{line[:11]}{at // 60:02d}:{at % 60:02d}{line[16:]}\n")
    return "".join(made)


def history(book: str, seconds: int) -> str:
    """A runbook's question to Prometheus as it is recorded."""
    step = next(one for one in BOOKS[book].steps if one.id == "history")
    words = [text.replace("${input.prometheus}", PROMETHEUS) for text in step.run]
    return shlex.join([*words[:3], str(seconds), words[4]])


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


def kept(metrics: dict[str, list[list[float]]], clocks: dict[str, list[list[float]]] | None = None, **more: Any) -> Case:
    """A look at the history alone; `clocks` is what the exporter says of them."""
    answers = {history("gpu-use", 3600): exported(metrics, **more), history("thermal-throttle", 300): exported(clocks or {})}
    return Case(BOOK, {"prometheus": PROMETHEUS, "for": 0.0}, answers | read(SOUND))


def table(shown: tuple[Card, ...]) -> Case:
    """A machine that is looked at once, and answers with the table."""
    return node(shown, samples=1, smi=smi_table(list(shown)))


def seen_by(book: str, cases: dict[str, Case]) -> dict[str, Case]:
    """The same machines, looked at by another runbook with what it takes of the inputs."""
    return {
        name: case._replace(runbook=book, inputs={key: value for key, value in case.inputs.items() if key in BOOKS[book].inputs})
        for name, case in cases.items()
    }


UTIL, POWER, LIMIT = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_ENFORCED_POWER_LIMIT"
USED, FREE, ENGINE = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
ACTIVE, TENSOR, DRAM = "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE"
