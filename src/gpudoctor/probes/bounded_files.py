"""Files that a person or a kubeconfig names, read whole: a plain file or a pipe, with a limit in bytes and in time."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

from gpudoctor.probes.deadline import Deadline

LIMIT = 16 << 20  # bytes; a kubeconfig of 2,000 clusters with all their certificates has 11 MiB
PIPE = 10.0  # seconds for a pipe: `--kubeconfig <(vault read …)` may ask somebody first

_CAME: dict[tuple[int, int], bytes] = {}  # what came through a pipe: it comes only once, and may be asked for again


def read(path: str | Path) -> bytes:
    """The bytes of a file. Raises OSError, with words of its own for what is no file and for what is too large or too late."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)  # a pipe nobody writes to would hold the open
    try:
        about = os.fstat(descriptor)
        if stat.S_ISFIFO(about.st_mode):
            pipe = (about.st_dev, about.st_ino)
            if pipe not in _CAME:
                _CAME[pipe] = _drain(descriptor)
            content = _CAME[pipe]
        elif stat.S_ISREG(about.st_mode):
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                content = file.read(LIMIT + 1)
        else:
            raise OSError("it is neither a file nor a pipe")
    finally:
        os.close(descriptor)
    if len(content) > LIMIT:
        raise OSError(f"it is larger than {LIMIT >> 20} MiB")
    return content


def _drain(pipe: int) -> bytes:
    """What comes through a pipe until its writers have closed it."""
    deadline, content = Deadline(PIPE), bytearray()
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while len(content) <= LIMIT:
        if not waiting.poll(deadline.left * 1000):
            raise OSError(f"the pipe was not written and closed within {PIPE:g} s")
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            break
        content += chunk
    return bytes(content)
