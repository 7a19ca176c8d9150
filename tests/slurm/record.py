"""Record what a real Slurm prints, for tests where it can't run: python -m tests.slurm.record"""

from __future__ import annotations

import platform
import re
from pathlib import Path

from tests.slurm.cluster import UNKILLABLE, Cluster, Node, cluster, missing

FOLDER = Path(__file__).parent / "recorded"
SLEEP = "#!/bin/sh\nsleep 60\n"
WAITING = ("squeue", "--states=PENDING", "-o", "%i|%P|%u|%T|%D|%b|%r")
NODES = {
    "scontrol-node": ("scontrol", "show", "node"),
    "scontrol-node-o": ("scontrol", "show", "node", "-o"),
    "sinfo": ("sinfo",),
    "sinfo-N-l": ("sinfo", "-N", "-l"),
    "sinfo-R": ("sinfo", "-R"),
    "sinfo-format": ("sinfo", "-N", "-o", "%N|%T|%G|%m|%E|%u|%H"),
    "sinfo-unaligned": ("sinfo", "-R", "-o", "%E %H %u %N"),
    "ping": ("scontrol", "ping"),
}
JOBS = {
    "squeue": ("squeue",),
    "squeue-l": ("squeue", "-l"),
    "squeue-waiting": WAITING,
    "squeue-unaligned": ("squeue", "-o", "%i %t %r"),
    "scontrol-job": ("scontrol", "show", "job"),
}


def neutral(text: str, folder: Path) -> str:
    """A text without what differs from machine to machine and from run to run."""
    for pattern, instead in (
        (re.escape(str(folder)), "/srv/slurm"),
        (rf"\b{re.escape(platform.node().split('.')[0])}\b", "mgmt-01"),
        (r"OS=Linux \S+ #\d+ .*? (?= *RealMemory|\n|$)", "OS=Linux 6.1.0-28-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 "),
        (r"\d{4}-\d\d-\d\dT", "2026-03-01T"),
        (r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d (\d\d:\d\d:\d\d) \d{4}", r"Sun Mar 01 \1 2026"),
        (r"FreeMem=\d+", "FreeMem=20000"),
        (r"CPULoad=\S+", "CPULoad=0.10"),
        (r"Port=\d+", "Port=6818"),
        (r"Sid=\S+", "Sid=login-01:4071"),
        (r"\bjob-[0-9a-f]{8}\b", "train.sh"),
        (r"\bjob-[0-9a-f]{4}\b", "train.sh"),
    ):
        text = re.sub(pattern, instead, text)
    return text


def keep(running: Cluster, name: str, *argv: str, munge: str = "own") -> None:
    """One answer, and what came on stderr."""
    done = running.ask(*argv, munge=munge)
    for end, text in ((".txt", done.stdout), (".err.txt", done.stderr)):
        if text.strip():
            (FOLDER / f"{name}{end}").write_text(neutral(text, running.folder))


def keep_lists(running: Cluster, case: str, lists: dict[str, tuple[str, ...]]) -> None:
    """Several lists of one state of the cluster."""
    for name, argv in lists.items():
        keep(running, f"{case}-{name}", *argv)


def keep_log(running: Cluster, name: str, file: str) -> None:
    """The log of a daemon."""
    (FOLDER / f"{name}.txt").write_text(neutral((running.folder / file).read_text(), running.folder))


def main() -> None:
    """All answers."""
    if missing():
        raise SystemExit(f"not on this machine: {missing()}")
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    with cluster(Node("gpu-01"), Node("gpu-02")) as running:
        for name in ("gpu-01", "gpu-02"):
            running.until_state(name, "State=IDLE")
        running.submit(SLEEP, "-w", "gpu-01", "--gres=gpu:h100:2")
        running.until_state("gpu-01", "State=ALLOC")
        keep_lists(running, "healthy", NODES | JOBS)
        running.submit(SLEEP, "-w", "gpu-01", "--gres=gpu:h100:1")
        running.until(lambda: "Resources" in running.ask(*WAITING).stdout, "a job that waits for its turn")
        keep_lists(running, "queued", JOBS)
        running.submit(SLEEP, "--hold")
        running.submit(SLEEP, "--dependency=afterok:1", "--kill-on-invalid-dep=no")
        running.submit(SLEEP, "--time=600")
        running.ask("scancel", "1")
        keep(running, "refused", "srun", "--gres=gpu:8", "hostname")
        keep(running, "sacct-off", "sacct")
        running.ask("scontrol", "update", "PartitionName=gpu", "State=DOWN")
        running.submit(SLEEP)
        running.until(lambda: "PartitionDown" in running.ask(*WAITING).stdout, "a job that waits for its partition")
        keep_lists(running, "waiting", JOBS)
        running.kill("other")
        keep(running, "no-munge", "sinfo", munge="other")
        running.kill("slurmctld")
        keep(running, "no-controller", "scontrol", "show", "node")
        keep(running, "no-controller-ping", "scontrol", "ping")
    with cluster(Node("gpu-01"), Node("gpu-02", devices=1), Node("gpu-03", memory=9_000_000), Node("gpu-04")) as running:
        for name, word in {"gpu-01": "State=IDLE", "gpu-02": "INVAL", "gpu-03": "INVAL", "gpu-04": "State=IDLE"}.items():
            running.until_state(name, word)
        running.submit(UNKILLABLE, "-w", "gpu-01")
        running.until_state("gpu-01", "Kill task")
        running.kill("gpu-04")
        running.until_state("gpu-04", "DOWN")
        keep_lists(running, "out", NODES)
        keep_log(running, "slurmd-not-killed", "slurmd-gpu-01.log")
        keep(running, "other-key", "sinfo", munge="other")
        keep(running, "other-key-ping", "scontrol", "ping", munge="other")
        keep(running, "other-key-nodes", "scontrol", "show", "node", "-o", munge="other")
        keep_log(running, "slurmctld", "slurmctld.log")


if __name__ == "__main__":
    main()
