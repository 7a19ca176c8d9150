"""Writes what a probe answers into a bundle, redacted, and hands on exactly what it wrote: a replay of it gives the same facts."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from gpudoctor import __version__
from gpudoctor.patterns import regex
from gpudoctor.probes import bundle
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.probes.bundle import Answer, Bundle, BundleError, Key
from gpudoctor.probes.redact import Redactor
from gpudoctor.probes.replay import replay_stream

# What `_Writing` calls its files: kubectl-get-pods-1f0c77ab.json, dmesg-time-format-iso-0a1b2c3d.2.txt, nvidia-smi-0a1b2c3d.stderr.txt
WRITTEN = regex(r"[a-z0-9-]{1,40}-[0-9a-f]{8}(?:\.\d+)?(?:\.stderr)?\.(?:json|txt)")

INTERRUPTED = "the recording was interrupted"


class Recorder:
    """A probe that asks `probe` and records its answers in `folder`; safe to call from several threads. `started` is when, now if None.

    A command that was answered before is answered from the bundle, as a replay will. bundle.json is complete after every answer, so an
    interrupted recording can be read. Raises BundleError when `folder` can't be used. When writing fails later (a full disk), the
    diagnosis goes on and `close` says that the recording is incomplete. `go_on` keeps what the bundle in `folder` has, and adds to it.
    """

    def __init__(
        self, probe: Probe, folder: Path | str, runbook: str, inputs: dict[str, Any], started: float | None = None, go_on: bool = False
    ) -> None:
        self.folder = Path(folder)
        self._probe = probe
        self._redactor = Redactor()
        self._lock = threading.Lock()
        self._answers: dict[Key, Answer] = {}
        self._asking: dict[Key, threading.Lock] = {}  # of two threads that ask the same, the second gets what the first recorded
        self._trouble = ""
        recorded = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started))
        self._head = Bundle(
            gpudoctor=__version__, recorded=recorded, runbook=runbook, inputs=self._redactor.inputs(inputs), incomplete=INTERRUPTED
        )
        self._hold = -1  # what keeps others out of the folder; a session does so by itself
        if go_on:
            self._head = msgspec.structs.replace(bundle.load(self.folder), incomplete=INTERRUPTED)
            self._answers = {answer.key: answer for answer in self._head.outputs}
            _tidy(self.folder, self._head)
        else:
            self._hold = _prepare(self.folder, self._head)

    def __call__(self, command: Command) -> Output:
        """Ask, record, and return what was recorded."""
        kept = self._kept_command(command)
        with self._alone(bundle.key_of(kept)):
            answer = self._answers.get(bundle.key_of(kept))
            if answer is not None:
                return bundle.read_answer(self.folder, answer, kept)
            return _Writing(self, kept).finish(self._redact(kept, self._probe(command)))

    def stream(self, command: Command) -> Iterator[Output]:
        """Ask and record page by page. A stream that its reader leaves early is recorded as broken off there."""
        kept = self._kept_command(command)
        with self._alone(bundle.key_of(kept)):
            answer = self._answers.get(bundle.key_of(kept))
            if answer is not None:
                yield from replay_stream(partial(bundle.read_file, self.folder), answer, kept)
                return
            writing = _Writing(self, kept)
            last = Output(kept, failure="broken", reason="the recording ends in the middle of this answer")
            try:
                for output in self._probe.stream(command):
                    piece = self._redact(kept, output)
                    for part in _split(piece):
                        yield writing.add(part)
                    last = msgspec.structs.replace(piece, pages=())
                    if piece.failure:
                        break
            finally:
                writing.finish(last)

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """Ask what isn't recorded yet together, and record each answer as it comes. One that doesn't come is not recorded."""
        kept = {command: self._kept_command(command) for command in commands}
        with ExitStack() as alone:
            # In one order, or two threads could wait for each other.
            for key in sorted({bundle.key_of(command) for command in kept.values()}):
                alone.enter_context(self._alone(key))
            new: dict[Key, Command] = {}
            for command, shown in kept.items():
                answer = self._answers.get(bundle.key_of(shown))
                if answer is not None:
                    yield bundle.read_answer(self.folder, answer, shown)
                else:
                    new.setdefault(bundle.key_of(shown), command)
            for output in self._probe.many(tuple(new.values())) if new else ():
                shown = kept[output.command]
                if bundle.key_of(shown) not in self._answers:
                    yield _Writing(self, shown).finish(self._redact(shown, output))

    def holds(self, command: Command) -> bool:
        """Whether an answer to the command is recorded."""
        return bundle.key_of(self._kept_command(command)) in self._answers

    def recorded_answer(self, command: Command) -> Output | None:
        """The recorded answer to a command."""
        answer = self._answers.get(bundle.key_of(self._kept_command(command)))
        return None if answer is None else bundle.read_answer(self.folder, answer, command)

    def put(self, output: Output) -> Output:
        """Record an answer that somebody else has got; returns it as it is kept. What was there before is replaced."""
        self.forget(output.command)
        kept = self._kept_command(output.command)
        with self._alone(bundle.key_of(kept)):
            return _Writing(self, kept).finish(self._redact(kept, output))

    def forget(self, command: Command) -> None:
        """Drop the recorded answers to a command, of every sample: the next time it is asked again."""
        getattr(self._probe, "forget", lambda command: None)(command)
        host, argv, _ = bundle.key_of(self._kept_command(command))
        with self._lock:
            gone = [answer for key, answer in self._answers.items() if key[:2] == (host, argv)]
            for answer in gone:
                del self._answers[answer.key]
            if gone:
                self._save()  # first the list, then the files: a bundle never names a file that isn't there
        for name in (name for answer in gone for name in answer.files):
            (self.folder / name).unlink(missing_ok=True)

    def close(self, interrupted: bool = False) -> None:
        """End the recording. Raises BundleError when something could not be written."""
        with self._lock:
            why = self._trouble or (INTERRUPTED if interrupted else msgspec.UNSET)
            self._head = msgspec.structs.replace(self._head, incomplete=why)
            self._save()
            if self._hold >= 0:
                os.close(self._hold)
                self._hold = -1
        if self._trouble:
            raise BundleError(
                f"the recording in {self.folder} is incomplete: {self._trouble}; free some space or record into another folder"
            )

    def _alone(self, key: Key) -> threading.Lock:
        """The lock under which a command is asked."""
        with self._lock:
            return self._asking.setdefault(key, threading.Lock())

    def _kept_command(self, command: Command) -> Command:
        return msgspec.structs.replace(command, argv=tuple(self._redactor.argv(command.argv)))

    def _redact(self, command: Command, output: Output) -> Output:
        """The answer as the bundle may hold it. A page that would be too large for a bundle is left out, and the answer says so."""
        pages = tuple(self._redactor.page(page) for page in output.pages)
        stderr = self._redactor.raw(output.stderr)
        kept = Output(
            command,
            exit=output.exit,
            pages=pages,
            stderr=stderr,
            seconds=_valid_time(output.seconds),
            time=_valid_time(output.time),
            failure=output.failure,
            reason=self._redactor.text(output.reason),
            via=output.via,
        )
        if any(len(part) > bundle.LARGEST for part in (*pages, stderr)):
            reason = f"the answer has more than {bundle.LARGEST >> 20} MiB: too large for a bundle"
            return msgspec.structs.replace(kept, pages=(), stderr=b"", failure="too-large", reason=reason)
        return kept

    def _write(self, name: str, data: bytes) -> None:
        try:
            bundle.write_file(self.folder, name, data)
        except OSError as error:
            self._trouble = self._trouble or f"{name}: {error.strerror or error}"

    def _keep(self, answer: Answer) -> None:
        """List an answer in bundle.json."""
        with self._lock:
            if not self._trouble:
                self._answers[answer.key] = answer
                self._save()

    def _save(self) -> None:
        try:
            bundle.save(self.folder, msgspec.structs.replace(self._head, outputs=[self._answers[key] for key in sorted(self._answers)]))
        except OSError as error:
            self._trouble = self._trouble or f"{bundle.INDEX}: {error.strerror or error}"


class _Writing:
    """One answer on its way into the bundle: its files are written as its pages come."""

    def __init__(self, recorder: Recorder, command: Command) -> None:
        self.recorder, self.command = recorder, command
        # The same in every recording of the command, so that a new recording is a small change.
        self.name = f"{bundle.slug(command.argv)}-{bundle.digest(command)}"
        self.files: list[str] = []
        self.time = 0.0

    def add(self, output: Output) -> Output:
        """Write the pages; every piece of a stream gets the time of the first, as it will on replay."""
        self.time = self.time or output.time
        for page in output.pages:
            number = f".{len(self.files) + 1}" if self.files else ""
            self.files.append(f"{self.name}{number}{'.json' if page[:1] in (b'{', b'[') else '.txt'}")
            self.recorder._write(self.files[-1], page)
        return msgspec.structs.replace(output, time=self.time)

    def finish(self, output: Output) -> Output:
        """Write the rest of the answer and list it; returns it as a replay will."""
        output = self.add(output)
        stderr = f"{self.name}.stderr.txt" if output.stderr else None
        if stderr:
            self.recorder._write(stderr, output.stderr)
        answer = Answer(
            host=self.command.host,
            argv=self.command.argv,
            sample=self.command.sample,
            exit=output.exit,
            failure=output.failure,
            reason=output.reason,
            seconds=output.seconds,
            time=self.time,
            stdout=tuple(self.files),
            stderr=stderr,
            via=output.via or msgspec.UNSET,
        )
        self.recorder._keep(answer)
        return output


def _valid_time(seconds: float) -> float:
    """The time where a bundle can hold it, else 0: not known."""
    return float(seconds) if 0 <= seconds <= bundle.LATEST else 0.0


def _split(piece: Output) -> list[Output]:
    """A page that comes with a failure as the page and then the failure: readers skip the failed pieces of a stream."""
    if not piece.failure or not piece.pages:
        return [piece]
    page = msgspec.structs.replace(piece, failure="", reason="", exit=0, stderr=b"", seconds=0.0)
    return [page, msgspec.structs.replace(piece, pages=())]


def _prepare(folder: Path, head: Bundle) -> int:
    """Make the folder, or empty the bundle that is in it, and write a bundle without answers. Raises BundleError.

    While the descriptor that is returned is open, nobody else can record there.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise BundleError(f"{folder} is a file: give --record a folder that is new or empty")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as failing:
            hold = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            failing.callback(os.close, hold)
            _keep_out(hold, folder)
            old = [name for answer in _bundle_in(folder).outputs for name in answer.files] if any(folder.iterdir()) else []
            bundle.save(folder, head)
            for name in old:
                (folder / name).unlink(missing_ok=True)
            failing.pop_all()
    except OSError as error:
        raise BundleError(f"can't record into {folder}: {error.strerror or error}") from None
    return hold


def _keep_out(hold: int, folder: Path) -> None:
    """Raise BundleError where somebody else records."""
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BundleError(f"somebody else is recording into {folder}: give --record another folder") from None
    except OSError:  # NFS locks no folders
        return


def _tidy(folder: Path, head: Bundle) -> None:
    """Remove the files of an answer that was being written when its recorder was killed."""
    listed = {name for answer in head.outputs for name in answer.files}
    for path in folder.iterdir():
        if WRITTEN.fullmatch(path.name) and path.name not in listed:
            path.unlink(missing_ok=True)


def _bundle_in(folder: Path) -> Bundle:
    try:
        return bundle.load(folder)
    except BundleError:
        raise BundleError(f"{folder} is not empty and holds no complete bundle: give --record a folder that is new or empty") from None
