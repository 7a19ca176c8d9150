"""The standard streams as they may be: closed, on a full disk, behind a reader that has left, of a locale without `…`."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

WIDEST = 1000  # columns: more is no screen, and a line of spaces that long is no text


class Err(io.FileIO):
    """Standard error: what can't be said there isn't worth to fail for."""

    def write(self, data: Any) -> int:
        """Write what fits."""
        try:
            return super().write(data) or 0
        except OSError:
            return len(data)


def set_up() -> None:
    """Make the streams usable. A closed one is as good as /dev/null; left closed, the next file would become it."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the lowest number that is free
        if number:
            os.set_blocking(number, True)  # who shares it may have set O_NONBLOCK, and then what a slow reader leaves no room for is lost
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout = sys.stdout or io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without `…` and `→` costs these characters, not the report
    encoding = getattr(sys.stderr, "encoding", None)
    # Without a buffer: an exception of a signal between its writing and its emptying would say things twice.
    sys.stderr = io.TextIOWrapper(Err(2, "w", closefd=False), encoding=encoding, errors="backslashreplace", write_through=True)
    given = os.environ.get("COLUMNS", "")
    if given and not (given.isascii() and given.isdigit() and 0 < len(given) < 6 and int(given) <= WIDEST):
        del os.environ["COLUMNS"]


def output_error(out: TextIO) -> OSError | None:
    """Why standard output takes nothing more, if it doesn't: what it could not write is still there, and fails again."""
    try:
        out.flush()
    except OSError as error:
        return error
    except ValueError:  # somebody has closed it
        return None
    return None
