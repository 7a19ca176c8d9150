"""What PyTorch says of single operations: the watchdog's time-outs and numbers, and the reports of ranks that call different things."""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Origin
from gpudoctor.facts.job import Collective
from gpudoctor.knowledge.collectives import group, operation
from gpudoctor.patterns import regex
from gpudoctor.tools.ranks.line import Line
from gpudoctor.tools.ranks.process import Process

MOST = 20_000  # operations of one log

# [PG ID 0 PG GUID 0(default_pg) Rank 5]  |  [PG 1 Rank 5]  |  [Rank 5]: in a subgroup the number is that of the group
# Rank 5]  failure detected …: who compares ranks cuts away what stands before
WHO = regex(
    r"(?:\[(?:PG (?:ID )?(?P<id>\d{1,9})(?: PG GUID (?P<guid>[^\s(\]]{1,64})(?:\((?P<name>[^)]{0,128})\))?)? )?|^\s{0,8})"
    r"Rank (?P<rank>\d{1,7})\]"
)
# WorkNCCL(SeqNum=25, OpType=_ALLGATHER_BASE, NumelIn=1024, NumelOut=8192, Timeout(ms)=600000) ran for 600083 milliseconds …
# WorkNCCL(OpType=ALLREDUCE, TensorShape=[1024], Timeout(ms)=1800000) ran for 1801910 milliseconds …         (up to 1.9)
WORK = regex(
    r"WorkNCCL\((?:SeqNum=(?P<number>\d{1,18}), )?OpType=(?P<op>\w{1,40})(?:, TensorShape=(?P<shape>\[[^\]]{0,200}\]))?"
    r"(?:, NumelIn=(?P<into>\d{1,18}))?(?:, NumelOut=(?P<out>\d{1,18}))?(?:, Timeout\(ms\)=(?P<limit>\d{1,12}))?\)"
    r"(?: ran for (?P<waited>\d{1,12}) milliseconds)?"
)
# a terminal or a mail broke that line: `WorkNCCL(SeqNum=…) ran for 600083 milliseconds …`  |  `NumelIn=1, … Timeout(ms)=600000) ran for …`
MARKS = (
    (
        "=rest",
        r"^(?:\[[^\]]{1,20}\]: ?)?\s*(?:WorkNCCL\(|(?:SeqNum|OpType|TensorShape|NumelIn|NumelOut|Timeout\(ms\))=).{0,200}\)"
        r"(?: ran for \d+|\s*$)",
        0,
    ),
)
# last enqueued work: 26, last completed work: 24  |  last enqueued NCCL work: 10, last completed NCCL work: 9.
NUMBERS = regex(
    r"[Ll]ast enqueued (?:NCCL )?work: (-?\d{1,18}),(?: last started (?:NCCL )?work: (-?\d{1,18}),)?"
    r" last completed (?:NCCL )?work: (-?\d{1,18})"
)
# failure detected by watchdog at work sequence id: 25  |  Timeout at NCCL work: 10  |  detected by watchdog at work: 38
AT = regex(r"(?:at work sequence id|at NCCL work|at work): (-?\d{1,18})")
# Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=2, OpType=ALLREDUCE, TensorShape=[1], TensorDtypes=Float, …
FINGERPRINT = regex(
    r"Rank (?P<rank>\d{1,7}) is running (?:collective: |inconsistent collective: )?(?:CollectiveFingerPrint)?\(?"
    r"(?:SequenceNumber=(?P<number>\d{1,18}),? ?)?"
    r"OpType=(?P<op>[A-Z_]{1,40}?)(?:,? ?TensorShape=(?P<shape>\[[^\]]{0,200}\])|[,)]|$)"
    r"(?:,? ?TensorDtypes=(?P<dtype>[A-Za-z0-9]{1,32}?)(?:,|Tensor|\)))?"
)


