"""The beginning of a line of a kernel log: when, since boot or by the clock, and which host. What follows is the message.

The forms are those of dmesg (raw, -T, -x, --time-format=iso), the journal (short, short-iso, short-precise, short-monotonic, json), the
syslog daemons (RFC 3164, RFC 5424, rsyslog's ISO), and whatever stands before such a line where somebody has pasted it.
"""

from __future__ import annotations

import json
from typing import Any

from gpudoctor.patterns import regex
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.timestamps import WITHIN, line_time

DATE = 16  # characters of `Jan 21 02:21:33 `
HEAD = 256  # characters before the message: a date, a host of at most 253, a facility

# [12345.678901] …  |  [12345.678901][ T1234] …: seconds since boot, then the thread or processor (CONFIG_PRINTK_CALLER)
UPTIME = regex(r"\[ *(\d{1,9}\.\d{1,9})\](?:\[ *[TC]\d{1,9}\])?")
# Jan 21 02:21:33 gpu-02 kernel: …  |  2026-01-21T02:21:33+0100 gpu-02 kernel: …  |  <4>1 2026-…Z gpu-02 kernel - - - …
# Mar  1 12:00:00 gpu-07 containerd[812]: time="2026-…" …: daemons whose names are words, so that a date must stand before the host
NAMED = "kernel|nv-fabricmanager|nvidia-persistenced"
DAEMONS = (
    r"nvidia-[\w.-]{1,60}|kubelet|containerd|dockerd|crio|cri-dockerd|k3s|rke2|k0s|systemd|slurmd|slurmctld|slurmstepd|munged"
    "|dcgm-exporter|nv-hostengine|opensm|mcelog|rasdaemon"
)
DATED = r"(?<=:\d\d )|(?<=[+-]\d{4} )|(?<=[+-]\d\d:\d\d )|(?<=\dZ )|(?<=\.\d{6} )"
# It begins with the space before the host: lookbehinds are tried there alone, not at every character.
HOST = regex(
    rf"\s(?:(?=\S{{1,253}} (?:{NAMED})\b)|{DATED})([A-Za-z0-9][A-Za-z0-9.-]{{0,252}}) "
    rf"(?:{NAMED}|{DAEMONS})(?:\[\d{{1,9}}\])?(?::| -)"
)
# {"__REALTIME_TIMESTAMP":"1772366400000000","_HOSTNAME":"gpu-02","MESSAGE":"NVRM: Xid …"}: one field of a line that may be cut off
FIELD = r'"%s" ?: ?"((?:[^"\\]|\\.){0,4096})"'
JSON_FIELDS = {
    name: regex(FIELD % name) for name in ("MESSAGE", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "_HOSTNAME", "_BOOT_ID")
}
JSON_UPTIME = regex(FIELD % "_SOURCE_MONOTONIC_TIMESTAMP")
# 0000:3b:00.0  |  PCI:0000:3b:00  |  00000000:3B:00.0: from the colon behind the domain on, since a letter is found faster than any digit
HEX = "[0-9A-Fa-f]"
FIRST = "(?<![0-9A-Fa-f:.])"
DEVICE = regex(rf":(?:(?<={FIRST}{HEX}{{4}}:)|(?<={FIRST}{HEX}{{8}}:)(?P<long>)){HEX}{{2}}:{HEX}{{2}}(?=(?:\.[0-7])?(?!{HEX}|:))")


class Line:
    """One line: its message, and what its beginning says. `uptime` is seconds since boot, `boot` the journal's id of it."""

    __slots__ = ("boot", "clock", "node", "now", "text", "uptime")

    def __init__(
        self,
        text: str,
        node: str = "",
        clock: float | tuple[str, ...] | None = None,
        uptime: float | None = None,
        boot: str = "",
        now: float = 0.0,
    ) -> None:
        self.text, self.node, self.clock, self.uptime, self.boot, self.now = text, node, clock, uptime, boot, now

    @property
    def time(self) -> float | None:
        """Seconds since the epoch. A date is read when it is asked for: of many equal lines only the first's and the last's is."""
        if isinstance(self.clock, tuple):
            self.clock = next((at for text in self.clock if (at := line_time(text, self.now)) is not None), None)
        return self.clock


