"""The ranks of a job as rows for a person: those in one state folded into one row, and the fields in which some differ from the most."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from gpudoctor.derive.job_progress import Progress, position
from gpudoctor.derive.job_ranks import ACCUSING, MEETING, TERMINATED, WAITS, has_own_error, numbers
from gpudoctor.facts.job import Rank, RankDifference, RankGroup
from gpudoctor.nodesets import fold

ROWS = 40  # of one job: two screens
VALUE = 120  # characters of a value

# The order of the rows: what went wrong first, then who is missing, then those that only suffer, then the rest.
FAILED, ODD, BEHIND, MISSING, SILENT, SETTING_UP, WAITING, LOST, ENDED, WELL = range(10)
SIGNALS = {6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}
STAGES = {
    "started": "started, and said nothing of others",
    "rendezvous": "waits for the others to meet",
    "init": "began NCCL's set-up and did not complete it",
    "running": "runs",
    "ended": "ended",
}
# What NCCL's RAS says of a process.
BY_RAS = {"dead": (FAILED, "NCCL's RAS has lost its process"), "unresponsive": (BEHIND, "does not answer NCCL's RAS")}

State = tuple[int, str]
Said = Callable[[Rank], str]
SAID: dict[str, Said] = {
    "nccl_version": lambda one: one.nccl_version,
    "driver_version": lambda one: one.driver_version,
    "torch_version": lambda one: one.torch_version,
    "world": lambda one: "" if one.world is None else str(one.world),
    "network": lambda one: one.network,
    "plugin": lambda one: one.plugin,
    "interface": lambda one: one.interface,
    "link_layer": lambda one: one.link_layer,
    "gdr": lambda one: "" if one.gdr is None else "in use" if one.gdr else "not in use",
    "hcas": lambda one: ", ".join(sorted(one.hcas)),
    "channels": lambda one: one.channels,
}
# Fields whose name is not the word for it.
WORDS = {
    "nccl_version": "NCCL version",
    "driver_version": "driver version",
    "torch_version": "PyTorch version",
    "world": "number of ranks",
    "link_layer": "link layer",
    "gdr": "GPUDirect RDMA",
    "hcas": "adapters",
    "channels": "number of channels",
}
# Differ from rank to rank by their nature.
OWN = frozenset({"NCCL_HOSTID", "NCCL_COMM_ID", "NCCL_DEBUG_FILE", "NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_TOPO_DUMP_FILE"})


def groups(job: str, ranks: list[Rank], missing: list[int], progress: Progress | None, *, ras: bool = False) -> list[RankGroup]:
    """A row for each state, at most `ROWS`. `ras`: NCCL's RAS was asked, which names a rank only where something is wrong with it."""
    states: dict[State, list[Rank]] = defaultdict(list)
    for one in ranks:
        states[state(one, progress)].append(one)
    waits = waiting_since(progress)
    made = [group_row(job, key, found, waits) for key, found in states.items()]
    if missing:
        unread = (MISSING, "nothing was read of them" if len(missing) > 1 else "nothing was read of it")
        order, text = (WELL, "NCCL's RAS names nothing wrong") if ras else unread
        made.append(RankGroup(job=job, ranks=numbers(missing), count=len(missing), state=text, order=order))
    return sorted(made, key=lambda one: (one.order, -one.count, one.ranks))[:ROWS]


def group_row(job: str, key: State, ranks: list[Rank], waits: dict[int, float]) -> RankGroup:
    """One state as a row. Ranks without a number are counted and named by their hosts."""
    first = ranks[0]
    where = fold(one.node for one in ranks if one.node)
    if len(ranks) == 1 and first.device is not None:
        where = f"{where}, GPU {first.device}".lstrip(", ")
    known = [one.rank for one in ranks if one.rank is not None]
    return RankGroup(
        job=job,
        ranks=numbers(known) or "?",
        count=len(ranks),
        state=key[1],
        where=where,
        order=key[0],
        waits_from=earliest(waits.get(rank) for rank in known),
        heard=max((one.last for one in ranks if one.last is not None), default=None),
        ended=earliest(one.error_time for one in ranks),
        origin=first.origin,
    )


def waiting_since(progress: Progress | None) -> dict[int, float]:
    """When each rank began to wait in its operation: what it waited, before the line that says so; a dump has the beginning itself."""
    calls = {rank: at.waits for rank, at in progress.at.items() if at.waits is not None} if progress else {}
    began = {rank: call for rank, call in calls.items() if call.waited is not None or call.state == "started"}
    return {rank: call.time - (call.waited or 0.0) for rank, call in began.items() if call.time is not None}


