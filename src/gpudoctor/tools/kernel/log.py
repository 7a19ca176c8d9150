"""The kernel log, in whatever form somebody has it: NVRM's Xids, the NVSwitches' SXids, and the lines whose meaning is known.

A log of any length is read once, block by block, by the scanner of known messages: it finds the lines that matter, and only those are
taken apart. Equal ones are one record with a count, so that memory doesn't grow with the log.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.kernel import KernelLog, Sxid, Xid
from gpudoctor.facts.kubernetes import Message
from gpudoctor.facts.program import Trouble
from gpudoctor.knowledge.literals import literals
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci, trouble
from gpudoctor.tools.common.messages import MOST_DIFFERENT, Hit, find, with_marks
from gpudoctor.tools.common.scanner import Scanner
from gpudoctor.tools.common.xid_line import SENTENCES, plugin_xid_of, retold_xid_of, sxid_of, xid_of
from gpudoctor.tools.kernel.fold import Fold, Where
from gpudoctor.tools.kernel.line import Boots, Line, device_in, line_of
from gpudoctor.tools.torch.allocations import BEGINS

# What else makes a line worth looking at. The names can't be those of messages, which are words.
XID, PLUGIN, RETOLD, SXID, IDENTITY, DEVICE_OF_NEXT, GREETING = "=xid", "=plugin", "=retold", "=sxid", "=identity", "=device", "=greeting"
ALLOCATION = "=allocation"
MARKS = (
    (XID, r"\bXid [(\d]"),  # and `xid_of` says which of them are the driver's
    (PLUGIN, "idCriticalError: Xid="),
    (
        RETOLD,
        r"\b(?:[Xx]id|XID) ?[0123456789]\d{0,2}\b"  # what follows keeps `Xid (PCI:` out of the literals
        r"|\b(?:[Xx]id|XID)(?: error| event| code|\"|:|=|#| [:=#])\"? ?[:=#]? ?\d{1,3}\b"
        r"|Xid.{0,120}[Ee]rror ?Code|XIDError.{0,120}ErrorCode|" + "|".join(SENTENCES.values()),
    ),
    (SXID, r"SXid \(PCI:|detected NVSwitch (?:non-)?fatal error "),
    (IDENTITY, r"NVRM: GPU at (?:PCI:)?[0-9A-Fa-f:.]{7,16}: GPU-"),
    (DEVICE_OF_NEXT, "NVRM: The NVIDIA (?:probe|GPU) "),
    (ALLOCATION, BEGINS),
    # [    0.000000] Linux version 5.15.0-91-generic …  |  -- Boot 3f2a… --  |  -- Reboot --
    (GREETING, r"(?:\] |kernel: |[Z0-9] |\")Linux version \d|^-- (?:Boot [0-9a-f]{32}|Reboot) --"),
)
# NVRM: GPU at PCI:0000:18:00: GPU-7f3c2a10-…
UUID = regex(r"NVRM: GPU at (?:PCI:)?([0-9A-Fa-f:.]{7,16}): (GPU-[0-9a-f-]{36})")
# NVRM: GPU 0000:3b:00.0: …  |  nvidia 0000:3b:00.0: …  |  NVRM: BAR1 is 0M @ 0x0 (PCI:0000:56:00.0)
DRIVER = regex(r"\bNVRM: |\bnvidia[ :]")
# NVRM: The NVIDIA GPU 0000:18:00.0 | NVRM: (PCI ID: …) installed in this system has | NVRM: fallen off the bus …: one line of the
# driver, printed as three or four
PARAGRAPH = 4
END = 16_384  # bytes at a log's end in which its last time is looked for
Aged = TypeVar("Aged", Xid, Sxid)


@functools.cache
def scanner() -> Scanner:
    """The known messages and the marks of this parser, compiled together, so that a log is passed over once."""
    return with_marks((*MARKS, *trouble.MARKS), {RETOLD: literals(dict(MARKS)[RETOLD])})


def log(pages: Iterable[Output], about: Subject) -> Facts:
    """Xids and SXids, one record a burst, and known messages of one kernel log. Nothing of a text that has no line as of a log."""
    made = Log(about)
    xids, sxids, messages = made.read(pages)
    if not (xids or sxids or messages or made.begins):
        return {}
    whole = KernelLog(node=about.node or made.node, origin=Origin(made.source))
    found: Facts = {"xids": [*xids], "sxids": [*sxids], "messages": [*messages], "kernel_logs": [whole]}
    return {**found, "troubles": [*made.troubles]} if made.troubles else found


class Said:
    """Equal messages: where the first one and the last one stand, and how many."""

    __slots__ = ("count", "until", "where")

    def __init__(self, where: Where) -> None:
        self.where, self.until, self.count = where, where, 1

    def add(self, where: Where) -> None:
        """One more."""
        self.count += 1
        self.until = where


class Log:
    """One log while it is read."""

    def __init__(self, about: Subject) -> None:
        self.about = about
        self.fold, self.boots = Fold(), Boots()
        self.source = ""
        self.node = ""  # that the last line names
        self.troubles: list[Trouble] = []
        self.begins = False  # whether a line of its end has a date, a time since boot or a host
        self.uuids: dict[tuple[str, str], str] = {}
        self.messages: dict[tuple[str, ...], Said] = {}  # name, detail, host, device, whether the driver names it
        self.allocations: list[Hit] = []  # lines of a program that got no memory, not more than `MOST_DIFFERENT`
        self.paragraph = ("", "", 0)  # host and device that the driver names for the lines that follow it, and the number of that line

    def read(self, pages: Iterable[Output]) -> tuple[list[Xid], list[Sxid], list[Message]]:
        """The facts of all pages."""
        first: Output | None = None
        end = b""

        def chunks() -> Iterator[bytes]:
            nonlocal first, end
            for page in pages:
                if first is None:
                    first, self.source = page, page.origin_name()
                for piece in page.pages:
                    end = (end + piece)[-END:] if len(piece) < END else piece[-END:]
                    yield piece

        said = trouble.Troubles(self.about)
        for hit in trouble.of_hits(find(chunks(), scanner(), said), said):
            if first is not None:
                self.line(hit, first)
        self.troubles = said.records(self.source, end.decode("utf-8", "replace"), first.time if first is not None else 0.0)
        xids, sxids = self.fold.records(self.uuids)
        # Without an address it is the same error retold, or the rest of a line that was wrapped.
        addressed = {xid.code for xid in xids if xid.gpu}
        xids = [xid for xid in xids if xid.gpu or xid.code not in addressed]
        lines = end.decode("utf-8", "replace").split("\n")[::-1]  # as many are taken apart as it needs
        begun = next(
            (one for one in (line_of(one, 0.0) for one in lines) if one.uptime is not None or one.node or one.time is not None), None
        )
        self.begins, self.node = begun is not None, begun.node if begun else ""
        last = next((line for line in (line_of(one, 0.0) for one in lines) if line.uptime is not None), None) if xids or sxids else None
        return (
            [self.with_age(xid, last) for xid in xids],
            [self.with_age(sxid, last) for sxid in sxids],
            [self.message(key, said) for key, said in self.messages.items()],
        )

    def with_age(self, error: Aged, last: Line | None) -> Aged:
        """An error without a date is as old as the log goes on after it, in seconds since the same boot."""
        if error.age is not None or last is None or last.uptime is None or error.until is None or last.node not in ("", error.node):
            return error
        if error.boot != self.boots.counts.get(error.node, 0) or last.uptime <= error.until:
            return error
        return msgspec.structs.replace(error, age=last.uptime - error.until)

    def line(self, hit: Hit, output: Output) -> None:
        """One line that matters, for one reason; a line with two comes twice."""
        line = line_of(hit.text, output.time)
        node = self.about.node or line.node
        if hit.name[0] != "=":
            self.read_known_line(hit, Where(line, node, self.boots.of(line, node), self.source, hit.line, hit.text, output.time))
            return
        if hit.name == GREETING:
            self.boots.greet(node)
            return
        if hit.name == ALLOCATION:
            self.allocations += [hit] if len(self.allocations) < MOST_DIFFERENT else []
            return
        where = Where(line, node, self.boots.of(line, node), self.source, hit.line, hit.text, output.time)
        if hit.name == XID:
            if error := xid_of(line.text):
                self.fold.xid(where, error)
        elif hit.name == PLUGIN:
            if error := plugin_xid_of(line.text):
                self.fold.xid(where, error)
        elif hit.name == RETOLD:
            if error := retold_xid_of(hit.text):
                self.fold.xid(where, error)
        elif hit.name == SXID:
            if switch_error := sxid_of(line.text):
                self.fold.sxid(where, switch_error)
        elif hit.name == IDENTITY:
            if match := UUID.search(line.text):
                self.uuids.setdefault((node, pci.canonical(match.group(1))), match.group(2))
        elif hit.name == DEVICE_OF_NEXT:
            self.paragraph = (node, device_in(line.text), hit.line)

    def read_known_line(self, hit: Hit, where: Where) -> None:
        """A line whose meaning is known."""
        device = pci.canonical(hit.detail) or device_in(where.line.text)
        host, named, number = self.paragraph
        follows = 0 <= hit.line - number <= PARAGRAPH and named
        if not device and follows:
            device = named
            if not where.node and host:
                where.node = host
        key = (hit.name, hit.detail, where.node, device, "driver" if device and DRIVER.search(where.line.text) else "")
        kept = self.messages.get(key)
        if kept is not None:
            kept.add(where)
        elif len(self.messages) < MOST_DIFFERENT:
            self.messages[key] = Said(where)

    def message(self, key: tuple[str, ...], said: Said) -> Message:
        """The fact of equal messages: the origin and time are the first one's, the age the last one's."""
        name, detail, node, device, driver = key
        where, until = said.where, said.until
        return Message(
            name=name,
            detail=detail,
            count=said.count,
            source="log",
            namespace=self.about.namespace,
            pod=self.about.pod,
            container=self.about.container,
            node=node,
            workload=self.about.workload,
            component=self.about.component,
            age=until.age,
            gpu=self.uuids.get((node, device), device) if driver else "",
            pci=device,
            moment=where.moment,
            last_moment=until.moment,
            time=where.line.time,
            last=until.line.time,
            uptime=where.line.uptime,
            until=until.line.uptime,
            origin=where.origin,
        )
