"""What is plainly not well is never called healthy, whatever the checks say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.engine.signs import unexplained
from gpudoctor.engine.store import Store
from gpudoctor.facts import Facts
from gpudoctor.facts.base import Origin
from gpudoctor.facts.dcgm import DcgmHealth, DcgmTest
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.facts.job import Collective, CollectiveTest, Job, Rank
from gpudoctor.facts.kernel import Sxid, Xid
from gpudoctor.facts.kubernetes import Container, Node, Pod, Workload
from gpudoctor.facts.monitoring import ScrapeTarget
from gpudoctor.facts.node import Unit
from gpudoctor.facts.program import Ending
from gpudoctor.facts.slurm import SlurmJob, SlurmNode
from gpudoctor.report import Report
from gpudoctor.reporters.terminal import render
from gpudoctor.runbook.index import library
from gpudoctor.runbook.model import Library

HERE = Origin("dump.txt", 7, "…")
# check → its fact type, a record that shows the sign, and one beside it that doesn't
SIGNS = {
    "xid": ("xids", Xid(code=79, severity="critical", origin=HERE), Xid(code=45, severity="info", origin=HERE)),
    "sxid": ("sxids", Sxid(code=22003, severity="fatal", origin=HERE), Sxid(code=12028, severity="nonfatal", origin=HERE)),
    "unreadable": (
        "gpus",
        Gpu(gpu="GPU-1", unreadable=["fan"], problem="gpu_lost", origin=HERE),
        Gpu(gpu="GPU-1", unreadable=["fan"], problem="unknown_error", origin=HERE),
    ),
    "no_answer": ("smi", Smi(problem="no_devices", origin=HERE), Smi(gpus=8, origin=HERE)),
    "dcgm_health": (
        "dcgm_health",
        DcgmHealth(entity="GPU", index=3, system="PCIe", status="failure", origin=HERE),
        DcgmHealth(entity="GPU", index=3, system="PCIe", status="warning", origin=HERE),
    ),
    "dcgm_test": ("dcgm_tests", DcgmTest(test="memory", status="fail", origin=HERE), DcgmTest(test="memory", status="skip", origin=HERE)),
    "unit_failed": (
        "units",
        Unit(unit="nvidia-fabricmanager", active="failed", origin=HERE),
        Unit(unit="nvidia-dcgm", active="inactive", origin=HERE),
    ),
    "slurm_node": ("slurm_nodes", SlurmNode(node="gpu-07", out=True, origin=HERE), SlurmNode(node="gpu-07", out=None, origin=HERE)),
    "slurm_job": (
        "slurm_jobs",
        SlurmJob(workload="SlurmJob/41", state="NODE_FAIL", origin=HERE),
        SlurmJob(workload="SlurmJob/41", state="CANCELLED", origin=HERE),
    ),
    "port": ("ib_ports", IbPort(ca="mlx5_3", state="Initializing", origin=HERE), IbPort(ca="mlx5_3", state="Down", origin=HERE)),
    "node": ("nodes", Node(node="gpu-07", ready=False, origin=HERE), Node(node="gpu-07", ready=None, origin=HERE)),
    "pressure": (
        "nodes",
        Node(node="gpu-07", ready=True, pressure=["DiskPressure"], origin=HERE),
        Node(node="gpu-07", ready=True, origin=HERE),
    ),
    "pod": (
        "pods",
        Pod(namespace="ml", pod="train-0", phase="Failed", status="Error", origin=HERE),
        Pod(namespace="ml", pod="train-0", phase="Succeeded", origin=HERE),
    ),
    "container": (
        "containers",
        Container(namespace="ml", pod="train-0", container="main", state="waiting", reason="CrashLoopBackOff", origin=HERE),
        Container(namespace="ml", pod="train-0", container="main", state="waiting", reason="ContainerCreating", origin=HERE),
    ),
    "ended": (
        "containers",
        Container(namespace="ml", pod="train-0", container="main", state="terminated", exit_code=139, origin=HERE),
        Container(namespace="ml", pod="train-0", container="main", state="terminated", exit_code=0, origin=HERE),
    ),
    "unscheduled": (
        "pods",
        Pod(namespace="ml", pod="train-0", phase="Pending", schedule_message="0/4 nodes are available", age=600.0, origin=HERE),
        Pod(namespace="ml", pod="train-0", phase="Pending", schedule_message="0/4 nodes are available", age=5.0, origin=HERE),
    ),
    "workload": (
        "workloads",
        Workload(namespace="ml", workload="Deployment/web", kind="Deployment", name="web", desired=3, ready=1, origin=HERE),
        Workload(namespace="ml", workload="Job/once", kind="Job", name="once", desired=1, ready=0, origin=HERE),
    ),
    "target": (
        "scrape_targets",
        ScrapeTarget(url="http://10.0.0.9:9400/metrics", health="down", error="connection refused", origin=HERE),
        ScrapeTarget(url="http://10.0.0.9:9400/metrics", health="unknown", origin=HERE),
    ),
    "rank": ("ranks", Rank(rank=3, error="nccl_timeout", error_text="…", origin=HERE), Rank(rank=3, stage="running", origin=HERE)),
    "exit": ("ranks", Rank(rank=3, exit_code=1, origin=HERE), Rank(rank=3, exit_code=0, origin=HERE)),
    "job": ("jobs", Job(kind="hang", origin=HERE), Job(kind="ended", origin=HERE)),
    "collective": (
        "collectives",
        Collective(operation="ALLREDUCE", state="timed_out", origin=HERE),
        Collective(operation="ALLREDUCE", state="started", origin=HERE),
    ),
    "wrong": ("collective_tests", CollectiveTest(wrong=2, ended=True, origin=HERE), CollectiveTest(wrong=0, ended=True, origin=HERE)),
    "ending": ("endings", Ending(said="Killed", origin=HERE), Ending(said="deprecated", warning=True, origin=HERE)),
}


def stored(facts: Facts) -> Store:
    store = Store()
    store.put(0, facts)
    return store


def without(library: Library, causes: set[str]) -> Library:
    """The library as if nobody knew some causes."""
    books = {
        name: msgspec.structs.replace(
            book,
            steps=[msgspec.structs.replace(step, checks=[one for one in step.checks if one.finds not in causes]) for step in book.steps],
        )
        for name, book in library.runbooks.items()
    }
    return msgspec.structs.replace(library, runbooks=books)


def read(path: Path, text: str, library: Library) -> Report:
    path.write_text(text)
    given = gather([str(path)])
    return analyze(library, given.facts, given.inputs, given.now)


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_seen_and_what_looks_like_it_is_not(name: str) -> None:
    kind, sick, sound = SIGNS[name]
    assert [one.check for one in unexplained(library(), stored({kind: [sick]}), [])] == [f"signs.{name}"]
    assert unexplained(library(), stored({kind: [sound]}), []) == []


def test_every_sign_is_tried() -> None:
    assert {check.id for check in library().signs.checks()} == set(SIGNS)


XID = "[  812.331] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


def test_an_error_that_no_check_explains_is_not_healthy(tmp_path: Path) -> None:
    found = read(tmp_path / "dmesg.txt", XID, library())
    assert (found.verdict, found.unknown) == ("problem", [])
    nobody_knows = without(library(), {one.cause for one in found.findings} | {one.cause for one in found.candidates})
    left = read(tmp_path / "dmesg.txt", XID, nobody_knows)
    assert left.verdict == "inconclusive"
    assert [one.check for one in left.unknown] == ["signs.xid"]
    shown = render(left, width=100)
    assert "no check says why Xid 79 on GPU 0000:3b:00" in shown
    assert "1 sign of trouble unexplained" in shown


def test_what_a_finding_tells_of_is_explained(tmp_path: Path) -> None:
    """A non-fatal SXid is for the log, by a finding that says so; the verdict stays healthy."""
    line = "[   44.100000] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 11012, Non-fatal, Link 27 Corrected ECC errors\n"
    assert read(tmp_path / "dmesg.txt", line, library()).verdict == "healthy"


def test_many_signs_are_some() -> None:
    ranks = [Rank(rank=n, error="x", error_text=f"error {n}", origin=Origin("log", n, "")) for n in range(1_000)]
    assert len(unexplained(library(), stored({"ranks": ranks}), [])) == 8


def test_what_a_cluster_says_is_no_template() -> None:
    pod = Pod(namespace="ml", pod="a\x1b[31m${x}", phase="Failed", status="Error", origin=HERE)
    (one,) = unexplained(library(), stored({"pods": [pod]}), [])
    assert "${x}" in one.why
