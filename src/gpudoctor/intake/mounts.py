"""Mounts whose server is gone: what is asked about a file there never returns, and often no signal ends it, so nothing is asked."""

from __future__ import annotations

import errno
import functools
import os
from pathlib import Path

from gpudoctor import cores
from gpudoctor.patterns import regex

PATIENCE = 5.0  # seconds for an answer: a server that works takes a thousandth of that
LINKS = 40  # that are followed on one way, as Linux does it
ESCAPED = regex(r"\\([0-7]{3})")
LIST = Path("/proc/self/mountinfo")
# File systems with a server, and what mounts them when they are looked at. fuse is one, fuse.sshfs too.
REMOTE = ("nfs", "cifs", "smb", "fuse", "lustre", "ceph", "gpfs", "beegfs", "glusterfs", "9p", "afs", "orangefs", "wekafs", "autofs")


@functools.cache
def remote() -> frozenset[str]:
    """Where file systems with a server are mounted; none on systems without that list."""
    try:
        lines = LIST.read_text(errors="surrogateescape").splitlines()
    except OSError:
        lines = []
    # 36 35 98:0 / /mnt/scratch rw,noatime shared:1 - nfs4 server:/scratch rw
    cut = [line.split(" ") for line in lines]
    # A space, a tab, a line end and a backslash stand there as \040, \011, \012 and \134.
    return frozenset(ESCAPED.sub(lambda one: chr(int(one[1], 8)), one[4]) for one in cut if one[one.index("-", 6) + 1].startswith(REMOTE))


@functools.cache
def answers(mount: str) -> bool:
    """Whether the server of a mount says something. Another process asks: one that hangs in the kernel can't leave."""
    return cores.ends(lambda: os.statvfs(mount), PATIENCE)


def check(path: str) -> None:
    """Raises `OSError` for a path that leads, by whatever links, to a mount without an answer."""
    if not remote():
        return
    done, rest, links = "", os.path.abspath(path).split("/")[1:], 0  # noqa: PTH100  # a Path would look at it
    while rest and links < LINKS:
        done = f"{done}/{rest.pop(0)}"
        if done in remote() and not answers(done):
            raise OSError(errno.ETIMEDOUT, "its file system gives no answer")
        try:
            link = os.readlink(done)  # noqa: PTH115
        except OSError:  # no link
            continue
        links += 1
        done, rest = "", os.path.normpath(f"{done.rpartition('/')[0]}/{link}" if link[:1] != "/" else link).split("/")[1:] + rest
