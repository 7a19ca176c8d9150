"""One recorded incident: the cluster it happened on, and the command that looked at it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """`command` are the words after `gpudoctor`; `cluster` what `objects.cluster` returns."""

    command: list[str]
    cluster: dict[str, Any]

    @property
    def words(self) -> list[str]:
        """The command as it is run: nothing may ask a real machine that happens to have a node's name."""
        return [*self.command, "--via", "pod"] if self.command[0] == "run" else self.command

    @property
    def runbook(self) -> str:
        """The runbook that the command runs: the folder of its bundle."""
        return "diagnose-pod" if self.command[:2] == ["diagnose", "pod"] else self.command[1]
