"""What all ranks of a distributed job show together: the kind of failure, who was first, who is behind, who is missing.

A rank that only waited, or that only says that another one is gone, is never the first. Hosts' clocks differ, so an order in time
decides only between ranks with an error of their own; what ranks say of each other (who lost whom) is counted beside it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from gpudoctor.derive.job_environment import environment
from gpudoctor.derive.job_progress import Progress, group_name, progress
from gpudoctor.derive.job_ranks import ACCUSING, MEETING, TERMINATED, WAITS, has_own_error, members, numbers, of_type
from gpudoctor.derive.job_rows import differences, error_text, groups
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.job import Collective, CollectiveTest, Communicator, Job, Rank, Setting
from gpudoctor.facts.kubernetes import Message, Pod
from gpudoctor.facts.stall import Pace
from gpudoctor.nodesets import fold
from gpudoctor.patterns import regex

PORT = regex(r"(?:<\d+>|\]?:\d+)$|^\[")  # of 10.0.0.2<41273>, gpu-07<4711>, [10.0.0.2]:4711
MOST = 65_536  # ranks of a job that a log may claim; more is noise
SLOWER = 1.2  # times as long as before: steps of a sound job differ by a few per cent (our choice)
SLOW = "ranks_named_slow"  # the program itself compared them


def state(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One Job for each job that was read, its groups of ranks, and the differences between them."""
    found = members(facts)
    collectives = of_type(facts.get("collectives", []), Collective)
    communicators = merge_communicators(of_type(facts.get("communicators", []), Communicator))
    for job in dict.fromkeys([*(one.job for one in collectives), *(one.job for one in communicators)]):
        found.setdefault(job, [])
    jobs: list[Fact] = []
    rows: list[Fact] = []
    apart: list[Fact] = []
    for job, ranks in found.items():
        own = [one for one in collectives if one.job == job] if len(found) > 1 else collectives
        comms = [one for one in communicators if one.job == job] if len(found) > 1 else communicators
        made, where = measure_job(job, with_reported(job, ranks, own), own, comms, facts)
        jobs.append(made)
        rows += groups(job, ranks, made.missing, where, ras=any(one.status for one in comms))
        apart += differences(job, ranks)
    return {"jobs": jobs, "rank_groups": rows, "rank_differences": apart}


def with_reported(job: str, ranks: list[Rank], collectives: list[Collective]) -> list[Rank]:
    """The ranks, with those that only a collective names (a flight recorder's dump alone)."""
    known = {one.rank for one in ranks}
    more: dict[int, Rank] = {}
    for one in collectives:
        if one.rank is not None and one.rank not in known and one.rank not in more:
            more[one.rank] = Rank(job=job, rank=one.rank, node=one.node, stage="running", origin=one.origin)
    ranks.extend(more[number] for number in sorted(more))
    return ranks


