"""PyTorch's flight recorder: the last operations of one rank, as it dumped them when a collective timed out.

One file a rank, a pickle (of plain data) or JSON; the number at the end of its name is the rank: nccl_trace_rank_5,
comm_lib_trace_rank_5. Its shape (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp, versions 1.0 to 2.10):

    {"version": "2.4", "nccl_version": "2.27.5",                      also comm_lib_version
     "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},
     "pg_status": {"0": {"last_enqueued_collective": 12, "last_started_collective": 12, "last_completed_collective": 11}},
     "entries": [{"record_id": 11, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 12, "p2p_seq_id": 0,
                  "is_p2p": false, "profiling_name": "nccl:all_reduce", "input_sizes": [[1024]], "input_dtypes": ["Float"],
                  "time_created_ns": 1772366400000000000, "time_discovered_started_ns": …, "time_discovered_completed_ns": null,
                  "state": "started", "timeout_ms": 600000, "retired": false,
                  "frames": [{"name": "all_reduce", "filename": ".../distributed_c10d.py", "line": 2696}, …]}, …]}

JSON has no frames, numbers of pg_status as text, and 0 for a time that isn't known. Of the thousands of entries those are kept that tell
where the rank stands: in each process group the last one completed, the first ones that aren't, and the last one of all.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.job import Collective, Communicator, Rank
from gpudoctor.knowledge.collectives import group, operation
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.torch import plain_pickle

UNFINISHED = 2  # of each process group: the one that the rank waits in, and the next
MOST_GROUPS = 64  # process groups of one rank: data, tensor, pipeline, context, expert … and what they are combined to
MOST_ENTRIES = 200_000  # TORCH_FR_BUFFER_SIZE is 2,000
MOST_RANKS = 1_000_000
FRAMES = 12  # of a stack: the call, torch's wrappers, and the caller's own lines
TEXT = 200

# …/nccl_trace_rank_5  |  comm_lib_trace_rank_12.json  |  nccl_trace_5.pickle
RANK = regex(r"(?:^|[^0-9A-Za-z]|rank)(\d{1,7})(?:\.[A-Za-z]{1,12}){0,2}$")
COMPILED = (".cpp", ".cc", ".c", ".h", ".hpp", ".cu", ".so")  # frames of TORCH_NCCL_TRACE_CPP_STACK

Entry = Mapping[str, Any]


def dump(output: Output, about: Subject) -> Facts:
    """The rank, its operations that matter, and the process groups that it takes part in."""
    data = decode_dump(output)
    origin = Origin(output.origin_name(), 0, "")
    rank = rank_of(output)
    entries = [one for one in as_list(data.get("entries"))[-MOST_ENTRIES:] if isinstance(one, Mapping)]
    config = {text(name): one for name, one in as_mapping(data.get("pg_config")).items() if isinstance(one, Mapping)}
    groups: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((group_of(entry)[0], entry.get("is_p2p") is True), []).append(entry)
    status = as_mapping(data.get("pg_status"))
    collectives: list[Fact] = [
        collective(entry, state, status, rank, about, origin)
        for members in list(groups.values())[:MOST_GROUPS]
        for entry, state in that_matter(members, status)
    ]
    members = {name: ranks_of(one.get("ranks")) for name, one in list(config.items())[:MOST_GROUPS]}
    times = [time for one in entries[-1:] for time in (seconds(one.get(key)) for key in TIMES) if time is not None]
    told = Rank(
        rank=rank,
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        source=output.origin_name(),
        world=max(map(len, members.values()), default=0) or None,
        nccl_version=text(data.get("nccl_version") or data.get("comm_lib_version") or ""),
        stage="running" if entries else "started",
        last=max(times, default=None),
        origin=origin,
    )
    communicators: list[Fact] = [
        Communicator(
            communicator=name,
            group=group(name, text(config[name].get("desc"))),
            world=len(ranks) or None,
            members=sys.intern(fold_ranks(ranks)),
            started=[rank] if rank is not None else [],
            completed=[rank] if rank is not None and any(one.get("state") != "scheduled" for one in groups.get((name, False), [])) else [],
            order=order,
            origin=origin,
        )
        for order, (name, ranks) in enumerate(members.items())
        if (name, False) in groups or (name, True) in groups  # NCCL sets a group up when it is first used
    ]
    return {"ranks": [told], "collectives": collectives, "communicators": communicators}


TIMES = ("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns")


def decode_dump(output: Output) -> Entry:
    """The dump as a mapping. Raises ParseError when it is none, or when its pickle asks for more than data."""
    raw = b"".join(output.pages)
    try:
        data = msgspec.json.decode(raw) if raw.lstrip()[:1] == b"{" else plain_pickle.load(raw)
    except (plain_pickle.Refused, plain_pickle.Broken, msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise ParseError(f"{output.origin_name()}: not a flight recorder's dump: {error}") from None
    if not isinstance(data, Mapping) or not ("entries" in data or "pg_config" in data):
        raise ParseError(f"{output.origin_name()}: not a flight recorder's dump: it has neither entries nor pg_config")
    return data


def that_matter(members: list[Entry], status: Entry) -> Iterable[tuple[Entry, str]]:
    """Of the entries of one group, in their order: the last one completed, the first ones that aren't, the last one; each with its state.

    A coalesced group of operations is measured as a whole, by an entry of its own with the same number: its parts stay `scheduled`.
    """
    last = whole_number(as_mapping(status.get(text(members[-1].get("pg_id")))).get("last_completed_collective"))
    whole = {number_of(one): one for one in members if operation(text(one.get("profiling_name"))) == "COALESCED"}
    states = [state_of(whole.get(number_of(one), one) if whole else one, last) for one in members]
    done = [index for index, state in enumerate(states) if state == "completed"]
    waiting = [index for index, state in enumerate(states) if state != "completed"]
    chosen = sorted({*done[-1:], *waiting[:UNFINISHED], len(members) - 1})
    return [(members[index], states[index]) for index in chosen]


def state_of(entry: Entry, last: int | None) -> str:
    """scheduled, started, completed; timed_out for one that the watchdog gave up: retired, and not completed.

    `last` is the last number that the group has completed: a state may be older than it.
    """
    state = text(entry.get("state"))
    if state == "completed":
        return state
    number = number_of(entry)
    if last is not None and number is not None and number <= last and entry.get("is_p2p") is not True:
        return "completed"
    return "timed_out" if entry.get("retired") is True else state


def collective(entry: Entry, state: str, status: Entry, rank: int | None, about: Subject, origin: Origin) -> Collective:
    """The record of an entry."""
    own = as_mapping(status.get(text(entry.get("pg_id"))))
    timeout = whole_number(entry.get("timeout_ms"))
    duration = entry.get("duration_ms")
    started = seconds(entry.get("time_discovered_started_ns"))
    return Collective(
        rank=rank,
        node=about.node,
        group=sys.intern(group(*group_of(entry))),
        sequence=number_of(entry),
        operation=sys.intern(operation(text(entry.get("profiling_name")))),
        elements_in=elements(entry.get("input_sizes")),
        elements_out=elements(entry.get("output_sizes")),
        sizes=sys.intern(str(entry.get("input_sizes"))[:TEXT]) if is_sizes(entry.get("input_sizes")) else "",
        dtype=sys.intern(", ".join(dict.fromkeys(map(text, as_list(entry.get("input_dtypes"))[:8])))),
        state=sys.intern(state),
        timeout=timeout / 1000 if timeout is not None else None,
        waited=float(duration) / 1000 if isinstance(duration, int | float) else None,
        frames=[sys.intern(one) for one in frames(entry.get("frames"))],
        last_enqueued=operation_number(own.get("last_enqueued_collective")),
        last_started=operation_number(own.get("last_started_collective")),
        last_completed=operation_number(own.get("last_completed_collective")),
        time=started if started is not None else seconds(entry.get("time_created_ns")),
        origin=origin,
    )


def rank_of(output: Output) -> int | None:
    """The rank that a dump is of: the number at the end of its name, which is the only place that says it."""
    name = (output.source or (output.command.argv[-1] if output.command.argv else "")).rpartition("/")[2]
    match = RANK.search(name.removesuffix(".gz"))
    return int(match.group(1)) if match else None


def group_of(entry: Entry) -> tuple[str, str]:
    """(name, description) of an entry's process group; older dumps have the number only."""
    named = as_list(entry.get("process_group"))
    if len(named) >= 2:
        return text(named[0]), text(named[1])
    return text(named[0] if named else entry.get("pg_id", "")), ""


