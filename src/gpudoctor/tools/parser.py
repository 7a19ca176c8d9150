"""What a parser is. Each package of tools declares its own in `PARSERS`: the name that runbooks use → what it fills and the function.

A parser is `(output, about) -> Facts`: `output` is what one command printed, `about` the subject the command was run for (the record of
the step's `each`, or the host), from which the facts take names that the text itself doesn't carry. It returns a mapping fact type →
records: {} for an answer that says nothing, an empty list for "asked, and there is none". Text that isn't what the parser reads raises
`ParseError` quoting it. A streaming parser gets the pages one by one and keeps only what it needs.
"""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.facts import Facts
from gpudoctor.probes.base import Output

LINE = 4096  # characters of one line that are looked at: log drivers cut at 16 KiB, and what a line says stands at its beginning


class Parser(NamedTuple):
    """`fills` names the fact types that the parser may return; `module:function` is imported when it is first used.

    One with `failures` is also given an Output whose program hung or isn't there: that says something of the program.
    """

    fills: tuple[str, ...]
    function: str
    streams: bool = False
    failures: bool = False
    all_of: tuple[str, ...] = ()  # the types of which its text would have every record: that there is none is an answer
    sifts: tuple[str, ...] = ()  # the types of which it leaves out the records that are well


def reject_foreign(output: Output, program: str) -> None:
    """Raise `ParseError` where nothing was recognised in what a program printed that was run. In a file other things may stand."""
    if not output.source and (text := output.text.strip()):
        raise ParseError(f"{output.origin_name()}: not an answer of {program}: {text[:60]!r}")


class ParseError(ValueError):
    """The text is not what the parser reads. The message names the source and quotes the line; `facts` are what it did read."""

    def __init__(self, message: str, facts: Facts | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


def mistake(what: str, source: str, error: Exception) -> str:
    """What is said where code of ours fails on a text. The text counts as unread, and everything else goes on.

    >>> mistake("parser kernel.log", "dmesg.txt", KeyError("code"))
    "dmesg.txt: not read by a bug of gpudoctor, please report it: parser kernel.log: KeyError: 'code'"
    """
    return f"{source}: not read by a bug of gpudoctor, please report it: {what}: {type(error).__name__}: {str(error)[:120]}"
