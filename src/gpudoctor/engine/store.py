"""The fact store: every parser's records by type. Checks read only this.

Records carry the order of the step that read them, so that what a check sees never depends on which command answered first. Two
records with the same identity (the same pod read by two commands) become one: the earlier one, completed by the later. What later
events have overtaken is handed to nobody, whether a command or a file said so.
"""

from __future__ import annotations

import functools
import itertools
import operator
import threading
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

import msgspec

from gpudoctor.derive import DERIVED, overtaken
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.identity import identity_of

FINAL = 1_000_000  # an order after every step: the whole store

JUDGES = ("events", "pods", "slurm_nodes")  # which say what of the other records is history

UNREAD = object()  # where `Store.having` keeps the records whose field could not be read

Place = tuple[int, int]  # the order of a step, and the number of its command
Last = tuple[int, ...]  # the orders of the last steps that a list rests on
Index = dict[tuple[Any, ...], list[Fact]]


class Store:
    """Facts by type, filled from several threads, read by checks."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.closed = False
        self.chunks: dict[Place, Facts] = {}
        self.by_kind: defaultdict[str, dict[int, dict[int, list[Fact]]]] = defaultdict(dict)  # type → order → number → records
        self.merged: dict[str, dict[int, list[Fact]]] = {}  # type → an order → the records of it that steps up to that order read
        self.histories: dict[Last, overtaken.History] = {}  # by the last orders of the `JUDGES`
        self.lists: dict[str, dict[Last, list[Fact]]] = {}  # those of `merged` that are no history
        self.indexes: dict[str, dict[tuple[Last, tuple[str, ...]], Index]] = {}
        self.places: dict[str, dict[tuple[Last, str], defaultdict[Any, list[int]]]] = {}  # of a field's values in a list

    def put(self, order: int, facts: Facts, number: int = 0) -> None:
        """Add what the answer to a step's command of that number gave."""
        with self.lock:
            if not self.closed:
                self.drop((order, number))
                self.add((order, number), facts)

    def close(self) -> None:
        """Take no more facts: the run has ended."""
        with self.lock:
            self.closed = True

    def move(self, origin: Place, target: Place) -> None:
        """Give facts to an earlier step that asked the same command but came second."""
        with self.lock:
            if not self.closed:
                facts = self.drop(origin)
                self.drop(target)
                self.add(target, facts)

    def add(self, place: Place, facts: Facts) -> None:
        """Keep facts at a place. The lists of their types are made anew when they are next asked for, those of others stay."""
        self.chunks[place] = facts
        for kind, records in facts.items():
            self.by_kind[kind].setdefault(place[0], {})[place[1]] = records
            self.forget(kind)

    def drop(self, place: Place) -> Facts:
        """Forget the facts of a place; returns them."""
        facts = self.chunks.pop(place, {})
        for kind in facts:
            numbers = self.by_kind[kind][place[0]]
            del numbers[place[1]]
            if not numbers:
                del self.by_kind[kind][place[0]]
            self.forget(kind)
        return facts

    def forget(self, kind: str) -> None:
        """Forget the lists of a type whose records have changed; of all types where it says what is history."""
        self.merged.pop(kind, None)
        if kind in JUDGES:
            self.histories.clear()
        for made in (self.lists, self.indexes, self.places):
            if kind in JUDGES:
                made.clear()
            else:
                made.pop(kind, None)

    def has(self, kind: str, before: int = FINAL) -> bool:
        """Whether the type was asked for and answered, even with no record."""
        with self.lock:
            return any(order < before for order in self.by_kind.get(kind, ()))

    def records(self, kind: str, before: int = FINAL) -> list[Fact]:
        """The records of a type that steps before `before` read, in the order of the steps and of their commands."""
        with self.lock:
            return self.records_and_order(kind, before)[1]

    def records_and_order(self, kind: str, before: int) -> tuple[Last, list[Fact]]:
        """`records`, for a caller that holds the lock, and the orders of the last steps that they rest on."""
        last = (self.last(kind, before), *(self.last(judge, before) for judge in JUDGES))
        lists = self.lists.setdefault(kind, {})
        if last not in lists:
            if last[1:] not in self.histories:
                told = [record for chunk in self.read("events", last[1]) for record in chunk]
                self.histories[last[1:]] = overtaken.judge(told, self.all_of("pods", last[2]), self.all_of("slurm_nodes", last[3]))
            lists[last] = self.histories[last[1:]].without(self.all_of(kind, last[0]))
        return last, lists[last]

    def last(self, kind: str, before: int) -> int:
        """The order of the last step before another that has read a type, -1 for none."""
        return max((order for order in self.by_kind.get(kind, ()) if order < before), default=-1)

    def read(self, kind: str, last: int) -> list[list[Fact]]:
        """What each command of the steps up to an order has given of a type."""
        found = self.by_kind.get(kind, {})
        return [found[order][number] for order in sorted(found) if order <= last for number in sorted(found[order])]

    def all_of(self, kind: str, last: int) -> list[Fact]:
        """All records of a type that steps up to an order have read, history too."""
        merged = self.merged.setdefault(kind, {})
        if last not in merged:
            chunks = self.read(kind, last)
            merged[last] = merge_records(kind, [record for chunk in (chunks[-1:] if kind in DERIVED else chunks) for record in chunk])
        return merged[last]

    def counts(self, order: int) -> list[tuple[str, int]]:
        """The types that one step read, with how many records of each."""
        with self.lock:
            found = [(kind, sum(map(len, orders.get(order, {}).values()))) for kind, orders in sorted(self.by_kind.items())]
        return [(kind, number) for kind, number in found if number]

    def index(self, kind: str, names: tuple[str, ...], before: int = FINAL) -> Index:
        """The records of a type by the values of some fields."""
        with self.lock:
            last, records = self.records_and_order(kind, before)
            indexes = self.indexes.setdefault(kind, {})
            made = indexes.get((last, names))
            if made is None:
                made = indexes[last, names] = defaultdict(list)
                for record in records:
                    made[tuple(getattr(record, name) for name in names)].append(record)
            return made

    def having(self, kind: str, field: str, values: Collection[Any], before: int = FINAL) -> list[Fact]:
        """The records of a type, in the order of `records`, whose field has one of the values or could not be read."""
        with self.lock:
            last, records = self.records_and_order(kind, before)
            places = self.places.setdefault(kind, {})
            made = places.get((last, field))
            if made is None:
                made = places[last, field] = defaultdict(list)
                for place, record in enumerate(records):
                    made[UNREAD if field in record.gaps else getattr(record, field)].append(place)
            found = [made[value] for value in (UNREAD, *values) if value in made]
            return [records[place] for place in (found[0] if len(found) == 1 else sorted(itertools.chain(*found)))]

    def everything(self, before: int = FINAL) -> Facts:
        """All records by type, for derivations."""
        with self.lock:
            kinds = sorted(kind for kind, found in self.by_kind.items() if any(order < before for order in found))
        return {kind: self.records(kind, before) for kind in kinds}


