"""Logs of a distributed job, too long or too many to cut into sections: one for each rank, or one of all. Read together, in blocks, so that
what stands in several files about one rank or one communicator comes out as one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpudoctor.facts import Facts
from gpudoctor.intake import files, hints
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.job import forms as rank_forms
from gpudoctor.tools.job.scan import Batch, scan, scanner

PARSER = "nccl.log"
FIRST = 0.36  # of the bytes are the first process's share: it also uses what both have found
LAST = 20  # lines of a log that are asked for the time
MANY = 32  # short logs of ranks from which on they are read as long ones are: looking for other outputs takes longer than reading them
# What only a text has that was pasted together of several outputs: a prompt, a mark of head and tail, a fence. With the line end before it,
# which is found fast.
PASTED = regex(r"\n(?:[$#] \w|==> |```|\S{1,64}@\S{1,255}[$#] )")


class Long(msgspec.Struct, frozen=True):
    """One such log, without its content: a long one is read from the disk again."""

    source: files.Source
    hint: hints.Hint
    newest: float  # the newest time of its last lines, 0 = none
    key: int  # puts logs in the order of their content


def is_rank_log(ends: bytes) -> bool:
    """Whether a file is a log of ranks and nothing else, by its beginning and its end."""
    text = ends.decode("utf-8", "replace")
    return bool(rank_forms.score(text.split("\n"), text)) and PASTED.search("\n" + text) is None


def of_source(source: files.Source, ends: bytes) -> Long:
    """A source that was only glanced at."""
    lines = ends[-files.END :].decode("utf-8", "replace").rsplit("\n", LAST)[-LAST:]
    newest = max((time for line in lines if (time := line_time(line)) is not None), default=0.0)
    return Long(source, hints.of_section(source.path, ""), newest, zlib.crc32(ends))


class Scanned(NamedTuple):
    """A part of what was found in one log, and what went wrong while it was read."""

    batch: Batch
    note: str


def parse_logs(logs: Iterable[Long], now: float) -> Facts:
    """The facts of all of them: those that say the same of where they come from are read as one job."""
    from gpudoctor.tools.job.log import of_batches

    facts: Facts = {}
    ordered = sorted(logs, key=lambda one: (one.key, one.source.path))
    for about in dict.fromkeys(one.hint.about for one in ordered):
        job = [one for one in ordered if one.hint.about == about]
        for kind, records in of_batches(batches([one.source for one in job], now), about).items():
            facts.setdefault(kind, []).extend(records)
    return facts


def batches(sources: list[files.Source], now: float) -> Iterator[Batch]:
    """What matters in all sources, scanned by two processes where there is much of it."""
    from gpudoctor.cores import share_work

    def scanned(some: Sequence[files.Source]) -> Iterator[Scanned]:
        for one in some:
            for batch in scan(pages(one, now), len(sources)):
                yield Scanned(batch, one.note)

    _ = scanner().hints.set  # compiled once for both
    known = {one.path: one for one in sources}
    for batch, note in share_work(sources, [one.size for one in sources], scanned, Scanned, FIRST):
        known[batch.source].note = known[batch.source].note or note
        yield batch


def pages(source: files.Source, now: float) -> Iterator[Output]:
    """What one holds."""
    for piece in source.pieces():
        yield Output(Command(()), pages=(piece,), time=now, source=source.path)
