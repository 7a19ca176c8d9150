"""What somebody pastes, diagnosed, and judged by its first finding.

Such texts lie in `corpus/<cause>.txt`, and those in which nothing is wrong in `corpus/none.txt`, in the order of their names:

    === a name that says what is special
    found
    the text, as it was pasted, to the next such head; several files have `==> dmesg.txt <==` before each

What is expected is `found`: the first finding is the cause; `information`: it is, as mere information; `possible`: the cause is a
candidate, and nothing is found; `quiet`: nothing is found that is more than information; `silent`: nothing at all is said, no candidate
either.

python -m tests.pasted clock-skew 'chrony, hours off' found < pasted.txt      puts a text in its place, and says whether it is judged so
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.report import Report

CORPUS = Path(__file__).parent / "corpus"
HEAD = re.compile(r"^=== (.+)\n(found|information|possible|quiet|silent)\n", re.MULTILINE)
FILE = re.compile(r"^==> (\S+) <==\n", re.MULTILINE)


class Pasted(NamedTuple):
    """A text of the corpus."""

    cause: str  # "none" where nothing is wrong
    name: str
    expected: str
    text: str


def read(cause: str, written: str) -> list[Pasted]:
    """The texts of one file. Only a head that is followed by what is expected begins one: a text may hold lines like it."""
    before, *parts = HEAD.split(written)
    assert not before, f"{cause}.txt begins with no head"
    return [Pasted(cause, *one) for one in zip(parts[::3], parts[1::3], parts[2::3], strict=True)]


def corpus() -> list[Pasted]:
    """All that was pasted."""
    return [one for path in sorted(CORPUS.glob("*.txt"), key=lambda path: path.stem) for one in read(path.stem, path.read_bytes().decode())]


def text_of(cause: str, name: str) -> str:
    """A text of the corpus."""
    return next(one.text for one in read(cause, (CORPUS / f"{cause}.txt").read_bytes().decode()) if one.name == name)


def judge_corpus(report: Report, one: Pasted) -> None:
    """The report says of a text of the corpus what is expected."""
    said = [(finding.cause, finding.severity == "info") for finding in report.findings]
    candidates = [candidate.cause for candidate in report.candidates]
    if one.expected in ("found", "information"):
        assert said[:1] == [(one.cause, one.expected == "information")]
    elif one.expected == "silent":
        assert (said, candidates) == ([], [])
    else:
        assert [cause for cause, info in said if not info] == []
        assert one.expected == "quiet" or one.cause in candidates


def diagnosed(folder: Path, *texts: str | bytes) -> Report:
    """The report on texts, each in a file whose name says nothing."""
    return of_files(folder, {f"pasted{number}.txt": text for number, text in enumerate(texts)})


def diagnosed_files(folder: Path, text: str, changed: Callable[[str], str] = str) -> Report:
    """The report on a text that may hold several files, `==> dmesg.txt <==` before each; each file is changed first."""
    _, *parts = FILE.split(text) if text.startswith("==> ") else ("", "pasted.txt", text)
    return of_files(folder, {Path(name).name: changed(content) for name, content in zip(parts[::2], parts[1::2], strict=True)})


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


def put(one: Pasted) -> None:
    """Write a text into the file of its cause, in the order of names; one of that name is replaced."""
    path = CORPUS / f"{one.cause}.txt"
    there = read(one.cause, path.read_bytes().decode()) if path.exists() else []
    all_of = sorted([*(other for other in there if other.name != one.name), one], key=lambda one: one.name)
    path.write_bytes("".join(f"=== {one.name}\n{one.expected}\n{one.text}" for one in all_of).encode())


def main() -> None:
    """Put a text from the standard input into the corpus."""
    cause, name, expected = sys.argv[1:]
    one = Pasted(cause, name, expected, sys.stdin.read().rstrip("\n") + "\n")
    assert read(cause, f"=== {name}\n{expected}\n{one.text}") == [one], "not found, information, possible, quiet or silent"
    put(one)
    with TemporaryDirectory() as folder:
        report = diagnosed_files(Path(folder), one.text)
    print(report.verdict, *(f"{finding.cause} ({finding.severity})" for finding in report.findings))
    try:
        judge_corpus(report, one)
    except AssertionError:
        raise SystemExit(f"that is not yet '{expected}' as {cause}") from None


if __name__ == "__main__":
    main()
