"""A note cut into the clauses that state something: sentences of its paragraphs, its bullets, the rows of its tables as sentences.

| GPU | util (%) | power (W) |
|  0  |   100    |    86     |      →  "GPU 0, util: 100 %, power: 86 W"
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.notes import vocabulary
from gpudoctor.patterns import regex

BULLET = regex(r"\s{0,12}(?:[-*+•>–·]|\d{1,2}[.)])\s+")
MARKS = regex(r"\*\*|__|`|<br ?/?>|[\"“”„«»]|(?<=\s)~(?=\s)|[≈∼]|\|{2,}")
# gpu_util=100
PERCENT = regex(r"(util\w{0,20}\"? ?[=:] ?)(\d{1,3}(?:\.\d{1,2})?)(?![\w.%/-]| ?%)", 2)
RULE = regex(r"[\s|:+=_─━┼-]{3,}\Z")
# "… at 95 W. The other ones are …"
END = regex(r"(?<=[.!?])\s+(?=[^\W\d_]|\d{1,3} ?[x×]? ?GPU)(?![a-z])|;\s*")
UNIT = regex(r"[(\[/ ,_]\s*(%|pct|percent|W|watts?|MiB|GiB|GB|MB|MHz|°? ?C)\s*[)\]]?\s*\Z", 2)
UNITS = {unit.lower(): unit for unit in ("%", "W", "MHz", "MiB", "GiB", "GB", "MB")} | {
    **dict.fromkeys(("pct", "percent"), "%"),
    **dict.fromkeys(("watt", "watts"), "W"),
    "c": "°C",
}
# What a column without a unit is in.
BARE = (
    (vocabulary.USE, "%"),
    (regex(r"power|draw|\bpwr|watt|limit|\bcap\b|\btdp", 2), "W"),
    (regex(r"clock|\bclk", 2), "MHz"),
    (regex(r"\btemp|°", 2), "°C"),
)
NUMBER = regex(r"[~<>≤≥]?\s?\d{1,6}(?:[.,]\d{1,3})?\Z")
INDEX = regex(r"(?:#|id|idx|index|gpu(?:[ _](?:id|idx|index|#))?|device|card)\Z", 2)
CELL = regex(r" ?\| ?|\t+|\s{2,}")
FEW = 3  # columns of a table
WRAPS = 45  # characters of a line that goes on in the next one


class Clause(NamedTuple):
    """One statement: where its paragraph is (by number), the line where it begins, its text."""

    block: int
    line: int
    text: str


def clauses(lines: Sequence[tuple[int, str]]) -> Iterator[Clause]:
    """The clauses of a text's lines, which are numbered."""
    block = 0
    pending: Clause | None = None
    titles: list[str] = []
    for number, raw in lines:
        text = plain_line(raw)
        row = [] if BULLET.match(text) else cells_of(text, titles)
        if pending and (not text.strip() or not wraps(pending.text, text)):
            yield from sentences(pending)
            pending = None
        if not text.strip():
            block, titles = block + 1, []
        elif RULE.match(text):
            continue
        elif len(row) >= FEW:
            if head(row):
                titles = row
            else:
                yield Clause(block, number, sentence(titles, row) if len(titles) == len(row) else text)
        elif pending:
            pending = pending._replace(text=f"{pending.text} {text.strip()}")
        else:
            block += text.lstrip().startswith("#")
            pending, titles = Clause(block, number, text), []
    if pending:
        yield from sentences(pending)


def plain_line(line: str) -> str:
    """A line without marks, in the usual signs."""
    return PERCENT.sub(r"\1\2 %", MARKS.sub(" ", unicodedata.normalize("NFKC", line)).rstrip())


def note_cells(text: str) -> list[str]:
    """The cells of a line of a note, by bars, tabs or wide gaps; a line of prose is one.

    >>> note_cells("| A  | works |"), note_cells("16   no   301.2"), note_cells("all of it works")
    (['A', 'works'], ['16', 'no', '301.2'], ['all of it works'])
    """
    return [cell for cell in CELL.split(text.strip("| ")) if cell]


def cells_of(text: str, titles: Sequence[str]) -> list[str]:
    """The cells of a row; commas part them in a table that has them in its titles."""
    row = note_cells(text)
    if len(row) > 1 or text.count(",") < FEW - 1:
        return row
    cells = [cell.strip() for cell in text.split(",")]
    return cells if (len(cells) == len(titles) and not text.endswith(".")) or (head(cells) and " " not in text.strip()) else row


def wraps(above: str, below: str) -> bool:
    """Whether a line goes on in the next one."""
    return len(above) >= WRAPS and above[-1] not in ".;:!?" and not BULLET.match(below) and len(note_cells(below)) < FEW


def sentences(clause: Clause) -> Iterator[Clause]:
    """A paragraph's sentences; blanks that a layout put in are one."""
    for part in END.split(clause.text):
        if part and part.strip():
            yield clause._replace(text=" ".join(part.split()))


def head(cells: Sequence[str]) -> bool:
    """Whether a row is the titles of a table: no cell begins with a number, and one names an amount of GPUs.

    >>> head(["GPU", "util (%)", "power (W)"]), head(["0", "100", "86"]), head(["name", "color", "size"])
    (True, False, False)
    """
    return not any(cell[:1].isdigit() or NUMBER.match(cell) for cell in cells) and any(unit_of(cell) for cell in cells)


def unit_of(title: str) -> str:
    """The unit of a column, "" for none."""
    if match := UNIT.search(title):
        return UNITS.get(match[1].lower().strip("° "), match[1])
    return next((unit for words_, unit in BARE if words_.search(title) and not vocabulary.OTHER.search(title)), "")


def sentence(titles: Sequence[str], cells: Sequence[str]) -> str:
    """A row as a sentence."""
    return ", ".join(with_unit(title, cell.strip(), at) for at, (title, cell) in enumerate(zip(titles, cells, strict=True)))


def with_unit(title: str, cell: str, at: int) -> str:
    """A cell with its title and unit; a first column of indexes names the GPU."""
    if not NUMBER.match(cell):
        return f"{title} {cell}" if at == 0 and cell.isdecimal() else cell if at == 0 else f"{UNIT.sub('', title).strip()}: {cell}"
    if INDEX.match(title.strip()):
        return f"GPU {cell}"
    if at == 0 and cell.isdecimal():
        return f"{title} {cell}"
    return f"{UNIT.sub('', title).strip()}: {cell} {unit_of(title)}"
