"""Where the ranks of a job stand among its collectives: who waits in which operation, who is behind, who does something else.

Collectives of one process group are numbered alike on all its ranks. A rank that is at a lower number than most has not come to the
operation that the others wait in; ranks that do different operations under one number have gone different ways in the program.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from gpudoctor.derive.job_ranks import ranks_text
from gpudoctor.facts.job import Collective

POINT_TO_POINT = frozenset({"SEND", "RECV"})  # numbered apart, and different on both sides by their nature
# Whose sizes may differ between ranks: torch.distributed.flight_recorder compares none of these either.
UNEVEN = frozenset({*POINT_TO_POINT, "GATHER", "SCATTER", "ALLTOALL", "ALLTOALL_BASE", "ALLGATHER", "COALESCED", "UNKNOWN", "BARRIER"})
EVERYBODY = frozenset({"", "0", "default_pg", "default", "default_pg:0", "undefined"})  # names of the group of all ranks


class At(msgspec.Struct):
    """Where one rank stands in one group."""

    rank: int
    waits: Collective | None = None  # the first operation that it has begun and not completed
    calls: int = -1  # the highest number that it has called
    done: int = -1  # the highest number that it has completed

    @property
    def number(self) -> int:
        """The number at which it is."""
        return self.waits.sequence if self.waits and self.waits.sequence is not None else self.calls


class Progress(msgspec.Struct):
    """One group: who waits in the operation that most wait in, and who doesn't."""

    group: str = ""
    sequence: int | None = None
    operation: str = ""
    call: Collective | None = None
    at: dict[int, At] = {}
    waiting: list[int] = []
    behind: list[int] = []
    ahead: list[int] = []
    silent: list[int] = []
    disagreement: str = ""
    odd: list[int] = []  # those that do what fewer do
    odd_text: str = ""
    together: bool | None = None


def progress(collectives: Iterable[Collective], everybody: set[int], speaking: set[int], *, all_known: bool) -> Progress | None:
    """The group that began to wait first, or in which ranks disagree or are behind; None when no rank waits.

    `everybody` are all ranks of the job (`all_known`) or those that were read, `speaking` those that tell of its end in other words
    than a time-out.
    """
    groups: dict[str, list[Collective]] = defaultdict(list)
    for one in collectives:
        if one.rank is not None:
            groups["" if one.group in EVERYBODY else one.group].append(one)
    found = [measure_group(group, records, everybody, speaking, all_known) for group, records in groups.items()]
    waiting = [one for one in found if one.waiting or one.disagreement]
    return min(waiting, key=precedence, default=None)


def precedence(one: Progress) -> tuple[bool, bool, float, int]:
    """Disagreement first, then who is behind, then the wait that began first, then the larger one."""
    began = one.call.time - (one.call.waited or 0.0) if one.call and one.call.time is not None else float("inf")
    return (not one.disagreement, not (one.behind or one.silent), began, -len(one.waiting))


def measure_group(group: str, records: list[Collective], everybody: set[int], speaking: set[int], all_known: bool) -> Progress:
    """Measure the progress of one process group."""
    numbered = [one for one in records if one.operation not in POINT_TO_POINT] or records
    at = rank_positions(numbered)
    made = Progress(group=group, at=at)
    waits = {rank: one.waits for rank, one in at.items() if one.waits is not None and one.waits.sequence is not None}
    if waits:
        counted = Counter(call.sequence for call in waits.values() if call.sequence is not None)
        made.sequence = max(counted, key=lambda number: (counted[number], number))
        made.waiting = sorted(rank for rank, call in waits.items() if call.sequence == made.sequence)
        here = Counter(waits[rank].operation for rank in made.waiting)
        made.operation = here.most_common(1)[0][0]
        made.call = earliest(waits[rank] for rank in made.waiting if waits[rank].operation == made.operation)
        if made.operation not in POINT_TO_POINT:
            known = {rank: one.number for rank, one in at.items() if one.number >= 0}
            made.behind = sorted(rank for rank, number in known.items() if number < made.sequence)
            made.ahead = sorted(rank for rank, number in known.items() if number > made.sequence)
        if group in EVERYBODY and everybody and 2 * len(made.waiting) >= len(everybody):
            made.silent = sorted(everybody - at.keys() - speaking)
    disagree(made, numbered)
    if made.waiting:
        complete = group in EVERYBODY and all_known and not everybody - set(made.waiting)
        apart = bool(made.behind or made.ahead or made.silent or made.disagreement)
        made.together = False if apart else True if complete else None
    return made


