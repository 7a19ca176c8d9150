"""Runs that end early: by a signal, by the time that is used up, in the middle of a recording. Nothing of them stays."""

from __future__ import annotations

import json
import signal
from typing import Any

from tests.faults.case import Fault, Place, Said, tried
from tests.kube import objects as build

HANGS = "touch {here}/begun; exec sleep 300"
IGNORES_TERM = "trap '' TERM; touch {here}/begun; while :; do sleep 1; done"
HAS_CHILDREN = "sleep 300 & (sleep 300; sleep 300) & touch {here}/begun; wait"
ANSWERS_LATE = "touch {here}/begun; sleep 2; echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9"
LOCAL = "diagnose node --local"
DEBUGGED = "diagnose node bare-01 --via debug-pod"
SIGNALS = {130: signal.SIGINT, 143: signal.SIGTERM, 129: signal.SIGHUP, 131: signal.SIGQUIT}
# A line of a shell that sends a signal twice at once, as timeout(1) and a terminal that closes do.
TWICE = '"$@" & while [ ! -e begun ]; do sleep 0.1; done; sleep 0.3; kill -{0} $!; sleep 0.05; kill -{0} $!; wait $!'
# A line that starts it in a terminal, and closes that once a prompt is there; SIGHUP is ignored, or another process leads the session.
CLOSES = 'exec "$1" closes.py "$@"'
TERMINAL = """import os, pty, signal, subprocess, sys
ours, theirs = pty.openpty()
signal.signal(signal.SIGHUP, signal.SIG_IGN)
process = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs)
shown = b""
while b"q quit" not in shown:
    shown += os.read(ours, 65536)
os.close(theirs)
os.close(ours)
sys.exit(process.wait())
"""
PODS = "/api/v1/namespaces/ml/pods"


def bare(**faults: Any) -> dict[str, Any]:
    """A cluster with a node that has no GPU stack: only a debug pod leads there. `/usr/bin/true` is all that it can run at once."""
    shell = {"argv": ["chroot", "/host", "sh", "-s"], "shell": "{here}/programs"}
    contents = build.cluster([build.node("bare-01")], exec={"ml/*/debug": [shell]}, **faults)
    return {**contents, "created": {"phase": "Running", "containerStatuses": [{"name": "debug", "state": {"running": {}}}]}}


def deleted(place: Place, said: Said) -> None:
    """Every pod that was made is gone."""
    assert place.served is not None
    asked = place.served.requests()
    made = [one for one in asked if one.startswith(f"POST {PODS}") and "exec" not in one]
    assert made
    assert len([one for one in asked if one.startswith(f"DELETE {PODS}/gpudoctor-debug-")]) >= len(made)


def half_recorded(place: Place, said: Said) -> None:
    """What was recorded until then can be replayed, and says that it isn't all."""
    again = Fault("a bundle whose recording was interrupted", "run --replay kept", 3, ["the recording was interrupted"])
    result = again.ran(place)
    assert not again.wrong(result), result.all


def cut_by_the_disk(place: Place, said: Said) -> None:
    """The bundle says that the disk was full."""
    again = Fault("a bundle whose disk was full", "run --replay kept", 3, ["it is incomplete"])
    result = again.ran(place)
    assert not again.wrong(result), result.all
    assert json.loads((place.here / "kept" / "bundle.json").read_text())["incomplete"]


def recorded(place: Place, said: Said) -> None:
    """The first of two recordings is whole."""
    assert "incomplete" not in json.loads((place.here / "kept" / "bundle.json").read_text())


