"""The errors that a user sees: one clear sentence and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable

USAGE, INCONCLUSIVE = 2, 3
NOT_GUIDED = "--guided goes through what is asked of machines and clusters; what files say is there at once: leave out one of them"


class Refused(Exception):
    """A command can't do what it was asked; the message says what to do instead."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def no_such(what: str, name: str, known: Iterable[str], otherwise: str) -> Refused:
    """The refusal of a name that isn't there, with the names that come close, else with a hint."""
    import difflib

    close = difflib.get_close_matches(name[:80], list(known), n=3)
    return Refused(f"there is no {what} '{name[:80]}'; " + (f"did you mean {' or '.join(close)}?" if close else otherwise))


def complain(message: str) -> None:
    """One error on stderr, with nothing in it that a terminal would obey."""
    from gpudoctor.reporters.text import safe

    for line in message.split("\n"):
        print(f"gpudoctor: {safe(line)}", file=sys.stderr)
