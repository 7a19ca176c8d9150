"""NCCL's logs of 1,024 ranks, 400 MiB, with one fault among them: finding out what is wrong, against counting their lines with grep.

grep counts the lines that hold one of the literals that the parser triggers on, generated from its patterns. A second, smaller job shows
that memory follows the number of ranks.
"""
# ruff: noqa: E501  (lines as they are logged)

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from benchmarks import literals
from benchmarks.measure import GPUDOCTOR, compare, in_turn, run, wall

MIB = int(os.environ.get("BENCH_MIB", "400"))
RANKS = int(os.environ.get("BENCH_RANKS", "1024"))
FAULTY = RANKS * 2 // 3
SHORT = 24  # MiB: each log is short enough to be held, and to be a paste of several outputs
TIMES = 3
MEMORY = 200.0  # MiB, at most

# The beginning of a rank's log with NCCL_DEBUG=INFO, 2.21.
START = """\
{at} NCCL INFO Bootstrap : Using eth0:10.{net}.{node}.1<0>
{at} NCCL INFO cudaDriverVersion 12040
{at} NCCL INFO NCCL version 2.21.5+cuda12.4
{at} NCCL INFO NET/Plugin: No plugin found (libnccl-net.so), using internal implementation
{at} NCCL INFO NCCL_IB_HCA set by environment to mlx5
{at} NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; OOB eth0:10.{net}.{node}.1<0>
{at} NCCL INFO Using network IB
{at} NCCL INFO ncclCommInitRank comm 0x5{rank:07x} rank {rank} nranks {ranks} cudaDev {gpu} nvmlDev {gpu} busId {gpu}b000 commId 0x91fd3a - Init START
{at} NCCL INFO Setting affinity for GPU {gpu} to ffff,ffffffff,00000000
{at} NCCL INFO NVLS multicast support is available on dev {gpu}
"""
DONE = """\
{at} NCCL INFO Connected all rings
{at} NCCL INFO Connected all trees
{at} NCCL INFO ncclCommInitRank comm 0x5{rank:07x} rank {rank} nranks {ranks} cudaDev {gpu} nvmlDev {gpu} busId {gpu}b000 commId 0x91fd3a - Init COMPLETE
"""
BULK = (
    "{at} NCCL INFO Channel {n:02d}/0 : {rank}[{gpu}] -> {peer}[{gpu}] [send] via NET/IB/{gpu}/GDRDMA",
    "{at} NCCL INFO Channel {n:02d}/0 : {peer}[{gpu}] -> {rank}[{gpu}] [receive] via NET/IB/{gpu}/GDRDMA",
    "{at} NCCL INFO Channel {n:02d}/0 : {rank}[{gpu}] -> {peer}[{gpu}] via P2P/CUMEM",
    "{at} NCCL INFO Trees [{n}] {peer}/-1/-1->{rank}->-1 [1] {peer}/-1/-1->{rank}->-1 [2] -1/-1/-1->{rank}->{peer}",
)
FAULT = """\

{at} transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.3.7<41822> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_{gpu}
"""
LATE = (
    "[rank{rank}]:[E906 15:16:01.123456789 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=4211, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600083 milliseconds before timing out.\n"
)


def write(folder: Path, ranks: int, size: int) -> list[str]:
    """One file for each rank, `size` bytes in all."""
    paths = []
    for rank in range(ranks):
        node, gpu = divmod(rank, 8)
        names: dict[str, object] = {
            "rank": rank,
            "ranks": ranks,
            "gpu": gpu,
            "node": node % 250,
            "net": node // 250,
            "peer": (rank + 8) % ranks,
        }
        names["at"] = f"gpu-{node:03d}:{4000 + gpu}:{4100 + gpu} [{gpu}]"
        bulk = "".join(line.format(n=n, **names) + "\n" for n in range(32) for line in BULK)
        end = FAULT.format(**names) if rank == ranks * 2 // 3 else LATE.format(**names)
        path = folder / f"rank-{rank}.log"
        path.write_text(START.format(**names) + bulk * (size // ranks // len(bulk) + 1) + DONE.format(**names) + end)
        paths.append(str(path))
    return paths


def measure() -> None:
    """Print the ratio and the peaks of the memory."""
    from gpudoctor.tools.common.messages import entries
    from gpudoctor.tools.job.scan import MARKS

    found = literals.of(pattern for _, pattern in [*entries(), *((name, pattern) for name, pattern, _ in MARKS)])
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as beside:
        paths = write(Path(folder), RANKS, MIB << 20)
        listed = literals.written(found, Path(beside))
        sides = (
            lambda: run([GPUDOCTOR, "nccl", folder], exit=1, says=f": gpu-{FAULTY // 8:03d}: "),
            lambda: run(["grep", "-cE", "-f", listed, *paths], says=":"),  # into /dev/null it would stop at the first line
        )
        in_turn(1, *sides)
        ours, grep = in_turn(TIMES, *sides)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), RANKS // 4, MIB << 20)
        fewer = run([GPUDOCTOR, "nccl", folder], exit=1)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), RANKS, SHORT << 20)
        short = run([GPUDOCTOR, "nccl", folder], exit=1)
    name = f"NCCL's logs of {RANKS} ranks, {MIB} MiB, with one fault / grep -cE of {len(found)} literals"
    compare(name, wall(ours), wall(grep), 2.0)
    compare(f"the same ranks with {SHORT} MiB / with {MIB} MiB", short.wall, wall(ours), 1.0)
    peak = max(one.peak for one in ours)
    print(f"its memory: {peak:.0f} MiB (at most {MEMORY:.0f})", flush=True)
    compare(f"memory of {RANKS} ranks / of {RANKS // 4} with as many bytes", peak, fewer.peak, 4.0, "MiB")
