"""Lines in, lines out: what the guided dialogue needs of a terminal, on dumb ones and for screen readers too. No cursor is moved.

Input is read straight from the terminal, one line at a time, so that nothing of a paste is swallowed by a buffer that the next reader
doesn't know of.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from gpudoctor.patterns import regex
from gpudoctor.reporters.text import count

STDIN = 0
BLOCK = 1 << 16
MOST = 64 << 20  # bytes of one paste: as much as a bundle holds of one answer
CTRL_D = b"\x04"
ENDS = regex(rb"\n\.\r?\n|\x04")  # a line with only a dot, or Ctrl-D
# What a terminal puts around a paste once it was asked to (xterm's bracketed paste, which tmux and screen pass on).
ASK_BRACKETS, NO_BRACKETS = "\x1b[?2004h", "\x1b[?2004l"
BEGIN, END = b"\x1b[200~", b"\x1b[201~"
TAIL = 8  # bytes that may still become one of these marks, or the line that ends a paste
PASTING = "Paste the output. End with a line that has only a dot, or with Ctrl-D."


def stream() -> TextIO | None:
    """Where a dialogue can be held: stdout where that is a terminal, else stderr; None without a terminal to read from or to write to."""
    if not sys.stdin or not sys.stdin.isatty():
        return None
    return next((one for one in (sys.stdout, sys.stderr) if one and one.isatty()), None)


class Terminal:
    """The person's terminal. `plain` is one that knows no escape sequences."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.plain = os.environ.get("TERM", "dumb") in ("dumb", "unknown", "")

    @property
    def width(self) -> int:
        """Columns, now: windows change."""
        return shutil.get_terminal_size((80, 24)).columns

    @property
    def height(self) -> int:
        """Rows, now."""
        return max(5, shutil.get_terminal_size((80, 24)).lines)

    def say(self, text: str) -> None:
        """Write a text that ends its own lines."""
        self.out.write(text)
        self.out.flush()

    def tell(self, text: str) -> None:
        """Write a sentence, wrapped at words."""
        self.say(textwrap.fill(text, self.width - 1, break_long_words=False, break_on_hyphens=False) + "\n")

    def line(self, prompt: str) -> str | None:
        """What is typed after a prompt, without blanks around it; None for the end of input (Ctrl-D)."""
        self.say(textwrap.fill(prompt, self.width - 4, break_on_hyphens=False) + " ")
        read = b""
        while not read.endswith(b"\n"):
            piece = read_typed()
            if not piece:
                self.say("\n")
                return None
            read += piece
        return read.decode("utf-8", "replace").strip()

    def drop(self) -> bool:
        """Throw away what is waiting to be read; whether there was anything: a paste where a letter was wanted."""
        waiting = bool(select.select([STDIN], [], [], 0.05)[0])
        if waiting:
            with suppress(termios.error):
                termios.tcflush(STDIN, termios.TCIFLUSH)
        return waiting

    def pages(self, text: str) -> None:
        """Write a text, a screen at a time."""
        rows = self.height - 2
        room = rows
        lines = text.splitlines()
        for number, line in enumerate(lines):
            high = max(1, -(-len(line) // self.width))
            if room < high and number:
                answer = self.line(f"-- {count(len(lines) - number, 'more line')}: Return for more, q to stop --")
                if answer is None or answer.lower().startswith("q"):
                    return
                room = rows
            self.say(line + "\n")
            room -= high

    def paste(self) -> bytes:
        """What is pasted, of any size and with lines of any length, up to a line with only a dot or Ctrl-D."""
        self.tell(PASTING)
        with self.without_line_limit():
            made = b"".join(read_paste(read_typed))
        lines = made.count(b"\n")
        self.say(f"{len(made)} bytes, {lines} lines.\n")
        return made

    @contextmanager
    def without_line_limit(self) -> Iterator[None]:
        """The terminal gives what comes at once and without a limit: as a line editor it cuts lines at 4095 bytes (N_TTY). Ctrl-C works."""
        try:
            before = termios.tcgetattr(STDIN)
        except termios.error:
            yield
            return
        now = termios.tcgetattr(STDIN)
        now[3] &= ~(termios.ICANON | termios.ECHO)
        now[6][termios.VMIN], now[6][termios.VTIME] = 1, 0
        termios.tcsetattr(STDIN, termios.TCSADRAIN, now)
        try:
            if not self.plain:
                self.say(ASK_BRACKETS)
            yield
        finally:
            if not self.plain:
                self.say(NO_BRACKETS)
            with suppress(termios.error):  # the terminal has closed
                termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


def read_typed() -> bytes:
    """What is typed next; b"" for the end of input, also when the terminal has closed."""
    try:
        return os.read(STDIN, BLOCK)
    except OSError:
        return b""


def read_paste(read: Callable[[], bytes]) -> Iterator[bytes]:
    """The pieces of a paste, from what `read` gives, b"" at its end. Inside of the terminal's brackets neither dot nor Ctrl-D ends it."""
    rest, last, inside, total = b"", b"\n", False, 0
    while total <= MOST and (piece := read()):
        rest += piece
        while (mark := END if inside else BEGIN) in rest:
            before, rest = rest.split(mark, 1)
            if not inside and (found := text_before_end(before, last)) is not None:
                yield found
                return
            last = before[-1:] or last
            if inside and last != b"\n":
                before += b"\n"  # the dot that is typed now is a line of its own
                last = b"\n"
            inside = not inside
            total += len(before)
            yield before
        if not inside and (found := text_before_end(rest, last)) is not None:
            yield found
            return
        if (cut := len(rest) - TAIL) > 0:
            total += cut
            yield rest[:cut]
            rest, last = rest[cut:], rest[cut - 1 : cut]
    yield rest


def text_before_end(text: bytes, last: bytes = b"\n") -> bytes | None:
    r"""The text before the end of a paste, None when it hasn't ended; `last` is the byte before the text.

    >>> text_before_end(b"a\nb\n.\n"), text_before_end(b"a\n..\n"), text_before_end(b"a\x04"), text_before_end(b".\n", b"a")
    (b'a\nb\n', None, b'a', None)
    """
    match = ENDS.search(last + text)
    if match is None:
        return None
    return text[: match.start() - (match[0] == CTRL_D)]
