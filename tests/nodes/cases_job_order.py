"""Jobs whose ranks do not do the same: other tensors, settings or calls, and one that works, compiles or waits alone."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import ENVIRONMENT, WAITING, alone, begun, info, job, pair, timed_out, warn

TOKENISES = "Running tokenizer on dataset:  61%|######    | 811000/1330000 [29:48<19:01, 454.7 examples/s]"
COMPILES = "[2026-03-01 11:50:00 TP0] Entering DeepGEMM JIT Pre-Compile session. It may take a long time (typically 10-20 mins)"
COMPILED = "WARNING 03-01 11:50:00 [jit_monitor.py:103] Triton kernel JIT compilation during inference: _zero_kv_blocks_kernel."
# rank 0's store is asked for the id of a communicator that it did not make
NO_ID = (
    "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store "
    "by key '0', but store->get('0') got error: wait timeout after 1800000ms, keys: /default_pg/0//cuda//0"
)
STACK = "kubectl exec train-{n} --namespace ml -- py-spy dump --nonblocking --pid {pid}"


def dumped(rank: int, *frames: str) -> dict[str, str]:
    """py-spy's answer of one rank."""
    pid = 200 + rank
    shown = "".join(f"    {frame}\n" for frame in frames)
    return {STACK.format(n=rank, pid=pid): f'Process {pid}: python train.py\nThread {pid} (active): "MainThread"\n{shown}'}


PS = "kubectl exec train-{n} --namespace ml -- ps -eo state,pid,ppid,etimes,comm"
GAVE_UP = (
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete"
)
WRITES = """S     PID    PPID ELAPSED COMMAND
D      71      70   18764 python
"""
BATON = """Process 201: python train.py
Thread 201 (idle): "MainThread"
    wait (torch/utils/file_baton.py:49)
    _jit_compile (torch/utils/cpp_extension.py:1702)
    load (torch/utils/cpp_extension.py:1308)
"""
BEGINS = "comm 0x7a1e{n}0 rank {n} nranks 2 cudaDev 0 busId 1b000 commId 0x{id} - Init {how}"
REFUSED = "Call to ibv_reg_mr failed with error Bad address"


def anew(rank: int, key: str) -> list[str]:
    """A rank that makes a communicator, destroys it, and begins another one."""
    return [
        info(rank, BEGINS.format(n=rank, id="51f0aa", how="COMPLETE")),
        info(rank, f"comm 0x7a1e{rank}0 rank {rank} nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE"),
        info(rank, "ncclCommInitRank " + BEGINS.format(n=rank, id=key, how="START")),
    ]


CASES: dict[str, Case] = {
    "job-compared-types": alone("Mismatched data types: One rank had type float32, but another rank had type float64."),
    "job-compared-shapes": alone(
        "Mismatched ALLREDUCE tensor shapes: One rank sent a tensor of shape [32, 10], but another rank sent a tensor of shape [31, 10]."
    ),
    "job-models-differ": alone(
        "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 161 params, while rank 0 has inconsistent 163 params."
    ),
    "job-rank0-works": job([*begun(0, 3), TOKENISES], *([*begun(n, 3), *timed_out(n, 712, "BROADCAST", 1)] for n in (1, 2))),
    "job-loader-timed-out": alone("RuntimeError: DataLoader timed out after 300 seconds"),
    "job-rank0-works-first": alone(TOKENISES, NO_ID),
    "job-compiles-meanwhile": job([*begun(0, 3), COMPILES], *([*begun(n, 3), *timed_out(n, 712, "BROADCAST", 1)] for n in (1, 2))),
    "job-compiled-before": job(*([*begun(n, 2), COMPILED, *timed_out(n, 712)] for n in range(2))),
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
    "job-waits-for-build": job(
        begun(0, 2), [*begun(1, 2), *timed_out(1, 41)], more={STACK.format(n=1, pid=201): BATON, PS.format(n=1): WRITES}
    ),
    "job-nobody-builds": job(
        *([*begun(n, 2), *timed_out(n, 41)] for n in range(2)), more={STACK.format(n=n, pid=200 + n): BATON for n in range(2)}
    ),
    "job-lock-left-behind": alone(
        '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/file_baton.py", line 50 in wait',
        "-rw-r--r-- 1 kim users 0 Mar  1 03:12 /home/kim/.cache/torch_extensions/py312_cu128/fused_ops/lock",
    ),
    "job-lock-waited-for": alone(
        'UserWarning: Waited on lock file "/home/kim/.cache/torch_extensions/py312_cu128/fused_ops/lock" for 300 seconds.'
    ),
    "job-compiles-until-given-up": job(
        ["starting"],
        ["[2026-03-01 11:50:02 TP8] Entering DeepGEMM JIT Pre-Compile session. It may take a long time.", GAVE_UP],
    ),
    "job-sizes-printed": alone("AssertionError: tensor shapes differ across ranks: [[8, 512], [8, 498]]"),
    "job-setting-of-one": job(
        [warn(0, "misc/ibvwrap.cc:172", REFUSED)],
        [
            warn(1, "misc/ibvwrap.cc:172", REFUSED),
            warn(1, "transport/net.cc:870", "Message truncated : received 65536 bytes instead of 16384"),
        ],
        more={ENVIRONMENT: "NCCL_IB_TC=106\nNCCL_BUFFSIZE=8388608\n", ENVIRONMENT.replace("train-1", "train-0"): "NCCL_IB_TC=106\n"},
    ),
    "job-begun-apart": job(anew(0, "77aa01"), anew(1, "90bb02")),
    "job-one-rank-works": alone(
        *timed_out(1, 3, elements=1), "Map (num_proc=16):  64%|######    | 512000/800000 [30:02<16:53, 284.1 examples/s]"
    ),
    "job-barrier-without": alone(
        "[rank0]:[E301 11:58:10.120000000 ProcessGroupGloo.cpp:144] Rank 3 failed to pass monitoredBarrier in 10000 ms",
        "RuntimeError: Rank 3 failed to pass monitoredBarrier in 10000 ms",
    ),
    "job-set-up-truncated": pair("Message truncated : received 4096 bytes instead of 1024", place="bootstrap.cc:221"),
    "job-record-of-other-release": pair("Message truncated : received 172 bytes instead of 108", place="bootstrap.cc:221"),
    "job-record-garbled": pair(
        "Bootstrap Root : mismatch in info from procs, nranks 2 vs 2, nroots 1 vs 1, iroot 0 vs 0, offset 0 vs 1684300900",
        place="bootstrap.cc:345",
    ),
    "job-order-differs": alone(
        "RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 12 parameters while rank 1 is all-gathering 3 parameters"
    ),
}
