"""What all ranks of a job show together: who was first, who is behind, who is missing, what differs."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.nccl import diagnose_job, env_inputs, job_inputs
from gpudoctor.cli.printing import Shown
from gpudoctor.cli.where import Where
from gpudoctor.derive.job import state
from gpudoctor.derive.job_hosts import suspects
from gpudoctor.derive.job_ranks import numbers, ranks_text
from gpudoctor.engine.asking import question_of
from gpudoctor.facts import Fact
from gpudoctor.facts.job import Collective, Communicator, Job, Rank, RankDifference, RankGroup
from gpudoctor.facts.kubernetes import Message, Pod
from gpudoctor.library.index import library
from gpudoctor.report import Lane
from gpudoctor.reporters.lanes import lanes
from tests.nodes.cases_nccl import begun, timed_out

NOW = 1_772_366_400.0
FEW = settings(max_examples=60, derandomize=True)


def rank(number: int | None, **fields: Any) -> Rank:
    """A running rank, eight to a host, unless told otherwise."""
    known: dict[str, Any] = {"rank": number, "stage": "running"}
    if number is not None:
        known |= {"node": f"gpu-{number // 8:03}", "device": number % 8, "pid": 1000 + number}
    return Rank(**{**known, **fields})


def waits(number: int, sequence: int = 4211, **fields: Any) -> Collective:
    """A rank's word that it waited in an ALLREDUCE."""
    known: dict[str, Any] = {
        "rank": number,
        "sequence": sequence,
        "operation": "ALLREDUCE",
        "elements_in": 1 << 20,
        "state": "timed_out",
        "timeout": 600.0,
        "waited": 600.0,
        "time": NOW,
    }
    return Collective(**{**known, **fields})


def measured(**facts: list[Any]) -> tuple[Job, list[RankGroup], list[RankDifference]]:
    made = state(facts, {}, NOW)
    return made["jobs"][0], made["rank_groups"], made["rank_differences"]  # type: ignore[return-value]


def states(rows: list[RankGroup]) -> list[tuple[str, str]]:
    return [(row.ranks, row.state) for row in rows]


def test_numbers_are_folded() -> None:
    assert numbers([17, 3, 18, 19, 3]) == "3, 17-19"
    assert ranks_text([3]) == "rank 3"
    assert ranks_text(range(8)) == "ranks 0-7"
    assert numbers(range(0, 100, 2)).endswith("… (50 ranks)")


# --- who is behind


def test_the_rank_at_a_lower_number_is_behind() -> None:
    ranks = [rank(n, world=1024) for n in range(1024)]
    calls = [waits(n, group="TP 3") for n in range(1023)] + [waits(1023, 4210, group="TP 3")]
    job, rows, _ = measured(ranks=ranks, collectives=calls)
    assert (job.kind, job.operation, job.sequence, job.behind_text, job.waiting) == ("hang", "ALLREDUCE", 4211, "1023", 1023)
    assert job.suspects == ["gpu-127"]
    assert job.together is False
    assert states(rows) == [("1023", "waits in ALLREDUCE #4210 (TP 3)"), ("0-1022", "waits in ALLREDUCE #4211 (TP 3)")]
    assert rows[0].where == "gpu-127, GPU 7"


def test_the_rank_that_last_called_an_earlier_one_is_behind() -> None:
    calls = [waits(n, last_enqueued=4211) for n in range(3)] + [
        Collective(rank=3, sequence=4209, operation="ALLREDUCE", state="completed", last_enqueued=4209, last_completed=4209)
    ]
    job, rows, _ = measured(ranks=[rank(n) for n in range(4)], collectives=calls)
    assert job.behind == [3]
    assert ("3", "last called #4209") in states(rows)


def test_the_rank_that_says_nothing_is_silent_where_most_wait() -> None:
    ranks = [rank(n, world=8) for n in range(8)]
    job, rows, _ = measured(ranks=ranks, collectives=[waits(n) for n in range(8) if n != 5])
    assert (job.silent, job.behind, job.together) == ([5], [], False)
    assert ("5", "says nothing of the operation") in states(rows)


