"""What was said to be not well and no finding explains: then nothing is called healthy, and it is named.

It is a line that a program marks itself (`tools.common.trouble`), a Warning event, or a bad value of those that `knowledge/signs.yaml`
names.
A finding explains what its evidence says; what a log says beside the evidence of a problem is taken for a part of that.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpudoctor.engine.evaluate import evaluate
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.store import Store
from gpudoctor.facts import Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.kubernetes import Event, Message
from gpudoctor.facts.program import Trouble
from gpudoctor.knowledge.compiled import Harmless
from gpudoctor.patterns import regex
from gpudoctor.report import Finding, Unexplained
from gpudoctor.runbook.model import Library
from gpudoctor.tools.common.trouble import comes_and_goes

MOST = 50  # that are named
HISTORY = 86_400.0  # s: what an error of yesterday did is seen in the state of today; the end of a program is its end
LEVELS = ("fatal", "error", "warning")
NUMBER = regex(r"\d+")
QUOTED = regex(r'"(\w+)"')

Place = tuple[str, int]  # source, number of the line


class Sign(msgspec.Struct, frozen=True):
    """One thing that isn't well: where it was read, in what words, how bad, whom it is about, and the known messages that say it."""

    origins: list[Origin]
    text: str
    level: str
    subject: Subject | None  # None of a line, which says only what it says
    names: frozenset[str] = frozenset()
    count: int = 1
    lines: int = 1


def unexplained_troubles(library: Library, store: Store, checked: list[Checked], decided: list[Finding]) -> list[Unexplained]:
    """What is left, the worst first. What differs in numbers alone is one entry."""
    known = Known(library, store)
    told = Told(library, known, checked, decided)
    left: dict[str, Unexplained] = {}
    seen: set[Place] = set()
    signs = [*lines(store, known), *warnings(store, known), *values(library, store, known)]
    for sign in sorted(signs, key=lambda one: LEVELS.index(one.level)):
        first = sign.origins[0] if sign.origins else Origin()
        place = (first.source, first.line)
        if told.explains(sign) or (first.line and place in seen):
            continue
        seen.add(place)
        shape = NUMBER.sub("0", sign.text)
        if other := left.get(shape):
            left[shape] = msgspec.structs.replace(other, count=other.count + sign.count)
        elif len(left) < MOST:
            left[shape] = Unexplained(source=first.source, line=first.line, text=sign.text, count=sign.count)
    return list(left.values())


class Known:
    """The known messages that were read, by their place, and which of them are harmless."""

    def __init__(self, library: Library, store: Store) -> None:
        self.entries = {entry.name: entry for entry in (*library.messages, *library.harmless)}
        self.at: dict[Place, set[str]] = {}
        for one in store.records("messages"):
            if isinstance(one, Message):
                self.at.setdefault((one.origin.source, one.origin.line), set()).add(one.name)

    def names(self, origins: list[Origin]) -> frozenset[str]:
        """The messages that lines say."""
        return frozenset(name for one in origins for name in self.at.get((one.source, one.line), ()))

    def harmless(self, names: frozenset[str], count: int, final: bool) -> bool:
        """Whether a line says what is harmless for a reason, which holds for so many of them at this place."""
        reasons = [reason for name in names if (entry := self.entries.get(name)) and (reason := entry.harmless)]
        return bool(reasons) and all(is_harmless(reason, count, final) for reason in reasons)


def is_harmless(reason: Harmless, count: int, final: bool) -> bool:
    """Whether the condition that makes a message harmless holds."""
    return (not reason.at_most or count <= reason.at_most) and not (reason.not_last and final)


class Told:
    """What the findings tell of."""

    def __init__(self, library: Library, known: Known, checked: list[Checked], decided: list[Finding]) -> None:
        hits = [(one, hit) for one in checked if one.outcome == "found" and one.check.finds for hit in one.hits]
        grave = {one.cause for one in decided if one.severity != "info"}
        self.places = {(origin.source, origin.line) for _, hit in hits for origin in hit.origins}
        self.subjects = {(origin.source, hit.subject) for _, hit in hits for origin in hit.origins}
        self.sources = {origin.source for one, hit in hits if one.check.finds in grave for origin in hit.origins}
        self.names = {name for _, hit in hits for name in known.names(hit.origins)} | consequences(library, known, decided)

    def explains(self, sign: Sign) -> bool:
        """Whether a finding is about a sign: by its line or block, its message, or its subject in the same answer."""
        if not self.names.isdisjoint(sign.names):
            return True
        return any(
            one.source in self.sources
            or (one.source, sign.subject) in self.subjects
            or any((one.source, line) in self.places for line in range(one.line, one.line + sign.lines))
            for one in sign.origins
        )


def consequences(library: Library, known: Known, decided: list[Finding]) -> set[str]:
    """The messages by which checks find what the catalogue says that a finding explains."""
    causes = {other for one in decided if one.cause in library.causes for other in library.causes[one.cause].explains}
    if not causes:
        return set()
    checks = (check for book in library.runbooks.values() for check in book.checks() if check.finds in causes)
    return {name for check in checks for name in QUOTED.findall(check.when) if name in known.entries}


def lines(store: Store, known: Known) -> Iterator[Sign]:
    """The lines that programs mark. An event that was read as one is judged as that."""
    events = {(one.origin.source, one.origin.line) for one in store.records("events")}
    for one in store.records("troubles"):
        if not isinstance(one, Trouble) or (one.event and (one.origin.source, one.origin.line) in events):
            continue
        if one.age is not None and one.age > HISTORY and one.level != "fatal":
            continue
        names = frozenset(one.known) | known.names([one.origin])
        if not known.harmless(names, one.count, one.final):
            yield Sign([one.origin], one.text, one.level, None, names, one.count, one.lines)


def warnings(store: Store, known: Known) -> Iterator[Sign]:
    """The Warning events, but those that come a few times in a cluster that is well, or after which all went on."""
    events = [one for one in store.records("events") if isinstance(one, Event)]
    went_on: dict[Subject, float] = {}
    for one in events:
        if one.type == "Normal" and one.age is not None:
            went_on[one.subject()] = min(one.age, went_on.get(one.subject(), one.age))
    for one in events:
        if one.type != "Warning" or comes_and_goes(one.reason, one.count):
            continue
        later = one.age is not None and went_on.get(one.subject(), one.age) < one.age
        names = known.names([one.origin])
        if not (later and comes_and_goes(one.reason, 1)):
            yield Sign([one.origin], f"{one.reason} {one.kind}/{one.name}: {one.message}", "warning", one.subject(), names, one.count)


def values(library: Library, store: Store, known: Known) -> Iterator[Sign]:
    """The bad values that are named as such."""
    book = library.signs
    for check in book.checks():
        for hit in evaluate(book, check, {}, store).hits:
            names = known.names(hit.origins)
            if not known.harmless(names, 1, final=False):
                yield Sign(hit.origins, hit.title, "error", hit.subject, names)