class Operations:
    """The operations that a log reports, one record for each process, group and number."""

    def __init__(self) -> None:
        self.made: dict[tuple[int, str, int | None], dict[str, Any]] = {}
        self.owners: dict[int, Process] = {}

    def record(self, process: Process, group: str, number: int | None) -> dict[str, Any] | None:
        """The record that further words are added to."""
        key = (process.number, group, number)
        if key not in self.made and len(self.made) >= MOST:
            return None
        self.owners[process.number] = process
        return self.made.setdefault(key, {"group": group, "sequence": number})

    def timed_out(self, line: Line, process: Process, origin: Origin) -> bool:
        """`Watchdog caught collective operation timeout: WorkNCCL(…)`. False where the line ends before that does."""
        match = WORK.search(line.text)
        if not match:
            return False
        process.reach_stage("running")
        into = self.record(process, group_of(line.text), number(match["number"]))
        if into is None or "state" in into:  # said up to three times: by the watchdog, its exception, and what()
            return True
        into.update(
            operation=operation(match["op"]),
            elements_in=number(match["into"]),
            elements_out=number(match["out"]),
            sizes=match["shape"] or "",
            timeout=seconds(match["limit"]),
            waited=seconds(match["waited"]),
            state="timed_out",
            time=line.time,
            origin=origin,
        )
        return True

    def read_sequence_numbers(self, line: Line, process: Process, origin: Origin) -> None:
        """`… at work sequence id: 25 PG status: last enqueued work: 26, last completed work: 24`."""
        at, numbers = AT.search(line.text), NUMBERS.search(line.text)
        if not numbers:
            return
        process.reach_stage("running")
        into = self.record(process, group_of(line.text), int(at[1]) if at else None)
        if into is None:
            return
        into.update(last_enqueued=int(numbers[1]), last_started=number(numbers[2]), last_completed=int(numbers[3]))
        into.setdefault("origin", origin)
        into.setdefault("time", line.time)

    def read_mismatch(self, line: Line, origin: Origin) -> None:
        """`Detected mismatch between collectives on ranks. Rank 0 is running collective: …, but Rank 1 is running collective: …`."""
        for match in FINGERPRINT.finditer(line.text):
            rank = int(match["rank"])
            key = (-1 - rank, "", number(match["number"]))
            if len(self.made) < MOST:
                self.made.setdefault(
                    key,
                    {
                        "rank": rank,
                        "sequence": number(match["number"]),
                        "operation": operation(match["op"]),
                        "sizes": match["shape"] or "",
                        "dtype": match["dtype"] or "",
                        "state": "started",
                        "time": line.time,
                        "origin": origin,
                    },
                )

    def read_nccl_call(self, process: Process, line: Line, origin: Origin, word: str, count: int, nth: int, comm: str) -> None:
        """NCCL's own line of a call (NCCL_DEBUG_SUBSYS=COLL): the last one of each communicator."""
        into = self.record(process, comm, None)
        if into is not None:
            into.update(
                sequence=nth,
                operation=operation(word),
                elements_in=count,
                last_enqueued=nth,
                state="launched",
                time=line.time,
                origin=origin,
            )

    def facts(self, ranks: dict[int, tuple[int | None, str]]) -> list[Collective]:
        """The records; `ranks` gives rank and host of a process by its number."""
        made = []
        together = self.calls_by_communicator()
        for key, fields in self.made.items():
            rank, node = ranks.get(key[0], (None, ""))
            made.append(Collective(**{"rank": rank, "node": node, **fields, **together.get(key, {})}))
        return made

    def calls_by_communicator(self) -> dict[tuple[int, str, int | None], dict[str, str]]:
        """The calls of NCCL's communicators, which each process knows by an address of its own, under the id that all know: only where
        their last ones have one number and aren't one operation. All others say no more than that the job ran.
        """
        last: dict[str, list[tuple[int, str, int | None]]] = {}
        for key in self.made:
            if key[1].startswith("0x") and (name := self.owners[key[0]].comms.get(key[1])):
                last.setdefault(name, []).append(key)
        apart: dict[tuple[int, str, int | None], dict[str, str]] = {}
        for name, keys in last.items():
            calls = [self.made[key] for key in keys]
            different = {(one["operation"], one["elements_in"]) for one in calls}
            if len({one["sequence"] for one in calls}) == 1 and len(different) > 1:
                apart.update({key: {"group": name} for key in keys})
        return apart


def group_of(text: str) -> str:
    """The process group that a line names: `default_pg`, `tensor_parallel 5` (description and name), `5` (name), "" where it names none.

    >>> group_of("[PG ID 0 PG GUID 0(default_pg) Rank 5] x"), group_of("[PG ID 2 PG GUID 5(tp) Rank 1] x"), group_of("[PG 1 Rank 5] x")
    ('default_pg', 'tp 5', '1')
    """
    match = WHO.search(text)
    if not match:
        return ""
    return group(match["guid"] or match["id"] or "", match["name"] or "")


def world_rank(text: str) -> int | None:
    """The rank that a line names, where it is that of the whole job: without a group, or in the default group."""
    match = WHO.search(text)
    return int(match["rank"]) if match and group_of(text) in ("", "default_pg") else None


def number(text: str | None) -> int | None:
    """A number, None for none."""
    return int(text) if text else None


def seconds(milliseconds: str | None) -> float | None:
    """Seconds, None for none."""
    return int(milliseconds) / 1000 if milliseconds else None
