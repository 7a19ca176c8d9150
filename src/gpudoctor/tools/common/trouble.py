"""What a text itself says is not well, found in one pass over it: beside the known messages where a log is scanned for them anyway.

Lines that differ in numbers alone are one record. Who explains it, or that it is harmless, is decided where everything is known
(`engine.trouble`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.program import Trouble
from gpudoctor.knowledge.xids import book
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import Hit, find, harmless, scanner
from gpudoctor.tools.common.scanner import Scanner, compile_scanner, single_pattern
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.common.trouble_forms import AGAIN, EVENT, FORMS, HINT, NONE, NUMBERED, OURS, PASSING, RAISED, TIMES, TRACE, Form
from gpudoctor.tools.common.xid_line import sxid_of, xid_of
from gpudoctor.tools.parser import LINE

MARK = "=trouble"
MARKS = ((MARK, HINT),)
LOOKED_AT = 2_000  # lines of one text that may be trouble
DIFFERENT = 2_000  # of them, apart from their numbers, are looked at closely
KEPT = 50  # records of one text
LONGEST = 500  # characters of a line that are kept
TRACED = 400  # lines that a traceback has at most
NUMBER = regex(r"0x[0-9a-f]+|\d+")
ZEROS = str.maketrans("123456789", "0" * 9)
XID = regex(r"Xid \(PCI:")


class Alike:
    """Lines that differ in numbers alone: the record of the first one, None for what is no trouble; how many, and the last."""

    __slots__ = ("count", "first", "last")

    def __init__(self, first: Trouble | None, last: str) -> None:
        self.first, self.count, self.last = first, 1, last

    def again(self, last: str) -> None:
        """One more."""
        self.count += 1
        self.last = last


class Troubles:
    """Those of one text, while it is scanned; `get` tells the scanner how many lines of a block are still looked at."""

    def __init__(self, about: Subject) -> None:
        self.about = about
        self.found: dict[str, Alike] = {}  # by the line without its numbers
        self.seen: dict[str, Alike] = {}  # the same by the line with zeros for digits, which is made faster
        self.number, self.text, self.marked = 0, "", False  # the line that is read
        self.names: list[str] = []  # of the messages on it
        self.trace: Trouble | None = None  # that is open
        self.looked = self.kept = self.left_out = 0

    def __iter__(self) -> Iterator[str]:
        return iter((MARK,))

    def get(self, name: str) -> int | None:
        """How many lines of a kind are looked at in the next block, None for all."""
        if name != MARK:
            return None
        self.left_out += self.looked >= LOOKED_AT
        return max(0, LOOKED_AT - self.looked)

    def count(self, name: str, line: str) -> None:
        """A line was found, of which `hit` tells."""

    def hit(self, hit: Hit) -> None:
        """A line that says something known, or that may be trouble; one with several things comes several times."""
        if hit.line != self.number:
            if self.marked:
                self.close()
            self.number, self.text = hit.line, hit.text
            if self.names:
                self.names = []
        if hit.name == MARK:
            self.marked = True
            self.looked += 1
        elif hit.name[0] != "=":
            self.names.append(hit.name)

    def close(self) -> None:
        """The line is complete."""
        self.marked = False
        zeros = self.text.translate(ZEROS)
        if self.trace is None and (known := self.seen.get(zeros)):
            known.again(self.text)
            return
        text = self.text.strip()[:LONGEST]
        if TRACE in text:
            self.end_trace()
            self.trace = self.current_record(text, "fatal")
        elif self.trace is not None and self.number - self.trace.origin.line <= TRACED and exception_pattern().search(text):
            self.trace = msgspec.structs.replace(self.trace, text=text, lines=self.number - self.trace.origin.line + 1, known=[*self.names])
        elif len(self.found) < DIFFERENT:
            shape = NUMBER.sub("0", text)
            known = self.found.get(shape)
            if known is not None:
                known.again(self.text)
            else:
                level = level_of(self.text, self.about)
                known = self.add(shape, self.current_record(text, level) if level else None)
            if len(self.seen) < DIFFERENT:
                self.seen[zeros] = known
        else:
            self.left_out += 1

    def end_trace(self) -> None:
        """A traceback is complete: the next one begins, or the text ends."""
        if self.trace is not None:
            shape = NUMBER.sub("0", self.trace.text)
            known = self.found.get(shape)
            if known is not None and known.first is not None:
                known.again(self.trace.text)
            else:
                self.add(shape, self.trace)
            self.trace = None

    def add(self, shape: str, made: Trouble | None) -> Alike:
        """Keep one; of very many the first ones."""
        if made is not None:
            self.kept += 1
            self.left_out += self.kept > KEPT
        known = self.found[shape] = Alike(made if self.kept <= KEPT else None, self.text)
        return known

    def current_record(self, text: str, level: str) -> Trouble:
        """The record of the line that is read."""
        about, event = self.about, EVENT.match(self.text)
        return Trouble(
            level=level,
            text=text,
            known=[*self.names, *(hit.name for hit in find([text.encode("utf-8", "replace")], harmless()))],
            event=event[1] if event else "",
            **about.keys,
            origin=Origin("", self.number, text),
        )

    def records(self, source: str, end: str, now: float) -> list[Trouble]:
        """All of a source whose last lines are `end`, and that was read at `now`."""
        if self.marked:
            self.close()
        self.end_trace()
        last = next((line.strip()[:LONGEST] for line in reversed(end.split("\n")) if line.strip()), "")
        made = []
        for one, count, said in ((alike.first, alike.count, alike.last) for alike in self.found.values() if alike.first):
            when = line_time(said, now)
            made.append(
                msgspec.structs.replace(
                    one,
                    origin=Origin(source, one.origin.line, one.origin.text),
                    count=count,
                    final=last in (said.strip()[:LONGEST], one.text),
                    time=when,
                    age=max(0.0, now - when) if when is not None and now else None,
                )
            )
        if self.left_out:
            made.append(Trouble(level="error", text="more lines say trouble than were looked at", origin=Origin(source)))
        return made


def of_text(text: str, about: Subject, source: str, now: float = 0.0) -> list[Trouble]:
    """Those of a text that nobody scans for known messages."""
    made = Troubles(about)
    data = text.encode("utf-8", "replace")
    for hit in find([data], marks(), made):
        names = list(find([hit.text.encode("utf-8", "replace")], scanner())) if level_of(hit.text, about) else []
        for known in names:
            made.hit(known._replace(line=hit.line))
        made.hit(hit)
    return made.records(source, text[-LINE:], now)


@functools.cache
def marks() -> Scanner:
    """The forms alone, and the numbered errors."""
    return compile_scanner([(MARK, f"{HINT}|{NUMBERED.pattern}")])


@functools.cache
def exception_pattern() -> Any:
    """The pattern of a traceback's last line."""
    return single_pattern(RAISED)


