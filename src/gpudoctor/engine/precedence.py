"""Which of two causes speaks where one line shows both, or where one is declared to yield to the other; rules needn't say it.

One line has one root. Of two causes of one statement that don't explain each other an error overrides what only wraps it, the more certain
one the less certain, and the precise one its class; a candidate gives way only to what is confirmed. Faults that are seen in different
lines stand side by side.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from gpudoctor.engine import relate
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.relate import CONFIDENCE_ORDER, Found, Nearby
from gpudoctor.facts import Fact
from gpudoctor.facts.identity import Links, has_no_place
from gpudoctor.facts.kernel import Sxid, Xid
from gpudoctor.facts.kubernetes import Message
from gpudoctor.facts.program import Ending
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Library
from gpudoctor.tools.common.scanner import single_pattern

Place = tuple[str, int, str]  # source, number of the line; of what has no number the text
# Records that are what one line states. A record of a thing (a GPU, a pod) has many properties, and several may be wrong at once.
STATEMENTS = (Message, Xid, Sxid, Ending)
# From an error to its reason, where one line tells both: `: `, `: exec: `, `caused by`. A new sentence is about something else.
LEADS_ON = regex(r":(?:[\s\"'\\]|\Z)|\b(?:caused|because|due to)\b")
ANEW = (". ", "; ")
END = 12  # characters at the end of a known message that may lead on to its reason


class Said(NamedTuple):
    """A statement: its place, its line, and of a known message its name."""

    place: Place
    text: str
    name: str = ""


def draw_conclusions(library: Library, checked: list[Checked], links: Links) -> list[Found]:
    """The causes on their subjects, with what overrides them; those that nothing overrides with who explains whom."""
    found = relate.gather(library, checked, links)
    mark_overridden(library, found, links)
    relate.relate(library, not_overridden(found), links)
    return found


def not_overridden(found: list[Found]) -> list[Found]:
    """The causes that no other cause overrides."""
    return [one for one in found if not one.overridden_by]


def mark_overridden(library: Library, found: list[Found], links: Links) -> None:
    """Note which causes are overridden, and by which. What is only possible, or overridden itself, overrides nothing."""
    told = [(one, [statement(hit.record) for hit in one.hits]) for one in found]
    rows: dict[Place, list[tuple[Found, Said]]] = {}
    for one, said in told:
        for line in said:
            if line is not None:
                rows.setdefault(line.place, []).append((one, line))
    rivals = Rivals(library, found, links)
    contested = {name for one in found for name in (one.cause.id, *one.cause.yields_to) if one.cause.yields_to}
    nearby = Nearby(found, links) if contested else None
    for one, said in told:
        beside = nearby.of(one) if nearby and one.cause.id in contested else []
        winners = [other for other in beside if rivals.may_yield(other, one)]
        by_line = [[other for other, line in rows[mine.place] if rivals.in_line(other, line, one, mine)] for mine in said if mine]
        if by_line and len(by_line) == len(said) and all(by_line):  # in each of its lines, and it rests on nothing else
            winners += [other for line in by_line for other in line]
        one.overridden_by = list({id(other): other for other in winners if not other.overridden_by}.values())
        for other in one.overridden_by:
            other.overrides.append(one)


def statement(record: Fact | None) -> Said | None:
    """What a record states, None where it is no statement of one line."""
    if not isinstance(record, STATEMENTS) or not record.origin.source:
        return None
    at = record.origin
    return Said((at.source, at.line, "" if at.line else at.text), at.text, record.name if isinstance(record, Message) else "")


class Rivals:
    """Which of two causes overrides the other."""

    def __init__(self, library: Library, found: list[Found], links: Links) -> None:
        self.links = links
        self.reach = {name: relate.brought_about(library, name) for name in {one.cause.id for one in found}}
        self.patterns = {message.name: message.pattern for message in library.messages}

    def may(self, winner: Found, loser: Found) -> bool:
        """Whether one may override the other at all: it is decided, none explains the other, and information silences no alarm."""
        names = winner.cause.id, loser.cause.id
        apart = names[0] != names[1] and names[1] not in self.reach[names[0]] and names[0] not in self.reach[names[1]]
        weighs = loser.severity == "info" or winner.severity != "info"
        return apart and weighs and winner.confidence != "possible"

    def may_yield(self, winner: Found, loser: Found) -> bool:
        """Whether the catalogue lets one of them yield to the other, on linked subjects: the more certain one stays, else the one named."""
        if not self.may(winner, loser) or not relate.can_bring_about(winner, loser, self.links):
            return False
        by = certainty(loser) - certainty(winner)
        yields = winner.cause.id in loser.cause.yields_to
        return (yields and by >= 0) or (loser.cause.id in winner.cause.yields_to and by > 0)

    def in_line(self, winner: Found, its: Said, loser: Found, own: Said) -> bool:
        """Whether one of two causes that are seen in one line overrides the other."""
        subjects = winner.subject, loser.subject
        tied = self.links.are_linked(*subjects) or any(map(has_no_place, subjects))  # the line ties them
        if not tied or not self.may(winner, loser):
            return False
        if its.name and own.name and its.name != own.name:
            inner = message_order(own.text, self.patterns.get(own.name, ""), self.patterns.get(its.name, ""))
            if inner is None:
                return False  # it lists two things
            if inner and (winner if inner > 0 else loser).cause.broader <= (loser if inner > 0 else winner).cause.broader:
                return inner > 0
        if loser.confidence == "possible":  # beside a likely cause of the same line another one still is possible
            return winner.confidence == "confirmed"
        by = certainty(loser) - certainty(winner)
        return by > 0 or (by == 0 and loser.cause.broader > winner.cause.broader)


def certainty(one: Found) -> int:
    """How sure a cause is; less is surer."""
    return CONFIDENCE_ORDER[one.confidence]


def message_order(line: str, first: str, second: str) -> int | None:
    """How two known messages lie in a line: 1 where the first leads on to the second, which is its reason, -1 the other way round, 0 where
    they overlap, None where the line tells two things beside each other.

    >>> message_order("import failed: mkdir /run/x: Permission denied", "import failed", "Permission denied")
    1
    >>> message_order("2 had a taint. 1 is full", "had a taint", "is full")
    """
    one, other = pattern_span(line, first), pattern_span(line, second)
    if one is None or other is None:
        return None
    if other[1] <= one[0]:
        back = message_order(line, second, first)
        return None if back is None else -back
    if one[1] > other[0]:
        return 0
    between = line[max(one[0], one[1] - END) : other[0]]
    return 1 if LEADS_ON.search(between) and not any(mark in between for mark in ANEW) else None


@functools.lru_cache(maxsize=1024)
def pattern_span(line: str, pattern: str) -> tuple[int, int] | None:
    """The span of a known message in its line."""
    found = single_pattern(pattern).search(line) if pattern else None
    return found.span() if found else None
