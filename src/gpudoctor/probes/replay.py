"""Answers commands from a bundle: the run that was recorded, repeated anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gpudoctor.probes import bundle
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.bundle import Answer, BundleError, Key

__all__ = ["BundleError", "Replay", "pieces"]


class Replay:
    """A probe over the bundle in `folder`. `bundle` holds what was recorded: the runbook and its inputs. Raises BundleError."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.bundle = bundle.load(self.folder)
        self._answers: dict[Key, Answer] = {}
        for answer in self.bundle.outputs:
            self._answers.setdefault(answer.key, answer)

    def __call__(self, command: Command) -> Output:
        """The recorded answer; failure `not-recorded` for a command that the recorded run did not ask."""
        answer = self._answers.get(bundle.key_of(command))
        if answer is None:
            return self._not_recorded(command)
        return bundle.read_answer(self.folder, answer, command)

    def stream(self, command: Command) -> Iterator[Output]:
        """The recorded answer page by page; one page at a time is in memory."""
        answer = self._answers.get(bundle.key_of(command))
        if answer is None:
            yield self._not_recorded(command)
        else:
            yield from pieces(self.folder, answer, command)

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """The recorded answers."""
        return one_by_one(self, commands)

    def _not_recorded(self, command: Command) -> Output:
        """The answer to a command that the bundle doesn't hold."""
        where = f" on {command.host}" if command.host else ""
        why = f" ({self.bundle.incomplete})" if self.bundle.incomplete else ""
        reason = f"the bundle holds no answer to `{command.shown[:200]}`{where}{why}; record it again"
        return Output(command, failure="not-recorded", reason=reason)


def pieces(folder: Path, answer: Answer, command: Command) -> Iterator[Output]:
    """A recorded answer as a stream: each page, then the failure on its own; without a failure the last page ends the stream."""
    pages = [
        msgspec.structs.replace(answer, stdout=(name,), stderr=None, failure="", reason="", exit=0, seconds=0.0) for name in answer.stdout
    ]
    end = msgspec.structs.replace(answer, stdout=())
    if pages and not answer.failure:
        end = msgspec.structs.replace(answer, stdout=pages.pop().stdout)
    for part in (*pages, end):
        output = bundle.read_answer(folder, part, command)
        yield output
        if output.failure:
            return
