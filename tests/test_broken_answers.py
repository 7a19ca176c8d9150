"""A recorded problem of which one answer is broken is never healthy: what could not be read is not sound.

Of all problem bundles a part is tried, another one for each seed: `GPUDOCTOR_BROKEN="0.3 7"` tries three tenths of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.bundle import Key, key_of
from gpudoctor.probes.replay import Replay
from tests.recorded_cases import BOOKS, executed, problems

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


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name.partition(".")[0])
def test_a_problem_of_which_an_answer_is_broken_is_never_healthy(path: Path) -> None:
    healthy = []
    for case, book, inputs, replay in problems(path, float(part), seed):
        for answer in replay.bundle.outputs:
            for name, how in BREAKS.items() if not answer.failure else ():
                empty = name == "said nothing" and any(answer.argv[: len(words)] == words for words in MAY_BE_EMPTY)
                done = None if empty else executed(book, inputs, Broken(replay, answer.key, how))
                if done and done[1].verdict == "healthy":
                    healthy.append(f"{case.bundle}: {' '.join(answer.argv)} {name}")
    assert healthy == []
