"""The few things that the terminal report is made of: paragraphs, commands and tables, over rich.

Rich interprets no markup, emoji or highlighting here and never looks at the environment: whether there is colour is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from gpudoctor.reporters.text import command, safe, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

NARROWEST = 40  # columns; below that nothing is readable anyway


class Page:
    """A page under construction. All texts that come in are made safe here; nothing else writes to it."""

    def __init__(self, width: int, color: bool) -> None:
        from rich.console import Console

        self.width = max(width, NARROWEST)
        self.file = StringIO()
        self.console: Console = Console(
            file=self.file,
            width=self.width,
            height=100,
            force_terminal=color,
            force_interactive=False,
            color_system="standard" if color else None,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )

    def text(self) -> str:
        """What was written so far; lines have no trailing blanks."""
        return "".join(f"{line.rstrip()}\n" for line in self.file.getvalue().removesuffix("\n").split("\n"))

    def gap(self) -> None:
        """An empty line."""
        self.file.write("\n")

    def lines(self, *parts: tuple[str, str], indent: int = 0, rows: int = 0) -> None:
        """A paragraph of (text, style) parts, wrapped and indented; `rows` > 0 cuts it after so many lines with an ellipsis."""
        from rich.text import Text

        room = self.width - indent
        whole = Text.assemble(*((safe(text), style) for text, style in parts))
        wrapped = list(whole.wrap(self.console, room, overflow="fold"))
        kept = [whole] if rows == 1 and len(wrapped) > 1 else wrapped[:rows] if rows else wrapped
        if len(kept) < len(wrapped):
            kept[-1] = cut(kept[-1], room)
        for line in kept:
            line.rstrip()
            self.console.print(Text(" " * indent) + line, soft_wrap=True)

    def wrapped(self, text: str, room: int, rows: int) -> list[str]:
        """A text in lines of `room` columns, at most `rows` of them: where it is longer its middle is left out."""
        from rich.text import Text

        whole = safe(text)
        lines = Text(whole).wrap(self.console, room, overflow="fold")
        if len(lines) > rows:
            lines = Text(shorten(whole, int(room * (rows - 0.3)))).wrap(self.console, room, overflow="fold")
        return [line.plain.rstrip() for line in lines] or [""]

    def command(self, argv: Sequence[str], *, indent: int, label: str = "", style: str = "bold cyan") -> None:
        """A command on one line that is never broken: the terminal wraps it, and what is copied is still one command."""
        from rich.text import Text

        shown = command(argv)
        if shown:
            self.console.print(Text.assemble(" " * indent, (label, "dim"), (shown, style)), soft_wrap=True)
        elif argv:
            self.lines((label + "not shown: a shell can't express this command", "dim"), indent=indent)

    def verbatim(self, text: str, *, indent: int) -> None:
        """A text of several lines that is pasted as it stands: no line is wrapped."""
        from rich.text import Text

        for line in text.splitlines():
            self.console.print(Text(" " * indent + safe(line), style="bold cyan"), soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, indent: int) -> None:
        """A table without borders; cells fold. A row with too few or too many cells is filled or cut."""
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_edge=False)
        for column in columns:
            table.add_column(Text(safe(column)), overflow="fold")
        for row in rows:
            table.add_row(*(Text(safe(cell)) for cell in [*row, *[""] * len(columns)][: len(columns)]))
        self.console.print(Padding(table, (0, 0, 0, indent)))


def cut(line: Text, room: int) -> Text:
    """The line with an ellipsis at its end, within `room` columns."""
    line.rstrip()
    line.truncate(room - 1)
    line.append("…")
    return line
