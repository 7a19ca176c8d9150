"""The lines whose meaning is known (`knowledge/messages`), in logs, events and states: found by the `scanner` and made records."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.kubernetes import Message
from gpudoctor.knowledge.compiled import source
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.blocks import cut_long_lines, whole_lines
from gpudoctor.tools.common.scanner import Scanner, compile_scanner, lines_in, match_blocks
from gpudoctor.tools.common.timestamps import line_time

MOST_DIFFERENT = 5000  # different messages of one text; more is noise, and must not fill the memory
MANY = 5000  # lines of a message that nobody counts, after which a sample of each block is read: a filter logs every packet
SAMPLE = 64  # lines


class Hit(NamedTuple):
    """One line that says something known: its number from 1, its text, the entry and what its pattern captured."""

    line: int
    text: str
    name: str
    detail: str


def entries() -> list[tuple[str, str]]:
    """Name and pattern of every known message."""
    return [(message.name, message.pattern) for message in source().messages()]


@functools.cache
def errors() -> dict[str, bool]:
    """Names of the known messages that are no noise → whether only a survivor says so, in a job of many ranks."""
    return {message.name: message.survivor for message in source().messages() if not message.benign}


@functools.cache
def sampled() -> frozenset[str]:
    """Names of the known messages of which a sample is enough where they are very many."""
    return frozenset(message.name for message in source().messages() if message.sampled)


@functools.cache
def exceptions() -> dict[str, Any]:
    """Names of the known messages that have an exception → what a line must not fit to say them."""
    from gpudoctor.tools.common.scanner import single_pattern

    return {
        message.name: single_pattern(message.unless.encode()) for message in (*source().messages(), *source().harmless()) if message.unless
    }


@functools.cache
def scanner() -> Scanner:
    """The compiled messages, made when the first text is scanned."""
    return with_marks(())


@functools.cache
def harmless() -> Scanner:
    """What is looked for only in lines that say trouble: most of it stands in many others too."""
    known = source()
    return compile_scanner(((entry.name, entry.pattern) for entry in known.harmless()), known.literals(), known.texts())


def with_marks(marks: Iterable[tuple[str, str]], more: Mapping[str, Sequence[str]] = MappingProxyType({})) -> Scanner:
    """The known messages and what else makes a line worth a look to some parser, compiled together: a log is passed over once.

    `more` are literals of marks whose patterns would make the whole slow.
    """
    known = source()
    return compile_scanner([*entries(), *marks], {**known.literals(), **more}, known.texts())


def scan_lines(output: Output, about: Subject, *, source: str) -> list[Message]:
    """The known messages of a whole answer, for example a log. Equal ones are one record, whose origin is the first such line.

    `time` is that line's own time, `age` that of the last such line, where the lines begin with a full date.
    """
    found = []
    for tally in tally_hits(find(output.pages)):
        last = line_time(tally.last.text, output.time)
        found.append(
            message_of(
                tally.first,
                about,
                source=source,
                origin=Origin(output.origin_name(), tally.first.line, tally.first.text.strip()),
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
    for hit, _, times in tally_hits(find([text.encode("utf-8", "replace")])):
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
        **about.keys,
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
            made[key] = replace(
                first, count=first.count + one.count, age=smaller_known(first.age, one.age), time=smaller_known(first.time, one.time)
            )
    return list(made.values())


def smaller_known(one: float | None, other: float | None) -> float | None:
    """The smaller of two numbers, either of which may be unknown."""
    known = [number for number in (one, other) if number is not None]
    return min(known, default=None)


class Some(Protocol):
    """Which kinds of lines are not all looked at: in the next block so many, None for all of them. It is told of every line."""

    def __iter__(self) -> Iterator[str]: ...
    def get(self, name: str, /) -> int | None: ...  # noqa: D102
    def count(self, name: str, line: str) -> None: ...  # noqa: D102


class Tally(NamedTuple):
    """Equal hits: the first, the last, and how many."""

    first: Hit
    last: Hit
    times: int


def tally_hits(hits: Iterable[Hit]) -> list[Tally]:
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


def find(chunks: Iterable[bytes], using: Scanner | None = None, few: Some | None = None) -> Iterator[Hit]:
    """The lines that say something known, in order. A line that fits several entries gives one hit for each.

    `few` says of which entries the first lines of each block are enough, and is told of every line.
    """
    known = using or scanner()
    if not known.names:
        return
    patterns, excepted, number = known.patterns, exceptions(), 1
    left = {known.places[name]: MANY for name in sampled() if name in known.places}
    some = frozenset(left).union(known.places[name] for name in few or () if name in known.places)

    def next_lines(which: int) -> int | None:
        if left.get(which, 1) <= 0:
            return SAMPLE
        return few.get(known.names[which]) if few is not None else None

    for block in match_blocks(whole_lines(chunks), known, some):
        wanted = [(which, most) for which in block.occur if (most := next_lines(which)) != 0]
        text = cut_long_lines(block.text) if wanted and not block.lines else block.text
        line, counted, spans = number, 0, block.lines
        for which, most in wanted:
            before = len(spans)
            spans += itertools.islice(lines_in(text, patterns[which], which), most)
            if which in left:
                left[which] -= len(spans) - before
        for start, end, detail, which in sorted(spans):
            line += text.count(b"\n", counted, start)
            counted = start
            said, name = text[start:end].decode("utf-8", "replace"), known.names[which]
            if few is not None:
                few.count(name, said)
            if name not in excepted or not excepted[name].search(said.encode()):
                yield Hit(line, said, name, detail)
        number = line + text.count(b"\n", counted)
