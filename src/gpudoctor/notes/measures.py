"""What tools, logs and notes state as a number → measures, and the one of many rows of a table that is slower than the others.

Each reader looks for its own lines among all others, so that an output is read wherever it was pasted: machines (`measures_host`,
`measures_heat`), services (`measures_service`, `measures_sweep`, `measures_load`), programs (`measures_work`, `measures_places`), tables of
ranks and of runs (`odd_rows`), of GPUs that nobody used (`measures_accounts`), of copies that differ (`measures_alike`), of
expressions of PromQL (`measures_queries`), of settings and of what became of pods (`measures_trials`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.stall import Pace
from gpudoctor.notes.comparison_tables import runs, slow_rows
from gpudoctor.notes.measure import Line, Reading, measure
from gpudoctor.notes.measures_accounting import accounts
from gpudoctor.notes.measures_host import host
from gpudoctor.notes.measures_latency import service
from gpudoctor.notes.measures_load import load
from gpudoctor.notes.measures_load_tests import sweep
from gpudoctor.notes.measures_places import places
from gpudoctor.notes.measures_promql import queries
from gpudoctor.notes.measures_step_time import program_figures
from gpudoctor.notes.measures_temperature import heat
from gpudoctor.notes.measures_trials import trials
from gpudoctor.notes.measures_unequal import unequal_devices
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.parser import LINE, ParseError

MOST = 50_000  # lines of one text
LONG, ALIKE, LAST = 2_000, 200, 200  # lines of a text of which those that differ in numbers alone are so many at most, and the last ones
READERS = (host, heat, service, sweep, load, program_figures, runs, unequal_devices, queries)
TOLD = (places, trials, accounts)  # of what people write down themselves
SHAPE = 200  # characters of a line that tell what it is like
DIGITS = regex(r"\d+")
# 2026-03-01T11:59:36.100000000Z of `kubectl logs --timestamps`
STAMP = regex(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ")


def numbered_lines(text: str, argv: Sequence[str] = ()) -> list[Line]:
    """The lines that are looked at, numbered from 1, without the time that the container runtime put before them; as line 0 the command."""
    asked = [(0, f"$ {' '.join(argv)}"[:LINE])] if argv else []
    lines = [(number, STAMP.sub("", line[:LINE]).rstrip("\r")) for number, line in enumerate(text.split("\n")[:MOST], 1) if line.strip()]
    return asked + (lines if len(lines) <= LONG else [*distinct_lines(lines[:-LAST]), *lines[-LAST:]])


def distinct_lines(lines: list[Line]) -> Iterator[Line]:
    """The lines without most of those that are alike but for their numbers."""
    seen: Counter[str] = Counter()
    for number, line in lines:
        shape = DIGITS.sub("0", line[:SHAPE])
        seen[shape] += 1
        if seen[shape] <= ALIKE:
            yield number, line


def readings(lines: list[Line]) -> list[Reading]:
    """What all readers find."""
    return [one for reader in (*READERS, *TOLD) for one in reader(lines)]


def measures(output: Output, about: Subject) -> Facts:
    """A Measure for each number, a Pace for each table in which one row stands out."""
    text = plain_text(output)
    if not text.strip() and output.failure:
        raise ParseError(f"{output.origin_name()}: no text")
    lines = numbered_lines(text, output.command.argv)
    place = {"node": about.node, "namespace": about.namespace, "pod": about.pod}
    paces = [
        Pace(slowest=one.slowest, slowest_by=one.factor, origin=one.origin(output.origin_name()), **place)  # type: ignore[arg-type]
        for one in slow_rows(lines)
    ]
    printed = [measure(one, output.origin_name(), place) for reader in READERS for one in reader(lines)]
    told = [msgspec.structs.replace(measure(one, output.origin_name(), place), stated=True) for reader in TOLD for one in reader(lines)]
    return {"measures": [*printed, *told], "paces": [*paces]}