def test_one_log_of_many_ranks_accuses_nobody() -> None:
    job, _, _ = measured(ranks=[rank(2, world=64)], collectives=[waits(2)])
    assert (job.silent, job.behind, job.together) == ([], [], None)
    assert job.missing_text == "0-1, 3-63"
    assert job.suspects == []


def test_who_got_the_dump_signal_is_not_silent() -> None:
    ranks = [rank(n, world=4, **({} if n != 3 else {"error": "watchdog_dump_signal", "survivor": True})) for n in range(4)]
    job, _, _ = measured(ranks=ranks, collectives=[waits(n) for n in range(3)])
    assert job.silent == []


def test_the_same_number_everywhere_is_nobodys_delay() -> None:
    job, _, _ = measured(ranks=[rank(n, world=4) for n in range(4)], collectives=[waits(n, 1) for n in range(4)])
    assert (job.kind, job.together, job.behind, job.nodes) == ("first_collective", True, [], 1)


def test_a_rank_that_only_a_dump_names_is_there() -> None:
    job, _, _ = measured(ranks=[], collectives=[waits(0), waits(1)])
    assert job.seen == 2


# --- who does something else


def test_different_operations() -> None:
    calls = [waits(n, 1021) for n in range(7)] + [waits(7, 1021, operation="BROADCAST", elements_in=1)]
    job, rows, _ = measured(ranks=[rank(n, world=8) for n in range(8)], collectives=calls)
    assert (job.disagreement, job.odd_text) == ("operation", "ranks 0-6: ALLREDUCE; rank 7: BROADCAST")
    assert rows[0].state == "differs: waits in BROADCAST #1021"


def test_different_sizes() -> None:
    job, _, _ = measured(ranks=[], collectives=[waits(0), waits(1), waits(2, elements_in=8)])
    assert job.disagreement == "size"
    assert "rank 2: ALLREDUCE of 8 elements" in job.odd_text


@pytest.mark.parametrize("operation", ["ALLTOALL_BASE", "SCATTER", "GATHER"])
def test_sizes_that_may_differ(operation: str) -> None:
    job, _, _ = measured(ranks=[], collectives=[waits(n, operation=operation, elements_in=n) for n in range(3)])
    assert job.disagreement == ""


def test_send_and_receive_are_no_disagreement() -> None:
    job, _, _ = measured(ranks=[], collectives=[waits(0, 5, operation="SEND"), waits(1, 6, operation="RECV")])
    assert (job.disagreement, job.behind) == ("", [])


def test_a_disagreement_in_one_group_comes_before_waits_in_others() -> None:
    calls = [waits(n, 9, group="DP") for n in range(4)] + [waits(0, 3, group="TP"), waits(1, 3, group="TP", operation="BARRIER")]
    job, _, _ = measured(ranks=[], collectives=calls)
    assert (job.group, job.disagreement) == ("TP", "operation")


# --- who was first


def failed(number: int, error: str, at: float, **fields: Any) -> Rank:
    return rank(number, error=error, error_time=at, **{"survivor": False, **fields})


def test_survivors_are_never_first() -> None:
    ranks = [
        failed(0, "nccl_connection_closed", NOW - 30, survivor=True),
        failed(1, "cuda_memory_exhausted", NOW, exit_code=1),
        failed(2, "collective_timed_out", NOW - 60),
    ]
    job, rows, _ = measured(ranks=ranks)
    assert (job.kind, job.first, job.first_error, job.failing, job.lost) == ("died", 1, "cuda_memory_exhausted", 1, 1)
    assert rows[0].state == "failed: cuda memory exhausted, exit code 1"
    assert job.suspects == ["gpu-000"]


def test_a_named_error_comes_before_an_exit_without_words() -> None:
    job, _, _ = measured(ranks=[rank(0, exit_code=1), failed(1, "nccl_cuda_kernel_fault", NOW)])
    assert job.first == 1


def test_ended_from_outside_is_no_failure() -> None:
    job, rows, _ = measured(ranks=[rank(0, signal=15, exit_code=-15), rank(1, signal=9, exit_code=-9)])
    assert (job.first, job.first_signal) == (1, 9)
    assert ("0", "was ended from outside (SIGTERM)") in states(rows)


