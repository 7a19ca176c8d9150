"""Many patterns at once over a long text: which lines fit which of them.

A text is read in blocks of whole lines. One RE2 Set of literals says which patterns may occur in one, at about the speed of `grep`; those
are searched for. Where they are many, the same is asked of small pieces of it. `never_nl` makes RE2 treat every line by itself, so no part
matches across lines. Memory stays at a block or two, however long the text or one of its lines is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from gpudoctor.knowledge.literals import lower_literal
from gpudoctor.patterns import regex
from gpudoctor.tools.common.blocks import ANSI, cut_long_lines, parts
from gpudoctor.tools.common.short_texts import ShortTexts

LONGEST_DETAIL = 256
DFA_MEMORY = 256 << 20  # bytes RE2 may use for its automaton; it grows only as far as the text needs

PIECE = 2 << 10  # bytes that the Set is asked about again where it knows something: calls cost time, and so do bytes
SHORT, CALL = 24 << 10, 200  # bytes that are looked up before the Set is made, and as how many of them a call counts
HINTED = 12  # patterns whose literals a block has that are tried in all of it: most of the time only the literal is there
SEVERAL = 3  # patterns that occur in a block and are searched for one by one; more would be slower than to look at its pieces
BY_LINE = b"(?m)"  # ^ and $ are those of a line
# What a pattern begins with: `=source ` of `^=source ([0-9a-f]{16})$`. A character before a sign that repeats it is no part of that.
BEGINNING = regex(rb"\(\?m\)(?:\^|\\b)?([A-Za-z0-9 :=_/-]{4,})(?![?*+{])")
ESCAPED = regex(rb"\\.", re.DOTALL)
CLASS = regex(rb"\[\]?[^\]]*\]")


class Patterns(Sequence[Any]):
    """RE2 patterns, each compiled when it is first asked for: few of them ever are."""

    def __init__(self, texts: list[bytes], options: Any) -> None:
        self.texts, self.options = texts, options
        self.made: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, number: Any) -> Any:
        if number not in self.made:
            import re2

            self.made[number] = re2.compile(self.texts[number], self.options)
        return self.made[number]


def single_pattern(pattern: str | bytes) -> Any:
    """Compile one pattern that lines are tried against."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = DFA_MEMORY
    return re2.compile(pattern, options)


class Hints:
    """For a text, the patterns that may occur in it. What is asked first is looked up; RE2's Set is made when that was much."""

    def __init__(self, options: Any) -> None:
        self.options, self.left = options, SHORT
        self.patterns: list[tuple[bytes, Sequence[str]]] = []
        self.texts: list[Sequence[str]] = []

    def add(self, pattern: bytes, literals: Sequence[str], texts: Sequence[str]) -> None:
        """One more pattern, expressions of which every match of it has one, if there are any, and these as plain texts."""
        self.patterns.append((pattern, literals))
        self.texts.append(texts)

    def of(self, text: bytes) -> Sequence[int]:
        """The numbers of the patterns. All that do occur are among them."""
        self.left -= len(text) + CALL
        return self.short.fitting(text) if self.left > 0 else self.set.Match(text) or ()

    @functools.cached_property
    def short(self) -> ShortTexts:
        """For what is asked first."""
        return ShortTexts(self.texts)

    @functools.cached_property
    def set(self) -> Any:
        """All literals, and the patterns that have none, in one automaton."""
        import re2

        made = re2.Set.SearchSet(self.options)
        for pattern, literals in self.patterns:
            made.Add("|".join(literals).encode() or pattern)
        made.Compile()
        return made


class Scanner(NamedTuple):
    """Named patterns, compiled."""

    names: list[str]
    patterns: Patterns
    hints: Hints
    places: dict[str, int]  # the number of each name

    def fitting(self, text: bytes) -> list[int]:
        """The patterns that occur in a text."""
        return self.confirmed_hints(text, self.hints.of(text), frozenset())

    def confirmed_hints(self, text: bytes, hinted: Iterable[int], but: frozenset[int]) -> list[int]:
        """Those of the hinted patterns, but some, that do occur in a text."""
        return [which for which in hinted if which not in but and self.patterns[which].search(text) is not None]


Span = tuple[int, int, str, int]  # of a line: start, end, what the pattern captured, the pattern's number


