"""A report on the screen or in a file, and its picture in another."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gpudoctor.cli.errors import Refused

if TYPE_CHECKING:
    from gpudoctor.probes.answer_keeper import Keeper
    from gpudoctor.probes.base import Probe
    from gpudoctor.probes.redact import Redactor
    from gpudoctor.report import Report


# What a file's ending says of its form.
ENDINGS = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown", ".markdown": "markdown", ".xml": "junit"}


class Shown(NamedTuple):
    """How a report is shown: the form that was asked for, and the file that gets it instead of the screen."""

    asked: str = ""
    output: Path | None = None
    verbose: bool = False
    no_color: bool = False
    picture: Path | None = None
    path: bool = False  # say why these causes and no others

    @classmethod
    def asked_for(cls, format: str, short: bool, *more: Any, **further: Any) -> Shown:
        """What the options say; `--short` is a form too. Raises `Refused` for two forms."""
        if short and format not in ("", "short"):
            raise Refused(f"--short is a form of its own: leave out --format {format[:40]}")
        return cls("short" if short else format, *more, **further)

    @property
    def file(self) -> Path | None:
        """The file of the report; `-` is the screen."""
        return None if self.output == Path("-") else self.output

    @property
    def format(self) -> str:
        """The form that was asked for, else that of the file's ending."""
        return self.asked or (ENDINGS.get(self.output.suffix.lower(), "terminal") if self.output else "terminal")


def columns() -> int:
    """The width of the terminal, 100 where there is none."""
    import shutil

    return shutil.get_terminal_size((100, 25)).columns


def check_shown(shown: Shown) -> None:
    """Raise `Refused` for a form that isn't there or a file that can't be written, before anything is asked."""
    from gpudoctor.reporters import REPORTERS

    if shown.format not in REPORTERS:
        raise Refused(f"there is no format '{shown.format[:40]}'; there are {', '.join(REPORTERS)}")
    for path in (shown.file, shown.picture):
        if path is not None:
            check_file(path)


def check_file(path: Path) -> None:
    """Raise `Refused` for a file that surely can't be written."""
    if path.is_dir():
        raise Refused(f"{path} is a folder: give the name of a file")
    if not path.parent.is_dir():
        raise Refused(f"{path} can't be written: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise Refused(f"{path} can't be written: no right to write there")


def keeper(probe: Probe, shown: Shown) -> Keeper | None:
    """A probe that also remembers the answers, for a form that shows them; None for the others."""
    from gpudoctor.reporters import WITH_OUTPUTS

    if shown.format not in WITH_OUTPUTS:
        return None
    from gpudoctor.probes.answer_keeper import Keeper

    return Keeper(probe)


def print_report(report: Report, shown: Shown, redactor: Redactor | None = None) -> int:
    """Print a report, or write it into its file, and draw it where a file is named for that; returns the exit code of its verdict.

    What is made to be handed on is redacted first, with `redactor` where the run had one.
    """
    from gpudoctor.reporters import FOR_OTHERS, render

    if shown.picture is not None:
        draw(report, shown.picture)
    if shown.format in FOR_OTHERS:
        from gpudoctor.cli.sharing import redact_report

        report = redact_report(report, redactor)
    if on_terminal(shown) and shown.format == "terminal":
        from gpudoctor.reporters import terminal

        said = terminal.render(report, width=columns(), color=colored(shown), verbose=shown.verbose, last=not shown.verbose)
    else:
        said = render(report, shown.format, width=columns(), color=colored(shown), verbose=shown.verbose)
    deliver(said, shown, report.verdict)
    return report.exit_code


def on_terminal(shown: Shown) -> bool:
    """Whether a person sees it at once."""
    return sys.stdout.isatty() and shown.file is None


def colored(shown: Shown) -> bool:
    """Whether to print colours: https://no-color.org and https://bixense.com/clicolors. A file never has them."""
    if shown.no_color or shown.file is not None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return on_terminal(shown) and os.environ.get("CLICOLOR") != "0" and os.environ.get("TERM") != "dumb"


def deliver(text: str, shown: Shown, verdict: str = "") -> None:
    """Write a text into its file, and say on the screen where it is; without a file it goes to the screen. Raises `Refused`."""
    said = drawable(text) if shown.format == "terminal" else text
    if shown.file is not None:
        write(shown.file, text)
        said = drawable(f"report written to {shown.file}{f' (verdict: {verdict})' if verdict else ''}\n")
    with suppress(BrokenPipeError):  # a reader that leaves early doesn't change what was found, and so the exit code
        sys.stdout.write(said)


def write(path: Path, text: str) -> None:
    """Put a text into a file in one step: a reader finds the old text or the new one, never half of one. Raises `Refused`.

    Only its owner may read it: what a report quotes is for whom the owner gives it to. A link is followed. What is no plain file
    (/dev/stdout, a named pipe) can't be replaced, and is written to.
    """
    draft = path.parent / f".{path.name[:200]}.{os.getpid()}"
    try:
        path = path.resolve()
        draft = path.parent / draft.name
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError as error:
        raise Refused(f"{path} can't be written: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


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

    write(path, svg(report))