def test_of_several_lives_the_one_that_failed_counts() -> None:
    before = failed(3, "nccl_cuda_kernel_fault", NOW - 60, pid=1, last=NOW - 60)
    after = rank(3, pid=2, last=NOW)
    for records in ([before, after], [after, before]):
        job, _, _ = measured(ranks=[*records, rank(4)])
        assert (job.first, job.seen) == (3, 2)


def test_the_peer_that_most_lost() -> None:
    ranks = [failed(n, "nccl_connection_closed", NOW, survivor=True) for n in range(3)]
    said = [Message(name="nccl_connection_closed", detail=f"10.0.0.7<{4000 + n}>", rank=n) for n in range(3)]
    job, _, _ = measured(ranks=ranks, messages=said)
    assert (job.kind, job.first, job.lost, job.accused, job.accused_by) == ("died", None, 3, "10.0.0.7", 3)


# --- the meeting, the set-up


def test_the_meeting() -> None:
    job, rows, _ = measured(ranks=[rank(0, error="store_waits_for_clients", survivor=True, stage="rendezvous", world=2)])
    assert (job.kind, job.missing) == ("rendezvous", [1])
    assert rows[0].state == "nothing was read of it"


def test_the_set_up_of_a_communicator() -> None:
    made = Communicator(communicator="0x1", world=4, started=[0, 1, 2], completed=[0], missing=[3])
    job, _, _ = measured(ranks=[rank(n, world=4, stage="init") for n in range(3)], communicators=[made])
    assert (job.kind, job.set_up, job.missing) == ("init", "1-2", [3])


@pytest.mark.parametrize("stage", ["running", "ended"])
def test_a_sound_job(stage: str) -> None:
    job, rows, apart = measured(ranks=[rank(n, world=8, stage=stage, nccl_version="2.27.3") for n in range(8)])
    assert (job.kind, job.missing, job.suspects, apart) == (stage, [], [], [])
    assert [(row.ranks, row.count) for row in rows] == [("0-7", 8)]


# --- what differs


def test_differences() -> None:
    ranks = [rank(n, nccl_version="2.27.3", settings={"NCCL_ALGO": "Ring"}, hcas=["mlx5_0", "mlx5_1"]) for n in range(15)]
    ranks.append(rank(15, nccl_version="2.21.5", settings={"NCCL_PROTO": "LL"}, hcas=["mlx5_0"]))
    _, _, apart = measured(ranks=ranks)
    assert [(one.field, one.value, one.usual, one.ranks, one.node) for one in apart] == [
        ("nccl_version", "2.21.5", "2.27.3", "15", "gpu-001"),
        ("hcas", "mlx5_0", "mlx5_0, mlx5_1", "15", "gpu-001"),
        ("settings.NCCL_ALGO", "not set", "Ring", "15", "gpu-001"),
        ("settings.NCCL_PROTO", "LL", "not set", "15", "gpu-001"),
    ]
    assert [one.name for one in apart] == ["NCCL version", "adapters", "NCCL_ALGO", "NCCL_PROTO"]


def test_what_ras_says_of_ranks() -> None:
    """It names those that something is wrong with, and no others."""
    told = [rank(1, ras="unresponsive"), rank(2, ras="dead")]
    _, rows, _ = measured(ranks=told, communicators=[Communicator(communicator="0x1", world=8, status="running")])
    assert states(rows) == [
        ("2", "NCCL's RAS has lost its process"),
        ("1", "does not answer NCCL's RAS"),
        ("0, 3-7", "NCCL's RAS names nothing wrong"),
    ]


def test_the_group_is_named_without_the_operation() -> None:
    """RAS counts each operation of a communicator by itself."""
    calls = [waits(n, 4 - (n == 2), group="0xcf26 ALLREDUCE") for n in range(4)]
    job, rows, _ = measured(ranks=[rank(n, world=4) for n in range(4)], collectives=calls)
    assert job.group == "0xcf26"
    assert states(rows)[0] == ("2", "waits in ALLREDUCE #3 (0xcf26)")