def line_of(text: str, now: float) -> Line:
    """A line taken apart; `now` is when the log was read, for dates without a year.

    >>> line = line_of("2026-03-01T12:00:00+00:00 gpu-02 kernel: NVRM: Xid 79", 0.0)
    >>> line.text, line.node, line.time, line.uptime
    ('NVRM: Xid 79', 'gpu-02', 1772366400.0, None)
    """
    if text.startswith("[") and (match := UPTIME.match(text)) and not HOST.match(text, match.end()):
        return Line(text[match.end() + 1 :], uptime=float(match.group(1)))  # dmesg as it is by default: no date, no host
    if '"MESSAGE"' in text and text.lstrip().startswith("{"):
        return of_journal(text)
    head = " " + text[:HEAD]
    host = HOST.search(head)
    uptime = UPTIME.search(head)
    end = max(host.end() if host else 1, uptime.end() if uptime else 1) - 1
    clock: tuple[str, ...] = (text[:WITHIN],)
    if host and host.start() >= DATE:  # something stands before the date: <4>Jan 21 …  |  Error: May 29 …
        clock += (text[host.start() - DATE :][:WITHIN],)
    return Line(
        text=text[end:].strip(),
        node=host.group(1) if host else "",
        clock=clock,
        uptime=float(uptime.group(1)) if uptime else None,
        now=now,
    )


def of_journal(text: str) -> Line:
    """One object of `journalctl -o json`; where it is cut off or broken, the fields that are there."""
    fields: dict[str, Any]
    try:
        read = json.loads(text)
        fields = read if isinstance(read, dict) else {}
    except (ValueError, RecursionError):
        fields = {name: match.group(1) for name, pattern in JSON_FIELDS.items() if (match := pattern.search(text))}
        if match := JSON_UPTIME.search(text):
            fields["_SOURCE_MONOTONIC_TIMESTAMP"] = match.group(1)
    clock = microseconds(fields.get("_SOURCE_REALTIME_TIMESTAMP")) or microseconds(fields.get("__REALTIME_TIMESTAMP"))
    return Line(
        text=str(fields.get("MESSAGE", "")),
        node=str(fields.get("_HOSTNAME", "")),
        clock=clock,
        uptime=microseconds(fields.get("_SOURCE_MONOTONIC_TIMESTAMP")),
        boot=str(fields.get("_BOOT_ID", "")),
    )


def microseconds(value: object) -> float | None:
    """The journal's decimal microseconds as seconds."""
    text = str(value)
    return int(text) / 1e6 if text.isascii() and text.isdigit() and len(text) < 18 else None


class Boots:
    """Which boot of each host a line belongs to: the journal's id changes, the kernel greets, or the time since boot goes back."""

    BACK = 1.0  # s: lines of several processors may be out of order by less

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.latest: dict[str, Line] = {}

    def of(self, line: Line, node: str) -> int:
        """The number of the line's boot, from 0 for the first that the log shows of this host."""
        before = self.latest.get(node)
        if before is None:
            self.latest[node] = line
        elif line.boot or line.uptime is not None:  # a line without either, in between, forgets nothing
            if new_boot(before, line):
                self.counts[node] = self.counts.get(node, 0) + 1
            self.latest[node] = line
        return self.counts.get(node, 0)

    def greet(self, node: str = "") -> None:
        """A host (or the journal, for every host) says that a new boot begins. What was seen of it before is of the one before."""
        for name in [node] if node else list(self.latest):
            if self.latest.pop(name, None) is not None:
                self.counts[name] = self.counts.get(name, 0) + 1


def new_boot(before: Line, line: Line) -> bool:
    """Whether a line is of a later boot than the one before it."""
    if before.boot and line.boot:
        return before.boot != line.boot
    return before.uptime is not None and line.uptime is not None and line.uptime < before.uptime - Boots.BACK


def device_in(text: str) -> str:
    """The first PCI device that a line names, "" for none.

    >>> device_in("NVRM: GPU 0000:3B:00.0: GPU has fallen off the bus."), device_in("12:00:01 NVRM: no device")
    ('0000:3b:00', '')
    """
    match = DEVICE.search(text)
    return pci.canonical(text[match.start() - (8 if match["long"] is not None else 4) : match.end()]) if match else ""
