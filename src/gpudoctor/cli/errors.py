"""The errors that a user sees: one clear sentence and an exit code."""

from __future__ import annotations

import sys

USAGE, INCONCLUSIVE = 2, 3


class Refused(Exception):
    """A command can't do what it was asked; the message says what to do instead."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


def complain(message: str) -> None:
    """One error on stderr, with nothing in it that a terminal would obey."""
    from gpudoctor.reporters.text import safe

    for line in message.split("\n"):
        print(f"gpudoctor: {safe(line)}", file=sys.stderr)
