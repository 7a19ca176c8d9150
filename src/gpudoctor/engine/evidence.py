"""The lines that findings rest on: in each the place that says it, the values that decided, and the line that says most first."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gpudoctor.engine.evaluate import Hit, Seen
from gpudoctor.engine.times import stamp
from gpudoctor.engine.why_not import value_text
from gpudoctor.facts import Fact
from gpudoctor.facts.base import Origin
from gpudoctor.facts.kubernetes import Message
from gpudoctor.facts.times import zone_is_known
from gpudoctor.knowledge.compiled import source
from gpudoctor.patterns import regex
from gpudoctor.report import Evidence
from gpudoctor.runbook.conditions import Unsure, compile_expression, names_in
from gpudoctor.runbook.terms import Term, deciding_terms
from gpudoctor.tools.common.scanner import single_pattern

EVIDENCE = 4  # lines of evidence of one finding; the rest is in the bundle
LOOKED_AT = 16  # lines among which the ones that say most are looked for
LONGEST = 1000  # characters of a line
VALUES = 4  # that are told of one record
WORDY = 40  # characters of a value that stands by itself
BARE = 40  # characters of a line that is but a head
BYTES = 1e6  # from here on a number needs its unit
WIDE = 200  # characters of a line in which several values are one place
CELLS = 6  # of a row that is read by its columns
CELL = regex(r",\s*|\s*\|\s*|\s{2,}|\t")

Span = tuple[int, int]
Place = tuple[bool, int, float]  # among the lines: whether nothing is known of it, its check, its time
NOWHERE: Span = (0, 0)


def evidence(origins: Iterable[Origin], hits: Iterable[Hit] = ()) -> list[Evidence]:
    """The first lines that findings rest on, each once. Those in which the place that says it is known stand before the others; of one
    check the earliest comes first.
    """
    rests: dict[Origin, list[tuple[str, Fact, Seen]]] = {}
    for seen in (hit.seen for hit in hits if hit.seen):
        for name, record in seen.records():
            rests.setdefault(record.origin, []).append((name, record, seen))
    unique: dict[tuple[str, int, str], tuple[Place, Evidence]] = {}
    checks: dict[str, int] = {}
    for origin in dict.fromkeys(origins):
        if origin.source and len(unique) < LOOKED_AT:
            records = rests.get(origin, [])
            piece = line_of(origin, records)
            check = checks.setdefault(records[0][2].when if records else "", len(checks))
            time = min((record.time for _, record, _ in records if record.time is not None), default=float("inf"))
            unique.setdefault((piece.source, piece.line, piece.text), ((piece.match == NOWHERE, check, time), piece))
    return [piece for _, piece in sorted(unique.values(), key=lambda pair: pair[0])][:EVIDENCE]


def line_of(origin: Origin, records: list[tuple[str, Fact, Seen]]) -> Evidence:
    """A line with what its records say of it: the first of them whose words or values stand there tells the place."""
    place, told, text = NOWHERE, dict[str, Any](), origin.text
    for name, record, seen in records:
        place = place_of_words(record, text)
        values = {} if place[1] or isinstance(record, Message) else values_of(name, record, seen)
        there = {words: span for words, value in values.items() if (span := place_of_value(value, text))}
        place = place if place[1] else around(there.values())
        told = {words: values[words] for words in there or values}
        if place[1]:
            break
    begin = max(0, min(place[0] - LONGEST // 2, len(text) - LONGEST))  # of a long line the part around that place
    return Evidence(
        source=origin.source,
        line=origin.line,
        text=text[begin : begin + LONGEST],
        match=(place[0] - begin, min(place[1] - begin, LONGEST)) if place[1] else NOWHERE,
        values=shown_values(told) if is_data(text) or (place == NOWHERE and len(text) < BARE) else [],
        time=next((stamp(record.time, zone=zone_is_known(record)) for _, record, _ in records if record.time is not None), None),
    )


def shown_values(told: dict[str, Any]) -> list[str]:
    """The values that are told beside a line: numbers, or words where it has no numbers."""
    numbers = {words: value for words, value in told.items() if not isinstance(value, str)}
    return [f"{words}: {value_text(value)}" for words, value in (numbers or told).items()][:VALUES]


def is_data(text: str) -> bool:
    """Whether a line is a row of a table or a part of a document, which says little without the names of its columns."""
    return text.startswith(("{", "[{")) or len(CELL.split(text)) >= CELLS


def place_of_words(record: Fact, text: str) -> Span:
    """Where a line says what its record states: by the pattern of a known message, by the record's own words."""
    if isinstance(record, Message) and (pattern := patterns().get(record.name)) and (match := single_pattern(pattern).search(text)):
        return match.span() if match.end() > match.start() else NOWHERE
    at = text.find(record.said) if record.said else -1
    return (at, at + len(record.said)) if at >= 0 else NOWHERE


@functools.cache
def patterns() -> dict[str, str]:
    """The patterns of the known messages, by their names."""
    return {one.name: one.pattern for one in source().messages()}


def values_of(name: str, record: Fact, seen: Seen) -> dict[str, Any]:
    """The values of a record by which the condition holds, by the words for them."""
    found: dict[str, Any] = {}
    for variable in deciding_names(seen):
        owner, _, field = variable.partition(".")
        if owner != name or field in record.gaps:
            continue
        for words, value in parts(field, getattr(record, field, None), seen.when):
            if is_measured(value):
                found.setdefault(words, value)
    return found


def is_measured(value: Any) -> bool:
    """Whether a value may stand in a line as it is, and tells something to a person: no flag, no number of bytes, no name of ours."""
    if isinstance(value, str):
        return 0 < len(value) <= WORDY and "_" not in value
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < BYTES


def parts(field: str, value: Any, when: str) -> Iterator[tuple[str, Any]]:
    """A field in words with its value; of a map what the condition asks for."""
    words = field.replace("_", " ")
    if not isinstance(value, dict):
        yield words, value
        return
    for key, one in value.items():
        if re.search(rf'"{re.escape(key)}"|\.{re.escape(key)}\b', when):
            yield f"{words} of {key}".replace("_", " "), one


def deciding_names(seen: Seen) -> list[str]:
    """The variables of the parts by which a condition holds, in their order."""

    def ask(part: str) -> Term:
        try:
            return Term(part, compile_expression(part, seen.types).holds(seen.values))
        except Unsure as why:
            return Term(part, None, str(why))

    return list(dict.fromkeys(name for term in deciding_terms(seen.when, ask) for name in names_in(term.text)))


def place_of_value(value: Any, text: str) -> Span | None:
    """Where a value stands in a line as a word of its own: 79 is no part of 0000:79:00, of 79.5 or of gpu-79; 88.0 may be written 88.

    A single digit may mean anything but as a cell of a row.
    """
    written = re.escape(f"{value:g}" if isinstance(value, float) else str(value))
    if isinstance(value, int | float):
        written += r"(?:\.0+)?"
    if len(str(value)) == 1 and not is_data(text):
        return None
    edges = (r"(?:^|(?<=\s)|(?<=[,|]))", r"(?=[\s,|]|$)") if is_data(text) else (r"(?<![\w:.-])", r"(?![\w:-]|\.\d)")
    match = re.search(edges[0] + written + edges[1], text)
    return match.span() if match else None


def around(spans: Iterable[Span]) -> Span:
    """The place of several values: all of it where they stand near one another, else that of the longest."""
    found = sorted(spans)
    if not found:
        return NOWHERE
    start, end = found[0][0], max(end for _, end in found)
    return (start, end) if end - start <= WIDE else max(found, key=lambda span: span[1] - span[0])
