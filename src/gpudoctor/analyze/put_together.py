"""Objects put together from values and the paths at which they stand."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.analyze.asked import Path
from gpudoctor.patterns import regex

# map[effect:NoSchedule key:team value:vision]
GO_MAP = regex(r"map\[([^\[\]]{0,2000})\]")


def put(target: Any, path: Path, value: Any) -> None:
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
                    put(target[number], path[index + 1 :], one)
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


def of_go(text: str) -> list[dict[str, str]] | dict[str, str]:
    """Maps of texts as Go prints them, which is what custom columns and templates show of objects and lists of them.

    >>> of_go("[map[effect:NoSchedule key:team value:vision] map[effect:NoExecute key:broken]]")
    [{'effect': 'NoSchedule', 'key': 'team', 'value': 'vision'}, {'effect': 'NoExecute', 'key': 'broken'}]
    """
    maps = [{key: value for key, mark, value in (pair.partition(":") for pair in one.split()) if mark} for one in GO_MAP.findall(text)]
    return maps if text.startswith("[") or len(maps) != 1 else maps[0]


def decoded(text: str) -> Any:
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
