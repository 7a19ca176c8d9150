"""The flight recorder's dumps: what is kept of them, the pickle reader that runs nothing, and the inputs that once were strange."""

from __future__ import annotations

import json
import os
import pickle
import random
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.job import Collective, Communicator, Rank
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.torch import plain_pickle
from tests import flight

CORPUS = sorted(Path(__file__).parent.joinpath("fixtures/fuzz/flight-recorder").iterdir())
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=5)
        | st.tuples(inner, inner)
        | st.sets(st.integers(), max_size=5)
    ),
    max_leaves=30,
)


def read(data: bytes, name: str = "nccl_trace_rank_5") -> Facts:
    return load("torch.flight_recorder")(Output(Command(("cat", name)), pages=(data,), source=name), Subject(kind="cluster"))


def of(facts: Facts, kind: type) -> list[Any]:
    return [one for records in facts.values() for one in records if isinstance(one, kind)]


def dumped(value: dict[str, Any], name: str = "nccl_trace_rank_5") -> list[Collective]:
    return of(read(flight.pickled(value), name), Collective)


# What is kept


def test_a_rank_that_waits() -> None:
    facts = read(flight.pickled(flight.waiting(2000, first=1)))
    (rank,) = of(facts, Rank)
    assert (rank.rank, rank.world, rank.nccl_version, rank.stage) == (5, 8, "2.27.5", "running")
    done, waits = of(facts, Collective)
    assert (done.sequence, done.state, waits.sequence, waits.state) == (1999, "completed", 2000, "started")
    assert (waits.operation, waits.group, waits.elements_in, waits.sizes, waits.dtype, waits.timeout) == (
        "ALLREDUCE",
        "default_pg",
        4 << 20,
        "[[1024, 4096]]",
        "BFloat16",
        600.0,
    )
    assert (waits.last_enqueued, waits.last_completed) == (2000, 1999)
    assert waits.frames[2] == "/workspace/train.py:214 step"
    (group,) = of(facts, Communicator)
    assert (group.communicator, group.group, group.world, group.members, group.completed) == ("0", "default_pg", 8, "0-7", [5])


def test_json_says_the_same_without_frames() -> None:
    value = flight.waiting(30)
    for one in value["entries"]:
        del one["frames"]
        one["time_discovered_completed_ns"] = one["time_discovered_completed_ns"] or 0
    value["pg_status"] = {"0": {key: str(number) for key, number in value["pg_status"]["0"].items()}}
    told = of(read(json.dumps(value).encode()), Collective)
    pickled = dumped(value)
    assert told == pickled
    assert told[1].last_enqueued == 30


def test_each_group_is_kept_by_itself() -> None:
    tp = {"pg_id": 1, "process_group": ("5", "tp"), "profiling_name": "nccl:_all_gather_base"}
    entries = [flight.entry(number) for number in range(1, 50)] + [flight.entry(number, **tp) for number in range(1, 20)]
    entries += [flight.entry(20, "scheduled", **tp), flight.entry(21, "scheduled", **tp), flight.entry(22, "scheduled", **tp)]
    told = dumped(flight.dump(entries, enqueued=49, completed=49))
    assert [(one.group, one.sequence, one.state, one.operation) for one in told] == [
        ("default_pg", 49, "completed", "ALLREDUCE"),
        ("tp 5", 19, "completed", "ALLGATHER"),
        ("tp 5", 20, "scheduled", "ALLGATHER"),
        ("tp 5", 21, "scheduled", "ALLGATHER"),
        ("tp 5", 22, "scheduled", "ALLGATHER"),
    ]


def test_what_the_watchdog_gave_up_has_timed_out() -> None:
    entries = [flight.entry(1), flight.entry(2, "started", retired=True)]
    assert dumped(flight.dump(entries, enqueued=2, completed=1))[-1].state == "timed_out"


def test_parts_of_a_coalesced_group_end_with_it() -> None:
    parts = [flight.entry(7, "scheduled", "send 0->1", op_id=number, is_p2p=False) for number in (1, 2)]
    whole = flight.entry(7, "completed", "coalesced")
    told = dumped(flight.dump([*parts, whole], enqueued=6, completed=6))
    assert {one.state for one in told} == {"completed"}


def test_sends_are_numbered_apart() -> None:
    sent = flight.entry(4, "started", "send 0->1", is_p2p=True, p2p_seq_id=9, collective_seq_id=3)
    told = dumped(flight.dump([flight.entry(3), sent], enqueued=3, completed=3))
    assert [(one.operation, one.sequence, one.state) for one in told] == [("ALLREDUCE", 3, "completed"), ("SEND", 9, "started")]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("/tmp/nccl_trace_rank_12", 12),
        ("comm_lib_trace_rank_4095", 4095),
        ("dumps/nccl_trace_rank_3.pkl", 3),
        ("comm_lib_trace_rank_7.json.gz", 7),
        ("trace-2", 2),
        ("dump", None),
        ("step1000b", None),
    ],
)
def test_the_rank_is_in_the_name(name: str, rank: int | None) -> None:
    assert of(read(flight.pickled(flight.waiting(2)), name), Rank)[0].rank == rank


def test_an_empty_recorder() -> None:
    facts = read(flight.pickled({"version": "2.4", "pg_config": {}, "entries": []}))
    assert facts["collectives"] == []
    assert of(facts, Rank)[0].stage == "started"


