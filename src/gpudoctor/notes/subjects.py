"""Of which GPUs a clause tells: "GPUs 0-3", "rank 5", "the other 7", "8x H100", "gpu-07:", "all GPUs"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.notes import vocabulary
from gpudoctor.patterns import regex

LIST = r"(\d{1,5}(?: ?(?:-|–|~|〜|to|bis|至|到|до|,|/|&|and|und|et|y|i|и|和|、) ?\d{1,5}(?![\d.,]*\s?%))*)"
NO_AMOUNT = r"(?![\d.,]*\s?(?:%|W\b|MiB|GiB|GB|MHz|°|[x×]|[개张块枚台장]|h\b|s\b|min))(?!\d)"
GPU_N = regex(
    r"(?:\bGPUs?|\bcuda:|显卡|\bDevice|\bcards?|\bKarten?|\bкарт[аыу]?|\btarjetas?|\bcartes?|\bkart[ay]|^\s?\[)"
    rf"[ #_:-]{{0,2}}{LIST}{NO_AMOUNT}",
    2,
)
RANK_N = regex(rf"(?:\b(rank|task|worker|rang|pod|host|node)s?|(ранг|进程|ランク|랭크))[ #_:-]{{0,2}}{LIST}{NO_AMOUNT}", 2)
OTHER_N = regex(rf"(?:{vocabulary.OTHERS.pattern})(?: (\d{{1,3}})(?!\d| ?%| ?W\b))?", 2)
COUNTS = {
    **dict.fromkeys(("two", "zwei", "deux", "dos", "due", "dwie", "две", "both", "beide"), 2),
    **dict.fromkeys(("four", "vier", "quatre", "cuatro", "quattro", "cztery", "четыре", "四"), 4),
    **dict.fromkeys(("eight", "acht", "huit", "ocho", "otto", "osiem", "восемь", "oito", "八"), 8),
}
COUNT = regex(
    rf"(?<![\w.,-])(\d{{1,3}}|{'|'.join(COUNTS)}) ?(?:[x×]|(?:张|块|枚|개의|台|枚の|个)|\W)?\s?(?:[^\s\d,;:()%]{{1,16}}\s){{0,2}}?"
    r"(?:GPUs?\b|cards?\b|卡|显卡|Karten\b|карт|kart\b|cartes\b|tarjetas\b|schede\b|[ABH]\d{3}s?\b|RTX\b|rows\b|wierszy\b)",
    2,
)
COUNTED = regex(r"GPU ?(\d{1,3}) ?[개张块枚台장]", 2)
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
    for part in regex(r" ?(?:,|/|&|、|and|und|et|\by\b|\bi\b|и|和) ?").split(text):
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
        word = (match[1] or match[2]).lower()
        found.append(
            (match.start(), Gpus(tuple((f"{word} {index}", index) for index in expand(match[3])), job=word not in ("host", "node")))
        )
    found += [(match.start(), Gpus(rest=int(match[1] or 2))) for match in OTHER_N.finditer(clause)]
    return found or [
        (match.start(), counted_gpus(match[1]))
        for match in [COUNT.search(clause) or COUNTED.search(clause) or TIMES.search(clause)]
        if match
    ]


def counted_gpus(text: str) -> Gpus:
    """So many GPUs, numbered from 0."""
    count = COUNTS.get(text.lower()) or (int(text) if text.isdecimal() else 0)
    return Gpus(tuple((f"GPU {index}", index) for index in range(count)), counted=True) if 1 <= count <= MOST else NONE
