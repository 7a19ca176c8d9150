"""Distributed jobs of two or more pods, and what each of their logs says: one job for each way in which such a job fails.

Words as NCCL 2.18 to 2.28, PyTorch 2.1 to 2.9, Slurm and the kernel print them; hosts, addresses and numbers are made up.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.nodes.case import Case, Said
from tests.nodes.cases_node import LONE, QUIET, machine
from tests.nodes.rdma import Hca, four, interfaces, sysfs

Answers = dict[str, Any]
LOGS = "kubectl logs {pod} --namespace ml --container main --tail=20000 --timestamps"
BEFORE = "kubectl logs {pod} --namespace ml --container main --previous --tail=20000 --timestamps"
PODS = "kubectl get pods --namespace ml --selector=app=train -o json"
ENVIRONMENT = "kubectl exec train-1 --namespace ml --container main -- env"
SYSFS = (
    "grep -R -v -e 0000:0000:0000:0000:0000:0000:0000:0000 --exclude-dir=device --exclude-dir=subsystem --exclude-dir=power "
    "--exclude-dir=pkeys /sys/class/infiniband/"
)
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u-train", "controller": True}
NET = "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.20.0.{n}<0>"


STEPS = [f"step {number} | loss {8 - number / 100:.2f} | 412 ms/step" for number in (10, 20, 30)]


def line(rank: int, text: str, second: float = 0.0, minute: int = 50) -> str:
    """One line of a container's log, as `kubectl logs --timestamps` prints it."""
    return f"2026-03-01T11:{minute:02}:{second:09.6f}Z {text}"


def info(rank: int, text: str, device: int = 0) -> str:
    """One of NCCL's own lines."""
    return f"train-{rank}:{200 + rank}:{300 + rank} [{device}] NCCL INFO {text}"


def warn(rank: int, place: str, text: str) -> str:
    """One of NCCL's warnings."""
    return f"train-{rank}:{200 + rank}:{300 + rank} [0] {place} NCCL WARN {text}"


def begun(rank: int, world: int, *, version: str = "2.27.3", network: str = "IB", net: str = NET, more: tuple[str, ...] = ()) -> list[str]:
    """A rank from its start to the complete communicator."""
    comm = f"comm 0x55d0c0a{rank}e0 rank {rank} nranks {world} cudaDev 0 nvmlDev 0 busId 1b000 commId 0x6a1fd20b9c4e7718"
    return [
        info(rank, f"Bootstrap: Using eth0:10.20.0.{11 + rank}<0>"),
        info(rank, "cudaDriverVersion 12080"),
        info(rank, f"NCCL version {version}+cuda12.8"),
        *(info(rank, text) for text in more),
        *([info(rank, net.format(n=11 + rank))] if net else []),
        info(rank, f"Using network {network}"),
        info(rank, f"ncclCommInitRankConfig {comm} - Init START"),
        info(rank, "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA") if network == "IB" else info(rank, "Connected all rings"),
        info(rank, f"ncclCommInitRankConfig {comm} - Init COMPLETE"),
    ]


def timed_out(rank: int, sequence: int, operation: str = "ALLREDUCE", elements: int = 1048576, group: str = "0(default_pg)") -> list[str]:
    """What the watchdog of PyTorch 2.4 and later prints when its time is up."""
    head = f"[rank{rank}]:[E301 11:58:{10 + rank:02}.120000000 ProcessGroupNCCL.cpp:632] [PG ID 0 PG GUID {group} Rank {rank}]"
    work = f"WorkNCCL(SeqNum={sequence}, OpType={operation}, NumelIn={elements}, NumelOut={elements}, Timeout(ms)=600000)"
    return [
        f"{head} Watchdog caught collective operation timeout: {work} ran for 600021 milliseconds before timing out.",
        f"{head}  failure detected by watchdog at work sequence id: {sequence} PG status: last enqueued work: {sequence}, "
        f"last completed work: {sequence - 1}",
        f"{head} Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU "
        "operations might run on corrupted/incomplete data.",
    ]


