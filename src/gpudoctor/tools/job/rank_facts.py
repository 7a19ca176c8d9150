"""The messages and settings of a job's logs as facts: equal ones of one rank are one record, and a storm of them can't fill the memory."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.job import Setting
from gpudoctor.facts.kubernetes import Message
from gpudoctor.tools.common.messages import MOST_DIFFERENT, Hit
from gpudoctor.tools.common.setting import setting
from gpudoctor.tools.ranks.line import Line
from gpudoctor.tools.ranks.process import Process

MOST_OF_ONE = 512  # records of one name: 4,096 survivors say the same


class Heard:
    """Equal messages of one process."""

    __slots__ = ("container", "count", "first", "last", "origin", "owner", "time")

    def __init__(self, hit: Hit, line: Line, origin: Origin, owner: Process) -> None:
        self.first, self.origin, self.owner, self.count = hit, origin, owner, 1
        self.time, self.last, self.container = line.time, line.time, line.container


class Facts:
    """What is neither a rank nor an operation."""

    def __init__(self, about: Subject) -> None:
        self.about = about
        self.heard: dict[tuple[str | int, ...], Heard] = {}
        self.of_name: dict[str, int] = {}

    def message(self, hit: Hit, line: Line, origin: Origin, process: Process, *, benign: bool) -> None:
        """One known line. What is benign is kept once a host; of a name with very many records the further ones count with the first."""
        key: tuple[str | int, ...] = (hit.name, hit.detail, process.node if benign else process.number)
        many = self.of_name.get(hit.name, 0) >= MOST_OF_ONE or len(self.heard) >= MOST_DIFFERENT
        if key not in self.heard and many:
            key = (hit.name,)
        heard = self.heard.get(key)
        if heard is None:
            self.heard[key] = Heard(hit, line, origin, process)
            self.of_name[hit.name] = self.of_name.get(hit.name, 0) + 1
        else:
            heard.count += 1
            heard.last = line.time if line.time is not None else heard.last

    def messages(self, ranks: dict[int, tuple[int | None, str]]) -> list[Message]:
        """The records; `ranks` gives rank and host of a process by its number."""
        made = []
        for key, heard in self.heard.items():
            rank, node = ranks.get(heard.owner.number, (None, heard.owner.node))
            pod = heard.owner.place[1] or self.about.pod
            made.append(
                Message(
                    name=heard.first.name,
                    detail=heard.first.detail,
                    count=heard.count,
                    source="log",
                    namespace=self.about.namespace,
                    pod=pod,
                    container=heard.container or self.about.container,
                    node=self.about.node or ("" if pod else node),
                    workload=self.about.workload,
                    component=self.about.component,
                    rank=rank if len(key) > 1 and isinstance(key[2], int) else None,
                    time=heard.time,
                    last=heard.last,
                    origin=heard.origin,
                )
            )
        return made

    def settings(self, ranks: list[tuple[int | None, Process]]) -> list[Setting]:
        """The variables that processes report, one record for each host or pod and value."""
        made: dict[tuple[str, ...], Setting] = {}
        for _, process in ranks:
            pod = process.place[1] or self.about.pod
            node = self.about.node or ("" if pod else process.node)
            for name, value in process.settings.items():
                made.setdefault(
                    (node, pod, name, value),
                    setting(name, value, node=node, namespace=self.about.namespace, pod=pod, origin=process.origin),
                )
        return list(made.values())

    def with_place(self, fact: Any, origin: Origin) -> Any:
        """A fact that was read out of one line, with the place of that line."""
        return replace(fact, origin=origin)
