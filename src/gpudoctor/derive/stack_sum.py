"""What the sampled processes of a job wait for, together: all for one another, or one for something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gpudoctor.derive.job_ranks import of_type
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.job import Stack, StackSum

TOGETHER = ("collective", "device")
MAIN = ("", "MainThread", "python", "python3")


def sum_stacks(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One record over the main threads of all processes; none without a stack."""
    every = [one for one in of_type(facts.get("stacks", []), Stack) if not one.worker]
    if not every:
        return {}
    main = [one for one in every if one.thread in MAIN] or every
    # One process that was looked at twice is one process.
    ranks: dict[tuple[str, int | None, int | None, int], Stack] = {}
    for number, one in enumerate(main):
        named = one.rank is not None or one.pid is not None
        ranks[one.node, one.rank, one.pid, 0 if named else number + 1] = one
    processes = sum(one.count for one in ranks.values())
    waiting = [one for one in ranks.values() if one.waits_in in TOGETHER]
    places = Counter[str]()
    for one in waiting:
        places[one.frames[0].partition(":")[0] if one.frames else ""] += one.count
    usual = places.most_common(1)[0] if places else ("", 0)
    first = next(iter(waiting or ranks.values()))
    nodes = {one.node for one in ranks.values()}
    together = StackSum(
        node=nodes.pop() if len(nodes) == 1 else "",
        processes=processes,
        waiting=sum(one.count for one in waiting),
        same=usual[1],
        function=usual[0].partition(" ")[0],
        elsewhere=sum(one.count for one in ranks.values() if one.waits_in and one.waits_in not in (*TOGETHER, "lock")),
        origin=first.origin,
    )
    return {"stack_sums": [together]}
