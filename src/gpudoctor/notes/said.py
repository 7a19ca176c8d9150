"""The one door to what people write: a note → facts, each of which is `stated`, so that it finds at most what is possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from gpudoctor.facts import Facts, Subject
from gpudoctor.notes import gpu_statements
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

MOST = 400  # lines of a text that is a note and not a log
LONG = 100_000  # characters of one
# An amount of which notes tell that are worth to be read.
QUICK = regex(r"\d ?(?:W|watts?)(?![A-Za-z])|_w\b|SM[_ ]?ACT|MiB|(?:SW|HW)[_ ](?:POWER|THERM)|MHz|util|\bSMs?\b.{0,30}%", 2)


def read(output: Output, about: Subject) -> Facts:
    """What a note says of GPUs."""
    samples = gpu_statements.samples([*islice(lines(output), MOST)], output.origin_name(), about)
    if not samples:
        raise ParseError(f"{output.origin_name()}: nothing is told of GPUs: {output.text[:80]!r}")
    return {"gpu_samples": [replace(one, stated=True) for one in samples]}


def score(rows: Sequence[str], whole: str) -> int:
    """A note, and no log, that tells of GPUs."""
    if len(rows) > MOST or len(whole) > LONG or not QUICK.search(whole):
        return 0
    return 20 if gpu_statements.statements([*enumerate(rows, 1)]) else 0
