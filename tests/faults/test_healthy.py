"""What is never called healthy: an answer that is none, a question about what isn't there, and what only starts."""

from __future__ import annotations

from typing import Any

from tests.faults.case import Fault, tried
from tests.faults.test_hosts import prints
from tests.kube import objects as build
from tests.kube.workloads import deployment, job, pytorchjob
from tests.nodes.smi import smi_xml
from tests.nodes.watched import cards, csv

BASE = [build.namespace("ml"), build.node("gpu-01")]
NEVER = ["HEALTHY", "Ruled out"]
NO_SCHEDULER: dict[str, Any] = {"ns": "ml", "phase": "Pending", "gpus": 1}
DOWN = "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
SLURM = {
    "scontrol": """case "$*" in
*node*) echo 'NodeName=n1 State=IDLE Gres=gpu:8' ;;
*ping*) echo 'Slurmctld(primary) at ctl-1 is UP' ;;
*'job 7') echo 'JobId=7 JobName=x UserId=ann(1000) JobState=RUNNING Reason=None Partition=gpu ExitCode=0:0 NodeList=n1' ;;
*'job 8') echo 'JobId=8 JobName=x UserId=ann(1000) JobState=PENDING Reason=Frobnicating Partition=gpu ExitCode=0:0 NodeList=(null)' ;;
*) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1 ;;
esac""",
    "sacct": "echo 'JobID|JobName|Partition|User|State|ExitCode|Timelimit|NodeList|AllocTRES'",
    "squeue": "echo 'JOBID|PARTITION|USER|STATE|MIN_MEMORY|TRES_PER_NODE|REASON'",
    "tail": "echo 'slurmctld started'",
}
LOG = "echo '2026-03-01T08:00:02,118204+00:00 Linux version 6.8.0'"
WATCHED = {
    "nvidia-smi": f'case "$*" in *--query-gpu*) {prints(csv(cards(1), 0))}\n;; *) {prints(smi_xml(list(cards(1))))}\n;; esac',
    "dmesg": LOG,
}
MANY = [build.pod(f"serve-{number:03}", ns="ml", node="gpu-01", phase="Running", gpus=1) for number in range(600)]
SICK = build.pod("train-0", age="2h", **NO_SCHEDULER)
LATELY = build.pod("train-0", ns="ml", node="gpu-01", phase="Running", gpus=1, containers=[build.container(gpus=1, age="3m", restarts=2)])


def gpus(name: str, text: str, *says: str) -> Fault:
    """What gpu-health says of an nvidia-smi that answers so."""
    return Fault(f"nvidia-smi {name}", "run gpu-health --local", 3, says, NEVER, programs={"nvidia-smi": text})


def log(name: str, text: str, *says: str) -> Fault:
    """What xid-triage says of a machine on which dmesg is refused, and journalctl answers so."""
    return Fault(f"journalctl {name}", "run xid-triage --local", 3, says, NEVER, programs={"journalctl": text})


def pods(broken: str, asks: str, says: list[str], *objects: Any, exit: int = 3, **more: Any) -> Fault:
    """What is said of pods and their owners."""
    return Fault(broken, asks, exit, says, [] if exit == 0 else ["HEALTHY"], cluster=build.cluster([*BASE, *objects], **more))