class Matched(NamedTuple):
    """A block that was matched: the patterns to search for in all of it, and the lines with others, which were found already.

    Where there are such, its long lines are cut.
    """

    text: bytes
    occur: list[int]
    lines: list[Span]


def compile_scanner(
    entries: Iterable[tuple[str, str]],
    literals: Mapping[str, Sequence[str]] = MappingProxyType({}),
    texts: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Scanner:
    """A scanner of (name, pattern) entries. Patterns see bytes: UTF-8 outside a character class matches itself.

    `literals` are, by name, expressions of which every match of the pattern has one; `texts` are the same as plain texts, where somebody
    has them ready.
    """
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    options.max_mem = DFA_MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    made = Scanner([], Patterns([], options), Hints(options), {})
    for name, pattern in entries:
        made.places[name] = len(made.names)
        made.names.append(name)
        made.patterns.texts.append(by_line := BY_LINE + pattern.encode())
        signs = literals.get(name, ())
        made.hints.add(by_line, signs, texts[name] if name in texts else [lower_literal(sign) for sign in signs])
    return made


def match_blocks(blocks: Iterable[bytes], known: Scanner, sampled: frozenset[int]) -> Iterator[Matched]:
    """The blocks as they are searched, in one thread: those of RE2 would wait for Python's between blocks, longer than they save.

    Colours and carriage returns may hide a word or a line's end; long lines need to be cut only where something was found.
    """
    for block in blocks:
        if b"\x1b" in block or b"\r" in block:
            block = ANSI.sub(b"", cut_long_lines(block)).replace(b"\r\n", b"\n")
        hinted = known.hints.of(block)
        occur = [which for which in hinted if which in sampled]
        found = known.confirmed_hints(block, hinted, sampled) if len(hinted) - len(occur) <= HINTED else hinted
        if len(found) > SEVERAL:
            block = cut_long_lines(block)
            yield Matched(block, occur, lines_of(block, known, sampled))
        else:
            yield Matched(block, [*occur, *found], [])


def lines_of(text: bytes, known: Scanner, sampled: frozenset[int]) -> list[Span]:
    """The lines that fit a pattern but the sampled ones."""
    made: list[Span] = []
    at = 0
    for piece in parts(text, PIECE):
        for which in known.hints.of(piece):
            if which not in sampled:
                made += ((at + start, at + end, detail, which) for start, end, detail, _ in lines_in(piece, known.patterns[which], which))
        at += len(piece)
    return made


def lines_in(block: bytes, pattern: Any, which: int) -> Iterator[Span]:
    """Each line of a block that fits one pattern, with what it captured the first time."""
    groups = pattern.groups
    if literal := literal_prefix(pattern.pattern):
        for start, end in lines_with(block, literal):
            if match := pattern.search(block, start, end):
                yield start, end, captured_text(match, groups), which
        return
    end = -1
    for match in pattern.finditer(block):
        at = match.start()
        if at <= end:
            continue
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield start, end, captured_text(match, groups), which


def lines_with(block: bytes, literal: bytes) -> Iterator[tuple[int, int]]:
    """The lines of a block that have a literal, which is found faster than a pattern."""
    at = block.find(literal)
    while at >= 0:
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield start, end
        at = block.find(literal, end)


@functools.cache
def literal_prefix(pattern: bytes) -> bytes:
    """The literal that every match of a pattern begins with, b"" for none.

    >>> literal_prefix(b"(?m)Connected all (?:rings|trees)"), literal_prefix(b"(?m)either|or"), literal_prefix(b"(?m)timeouts?:")
    (b'Connected all ', b'', b'timeout')
    """
    bare, depth = CLASS.sub(b"", ESCAPED.sub(b"", pattern)), 0
    for sign in bare:
        depth += (sign == ord("(")) - (sign == ord(")"))
        if sign == ord("|") and depth == 0:
            return b""
    match = BEGINNING.match(pattern)
    return match.group(1) if match else b""


def captured_text(match: Any, groups: int) -> str:
    """What the group of a match captured, as text of at most `LONGEST_DETAIL` bytes; of several groups, the one that took part."""
    which = match.lastindex if groups > 1 else groups
    if not which:
        return ""
    first, last = match.span(which)
    return str(match.string[first : min(last, first + LONGEST_DETAIL)].decode("utf-8", "replace").strip())
