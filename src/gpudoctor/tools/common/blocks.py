"""A long log in pieces of whole lines, so that memory stays at a few of them, however long the log or one of its lines is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpudoctor.patterns import regex

BLOCK = 256 * 1024  # bytes of whole lines that are looked at together
LONGEST_LINE = 4096  # bytes of one line that are looked at
ANSI = regex(rb"\x1b\[[0-9;]{0,16}[A-Za-z]")  # \x1b[31mERROR\x1b[0m


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines from chunks that are cut anywhere."""
    rest = b""
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            cut = chunk.rfind(b"\n", at, at + BLOCK) + 1
            if not cut:  # no line ends here: more of an open line would be cut off later anyway
                rest = (rest + chunk[at : at + BLOCK])[: LONGEST_LINE + 1]
                at += BLOCK
                continue
            yield rest + chunk[at:cut] if rest else chunk[at:cut]
            rest, at = b"", cut
            if len(chunk) - at < BLOCK and chunk.find(b"\n", at) < 0:
                rest, at = chunk[at : at + LONGEST_LINE + 1], len(chunk)
    if rest:
        yield rest


def cut_long_lines(block: bytes) -> bytes:
    """A block whose lines have at most `LONGEST_LINE` bytes. Looks at one newline per 4 KiB, not at every line."""
    kept: list[bytes] = []
    start = at = 0
    while len(block) - at > LONGEST_LINE:
        newline = block.rfind(b"\n", at, at + LONGEST_LINE + 1)
        if newline >= 0:
            at = newline + 1
            continue
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        kept.append(block[start : at + LONGEST_LINE])
        start = end
        at = end + 1
    return b"".join([*kept, block[start:]]) if kept else block


def parts(block: bytes, size: int) -> Iterator[bytes]:
    """A block in pieces of whole lines that have about `size` bytes."""
    start = 0
    while len(block) - start > size:
        end = block.rfind(b"\n", start, start + size) + 1 or block.find(b"\n", start) + 1 or len(block)
        yield block[start:end]
        start = end
    yield block[start:] if start else block
