"""The Python stacks of a process, as `py-spy dump` prints them (src/dump.rs of py-spy).

    Process 41: /usr/bin/python3 train.py --local-rank 0
    Python v3.12.3 (/usr/bin/python3.12)

    Thread 41 (active): "MainThread"
        wait (torch/distributed/c10d_logger.py:81)
        barrier (torch/distributed/distributed_c10d.py:4159)
        save (trainer/checkpoint.py:88)
            Arguments:                              with --locals
                path: "/mnt/ckpt"
    Thread 0x7ED3637AE700 (idle): "ThreadPoolExecutor-0_0"

`waits_in` says what the thread is in, by the functions on its stack: the library's own names for reading data, for a
checkpoint, for a collective (knowledge/stack_waits.py).
"""

from __future__ import annotations

import re
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.knowledge.stack_waits import waits_in
from gpudoctor.parsers import LINE, ParseError
from gpudoctor.probes.base import Output

MOST = 20_000  # threads of one text
FRAMES = 64  # of one thread
MOST_LINES = 1_000_000

ESCAPES = re.compile(r"\x1b\[[0-9;]{0,16}m")  # py-spy colours what it prints to a terminal
# Process 41: /usr/bin/python3 train.py
PROCESS = re.compile(r"Process (\d{1,10})(?:: (.*))?$")
# Thread 41 (active): "MainThread"  |  Thread 0x7ED3637AE700 (active+gil)  |  Thread 41/0x7F.. (idle): "ThreadPoolExecutor-0_0"
THREAD = re.compile(r'Thread (\S{1,40}) \((idle|active|active\+gil)\)(?:: "(.{0,100})"?)?\s*$')
#     barrier (torch/distributed/distributed_c10d.py:4159)  |      0x7f32a (libcuda.so.570.172.08)  |      __write (libc.so.6)
FRAME = re.compile(r"    (\S.{0,300}?) \(([^()]{1,500}?)(?::(\d{1,9}))?\)$")
# --rank=3 of a launcher that passes it; torchrun's --local-rank is a number on the node, not in the job
GLOBAL_RANK = re.compile(r"(?:^|\s)--(?:global[-_])?rank[= ](\d{1,7})\b")


def stacks(output: Output, about: Subject) -> Facts:
    """One Stack for each thread. Raises ParseError when there is none, with py-spy's own words for why."""
    found: list[dict[str, Any]] = []
    pid = rank = None
    for number, raw in enumerate(output.text.split("\n")[:MOST_LINES], 1):
        line = ESCAPES.sub("", raw[:LINE]).rstrip()
        if match := PROCESS.match(line):
            pid, rank = int(match[1]), rank_of(match[2] or "")
        elif match := THREAD.match(line):
            if len(found) >= MOST:
                break
            origin = Origin(output.named(), number, line)
            thread = (match[3] or match[1]).rstrip('"')
            found.append({"pid": pid, "rank": rank, "thread": thread, "active": match[2] != "idle", "frames": [], "origin": origin})
        elif found and len(found[-1]["frames"]) < FRAMES and (match := FRAME.match(line)):
            found[-1]["frames"].append(f"{match[1]} ({match[2]}{f':{match[3]}' if match[3] else ''})")
    if not found:
        said = (output.text.strip() or output.stderr.decode("utf-8", "replace").strip())[:200]
        raise ParseError(f"{output.named()}: no stack of py-spy: {said or 'it is empty'}")
    return {"stacks": [Stack(node=about.node, waits_in=waits_in(one["frames"]), **one) for one in found]}


def rank_of(command: str) -> int | None:
    """The rank on a command line."""
    match = GLOBAL_RANK.search(command)
    return int(match[1]) if match else None
