"""knowledge/nccl_settings.yaml → the known variables, with every problem in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gpudoctor.knowledge.nccl_settings import Known, Settings
from gpudoctor.library.xids import steps
from gpudoctor.runbook import yamlfile
from gpudoctor.runbook.yamlfile import Place, Problem

STATES = ("current", "renamed", "obsolete", "removed", "diagnostic")


def load(path: Path, shown: str) -> tuple[list[Known], list[Problem]]:
    """The variables, [] where the file isn't one of them, and what is wrong in it."""
    document = yamlfile.read(path, shown)
    if document.value is None:
        return [], document.problems
    try:
        made = msgspec.convert(document.value, type=Settings)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        return [], [*document.problems, Problem(shown, document.line(steps(place)), f"{place.strip('`')}: {message}")]
    return made.settings, document.problems + [Problem(shown, document.line(place), text) for place, text in problems(made)]


def problems(made: Settings) -> Iterator[tuple[Place, str]]:
    """Names that are there twice, words that mean nothing, a new name that isn't there."""
    counts = Counter(one.name for one in made.settings)
    for number, one in enumerate(made.settings):
        said = [
            (counts[one.name] > 1, "is there twice"),
            (one.library not in made.sources, f"unknown library '{one.library}'"),
            (one.state not in STATES, f"unknown state '{one.state}'"),
            (one.takes not in ("number", "text"), f"takes '{one.takes}'"),
            (one.state == "renamed" and not one.instead, "is renamed, but not to what"),
            (one.words != [word.upper() for word in one.words], "words are written in capitals"),
        ]
        yield from ((("settings", number), f"{one.name} {text}") for wrong, text in said if wrong)
