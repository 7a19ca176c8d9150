"""The amounts of a clause about GPUs, each with what it is of: by its unit first, then by the words on its own side of a comma.

100% util but only ~100W (cap 600W)      262.88 / 244.55 / 240.09 W      SM_ACTIVE = 10-15%      5771 / 6143 MiB      limit 30 W not 60 W
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.knowledge.clock_reasons import from_word
from gpudoctor.notes import vocabulary
from gpudoctor.patterns import regex

N = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d{1,3})?|\d{1,6}(?:[.,]\d{1,3})?)"
UNITS = {
    "percent": r"%",
    "watts": r"(?:W|(?<=\d\d)w|watts?)(?![A-Za-z0-9])",
    "celsius": r"(?:° ?C|C|['º]C|degrees C)(?![A-Za-z0-9])",
    "megahertz": r"MHz",
}


def amount_list(unit: str) -> str:
    """Amounts of one unit with `/` or a dash between them; the unit after each or after the last."""
    return rf"{N}(?: ?{unit})?(?: ?(?:-|–|—|~|…|\.\.\.?|/) ?{N}(?: ?{unit})?){{0,31}}(?<! ) ?{unit}"


# 5771MiB / 6143MiB  |  79.2 of 80 GB  |  70.2Gi/80.0Gi  |  0 MiB
MEMORY = (
    rf"(?P<used>{N}) ?(?P<u1>[MG]i?B?)?(?:\s{{0,4}}/\s{{0,4}}| of | out of )(?P<total>{N}) ?(?P<u2>[MG]i?B?)\b"
    rf"|(?P<alone>{N}) ?MiB\b"
)
TOKEN = regex(
    r"(?<![A-Za-z0-9_.,/])(?<![A-Za-z]-)(?:"
    + rf"(?P<memory>{MEMORY})|"
    + "|".join(rf"(?P<{kind}>{amount_list(unit)})" for kind, unit in UNITS.items())
    + r"|(?P<pstate>P(?:1[0-5]|\d))(?![\w%.-])|(?P<share>(?:0?\.\d{1,4}|[01]\.\d{1,4}))(?![\w.%/]))"
)
NUMBER = regex(N)
RANGE = regex(rf"({N})[^\d/]{{0,6}}(?:-|–|—|~|…|\.\.\.?) ?({N})")
CUT = regex(r"[,;|·()\[\]]|\s[-–—]{1,2}\s|\band\b|&")
NEXT = regex(r"^[^,;|(]*\w ?[:=][ ~]{0,2}\Z")  # names the amount behind it: "91W power_limit="
CLOSED = regex(r"\([^()]{0,60}\)")
POSSIBLE = {"watts": (3.0, 2000.0), "percent": (0.0, 100.0), "celsius": (15.0, 115.0), "megahertz": (100.0, 3200.0)}
SWING = 20.0  # points between the ends of a range, above which it is no reading
NEAR = 12  # characters between two amounts of one reading that has no words
SURE = ((0.0, 2.0), (90.0, 100.0))  # per cent that count without a word for use: all, or nothing
ROUND = 5  # watts of which limits are a multiple


class Token(NamedTuple):
    """An amount, or a list of them, with what stands on its left and right up to its neighbours; `near` up to a comma."""

    kind: str
    values: tuple[float, ...]
    left: str
    right: str
    near_left: str
    near_right: str
    of: float | None = None


class Stated(NamedTuple):
    """What one clause states: one value for each field, or one for each of several GPUs."""

    fields: dict[str, tuple[float, ...]]
    reasons: tuple[str, ...]
    nobody: bool  # no process, it says


def number(text: str) -> float:
    """A number with either sign before its decimals.

    >>> number("81,559"), number("209,5"), number("1.5")
    (81559.0, 209.5, 1.5)
    """
    whole, comma, part = text.rpartition(",")
    return float(whole.replace(",", "") + (part if len(part.split(".")[0]) == 3 else f".{part}")) if comma else float(text)


def values_of(kind: str, text: str) -> tuple[float, ...]:
    """The amounts of a list; a range is its middle, or nothing where its ends are far apart."""
    found = []
    for part in text.split("/"):
        if match := RANGE.search(part):
            low, high = number(match[1]), number(match[2])
            if high < low or (kind == "percent" and high - low > SWING):
                return ()
            found.append((low + high) / 2)
        elif match := NUMBER.search(part):
            found.append(number(match[0]))
    least, most = POSSIBLE.get(kind, (0.0, 1e9))
    return tuple(found) if all(least <= one <= most for one in found) else ()


def tokens(clause: str) -> list[Token]:
    """The amounts of a clause in their order."""
    matches = [*TOKEN.finditer(clause)]
    made = []
    for at, match in enumerate(matches):
        left = clause[matches[at - 1].end() if at else 0 : match.start()]
        right = clause[match.end() : matches[at + 1].start() if at + 1 < len(matches) else len(clause)]
        near = CUT.split(CLOSED.sub(" ", left))[-1], "" if NEXT.search(right) else CUT.split(CLOSED.sub(" ", right))[0]
        kind = str(match.lastgroup if match.lastgroup in (*UNITS, "pstate", "share") else "memory")
        if kind == "memory":
            values, of = memory_of(match.group("used"), match.group("u1"), match.group("total"), match.group("u2"), match.group("alone"))
        else:
            text = match[0]
            values, of = (float(text[1:]),) if kind == "pstate" else values_of(kind, text), None
        if values:
            made.append(Token(kind, values, left, right, *near, of))
    return made


def memory_of(used: str, unit: str, total: str, whole: str, alone: str) -> tuple[tuple[float, ...], float | None]:
    """MiB in use, and of how many."""
    if alone:
        return (number(alone),), None
    factor = {"M": 1.0, "G": 1024.0}
    return (number(used) * factor[(unit or whole)[0]],), number(total) * factor[whole[0]]


def stated_amounts(clause: str, *, bare: bool = False) -> Stated:
    """What a clause says of GPUs; with `bare` a lone share counts as one of use, since others of its row do."""
    fields: dict[str, tuple[float, ...]] = {}
    found = tokens(clause)
    for at, token in enumerate(found):
        for field, values in OF_KIND[token.kind](token, found, at, fields):
            fields.setdefault(field, values)
    if bare and "utilisation" not in fields and (lone := [one.values for one in found if one.kind == "percent" and is_bare(one)]):
        fields["utilisation"] = lone[0]
    reasons = tuple(
        dict.fromkeys(
            name
            for match in vocabulary.REASON.finditer(clause)
            if (name := from_word(match[1])) and not vocabulary.NOT_ACTIVE.match(clause[match.end() :])
        )
    )
    return Stated(fields, reasons, vocabulary.NO_PROGRAM.search(clause) is not None)


Fields = Iterator[tuple[str, tuple[float, ...]]]


def percent(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """A share: of the time with a kernel, of SMs, tensor cores or memory; of what a card may draw."""
    for side in (token.near_left, token.near_right):
        if counter := counter_name(side):
            yield counter, tuple(one / 100 for one in token.values)
            return
        if vocabulary.OTHER.search(side):
            return
        if vocabulary.USE.search(side):
            yield "utilisation", token.values
            return
        if vocabulary.OF_POWER.search(side):
            yield "power_share", tuple(one / 100 for one in token.values)
            return
    if all(any(low <= one <= high for low, high in SURE) for one in token.values) and stands_beside(found, at):
        yield "utilisation", token.values


def stands_beside(found: Sequence[Token], at: int) -> bool:
    """Whether an amount without a word stands close beside one of a GPU's other amounts."""
    token = found[at]
    kinds = ("watts", "memory", "megahertz")
    after = at + 1 < len(found) and found[at + 1].kind in kinds and len(token.right.strip()) <= NEAR
    before = at > 0 and found[at - 1].kind in kinds and len(token.left.strip()) <= NEAR and not token.near_right.strip()[:1].isalpha()
    return after or before


