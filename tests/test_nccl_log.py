"""The logs of a distributed job: who wrote a line, what it says of ranks, communicators and operations, in every form they come in."""
# ruff: noqa: E501  (lines as they are logged)

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.job import Collective, Communicator, Rank, Setting
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake import rank_files
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.recognise import recognise
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common.messages import errors
from gpudoctor.tools.job import forms as rank_forms
from gpudoctor.tools.job.log import log
from gpudoctor.tools.ranks.line import line_of, unglue_lines
from gpudoctor.tools.ranks.process import address
from gpudoctor.tools.torch.lines import group_of, world_rank
from tests.message_files import MessageFiles

NOBODY = Subject(kind="cluster")
NOW = 1772366400.0  # 2026-03-01 12:00


def read(text: str | bytes, about: Subject = NOBODY, source: str = "job.log") -> Facts:
    data = text.encode() if isinstance(text, str) else text
    return log([Output(Command(()), pages=(data,), time=NOW, source=source)], about)


def ranks(facts: Facts) -> dict[int | None, Rank]:
    return {one.rank: one for one in facts["ranks"] if isinstance(one, Rank)}


def messages(facts: Facts) -> list[Message]:
    return [one for one in facts["messages"] if isinstance(one, Message)]


def operations(facts: Facts) -> list[Collective]:
    return [one for one in facts["collectives"] if isinstance(one, Collective)]


def communicators(facts: Facts) -> list[Communicator]:
    return [one for one in facts["communicators"] if isinstance(one, Communicator)]


def started(rank: int, world: int = 2, host: str = "gpu-01", comm: str = "0x91fd3a", done: bool = True) -> str:
    """The beginning of a rank as NCCL 2.21 logs it."""
    at = f"{host}:{700 + rank}:{800 + rank} [{rank}] NCCL INFO"
    ends = ("START", "COMPLETE") if done else ("START",)
    middle = f"ncclCommInitRank comm 0x55{rank} rank {rank} nranks {world} cudaDev {rank} nvmlDev {rank} busId {rank + 1}b000 commId {comm}"
    return "".join(f"{at} {middle} - Init {end}\n" for end in ends)


# --- who wrote a line --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu-02:812:930 [3] NCCL INFO Using network IB", {"node": "gpu-02", "pid": 812, "device": 3, "severe": False}),
        ("gpu-02:812:930 [3] misc/socket.cc:484 NCCL WARN x", {"pid": 812, "severe": True, "text": "x"}),
        ("[2026-03-01 11:59:00] gpu-02:8:9 [0] misc/socket.cc:4 (ncclX) NCCL WARN x", {"pid": 8, "text": "x", "time": NOW - 60}),
        ("gpu-02:79:79 [0] nccl_net_ofi_create_plugin:261 NCCL WARN NET/OFI x", {"pid": 79, "text": "NET/OFI x"}),
        ("[rank5]: [rank5]: KeyError: 'x'", {"rank": 5, "text": "KeyError: 'x'"}),
        ("5: gpu-02:812:930 [3] NCCL INFO x", {"task": 5, "pid": 812}),
        ("[1,5]<stdout>:gpu-02:812:930 [3] NCCL INFO x", {"rank": 5, "pid": 812}),
        ("[default3]:gpu-02:812:930 [3] NCCL INFO x", {"local": 3, "pid": 812}),
        ("[pod/train-0/main] gpu-02:812:930 [3] NCCL INFO x", {"pod": "train-0", "container": "main", "pid": 812}),
        ("[pod/train-0/main] 2026-03-01T11:59:00.5Z [rank1]: x", {"pod": "train-0", "rank": 1, "time": NOW - 59.5}),
        ("gpu-07: [rank8]: x", {"node": "gpu-07", "rank": 8}),
        ("[rank5]:[E301 11:59:00.5 ProcessGroupNCCL.cpp:6] [Rank 5] x", {"rank": 5, "time": NOW - 59.5, "severe": True}),
        ("[W228 11:59:00.5 socket.cpp:6] [c10d] x", {"severe": False, "time": NOW - 86400 - 59.5}),
        ("[E1231 11:59:00 ProcessGroupNCCL.cpp:6] x", {"time": NOW - 60 * 86400 - 60}),  # last year's
        ("[E1399 99:59:00 x.cpp:6] x", {"time": None}),
        ("75: POST /init", {"task": 75, "text": "POST /init"}),
        ("a line", {"rank": None, "pid": None, "task": None, "text": "a line"}),
    ],
)
def test_who_wrote_a_line(text: str, expected: dict[str, object]) -> None:
    line = line_of(text, NOW)
    assert {name: getattr(line, name) for name in expected} == expected


