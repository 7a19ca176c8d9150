"""The stacks of a process as gdb prints them, natively (`bt`, pstack, gstack) and of Python (`py-bt`); eu-stack's too.

    Thread 1 (Thread 0x7f0f5e0c3740 (LWP 51877)):
    #0  0x00007f0f5e2a5bd9 in syscall () from /lib/x86_64-linux-gnu/libc.so.6
    #3  gomp_team_barrier_wait_end (bar=<optimized out>, state=0) at config/linux/bar.c:112
    (gdb) py-bt
    Traceback (most recent call first):
      File "/data/voc.py", line 88, in __getitem__

What `py-bt` prints below a native stack is the same thread's. Source: libpython.py of CPython (Tools/gdb), gdb/stack.c.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.knowledge.stack_waits import is_worker, waits_in
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.linux.py_spy import BEFORE, FRAMES, MOST
from gpudoctor.tools.parser import ParseError

# Thread 1 (Thread 0x7f… (LWP 51877) "python"):  |  TID 51877:  (eu-stack)
THREAD = regex(r'Thread \d{1,6} \((?:Thread 0x[0-9a-f]{1,16} )?\(?LWP (\d{1,10})\)(?: "([^"]{1,40})")?\)?|TID (\d{1,10}):\s*$')
# #0  0x00007f0f5e2a5bd9 in syscall () from /lib/…/libc.so.6  |  #3  gomp_team_barrier_wait_end (bar=…) at config/linux/bar.c:112
# #1  0x00007f0f5e2a5bd9 pthread_cond_wait@@GLIBC_2.3.2 - /lib/…/libpthread.so.0                                    (eu-stack -m)
NATIVE = regex(r"#(\d{1,4})\s{1,4}(?:0x[0-9a-f]{1,16} (?:in )?)?([A-Za-z_~][^\s(@]{0,200})")
FILE = regex(r" (?:from|at|-) (\S{1,400})\s*$")
#   File "/data/voc.py", line 88, in __getitem__
PYTHON = regex(r'\s{1,8}File "([^"]{1,500})", line (\d{1,9}), in (\S{1,200})$')
ASKED = regex(r"(?:\(gdb\) ?|\$ ?)?(?:py-bt|thread apply all py-bt)\s*$|Traceback \(most recent call first\):")
FEWEST = 2  # native frames


def stacks(output: Output, about: Subject) -> Facts:
    """One Stack for each thread. Raises ParseError without two native frames one below the other."""
    found: list[dict[str, Any]] = []
    python = fresh = False
    for number, line in lines(output):
        if match := THREAD.match(line.strip()):
            fresh, python = True, False
            pid = match[1] or match[3]
            found.append(
                {"pid": int(pid), "thread": match[2] or "", "frames": [], "origin": Origin(output.origin_name(), number, line.strip())}
            )
        elif ASKED.match(line):
            python = True
        elif match := NATIVE.match(line.strip()):
            if not found or (match[1] == "0" and not fresh):
                found.append({"pid": None, "thread": "", "frames": [], "origin": Origin(output.origin_name(), number, line.strip())})
            fresh = python = False
            file = FILE.search(line)
            found[-1]["frames"].append(f"{match[2]} ({file[1].rpartition('/')[2] if file else '?'})")
        elif (python or found) and found and (match := PYTHON.match(line)):
            found[-1]["frames"].append(f"{match[3]} ({BEFORE.sub('', match[1])}:{match[2]})")
        if len(found) > MOST:
            break
    made = [one for one in found if len(one["frames"]) >= FEWEST]
    if not made:
        raise ParseError(f"{output.origin_name()}: no stack of gdb: {output.text[:80]!r}")
    for one in made:
        one["frames"] = one["frames"][:FRAMES]
    return {"stacks": [Stack(node=about.node, waits_in=waits_in(one["frames"]), worker=is_worker(one["frames"]), **one) for one in made]}


def score(rows: list[str]) -> int:
    """Two native frames one below the other."""
    at = [int(match[1]) if (match := NATIVE.match(row.strip())) else None for row in rows]
    return 60 if any(later is not None and later - 1 == earlier for earlier, later in pairwise(at)) else 0
