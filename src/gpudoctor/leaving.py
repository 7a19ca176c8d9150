"""How this program leaves: what it has started or made is ended or undone first, and what can't be is named.

The first signal ends a run in order: an exception goes through it, and every `finally` does its work. The next one leaves at once:
programs are killed, and what takes time to undo (a debug pod) is named. A signal that comes while things are being started or undone waits
for that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

Haste = Callable[[], list[str]]  # ends what can be ended at once; → a sentence for each thing that stays

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)

# Seconds in which more signals are the same end: timeout(1) sends one to its program and then to the group, and of a terminal that
# closes both the kernel and the shell send SIGHUP.
AT_ONCE = 0.25

_hasty: list[Haste] = []
_held = 0
_came = 0.0  # when the first signal came, on the monotonic clock
_waiting = 0  # the one that is held back
hurried = False  # nothing may be started any more


class Ended(BaseException):
    """A signal has ended the run; `code` is the exit code that a shell gives for it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.code = 128 + number


def in_haste(end: Haste) -> Haste:
    """Have something ended by who leaves at once; returns it, for a decorator and for `forget_end`."""
    _hasty.append(end)
    return end


def forget_end(end: Haste) -> None:
    """Nothing is left of it."""
    if end in _hasty:
        _hasty.remove(end)


def at_once() -> list[str]:
    """End everything that can be ended without waiting; → what stays, a sentence each."""
    global hurried
    hurried = True
    return [sentence for end in tuple(_hasty) for sentence in end()]


@contextmanager
def hold_signals() -> Iterator[None]:
    """While this lasts the first signal waits: things are being started or undone. Only the main thread is ever interrupted by one."""
    global _held, _waiting
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _held += 1
    try:
        yield
    finally:
        _held -= 1
    if _waiting and not _held:
        number, _waiting = _waiting, 0
        raise signal_exception(number)


def signal_exception(number: int) -> BaseException:
    """The exception by which a run ends for a signal; Ctrl-C has Python's own."""
    return KeyboardInterrupt() if number == signal.SIGINT else Ended(number)


def listen() -> None:
    """Take the signals that end a program. One that is ignored (nohup) stays ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _take)


def _take(number: int, frame: FrameType | None) -> None:
    global _came, _waiting
    now = time.monotonic()
    if not _came:
        _came = now
        if not _held:
            raise signal_exception(number)
        _waiting = number
    elif now - _came > AT_ONCE:
        for sentence in at_once():
            with suppress(OSError):  # the terminal that has closed
                os.write(2, f"gpudoctor: {sentence}\n".encode("utf-8", "replace"))
        os._exit(128 + number)