def test_glued_lines_are_taken_apart() -> None:
    glued = "gpu-02:8:9 [0] NCCL INFO Channel 00 : 0 -> 1 via P2P/IPCgpu-02:7:6 [1] NCCL INFO Using network Socket"
    assert len(unglue_lines(glued)) == 2
    facts = read(started(0, host="gpu-02") + glued + "\n" + "gpu-02:8:9 [0] NCCL INFO Using network IB\n")
    assert {one.pid: one.network for one in facts["ranks"] if isinstance(one, Rank)} == {700: "", 8: "IB", 7: "Socket"}


@pytest.mark.parametrize(("bus", "pci"), [("1b000", "0000:1b:00"), ("1e0", "0000:00:1e"), ("11b000", "0001:1b:00"), ("0", "0000:00:00")])
def test_bus_numbers(bus: str, pci: str) -> None:
    assert address(bus) == pci


# --- ranks and communicators -------------------------------------------------------------------------------------------------------------


def test_a_rank_of_one_log() -> None:
    at = "gpu-02:703:803 [3] NCCL INFO"
    facts = read(
        f"{at} Bootstrap : Using eth0:10.0.0.2<0>\n{at} cudaDriverVersion 12040\n{at} NCCL version 2.21.5+cuda12.4\n"
        f"{at} NCCL_IB_HCA set by environment to mlx5_0,mlx5_1.\n{at} P2P plugin IBext_v8\n"
        f"{at} NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.2<0>\n{at} Using network IBext_v8\n"
        + started(3, 16, "gpu-02")
        + f"{at} Channel 00/0 : 3[3] -> 11[3] [send] via NET/IBext_v8/0/GDRDMA\n{at} Channel 01/0 : 3[3] -> 4[4] via P2P/CUMEM\n"
        f"{at} Channel 02/0 : 3[3] -> 4[4] via SHM/direct/direct\n{at} Connected all rings\n iteration      120/    1000 | consumed samples: 1\n"
    )
    rank = ranks(facts)[3]
    assert (rank.node, rank.pid, rank.device, rank.pci, rank.world, rank.stage) == ("gpu-02", 703, 3, "0000:4b:00", 16, "running")
    assert (rank.nccl_version, rank.driver_version, rank.interface, rank.network, rank.plugin) == (
        *("2.21.5", "CUDA 12.4", "eth0", "IBext_v8", "IBext_v8"),
    )
    assert (rank.hcas, rank.link_layer, rank.gdr, rank.transports) == (
        ["mlx5_0:1", "mlx5_1:1"],
        "RoCE",
        True,
        ["NET/IBext_v8", "P2P", "SHM"],
    )
    assert rank.settings == {"NCCL_IB_HCA": "mlx5_0,mlx5_1"}
    assert rank.step == 120
    assert not rank.error
    assert [(one.name, one.value, one.node) for one in facts["settings"] if isinstance(one, Setting)] == [
        ("NCCL_IB_HCA", "mlx5_0,mlx5_1", "gpu-02")
    ]


