"""Where in a text a fact stands: parsers of objects know the answer as a whole, a person wants the line."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.facts import Fact, Facts, Origin
from gpudoctor.facts.kubernetes import Node
from gpudoctor.tools.parser import LINE

NAMELESS = "-unnamed-"  # stands for the name of a pod, container or node that a fragment doesn't show, while it is parsed
SEARCHES = 2000  # facts of one text that are looked up; a list of 50,000 pods keeps its first line
NEEDLE = 60  # characters of a message that are looked for: a wrapped line has fewer than the whole

# The fields whose value decides, the most telling first.
TELLING = ("message", "last_message", "last_reason", "reason", "status", "workload", "claim", "quota", "pod", "container", "node")


def remove_placeholders(facts: Facts) -> Facts:
    """Remove the placeholder for an unknown name from the facts."""
    return {kind: [_remove_placeholders(fact) for fact in records] for kind, records in facts.items()}


def _remove_placeholders(fact: Fact) -> Fact:
    changed: dict[str, Any] = {f: "" for f in ("pod", "node", "container") if getattr(fact, f, "") == NAMELESS}
    if NAMELESS in fact.origin.text:
        changed["origin"] = Origin(fact.origin.source, fact.origin.line, fact.origin.text.replace(NAMELESS, "").strip())
    return msgspec.structs.replace(fact, **changed) if changed else fact


def place_facts(facts: Facts, text: str, first: int, numbers: Sequence[int] = ()) -> Facts:
    """The facts with line numbers of the file: those that have one are moved by the section's beginning, the others are looked up.

    `first` is the number of the text's first line in its file; `numbers` are those of all its lines, where they don't follow one another.
    """
    if numbers:
        return {kind: [with_file_line(fact, numbers) for fact in records] for kind, records in place_facts(facts, text, 1).items()}
    starts: list[int] = []
    left = SEARCHES
    made: Facts = {}
    for kind, records in facts.items():
        made[kind] = []
        for fact in records:
            origin = fact.origin
            if origin.line:
                origin = Origin(origin.source, origin.line + first - 1, origin.text)
            else:
                at = find(fact, text) if left else -1
                left = max(0, left - 1)
                if at < 0 and text:
                    at = len(text) - len(text.lstrip())
                if at < 0:
                    origin = Origin(origin.source, first, origin.text)
                else:
                    if not starts:
                        starts = line_starts(text)
                    origin = line_at(origin.source, text, starts, at, first)
            made[kind].append(msgspec.structs.replace(fact, origin=origin))
    return made


def with_file_line(fact: Fact, numbers: Sequence[int]) -> Fact:
    """Return the fact with its line number in the file."""
    origin = fact.origin
    return msgspec.structs.replace(fact, origin=Origin(origin.source, numbers[min(origin.line, len(numbers)) - 1], origin.text))


def find(fact: Fact, text: str) -> int:
    """Where the text says what the fact says, -1 where that is not found word for word."""
    if isinstance(fact, Node) and text.count("Allocatable:") == 1:
        begins = text.find("Allocatable:")
        at = text.find("nvidia.com/", begins)
        return at if 0 <= at - begins < 600 else begins
    for needle in search_texts(fact):
        at = text.find(needle)
        if at >= 0:
            return at
    return -1


def search_texts(fact: Fact) -> Iterator[str]:
    """The texts to search for, the most specific first."""
    if type(fact).__name__ in ("Message", "ScheduleReason") and fact.origin.text:
        yield fact.origin.text[:NEEDLE]
    for field in TELLING:
        value = getattr(fact, field, "")
        if isinstance(value, str) and len(value) > 2:
            yield value.partition("/")[2] if field == "workload" else value.split("\n", 1)[0][:NEEDLE]


def line_starts(text: str) -> list[int]:
    """The offsets at which lines begin."""
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def line_at(source: str, text: str, starts: list[int], at: int, first: int) -> Origin:
    """The origin that is the line of an offset."""
    index = bisect.bisect_right(starts, at) - 1
    end = text.find("\n", at)
    line = text[starts[index] : end if end >= 0 else len(text)]
    # One line of JSON holds everything: what matters is around the place.
    offset = at - starts[index]
    shown = line[max(0, offset - 200) : offset + 2000] if len(line) > LINE else line
    return Origin(source, first + index, shown.strip())


def gaps(fact_type: type[Fact], shown: set[str], why: str) -> dict[str, str]:
    """The fields of a fact that a form of output doesn't show, each with the reason.

    >>> from gpudoctor.facts.kubernetes import Claim
    >>> gaps(Claim, {"namespace", "claim", "phase"}, "not shown")
    {'volume': 'not shown', 'storage_class': 'not shown'}
    """
    return {f: why for f in fact_type.__struct_fields__ if f not in shown and f not in ("origin", "time", "gaps", "stated", "target")}