def test_a_folder_of_dumps(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(flight.pickled(flight.waiting(8 if rank == 2 else 9, world=4)))
    (tmp_path / "nccl_trace_rank_4").write_bytes(pickle.dumps({"entries": [Path()]}, 2))
    gathered = gather([str(tmp_path)])
    at = {one.rank: one.sequence for one in of(gathered.facts, Collective) if one.state == "started"}
    assert at == {0: 9, 1: 9, 2: 8, 3: 9}
    assert [one.recognised_as for one in gathered.inputs] == [["torch.flight_recorder"]] * 4 + [[]]
    assert "pathlib" in gathered.inputs[4].note


# The pickle reader


@settings(max_examples=60, derandomize=True)
@given(PLAIN, st.integers(0, 5))
def test_reads_what_pickle_writes(value: Any, protocol: int) -> None:
    try:
        assert plain_pickle.load(pickle.dumps(value, protocol)) == value
    except plain_pickle.Refused:
        assert protocol < 4  # sets and bytes were calls before they had instructions of their own


@settings(max_examples=30, derandomize=True)
@given(st.dictionaries(st.text(max_size=5), st.lists(st.integers(-(1 << 62), 1 << 62) | st.none() | st.booleans() | st.text(max_size=9))))
def test_reads_what_torch_writes(value: dict[str, Any]) -> None:
    assert plain_pickle.load(flight.pickled(value)) == value


class Sly:
    """What a hostile dump holds: a call when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


@pytest.mark.parametrize("protocol", range(6))
def test_calls_are_refused_and_named(protocol: int) -> None:
    with pytest.raises(ParseError, match=r"asks for the global (os|posix|nt)\._exit"):
        read(pickle.dumps({"entries": [Sly()]}, protocol))


def test_nothing_is_imported() -> None:
    before = set(sys.modules)
    for path in CORPUS:
        outcome(path.read_bytes())
    assert not {name for name in set(sys.modules) - before if not name.startswith("encodings.")}


def outcome(data: bytes) -> str:
    """facts, refused or broken; anything else is a crash."""
    try:
        read(data)
    except ParseError as error:
        return "refused" if "asks for" in str(error) else "broken"
    return "facts"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_the_corpus(path: Path) -> None:
    told = outcome(path.read_bytes())
    assert told == {"valid": "facts", "refused": "refused"}.get(path.name.partition("-")[0], told)


def test_a_thousand_fresh_inputs() -> None:
    chance = random.Random(2026)
    seeds = [path.read_bytes() for path in CORPUS if path.stat().st_size]
    codes = bytes([*plain_pickle.ACTIONS, *plain_pickle.REFUSED]) + b"hjKM(e."
    for _ in range(1000):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randrange(1, 9)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(3)] = bytes(chance.choice(codes) for _ in range(chance.randrange(1, 4)))
        outcome(bytes(data))


def test_cut_at_every_byte() -> None:
    data = flight.pickled(flight.waiting(3))
    assert {outcome(data[:end]) for end in range(len(data))} == {"broken"}


BOMBS = {
    "doubled tuples": b"\x80\x02)" + b"2\x86" * 200_000 + b".",
    "shared lists": b"\x80\x02]" + b"".join(b"q\x00](h\x00h\x00e" for _ in range(60_000)) + b".",
    "a deep list": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "marks": b"\x80\x02" + b"(" * 1_000_000 + b".",
    "a long text": b"\x80\x02X\xff\xff\xff\x7f" + b"x" * 1_000_000 + b".",
    "a key that takes for ever": b"\x80\x02})" + b"2\x86" * 1000 + b"Ns.",
    "sets": b"\x80\x04" + b"\x8f" * 600_000 + b".",
    "digits": b"\x80\x02L" + b"9" * 1_000_000 + b"\n.",
    "the same again": b"\x80\x02N" + b"2" * 300_000 + b".",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_end_soon_and_small(name: str) -> None:
    tracemalloc.start()
    begun = time.perf_counter()
    outcome(BOMBS[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.perf_counter() - begun < 120  # they would take for ever; a busy machine needs 25 s with memory traced
    assert peak < 150 << 20


def test_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_pickle, "LARGEST", 100)
    with pytest.raises(plain_pickle.Broken, match="larger"):
        plain_pickle.load(flight.pickled(flight.waiting(2)))


def test_the_same_texts_are_one_object() -> None:
    one, other = (dumped(flight.waiting(3), f"nccl_trace_rank_{rank}")[1] for rank in (1, 2))
    assert one.frames[0] is other.frames[0]
    assert one.sizes is other.sizes


# What the runbook makes of a job's dumps


def diagnosed(folder: Path) -> list[tuple[str, str, str]]:
    gathered = gather([str(folder)])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    return [(one.cause, one.role, one.title) for one in report.findings]


def test_the_rank_that_is_behind_is_named(tmp_path: Path) -> None:
    for rank in range(8):
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(flight.pickled(flight.waiting(8 if rank == 5 else 9)))
    root, *symptoms = diagnosed(tmp_path)
    assert root[:2] == ("hang-one-rank-outside-collective", "root")
    assert "7 ranks wait in ALLREDUCE #9" in root[2]
    assert "rank 5" in root[2]
    assert [one[:2] for one in symptoms] == [("nccl-timeout", "symptom")]


def test_ranks_that_call_different_operations(tmp_path: Path) -> None:
    for rank in range(4):
        dump = flight.waiting(9, world=4, operation="broadcast" if rank == 1 else "all_reduce")
        (tmp_path / f"comm_lib_trace_rank_{rank}").write_bytes(flight.pickled(dump))
    root = diagnosed(tmp_path)[0]
    assert root[:2] == ("collective-mismatch", "root")


def test_a_job_that_runs(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"nccl_trace_rank_{rank}").write_bytes(
            flight.pickled(flight.dump([flight.entry(1), flight.entry(2)], 4, enqueued=2, completed=2))
        )
    assert diagnosed(tmp_path) == []
