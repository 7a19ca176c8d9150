"""What a condition demands of one field of its record, read from its text: the few records that can match at all are then found fast.

`message.name in ["a", "b"] && …` is false for every record with another name, whatever the rest says, and so is
`pod.pod.matches("^etcd-") && …`: nothing else needs to be compiled or joined for those. Most checks on most runs end here.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from gpudoctor.engine.store import Store
from gpudoctor.facts import FACTS, Fact
from gpudoctor.patterns import regex
from gpudoctor.runbook.conditions import NOT_READ, fields

# A text in quotes can hide an operator or a bracket. Raw and triple-quoted texts have other rules: a condition with one is not read.
TOKEN = regex(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\|\||&&|[()\[\]{}?]")
RECORD = r"(?P<record>[a-z]\w*)\.(?P<field>[a-z]\w*)"
VALUE = r"(?:\"[^\"\\]*\"|\d{1,9})"
# rank.said.matches("(?i)compil|\\\\bjit\\\\b"): of escapes only the backslash's own is read
MATCHES = regex(rf"{RECORD}\.matches\(\"(?P<pattern>(?:[^\"\\]|\\\\)*)\"\)")
EQUALS = rf"(?: == (?P<value>{VALUE})| in \[(?P<values>{VALUE}(?:, ?{VALUE})*)\])"
ATOM = regex(rf"(?P<no>!?){RECORD}{EQUALS}?")
FIRST = regex(rf"(?P<no>){RECORD}{EQUALS} && ")  # message.name == "a" && …


class Demand(NamedTuple):
    """A condition is false unless a field has one of these values, or fits a pattern where there is one."""

    field: str
    values: frozenset[str | int | bool] = frozenset()
    pattern: str = ""

    @property
    def cost(self) -> int:
        """What is asked first where several are demanded: values have an index, and a yes-or-no only halves the records."""
        return 1 if self.pattern else 2 if any(isinstance(value, bool) for value in self.values) else 0


def candidate_records(condition: str, name: str, kind: str, store: Store, before: int) -> list[Fact]:
    """The records of a type, called `name` in the condition, that can match at all, in the order in which they were read."""
    records = store.records(kind, before)
    demand = demand_on(condition, name) if records else None
    if demand is None or not is_plain(kind, demand):
        return records
    if demand.pattern:
        return matching_records(records, demand)
    return store.having(kind, demand.field, demand.values, before)


def matching_records(records: list[Fact], demand: Demand) -> list[Fact]:
    """The records whose field fits the pattern or could not be read. What CEL refuses as a pattern is left to it."""
    pattern = compile_re2(demand.pattern)
    if pattern is None:
        return records
    return [record for record in records if demand.field in record.gaps or pattern.search(getattr(record, demand.field))]


@functools.lru_cache(maxsize=1024)
def compile_re2(pattern: str) -> Any:
    """A pattern of RE2, as CEL has them, None for one that is none."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def is_plain(kind: str, demand: Demand) -> bool:
    """Whether a type has the demanded field, with such values and always known: what may be unknown is left to CEL, which then says so."""
    known = fields(FACTS[kind])
    its_own = demand.field in FACTS[kind].__struct_fields__ and f"{demand.field}_known" not in known
    return its_own and {type(value) for value in demand.values or {demand.pattern}} == {known.get(demand.field)}


@functools.lru_cache(maxsize=8192)
def demand_on(condition: str, name: str) -> Demand | None:
    """The demand on one field of the record `name`, None where the text shows none.

    >>> demand_on('(x.code == 79 || x.code == 48) && !x.quiet', "x") == Demand("code", frozenset({79, 48}))
    True
    >>> demand_on('!x.quiet || x.code == 79', "x"), demand_on("x.quiet ? y.present : true", "x"), demand_on("!x.quiet", "x").values
    (None, None, frozenset({False}))
    """
    text = condition.strip()
    if atom := ATOM.fullmatch(text) or MATCHES.fullmatch(text):
        return of_atom(atom) if atom["record"] == name else None
    if "||" not in text and "?" not in text and (first := FIRST.match(text)) and first["record"] == name:
        return of_atom(first)  # nothing that the rest may demand costs less
    if NOT_READ.search(text):
        return None
    places: dict[str, list[int]] = {}
    for mark, place in outer_operators(text):
        places.setdefault(mark, []).append(place)
    if "?" in places:
        return None
    if "||" in places:
        found = [demand_on(part, name) for part in split(text, places["||"])]
        demands = [one for one in found if one is not None]
        same = len(demands) == len(found) and len({one.field for one in demands}) == 1 and not any(one.pattern for one in demands)
        return Demand(demands[0].field, frozenset().union(*(one.values for one in demands))) if same else None
    if "&&" in places:
        return cheapest(demand_on(part, name) for part in split(text, places["&&"]))
    return demand_on(text[1:-1], name) if text.startswith("(") and closing_bracket(text) == len(text) - 1 else None


def cheapest(demands: Iterable[Demand | None]) -> Demand | None:
    """Any of several demands will do: the one that costs least, the first of equal ones; after one that costs nothing no more are read."""
    best: Demand | None = None
    for one in demands:
        if one and (best is None or one.cost < best.cost):
            best = one
            if not best.cost:
                break
    return best


def of_atom(atom: re.Match[str]) -> Demand | None:
    """The demand of `x.f`, `!x.f`, `x.f == 1`, `x.f in [1, 2]` and `x.f.matches("a")`."""
    given = atom.groupdict("")
    if "pattern" in given:
        return Demand(atom["field"], pattern=given["pattern"].replace("\\\\", "\\"))
    listed = given["value"] or given["values"]
    if not listed:
        return Demand(atom["field"], frozenset({not given["no"]}))
    values: list[Any] = [value[1:-1] if value.startswith('"') else int(value) for value in re.findall(VALUE, listed)]
    return Demand(atom["field"], frozenset(values)) if not given["no"] else None


def closing_bracket(text: str) -> int:
    """Where the bracket closes that a text starts with; -1 where it doesn't."""
    depth = 0
    for found in TOKEN.finditer(text):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0:
            return found.start()
    return -1


def outer_operators(text: str) -> Iterator[tuple[str, int]]:
    """The operators `||`, `&&` and `?` outside of brackets and quotes, with their places."""
    depth = 0
    for found in TOKEN.finditer(text):
        mark = found.group()
        if mark in ("||", "&&", "?"):
            if depth == 0:
                yield mark, found.start()
        elif mark[0] not in "\"'":
            depth += 1 if mark in "([{" else -1


def split(text: str, places: list[int]) -> list[str]:
    """The parts between the operators (of two characters) at some places."""
    return [text[start:end] for start, end in zip([0, *(place + 2 for place in places)], [*places, len(text)], strict=True)]
