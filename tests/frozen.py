"""`python -m tests.frozen [INCIDENTS] > FILE`: what every report says, one line each: `diff` shows what a change of the code changed.

Written are the paired cases, the sound outputs, the texts of the corpus, and a folder of incidents (each with `raw/`). Ids of checks are
not written: a rule may move and keep what it says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.report import Report
from tests.pasted import Pasted, corpus, diagnosed_files
from tests.recorded_cases import BOOKS, executed, recorded
from tests.trust.sound import texts


def said(report: Report) -> dict[str, object]:
    """What a report says, without the names of the checks and the times of the run."""

    def of(one: object) -> dict[str, object]:
        told = msgspec.to_builtins(one)
        kept = ("cause", "subject", "role", "severity", "confidence", "title", "why")
        return {key: told[key] for key in kept if key in told} | {"evidence": [line["text"] for line in told.get("evidence", [])]}

    return {
        "verdict": report.verdict,
        "findings": [of(one) for one in report.findings],
        "candidates": [of(one) for one in report.candidates],
        "shown": sorted({one.says for one in report.shown}),
        "not_shown": sorted({one.why for one in report.not_shown}),
        "unexplained": [one.text for one in report.unexplained],
        "ruled_out": sorted(report.ruled_out),
    }


def of_book(path: Path) -> list[tuple[str, dict[str, object]]]:
    """The paired cases of a test file, executed."""
    done = ((one, executed(one.book, one.inputs, one.replay)) for one in recorded(path))
    return [(f"{path.stem}/{one.case.name}", said(result[1]) if result else {"verdict": "not-found"}) for one, result in done]


def of_paths(named: tuple[str, Path]) -> list[tuple[str, dict[str, object]]]:
    """A file or folder that is analyzed."""
    name, path = named
    gathered = gather([str(path)])
    return [(name, said(analyze(library(), gathered.facts, gathered.inputs, gathered.now)))]


def of_pasted(placed: tuple[Pasted, Path]) -> list[tuple[str, dict[str, object]]]:
    """A text of the corpus, written into a folder of its own."""
    one, folder = placed
    folder.mkdir()
    return [(f"corpus/{one.cause}/{one.name}", said(diagnosed_files(folder, one.text)))]


def frozen(incidents: list[Path], folder: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """All of them, by name."""
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")
    sound = [(f"sound/{name}", folder / name) for name in texts()]
    given = [(f"{path.parent.parent.name}/{path.parent.name}", path) for one in incidents for path in sorted(one.glob("*/*/raw"))]
    with ProcessPoolExecutor() as pool:
        pasted = pool.map(of_pasted, [(one, folder / f"pasted{number}") for number, one in enumerate(corpus())], chunksize=32)
        for result in (*pool.map(of_book, BOOKS), *pool.map(of_paths, [*sound, *given], chunksize=8), *pasted):
            yield from result


def main() -> None:
    """Write a line for each."""
    with TemporaryDirectory() as folder:
        told = dict(frozen([Path(one) for one in sys.argv[1:]], Path(folder)))
    for name in sorted(told):
        line = msgspec.json.encode([name, told[name]]).decode()
        for place in (folder, *sys.argv[1:]):
            line = line.replace(place, "")
        print(line)


if __name__ == "__main__":
    main()
