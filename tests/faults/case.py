"""One row of the suite of faults: what is broken, what must be said, the exit code, how long it may take, and what must not remain.

A row runs the real program as a process of its own, in a folder with a home, a temporary folder and programs of its own. The rows of an
area stand in one file, `test_<area>.py`: a list of `Fault` and

    test_fault = tried(FAULTS)

What a row doesn't bring (nvidia-smi, a kubeconfig, a kernel log) isn't there.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.kube.fixtures import Served, serve
from tests.ssh.server import SSHD, Sshd

MARK = "GPUDOCTOR_FAULT"  # the variable by which the processes of a row are known, wherever they went
# VmHWM:	   65536 kB
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
LAST = 3.0  # seconds in which a process that was told to end may still be there
PATIENCE = 60.0  # seconds after the row's own limit until the run counts as hung
# What no user may ever read.
OURS = ("Traceback (most recent call last)", "gpudoctor: internal error", "a bug of gpudoctor", "Exception ignored", "site-packages")

# The log of the machine that runs the tests says what happened there.
NO_LOG = {
    "dmesg": "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1",
    "journalctl": "echo 'No journal files were found.' >&2; exit 1",
}


class Place:
    """The folder of a row while it runs. `{here}` in a row's texts stands for it."""

    def __init__(self, here: Path) -> None:
        self.here, self.home, self.temporary, self.programs = here, here / "home", here / "tmp", here / "programs"
        self.served: Served | None = None
        self.machines: Sshd | None = None
        self.environment: dict[str, str] = {}

    def filled(self, text: str) -> str:
        """A text of the row with the folder's name and the server's address in it."""
        url = self.served.url if self.served else ""
        return text.replace("{here}", str(self.here)).replace("{url}", url)

    def program(self, name: str, text: str) -> None:
        """Write a program: a script for `sh`, or for what its first line names."""
        path = self.programs / name
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def processes(self) -> dict[int, str]:
        """What still runs of the row: process id → command line."""
        found = ((int(path.name), marked(path, f"{MARK}={self.here}")) for path in Path("/proc").iterdir() if path.name.isdigit())
        return {pid: shown for pid, shown in found if shown}


class Said(NamedTuple):
    """What became of the run: the exit code (128+n for death by signal n), both streams, and what it took."""

    exit: int
    out: str
    err: str
    seconds: float
    peak: float  # MiB of memory, as often as it was looked at

    @property
    def all(self) -> str:
        """Both streams, as a terminal has them."""
        return self.out + self.err


