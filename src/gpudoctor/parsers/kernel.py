"""The kernel log (`dmesg` raw, -T, --time-format=iso, the journal): NVRM's Xid lines and the messages that are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kernel import Xid
from gpudoctor.parsers import LINE, pci
from gpudoctor.parsers.messages import scan_lines
from gpudoctor.parsers.timestamps import line_time
from gpudoctor.probes.base import Output

BURST = 60.0  # s: equal Xids of one process on one GPU within a minute are one burst (one per channel or SM)

# NVRM: Xid (PCI:0000:c1:00 GPU-I:02): 31, pid=7, name=python3, Ch 00000010 …  |  NVRM: Xid (0000:03:00): 14, …  |  NVRM: Xid 79, …
XID = re.compile(
    r"NVRM: Xid (?:\((?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)"
    r"(?: GPU-[IC][^)]{0,40})?\): ?)?(\d{1,4})\b,? ?(.*)"
)
# pid=2924364, name=pt_main_thread, …  |  pid='<unknown>', name=<unknown>, …
PROCESS = re.compile(r"pid='?(\d+|[^,']*)'?(?:, name=([^,]{0,64}))?")
# NVRM: GPU at PCI:0000:18:00: GPU-7f3c2a10-…
IDENTITY = re.compile(r"NVRM: GPU at PCI:([0-9A-Fa-f:.]{7,16}): (GPU-[0-9a-f-]{36})")
# Jan 21 02:21:33 gpu-02 kernel: …  |  2026-01-21T02:21:33+0100 gpu-02 kernel: …
HOST = re.compile(r"^\S+ (?:\s*\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)? )?([A-Za-z0-9][A-Za-z0-9.-]{0,252}) kernel:")


def log(output: Output, about: Subject) -> Facts:
    """Xids, one record a burst, and known messages of one kernel log."""
    return {"xids": [*xids(output.text, output, about)], "messages": [*scan_lines(output, about, source="log")]}


def lines_with(text: str, needle: str) -> Iterator[tuple[int, str]]:
    """The lines that contain a literal, with their numbers from 1, each cut to `LINE`; a log of many lines isn't taken apart.

    >>> list(lines_with("a\\nxb\\nc\\nbx", "x"))
    [(2, 'xb'), (4, 'bx')]
    """
    number, counted = 1, 0
    at = text.find(needle)
    while at >= 0:
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        number += text.count("\n", counted, start)
        counted = start
        yield number, text[start : min(end, start + LINE)]
        at = text.find(needle, end)


def xids(text: str, output: Output, about: Subject) -> Iterator[Xid]:
    """The NVRM Xid lines, with the UUID where the same log says which GPU is at the address."""
    uuids = {pci.canonical(m.group(1)): m.group(2) for _, line in lines_with(text, "NVRM: GPU at ") if (m := IDENTITY.search(line))}
    matches = ((number, line, XID.search(line)) for number, line in lines_with(text, "NVRM: Xid "))
    for xid in bursts(_xid(match, number, line, output, about) for number, line, match in matches if match):
        uuid = uuids.get(xid.pci, "") if xid.pci else ""
        yield msgspec.structs.replace(xid, uuid=uuid, gpu=uuid or xid.gpu)


def _xid(match: re.Match[str], number: int, line: str, output: Output, about: Subject) -> Xid:
    address, code, rest = match.groups()
    process = PROCESS.match(rest)
    pid, name = process.groups() if process else ("", "")
    host = HOST.match(line)
    time = line_time(line, output.time)
    where = pci.canonical(address or "")
    return Xid(
        node=about.node or (host.group(1) if host else ""),
        gpu=where,
        pci=where,
        code=int(code),
        pid=int(pid) if pid and pid.isdecimal() and len(pid) < 10 else None,
        process="" if not name or name.startswith("<") else name,
        text=rest[:500],
        age=output.time - time if time is not None and output.time else None,
        time=time,
        origin=Origin(output.named(), number, line.strip()),
    )


def bursts(found: Iterable[Xid]) -> list[Xid]:
    """Equal Xids of one process on one GPU that follow each other closely, as one record with a count, at the time of the first."""
    folded: list[Xid] = []
    open_at: dict[tuple[object, ...], tuple[int, float | None]] = {}  # key → index of its record, time of its last line
    for xid in found:
        key = (xid.node, xid.gpu, xid.code, xid.pid, xid.process)
        index, last = open_at.get(key, (-1, None))
        near = index >= 0 and (last is None or xid.time is None or abs(xid.time - last) <= BURST)
        if near:
            folded[index] = msgspec.structs.replace(folded[index], count=folded[index].count + xid.count)
        else:
            index = len(folded)
            folded.append(xid)
        open_at[key] = (index, xid.time)
    return folded