def pod(number: int, node: str, phase: str = "Running", code: int | None = None, reason: str = "") -> Answers:
    """One pod of the job; `code` is what its container ended with."""
    ended = {"terminated": {"exitCode": code, "reason": reason or "Error", "finishedAt": "2026-03-01T11:59:00Z"}}
    state = {"running": {"startedAt": "2026-03-01T11:40:00Z"}} if code is None else ended
    name = f"train-{number}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"u-{name}",
            "creationTimestamp": "2026-03-01T11:39:00Z",
            "labels": {"app": "train"},
            "ownerReferences": [OWNER],
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": "main", "image": "registry.example.org/train:3", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
        "status": {
            "phase": phase,
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True" if code is None else "False"}],
            "containerStatuses": [{"name": "main", "image": "x", "imageID": "x", "ready": code is None, "restartCount": 0, "state": state}],
        },
    }


def node(name: str, ready: str = "True", kernel: str = "6.8.0-60-generic") -> str:
    """`kubectl get nodes NAME -o json`."""
    made = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "creationTimestamp": "2026-02-01T00:00:00Z", "labels": {"nvidia.com/gpu.count": "2"}},
        "spec": {},
        "status": {
            "capacity": {"cpu": "64", "nvidia.com/gpu": "2"},
            "allocatable": {"cpu": "64", "nvidia.com/gpu": "2"},
            "nodeInfo": {"kernelVersion": kernel},
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletReady", "lastTransitionTime": "2026-02-01T00:00:00Z"}],
        },
    }
    return json.dumps(made)


def job(*logs: list[str] | str, more: Answers | None = None, ended: dict[int, int] | None = None, **inputs: Any) -> Case:
    """A job of as many pods as logs, each on a node of its own; the nodes are well unless `more` says otherwise."""
    listed = [pod(number, f"gpu-{11 + number}", code=(ended or {}).get(number)) for number in range(len(logs))]
    answers: Answers = {PODS: json.dumps({"apiVersion": "v1", "kind": "PodList", "items": listed})}
    for number, said in enumerate(logs):
        rows = [said] if isinstance(said, str) else said
        text = "".join(line(number, row, 0.001 * place) + "\n" for place, row in enumerate(rows))
        answers[LOGS.format(pod=f"train-{number}")] = text
        answers[f"kubectl get nodes gpu-{11 + number} -o json"] = node(f"gpu-{11 + number}")
        answers |= machine(f"gpu-{11 + number}", LONE)
    return Case("nccl", {"namespace": "ml", "selector": "app=train"} | inputs, answers | (more or {}))


def pair(*texts: str, place: str = "transport/net_ib.cc:1042", **options: Any) -> Case:
    """Two ranks that began well; then the second one warns."""
    return job(begun(0, 2), [*begun(1, 2), *(warn(1, place, text) for text in texts)], **options)


def alone(*rows: str, **options: Any) -> Case:
    """Two pods of which the second prints these lines."""
    return job(["starting"], list(rows), **options)


def working(*rows: str, **options: Any) -> Case:
    """Two ranks that train; the second one's log has these lines too."""
    return job([*begun(0, 2, **options), *STEPS], [*begun(1, 2, **options), *rows, *STEPS])


def one_host() -> Case:
    """Two ranks in one pod, which wait in their first collective."""
    rows = [row.replace("train-1:", "train-0:") for n in range(2) for row in [*begun(n, 2), *timed_out(n, 1)]]
    return job(rows)


def adapters(name: str, *hcas: Hca) -> Answers:
    """The InfiniBand adapters of a node, all active, and its interfaces."""
    return {f"{name}: {SYSFS}": sysfs(list(hcas)), f"{name}: ip -j link": interfaces(list(hcas))}


def hanging(*frames: str) -> Case:
    """Three ranks of which the last one says nothing; py-spy shows where it is."""
    stacks = dict.fromkeys(range(2), WAITING) | {2: frames}
    spied = {
        f"kubectl exec train-{n} --namespace ml -- py-spy dump --nonblocking --pid {200 + n}": (
            f'Process {200 + n}: python train.py\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread {200 + n} (active): "MainThread"\n'
            + "".join(f"    {frame}\n" for frame in shown)
        )
        for n, shown in stacks.items()
    }
    return job(*([*begun(n, 3), *timed_out(n, 4211)] for n in range(2)), begun(2, 3), more=spied)


