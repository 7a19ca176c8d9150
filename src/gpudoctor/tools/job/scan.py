"""The lines of a job's logs that matter, source by source, found by the scanner before anything is made of them.

Nothing here depends on what another source says, so sources can be scanned by several processes.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import NamedTuple

from gpudoctor.facts import Subject
from gpudoctor.facts.program import Trouble
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import trouble
from gpudoctor.tools.common.messages import Hit, find, with_marks
from gpudoctor.tools.common.scanner import Scanner, compile_scanner
from gpudoctor.tools.job import launchers
from gpudoctor.tools.nccl import lines as nccl_words
from gpudoctor.tools.ranks.line_limits import Few
from gpudoctor.tools.torch import lines as torch_words

NOBODY = Subject(kind="cluster")
BATCH = 512  # lines that are handed on together
LOOKED_AT = 1_000  # lines of kinds that repeat that are all looked at, in all sources together
TAIL = 256 << 10  # bytes at the end of a source that are read line by line, at most
TAIL_OF_ONE = 4 << 10  # of them for the only process of a source
EDGE = 8 << 10  # bytes: where a log begins and where it ends is most of what it says, so a piece of that size is searched by itself
# PyTorch's and the launchers' lines that show that a log is of a distributed job, though no process speaks
RENDEZVOUS = (("=rendezvous", r"\[c10d\]|torch[./]distributed[./]|init_process_group|ProcessGroupGloo", 1),)
OTHERS = (("=xid", "NVRM: Xid ", 0), ("=allocation", "Tried to allocate ", 0), ("=warned", r" NCCL WARN \S", 1))
MARKS = (*nccl_words.MARKS, *torch_words.MARKS, *launchers.MARKS, *RENDEZVOUS, *OTHERS)
FEW: Mapping[str, int] = {name: few for name, _, few in MARKS if few}
# gpu-02:812:930 [3] NCCL INFO …  |  [rank5]: …  |  [1,5]<stdout>:…  |  5: …
SPEAKER = regex(r"(?:\S{1,20} ){0,2}?(?:\S{1,253}:(\d{1,10}):\d{1,10} \[|\[(?:rank|\w{1,32}?|\d+,)(\d{1,7})\]|(\d{1,6}): )")


class Batch(NamedTuple):
    """Lines of one source, in order. The last batch of a source has its end as text, the others None, and what it says is not well."""

    source: str
    now: float  # when it was read
    hits: list[Hit]
    end: str | None
    troubles: list[Trouble] = []


class Watched(Few):
    """As many lines of a kind as are looked at, those that may be trouble among them."""

    def __init__(self, kinds: Mapping[str, int], left: int, troubles: trouble.Troubles) -> None:
        super().__init__(kinds, left)
        self.troubles = troubles

    def __iter__(self) -> Iterator[str]:
        return chain(super().__iter__(), self.troubles)

    def get(self, name: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """The number for a kind of line, None for all."""
        return self.troubles.get(name) if name == trouble.MARK else super().get(name)

    def count(self, name: str, line: str) -> None:
        """One more line was looked at."""
        self.troubles.count(name, line)
        super().count(name, line)


@functools.cache
def marks() -> Scanner:
    """The marks alone, for a line that is held against the known messages anyway."""
    return compile_scanner((name, pattern) for name, pattern, _ in MARKS)


@functools.cache
def scanner() -> Scanner:
    """The known messages and the marks of this parser, compiled together."""
    return with_marks([*((name, pattern) for name, pattern, _ in MARKS), *trouble.MARKS])


def scan(pages: Iterable[Output], sources: int = 1) -> Iterator[Batch]:
    """What matters of all sources, each of which gives at least one batch. `sources` is about how many there are."""
    for name, of_one in groupby(pages, key=Output.origin_name):
        passed = Passed()
        hits: list[Hit] = []
        speakers = set()
        said = trouble.Troubles(NOBODY)
        few = Watched(FEW, LOOKED_AT // sources, said)
        for hit in trouble.of_hits(find(split_edges(passed.through(of_one)), scanner(), few), said):
            if match := SPEAKER.match(hit.text):
                speakers.add(match.groups())
            hits.append(hit)
            if len(hits) == BATCH:
                yield Batch(name, passed.time, hits, None)
                hits = []
        end = passed.end(TAIL_OF_ONE // 4 * max(4, len(speakers)))
        yield Batch(name, passed.time, hits, end, said.records(name, end, passed.time))


class Passed:
    """What is kept of a source that has passed: when it was read, and its last bytes."""

    def __init__(self) -> None:
        self.time = 0.0
        self.last: deque[bytes] = deque()
        self.size = 0

    def through(self, pages: Iterable[Output]) -> Iterator[bytes]:
        """The bytes of its pages. Of all, only as many are kept as have the last `TAIL`."""
        for page in pages:
            self.time = self.time or page.time
            for chunk in page.pages:
                self.last.append(chunk[-TAIL:])
                self.size += len(self.last[-1])
                while self.size - len(self.last[0]) >= TAIL:
                    self.size -= len(self.last.popleft())
                yield chunk

    def end(self, size: int) -> str:
        """The last so many bytes, at most `TAIL`."""
        return b"".join(self.last)[-min(size, TAIL) :].decode("utf-8", "replace")


def split_edges(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, with the first and the last chunk in small pieces."""
    held = b""
    for number, chunk in enumerate(chunks):
        if held:
            yield held
        held = chunk
        if number == 0 and len(chunk) > EDGE:
            yield chunk[:EDGE]
            held = chunk[EDGE:]
    if len(held) > EDGE:
        yield held[:-EDGE]
        held = held[-EDGE:]
    if held:
        yield held
