"""RAS in JSON (`ncclras -f json`, NCCL 2.28.7 and later): every rank of every communicator, without a judgement.

    {"nccl_version": "2.29.1", "communicators": [{"hash": "0xae94423cfbb2ef4a", "size": 2, "ranks": [
        {"rank": 0, "host": "172.16.64.245", "pid": 1524344, "cuda_dev": 0, "status": {"init_state": 0, "async_error": 0,
         "finalize_called": false, "destroy_flag": false, "abort_flag": false}, "collective_counts": {"AllReduce": 17, …}}],
      "missing_ranks": [{"rank": 1, "host": …, "pid": …, "cuda_dev": 1, "status": {"unresponsive": true, "considered_dead": false}}]}],
     "ras": {"collection_time_sec": 0.0, "timeouts_count": 0}}

`init_state` and `async_error` are ncclResult_t: 0 is success, 7 in progress, anything else an error.
"""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts
from gpudoctor.facts.job import Collective
from gpudoctor.knowledge.collectives import operation
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.nccl.ras_answer import ERRORS, MOST, Answer
from gpudoctor.tools.parser import ParseError

IN_PROGRESS = 7
FURTHEST = ("nocomm", "init", "running", "finalize", "abort")  # the order in which RAS takes the status of a communicator from its ranks


class Status(msgspec.Struct):
    """Of a rank that answered, and of one that is missing."""

    init_state: int = 0
    async_error: int = 0
    finalize_called: bool = False
    destroy_flag: bool = False
    abort_flag: bool = False
    unresponsive: bool = False
    considered_dead: bool = False

    @property
    def word(self) -> str:
        """As the text of RAS has it."""
        if self.abort_flag:
            return "abort"
        if self.finalize_called or self.destroy_flag:
            return "finalize"
        return "running" if self.init_state == 0 else "init"


class Member(msgspec.Struct):
    """A rank of a communicator."""

    rank: int
    host: str = ""
    pid: int | None = None
    cuda_dev: int | None = None
    status: Status = msgspec.field(default_factory=Status)
    collective_counts: dict[str, int] = {}


class Comm(msgspec.Struct):
    """A communicator."""

    hash: str
    size: int = 0
    ranks: list[Member] = []
    missing_ranks: list[Member] = []


class Job(msgspec.Struct):
    """The whole answer."""

    communicators: list[Comm]
    nccl_version: str = ""


def job(output: Output, answer: Answer) -> Facts:
    """The same records as from the text, with the numbers of all ranks where they differ."""
    try:
        said = decoder(Job, strict=False).decode(b"".join(output.pages))
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ParseError(f"{output.origin_name()}: not an answer of NCCL's RAS in JSON: {error}") from None
    answer.version = said.nccl_version[:30]
    answer.gpus = max((one.size for one in said.communicators), default=None)
    for one in said.communicators[:MOST]:
        communicator(answer, one)
    return answer.facts()


def communicator(answer: Answer, one: Comm) -> None:
    """One communicator with its ranks."""
    answer.hash = one.hash.removeprefix("0x")[:16].rjust(16, "0")
    words = {member.status.word for member in one.ranks}
    known = answer.communicator(answer.hash, world=one.size, status=max(words, key=FURTHEST.index, default=""))
    known["completed"] = sorted(member.rank for member in one.ranks if member.status.init_state == 0)
    known["started"] = sorted(member.rank for member in one.ranks)
    errors = {"mismatch"} if len(words) > 1 else set()
    for member in one.ranks[:MOST]:
        failed = next((code for code in (member.status.init_state, member.status.async_error) if code not in (0, IN_PROGRESS)), 0)
        if failed:
            errors.add("error")
            words_of = ERRORS[failed] if 0 < failed < len(ERRORS) else "Unexpected error"
            answer.read_failed_rank(member.rank, member.pid, member.host, member.cuda_dev, words_of)
        else:
            answer.rank(member.rank, member.pid, member.host, member.cuda_dev, ras="answers")
    for member in one.missing_ranks[:MOST]:
        state = "dead" if member.status.considered_dead else "unresponsive" if member.status.unresponsive else "left"
        errors.add("mismatch" if state == "left" else "incomplete")
        answer.rank(member.rank, member.pid, member.host, member.cuda_dev, ras=state)
        known.setdefault("missing", []).append(member.rank)
    for name in dict.fromkeys(name for member in one.ranks for name in member.collective_counts):
        counts = [member.collective_counts.get(name, 0) for member in one.ranks]
        if len(set(counts)) > 1:
            errors.add("mismatch")
            answer.collectives += [
                count_of(answer, member, name, count)
                for member, count in zip(one.ranks, counts, strict=True)
                if len(answer.collectives) < MOST
            ]
    known["errors"] = sorted(errors)


def count_of(answer: Answer, member: Member, name: str, count: int) -> Collective:
    """How many of an operation a rank has launched."""
    return Collective(
        rank=answer.as_global(member.rank),
        node=member.host,
        group=f"{answer.hash} {operation(name)}",
        operation=operation(name),
        sequence=count,
        state="launched",
        last_enqueued=count,
        time=answer.time,
        origin=answer.origin,
    )
