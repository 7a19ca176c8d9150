"""One process of a distributed job while its log is read, and the `Rank` that it becomes."""

from __future__ import annotations

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.job import Rank
from gpudoctor.tools.common import pci
from gpudoctor.tools.ranks.line import Line

STAGES = ("", "started", "rendezvous", "init", "running", "ended")
MOST_SETTINGS = 200  # of one process
LONGEST = 500  # characters of a line that are kept


class Said:
    """A line that counts as an error: name of the message, place and time."""

    __slots__ = ("moment", "name", "origin", "survivor", "time")

    def __init__(self, name: str, origin: Origin, time: float | None, survivor: bool, moment: tuple[int, int]) -> None:
        self.name, self.origin, self.time, self.survivor, self.moment = name, origin, time, survivor, moment


class Process:
    """What was read of one process. `claims` are the ranks that it has in NCCL's communicators: size of it → rank."""

    def __init__(self, place: tuple[int, str], number: int) -> None:
        self.place, self.number = place, number
        self.rank: int | None = None  # by a prefix or a launcher
        self.claims: dict[int, int] = {}
        self.made: dict[int, int] = {}  # communicators without an id: size → how many
        self.node = self.container = self.namespace = ""
        self.pid: int | None = None
        self.device: int | None = None
        self.values: dict[str, str] = {}  # fields of Rank that are a word, the first one wins
        self.held = ""
        self.comms: dict[str, str] = {}  # a communicator's address in this process → its id
        self.hcas: list[str] = []
        self.transports: set[str] = set()
        self.settings: dict[str, str] = {}
        self.gdr: bool | None = None
        self.stage = 0
        self.own_end = False  # NCCL has the last word in its log
        self.step: int | None = None
        self.first: Said | None = None
        self.mild: Said | None = None  # the first one that its writer only calls a warning
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.ended: float | None = None
        self.last: float | None = None
        self.said = ""
        self.spoke = (0, 0)  # source and line of the last line
        self.origin = Origin()

    def add_line(self, line: Line, origin: Origin, source: int) -> None:
        """A line of this process: what its beginning says, and that it is the last one so far."""
        self.rank = line.rank if line.rank is not None else self.rank
        if line.pid is not None:
            self.pid, self.node = line.pid, line.node
            self.device = line.device if line.device is not None and line.device >= 0 else self.device
        elif not self.node:
            self.node = line.node
        self.container = self.container or line.container
        if not self.origin.line:
            self.origin = origin
        self.last_line(line, origin.text, (source, origin.line))
        self.reach_stage("started")

    def last_line(self, line: Line, text: str, at: tuple[int, int]) -> None:
        """Its last line so far."""
        self.last = line.time if line.time is not None else self.last
        self.said, self.spoke = text[:LONGEST], at

    def reach_stage(self, stage: str) -> None:
        """The furthest stage wins."""
        self.stage = max(self.stage, STAGES.index(stage))

    def set_first(self, field: str, value: str) -> None:
        """A word for a field of `Rank`, the first one."""
        self.values.setdefault(field, value)

    def add_error(self, said: Said, severe: bool = True) -> None:
        """An error: the earliest counts. What is no more than a warning is one only if the process got no further."""
        if severe and (self.first is None or said.moment < self.first.moment):
            self.first = said
        elif not severe and (self.mild is None or said.moment < self.mild.moment):
            self.mild = said

    def set_exit(self, code: int) -> None:
        """How it ended, in Python's convention: a negative number is a signal."""
        if code < 0:
            self.signal = -code
        else:
            self.exit_code = code

    @property
    def claimed_rank(self) -> int | None:
        """Its rank: by a prefix, else in its largest communicator."""
        if self.rank is not None:
            return self.rank
        return self.claims[max(self.claims)] if self.claims else None

    def absorb(self, other: Process) -> None:
        """Take over what another record of the same process says."""
        for name in ("rank", "pid", "device", "step", "exit_code", "signal", "ended", "last"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(other, name))
        for name in ("node", "container", "namespace"):
            setattr(self, name, getattr(self, name) or getattr(other, name))
        for field, value in other.values.items():
            self.set_first(field, value)
        self.claims = {**other.claims, **self.claims}
        self.settings = {**other.settings, **self.settings}
        self.hcas = self.hcas or other.hcas
        self.held = self.held or other.held
        self.comms = {**other.comms, **self.comms}
        self.transports |= other.transports
        self.gdr = other.gdr if self.gdr is None else self.gdr
        self.stage = max(self.stage, other.stage)
        self.own_end = self.own_end or other.own_end
        if other.step is not None:
            self.step = max(self.step or 0, other.step)
        if other.first is not None:
            self.add_error(other.first)
        if other.mild is not None:
            self.add_error(other.mild, severe=False)
        if other.spoke > self.spoke:
            self.said, self.spoke = other.said, other.spoke
            self.last = other.last if other.last is not None else self.last
        self.origin = self.origin if self.origin.line else other.origin

    def fact(self, rank: int | None, about: Subject) -> Rank:
        """The record. Its origin is the first error, else the first line."""
        first = self.first or (self.mild if self.stage < STAGES.index("init") else None)
        pod = self.place[1] or about.pod
        return Rank(
            rank=rank,
            node=about.node or ("" if pod else self.node),  # in a pod, the host name is the pod's
            namespace=about.namespace,
            pod=pod,
            source=self.origin.source,
            pid=self.pid,
            device=self.device,
            world=max((size for size, claimed in self.claims.items() if claimed == rank), default=None),
            hcas=self.hcas,
            gdr=self.gdr,
            transports=sorted(self.transports),
            settings=self.settings,
            stage=STAGES[self.stage],
            set_up_last=self.own_end,
            last=self.last,
            said=self.said,
            step=self.step,
            error=first.name if first else "",
            error_text=first.origin.text[:LONGEST] if first else "",
            error_time=first.time if first and first.time is not None else self.ended,
            survivor=first.survivor if first else None,
            exit_code=self.exit_code,
            signal=self.signal,
            time=first.time if first else None,
            origin=first.origin if first else self.origin,
            holds=self.values.get("pci") or self.held,
            **self.values,  # type: ignore[arg-type]
        )


def address(bus: str) -> str:
    """A PCI address of NCCL's number: domain, bus, device and function as digits without colons.

    >>> address("1b000"), address("1e0"), address("11b000")
    ('0000:1b:00', '0000:00:1e', '0001:1b:00')
    """
    digits = bus.rjust(9, "0")[-12:]
    return pci.canonical(f"{digits[:-5].rjust(4, '0')}:{digits[-5:-3]}:{digits[-3:-1]}")
