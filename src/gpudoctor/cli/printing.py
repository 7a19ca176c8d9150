"""A report on the screen, and its picture in a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gpudoctor.cli.errors import Refused
from gpudoctor.report import Report


def columns() -> int:
    """The width of the terminal, 100 where there is none."""
    import shutil

    return shutil.get_terminal_size((100, 25)).columns


def check_format(name: str) -> None:
    """Raise `Refused` for a reporter that isn't there, before anything is asked."""
    from gpudoctor.reporters import REPORTERS

    if name not in REPORTERS:
        raise Refused(f"there is no format '{name}'; there are {', '.join(REPORTERS)}")


def printed(report: Report, format: str, verbose: bool, no_color: bool, picture: Path | None = None) -> int:
    """Print a report, and draw it where a file is named for that; returns the exit code of its verdict."""
    from gpudoctor.reporters import render

    if picture is not None:
        draw(report, picture)
    color = sys.stdout.isatty() and not no_color and not os.environ.get("NO_COLOR")
    text = render(report, format, width=columns(), color=color, verbose=verbose)
    sys.stdout.write(text if format == "json" else drawable(text))
    return report.exit_code


def drawable(text: str) -> str:
    """The text with what a locale without blocks can't show drawn in plain characters."""
    from gpudoctor.reporters.plot import PLAIN, STEPS

    try:
        STEPS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN)
    return text


def draw(report: Report, path: Path) -> None:
    """Write the picture. Raises `Refused` for a file that can't be written."""
    from gpudoctor.reporters.picture import svg

    try:
        path.write_text(svg(report), encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path} can't be written: {error.strerror}") from None
