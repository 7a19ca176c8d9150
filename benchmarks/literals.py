"""The literals that the scanner of the kernel log triggers on: for each pattern, texts of which every match has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]  # the standard library's parser of patterns
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST = 64  # texts that one pattern may be split into
SHORTEST = 4  # characters; shorter ones are in every line


def of(patterns: Iterable[str]) -> list[str]:
    """Extended regular expressions, one a literal, for `grep -E`. A pattern without a literal gives none, which makes grep's work less."""
    found: set[str] = set()
    for pattern in patterns:
        tree = parser.parse(pattern)
        wanted = required(tree, bool(tree.state.flags & re.IGNORECASE))
        found |= {text for text in wanted if length(text) >= SHORTEST}
    return sorted(found)


def written(found: Iterable[str], folder: Path) -> str:
    """The path of a list for `grep -f`, in a folder that isn't searched; as one argument thousands of literals are too long."""
    path = folder / "literals"
    path.write_text("".join(f"{text}\n" for text in found), encoding="utf-8")
    return str(path)


def length(text: str) -> int:
    """The characters that a literal stands for: `[nN]` and `\\.` are one."""
    return len(re.sub(r"\[..\]|\\.", "x", text))


def character(code: int, folded: bool) -> str:
    """One character as an expression."""
    letter = chr(code)
    if folded and letter.isalpha():
        return f"[{letter.lower()}{letter.upper()}]"
    return "\\" + letter if letter in r".*+?()[]{}|^$\\" else letter


def required(tree: Sequence[Any], folded: bool) -> set[str]:
    """Of the parts that follow each other, the one whose alternatives are longest; empty when no part has a literal."""
    best: set[str] = set()
    run: set[str] = {""}

    def consider(texts: set[str]) -> None:
        nonlocal best
        if texts and all(texts) and (not best or min(map(length, texts)) > min(map(length, best))):
            best = texts

    for kind, value in tree:
        texts = exact([(kind, value)], folded)
        if texts is not None and len(texts) * len(run) <= MOST:
            run = {before + after for before in run for after in texts}
            continue
        consider({before + after for before in run for after in starts([(kind, value)], folded)})
        run = {""}
        if kind is op.SUBPATTERN:
            consider(required(value[3], folded or bool(value[1] & re.IGNORECASE)))
        elif kind is op.BRANCH:
            sides = [required(side, folded) for side in value[1]]
            consider(set().union(*sides) if all(sides) else set())
        elif kind is op.MAX_REPEAT and value[0] > 0:
            consider(required(value[2], folded))
    consider(run)
    return best


def starts(tree: Sequence[Any], folded: bool) -> set[str]:
    """What a part begins with: `NCCL INFO (?:Using network|NET/\\w+ ?: Using)` has two literals, and neither is every line of the log."""
    made: set[str] = {""}
    for kind, value in tree:
        texts = exact([(kind, value)], folded)
        if texts is None and kind is op.SUBPATTERN:
            texts = starts(value[3], folded or bool(value[1] & re.IGNORECASE))
        elif texts is None and kind is op.BRANCH:
            texts = set().union(*(starts(side, folded) for side in value[1]))
        elif texts is not None and len(texts) * len(made) <= MOST:
            made = {before + after for before in made for after in texts}
            continue
        if texts is None or len(texts) * len(made) > MOST:
            return made
        return {before + after for before in made for after in texts}
    return made


def exact(tree: Sequence[Any], folded: bool) -> set[str] | None:
    """All texts that a part can be, None where they are not few."""
    made: set[str] = {""}
    for kind, value in tree:
        more: set[str] | None = None
        if kind is op.LITERAL:
            more = {character(value, folded)}
        elif kind is op.AT:
            more = {""}
        elif kind is op.SUBPATTERN:
            more = exact(value[3], folded or bool(value[1] & re.IGNORECASE))
        elif kind is op.BRANCH:
            sides = [exact(side, folded) for side in value[1]]
            more = set().union(*(side for side in sides if side is not None)) if None not in sides else None
        elif kind is op.IN and len(value) <= 4 and all(one is op.LITERAL for one, _ in value):
            more = {character(code, folded) for _, code in value}
        elif kind is op.MAX_REPEAT and tuple(value[:2]) == (0, 1):
            inner = exact(value[2], folded)
            more = None if inner is None else {"", *inner}
        if more is None or len(made) * len(more) > MOST:
            return None
        made = {before + after for before in made for after in more}
    return made
