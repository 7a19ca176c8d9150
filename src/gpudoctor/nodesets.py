"""Node sets: many names of nodes in ClusterShell's notation, gpu-[01-15,17]."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gpudoctor.patterns import regex

SHOWN = 160  # characters of a folded node set: two lines of a terminal
PLAIN = regex(r"[A-Za-z0-9._-]{1,253}")  # what Kubernetes allows in a node's name; other names are never folded
NUMBERED = regex(r"([^.]*?)([0-9]{1,9})([^0-9.]*(?:\..*)?)")  # ip-10-0-1-17.ec2.internal: the last number of the host part counts


def fold(names: Iterable[str]) -> str:
    """Node names in ClusterShell's notation; a set that folds badly is cut after `SHOWN` characters with "+N more". Linear.

    >>> fold(["gpu-01", "gpu-02", "gpu-04", "cpu-1"])
    'cpu-1,gpu-[01-02,04]'
    """
    families: defaultdict[tuple[str, str, int], set[int]] = defaultdict(set)
    pieces: dict[str, int] = {}  # piece of notation → how many nodes it stands for
    for name in set(names):
        numbered = NUMBERED.fullmatch(name) if PLAIN.fullmatch(name) else None
        if numbered:
            prefix, digits, suffix = numbered.groups()
            padded = digits.startswith("0") and len(digits) > 1
            families[prefix, suffix, len(digits) if padded else 0].add(int(digits))
        else:
            pieces[name] = 1
    families = joined_by_width(families)
    for (prefix, suffix, width), numbers in families.items():
        inside = ",".join(f"{a:0{width}}" if a == b else f"{a:0{width}}-{b:0{width}}" for a, b in runs(sorted(numbers)))
        pieces[f"{prefix}{inside if len(numbers) == 1 else f'[{inside}]'}{suffix}"] = len(numbers)
    return cut(dict(sorted(pieces.items())))


def joined_by_width(families: dict[tuple[str, str, int], set[int]]) -> defaultdict[tuple[str, str, int], set[int]]:
    """Puts 10 beside 01..09: a number without a leading zero belongs to the padded family of its own length, where there is one."""
    joined: defaultdict[tuple[str, str, int], set[int]] = defaultdict(set)
    for (prefix, suffix, width), numbers in families.items():
        for number in numbers:
            own = len(str(number))
            joined[prefix, suffix, own if not width and (prefix, suffix, own) in families else width].add(number)
    return joined


def runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """The stretches of consecutive numbers: [1, 2, 3, 7] → (1, 3), (7, 7)."""
    start = previous = numbers[0]
    for number in numbers[1:]:
        if number != previous + 1:
            yield start, previous
            start = number
        previous = number
    yield start, previous


def cut(pieces: dict[str, int]) -> str:
    """The pieces that fit into `SHOWN` characters, and how many nodes the rest stands for. A piece too long by itself is shortened."""
    shown: list[str] = []
    room, left = SHOWN, sum(pieces.values())
    for piece, count in pieces.items():
        if len(piece) > room:
            if shown:
                break
            return f"{piece[: SHOWN - 1]}… ({left} nodes)"
        shown.append(piece)
        room, left = room - len(piece) - 1, left - count
    return ",".join(shown) + (f" +{left} more" if left else "")
