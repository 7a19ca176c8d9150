"""What the texts of Slurm have in common: `Key=Value` lines, host lists, generic resources, tables whose cells hold blanks."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from gpudoctor.patterns import regex
from gpudoctor.tools.parser import ParseError

NODES = 4096  # names of one host list; a line names no more
# NodeName=gpu-01 Arch=x86_64 CoresPerSocket=1  |     CPUAlloc=0 CPUTot=2  |  MinMemoryNode=0 CPUs/Task=1 AllocNode:Sid=login-1:6676
KEY = regex(r"(?:^|(?<=\s))([A-Z][A-Za-z0-9/:_-]{1,30})=")
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,252}\Z", re.ASCII)
# gpu-[01-03,07]-rack  |  c2
LISTED = regex(r"([A-Za-z0-9_.-]{0,120})(?:\[([0-9,-]{1,400})\]([A-Za-z0-9_.-]{0,120}))?", re.ASCII)
# gpu:h100:8(S:0-1)  |  gpu:8  |  gpu:a100:4(IDX:0-3)  |  gres:gpu:2  |  gres/gpu=8  |  gres/gpu:h100=8
GPU = regex(r"(?:^|[,\s])(?:gres[/:])?gpu(?::([A-Za-z][A-Za-z0-9_.-]{0,60}))?(?:[:=](\d{1,6}))?(?=[(,\s]|$)", re.ASCII)


def pairs(line: str) -> Iterator[tuple[str, str]]:
    """Key and value of each `Key=Value` of a line; a value goes on to the next key, since an OS or a reason has blanks.

    >>> list(pairs("   OS=Linux 6.8.0 #1 SMP  RealMemory=500"))
    [('OS', 'Linux 6.8.0 #1 SMP'), ('RealMemory', '500')]
    """
    found = list(KEY.finditer(line))
    for match, after in itertools.zip_longest(found, found[1:]):
        value = line[match.end() : after.start() if after else len(line)].strip()
        yield match.group(1), "" if value in ("(null)", "N/A", "n/a") else value


Part = tuple[int, str, dict[str, str]]  # a line's number, the line, its keys and values


def described_records(lines: Iterable[tuple[int, str]], key: str, cut: Collection[str], other: str) -> Iterator[list[Part]]:
    """The lines of each record of `scontrol show`, which begins with a `key`; the first may have been cut before it, and begins with one
    of the keys of `cut`. Lines of the `other` kind of record are left out.

    >>> lines = enumerate(["State=idle", "NodeName=a", " State=down"])
    >>> [[number for number, *_ in record] for record in described_records(lines, "NodeName", ["State"], "JobId")]
    [[0], [1, 2]]
    """
    record: list[Part] = []
    for number, line in lines:
        if "=" not in line or f"{other}=" in line:
            continue
        values = dict(pairs(line))
        if key in values and record:
            yield record
            record = []
        if record or key in values or values.keys() & {*cut}:
            record.append((number, line, values))
    if record:
        yield record


def expand(text: str) -> list[str]:
    """The names of a host list, each once; what is no name is left out.

    >>> expand("gpu-[01-03,07],c2"), expand("(null)"), expand("a[1-999999999]")
    (['gpu-01', 'gpu-02', 'gpu-03', 'gpu-07', 'c2'], [], [])
    """
    made: dict[str, None] = {}
    for piece in re.split(r",(?![^\[\]]{0,400}\])", text[:20_000]):
        match = LISTED.fullmatch(piece.strip())
        if not match or len(made) >= NODES:
            continue
        before, inside, after = match.groups()
        for number in [""] if inside is None else numbers(inside):
            name = f"{before}{number}{after or ''}"
            if NAME.match(name):
                made[name] = None
    return list(made)


def numbers(inside: str) -> Iterator[str]:
    """The numbers in the brackets of a host list, padded as they stand there: 01-03,7."""
    for part in inside.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            continue
        end = int(last[:9]) if dash else int(first[:9])
        if 0 <= end - int(first[:9]) < NODES:
            yield from (f"{number:0{len(first)}}" for number in range(int(first[:9]), end + 1))


def gpus(text: str) -> int | None:
    """The GPUs that a list of generic or trackable resources names, without those by type where the sum stands too; None for none.

    >>> gpus("gpu:h100:8(S:0-1)"), gpus("cpu=96,mem=1T,node=1,gres/gpu=4,gres/gpu:h100=4"), gpus("gpu:a100:2,gpu:v100:2"), gpus("shard:4")
    (8, 4, 4, None)
    """
    found = [(match.group(1), int(match.group(2) or 1)) for match in GPU.finditer(text[:1000])]
    untyped = [count for kind, count in found if not kind]
    return (untyped[0] if untyped else sum(count for _, count in found)) if found else None


def whole_number(text: Any) -> int | None:
    """A whole number, None for anything else."""
    text = str(text)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def json_objects(text: str, source: str, kind: str) -> list[dict[str, Any]]:
    """The objects under `nodes` or `jobs` of an answer of `--json`, of releases 21.08 and later. Raises `ParseError` for another text."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{source}: {error}"[:300]) from None
    found = answer.get(kind) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise ParseError(f"{source}: no {kind} of Slurm: {text.strip()[:80]!r}")
    return [one for one in found if isinstance(one, dict)]


Row = dict[str, str]


def cells(line: str, titles: list[tuple[int, str]], free: list[str], fits: Callable[[Row], bool]) -> Row | None:
    """The cells of a row by title: the first way to cut it that `fits`; None for a line that is no row.

    An aligned row has a blank where each column begins (sinfo aligns to the left) or ends (squeue to the right). In others one column may
    hold blanks: one of `free`. Where cells are empty and one is too long, the columns are a guess.
    """
    names = [name for _, name in titles]
    words = line.split()
    extra = len(words) - len(names)
    starts = [start for start, _ in titles[1:]]
    ends = [start + len(name) for start, name in titles[:-1]]
    ways = []
    for cuts, before in ((starts, 1), (ends, 0)):
        at_blanks = all(line[cut - before : cut - before + 1] in ("", " ") for cut in cuts)
        values = [line[begin:end].strip() for begin, end in zip([0, *cuts], [*cuts, len(line)], strict=True)]
        ways.append((0 if at_blanks and (before or "" not in values[:-1]) else 2, values))
    for name in [name for name in free if name in names] if extra > 0 else names[:1] if extra == 0 else []:
        at = names.index(name)
        ways.append((1, [*words[:at], " ".join(words[at : at + extra + 1]), *words[at + extra + 1 :]]))
    for _, values in sorted(ways, key=lambda way: way[0]):
        if fits(row := dict(zip(names, values, strict=True))):
            return row
    return None


def titles_of(line: str, known: frozenset[str]) -> list[tuple[int, str]]:
    """(offset, title) of the columns of a header whose first and most other titles are known ones; [] for other lines."""
    found = [(match.start(), match.group()) for match in re.finditer(r"\S+", line[:2000])]
    fit = sum(title in known for _, title in found)
    return found if len(found) > 1 and fit >= 2 and fit * 3 >= len(found) * 2 and found[0][1] in known else []