def test_a_dump_says_when_a_rank_began_to_wait() -> None:
    calls = [waits(n, state="started", waited=None) for n in range(2)]
    _, rows, _ = measured(ranks=[rank(n, world=2) for n in range(2)], collectives=calls)
    assert [row.waits_from for row in rows] == [NOW]


def test_transports_are_compared_by_host() -> None:
    """Of a host only the ranks at the ends of a ring use the network."""
    ranks = [rank(n, transports=["NET/IB", "P2P"] if n % 8 in (0, 7) else ["P2P"]) for n in range(16)]
    assert measured(ranks=ranks)[2] == []
    ranks += [rank(n, transports=["NET/Socket", "P2P"]) for n in range(16, 24)]
    assert [(one.field, one.value, one.ranks) for one in measured(ranks=ranks)[2]] == [("transports", "NET/Socket, P2P", "16-23")]


# --- pods and hosts


def test_a_rank_in_a_pod_is_on_the_pods_node() -> None:
    pods = [Pod(namespace="ml", pod=f"train-{n}", node=f"gpu-{n}", workload="Job/train") for n in range(2)]
    ranks = [rank(0, node="train-0", namespace="ml", pod="train-0"), failed(1, "x", NOW, node="train-1", namespace="ml", pod="train-1")]
    job, _, _ = measured(ranks=ranks, pods=pods)
    assert (job.first_node, job.first_pod, job.workload, job.suspects) == ("gpu-1", "train-1", "Job/train", ["gpu-1"])
    facts: dict[str, list[Fact]] = {"jobs": [job], "pods": list(pods)}
    assert [getattr(host, "node", "") for host in suspects(facts, {"nodes": "gpu-9"}, NOW)["hosts"]] == ["gpu-9", "gpu-1"]


def test_a_name_that_nobody_gave_is_not_asked() -> None:
    job = measured(ranks=[failed(1, "x", NOW, node="evil.example.org")])[0]
    assert suspects({"jobs": [job]}, {}, NOW) == {}


# --- many, and anything


def test_thousands_of_ranks_take_well_under_a_second() -> None:
    names = {f"NCCL_SETTING_{n}": "1" for n in range(20)}
    ranks = [rank(n, world=4096, nccl_version="2.27.3", settings=names, transports=["P2P"]) for n in range(4096)]
    calls = [waits(n, last_enqueued=4211, last_completed=4210) for n in range(4095)] + [waits(4095, 4210)]
    random.Random(1).shuffle(ranks)
    begun = time.process_time()
    job, rows, _ = measured(ranks=ranks, collectives=calls)
    assert time.process_time() - begun < 1.5  # on a busy machine; 0.2 s on an idle one
    assert (job.behind, len(rows)) == ([4095], 2)


numbers_ = st.one_of(st.none(), st.integers(-1, 9))
any_rank = st.builds(
    Rank,
    rank=st.one_of(st.none(), st.integers(0, 9)),
    node=st.sampled_from(["", "a", "b"]),
    pid=numbers_,
    world=numbers_,
    stage=st.sampled_from(["", "started", "init", "running", "odd"]),
    error=st.sampled_from(["", "collective_timed_out", "store_waits_for_clients", "x"]),
    survivor=st.sampled_from([None, True, False]),
    signal=numbers_,
    exit_code=numbers_,
    settings=st.dictionaries(st.sampled_from(["NCCL_A", "NCCL_B"]), st.sampled_from(["1", "2"])),
)
any_call = st.builds(
    Collective,
    rank=st.one_of(st.none(), st.integers(0, 9)),
    group=st.sampled_from(["", "0", "TP"]),
    sequence=numbers_,
    operation=st.sampled_from(["", "ALLREDUCE", "BROADCAST", "SEND"]),
    elements_in=numbers_,
    state=st.sampled_from(["", "scheduled", "started", "completed", "timed_out"]),
    time=st.one_of(st.none(), st.floats(0, 9)),
    last_enqueued=numbers_,
    last_completed=numbers_,
)