def is_bare(token: Token) -> bool:
    """Whether an amount stands without a word: `rank 3: 0 %,`."""
    return not token.near_right.strip()[:1].isalpha() and not vocabulary.OTHER.search(token.near_left)


def counter_name(side: str) -> str:
    """The profiling counter that words name."""
    if vocabulary.TENSOR.search(side):
        return "tensor_active"
    if vocabulary.DRAM.search(side):
        return "dram_active"
    return "sm_active" if vocabulary.ACTIVE.search(side) else ""


def share(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """0.12, right behind the name of a counter."""
    if (counter := counter_name(token.near_left[-30:])) and token.values[0] <= 1.0:
        yield counter, token.values


def watts(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """A draw, the limit that holds, or the one by default."""
    left, right, values = token.near_left, token.near_right, token.values
    if vocabulary.OTHER_POWER.search(left) or vocabulary.OTHER_POWER.search(right) or vocabulary.CHANGE.search(left[-4:]):
        return
    previous = found[at - 1] if at and found[at - 1].kind == "watts" else None
    if len(values) == 2 and pair(*values):
        yield "power", values[:1]
        yield "power_limit", values[1:]
    elif vocabulary.DEFAULT.search(left) or (vocabulary.DEFAULT.search(right) and not vocabulary.LIMIT.search(left)):
        if "power_limit" in known or vocabulary.LIMIT.search(left + right):
            yield "power_limit_default", values[:1]
    elif vocabulary.INSTEAD.search(token.left):
        if previous and "power_limit" in known and "power" not in known:
            yield "power_limit_default", values[:1]
    elif (
        (previous and vocabulary.OUT_OF.match(token.left) and pair(previous.values[-1], values[0]))
        or vocabulary.LIMIT.search(left)
        or vocabulary.LIMIT.search(right[:24])
    ):
        yield "power_limit", values[:1]
    else:
        yield "power", values


def pair(draw: float, limit: float) -> bool:
    """Whether of two amounts the second may be what the first can be at most: round, and not less."""
    return limit % ROUND == 0 and draw <= 1.1 * limit and limit >= 15


def celsius(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """The temperature of the die."""
    if not vocabulary.OTHER_HEAT.search(token.near_left) and not vocabulary.OTHER_HEAT.search(token.near_right):
        yield "temperature", (max(token.values),)


def megahertz(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """The clock of the SMs, and what it can be."""
    if vocabulary.OTHER_CLOCK.search(token.near_left) or (vocabulary.OTHER_CLOCK.search(token.near_right) and not token.near_left.strip()):
        return
    previous = found[at - 1] if at and found[at - 1].kind == "megahertz" else None
    if len(token.values) == 2 and token.values[0] <= token.values[1]:
        yield "sm_clock", token.values[:1]
        yield "sm_clock_max", token.values[1:]
    elif (
        vocabulary.LIMIT.search(token.near_left)
        or vocabulary.LIMIT.search(token.near_right)
        or (previous and vocabulary.OUT_OF.match(token.left))
    ):
        yield "sm_clock_max", token.values[:1]
    else:
        yield "sm_clock", token.values


def memory(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """The memory in use, and all of it."""
    if vocabulary.OTHER_MEMORY.search(token.near_left) or vocabulary.OTHER_MEMORY.search(token.near_right):
        return
    if token.of is None or token.values[0] <= token.of:
        yield "memory_used", token.values
        if token.of is not None:
            yield "memory_total", (token.of,)


def pstate(token: Token, found: Sequence[Token], at: int, known: dict[str, tuple[float, ...]]) -> Fields:
    """P0 to P15, beside other amounts."""
    if len(found) > 1:
        yield "pstate", token.values


OF_KIND = {
    "percent": percent,
    "watts": watts,
    "celsius": celsius,
    "megahertz": megahertz,
    "memory": memory,
    "pstate": pstate,
    "share": share,
}