@pytest.mark.parametrize(
    "line",
    [
        "comm 0x7f rank 3 nranks 8 cudaDev 3 nvmlDev 3 - Init COMPLETE",  # 2.4
        "comm 0x7f rank 3 nranks 8 cudaDev 3 busId 4b000 - Init COMPLETE",  # 2.7 to 2.13
        "comm 0x7f rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 4b000 commId 0x91fd3a - Init COMPLETE",  # 2.16
        "ncclCommInitRankConfig comm 0x7f rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 4b000 commId 0x91fd3a - Init COMPLETE",  # 2.18
        "[Rank 3] ncclCommInitRank comm 0x7f rank 3 nranks 8 cudaDev 3 nvmlDev 3 busId 4b000 commId 0x91fd3a - Init COMPLETE",  # 2.30
    ],
)
def test_versions_of_the_line_of_a_communicator(line: str) -> None:
    facts = read(f"gpu-02:812:930 [3] NCCL INFO {line}\n")
    assert ranks(facts)[3].world == 8
    (one,) = communicators(facts)
    assert (one.world, one.completed, one.missing) == (8, [3], [0, 1, 2, 4, 5, 6, 7])


def test_who_did_not_come_to_a_communicator() -> None:
    facts = read(started(0, 4) + started(1, 4, done=False) + started(3, 4))
    (one,) = communicators(facts)
    assert (one.started, one.completed, one.missing) == ([0, 1, 3], [0, 3], [2])
    assert ranks(facts)[1].stage == "init"


def test_a_second_communicator_with_an_old_identifier() -> None:
    facts = read(started(0) + started(1) + started(0, comm="0x77", done=False) + started(1, done=False))
    first, second = communicators(facts)
    assert (first.again, second.started, second.missing) == ([1], [0], [1])


def test_groups_are_not_the_job() -> None:
    facts = read("".join(started(rank % 2, 2, f"gpu-0{rank // 2}", f"0x{rank // 2 + 1}") for rank in range(4)))
    assert sorted((one.rank is None, one.node) for one in facts["ranks"] if isinstance(one, Rank)) == [
        (True, "gpu-00"),
        (True, "gpu-00"),
        (True, "gpu-01"),
        (True, "gpu-01"),
    ]


def test_several_sources_are_one_job() -> None:
    texts = {"a.log": started(0), "b.log": started(1), "err.log": "[rank1]: KeyError: 7\n"}
    facts = log([Output(Command(()), pages=(text.encode(),), source=name) for name, text in texts.items()], NOBODY)
    assert list(ranks(facts)) == [0, 1]
    assert (ranks(facts)[1].pid, ranks(facts)[1].error) == (701, "raised")
    assert communicators(facts)[0].missing == []


def test_lines_without_a_name_belong_to_the_only_process() -> None:
    facts = read(started(1) + "RuntimeError: CUDA error: uncorrectable ECC error encountered\n")
    assert ranks(facts)[1].error == "program_meets_ecc_error"
    both = read(started(0) + started(1) + "RuntimeError: CUDA error: uncorrectable ECC error encountered\n")
    assert [one.error for one in ranks(both).values()] == ["", ""]
    assert [one.rank for one in messages(both)] == [None]


def test_local_ranks_and_tasks_lead_to_the_process() -> None:
    text = started(0).replace("gpu-01:", "[default0]:gpu-01:") + "[default0]:CUDA error: unknown error\n"
    assert ranks(read(text))[0].error == "program_meets_lost_gpu"
    labelled = "".join(f"{rank}: {line}\n" for rank in (0, 1) for line in started(rank).splitlines())
    facts = read(labelled + "1: KeyError: 'x'\n")
    assert [one.error for one in ranks(facts).values()] == ["", "raised"]


def test_the_pod_of_a_line() -> None:
    lines = [f"[pod/train-{rank}/main] {line}" for rank in (0, 1) for line in started(rank, host=f"train-{rank}").splitlines()]
    facts = read(
        "\n".join([*lines, "[pod/train-1/main] NCCL WARN Cuda failure 2 'out of memory'"]), Subject(kind="cluster", namespace="ml")
    )
    assert [(one.pod, one.namespace, one.node, one.rank) for one in ranks(facts).values()] == [
        ("train-0", "ml", "", 0),
        ("train-1", "ml", "", 1),
    ]
    assert [(one.name, one.rank, one.pod) for one in messages(facts)] == [("nccl_cuda_memory_exhausted", 1, "train-1")]


