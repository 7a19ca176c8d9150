"""A distributed job stops everywhere: what broke on one node is the cause, what the ranks of the other nodes report is explained by it."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Subject
from gpudoctor.facts.identity import Links
from gpudoctor.facts.job import Rank
from gpudoctor.intake import rank_files
from gpudoctor.library.index import library
from tests.pasted import of_files

LATE = (
    "[rank{rank}]:[E902 10:16:01.000000000 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600083 milliseconds before timing out."
)
START = "{at} NCCL INFO ncclCommInitRank comm 0x5{rank} rank {rank} nranks 4 cudaDev 0 busId b000 commId 0x9 - Init START"
BROKEN = (
    "{at} transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.3.7<41822> with status=12 opcode=0 len=0 "
    "vendor err 129 (Send) hca mlx5_0"
)


def log(rank: int, end: str) -> str:
    """What one rank of four wrote, each on a node of its own."""
    at = f"node-{rank}:40{rank}:41{rank} [0]"
    steps = "".join(f"{at} NCCL INFO AllReduce: opCount {n:x} sendbuff 0x1 recvbuff 0x2\n" for n in range(3))
    return f"{START.format(rank=rank, at=at)}\n{steps}{end.format(rank=rank, at=at)}\n"


def write(folder: Path, name: str, text: str) -> Path:
    """A file."""
    (folder / name).write_text(text)
    return folder / name


def test_the_time_outs_of_the_other_nodes_are_symptoms(tmp_path: Path) -> None:
    files = {f"rank-{rank}.log": log(rank, BROKEN if rank == 2 else LATE) for rank in range(4)}
    report = of_files(tmp_path, files)
    assert [(one.cause, one.subject.node) for one in report.findings if one.role == "root" and one.severity != "info"] == [
        (report.findings[0].cause, "node-2")
    ]
    late = next(one for one in report.findings if one.cause == "nccl-timeout")
    assert (late.role, {late.subject.node, *late.also}) == ("symptom", {"node-0", "node-1", "node-3"})


def test_only_what_has_a_rank_of_the_same_job_is_tied_to_it() -> None:
    ranks = [Rank(job="a", node="n1"), Rank(job="a", node="n2", namespace="ml", pod="train-1"), Rank(job="b", node="n3"), Rank()]
    links = Links([], [], [], ranks=ranks)
    node = {name: Subject(kind="node", node=name) for name in ("n1", "n2", "n3", "n4")}
    pod = Subject(kind="pod", namespace="ml", pod="train-1")
    gpu = Subject(kind="gpu", node="n1", gpu="GPU-1")
    tied = [(gpu, node["n2"]), (node["n1"], pod), (gpu, pod)]
    assert [links.of_one_job(*pair) for pair in tied] == [True] * len(tied)
    apart = [
        (node["n1"], node["n3"]),
        (node["n1"], node["n4"]),
        (Subject(kind="cluster"), node["n1"]),
        (pod, Subject(kind="pod", pod="train-1")),
    ]
    assert [links.of_one_job(*pair) for pair in apart] == [False] * len(apart)
    assert not links.keys(node["n1"]).isdisjoint(links.keys(pod))


@pytest.mark.parametrize(("host", "root"), [("node-2", True), ("node-9", True), ("other-1", False)])
def test_a_machine_whose_ranks_are_of_another_job_is_not_the_cause(tmp_path: Path, host: str, root: bool) -> None:
    files = {f"rank-{rank}.log": log(rank, BROKEN if rank == 2 else LATE) for rank in range(4)}
    files["kern.log"] = f"Sep  2 10:05:11 {host} kernel: NVRM: Xid (PCI:0000:0b:00): 79, pid=402, GPU has fallen off the bus.\n"
    gathered = gather([str(write(tmp_path, name, text)) for name, text in files.items()])
    gathered.facts["ranks"].append(Rank(job="another", node="other-1"))
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    late = next(one for one in report.findings if one.cause == "nccl-timeout")
    assert ("gpu-fallen-off-bus" in late.explained_by) == root


def test_many_short_logs_are_read_together_and_say_the_same(tmp_path: Path) -> None:
    files = {f"rank-{rank}.log": log(rank, BROKEN if rank == 2 else LATE) for rank in range(4)}
    apart = of_files(tmp_path, files)
    with patch.object(rank_files, "MANY", 4), patch("gpudoctor.intake.recognise.recognise", side_effect=AssertionError):
        together = of_files(tmp_path, files)
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "rank-1.log").write_text(files["rank-1.log"])
        copied = gather([str(tmp_path)])
    assert [(one.cause, one.role, one.also) for one in together.findings] == [(one.cause, one.role, one.also) for one in apart.findings]
    assert {one.recognised_as[0] for one in together.inputs} == {rank_files.PARSER}
    assert sum(one.count for one in copied.facts["messages"]) == 4  # type: ignore[attr-defined]
