"""The environment of distributed jobs on one machine, in its processes, and in pods, and what is wrong with it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from gpudoctor.library.index import library
from tests.nodes import nvlink
from tests.nodes.case import Case, Said
from tests.nodes.rdma import Hca, addressed, sysfs
from tests.nodes.smi import Card, Process, smi_xml

BOOK = "nccl-env"
STEPS = {step.id: step for step in library().runbooks[BOOK].steps}
RUN = {name: shlex.join(step.run) for name, step in STEPS.items() if step.run}
PIDS = (4711, 4712)
CARDS = [
    Card(index, f"0000:{bus}:00.0", processes=(Process(pid, "/usr/bin/python3", 70_000),))
    for index, (bus, pid) in enumerate(zip(("1b", "43"), PIDS, strict=True))
]
INFINIBAND = [Hca(0), Hca(1)]
ROCE = [Hca(0, layer="Ethernet", address="10.20.0.11"), Hca(1, layer="Ethernet", address="10.20.1.11")]
GOOD = {
    "NCCL_DEBUG": "WARN",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_IB_HCA": "=mlx5_0,mlx5_1",
    "NCCL_IB_TIMEOUT": "22",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "3",
    "CUDA_DEVICE_MAX_CONNECTIONS": "1",
    "MASTER_ADDR": "10.20.0.11",
    "MASTER_PORT": "29500",
    "WORLD_SIZE": "4",
    "LOCAL_WORLD_SIZE": "2",
}
LAUNCHED = {name: GOOD[name] for name in ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "LOCAL_WORLD_SIZE")}
HEAD = "Inter-|   Receive                                                |  Transmit\n"
COLUMNS = " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"


def net_dev(*names: str) -> str:
    """/proc/net/dev of a machine with these interfaces."""
    rows = [
        f"{name:>6}: 1296133   10291    0    0    0     0          0         0   934411    8820    0    0    0     0       0          0"
        for name in names
    ]
    return HEAD + COLUMNS + "\n".join(rows) + "\n"


def environ(rank: int, variables: dict[str, str]) -> str:
    """What of /proc/PID/environ leaves the machine."""
    return "".join(f"{name}={value}\0" for name, value in {"RANK": str(rank), "LOCAL_RANK": str(rank), **variables}.items())


INTERFACES = ("lo", "eth0", "ib0", "ib1", "docker0")


def machine(
    adapters: list[Hca] | None = None,
    *,
    world: str = "4",
    conf: str | Said | None = None,
    bare: tuple[str, ...] = (),
    cards: list[Card] = CARDS,
    **said: str,
) -> Case:
    """A machine with two ranks of four whose variables are `GOOD` but for those that are `said`; `bare` interfaces have no address."""
    variables = {**GOOD, "WORLD_SIZE": world, **said}
    answers: dict[str, Any] = {
        RUN["interfaces"]: net_dev(*INTERFACES),
        RUN["addresses"]: addressed({name: "" if name in bare else f"10.{at}.0.7" for at, name in enumerate(INTERFACES)}),
        RUN["adapters"]: sysfs(INFINIBAND if adapters is None else adapters),
        RUN["conf"]: conf or Said("", 1, "cat: /etc/nccl.conf: No such file or directory\n"),
        RUN["gpus"]: smi_xml(cards),
        RUN["links"]: nvlink.status(CARDS),
    }
    for rank, pid in enumerate(PIDS):
        answers[shlex.join([*STEPS["processes"].run[:-1], f"/proc/{pid}/environ"])] = environ(rank, variables)
    return Case(BOOK, {"nodes": "gpu-01"}, {f"gpu-01: {command}": answer for command, answer in answers.items()})


def pod(number: int, variables: dict[str, str]) -> dict[str, Any]:
    """A running pod of a job with one GPU."""
    env = [{"name": name, "value": value} for name, value in variables.items()]
    box = {"name": "main", "image": "pytorch:2.8", "env": env, "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    running = {"name": "main", "ready": True, "state": {"running": {"startedAt": "2026-03-01T11:00:00Z"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"train-{number}", "namespace": "ml", "labels": {"app": "train"}},
        "spec": {"nodeName": f"gpu-{11 + number}", "containers": [box]},
        "status": {"phase": "Running", "containerStatuses": [running]},
    }


def pods(*each: dict[str, str]) -> Case:
    """A job of pods, each with variables of its own beside `GOOD`; inside the container there is what the manifest says, and more."""
    made = [pod(number, {"RANK": str(number), **GOOD, **variables}) for number, variables in enumerate(each)]
    answers: dict[str, Any] = {
        "kubectl get pods --namespace ml --selector=app=train -o json": json.dumps({"apiVersion": "v1", "kind": "List", "items": made})
    }
    for number, variables in enumerate(each):
        inside = {"PATH": "", "HOME": "", "HOSTNAME": "", "RANK": str(number), **GOOD, **variables}
        enter = f"kubectl exec train-{number} --namespace ml --container main --"
        answers[f"{enter} env"] = "".join(f"{name}={value}\n" for name, value in inside.items())
        answers[f"{enter} cat /proc/net/dev"] = net_dev("lo", "eth0")
    return Case(BOOK, {"namespace": "ml", "pods": "app=train"}, answers)


CASES: dict[str, Case] = {
    "env-healthy": machine(),
    "env-healthy-pods": pods({}, {}, {}),
    "env-no-answer": Case(
        BOOK,
        {"nodes": "gpu-01"},
        {f"gpu-01: {RUN[step]}": Said(failure="timeout") for step in ("interfaces", "adapters", "conf", "gpus", "links")},
    ),
    "env-no-variables": Case(
        BOOK,
        {"nodes": "gpu-01"},
        machine().answers
        | {
            f"gpu-01: {shlex.join([*STEPS['processes'].run[:-1], f'/proc/{pid}/environ'])}": environ(rank, LAUNCHED)
            for rank, pid in enumerate(PIDS)
        },
    ),
    "env-links-off": machine(NCCL_IB_DISABLE="1", NCCL_P2P_DISABLE="1"),
    "env-links-off-roce": machine(ROCE, NCCL_IB_DISABLE="1"),
    "env-filters": machine(NCCL_SOCKET_IFNAME="=ens5", GLOO_SOCKET_IFNAME="eno1", NCCL_IB_HCA="mlx5_bond_0"),
    "env-interface-without-address": machine(bare=("ib0",), NCCL_SOCKET_IFNAME="ib0", GLOO_SOCKET_IFNAME="ib0"),
    "env-prefix": machine([Hca(1), Hca(10)], NCCL_IB_HCA="mlx5_1"),
    "env-gid-index": machine(ROCE, NCCL_IB_GID_INDEX="0"),
    "env-local": machine(NCCL_SOCKET_IFNAME="lo", MASTER_ADDR="127.0.0.1"),
    "env-wrong": machine(
        NCCL_SOCKET_IFNAMES="eth0", NCCL_P2P_DISABLE="yes", TORCH_NCCL_ASYNC_ERROR_HANDLING="0", TORCH_DISTRIBUTED_DEBUG="DETAIL"
    ),
    "env-stale": machine(
        NCCL_IB_GID_INDEX="3",
        NCCL_ALGO="Ring",
        NCCL_SHM_DISABLE="1",
        NCCL_DEBUG_FILE="/shared/nccl.log",
        NCCL_BLOCKING_WAIT="1",
        NCCL_LL_THRESHOLD="0",
    ),
    "env-conf": machine(conf="# of the site\nNCCL_IB_QPS_PER_CONNECTION=4\nNCCL_NET_GDR_LEVEL=LOC\n"),
    "env-different": pods({"NCCL_PROTO": "Simple"}, {"NCCL_PROTO": "Simple"}, {"NCCL_PROTO": "LL"}),
    "env-multicast-forced": machine(NCCL_NVLS_ENABLE="1"),
    "env-multicast-forced-mig": machine(cards=[replace(card, mig=("Enabled", "Enabled")) for card in CARDS], NCCL_NVLS_ENABLE="1"),
    "env-multicast-forced-bare": machine(cards=[replace(card, fabric=("Not Started", "N/A")) for card in CARDS], NCCL_NVLS_ENABLE="1"),
    "env-ports-off-roce": machine([Hca(n, layer="Ethernet", address=f"10.20.{n}.11") for n in range(4)], NCCL_IB_DISABLE="1"),
}
