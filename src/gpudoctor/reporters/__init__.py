"""The table of reporters: the name that `--format` takes → the function. Adding one is one function and one line.

A reporter is `(report, *, width, color, verbose) -> str`: it reads nothing but the report, prints nothing, and its text
ends with a newline.
"""

from __future__ import annotations

from gpudoctor.report import Report

REPORTERS: dict[str, str] = {
    "terminal": "terminal:render",
    "short": "short:render",
    "json": "json_report:render",
    "markdown": "markdown:render",
    "html": "page:render",
    "junit": "junit:render",
}
FOR_OTHERS = ("markdown", "html", "junit")  # made to be handed on: redacted as bundles are
WITH_OUTPUTS = ("html",)  # show what every command has answered


def render(report: Report, name: str = "terminal", *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The report as text in the named form. `width` is in columns; a KeyError names a reporter that isn't there."""
    from importlib import import_module

    module, _, function = REPORTERS[name].partition(":")
    text: str = getattr(import_module(f"{__name__}.{module}"), function)(report, width=width, color=color, verbose=verbose)
    return text