@FEW
@given(st.lists(any_rank, max_size=12), st.lists(any_call, max_size=12))
def test_anything_is_measured(ranks: list[Rank], calls: list[Collective]) -> None:
    made = state({"ranks": list(ranks), "collectives": list(calls)}, {}, NOW)
    for job in made["jobs"]:
        assert isinstance(job, Job)
        assert not set(job.behind) & set(job.silent)
        assert job.first is None or job.kind == "died"


# --- the picture, the command line


def lane(name: str, **moments: float | None) -> Lane:
    return Lane(name=name, **moments)  # type: ignore[arg-type]


def test_ranks_against_time() -> None:
    drawn = list(lanes([lane("1023", heard=NOW), lane("0-1022", waits_from=NOW, heard=NOW + 600, ended=NOW + 600)], 60))
    rows = [row for row, _ in drawn]
    assert rows[0].startswith("Ranks against time, from 11:59:00 to 12:10:00")
    assert rows[1].startswith("  1023    ─")
    assert rows[2].endswith("░✗")
    assert max(map(len, rows)) <= 60
    assert [row for row, _ in lanes([lane("0", heard=NOW)], 80)][-1].endswith("blank: not heard")  # the key is whole on a usual terminal
    assert len(rows[1].strip()) < len(rows[2].strip()) / 2  # it was not heard of again


@FEW
@given(st.lists(st.builds(Lane, name=st.text(max_size=60), waits_from=st.one_of(st.none(), st.floats(allow_nan=False)),
       heard=st.one_of(st.none(), st.floats(allow_nan=False))), max_size=4), st.integers(40, 200))  # fmt: skip
def test_any_lane_is_drawn(rows: list[Lane], width: int) -> None:
    for row, _ in lanes(rows, width):
        assert len(row) <= width


def test_what_the_command_line_asks() -> None:
    assert job_inputs("train-0", "", "", "ml", "") == ({"kind": "pod", "name": "train-0", "namespace": "ml"}, "pod/train-0")
    assert job_inputs("", "pytorchjob/train", "", "ml", "")[0] == {"kind": "pytorchjob", "name": "train", "namespace": "ml"}
    assert job_inputs("", "train", "", "", "")[0] == {"kind": "job", "name": "train"}
    assert job_inputs("", "", "app=train", "ml", "")[0] == {"selector": "app=train", "namespace": "ml"}
    assert job_inputs("", "", "", "", "[2001:db8::7]:9") == ({"ras": "2001:db8::7", "ras_port": 9}, "NCCL on [2001:db8::7]:9")
    assert env_inputs("", "", "app=train", "ml", "")[0] == {"pods": "app=train", "namespace": "ml"}


@pytest.mark.parametrize(
    "given_", [("a", "b", "", "", ""), ("", "", "", "", "gpu-07;reboot"), ("", "", "-x", "", ""), ("-A", "", "", "", "")]
)
def test_what_it_refuses(given_: tuple[str, str, str, str, str]) -> None:
    with pytest.raises(Refused):
        job_inputs(*given_)


def test_files_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "slurm-42.out"
    log.write_text("".join(f"{row}\n" for n in range(3) for row in [*begun(n, 3), *timed_out(n, 4211 - (n == 2))]))
    code = diagnose_job([str(log)], {}, "", Where(), "nccl", 30.0, Shown(no_color=True))
    out = capsys.readouterr().out
    assert code == 1
    assert "missing: rank 2 (train-2)" in " ".join(out.split())
    assert "waits in ALLREDUCE #4210" in out


def test_files_beside_a_recording_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x\n")
    with pytest.raises(Refused, match="keep the files"):
        diagnose_job([str(log)], {}, "", Where(nodes=["gpu-1"], record=tmp_path / "kept"), "nccl", 30.0, Shown())


@pytest.mark.parametrize(
    ("runbook", "inputs", "asked"),
    [
        ("nccl", {"ras": "gpu-01"}, "NCCL on gpu-01"),
        ("nccl-env", {"pods": "app=train", "namespace": "ml"}, "pods with app=train in ml"),
        ("nccl-env", {"nodes": "gpu-01"}, "node gpu-01"),
    ],
)
def test_what_a_replay_was_asked(runbook: str, inputs: dict[str, Any], asked: str) -> None:
    assert question_of(library(), library().runbooks[runbook], inputs, "") == asked
