"""What may still be written under a quota, as its tools print it: a record for each limit, like a row of `df`.

     Filesystem    used   quota   limit   grace   files   quota   limit   grace          (lfs quota, quota -s)
         /work/   81.4G      0k      0k       - 2000000* 1800000 2000000       -
gpfs1      FILESET   50T     50T     50T     0   none | 9120112   0   0   0   none       (mmlsquota)
           mia| 20112||  10.00 TiB|  10.00 TiB||  3998121|  5000000                      (beegfs-ctl --getquota)
Sources: lfs-quota(1), quota(1), repquota(8), mmlsquota(1), https://doc.beegfs.io/latest/advanced_topics/quota.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import FileSystem
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

AMOUNT = regex(r"(\d{1,18}(?:\.\d{1,6})?) ?([KMGTPkmgtp]?)(?:i?B)?(\*?)\Z")
# Filesystem kbytes quota limit grace files … | Filesystem blocks quota limit grace …  |  Filesystem type blocks quota limit in_doubt grace
# user/group || size || chunk files  |  User used soft hard grace used soft hard grace
HEAD = regex(
    r"^\s*(?:Filesystem\s+(?:used|(?:kb|b)ytes|blocks|space|type\s+blocks)\s+quota\s+limit\b|user/group\s+\|\|\s+size"
    r"|(?:User|Group|Project)\s+used\s+soft\s+hard\b)"
)
KIND, FLAGS = regex(r"(?:USR|GRP|FILESET)\Z"), regex(r"[+-]{2}\Z")
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
BLOCK = 1 << 10  # a bare number of space
LIMITS, MOST = ("space", "inodes"), 2_000


def quotas(output: Output, about: Subject) -> Facts:
    """One record a limit. One is full where its use has come to the hard limit, or the time of grace is over."""
    found: list[FileSystem] = []
    headed, before = False, ""
    for number, line in lines(output):
        if HEAD.match(line):
            headed, before = True, ""
        elif headed and line.strip() and len(found) < MOST:
            words = cells(line)
            if (len(words) == 1 and words[0].startswith("/")) or (words and words[0].endswith(":")):
                before = words[0]  # a long name stands on a line of its own
                continue
            named = words if not before else [before, *words]
            found += limits(named, about, Origin(output.origin_name(), number, line.strip()))
            before = ""
    if not headed:
        raise ParseError(f"{output.origin_name()}: no table of quotas: {output.text.strip()[:80]!r}")
    return {"file_systems": [*found]}


def score(text: Sequence[str]) -> int:
    """The header of such a table."""
    return 60 if any(HEAD.match(line) for line in text) else 0


def cells(line: str) -> list[str]:
    """The words of a row; BeeGFS rules its columns with bars, and has a unit behind a blank."""
    if "||" in line:
        return [cell.strip() for cell in line.split("|") if cell.strip()]
    return line.replace("|", " ").split()


def limits(words: list[str], about: Subject, origin: Origin) -> Iterator[FileSystem]:
    """The limits of a row: of space, then of files; [] for any other line."""
    barred, kind = "||" in origin.text, len(words) > 1 and KIND.match(words[1]) is not None
    if len(words) < 4 or amount(words[0], 1) is not None:
        return
    rest = words[2 if barred or kind or FLAGS.match(words[1]) else 1 :]
    place: dict[str, Any] = {"node": about.node, "namespace": about.namespace, "pod": about.pod}
    for counts in LIMITS:
        numbers = [amount(word, BLOCK if counts == "space" else 1) for word in rest[: 2 if barred else 3]]
        if len(numbers) < 2 or numbers[0] is None:
            return
        used, hard = numbers[0], numbers[-1]
        rest = rest[len(numbers) + kind :]  # Storage Scale has a column for what is in doubt
        grace = "" if barred or not rest or amount(rest[0], 1) is not None else rest.pop(0)
        if hard:
            yield FileSystem(
                device="quota",
                mount=words[0][:250],
                counts=counts,
                size=hard,
                free=max(0.0, hard - used),
                remote=True,
                use=100.0 * used / hard,
                full=used >= hard or grace == "expired",
                origin=origin,
                **place,
            )


def amount(text: str, unit: int) -> float | None:
    """A number with its unit, or in blocks; None for a word.

    >>> amount("2000000*", 1), amount("50T", 1024), amount("none", 1)
    (2000000.0, 54975581388800.0, None)
    """
    match = AMOUNT.match(text)
    return float(match[1]) * (UNITS[match[2].lower()] if match[2] else unit) if match else None
