"""A container's log: the known messages, the Xids that the device plugin or a watcher of the kernel log reports, failed allocations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kernel import Xid
from gpudoctor.parsers.allocations import allocations
from gpudoctor.parsers.kernel import bursts, lines_with
from gpudoctor.parsers.kernel import xids as kernel_xids
from gpudoctor.parsers.messages import scan_lines
from gpudoctor.parsers.timestamps import line_time
from gpudoctor.probes.base import Output

# I0624 22:58:05.4 1 health.go:185] XidCriticalError: Xid=79 on Device=GPU-7f3c2a10-…; marking device as unhealthy.
# older: XidCriticalError: Xid=48 on GPU=GPU-…, the device will go unhealthy. | Xid=79 on All devices; marking all devices as unhealthy.
# (k8s-device-plugin internal/rm/health.go, nvidia.go before v0.8; GKE's health_checker.go)
PLUGIN_XID = re.compile(r"[Xx]idCriticalError: Xid=(\d{1,4})(?:,? on (?:(?:Device|GPU)=)?((?:GPU|MIG)-[0-9A-Za-z/-]{1,80})?)?")


def text(output: Output, about: Subject) -> Facts:
    """Known messages of one log; any text is a log. `xids` and `allocations` only where there are some, since none proves nothing."""
    whole = output.text
    found = [*kernel_xids(whole, output, about), *plugin_xids(whole, output, about)]
    failed = [*allocations(whole, output, about)]
    facts: Facts = {"messages": [*scan_lines(output, about, source="log")]}
    if found:
        facts["xids"] = [*found]
    if failed:
        facts["allocations"] = [*failed]
    return facts


def plugin_xids(whole: str, output: Output, about: Subject) -> Iterator[Xid]:
    """What the device plugin says about Xids: a code and the GPU's UUID, no PCI address and no process."""
    found = []
    for number, line in lines_with(whole, "idCriticalError: "):
        match = PLUGIN_XID.search(line)
        if not match:
            continue
        uuid = match.group(2) or ""
        time = line_time(line, output.time)
        found.append(
            Xid(
                node=about.node,
                gpu=uuid,
                uuid=uuid,
                code=int(match.group(1)),
                text=match.group(0),
                time=time,
                age=output.time - time if time is not None and output.time else None,
                origin=Origin(output.named(), number, line.strip()),
            )
        )
    yield from bursts(found)
