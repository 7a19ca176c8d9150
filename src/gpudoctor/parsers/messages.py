"""The scanner: finds the lines whose meaning is known (`knowledge/messages`) in logs, events and states.

A log is read in blocks of whole lines. One RE2 Set says which entries occur in a block at all, at about the speed of `grep`; only those
are then searched for one by one, inside the block. `never_nl` makes RE2 treat every line by itself, so a block never matches
across lines. Memory stays at a few blocks, however long the log or one of its lines is.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.kubernetes import Message
from gpudoctor.parsers.blocks import ANSI, BLOCK, cut_long_lines, parts, whole_lines
from gpudoctor.parsers.timestamps import line_time
from gpudoctor.probes.base import Output

LONGEST_DETAIL = 256
MOST_DIFFERENT = 5000  # different messages of one text; more is noise, and must not fill the memory
DFA_MEMORY = 256 << 20  # bytes RE2 may use for its automaton; it grows only as far as the text needs

AHEAD = 2  # blocks that are matched while another is read
BY_LINE = b"(?m)"  # ^ and $ are those of a line

LITERAL = re.compile(rb"\(\?m\)[A-Za-z0-9 :=_/-]+")  # a pattern without any sign


class Patterns(Sequence[Any]):
    """RE2 patterns, each compiled when it is first asked for: a text has few of the known messages."""

    def __init__(self, texts: list[bytes], options: Any) -> None:
        self.texts, self.options = texts, options
        self.made: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: Any) -> Any:
        if number not in self.made:
            import re2

            self.made[number] = re2.compile(self.texts[number], self.options)
        return self.made[number]


class Scanner(NamedTuple):
    """The known messages, compiled."""

    names: list[str]
    patterns: Patterns
    all: Any  # re2.Set over the same patterns


class Hit(NamedTuple):
    """One line that says something known: its number from 1, its text, the entry and what its pattern captured."""

    line: int
    text: str
    name: str
    detail: str


def entries() -> list[tuple[str, str]]:
    """Name and pattern of every known message."""
    from gpudoctor.runbook.index import messages

    return [(message.name, message.pattern) for message in messages()]


@functools.cache
def errors() -> dict[str, bool]:
    """Names of the known messages that are no noise → whether only a survivor says so, in a job of many ranks."""
    from gpudoctor.runbook.index import messages

    return {message.name: message.survivor for message in messages() if not message.benign}


@functools.cache
def scanner() -> Scanner:
    """The compiled messages, made when the first text is scanned."""
    return compiled(entries())


def compiled(entries: Iterable[tuple[str, str]]) -> Scanner:
    """A scanner of (name, pattern) entries. Patterns see bytes: UTF-8 outside a character class matches itself."""
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = DFA_MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    made = Scanner([], Patterns([], options), re2.Set.SearchSet(options))
    for name, pattern in entries:
        by_line = BY_LINE + pattern.encode()
        made.names.append(name)
        made.patterns.texts.append(by_line)
        made.all.Add(by_line)
    if made.names:
        made.all.Compile()
    return made


def scan_lines(output: Output, about: Subject, *, source: str) -> list[Message]:
    """The known messages of a whole answer, for example a log. Equal ones are one record, whose origin is the first such line.

    `time` is that line's own time, `age` that of the last such line, where the lines begin with a full date.
    """
    found = []
    for tally in tallied(find(output.pages)):
        last = line_time(tally.last.text, output.time)
        found.append(
            message_of(
                tally.first,
                about,
                source=source,
                origin=Origin(output.named(), tally.first.line, tally.first.text.strip()),
                time=line_time(tally.first.text, output.time),
                age=max(0.0, output.time - last) if last is not None and output.time else None,
                count=tally.times,
            )
        )
    return found


def scan_text(
    text: str, *, source: str, about: Subject, origin: Origin, age: float | None = None, time: float | None = None, count: int = 1
) -> list[Message]:
    """The known messages of a short text: an event, a state, a condition. `count` is how often the whole text was seen.

    `origin` is where the text begins: further lines of it move the number on, and a text without a line number stays without one.
    """
    found = []
    for hit, _, times in tallied(find([text.encode("utf-8", "replace")])):
        line = origin.line + hit.line - 1 if origin.line else 0
        where = Origin(origin.source, line, hit.text.strip())
        found.append(message_of(hit, about, source=source, origin=where, time=time, age=age, count=times * count))
    return found


def message_of(hit: Hit, about: Subject, *, source: str, origin: Origin, time: float | None, age: float | None, count: int) -> Message:
    """The record of a hit, on the subject that the text is about."""
    return Message(
        name=hit.name,
        detail=hit.detail,
        count=count,
        source=source,
        namespace=about.namespace,
        pod=about.pod,
        container=about.container,
        node=about.node,
        workload=about.workload,
        component=about.component,
        age=age,
        time=time,
        origin=origin,
    )


def fold(messages: Iterable[Message]) -> list[Message]:
    """Equal messages on one subject as one record: the counts added up, the first origin and time, the smallest age."""
    made: dict[tuple[str, ...], Message] = {}
    for one in messages:
        key = (one.name, one.detail, one.source, one.namespace, one.pod, one.container, one.node, one.workload, one.pci)
        first = made.get(key)
        if first is None:
            made[key] = one
        else:
            made[key] = replace(first, count=first.count + one.count, age=least(first.age, one.age), time=least(first.time, one.time))
    return list(made.values())


def least(one: float | None, other: float | None) -> float | None:
    """The smaller of two numbers that may not be known."""
    known = [number for number in (one, other) if number is not None]
    return min(known, default=None)


class Tally(NamedTuple):
    """Equal hits: the first, the last, and how many."""

    first: Hit
    last: Hit
    times: int


def tallied(hits: Iterable[Hit]) -> list[Tally]:
    """Hits of equal name and detail together, in the order in which they first occur, at most `MOST_DIFFERENT`."""
    made: dict[tuple[str, str], Tally] = {}
    for hit in hits:
        key = (hit.name, hit.detail)
        known = made.get(key)
        if known is not None:
            made[key] = Tally(known.first, hit, known.times + 1)
        elif len(made) < MOST_DIFFERENT:
            made[key] = Tally(hit, hit, 1)
    return list(made.values())


def find(chunks: Iterable[bytes], using: Scanner | None = None, few: Mapping[str, int] | None = None, part: int = BLOCK) -> Iterator[Hit]:
    """The lines that say something known, in order. A line that fits several entries gives one hit for each.

    `few` are entries of which the first lines of each part of a block are enough: name → how many. Each entry that occurs in a part is
    searched for in all of it: where many different ones stand close together, small parts are faster.
    """
    known = using or scanner()
    if not known.names:
        return
    number = 1
    for block, occur in matched(whole_lines(chunks), known, part):
        line, counted = number, 0
        spans = [
            (*span, which)
            for which in occur
            for span in itertools.islice(lines_in(block, known.patterns[which]), few.get(known.names[which]) if few else None)
        ]
        for start, end, detail, which in sorted(spans) if len(occur) > 1 else spans:
            line += block.count(b"\n", counted, start)
            counted = start
            yield Hit(line, block[start:end].decode("utf-8", "replace"), known.names[which], detail)
        number = line + block.count(b"\n", counted)


def matched(blocks: Iterator[bytes], known: Scanner, part: int) -> Iterator[tuple[bytes, list[int]]]:
    """Parts of blocks, each with the entries that occur in it. RE2 works without the interpreter's lock: of a long log, the next blocks are
    matched while what was found in one is read.
    """
    first = list(itertools.islice(blocks, 2))
    if len(first) < 2:
        yield from itertools.chain.from_iterable(occurring(block, known, part) for block in first)
        return
    with ThreadPoolExecutor(AHEAD) as pool:
        coming: deque[Future[list[tuple[bytes, list[int]]]]] = deque()
        for block in itertools.chain(first, blocks):
            coming.append(pool.submit(occurring, block, known, part))
            if len(coming) > AHEAD:
                yield from coming.popleft().result()
        for last in coming:
            yield from last.result()


def occurring(block: bytes, known: Scanner, part: int) -> list[tuple[bytes, list[int]]]:
    """The parts of a block as they are searched, and the entries that occur in each.

    Colours and carriage returns may hide a word or a line's end; long lines need to be cut only where something was found.
    """
    if b"\x1b" in block or b"\r" in block:
        block = ANSI.sub(b"", cut_long_lines(block)).replace(b"\r\n", b"\n")
    made = []
    for piece in parts(block, part):
        found = known.all.Match(piece)
        made.append((cut_long_lines(piece), found) if found else (piece, []))
    return made


def lines_in(block: bytes, pattern: Any) -> Iterator[tuple[int, int, str]]:
    """Start and end of each line of a block that fits one pattern, with what it captured the first time."""
    if LITERAL.fullmatch(pattern.pattern):
        yield from lines_with(block, pattern.pattern[len(BY_LINE) :])
        return
    group = min(pattern.groups, 1)
    end = -1
    for match in pattern.finditer(block):
        at = match.start()
        if at <= end:
            continue
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        first, last = match.span(group) if group else (0, 0)
        yield start, end, block[first : min(last, first + LONGEST_DETAIL)].decode("utf-8", "replace").strip()


def lines_with(block: bytes, literal: bytes) -> Iterator[tuple[int, int, str]]:
    """The lines of a block that have a literal, which is found faster than a pattern."""
    at = block.find(literal)
    while at >= 0:
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield start, end, ""
        at = block.find(literal, end)
