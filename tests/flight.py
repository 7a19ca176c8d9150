"""Flight recorder dumps as torch writes them: what they say, and the bytes of its pickler (protocol 2, texts remembered by value).

torch/csrc/distributed/c10d/FlightRecorderDetail.hpp and torch/csrc/jit/serialization/pickler.cpp
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

START = 1772366400 * 10**9  # 2026-03-01T12:00:00Z
STACK = [
    {"name": "all_reduce", "filename": "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", "line": 2811},
    {"name": "wrapper", "filename": "/opt/venv/lib/python3.12/site-packages/torch/distributed/c10d_logger.py", "line": 81},
    {"name": "step", "filename": "/workspace/train.py", "line": 214},
    {"name": "<module>", "filename": "/workspace/train.py", "line": 340},
]


def entry(number: int, state: str = "completed", operation: str = "all_reduce", **more: Any) -> dict[str, Any]:
    """One operation; a second for each number."""
    created = START + number * 10**9
    return {
        "frames": STACK,
        "record_id": number,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "thread_name": "pt_main_thread",
        "thread_id": "140213345123328",
        "collective_seq_id": number,
        "p2p_seq_id": 0,
        "op_id": number,
        "profiling_name": f"nccl:{operation}",
        "time_created_ns": created,
        "input_sizes": [[1024, 4096]],
        "input_dtypes": ["BFloat16"],
        "output_sizes": [[1024, 4096]],
        "output_dtypes": ["BFloat16"],
        "state": state,
        "time_discovered_started_ns": None if state == "scheduled" else created + 10**6,
        "time_discovered_completed_ns": created + 2 * 10**6 if state == "completed" else None,
        "retired": state == "completed",
        "timeout_ms": 600000,
        "is_p2p": False,
    } | more


def dump(entries: Iterable[dict[str, Any]], world: int = 8, *, enqueued: int, completed: int, **more: Any) -> dict[str, Any]:
    """A rank's dump."""
    return {
        "version": "2.10",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": f"[{', '.join(map(str, range(world)))}]"}},
        "comm_lib_version": "2.27.5",
        "pg_status": {
            "0": {"last_enqueued_collective": enqueued, "last_started_collective": enqueued, "last_completed_collective": completed}
        },
        "entries": list(entries),
    } | more


def waiting(at: int, *, first: int = 1, world: int = 8, operation: str = "all_reduce", **more: Any) -> dict[str, Any]:
    """The dump of a rank that completed all before `at` and waits in it."""
    entries = [entry(number) for number in range(first, at)]
    return dump([*entries, entry(at, "started", operation, **more)], world, enqueued=at, completed=at - 1)


def pickled(value: Any) -> bytes:
    """The bytes that torch's pickler writes."""
    out = bytearray(b"\x80\x02")
    texts: dict[str, int] = {}
    shared: dict[int, int] = {}

    def remember() -> int:
        place = len(texts) + len(shared)
        out.extend(b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<I", place))
        return place

    def recall(place: int) -> None:
        out.extend(b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<I", place))

    def items(values: Sequence[Any]) -> None:
        out.extend(b"(")
        for one in values:
            push(one)

    def push(one: Any) -> None:
        if isinstance(one, str):
            if one in texts:
                recall(texts[one])
                return
            raw = one.encode()
            out.extend(b"X" + struct.pack("<I", len(raw)) + raw)
            texts[one] = remember()
        elif one is None:
            out.extend(b"N")
        elif isinstance(one, bool):
            out.extend(b"\x88" if one else b"\x89")
        elif isinstance(one, int):
            if 0 <= one < 256:
                out.extend(b"K" + bytes([one]))
            elif 0 <= one < 65536:
                out.extend(b"M" + struct.pack("<H", one))
            elif -(1 << 31) <= one < 1 << 31:
                out.extend(b"J" + struct.pack("<i", one))
            else:
                out.extend(b"\x8a\x08" + struct.pack("<q", one))
        elif isinstance(one, float):
            out.extend(b"G" + struct.pack(">d", one))
        elif isinstance(one, tuple):
            for part in one:
                push(part)
            out.extend({1: b"\x85", 2: b"\x86", 3: b"\x87"}[len(one)])
        elif isinstance(one, dict):
            if one in FRAMES:
                place = shared.get(id(one))
                if place is not None:
                    recall(place)
                    return
            out.extend(b"}")
            items([part for pair in one.items() for part in pair])
            out.extend(b"u")
            if one in FRAMES:
                shared[id(one)] = remember()
        else:
            out.extend(b"]")
            items(one)
            out.extend(b"e")

    push(value)
    return bytes(out + b".")


FRAMES = STACK
