"""Single numbers that stand on lines of their own in what tools and programs print → measures.

A reader looks for its own lines among all others, so that an output is read wherever it was pasted.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import Measure
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.form import Form, Parse, Text
from gpudoctor.tools.parser import LINE, ParseError

Line = tuple[int, str]

N = r"(\d{1,12}(?:\.\d{1,9})?)"
BYTES = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50}
SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
AMOUNT = regex(rf"{N} ?([KMGTP]?)i?[Bb]?\b", 0)
MOST = 50_000  # lines of one text
LONG, ALIKE, LAST = 2_000, 200, 200  # lines of a text of which those that differ in numbers alone are so many at most, and the last ones
SHAPE = 200  # characters of a line that tell what it is like
DIGITS = regex(r"\d+")
# 2026-03-01T11:59:36.100000000Z of `kubectl logs --timestamps`
STAMP = regex(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ")
FOUND = 21  # the score of a text with a number that is read: a few lines that stand among others


class Reading(NamedTuple):
    """One number with the line that states it."""

    quantity: str
    value: float
    line: Line
    of: float | None = None
    label: str = ""


Readers = Sequence[Callable[[Sequence[Line]], Iterable[Reading]]]


def size(text: str) -> float | None:
    """Bytes of an amount.

    >>> size("64G"), size("515690.1 MiB"), size("?")
    (68719476736.0, 540740262297.6, None)
    """
    match = AMOUNT.search(text)
    return float(match[1]) * BYTES[match[2]] if match else None


def numbered_lines(texts: Sequence[str], argv: Sequence[str] = ()) -> list[Line]:
    """The lines that are looked at, numbered from 1, without the time that the container runtime put before them; as line 0 the command."""
    asked = [(0, f"$ {' '.join(argv)}"[:LINE])] if argv else []
    lines = [(number, STAMP.sub("", line[:LINE]).rstrip("\r")) for number, line in enumerate(texts[:MOST], 1) if line.strip()]
    return asked + (lines if len(lines) <= LONG else [*distinct_lines(lines[:-LAST]), *lines[-LAST:]])


def distinct_lines(lines: list[Line]) -> Iterator[Line]:
    """The lines without most of those that are alike but for their numbers."""
    seen: Counter[str] = Counter()
    for number, line in lines:
        shape = DIGITS.sub("0", line[:SHAPE])
        seen[shape] += 1
        if seen[shape] <= ALIKE:
            yield number, line


def readings(lines: Sequence[Line], readers: Readers) -> Iterator[Reading]:
    """What all readers find."""
    return (one for reader in readers for one in reader(lines))


def form(name: str, readers: Readers) -> Form:
    """The form of a text in which one of the readers finds a number, whatever stands beside it."""

    def score(text: Text) -> int:
        return FOUND if any(True for _ in readings(numbered_lines(text.lines, text.argv), readers)) else 0

    return Form(name, score, embedded=True, beside=True, among_lines=True)


def parser(readers: Readers) -> Parse:
    """The parser that gives a Measure for each number that one of the readers finds."""
    return functools.partial(measures, readers)


def measures(readers: Readers, output: Output, about: Subject) -> Facts:
    """A Measure for each number."""
    text = plain_text(output)
    if not text.strip() and output.failure:
        raise ParseError(f"{output.origin_name()}: no text")
    return {
        "measures": [
            Measure(
                quantity=one.quantity,
                value=one.value,
                of=one.of,
                label=one.label,
                node=about.node,
                namespace=about.namespace,
                pod=about.pod,
                origin=Origin(output.origin_name(), one.line[0], one.line[1].strip()[:500]),
            )
            for one in readings(numbered_lines(text.split("\n"), output.command.argv), readers)
        ]
    }
