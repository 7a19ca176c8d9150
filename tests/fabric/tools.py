"""The probe to a simulated fabric: a command of a runbook runs there for real, and what a simulation has no word for isn't there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

from gpudoctor.probes.base import Command, Output, one_by_one
from tests.fabric.simulated import Fabric

NOW = 1772366400.0  # 2026-03-01T12:00:00Z
TOOLS = ("ibstat", "perfquery", "ibqueryerrors", "iblinkinfo")
# What the machines of the simulation say of themselves: nothing.
SAID = {
    "dmesg": b"2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n",
    "cat": b"mlx5_core 2170880 1 mlx5_ib, Live 0x0000000000000000\n",
}


class Tools:
    """Asks the tools of a host. Between two samples `meanwhile` happens, and ten seconds pass, on paper only."""

    def __init__(self, fabric: Fabric, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.fabric, self.meanwhile = fabric, meanwhile
        self.later = False

    def __call__(self, command: Command) -> Output:
        if command.argv[0] in SAID:
            return Output(command, pages=(SAID[command.argv[0]],), time=NOW)
        if command.argv[0] not in TOOLS:
            return Output(command, exit=127, time=NOW, failure="not-found", reason=f"{command.argv[0]}: command not found")
        if command.argv[0] == "perfquery" and command.sample and not self.later:
            self.later = True
            self.meanwhile()
        try:
            done = self.fabric.ask(command.host, *command.argv)
        except subprocess.TimeoutExpired:
            return Output(command, time=NOW, failure="timeout", reason=f"{command.argv[0]} did not answer")
        pages = (done.stdout.encode(),) if done.stdout else ()
        return Output(command, done.returncode, pages, done.stderr.encode(), 0.1, NOW + 10 * command.sample)

    def stream(self, command: Command) -> Iterator[Output]:
        yield self(command)

    many = one_by_one
