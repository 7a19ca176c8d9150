"""The few things that the terminal report is made of: paragraphs, commands and tables, over rich.

Rich interprets no markup, emoji or highlighting here and never looks at the environment: whether there is colour is the caller's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from gpudoctor.reporters.text import command, safe

if TYPE_CHECKING:
    from rich.console import Console

NARROWEST = 40  # columns; below that nothing is readable anyway
INDENT, LABEL = 2, 9  # columns before a label, and of a label


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

    def heading(self, title: str) -> None:
        """The title of a part, below an empty line; nothing for a part without one."""
        if title:
            self.gap()
            self.lines((title, "bold"))

    def lines(self, *parts: tuple[str, str], indent: int = 0) -> None:
        """A paragraph of (text, style) parts, wrapped and indented."""
        from rich.text import Text

        whole = Text.assemble(*((safe(text), style) for text, style in parts))
        for line in whole.wrap(self.console, self.width - indent, overflow="fold"):
            line.rstrip()
            self.console.print(Text(" " * indent) + line, soft_wrap=True)

    def entry(self, label: str, text: str, *, style: str = "") -> None:
        """A text beside its label; its further lines stand below its first."""
        from rich.text import Text

        lines = Text(safe(text), style).wrap(self.console, self.width - INDENT - LABEL, overflow="fold")
        for name, line in zip([label, *[""] * len(lines)], lines, strict=False):
            line.rstrip()
            self.console.print(Text(" " * INDENT).append(f"{name:{LABEL}}", "dim") + line, soft_wrap=True)

    def room(self, rows: int) -> int:
        """The characters that so many lines of an entry hold; wrapping at words costs a part of the others than the last."""
        return int((self.width - INDENT - LABEL) * (rows - 0.3 * (rows > 1)))

    def command(self, argv: Sequence[str], label: str, before: str = "", *, style: str = "bold cyan") -> None:
        """A command beside its label, on one line that is never broken: the terminal wraps it, and what is copied is still one command."""
        from rich.text import Text

        if shown := command(argv):
            parts = Text(" " * INDENT).append(f"{label:{LABEL}}{before}", "dim").append(shown, style)
            self.console.print(parts, soft_wrap=True)
        elif argv:
            self.entry(label, f"{before}not shown: a shell can't express this command", style="dim")

    def verbatim(self, text: str) -> None:
        """A text of several lines that is pasted as it stands, below an entry: no line is wrapped."""
        from rich.text import Text

        for line in text.splitlines():
            self.console.print(Text(" " * (INDENT + LABEL) + safe(line), style="bold cyan"), soft_wrap=True)

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
