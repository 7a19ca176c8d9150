"""Kernel logs that somebody has, read as such whatever they look like: `gpudoctor xid FILE…`. A log of any length is read in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from gpudoctor.analyze.gather import Gathered
from gpudoctor.facts import Fact, Facts
from gpudoctor.intake import files, hints
from gpudoctor.intake.budget import Budget, TimeUp
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.report import InputFile
from gpudoctor.tools.kernel.line import line_of

END = 64 << 10  # bytes at the end of a log that are looked at for its newest time


class Tail:
    """The pieces of a log on their way to the parser, remembering its last bytes."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces, self.end = pieces, b""

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.pieces:
            self.end = (self.end + piece)[-END:] if len(piece) < END else piece[-END:]
            yield piece

    def newest(self, read_at: float) -> float:
        """The time of the last line that has one, 0 where none has."""
        lines = self.end.decode("utf-8", "replace").split("\n")
        return next((at for line in reversed(lines) if (at := line_of(line, read_at).time) is not None), 0.0)


def read(paths: Iterable[str], since: float | None, budget: Budget | None = None) -> Gathered:
    """The Xids, SXids and known messages of kernel logs; with `since`, only those of the last so many seconds before the newest time."""
    facts: Facts = {"xids": [], "sxids": [], "messages": [], "kernel_logs": [], "troubles": []}
    inputs: list[InputFile] = []
    newest = 0.0
    budget = budget or Budget()
    for source in files.read(paths, budget=budget, once=True):
        if source.note:
            inputs.append(InputFile(path=source.path, note=source.note))
            continue
        found: Facts = {}
        try:
            found, until = budget.spend(source.until, partial(of_one, source))
            newest = max(newest, until)
        except TimeUp as cut:
            source.note = str(cut)
        for kind, records in found.items():
            facts[kind].extend(records)
        if found:
            inputs.append(InputFile(path=source.path, recognised_as=["kernel.log"], facts=[sorted(found)], note=source.note))
        else:
            inputs.append(InputFile(path=source.path, note=source.note or "no line of a kernel log"))
    newest = max([newest, *(last_time(fact) or 0.0 for records in facts.values() for fact in records)])
    aged = {kind: [with_age(fact, newest) for fact in records] for kind, records in facts.items()}
    kept = {kind: records_since(records, newest, since) for kind, records in aged.items()} if since is not None else aged
    # What is no log says nothing; that there is no error in it is no answer.
    return Gathered(kept if any(one.recognised_as for one in inputs) else {}, inputs, newest)


def of_one(source: files.Source) -> tuple[Facts, float]:
    """The facts of one log, and its newest time. A date without a year is the latest one before the file was written."""
    tail = Tail(source.pieces())
    about = hints.of_section(source.path, "").about
    found = load("kernel.log")(pages(tail, source.path, source.written), about)  # type: ignore[arg-type]
    return found, tail.newest(source.written)


def pages(pieces: Iterable[bytes], path: str, read_at: float) -> Iterator[Output]:
    """The pieces as the pages of a command's answer, which is what parsers read."""
    for piece in pieces:
        yield Output(Command(()), pages=(piece,), time=read_at, source=path)


def last_time(fact: Any) -> float | None:
    """When the last line of a record was logged."""
    last: float | None = getattr(fact, "last", None)
    return last if last is not None else fact.time


def with_age(fact: Fact, newest: float) -> Fact:
    """A record with its age at the newest time of all logs: when the files were written says nothing about when things happened."""
    at = last_time(fact)
    return fact if at is None else msgspec.structs.replace(fact, age=max(0.0, newest - at) if newest else None)


def records_since(records: list[Fact], newest: float, since: float) -> list[Fact]:
    """The records of the last so many seconds. One without a date counts by the seconds since boot, against the latest of its host."""
    latest: dict[str, tuple[int, float]] = {}
    for one in records:
        uptime = getattr(one, "until", None)
        if last_time(one) is None and uptime is not None:
            node = getattr(one, "node", "")
            latest[node] = max(latest.get(node, (0, 0.0)), (getattr(one, "boot", 0), uptime))
    return [one for one in records if is_recent(one, newest, since, latest)]


def is_recent(one: Fact, newest: float, since: float, latest: dict[str, tuple[int, float]]) -> bool:
    """Whether a record is young enough; one that has no time at all is kept."""
    at = last_time(one)
    if at is not None:
        return newest - at <= since
    uptime = getattr(one, "until", None)
    if uptime is None:
        return True
    boot, end = latest[getattr(one, "node", "")]
    return bool(getattr(one, "boot", 0) == boot and end - uptime <= since)