@functools.cache
def forms() -> list[tuple[Form, Any]]:
    """The forms, compiled one by one when the first line is looked at."""
    return [(form, single_pattern(form.pattern)) for form in (*FORMS, NUMBERED)]


def level_of(line: str, about: Subject) -> str:
    """How bad a line is by its program's own word, "" where it isn't.

    >>> [level_of(line, Subject(kind="cluster")) for line in ("srun: error: task 3: Exited with exit code 1", "ERROR 0", "error: 0.02")]
    ['error', '', '']
    """
    text = line.strip()
    none: bool | None = None
    for form, pattern in forms():
        if not pattern.search(line.rstrip()) or (form.ours and not (about.component or OURS.search(text))):
            continue
        if form.word:
            none = any(one.search(text) for one in NONE) if none is None else none
            if none:
                continue
        return "" if is_transient(line) else form.level
    return ""


def is_transient(line: str) -> bool:
    """Whether a line is what comes and goes: an Xid that only tells, a warning of Kubernetes that came a few times."""
    if XID.search(line):
        switch, error = sxid_of(line), xid_of(line)
        if switch is not None:
            return switch.severity == "nonfatal"
        known = book().xid(error.code) if error is not None else None
        return known is not None and known.severity == "info"
    event = EVENT.match(line)
    times = TIMES.search(line)
    return event is not None and comes_and_goes(event[1], int(times[1]) if times else 1)


def comes_and_goes(reason: str, count: int) -> bool:
    """Whether a Warning event is one of those of a cluster that is well."""
    return bool(PASSING.match(reason)) and count <= AGAIN


def of_hits(hits: Iterable[Hit], troubles: Troubles) -> Iterator[Hit]:
    """The hits of a scan as they come, without the marks of trouble, which `troubles` is told of."""
    for hit in hits:
        troubles.hit(hit)
        if hit.name != MARK:
            yield hit
