"""Tables of how many collectives each rank has called and completed, as people collect them from the watchdogs of all ranks.

rank   last enqueued NCCL work   last completed NCCL work   where           | ranks | enqueued | completed |
0      214                       212                        watchdog        | 0-3,5 |      214 |       212 |
1      212                       212                        all_gather_obj  | 4     |      212 |       212 |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Collective
from gpudoctor.knowledge.collectives import operation
from gpudoctor.notes.comparison_tables import Row, tables
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.torch.lines import WORK

KEYS = frozenset({"rank", "ranks", "global_rank"})
CALLED, DONE = regex(r"enqueued|issued|launched|\bcalled", 2), regex(r"completed|\bdone\b|finished", 2)
OPERATION = regex(r"(?:op|optype|operation|collective)\Z", 2)
NAME = regex(r"_?[A-Za-z]{4,20}(?:_[A-Za-z]{3,10}){0,2}\Z")
SPAN = regex(r"(\d{1,6})(?:-(\d{1,6}))?")
# The numbers of a job that runs differ at any moment; these words say that it doesn't.
STUCK = regex(r"watchdog|time[ds]?[ -]?out|\bstuck\b|\bh[au]ng\b|last|work\b", 2)
MOST = 65_536


def score(texts: Sequence[str]) -> int:
    """Of a log it is a part."""
    head = any("ompleted" in text and CALLED.search(text) and text.strip(" |*`").lower().startswith("rank") for text in texts)
    return 30 if head and next(calls([*enumerate(texts, 1)], ""), None) else 0


def counters(output: Output, about: Subject) -> Facts:
    """A record for each rank."""
    found = [*islice(calls([*lines(output)], output.origin_name()), MOST)]
    if not found:
        raise ParseError(f"{output.origin_name()}: no table of ranks and their collectives: {output.text.strip()[:80]!r}")
    return {"collectives": [*found]}


def calls(texts: Sequence[tuple[int, str]], source: str) -> Iterator[Collective]:
    """What each row says of its ranks."""
    if not any(STUCK.search(text) for _, text in texts):
        return
    commas = [
        (number, text.replace(",", "\t") if text.count(",") > 1 and "|" not in text and "  " not in text else text)
        for number, text in texts
    ]
    for rows in tables(commas, KEYS):
        called = next((title for title in rows[0].cells if CALLED.search(title)), "")
        done = next((title for title in rows[0].cells if DONE.search(title)), "")
        named = next((title for title in rows[0].cells if OPERATION.match(title)), "")
        for row in rows if called and done and called != done else ():
            if row.cells.get(called, "").isdecimal() and row.cells.get(done, "").isdecimal():
                yield from of_row(row, int(row.cells[called]), int(row.cells[done]), row.cells.get(named, ""), source)


def of_row(row: Row, called: int, done: int, name: str, source: str) -> Iterator[Collective]:
    """The first call that is not completed, of each of its ranks; of one that has completed all, what it called last."""
    work = WORK.search(row.line[1])
    number = int(work["number"]) if work and work["number"] else done + 1
    for rank in ranks(row.key):
        yield Collective(
            rank=rank,
            sequence=number if called > done else None,
            operation=operation(work["op"] if work else name if NAME.match(name) else "") if called > done else "",
            state="timed_out" if work else "",
            last_enqueued=called,
            last_completed=done,
            origin=Origin(source, row.line[0], row.line[1].strip()[:500]),
        )


def ranks(text: str) -> Iterator[int]:
    """The ranks that a cell names.

    >>> [*ranks("0-2,5")], [*ranks("rank 7")]
    ([0, 1, 2, 5], [7])
    """
    for match in SPAN.finditer(text[:400]):
        first, last = int(match[1]), int(match[2] or match[1])
        yield from range(first, min(last, first + 4096) + 1)