def implied_ranks(numbers: set[int]) -> set[int]:
    """The ranks that there must be where nobody says how many: one that is missing among many, not the other machines of the job.

    >>> implied_ranks({1, 2, 3}) - {1, 2, 3}, implied_ranks({8, 9, 10, 11}) - {8, 9, 10, 11}
    ({0}, set())
    """
    below = set(range(max(numbers, default=-1) + 1)) if max(numbers, default=0) < 5 * len(numbers) else numbers
    return below if len(numbers) > 2 and len(below - numbers) <= max(1, len(below) // 5) else numbers


def measure_job(
    job: str, ranks: list[Rank], collectives: list[Collective], communicators: list[Communicator], facts: Mapping[str, list[Fact]]
) -> tuple[Job, Progress | None]:
    """Measure one job, and where its ranks stand."""
    numbered = {one.rank: one for one in ranks if one.rank is not None}
    told = environment(of_type(facts.get("settings", []), Setting))
    world = world_of(ranks, communicators) or told.world
    everybody = set(range(world)) if world else implied_ranks(set(numbered))
    missing = sorted(everybody - numbered.keys()) if world else []
    talking = {number for number, one in numbered.items() if one.error or one.survivor}
    where = progress(collectives, everybody, talking, all_known=world is not None)
    begun = incomplete_ranks(communicators)
    first = first_failure(ranks)
    suspects = hosts_of(numbered, first, where)
    hosts = {one.node for one in ranks if one.node}
    pods = of_type(facts.get("pods", []), Pod)
    accused, by = accusation(of_type(facts.get("messages", []), Message))
    call = where.call if where else None
    evidence = first or (call if call else ranks[0] if ranks else None)
    kind = pace_of(kind_of(ranks, begun, where, first), facts)
    tests = of_type(facts.get("collective_tests", []), CollectiveTest)
    made = Job(
        job=job,
        world=world,
        seen=len(ranks),
        kind=kind,
        works=sign_of_progress(ranks, world, communicators, tests) if kind in ("running", "ended", "") else "",
        missing=missing,
        missing_text=numbers(missing),
        first=first.rank if first else None,
        first_node=first.node if first else "",
        first_pod=first.pod if first else "",
        first_error=first.error if first else "",
        first_text=first.error_text if first else "",
        first_said=error_text(first) if first else "",
        first_signal=first.signal if first else None,
        first_exit=first.exit_code if first else None,
        failing=sum(has_own_error(one) and one.error not in ACCUSING for one in ranks),
        lost=sum(one is not first and only_lost_peer(one) for one in ranks),
        accuses=first is not None and first.error in ACCUSING,
        accused=accused,
        accused_by=by,
        behind=where.behind if where else [],
        behind_text=numbers(where.behind) if where else "",
        silent=where.silent if where else [],
        silent_text=numbers(where.silent) if where else "",
        operation=where.operation if where else "",
        sequence=where.sequence if where else None,
        group=group_name(where) if where else "",
        disagreement=where.disagreement if where else "",
        odd_text=where.odd_text if where else "",
        together=where.together if where else None,
        waiting=len(where.waiting) if where else 0,
        elements=call.elements_in if call else None,
        timeout=call.timeout if call else None,
        set_up=numbers(begun),
        only_set_up=only_set_up(ranks, collectives),
        step=max((one.step for one in ranks if one.step is not None), default=None),
        nodes=len(hosts) or told.nodes,
        node=next(iter(hosts)) if len(hosts) == 1 and all(one.node for one in ranks) else "",
        suspects=suspects,
        suspects_text=fold(suspects) if suspects else "",
        namespace=next((pod.namespace for pod in pods if pod.target), ""),
        workload=next((pod.workload for pod in pods if pod.target and pod.workload), ""),
        time=first.error_time if first else call.time if call else None,
        origin=evidence.origin if evidence else Job(job=job).origin,
    )
    return made, where


def world_of(ranks: list[Rank], communicators: list[Communicator]) -> int | None:
    """How many ranks the job has: by most ranks' own word, else the largest communicator, never fewer than a rank's number says."""
    words = Counter(one.world for one in ranks if one.world and one.world <= MOST)
    told = [one.world for one in communicators if one.world and one.world <= MOST]
    world = words.most_common(1)[0][0] if words else max(told, default=None)
    highest = max((one.rank for one in ranks if one.rank is not None), default=-1)
    return world if world is not None and highest < world else None


def merge_communicators(records: list[Communicator]) -> list[Communicator]:
    """The communicators of all sources, each once: a log of one rank shows only that rank's part."""
    found: dict[tuple[str, str], list[Communicator]] = defaultdict(list)
    for one in records:
        found[one.job, one.communicator].append(one)
    made = []
    for parts in found.values():
        started = sorted({rank for one in parts for rank in one.started})
        completed = sorted({rank for one in parts for rank in one.completed})
        made.append(replace(parts[0], started=started, completed=completed))
    return made


def incomplete_ranks(communicators: list[Communicator]) -> set[int]:
    """The ranks that began the set-up of a communicator and did not complete it."""
    return {rank for one in communicators for rank in set(one.started) - set(one.completed)}


def first_failure(ranks: list[Rank]) -> Rank | None:
    """The rank with the first error of its own. One whose error is of the connection to another comes after the others, and last one
    of which only the exit is known.
    """

    def place(one: Rank) -> tuple[bool, bool, float]:
        return (not one.error, one.error in ACCUSING, one.error_time if one.error_time is not None else float("inf"))

    return min((one for one in ranks if has_own_error(one)), key=place, default=None)


def sign_of_progress(ranks: list[Rank], world: int | None, communicators: list[Communicator], tests: list[CollectiveTest]) -> str:
    """What shows that all ranks are set up and get on, where nothing says that they don't. Calls don't: who waits has called too."""
    if told := [one for one in communicators if one.status]:
        # A job that runs differs from rank to rank for a moment; a check compares two looks.
        well = all(one.status == "running" and set(one.errors) <= {"mismatch"} for one in told)
        gone = any(one.ras not in ("", "answers") for one in ranks)
        return "RAS shows all of its communicators running" if well and not gone else ""
    if tests:
        well = all(is_complete_test(one) and not one.wrong for one in tests)
        return f"{len(tests)} test{'s' * (len(tests) > 1)} of NCCL ended with right results" if well else ""
    heard = world is not None and len({one.rank for one in ranks if one.rank is not None}) == world
    if heard and all(one.stage == "ended" for one in ranks):
        return "all of them came to their end"
    step = max((one.step for one in ranks if one.step is not None), default=0)
    return f"training has reached step {step}" if heard and step > 1 else ""


def is_complete_test(test: CollectiveTest) -> bool:
    """Whether a test of NCCL has its closing lines, and these agree with its rows. Bandwidths are printed with two decimals."""
    if not (test.ended and test.rows) or test.out_of_bounds or test.average is None or test.mean is None:
        return False
    return abs(test.average - test.mean) <= 0.01 + 0.01 * test.mean


def only_set_up(ranks: list[Rank], collectives: list[Collective]) -> bool:
    """Whether all that is known of the ranks is that they are set up, or on the way: no step, no call, no end, no error."""
    seen = [one for one in ranks if one.stage in ("init", "running") or one.set_up_last]
    quiet = all(one.set_up_last and one.step is None and not one.error and one.exit_code is None and one.signal is None for one in seen)
    return bool(seen) and quiet and not collectives and all(one.stage != "ended" for one in ranks)


def only_lost_peer(one: Rank) -> bool:
    """Whether a rank only lost another one, or was ended because of it."""
    return one.error in ACCUSING or (not has_own_error(one) and (bool(one.survivor) or one.signal == TERMINATED))


def kind_of(ranks: list[Rank], begun: set[int], where: Progress | None, first: Rank | None) -> str:
    """The kind of failure; `running` and `ended` are none, "" = can't be told."""
    if first is not None:
        return "died"
    if where is not None and (where.waiting or where.disagreement):
        return "first_collective" if where.sequence is not None and where.sequence <= 1 else "hang"
    if begun:
        return "init"
    errors = {one.error for one in ranks}
    if errors & MEETING:
        return "rendezvous"
    if errors & WAITS:
        return "hang"
    if any(one.survivor or one.signal == TERMINATED for one in ranks):
        return "died"
    stages = {one.stage for one in ranks}
    return next((kind for kind in ("rendezvous", "init", "running", "ended") if kind in stages), "")


def pace_of(kind: str, facts: Mapping[str, list[Fact]]) -> str:
    """`slow` for a job that runs, and whose steps take longer since some step, or of which a rank was found slow; else the kind."""
    if kind not in ("running", ""):
        return kind
    paces = of_type(facts.get("paces", []), Pace)
    longer = any(one.slower is not None and one.slower >= SLOWER for one in paces)
    return "slow" if longer or any(one.name == SLOW for one in of_type(facts.get("messages", []), Message)) else kind


def hosts_of(numbered: Mapping[int, Rank], first: Rank | None, where: Progress | None) -> list[str]:
    """The hosts of the ranks that a fault is to be looked for on."""
    suspects = [first] if first is not None else []
    if where is not None:
        suspects += [numbered[rank] for rank in (*where.behind, *where.silent, *where.odd) if rank in numbered]
    return list(dict.fromkeys(one.node for one in suspects if one.node))


def accusation(messages: list[Message]) -> tuple[str, int]:
    """The peer that most survivors name, and how many lines do."""
    named: Counter[str] = Counter()
    for one in messages:
        if one.name in ACCUSING and one.detail:
            named[PORT.sub("", one.detail)] += one.count
    return named.most_common(1)[0] if named else ("", 0)
