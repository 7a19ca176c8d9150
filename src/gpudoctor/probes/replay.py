"""Answers commands from a bundle: the run that was recorded, repeated anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from gpudoctor.probes import bundle, packed, transcript
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.bundle import Answer, BundleError, Key

__all__ = ["BundleError", "Replay", "replay_stream"]


class Replay:
    """A probe over a bundle, which is a folder, an archive of it, or a text file (`probes.transcript`). `bundle` holds what was recorded:
    the runbook and its inputs. Raises BundleError.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        self._read: Callable[[str], bytes]
        if (file := transcript.transcript_path(path)) is not None:
            self.bundle, pages = transcript.load(file)
            self._read = pages.__getitem__
        elif (held := packed.load(path)) is not None:
            self.bundle, files = held
            self._read = files.__getitem__
        else:
            self.bundle = bundle.load(path)
            self._read = partial(bundle.read_file, path)
        self._answers: dict[Key, Answer] = {}
        for answer in self.bundle.outputs:
            self._answers.setdefault(answer.key, answer)

    def __call__(self, command: Command) -> Output:
        """The recorded answer; failure `not-recorded` for a command that the recorded run did not ask."""
        answer = self._answers.get(bundle.key_of(command))
        if answer is None:
            return self._not_recorded(command)
        return bundle.output_of(self._read, answer, command)

    def stream(self, command: Command) -> Iterator[Output]:
        """The recorded answer page by page; one page at a time is in memory."""
        answer = self._answers.get(bundle.key_of(command))
        if answer is None:
            yield self._not_recorded(command)
        else:
            yield from replay_stream(self._read, answer, command)

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """The recorded answers."""
        return one_by_one(self, commands)

    def _not_recorded(self, command: Command) -> Output:
        """The answer to a command that the bundle doesn't hold."""
        where = f" on {command.host}" if command.host else ""
        why = f" ({self.bundle.incomplete})" if self.bundle.incomplete else ""
        reason = f"the bundle holds no answer to `{command.shown[:200]}`{where}{why}; record it again"
        return Output(command, failure="not-recorded", reason=reason)


def replay_stream(read: Callable[[str], bytes], answer: Answer, command: Command) -> Iterator[Output]:
    """A recorded answer as a stream: each page, then the failure on its own; without a failure the last page ends the stream."""
    pages = [
        msgspec.structs.replace(answer, stdout=(name,), stderr=None, failure="", reason="", exit=0, seconds=0.0) for name in answer.stdout
    ]
    end = msgspec.structs.replace(answer, stdout=())
    if pages and not answer.failure:
        end = msgspec.structs.replace(answer, stdout=pages.pop().stdout)
    for part in (*pages, end):
        output = bundle.output_of(read, part, command)
        yield output
        if output.failure:
            return
