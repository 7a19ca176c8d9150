"""What a person sees on a terminal of 80 columns and 25 rows: the decisive lines on the first screen, progress as it happens, no noise."""

from __future__ import annotations

import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

import pytest

from gpudoctor.cli.scenarios import SCENARIOS
from tests.kube import objects as build
from tests.kube.fixtures import Served
from tests.kube.record import FIXTURES, NOW

ROOT = Path(__file__).parents[1]
ROWS, COLUMNS = 25, 80
SGR = re.compile(r"\x1b\[[0-9;]*m")
RECORDED = [
    "diagnose-pod/taint",
    "diagnose-pod/full",
    "diagnose-pod/cordoned",
    "diagnose-pod/lost-gpus",
    "diagnose-pod/quota",
    "pod-not-starting/image-not-found",
    "pod-not-starting/memory-limit",
    "pod-not-starting/no-nvidia-runtime",
    "pod-without-gpu/not-injected",
    "gpu-stack/driver-nouveau",
    "gpu-stack/plugin-absent",
]


class Seen(NamedTuple):
    """What a terminal received, in the order of arrival, with seconds since the start; and the exit code."""

    pieces: list[tuple[float, str]]
    code: int

    @property
    def text(self) -> str:
        """All of it, without colours."""
        return SGR.sub("", "".join(piece for _, piece in self.pieces)).replace("\r\n", "\n")


def session(*arguments: str, stderr_too: bool = True, **environment: str) -> Seen:
    """Run gpudoctor with stdout (and stderr) on a terminal."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "KUBECONFIG")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gpudoctor", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if stderr_too else subprocess.PIPE,
        env=kept | {"TERM": "xterm-256color", "SOURCE_DATE_EPOCH": NOW} | environment,
        cwd=ROOT,
    )
    os.close(theirs)
    pieces: list[tuple[float, str]] = []
    started = time.monotonic()
    while True:
        try:
            read = os.read(ours, 1 << 16)
        except OSError:  # the other side has closed: Linux answers EIO
            break
        if not read:
            break
        pieces.append((time.monotonic() - started, read.decode()))
    os.close(ours)
    _, err = process.communicate(timeout=20)
    if err:
        pieces.append((0.0, "STDERR " + err.decode()))
    return Seen(pieces, process.returncode)


def last_screen(text: str) -> list[str]:
    """The rows that a terminal shows last, long lines wrapped; the last row is the prompt's."""
    lines = text.rstrip("\n").split("\n")
    rows = [line[start : start + COLUMNS] for line in lines for start in range(0, len(line) or 1, COLUMNS)]
    return rows[-(ROWS - 1) :]


DECISIVE = [
    r"(?m)^PROBLEM",
    r"\n  cause    [a-z0-9-]+ \((critical|warning|info)\)",
    r"\n  seen in  .+\n(           .+\n)+",
    r"\n  action   ",
    r"\n  (fix|look)  +\S",
    r"\n  sure     (confirmed|likely): ",
]


def decisive(text: str) -> None:
    """Verdict, root cause, evidence, who acts and what to do stand on the last screen."""
    screen = "\n".join(last_screen(text))
    for what in DECISIVE:
        assert re.search(what, screen), f"no {what!r} in\n{screen}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_demo_says_the_decisive_things_on_the_last_screen(name: str) -> None:
    seen = session("demo", name)
    if seen.code == 0:
        assert re.search(r"Shown\n(.|\n)*Ruled out\n(.|\n)*\nHEALTHY  .*\n(.|\n)*checked (\d+) of \4\n", seen.text)
        return
    assert seen.code == 1
    decisive(seen.text)


@pytest.mark.parametrize("folder", RECORDED)
def test_a_recorded_case_says_the_decisive_things_on_the_last_screen(folder: str) -> None:
    seen = session("run", "--replay", str(FIXTURES / folder))
    assert seen.code == 1
    decisive(seen.text)
    assert "\x1b[" in "".join(piece for _, piece in seen.pieces)  # a terminal gets colours


@pytest.mark.parametrize(("arguments", "environment"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"})], ids=["--no-color", "NO_COLOR"])
def test_no_colour_when_none_is_wanted(arguments: list[str], environment: dict[str, str]) -> None:
    seen = session("run", "--replay", str(FIXTURES / "diagnose-pod" / "taint"), *arguments, **environment)
    assert "\x1b" not in "".join(piece for _, piece in seen.pieces)


def test_steps_appear_as_they_finish(kube_server: Callable[..., Served]) -> None:
    waiting = build.pod("train-0", gpus=1, age="10m", unschedulable="0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
    slow = [{"match": "GET /api/v1/nodes", "stall": 3}]
    served = kube_server(build.cluster([waiting, build.node("gpu-01")], faults=slow))
    seen = session("diagnose", "pod", "train-0", "--kubeconfig", str(served.kubeconfig))
    early = SGR.sub("", "".join(piece for moment, piece in seen.pieces if moment < seen.pieces[-1][0] - 2))
    assert re.search(r"^clear +0\.\d s  Read the pod\r?$", early, re.MULTILINE), seen.text
    assert "INCONCLUSIVE" not in early
    assert "PROBLEM" not in early


def test_steps_that_were_not_needed_are_no_news(kube_server: Callable[..., Served]) -> None:
    served = kube_server(build.cluster([build.pod("train-0", gpus=1, node="gpu-01", age="2h"), build.node("gpu-01")]))
    seen = session("diagnose", "pod", "train-0", "--kubeconfig", str(served.kubeconfig))
    progress = seen.text.split("\nPROBLEM")[0].split("\nHEALTHY")[0].split("\nINCONCLUSIVE")[0].split("\n")
    assert len(progress) > 3
    assert not [line for line in progress if line.startswith("skipped")]
    assert len([line for line in progress if "Read the pod" in line]) == 1  # asked once, told once


def test_a_pipe_gets_no_progress() -> None:
    command = [sys.executable, "-m", "gpudoctor", "run", "--replay", str(FIXTURES / "diagnose-pod" / "taint")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
