"""One source of a job's logs while it is read: a file, a pod."""

from __future__ import annotations

from collections import deque

TAIL = 256 << 10  # bytes at the end of a source that are read line by line, at most


class Begun:
    """A source that is being read: its name, when it was read, and its last chunks so far."""

    __slots__ = ("last", "left", "name", "now")

    def __init__(self, name: str, now: float) -> None:
        self.name, self.now = name, now
        self.last: deque[bytes] = deque()
        self.left = 0  # bytes of them

    def add(self, chunk: bytes) -> None:
        """One more chunk: of all, only as many are kept as have the last `TAIL` bytes."""
        self.last.append(chunk[-TAIL:])
        self.left += len(self.last[-1])
        while self.left - len(self.last[0]) >= TAIL:
            self.left -= len(self.last.popleft())

    def end(self, size: int) -> str:
        """Its last bytes, at most `TAIL`."""
        return b"".join(self.last)[-size:].decode("utf-8", "replace")
