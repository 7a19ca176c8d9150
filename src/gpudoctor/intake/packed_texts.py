"""A text that comes only once, from a pipe or an archive: kept packed in memory until it is read a second time."""

from __future__ import annotations

from typing import Any

from gpudoctor.intake.budget import MOST, Budget
from gpudoctor.intake.pieces import MIB, Guard, Pieces, unpack, zstd

ROOM = 128 * MIB  # packed bytes of one reading; of logs that is ten times as much or more
LAST = 4 * MIB  # bytes of the end of a text that doesn't fit into that
LEVEL = 1  # of zstd: 500 MiB a second, logs become a tenth to a twentieth


class Room:
    """How much is kept in one reading."""

    def __init__(self, budget: Budget) -> None:
        self.left, self.budget = ROOM, budget


class Keep:
    """What is remembered of a text on its way: its size and ends, and, where there is `room` for it, its content."""

    def __init__(self, room: Room | None, long: int, end: int) -> None:
        self.room, self.long, self.at_end = room, long, end
        self.size = 0
        self.head, self.end = bytearray(), b""
        self.packer: Any = None
        self.packed: list[bytes] = []
        self.last: list[bytes] = []  # of what found no room, its end
        self.missed = 0
        self.note = ""

    def add(self, piece: bytes) -> None:
        """The next piece."""
        fits = piece[: self.long - len(self.head)]
        self.head += fits
        self.size += len(piece)
        self.end = piece[-self.at_end :] if len(piece) >= self.at_end else (self.end + piece)[-self.at_end :]
        if self.room is None or self.size < self.long:
            return
        if self.packer is None:
            self.packer = zstd().ZstdCompressor(level=LEVEL)
            self.pack(bytes(self.head))
            piece = piece[len(fits) :]
        self.pack(piece)

    def pack(self, piece: bytes) -> None:
        """Keep a piece; where there is no room any more, only the last ones."""
        if self.room is None or not piece:
            return
        if self.room.left > 0 and not self.last:
            made = self.packer.compress(piece)
            if made:
                self.packed.append(made)
                self.room.left -= len(made)
            return
        self.last.append(piece)
        self.missed += len(piece)
        while sum(map(len, self.last[1:])) >= LAST:
            self.last.pop(0)

    def ends(self) -> bytes:
        """The beginning and the end."""
        return bytes(self.head[: self.at_end]) + self.end

    def close_text(self) -> Any:
        """What gives the content again, from its beginning each time."""
        if self.packer is not None:
            self.packed.append(self.packer.flush())
            self.packer = None
        if self.last:
            left = self.missed - sum(map(len, self.last))
            self.note = f"too long for a pipe or an archive: {left // MIB} MiB before its end were not read" if left else ""
        return self.pieces

    def pieces(self) -> Pieces:
        """The content."""
        if self.room is not None:
            yield from unpack(iter(self.packed), "zstd", Guard(self.room.budget, MOST))
        if self.last:
            joined = b"".join(self.last)
            yield b"\n" + joined[joined.find(b"\n") + 1 :]