# --- the first error -----------------------------------------------------------------------------------------------------------------------


def test_survivors_and_who_began() -> None:
    facts = read(
        started(0)
        + started(1)
        + "gpu-01:700:9 [0] misc/socket.cc:5 NCCL WARN socketProgress: Connection closed by remote peer gpu-01<41>\n"
        "gpu-01:701:9 [1] enqueue.cc:4 NCCL WARN Cuda failure 2 'out of memory'\n"
        "gpu-01:701:9 [1] NCCL WARN socketProgress: Connection closed by remote peer gpu-01<42>\n"
    )
    assert [(one.error, one.survivor) for one in ranks(facts).values()] == [
        ("nccl_connection_closed", True),
        ("nccl_cuda_memory_exhausted", False),
    ]


def test_a_warning_that_was_overcome_is_no_error() -> None:
    refused = (
        "[W228 11:59:00.5 socket.cpp:6] [c10d] The client socket has failed to connect to [a]:29500 (errno: 111 - Connection refused).\n"
    )
    assert [one.error for one in ranks(read(refused)).values()] == ["store_connect_refused"]
    assert [one.error for one in ranks(read(refused + started(0))).values()] == [""]


def test_a_known_message_names_an_exception_better() -> None:
    raised = "[rank0]: torch.distributed.DistBackendError: NCCL error in: x.cpp:77, remote process exited or there was a network error\n"
    assert (ranks(read(raised))[0].error, ranks(read(raised))[0].survivor) == ("nccl_result_remote_error", True)
    assert ranks(read("[rank0]: KeyError: 'x'\n"))[0].error == "raised"
    assert ranks(read("[rank0]: torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"))[0].error == ""


# --- PyTorch -----------------------------------------------------------------------------------------------------------------------------

TIMED_OUT = "Watchdog caught collective operation timeout: WorkNCCL("


@pytest.mark.parametrize(
    ("line", "rank", "group", "sequence", "operation", "waited"),
    [
        (
            f"[E ProcessGroupNCCL.cpp:566] [Rank 3] {TIMED_OUT}OpType=ALLREDUCE, TensorShape=[1024], Timeout(ms)=1800000) ran for 1801910 milliseconds before timing out.",
            3,
            "",
            None,
            "ALLREDUCE",
            1801.91,
        ),
        (
            f"[E ProcessGroupNCCL.cpp:737] [Rank 1] {TIMED_OUT}SeqNum=56, OpType=BROADCAST, Timeout(ms)=1800000) ran for 1804406 milliseconds before timing out.",
            1,
            "",
            56,
            "BROADCAST",
            1804.406,
        ),
        (
            f"[rank5]:[E906 15:16:01.1 ProcessGroupNCCL.cpp:607] [Rank 5] {TIMED_OUT}SeqNum=25, OpType=_ALLGATHER_BASE, NumelIn=10, NumelOut=80, Timeout(ms)=600000) ran for 600083 milliseconds before timing out.",
            5,
            "",
            25,
            "ALLGATHER",
            600.083,
        ),
        (
            f"[rank7]:[E ProcessGroupNCCL.cpp:607] [PG 1 Rank 3] {TIMED_OUT}SeqNum=2, OpType=REDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds",
            7,
            "1",
            2,
            "REDUCE",
            600.001,
        ),
        (
            f"[rank9]:[E ProcessGroupNCCL.cpp:632] [PG ID 2 PG GUID 5(tensor_parallel) Rank 1] {TIMED_OUT}SeqNum=9, OpType=COALESCED, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds",
            9,
            "tensor_parallel 5",
            9,
            "COALESCED",
            600.001,
        ),
        (
            f"[PG ID 0 PG GUID 0(default_pg) Rank 4] {TIMED_OUT}SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds",
            4,
            "default_pg",
            9,
            "ALLREDUCE",
            600.001,
        ),
    ],
)
def test_watchdog(line: str, rank: int, group: str, sequence: int | None, operation: str, waited: float) -> None:
    facts = read(f"{line}\n[rank{rank}]:  what():  {line}\n" if "[rank" in line else f"{line}\n")
    (one,) = operations(facts)
    assert (one.rank, one.group, one.sequence, one.operation, one.waited, one.state) == (
        rank,
        group,
        sequence,
        operation,
        waited,
        "timed_out",
    )
    assert ranks(facts)[rank].error == "collective_timed_out"
    assert ranks(facts)[rank].survivor


