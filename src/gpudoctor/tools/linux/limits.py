"""Limits that RDMA and NCCL need: /proc/PID/limits, `ulimit -a` and `ulimit -l`, prlimit, systemd's units, and `df` of /dev/shm.

Max locked memory         8388608              8388608              bytes
max locked memory           (kbytes, -l) 8192
shm                  65536     1024     64512   2% /dev/shm
MEMLOCK    max locked-in-memory address space   65536   65536 bytes
LimitMEMLOCK=8388608
Sources: proc(5); prlimit(1); systemd.exec(5); bash(1) and dash(1), ulimit; df(1).
"""

from __future__ import annotations

import math
import re
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Limit
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

KIB = 1024
# Max locked memory         8388608              unlimited              bytes  |  Max open files            1024   1048576   files
PROC = regex(r"Max (locked memory|open files) +(\d{1,20}|unlimited) +(\d{1,20}|unlimited)")
# max locked memory           (kbytes, -l) 8192  |  max locked memory       (kbytes, -l) unlimited  |  locked memory (kbytes)  64
ULIMIT = regex(
    r"(?:max )?(locked memory|open files) *\((?:kbytes, )?-[ln]\) *(\d{1,18}|unlimited)|-l: locked[- ]in[- ]memory size \(kbytes\) +(\S+)"
)
# MEMLOCK    max locked-in-memory address space    unlimited unlimited bytes
PRLIMIT = regex(r"\s*(MEMLOCK|NOFILE) +max .{4,40}? +(\d{1,20}|unlimited) +(\d{1,20}|unlimited)(?: \w+)?\s*$")
# LimitMEMLOCK=infinity  |  LimitMEMLOCKSoft=65536
UNIT = regex(r"\s*Limit(MEMLOCK|NOFILE)(?:Soft)?=(\d{1,20}|infinity)\s*$")
# tmpfs           132G     0  132G   0% /dev/shm  |  shm  65536  1024  64512  2% /dev/shm
DF = regex(r"\S{1,200}\s+([\d.,]{1,18})([KMGTP]?)i?B?\s+([\d.,]{1,18})([KMGTP]?)i?B?\s+\S+\s+\d{1,3}%\s+/dev/shm\s*$")
# $ ulimit -l  |  [user@host ~]$ ulimit -Hl, and in the next line the value in KiB
ASKED = regex(r"\bulimit -[SH]{0,1}l\b[^|]{0,80}$")
WRAPPED = regex(r"\bulimit -[SH]?l\b")
UNITS = {"": KIB, "K": KIB, "M": KIB**2, "G": KIB**3, "T": KIB**4, "P": KIB**5}
NAMES = {"locked memory": "memlock", "open files": "nofile", "MEMLOCK": "memlock", "NOFILE": "nofile"}


def limits(output: Output, about: Subject) -> Facts:
    """A record for each limit; values of memory in bytes, infinity for unlimited."""
    found: list[Limit] = []
    asked = re.fullmatch(r"\s*(?:\d{1,18}|unlimited)\s*", output.text[:64]) is not None  # the whole answer to `ulimit -l`
    asked = asked or WRAPPED.search(" ".join(output.command.argv[-8:])) is not None  # srun …, docker run … bash -c "ulimit -l; ib_write_bw"
    for at, raw in lines(output):
        line = raw[:512]
        origin = Origin(output.origin_name(), at, line.strip())
        names: dict[str, Any] = {"node": about.node, "namespace": about.namespace, "pod": about.pod, "origin": origin}
        if match := PROC.search(line) or PRLIMIT.match(line):
            found.append(Limit(limit=NAMES[match.group(1)], soft=amount(match.group(2), 1), hard=amount(match.group(3), 1), **names))
        elif match := ULIMIT.search(line):
            what = NAMES[match.group(1) or "locked memory"]
            found.append(Limit(limit=what, soft=amount(match.group(2) or match.group(3), KIB if what == "memlock" else 1), **names))
        elif match := UNIT.match(line):
            found.append(Limit(limit=NAMES[match.group(1)], soft=amount(match.group(2), 1), **names))
        elif match := DF.match(line):
            size, used = (float(match.group(at).replace(",", ".")) * UNITS[match.group(at + 1)] for at in (1, 3))
            found.append(Limit(limit="shm", soft=size, used=used, **names))
        elif asked and re.fullmatch(r"\s*(?:\d{1,18}|unlimited)\s*", line):
            found.append(Limit(limit="memlock", soft=amount(line.strip(), KIB), **names))
            continue
        asked = bool(ASKED.search(line)) or (asked and not line.strip())
    if not found and output.text.strip() and not re.search(r"ulimit|limit|/dev/shm", output.text[:65536], re.IGNORECASE):
        raise ParseError(f"{output.origin_name()}: no limits: {output.text.strip()[:80]!r}")
    return {"limits": [*found]}


def amount(text: str, unit: int) -> float | None:
    """A limit as a number.

    >>> amount("8192", 1024), amount("unlimited", 1024), amount("soft", 1)
    (8388608.0, inf, None)
    """
    if text in ("unlimited", "infinity"):
        return math.inf
    return float(int(text) * unit) if text.isascii() and text.isdecimal() else None
