# ruff: noqa: E501 - lines as programs print them
"""Jobs whose cause no line names: it follows from another tool's table, from two runs, from what is missing. Beside each, its healthy twin."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.trials import compared, trial
from gpudoctor.facts import Subject
from gpudoctor.intake.split import Section
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.linux import reachability
from gpudoctor.tools.parser import ParseError
from tests.pasted import diagnosed_files, judge

HEAD = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
ROW = "    16777216       4194304     float     sum      -1   1302.7   12.88   12.88      0   1301.5   12.89   12.89      0\n"
ACS = "40:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 1453\n\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
PEER = "wks-7:811:822 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer\nwks-7:811:822 [0] NCCL INFO Connected all rings\n"
WATCHDOG = (
    "[rank{0}]:[E1203 12:10:22.114 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600061 milliseconds before timing out.\n"
)
RANKS = "".join(f"  {4100 + n}   4090 Rl    02:11:09 python -u train.py --local-rank={n}\n" for n in range(4) if n != 2)
PS = "$ ps -o pid,ppid,stat,etime,cmd --ppid 4090\n    PID    PPID STAT  ELAPSED CMD\n"

# What was pasted → the cause that is found first; "?cause" = a candidate and nothing found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "two runs, peer to peer": (
        "p2p-broken",
        "$ ./all_reduce_perf -b 8 -e 64M -g 2\n"
        + HEAD
        + "^C\n$ NCCL_P2P_DISABLE=1 ./all_reduce_perf -b 8 -e 64M -g 2\n"
        + HEAD
        + ROW
        + "# Avg bus bandwidth    : 5.21\n",
    ),
    "two runs that both work": (
        "",
        "$ ./all_reduce_perf -b 8 -e 64M -g 2\n" + HEAD + ROW + "$ NCCL_P2P_DISABLE=1 ./all_reduce_perf -b 8 -e 64M -g 2\n" + HEAD + ROW,
    ),
    "two runs, GID": (
        "roce-gid-index-wrong",
        "$ mpirun -np 2 -x NCCL_IB_GID_INDEX=0 ./all_gather_perf -g 8\nn2: Test NCCL failure common.cu:958 'unhandled system error / '\n"
        "$ mpirun -np 2 -x NCCL_IB_GID_INDEX=5 ./all_gather_perf -g 8\n# Avg bus bandwidth    : 182.1\n",
    ),
    "a note of what does not help": ("", "we tried NCCL_P2P_DISABLE=1 and it does not change anything\n"),
    "the test of peer copies": (
        "p2p-broken",
        "P2P=Disabled Latency Matrix (us)\n   GPU     0      1 \n     0   1.71  12.05 \n     1  12.11   1.69 \n"
        "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1 \n     0   1.70 51022.40 \n     1 51022.61   1.66 \n",
    ),
    "the test of peer copies, staged": (
        "",
        "P2P=Disabled Latency Matrix (us)\n   GPU     0      1 \n     0   1.71  12.05 \n     1  12.11   1.69 \n"
        "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1 \n     0   1.70  11.98 \n     1  12.02   1.66 \n",
    ),
    "a test without a row, and ACS": ("p2p-broken", f"==> nccl.log <==\n{PEER}{HEAD}==> lspci.txt <==\n{ACS}"),
    "a test with rows, and ACS": ("", f"==> nccl.log <==\n{PEER}{HEAD}{ROW}==> lspci.txt <==\n{ACS}"),
    "a defunct rank": ("peer-rank-died", PS + RANKS + "   4102   4090 Z     02:11:09 [python] <defunct>\n"),
    "a defunct worker of a rank": ("", PS + RANKS + "   5102   4101 Z     00:00:09 [python] <defunct>\n"),
    "a traceback of one rank": (
        "peer-rank-died",
        "==> train.log <==\n[rank3]: Traceback (most recent call last):\n  File \"/app/train.py\", line 41, in main\nKeyError: 'clip'\n"
        "==> watchdog.log <==\n" + "".join(WATCHDOG.format(rank, 36140) for rank in range(3)),
    ),
    "all tasks of the lost host": (
        "peer-rank-died",
        "srun: error: n12: tasks 8-15: Exited with exit code 255\n"
        "3: n11:1203:1351 [3] transport/net_ib.cc:1296 NCCL WARN NET/IB : Got completion from peer 10.0.3.12<40411> with error 12, opcode 0, len 0, vendor err 129 (Recv)\n"
        "6: n11:1206:1359 [6] include/socket.h:541 NCCL WARN Net : Connection closed by remote peer n12<44790>\n",
    ),
    "numbers of the watchdog alone": (
        "hang-one-rank-outside-collective",
        "".join(
            f"Rank {rank}]  failure detected by watchdog at work sequence id: 812 PG status: last enqueued work: 815, last completed work: 811\n"
            for rank in (0, 1, 3)
        )
        + "[rank2]:[E619 14:20:33.1 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank 2] Received a dump signal due to a collective timeout from  rank 0 "
        "and we will try our best to dump the debug info. Last enqueued NCCL work: 811, last completed NCCL work: 811.\n",
    ),
    "the first collective of one host": (
        "p2p-broken",
        "==> env.txt <==\nWORLD_SIZE=2\nLOCAL_WORLD_SIZE=2\nMASTER_ADDR=127.0.0.1\n==> log.txt <==\n"
        + "".join(WATCHDOG.format(rank, 1) for rank in range(2)),
    ),
    "cut bind error and who listens": (
        "port-in-use",
        "==> job.log <==\nThe server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29511 ...\n"
        "==> ss.txt <==\n$ ss -ltnp 'sport = :29511'\nState   Recv-Q  Send-Q   Local Address:Port    Peer Address:Port Process\n"
        'LISTEN  0       2048                 *:29511               *:*    users:(("python3",pid=7712,fd=4))\n',
    ),
    "who listens alone": (
        "",
        "$ ss -ltnp\nState   Recv-Q  Send-Q   Local Address:Port    Peer Address:Port Process\nLISTEN  0  2048  *:29511  *:*\n",
    ),
    "a full /dev/shm": (
        "shm-too-small",
        "==> df.txt <==\n$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\ntmpfs            63G   63G     0 100% /dev/shm\n"
        "==> log.txt <==\nE0306 10:15:47.772000 3320 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -7) local_rank: 3 (pid: 3391) of binary: /usr/bin/python3\n",
    ),
    "the lock of an extension": (
        "rank-stuck-in-jit-or-autotune",
        'Thread 0x7F3A40B21740 (idle): "MainThread"\n    wait (torch/utils/file_baton.py:49)\n    _jit_compile (torch/utils/cpp_extension.py:1702)\n    load (torch/utils/cpp_extension.py:1308)\n',
    ),
    "rails": (
        "?rdma-rails-unreachable",
        "$ rping from n1 to n2\n          .1.2  .2.2  .3.2\nmlx5_0    ok    -     -\nmlx5_1    -     ok    -\nmlx5_2    -     -     ok\n",
    ),
    "all rails": ("", "          .1.2  .2.2  .3.2\nmlx5_0    ok    ok    ok\nmlx5_1    ok    ok    ok\nmlx5_2    ok    ok    ok\n"),
    "a ring of cables": (
        "roce-ports-not-cabled-to-each-other",
        "==> pairs.txt <==\nk1 k2 PASS 21.9 GB/s\nk1 k3 FAIL Failed to modify QP to RTR: Connection timed out\nk2 k3 PASS 21.8 GB/s\n"
        "==> lldp.txt <==\nhost port          neighbour\nk1  ens1f0np0     k2  ens1f0np0\nk2  ens1f0np0     k1  ens1f0np0\nk2  ens1f1np1     k3  ens1f0np0\nk3  ens1f0np0     k2  ens1f1np1\n",
    ),
    "cables to a switch": (
        "rdma-peer-unreachable",
        "==> pairs.txt <==\nk1 k2 PASS 21.9 GB/s\nk1 k3 FAIL Failed to modify QP to RTR: Connection timed out\nk2 k3 FAIL Failed to modify QP to RTR: Connection timed out\n"
        "==> lldp.txt <==\nhost port          neighbour\nk1  ens1f0np0     leaf-01  swp3\nk2  ens1f0np0     leaf-01  swp4\n",
    ),
    "switches without a driver": (
        "nvswitch-driver-not-bound",
        "hv-09:~# lspci -nnk -d 10de:\n07:00.0 Bridge [0680]: NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3] (rev a1)\n\tSubsystem: NVIDIA Corporation Device [10de:1796]\n"
        "08:00.0 Bridge [0680]: NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3] (rev a1)\n\tSubsystem: NVIDIA Corporation Device [10de:1796]\n"
        "1b:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n\tSubsystem: NVIDIA Corporation Device [10de:16c1]\n\tKernel driver in use: vfio-pci\n",
    ),
    "the aggregation manager": (
        "sharp-init-failed",
        "× sharp_am.service - SHARP Aggregation Manager (sharp_am). Version: 3.8.0\n     Active: failed (Result: exit-code) since Wed 2026-03-04 11:42:31 UTC; 1min ago\n"
        "Mar 04 11:42:31 sm-1 sharp_am[7206]: Local Port validation failed. error: FabricProvider must bind to port with master SM (SM LID:3 local LID:2. Exiting.\n",
    ),
    "a plugin's stack of a run that hangs": (
        "ofi-plugin-bug",
        "2.28.9 hangs after Init COMPLETE\n#1  0x00007f0d5e104c22 in fi_cq_readfrom () from /opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so\n",
    ),
    "a plugin's stack": ("", "#1  0x00007f0d5e104c22 in fi_cq_readfrom () from /opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so\n"),
    "ranks dealt like cards": (
        "rank-placement-wrong",
        "#SBATCH --distribution=cyclic\nsrun python pretrain_gpt.py --tensor-model-parallel-size 8\n",
    ),
    "ranks dealt like cards, data parallel": ("", "#SBATCH --distribution=cyclic\nsrun python train.py --tensor-model-parallel-size 1\n"),
    "not all registered": (
        "rendezvous-timeout",
        "Original error: DEADLINE_EXCEEDED: Barrier timed out. Id: [Init]Wait_for_all_tasks_to_register::0. This usually happens because a task triggered the barrier too early\n",
    ),
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_cause_that_follows_is_found_first(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)


def section(command: str, text: str) -> Section:
    return Section("runs.txt", 2, text, command)


def test_runs_are_compared_only_where_one_variable_differs() -> None:
    bad = trial(section("mpirun -x NCCL_IB_GID_INDEX=1 -x NCCL_ALGO=Ring ./all_reduce_perf", "Test NCCL failure common.cu:958\n"))
    one = trial(section("mpirun -x NCCL_IB_GID_INDEX=3 -x NCCL_ALGO=Ring ./all_reduce_perf", "# Avg bus bandwidth    : 91.4\n"))
    two = trial(section("mpirun -x NCCL_IB_GID_INDEX=3 ./all_reduce_perf", "# Avg bus bandwidth    : 91.4\n"))
    other = trial(section("NCCL_IB_GID_INDEX=3 NCCL_ALGO=Ring ./alltoall_perf", "# Avg bus bandwidth    : 91.4\n"))
    assert bad is not None
    assert one is not None
    assert two is not None
    assert other is not None
    assert [message.detail for message in compared([bad, one])] == ["NCCL_IB_GID_INDEX=3"]
    assert compared([bad, two]) == compared([bad, other]) == compared([one, bad]) == []


LLDP = "Interface:    ens1f0np0, via: LLDP, RID: 1, Time: 0 day, 00:10:22\n  Chassis:\n    SysName:      gpu-02\n  Port:\n    PortDescr:    ens1f0np0\n"


def output(text: str) -> Output:
    return Output(Command(("cat",)), pages=(text.encode("utf-8", "surrogateescape"),), source="x.txt")


def test_neighbours_of_lldpcli() -> None:
    (cable,) = reachability.neighbours(output(LLDP), Subject(kind="node", node="gpu-01"))["cables"]
    assert (cable.node, cable.interface, cable.neighbour) == ("gpu-01", "ens1f0np0", "gpu-02")  # type: ignore[attr-defined]
    with pytest.raises(ParseError, match=r"x\.txt"):
        reachability.neighbours(output("nothing of this"), Subject(kind="cluster"))


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(["gpu-01 gpu-02 PASS", "gpu-01 gpu-03 FAIL", "mlx5_0 ok -", "\x00\x1b[31m", "", "é" * 50, "k1 -> k2: timed out"]),
        max_size=30,
    )
)
def test_no_line_between_them_costs_a_pair(texts: list[str]) -> None:
    pairs, _ = reachability.read(output("\r\n".join(texts)))
    assert len([one for one in pairs if one.other == "gpu-02"]) == texts.count("gpu-01 gpu-02 PASS")
    assert len([one for one in pairs if one.other == "gpu-03"]) == texts.count("gpu-01 gpu-03 FAIL")
