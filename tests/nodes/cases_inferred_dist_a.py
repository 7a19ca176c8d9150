"""Jobs whose logs do not name what is wrong: it follows from two of their answers, or from what a rank says against another one."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes import bus
from tests.nodes.case import Case
from tests.nodes.cases_nccl import ENVIRONMENT, LOGS, WAITING, alone, begun, info, job, timed_out, warn
from tests.nodes.cases_node import LONE, machine
from tests.nodes.smi import Process

STACK = "kubectl exec train-{n} --namespace ml -- py-spy dump --nonblocking --pid {pid}"
CONSUMER = [replace(card, product="NVIDIA GeForce RTX 4090") for card in LONE]
FULL = [replace(card, memory_used=card.memory_total - 300) for card in LONE]
SHARED = [replace(LONE[0], processes=tuple(Process(4100 + n, "python3", 1412) for n in range(2))), *LONE[1:]]
PEERMEM = {f"gpu-{n}: cat /proc/modules": bus.modules("nvidia_peermem:0", "mlx5_core:1", "nvidia_uvm:4", "nvidia:120") for n in (11, 12)}
REFUSED = "ncclInvalidUsage: This usually reflects invalid usage of NCCL library."
HOURS = """2026-03-01T02:11:09.000000Z Out of memory: Killed process 2211 (python3) total-vm:20118kB, anon-rss:9120kB
2026-03-01T08:30:02.000000Z NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)
2026-03-01T08:30:03.000000Z torch.AcceleratorError: CUDA error: out of memory
"""


def dumped(rank: int, *frames: str) -> dict[str, str]:
    """py-spy's answer of one rank."""
    pid = 200 + rank
    shown = "".join(f"    {frame}\n" for frame in frames)
    return {STACK.format(n=rank, pid=pid): f'Process {pid}: python train.py\nThread {pid} (active): "MainThread"\n{shown}'}


def host_memory(rank: int) -> list[str]:
    """A rank whose channels go through the memory of the host."""
    return [row.removesuffix("/GDRDMA") for row in begun(rank, 2)]


CASES: dict[str, Case] = {
    "job-horovod-crossed": alone(
        "[2026-03-01 11:50:00.8: W horovod/common/operations.cc:588] HorovodAllreduce_head_a_0 [missing ranks: 0]",
        "[2026-03-01 11:50:00.8: W horovod/common/operations.cc:588] HorovodAllreduce_head_b_0 [missing ranks: 1]",
    ),
    "job-stacks-apart": job(
        *([*begun(n, 3), *(timed_out(n, 4211) if n < 2 else ())] for n in range(3)),
        more=dumped(0, *WAITING) | dumped(1, *WAITING) | dumped(2, "all_gather_object (torch/distributed/distributed_c10d.py:2740)"),
    ),
    "job-one-stack-outside": job(
        *([*begun(n, 3), *(timed_out(n, 4211) if n < 2 else ())] for n in range(3)),
        more=dumped(0, *WAITING) | dumped(1, *WAITING) | dumped(2, "recv_into (socket.py:718)", "push_metrics (train.py:88)"),
    ),
    "job-settings-shown": job(
        *(
            [
                warn(n, "misc/ibvwrap.cc:172", "Call to ibv_reg_mr failed with error Bad address"),
                *([warn(n, "misc/socket.cc:600", "Message truncated : received 65536 bytes instead of 16384")] if n else []),
            ]
            for n in range(2)
        ),
        more={ENVIRONMENT: "NCCL_MIN_NCHANNELS=4\n", ENVIRONMENT.replace("train-1", "train-0"): "NCCL_MIN_NCHANNELS=16\n"},
    ),
    "job-interface-of-other-network": job(
        [info(0, "Bootstrap: Using net1:192.168.60.17<0>")],
        [
            info(1, "Bootstrap: Using eth0:10.20.0.12<0>"),
            warn(1, "misc/socket.cc:484", "socketStartConnect: Connect to 192.168.60.17<45991> failed : Connection timed out"),
        ],
    ),
    "job-gpudirect-forbidden": job(
        *(begun(n, 2, more=("NCCL_NET_GDR_LEVEL set by environment to LOC",)) for n in (0, 1)), more=PEERMEM, nodes="gpu-12"
    ),
    "job-consumer-gpu": job(
        begun(0, 2),
        [*begun(1, 2), warn(1, "transport/net_ib.cc:1042", "Call to ibv_reg_mr_iova2 failed with error Bad address")],
        more=machine("gpu-12", CONSUMER),
    ),
    "job-consumer-gpu-copies": job(
        host_memory(0), host_memory(1), more=machine("gpu-11", CONSUMER) | machine("gpu-12", CONSUMER), nodes="gpu-11,gpu-12"
    ),
    "job-driver-spent-for-hours": job("starting", "starting", more={LOGS.format(pod="train-1"): HOURS}),
    "job-memory-nearly-full": alone("ncclUnhandledCudaError: Call to CUDA function failed.", more=machine("gpu-12", FULL), nodes="gpu-12"),
    "job-processes-on-one": alone(REFUSED, more=machine("gpu-12", SHARED), nodes="gpu-12"),
}
