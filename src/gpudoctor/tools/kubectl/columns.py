"""The columns of a table that kubectl printed: its header, and the cells of a row."""

from __future__ import annotations

import re

from gpudoctor.patterns import regex

TITLE = regex(r"[A-Z][A-Z0-9().-]*(?: [A-Z][A-Z()-]*)?")  # NAME, UP-TO-DATE, NODE SELECTOR, RESERVED IN

Row = dict[str, str]


def header(line: str) -> list[tuple[int, str]]:
    """(offset, title) of the columns of a header; [] for other lines.

    >>> header("NAME   UP-TO-DATE   NODE SELECTOR"), header("GPU is LOST")
    ([(0, 'NAME'), (7, 'UP-TO-DATE'), (20, 'NODE SELECTOR')], [])
    """
    if not line[:64].lstrip().startswith(("NAME", "LAST SEEN", "LASTSEEN")):
        return []
    pieces = [(match.start(), match.group()) for match in re.finditer(r"\S+(?: \S+)*", line[:1000])]
    titles = [(start, title) for start, title in pieces if TITLE.fullmatch(title)]
    return titles if len(titles) == len(pieces) >= 2 else []


def cells(line: str, titles: list[tuple[int, str]]) -> Row:
    """The cells of a row by title. Cells are cut at two spaces; where some are empty, each goes to the title it stands below."""
    pieces = [(match.start(), match.group()) for match in re.finditer(r"\S+(?: \S+)*", line)]
    names = [name for _, name in titles]
    if len(pieces) == len(names):
        return dict(zip(names, (text for _, text in pieces), strict=True))
    row: Row = {}
    for start, text in [cut for piece in pieces for cut in split_at_titles(*piece, titles)]:
        name = next((name for offset, name in reversed(titles) if offset <= start), names[0])
        row[name] = f"{row[name]} {text}" if name in row else text
    return row


def split_at_titles(start: int, text: str, titles: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """A piece cut where a title begins within it behind a blank: its cell was so long that one blank was left before the next."""
    at = next((offset - start for offset, _ in titles if start < offset < start + len(text) and text[offset - start - 1] == " "), 0)
    return [(start, text[:at].rstrip()), *split_at_titles(start + at, text[at:], titles)] if at else [(start, text)]
