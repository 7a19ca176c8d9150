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

Index = dict[tuple[Any, ...], list[Fact]]


class Store:
    """Facts by type, filled from several threads, read by checks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.chunks: dict[int, list[Facts]] = defaultdict(list)
        self.version = 0
        self.lists: dict[tuple[str, int, int], list[Fact]] = {}
        self.indexes: dict[tuple[str, tuple[str, ...], int, int], Index] = {}

    def put(self, order: int, facts: Facts) -> None:
        """Add what one answer gave to the step of that order."""
        with self.lock:
            self.chunks[order].append(facts)
            self.version += 1

    def move(self, facts: Facts, order: int, earlier: int) -> None:
        """Give facts to an earlier step that asked the same command but came second."""
        with self.lock:
            self.chunks[order] = [other for other in self.chunks[order] if other is not facts]
            self.chunks[earlier].append(facts)
            self.version += 1

    def has(self, kind: str, before: int = FINAL) -> bool:
        """Whether the type was asked for and answered, even with no record."""
        with self.lock:
            return any(kind in facts for order, many in self.chunks.items() if order < before for facts in many)

    def records(self, kind: str, before: int = FINAL) -> list[Fact]:
        """The records of a type that steps before `before` read, in the order of the steps."""
        with self.lock:
            key = (kind, before, self.version)
            if key not in self.lists:
                orders = sorted(order for order, many in self.chunks.items() if order < before and any(kind in facts for facts in many))
                if kind in DERIVED:
                    orders = orders[-1:]
                found = [record for order in orders for facts in self.chunks[order] for record in facts.get(kind, ())]
                self.lists[key] = merged(kind, found)
            return self.lists[key]

    def index(self, kind: str, names: tuple[str, ...], before: int = FINAL) -> Index:
        """The records of a type by the values of some fields."""
        records = self.records(kind, before)
        key = (kind, names, before, self.version)
        if key not in self.indexes:
            made: Index = defaultdict(list)
            for record in records:
                made[tuple(getattr(record, name) for name in names)].append(record)
            self.indexes[key] = made
        return self.indexes[key]

    def everything(self, before: int = FINAL) -> Facts:
        """All records by type, for derivations."""
        with self.lock:
            kinds = {kind for order, many in self.chunks.items() if order < before for facts in many for kind in facts}
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
        if name in first.gaps or mine == (field.default_factory() if callable(field.default_factory) else field.default):
            changes[name] = theirs
        elif isinstance(mine, bool):
            changes[name] = mine or theirs
    gaps = {name: why for name, why in first.gaps.items() if name in second.gaps}
    return msgspec.structs.replace(first, gaps=gaps, **changes) if changes or gaps != first.gaps else first