def number_of(entry: Entry) -> int | None:
    """The number of an entry in its group: that of point-to-point operations is counted apart, and older dumps have one only."""
    key = "p2p_seq_id" if entry.get("is_p2p") is True else "collective_seq_id"
    return whole_number(entry.get(key, entry.get("seq_id")))


def ranks_of(value: Any) -> list[int]:
    """The global ranks of a group: "[0, 1, 2, 3]", or a list of numbers."""
    words = re.findall(r"\d{1,7}", value[: MOST_RANKS * 8]) if isinstance(value, str) else as_list(value)
    return [number for number in map(whole_number, words[:MOST_RANKS]) if number is not None]


def fold_ranks(ranks: Iterable[int]) -> str:
    """Ranks as people write them: 0-7,16."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def frames(value: Any) -> list[str]:
    """A stack, innermost first, as `file:line function`; without compiled code."""
    found: list[str] = []
    for one in as_list(value)[:512]:
        if len(found) >= FRAMES:
            break
        if isinstance(one, Mapping) and (name := text(one.get("filename"))) and not name.endswith(COMPILED) and name != "??":
            found.append(f"{name}:{whole_number(one.get('line')) or 0} {text(one.get('name'))}")
    return found


def elements(value: Any) -> int | None:
    """How many elements tensors of these shapes have together."""
    if not is_sizes(value):
        return None
    return int(sum(prod(shape) for shape in value))


def is_sizes(value: Any) -> bool:
    """Whether a value is a list of shapes: [[1024, 8], [16]]."""
    shapes = as_list(value)
    return (
        len(shapes) <= 4096
        and isinstance(value, list)
        and all(
            isinstance(shape, list) and len(shape) <= 16 and all(type(size) is int and 0 <= size < 1 << 48 for size in shape)
            for shape in shapes
        )
    )


def seconds(value: Any) -> float | None:
    """Nanoseconds as seconds; 0 and None are "not yet"."""
    number = whole_number(value)
    return number / 1e9 if number else None


def operation_number(value: Any) -> int | None:
    """The number of a group's last operation; -1 is "none yet", which is 0."""
    number = whole_number(value)
    return max(number, 0) if number is not None else None


def whole_number(value: Any) -> int | None:
    """A number, also one that JSON has as text."""
    if type(value) is int:
        return value if abs(value) < 1 << 63 else None
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value) else None


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """A list or a tuple as a list, or an empty one."""
    return list(value) if isinstance(value, list | tuple) else []


def text(value: Any) -> str:
    """A short text; a number as text; "" for anything else."""
    return value[:TEXT] if isinstance(value, str) else str(value) if type(value) is int else ""