def earliest(moments: Iterable[float | None]) -> float | None:
    """The first of some moments, None when none is known."""
    return min((moment for moment in moments if moment is not None), default=None)


def state(one: Rank, progress: Progress | None) -> State:
    """What a rank does or did, worst first."""
    if one.error in ACCUSING:
        return LOST, f"{'lost its peer' if one.survivor else 'has no connection to a peer'}: {error_text(one)}"
    if has_own_error(one):
        return FAILED, f"failed: {error_text(one)}"
    if one.ras in BY_RAS:
        return BY_RAS[one.ras]
    if progress is not None and one.rank is not None:
        at = position(progress, one.rank)
        if one.rank in progress.odd:
            return ODD, f"differs: {at}"
        if one.rank in progress.behind:
            return BEHIND, at
        if one.rank in progress.silent:
            return SILENT, "says nothing of the operation"
        if at:
            return WAITING, at
    if one.error in WAITS:
        return WAITING, f"waited and timed out: {error_text(one)}"
    if one.error in MEETING:
        return SETTING_UP, f"timed out while it waited for the others to meet: {error_text(one)}"
    if one.survivor:
        return LOST, f"lost its peer: {error_text(one)}"
    if one.signal == TERMINATED:
        return LOST, "was ended from outside (SIGTERM)"
    if one.stage in ("rendezvous", "init"):
        return SETTING_UP, STAGES[one.stage]
    return (ENDED if one.stage == "ended" else WELL), STAGES.get(one.stage, one.stage or "?")


def error_text(one: Rank) -> str:
    """The error of a rank as text, with how the process ended."""
    name = one.error.replace("_", " ")
    end = SIGNALS.get(one.signal, f"signal {one.signal}") if one.signal is not None else f"exit code {one.exit_code}"
    ended = one.signal is not None or one.exit_code not in (None, 0)
    return ", ".join(part for part in (name, end if ended else "") if part)


def differences(job: str, ranks: list[Rank]) -> list[RankDifference]:
    """A record for each value that fewer ranks have than the most, field by field."""
    made: list[RankDifference] = []
    for field, said in SAID.items():
        made += rank_differences(job, field, [(one, text) for one in ranks if (text := said(one))])
    across = [(one, ", ".join(kinds)) for one, kinds in transports(ranks)]
    made += rank_differences(job, "transports", [pair for pair in across if pair[1]])
    # NCCL names its settings as it starts: where the beginning was read, what isn't named isn't set.
    telling = [one for one in ranks if one.settings or one.interface]
    for name in sorted({name for one in telling for name in one.settings} - OWN):
        made += rank_differences(job, f"settings.{name}", [(one, one.settings.get(name, "not set")) for one in telling])
    return made


def transports(ranks: Iterable[Rank]) -> list[tuple[Rank, list[str]]]:
    """The ranks with all transports of their host: which rank of a host talks to the others is a matter of topology."""
    hosts: dict[str, set[str]] = defaultdict(set)
    chosen: dict[str, list[Rank]] = defaultdict(list)
    for one in ranks:
        if one.transports and one.node:
            hosts[one.node].update(one.transports)
            chosen[one.node].append(one)
    return [(one, sorted(hosts[node])) for node, found in chosen.items() for one in found]


def rank_differences(job: str, field: str, said: list[tuple[Rank, str]]) -> list[RankDifference]:
    """The values of one field that are not the usual one."""
    counted = Counter(text for _, text in said)
    if len(counted) < 2:
        return []
    usual = counted.most_common(1)[0][0]
    having: dict[str, list[Rank]] = defaultdict(list)
    for one, text in said:
        if text != usual:
            having[text].append(one)
    return [difference(job, field, text, usual, found) for text, found in sorted(having.items())[:ROWS]]


def difference(job: str, field: str, value: str, usual: str, ranks: list[Rank]) -> RankDifference:
    """One record; ranks without a number are named by their hosts."""
    hosts = {one.node for one in ranks if one.node}
    named = numbers(one.rank for one in ranks if one.rank is not None) or fold(hosts) or "?"
    node = hosts.pop() if len(hosts) == 1 else ""
    origin = ranks[0].origin
    return RankDifference(
        job=job,
        field=field,
        name=WORDS.get(field, field.removeprefix("settings.")),
        value=value[:VALUE],
        usual=usual[:VALUE],
        ranks=named,
        count=len(ranks),
        node=node,
        origin=origin,
    )
