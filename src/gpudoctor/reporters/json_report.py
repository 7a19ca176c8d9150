"""The report as JSON: the contract for programs."""

from __future__ import annotations

import json

import msgspec

from gpudoctor.report import Report

LEFT_OUT = ("checks",)


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The whole report as indented JSON in the order of its fields; the options that lay out text change nothing.

    Everything unprintable is escaped, also what JSON would allow raw (DEL, C1 controls, bidirectional overrides), since the output may be
    looked at in a terminal. Outside strings JSON is ASCII, so escaping characters of the whole text is safe.
    """
    told = {name: value for name, value in msgspec.to_builtins(report).items() if name not in LEFT_OUT}
    text = json.dumps(told, indent=2, ensure_ascii=False)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text) + "\n"