@pytest.mark.parametrize(
    ("line", "at", "numbers"),
    [
        (
            "[rank0]:[E x.cpp:1] [PG 0 Rank 0] Timeout at NCCL work: 10, last enqueued NCCL work: 12, last completed NCCL work: 9.",
            10,
            (12, 9),
        ),
        (
            "[rank0]:[E x.cpp:1] [PG 0 Rank 0] Exception (either an error or timeout) detected by watchdog at work: 4, last enqueued NCCL work: 5, last completed NCCL work: 3.",
            4,
            (5, 3),
        ),
        (
            "[rank0]:[E x.cpp:1] [PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 6 PG status: last enqueued work: 7, last completed work: -1",
            6,
            (7, -1),
        ),
    ],
)
def test_how_far_a_rank_was(line: str, at: int, numbers: tuple[int, int]) -> None:
    (one,) = operations(read(line + "\n"))
    assert (one.rank, one.group, one.sequence, (one.last_enqueued, one.last_completed)) == (0, "default_pg", at, numbers)


def test_ranks_that_call_different_things() -> None:
    facts = read(
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=2, "
        "OpType=ALLREDUCE, TensorShape=[4], TensorDtypes=Float, TensorDeviceTypes=x), but Rank 1 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=2, OpType=BROADCAST, TensorShape=[1], TensorDtypes=Float)\n"
    )
    assert [(one.rank, one.sequence, one.operation, one.sizes, one.dtype) for one in operations(facts)] == [
        (0, 2, "ALLREDUCE", "[4]", "Float"),
        (1, 2, "BROADCAST", "[1]", "Float"),
    ]


def test_rank_of_a_group_is_not_taken_for_that_of_the_job() -> None:
    assert world_rank("[PG ID 2 PG GUID 5(tp) Rank 1] x") is None
    assert world_rank("[PG ID 0 PG GUID 0 Rank 1] x") == 1
    assert group_of("[PG ID 3 PG GUID 17 Rank 0] x") == "17"
    assert group_of("no group") == ""


def test_the_last_call_of_each_communicator() -> None:
    calls = "".join(
        f"gpu-01:700:800 [0] NCCL INFO AllReduce: opCount {n:x} sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 root 0 comm 0x55 [nranks=2] stream 0x3\n"
        for n in range(3000)
    )
    (one,) = operations(read(started(0) + calls))
    assert (one.operation, one.sequence, one.elements_in, one.rank) == ("ALLREDUCE", 2999, 1024, 0)


# --- launchers ---------------------------------------------------------------------------------------------------------------------------


def test_the_box_of_torchrun() -> None:
    facts = read(
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-03-01_11:59:00\n  host      : gpu-07\n"
        "  rank      : 59 (local_rank: 3)\n  exitcode  : -9 (pid: 812)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 812\n"
    )
    rank = ranks(facts)[59]
    assert (rank.node, rank.pid, rank.signal, rank.exit_code, rank.error_time) == ("gpu-07", 812, 9, None, NOW - 60)


def test_exits_that_launchers_report() -> None:
    agent = read(
        started(0) + "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 (pid: 700) of binary: x\n"
    )
    assert ranks(agent)[0].exit_code == 1
    mpi = read("mpirun noticed that process rank 3 with PID 812 on node gpu-07 exited on signal 9 (Killed).\n")
    assert (ranks(mpi)[3].node, ranks(mpi)[3].signal) == ("gpu-07", 9)
    slurm = read("srun: error: gpu-07: task 12: Exited with exit code 1\nsrun: error: Node failure on gpu-08\n")
    assert [(one.name, one.detail) for one in messages(slurm)] == [
        ("host_tasks_ended", "gpu-07"),
        ("step_task_ended", "gpu-07: task 12"),
        ("ended_by_node_failure", "gpu-08"),
    ]