def merge_records(kind: str, found: list[Fact]) -> list[Fact]:
    """Merge records of equal identity; records without one stay as they are."""
    made: list[Fact] = []
    places: dict[tuple[Any, ...], int] = {}
    for record in found:
        key = identity_of(kind, record)
        if key is None:
            made.append(record)
        elif key in places:
            made[places[key]] = complete_record(made[places[key]], record)
        else:
            places[key] = len(made)
            made.append(record)
    return made


@functools.cache
def shape(fact: type[Fact]) -> tuple[list[str], list[Any], Callable[[Fact], tuple[Any, ...]]]:
    """The names of a fact's fields, their defaults, and what gets their values."""
    fields = msgspec.structs.fields(fact)
    defaults = [one.default_factory() if callable(one.default_factory) else one.default for one in fields]
    names = [one.name for one in fields]
    return names, defaults, operator.attrgetter(*names)


def complete_record(first: Fact, second: Fact) -> Fact:
    """Complete the first record from the second: its gaps, and its fields at their default.

    What either of the two states to be true is true; a gap stays where the second doesn't know it either.
    """
    changes: dict[str, Any] = {}
    names, usual, values = shape(type(first))
    for name, default, mine, theirs in zip(names, usual, values(first), values(second), strict=True):
        if mine == theirs or name == "gaps" or name in second.gaps:
            continue
        if name in first.gaps:
            changes[name] = theirs
        elif name == "stated":
            changes[name] = False  # one of the two was printed by a tool
        elif isinstance(mine, bool) and isinstance(theirs, bool):
            changes[name] = True  # they differ
        elif mine == default:
            changes[name] = theirs
    gaps = {name: why for name, why in first.gaps.items() if name in second.gaps or getattr(second, name, None) is None}
    gaps |= {name: why for name, why in second.gaps.items() if name not in first.gaps and getattr(first, name, "") is None}
    return msgspec.structs.replace(first, gaps=gaps, **changes) if changes or gaps != first.gaps else first
