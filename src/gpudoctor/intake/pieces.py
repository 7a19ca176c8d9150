"""Bytes on their way from a disk, a pipe or an archive: unpacked and decoded piece by piece, within bounds, never all at once.

Everything here is an iterator of pieces. What goes wrong raises `CutShort` after the pieces that were good: they count.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Protocol

from gpudoctor.intake.budget import Budget, CutShort
from gpudoctor.patterns import regex
from gpudoctor.tools.torch import plain_pickle

MIB = 1 << 20
PIECE = 1 << 20
HEAD = 64 << 10  # bytes by which it is decided what something is
FED = 16 << 10  # packed bytes at a time: of damaged data so much is lost at most
FREE = 256 * MIB  # may be unpacked whatever it was packed from
RATIO = 200  # times the packed size may be unpacked beyond that; text packs 5 to 60 times, deflate's limit is 1032
WINDOW = 27  # zstd's own limit for the window, as a power of two, and what xz may use for its dictionary
TEXT_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\x0b\x0c\x1b\x08")
# PATH=/usr/bin\0HOME=/root\0NCCL_DEBUG=INFO\0           (/proc/PID/environ)
ENVIRON = regex(rb"(?:[A-Za-z_][A-Za-z0-9_]{0,200}=[^\0]{0,4096}\0){3}")

Pieces = Iterator[bytes]
PACKED: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    *((bytes((0x50 + n,)) + b"\x2a\x4d\x18", "zstd") for n in range(16)),  # a frame to be skipped, with which pzstd begins
)
# Texts that Windows writes, with or without a mark: (encoding, where the zeros of plain letters are)
WIDE = (("utf-16-le", 1), ("utf-16-be", 0))


class Guard:
    """How much one input may unpack to, out of the budget of all. All that lies in one archive shares it: many small bombs are one."""

    def __init__(self, budget: Budget, free: int = FREE) -> None:
        self.packed = self.unpacked = 0
        self.budget, self.free = budget, free
        self.spent = ""

    def add_packed(self, size: int) -> None:
        """So many packed bytes went in."""
        self.packed += size

    def gave(self, size: int) -> None:
        """So many bytes came out. Raises `CutShort` when they are too many."""
        self.budget.add_unpacked(size)
        self.unpacked += size
        limit = max(self.free, self.packed * RATIO)
        if self.unpacked > limit:
            self.spent = f"unpacks to more than {limit // MIB} MiB: the rest was not read"
            raise CutShort(self.spent)


class Machine(Protocol):
    """A decompressor of the standard library: bz2, lzma and zstd have this form."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most so many bytes; what was not needed for them is kept for the next call."""
        ...

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more goes in."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What follows the stream."""
        ...


class Inflate:
    """zlib in the form of the others."""

    def __init__(self, wbits: int) -> None:
        self.machine = zlib.decompressobj(wbits)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """See `Machine`."""
        made = self.machine.decompress(self.machine.unconsumed_tail + data, max_length)
        self.needs_input = not self.machine.unconsumed_tail and len(made) < max_length
        return made

    @property
    def eof(self) -> bool:
        """See `Machine`."""
        return self.machine.eof

    @property
    def unused_data(self) -> bytes:
        """See `Machine`."""
        return self.machine.unused_data


def _xz() -> Machine:
    import lzma

    return lzma.LZMADecompressor(memlimit=1 << WINDOW)


def _bzip2() -> Machine:
    import bz2

    return bz2.BZ2Decompressor()


def _zstd() -> Machine:
    made: Machine = zstd().ZstdDecompressor()
    return made


def zstd() -> Any:
    """The module for zstd: of the standard library from Python 3.14 on, the same from its backport before."""
    try:
        from compression import zstd as found  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd as found
    return found


MACHINES: dict[str, Callable[[], Machine]] = {
    "gzip": lambda: Inflate(31),
    "deflate": lambda: Inflate(-15),
    "bzip2": _bzip2,
    "xz": _xz,
    "zstd": _zstd,
}


def packed_as(head: bytes) -> str:
    """How something is packed, by its first bytes; "" when it isn't."""
    return next((kind for mark, kind in PACKED if head.startswith(mark)), "")


