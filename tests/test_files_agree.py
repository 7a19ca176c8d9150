"""The same objects, served by an API to a run and given as files to `analyze`, give the same findings."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.cases import inputs_of
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.probes import transcript
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Report
from tests.kube.record import FIXTURES, cases
from tests.recorded_cases import executed

PODS = {name: case for name, case in cases().items() if case.runbook in ("diagnose-pod", "pod-not-starting", "pod-without-gpu")}
DATE = "$ date -Is\n2026-03-01T12:00:00+00:00\n"  # files alone don't tell what time it is

# Why files say something else.
NOT_ASKED = "files are read by the checks of every runbook, and a run finds nothing about what it is not asked"
PART = "a list of pods in a file may be a part of the cluster's, so it does not show what is free"
NO_SUCH = "a run ends where what it asks about is not there"
EQUALS = "of several equal nodes another one is named first"
NO_NODE = "what is printed in a pod, and is no line of its log, names no node"
CROWD = "a pod that says all words of the toolkit at once: of two causes on one line the order decides which speaks"
FAILED = "a run knows of a command that failed, of which files show nothing"
DIFFERENT: dict[str, str] = {
    **dict.fromkeys(("pinned-cordoned", "cordoned", "all-cordoned-unheard", "node-down-under-it", "not-ready"), NOT_ASKED),
    **dict.fromkeys(("device-class-absent", "sick-gpus", "stack-device-left-out", "silent-gpu"), NOT_ASKED),
    **dict.fromkeys(("apart-from-its-own", "beside-another-namespace", "port-of-all", "cpu-short"), PART),
    **dict.fromkeys(("whole-namespace-typo", "whole-namespace-typo-listed", "whole-no-gpu-pods"), NO_SUCH),
    **dict.fromkeys(("no-plugin", "whole-driver-crashes"), EQUALS),
    **dict.fromkeys(("whole-lost-gpu", "whole-lost-gpu-two-teams", "static-cpu-manager", "toolkit-leaves-cgroups-alone"), NO_NODE),
    **dict.fromkeys(("pod-versions-differ", "driver-not-loaded"), NO_NODE),
    "no-smi-inside": FAILED,
    "words-of-the-toolkit": CROWD,
}


def as_printed(page: bytes) -> bytes:
    """An answer as kubectl prints it: JSON on many lines."""
    try:
        return json.dumps(json.loads(page), indent=4).encode() + b"\n"
    except ValueError:
        return page


def given_as_files(name: str, folder: Path) -> Report:
    """The report on what a recorded run was answered, each answer a file that begins with its command."""
    run, pages = transcript.load((FIXTURES / PODS[name].runbook / name).with_suffix(".txt"))
    (folder / "date.txt").write_text(DATE)
    for number, answer in enumerate(run.outputs):
        place = folder / "nodes" / answer.host if answer.host else folder  # as must-gather lays them out
        place.mkdir(parents=True, exist_ok=True)
        for page, stored in enumerate(answer.stdout):
            (place / f"{number:03}.{page}.txt").write_bytes(f"$ {shlex.join(answer.argv)}\n".encode() + as_printed(pages[stored]))
    gathered = gather([str(folder)])
    return analyze(library(), gathered.facts, gathered.inputs, gathered.now)


def served(name: str) -> Report | None:
    """The report of the run, None where what it asks about is not there."""
    replay = Replay(FIXTURES / PODS[name].runbook / name)
    book = library().runbooks[PODS[name].runbook]
    done = executed(book.id, inputs_of(book, replay.bundle.inputs, {}), replay)
    return done[1] if done else None


def said(report: Report | None) -> set[tuple[str, str, str]] | None:
    """What was found: cause, subject, confidence."""
    return None if report is None else {(one.cause, one.subject.name, one.confidence) for one in report.findings}


@pytest.mark.parametrize("name", PODS)
def test_files_say_what_the_run_says(name: str, tmp_path: Path) -> None:
    live, files = said(served(name)), said(given_as_files(name, tmp_path))
    if name in DIFFERENT:
        assert live != files, f"{name} differs no more: take it from the list"
    else:
        assert live == files


def main() -> None:
    """Print what differs."""
    for name in PODS:
        with TemporaryDirectory() as folder:
            live, files = said(served(name)), said(given_as_files(name, Path(folder)))
        if live != files:
            print(name, name in DIFFERENT, sorted((live or set()) - (files or set())), sorted((files or set()) - (live or set())))


if __name__ == "__main__":
    main()
