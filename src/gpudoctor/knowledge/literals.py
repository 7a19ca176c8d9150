"""For each pattern, texts of which every match has one: what a scanner can look for first, much faster than for the patterns.

They are worked out when the library is compiled, from the standard library's own tree of a pattern; a run only reads them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import _constants as op  # type: ignore[attr-defined]  # it has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from gpudoctor.patterns import regex

MOST = 64  # texts that one pattern may be split into
FEW = 10  # characters of a class that are tried one by one: `[0123456789]` is, `\d` is not
SHORTEST = 3  # characters; shorter ones are in every line
CHARACTER = regex(r"\[..\]|\\.|.", re.DOTALL)


def literals(pattern: str) -> list[str]:
    """Regular expressions, one a literal: `\\.` and `[nN]` are its only signs. Empty where a match may have none of them.

    >>> literals(r"dial tcp \\S+: (?:i/o timeout|connection refused)"), literals(r"[Nn]o GPU \\d+"), literals(r"a.c|longer")
    ([': connection refused', ': i/o timeout'], ['No GPU ', 'no GPU '], [])
    """
    try:
        tree = parser.parse(pattern)
    except re.error:  # RE2 knows signs that this parser doesn't
        return []
    found = required_literals(tree, bool(tree.state.flags & re.IGNORECASE))
    return sorted(fewest(found)) if min(map(length, found), default=0) >= SHORTEST else []


def length(text: str) -> int:
    """The characters that a literal stands for: `[nN]` and `\\.` are one."""
    return len(CHARACTER.findall(text))


def fewest(found: set[str]) -> set[str]:
    """Those without another of them in themselves: what has `connect: connection refused` has `connection refused`."""
    apart = {text: "\0".join(["", *CHARACTER.findall(text), ""]) for text in found}
    return {text for text, signs in apart.items() if not any(other in signs and other != signs for other in apart.values())}


def lower_literal(literal: str) -> str:
    """A literal as a text in lower case, which every text with it has when its case is lowered too.

    >>> lower_literal(r"[nN][vV]\\.conf: No")
    'nv.conf: no'
    """
    if "[" not in literal and "\\" not in literal:
        return literal.lower()
    return "".join(sign[-2] if sign[0] == "[" and len(sign) > 1 else sign[-1] for sign in CHARACTER.findall(literal)).lower()


def character(code: int, folded: bool) -> str:
    """One character as an expression."""
    letter = chr(code)
    if folded and letter.isalpha():
        return f"[{letter.lower()}{letter.upper()}]"
    return "\\" + letter if letter in r".*+?()[]{}|^$\\" else letter


def required_literals(tree: Sequence[Any], folded: bool) -> set[str]:
    """Of the parts that follow each other, the one whose alternatives are longest; empty when no part has a literal."""
    best: set[str] = set()
    run: set[str] = {""}

    def consider(texts: set[str]) -> None:
        nonlocal best
        if texts and all(texts) and (not best or (min(map(length, texts)), -len(texts)) > (min(map(length, best)), -len(best))):
            best = texts

    for kind, value in tree:
        texts = exact_texts([(kind, value)], folded)
        if texts is not None and len(texts) * len(run) <= MOST:
            run = {before + after for before in run for after in texts}
            continue
        consider({before + after for before in run for after in starts([(kind, value)], folded)})
        run = {""}
        if kind is op.SUBPATTERN:
            consider(required_literals(value[3], folded or bool(value[1] & re.IGNORECASE)))
        elif kind is op.BRANCH:
            sides = [required_literals(side, folded) for side in value[1]]
            consider(set().union(*sides) if all(sides) else set())
        elif kind is op.MAX_REPEAT and value[0] > 0:
            consider(required_literals(value[2], folded))
    consider(run)
    return best


def starts(tree: Sequence[Any], folded: bool) -> set[str]:
    """What a part begins with: `NCCL INFO (?:Using network|NET/\\w+ ?: Using)` has two literals, and neither is every line of the log."""
    made: set[str] = {""}
    for kind, value in tree:
        texts = exact_texts([(kind, value)], folded)
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


def exact_texts(tree: Sequence[Any], folded: bool) -> set[str] | None:
    """All texts that a part can be, None where they are not few."""
    made: set[str] = {""}
    for kind, value in tree:
        more: set[str] | None = None
        if kind is op.LITERAL:
            more = {character(value, folded)}
        elif kind is op.AT:
            more = {""}
        elif kind is op.SUBPATTERN:
            more = exact_texts(value[3], folded or bool(value[1] & re.IGNORECASE))
        elif kind is op.BRANCH:
            sides = [exact_texts(side, folded) for side in value[1]]
            more = set().union(*(side for side in sides if side is not None)) if None not in sides else None
        elif kind is op.IN and len(value) <= FEW and all(one is op.LITERAL for one, _ in value):
            more = {character(code, folded) for _, code in value}
        elif kind is op.MAX_REPEAT and tuple(value[:2]) == (0, 1):
            inner = exact_texts(value[2], folded)
            more = None if inner is None else {"", *inner}
        if more is None or len(made) * len(more) > MOST:
            return None
        made = {before + after for before in made for after in more}
    return made
