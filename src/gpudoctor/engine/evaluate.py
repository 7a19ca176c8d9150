"""One check against the fact store: which records it finds, and what it could not decide."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from gpudoctor.engine.deciding_commands import pasteable_command
from gpudoctor.engine.field_demands import candidate_records
from gpudoctor.engine.store import FINAL, Store
from gpudoctor.facts import FACTS, Fact, Subject
from gpudoctor.facts.base import Origin, hashable
from gpudoctor.patterns import regex
from gpudoctor.report import Confidence
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import (
    Expression,
    Types,
    Unsure,
    Values,
    compile_expression,
    input_values,
    join_types,
    names_in,
)
from gpudoctor.runbook.model import Cause, Check, Each, Join, Runbook
from gpudoctor.runbook.templates import fill, fill_for_person

MANY = 32  # records from which on it is first asked whether any can match: the answer needs more joins than some records do
QUOTED = regex(r"\"[^\"]*\"|'[^']*'")
Inputs = dict[str, Any]


class Seen(NamedTuple):
    """What a condition saw when it held."""

    when: str
    types: Types
    values: Values

    def records(self) -> Iterator[tuple[str, Fact]]:
        """The records that it looked at, by their names."""
        return ((name, record) for name, record in self.values.records.items() if record is not None)


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A record for which a check's condition holds."""

    title: str
    subject: Subject
    time: float | None
    origins: list[Origin]
    settle_with: list[str]
    act: str = ""
    node: str = ""
    last: float | None = None  # when it happened last, of what comes in bursts
    record: Fact | None = None
    stated: bool = False  # it rests on what a person says
    early: bool = False  # it may pass by itself yet
    seen: Seen | None = None

    def confidence(self, check: Check, cause: Cause | None = None) -> Confidence:
        """How sure a check's finding is: what people say, and what may pass, finds at most what is possible. What may be over is not
        confirmed, but where only another card mends it.
        """
        if self.stated or self.early:
            return "possible"
        over = check.confidence == "confirmed" and self.record is not None and self.record.lingers
        return "likely" if over and not (cause and cause.act == "replace") else check.confidence


# What joins find that find the same for every record, by the join's name; None until it was looked for.
Fixed = dict[str, list[Fact] | None]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the facts alone say about a check. `absent` is true when its fact type was never read."""

    hits: list[Hit] = []
    unsure: list[str] = []
    unsure_of: list[Fact] = []  # the records that could not be decided
    absent: bool = False


def evaluate(book: Runbook, check: Check, inputs: Inputs, store: Store, before: int = FINAL) -> Answer:
    """Try a check on every record of its type that was read before a step."""
    if check.each is None:
        absent = bool(check.joins) and not any(store.has(join.type, before) for join in check.joins)
        candidates: list[Fact | None] = [] if absent else [None]
    else:
        absent = not store.has(check.each.type, before)
        candidates = list(candidate_records(check.when, check.each.name, check.each.type, store, before))
    if not candidates:
        return Answer(absent=absent)
    given = input_values(inputs)
    types = scope.check_types(book, check)
    outers = [scope.check_types(book, check, upto=join.name) for join in check.joins]
    condition = compile_expression(check.when, types)
    record_only = Values(given)
    fixed: Fixed = {join.name: None for join in check.joins if for_all(check, join)}
    many = len(candidates) >= MANY
    hits, unsure, unsure_of = [], [], list[Fact]()
    # Decided once for all records with the same values: a job's thousand ranks have few different ones.
    alone, joined = Decided(check.each, [check.when]), Decided(check.each, texts_of(check))
    for record in candidates:
        if alone.knows(record) or joined.knows(record):
            continue
        if check.each:
            record_only.records[check.each.name] = record
        try:
            if false_already(condition, record_only):  # most records of most checks: nothing needs to be joined
                alone.false(record)
                continue
            if many and never_holds(check, condition, outers, Values(given), store, before, fixed):
                break
            many = False
            hit = hit_of(check, condition, types, outers, record, given, store, before, fixed)
        except Unsure as why:
            unsure.append(because(str(why), check, record))
            unsure_of += [record] if record is not None else []
            continue
        if hit is not None:
            hits.append(hit)
        elif check.each and all(join.type != check.each.type for join in check.joins):  # a record isn't joined to itself
            joined.false(record)
    return Answer(hits=hits, unsure=list(dict.fromkeys(unsure)), unsure_of=unsure_of, absent=absent)


def never_holds(
    check: Check, condition: Expression, outers: list[dict[str, Any]], values: Values, store: Store, before: int, fixed: Fixed
) -> bool:
    """Whether the joins that find the same for every record decide that the condition holds for none."""
    for join, outer in zip(check.joins, outers, strict=True):
        apart = check.each is not None and join.type == check.each.type  # a record isn't joined to itself
        if join.name in fixed and not apart and not join.before and not join.after:
            with contextlib.suppress(Unsure):
                bind(join, outer, None, values, store, before, fixed)
    return len(values.records) > 0 and false_already(condition, values)


def texts_of(check: Check) -> list[str]:
    """All expressions that decide whether a check finds something."""
    joins = [text for join in check.joins for text in (*join.on.values(), join.where, join.before, join.after)]
    return [check.when, *joins]


class Decided:
    """Records for which expressions are known to give nothing, by the values of the fields that the expressions read."""

    def __init__(self, each: Each | None, texts: list[str]) -> None:
        used = [name.partition(".") for text in texts for name in names_in(text)]
        of_record = {field.removesuffix("_known") for name, _, field in used if each and name == each.name}
        names = sorted(of_record.intersection(FACTS[each.type].__struct_fields__) if each else ())
        self.read = attrgetter(*names) if names else None
        self.values: set[Any] = set()

    def knows(self, record: Fact | None) -> bool:
        """Whether one with the same values gave nothing."""
        return bool(self.values) and self.of(record) in self.values

    def false(self, record: Fact | None) -> None:
        """Remember that a record gives nothing."""
        if (values := self.of(record)) is not None:
            self.values.add(values)

    def of(self, record: Fact | None) -> Any:
        """The values that decide, None where one of them can't be known."""
        if self.read is None or record is None or record.gaps:
            return None
        return hashable(self.read(record))


