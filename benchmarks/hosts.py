"""Two hundred machines by ssh, all played by one sshd on the loopback address: `diagnose node` against clush with the same script."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import GPUDOCTOR, Broken, Run, compare, in_turn, run, wall
from gpudoctor.probes import remote, ssh
from gpudoctor.probes.base import Command
from tests.nodes.cases_node import CARDS, machine
from tests.ssh.server import SSHD, Sshd

HOSTS = 200
FANOUT = 16  # two cores play both sides here: with more at a time each only waits longer for its login
TIMES = 3
NODES = f"gpu-[001-{HOSTS:03}]"


class Fleet(NamedTuple):
    """The running server, and the environment in which nothing but ssh leads to its machines."""

    server: Sshd
    env: dict[str, str]

    def logins(self) -> int:
        """How often somebody has logged in."""
        return (self.server.folder / "sshd.log").read_text().count("Accepted publickey")


def measure() -> None:
    """Print the ratio of time, and how often each logged in."""
    if not SSHD:
        raise Broken("sshd is not installed (openssh-server)")
    with fleet() as machines, tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as folder:
        diagnose = [GPUDOCTOR, "diagnose", "node", NODES, "--via", "ssh", "--fanout", str(FANOUT), "--timeout", "600"]
        script = Path(folder, "script")
        script.write_bytes(same_script(machines, [*diagnose, "--record", f"{folder}/bundle"], Path(folder, "bundle")))
        clush = ["clush", "-q", "-S", "-w", NODES, "-f", str(FANOUT), "-o", f"-F {machines.server.config}", "sh -s"]

        def ours() -> Run:
            return run(diagnose, says=f"HEALTHY  {HOSTS} nodes", env=machines.env)

        def theirs() -> Run:
            return run(clush, stdin=script, env=machines.env)

        before = machines.logins()
        our_runs, their_runs = in_turn(TIMES, ours, theirs)
        refused = 2 * TIMES * HOSTS - (machines.logins() - before)
        compare(f"diagnose node {NODES} / clush with the same script, fan-out {FANOUT}", wall(our_runs), wall(their_runs), 1.3)
        print(
            f"  a login for each host and run, {refused} more or less; peak memory {max(one.peak for one in our_runs):.0f} MiB", flush=True
        )


def same_script(machines: Fleet, recording: list[str], bundle: Path) -> bytes:
    """What gpudoctor sends to a machine, from a recording: its commands are those of the bundle."""
    run(recording, says=f"HEALTHY  {HOSTS} nodes", env=machines.env)
    answers = json.loads((bundle / "bundle.json").read_text())["outputs"]
    commands = [Command(tuple(answer["argv"]), host="gpu-001") for answer in answers if answer["host"] == "gpu-001"]
    return remote.script("0123456789abcdef" * 2, commands)


@contextmanager
def fleet() -> Iterator[Fleet]:
    """The machines, all well."""
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as name:
        server = Sshd(Path(name, "sshd"), [f"gpu-{number:03}" for number in range(1, HOSTS + 1)])
        server.machines({line.partition(": ")[2]: answer for line, answer in machine("any", CARDS).items()})
        server.start()
        try:
            yield Fleet(server, {**os.environ, ssh.CONFIG: str(server.config), "KUBECONFIG": f"{name}/none", "HOME": name})
        finally:
            server.stop()
