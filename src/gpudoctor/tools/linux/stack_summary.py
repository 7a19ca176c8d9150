"""The innermost function of each process of a job, a line each, as people cut it out of many dumps of py-spy; with or without a count.

gpu-07
    broadcast
    all_reduce
    wait
383 all_reduce                     sort | uniq -c
      1     wait (threading.py:306)|    get (queue.py:179)|    _try_get_data (torch/utils/data/dataloader.py:1011)|
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.knowledge.stack_waits import collective, is_worker, waits_in
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

# torch.distributed's functions that wait for other ranks
COLLECTIVES = regex(
    r"_?(?:all_reduce|all_gather(?:_into_tensor|_object|_base)?|reduce_scatter(?:_tensor|_base)?|broadcast(?:_object_list)?|barrier"
    r"|all_to_all(?:_single)?|monitored_barrier|i?send|i?recv|batch_isend_irecv|reduce|gather|scatter|synchronize)\Z"
)
NAME = regex(r"\s*(?:\d{1,6}\s+)?([A-Za-z_][A-Za-z0-9_]{1,60})(?: \([^()]{1,200}\))?\s*$")
# 16  all_reduce (torch/distributed/distributed_c10d.py:1316)|   step (engine.py:250)|: frames that were put on one line, and counted
COUNTED = regex(r"\s*(\d{1,6}) +(?=\S{1,100} \(\S{1,300}\.pyx?:\d{1,9}\))(.{1,3000})$")
FRAME = regex(r"([\w.<>]{1,100}) \(([^()\s]{1,500}?\.pyx?:\d{1,9})\)")
HEADING = regex(r"\S*[-.\d]\S*:?\s*$")  # of a host or a file: it has a digit, a dash or a dot
FEWEST = 4  # functions, for a text to be such a list
MOST = 20_000


def functions(rows: Iterable[str]) -> list[tuple[int, str]]:
    """(number of the line from 1, function) of the lines that are no more than a name; [] where too few are collectives."""
    found = [(number, match[1]) for number, row in enumerate(rows, 1) if (match := NAME.match(row))]
    return found if sum(COLLECTIVES.match(name) is not None for _, name in found) >= FEWEST else []


def stacks(rows: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
    """(number of the line from 1, how many, frames with the innermost first) of the lines that hold a counted stack."""
    for number, row in enumerate(rows, 1):
        if match := COUNTED.match(row):
            yield number, int(match[1]), [f"{frame[1]} ({frame[2]})" for frame in FRAME.finditer(match[2])]


def summary(output: Output, about: Subject) -> Facts:
    """A Stack for each line, or for each function that is counted; only those in a collective say what they wait in."""
    read = [text for _, text in lines(output)]
    if counted := list(islice(stacks(read), MOST)):
        return {
            "stacks": [
                Stack(
                    node=about.node,
                    frames=frames,
                    waits_in=waits_in(frames),
                    calls=collective(frames),
                    worker=is_worker(frames),
                    count=count,
                    origin=Origin(output.origin_name(), number, read[number - 1].strip()),
                )
                for number, count, frames in counted
            ]
        }
    found = functions(read)[:MOST]
    if not found:
        raise ParseError(f"{output.origin_name()}: no list of functions: {output.text[:80]!r}")
    return {
        "stacks": [
            Stack(
                node=about.node,
                frames=[name],
                waits_in="collective" if COLLECTIVES.match(name) else "",
                count=int(first) if (first := read[number - 1].split()[0]).isdecimal() else 1,
                origin=Origin(output.origin_name(), number, read[number - 1].strip()),
            )
            for number, name in found
        ]
    }
