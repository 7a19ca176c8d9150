"""A bundle: a folder with everything that one run read, so that the run can be repeated anywhere with the same result.

`bundle.json` lists the answers; every page of an answer is a file beside it. A bundle may come from a stranger: names never leave the
folder, links are refused, sizes and times are bounded.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gpudoctor.patterns import regex
from gpudoctor.probes.base import Command, Failure, Output

FORMAT = 1
INDEX = "bundle.json"
LARGEST = 64 * 1024 * 1024  # bytes of one file; as much as a probe holds of one answer
LATEST = 253402300799.0  # the last second of the year 9999: later times have no date

# What a recorder calls its files: 01-kubectl-get-pods.json, 01-kubectl-get-pods.2.json, 02-dmesg.stderr.txt
FILE_NAME = regex(r"[0-9A-Za-z][0-9A-Za-z._-]{0,120}", re.ASCII)

Key = tuple[str, tuple[str, ...], int]  # host, argv, sample


class BundleError(ValueError):
    """The folder can't be used as a bundle. The message is one sentence that says why and what to do."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded answer. `stdout` names the files of its pages in order; `seconds` is how long it took, `time` is since the epoch."""

    host: str = ""
    argv: tuple[str, ...]
    sample: int = 0
    exit: int = 0
    failure: Failure = ""
    reason: str = ""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=LATEST)] = 0.0
    time: Annotated[float, msgspec.Meta(ge=0, le=LATEST)] = 0.0
    stdout: tuple[str, ...] = ()
    stderr: str | None = None
    via: str | msgspec.UnsetType = msgspec.UNSET  # how the host was reached; left out for what ran here

    @property
    def key(self) -> Key:
        """What the answer is found by."""
        return (self.host, self.argv, self.sample)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file that belongs to the answer."""
        return (*self.stdout, self.stderr) if self.stderr is not None else self.stdout


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of bundle.json. `recorded` is an RFC 3339 time; `inputs` are the runbook's.

    `incomplete` says why answers may be missing; it stands there from the first answer until the recording is ended in order.
    """

    bundle: int = FORMAT
    gpudoctor: str = ""
    recorded: str = ""
    runbook: str = ""
    inputs: dict[str, Any] = {}
    incomplete: str | msgspec.UnsetType = msgspec.UNSET
    outputs: list[Answer] = []


class _Version(msgspec.Struct):
    bundle: int


def key_of(command: Command) -> Key:
    """What a command's answer is found by."""
    return (command.host, command.argv, command.sample)


def load(folder: Path) -> Bundle:
    """Read and check bundle.json, and that every file it names is there. Raises BundleError."""
    if not folder.exists():
        raise BundleError(f"{folder} is not a bundle: neither that folder nor {folder.name}.txt is there; give what --record wrote")
    if not (folder / INDEX).exists():
        raise BundleError(f"{folder} is not a bundle: it has no {INDEX}; give the folder that --record wrote, or an archive of it")
    bundle = decode(folder, _read_index(folder))
    for answer in bundle.outputs:
        for name in answer.files:
            _check_file(folder, name)
    return bundle


def decode(folder: Path, raw: bytes) -> Bundle:
    """What bundle.json of a folder or an archive says. Raises BundleError."""
    try:
        version = msgspec.json.decode(raw, type=_Version).bundle
        if version > FORMAT:
            raise BundleError(
                f"{folder} was written by a newer gpudoctor (bundle format {version}, this one reads {FORMAT}): upgrade gpudoctor"
            )
        if version < 1:
            raise BundleError(f"{folder} is not a bundle: its {INDEX} names the format {version}")
        return msgspec.json.decode(raw, type=Bundle)
    except msgspec.ValidationError as error:
        raise BundleError(f"{folder} is not a bundle that can be read: {INDEX}: {error}; record it again") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise BundleError(
            f"{folder / INDEX} is cut or damaged: it is not complete JSON; copy the bundle again or record it again"
        ) from None


def _read_index(folder: Path) -> bytes:
    try:
        return read_file(folder, INDEX)
    except OSError as error:
        raise BundleError(f"{folder / INDEX} can't be read: {error.strerror or error}") from None


def _check_file(folder: Path, name: str) -> None:
    """Refuse a name that could leave the folder, and a file that is missing, no plain file or over-large."""
    if not FILE_NAME.fullmatch(name) or name.startswith(INDEX):
        raise BundleError(f"{folder} is refused: it names the file {name[:80]!r}, which could lie outside the bundle; record it again")
    try:
        found = (folder / name).lstat()
    except FileNotFoundError:
        raise BundleError(f"{folder} is incomplete: the file {name} is missing; copy the bundle again or record it again") from None
    except OSError as error:
        raise BundleError(f"{folder / name} can't be read: {error.strerror or error}") from None
    if not stat.S_ISREG(found.st_mode):
        raise BundleError(f"{folder} is refused: {name} is a link or a special file, not a plain file; record it again")
    if found.st_size > LARGEST:
        raise BundleError(f"{folder} is refused: {name} is larger than {LARGEST >> 20} MiB; record it again")


def read_file(folder: Path, name: str) -> bytes:
    """The bytes of one plain file of the folder. Raises OSError, also for links, special files and over-large files."""
    descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(errno.EFBIG, f"it is larger than {LARGEST >> 20} MiB")
    return data


def read_answer(folder: Path, answer: Answer, command: Command) -> Output:
    """A recorded answer as the Output that the live run saw. A file that has become unreadable is a failure `broken`."""
    return output_of(partial(read_file, folder), answer, command)


def output_of(read: Callable[[str], bytes], answer: Answer, command: Command) -> Output:
    """The same, from wherever `read` gets what a name stands for."""
    try:
        pages = tuple(map(read, answer.stdout))
        stderr = read(answer.stderr) if answer.stderr is not None else b""
    except OSError as error:
        return Output(command, failure="broken", reason=f"the bundle's file can't be read: {error.strerror or error}")
    return Output(
        command,
        exit=answer.exit,
        pages=pages,
        stderr=stderr,
        seconds=answer.seconds,
        time=answer.time,
        failure=answer.failure,
        reason=answer.reason,
        via=answer.via or "",
    )


def write_file(folder: Path, name: str, data: bytes) -> None:
    """Write a new file that only its owner may read. Raises OSError, also when the name is taken."""
    descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def save(folder: Path, bundle: Bundle) -> None:
    """Put bundle.json in place in one step: a reader finds the old list or the new one, never half of one. Raises OSError."""
    draft = f"{INDEX}.new"
    (folder / draft).unlink(missing_ok=True)
    write_file(folder, draft, msgspec.json.format(msgspec.json.encode(bundle), indent=1) + b"\n")
    (folder / draft).replace(folder / INDEX)


def digest(command: Command) -> str:
    """Eight hexadecimal digits that tell a command from others with the same first words."""
    import hashlib

    return hashlib.sha256(repr(key_of(command)).encode()).hexdigest()[:8]


def slug(argv: tuple[str, ...]) -> str:
    """The words of a command that a file name may carry: letters, digits and dashes, at most 40.

    >>> slug(("kubectl", "get", "pods", "-n", "ml")), slug(("../../etc/passwd", "$(id)")), slug(("…",))
    ('kubectl-get-pods', 'etc-passwd-id', 'command')
    """
    words = re.sub(r"[^a-z0-9]+", "-", " ".join(element[:40] for element in argv[:3]).lower(), flags=re.ASCII)
    return words[:40].strip("-") or "command"
