"""The history of each GPU with a numbered error: its Xids, the kernel's lines about the same device, the switches' SXids, in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.identity import AT_ONCE, one_name_of_gpus
from gpudoctor.facts.kernel import Sxid, TimelineEntry, Xid
from gpudoctor.facts.kubernetes import Message, Pod
from gpudoctor.facts.node import ProcessPod
from gpudoctor.facts.times import zone_is_known
from gpudoctor.patterns import regex

ROWS = 60  # of one GPU: a screen; the first ones say what began it, the last ones where it ended
LAST = 20  # of them are the last
WORDS = 12  # characters by which a line is known again in another one
NEARBY = 16  # rows among which the first one of an event is looked for
WORST = {"critical": 0, "error": 1, "decode": 2, "": 2, "warning": 3}
GPUS = 512  # of one run; a log made up of addresses is noise
# Errors after which a look at the switches' side helps: links, and the loss of a GPU, which takes its links down.
LINKED = frozenset({74, 79, 108, 136, 137, 155, *range(144, 151)})
# A line begins with a date and perhaps a host, or with the seconds since boot.
HEAD = regex(r"^(?:.{0,200}? kernel: |\[[^\]]{1,40}\] |kern +:\w+ *: )*(?:\d{4}-\S{15,40} )?")
Place = tuple[float, bool, int]  # moment, whether it is a consequence by its nature, line

Key = tuple[str, str]  # node, GPU
F = TypeVar("F", bound=Fact)


def timeline(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Rows by GPU, each GPU's in their order, at most `ROWS` each. Switches without such a GPU have rows of their own (`gpu` is "")."""
    xids = [fact for fact in facts.get("xids", []) if isinstance(fact, Xid)]
    sxids = [fact for fact in facts.get("sxids", []) if isinstance(fact, Sxid)]
    messages = [fact for fact in facts.get("messages", []) if isinstance(fact, Message) and fact.pci and fact.moment]
    names = one_name_of_gpus(facts.get("gpus", []), xids)
    pods = pods_of_processes(facts)
    rows: dict[Key, list[tuple[Place, TimelineEntry]]] = defaultdict(list)
    at: dict[tuple[str, str], Key] = {}
    linked: dict[str, list[Key]] = defaultdict(list)
    for xid in xids:
        key = (xid.node, names.get((xid.node, xid.pci or xid.gpu), xid.gpu))
        if key not in rows and len(rows) >= GPUS:
            continue
        rows[key].append((order_key(xid, xid.whose == "follow-on"), row_of_xid(xid, key, pods)))
        if xid.pci:
            at[xid.node, xid.pci] = key
        if xid.code in LINKED and key not in linked[xid.node]:
            linked[xid.node].append(key)
    for message in messages:
        if (message.node, message.pci) in at and not said_by_xid(message):
            key = at[message.node, message.pci]
            rows[key].append((order_key(message), row_of_message(message, key)))
    for sxid in sxids:
        for key in linked.get(sxid.node) or [(sxid.node, "")]:
            rows[key].append((order_key(sxid), row_of_sxid(sxid, key)))
    made = ([row for _, row in sorted(own, key=lambda one: one[0])] for own in rows.values())
    return {"timeline": [row for own in made for row in shorten_timeline(told_once(own))]}


def order_key(fact: Xid | Sxid | Message, consequence: bool = False) -> Place:
    """The place of a fact among the others of its GPU: by time, then, in one moment, cause before consequence, then as logged."""
    return (fact.moment, consequence, fact.origin.line)


def said_by_xid(message: Message) -> bool:
    """Whether a message is the line of an Xid, which has its own row."""
    return "NVRM: Xid" in message.origin.text


def row_of_xid(xid: Xid, key: Key, pods: Mapping[tuple[str, int], str]) -> TimelineEntry:
    """The row of one burst."""
    who = f"{xid.process or 'a program'} ({xid.pid})" if xid.pid is not None else xid.process
    return TimelineEntry(
        node=key[0],
        gpu=key[1],
        when=moment(xid),
        kind="xid",
        code=xid.code,
        what=f"Xid {xid.code}: {xid.title or 'a code that is not known'}" + (f", {xid.action.replace('_', ' ')}" if xid.action else ""),
        who=who,
        pod=pods.get((xid.node, xid.pid), "") if xid.pid is not None else "",
        severity=xid.severity,
        count=xid.count,
        moment=xid.moment,
        time=xid.time,
        origin=xid.origin,
    )


def row_of_sxid(sxid: Sxid, key: Key) -> TimelineEntry:
    """The row of one burst of a switch."""
    links = f" on {sxid.links} links" if sxid.links > 1 else f" on link {sxid.link}" if sxid.link is not None else ""
    return TimelineEntry(
        node=key[0],
        gpu=key[1],
        when=moment(sxid),
        kind="sxid",
        code=sxid.code,
        what=f"SXid {sxid.code}{f' ({sxid.severity})' if sxid.severity else ''}{links}",
        who=f"nvswitch {sxid.switch}" if sxid.switch is not None else "nvswitch",
        count=sxid.count,
        moment=sxid.moment,
        time=sxid.time,
        origin=sxid.origin,
    )


