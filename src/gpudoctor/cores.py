"""Two processes for work on many things, since the threads of one take turns wherever Python itself computes.

The second is a fork: it has everything that the first has read and compiled, and it sends back what it made as plain records. Where it
can't be made, or dies, the first process does all of the work, so that nothing but time depends on it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec

from gpudoctor import leaving

Thing = TypeVar("Thing")
Made = TypeVar("Made")

WORTH = 8 << 20  # bytes of work from which on a fork costs less than it saves
HELD = 1 << 20  # bytes that a pipe may hold, where the system allows it
AHEAD = 64 << 20  # bytes of the second process's records that may wait for the first
KILLED = 1.0  # seconds in which a process that was killed is gone; one that hangs in the kernel is left behind
LENGTH = struct.Struct("!I")
END = LENGTH.pack(0)  # after the last record; a process that died leaves none


def share_work(
    things: Sequence[Thing], sizes: Sequence[int], work: Callable[[Sequence[Thing]], Iterator[Made]], kind: type[Made], first: float
) -> Iterator[Made]:
    """What `work` makes of the things, in order: of the first of them here, of the others in another process.

    `sizes` are their bytes, `first` is the share of the first process. `work` on a part of the things must make the same records each
    time, of a type `kind` that msgspec knows.
    """
    cut = share(sizes, first)
    reader = fork_work(lambda: work(things[cut:])) if cut and possible() else None
    if reader is None:
        yield from work(things)
        return
    with Second(*reader) as second:
        for made in work(things[:cut]):
            yield made
            second.glance()
        count = 0
        for data in second.records():
            yield msgspec.msgpack.decode(data, type=kind)
            count += 1
        if not second.ended:
            yield from itertools.islice(work(things[cut:]), count, None)


def share(sizes: Sequence[int], first: float) -> int:
    """How many things the first process takes, 0 when it should take them all.

    >>> share([WORTH] * 10, 0.36), share([WORTH], 0.36), share([1] * 10, 0.36)
    (3, 0, 0)
    """
    total = sum(sizes)
    if total < WORTH or len(sizes) < 2:
        return 0
    taken = itertools.takewhile(lambda done: done <= total * first, itertools.accumulate(sizes))
    return max(1, sum(1 for _ in taken))


def possible() -> bool:
    """Whether a fork is safe, and a second processor there for it."""
    return fork_is_safe() and len(os.sched_getaffinity(0)) > 1


def fork_is_safe() -> bool:
    """Whether a fork is safe: a lock that another thread holds would stay locked in it for ever."""
    return sys.platform == "linux" and threading.active_count() == 1


def fork_work(work: Callable[[], Iterable[object]]) -> tuple[int, int] | None:
    """The process id of a fork that does some work, and a pipe from it: a length and a record, again and again. None without one."""
    import fcntl

    reading, writing = os.pipe()
    with contextlib.suppress(OSError):  # more than this user may have
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, HELD)
    try:
        child = os.fork()
    except OSError:  # no memory, or no more processes allowed
        os.close(reading)
        os.close(writing)
        return None
    if child:
        os.close(writing)
        os.set_blocking(reading, False)
        return child, reading
    status = 1
    try:  # nothing may go on from here that the first process does
        for number in leaving.SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            for made in work():
                data = msgspec.msgpack.encode(made)
                out.write(LENGTH.pack(len(data)) + data)
            out.write(END)
        status = 0
    finally:
        os._exit(status)


class Second:
    """The other process. What it makes is taken from its pipe between the first's own records, so that it need not wait.

    A thread that reads would have to be given the interpreter for each record, which takes long where a machine wakes threads late.
    """

    def __init__(self, child: int, pipe: int) -> None:
        self.child, self.pipe = child, pipe
        self.data = bytearray()  # what was taken and not used yet
        self.ended = False  # it came to its end
        leaving.in_haste(self.kill)

    def glance(self) -> None:
        """Take what is there."""
        if len(self.data) < AHEAD:
            with contextlib.suppress(BlockingIOError):
                self.data += os.read(self.pipe, HELD)

    def records(self) -> Iterator[bytes]:
        """What it made, until it ends or dies."""
        os.set_blocking(self.pipe, True)
        at = 0
        while True:
            start = at + LENGTH.size
            end = start + LENGTH.unpack_from(self.data, at)[0] if len(self.data) >= start else 0
            if start == end:
                self.ended = True
                return
            if start < end <= len(self.data):
                yield bytes(self.data[start:end])
                at = end
                continue
            del self.data[:at]
            at = 0
            more = os.read(self.pipe, HELD)
            if not more:
                return
            self.data += more

    def __enter__(self) -> Second:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing of it stays behind, also when the first process stops early."""
        os.close(self.pipe)
        self.kill()
        leaving.forget_end(self.kill)
        with contextlib.suppress(OSError):
            until = time.monotonic() + KILLED
            while os.waitpid(self.child, os.WNOHANG) == (0, 0) and time.monotonic() < until:
                time.sleep(0.001)

    def kill(self) -> list[str]:
        """End it, without waiting for it."""
        with contextlib.suppress(OSError):
            os.kill(self.child, signal.SIGKILL)
        return []


def ends(work: Callable[[], object], seconds: float) -> bool:
    """Whether some work comes to an end within so many seconds, by an error too. Where no fork is possible it isn't tried."""

    def tried() -> Iterator[bool]:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # whoever reads what this program prints doesn't wait for one that is left behind
            os.dup2(nothing, stream)
        with contextlib.suppress(OSError):
            work()
        yield True

    reader = fork_work(tried) if fork_is_safe() else None
    if reader is None:
        return True
    with Second(*reader) as second:
        return bool(select.select([second.pipe], [], [], seconds)[0])
