"""An answer without what a terminal adds to it: colours, NULs, carriage returns."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.probes.base import Output
from gpudoctor.tools.common.blocks import ANSI
from gpudoctor.tools.parser import LINE


def plain_text(output: Output) -> str:
    """The whole text, without colours and NULs."""
    return ANSI.sub(b"", b"".join(output.pages)).replace(b"\0", b"").decode("utf-8", "replace")


def lines(output: Output) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 1, each cut to `LINE`, without the carriage return at its end."""
    for number, line in enumerate(plain_text(output).split("\n"), 1):
        yield number, line[:LINE].rstrip("\r")
