"""The ranks of a job, each as one record: what several logs, dumps and pods say of the same process put together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gpudoctor.facts import Fact
from gpudoctor.facts.job import Rank
from gpudoctor.facts.kubernetes import Node, Pod
from gpudoctor.nodesets import runs

SHOWN = 12  # stretches of rank numbers that a line names
FAR = ("started", "rendezvous", "init", "running", "ended")  # stages in their order
UNSET: dict[str, Any] = {field.name: field.default for field in msgspec.structs.fields(Rank)}
TERMINATED = 15  # SIGTERM: what launchers and schedulers end the others with
# Errors that only say that something did not come: who names one waited. In a collective, or for the others to meet.
WAITS = frozenset(
    {
        "collective_timed_out",
        "watchdog_reports_work",
        "watchdog_dump_signal",
        "blocking_wait_timed_out",
        "desync_report",
        "monitored_barrier_failed",
        "gloo_timed_out",
    }
)
MEETING = frozenset(
    {
        "store_connect_timed_out",
        "store_connect_refused",
        "store_no_route",
        "store_name_not_resolved",
        "store_waits_for_clients",
        "unique_id_not_received",
        "rendezvous_failed",
        "rendezvous_closed",
        "gloo_not_connected",
    }
)
# Errors of the connection to a peer: the peer, or the way there, may be at fault, and who names it sound.
ACCUSING = frozenset(
    {
        "nccl_connection_closed",
        "nccl_connection_reset",
        "nccl_connection_refused",
        "nccl_connect_timed_out",
        "nccl_connection_no_route",
        "nccl_connection_timed_out",
        "nccl_ib_retries_exceeded",
        "nccl_ib_receiver_not_ready",
        "nccl_ib_remote_access_error",
        "nccl_ib_queue_pair_timed_out",
        "nccl_ib_queue_pair_unreachable",
        "gloo_connection_closed",
    }
)

F = TypeVar("F", bound=Fact)


def of_type(records: Iterable[Fact], kind: type[F]) -> list[F]:
    """The records of one class."""
    return [record for record in records if isinstance(record, kind)]


def members(facts: Mapping[str, list[Fact]]) -> dict[str, list[Rank]]:
    """The ranks by job, each once, in the order of their numbers; those without a number come last."""
    pods = {(pod.namespace, pod.pod): pod for pod in of_type(facts.get("pods", []), Pod)}
    hosts = addresses(of_type(facts.get("ranks", []), Rank), of_type(facts.get("nodes", []), Node))
    jobs: dict[str, dict[object, list[Rank]]] = defaultdict(lambda: defaultdict(list))
    for number, one in enumerate(of_type(facts.get("ranks", []), Rank)):
        one = place_on_node(one, pods)
        one = replace(one, node=hosts[one.node]) if one.node in hosts else one
        jobs[one.job][key_of(one, number)].append(one)
    return {job: sorted((merge_lives(records) for records in found.values()), key=in_order) for job, found in jobs.items()}


def addresses(ranks: Iterable[Rank], nodes: Iterable[Node]) -> dict[str, str]:
    """Address → host, as NCCL's bootstrap and Kubernetes tell them: RAS names machines by their addresses. One of two hosts is nobody's."""
    seen: dict[str, set[str]] = defaultdict(set)
    for rank in ranks:
        if rank.address and rank.node and rank.node != rank.address:
            seen[rank.address].add(rank.node)
    for node in nodes:
        for address in node.addresses:
            if address != node.node:
                seen[address].add(node.node)
    return {address: min(names) for address, names in seen.items() if len(names) == 1}


def key_of(one: Rank, number: int) -> object:
    """What makes two records the same rank: its number; else host and process; else nothing."""
    if one.rank is not None:
        return one.rank
    if one.pid is not None:
        return (one.node, one.pid)
    return (one.node, one.pod, one.device) if one.device is not None else ("", number)


def in_order(one: Rank) -> tuple[bool, int, str, int]:
    """The place of a rank among the others."""
    return (one.rank is None, one.rank or 0, one.node, one.device or 0)


def place_on_node(one: Rank, pods: Mapping[tuple[str, str], Pod]) -> Rank:
    """A rank on the node that its pod is on: in a pod, the host name of the log is the pod's."""
    pod = pods.get((one.namespace, one.pod))
    return replace(one, node=pod.node) if pod and pod.node else one


def merge_lives(records: list[Rank]) -> Rank:
    """What all records of one rank say. Of several lives (a restart) the one that failed counts, else the last."""
    lives: dict[int | None, list[Rank]] = defaultdict(list)
    for one in records:
        lives[one.pid].append(one)
    unnamed = lives.pop(None, [])  # a dump or a launcher names no process
    if not lives:
        return merge_records(unnamed)
    made = [merge_records(life) for life in lives.values()]
    chosen = max(made, key=lambda one: (has_own_error(one), one.last or 0.0))
    return merge_records([chosen, *unnamed])


def merge_records(records: list[Rank]) -> Rank:
    """The first record with what it lacks taken from the others; settings and transports of all, the earliest own error, the last words."""
    if len(records) == 1:
        return records[0]
    first, rest = records[0], records[1:]
    changes: dict[str, Any] = {}
    for name, unset in UNSET.items():
        if getattr(first, name) == unset:
            changes[name] = next((getattr(one, name) for one in rest if getattr(one, name) != unset), unset)
    guilty = min((one for one in records if one.error), key=lambda one: (not has_own_error(one), one.error_time or 0.0), default=first)
    last = max(records, key=lambda one: one.last or 0.0)
    changes |= {name: getattr(guilty, name) for name in ("error", "error_text", "error_time", "survivor")}
    changes |= {"last": last.last, "said": last.said or first.said}
    changes["stage"] = max((one.stage for one in records), key=lambda stage: FAR.index(stage) if stage in FAR else -1)
    changes["settings"] = {name: value for one in reversed(records) for name, value in one.settings.items()}
    changes["transports"] = sorted({name for one in records for name in one.transports})
    return replace(first, **changes)


def has_own_error(one: Rank) -> bool:
    """Whether the rank has an error of its own: not only that it waited, or that another one is gone; ended from outside is none."""
    if one.error:
        return not one.survivor and one.error not in WAITS | MEETING
    return one.signal not in (None, TERMINATED) or (one.exit_code not in (None, 0) and one.signal is None)


def numbers(ranks: Iterable[int]) -> str:
    """Rank numbers folded: `3, 17-24`.

    >>> numbers([3, 17, 18, 19]), numbers([])
    ('3, 17-19', '')
    """
    ordered = sorted(set(ranks))
    stretches = [str(a) if a == b else f"{a}-{b}" for a, b in runs(ordered)] if ordered else []
    more = f", … ({len(ordered)} ranks)" if len(stretches) > SHOWN else ""
    return ", ".join(stretches[:SHOWN]) + more


def ranks_text(ranks: Iterable[int]) -> str:
    """Ranks as text with their noun: `rank 3`, `ranks 0-7`."""
    found = set(ranks)
    return f"{'rank' if len(found) == 1 else 'ranks'} {numbers(found)}" if found else ""
