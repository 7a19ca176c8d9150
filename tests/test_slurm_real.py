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


# Commands for which this Slurm lacks a part: a backup controller, a program that reboots, a storage for the accounting.
ELSEWHERE = {"takeover", "reboot", "cancel_reboot", "sacct", "sacctmgr", "sreport"}
PROGRAMS = ("scontrol", "squeue", "sinfo", "scancel", "sacct", "sacctmgr", "sreport", "sdiag")


def of_catalogue() -> list[list[str]]:
    """Every command of Slurm that the catalogue tells a person to type, each once, undo behind what it undoes."""
    made: dict[tuple[str, ...], None] = {}
    for cause in library().causes.values():
        commands = [look.run for look in cause.look] + [argv for fix in cause.fixes for argv in (fix.run, fix.verify, fix.undo)]
        made |= dict.fromkeys(tuple(argv) for argv in commands if argv and argv[0] in PROGRAMS)
    return [[*argv] for argv in made if not any(word in ELSEWHERE for word in argv)]


def test_every_command_of_the_catalogue_is_one_that_slurm_takes() -> None:
    refused = []
    with cluster(Node("gpu-01")) as running:
        running.until_state("gpu-01", "State=IDLE")
        for argv in of_catalogue():
            state = ["State=DRAIN", "Reason=x"] if "State=RESUME" in argv else ["State=RESUME"]
            running.ask("scontrol", "update", "NodeName=gpu-01", *state)
            held = running.submit(SLEEP, "--hold")
            if "release" not in argv and "hold" in argv:
                running.ask("scontrol", "release", held)
            seen = {"${node}": "gpu-01", "${workload}": held, "${cause}": "gpu-fallen-off-bus"}
            seen |= {"${seen.node}": "gpu-01", "${seen.partition}": "gpu"}
            words = [next((word.replace(name, value) for name, value in seen.items() if name in word), word) for word in argv]
            done = running.ask(*words)
            if done.returncode:
                refused.append(f"{' '.join(words)}: {done.stderr.strip()}")
            running.ask("scancel", held)
    assert refused == []


def test_a_drain_as_it_is_shown_takes_the_node_out_and_the_undo_brings_it_back() -> None:
    with cluster(Node("gpu-01")) as running:
        running.until_state("gpu-01", "State=IDLE")
        drain = next(fix for fix in library().causes["gpu-fallen-off-bus"].fixes if "State=DRAIN" in fix.run)
        names = {"node": "gpu-01", "cause": "gpu-fallen-off-bus"}
        for argv, word in ((drain.run, "DRAIN"), (drain.undo, "State=IDLE ")):
            words = [word.replace("${node}", names["node"]).replace("${cause}", names["cause"]) for word in argv]
            assert running.ask(*words).returncode == 0
            running.until_state("gpu-01", word)
            assert ("Reason=gpu-fallen-off-bus" in running.ask("scontrol", "show", "node", "gpu-01").stdout) == (word == "DRAIN")


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
