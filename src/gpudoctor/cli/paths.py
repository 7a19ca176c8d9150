"""The files that a command line names: `analyze`, `nccl` and `xid` share them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudoctor.cli.errors import INCONCLUSIVE, Refused
from gpudoctor.cli.printing import columns

if TYPE_CHECKING:
    from gpudoctor.intake.budget import Budget

CONCLUDING = 30.0  # seconds beyond the time of the reading; 10,000 files with a hundred thousand facts take ten


@contextmanager
def reading_budget(timeout: float) -> Iterator[Budget]:
    """What a reading of files may take. Where conclusions from what it read take too long too, they are refused."""
    from gpudoctor.intake.budget import Budget, Interrupted, interrupted_at

    budget = Budget(timeout)
    try:
        with interrupted_at(budget.end + CONCLUDING):
            yield budget
    except Interrupted:
        raise Refused(f"no report after {timeout + CONCLUDING:.0f} s: give fewer of these files at once", INCONCLUSIVE) from None


def check_paths(paths: list[str], budget: Budget, says: str = "{} is not there") -> None:
    """Raise `Refused` for a path, or a pattern in quotes, that leads to no file, or takes all the time to look for."""
    from gpudoctor.intake.budget import TimeUp
    from gpudoctor.intake.walk import expand_pattern

    for path in paths:
        try:
            found = budget.spend(budget.end, partial(expand_pattern, path))
        except TimeUp:
            raise Refused(f"looking for {path[:120]} took all the time (--timeout): name fewer folders", INCONCLUSIVE) from None
        if not found:
            raise Refused(says.format(path[:120]))


def recorded_run(paths: list[str]) -> Path | None:
    """The folder that `--record` wrote, an archive of it, or the text of a run, where that is all that was given: it is the run itself,
    with what had no answer.
    """
    from gpudoctor.intake import mounts
    from gpudoctor.library.index import library
    from gpudoctor.probes.bundle import INDEX, BundleError
    from gpudoctor.probes.packed import ENDINGS
    from gpudoctor.probes.replay import Replay
    from gpudoctor.probes.transcript import transcript_path

    folder = Path(paths[0]) if len(paths) == 1 and paths[0] != "-" else None
    if folder is not None and folder.name == INDEX:
        folder = folder.parent
    try:
        if folder is None:
            return None
        mounts.check(str(folder))
        if not (folder / INDEX).is_file() and transcript_path(folder) != folder and not folder.name.lower().endswith(ENDINGS):
            return None
        return folder if Replay(folder).bundle.runbook in library().runbooks else None
    except (BundleError, OSError, ValueError):  # it is damaged, or of somebody's own runbook: its files still say something
        return None


def reading_progress(format: str) -> Any:
    """How many of many files have been read, on a terminal only."""
    if format != "terminal":
        return None
    from gpudoctor.reporters.progress import reader

    return reader(sys.stderr, width=columns())
