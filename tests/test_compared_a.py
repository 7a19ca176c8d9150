# ruff: noqa: E501 - lines as people paste them
"""Tables in which somebody compares: what he tried, each rank's counters, each place of the data. Beside each, its healthy twin."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze import trial_tables
from gpudoctor.facts import Subject
from gpudoctor.intake.split import Section
from gpudoctor.notes import rank_counters
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.parser import ParseError
from tests.pasted import diagnosed_files, judge

HANG = (
    "[rank3]:[E208 09:12:40.1 ProcessGroupNCCL.cpp:1685] [PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal due to a collective "
    "timeout from this local rank and we will try our best to dump the debug info. Last enqueued NCCL work: 1, last completed NCCL work: -1.\n"
)
REFUSED = (
    "n03:811:902 [2] NCCL WARN NET/IB : Got completion from peer 10.9.1.17<5012> with error 4, opcode 0, len 0, vendor err 81 (Send)\n"
)
SOCKETS = "NCCL INFO NET/Socket : Using [0]eth0:10.3.0.8<0> [1]{}:10.4.0.8<0>\nNCCL INFO Using network Socket\n"
PORTS = "".join(f"mlx5_{n} State: Active Rate: RATE\n" for n in range(4))

# What was pasted → the cause that is found first; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "variables, with letters": (
        "nccl-timeout",
        f"==> job.log <==\n{HANG}==> tries.txt <==\nA  default                 -> TIMEOUT 60s\nB  NCCL_IB_DISABLE=1       -> TIMEOUT 60s\n"
        "C  B + NCCL_P2P_DISABLE=1  -> 5.2s OK\n",
    ),
    "variables, with bars": (
        "p2p-broken",
        f"==> job.log <==\n{HANG}==> tries.md <==\n| try | set | result |\n|---|---|---|\n| 1 | (default) | hangs |\n"
        "| 2 | NCCL_SHM_DISABLE=1 | hangs |\n| 3 | NCCL_P2P_LEVEL=LOC | works |\n",
    ),
    "variables, none helps": (
        "nccl-timeout",
        f"==> job.log <==\n{HANG}==> tries.txt <==\ndefault   hang\nNCCL_IB_DISABLE=1   hang\nNCCL_P2P_DISABLE=1   hang\n",
    ),
    "variables, all work": ("", "default   ok   41.2\nNCCL_P2P_DISABLE=1   ok   12.0\nNCCL_ALGO=Ring   ok   40.9\n"),
    "the plugin": (
        "collective-hang",
        "==> job.log <==\n  [0,1,2,3] joined but didn't finish collective #12\nnccl plugin: aws-ofi-nccl/1.8.1\n"
        "==> tries.txt <==\ndefault  hang 4/4\nNCCL_PROTO=Simple  hang\nNCCL_NET=Socket  3/3 ok\n",
    ),
    "the plugin, and sockets only slower": ("", "nccl plugin: aws-ofi-nccl/1.8.1\ndefault  ok 0.4 s\nNCCL_NET=Socket  ok 1.9 s\n"),
    "variables, and the network": (
        "?rdma-peer-unreachable",
        "default -> hang\nNCCL_PROTO=LL -> hang\nNCCL_IB_DISABLE=1 -> works, 3 GB/s\n",
    ),
    "variables, and the log's alone": (
        "?p2p-broken",
        "[x] NCCL_DEBUG=INFO: hang\n[x] NCCL_SHM_DISABLE=1: hang\n[ok] NCCL_P2P_DISABLE=1: all-reduce done in 3.1 s\n",
    ),
    "a host, in a column": (
        "?ib-hca-faulty",
        f"==> job.log <==\n{REFUSED}==> runs.txt <==\nnodes   contains n17   busbw\n8       no             301.1\n16      yes            FAIL\n"
        "16      no             299.0\n",
    ),
    "a host, in words": (
        "?ib-hca-faulty",
        f"==> job.log <==\n{REFUSED}==> runs.txt <==\n16 nodes with n17: failed\n15 nodes without n17: 299.02 GB/s\n8 nodes excluding n17: ok\n",
    ),
    "a host, and others fail too": (
        "p2p-acs-iommu",
        f"==> job.log <==\n{REFUSED}==> runs.txt <==\nnodes   contains n17   busbw\n8       no             FAIL\n16      yes            FAIL\n"
        "16      no             299.0\n",
    ),
    "counters of ranks": (
        "hang-one-rank-outside-collective",
        "rank  last enqueued  last completed  where\n0     31             29              watchdog\n1     29             29              evaluate\n"
        "2     31             29              watchdog\n3     31             29              watchdog\n",
    ),
    "counters of ranks, with commas": (
        "hang-one-rank-outside-collective",
        "rank,last_enqueued,last_completed,op\n0,31,30,ALLREDUCE\n1,31,30,ALLREDUCE\n2,30,30,\n",
    ),
    "counters of ranks, together": (
        "nccl-timeout",
        "| ranks | enqueued work | completed work |\n|---|---|---|\n| 0-3 | 31 | 30 |\n| 4-7 | 31 | 30 |\n",
    ),
    "counters of ranks, all done": (
        "",
        "| ranks | enqueued work | completed work |\n|---|---|---|\n| 0-3 | 31 | 31 |\n| 4-7 | 31 | 31 |\n",
    ),
    "sockets on IPoIB": ("nccl-socket-fallback", SOCKETS.format("ibp12s0")),
    "sockets on a cloud's RDMA interface": ("nccl-socket-fallback", SOCKETS.format("gpu0rdma0")),
    "sockets on Ethernet": ("", SOCKETS.format("ens8f0np0")),
    "InfiniBand, and sockets for the bootstrap": (
        "",
        "NCCL INFO Bootstrap : Using ib0:10.4.0.8<0>\nNCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.4.0.8<0>\n"
        "NCCL INFO Using network IB\n",
    ),
    "fast ports that are forbidden": (
        "nccl-socket-fallback",
        "==> job.sh <==\nexport NCCL_IB_DISABLE=1\nsrun python train.py\n==> ports.txt <==\n" + PORTS.replace("RATE", "400"),
    ),
    "slow ports that are forbidden": (
        "",
        "==> job.sh <==\nexport NCCL_IB_DISABLE=1\nsrun python train.py\n==> ports.txt <==\n" + PORTS.replace("RATE", "25"),
    ),
    "places of the data, in a table": (
        "?gpu-starved-by-input",
        "where the data is     GPU    minutes per epoch\nlocal NVMe            A100   14\nGPFS project folder   A100   39-42\nlocal NVMe            V100   31\n",
    ),
    "places of the data, in words": ("?gpu-starved-by-input", "from /dev/shm: 0.41 s/step\nfrom the NFS home: 1.30 s/step\n"),
    "places of the data, as rates": (
        "?gpu-starved-by-input",
        "| storage | img/s |\n|---|---|\n| node-local SSD | 2410 |\n| S3 through a mount | 611 |\n",
    ),
    "places of the data, all alike": ("", "storage      s/step\nlocal NVMe   1.21\nLustre       1.24\n"),
    "places of the data, on unlike machines": ("", "storage      GPU    s/step\nlocal NVMe   H100   0.41\nLustre       T4     2.24\n"),
    "places of a checkpoint": ("", "storage      checkpoint s/step\nlocal NVMe, checkpoint   3.1\nLustre, checkpoint       41.0\n"),
    "a loader without workers": (
        "?gpu-starved-by-input",
        "==> config.yaml <==\ndata:\n  num_workers: 0\n  pin_memory: true\n==> runs.txt <==\nrun     epoch  GPU util\n1 GPU   71 s   40-90 %\n2 GPU   70 s   12-85 %\n",
    ),
    "a loader without workers, and GPUs that work": (
        "",
        "==> config.yaml <==\ndata:\n  num_workers: 0\n  pin_memory: true\n==> runs.txt <==\nrun     epoch  GPU util\n1 GPU   71 s   93-98 %\n2 GPU   36 s   91-97 %\n",
    ),
    "a server before its weights": (
        "p2p-broken",
        "==> server.log <==\n(Worker_TP0 pid=88) INFO 03-09 18:01:22 [pynccl.py:103] vLLM is using nccl==2.27.5\n"
        "==> smi.txt <==\nindex, memory.used [MiB], utilization.gpu [%]\n0, 402 MiB, 100 %\n1, 402 MiB, 100 %\n",
    ),
    "a server with its weights": (
        "",
        "==> server.log <==\n(Worker_TP0 pid=88) INFO 03-09 18:01:22 [pynccl.py:103] vLLM is using nccl==2.27.5\n"
        "==> smi.txt <==\nindex, memory.used [MiB], utilization.gpu [%]\n0, 70402 MiB, 100 %\n1, 70402 MiB, 100 %\n",
    ),
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_the_cause_that_a_comparison_shows_is_found_first(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)


def said(text: str) -> list[str]:
    return [f"{one.name} {one.detail}" for one in trial_tables.messages(Section("runs.txt", 1, text, ""))]


def test_two_variables_that_help_together_are_none() -> None:
    assert said("default hang\nNCCL_ALGO=Ring hang\nNCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 ok\n") == []
    assert said("default hang\nNCCL_ALGO=Ring hang\nNCCL_ALGO=Ring NCCL_SHM_DISABLE=1 ok\n") == ["works_with_setting NCCL_SHM_DISABLE=1"]


def test_a_log_is_no_table() -> None:
    assert said("step failed\n" * 500 + "default hang\nNCCL_ALGO=Ring hang\nNCCL_P2P_DISABLE=1 ok\n") == []


def output(text: str) -> Output:
    return Output(Command(("cat",)), pages=(text.encode(),), source="x.txt")


def test_what_is_no_table_of_counters_is_said() -> None:
    with pytest.raises(ParseError, match=r"x\.txt"):
        rank_counters.counters(output("rank  enqueued  completed\n"), Subject(kind="cluster"))


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["default hang", "NCCL_ALGO=Ring -> ok", "A + B", "| x | yes |", "with n1 failed", "without n1 ok", "é\x00"]))
)
def test_any_rows_are_read(rows: list[str]) -> None:
    assert set(said("\n".join(rows))) <= {"works_with_setting NCCL_ALGO=Ring", "runs_fail_with_host n1"}
