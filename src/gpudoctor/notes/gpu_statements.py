"""What people tell of their GPUs in notes, tickets, chats and tables of their own: samples, by numbers and units.

GPUs 0-3: 100% util but only ~100W (cap 600W)      task0  100 %  262.88 / 244.55 W  all 1950 MHz      rank 3: 0 %, others 100 % @ 86 W
SM clock pinned 210 MHz, limit 30 W not 60 W, SW_POWER_CAP     100%, 0 MiB used, zero processes     70W / 700W | 81000 / 81559 MiB | 100%

What is told of another time, of a healthy machine beside it, of a rule or of a fault that was repaired is left out (`vocabulary`), and
so is all of it where a tool's own output was read (`analyze.merge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.knowledge.board_power import default_limit
from gpudoctor.notes import vocabulary
from gpudoctor.notes.amounts import Stated, number, stated_amounts
from gpudoctor.notes.clauses import Clause, clauses
from gpudoctor.notes.subjects import NONE, Gpus, Part, parts
from gpudoctor.patterns import regex

WIDE = 2_000  # characters of a line
# A clause without one of these tells no amount: most have none.
AMOUNT = regex(r"\d ?(?:%|W|w\b|[Ww]att|° ?C|C\b|M|G|/)|0?\.\d|[SsHh][Ww][ _][PTBpt]|\bP\d|roces|ROCES")
ASIDE = regex(r"\([^()]{0,120}\)")
# Fields of which one alone says nothing.
TELLING = ("utilisation", "power", "power_share", "sm_active", "tensor_active", "dram_active", "memory_used", "sm_clock")
SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # by the first letter


class Record(msgspec.Struct):
    """What is told of the same GPUs in one paragraph; one value of a field for all of them, or one for each."""

    clause: Clause
    gpus: Gpus
    fields: dict[str, tuple[float, ...]] = {}
    reasons: tuple[str, ...] = ()
    nobody: bool = False
    span: float = 0.0
    job: bool = False

    def fits(self, gpus: Gpus, said: Stated) -> bool:
        """Whether something more is told of the same GPUs, and nothing else than before."""
        known = self.fields
        return gpus in (NONE, self.gpus) and all(known.get(field, values) == values for field, values in said.fields.items())

    def tells(self) -> bool:
        """Whether it says enough to be judged."""
        told = sum(field in self.fields for field in TELLING) + bool(self.reasons) + self.nobody
        return told > 1 or {"power_limit", "power_limit_default"} <= set(self.fields)


def samples(rows: Sequence[tuple[int, str]], source: str, about: Subject) -> list[GpuSample]:
    """A sample for each GPU that a note tells of."""
    found = statements(rows)
    drawn = max((watts for one in found for watts in one.fields.get("power", ())), default=0.0)
    whole = "\n".join(row for _, row in rows)
    limit = single_value(one.fields["power_limit"] for one in found if "power_limit" in one.fields) or default_limit(whole, drawn)
    return [sample for one in found for sample in of_record(one, found, limit, source, about)]


def single_value(found: Iterator[tuple[float, ...]]) -> float | None:
    """The one value, None where there are several."""
    known = {one for values in found for one in values}
    return known.pop() if len(known) == 1 else None


def statements(rows: Sequence[tuple[int, str]]) -> list[Record]:
    """What a text tells, paragraph by paragraph."""
    found: list[Record] = []
    of_gpus = any(vocabulary.GPU.search(row[:WIDE]) for _, row in rows)
    known = [*clauses([(at, row[:WIDE]) for at, row in rows])]
    for clause in known:
        amount = AMOUNT.search(clause.text)
        if (found or amount) and vocabulary.REPAIRED.search(clause.text):
            found.clear()  # what was told up to here is over
        elif amount and not vocabulary.SUPPOSED.search(ASIDE.sub(" ", clause.text)):
            add(found, clause, of_gpus=of_gpus or any(one.clause.block == clause.block for one in found))
        elif found and (span := stated_seconds(clause.text)) and found[-1].clause.block == clause.block:
            found[-1].span = max(found[-1].span, span)
    sure = {one.clause for one in found if one.tells()}
    found = [one for one in found if one.tells() or (one.clause in sure and "utilisation" in one.fields)]
    blocks = {one.clause.block for one in found}
    near = [clause for clause in known if clause.block in blocks]
    jobs = {clause.block for clause in near if vocabulary.JOB.search(clause.text)}
    holds = {clause.block for clause in near if vocabulary.HELD.search(clause.text)}
    for one in found:
        # Of one that has long done nothing a job that is named may have the others alone.
        one.job = one.clause.block in (holds if one.span and one.fields.get("utilisation", (100.0,))[0] <= 1 else jobs)
    return found


def add(found: list[Record], clause: Clause, *, of_gpus: bool) -> None:
    """Put what a clause tells to what was told before of the same GPUs, or beside it."""
    text = ASIDE.sub(
        lambda match: " " if vocabulary.SUPPOSED.search(match[0]) or vocabulary.USUAL.search(match[0]) else match[0], clause.text
    )
    text = present(vocabulary.USUAL.split(text, maxsplit=1)[0])
    cut = [*parts(text)]
    all_said = [stated_amounts(part.text) for part in cut]
    row = any({"utilisation", "power"} <= set(said.fields) for said in all_said)
    span = stated_seconds(clause.text)
    for part, said in zip(cut, [stated_amounts(part.text, bare=True) for part in cut] if row else all_said, strict=True):
        if not of_gpus and len(said.fields) < 3:
            continue
        if said.fields or said.reasons or said.nobody:
            add_part(found, clause, part, said)
    if span and found and found[-1].clause.block == clause.block:
        found[-1].span = max(found[-1].span, span)


def add_part(found: list[Record], clause: Clause, part: Part, said: Stated) -> None:
    """One part of a clause."""
    last = found[-1] if found and found[-1].clause.block == clause.block else None
    gpus, named = part.gpus, part.gpus._replace(many=False) != NONE
    if last and last.fits(gpus if named else NONE, said):
        last.fields = {**said.fields, **last.fields}
        last.reasons = tuple(dict.fromkeys((*last.reasons, *said.reasons)))
        last.nobody |= said.nobody
        last.gpus = last.gpus._replace(many=last.gpus.many or gpus.many)
        return
    if not named and last and not gpus.many and clause.line == last.clause.line:
        gpus = last.gpus
    found.append(Record(clause, gpus, dict(said.fields), said.reasons, said.nobody))


def present(text: str) -> str:
    """Of a clause that tells of two times, what it tells of the later one; nothing of one that begins with an earlier one."""
    before, after = vocabulary.BEFORE.search(text), vocabulary.AFTER.search(text)
    if before and after and before.start() < after.start():
        return text[after.start() :]
    if before and after and before.start() > (after.start() + after.end()) / 2:
        return text[: before.start()]
    return "" if before and before.start() <= 3 else text


def stated_seconds(text: str) -> float:
    """For how many seconds something is told to last; "for days" are two.

    >>> stated_seconds("100 % at 90 W for 36+ min"), stated_seconds("stays so for days"), stated_seconds("since 2 h")
    (2160.0, 172800.0, 7200.0)
    >>> stated_seconds("step 5 took 3 s")
    0.0
    """
    if not (match := vocabulary.LASTING.search(text)):
        return 0.0
    return (number(match[1]) if match[1] else 2.0) * SECONDS[match[2][0].lower()]


def record_gpus(one: Record, found: Sequence[Record]) -> list[tuple[str, int | None]]:
    """The names of a record's GPUs, two at least where it tells of several."""
    names = [*one.gpus.names]
    if one.gpus.rest:
        return unnamed_gpus(one.gpus.rest, found)
    longest = max((len(values) for values in one.fields.values()), default=1)
    if longest > 1 and len(names) != longest:
        return [(f"{names[0][0]} GPU {at}" if names else f"GPU {at}", None if names else at) for at in range(longest)]
    if not names and one.gpus.many:
        return [("one of the GPUs", None), ("another one", None)]
    return names or [("", None)]


