"""Equal errors of a log as one record each: a storm of 800,000 lines is one fact with a count, whatever the log's length."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Origin
from gpudoctor.facts.kernel import Sxid, Xid
from gpudoctor.knowledge.xid_decode import Decoded, decode
from gpudoctor.knowledge.xids import book
from gpudoctor.tools.common.xid_line import Error, SwitchError, earlier_xid_of, without_process
from gpudoctor.tools.kernel.line import Line

BURST = 60.0  # s: equal errors of one process on one GPU within a minute are one burst (one per channel or SM)
BURSTS = 64  # of one error; what is equal after that is added to the last of them
TWICE = 0.01  # s: driver and GPU firmware log one event within some ms, one of them without the process
AT_ONCE = 1.0  # s: a channel is reset at once after the exception that it met
MOST = 500  # records of one log; beyond that processes are no longer told apart
HARD = 2 * MOST  # beyond that nothing new is kept: it is noise made to fill the memory
BOOT = 1e10  # s: longer than any machine runs


class Where:
    """The place of a line: its source, number and text, what its beginning says, its host and the number of its boot."""

    __slots__ = ("boot", "line", "node", "now", "number", "source", "text")

    def __init__(self, line: Line, node: str, boot: int, source: str, number: int, text: str, now: float) -> None:
        self.line, self.node, self.boot, self.now = line, node, boot, now
        self.source, self.number, self.text = source, number, text

    @property
    def origin(self) -> Origin:
        """The line as evidence."""
        return Origin(self.source, self.number, self.text.strip())

    @property
    def age(self) -> float | None:
        """Seconds between the line and the reading of the log."""
        return max(0.0, self.now - self.line.time) if self.line.time is not None and self.now else None

    @property
    def moment(self) -> float:
        """What orders the lines of one log: the clock, else boot and uptime, else the line's number."""
        if self.line.time is not None:
            return self.line.time
        return self.boot * BOOT + self.line.uptime if self.line.uptime is not None else float(self.number)

    @property
    def clock(self) -> float | None:
        """Seconds by whatever clock the line has."""
        return self.line.time if self.line.time is not None else self.line.uptime


class Burst:
    """One record on its way: the first line's place and error, how many lines, and the place of the last one."""

    __slots__ = ("count", "error", "others", "until", "where")

    def __init__(self, where: Where, error: Any) -> None:
        self.where, self.error, self.count, self.until = where, error, 1, where
        self.others: set[Any] = set()

    def add(self, where: Where) -> None:
        """Count one more line."""
        self.count += 1
        self.until = where

    def holds(self, where: Where) -> bool:
        """Whether a line is of the same burst: the same boot and not long after the last one, as far as their clocks say."""
        if self.until.boot != where.boot:
            return False
        before, now = self.until.clock, where.clock
        return before is None or now is None or abs(now - before) <= BURST


class Fold:
    """The errors of one log."""

    def __init__(self) -> None:
        self.xids: list[Burst] = []
        self.sxids: list[Burst] = []
        self.open: dict[tuple[object, ...], list[Burst]] = {}  # key → its bursts, the last one open
        self.latest: dict[tuple[str, str], Burst] = {}  # (host, address) → the burst of its last line
        self.named: dict[tuple[str, str, int], Burst] = {}  # (host, address, code) → the first line that names it as what came before

    def xid(self, where: Where, error: Error) -> None:
        """One Xid line."""
        device = (where.node, error.pci or error.uuid)
        if (earlier := earlier_xid_of(error)) and len(self.named) < MOST:
            self.named.setdefault((*device, earlier.code), Burst(where, earlier))
        before = self.latest.get(device)
        if before is not None and before.count == 1 and said_twice(before, where, error):
            if error.pid is not None:  # the second one says who it was
                self.open[where.node, before.error.key].remove(before)
                self.open.setdefault((where.node, error.key), []).append(before)
                before.error = error
            return
        burst = self.burst(self.xids, (where.node, error.key), where, error)
        if burst is None:
            nameless = error._replace(pid=None, process="")
            burst = self.burst(self.xids, (where.node, nameless.key), where, nameless, HARD)
        if burst is not None:
            if error.tpc:
                burst.others.add(error.tpc)
            self.latest[device] = burst

    def sxid(self, where: Where, error: SwitchError) -> None:
        """One line about an NVSwitch: of the up to three of an event, the first counts."""
        key = ("switch", where.node, error.pci, error.code)
        known = self.open.get(key)
        if known and known[-1].holds(where) and not error.first:
            burst: Burst | None = known[-1]
        else:
            burst = self.burst(self.sxids, key, where, error)
        if burst is None:
            return
        if error.link is not None:
            burst.others.add(error.link)
        burst.error = complete_event(burst.error, error)

    def burst(self, made: list[Burst], key: tuple[object, ...], where: Where, error: Any, most: int = MOST) -> Burst | None:
        """The burst that a line belongs to, counted; a new one where there is room, else None."""
        known = self.open.get(key)
        full = len(made) >= most
        if known and (known[-1].holds(where) or full or len(known) >= BURSTS):
            known[-1].add(where)
            return known[-1]
        if full:
            return None
        burst = Burst(where, error)
        made.append(burst)
        self.open.setdefault(key, []).append(burst)
        return burst

    def records(self, uuids: dict[tuple[str, str], str]) -> tuple[list[Xid], list[Sxid]]:
        """The facts, in the order of their first lines; `uuids` says which GPU is at an address of a host."""
        logged = {(one.where.node, one.error.pci, one.error.code) for one in self.xids}
        xids = [*self.xids, *(one for key, one in self.named.items() if key not in logged)]
        return with_processes([xid_record(one, uuids) for one in xids]), [sxid_record(one) for one in self.sxids]


