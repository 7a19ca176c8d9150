"""A file or a pipe as pieces. A read that would wait is an error or ends when the time is up: nothing here waits for ever."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import stat
import sys
import time

from gpudoctor.intake import mounts
from gpudoctor.intake.budget import Budget, CutShort
from gpudoctor.intake.pieces import PIECE, Pieces
from gpudoctor.intake.walk import STDIN

LARGEST = 16 << 30  # bytes that are read of one file: its first half and its last
NONBLOCK = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Plain(io.FileIO):
    """An open file that has an end."""

    def __init__(self, descriptor: int, found: os.stat_result) -> None:
        super().__init__(descriptor)
        self.found = found

    def read(self, size: int | None = -1, /) -> bytes:
        """See `FileIO.read`. Some of /proc have nothing to say yet (/proc/kmsg)."""
        made: bytes | None = super().read(size)
        if made is None:
            raise OSError(errno.EAGAIN, "a read of it would wait")
        return made


def open_plain(path: str) -> Plain:
    """A plain file. One that would wait for a writer, or do something when it is opened, is not. Raises `OSError`."""
    mounts.check(path)
    mode = os.stat(path).st_mode  # noqa: PTH116  # of thousands of files, without a Path for each
    if stat.S_ISDIR(mode):
        os.scandir(path).close()  # says why it can't be listed
    if stat.S_ISREG(mode):
        descriptor = os.open(path, NONBLOCK)  # it may have become a pipe
        found = os.fstat(descriptor)
        if stat.S_ISREG(found.st_mode):
            return Plain(descriptor, found)
        os.close(descriptor)
    raise OSError(0, "not a file (a device, a socket or a pipe)")


class Again:
    """The pieces of a file, from its beginning each time."""

    def __init__(self, path: str, size: int, budget: Budget) -> None:
        self.path, self.size, self.budget = path, size, budget

    def __call__(self) -> Pieces:
        """From the beginning."""
        self.budget.check()
        with open_plain(self.path) as file:
            left = self.size if self.size <= LARGEST else LARGEST // 2
            while left and (piece := file.read(min(left, PIECE))):
                left -= len(piece)
                yield piece
                self.budget.check()
            if left:
                raise CutShort("became shorter while it was read")
            if self.size > LARGEST:
                file.seek(-LARGEST // 2, os.SEEK_END)
                while piece := file.read(PIECE):
                    yield piece
                    self.budget.check()
                raise CutShort(f"larger than {LARGEST >> 30} GiB: its middle was not read")


def stream(path: str, budget: Budget) -> Pieces:
    """Standard input or a pipe of the shell, as it comes, as long as there is time: its writer may never close it."""
    if path == STDIN and sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    descriptor = sys.stdin.fileno() if path == STDIN else os.open(path, NONBLOCK)
    try:
        while True:
            budget.check()
            if select.select([descriptor], [], [], max(0.0, budget.until - time.monotonic()))[0]:
                with contextlib.suppress(BlockingIOError):  # somebody else has read it
                    if not (piece := os.read(descriptor, PIECE)):
                        return
                    yield piece
    finally:
        if path != STDIN:
            os.close(descriptor)
