"""A container's log: the known messages, the Xids that the device plugin or a watcher of the kernel log reports, failed allocations."""

from __future__ import annotations

from gpudoctor.facts import Facts, Subject
from gpudoctor.parsers.allocations import allocations
from gpudoctor.parsers.kernel import Log
from gpudoctor.probes.base import Output


def text(output: Output, about: Subject) -> Facts:
    """Known messages of one log; any text is a log. The other types only where there are some, since none proves nothing."""
    xids, sxids, messages = Log(about).read([output])
    found: Facts = {"xids": [*xids], "sxids": [*sxids], "allocations": [*allocations(output.text, output, about)]}
    return {"messages": [*messages], **{kind: records for kind, records in found.items() if records}}
