"""The folder of a guided session: a bundle, `session.json` beside it, and a lock that goes with the process that holds it.

    $XDG_STATE_HOME/gpudoctor/sessions/2026-11-21-diagnose-pod-k3f/

What is said in session.json is the command line's business; here it is bytes that are put in place in one step.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.patterns import regex

STATE = "session.json"
LOCK = "lock"
# 2026-11-21-diagnose-pod-k3f
ID = regex(r"[0-9a-z][0-9a-z-]{0,100}\Z", re.ASCII)
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that are taken for others
LARGEST = 4 * 1024 * 1024  # bytes of session.json


class Busy(Exception):
    """Somebody else has the session open; the message says who, where that is known."""


def sessions_folder() -> Path:
    """The folder of this user's sessions."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        try:
            state = f"{Path.home()}/.local/state"
        except RuntimeError:  # a user without a name, as in containers; there / is the home of who has none
            state = "/.local/state"
    return Path(state) / "gpudoctor" / "sessions"


def ids() -> list[str]:
    """The sessions that there are, the one that was changed last first."""
    found = [(stamp, path.parent.name) for path in paths() if (stamp := modified_time(path)) is not None]
    return [name for _, name in sorted(found, reverse=True)]


def paths() -> Iterator[Path]:
    """The state files of all sessions."""
    try:
        yield from (path / STATE for path in sessions_folder().iterdir() if ID.match(path.name))
    except OSError:
        return


def modified_time(path: Path) -> float | None:
    """The time at which a file was last written; None where there is no file."""
    try:
        return path.stat().st_mtime
    except OSError:
        return None


class Folder:
    """One session's folder, held by this process until `close`, or until it dies. Raises OSError for one that can't be used."""

    def __init__(self, name: str) -> None:
        if not ID.match(name):
            raise FileNotFoundError(f"{name[:80]!r} is no name of a session")
        self.name, self.path = name, sessions_folder() / name
        self.lock = -1

    @classmethod
    def new(cls, what: str, now: float) -> Folder:
        """A new folder, named after the day and what is asked, and held."""
        sessions_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        day = time.strftime("%Y-%m-%d", time.localtime(now))
        while True:
            folder = cls(f"{day}-{what[:60]}-{''.join(secrets.choice(LETTERS) for _ in range(3))}")
            try:
                folder.path.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return folder.hold()

    def hold(self) -> Folder:
        """Keep others out. Raises `Busy`, and OSError."""
        self.lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(self.lock, 200).decode("utf-8", "replace").strip()
            self.close()
            raise Busy(who) from None
        os.ftruncate(self.lock, 0)
        os.write(self.lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
        return self

    def close(self) -> None:
        """Let others in."""
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def busy(self) -> bool:
        """Whether somebody has it open, this process included."""
        try:
            self.hold()
        except (Busy, OSError):
            return True
        self.close()
        return False

    def save(self, state: bytes) -> None:
        """Put session.json in place: a reader, and a crash, finds the old one or the new one. Raises OSError."""
        draft = self.path / f"{STATE}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(state)
            file.flush()
            os.fsync(descriptor)
        draft.replace(self.path / STATE)

    def load(self) -> bytes:
        """What was saved last. Raises OSError."""
        with (self.path / STATE).open("rb") as file:
            return file.read(LARGEST)