class Fault(NamedTuple):
    """`broken` says what is broken and names the row; `asks` are the words after `gpudoctor`.

    `says` must be in what is printed, `never` must not; `within` are the seconds it may take, `peak` the MiB.
    """

    broken: str
    asks: str
    exit: int
    says: Sequence[str] = ()
    never: Sequence[str] = ()
    within: float = 20.0
    peak: float = 1024.0
    programs: Mapping[str, str] = {}  # on PATH; with `machines`, on each of them instead
    files: Mapping[str, str | bytes] = {}  # in the folder where it runs
    stdin: bytes = b""
    env: Mapping[str, str] = {}
    shell: str = ""  # a line that starts it, where "$@" is the program: `exec "$@" >&-`, `ulimit -f 8; exec "$@"`
    cluster: Mapping[str, Any] | None = None  # what `tests.kube.objects.cluster` makes: served, and KUBECONFIG names it
    machines: Sequence[str] = ()  # names of hosts behind ssh
    signals: Sequence[int] = ()  # sent when a program has made the file `begun`, half a second between them
    before: Callable[[Place], None] | None = None  # what words can't say
    after: Callable[[Place, Said], None] | None = None
    stays: Sequence[str] = ()  # what may be left in the temporary folder

    def __str__(self) -> str:
        return self.broken

    def tried(self, here: Path) -> Said:
        """Run it and check all that the row says."""
        place = Place(here)
        with ExitStack() as ending:
            self.prepared(place, ending)
            said = self.ran(place)
            wrong = [*self.wrong(said), *self.left(place)]
            assert not wrong, "\n".join(
                [f"{self.broken}: {'; '.join(wrong)}", f"--- stdout\n{said.out[-4000:]}", f"--- stderr\n{said.err[-4000:]}"]
            )
            if self.after:
                self.after(place, said)
        return said

    def prepared(self, place: Place, ending: ExitStack) -> None:
        """Make all that the row brings."""
        for folder in (place.home, place.temporary, place.programs):
            folder.mkdir()
        path = f"{place.programs}:/usr/bin:/bin"
        place.environment = {
            "PATH": path,
            "HOME": str(place.home),
            "TMPDIR": str(place.temporary),
            "LANG": "C.UTF-8",
            MARK: str(place.here),
        }
        if self.cluster is not None:
            place.served = serve(json.loads(place.filled(json.dumps(self.cluster))), place.here / "kube")
            ending.callback(place.served.process.wait)
            ending.callback(place.served.process.kill)
            place.environment["KUBECONFIG"] = str(place.served.kubeconfig)
        if self.machines:
            if not SSHD:
                pytest.skip("no sshd on this machine")
            place.machines = Sshd(place.here / "ssh", self.machines)
            place.environment["GPUDOCTOR_SSH_CONFIG"] = str(place.machines.config)
        for name, text in {**NO_LOG, **self.programs}.items():
            if place.machines:
                place.machines.program(name, place.filled(text))
            else:
                place.program(name, place.filled(text))
        for name, content in self.files.items():
            target = place.here / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else place.filled(content).encode())
        place.environment |= {name: place.filled(value) for name, value in self.env.items()}
        if self.before:
            self.before(place)
        if place.machines:
            place.machines.start()
            ending.callback(place.machines.stop)

    def ran(self, place: Place) -> Said:
        """What the program did."""
        argv = [sys.executable, "-m", "gpudoctor", *shlex.split(place.filled(self.asks))]
        if self.shell:
            argv = ["sh", "-c", place.filled(self.shell), "sh", *argv]
        with (place.here / "out").open("wb") as out, (place.here / "err").open("wb") as err, (place.here / "in").open("w+b") as given:
            given.write(self.stdin)
            given.seek(0)
            started = time.monotonic()
            process = subprocess.Popen(
                argv, stdin=given, stdout=out, stderr=err, cwd=place.here, env=place.environment, start_new_session=True
            )
            try:
                self.struck(place, process)
                status, peak = waited(process, self.within + PATIENCE)
            finally:
                end(process)
            seconds = time.monotonic() - started
        code = os.waitstatus_to_exitcode(status)
        texts = [(place.here / name).read_text(errors="replace") for name in ("out", "err")]
        return Said(128 - code if code < 0 else code, *texts, seconds, peak)

    def struck(self, place: Place, process: subprocess.Popen[bytes]) -> None:
        """Send the row's signals once a program has begun."""
        if not self.signals:
            return
        limit = time.monotonic() + self.within
        while not (place.here / "begun").exists() and not ended(process) and time.monotonic() < limit:
            time.sleep(0.02)
        time.sleep(0.3)  # for what comes after the file: a pipe that is filled, a handler that is set
        for number in self.signals:
            if not ended(process):
                os.kill(process.pid, number)
            time.sleep(0.5)

    def wrong(self, said: Said) -> list[str]:
        """What differs from what the row says."""
        texts = " ".join(said.all.split())  # wherever the lines were wrapped
        found = [f"exit code {said.exit}, not {self.exit}"] if said.exit != self.exit else []
        found += [f"does not say {text!r}" for text in self.says if text not in texts]
        found += [f"says {text!r}" for text in (*OURS, *self.never) if text in texts]
        found += [f"took {said.seconds:.1f} s, more than {self.within:g}"] if said.seconds > self.within else []
        found += [f"took {said.peak:.0f} MiB, more than {self.peak:g}"] if said.peak > self.peak else []
        return found

    def left(self, place: Place) -> list[str]:
        """What the run has left behind."""
        limit = time.monotonic() + LAST
        while (running := place.processes()) and time.monotonic() < limit:
            time.sleep(0.05)
        for pid in running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        files = sorted(str(path.relative_to(place.temporary)) for path in place.temporary.rglob("*"))
        return [*(f"still runs: {one}" for one in running.values()), *(f"leaves {one}" for one in files if one not in self.stays)]


def tried(faults: Sequence[Fault]) -> Callable[[Fault, Path], None]:
    """The test of an area's rows."""

    @pytest.mark.parametrize("fault", faults, ids=str)
    def test_fault(fault: Fault, tmp_path: Path) -> None:
        fault.tried(tmp_path)

    return test_fault


def marked(process: Path, mark: str) -> str:
    """The command line of a process that has the mark in its environment, else ""."""
    try:
        if f"{mark}\0".encode() not in (process / "environ").read_bytes():
            return ""
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:  # it has ended, or is not ours
        return ""


def ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; its status stays for `waited`."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def waited(process: subprocess.Popen[bytes], seconds: float) -> tuple[int, float]:
    """The status of a process that ends within some seconds, and the MiB that it took. Fails when it doesn't.

    What wait4(2) says of the memory includes that of the process which it was forked from.
    """
    limit, peak = time.monotonic() + seconds, 0.0
    while time.monotonic() < limit:
        with suppress(OSError, TypeError):  # it has ended meanwhile
            peak = max(peak, int(PEAK.search(Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024)  # type: ignore[index]
        pid, status = os.waitpid(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return status, peak
        time.sleep(0.02)
    pytest.fail(f"still runs after {seconds:g} s: {process.args}")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that is still there."""
    if process.returncode is None:
        process.kill()
        process.wait()
