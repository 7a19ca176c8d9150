"""Long logs of kernels and programs, none of which depends on another: two processes read them, where there is much of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import FACTS
from gpudoctor.intake import files, hints, long_texts, section_facts
from gpudoctor.intake.budget import UNREAD, Budget, TimeUp
from gpudoctor.intake.split import Section
from gpudoctor.probes.base import Output
from gpudoctor.tools.form import Form
from gpudoctor.tools.parser import mistake

FIRST = 0.45  # of the bytes are the first process's share: it reads the short texts too


class Log(NamedTuple):
    """One such log: `kind` is what reads it, `now` when it was written."""

    source: files.Source
    kind: Form
    hint: hints.Hint
    now: float


class Read(msgspec.Struct):
    """What one says: records by fact type, what it was recognised as, what went wrong."""

    facts: dict[str, list[Any]] = {}
    names: list[str] = []
    note: str = ""
    untold: int = 0  # bytes of it that another process has read, and could not tell of


def read(logs: Sequence[Log], tick: Callable[[int], None], budget: Budget) -> Iterator[Read]:
    """What each of them says, in order; `tick` is told of the bytes that are read."""
    from gpudoctor.cores import share_work

    here = os.getpid()

    def work(part: Sequence[Log]) -> Iterator[Read]:
        tell, untold = (tick, 0) if os.getpid() == here else (lambda size: None, 1)
        for log in part:
            try:
                made = Read(note=UNREAD) if budget.up else budget.spend(budget.turn(), partial(of_one, log, tell))
            except TimeUp as cut:
                made = Read(note=str(cut))
            except Exception as error:  # of ours: the other logs still count
                made = Read(note=mistake("analyze", log.source.path, error))
            made.untold = untold * log.source.size
            yield made

    for made in share_work(logs, [log.source.size for log in logs], work, Read, FIRST):
        tick(made.untold)
        made.facts = {kind: of_type(FACTS[kind], records) for kind, records in made.facts.items()}
        yield made


def of_type(kind: type, records: list[Any]) -> list[Any]:
    """Records as they were made here, or plain from another process."""
    return [record if isinstance(record, kind) else msgspec.convert(record, kind) for record in records]


def of_one(log: Log, tick: Callable[[int], None]) -> Read:
    """What one log says."""
    section = Section(log.source.path, 1, "")

    def pages() -> Iterator[Output]:
        for piece in log.source.pieces():
            tick(len(piece))
            yield section_facts.as_output(section, (piece,), log.hint, log.now)

    facts = long_texts.read_log(pages(), log.kind, log.hint.about)
    if not facts:  # {} is no kernel log
        return Read(note=log.source.note)
    names = [log.kind.name, *([long_texts.PACE] if facts.get("paces") else [])]
    return Read({**facts}, names, log.source.note)
