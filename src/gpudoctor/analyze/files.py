"""What somebody has, as bytes: files, folders, standard input, .gz. Nothing here raises for one bad file; a note says what happened."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from gpudoctor.parsers import plain_pickle

MIB = 1 << 20
WHOLE = 64 * MIB  # a file up to this size is read at once, a larger one in blocks
BLOCK = 16 * MIB
UNPACKED = 256 * MIB  # the most that one .gz or standard input may hold
RATIO = 200  # text packs 5 to 60 times; deflate's limit is 1032
LONG = 64 << 10  # from this size on a file may be read in blocks
END = 8 << 10  # of its beginning and of its end, to see what it is
FILES = 10_000
CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\r\x0b\x0c\x1b\x08")
PIPES = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # `<(kubectl logs …)` of a shell

# The first bytes → what it is. A tar archive carries its mark at byte 257.
ARCHIVES: tuple[tuple[bytes, str], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)
ENCODINGS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class Source(msgspec.Struct, frozen=True):
    """One input: its content, or `large` for a file that is read in blocks, or only a note on why it was not read."""

    path: str
    data: bytes = b""
    large: str = ""  # the path of a file of more than `WHOLE` bytes; `data` then holds its beginning
    note: str = ""
    ends: bytes = b""  # of a large file that was only glanced at: its beginning and its end

    def blocks(self) -> Iterator[bytes]:
        """The content in pieces of about `BLOCK` bytes that end at line ends."""
        if not self.large:
            yield self.data
            return
        rest = b""
        try:
            with Path(self.large).open("rb") as file:
                while piece := file.read(BLOCK):
                    piece = rest + piece
                    end = piece.rfind(b"\n") + 1 or len(piece)
                    yield piece[:end]
                    rest = piece[end:]
        except OSError:  # it was readable a moment ago: what was read so far counts
            pass
        if rest:
            yield rest


def read(paths: Iterable[str], long: Callable[[bytes], bool] | None = None) -> Iterator[Source]:
    """The sources behind paths, in the order given; a folder's files sorted by name, `-` is standard input.

    `long` says of the ends of a file whether it is one that should be read in blocks, which is done without loading it first.
    """
    left = FILES
    for path in paths:
        for found in walk(path):
            if left == 0:
                yield Source(shown(path), note=f"more than {FILES} files: the rest was not read")
                return
            left -= 1
            yield (glance(found, long) if long else None) or load(found)


def walk(path: str) -> Iterator[str]:
    """The files under a path. Links to folders are not followed; hidden folders (.git) are left out."""
    if path == "-" or not Path(path).is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            yield str(Path(folder, name))


def glance(path: str, long: Callable[[bytes], bool]) -> Source | None:
    """A plain file of text that `long` wants in blocks; None for any other."""
    try:
        if path == "-" or path.startswith(PIPES) or not stat.S_ISREG((kind := Path(path).stat()).st_mode) or kind.st_size < LONG:
            return None
        with Path(path).open("rb") as file:
            head = file.read(END)
            file.seek(-END, os.SEEK_END)
            ends = head + file.read(END)
    except (OSError, ValueError):  # load() says why
        return None
    plain = head[:2] not in (b"\x1f\x8b", codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and not _not_text(head)
    return Source(shown(path), large=path, ends=ends) if plain and long(ends) else None


def load(path: str) -> Source:
    """One file, with a note instead of an exception."""
    name = shown(path)
    try:
        if path == "-" or path.startswith(PIPES):
            return unpack(name, _pipe(path))
        kind = Path(path).stat()
        if not stat.S_ISREG(kind.st_mode):
            return Source(name, note="not a file (a device, a socket or a pipe): not read")
        with Path(path).open("rb") as file:
            head = file.read(WHOLE)
            if not file.read(1):
                return unpack(name, head)
        note = _not_text(head)
        if head[:2] == b"\x1f\x8b" or head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            note = f"larger than {WHOLE // MIB} MiB: unpack or convert it first"
        return Source(name, note=note) if note else Source(name, head[: 1 * MIB], large=path)
    except OSError as error:
        return Source(name, note=f"not readable: {error.strerror or error}")
    except ValueError as error:  # a path with a NUL byte
        return Source(name, note=f"not readable: {error}")


def _pipe(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read(UNPACKED)
    with Path(path).open("rb") as file:
        return file.read(UNPACKED)


def unpack(name: str, data: bytes) -> Source:
    """The text inside: unpacked when it is gzip, UTF-16 decoded; archives and binaries become a note."""
    note = ""
    if data[:2] == b"\x1f\x8b":
        data, note = gunzip(data)
        if not data:
            return Source(name, note=note)
    for mark, encoding in ENCODINGS:
        if data.startswith(mark):
            data = data.decode(encoding, "replace").encode("utf-8", "replace")
    data = data.removeprefix(codecs.BOM_UTF8)
    refused = _not_text(data)
    return Source(name, note=refused) if refused else Source(name, data, note=note)


def gunzip(data: bytes) -> tuple[bytes, str]:
    """(content, note); a bomb or a damaged end keeps what came before."""
    limit = min(UNPACKED, max(len(data) * RATIO, MIB))
    pieces: list[bytes] = []
    size = 0
    while data[:2] == b"\x1f\x8b":  # gzip files may be joined
        machine = zlib.decompressobj(wbits=31)
        try:
            piece = machine.decompress(data, limit - size)
        except zlib.error as error:
            return b"".join(pieces), f"damaged gzip data ({error}): read as far as it goes"
        pieces.append(piece)
        size += len(piece)
        if size >= limit:
            return b"".join(pieces), f"unpacks to more than {limit // MIB} MiB: the rest was not read"
        if not machine.eof:
            return b"".join(pieces), "gzip data that is cut off: read as far as it goes"
        data = machine.unused_data
    return b"".join(pieces), ""


def _not_text(data: bytes) -> str:
    """Why these bytes are no text; "" when they are."""
    for mark, kind in ARCHIVES:
        if data.startswith(mark):
            return f"a {kind} archive: not read, unpack it first"
    if data[257:262] == b"ustar":
        return "a tar archive: not read, unpack it first"
    if plain_pickle.looks_like(data):  # no text, but a flight recorder's dump may be one
        return ""
    head = data[:8192]
    if b"\x00" in head:
        return "binary: not read"
    controls = len(head) - len(head.translate(None, CONTROLS))
    return "binary: not read" if controls * 10 > len(head) else ""


def shown(path: str) -> str:
    """A path as text; bytes that are not UTF-8 become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace") if path != "-" else "-"
