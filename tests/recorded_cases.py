"""The paired cases of the runbooks, executed: as they are recorded, by another probe, or by a library that knows less."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gpudoctor.engine.cases import inputs_of
from gpudoctor.engine.diagnose import conclusions
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import NotThere, Run
from gpudoctor.library.index import library, runbooks_folder
from gpudoctor.probes.base import Probe
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Report
from gpudoctor.runbook import load
from gpudoctor.runbook.model import Check, Library
from gpudoctor.runbook.paired import Case

BOOKS = sorted(runbooks_folder().glob("*.test.yaml"))


class Recorded(NamedTuple):
    """A paired case with what it is asked and what it was answered."""

    case: Case
    book: str
    inputs: dict[str, Any]
    replay: Replay


def recorded(path: Path) -> Iterator[Recorded]:
    """The cases of a test file."""
    test, _ = load.paired_test(path)
    assert test is not None
    book = library().runbooks[test.runbook.removesuffix(".yaml")]
    for case in test.cases:
        replay = Replay(path.parent / test.fixtures / case.bundle)
        yield Recorded(case, book.id, inputs_of(book, {**replay.bundle.inputs, **case.inputs}, case.inputs), replay)


def problems(path: Path, part: float, seed: str) -> Iterator[Recorded]:
    """A part of the cases that end in a problem, another one for each seed."""
    chance = random.Random(f"{seed} {path.name}")
    return (one for one in recorded(path) if one.case.verdict == "problem" and chance.random() < part)


def executed(book: str, inputs: dict[str, Any], probe: Probe, known: Library | None = None) -> tuple[Run, Report] | None:
    """What a runbook does and reports; None where what it is asked about isn't there."""
    known = known or library()
    try:
        run = Engine(known, probe, recorded=True, consent=True).execute(known.runbooks[book], inputs)
    except NotThere:
        return None
    return run, conclusions(known, run, asked="", started=0.0)[0]


def without(causes: set[str]) -> Library:
    """The library as if nobody knew some causes: their checks find nothing."""

    def blind(one: Check) -> Check:
        return msgspec.structs.replace(one, when="false", joins=[]) if one.finds in causes else one

    books = {
        name: msgspec.structs.replace(book, steps=[msgspec.structs.replace(one, checks=[*map(blind, one.checks)]) for one in book.steps])
        for name, book in library().runbooks.items()
    }
    return msgspec.structs.replace(library(), runbooks=books)
