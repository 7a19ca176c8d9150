"""Conditions: CEL, type-checked against the fact classes when a runbook is loaded. The only importer of CEL.

A field that could not be read is left out of the variables; CEL then gives an error value unless the rest of the condition
decides by itself (`a || b` with `b` true is true), and the answer is `Unsure` with the reason.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec
from cel_expr_python import cel

from gpudoctor.facts import FACTS
from gpudoctor.facts.base import Fact, hashable
from gpudoctor.knowledge.compiled import source
from gpudoctor.knowledge.gpu_features import LACKING
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Input

MISSING_FIELD = object()
MISSING = regex(r'No value with name "([^"]+)"')
NAME_TEXT = r"\b([a-z_][a-z0-9_]*)\.([a-z_][a-z0-9_]*)\b"
NAME = regex(NAME_TEXT)
# Outside of quotes a name; raw and triple-quoted texts have other rules, and what has one is not taken apart.
NAME_OR_QUOTED = regex(rf"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|{NAME_TEXT}")
NOT_READ = regex(r"(?<![\w\"'])[rRbB]{1,2}[\"']|\"\"\"|'''")
SIMPLE: dict[Any, Any] = {str: cel.Type.STRING, int: cel.Type.INT, float: cel.Type.DOUBLE, bool: cel.Type.BOOL}
# What conditions use, and of each type as many variables as nearly all of them need.
KINDS: tuple[Any, ...] = (*SIMPLE, list[str], list[int], dict[str, str], dict[str, int], dict[str, float])
SLOTS = 16
SHAPE = f"{SLOTS} each of {KINDS}"  # what an expression over slots depends on
MADE: dict[str, Any] = {}
INPUT_TYPES = {"string": str, "int": int, "float": float, "bool": bool, "duration": float}
JOIN_FIELDS: dict[str, Any] = {"present": bool, "count": int}

Types = Mapping[str, Any]  # variable name → Python type
Parted = tuple[str, str, str]  # a variable's name, that of its record, that of its field
PLAIN = frozenset({str, int, float, bool, type(None)})  # are keys as they are
MEMO = 4096  # answers that one expression remembers; a fact type's records have few distinct values in the fields that a condition uses


class Lookup(Protocol):
    """Where an expression finds its variables: a dict, or `Values`. None means "not known"."""

    def get(self, name: str, /) -> Any:
        """The value of a variable."""
        ...


class ConditionError(ValueError):
    """An expression that doesn't compile; the message carries the column."""


class Unsure(Exception):
    """The expression has no answer: a value that it needs is not known. The message says which and why."""


@functools.cache
def fields(fact: type[Fact]) -> Types:
    """The fields of a fact that conditions may use → their types, beside each optional `f` whether it is known, `f_known`, and whether the
    thing has no such property, `f_na`.

    >>> fields(FACTS["xids"])["code"], fields(FACTS["xids"])["pid_known"]
    (<class 'int'>, <class 'bool'>)
    """
    usable: dict[str, Any] = {}
    for field in msgspec.structs.fields(fact):
        kind, optional = without_none(field.type)
        if field.name in ("origin", "gaps", "stated") or cel_type(kind) is None:
            continue
        usable[field.name] = kind
        if optional:
            usable[f"{field.name}_known"] = usable[f"{field.name}_na"] = bool
    return usable


def without_none(kind: Any) -> tuple[Any, bool]:
    """`int | None` → (int, True)."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        rest = [part for part in typing.get_args(kind) if part is not type(None)]
        return (rest[0] if len(rest) == 1 else kind), True
    return kind, False


def cel_type(kind: Any) -> Any:
    """The CEL type of a Python type, None where conditions can't use it."""
    if kind in SIMPLE:
        return SIMPLE[kind]
    arguments = [SIMPLE.get(a) for a in typing.get_args(kind)]
    if not arguments or any(argument is None for argument in arguments):
        return None
    if typing.get_origin(kind) is list:
        return cel.Type.List(arguments[0])
    if typing.get_origin(kind) is dict:
        return cel.Type.Map(arguments[0], arguments[1])
    return None


@functools.cache
def record_types(name: str, fact_type: str) -> Types:
    """Variables of one record under a name: `pod.phase` → str."""
    return {f"{name}.{field}": kind for field, kind in fields(FACTS[fact_type]).items()}


@functools.cache
def join_types(name: str, fact_type: str) -> Types:
    """Variables of a joined record: its fields, `present` and `count`."""
    return {**record_types(name, fact_type), **{f"{name}.{field}": kind for field, kind in JOIN_FIELDS.items()}}


