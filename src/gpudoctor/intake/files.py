"""What somebody has, as texts: files, folders, archives, standard input. Nothing here raises for one bad file; a note says what happened.

A source can be read more than once, since the newest time of all texts is known only after a first look: a file is opened again, and what
comes from a pipe or an archive is kept packed.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterable, Iterator

import msgspec

from gpudoctor.intake import archives
from gpudoctor.intake.budget import UNREAD, Budget, CutShort, TimeUp
from gpudoctor.intake.opening import Again, Plain, open_plain, stream
from gpudoctor.intake.packed_texts import Keep, Room
from gpudoctor.intake.pieces import HEAD, MIB, Guard, Pieces, decode_text, packed_as, peek, unpack, why_no_text, zstd
from gpudoctor.intake.walk import PIPES, STDIN, is_hidden, member_path, printable_path, walk

LONG = 64 << 10  # a text from this size on is not held in memory
END = 8 << 10  # bytes of its beginning and of its end, to see what it is
FILES = 10_000  # files and members that are read
WHOLE_ZIP = 64 * MIB  # a zip archive in a pipe or another archive has to be held, since its directory stands at its end
NESTED = 2  # archives in one another that are read: must-gather.tar.gz with a sosreport.tar.xz inside
LAYERS = 2  # packings in one another, apart from archives
ZIP = b"PK\x03\x04"


class Source(msgspec.Struct):
    """One text: how it is read, what is known of its size and ends, or a note on why it is not read, or not wholly."""

    path: str
    note: str = ""
    size: int = 0  # bytes
    ends: bytes = b""  # of a long text: its beginning and its end, `END` bytes each at least
    data: bytes | None = b""  # the whole of a short text
    open: Callable[[], Pieces] | None = None  # gives the pieces once more
    written: float = 0.0  # when its file was changed last
    until: float = 0.0  # what is read once, before the next one is asked for, may take until then

    def pieces(self) -> Pieces:
        """The content from its beginning. What goes wrong ends it and becomes the note."""
        if self.data is not None:
            yield self.data
        begun = False
        try:
            for piece in self.open() if self.data is None and self.open is not None else ():
                begun = True
                yield piece
        except CutShort as cut:
            self.note = self.note or (str(cut) if begun or not isinstance(cut, TimeUp) else UNREAD)
        except OSError as error:  # it was readable a moment ago: what was read so far counts
            self.note = self.note or f"not readable to its end: {error.strerror or error}"

    def put_away(self) -> None:
        """Hold a short text no longer than needed: packed, or not at all where it can be opened again."""
        if self.data and self.open is None:
            packed = zstd().compress(self.data, level=1)
            self.open = lambda: iter((zstd().decompress(packed),))
        self.data = None


class Reading:
    """One reading of all paths: how many files may still come, and the room for what can't be read again."""

    def __init__(self, budget: Budget, until: float, tick: Callable[[int], None] | None, once: bool) -> None:
        self.budget, self.until, self.turn = budget, until, until  # of all, and of the file that is looked at
        self.left, self.room, self.once = FILES, Room(budget), once
        self.known: set[tuple[int, int]] = set()  # files on their disks: the links of /var/log/containers lead to /var/log/pods
        self.written = 0.0  # when the file that is read was changed last; a pipe is written now
        self.tick = tick or (lambda size: None)

    def sources(self, paths: Iterable[str]) -> Iterator[Source]:
        """The sources, as many as are read."""
        given = [*paths]
        for path in given:
            found = self.behind(path, len(given) > 1)
            while source := self.next_of(found, path):
                if self.left == 0:
                    yield Source(source.path, f"more than {FILES} files: the rest was not read")
                    return
                self.left -= 1
                source.until = self.turn
                yield source

    def next_of(self, found: Iterator[Source], path: str) -> Source | None:
        """The next source; where it takes too long there will be no other of this path."""

        def looked() -> Source | None:
            self.budget.until = self.turn
            return next(found, None)

        try:
            return self.budget.spend(self.until, looked)
        except TimeUp as cut:
            return Source(printable_path(path), str(cut))

    def behind(self, path: str, others: bool) -> Iterator[Source]:
        """The sources behind what stands on the command line. When the time is up, the others are named.

        A file takes half of the time that is left where there may be others, so that each gets some.
        """
        for file in walk(path):
            now = time.monotonic()
            self.turn = self.budget.until = self.until if file == path and not others else now + (self.until - now) / 2
            if now >= self.until:
                yield Source(printable_path(file), UNREAD)
            else:
                yield from self.of_path(file)

    def of_path(self, path: str) -> Iterator[Source]:
        """The texts of one path: one, or those of an archive."""
        name, self.written = printable_path(path), time.time()
        try:
            if path == STDIN or path.startswith(PIPES):
                yield from self.texts(name, stream(path, self.budget), Guard(self.budget), NESTED, LAYERS)
                return
            with open_plain(path) as file:
                found = file.found
                if (identity := (found.st_dev, found.st_ino)) in self.known:
                    return
                self.known.add(identity)
                head = file.read(HEAD)
                if (note := why_no_text(head)) and not is_packed(head):
                    yield Source(name, note)
                    return
                again = Again(path, found.st_size, self.budget)
                self.written = found.st_mtime
                if head.startswith(ZIP):
                    yield from self.members(name, archives.of_zip(file, guard := Guard(self.budget)), guard, NESTED)
                elif packed_as(head) or archives.is_tar(head):
                    yield from self.texts(name, None, Guard(self.budget), NESTED, LAYERS, again)
                else:
                    yield plain_source(name, file, head, found.st_size, again, self.written)
        except OSError as error:
            yield Source(name, f"not readable: {error.strerror or error}")
        except ValueError as error:  # a path with a NUL byte
            yield Source(name, f"not readable: {error}")

    def texts(
        self, name: str, pieces: Pieces | None, guard: Guard, nested: int, layers: int, again: Callable[[], Pieces] | None = None
    ) -> Iterator[Source]:
        """What pieces hold: a text, packed or not, or the members of an archive. `again` gives the pieces of what can be opened again."""
        head, pieces = peek(pieces if pieces is not None else again() if again else iter(()))
        if (kind := packed_as(head)) and layers:
            below = again and (lambda: unpack(again(), kind, Guard(self.budget)))
            yield from self.texts(name, unpack(pieces, kind, guard), guard, nested, layers - 1, below)
        elif not kind and (head.startswith(ZIP) or archives.is_tar(head)):
            if not nested:
                yield Source(name, "an archive in an archive in another: not read, unpack it first")
            elif head.startswith(ZIP):
                whole = up_to(pieces, WHOLE_ZIP)
                note = f"a zip archive of more than {WHOLE_ZIP // MIB} MiB in a pipe or an archive: not read, unpack it first"
                yield from self.members(name, archives.of_zip(io.BytesIO(whole), guard), guard, nested) if whole else (Source(name, note),)
            else:
                yield from self.members(name, archives.of_tar(pieces), guard, nested)
        elif note := why_no_text(head) or (kind and "packed more than twice: not read, unpack it first"):
            yield Source(name, note)
        else:
            yield self.text(name, pieces, again and (lambda: decode_text(again())))

    def members(self, name: str, members: Iterator[archives.Member], guard: Guard, nested: int) -> Iterator[Source]:
        """The texts of an archive."""
        try:
            for member in members:
                if is_hidden(member.name):
                    continue
                path = member_path(name, member.name)
                if member.note:
                    yield Source(path, member.note)
                    continue
                yield from self.texts(path, member.pieces, guard, nested - 1, LAYERS)
                if guard.spent:
                    raise CutShort(guard.spent)
        except CutShort as cut:
            yield Source(name, str(cut))

    def text(self, name: str, pieces: Pieces, again: Callable[[], Pieces] | None) -> Source:
        """A text that comes piece by piece: its size and ends are known when it has been read through."""
        made = Source(name, written=self.written)
        if self.once:
            made.data, made.open = None, again or (lambda: decode_text(pieces))
            return made
        keep = Keep(self.room if again is None else None, LONG, END)
        try:
            for piece in decode_text(pieces):
                keep.add(piece)
                self.tick(len(piece))
        except CutShort as cut:
            made.note = str(cut)
        except OSError as error:
            made.note = f"not readable to its end: {error.strerror or error}"
        made.size = keep.size
        if keep.size < LONG:
            made.data = bytes(keep.head)
        else:
            made.data, made.ends = None, keep.ends()
            made.open = again or keep.close_text()
            made.note = made.note or keep.note
        return made


