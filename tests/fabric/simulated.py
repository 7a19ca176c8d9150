"""A simulated InfiniBand fabric that the real tools look at: ibsim answers their MADs, opensm is its subnet manager.

Debian has the parts as ibsim-utils, opensm and infiniband-diags. Nothing here needs rights or hardware: `libumad2sim` stands in for
/dev/infiniband/umad*, and `SIM_HOST` says from which host a tool looks.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LIBRARY = next(iter(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so")), Path("/usr/lib/umad2sim/libumad2sim.so"))
PROGRAMS = ("ibsim", "opensm", "ibstat", "perfquery", "ibqueryerrors", "iblinkinfo")
HOSTS = [f"gpu-{number:02d}" for number in range(1, 9)]
SWITCHES = ("leaf-1", "leaf-2")
PATIENCE = 20.0  # seconds for a tool or a sweep; each takes a fraction of one


def missing() -> str:
    """Which part isn't on this machine, "" when all are there."""
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path())]
    return ", ".join(absent) or ("" if LIBRARY.exists() else "libumad2sim.so")


def path() -> str:
    """Where programs are looked for: Debian has those for administrators in sbin, which may not be in everybody's path."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def topology(slow: str = "") -> str:
    """Two switches with four hosts each and two links between them, in the notation of ibnetdiscover that ibsim reads.

    Every end says what its link does (4xQDR); of a `slow` host's link both ends say 1xQDR, as a cable with broken pairs would have it.
    """
    blocks = []
    for at, name in enumerate(SWITCHES):
        hosts = HOSTS[at * 4 : at * 4 + 4]
        ports = [f'[{port}]\t"{host}"[1]\t\t# "{host}" lid 0 {lanes(host, slow)}' for port, host in enumerate(hosts, 1)]
        other = SWITCHES[1 - at]
        ports += [f'[{port}]\t"{other}"[{port}]\t\t# "{other}" lid 0 4xQDR' for port in (7, 8)]
        blocks.append("\n".join([f'Switch\t8 "{name}"', *ports]))
    for number, host in enumerate(HOSTS):
        name = SWITCHES[number // 4]
        blocks.append(f'Hca\t1 "{host}"\n[1]\t"{name}"[{number % 4 + 1}]\t\t# lid 0 lmc 0 "{name}" lid 0 {lanes(host, slow)}')
    return "\n\n".join(blocks) + "\n"


def lanes(host: str, slow: str) -> str:
    """Width and speed of a host's link."""
    return "1xQDR" if host == slow else "4xQDR"


class Fabric:
    """A running simulation."""

    def __init__(self, folder: Path, slow: str) -> None:
        self.folder = folder
        self.name = f"gpudoctor-{os.getpid()}-{folder.name}"
        net = folder / "fabric.net"
        net.write_text(topology(slow))
        self.manager: subprocess.Popen[bytes] | None = None
        self.log = (folder / "ibsim.log").open("wb")
        environment = {**os.environ, "IBSIM_SOCKNAME": self.name, "PATH": path()}
        self.ibsim = subprocess.Popen(
            ["ibsim", "-s", str(net)], stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, env=environment, start_new_session=True
        )

    def environment(self, host: str) -> dict[str, str]:
        """What a tool needs to see the fabric from a host."""
        return {
            **os.environ,
            "PATH": path(),
            "LD_PRELOAD": str(LIBRARY),
            "SIM_HOST": host,
            "IBSIM_SOCKNAME": self.name,
            "OSM_CACHE_DIR": str(self.folder),
            "OSM_TMP_DIR": str(self.folder),
        }

    def console(self, *commands: str) -> None:
        """Type at ibsim's console."""
        assert self.ibsim.stdin is not None
        for command in commands:
            self.ibsim.stdin.write(f"{command}\n".encode())
            self.ibsim.stdin.flush()
            time.sleep(0.1)  # it answers nothing, and reads the next line only when no tool waits

    def ask(self, host: str, *argv: str) -> subprocess.CompletedProcess[str]:
        """What a real tool prints on a host."""
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            env=self.environment(host),
            cwd=self.folder,
            check=False,
        )

    def manage(self) -> None:
        """Start the subnet manager and wait until it has set the fabric up."""
        self.manager = subprocess.Popen(
            ["opensm", "-f", str(self.folder / "opensm.log")],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            env=self.environment(HOSTS[0]),
            cwd=self.folder,
            start_new_session=True,
        )
        self.wait(lambda: "Init" not in self.ask(HOSTS[0], "iblinkinfo").stdout, "the subnet is not up")

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Wait for something that comes soon."""
        end = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > end:
                raise TimeoutError(what)
            time.sleep(0.05)

    def close(self) -> None:
        """End the simulation."""
        for process in (self.manager, self.ibsim):
            if process is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(PATIENCE)
        if self.ibsim.stdin is not None:
            self.ibsim.stdin.close()
        self.log.close()


@contextmanager
def fabric(*, slow: str = "", managed: bool = True) -> Iterator[Fabric]:
    """A fabric for as long as it is used, by default with a subnet manager."""
    with tempfile.TemporaryDirectory(prefix="fabric-") as folder:
        running = Fabric(Path(folder), slow)
        try:
            running.wait(lambda: b"simulator ready" in (running.folder / "ibsim.log").read_bytes(), "ibsim has not started")
            if managed:
                running.manage()
            yield running
        finally:
            running.close()
