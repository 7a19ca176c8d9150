"""Strict YAML 1.2 with places: duplicate keys, aliases and tags are errors, and only true/false are booleans.

PyYAML's libyaml composer builds the nodes; the values are made here, since its own constructor follows YAML 1.1
(`on:` would be True, `12:30` would be 750) and keeps the last of two equal keys.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

Place = tuple[str | int, ...]
INTEGER = re.compile(r"[-+]?[0-9]+\Z")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
CORE = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
LIMIT = 4 * 1024 * 1024  # bytes; the largest runbook of ours is a hundredth of it


class Problem(Exception):
    """Something wrong at a place of a file."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}" if line else f"{path}: {message}")
        self.path, self.line, self.message = path, line, message


class Document:
    """The value of a file and the line of every part of it."""

    def __init__(self, path: str, value: Any, lines: dict[Place, int], problems: list[Problem]) -> None:
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
        data = path.read_bytes()
    except OSError as error:
        return Document(name, None, {}, [Problem(name, 0, f"can't be read: {error.strerror}")])
    if len(data) > LIMIT:
        return Document(name, None, {}, [Problem(name, 0, f"is larger than {LIMIT // 1024 // 1024} MiB")])
    return parse(data, name)


def parse(data: bytes, name: str) -> Document:
    """Parse one document from bytes."""
    lines: dict[Place, int] = {}
    problems: list[Problem] = []
    try:
        node = yaml.compose(data.decode("utf-8"), Loader=yaml.CSafeLoader)
    except UnicodeDecodeError as error:
        return Document(name, None, lines, [Problem(name, 0, f"is not UTF-8: byte {error.start}")])
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return Document(name, None, lines, [Problem(name, mark.line + 1 if mark else 0, f"not YAML: {error.problem or error.context}")])
    except (yaml.YAMLError, RecursionError) as error:
        return Document(name, None, lines, [Problem(name, 0, f"not YAML: {error}")])
    if node is None:
        return Document(name, None, lines, [Problem(name, 0, "is empty")])
    try:
        value = build(node, (), lines, problems, name, set())
    except RecursionError:
        return Document(name, None, lines, [Problem(name, 0, "is nested too deeply")])
    return Document(name, value, lines, problems)


def build(node: yaml.Node, place: Place, lines: dict[Place, int], problems: list[Problem], name: str, seen: set[int]) -> Any:
    """The Python value of a composed node, with the line of every part noted."""
    line = node.start_mark.line + 1
    lines[place] = line
    if id(node) in seen:
        problems.append(Problem(name, line, "anchors and aliases are not allowed here: write the value out"))
        return None
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        return mapping(node, place, lines, problems, name, seen)
    if isinstance(node, yaml.SequenceNode):
        return [build(child, (*place, i), lines, problems, name, seen) for i, child in enumerate(node.value)]
    return scalar(node)


def mapping(node: yaml.MappingNode, place: Place, lines: dict[Place, int], problems: list[Problem], name: str, seen: set[int]) -> dict[str, Any]:
    """A mapping with string keys, each once."""
    made: dict[str, Any] = {}
    for key_node, child in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            problems.append(Problem(name, line, "a key must be a plain string"))
            continue
        key = str(key_node.value)
        if key in made:
            problems.append(Problem(name, line, f"the key '{key}' is there twice"))
        made[key] = build(child, (*place, key), lines, problems, name, seen)
        lines[(*place, key)] = line
    return made


def scalar(node: yaml.ScalarNode) -> Any:
    """YAML 1.2 core schema: quoted scalars are strings, plain ones may be null, bool, int or float.

    >>> [scalar(yaml.compose(text)) for text in ("on", "12:30", "010", "'1'", "true", "~")]
    ['on', '12:30', 10, '1', True, None]
    """
    text = str(node.value)
    if node.style:  # libyaml says '' for a plain scalar
        return text
    if text in CORE:
        return CORE[text]
    if INTEGER.match(text):
        return int(text)
    if FLOAT.match(text):
        return float(text)
    return text
