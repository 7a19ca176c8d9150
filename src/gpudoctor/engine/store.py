"""The fact store: every parser's records by type. Checks read only this.

Records carry the order of the step that read them, so that what a check sees never depends on which command answered first. Two
records with the same identity (the same pod read by two commands) become one: the earlier one, completed by the later.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any

import msgspec

from gpudoctor.derive import DERIVED
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.identity import identity_of

FINAL = 1_000_000  # an order after every step: the whole store

Place = tuple[int, int]  # the order of a step, and the number of its command
Index = dict[tuple[Any, ...], list[Fact]]


class Store:
    """Facts by type, filled from several threads, read by checks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self.chunks: dict[Place, Facts] = {}
        self.lists: dict[tuple[str, int], list[Fact]] = {}
        self.indexes: dict[tuple[str, int], dict[tuple[str, ...], Index]] = {}

    def put(self, order: int, facts: Facts, number: int = 0) -> None:
        """Add what the answer to a step's command of that number gave."""
        with self.lock:
            if not self.closed:
                self.forget(self.chunks.get((order, number), {}))
                self.chunks[order, number] = facts
                self.forget(facts)

    def close(self) -> None:
        """Take no more facts: the run has ended."""
        with self.lock:
            self.closed = True

    def move(self, origin: Place, target: Place) -> None:
        """Give facts to an earlier step that asked the same command but came second."""
        with self.lock:
            if not self.closed:
                self.chunks[target] = self.chunks.pop(origin)
                self.forget(self.chunks[target])

    def forget(self, facts: Facts) -> None:
        """Make the lists of these types anew when they are next asked for. Those of other types stay the same objects."""
        for key in [key for key in self.lists if key[0] in facts]:
            del self.lists[key]
            self.indexes.pop(key, None)

    def has(self, kind: str, before: int = FINAL) -> bool:
        """Whether the type was asked for and answered, even with no record."""
        with self.lock:
            return any(kind in facts for (order, _), facts in self.chunks.items() if order < before)

    def records(self, kind: str, before: int = FINAL) -> list[Fact]:
        """The records of a type that steps before `before` read, in the order of the steps and of their commands."""
        with self.lock:
            return self.listed(kind, before)

    def listed(self, kind: str, before: int) -> list[Fact]:
        """`records`, for a caller that holds the lock."""
        key = (kind, before)
        if key not in self.lists:
            places = sorted(place for place, facts in self.chunks.items() if place[0] < before and kind in facts)
            if kind in DERIVED:
                places = places[-1:]
            self.lists[key] = merged(kind, [record for place in places for record in self.chunks[place][kind]])
        return self.lists[key]

    def index(self, kind: str, names: tuple[str, ...], before: int = FINAL) -> Index:
        """The records of a type by the values of some fields."""
        with self.lock:
            records = self.listed(kind, before)
            indexes = self.indexes.setdefault((kind, before), {})
            if names not in indexes:
                made = indexes[names] = defaultdict(list)
                for record in records:
                    made[tuple(getattr(record, name) for name in names)].append(record)
            return indexes[names]

    def everything(self, before: int = FINAL) -> Facts:
        """All records by type, for derivations."""
        with self.lock:
            kinds = {kind for (order, _), facts in self.chunks.items() if order < before for kind in facts}
        return {kind: self.records(kind, before) for kind in sorted(kinds)}


def merged(kind: str, found: list[Fact]) -> list[Fact]:
    """Records of equal identity made one; records without one stay as they are."""
    made: list[Fact] = []
    places: dict[tuple[Any, ...], int] = {}
    for record in found:
        key = identity_of(kind, record)
        if key is None:
            made.append(record)
        elif key in places:
            made[places[key]] = completed(made[places[key]], record)
        else:
            places[key] = len(made)
            made.append(record)
    return made


def completed(first: Fact, second: Fact) -> Fact:
    """The first record with what it lacks (its gaps, and fields at their default) taken from the second.

    What either of the two states to be true is true; a gap stays only where both have it.
    """
    changes: dict[str, Any] = {}
    for field in msgspec.structs.fields(first):
        name = field.name
        mine, theirs = getattr(first, name), getattr(second, name)
        if mine == theirs or name == "gaps" or name in second.gaps:
            continue
        if name in first.gaps:
            changes[name] = theirs
        elif isinstance(mine, bool) and isinstance(theirs, bool):
            changes[name] = True  # they differ
        elif mine == (field.default_factory() if callable(field.default_factory) else field.default):
            changes[name] = theirs
    gaps = {name: why for name, why in first.gaps.items() if name in second.gaps}
    return msgspec.structs.replace(first, gaps=gaps, **changes) if changes or gaps != first.gaps else first
