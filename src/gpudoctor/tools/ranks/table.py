"""Which process a line belongs to, and which processes are one rank.

A process is named by host and process id where NCCL's prefix stands before a line; else by a rank, a local rank or a task number, of
which it is learned from lines that have both. A line with none of them belongs to the source's only process, if there is only one.
"""

from __future__ import annotations

import re
from collections import defaultdict

from gpudoctor.facts import Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.tools.ranks.line import Line
from gpudoctor.tools.ranks.process import Process

MOST = 100_000  # processes of one job; what is beyond is noise
# train-rank17.log  |  rank_3.out  |  logs/rank-0/stderr
FILE = regex(r"(?:^|[^a-z])rank[-_.]?(\d{1,6})(?!\d)", re.IGNORECASE)

Key = tuple[object, ...]


class Place:
    """One pod of one source, or one source: where lines come from that name nobody."""

    def __init__(self, key: tuple[int, str], nobody: Process) -> None:
        self.key, self.nobody = key, nobody
        self.processes: set[int] = set()
        self.labelled = False  # lines of NCCL with a task number before them were seen
        self.distributed = False  # of a distributed job, whoever spoke


class Table:
    """All processes of a job."""

    def __init__(self, about: Subject) -> None:
        self.about = about
        self.all: list[Process] = []
        self.places: dict[tuple[int, str], Place] = {}
        self.sources: dict[int, list[Place]] = {}
        self.names: dict[Key, Process | None] = {}  # None: the name means several processes
        self.joined: dict[int, Process] = {}  # number of a process that turned out to be another one

    def place(self, source: int, pod: str) -> Place:
        """The place of a line."""
        key = (source, pod)
        if key not in self.places:
            self.places[key] = Place(key, self.new(key))
            self.sources.setdefault(source, []).append(self.places[key])
        return self.places[key]

    def new(self, place: tuple[int, str]) -> Process:
        """One more process; beyond the most that there can be the last one again."""
        if len(self.all) < MOST:
            self.all.append(Process(place, len(self.all)))
        return self.all[-1]

    def process(self, place: Place, line: Line) -> Process:
        """The process that wrote a line."""
        strong, weak = keys(place, line)
        if line.task is not None and line.pid is not None:
            place.labelled = True
        if strong is None:
            if not weak:
                return place.nobody
            process = next((found for key in weak if (found := self.process_named(key)) is not None), None)
            if process is None:
                process = place.nobody if any(key in self.names for key in weak) else self.new(place.key)
        else:
            process = self.process_named(strong) or self.new(place.key)
            self.names[strong] = process
        for key in weak:
            self.tie(key, process)
        if process is not place.nobody:
            place.processes.add(process.number)
        return process

    def tie(self, key: Key, process: Process) -> None:
        """A weak name means this process; one that meant a nameless process tells who that was, one that meant another means nobody."""
        if key not in self.names:
            self.names[key] = process
            return
        known = self.process_named(key)
        if known is None or known is process:
            return
        if known.pid is None and process.pid is not None:
            self.join(known, process)
        elif key[0] == "rank":
            self.names[key] = process  # started anew
        elif known.node != process.node:
            self.names[key] = None

    def join(self, other: Process, into: Process) -> None:
        """Two records are one process."""
        into.absorb(other)
        self.joined[other.number] = into

    def find_process(self, place: Place, line: Line) -> Process | None:
        """The process of a line, None for one that hasn't been met."""
        strong, weak = keys(place, line)
        if strong is not None:
            return self.process_named(strong)
        found = next((found for key in weak if (found := self.process_named(key)) is not None), None)
        if found is not None or weak:
            return found
        return self.only_process_of(place)

    def only_process_of(self, place: Place) -> Process | None:
        """The one process of a place."""
        numbers = {self.current_record(self.all[number]).number for number in place.processes}
        return self.all[numbers.pop()] if len(numbers) == 1 else None if numbers else place.nobody

    def process_named(self, key: Key) -> Process | None:
        """The process that a name means by now, None for several and for none."""
        process = self.names.get(key)
        return self.current_record(process) if process is not None else None

    def current_record(self, process: Process) -> Process:
        """The record that a process is part of by now."""
        while process.number in self.joined:
            process = self.joined[process.number]
        return process

    def process_of_rank(self, place: Place, rank: int, host: str, pid: int | None, origin: Origin) -> Process:
        """The process of a rank that a launcher names."""
        process = self.process_named(("rank", rank))
        if process is None:
            process = next((one for one in self.of_source(place.key[0]) if pid is not None and one.pid == pid), None) or self.new(place.key)
            self.names[("rank", rank)] = process
        process.rank = rank
        process.node = process.node or host
        process.pid = process.pid or pid
        if not process.origin.line:
            process.origin = origin
        process.reach_stage("started")
        place.processes.add(process.number)
        place.distributed = True
        return process

    def with_pid(self, place: Place, pid: int) -> Process | None:
        """The process of a place with this id."""
        return next((one for one in self.of_source(place.key[0]) if one.pid == pid), None)

    def of_source(self, source: int) -> list[Process]:
        """The processes that were met in one source."""
        met = {self.current_record(self.all[number]).number for place in self.sources.get(source, ()) for number in place.processes}
        return [self.all[number] for number in sorted(met)]

    def ranks(self) -> list[tuple[int | None, Process]]:
        """Each process with its rank, those of one rank together, by rank."""
        for place in self.places.values():
            only = self.only_process_of(place)
            if only is not None and only is not place.nobody:
                self.join(place.nobody, only)
            elif only is place.nobody and place.distributed:
                place.processes.add(only.number)
        met = sorted({self.current_record(self.all[number]).number for place in self.places.values() for number in place.processes})
        processes = [self.all[number] for number in met]
        several = claimed_by_several(processes)
        by_rank: dict[int, Process] = {}
        nameless: list[tuple[int | None, Process]] = []
        for process in processes:
            rank = process.rank if process.rank is not None else None if process.claimed_rank in several else process.claimed_rank
            if rank is None:
                rank = self.by_file(process)
            if rank is None:
                nameless.append((None, process))
            elif rank in by_rank:
                self.join(process, by_rank[rank])
            else:
                by_rank[rank] = process
        return [*sorted(by_rank.items()), *nameless]

    def by_file(self, process: Process) -> int | None:
        """The rank that the name of the source gives its only process."""
        place = self.places.get(process.place)
        match = FILE.search(process.origin.source) if place and self.only_process_of(place) is process else None
        return int(match[1]) if match else None

    def numbers(self, ranks: list[tuple[int | None, Process]]) -> dict[int, tuple[int | None, str]]:
        """Number of a process → its rank and host."""
        found = {process.number: (rank, process.node) for rank, process in ranks}
        return {one.number: found[self.current_record(one).number] for one in self.all if self.current_record(one).number in found}


def keys(place: Place, line: Line) -> tuple[Key | None, list[Key]]:
    """The sure name of a line's process, and those that hold within the job or within its place."""
    strong: Key | None = ("process", line.node, line.pid, place.key[1]) if line.pid is not None else None
    weak: list[Key] = []
    if line.rank is not None:
        weak.append(("rank", line.rank))
    if line.local is not None:
        weak.append(("local", place.key, line.local))
    if line.task is not None and (strong is not None or place.labelled):
        weak.append(("task", place.key[0], line.task))
    return strong, weak


def claimed_by_several(processes: list[Process]) -> set[int]:
    """Ranks that processes on different devices have in communicators of the same size: those are groups, not the whole job."""
    holders: dict[tuple[int, int], set[tuple[str, int | None]]] = defaultdict(set)
    for process in processes:
        if process.claims and process.pid is not None and process.rank is None:
            world = max(process.claims)
            holders[world, process.claims[world]].add((process.node, process.device))
    return {rank for (_, rank), who in holders.items() if len(who) > 1}