def complete_event(told: SwitchError, more: SwitchError) -> SwitchError:
    """What the first line of an event says, with the severity and the link of the lines after it; the worst word counts."""
    severity = "fatal" if "fatal" in (told.severity, more.severity) else told.severity or more.severity
    return told._replace(severity=severity, link=told.link if told.link is not None else more.link)


def said_twice(before: Burst, where: Where, error: Error) -> bool:
    """Whether a line repeats the one before it on the same GPU with, or without, the name of the process."""
    known = before.error
    if known.code != error.code or (known.pid is None) == (error.pid is None) or without_process(known.text) != without_process(error.text):
        return False
    first, second = before.until.clock, where.clock
    return first is not None and second is not None and abs(second - first) <= TWICE


def burst_fields(burst: Burst) -> dict[str, Any]:
    """Where and when a burst was, and how many lines it had: fields of both records."""
    first, last = burst.where, burst.until
    return {
        "node": first.node,
        "count": burst.count,
        "age": last.age,
        "time": first.line.time,
        "last": last.line.time,
        "uptime": first.line.uptime,
        "until": last.line.uptime,
        "boot": first.boot,
        "moment": first.moment,
        "origin": first.origin,
    }


def xid_record(burst: Burst, uuids: dict[tuple[str, str], str]) -> Xid:
    """The fact of one burst."""
    where, error = burst.where, burst.error
    known = book().xid(error.code)
    said: Decoded = error.decoded or decode(error.code, error.text)
    uuid = error.uuid or (uuids.get((where.node, error.pci), "") if error.pci else "")
    return Xid(
        gpu=uuid or error.pci,
        uuid=uuid,
        pci=error.pci,
        named=f"GPU {uuid or error.pci}" if uuid or error.pci else "a GPU",
        code=error.code,
        pid=error.pid,
        process=error.process,
        mig=error.mig,
        text=error.text,
        title=known.title if known else "",
        severity=known.severity if known else "",
        scope=known.scope if known else "",
        whose=known.whose if known else "",
        unit=said.unit,
        fatal=said.fatal,
        link=said.link,
        place=said.place,
        function=said.function,
        action=said.action,
        tpc=error.tpc or min(burst.others, default=""),
        tpcs=len(burst.others),
        **burst_fields(burst),
    )


def sxid_record(burst: Burst) -> Sxid:
    """The fact of one burst of a switch."""
    error = burst.error
    known = book().sxid(error.code)
    severity = error.severity or ("" if known is None or known.fatal is None else "fatal" if known.fatal else "nonfatal")
    return Sxid(
        switch=error.switch,
        pci=error.pci,
        code=error.code,
        severity=severity,
        link=error.link,
        text=error.text,
        links=max(1, len(burst.others)),
        **burst_fields(burst),
    )


def with_processes(found: list[Xid]) -> list[Xid]:
    """An exception of the graphics engine names no process; the reset of its channel (43, 45) at once after it, on the same GPU, does.

    Kernel source: rc notifiers follow the exception in one call (kernel_rc.c), so what comes within a second is of the same channel.
    """
    made = list(found)
    nameless: dict[tuple[str, str, int], list[int]] = {}
    for index, xid in enumerate(made):
        device = (xid.node, xid.pci, xid.boot)
        if xid.pid is None and xid.code in (13, 31):
            nameless.setdefault(device, []).append(index)
        elif xid.pid is not None and xid.code in (43, 45) and device in nameless:
            for one in nameless.pop(device):
                if is_reset_at_once(made[one], xid):
                    made[one] = replace(made[one], pid=xid.pid, process=xid.process)
    return made


def is_reset_at_once(first: Xid, reset: Xid) -> bool:
    """Whether a channel was reset at once after an exception; a log without any clock has only the order."""
    ended = first.last if first.last is not None else first.time
    if ended is not None and reset.time is not None:
        return 0 <= reset.time - ended <= AT_ONCE
    if first.until is not None and reset.uptime is not None:
        return 0 <= reset.uptime - first.until <= AT_ONCE
    return True
