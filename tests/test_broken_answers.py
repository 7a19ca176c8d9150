"""A recorded problem of which one answer is broken is never healthy: what could not be read is not sound.

Of all problem bundles a part is tried, another one for each seed: `GPUDOCTOR_BROKEN="0.3 7"` tries three tenths of them.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from gpudoctor.engine.cases import inputs_of
from gpudoctor.engine.diagnose import conclusions
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import NotThere
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.bundle import Key, key_of
from gpudoctor.probes.replay import Replay
from gpudoctor.runbook import load
from gpudoctor.runbook.index import library, runbooks_folder
from gpudoctor.runbook.paired import Case

Break = Callable[[Output], Output]


def broken(**changed: object) -> Break:
    return lambda output: msgspec.structs.replace(output, **{"pages": (b"",), "stderr": b"", "failure": "", "reason": "", **changed})


BREAKS: dict[str, Break] = {
    "refused": broken(exit=1, pages=(), failure="refused", reason="forbidden: no permission"),
    "timed out": broken(exit=124, pages=(), failure="timeout", reason="did not answer within 30 s", seconds=30.0),
    "left with 1": broken(exit=1),
    "crashed": broken(exit=139),
    "said nothing": broken(exit=0),
}
# Silence is an answer of these, and what is left shows enough: a log may be empty (a program that prints nothing, a file that was rotated).
MAY_BE_EMPTY = (("kubectl", "logs"), ("tail",), ("cat",), ("grep",), ("lspci",), ("nvidia-smi", "nvlink"))

part, seed = (os.environ.get("GPUDOCTOR_BROKEN") or "0.04 1").split()


class Broken:
    """A replay of which one answer is broken."""

    def __init__(self, replay: Replay, key: Key, how: Break) -> None:
        self.replay, self.key, self.how = replay, key, how

    def __call__(self, command: Command) -> Output:
        output = self.replay(command)
        return self.how(output) if key_of(command) == self.key else output

    def stream(self, command: Command) -> Iterator[Output]:
        if key_of(command) == self.key:
            yield self.how(Output(command))
        else:
            yield from self.replay.stream(command)

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        return one_by_one(self, commands)


def problems(path: Path) -> list[Case]:
    """A part of the cases of a test file that end in a problem."""
    test, _ = load.paired_test(path)
    assert test is not None
    chance = random.Random(f"{seed} {path.name}")
    return [case for case in test.cases if case.verdict == "problem" and chance.random() < float(part)]


def verdict(book: str, inputs: dict[str, object], probe: Broken) -> str:
    try:
        run = Engine(library(), probe, recorded=True, consent=True).execute(library().runbooks[book], inputs)
    except NotThere:
        return "not-found"
    return conclusions(library(), run, asked="", started=0.0)[0].verdict


@pytest.mark.parametrize("path", sorted(runbooks_folder().glob("*.test.yaml")), ids=lambda path: path.name.partition(".")[0])
def test_a_problem_of_which_an_answer_is_broken_is_never_healthy(path: Path) -> None:
    test, _ = load.paired_test(path)
    assert test is not None
    book = test.runbook.removesuffix(".yaml")
    healthy = []
    for case in problems(path):
        replay = Replay(path.parent / test.fixtures / case.bundle)
        inputs = inputs_of(library().runbooks[book], {**replay.bundle.inputs, **case.inputs}, case.inputs)
        for answer in replay.bundle.outputs:
            for name, how in BREAKS.items() if not answer.failure else ():
                empty = name == "said nothing" and any(answer.argv[: len(words)] == words for words in MAY_BE_EMPTY)
                if not empty and verdict(book, inputs, Broken(replay, answer.key, how)) == "healthy":
                    healthy.append(f"{case.bundle}: {' '.join(answer.argv)} {name}")
    assert healthy == []