def test_the_list_of_nccl_tests() -> None:
    facts = read("#  Rank  8 Group  0 Pid 1948 on gpu-07 device  3 [0x0f] NVIDIA H100 80GB HBM3\nNCCL version 2.23.4+cuda12.6\n")
    assert (ranks(facts)[8].node, ranks(facts)[8].pid, ranks(facts)[8].device) == ("gpu-07", 1948, 3)


# --- the known messages ------------------------------------------------------------------------------------------------------------------

KNOWN = MessageFiles("nccl", "torch", "launcher")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nccl_ib_retries_exceeded", "NET/IB : Got completion from peer 10.0.0.2<1> with error 12, opcode 0, len 0, vendor err 129 (Send)"),
        (
            "nccl_ib_retries_exceeded",
            "NET/IB: Got completion from peer 10.0.0.2<1> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129",
        ),
        ("nccl_ib_flushed", "NET/IB : Got completion from peer 10.0.0.2<1> with status=5 opcode=1 len=0 vendor err 249 (Recv)"),
        ("nccl_ib_memory_not_lockable", "Call to ibv_create_cq failed with error Cannot allocate memory"),
        ("nccl_connection_refused", "Connect to 10.0.0.2<41273> failed : Connection refused"),
        ("nccl_versions_differ", "NCCL version mismatch with remote peer 10.0.0.2<1> (local: 2.21.5, remote 2.23.4)"),
        (
            "nccl_two_ranks_on_one_gpu",
            "Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this feature",
        ),
        ("store_connect_timed_out", "The client socket has timed out after 60s while trying to connect to (127.0.0.1, 29500)."),
        ("ended_by_cancel", "slurmstepd: error: *** JOB 4242 ON gpu-01 CANCELLED AT 2026-03-01T12:00:00 ***"),
    ],
)
def test_sibling_wordings(name: str, text: str) -> None:
    assert name in KNOWN.names(text)


@pytest.mark.parametrize(
    "text",
    [
        "NCCL INFO socketPollConnect: connect returned Connection refused, retrying (1/34) after sleep for 100 msec",
        "NCCL INFO socketPollConnect: connect to 10.0.0.2<41273> returned Connection refused, retrying (2/34) after sleep for 200 msec",
        "NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.",
        "NCCL INFO TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.",
        "NCCL INFO NET/IB : No device found.",
        "NCCL INFO comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE",
        "NCCL INFO [Proxy Service] Device 1 CPU core 56",
        "NCCL INFO RAS client listening socket at 127.0.0.1<28028>",
        "WARNING: destroy_process_group() was not called before program exit, which can leak resources.",
        "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
    ],
)
def test_what_a_good_run_says_is_no_alarm(text: str) -> None:
    assert KNOWN.names(text) <= KNOWN.benign


def test_survivors_texts_are_marked() -> None:
    assert {name for name, survivor in errors().items() if survivor} >= {"nccl_connection_closed", "collective_timed_out", "step_aborted"}
    assert not errors()["nccl_cuda_memory_exhausted"]
    assert "nccl_no_plugin" not in errors()


# --- hostile input -------------------------------------------------------------------------------------------------------------------------

SAMPLE = (
    started(0)
    + started(1)
    + f"[rank1]:[E301 11:59:00.5 ProcessGroupNCCL.cpp:607] [Rank 1] {TIMED_OUT}SeqNum=25, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
    "Timeout(ms)=600000) ran for 600083 milliseconds before timing out.\n"
    "  rank      : 1 (local_rank: 1)\n  exitcode  : -9 (pid: 701)\n"
)


