"""The probe to a running cluster: Slurm's own commands run there for real; of the rest only what a node says of its daemons is told."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.probes.base import Command, Output, one_by_one
from tests.slurm.cluster import Cluster

NOW = 1772366400.0  # 2026-03-01T12:00:00Z
CLIENTS = ("scontrol", "sinfo", "squeue", "sacct")


class Tools:
    """Asks the commands on a host that has the cluster's key of munge, or another."""

    def __init__(self, cluster: Cluster, munge: str = "own") -> None:
        self.cluster, self.munge = cluster, munge

    def __call__(self, command: Command) -> Output:
        if command.argv[0] in CLIENTS:
            done = self.cluster.ask(*command.argv, munge=self.munge)
            return Output(command, done.returncode, (done.stdout.encode(),) if done.stdout else (), done.stderr.encode(), 0.1, NOW)
        if command.host and command.argv[:2] == ("systemctl", "show"):
            alive = command.host in self.cluster.daemons
            return Output(command, pages=(unit("slurmd", alive) + b"\n" + unit("munge", True),), time=NOW)
        if command.host and command.argv[0] == "tail":
            return Output(command, pages=((self.cluster.folder / f"slurmd-{command.host}.log").read_bytes(),), time=NOW)
        return Output(command, exit=127, time=NOW, failure="not-found", reason=f"{command.argv[0]}: command not found")

    def stream(self, command: Command) -> Iterator[Output]:
        yield self(command)

    many = one_by_one


def unit(name: str, alive: bool) -> bytes:
    """What systemctl would show of a daemon."""
    active, sub, result = ("active", "running", "success") if alive else ("failed", "failed", "signal")
    lines = (f"Id={name}.service", "LoadState=loaded", f"ActiveState={active}", f"SubState={sub}", f"Result={result}")
    return "".join(f"{line}\n" for line in (*lines, "UnitFileState=enabled")).encode()
