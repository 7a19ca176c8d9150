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

What Python's faulthandler writes by itself says the same:

    Thread 0x00007f1c2a7fc700 (most recent call first):
      File "/usr/lib/python3.12/threading.py", line 355 in wait

`waits_in` says what the thread is in, by the functions on its stack: the library's own names for reading data, for a
checkpoint, for a collective (knowledge/stack_waits.py).
"""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.knowledge.stack_waits import collective, is_worker, waits_in
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import LINE, ParseError

MOST = 20_000  # threads of one text
FRAMES = 64  # of one thread
MOST_LINES = 1_000_000
STATES = ("idle", "active", "active+gil")
DYING = "Fatal Python error"

ESCAPES = regex(r"\x1b\[[0-9;]{0,16}m")  # py-spy colours what it prints to a terminal
# Process 41: /usr/bin/python3 train.py
PROCESS = regex(r"Process (\d{1,10})(?:: (.*))?$")
# Thread 41 (active): "MainThread"  |  Thread 0x7ED3637AE700 (active+gil)  |  Thread 41/0x7F.. (idle): "ThreadPoolExecutor-0_0"
# … (most recent call first): of faulthandler; the number is sometimes left out where people paste
THREAD = regex(
    r'(?:Current t|T)hread (?:(\S{1,40}) )?(?:\[.{1,40}\] )?\((idle|active|active\+gil|most recent call first)\)(?:: "(.{0,100})"?|:)?\s*$'
)
#     barrier (torch/distributed/distributed_c10d.py:4159)  |      0x7f32a (libcuda.so.570.172.08)  |      __write (libc.so.6)
FRAME = regex(r"(?: {4}|\t)(\S.{0,300}?) \(([^()]{1,500}?)(?::(\d{1,9}))?\)$")
# The same without its indentation: only files of Python with a line count then.
BARE = regex(r" {0,8}([\w.<>]{1,100}) \(([^()\s]{1,500}?\.pyx?):(\d{1,9})\)$")
#   File "/usr/lib/python3.12/threading.py", line 355 in wait
FAULT = regex(r' {0,8}File "([^"]{1,500})", line (\d{1,9}) in (\S{1,200})$')
PYTHON = regex(r"\.pyx?:\d{1,9}\)$")
# What stands before the package: …/site-packages/torch/… , /usr/lib/python3.12/threading.py
BEFORE = regex(r"^.*(?:/(?:site|dist)-packages/|/lib/python3\.\d{1,2}/)")
# --rank=3 of a launcher that passes it; torchrun's --local-rank is a number on the node, not in the job
# == 41 (rank 3)  |  # rank 3  |  --- rank3 ---: what people write above the dump of each process
HEADING = regex(
    r"[#=*>\[(-]{0,6} ?(?:[\w.-]{1,40}[ :,]{1,3}){0,2}[\[(]?[Rr]ank[ :=_#]?(\d{1,7})[\])]?(?:[ :,]{1,2}[\w.-]{1,40})?[ #=*:-]{0,6}$"
)
GLOBAL_RANK = regex(r"(?:^|\s)--(?:global[-_])?rank[= ](\d{1,7})\b")


def stacks(output: Output, about: Subject) -> Facts:
    """One Stack for each thread. Raises ParseError when there is none, with py-spy's own words for why."""
    found: list[dict[str, Any]] = []
    pid: int | None = None
    rank: int | None = None
    named: int | None = None  # by a heading, for the process below it
    headed = dying = False
    below = 0  # how many were found above the last heading
    for number, raw in enumerate(output.text.split("\n")[:MOST_LINES], 1):
        line = ESCAPES.sub("", raw[:LINE]).rstrip()
        if match := PROCESS.match(line):
            own = rank_of(match[2] or "")
            pid, rank, named = int(match[1]), named if own is None else own, None
        elif match := HEADING.match(line):
            pid, rank, headed, below = None, int(match[1]), False, len(found)
            named = rank
        elif line.startswith(DYING):
            dying = True
        elif match := THREAD.match(line):
            if dying and match[2] not in STATES:  # where it crashed, not what it waits for
                break
            if len(found) >= MOST:
                break
            origin, headed = Origin(output.origin_name(), number, line), True
            thread, active = (match[3] or match[1] or "").rstrip('"'), match[2].startswith("active") if match[2] in STATES else None
            found.append({"pid": pid, "rank": rank, "thread": thread, "active": active, "frames": [], "origin": origin})
        elif at := frame(line):
            if len(found) == below and not headed and PYTHON.search(at):  # the line of the thread was cut off
                origin = Origin(output.origin_name(), number, line.strip())
                found.append({"pid": pid, "rank": rank, "thread": "", "active": None, "frames": [], "origin": origin})
            if len(found) > below and len(found[-1]["frames"]) < FRAMES:
                found[-1]["frames"].append(at)
    if not found:
        said = (output.text.strip() or output.stderr.decode("utf-8", "replace").strip())[:200]
        raise ParseError(f"{output.origin_name()}: no stack of py-spy: {said or 'it is empty'}")
    for one in found:
        frames = one["frames"]
        one |= {"waits_in": waits_in(frames), "calls": collective(frames), "worker": is_worker(frames)}
    return {"stacks": [Stack(node=about.node, **one) for one in found]}


def frame(line: str) -> str:
    """A frame as `function (file:line)`, "" for any other line.

    >>> frame('  File "/usr/lib/python3.12/threading.py", line 355 in wait'), frame("    get (queue.py:171)"), frame("words (and more)")
    ('wait (threading.py:355)', 'get (queue.py:171)', '')
    """
    if match := FRAME.match(line) or BARE.match(line):
        return f"{match[1]} ({match[2]}{f':{match[3]}' if match[3] else ''})"
    if match := FAULT.match(line):
        return f"{match[3]} ({BEFORE.sub('', match[1])}:{match[2]})"
    return ""


def rank_of(command: str) -> int | None:
    """The rank on a command line."""
    match = GLOBAL_RANK.search(command)
    return int(match[1]) if match else None
