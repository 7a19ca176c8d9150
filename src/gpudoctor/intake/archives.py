"""The members of tar and zip archives as streams, one after the other. Nothing is written anywhere, and no header makes memory grow.

The standard library's `tarfile` reads as much for one name as a header says, and `zipfile` unpacks bzip2 without a bound: of both
only the reading of headers is used.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

from gpudoctor.intake.budget import CutShort
from gpudoctor.intake.pieces import MIB, PIECE, Guard, Pieces, short, unpack

if TYPE_CHECKING:
    from zipfile import ZipInfo

BLOCK = 512  # of a tar archive
LONGEST_HEADER = 64 << 10  # bytes of a long name or of a member's further attributes; a path has 4 KiB at most
DIRECTORY = 16 * MIB  # bytes that the directory of a zip archive may have: 100,000 members with long names
ENTRIES = 100_000  # members of one archive, those that are passed over included
ENCRYPTED = 1  # bit of a zip member's flags
LOCAL = struct.Struct("<4s22xHH")  # mark, length of the name, length of the extra field
# The method of a zip member → how it is packed (APPNOTE.TXT 4.4.5)
METHODS = {8: "deflate", 12: "bzip2", 93: "zstd", 95: "xz"}
STORED = 0


class Member(NamedTuple):
    """One file of an archive: its name as it stands there, its pieces, or why it isn't read."""

    name: str
    pieces: Pieces = iter(())
    note: str = ""


class Reader:
    """Pieces read as a file is, forwards only."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces, self.held = pieces, b""

    def some(self, most: int) -> bytes:
        """At least one byte and at most so many; b"" at the end."""
        while not self.held:
            piece = next(self.pieces, None)
            if piece is None:
                return b""
            self.held = piece
        made, self.held = self.held[:most], self.held[most:]
        return made

    def read(self, size: int) -> bytes:
        """So many bytes, fewer only at the end."""
        made: list[bytes] = []
        while size and (piece := self.some(size)):
            made.append(piece)
            size -= len(piece)
        return b"".join(made)


def is_tar(head: bytes) -> bool:
    """Whether these bytes begin a tar archive: its mark, or, in those older than 1988, a header whose checksum is right."""
    if head[257:262] == b"ustar":
        return True
    if b"\0" not in head[:100]:
        return False
    import tarfile

    try:
        return bool(tarfile.TarInfo.frombuf(head[:BLOCK], "utf-8", "surrogateescape").name)
    except (tarfile.HeaderError, ValueError):
        return False


def of_tar(pieces: Pieces) -> Iterator[Member]:
    """The files of a tar archive; folders, links and devices are passed over. Raises `CutShort`."""
    import tarfile

    reader = Reader(pieces)
    further: dict[str, str] = {}  # what headers before a member say of it
    for _ in range(ENTRIES):
        block = reader.read(BLOCK)
        if not block.strip(b"\0"):
            return
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.HeaderError, ValueError) as error:
            what = "cut off" if len(block) < BLOCK else f"damaged tar archive ({short(error)})"
            raise CutShort(f"{what}: read as far as it goes") from None
        size = info.size
        if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE):
            if not 0 <= size <= LONGEST_HEADER:
                raise CutShort(f"damaged tar archive (a name of {size} bytes): read as far as it goes")
            said = reader.read(padded_size(size))[:size]
            if info.type == tarfile.GNUTYPE_LONGNAME:
                further["path"] = said.rstrip(b"\0").decode("utf-8", "surrogateescape")
            elif info.type in (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
                further |= attributes(said)
            continue
        if further.get("size", "").isdecimal():
            size = int(further["size"][:20])
        if size < 0:
            raise CutShort("damaged tar archive (a negative size): read as far as it goes")
        name = further.get("GNU.sparse.name") or further.get("path") or info.name
        further = {}
        if info.type == tarfile.GNUTYPE_SPARSE:
            more = block[482:483] == b"\1"  # its map goes on behind the header
            while more:
                more = reader.read(BLOCK)[504:505] == b"\1"
        # Links, folders and devices have no content, whatever their size says.
        if info.type in tarfile.SUPPORTED_TYPES and info.type not in tarfile.REGULAR_TYPES:
            continue
        content = Content(reader, size)
        yield Member(name, iter(content))
        content.drain()
        reader.read(padded_size(size) - size)
    raise CutShort(f"more than {ENTRIES} members: the rest was not read")


class Content:
    """The content of a member, as far as it has not been read."""

    def __init__(self, reader: Reader, size: int) -> None:
        self.reader, self.left = reader, size

    def __iter__(self) -> Pieces:
        while self.left:
            piece = self.reader.some(min(self.left, PIECE))
            if not piece:
                self.left = 0
                raise CutShort("cut off: read as far as it goes")
            self.left -= len(piece)
            yield piece

    def drain(self) -> None:
        """Pass over the rest."""
        for _ in self:
            pass


def padded_size(size: int) -> int:
    """Round a size up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def attributes(said: bytes) -> dict[str, str]:
    r"""The attributes of a pax header.

    >>> attributes(b"18 path=a/long/na\n12 size=123\n")
    {'path': 'a/long/na', 'size': '123'}
    """
    found = {}
    while said:
        length, _, _ = said[:20].partition(b" ")
        if not length.isdigit() or not 0 < int(length) <= len(said):
            break
        record, said = said[: int(length)], said[int(length) :]
        key, _, value = record[len(length) + 1 : -1].partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
    return found