def unpack(pieces: Pieces, kind: str, guard: Guard) -> Pieces:
    """What was packed; several streams one after the other are one, as the tools have it. What follows that is no stream is padding."""
    made = MACHINES[kind]
    machine: Machine | None = made()
    rest = b""
    for fed in (piece[at : at + FED] for piece in pieces for at in range(0, len(piece), FED)):
        guard.add_packed(len(fed))
        data = rest + fed if rest else fed
        while True:
            if machine is None:
                data = data.lstrip(b"\0") if kind in ("gzip", "xz") else data
                if len(data) < 6:  # the longest mark
                    rest = data
                    break
                if packed_as(data) != kind:
                    return
                machine = made()
            try:
                out = machine.decompress(data, PIECE)
            except Exception as error:  # each library has its own, bz2 the one of the file system
                raise CutShort(f"damaged {kind} data ({short(error)}): read as far as it goes") from None
            data = rest = b""
            if out:
                guard.gave(len(out))
                yield out
            if machine.eof:
                data, machine = machine.unused_data, None
            elif machine.needs_input:
                break
    if machine is not None:
        raise CutShort(f"{kind} data that is cut off: read as far as it goes")


def short(error: Exception) -> str:
    """An error of a library in one line."""
    return " ".join(str(error).split())[:80] or type(error).__name__


def peek(pieces: Pieces, size: int = HEAD) -> tuple[bytes, Pieces]:
    """The first so many bytes, or all there are, and all pieces once more. What ends early ends so when the pieces are read."""
    first: list[bytes] = []
    length = 0
    cut: list[CutShort] = []
    try:
        for piece in pieces:
            first.append(piece)
            length += len(piece)
            if length >= size:
                break
    except CutShort as error:
        cut.append(error)

    def ended() -> Pieces:
        if cut:
            raise cut[0]
        yield from ()

    return b"".join(first)[:size], chain(first, ended() if cut else pieces)


def encoding_of(head: bytes) -> str:
    """utf-16-le or utf-16-be where a text is written so, with a byte order mark or without; else ""."""
    if head.startswith(codecs.BOM_UTF16_LE) and not head.startswith(codecs.BOM_UTF32_LE):
        return "utf-16-le"
    if head.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    sample = head[: 4096 & ~1]
    if len(sample) < 8 or b"\0" not in sample:
        return ""
    for encoding, place in WIDE:
        zeros, letters = sample[place::2], sample[1 - place :: 2]
        # Nine of ten letters are ASCII in what computers write. A file of zeros is no text.
        if zeros.count(0) * 10 >= len(zeros) * 9 and letters.count(0) * 20 <= len(letters):
            return encoding
    return ""


def decode_text(pieces: Pieces) -> Pieces:
    """Text as UTF-8 without a byte order mark, with line feeds: UTF-16 and old Macs' carriage returns are converted. Pickles stay."""
    head, pieces = peek(pieces)
    if plain_pickle.looks_like(head):
        return pieces
    encoding = encoding_of(head)
    if encoding:
        machine = codecs.getincrementaldecoder(encoding)("replace")
        texts = chain((machine.decode(piece) for piece in pieces), (machine.decode(b"", final=True) for _ in (1,)))
        head, pieces = peek(text.encode("utf-8", "replace") for text in texts)
    if head.startswith(codecs.BOM_UTF8):
        pieces = _without_mark(pieces)
    if ENVIRON.match(head):
        return (piece.replace(b"\0", b"\n") for piece in pieces)
    return (piece.replace(b"\r", b"\n") for piece in pieces) if b"\r" in head and b"\n" not in head else pieces


def _without_mark(pieces: Pieces) -> Pieces:
    head, pieces = peek(pieces, 3)
    first = next(pieces, b"")
    while len(first) < len(head):
        first += next(pieces, b"")
    yield first[3:]
    yield from pieces


def whole_lines(pieces: Pieces, size: int) -> Pieces:
    """Blocks of about so many bytes that end at line ends; a line without an end is cut."""
    held: list[bytes] = []
    length = 0
    for piece in pieces:
        held.append(piece)
        length += len(piece)
        if length < size:
            continue
        block = b"".join(held)
        end = block.rfind(b"\n") + 1 or len(block)
        yield block[:end]
        held = [block[end:]] if end < length else []
        length -= end
    if length:
        yield b"".join(held)


def why_no_text(head: bytes) -> str:
    """Why bytes are no text that can be read, by their beginning; "" when they are. A flight recorder's dump passes."""
    if not head or plain_pickle.looks_like(head) or encoding_of(head) or ENVIRON.match(head):
        return ""
    if head.startswith(b"7z\xbc\xaf\x27\x1c"):
        return "a 7z archive: not read, unpack it first"
    head = head[:8192]
    controls = len(head) - len(head.translate(None, TEXT_CONTROLS))
    return "binary: not read" if b"\0" in head or controls * 10 > len(head) else ""
