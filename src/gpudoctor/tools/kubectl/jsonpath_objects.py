"""Objects put together from values and the paths at which they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.jsonpath import Path

# map[limits:map[nvidia.com/gpu:1]] → "map[", "limits:map[", "nvidia.com/gpu:1", "]", "]"
GO_WORD = regex(r"(?:[^\s\[\]]{1,300}?:)?(?:map)?\[|\]|[^\s\[\]]{1,300}")
LONGEST = 64 << 10
DEEPEST = 12


def put_at_path(target: Any, path: Path, value: Any) -> None:
    """Set what stands at a path, making the mappings and lists that lead there. `value` for all entries of a list is a list of values."""
    for index, step in enumerate(path):
        last = index == len(path) - 1
        if isinstance(step, str):
            if not isinstance(target, dict):
                return
            if last:
                target[step] = value
                return
            target = target.setdefault(step, [] if not isinstance(path[index + 1], str) else {})
            continue
        if not isinstance(target, list):
            return
        if step == -1:
            values = value if isinstance(value, list) else [value]
            for number, one in enumerate(values[:1000]):
                grow(target, number)
                if last:
                    target[number] = one
                else:
                    put_at_path(target[number], path[index + 1 :], one)
            return
        if isinstance(step, tuple):
            entry = next((one for one in target if isinstance(one, dict) and one.get(step[0]) == step[1]), None)
            if entry is None:
                target.append(entry := {step[0]: step[1]})
        else:
            grow(target, step)
            entry = target[step]
            if last:
                target[step] = value
                return
        target = entry


def grow(entries: list[Any], number: int) -> None:
    """Make the list long enough."""
    while len(entries) <= number < 100:
        entries.append({})


def of_go(text: str) -> Any:
    """Maps and lists as Go prints them, which is what custom columns and templates show of objects.

    >>> of_go("[map[effect:NoSchedule key:team value:vision] map[effect:NoExecute key:broken]]")
    [{'effect': 'NoSchedule', 'key': 'team', 'value': 'vision'}, {'effect': 'NoExecute', 'key': 'broken'}]
    >>> of_go("map[limits:map[nvidia.com/gpu:1] requests:map[cpu:2 nvidia.com/gpu:1]]")
    {'limits': {'nvidia.com/gpu': '1'}, 'requests': {'cpu': '2', 'nvidia.com/gpu': '1'}}
    """
    words = iter(GO_WORD.findall(text[:LONGEST]))
    value = go_value(next(words, ""), words, 0)
    rest = [go_value(word, words, 0) for word in words if word.startswith("map[")]
    return [value, *rest] if rest else value


def go_value(word: str, words: Iterator[str], depth: int) -> Any:
    """The value that begins with a word: what stands up to its closing bracket, or the word itself."""
    if depth > DEEPEST or word not in ("map[", "["):
        return word
    entries: list[Any] = []
    made: dict[str, Any] = {}
    for one in words:
        if one == "]":
            break
        key, mark, value = one.partition(":")
        if word == "[":
            entries.append(go_value(one, words, depth + 1))
        elif mark:
            made[key] = go_value(value, words, depth + 1)
    return entries if word == "[" else made


def decode_value(text: str) -> Any:
    """A value as JSON where it is a mapping or a list; else the text."""
    bare = text.strip()
    if bare.startswith(("map[", "[map[")):
        return of_go(bare)
    if bare[:1] in ("{", "["):
        try:
            return msgspec.json.decode(bare)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return text
    return text