class Directory:
    """A zip file for the reader of its directory, which reads all of it at once: not more than `DIRECTORY` bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.seek, self.tell = file.seek, file.tell

    def seekable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """See `IO.read`."""
        if not -1 <= size <= DIRECTORY:
            raise ValueError(f"a directory of {size // MIB} MiB")
        return self.file.read(DIRECTORY if size < 0 else size)


def of_zip(file: IO[bytes], guard: Guard) -> Iterator[Member]:
    """The files of a zip archive. Raises `CutShort`."""
    import zipfile

    try:
        members = zipfile.ZipFile(Directory(file)).infolist()
    except Exception as error:  # a hostile directory gives errors of many kinds
        raise CutShort(f"damaged or cut off zip archive ({short(error)}): not read") from None
    bounds = sorted(info.header_offset for info in members)
    for info in members[:ENTRIES]:
        packed = METHODS.get(info.compress_type)
        if info.is_dir():
            continue
        if overlaps(info, bounds):
            yield Member(info.filename, note="shares its bytes with other members, as only a bomb does: not read")
            continue
        if info.flag_bits & ENCRYPTED:
            yield Member(info.filename, note="encrypted: not read")
        elif packed is None and info.compress_type != STORED:
            yield Member(info.filename, note=f"packed by zip's method {info.compress_type}: not read, unpack it first")
        else:
            raw = raw_content(file, info.header_offset, info.compress_size)
            yield Member(info.filename, unpack(raw, packed, guard) if packed else guard_stored(raw, guard))
    if len(members) > ENTRIES:
        raise CutShort(f"more than {ENTRIES} members: the rest was not read")


def overlaps(info: ZipInfo, bounds: Sequence[int]) -> bool:
    """Whether another member begins before this one ends; `bounds` is where they begin, in order."""
    end = info.header_offset + LOCAL.size + len(info.orig_filename) + info.compress_size
    return bisect_left(bounds, end) - bisect_left(bounds, info.header_offset) > 1


def raw_content(file: IO[bytes], offset: int, size: int) -> Pieces:
    """The bytes of a member as they are packed."""
    try:
        file.seek(offset)
        header = file.read(LOCAL.size)
        mark, name, extra = LOCAL.unpack(header) if len(header) == LOCAL.size else (b"", 0, 0)
        if mark != b"PK\x03\x04":
            raise CutShort("damaged zip archive: not read")
        at = offset + LOCAL.size + name + extra
        while size:
            file.seek(at)  # other members may have been read in between
            piece = file.read(min(size, PIECE))
            if not piece:
                raise CutShort("cut off: read as far as it goes")
            at += len(piece)
            size -= len(piece)
            yield piece
    except (OSError, ValueError, OverflowError) as error:
        raise CutShort(f"not readable: {short(error)}") from None


def guard_stored(pieces: Pieces, guard: Guard) -> Pieces:
    """What is stored as it is: overlapping members may be many times the archive."""
    for piece in pieces:
        guard.gave(len(piece))
        yield piece