def read(
    paths: Iterable[str],
    tick: Callable[[int], None] | None = None,
    *,
    budget: Budget | None = None,
    until: float | None = None,
    once: bool = False,
) -> Iterator[Source]:
    """The sources behind paths, in the order given; a folder's files sorted by name, `-` is standard input.

    They are looked for `until` a moment. `tick` is told of bytes that were read, while much is unpacked. Where each source is read `once`,
    before the next one is asked for, a pipe may be as long as it likes, and nothing is known of sizes and ends.
    """
    budget = budget or Budget()
    return Reading(budget, budget.end if until is None else until, tick, once).sources(paths)


def is_packed(head: bytes) -> bool:
    """Whether bytes begin a file that must be unpacked."""
    return bool(packed_as(head)) or head.startswith(ZIP) or archives.is_tar(head)


def plain_source(name: str, file: Plain, head: bytes, size: int, again: Callable[[], Pieces], written: float) -> Source:
    """A text on a disk, as a source: only its ends are read now."""
    if size < LONG:
        head += file.read(LONG)  # it may be growing, and those of /proc have no size
        data = b"".join(decode_text(iter((head,))))
        return Source(name, size=len(data), data=data, written=written, open=lambda: decode_text(again()))
    file.seek(-END, os.SEEK_END)
    tail = file.read(END)
    made = Source(name, size=size, data=None, written=written, open=lambda: decode_text(again()))
    made.ends = b"".join(decode_text(iter((head[:END],)))) + b"".join(decode_text(iter((tail,))))
    return made


def up_to(pieces: Pieces, most: int) -> bytes:
    """All bytes; none when they are more than so many."""
    made: list[bytes] = []
    for piece in pieces:
        most -= len(piece)
        if most < 0:
            return b""
        made.append(piece)
    return b"".join(made)
