"""What RAS says of a job, as it is read line by line or out of its JSON."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts, Origin
from gpudoctor.facts.job import Collective, Communicator, Rank
from gpudoctor.knowledge.collectives import operation
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

MOST = 200_000  # ranks, communicators and collectives, of each
MOST_LINES = 1_000_000
# ncclErrorToString: what a rank reports, by the number of the result; the last one only says that another rank is gone
REMOTE = "Remote process error"
ERRORS = ("", "Unhandled CUDA error", "System error", "Internal error", "Invalid argument", "Invalid usage", REMOTE)

# NCCL version 2.28.9 compiled with CUDA 13.0
VERSION = regex(r"NCCL version (\d[\w.+-]{0,30})")
#     0         1         4       7-8        32        32   RUNNING  INCOMPLETE
ROW = regex(r"\s*(\d{1,9})\s+(\d{1,9})\s+\d{1,9}\s+[\d-]{1,20}\s+(\d{1,9})\s+\d{1,9}\s+([A-Z]{2,12})\s+([A-Z,]{2,40})\s*$")
#       4          8            1         32       32        (the table of the whole job, or its last one:  nodes, processes, GPUs)
TOTAL = regex(r"\s*\d{1,9}(?:\s+\d{1,9}\s+\d{1,9})?\s+\d{1,9}\s+(\d{1,9})\s*$")
# #0-0 (cf264af53edbe986) INCOMPLETE
ABOUT = regex(r"#(\d{1,9})-\d{1,9} \(([0-9a-f]{1,16})\) ([A-Z]{2,12})\s*$")
#   Process 3487984 on node 172.16.64.213 managing GPU 5         (or: GPUs 0,1 (NVML 4,5))
PROCESS = regex(r"  Process (\d{1,9}) on node ([0-9A-Fa-f.:]{0,64}) managing GPUs? (\d{1,3})(?![\d,])?")
#   Communicator ranks have different AllReduce operation counts       (before 2.26: different collective operation counts)
COUNTS = regex(r"  Communicator ranks have different (\w{1,40}) operation counts")
#   26 ranks have launched up to operation 6650  |  2 ranks have status FINALIZE  |  3 ranks reported Remote process error
MANY = regex(r"  (\d{1,9}) ranks (have|reported) (.{1,60}?)\s*$")
#   Rank 4 -- GPU 4 managed by process 507289 on node 172.16.64.210
#   Rank 3 has launched up to operation 17 -- GPU 3 (NVML 7) managed by process 12 on node 10.0.0.4  |  Rank 9 -- [process information …]
ONE = regex(r"  Rank (\d{1,9})(?: (has|reported) (.{1,60}?))?(?: --|\s*$)")
PLACE = regex(r"-- GPU (\d{1,3})(?: \(NVML \d{1,3}\))? managed by process (\d{1,9}) on node ([0-9A-Fa-f.:]{1,64})")
#   The missing rank: 21  |  The missing ranks: 3,5           (before 2.28, without the process)
MISSING = regex(r"  The missing ranks?: ([\d, ]{1,200})")
# launched up to operation 6650  |  not launched any operations
LAUNCHED = regex(r"(?:launched up to operation (\d{1,19})|not launched any operations)$")
STATUS = regex(r"status ([A-Z]{2,12})$")


class Answer:
    """What was read so far. Ranks are found again by their process and GPU, else by their number."""

    def __init__(self, output: Output) -> None:
        self.source = output.origin_name()
        self.time = output.time or None
        self.version = ""
        self.gpus: int | None = None  # of the whole job
        self.rows: dict[int, dict[str, Any]] = {}
        self.communicators: dict[str, dict[str, Any]] = {}
        self.ranks: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.collectives: list[Collective] = []
        self.origin = Origin(self.source, 0, "")
        self.began = False  # the table of communicators
        self.hash = ""  # of the communicator that is spoken of
        self.part = ""  # INCOMPLETE, DEAD, ERROR, MISMATCH
        self.operation = ""
        self.words = ""  # said of the ranks that are listed next
        # Of the operation that is spoken of: how far ranks are that are only counted, and those that are named.
        self.counted: list[Collective] = []
        self.named: list[Collective] = []

    def read(self, number: int, line: str) -> None:
        """One line of the text."""
        self.origin = Origin(self.source, number, line.strip())
        if match := ABOUT.match(line):
            self.flush()
            row = self.rows.get(int(match[1]), {})
            self.hash, self.part, self.operation, self.words = match[2], match[3], "", ""
            known = self.communicator(match[2], **{key: row[key] for key in ("world", "status") if key in row})
            known["errors"] = [*dict.fromkeys([*known.get("errors", []), match[3].lower()])]
        elif line in ("INCOMPLETE", "DEAD", "TIMEOUT"):
            self.hash, self.part, self.words = "", line, ""
        elif match := VERSION.match(line):
            self.version = match[1]
        elif not self.hash and not self.part and (match := ROW.match(line)):
            errors = [] if match[5] == "OK" else match[5].lower().split(",")
            self.rows[int(match[1])] = {"count": int(match[2]), "world": int(match[3]), "status": match[4].lower(), "errors": errors}
            self.rows[int(match[1])]["origin"] = self.origin
        elif line.startswith("Communicators..."):
            self.began = True
        elif not self.began and (match := TOTAL.match(line)):
            self.gpus = int(match[1])
        elif match := PROCESS.match(line):
            self.rank(None, int(match[1]), match[2], int(match[3]), ras="dead" if self.part == "DEAD" else "unresponsive")
        elif match := COUNTS.match(line):
            self.flush()
            self.operation, self.words = operation(match[1]), ""
        elif match := MISSING.match(line):
            for word in re.findall(r"\d{1,9}", match[1]):
                self.missing(int(word), None, "", None)
        elif match := MANY.match(line):
            self.words = match[3]
            self.many(int(match[1]))
        elif match := ONE.match(line):
            place = PLACE.search(line)
            device, pid, node = (int(place[1]), int(place[2]), place[3]) if place else (None, None, "")
            self.one(int(match[1]), pid, node, device, match[3] or self.words)

    def many(self, count: int) -> None:
        """A line that counts ranks. Those that are named below it are taken out of the count."""
        if match := LAUNCHED.match(self.words):
            self.counted.append(self.read_last_operation(match, count=count))

    def flush(self) -> None:
        """The end of what is said of an operation. Where one count is without names, its ranks are all the others."""
        counted = [one for one in self.counted if one.count > 0]
        here = self.communicators.get(self.hash, {})
        others = set(range(min(here.get("world") or 0, MOST))) - {one.rank for one in self.named} - {*here.get("missing", ())}
        if len(counted) == 1 and counted[0].count == len(others) and self.as_global(0) == 0:
            counted = [replace(counted[0], rank=rank, count=1) for rank in sorted(others)]
        self.collectives += [*counted, *self.named][: MOST - len(self.collectives)]
        self.counted, self.named = [], []

    def one(self, rank: int, pid: int | None, node: str, device: int | None, words: str) -> None:
        """A rank's line."""
        if match := LAUNCHED.match(words):
            self.rank(rank, pid, node, device, ras="answers")
            self.named.append(self.read_last_operation(match, self.as_global(rank), node))
            if words == self.words and self.counted:
                self.counted[-1] = replace(self.counted[-1], count=self.counted[-1].count - 1)
        elif match := STATUS.match(words):
            left = match[1] in ("NOCOMM", "UNKNOWN")
            self.rank(rank, pid, node, device, ras="left" if left else "answers")
            if match[1] == "RUNNING" and self.hash:
                self.communicator(self.hash).setdefault("completed", []).append(rank)
        elif words in ERRORS[1:] or words.startswith("Unexpected error"):
            self.read_failed_rank(rank, pid, node, device, words)
        else:
            self.missing(rank, pid, node, device)

    def read_failed_rank(self, rank: int, pid: int | None, node: str, device: int | None, words: str) -> None:
        """A rank that reports an error."""
        self.rank(rank, pid, node, device, ras="answers", error_text=words, survivor=words == REMOTE)

    def missing(self, rank: int, pid: int | None, node: str, device: int | None) -> None:
        """A rank whose process did not answer."""
        self.rank(rank, pid, node, device)
        if self.hash:
            self.communicator(self.hash).setdefault("missing", []).append(rank)

    def communicator(self, name: str, **fields: Any) -> dict[str, Any]:
        """The communicator with a hash, as far as it is known."""
        if name not in self.communicators and len(self.communicators) < MOST:
            self.communicators[name] = {"origin": self.origin, "time": self.time, "order": len(self.communicators)}
        known = self.communicators.get(name, {})
        known.update(fields)
        return known

    def as_global(self, rank: int) -> int | None:
        """A communicator's rank as the job's: only where the communicator has all of its GPUs."""
        world = self.communicators.get(self.hash, {}).get("world")
        largest = self.gpus or max((row["world"] for row in self.rows.values()), default=None)
        return rank if world is not None and world == largest else None

    def rank(self, rank: int | None, pid: int | None, node: str, device: int | None, **fields: Any) -> None:
        """Add to what is known of a process' GPU."""
        number = self.as_global(rank) if rank is not None else None
        key = (node, pid, device) if pid is not None else ("rank", number if number is not None else (self.hash, rank))
        if key not in self.ranks and len(self.ranks) >= MOST:
            return
        known = self.ranks.setdefault(key, {"origin": self.origin, "node": node, "pid": pid, "device": device})
        if number is not None:
            known["rank"] = number
        if known.get("ras") in ("dead", "unresponsive"):  # said of the process, which is the stronger word
            fields.pop("ras", None)
        known.update(fields)

    def read_last_operation(self, match: re.Match[str], rank: int | None = None, node: str = "", count: int = 1) -> Collective:
        """The last operation of a rank, or of many that aren't named."""
        number = int(match[1] or 0)
        return Collective(
            rank=rank,
            node=node,
            group=f"{self.hash} {self.operation}",  # each operation is numbered by itself, before 2.26 all of them together
            operation="" if self.operation == "COLLECTIVE" else self.operation,
            sequence=number,
            state="launched",
            last_enqueued=number,
            count=count,
            time=self.time,
            origin=self.origin,
        )

    def facts(self) -> Facts:
        """The records. A missing rank and a missing process, one of each, are the same one."""
        self.flush()
        self.join()
        every = {"nccl_version": self.version, "source": self.source, "world": self.gpus, "stage": "running"}
        ranks: list[Fact] = [Rank(**every | one) for one in self.ranks.values()]
        named = [Communicator(communicator=name, **fields) for name, fields in self.communicators.items()]
        told: dict[tuple[Any, ...], int] = {}
        for one in named:
            told[one.world, one.status] = told.get((one.world, one.status), 0) + 1
        counted: list[Fact] = [
            Communicator(communicator=f"#{number}", order=len(named) + number, **row)
            for number, row in self.rows.items()
            if row["count"] > told.get((row["world"], row["status"]), 0)
        ]
        return {"ranks": ranks, "communicators": [*named, *counted], "collectives": list[Fact](self.collectives)}

    def join(self) -> None:
        """Before 2.28 the number and the process of a missing rank stand apart."""
        numbers = [key for key, one in self.ranks.items() if key[0] == "rank" and "rank" in one]
        processes = [key for key, one in self.ranks.items() if "rank" not in one and one.get("ras")]
        if len(numbers) == 1 and len(processes) == 1:
            self.ranks[processes[0]]["rank"] = self.ranks.pop(numbers[0])["rank"]
