"""Logs of Slurm's daemons: the known messages, and the nodes that the controller took out of service and that nobody has put back since.

[2026-03-01T11:03:26.351] error: Setting node gpu-01 state to INVAL with reason:gres/gpu count reported lower than configured (7 < 8)
[2026-03-01T11:02:14.001] update_node: node gpu-01 reason set to: Kill task failed
[2026-03-01T11:03:26.350] error: Node gpu-04 has low socket*core*thread count (32 < 64)
[2026-03-01T11:03:26.352] validate_node_specs: Node gpu-03 unexpectedly rebooted boot_time=1772363001 last response=1772362800
[2026-03-01T11:03:03.068] error: Nodes gpu-[02,05] not responding, setting DOWN
[2026-03-01T11:40:10.112] update_node: node gpu-01 state set to IDLE
Source: src/slurmctld/{node_mgr,ping_nodes,agent}.c, https://github.com/SchedMD/slurm.
"""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.slurm import SlurmNode
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.logs import program
from gpudoctor.tools.slurm.nodes import node_of
from gpudoctor.tools.slurm.text import expand

MOST = 10_000
TAKEN = regex(
    r"(?:Setting node (\S{1,200}) state to \w{1,20} with reason: ?(.{1,500})"
    r"|update_node: node (\S{1,200}) reason set to: (.{1,500})"
    r"|Node (\S{1,200}) has (low (?:cpu count|socket|real_memory|tmp_disk).{1,100})"
    r"|Node (\S{1,200}) (unexpectedly rebooted) boot_time=.{1,100}"
    r"|Nodes? (\S{1,2000}) (not responding), setting DOWN)$"
)
# What only a part of the line says → the reason that the node then has
SHORT = {"not responding": "Not responding", "unexpectedly rebooted": "Node unexpectedly rebooted"}
BACK = regex(r"[Nn]ode (\S{1,200}) (?:now responding|returned to service|state set to (?:IDLE|MIXED|ALLOCATED|RESUME|UNDRAIN)\b)")


def log(output: Output, about: Subject) -> Facts:
    """Known messages as of any log, and the nodes."""
    found: dict[str, SlurmNode] = {}
    for number, line in lines(output):
        if match := TAKEN.search(line):
            names, said = [group for group in match.groups() if group]
            reason = SHORT.get(said, said)
            origin = Origin(output.origin_name(), number, line.strip())
            for name in expand(names):
                if len(found) < MOST:
                    found[name] = node_of(node=name, shown="", reason=reason, origin=origin)
        elif match := BACK.search(line):
            for name in expand(match.group(1)):
                found.pop(name, None)
    gone = [msgspec.structs.replace(node, logged=True) for node in found.values()]
    return {**program.text(output, about), **({"slurm_nodes": [*gone]} if gone else {})}