def hit_of(
    check: Check,
    condition: Expression,
    types: Types,
    outers: list[dict[str, Any]],
    record: Fact | None,
    given: Inputs,
    store: Store,
    before: int,
    fixed: Fixed,
) -> Hit | None:
    """The hit of one record, None when the condition is false; `outers` are the variables that each join may use. Raises `Unsure`."""
    values = Values(given, {check.each.name: record} if check.each else {})
    origins = [record.origin] if record is not None else []
    undecided: dict[str, str] = {}
    for number, (join, outer) in enumerate(zip(check.joins, outers, strict=True)):
        if number and false_already(condition, values):  # what is known decides; of the record alone `evaluate` has asked
            return None
        try:
            joined, _ = bind(join, outer, record, values, store, before, fixed)
        except Unsure as why:
            undecided[join.name] = str(why)
            continue
        if joined is not None and joined.origin not in origins:
            origins.append(joined.origin)
    try:
        if not condition.holds(values):
            return None
    except Unsure as why:  # `x.present is not known`: say rather what the join x lacks
        raise Unsure(undecided.get(str(why).partition(".")[0], str(why))) from None
    return Hit(
        title=fill_for_person(check.title, types, values),
        subject=record.subject() if record is not None else Subject(kind="cluster"),
        time=record.time if record is not None else None,
        origins=[origin for origin in origins if origin.source],
        settle_with=[pasteable_command(text, types, values) for text in check.settle_with],
        act=fill(check.act, types, values, unknown=""),
        node=fill(check.node, types, values, unknown=""),
        last=(getattr(record, "last", None) or record.time) if record is not None else None,
        record=record,
        stated=said_by_people(condition, record, check.joins, values),
        seen=Seen(check.when, types, values),
    )


def said_by_people(condition: Expression, record: Fact | None, joins: list[Join], values: Values) -> bool:
    """Whether the record, or one that was joined and that the condition needs, is what a person says."""
    if record is not None and record.stated:
        return True
    for join in joins:
        joined = values.records.get(join.name)
        if joined is not None and joined.stated:
            absent = {f"{join.name}.present": False, f"{join.name}.count": 0}
            if not condition.surely(Values(values.given | absent, {**values.records, join.name: None})):
                return True
    return False


