"""The logs of a distributed job: NCCL's lines, PyTorch's and the launcher's, of one rank or of thousands in one stream.

Pages of one source (a file, a pod) belong together, and several sources may be given in one call: processes are told apart by host and
process id, rank, or whatever the launcher puts before a line, and what two sources say of one rank becomes one record. Read apart, each
gives its own records: a communicator's `missing` is then only what that source doesn't show.

A log is passed over once by the scanner of known messages (`tools.common.messages`); only lines that matter are taken apart, and of the
thousands that say how a channel is connected a few in each block. Memory grows with ranks, not with bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Allocation
from gpudoctor.facts.program import Ending, Trouble
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.messages import Hit, errors
from gpudoctor.tools.common.xid_line import xid_of
from gpudoctor.tools.job import launchers
from gpudoctor.tools.job.rank_facts import Facts as Made
from gpudoctor.tools.job.scan import Batch, scan, scanner
from gpudoctor.tools.kernel.fold import Fold, Where
from gpudoctor.tools.kernel.line import line_of as kernel_line
from gpudoctor.tools.nccl import lines
from gpudoctor.tools.ranks.line import Line, line_of, nccl_head, unglue_lines
from gpudoctor.tools.ranks.process import LONGEST, Process, Said
from gpudoctor.tools.ranks.table import Place, Table
from gpudoctor.tools.torch.allocations import allocations
from gpudoctor.tools.torch.lines import Operations, world_rank

AT_END = 1 << 60  # the number of a last line that nobody counted
DIFFERENT = "collectives_differ"
TIMED_OUT = "collective_timed_out"
# gpu-01:4410:4502 [0] NCCL INFO comm 0x8a2c3d0 rank 0 nranks 16 … - Init COMPLETE   (not the word of one that calls an operation or ends)
SET_UP = regex(r"\bNCCL (?:INFO|version) (?!.{0,200}(?:opCount|Destroy|Abort|Finalize|Async))")
NUMBERED = ("watchdog_reports_work", "watchdog_dump_signal")  # with the numbers of the last operations


def log(pages: Iterable[Output], about: Subject) -> Facts:
    """Ranks, communicators, operations, settings and known messages of the logs of one job."""
    return of_batches(scan(pages), about)


def of_batches(batches: Iterable[Batch], about: Subject) -> Facts:
    """The same, of logs that have been scanned."""
    return RankLog(about).read(batches)


class RankLog:
    """The logs of one job while they are read."""

    def __init__(self, about: Subject) -> None:
        self.about = about
        self.table = Table(about)
        self.communicators = lines.Communicators()
        self.operations = Operations()
        self.made = Made(about)
        self.wrapped: tuple[Line, Process, Origin] | None = None  # a time-out whose end is in the next line
        self.fold = Fold()
        self.source = 0
        self.name, self.now = "", 0.0  # of the source that is read: what it is called, and when it was read
        self.last: tuple[str, Line, Place, Process] | None = None  # what NCCL puts before a line, and who that was
        self.box = launchers.Box()
        self.exits: list[tuple[Place, int, int]] = []  # place, process id, exit code
        self.allocations: dict[tuple[int, ...], Allocation] = {}
        self.troubles: list[Trouble] = []
        self.warned: Ending | None = None  # the first warning of NCCL's that is not known

    def read(self, batches: Iterable[Batch]) -> Facts:
        """The facts of all sources."""
        for batch in batches:
            self.name, self.now = batch.source, batch.now
            for hit in batch.hits:
                self.hit(hit)
            if batch.end is not None:
                self.tail(batch.end)
                self.troubles += batch.troubles
                self.source += 1
                self.box = launchers.Box()
                self.last = None
        return self.facts()

    def hit(self, hit: Hit) -> None:
        """One line that matters, for one reason; a line with two comes twice."""
        parts = unglue_lines(hit.text)
        if len(parts) > 1:  # lines of several ranks that stick together: each is looked at for itself
            wanted = compiled_entry(hit.name)
            parts = [part for part in parts if wanted.search(part.encode())] or parts[:1]
        for part in parts:
            line, place, process = self.speaker(part)
            origin = Origin(self.name, hit.line, part.strip())
            process.add_line(line, origin, self.source)
            self.read_line(hit, line, origin, place, process)

    def speaker(self, text: str) -> tuple[Line, Place, Process]:
        """A line, and who wrote it: mostly the one who wrote the last, under the same head."""
        if self.last is not None and text.startswith(self.last[0]):
            head, line, place, process = self.last
            return Line(text[len(head) :].strip(), *line[1:]), place, process
        line = line_of(text, self.now)
        if line.rank is None and line.pid is None and (rank := world_rank(line.text)) is not None:
            line = line._replace(rank=rank)
        place = self.table.place(self.source, line.pod)
        process = self.table.process(place, line)
        head = nccl_head(text)
        self.last = (head, line, place, process) if head else None
        return line, place, process

    def read_line(self, hit: Hit, line: Line, origin: Origin, place: Place, process: Process) -> None:
        """What a line of a process says."""
        name = hit.name
        if handler := lines.HANDLERS.get(name):
            handler(line, process, self.communicators)
            place.distributed = place.distributed or name != "=setting"
        elif name.startswith("="):
            self.read_marked_line(name, line, origin, place, process)
        else:
            self.read_known_line(hit, line, origin, process)
            if name == TIMED_OUT:
                self.wrapped = None if self.operations.timed_out(line, process, origin) else (line, process, origin)
            elif name in NUMBERED:
                self.operations.read_sequence_numbers(line, process, origin)
            elif name == DIFFERENT:
                self.operations.read_mismatch(line, origin)

    def read_known_line(self, hit: Hit, line: Line, origin: Origin, process: Process) -> None:
        """A line whose meaning is known."""
        if hit.name in errors():
            process.add_error(Said(hit.name, origin, line.time, errors()[hit.name], (self.source, hit.line)), line.severe)
        self.made.message(hit, line, origin, process, benign=hit.name not in errors())

    def read_marked_line(self, name: str, line: Line, origin: Origin, place: Place, process: Process) -> None:
        """A line of PyTorch or of a launcher that is no message."""
        if name == "=rest":
            if self.wrapped and origin.line - self.wrapped[2].line == 1 and origin.source == self.wrapped[2].source:
                begun, owner, first = self.wrapped
                self.operations.timed_out(begun._replace(text=f"{begun.text.rstrip()} {origin.text}"), owner, first)
        elif name == "=step":
            process.step = max(process.step or 0, launchers.step_of(line.text) or 0) or None
            process.reach_stage("running")
        elif name == "=traceback":
            self.box.thrown = (origin.line, process)
        elif name == "=raised":
            process = self.box.thrower(process, origin.line) if line.rank is None else process
            # A known message on the same line says more than that something was raised.
            if (what := launchers.raised_exception(origin.text)) and not any(known in errors() for known in names_in(origin.text)):
                process.add_error(Said("raised", origin, line.time, what == "KeyboardInterrupt", (self.source, origin.line)))
        elif name == "=warned":
            if self.warned is None and all(known.startswith("=") for known in names_in(origin.text)):
                self.warned = Ending(said=line.text[:LONGEST], warning=True, node=self.about.node or line.node, origin=origin)
        elif name == "=call":
            self.call(line, origin, process)
        elif name == "=rendezvous":
            place.distributed = True
            process.reach_stage("rendezvous")
        elif name == "=torch":
            if match := launchers.TORCH.search(line.text):
                process.set_first("torch_version", match[1])
        elif name == "=xid":
            bare = kernel_line(origin.text, self.now)
            if error := xid_of(bare.text):
                node = self.about.node or bare.node
                self.fold.xid(Where(bare, node, 0, origin.source, origin.line, origin.text, self.now), error)
        elif name == "=allocation":
            alone = Output(Command(()), pages=(origin.text.encode(),), time=self.now, source=origin.source)
            for one in allocations(alone.text, alone, self.about):
                self.allocations.setdefault((one.tried, one.total, one.free, one.allocated, one.cached), self.made.with_place(one, origin))
        else:
            self.read_launcher_line(name, line, origin, place)

    def call(self, line: Line, origin: Origin, process: Process) -> None:
        """A collective that NCCL is given."""
        if match := lines.CALL.search(line.text):
            process.reach_stage("running")
            self.operations.read_nccl_call(process, line, origin, match[1], int(match[3]), int(match[2], 16), match[4])

    def read_launcher_line(self, name: str, line: Line, origin: Origin, place: Place) -> None:
        """What a launcher says of ranks by their number."""
        text = line.text
        if name == "=box" and (entry := self.box.line(origin.text, origin.line)):
            worker = self.table.process_of_rank(place, entry.rank, entry.host, entry.pid, origin)
            worker.ended = entry.time
            if entry.code is not None:
                worker.set_exit(entry.code)
        elif name == "=mpi-exit" and (match := launchers.MPI_EXIT.search(text)):
            self.table.process_of_rank(place, int(match[1]), match[3], int(match[2]) or None, origin).signal = int(match[4])
        elif name == "=agent-exit" and (match := launchers.AGENT_EXIT.search(text)):
            self.exits.append((place, int(match[3]), int(match[1])))
        elif name == "=listed" and (match := launchers.LISTED.search(text)):
            listed = self.table.process_of_rank(place, int(match[1]), match[3], int(match[2]), origin)
            listed.device = int(match[4])
            if match[5]:  # [0x1b], the bus alone, or [0000:1b:00]
                listed.set_first("pci", pci.canonical(match[5] if ":" in match[5] else f"0000:{match[5]}:00"))
        elif name == "=printed" and (own := launchers.printed_rank(origin.text)):
            self.table.process_of_rank(place, own.rank, own.host, None, origin).held = own.gpu
        elif name == "=world":
            if match := launchers.LIGHTNING.search(text):
                rank, world = int(match[1]), int(match[2])
                if rank < world:
                    one = self.table.process_of_rank(place, rank, "", None, origin)
                    one.claims.setdefault(world, rank)
                    one.reach_stage("rendezvous")
            elif match := launchers.AGENT_RANKS.search(text):
                for word in match[1].split(",")[:1024]:
                    if word.strip().isdigit():
                        self.table.process_of_rank(place, int(word), "", None, origin).reach_stage("started")

    def tail(self, end: str) -> None:
        """The last lines of a source: what each process said last, and its step. Read backwards until all have spoken."""
        wanted = self.table.of_source(self.source)
        final = next((text for raw in reversed(end.split("\n")) if (text := raw.strip("\x00\r ")[:4096])), "")
        if SET_UP.search(final):
            for one in wanted:
                one.own_end = True
        heard: set[int] = set()
        for number, raw in enumerate(reversed(end.split("\n"))):
            for part in reversed(unglue_lines(raw.replace("\x00", "")[:4096])):
                if not part.strip():
                    continue
                line = line_of(part, self.now)
                process = self.table.find_process(self.table.place(self.source, line.pod), line)
                if process is None or process.number in heard:
                    continue
                heard.add(process.number)
                process.last_line(line, part.strip(), (self.source, AT_END - number))
                if (step := launchers.step_of(line.text)) is not None:
                    process.step = max(process.step or 0, step)
                elif "opCount" in line.text:
                    self.call(line, Origin(self.name, 0, part.strip()), process)
            if len(heard) >= len(wanted):
                break

    def facts(self) -> Facts:
        """Everything, with each process under its rank."""
        for place, pid, code in self.exits:
            if process := self.table.with_pid(place, pid):
                process.set_exit(code)
        ranks = self.table.ranks()
        numbers = self.table.numbers(ranks)
        xids, _ = self.fold.records({})
        facts: Facts = {
            "ranks": [process.fact(rank, self.about) for rank, process in ranks],
            "communicators": [*self.communicators.facts()],
            "collectives": [*self.operations.facts(numbers)],
            "settings": [*self.made.settings(ranks)],
            "messages": [*self.made.messages(numbers)],
        }
        known = any(process.first for _, process in ranks)
        warned = [self.warned] if self.warned and not known else []
        for kind, more in (
            ("xids", xids),
            ("allocations", [*self.allocations.values()]),
            ("endings", warned),
            ("troubles", self.find_troubles()),
        ):
            if more:
                facts[kind] = [*more]
        return facts

    def find_troubles(self) -> list[Trouble]:
        """What the logs say is not well, of what they are about."""
        about = {key: getattr(self.about, key) for key in ("namespace", "pod", "container", "node", "workload", "component")}
        return [replace(one, **about) for one in self.troubles]


def compiled_entry(name: str) -> Any:
    """The compiled pattern of one entry."""
    return scanner().patterns[scanner().places[name]]


def names_in(text: str) -> list[str]:
    """The entries that a line fits."""
    known = scanner()
    return [known.names[number] for number in known.fitting(text.encode())]