def rank_positions(records: list[Collective]) -> dict[int, At]:
    """The position of each rank, from all that is recorded of it."""
    at: dict[int, At] = {}
    seen: dict[tuple[int, int], float | None] = {}
    for one in records:
        if one.rank is None:
            continue
        here = at.setdefault(one.rank, At(one.rank))
        number = one.sequence if one.sequence is not None else -1
        here.calls = max(here.calls, number, *(n for n in (one.last_enqueued, one.last_started) if n is not None))
        here.done = max(here.done, number if one.state == "completed" else -1, one.last_completed if one.last_completed is not None else -1)
        if one.state == "launched":  # by RAS, asked twice: who has launched nothing since waits in the last one
            still = seen.setdefault((one.rank, number), one.time) != one.time
            here.waits = one if still and number == here.calls else here.waits
        elif one.state != "completed" and number >= 0 and (here.waits is None or number < (here.waits.sequence or 0)):
            here.waits = one
    return at


def earliest(calls: Iterable[Collective]) -> Collective | None:
    """The call that was made first; of equal ones the first."""
    return min(calls, key=lambda one: one.time if one.time is not None else float("inf"), default=None)


def disagree(made: Progress, records: list[Collective]) -> None:
    """Fill in at which number, the lowest, ranks do different things: another operation, size or type."""
    by_number: dict[int, dict[int, Collective]] = defaultdict(dict)
    for one in records:
        if one.sequence is not None and one.rank is not None and one.operation:
            by_number[one.sequence].setdefault(one.rank, one)
    for number in sorted(by_number):
        calls = by_number[number]
        for what, said in (("operation", operation), ("size", size), ("dtype", dtype)):
            seen = {rank: text for rank, one in calls.items() if (text := said(one))}
            if len(set(seen.values())) < 2:
                continue
            usual = Counter(seen.values()).most_common(1)[0][0]
            by_text: dict[str, list[int]] = defaultdict(list)
            for rank, text in seen.items():
                by_text[text].append(rank)
            made.disagreement = what
            made.sequence = number
            made.odd = sorted(rank for rank, text in seen.items() if text != usual)
            made.operation = next(one.operation for rank, one in calls.items() if seen.get(rank) == usual)
            made.call = next(one for rank, one in calls.items() if seen.get(rank) == usual)
            ordered = sorted(by_text.items(), key=lambda item: (-len(item[1]), item[0]))
            made.odd_text = "; ".join(f"{ranks_text(ranks)}: {text}" for text, ranks in ordered[:4])
            return


def operation(one: Collective) -> str:
    """Its operation, "" for those that differ by their nature."""
    return "" if one.operation in POINT_TO_POINT else one.operation.lstrip("_")


def size(one: Collective) -> str:
    """Its size in words, "" where sizes may differ."""
    if one.operation.lstrip("_") in UNEVEN:
        return ""
    if one.sizes:
        return f"{one.operation} of {one.sizes}"
    return f"{one.operation} of {one.elements_in} elements" if one.elements_in is not None else ""


def dtype(one: Collective) -> str:
    """Its type of element."""
    return "" if one.operation.lstrip("_") in UNEVEN else one.dtype


def group_name(made: Progress) -> str:
    """The group for a person: nothing for that of all ranks, and without the operation, by which RAS counts each group."""
    return "" if made.group in EVERYBODY else made.group.removesuffix(f" {made.operation}").rstrip()


def position(made: Progress, rank: int) -> str:
    """Where a rank stands, as a row of the picture has it: `waits in ALLREDUCE #4211 (TP)`."""
    here = made.at.get(rank)
    if here is None:
        return ""
    group = f" ({name})" if (name := group_name(made)) else ""
    if here.waits is not None:
        return f"waits in {here.waits.operation or 'a collective'} #{here.number}{group}"
    return f"last called #{here.calls}{group}" if here.calls >= 0 else ""
