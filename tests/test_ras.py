"""NCCL's RAS: its text and JSON through the versions, hostile ones, and its port asked directly."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.job import Collective, Communicator, Rank
from gpudoctor.probes import ras
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.runbook.allowed import refusal
from gpudoctor.tools.parser import ParseError

SUMMARY = """NCCL version 2.28.9 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          8            1         16       16

Communicators... (0.004s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
"""
HEALTHY = f"""{SUMMARY}    0         1         2         8        16        16   RUNNING      OK
    1         8         2         1         2        16   RUNNING      OK

Errors
======

Warnings
========

"""
ROW = "    0         1         2       7-8        16        16   RUNNING  {}\n"
DEAD = f"""{SUMMARY}{ROW.format("INCOMPLETE")}
Errors
======

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 4013 on node 10.20.0.12 managing GPU 5

#0-0 (5be10b0a66d1cf27) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 13 -- GPU 5 managed by process 4013 on node 10.20.0.12

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

"""
UNRESPONSIVE = DEAD.replace(
    "DEAD\n  1 job process is considered dead (unreachable via the RAS network)",
    "INCOMPLETE\n  Missing communicator data from 1 job process",
)
# Before 2.28 the rank and the process stand apart.
OLD = DEAD.replace("  Rank 13 -- GPU 5 managed by process 4013 on node 10.20.0.12\n", "  The missing rank: 13\n").replace(
    "2.28.9", "2.24.3"
)
BEHIND = f"""{SUMMARY}{ROW.format("MISMATCH")}
Errors
======

Warnings
========

#0-0 (5be10b0a66d1cf27) MISMATCH
  Communicator ranks have different AllReduce operation counts
  14 ranks have launched up to operation 4211
  2 ranks have launched up to operation 4210
  Rank 3 -- GPU 3 managed by process 812 on node 10.20.0.11
  Rank 9 -- GPU 1 (NVML 5) managed by process 4009 on node 10.20.0.12

  Communicator ranks have different Broadcast operation counts
  15 ranks have launched up to operation 1
  Rank 9 has not launched any operations -- GPU 1 (NVML 5) managed by process 4009 on node 10.20.0.12

"""
ERROR = f"""{SUMMARY}{ROW.format("ERROR,MISMATCH")}
Errors
======

#0-0 (5be10b0a66d1cf27) ERROR
  Asynchronous errors on 3 ranks
  2 ranks reported Remote process error
  Rank 0 -- GPU 0 managed by process 809 on node 10.20.0.11
  Rank 1 -- GPU 1 managed by process 810 on node 10.20.0.11
  Rank 4 reported System error -- GPU 4 managed by process 813 on node 10.20.0.11

Warnings
========

#0-0 (5be10b0a66d1cf27) MISMATCH
  Communicator ranks have different status
  13 ranks have status RUNNING
  2 ranks have status ABORT
  Rank 0 -- GPU 0 managed by process 809 on node 10.20.0.11
  Rank 1 -- GPU 1 managed by process 810 on node 10.20.0.11
  Rank 7 has status NOCOMM -- GPU 7 managed by process 816 on node 10.20.0.11

"""


def member(rank: int, count: int = 17, **status: object) -> dict[str, object]:
    state = {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False} | status
    place = {"rank": rank, "host": "10.20.0.11", "pid": 800 + rank, "cuda_dev": rank, "nvml_dev": rank}
    return place | {"status": state, "collective_counts": {"Broadcast": 1, "AllReduce": count}}


def as_json(*communicators: dict[str, object]) -> str:
    head = {
        "nccl_version": "2.29.1",
        "cuda_runtime_version": 13000,
        "timestamp": "2026-03-01 12:00:00",
        "communicators_count": len(communicators),
    }
    return json.dumps(head | {"communicators": communicators, "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}, indent=2)


def comm(members: list[dict[str, object]], missing: list[dict[str, object]] | None = None) -> dict[str, object]:
    lost = missing or []
    size = len(members) + len(lost)
    return {"hash": "0x5be10b0a66d1cf27", "size": size, "ranks_count": len(members), "ranks": members, "missing_ranks": lost}


def read(text: str | bytes, stderr: bytes = b"") -> Facts:
    page = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return load("nccl.ras")(Output(Command(("ncclras", "-v")), pages=(page,), stderr=stderr), Subject(kind="cluster"))


def of(facts: Facts, kind: type) -> list:
    return [one for records in facts.values() for one in records if isinstance(one, kind)]


def test_a_healthy_job() -> None:
    facts = read(HEALTHY)
    assert of(facts, Rank) == []
    assert of(facts, Collective) == []
    assert [(one.world, one.status, one.errors, one.count) for one in of(facts, Communicator)] == [
        (16, "running", [], 1),
        (2, "running", [], 8),
    ]


@pytest.mark.parametrize("text", [DEAD, OLD])
def test_a_dead_process(text: str) -> None:
    facts = read(text)
    (rank,) = of(facts, Rank)
    assert (rank.rank, rank.node, rank.pid, rank.device, rank.ras, rank.world) == (13, "10.20.0.12", 4013, 5, "dead", 16)
    (one,) = of(facts, Communicator)
    assert (one.communicator, one.missing, one.errors) == ("5be10b0a66d1cf27", [13], ["incomplete"])


def test_a_process_that_does_not_answer() -> None:
    (rank,) = of(read(UNRESPONSIVE), Rank)
    assert (rank.rank, rank.ras) == (13, "unresponsive")


def test_ranks_that_are_behind() -> None:
    facts = read(BEHIND)
    told = {(one.operation, one.rank): one.last_enqueued for one in of(facts, Collective)}
    assert told == {("ALLREDUCE", rank): 4210 if rank in (3, 9) else 4211 for rank in range(16)} | {
        ("BROADCAST", rank): 0 if rank == 9 else 1 for rank in range(16)
    }
    assert len({one.group for one in of(facts, Collective)}) == 2  # each operation is numbered by itself
    assert [(one.rank, one.pid, one.ras) for one in of(facts, Rank)] == [(3, 812, "answers"), (9, 4009, "answers")]


def test_ranks_that_are_only_counted() -> None:
    lines = [line for line in BEHIND.split("\n") if not line.startswith("  Rank 3") and not line.startswith("  Rank 9 --")]
    told = [(one.rank, one.last_enqueued, one.count) for one in of(read("\n".join(lines)), Collective) if one.operation == "ALLREDUCE"]
    assert told == [(None, 4211, 14), (None, 4210, 2)]


def test_before_226_the_operation_is_not_named() -> None:
    told = of(read(BEHIND.replace("AllReduce", "collective")), Collective)
    assert told[0].operation == ""
    assert told[0].last_enqueued == 4211


def test_errors_and_states() -> None:
    facts = read(ERROR)
    ranks = {one.rank: one for one in of(facts, Rank)}
    assert [(rank, ranks[rank].error_text, ranks[rank].survivor) for rank in (0, 1, 4)] == [
        (0, "Remote process error", True),
        (1, "Remote process error", True),
        (4, "System error", False),
    ]
    assert ranks[7].ras == "left"
    (one,) = of(facts, Communicator)
    assert one.errors == ["error", "mismatch"]


def test_a_rank_of_a_smaller_communicator_is_not_the_rank_of_the_job() -> None:
    text = DEAD.replace("        16        16   RUNNING  INCOMPLETE", "         2         3   RUNNING  INCOMPLETE")
    (rank,) = of(read(text), Rank)
    assert (rank.rank, rank.pid, rank.node) == (None, 4013, "10.20.0.12")


def test_json_says_the_same() -> None:
    lost = {"rank": 3, "host": "10.20.0.12", "pid": 4013, "cuda_dev": 5, "status": {"unresponsive": True, "considered_dead": True}}
    facts = read(as_json(comm([member(0), member(1, 16), member(2, async_error=6)], [lost])))
    ranks = {one.rank: one for one in of(facts, Rank)}
    assert ranks[3].ras == "dead"
    assert (ranks[2].error_text, ranks[2].survivor) == ("Remote process error", True)
    (one,) = of(facts, Communicator)
    assert (one.world, one.missing, one.status, one.errors) == (4, [3], "running", ["error", "incomplete", "mismatch"])
    assert [(c.operation, c.rank, c.last_enqueued) for c in of(facts, Collective)] == [
        ("ALLREDUCE", 0, 17),
        ("ALLREDUCE", 1, 16),
        ("ALLREDUCE", 2, 17),
    ]


def test_json_of_a_healthy_job() -> None:
    facts = read(as_json(comm([member(rank) for rank in range(4)])))
    assert of(facts, Collective) == []
    assert {one.ras for one in of(facts, Rank)} == {"answers"}
    assert of(facts, Communicator)[0].errors == []


def test_a_client_that_reached_nobody_says_so() -> None:
    with pytest.raises(ParseError, match="Connection refused"):
        read("", b"Connecting to ::1:28028: Connection refused\nFailed to connect to the NCCL RAS service!\n")


@pytest.mark.parametrize("text", [HEALTHY, DEAD, OLD, BEHIND, ERROR, as_json(comm([member(0)], []))])
def test_cut_anywhere(text: str) -> None:
    raw = text.encode()
    for end in range(0, len(raw), 7):
        with contextlib.suppress(ParseError):
            read(raw[:end])


@settings(max_examples=40, derandomize=True)
@given(st.text(max_size=60), st.integers(0, 60))
def test_lines_of_anything_lose_no_good_line(junk: str, at: int) -> None:
    lines = BEHIND.split("\n")
    place = 14 + at % (len(lines) - 14)
    junk = junk.replace("\n", " ").replace("#", " ").replace("Rank", "")
    facts = read("\r\n".join([*lines[:place], f"~{junk}", *lines[place:]]))
    assert {(one.rank, one.operation) for one in of(facts, Collective)} >= {(3, "ALLREDUCE"), (9, "ALLREDUCE"), (9, "BROADCAST")}


def test_a_megabyte_of_hostile_lines() -> None:
    begun = time.perf_counter()
    for line in (
        "  Rank 1 " + "x" * 4000,
        "#0-0 (" + "a" * 4000,
        "  Process 1 on node " + "1" * 4000,
        " 1 " * 1300,
        "  9 ranks have " + " " * 4000,
    ):
        read(SUMMARY + f"{line}\n" * 250)
    assert time.perf_counter() - begun < 10


# The port itself


@contextlib.contextmanager
def server(*replies: bytes, answer: bytes = b"", hang: bool = False) -> Iterator[tuple[int, list[bytes]]]:
    """A RAS that says one reply to each line, and the answer to the last."""
    heard: list[bytes] = []
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            far, _ = listening.accept()
            with contextlib.suppress(ConnectionError), far, far.makefile("rb") as lines:
                for reply in replies:
                    heard.append(lines.readline())
                    far.sendall(reply)
                heard.append(lines.readline())
                for at in range(0, len(answer), 50):
                    far.sendall(answer[at : at + 50])
                if hang:
                    done.wait(5)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], heard
        done.set()
        thread.join(5)


def ask(port: int, *more: str, timeout: float = 5.0) -> Output:
    return ras.run(Command(("ncclras", "-h", "127.0.0.1", "-p", str(port), *more), timeout=timeout))


def test_the_port_is_asked_as_the_client_asks_it() -> None:
    with server(b"SERVER PROTOCOL 2\n", answer=BEHIND.encode()) as (port, heard):
        output = ask(port, "-v")
    assert output.ok
    assert heard == [b"CLIENT PROTOCOL 2\n", b"VERBOSE STATUS\n"]
    assert of(load("nccl.ras")(output, Subject(kind="cluster")), Collective)


def test_without_the_client_its_port_is_asked() -> None:
    from gpudoctor.probes.live import Live

    with server(b"SERVER PROTOCOL 2\n", answer=HEALTHY.encode()) as (port, _):
        output = Live()(Command(("ncclras", "-h", "127.0.0.1", "-p", str(port)), timeout=5.0))
    assert output.text == HEALTHY


def test_an_older_nccl_answers_in_text() -> None:
    with server(b"SERVER PROTOCOL 2\n", b"ERROR: Unknown command SET FORMAT json\n", answer=HEALTHY.encode()) as (port, heard):
        output = ask(port, "-f", "json")
    assert heard[1:] == [b"SET FORMAT json\n", b"STATUS\n"]
    assert output.text == HEALTHY


def test_what_hangs_is_left_with_what_it_said() -> None:
    with server(b"SERVER PROTOCOL 2\n", answer=SUMMARY.encode(), hang=True) as (port, _):
        output = ask(port, timeout=1.0)
    assert output.failure == "timeout"
    assert output.text == SUMMARY


@pytest.mark.parametrize("reply", [b"SSH-2.0-OpenSSH_9.6\r\n", b"x" * 4000, b""])
def test_something_else_listens_there(reply: bytes) -> None:
    with server(reply) as (port, _):
        assert ask(port, timeout=2.0).failure in ("broken", "timeout", "unreachable")


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    output = ask(port)
    assert output.failure == "unreachable"
    assert "Connection refused" in output.reason
    assert "NCCL_RAS_ADDR" in output.reason


def test_a_runbook_may_ask_it_but_not_watch_it() -> None:
    assert refusal(["ncclras", "-v", "-f", "json", "--host", "${input.ras}"]) == ""
    assert "-m" in refusal(["ncclras", "-m"])
