"""What somebody pastes, diagnosed, and judged by its first finding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.report import Report

FILE = re.compile(r"^==> (\S+) <==\n", re.MULTILINE)


def diagnosed(folder: Path, *texts: str | bytes) -> Report:
    """The report on texts, each in a file whose name says nothing."""
    return of_files(folder, {f"pasted{number}.txt": text for number, text in enumerate(texts)})


def diagnosed_files(folder: Path, text: str) -> Report:
    """The report on a text that may hold several files, `==> dmesg.txt <==` before each."""
    _, *parts = FILE.split(text) if text.startswith("==> ") else ("", "pasted.txt", text)
    return of_files(folder, {Path(name).name: content for name, content in zip(parts[::2], parts[1::2], strict=True)})


def of_files(folder: Path, files: Mapping[str, str | bytes]) -> Report:
    """The report on files, written as they are."""
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    gathered = gather([str(folder / name) for name in files])
    return analyze(library(), gathered.facts, gathered.inputs, gathered.now)


def judge(report: Report, cause: str, *, info: bool = False) -> None:
    """The first finding that is more than information is the cause; "" for none, `?cause` for a candidate and nothing decided.

    With `info` the cause itself may be information.
    """
    found = [one.cause for one in report.findings if one.severity != "info" or (info and one.cause == cause)]
    if cause.startswith("?"):
        assert not found
        assert cause[1:] in [one.cause for one in report.candidates]
    else:
        assert found[:1] == ([cause] if cause else [])
