"""The literals that a scanner triggers on, as a list for `grep -f`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gpudoctor.knowledge.literals import literals


def of(patterns: Iterable[str]) -> list[str]:
    """Extended regular expressions, one a literal, for `grep -E`. A pattern without a literal gives none, which makes grep's work less."""
    return sorted({text for pattern in patterns for text in literals(pattern)})


def written(found: Iterable[str], folder: Path) -> str:
    """The path of a list for `grep -f`, in a folder that isn't searched; as one argument thousands of literals are too long."""
    path = folder / "literals"
    path.write_text("".join(f"{text}\n" for text in found), encoding="utf-8")
    return str(path)
