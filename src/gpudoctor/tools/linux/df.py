"""`df` in any of its forms (-P, -h, -T, -i): a record for each file system that programs write to.

Filesystem            1024-blocks       Used Available Capacity Mounted on
10.0.8.4:/export/ml  104857600000 104857600000       0     100% /mnt/ml
Sources: df(1); the names of network file systems as /proc/mounts has them.
"""

from __future__ import annotations

import re
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import FileSystem
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

SIZE = r"(\d[\d.,]{0,17})([KMGTPE]?)i?B?"
# 10.0.8.4:/export/ml  104857600000 104857600000 0 100% /mnt/ml  |  /dev/nvme0n1p2 ext4 438G 120G 296G 29% /
ROW = regex(rf"(\S.{{0,250}}?)\s+(?:([a-z][\w.-]{{1,30}})\s+)?{SIZE}\s+{SIZE}\s+-?{SIZE}\s+(\d{{1,3}}|-)%?\s+(/[^\t]{{0,300}})$")
# Filesystem 1024-blocks Used Available Capacity Mounted on  |  Filesystem Inodes IUsed IFree IUse% Mounted on
HEAD = regex(r"^\s{0,8}(?:Filesystem|File system|Sys\. de fich|Dateisystem)\b.*(?:%|Capacity).*", re.IGNORECASE)
BLOCKS = regex(r"\b(\d{1,7})([KM]?)-(?:blocks|Bl)", re.IGNORECASE)
INODES = regex(r"\bI(?:nodes|use|Free)", re.IGNORECASE)
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60}
REMOTE = frozenset(
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "lustre",
        "gpfs",
        "ceph",
        "beegfs",
        "glusterfs",
        "wekafs",
        "fuse.sshfs",
        "fuse.juicefs",
        "fuse.glusterfs",
        "panfs",
        "orangefs",
    ]
)
# host:/export, 10.1.2.3@o2ib:/lustre, //server/share, [fe80::1]:/x; a target of Lustre and the sum of them, of `lfs df`
SERVED = regex(r"//\S|\[?[\w.,@:-]{1,250}\]?:/|[\w.-]{1,64}-(?:OST|MDT)[0-9a-f]{4}_UUID|filesystem_summary:")
DIGITS = regex(r"\d+$")  # /dev/gpfs1
# File systems that nothing is written to, and so are always full, or that only live in memory.
NEVER = regex(r"(?:/dev/(?:loop|sr)\d|tmpfs|devtmpfs|udev|none|squashfs|efivarfs|cvmfs|shm|proc|sysfs|cgroup)")
BEYOND = ("/snap/", "/sys/", "/proc/", "/dev", "/cvmfs/", "/boot/efi")
MOST = 5_000  # rows


def file_systems(output: Output, about: Subject) -> Facts:
    """One record a row, those in memory and those that can't be written to left out; one that says so where `df` hung."""
    place: dict[str, Any] = {"node": about.node, "namespace": about.namespace, "pod": about.pod}
    if output.failure:
        hung = output.failure in ("timeout", "unkillable")
        return (
            {"file_systems": [FileSystem(problem="timeout", origin=Origin(output.origin_name(), 0, output.reason), **place)]}
            if hung
            else {}
        )
    found: list[FileSystem] = []
    counts, block, device, seen = "space", 1 << 10, "", False
    for number, line in lines(output):
        line = line.rstrip()
        if HEAD.match(line):
            seen, device = True, ""
            counts = "inodes" if INODES.search(line) else "space"
            unit = BLOCKS.search(line)
            block = int(unit[1]) * UNITS[unit[2].upper()] if unit else 1 << 10
            continue
        # A long name stands on a line of its own before its row.
        match = ROW.match(line.lstrip()) or (ROW.match(f"{device} {line.strip()}") if device else None)
        device = line.strip() if not match and line.strip() and " " not in line.strip() and len(line) < 250 else ""
        if (
            match
            and len(found) < MOST
            and (one := file_system(match, counts, block, Origin(output.origin_name(), number, line.strip()), place))
        ):
            found.append(one)
        seen = seen or match is not None
    if not seen and output.text.strip():
        raise ParseError(f"{output.origin_name()}: not a table of `df`: {output.text.strip()[:80]!r}")
    return {"file_systems": [*found]}


def file_system(match: re.Match[str], counts: str, block: int, origin: Origin, place: dict[str, Any]) -> FileSystem | None:
    """One row, None for a file system that isn't written to."""
    device, kind, *amounts, use, mount = match.groups()
    if not match[0][: -len(mount)].rstrip().endswith(("%", "-")) and " " in device:  # a name with spaces, and no per cent: bytes of a dump
        return None
    if NEVER.match(device) or NEVER.match(kind or "") or f"{mount}/".startswith(BEYOND):
        return None
    unit = 1 if counts == "inodes" else block
    size, _, free = (amount(amounts[at], amounts[at + 1], unit) for at in (0, 2, 4))
    percent = None if use == "-" else float(use)
    return FileSystem(
        device=device[:250],
        mount=mount.strip(),
        kind=kind or "",
        counts=counts,
        size=size,
        free=free,
        use=percent,
        remote=kind in REMOTE or SERVED.match(device) is not None or DIGITS.sub("", device).removeprefix("/dev/").split("_")[0] in REMOTE,
        full=bool(size) and (free == 0 or (percent is not None and percent >= 100)),
        origin=origin,
        **place,
    )


def amount(text: str, unit: str, block: int) -> float:
    """A number with its unit; one without is in blocks.

    >>> amount("1,5", "G", 1024), amount("12", "", 1024)
    (1610612736.0, 12288.0)
    """
    whole = re.sub(r"[.,](?=.*[.,])", "", text).replace(",", ".").rstrip(".")
    return float(whole) * (UNITS[unit] if unit else block)