FAULTS = [
    # ---- an answer that is none
    gpus("fails without a word", "exit 1", "nvidia-smi -q -x: exit code 1"),
    gpus("crashes", "kill -SEGV $$", "nvidia-smi was ended by signal 11 (Segmentation fault)"),
    gpus(
        "prints an error that nobody knows",
        "echo 'Unable to frobnicate'; exit 1",
        "not an answer of nvidia-smi: 'Unable to frobnicate' (exit code 1)",
    ),
    gpus("prints an error that nobody knows, with a known exit code", "echo 'Unable to frobnicate'; exit 9", "no GPUs were read"),
    gpus("prints a document without a GPU", prints(smi_xml([])), "nvidia-smi shows no GPU"),
    gpus("prints nothing", "exit 0", "nvidia-smi printed nothing (exit code 0)"),
    log("has no files", "echo 'No journal files were found.' >&2; exit 1", "No journal files were found."),
    log("has no files and calls it a success", "echo 'No journal files were found.'", "journalctl printed nothing"),
    log("has no entries", "echo '-- No entries --'", "journalctl printed nothing"),
    Fault(
        "a fabric without an adapter",
        "run fabric --local",
        3,
        ["no InfiniBand or RoCE ports were read"],
        NEVER,
        programs={"dmesg": "echo '[1.0] Linux version 6.8.0'"},
    ),
    # ---- another way to ask
    Fault("NVML that isn't there", "run thermal-throttle --local --for 0", 0, ["HEALTHY", "No thermal slowdown"], programs=WATCHED),
    Fault(
        "NVML that isn't there, and nvidia-smi that fails",
        "run thermal-throttle --local --for 0",
        3,
        ["exit code 1"],
        NEVER,
        programs=WATCHED | {"nvidia-smi": "exit 1"},
    ),
    # ---- Slurm
    Fault(
        "a controller that is down",
        "run slurm",
        1,
        ["slurmctld-not-running"],
        NEVER,
        programs=dict.fromkeys(("scontrol", "squeue", "sacct"), DOWN),
    ),
    Fault(
        "a controller that is down, for a job",
        "run slurm --job 7",
        1,
        ["slurmctld-not-running"],
        NEVER,
        programs=dict.fromkeys(("scontrol", "squeue", "sacct"), DOWN),
    ),
    Fault("a job that runs", "run slurm --job 7", 0, ["Slurm's job 7 is RUNNING"], programs=SLURM),
    Fault(
        "a job that waits, and nobody knows for what",
        "run slurm --job 8",
        3,
        ["job 8 is PENDING: Frobnicating"],
        ["HEALTHY"],
        programs=SLURM,
    ),
    Fault("a job that Slurm doesn't know", "run slurm --job 9", 3, ["no Slurm jobs were read"], ["HEALTHY"], programs=SLURM),
    # ---- pods
    pods(
        "a pod that only starts",
        "diagnose pod train-0",
        ["starting: on no node yet, for", "s so far"],
        build.pod("train-0", age="12s", **NO_SCHEDULER),
    ),
    pods("a pod that no scheduler looks at", "diagnose pod train-0", ["cause scheduler-down (", "sure likely"], SICK, exit=1),
    pods(
        "it beside pods that are well",
        "diagnose pod -A -v",
        ["cause scheduler-down (", "sure likely", "600 of 601 GPU pods are healthy"],
        *MANY,
        SICK,
        exit=1,
    ),
    pods("pods that are well", "diagnose pod -A", ["600 of 600 GPU pods are healthy"], *MANY, exit=0),
    pods(
        "a pod that was restarted lately",
        "diagnose pod -A -v",
        ["600 of 601 GPU pods are healthy", "container main was restarted 180 s ago"],
        *MANY,
        LATELY,
    ),
    *(
        pods(f"a list of pods whose second page {name}", "diagnose pod -A", says, *MANY, faults=[{"match": "continue=", **fault}])
        for name, fault, says in (
            ("is refused", {"status": 403}, ["forbidden"]),
            ("breaks off", {"cut": 900}, ["GPU pods in all namespaces"]),
            ("has expired", {"status": 410}, ["GPU pods in all namespaces"]),
        )
    ),
    *(
        pods(f"{name} without pods", f"{words} {kind}/x", [f"{kind} ml/x has no pod"], made)
        for name, kind, made in (
            ("a PyTorchJob", "PyTorchJob", pytorchjob("x", ns="ml")),
            ("a Job", "Job", job("x", ns="ml")),
            ("a Deployment", "Deployment", deployment("x", ns="ml")),
        )
        for words in ("diagnose pod", "nccl --job")
    ),
    *(
        Fault(
            f"a pod that isn't there, {book}",
            f"run {book} --local --set pod=nope --set namespace=ml --set for=0",
            2,
            ['pod "nope" in namespace "ml" was not found'],
            NEVER,
            cluster=build.cluster(BASE),
        )
        for book in ("gpu-memory", "training-stall")
    ),
]
test_fault = tried(FAULTS)
