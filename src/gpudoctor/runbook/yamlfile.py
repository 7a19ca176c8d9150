"""Strict YAML 1.2 with places: duplicate keys, aliases and tags are errors, and only true/false are booleans.

libyaml gives the events; the values are made here, since PyYAML's own constructor follows YAML 1.1 (`on:` would be True, `12:30` would
be 750) and keeps the last of two equal keys. Events come one by one, so that a hostile file is given up as soon as it nests too deeply.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from gpudoctor.patterns import regex

Place = tuple[str | int, ...]
INTEGER = regex(r"[-+]?[0-9]{1,18}\Z")  # longer digits stay text
FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
CORE = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
LIMIT = 1024 * 1024  # bytes; the largest runbook of ours is a tenth of it
DEPTH = 32  # levels; a runbook has nine


class Problem(Exception):
    """Something wrong at a place of a file."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.path, self.line, self.message = path, line, message


class Document:
    """The mapping that a file holds and the line of every part of it; `value` is None when it could not be read."""

    def __init__(self, path: str, value: dict[str, Any] | None, lines: dict[Place, int], problems: list[Problem]) -> None:
        self.path, self.value, self.lines, self.problems = path, value, lines, problems

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest place around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read(path: Path, shown: str = "") -> Document:
    """The one document of a file. Problems are collected, not raised."""
    name = shown or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        return Document(name, None, {}, [Problem(name, 0, f"can't be read: {error.strerror}")])
    return parse(data, name)


def parse(data: bytes, name: str) -> Document:
    """Parse one document from bytes."""
    if len(data) > LIMIT:
        return Document(name, None, {}, [Problem(name, 0, f"is larger than {LIMIT // 1024} KiB")])
    reader = Reader(name)
    try:
        value = reader.document(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        reader.problems.append(Problem(name, 0, f"is not UTF-8: byte {error.start}"))
    except Problem as problem:
        reader.problems.append(problem)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        reader.problems.append(Problem(name, line, f"not YAML: {error.problem or error.context}"))
    except yaml.YAMLError as error:
        reader.problems.append(Problem(name, 0, f"not YAML: {str(error).splitlines()[0]}"))
    else:
        return Document(name, value, reader.lines, reader.problems)
    return Document(name, None, reader.lines, reader.problems)


class Reader:
    """Makes values of events, notes the line of every place, and collects what is wrong but leaves the rest readable."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Place, int] = {}
        self.problems: list[Problem] = []
        self.events: Iterator[Any] = iter(())

    def document(self, text: str) -> dict[str, Any]:
        """The mapping of the one document. Raises `Problem` when there is none, or more than one."""
        self.events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        starts = [next(self.events), next(self.events)]
        if isinstance(starts[1], yaml.StreamEndEvent):
            raise Problem(self.name, 0, "is empty")
        value = self.value(next(self.events), ())
        next(self.events)  # the document's end
        if isinstance(more := next(self.events), yaml.DocumentStartEvent):
            raise self.problem(more, "a second document begins here: one file, one document")
        if not isinstance(value, dict):
            raise Problem(self.name, 1, "is not a mapping of keys to values")
        return value

    def problem(self, event: Any, message: str) -> Problem:
        """A problem at an event's line."""
        return Problem(self.name, event.start_mark.line + 1, message)

    def value(self, event: Any, place: Place) -> Any:
        """The value that begins with an event."""
        self.lines[place] = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag:
            self.problems.append(self.problem(event, "anchors, aliases and tags are not allowed here: write the value out"))
            if isinstance(event, yaml.AliasEvent):
                return None
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value, plain=event.implicit[0])
        if len(place) >= DEPTH:
            raise self.problem(event, "is nested too deeply")
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(place)
        values: list[Any] = []
        while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
            values.append(self.value(item, (*place, len(values))))
        return values

    def mapping(self, place: Place) -> dict[str, Any]:
        """A mapping with string keys, each once."""
        made: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent):
                key = str(event.value)
                if key in made:
                    self.problems.append(self.problem(event, f"the key '{key[:80]}' is there twice"))
            else:
                self.problems.append(self.problem(event, "a key must be a plain string"))
                self.value(event, (*place, "?"))
                key = "?"
            made[key] = self.value(next(self.events), (*place, key))
            self.lines[(*place, key)] = event.start_mark.line + 1
        return made


def scalar(text: str, *, plain: bool = True) -> str | int | float | bool | None:
    """YAML 1.2 core schema without hexadecimal and octal: quoted scalars are strings, plain ones may be null, bool, int or float.

    >>> [scalar(text) for text in ("on", "12:30", "010", "1.5", "1e3", "true", "~")] + [scalar("1", plain=False)]
    ['on', '12:30', 10, 1.5, 1000.0, True, None, '1']
    """
    if not plain:
        return text
    if text in CORE:
        return CORE[text]
    if INTEGER.match(text):
        return int(text)
    if FLOAT.match(text) and math.isfinite(number := float(text)):
        return number
    return text
