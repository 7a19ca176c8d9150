"""One check on one record, looked at once more: the values that its condition saw, what was joined, and the parts that decide."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from gpudoctor.derive import DERIVED
from gpudoctor.engine.evaluate import Inputs, because, bind
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.store import FINAL, Store
from gpudoctor.facts import Fact
from gpudoctor.report import Outcome, Part, Tried, Value
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import Types, Unsure, Values, as_text, compile_expression, input_values, names_in
from gpudoctor.runbook.model import Join
from gpudoctor.runbook.terms import Term, deciding_terms, operands

LONGEST = 120  # characters of a value that are shown


class Sight(NamedTuple):
    """What a check saw of a record. `term` gives the answer of a part of its condition."""

    one: Checked
    record: Fact | None
    types: Types
    values: Values
    undecided: dict[str, str]  # a join that could not be made: its name → why
    counts: dict[str, int]

    def term(self, text: str) -> Term:
        """The answer of a part of the condition."""
        try:
            return Term(text, compile_expression(text, self.types).holds(self.values))
        except Unsure as why:
            said = str(why)
            return Term(text, None, self.undecided.get(said.partition(".")[0]) or because(said, self.one.check, self.record))

    @property
    def holds(self) -> bool | None:
        """The answer of the whole condition."""
        return self.term(self.one.check.when).holds

    def share(self) -> float:
        """How much of the condition holds, 0 to 1: how near the check came to being found. That a value is known counts for nothing."""
        kind, parts = operands(self.one.check.when)
        ways = [operands(part)[1] for part in parts] if kind == "any" else [parts]
        telling = [[text for text in way if not text.endswith("_known")] or way for way in ways]
        return max(sum(self.term(text).holds is True for text in way) / len(way) for way in telling)


def inputs_of(one: Checked) -> Inputs:
    """The inputs that a check was tried with."""
    return one.step.planned.inputs if one.step else {name: given.default for name, given in one.book.inputs.items()}


def join_record(one: Checked, record: Fact | None, store: Store) -> Sight:
    """Join to a record everything that its check reads."""
    check = one.check
    values = Values(input_values(inputs_of(one)), {check.each.name: record} if check.each else {})
    undecided, counts = {}, {}
    for join in check.joins:
        outer: dict[str, Any] = scope.check_types(one.book, check, upto=join.name)
        try:
            _, counts[join.name] = bind(join, outer, record, values, store, FINAL, {})
        except Unsure as why:
            undecided[join.name] = str(why)
    return Sight(one, record, scope.check_types(one.book, check), values, undecided, counts)


def tried_check(seen: Sight, outcome: Outcome, *, near: list[str] | None = None, records: int = 0) -> Tried:
    """A check on a record, in the form of the report."""
    check, one = seen.one.check, seen.one
    terms = deciding_terms(check.when, seen.term)
    shown = names_in(check.when) if outcome == "found" else sorted({name for term in terms for name in names_in(term.text)})
    whys = list(dict.fromkeys(term.why for term in terms if term.why))
    return Tried(
        check=one.name,
        place=check_place(one),
        cause=check.finds,
        confidence=check.confidence,
        outcome=outcome,
        subject=seen.record.subject().name if seen.record is not None else "",
        near=near or [],
        condition=on_one_line(check.when),
        decides=[Part(text=on_one_line(term.text), holds=term.holds) for term in terms],
        values=[value for name in shown if name in seen.types and (value := variable_value(seen, name))],
        joined=[join_text(join, seen) for join in check.joins],
        records=records,
        why="; ".join(whys[:3]) if outcome == "unknown" else "",
    )


def check_place(one: Checked) -> str:
    """The place where a check is written: file:line. A row of a table is written there."""
    if one.check.table:
        return f"rules/{one.check.table}.yaml:{one.check.line}"
    return f"{one.book.path.rpartition('/')[2] or one.book.id}:{one.check.line}"


def on_one_line(condition: str) -> str:
    """Write a condition on one line."""
    return " ".join(condition.split())


def variable_value(seen: Sight, name: str) -> Value:
    """A variable with its value, and where its record was read."""
    owner, _, field = name.partition(".")
    record = seen.values.records.get(owner)
    value = seen.values.get(name)
    source, line = read_at(record)
    if value is not None:
        if isinstance(value, dict):
            value = {key: one for key, one in value.items() if re.search(rf'"{re.escape(key)}"|\.{re.escape(key)}\b', seen.one.check.when)}
        return Value(name=name, value=shorten_value(quote_value(value)), source=source, line=line)
    if record is None and owner in seen.counts:
        return Value(name=name, why="no such record")
    gap = record.gaps.get(field, "") if record is not None else seen.undecided.get(owner, "")
    return Value(name=name, why=gap or "not stated", source=source, line=line)


def read_at(record: Fact | None) -> tuple[str, int]:
    """Where a record was read; a measurement says so, where it carries no line that it rests on."""
    if record is None:
        return "", 0
    return (record.origin.source, record.origin.line) if record.origin.source else ("measured", 0)


def quote_value(value: Any) -> str:
    """A value as a condition would write it; of a map only what the condition asks for was left in.

    >>> quote_value("a b"), quote_value(True), quote_value({"nvidia.com/gpu": 8}), quote_value([1.5, 2.0])
    ('"a b"', 'true', '{"nvidia.com/gpu":8}', '1.50, 2')
    """
    return msgspec.json.encode(value).decode() if isinstance(value, str | dict) else as_text(value)


def shorten_value(text: str) -> str:
    """Shorten a text so that it fits on a line."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def join_text(join: Join, seen: Sight) -> str:
    """A join as text, with what it found."""
    if join.name in seen.undecided:
        return f"{rule(join)}: could not be joined, {seen.undecided[join.name]}"
    count = seen.counts.get(join.name, 0)
    if not count:
        return f"{rule(join)}: none"
    source, line = read_at(seen.values.records.get(join.name))
    first = f"the {join.pick} " if join.pick in ("first", "last") and count > 1 else ""
    return f"{rule(join)}: {count} found, {first}in {source}" + (f":{line}" if line else "")


def rule(join: Join) -> str:
    """What a join looks for.

    >>> rule(Join(name="b", type="xids", on={"gpu": "a.gpu"}, where="b.code == 62", before="a.time", within=600.0))
    'b: xids with the same gpu, b.code == 62, within 600 s before a.time'
    """
    said = []
    same = [field for field, text in join.on.items() if text.rpartition(".")[2] == field]
    if same:
        said.append(f"with the same {', '.join(same)}")
    said += [f"{field} == {on_one_line(text)}" for field, text in join.on.items() if field not in same]
    if join.where:
        said.append(on_one_line(join.where))
    for word, text in (("before", join.before), ("after", join.after)):
        if text:
            said.append((f"within {join.within:g} s " if join.within is not None else "") + f"{word} {on_one_line(text)}")
    kind = f"{join.type}{' (measured)' if join.type in DERIVED else ''}"
    between = " " if same or not said else ", "
    return f"{join.name}: {kind}{between}{', '.join(said)}".rstrip()
