"""The runbook over a real Slurm on the loopback address: its commands are asked, and what they print is read and judged."""

from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.report import Report
from tests.slurm.cluster import UNKILLABLE, Node, cluster, missing
from tests.slurm.tools import NOW, Tools

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"not on this machine: {missing()} (Debian: slurm-wlm munge; as root)")
SLEEP = "#!/bin/sh\nsleep 60\n"


def look(tools: Tools, **inputs: Any) -> Report:
    """The runbook's report."""
    books = library()
    book = books.runbooks["slurm"]
    given = {name: declared.default for name, declared in book.inputs.items()} | inputs
    return diagnose(books, book, given, tools, started=NOW, recorded=True)


def found(report: Report) -> set[tuple[str, str]]:
    """What was found, and on what."""
    return {(one.cause, name) for one in report.findings for name in (one.subject.name, *one.also)}


def test_nodes_that_are_out_are_out_for_their_reasons() -> None:
    with cluster(Node("gpu-01"), Node("gpu-02", devices=1), Node("gpu-03", memory=9_000_000), Node("gpu-04"), Node("gpu-05")) as running:
        for name, word in {"gpu-01": "IDLE", "gpu-02": "INVAL", "gpu-03": "INVAL", "gpu-04": "IDLE", "gpu-05": "IDLE"}.items():
            running.until_state(name, word)
        running.submit(UNKILLABLE, "-w", "gpu-01")
        running.kill("gpu-04")
        running.until_state("gpu-01", "Kill task")
        running.until_state("gpu-04", "DOWN")
        report = look(Tools(running))
        refused = look(Tools(running, munge="other"))
    assert found(report) == {
        ("slurm-kill-task-failed", "gpu-01"),
        ("slurm-gres-config-mismatch", "gpu-02"),
        ("slurm-realmemory-mismatch", "gpu-03"),
        ("slurmd-not-running", "gpu-04"),
    }
    assert report.verdict == "problem"
    assert {cause for cause, _ in found(refused)} == {"slurm-munge-key-mismatch"}


def test_jobs_wait_for_their_reasons() -> None:
    with cluster(Node("gpu-01")) as running:
        running.until_state("gpu-01", "State=IDLE")
        first = running.submit(SLEEP, "--gres=gpu:h100:2")
        running.until_state("gpu-01", "State=ALLOC")
        second, held = running.submit(SLEEP, "--gres=gpu:1"), running.submit(SLEEP, "--hold")
        never = running.submit(SLEEP, "--time=600")
        running.until(lambda: "Resources" in running.ask("squeue", "-h", "-o", "%r", "-j", second).stdout, "a job that waits")
        whole, queued, at_work = look(Tools(running)), look(Tools(running), job=second), look(Tools(running), job=first)
        running.kill("slurmctld")
        gone = look(Tools(running))
    assert found(whole) == {("slurm-job-held", held), ("slurm-request-impossible", never), ("slurm-job-queued", second)}
    assert (found(queued), queued.verdict) == ({("slurm-job-queued", second)}, "healthy")
    assert (found(at_work), at_work.verdict) == (set(), "healthy")
    assert found(gone) == {("slurmctld-not-running", "")}
