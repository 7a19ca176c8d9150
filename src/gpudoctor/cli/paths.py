"""The files that a command line names: `analyze`, `nccl` and `xid` share them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.printing import columns


def check_paths(paths: list[str], says: str = "{} is not there") -> None:
    """Raise `Refused` for a path, or a pattern in quotes, that leads to no file."""
    from gpudoctor.analyze.walk import expanded

    for path in paths:
        if not expanded(path):
            raise Refused(says.format(path[:120]))


def recorded_run(paths: list[str]) -> Path | None:
    """The folder that `--record` wrote, where that is all that was given: it is the run itself, with what had no answer."""
    from gpudoctor.probes.bundle import INDEX, BundleError, load
    from gpudoctor.runbook.index import library

    folder = Path(paths[0]) if len(paths) == 1 and paths[0] != "-" else None
    if folder is not None and folder.name == INDEX:
        folder = folder.parent
    try:
        if folder is None or not (folder / INDEX).is_file():
            return None
        return folder if load(folder).runbook in library().runbooks else None
    except (BundleError, OSError, ValueError):  # it is damaged, or of somebody's own runbook: its files still say something
        return None


def reading_progress(format: str) -> Any:
    """How many of many files have been read, on a terminal only."""
    if format != "terminal":
        return None
    from gpudoctor.reporters.progress import reader

    return reader(sys.stderr, width=columns())
