"""Of which GPUs a clause tells: "GPUs 0-3", "rank 5", "the other 7", "8x H100", "gpu-07:", "all GPUs"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.notes import vocabulary
from gpudoctor.patterns import regex

LIST = r"(\d{1,5}(?: ?(?:-|–|~|to|,|/|&|and) ?\d{1,5}(?![\d.,]*\s?%))*)"
NO_AMOUNT = r"(?![\d.,]*\s?(?:%|W\b|MiB|GiB|GB|MHz|°|[x×]|h\b|s\b|min))(?!\d)"
GPU_N = regex(rf"(?:\bGPUs?|\bcuda:|\bDevice|\bcards?|^\s?\[)[ #_:-]{{0,2}}{LIST}{NO_AMOUNT}", 2)
RANK_N = regex(rf"\b(rank|task|worker|pod|host|node)s?[ #_:-]{{0,2}}{LIST}{NO_AMOUNT}", 2)
OTHER_N = regex(rf"(?:{vocabulary.OTHERS.pattern})(?: (\d{{1,3}})(?!\d| ?%| ?W\b))?", 2)
COUNTS = {"two": 2, "both": 2, "four": 4, "eight": 8}
COUNT = regex(
    rf"(?<![\w.,-])(\d{{1,3}}|{'|'.join(COUNTS)}) ?(?:[x×]|\W)?\s?(?:[^\s\d,;:()%]{{1,16}}\s){{0,2}}?"
    r"(?:GPUs?\b|cards?\b|[ABH]\d{3}s?\b|RTX\b|rows\b)",
    2,
)
TIMES = regex(r"(?<![\w.,-])(\d{1,2}) ?[x×] ?(?=\d{1,3} ?%)")  # gpu-07: 8x 100 % ~95 W
HOST = regex(r"\W{0,4}((?=[a-z0-9.-]*\d)[a-z][a-z0-9]{0,30}(?:[-.][a-z0-9]{1,30}){0,6})(?: ?[:,|]|\s)(?!\d{1,2} (?:is|was)\b)")
NO_HOST = regex(
    r"(?:(?:gpu|rank|task|worker|cuda|card|device)[-_]?(?:[1-9]?\d)?|(?:step|epoch|[abhlv]\d{2,3}|gb?\d{3}|rtx|sm|pid|p)\d*)\Z|.*\d(?:w|mhz|mib|gb|x)\Z",
    2,
)
MOST = 1024


class Gpus(NamedTuple):
    """GPUs by their names and indexes; `rest` stands for those that the text doesn't name otherwise, `many` for more than one at least,
    `counted` for all that there are, of which none is named.
    """

    names: tuple[tuple[str, int | None], ...] = ()
    node: str = ""
    rest: int = 0
    many: bool = False
    counted: bool = False
    job: bool = False  # they are named by the ranks of a job


NONE = Gpus()


class Part(NamedTuple):
    """A part of a clause, and whom it names."""

    gpus: Gpus
    text: str


def expand(text: str) -> list[int]:
    """The numbers of a list.

    >>> expand("0-3"), expand("0, 2 and 5"), expand("7-3")
    ([0, 1, 2, 3], [0, 2, 5], [])
    """
    found: list[int] = []
    for part in regex(r" ?(?:,|/|&|and) ?").split(text):
        low, *high = (int(one) for one in regex(r"\d+").findall(part))
        found += range(low, min(high[0], low + MOST) + 1) if high else [low]
    return found[:MOST]


def parts(clause: str) -> Iterator[Part]:
    """The clause cut where it names other GPUs; what stands before the first name belongs to it, as the machine's name does."""
    host = HOST.match(clause)
    node = host[1] if host and not NO_HOST.match(host[1]) else ""
    named = host.end(1) if host and node else 0
    found = sorted(names(" " * named + clause[named:]), key=lambda one: one[0])
    if not found:
        yield Part(Gpus(node=node, many=names_several(clause)), clause)
        return
    for at, (start, gpus) in enumerate(found):
        end = found[at + 1][0] if at + 1 < len(found) else len(clause)
        yield Part(gpus._replace(node=node), clause[start if at else 0 : end])


def names_several(clause: str) -> bool:
    """Whether a clause names more than one GPU."""
    return vocabulary.SEVERAL.search(clause) is not None


def names(clause: str) -> list[tuple[int, Gpus]]:
    """(where, whom) for each name in a clause; a number of GPUs counts where none of them is named."""
    found = [(match.start(), Gpus(tuple((f"GPU {index}", index) for index in expand(match[1])))) for match in GPU_N.finditer(clause)]
    for match in RANK_N.finditer(clause):
        word = match[1].lower()
        found.append(
            (match.start(), Gpus(tuple((f"{word} {index}", index) for index in expand(match[2])), job=word not in ("host", "node")))
        )
    found += [(match.start(), Gpus(rest=int(match[1] or 2))) for match in OTHER_N.finditer(clause)]
    return found or [(match.start(), counted_gpus(match[1])) for match in [COUNT.search(clause) or TIMES.search(clause)] if match]


def counted_gpus(text: str) -> Gpus:
    """So many GPUs, numbered from 0."""
    count = COUNTS.get(text.lower()) or (int(text) if text.isdecimal() else 0)
    return Gpus(tuple((f"GPU {index}", index) for index in range(count)), counted=True) if 1 <= count <= MOST else NONE
