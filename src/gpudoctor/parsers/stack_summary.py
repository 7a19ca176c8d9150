"""The innermost function of each process of a job, a line each, as people cut it out of many dumps of py-spy; with or without a count.

gpu-07
    broadcast
    all_reduce
    wait
383 all_reduce                     sort | uniq -c
"""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.parsers import ParseError
from gpudoctor.parsers.plain import lines
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

# torch.distributed's functions that wait for other ranks
COLLECTIVES = regex(
    r"_?(?:all_reduce|all_gather(?:_into_tensor|_object|_base)?|reduce_scatter(?:_tensor|_base)?|broadcast(?:_object_list)?|barrier"
    r"|all_to_all(?:_single)?|monitored_barrier|i?send|i?recv|batch_isend_irecv|reduce|gather|scatter|synchronize)\Z"
)
NAME = regex(r"\s*(?:\d{1,6}\s+)?([A-Za-z_][A-Za-z0-9_]{1,60})(?: \([^()]{1,200}\))?\s*$")
HEADING = regex(r"\S*[-.\d]\S*:?\s*$")  # of a host or a file: it has a digit, a dash or a dot
FEWEST = 4  # functions, for a text to be such a list
MOST = 20_000


def functions(rows: Iterable[str]) -> list[tuple[int, str]]:
    """(number of the line from 1, function) of the lines that are no more than a name; [] where too few are collectives."""
    found = [(number, match[1]) for number, row in enumerate(rows, 1) if (match := NAME.match(row))]
    return found if sum(COLLECTIVES.match(name) is not None for _, name in found) >= FEWEST else []


def summary(output: Output, about: Subject) -> Facts:
    """A Stack for each line, or for each function that is counted; only those in a collective say what they wait in."""
    read = [text for _, text in lines(output)]
    found = functions(read)[:MOST]
    if not found:
        raise ParseError(f"{output.named()}: no list of functions: {output.text[:80]!r}")
    return {
        "stacks": [
            Stack(
                node=about.node,
                frames=[name],
                waits_in="collective" if COLLECTIVES.match(name) else "",
                origin=Origin(output.named(), number, read[number - 1].strip()),
            )
            for number, name in found
        ]
    }
