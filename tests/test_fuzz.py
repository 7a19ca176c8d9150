"""Inputs that once broke something, and a thousand that nobody has seen: `python -m tests.fuzz` tries more of them."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.fuzz.__main__ import fed, tried
from tests.fuzz.targets import corpus, seeds, targets

FRESH = 1000
LONGEST = 5.0  # s of the processor for one input, on a machine that is busy with other tests


@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.name)
def test_what_broke_something_breaks_nothing_now(path: Path) -> None:
    name = path.name.partition("--")[0]
    wrong, _ = tried(name, path.read_bytes())
    assert wrong in ("", "takes long")


def test_the_corpus_is_small_and_of_targets_that_are_there() -> None:
    assert sum(path.stat().st_size for path in corpus()) < 500_000
    assert {path.name.partition("--")[0] for path in corpus()} <= set(targets())


@pytest.mark.parametrize("group", ["parser", "form", "sections", "whole", "xid"])
def test_what_the_inputs_are_made_of_is_read(group: str) -> None:
    for name in targets():
        if name.partition(".")[0] == group:
            for sample in seeds(name)[:3]:
                assert not tried(name, sample)[0].startswith(("hangs", "Refused"))


def test_fresh_inputs_break_nothing() -> None:
    seed = secrets.randbelow(10**9)
    for number in range(1, FRESH + 1):
        name, data = fed(number, seed)
        wrong, took = tried(name, data)
        shown = f"{name}, input {number} of seed {seed}: `tests.fuzz.__main__.fed({number}, {seed})`"
        assert not wrong or wrong.startswith("takes long"), f"{wrong}: {shown}"
        assert took < LONGEST, shown
