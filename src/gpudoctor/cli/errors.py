"""The errors that a user sees: one clear sentence and an exit code."""

from __future__ import annotations

USAGE, INCONCLUSIVE = 2, 3


class Refused(Exception):
    """A command can't do what it was asked; the message says what to do instead."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code
