"""A real Slurm on the loopback address: munged, slurmctld and a slurmd for each node, with ports, keys and folders of its own.

Debian has the parts as slurm-wlm and munge; its slurmd is built for several nodes on one machine. The daemons run as root and without
systemd; GPUs are links to /dev/null, so that `gres` finds devices. Each slurmd has a process namespace: what it starts ends with it.
"""

from __future__ import annotations

import os
import platform
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sinfo", "squeue", "sbatch", "sacct", "unshare")
PATIENCE = 30.0  # seconds for what takes one or two on an idle machine
CLIENTS = 20.0  # seconds for a command of Slurm; without a controller it tries for MessageTimeout

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/own.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
SlurmdTimeout=3
MessageTimeout=3
UnkillableStepTimeout=3
KillWait=1
GresTypes=gpu
{nodes}
PartitionName=gpu Nodes={names} Default=YES MaxTime=60 State=UP
"""
# Leaves a process that nothing can end: a dead one in the job's process group, whose parent has left that group and doesn't look.
UNKILLABLE = """#!/usr/bin/env python3
import os, time
if not os.fork():
    if not os.fork():
        os._exit(0)
    os.setsid()
    for stream in (0, 1, 2):
        os.close(stream)
    time.sleep(120)
time.sleep(0.3)
"""


class Node(NamedTuple):
    """What slurm.conf promises of a node, and how many devices gres.conf names."""

    name: str
    gpus: int = 2
    devices: int = 2
    memory: int = 100  # MiB


def path() -> str:
    """Where programs are looked for: Debian has the daemons in sbin, which may not be in everybody's path."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def missing() -> str:
    """Which part isn't on this machine, "" when a cluster can be started."""
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path())]
    if absent:
        return ", ".join(absent)
    if os.geteuid():
        return "root"
    spaces = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, check=False, env={"PATH": path()})
    return "process namespaces" if spaces.returncode else ""


class Cluster:
    """A running cluster. `ask` runs a command of Slurm; with `munge="other"` on a host whose key is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def up(self, nodes: list[Node]) -> None:
        """Start everything."""
        folder = self.folder
        for number in range(max(node.gpus for node in nodes)):
            (folder / f"nvidia{number}").symlink_to("/dev/null")
        (folder / "state").mkdir()
        (folder / "gres.conf").write_text(
            "".join(f"NodeName={node.name} Name=gpu Type=h100 File={folder}/nvidia[0-{node.devices - 1}]\n" for node in nodes)
        )
        text = self.conf(nodes)
        for munge in ("own", "other"):
            (folder / f"{munge}.key").write_bytes(secrets.token_bytes(128))
            (folder / f"{munge}.key").chmod(0o400)
            self.start(munge, "munged", "--foreground", "--force", *self.munge(munge))
            self.conf_of(munge).write_text(text.replace("own.socket", f"{munge}.socket"))
        self.until(lambda: all((folder / f"{munge}.socket").exists() for munge in ("own", "other")), "munged")
        self.start("slurmctld", "slurmctld", "-D", "-f", str(self.conf_of("own")))
        for node in nodes:
            self.boot(node.name)

    def conf_of(self, munge: str) -> Path:
        """The slurm.conf with one munged or the other; gres.conf is looked for beside it."""
        return self.folder / ("slurm.conf" if munge == "own" else "other.conf")

    def munge(self, name: str) -> list[str]:
        """The files of one munged."""
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        return [f"--{option}={self.folder}/{name}.{end}" for option, end in files.items()]

    def conf(self, nodes: list[Node]) -> str:
        """slurm.conf, with a free port for each daemon."""
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(len(nodes) + 1)]
        ports = [one.getsockname()[1] for one in sockets]
        for one in sockets:
            one.close()
        host = platform.node().split(".")[0]
        lines = [
            f"NodeName={node.name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={node.memory}"
            f" Gres=gpu:h100:{node.gpus} State=UNKNOWN"
            for node, port in zip(nodes, ports[1:], strict=True)
        ]
        names = ",".join(node.name for node in nodes)
        return CONF.format(host=host, port=ports[0], folder=self.folder, nodes="\n".join(lines), names=names)

    def start(self, name: str, *argv: str) -> None:
        """Start a daemon in the foreground."""
        with (self.folder / f"{name}.out").open("wb") as out:
            self.daemons[name] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, "PATH": path()}, start_new_session=True
            )

    def boot(self, node: str, munge: str = "own") -> None:
        """Start a node's slurmd."""
        slurmd = ["slurmd", "-D", "-N", node, "-f", str(self.conf_of(munge))]
        self.start(node, "unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", *slurmd)

    def kill(self, name: str) -> None:
        """End a daemon, and with a slurmd what it has started."""
        daemon = self.daemons.pop(name)
        daemon.send_signal(signal.SIGKILL if name.startswith("gpu-") else signal.SIGTERM)
        try:
            daemon.wait(5)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()

    def ask(self, *argv: str, munge: str = "own") -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm."""
        environment = {**os.environ, "PATH": path(), "SLURM_CONF": str(self.conf_of(munge)), "LC_ALL": "C"}
        return subprocess.run(argv, capture_output=True, text=True, timeout=CLIENTS, env=environment, cwd=self.folder, check=False)

    def submit(self, script: str, *options: str) -> str:
        """Submit a script as a batch job; returns its id."""
        file = self.folder / f"job-{secrets.token_hex(4)}"
        file.write_text(script)
        done = self.ask("sbatch", "--parsable", "-o", "/dev/null", *options, str(file))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for something to happen."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"{what}: not within {PATIENCE:.0f} s"
            time.sleep(0.2)

    def until_state(self, node: str, word: str) -> None:
        """Wait until the controller shows a word in a node's state or reason."""
        self.until(lambda: word in self.ask("scontrol", "show", "node", "-o", node).stdout, f"{node}: {word}")

    def close(self) -> None:
        """End everything."""
        for name in reversed(list(self.daemons)):
            self.kill(name)


@contextmanager
def cluster(*nodes: Node) -> Iterator[Cluster]:
    """A cluster for as long as the block lasts. The folder's name is short: a socket's path may have 107 characters."""
    with tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        running = Cluster(Path(folder))
        try:
            running.up(list(nodes))
            yield running
        finally:
            running.close()
