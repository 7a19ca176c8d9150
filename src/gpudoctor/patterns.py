"""Regular expressions that are compiled when a text may fit them: parsers and forms name 800, a run needs some of them.

To compile one takes half a millisecond, which is longer than to read a small file with it. So its literals are looked for first.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, AnyStr, Generic, cast

TRIES = 200  # searches for literals that take as long as to compile; for a text of many lines the pattern is faster


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, later. Raises `re.error` when it is first needed; a test compiles all that the modules name.

    >>> regex(r"Xid (\\d+)").search("Xid 79")[1]
    '79'
    """
    return cast("re.Pattern[AnyStr]", Later(pattern, flags))


@functools.cache
def signs() -> re.Pattern[str]:
    """The signs of a pattern: an escape, a class, the beginning of a group, a repetition, any other character."""
    return re.compile(
        r"\\(?:x..|u.{4}|U.{8}|\d{1,3}|.)"
        r"|\[\^?\]?(?:[^\]\\]|\\.)*\]"
        r"|\((?:\?(?:P<\w+>|P=\w+|<?[=!]|[:>]))?"
        r"|(?:[*+?]|\{\d*,?\d*\})[?+]?"
        r"|.",
        re.DOTALL,
    )


def literals(pattern: str) -> list[str]:
    """Texts of which every match of a pattern has one: the longest of each alternative. Empty where one has none, or might have none.

    `knowledge.literals` finds more of them in a pattern's tree, which takes half as long to make as to compile it.

    >>> literals(r"dial tcp \\S+: i/o timeouts?$|^(?:no|bad) route"), literals(r"a|\\d+"), literals(r"(?i)xid")
    ([': i/o timeout', ' route'], [], [])
    """
    if "(?" in pattern and re.search(r"\(\?[a-zA-Z-]+[:)]", pattern):  # flags change what a character stands for
        return []
    sides, run, longest, depth = [], "", "", 0
    for sign in signs().findall(pattern):
        if depth == 0 and (plain := sign_character(sign)):
            run += plain
            continue
        if sign[0] in "*+?{":  # the character before may be missing
            run = run[:-1]
        longest, run = max(longest, run, key=len), ""
        depth += (sign[0] == "(") - (sign == ")")
        if depth == 0 and sign == "|":
            sides.append(longest)
            longest = ""
    sides.append(max(longest, run, key=len))
    return sides if all(sides) else []


def sign_character(sign: str) -> str:
    """The character that a sign stands for; "" where it stands for others, or for none."""
    if sign[0] == "\\":
        return "" if sign[1].isalnum() else sign[1:]
    return sign if len(sign) == 1 and sign not in "()|^$.*+?" else ""


class Later(Generic[AnyStr]):
    """A pattern that is compiled when a text has one of its literals, or when it has been tried often; until then nothing fits it.

    Safe for several threads without a lock: `made` and `texts` only ever go from None to what every thread would make alike, and an
    attempt that is counted twice or not at all changes no answer.
    """

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self.flags, self.tries = flags, 0
        self.made: re.Pattern[AnyStr] | None = None
        self.texts: list[AnyStr] | None = None

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self.compiled().groups

    @property
    def groupindex(self) -> Mapping[str, int]:
        """The numbers of its named groups."""
        return self.compiled().groupindex

    def search(self, string: AnyStr, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[AnyStr] | None:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.search(string, pos, endpos) if made else None

    def match(self, string: AnyStr, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[AnyStr] | None:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.match(string, pos, endpos) if made else None

    def fullmatch(self, string: AnyStr, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[AnyStr] | None:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.fullmatch(string, pos, endpos) if made else None

    def findall(self, string: AnyStr, pos: int = 0, endpos: int = sys.maxsize) -> list[Any]:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.findall(string, pos, endpos) if made else []

    def finditer(self, string: AnyStr, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[re.Match[AnyStr]]:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.finditer(string, pos, endpos) if made else iter(())

    def sub(self, repl: AnyStr | Callable[[re.Match[AnyStr]], AnyStr], string: AnyStr, count: int = 0) -> AnyStr:
        """As of a compiled pattern."""
        made = self.made or self.fitting(string)
        return made.sub(repl, string, count) if made else string

    def subn(self, repl: AnyStr | Callable[[re.Match[AnyStr]], AnyStr], string: AnyStr, count: int = 0) -> tuple[AnyStr, int]:
        """As of a compiled pattern."""
        return self.compiled().subn(repl, string, count)

    def split(self, string: AnyStr, maxsplit: int = 0) -> list[AnyStr | Any]:
        """As of a compiled pattern."""
        return self.compiled().split(string, maxsplit)

    def compiled(self) -> re.Pattern[AnyStr]:
        """The compiled pattern."""
        if self.made is None:
            self.made = re.compile(self.pattern, self.flags)
        return self.made

    def fitting(self, text: AnyStr) -> re.Pattern[AnyStr] | None:
        """The compiled pattern, None where the text has none of the literals and few texts were tried."""
        texts = self.texts
        if texts is None:
            texts = self.texts = self.literals()
        self.tries += 1
        if not texts or self.tries >= TRIES:
            return self.compiled()
        for one in texts:
            if one in text:
                return self.compiled()
        return None

    def literals(self) -> list[Any]:
        """What a text is searched for; nothing where flags change what the pattern's characters mean."""
        if self.flags & (re.IGNORECASE | re.VERBOSE):
            return []
        pattern: Any = self.pattern  # of bytes or characters, as what is made of it
        if isinstance(pattern, bytes):
            return [text.encode("latin-1") for text in literals(pattern.decode("latin-1"))]
        return literals(pattern)