INTERRUPTED = {"bundle": 1, "recorded": "2026-11-21T10:00:00Z", "runbook": "node-health", "incomplete": "the recording was interrupted"}
FAULTS = [
    *(
        Fault(f"{number.name} while nvidia-smi {name}", LOCAL, code, programs={"nvidia-smi": text}, signals=[number], within=6)
        for code, number in SIGNALS.items()
        for name, text in (("hangs", HANGS), ("ignores SIGTERM", IGNORES_TERM), ("has children that hang", HAS_CHILDREN))
    ),
    *(
        Fault(
            f"{number.name} twice while nvidia-smi ignores SIGTERM",
            LOCAL,
            code,
            programs={"nvidia-smi": IGNORES_TERM},
            signals=[number] * 2,
        )
        for code, number in SIGNALS.items()
    ),
    Fault("SIGHUP under nohup", LOCAL, 1, programs={"nvidia-smi": ANSWERS_LATE}, signals=[signal.SIGHUP], shell="trap '' HUP; exec \"$@\""),
    Fault("the time is up while nvidia-smi ignores SIGTERM", f"{LOCAL} --timeout 2", 3, programs={"nvidia-smi": IGNORES_TERM}, within=8),
    Fault(
        "the time is up while children of nvidia-smi hang",
        f"{LOCAL} --timeout 2",
        3,
        ["gpu-hung"],
        programs={"nvidia-smi": HAS_CHILDREN},
        within=8,
    ),
    Fault(
        "SIGTERM while a host behind ssh hangs",
        "diagnose node gpu-01 --via ssh",
        143,
        programs={"nvidia-smi": HANGS},
        machines=["gpu-01"],
        signals=[signal.SIGTERM],
        within=10,
    ),
    Fault(
        "the time is up while a host behind ssh hangs",
        "diagnose node gpu-01 --via ssh --timeout 3",
        3,
        ["gpu-hung"],
        programs={"nvidia-smi": HANGS},
        machines=["gpu-01"],
        within=12,
    ),
    Fault(
        "SIGTERM while it records",
        f"{LOCAL} --record kept",
        143,
        programs={"nvidia-smi": HANGS},
        signals=[signal.SIGTERM],
        after=half_recorded,
    ),
    Fault(
        "the disk is full while it records",
        f"{LOCAL} --record kept",
        2,
        ["the recording in kept is incomplete", "File too large"],
        programs={"nvidia-smi": "yes | head -c 200000"},
        shell='ulimit -f 64; exec "$@"',
        after=cut_by_the_disk,
    ),
    Fault(
        "two record into one folder",
        f"{LOCAL} --record kept",
        2,
        ["somebody else is recording into kept: give --record another folder"],
        programs={"nvidia-smi": ANSWERS_LATE},
        shell='"$@" > /dev/null & while [ ! -e begun ]; do sleep 0.1; done; "$@"; code=$?; wait; exit $code',
        after=recorded,
    ),
    Fault(
        "verify with a recording that was interrupted before anything was found",
        "verify kept",
        2,
        ["kept has found nothing that needs a repair, and is incomplete (the recording was interrupted)"],
        files={"kept/bundle.json": json.dumps(INTERRUPTED)},
    ),
    Fault(
        "the terminal of a guided session closes",
        f"{LOCAL} --guided",
        2,
        ["standard output can't be written: Input/output error"],
        files={"closes.py": TERMINAL},
        shell=CLOSES,
    ),
    Fault(
        "no more processes or threads may be started",
        LOCAL,
        3,
        ["cannot be started (Resource temporarily unavailable)"],
        shell='[ $(id -u) != 0 ] || exec prlimit --nproc=1 setpriv --reuid 54321 --clear-groups "$@"; exec prlimit --nproc=1 "$@"',
    ),
    *(
        Fault(
            f"{number.name} while a debug pod is there",
            DEBUGGED,
            code,
            cluster=bare(),
            programs={"nvidia-smi": HANGS},
            signals=[number],
            after=deleted,
        )
        for code, number in SIGNALS.items()
    ),
    *(
        Fault(
            f"{name} twice at once while a debug pod is there",
            DEBUGGED,
            code,
            never=["was not deleted"],
            cluster=bare(faults=[{"match": "^DELETE", "drip": 500}]),
            programs={"nvidia-smi": HANGS},
            shell=TWICE.format(name),
            after=deleted,
        )
        for name, code in (("TERM", 143), ("HUP", 129))
    ),
    Fault(
        "SIGTERM where a debug pod may not be deleted",
        DEBUGGED,
        143,
        ["was not deleted from node bare-01 (", "kubectl delete pod -n ml gpudoctor-debug-"],
        cluster=bare(faults=[{"match": "^DELETE", "status": 403}]),
        programs={"nvidia-smi": HANGS},
        signals=[signal.SIGTERM],
    ),
    *(
        Fault(
            f"{number.name} twice where a debug pod's deletion is not answered",
            DEBUGGED,
            code,
            ["was not deleted from node bare-01", "kubectl delete pod -n ml gpudoctor-debug-"],
            cluster=bare(faults=[{"match": "^DELETE", "stall": 30}]),
            programs={"nvidia-smi": HANGS},
            signals=[number] * 2,
            within=8,
        )
        for code, number in SIGNALS.items()
    ),
]
test_fault = tried(FAULTS)