def lost(name: str) -> Answers:
    """A node whose second GPU fell off the bus before the job died."""
    fell = (
        "2026-03-01T11:49:59,400000+00:00 NVRM: Xid (PCI:0000:43:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        "2026-03-01T11:49:59,400000+00:00 NVRM: GPU 0000:43:00.0: GPU has fallen off the bus.\n"
    )
    return machine(name, LONE[:1]) | {f"{name}: dmesg --time-format=iso": QUIET + fell}


def unscheduled(text: str) -> Answers:
    """One pod whose node may not be read."""
    return {
        "kubectl get pods train-1 --namespace ml -o json": json.dumps(pod(1, "gpu-12")),
        LOGS.format(pod="train-1"): line(1, text) + "\n",
        "kubectl get nodes gpu-12 -o json": Said(exit=1, failure="refused", reason='nodes "gpu-12" is forbidden'),
    }


WAITING = (
    "synchronize (torch/cuda/streams.py:231)",
    "all_reduce (torch/distributed/distributed_c10d.py:2810)",
    "train_step (train.py:118)",
    "<module> (train.py:201)",
)
RING = [f"iteration {n}/5000 | elapsed time per iteration (ms): 812.4 | lm loss: 2.11E+00 |" for n in range(1, 4)]
REFUSED = "socketPollConnect: connect to 10.20.0.11<41273> returned Connection refused, exceeded error retry count after 35 attempts"
EVALUATES = "iteration     4000/   63786 | elapsed time per iteration (ms): 605.1 | lm loss: 2.11E+00 |"