def test_cut_anywhere() -> None:
    for end in range(0, len(SAMPLE), 3):
        read(SAMPLE[:end])


def test_other_line_ends_colours_and_bad_bytes() -> None:
    plain = read(SAMPLE)["ranks"]
    assert read(SAMPLE.replace("\n", "\r\n"))["ranks"] == plain
    colours = "".join(f"\x1b[36m{line}\x1b[0m\n" for line in SAMPLE.splitlines())
    assert [one.rank for one in read(colours)["ranks"] if isinstance(one, Rank)] == [0, 1]
    broken = SAMPLE.encode().replace(b"\n[rank1]", b"\n\x00\xff\xe2\x82 noise\n[rank1]")
    assert ranks(read(broken))[1].error == "collective_timed_out"


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(st.sampled_from([*SAMPLE.splitlines(), "noise", "\x00", "[rank", "5: ", " NCCL ", "- Init START"]), max_size=12),
    st.binary(max_size=40),
)
def test_any_lines_in_any_order(lines: list[str], rest: bytes) -> None:
    read("\n".join(lines).encode() + rest)


@pytest.mark.parametrize(
    "line",
    [
        "[rank0]:" * 400,
        "a:1:1 [0] NCCL " * 200,
        "[PG ID 0 PG GUID 0(" * 150,
        "rank 1 nranks 2 " * 200 + "- Init START",
        "Got completion from peer " * 150,
        "global_ranks=[" + "1, " * 1000,
        "gpu-02:812:930 [3] NCCL INFO " + "Channel 00 : 0 -> 1 via P2P/IPC" * 100,
    ],
)
def test_hostile_lines_take_linear_time(line: str) -> None:
    text = (line + "\n") * (1_000_000 // len(line))
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < 20


def test_memory_follows_ranks_not_bytes() -> None:
    bulk = "".join(f"gpu-01:700:800 [0] NCCL INFO Channel {n:02d}/0 : 0[0] -> 1[1] via P2P/CUMEM\n" for n in range(4000))
    tracemalloc.start()
    facts = log((Output(Command(()), pages=(bulk.encode(),), source="a.log") for _ in range(30)), NOBODY)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(facts["ranks"]) == 1
    assert peak < 12 << 20


# --- files -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        started(0),
        "[rank0]: KeyError: 'x'",
        "srun: error: gpu-07: task 12: Exited with exit code 1",
        "[1,0]<stdout>:#       size         count      type",
        " iteration        1/    1000 | consumed samples: 1024 |",
        "#  Rank  0 Group  0 Pid 1947 on gpu-01 device  0 [0x0f] NVIDIA H100",
    ],
)
def test_recognised(text: str) -> None:
    assert recognise(text, Hint())[0].name == "nccl.log"


def test_not_recognised() -> None:
    assert not rank_forms.score(["time=x level=info", "NAME  READY"], "time=x level=info\nNAME  READY")


def test_a_folder_of_long_logs_is_read_as_one_job(tmp_path: Path) -> None:
    for rank in (0, 1):
        bulk = f"gpu-01:{700 + rank}:8 [{rank}] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n" * 1500
        (tmp_path / f"{rank}.log").write_text(started(rank) + bulk)
    assert all(path.stat().st_size > 64 << 10 for path in tmp_path.iterdir())
    found = gather([str(tmp_path)])
    assert [one.recognised_as for one in found.inputs] == [["nccl.log"], ["nccl.log"]]
    assert list(ranks(found.facts)) == [0, 1]
    assert communicators(found.facts)[0].missing == []
    assert not rank_files.is_rank_log(b"$ kubectl logs train-0\n" + started(0).encode())


def test_a_head_that_nobody_knows() -> None:
    line = line_of("(exp-7) [rank=12] || lab-04:402:588 [3] NCCL INFO Using network Socket")
    assert (line.rank, line.node, line.pid, line.device, line.text) == (12, "lab-04", 402, 3, "Using network Socket")
    assert line_of("local_rank=3 lab-04:402:588 [3] NCCL INFO Using network Socket").rank is None
