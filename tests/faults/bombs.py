"""Small files that would take for ever, or all memory: made when they are needed, in a second at most."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib

LINE = b"some words of a text that nobody knows and that goes on and on\n"
WORDS = LINE * (1 << 14)  # 1 MiB
MIB = 100  # of text that no parser knows: read line by line, it takes ten seconds or more


def xz() -> bytes:
    """100 MiB in 15 KB."""
    machine = lzma.LZMACompressor(preset=0)
    return b"".join(machine.compress(WORDS) for _ in range(MIB)) + machine.flush()


def gz(level: int = 9) -> bytes:
    """100 MiB in 200 KB."""
    machine = zlib.compressobj(level, wbits=31)
    return b"".join(machine.compress(WORDS) for _ in range(MIB)) + machine.flush()


def bzip2() -> bytes:
    """Streams one after the other, which the tools take as one."""
    return bz2.compress(WORDS) * MIB


def twice() -> bytes:
    """gzip in gzip."""
    return gzip.compress(gz())


def zipped() -> bytes:
    """A zip archive of one text."""
    return zip_of({"a.txt": WORDS * MIB})


def zip_of(members: dict[str, bytes]) -> bytes:
    """A zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def overlapping(members: int = 1000) -> bytes:
    """A zip archive of which all members are the same bytes."""
    kernel = WORDS * 16
    machine = zlib.compressobj(9, wbits=-15)
    packed = machine.compress(kernel) + machine.flush()
    sizes = (zlib.crc32(kernel), len(packed), len(kernel))
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 0, *sizes, 5, 0) + b"0.log" + packed
    names = [b"%d.log" % number for number in range(members)]
    entries = [struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 0, *sizes, len(name), 0, 0, 0, 0, 0, 0) + name for name in names]
    directory = b"".join(entries)
    return local + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, members, members, len(directory), len(local), 0)


def telescoped(members: int = 200) -> bytes:
    """A zip archive of which each member holds all that follow it, as stored blocks around one kernel do (bamsoftware.com)."""
    kernel = WORDS
    names = [b"%05d.log" % number for number in range(members)]
    local = [struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0) + name for name in names]
    body = b"".join(local) + kernel
    directory = b""
    for number, name in enumerate(names):
        offset = sum(map(len, local[:number]))
        size = len(body) - offset - len(local[number])
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, size, size, len(name), 0, 0, 0, 0, 0, offset) + name
    return body + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, members, members, len(directory), len(body), 0)


def tar_of(*headers: tuple[str, int, bytes]) -> bytes:
    """A tar archive of (name, declared size, content)."""
    made = b""
    for name, size, content in headers:
        info = tarfile.TarInfo(name)
        info.size = size
        made += info.tobuf(tarfile.GNU_FORMAT) + content + b"\0" * (-len(content) % 512)
    return made + b"\0" * 1024


def long_name() -> bytes:
    """A tar archive with a name of a gigabyte."""
    info = tarfile.TarInfo("././@LongLink")
    info.size, info.type = 1 << 30, tarfile.GNUTYPE_LONGNAME
    return info.tobuf(tarfile.GNU_FORMAT) + WORDS


def many() -> bytes:
    """A zip archive of more members than are read, and than its directory's old form can count."""
    return zip_of({f"{number}.txt": b"" for number in range(66_000)})


def pods() -> bytes:
    """A list of millions of pods of which nothing is said."""
    return b'{"apiVersion":"v1","kind":"PodList","items":[' + b'{"kind":"Pod"},' * 4_000_000 + b"{}]}"


def nested() -> bytes:
    """Archives in archives in archives."""
    data = LINE
    for _ in range(20):
        data = zip_of({"x.zip": data})
    return data


def laughs() -> str:
    """YAML of a few hundred bytes that stands for a billion words."""
    text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\na: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    return text