CASES: dict[str, Case] = {
    "job-healthy": job(*([*begun(n, 2), *RING, *STEPS] for n in range(2))),
    "job-logs-forbidden": job(
        begun(0, 2),
        begun(1, 2),
        more={
            LOGS.format(pod="train-1"): Said(
                exit=1, failure="refused", reason='pods "train-1" is forbidden: cannot get resource "pods/log"'
            )
        },
    ),
    # --- who and what
    "job-operations-differ": job(
        *([*begun(n, 3), *timed_out(n, 1021)] for n in range(2)), [*begun(2, 3), *timed_out(2, 1021, "BROADCAST", 1)]
    ),
    "job-operations-differ-said": alone(
        "[rank1]: RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=7, OpType=ALLREDUCE, TensorShape=[1024], TensorDtypes=Float, TensorDeviceTypes="
        "TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false "
        "(default), memory_format=(nullopt))), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=7, OpType=BROADCAST)."
    ),
    "job-sizes-differ": job([*begun(0, 2), *timed_out(0, 12)], [*begun(1, 2), *timed_out(1, 12, elements=512)]),
    "job-truncated": pair(
        "NET/Socket : peer 10.20.0.11<41273> message truncated : receiving 1048576 bytes instead of 65536. If you believe your socket "
        "network is in healthy state, there may be a mismatch in collective sizes or environment settings (e.g. NCCL_PROTO, NCCL_ALGO) "
        "between ranks",
        place="transport/net_socket.cc:601",
    ),
    "job-settings-differ": job(
        begun(0, 2, more=("NCCL_PROTO set by environment to Simple.",)),
        [
            *begun(1, 2, more=("NCCL_PROTO set by environment to LL.",)),
            warn(1, "misc/socket.cc:49", "Message truncated : received 1024 bytes instead of 256"),
        ],
    ),
    "job-releases-differ": pair("Mismatched NCCL version detected : rank 0 version 22703 rank 1 version 22105", place="init.cc:1123"),
    "job-releases-differ-quietly": job(begun(0, 2), [*begun(1, 2, version="2.21.5"), *timed_out(1, 1)]),
    "job-rank-twice": pair("Bootstrap Root : rank 1 of 2 ranks has already checked in", place="bootstrap.cc:292"),
    "job-group-made-twice": job(
        [
            *begun(0, 2),
            info(0, "comm 0x55d0c0a0e0 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE"),
            info(0, "ncclCommInitRankConfig comm 0x9f1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x11aa5c - Init START"),
        ],
        [
            *begun(1, 2),
            info(
                1,
                "ncclCommInitRankConfig comm 0x9f2 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x6a1fd20b9c4e7718 - Init START",
            ),
            warn(1, "misc/socket.cc:552", REFUSED),
        ],
    ),
    "job-group-made-again": alone("ValueError: trying to initialize the default process group twice!"),
    # --- one rank behind
    "job-round-step": job(
        [*begun(0, 3), EVALUATES],
        [*begun(1, 3), EVALUATES, *timed_out(1, 40012, "BROADCAST", 128)],
        [*begun(2, 3), EVALUATES, *timed_out(2, 40012, "BROADCAST", 128)],
    ),
    "job-rank0-behind": job(
        begun(0, 3), [*begun(1, 3), *timed_out(1, 712, "BROADCAST", 1)], [*begun(2, 3), *timed_out(2, 712, "BROADCAST", 1)]
    ),
    "job-one-behind": job(*([*begun(n, 3), *timed_out(n, 4211)] for n in range(2)), [*begun(2, 3), *timed_out(2, 4210, "ALLGATHER_BASE")]),
    "job-one-silent": job(*([*begun(n, 3), *timed_out(n, 4211)] for n in range(2)), begun(2, 3)),
    "job-compiles-said": job(
        *([*begun(n, 3), *timed_out(n, 12)] for n in range(2)), [*begun(2, 3), "[inductor] autotuning choices for mm_7: 14 of 220"]
    ),
    "job-first-collective": job([*begun(0, 2), *timed_out(0, 1)], [*begun(1, 2), *timed_out(1, 1)]),
    "job-first-error": job(
        [*begun(0, 2), *RING, warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-1<4711>")],
        [
            *begun(1, 2),
            *RING,
            "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.10 GiB",
        ],
        ended={1: 1},
    ),
    "job-only-survivors": job(
        *([*begun(n, 3), warn(n, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-2<4711>")] for n in range(2))
    ),
    "job-operations-differ-alone": alone("RuntimeError: Detected mismatch between collectives on ranks."),
    "job-compiles": hanging("run (triton/runtime/autotuner.py:160)", "train_step (train.py:118)", "<module> (train.py:201)"),
    "job-loads": hanging(
        "wait (threading.py:327)",
        "_try_get_data (torch/utils/data/dataloader.py:1133)",
        "__next__ (torch/utils/data/dataloader.py:631)",
        "<module> (train.py:198)",
    ),
    "job-writes": hanging("write (libc.so.6)", "emit (logging/__init__.py:1113)", "log_metrics (train.py:77)", "<module> (train.py:201)"),
    "job-contention": job(
        *([*begun(n, 3), *timed_out(n, 4211)] for n in range(2)),
        begun(2, 3),
        more={
            f"gpu-13: {SYSFS}": [
                sysfs([Hca(0, counters={"port_xmit_wait": 0}), Hca(1)]),
                sysfs([Hca(0, counters={"port_xmit_wait": 900_000_000, "port_xmit_data": 90_000_000}), Hca(1)]),
            ],
            "gpu-13: ip -j link": interfaces([Hca(0), Hca(1)]),
        },
    ),
    "job-time-out-alone": alone("Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000)"),
    "job-survivor-alone": alone("RuntimeError: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"),
    "job-loads-alone": job(
        [row for row in begun(0, 2) if "COMPLETE" not in row and "Channel" not in row],
        ["loading the data set"],
        more={
            "kubectl exec train-0 --namespace ml -- py-spy dump --nonblocking --pid 200": "Process 200: python train.py\n"
            'Python v3.12.3 (/usr/bin/python3.12)\n\nThread 200 (idle): "MainThread"\n    wait (threading.py:327)\n'
            "    _try_get_data (torch/utils/data/dataloader.py:1133)\n    <module> (train.py:198)\n"
        },
    ),
    "job-set-up-begun": job([row for row in begun(0, 2) if "COMPLETE" not in row and "Channel" not in row], ["loading the data set"]),
    "job-first-collective-one-host": one_host(),
    "job-node-lost": job(begun(0, 2), begun(1, 2), more={"kubectl get nodes gpu-12 -o json": node("gpu-12", ready="Unknown")}),
    # --- the meeting
    "job-port-taken": alone(
        "[W301 11:50:01.100000000 socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already "
        "in use).",
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: 0, "
        "code: -98, name: EADDRINUSE, message: address already in use",
    ),
    "job-agent-gone": alone(
        "[E301 11:50:01.100000000 socket.cpp:1028] [c10d] The client socket has timed out after 600000ms while trying to connect to "
        "(127.0.0.1, 40111).",
        more={ENVIRONMENT: "TORCHELASTIC_USE_AGENT_STORE=True\nMASTER_ADDR=127.0.0.1\n"},
    ),
    "job-agent-gone-perhaps": alone(
        "[E301 11:50:01.100000000 socket.cpp:1028] [c10d] The client socket has timed out after 600000ms while trying to connect to "
        "(127.0.0.1, 40111).",
    ),
    "job-not-all-came": alone("torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined."),
    "job-store-not-reached": alone(
        "[E301 11:50:01.100000000 socket.cpp:1028] [c10d] The client socket has timed out after 60000ms while trying to connect to "
        "(train-0.train, 29500).",
    ),
    "job-interface-name": pair(
        "Bootstrap : no device found matching ib9, verify NCCL_OOB_NET_IFNAME or NCCL_SOCKET_IFNAME", place="bootstrap.cc:110"
    ),
    "job-no-interface": pair("Bootstrap : no socket interface found", place="bootstrap.cc:131"),
    "job-loopback": alone(
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error, "
        "remote=[127.0.1.1]:38211"
    ),
    "job-bridge": job(
        begun(0, 2),
        [
            info(1, "Bootstrap: Using docker0:172.17.0.1<0>"),
            *begun(1, 2)[1:6],
            warn(1, "misc/socket.cc:552", REFUSED.replace("10.20.0.11", "172.17.0.1")),
        ],
    ),
    "job-bridge-address": pair(REFUSED.replace("10.20.0.11", "172.17.0.1"), place="misc/socket.cc:552"),
    "job-interfaces-differ": job(
        begun(0, 2),
        [row.replace("eth0", "eno1") for row in begun(1, 2)] + [warn(1, "misc/socket.cc:552", REFUSED.replace("refused", "timed out"))],
    ),
    "job-gloo": alone(
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] timed out connecting, "
        "remote=[192.168.77.9]:38211"
    ),
    "job-refused": pair(REFUSED, place="misc/socket.cc:552"),
    "job-no-route": pair("socketStartConnect: Connect to 10.20.0.11<41273> failed : No route to host", place="misc/socket.cc:484"),
    "job-one-host-unreachable": job(begun(0, 4), *([*begun(n, 4), warn(n, "misc/socket.cc:552", REFUSED)] for n in range(1, 4))),
    "job-node-failure": alone(
        "srun: error: Node failure on gpu-12",
        "slurmstepd: error: *** STEP 4242.0 ON gpu-11 CANCELLED AT 2026-03-01T11:51:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG ***",
    ),
    "job-wrong-device": job(begun(0, 2), [*begun(1, 2)[:3], "[rank1]: RuntimeError: CUDA error: invalid device ordinal"]),
    # --- the GPU side
    "job-two-on-one": pair("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000", place="init.cc:738"),
    "job-memory-full": pair("Cuda failure 'out of memory'", place="enqueue.cc:1102"),
    "job-cuda-error": job(
        [*begun(0, 2), warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-1<4711>")],
        [*begun(1, 2), "[rank1]:   what():  CUDA error: unknown error"],
    ),
    "job-cuda-error-alone": job(begun(0, 2), [*begun(1, 2), "[rank1]:   what():  CUDA error: unknown error"]),
    "job-nvlink-error": pair("Cuda failure 220 'uncorrectable NVLink error detected during the execution'", place="enqueue.cc:1102"),
    "job-peer-access": pair(
        "P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case given their connectivity, and is probably due "
        "to a hardware issue. If you still want to proceed, you can set NCCL_IGNORE_DISABLED_P2P=1.",
        place="graph/paths.cc:300",
    ),
    "job-multicast": pair(
        "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 16777216 : CUDA error 401 'the operation cannot be performed in the "
        "present state'.",
        place="transport/nvls.cc:270",
    ),
    "job-mnnvl": pair(
        "MNNVL (cliqueSize 2) is available but not working on this system. Check the IMEX channel configuration "
        "(/dev/nvidia-caps-imex-channels). Set NCCL_MNNVL_ENABLE=0 to ignore this issue.",
        place="mnnvl.cc:64",
    ),
    "job-crashed": job(
        [*begun(0, 2), *RING, warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-1<4711>")],
        [
            *begun(1, 2),
            *RING,
            "E301 11:58:00.100000 1 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -11) local_rank: 0 (pid: 201) "
            "of binary: /usr/bin/python3",
        ],
    ),
    "job-exit-code": job(
        [*begun(0, 2), *RING],
        [
            *begun(1, 2),
            *RING,
            "E301 11:58:00.100000 1 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 201) "
            "of binary: /usr/bin/python3",
        ],
    ),
    "job-launcher-says": alone("srun: error: gpu-12: task 1: Exited with exit code 1", "srun: Terminating StepId=4242.0"),
    "job-raised": job(
        [*begun(0, 2), *RING, warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-1<4711>")],
        [
            *begun(1, 2),
            *RING,
            "[rank1]: Traceback (most recent call last):",
            '[rank1]:   File "/srv/train.py", line 88, in <module>',
            "[rank1]: AssertionError: the tokenizer has 32000 words, the model 32064",
        ],
    ),
    "job-shared-memory": pair("Error: failed to create shared memory file /dev/shm/nccl-x1yZ2a", place="misc/shmutils.cc:72"),
    "job-files": pair("Call to socket failed : Too many open files", place="misc/socket.cc:310"),
    "job-algorithm": pair(
        "Error : no algorithm/protocol available",
        "No algorithm/protocol available for function Broadcast with datatype ncclInt8.",
        place="enqueue.cc:1771",
    ),
    "job-program-newer-than-driver": pair(
        "Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'", place="misc/cudawrap.cc:36"
    ),
    "job-driver-old": pair("CUDA Driver version found is 11040. Minimum requirement is 12020.", place="init.cc:1500"),
    # --- the network side
    "job-plugin": pair("Error: network AWS Libfabric not found.", place="net.cc:626"),
    "job-plugin-quietly": job(
        begun(0, 2),
        begun(
            1,
            2,
            network="Socket",
            net="NET/Socket : Using [0]eth0:10.20.0.{n}<0>",
            more=("NET/Plugin: Could not find: ofi libnccl-net-ofi.so. Using internal net plugin.",),
        ),
    ),
    "job-plugin-against-setting": job(
        *(begun(n, 2, network="IBext_v8", more=("NCCL_IB_DISABLE set by environment to 1.",)) for n in range(2))
    ),
    "job-gdrcopy": pair("NET/OFI Failed to initialize GDRCopy: Failed to open gdr handle", place="gin/gin_host.cc:90"),
    "job-ofi": job(
        begun(0, 2),
        [
            *begun(1, 2)[:4],
            warn(1, "nccl_net_ofi_domain_get_ep:969", "NET/OFI Creating new endpoint for domain 0x7f0 failed: Invalid argument"),
        ],
    ),
    "job-ofi-later": job(
        [*begun(0, 2), *RING],
        [*begun(1, 2), *RING, warn(1, "process_cq_error:420", "NET/OFI Request 0x7f0 completed with error. RC: 5. Error: unknown error")],
    ),
    "job-sharp": alone(
        "[train-1:1:812 unique id 77] ERROR sharp_get_local_data: error retrieving local data for process number 1", *begun(1, 2)
    ),
    "job-sockets": job(begun(0, 3), begun(1, 3), begun(2, 3, network="Socket", net="NET/Socket : Using [0]eth0:10.20.0.{n}<0>")),
    "job-sockets-with-hcas": job(
        *(begun(n, 2, network="Socket", net="NET/Socket : Using [0]eth0:10.20.0.{n}<0>") for n in range(2)),
        more=adapters("gpu-12", Hca(0), Hca(1)),
        nodes="gpu-12",
    ),
    "job-sockets-device": job(
        *(
            [*begun(n, 2, network="Socket", net=""), warn(n, "transport/net_ib.cc:620", "NET/IB : Unable to open device mlx5_0")]
            for n in range(2)
        )
    ),
    "job-adapter-not-opened": job(begun(0, 2), [*begun(1, 2), warn(1, "transport/net_ib.cc:620", "NET/IB : Unable to open device mlx5_3")]),
    "job-queue-not-created": job([*begun(0, 2), warn(0, "misc/ibvwrap.cc:268", "Call to ibv_create_cq failed")], begun(1, 2)),
    "job-fewer-hcas": job(begun(0, 3), begun(1, 3), begun(2, 3, net="NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.20.0.{n}<0>")),
    "job-fewer-hcas-than-ports": job(
        *(begun(n, 2, net="NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.20.0.{n}<0>") for n in range(2)),
        more=adapters("gpu-12", *four()),
        nodes="gpu-12",
    ),
    "job-counts-differ": pair("Detected mixed local Net device counts across ranks (1 vs 2)", place="graph/topo.cc:90"),
    "job-without-gpudirect": job(*([row.replace("/GDRDMA", "") for row in begun(n, 2)] for n in range(2))),
    "job-gpudirect-off": job(*([*begun(n, 2)[:6], info(n, "GPU Direct RDMA Disabled for HCA 0 'mlx5_0'")] for n in range(2))),
    "job-gpudirect-wanted": job(
        *(
            [
                *begun(n, 2, more=("NCCL_NET_GDR_LEVEL set by environment to SYS.",))[:7],
                info(n, "GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"),
            ]
            for n in range(2)
        )
    ),
    "job-memlock": pair(
        "Call to ibv_create_cq failed with error Cannot allocate memory",
        more={
            "kubectl exec train-1 --namespace ml --container main -- cat /proc/1/limits": (
                "Limit                     Soft Limit           Hard Limit           Units     \n"
                "Max open files            1048576              1048576              files     \n"
                "Max locked memory         65536                65536                bytes     \n"
            )
        },
    ),
    "job-memlock-perhaps": alone("NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"),
    "job-other-kernel": pair(
        "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
        more={"kubectl get nodes gpu-12 -o json": node("gpu-12", kernel="7.0.0-1004-nvidia")},
    ),
    "job-kernel-perhaps": Case(
        "nccl",
        {"namespace": "ml", "name": "train-1"},
        unscheduled("NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"),
    ),
    "job-gpu-memory-refused": pair("Call to ibv_reg_mr_iova2 failed with error Bad address"),
    "job-gpu-memory-shared": job(
        begun(0, 2),
        [*begun(1, 2), warn(1, "transport/net_ib.cc:1042", "Call to ibv_reg_mr_iova2 failed with error Invalid argument")],
        more=machine("gpu-12", [replace(card, product="NVIDIA GB10") for card in LONE]),
    ),
    "job-compat-library": job(
        begun(0, 2),
        [
            *begun(1, 2),
            warn(1, "transport/net_ib.cc:1042", "Call to ibv_reg_mr_iova2 failed with error Invalid argument"),
        ],
        more={ENVIRONMENT: "LD_LIBRARY_PATH=/usr/local/cuda/compat:/usr/local/nvidia/lib64\n"},
    ),
    "job-driver-spent": pair(
        "Call to ibv_reg_mr_iova2 failed with error Bad address",
        more={
            "gpu-12: dmesg --time-format=iso": QUIET
            + "2026-03-01T11:20:00,400000+00:00 NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) "
            "returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1359\n"
        },
    ),
    "job-peermem": pair(
        "Call to ibv_reg_mr_iova2 failed with error Bad address",
        more={
            "gpu-12: dmesg --time-format=iso": QUIET
            + "2026-03-01T09:20:00,400000+00:00 nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)\n"
        },
    ),
    "job-killed": job(
        [*begun(0, 2), *RING, warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-1<4711>")],
        [
            *begun(1, 2),
            *RING,
            "E301 11:58:00.100000 1 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 0 (pid: 201) "
            "of binary: /usr/bin/python3",
        ],
    ),
    # --- between two adapters
    "job-gid-empty": pair(
        "Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 3, "
        "local GID ::ffff:10.20.1.12, remote GID ::",
    ),
    "job-gid-forced": job(
        begun(0, 2),
        [
            *begun(1, 2, more=("NCCL_IB_GID_INDEX set by environment to 5.",)),
            warn(1, "misc/ibvwrap.cc:297", "Call to ibv_modify_qp failed with error Invalid argument"),
        ],
    ),
    "job-gid": pair("Call to ibv_modify_qp failed with error Invalid argument", place="misc/ibvwrap.cc:297"),
    "job-address-missing": pair(
        "Call to ibv_modify_qp failed with 22 Invalid argument, on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 1, "
        "local GID fe80::a288:c2ff:fe11:22, remote GID ::ffff:10.20.1.11",
    ),
    "job-queue-pair": pair(
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT, next state RTR, local GID index 3, "
        "local GID ::ffff:10.20.1.12, remote GID ::ffff:10.20.1.11",
    ),
    "job-bond": job(
        begun(0, 2),
        [
            *begun(1, 2, net="NET/IB : Using [0]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.20.0.{n}<0>"),
            warn(1, "misc/ibvwrap.cc:297", "Call to ibv_modify_qp failed with error Invalid argument"),
        ],
    ),
    "job-link-layers": pair(
        "NET/IB : Attempted to connect incompatible devices: local mlx5_0:1/IB, remote mlx5_2:1/RoCE. Try selecting NICs of only one link "
        "layer, using NCCL_IB_HCA"
    ),
    "job-other-network": pair(
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_4:1, curr state INIT, next state RTR, local GID index 3, "
        "local GID ::ffff:10.250.0.7, remote GID ::ffff:172.16.4.9"
    ),
    "job-gave-up": pair(
        "NET/IB: Got completion from peer 10.20.0.11<41273> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid ::ffff:10.20.1.12 "
        "remoteGids::ffff:10.20.1.11 hca mlx5_0"
    ),
    "job-gave-up-later": job(
        [*begun(0, 2), *RING],
        [
            *begun(1, 2),
            *RING,
            warn(
                1,
                "transport/net_ib.cc:2101",
                "NET/IB: Got completion from peer 10.20.0.11<41273> with status=12 opcode=0 len=0 vendor err 129",
            ),
        ],
    ),
    "job-port-event": pair("NET/IB : mlx5_0:1 async fatal event: local port error"),
    "job-protection": pair("NET/IB: Got completion from peer 10.20.0.11<41273> with status=4 opcode=0 len=0 vendor err 81 (Recv)"),
    "job-remote-access": pair("NET/IB: Got completion from peer 10.20.0.11<41273> with status=10 opcode=1 len=0 vendor err 136 (Send)"),
    # --- the hosts of the suspects
    "job-gpu-lost": job(
        [*begun(0, 3), *RING, warn(0, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-2<4711>")],
        [*begun(1, 3), *RING, warn(1, "misc/socket.cc:81", "socketProgress: Connection closed by remote peer train-2<4711>")],
        [*begun(2, 3), *RING, "[rank2]:   what():  CUDA error: unknown error"],
        more=lost("gpu-13"),
    ),
}