def false_already(condition: Expression, values: Values) -> bool:
    """Whether the record alone decides that the condition is false, so that nothing needs to be joined."""
    try:
        return not condition.holds(values)
    except Unsure:
        return False


def bind(
    join: Join, outer: Types, record: Fact | None, values: Values, store: Store, before: int, fixed: Fixed, *, strict: bool = False
) -> tuple[Fact | None, int]:
    """What `pick` gives, which conditions then know under the join's name. Raises `Unsure`."""
    joined, count = pick(join, outer, record, values, store, before, fixed, strict=strict)
    values.records[join.name] = joined
    values.given[f"{join.name}.present"] = joined is not None
    if join.pick in ("count", "none") or not hasattr(FACTS[join.type], "count"):
        values.given[f"{join.name}.count"] = count  # else that of the record: on how many nodes, how often
    return joined, count


def pick(
    join: Join, outer: Types, record: Fact | None, values: Values, store: Store, before: int, fixed: Fixed, *, strict: bool = False
) -> tuple[Fact | None, int]:
    """The joined record and how many match: equality by a hash index, then `where`, then the window in time.

    Records come in the order in which they were read, those of a window in the order of their times. `fixed` keeps what is the same for
    every record of the check. A record whose condition can't be decided isn't joined, or where that is `strict` leaves all undecided.
    Raises `Unsure`.
    """
    names = tuple(join.on)
    found = fixed.get(join.name)
    if found is None:
        if not store.records(join.type, before):
            found = fixed[join.name] = []
        elif names:
            key = tuple(compile_expression(text, outer, "")(values) for text in join.on.values())
            found = store.index(join.type, names, before).get(key, [])
        else:
            found = candidate_records(join.where, join.name, join.type, store, before)
        if join.where and found:
            condition = compile_expression(join.where, {**outer, **join_types(join.name, join.type)})
            decide = condition.holds if strict else condition.surely
            found = [other for other in found if decide(Values(values.given, {**values.records, join.name: other}))]
        if join.name in fixed:
            fixed[join.name] = found
    found = [other for other in found if other is not record and in_window(join, other, outer, values)]
    if join.before or join.after:
        found.sort(key=lambda other: other.time or 0.0)
    if join.pick in ("count", "none") or not found:
        return (found[0] if found else None), len(found)
    return (found[0] if join.pick == "first" else found[-1]), len(found)


def for_all(check: Check, join: Join) -> bool:
    """Whether a join finds the same for every record of its check, since it looks at no field of that or of another join."""
    others = frozenset({*(one.name for one in check.joins), check.each.name if check.each else ""} - {join.name, ""})
    return all(uses_no_other(text, others) for text in (*join.on.values(), join.where))


@functools.lru_cache(maxsize=8192)
def uses_no_other(condition: str, others: frozenset[str]) -> bool:
    """Whether a condition over one record uses no field of the others; the inputs are the same for all.

    >>> uses_no_other('b.name == "a.c"', frozenset({"a"})), uses_no_other("b.node == a.node", frozenset({"a"}))
    (True, False)
    """
    bare = QUOTED.sub("", condition)
    return not any(re.search(rf"\b{name}\.", bare) for name in others)


def in_window(join: Join, other: Fact, outer: Types, values: Values) -> bool:
    """Whether the joined record's time lies in the join's window. A record without a time is in no window."""
    for text, sign in ((join.before, 1.0), (join.after, -1.0)):
        if not text:
            continue
        if other.time is None:
            return False
        distance = (float(compile_expression(text, outer, "DOUBLE")(values)) - other.time) * sign
        if distance < 0 or (join.within is not None and distance > join.within):
            return False
    return True


def because(why: str, check: Check, record: Fact | None) -> str:
    """`gpu.temperature is not known` with the reason that the record carries for it."""
    if record is None or check.each is None:
        return why
    field = why.removeprefix(f"{check.each.name}.").split(" ", 1)[0]
    gap = record.gaps.get(field)
    name = record.subject().name
    return why + (f": {gap}" if gap else "") + (f" ({name})" if name else "")
