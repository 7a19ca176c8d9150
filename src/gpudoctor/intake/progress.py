"""How far the reading of files is."""

from __future__ import annotations

from collections.abc import Callable

OnRead = Callable[[str, int, int, int], None]  # (what is being done, files done, of how many if that is known, bytes done)


class Count:
    """How far the reading is, told to whoever shows it."""

    def __init__(self, tell: OnRead | None) -> None:
        self.tell = tell
        self.begin("looked at", 0)

    def begin(self, doing: str, total: int) -> None:
        """The next pass over the files, of which there are so many (0: not known yet)."""
        self.doing, self.files, self.total, self.size = doing, 0, total, 0

    def file(self, size: int = 0) -> None:
        """One more file."""
        self.files += 1
        self.bytes(size)

    def bytes(self, size: int) -> None:
        """So many more bytes."""
        self.size += size
        if self.tell:
            self.tell(self.doing, self.files, self.total, self.size)
