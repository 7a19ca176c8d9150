"""The few things that the terminal report is made of: paragraphs, commands and tables.

Of rich only its knowledge of wide characters is used: its console takes a tenth of a short run to import, and as long again for a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.cells import cell_len, chop_cells, set_cell_size

from gpudoctor.patterns import regex
from gpudoctor.reporters.text import command, safe

NARROWEST = 40  # columns; below that nothing is readable anyway
BETWEEN = 2  # columns between two of a table
# https://www.ecma-international.org/publications-and-standards/standards/ecma-48/, 8.3.117
CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
WORD = regex(r"\s*\S+\s*")

Part = tuple[str, str]  # a text and its style: words of CODES, "" for none


class Page:
    """A page under construction. All texts that come in are made safe here; nothing else writes to it."""

    def __init__(self, width: int, color: bool) -> None:
        self.width, self.color = max(width, NARROWEST), color
        self.written: list[str] = []

    def text(self) -> str:
        """What was written so far; lines have no trailing blanks."""
        return "".join(f"{line.rstrip()}\n" for line in self.written or [""])

    def gap(self) -> None:
        """An empty line."""
        self.written.append("")

    def write(self, parts: Iterable[Part]) -> None:
        """A line of what is safe already."""
        self.written.append("".join(self.painted(text, style) for text, style in parts))

    def painted(self, text: str, style: str) -> str:
        """A text in its style."""
        return f"\x1b[{';'.join(CODES[word] for word in style.split())}m{text}\x1b[0m" if self.color and style and text else text

    def lines(self, *parts: Part, indent: int = 0, rows: int = 0) -> None:
        """A paragraph of (text, style) parts, wrapped and indented; `rows` > 0 cuts it after so many lines with an ellipsis."""
        room = self.width - indent
        given = [(safe(text), style) for text, style in parts]
        whole = "".join(text for text, _ in given)
        spans, ending = wrapped(whole, room), ""
        if 0 < rows < len(spans):
            start, end = spans[rows - 1]
            last = whole[start : end if rows > 1 else len(whole)].rstrip()
            spans[rows - 1 :] = [(start, start + len(set_cell_size(last, min(room - 1, cell_len(last)))))]
            ending = "…"
        for number, (start, end) in enumerate(spans, 1):
            self.write([(" " * indent, ""), *between(given, start, end), (ending if number == len(spans) else "", "")])

    def command(self, argv: Sequence[str], *, indent: int, label: str = "", style: str = "bold cyan") -> None:
        """A command on one line that is never broken: the terminal wraps it, and what is copied is still one command."""
        shown = command(argv)
        if shown:
            self.write([(" " * indent, ""), (label, "dim"), (shown, style)])
        elif argv:
            self.lines((label + "not shown: a shell can't express this command", "dim"), indent=indent)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int) -> None:
        """A table without borders; cells fold. A row with too few or too many cells is filled or cut."""
        if not columns:
            return
        cells = [[safe(cell) for cell in [*row, *[""] * len(columns)][: len(columns)]] for row in (columns, *rows)]
        after = [BETWEEN] * (len(columns) - 1) + [0]
        needed = [max(map(cell_len, column)) + gap for column, gap in zip(zip(*cells, strict=True), after, strict=True)]
        widths = fitting(needed, self.width - indent)
        for number, row in enumerate(cells):
            folded = [folds(cell, width - gap) for cell, width, gap in zip(row, widths, after, strict=True)]
            height = max(map(len, folded))
            if not number:  # a heading stands on what is below it
                folded = [[""] * (height - len(cell)) + cell for cell in folded]
            for line in zip_longest(*folded, fillvalue=""):
                text = "".join(set_cell_size(part, width) for part, width in zip(line, widths, strict=True))
                self.write([(" " * indent, ""), (text.rstrip(), "" if number else "dim")])


def folds(text: str, room: int) -> list[str]:
    """The lines of a text in so many columns."""
    return [text[start:end] for start, end in wrapped(text, room)]


def between(parts: Iterable[Part], start: int, end: int) -> list[Part]:
    """The parts of a text between two of its places."""
    made, at = [], 0
    for text, style in parts:
        made.append((text[max(0, start - at) : max(0, end - at)], style))
        at += len(text)
    return made


def wrapped(text: str, room: int) -> list[tuple[int, int]]:
    """Where the lines of a text of one line start and end, without trailing blanks, when no line is longer than `room` columns.

    >>> [("one two-three four"[a:b]) for a, b in wrapped("one two-three four", 8)]
    ['one', 'two-thre', 'e four']
    """
    room = max(1, room)
    starts, used = [0], 0
    for found in WORD.finditer(text):
        word, start = found.group(), found.start()
        size = cell_len(word.rstrip())
        if size <= room - used:
            used += cell_len(word)
        elif size <= room:
            starts.append(start)
            used = cell_len(word)
        else:
            for part in chop_cells(word, room):
                starts.append(start)
                start, used = start + len(part), cell_len(part)
    starts = list(dict.fromkeys(starts))
    return [(start, start + len(text[start:end].rstrip())) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def fitting(widths: Sequence[int], room: int) -> list[int]:
    """The widths of columns, when those that are widest give away what doesn't fit.

    >>> fitting([10, 30, 50], 60), fitting([3, 4], 60)
    ([10, 25, 25], [3, 4])
    """
    made = list(widths)
    while (excess := sum(made) - room) > 0 and (widest := max(made)) > BETWEEN + 1:
        wide = [number for number, width in enumerate(made) if width == widest]
        step = widest - max((width for width in made if width < widest), default=BETWEEN + 1)
        for left, number in zip(range(len(wide), 0, -1), wide, strict=True):
            taken = min(step, round(excess / left))
            made[number] -= taken
            excess -= taken
    return made
