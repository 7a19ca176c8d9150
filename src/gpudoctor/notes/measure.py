"""What the readers of measures share: a numbered line, a reading of it, amounts with units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gpudoctor.facts import Origin
from gpudoctor.facts.stall import Measure
from gpudoctor.patterns import regex

Line = tuple[int, str]

N = r"(\d{1,12}(?:\.\d{1,9})?)"
BYTES = {"": 1.0, "K": 2.0**10, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40, "P": 2.0**50}
SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
AMOUNT = regex(rf"{N} ?([KMGTP]?)i?[Bb]?\b", 0)


class Reading(NamedTuple):
    """One number with the line that states it."""

    quantity: str
    value: float
    line: Line
    of: float | None = None
    label: str = ""


def measure(one: Reading, source: str, place: Mapping[str, Any]) -> Measure:
    """The fact."""
    number, text = one.line
    origin = Origin(source, number, text.strip()[:500])
    return Measure(quantity=one.quantity, value=one.value, of=one.of, label=one.label, origin=origin, **place)


def size(text: str) -> float | None:
    """Bytes of an amount.

    >>> size("64G"), size("515690.1 MiB"), size("?")
    (68719476736.0, 540740262297.6, None)
    """
    match = AMOUNT.search(text)
    return float(match[1]) * BYTES[match[2]] if match else None
