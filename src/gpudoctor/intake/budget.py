"""What one reading of files may take, all its files and archives together: time, and bytes that are unpacked.

Whatever gives pieces looks at the clock between them. What does not come back to the clock (a parser inside one text, a read that waits) is
interrupted a little later, by a signal: Python's loops and regular expressions end at once, a call into a library when it returns.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

Made = TypeVar("Made")

TIMEOUT = 120.0  # seconds, as of the commands that ask clusters
GRACE = 2.0  # seconds that something may take to come back to the clock: a section of 8 MiB takes less
AGAIN = 0.5  # seconds until what has swallowed an interruption is interrupted again
MOST = 16 << 30  # unpacked bytes: an archive of 8 GiB that is unpacked for the first look and for the reading, as it was for each archive
REASON = "the time of the whole analysis was used up (--timeout)"
UNREAD = f"not read: {REASON}"
PARTLY = f"not read to its end: {REASON}"


class CutShort(Exception):
    """The content ends before its end; the message says why, in a few words."""


class TimeUp(CutShort):
    """There is no time left for more of it."""


class Interrupted(BaseException):
    """What did not come back to the clock; no error of a parser, so that nothing that handles those holds it up."""


class Budget:
    """What is left of time and bytes."""

    def __init__(self, seconds: float = TIMEOUT) -> None:
        self.end = self.until = time.monotonic() + seconds  # of everything, and of what is done now
        self.bytes = MOST
        self.turns = 1  # how many share what is left of the time

    @property
    def seconds(self) -> float:
        """What is left of the time."""
        return max(0.0, self.end - time.monotonic())

    def left(self, share: float) -> float:
        """The moment at which a share of the time that is left is over."""
        return time.monotonic() + self.seconds * share

    def turn(self) -> float:
        """Until when the next one may take: half of what is left where others come after it, so that each gets some."""
        self.turns -= 1
        return self.left(0.5 if self.turns > 0 else 1.0)

    @property
    def up(self) -> bool:
        """Whether there is no time left for what is done now."""
        return time.monotonic() >= self.until

    def check(self) -> None:
        """Raises `TimeUp` when there is no time left."""
        if self.up:
            raise TimeUp(PARTLY)

    def add_unpacked(self, size: int) -> None:
        """So many bytes more. Raises `CutShort`."""
        self.check()
        self.bytes -= size
        if self.bytes < 0:
            raise CutShort(f"all archives together unpack to more than {MOST >> 30} GiB: not read to its end")

    def spend(self, until: float, work: Callable[[], Made]) -> Made:
        """What some work makes that may go on until then. Raises `TimeUp` where it had to be interrupted."""
        before, self.until = self.until, until
        grace = min(GRACE, (self.end - until) / 2) if until < self.end else GRACE  # something is left for what comes after it
        try:
            with interrupted_at(until + grace):
                return work()
        except Interrupted:
            raise TimeUp(PARTLY) from None
        finally:
            self.until = before


@contextlib.contextmanager
def interrupted_at(moment: float) -> Iterator[None]:
    """Raises `Interrupted` in what goes on then; only the main thread can be interrupted. It may stand in another such."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    open_ = True

    def interrupt(*_: object) -> None:
        if open_:
            raise Interrupted

    handler = signal.signal(signal.SIGALRM, interrupt)
    now = time.monotonic()
    wait, again = signal.getitimer(signal.ITIMER_REAL)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(moment - now, 0.001), AGAIN)
        yield
    finally:
        open_ = False
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, max(wait - (time.monotonic() - now), 0.001) if wait else 0.0, again)
