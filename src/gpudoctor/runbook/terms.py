"""The parts of a condition: which of them decide that it is true, false or not known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

DEPTH = 16  # parentheses in one another that are looked into


class Term(NamedTuple):
    """A part of a condition that is looked at as a whole; `holds` is None where it has no answer, `why` then says for want of what."""

    text: str
    holds: bool | None
    why: str = ""


Ask = Callable[[str], Term]


def operands(condition: str) -> tuple[Literal["all", "any", ""], list[str]]:
    """The operands of the outermost `&&` ("all") or `||` ("any"); the condition itself ("") where it has neither.

    >>> operands('(a.b && a.c == "x && y") || a.d')
    ('any', ['(a.b && a.c == "x && y")', 'a.d'])
    >>> operands("a.b ? a.c && a.d : a.e")
    ('', ['a.b ? a.c && a.d : a.e'])
    """
    text = without_parentheses(condition)
    marks = list(outer_operators(text))
    if any(mark == "?" for _, mark in marks):
        return "", [text]
    for mark, kind in (("||", "any"), ("&&", "all")):
        ends = [at for at, found in marks if found == mark]
        if ends:
            starts = [0, *(at + 2 for at in ends)]
            return kind, [text[start:end].strip() for start, end in zip(starts, [*ends, len(text)], strict=True)]  # type: ignore[return-value]
    return "", [text]


def without_parentheses(text: str) -> str:
    """A condition without the parentheses around the whole of it.

    >>> without_parentheses("((a.b || a.c))"), without_parentheses("(a.b) || (a.c)")
    ('a.b || a.c', '(a.b) || (a.c)')
    """
    text = text.strip()
    while text.startswith("(") and closing_bracket(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def closing_bracket(text: str) -> int:
    """The position of the bracket that closes the one at the beginning; -1 where none does."""
    return next((at for at, mark in scan_marks(text) if mark == "closed"), -1)


def outer_operators(text: str) -> Iterator[tuple[int, str]]:
    """The `&&`, `||` and `?` outside of brackets and texts, with their places."""
    return ((at, mark) for at, mark in scan_marks(text) if mark != "closed")


def scan_marks(text: str) -> Iterator[tuple[int, str]]:
    """The marks of `outer_operators`, and "closed" where the last open bracket is closed."""
    depth = at = 0
    while at < len(text):
        char = text[at]
        if char in "\"'":
            at = end_of_literal(text, at)
            continue
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                yield at, "closed"
        elif depth == 0 and text[at : at + 2] in ("&&", "||"):
            yield at, text[at : at + 2]
            at += 1
        elif depth == 0 and char == "?":
            yield at, "?"
        at += 1


def end_of_literal(text: str, at: int) -> int:
    """The place behind the text that begins at a quote; `r"…"` knows no escapes, and three quotes end with three."""
    quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
    raw = text[:at][-1:] in ("r", "R") and not text[: at - 1][-1:].isalnum()
    at += len(quote)
    while at < len(text) and not text.startswith(quote, at):
        at += 1 if raw or text[at] != "\\" else 2
    return at + len(quote)


def deciding_terms(condition: str, ask: Ask, depth: int = DEPTH) -> list[Term]:
    """The parts by which a condition is what it is: of a false `&&` the first false operand, of a true one all of them, and so on."""
    kind, parts = operands(condition)
    if not kind or depth == 0:
        return [ask(parts[0])]
    answers = [ask(part) for part in parts]
    decisive = kind == "any"  # the answer by which one operand decides alone
    alone = [part for part, answer in zip(parts, answers, strict=True) if answer.holds is decisive][:1]
    unsure = [part for part, answer in zip(parts, answers, strict=True) if answer.holds is None]
    return [term for part in alone or unsure or parts for term in deciding_terms(part, ask, depth - 1)]