def unnamed_gpus(rest: int, found: Sequence[Record]) -> list[tuple[str, int | None]]:
    """Those that nobody names: the rest of all that a text counts, else so many."""
    named = {index for one in found if not one.gpus.counted for _, index in one.gpus.names if index is not None}
    count = max([len(named) + rest, *(len(one.gpus.names) for one in found)])
    if not named or max(named) >= count:
        return [("one of the others", None), ("another one", None)]
    return [(f"GPU {index}", index) for index in range(count) if index not in named]


def of_record(one: Record, found: Sequence[Record], limit: float | None, source: str, about: Subject) -> Iterator[GpuSample]:
    """The samples of one record."""
    origin = Origin(source, one.clause.line, one.clause.text[:500])
    fields: dict[str, Any] = dict(one.fields)
    if limit and not {"power_limit", "power_limit_default"} & set(fields) and "power" in fields:
        fields["power_limit"] = (limit,)
    empty = one.nobody or one.fields.get("memory_used", (1e9,))[0] < 100
    holder = "a job" if (one.gpus.job or one.job) and not empty else ""
    where: dict[str, Any] = {"node": one.gpus.node or about.node, "origin": origin, "holder": holder, "span": one.span}
    if one.reasons:
        where["reasons"] = [*one.reasons]
    if one.nobody:
        where["processes"] = 0
    for at, (name, index) in enumerate(record_gpus(one, found)):
        values = {field: known[at if len(known) > 1 and at < len(known) else 0] for field, known in fields.items()}
        if "pstate" in values:
            values["pstate"] = int(values["pstate"])
        yield GpuSample(gpu=name, index=index, **where, **values)
