"""A container's log: the known messages, the Xids that the device plugin or a watcher of the kernel log reports, failed allocations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Allocation
from gpudoctor.facts.kernel import Sxid, Xid
from gpudoctor.facts.kubernetes import Message
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common.messages import Hit
from gpudoctor.tools.common.messages import errors as complaints
from gpudoctor.tools.kernel.log import Log
from gpudoctor.tools.logs import endings
from gpudoctor.tools.torch.allocations import allocations


def text(output: Output, about: Subject) -> Facts:
    """Known messages of one log; any text is a log. The other types only where there are some, since none proves nothing.

    How its program gave up counts where nothing known is said that could be the reason.
    """
    log = Log(about)
    found = facts(log.read([output]), allocations(output.text, output, about))
    explained = found.keys() != {"messages"} or any(getattr(one, "name", "") in complaints() for one in found["messages"])
    if not explained and (last := endings.last_ending(output, about)):
        found["endings"] = [*last]
    return with_troubles(found, log)


def errors(output: Output, about: Subject) -> Facts:
    """The numbered errors alone, of a text whose known messages its own parser has read: events, conditions, a queue's reasons."""
    xids, sxids, _ = Log(about).read([output])
    return {"xids": [*xids], "sxids": [*sxids]} if xids or sxids else {}


def stream(pages: Iterable[Output], about: Subject) -> Facts:
    """The same of a log of any length, page by page. A failed allocation is then read from its line alone."""
    log = Log(about)
    return with_troubles(facts(log.read(pages), unique_allocations(log.allocations, log.source, about)), log)


def with_troubles(found: Facts, log: Log) -> Facts:
    """The facts, and where a log that was read says trouble, that."""
    return {**found, "troubles": [*log.troubles]} if log.troubles else found


def facts(read: tuple[list[Xid], list[Sxid], list[Message]], failed: Iterable[Allocation]) -> Facts:
    """The types that an answer has."""
    xids, sxids, messages = read
    found: Facts = {"xids": [*xids], "sxids": [*sxids], "allocations": [*failed]}
    return {"messages": [*messages], **{kind: records for kind, records in found.items() if records}}


def unique_allocations(hits: Iterable[Hit], source: str, about: Subject) -> Iterator[Allocation]:
    """The reports of failed allocations, equal ones once."""
    seen: set[tuple[int, ...]] = set()
    for hit in hits:
        output = Output(Command(()), pages=(hit.text.encode(),), source=source)
        for one in allocations(hit.text, output, about):
            key = (one.tried, one.total, one.free, one.allocated, one.cached)
            if key not in seen:
                seen.add(key)
                yield msgspec.structs.replace(one, origin=Origin(source, hit.line, one.origin.text))