def input_types(inputs: Mapping[str, Input]) -> dict[str, Any]:
    """Variables of the inputs."""
    return {f"input.{name}": INPUT_TYPES[given.type] for name, given in inputs.items()}


def input_values(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as variables."""
    return {f"input.{name}": value for name, value in inputs.items()}


# CEL's names of the types whose values are the same in CEL and in Python.
ITSELF: dict[Any, str] = {str: "STRING", bool: "BOOL"}


class Values:
    """The variables of one evaluation: given values (`input.x`, `found.x`, a join's `present`) and records under their names.

    A record's field is looked up only when an expression uses it. What the record's `gaps` name, and what is None, is not known.
    """

    __slots__ = ("given", "records")

    def __init__(self, given: Mapping[str, Any], records: Mapping[str, Fact | None] | None = None) -> None:
        self.given = dict(given)
        self.records = dict(records or {})

    def get(self, name: str, /) -> Any:
        """The value of a variable, None when it is not known."""
        return self.all_of((split_variable(name),))[0]

    def all_of(self, names: Iterable[Parted]) -> list[Any]:
        """The values of variables; the innermost loop of a run over thousands of records."""
        given, records, made = self.given, self.records, []
        for name, variable, field in names:
            if name in given:
                made.append(given[name])
            elif (record := records.get(variable)) is None:
                made.append(None)
            elif (value := getattr(record, field, MISSING_FIELD)) is not MISSING_FIELD:
                made.append(None if field in record.gaps else value)
            else:
                made.append(suffix_value(record, field))
        return made


def split_variable(name: str) -> Parted:
    """A variable's name, and the name of the record and of the field in it."""
    variable, _, field = name.partition(".")
    return name, variable, field


def suffix_value(record: Fact, field: str) -> bool | None:
    """What conditions know of a field beside its value: `f_known`, and `f_na` where the thing has no such property."""
    if field not in fields(type(record)):
        return None
    if field.endswith("_na"):
        return record.gaps.get(field.removesuffix("_na"), "").strip("[]") in LACKING
    return known_value(record, field.removesuffix("_known")) is not None


def known_value(record: Fact, field: str) -> Any:
    """The value of a record's field, None where it is not known."""
    return None if field in record.gaps else getattr(record, field, None)


def environment(variables: Iterable[tuple[str, Any]]) -> Any:
    """A CEL environment for a set of variables."""
    return cel.NewEnv(variables={name: cel_type(kind) for name, kind in variables})


@functools.cache
def shared_environment() -> Any:
    """The environment of nearly all expressions: the first that is compiled in an environment takes twenty times as long as the next."""
    return environment((slot(kind, number), kind) for kind in KINDS for number in range(SLOTS))


def slot(kind: Any, number: int) -> str:
    """What the shared environment calls its variables of a type."""
    return f"slot_{KINDS.index(kind)}_{number}"


def over_slots(text: str) -> Any:
    """An expression over slots as CEL executes it. Those of the library are read in the form that they were compiled to, which takes a
    quarter of the time. Raises RuntimeError.
    """
    made = None
    if ready := source().programs(SHAPE).get(text):
        with contextlib.suppress(RuntimeError):  # another CEL wrote it
            made = shared_environment().deserialize(ready)
    MADE[text] = made or shared_environment().compile(text)
    return MADE[text]


def serialize_expressions() -> dict[str, bytes]:
    """All expressions over slots that this process has met, in the form that `over_slots` reads."""
    return {text: made.serialize() for text, made in MADE.items()}


def program(text: str, used: tuple[tuple[str, Any], ...]) -> tuple[Any, list[str]]:
    """An expression as CEL executes it, and what its variables are called there: mostly slots. Raises RuntimeError."""
    numbers = {kind: itertools.count() for kind in KINDS}
    slots = {name: slot(kind, next(numbers[kind])) for name, kind in used if kind in numbers}
    if len(slots) == len(used) and not NOT_READ.search(text):
        with contextlib.suppress(RuntimeError):  # it has more of one type, or a mistake, which is told in its own words
            return over_slots(NAME_OR_QUOTED.sub(lambda found: slots.get(found.group(), found.group()), text)), list(slots.values())
    return environment(used).compile(text), [name for name, _ in used]


class Expression:
    """One compiled CEL expression."""

    __slots__ = ("called", "memo", "names", "parted", "program", "result", "text")

    def __init__(self, text: str, used: tuple[tuple[str, Any], ...]) -> None:
        self.text = text
        self.names = [name for name, _ in used]
        self.parted = [split_variable(name) for name in self.names]
        # A field alone (`${pod.namespace}`) is what its record says: there are many, and CEL needs a millisecond for each.
        self.result = ITSELF.get(used[0][1], "") if self.names == [text] else ""
        self.program: Any = None
        self.called: list[str] = []
        if not self.result:
            self.program, self.called = program(text, used)
            self.result = str(self.program.return_type().name())
        self.memo: dict[tuple[Any, ...], Any] = {}

    def __call__(self, values: Lookup) -> Any:
        """The value; raises `Unsure` where something that decides is not known."""
        found = values.all_of(self.parted) if type(values) is Values else [values.get(name) for name in self.names]
        key = tuple([value if type(value) in PLAIN else hashable(value) for value in found])
        answer = self.memo.get(key, self)
        if answer is self:
            answer = self.fresh(found)
            if len(self.memo) < MEMO:
                self.memo[key] = answer
        if isinstance(answer, Unsure):
            raise Unsure(str(answer))
        return answer

    def fresh(self, found: list[Any]) -> Any:
        """Ask CEL; an `Unsure` is returned, since it is remembered like any other answer."""
        for name, value in zip(self.names, found, strict=True):
            if isinstance(value, str) and "\0" in value:
                return Unsure(f"{name} has a NUL byte")  # CEL's Python binding would cut the text there
        if self.program is None:
            return Unsure(f"{self.text} is not known") if found[0] is None else found[0]
        try:
            answer = self.program.eval(data={name: value for name, value in zip(self.called, found, strict=True) if value is not None})
        except RuntimeError as error:
            return Unsure(str(error)[:200])
        return Unsure(self.reason(str(answer.value()))) if answer.type() == cel.Type.ERROR else answer.value()

    def reason(self, error: str) -> str:
        """CEL's run-time error in our words."""
        missing = MISSING.search(error)
        if missing and missing[1] in self.called:
            return f"{self.names[self.called.index(missing[1])]} is not known"
        return error.removeprefix("UNKNOWN: ")[:200]

    def holds(self, values: Lookup) -> bool:
        """The value of a condition."""
        return self(values) is True

    def surely(self, values: Lookup) -> bool:
        """Whether a condition is known to hold: false, too, where it can't be decided."""
        try:
            return self.holds(values)
        except Unsure:
            return False


@functools.lru_cache(maxsize=8192)
def names_in(text: str) -> tuple[str, ...]:
    """The `a.b` in an expression that may be variables."""
    return tuple(sorted({f"{a}.{b}" for a, b in NAME.findall(text)}))


@functools.lru_cache(maxsize=8192)
def _compile(text: str, used: tuple[tuple[str, Any], ...]) -> Expression:
    return Expression(text, used)


def compile_expression(text: str, variables: Types, want: str = "BOOL") -> Expression:
    """Compile once; `want` is the CEL type that must come out ("" = any). Raises `ConditionError`.

    Only the variables that the text may mean are declared.
    """
    used = tuple((name, variables[name]) for name in names_in(text) if name in variables)
    try:
        expression = _compile(text, used)
    except RuntimeError as error:
        raise ConditionError(explain(str(error), text, variables)) from None
    if want and expression.result != want:
        raise ConditionError(f"'{text}' is a {expression.result}, not a {want}")
    return expression


def explain(error: str, text: str, variables: Types) -> str:
    """CEL's compile-time error with its column and, for a misspelt name, the nearest one."""
    import difflib

    first = error.split("\n", 1)[0][:400].removeprefix("INVALID_ARGUMENT: ").removeprefix("ERROR: ")
    first = first.replace("<input>:1:", "column ").replace(" (in container '')", "")
    unknown = re.search(r"undeclared reference to '([^']+)'", first)
    if unknown:
        close = difflib.get_close_matches(unknown.group(1), list(variables), n=1, cutoff=0.85)
        own = [name for name in variables if "." in name and name.startswith(unknown.group(1).partition(".")[0] + ".")]
        first += f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(own)}" if own else ""
    return f"{first} in '{text if len(text) < 160 else text[:160] + '…'}'"


def as_text(value: Any) -> str:
    """A value as it stands in a title or an argument.

    >>> as_text([1.0, 0.25, True, "a"]), as_text(float("inf"))
    ('1, 0.25, true, a', 'inf')
    """
    if isinstance(value, cel.Value):  # what CEL's lists hold
        value = value.value()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) for item in value)
    return "" if value is None else str(value)
