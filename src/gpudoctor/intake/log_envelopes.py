"""Logs as collectors and viewers write them: every line in an envelope that names its time, and often its pod and container.

Docker's json-file, CRI's files, `kubectl logs --prefix`, stern, kail, `docker compose logs`, the journal's JSON, and exports of Loki,
Elasticsearch, CloudWatch, Google and Datadog. What stood in the envelope is taken out: one text for each pod and container, with the
numbers of its lines in the file. What `kubectl logs --timestamps` prints is a log as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gpudoctor.facts import Subject
from gpudoctor.intake.envelope_lines import Entry, csv_entries, json_entry, whole_entries
from gpudoctor.patterns import regex
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.parser import LINE

SAMPLE = 60  # lines that decide
STREAMS = 2000  # pods and containers of one text
NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)"
# [pod/train-0/main] text  |  [pod/train-0/main] 2026-03-01T12:00:00.1Z text
PREFIX = regex(rf"^\[pod/(?P<pod>{NAME})/(?P<container>{NAME})\] (?:(?P<stamp>{STAMP}) )?(?P<text>.*)$")
# 2026-03-01T12:00:00.123456789+01:00 stderr F text      (P: the line goes on in the next)
CRI = regex(rf"^(?P<stamp>{STAMP}) std(?:out|err) (?P<part>[FP]) ?(?P<text>.*)$")
# ml/train-0[main]: text                     (kail)
KAIL = regex(rf"^(?P<namespace>{NAME})/(?P<pod>{NAME})\[(?P<container>{NAME})\]: (?P<text>.*)$")
# train-0 main text  |  ml train-0 main text  (stern; its own lines begin with + and -)
STERN = regex(rf"^(?:(?P<namespace>{NAME}) )?(?P<pod>{NAME}-[a-z0-9-]{{1,63}}) (?P<container>{NAME}) (?:(?P<stamp>{STAMP}) )?(?P<text>.*)$")
# + train-0 \u203a main
STERN_SAYS = regex(rf"^[+-] {NAME}(?: \u203a {NAME})+$")
# trainer-1  | text                           (docker compose logs)
COMPOSE = regex(r"^[A-Za-z][\w.-]{0,62}-\d{1,3} +\| (?P<text>.*)$")


class Stream(NamedTuple):
    """The lines of one origin. `bare` are the texts, `stamped` the same with their time in front where they show none."""

    about: Subject
    bare: list[str]
    stamped: list[str]
    numbers: list[int]


def of_pattern(pattern: re.Pattern[str]) -> Callable[[list[str]], Iterator[Entry]]:
    """Entries of lines of one form; a line that has another one goes on with what came before it."""

    def entries(lines: list[str]) -> Iterator[Entry]:
        about, open_ = Subject(kind="cluster"), None
        for number, line in enumerate(lines):
            match = pattern.match(line)
            if match is None:
                if line.strip() and not STERN_SAYS.match(line):
                    yield Entry(about, "", line, number)
                continue
            found = match.groupdict()
            if found.get("pod"):
                about = Subject(kind="pod", namespace=found.get("namespace") or "", pod=found["pod"], container=found["container"] or "")
            entry = Entry(about, found.get("stamp") or "", found["text"], number)
            if open_ is not None:  # the first part has the time and the place
                entry = open_._replace(text=open_.text + entry.text)
            open_ = entry if found.get("part") == "P" else None
            if open_ is None:
                yield entry
        if open_ is not None:
            yield open_

    return entries


def of_json(lines: list[str]) -> Iterator[Entry]:
    """Entries of one JSON object a line. Docker cuts long lines: what doesn't end in a line end goes on in the next."""
    open_: Entry | None = None
    for number, line in enumerate(lines):
        entry = json_entry(line, number)
        if entry is None:
            if line.strip():
                yield Entry(Subject(kind="cluster"), "", line, number)
            continue
        if open_ is not None and entry.part is not None:
            entry = entry._replace(text=open_.text + entry.text, number=open_.number, stamp=open_.stamp)
        open_ = entry if entry.part else None
        if open_ is None:
            yield entry
    if open_ is not None:
        yield open_


# The share of lines that a form must have, and how it is read; the first that fits.
FORMS: tuple[tuple[Callable[[str], object], float, Callable[[list[str]], Iterator[Entry]]], ...] = (
    (lambda line: line.startswith("{") and json_entry(line, 0), 0.8, of_json),
    (CRI.match, 0.8, of_pattern(CRI)),
    (PREFIX.match, 0.8, of_pattern(PREFIX)),
    (KAIL.match, 0.8, of_pattern(KAIL)),
    (COMPOSE.match, 0.9, of_pattern(COMPOSE)),
    (lambda line: STERN.match(line) or STERN_SAYS.match(line), 1.0, of_pattern(STERN)),
)


def streams(text: str) -> list[Stream]:
    """The streams of an exported log, [] for any other text."""
    whole = whole_entries(text) or csv_entries(text)
    if whole:
        return group_entries(whole)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    sample = [line[:LINE] for line in lines[: SAMPLE * 4] if line.strip()][:SAMPLE]
    if len(sample) < 2 and not (sample and sample[0].startswith("{")):
        return []
    for fits, share, read in FORMS:
        fitting = [line for line in sample if fits(line)]
        if fitting and len(fitting) >= share * len(sample) and (not STERN.match(fitting[0]) or repeats(fitting)):
            return group_entries(read(lines))
    return []


def repeats(lines: list[str]) -> bool:
    """Whether lines that begin with two names are stern's: the same pod and container speak again and again; a table has each name once."""
    pairs = [match.group("pod", "container") for line in lines if (match := STERN.match(line))]
    return len(pairs) >= 3 and len(set(pairs)) * 3 <= len(pairs)


def group_entries(entries: Iterable[Entry]) -> list[Stream]:
    """The entries by where they come from, in the order of their first."""
    made: dict[Subject, Stream] = {}
    for entry in entries:
        stream = made.get(entry.about)
        if stream is None:
            if len(made) >= STREAMS:
                continue
            stream = made[entry.about] = Stream(entry.about, [], [], [])
        for line in entry.text.rstrip("\n").split("\n"):
            timed = not entry.stamp or line_time(line) is not None
            stream.bare.append(line)
            stream.stamped.append(line if timed else f"{entry.stamp} {line}")
            stream.numbers.append(entry.number + 1)
    return list(made.values())