def row_of_message(message: Message, key: Key) -> TimelineEntry:
    """The row of a line of the kernel about the GPU's address."""
    return TimelineEntry(
        node=key[0],
        gpu=key[1],
        when=moment(message),
        kind="message",
        name=message.name,
        what=HEAD.sub("", message.origin.text)[:160],
        count=message.count,
        moment=message.moment,
        time=message.time,
        origin=message.origin,
    )


def moment(fact: Xid | Sxid | Message) -> str:
    """When, as a person reads it: the clock, with `Z` where it is known to be UTC, else the seconds since boot, else the line.

    >>> moment(Xid(code=79, time=1772366400.0)), moment(Xid(code=79, uptime=812.34, boot=1))
    ('2026-03-01 12:00:00Z', '812.3 s after boot 2')
    """
    if fact.time is not None:
        try:
            return datetime.fromtimestamp(fact.time, UTC).strftime("%Y-%m-%d %H:%M:%S") + "Z" * zone_is_known(fact)
        except (ValueError, OverflowError, OSError):  # a time that no clock has shown
            return ""
    if fact.uptime is not None:
        boot = getattr(fact, "boot", 0)
        return f"{fact.uptime:.1f} s after boot" + (f" {boot + 1}" if boot else "")
    return f"line {fact.origin.line}" if fact.origin.line else ""


def told_once(rows: list[TimelineEntry]) -> list[TimelineEntry]:
    """The rows of one GPU, an event that several sources tell as one row with how many they are. The first one told it best."""
    kept: list[TimelineEntry] = []
    sources: list[set[str]] = []
    for row in rows:
        near = range(max(0, len(kept) - NEARBY), len(kept))
        same = next((number for number in near if is_one_event(kept[number], row)), None)
        if same is None:
            kept.append(row)
            sources.append({row.origin.source})
        else:
            sources[same].add(row.origin.source)
    return [replace(row, sources=len(own), what=row.what + said_by(len(own))) for row, own in zip(kept, sources, strict=True)]


def said_by(sources: int) -> str:
    """How many sources tell it, where they are several."""
    return f" ({sources} sources)" if sources > 1 else ""


def is_one_event(first: TimelineEntry, second: TimelineEntry) -> bool:
    """Whether two rows of one GPU tell one event: an Xid in two logs, or a line of the driver in the words of the Xid beside it."""
    if first.kind != "xid" or first.time is None or second.time is None or abs(second.time - first.time) > AT_ONCE:
        return False
    if second.kind == "message":
        words = second.what.rpartition(": ")[2].rstrip(". ")
        return len(words) >= WORDS and words in first.origin.text
    return second.kind == "xid" and second.code == first.code and second.origin.source != first.origin.source


def shorten_timeline(rows: list[TimelineEntry]) -> list[TimelineEntry]:
    """At most about `ROWS` rows: the first ones, the worst, the last ones, and where some are left out, how many. The first error of the
    GPU is marked.
    """
    errors = [number for number, row in enumerate(rows) if row.kind == "xid"]
    worst = min(errors, key=lambda number: WORST.get(rows[number].severity, len(WORST)), default=-1)
    for number in {*errors[:1], worst, len(rows) - 1} - {-1}:
        rows[number] = replace(rows[number], telling=True, first=number == errors[0] if errors else False)
    if len(rows) <= ROWS:
        return rows
    made: list[TimelineEntry] = []
    left: list[TimelineEntry] = []
    for number, row in enumerate(rows):
        if ROWS - LAST - 1 <= number < len(rows) - LAST and number != worst:
            left.append(row)
            continue
        if left:
            made.append(left_out(left))
            left = []
        made.append(row)
    return made


def left_out(rows: list[TimelineEntry]) -> TimelineEntry:
    """The row that stands for others."""
    one = rows[0]
    return TimelineEntry(node=one.node, gpu=one.gpu, what=f"{len(rows)} rows left out", count=sum(row.count for row in rows))


def pods_of_processes(facts: Mapping[str, list[Fact]]) -> dict[tuple[str, int], str]:
    """NAMESPACE/POD of the processes whose control group names a pod; the pod's UID where no pod with it was read."""
    names = {pod.uid: f"{pod.namespace}/{pod.pod}" for pod in of_type(facts.get("pods", []), Pod) if pod.uid}
    tied = of_type(facts.get("process_pods", []), ProcessPod)
    return {(one.node, one.pid): names.get(one.pod_uid, one.pod_uid) for one in tied if one.pod_uid}


def of_type(records: Iterable[Fact], kind: type[F]) -> list[F]:
    """The records of one class."""
    return [record for record in records if isinstance(record, kind)]
