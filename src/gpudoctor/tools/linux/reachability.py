"""Tests of who reaches whom, in the forms in which people write them down, and what LLDP says of a host's cables.

    gpu-01 gpu-02 PASS 21.9 GB/s              mlx5_0   ok   -    -
    gpu-01 -> gpu-03: timed out               mlx5_1   -    ok   -

    Interface:    ens1f0np0, via: LLDP, RID: 1, Time: 0 day, 00:10:22
        SysName:      gpu-02
        PortDescr:    ens1f0np0
Sources: lldpcli(8), lldptool(8); the tables are anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Cable, Reach
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

MOST = 4_096  # pairs, cables
GOOD = frozenset({"ok", "pass", "passed", "yes", "y", "o", "up", "works", "reachable", "success", "✓", "✔", "1"})
BAD = frozenset(
    {"-", "--", "x", "fail", "failed", "no", "n", "timeout", "timeo", "t/o", "timed", "unreachable", "down", "error", "err", "none", "nan"}
    | {"null", "refused", "✗", "✘", "0", "0.0", "0.00"}
)
NAME = r"[A-Za-z][\w.-]{0,62}\d[\w.-]{0,30}(?::[\w.-]{1,32})?"
# gpu-01 gpu-03 FAIL Failed to modify QP …  |  gpu-01 -> gpu-03: timed out  |  gpu-01:mlx5_0 <-> gpu-02:mlx5_1  ok
PAIR = regex(rf"^\s*({NAME})\s*(?:\s|->|<->|→|=>|to\b|,|/|\|)\s*({NAME})\s*[:|,]?\s+(\S{{1,20}})(?:\s|$)")
# mlx5_0    ok    -     -
LABEL = regex(rf"^\s*({NAME})\s+(\S.*)$")
TITLE = regex(NAME)
TAIL = regex(r"\d.*$")
RAIL = regex(r"(?:mlx5_|mlx4_|bnxt_re|roce|rocep|rdma|ib|rail|hca|irdma|efa|nic)\w*\Z", 2)
GPU = regex(r"GPU\d")
STAMP = regex(r"^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ")  # of `kubectl logs --timestamps`
# Interface:    ens1f0np0, via: LLDP, RID: 1  |      SysName:      gpu-02
AT, SYSTEM = (
    regex(r"^\s*Interface:\s+([\w.-]{1,32}), via: (?:LLDP|CDP)"),
    regex(r"^\s*SysName:\s+([\w.-]{1,253})"),
)
# host port          neighbour
HEAD = regex(r"^\s*(?:host|node|local)\S*\s+(?:port|interface|if|nic)\S*\s+(?:neighbou?r|remote|peer|connected)\S*", 2)
ROW = regex(r"^\s*([A-Za-z][\w.-]{0,62})\s+([A-Za-z][\w.-]{1,31})\s+([A-Za-z][\w.-]{0,62})(?:[\s:]+([A-Za-z][\w./-]{0,63}))?\s*$")


# ibping, ib_write_bw, ib_send_lat, ibv_rc_pingpong, rping
OF_RDMA = regex(r"\bib_?(?:v_\w{2,4}_)?(?:ping|write|read|send|atomic)\w{0,12}|\brping\b|\bperftest\b")
# mlx5_0 -> mlx5_0   65536  5000  391.62  391.58  0.746882: what was measured between two that reach each other
MEASURED = regex(r"\d{2,12}(?:\.\d{1,6})?")


class Pair(NamedTuple):
    """One test."""

    one: str
    other: str
    works: bool
    rails: bool | None  # whether they are of one rail; None: not adapters
    row: bool = False  # of a table


def tests(output: Output, about: Subject) -> Facts:
    """One Reach for all pairs of a text, where some of them work and some don't; {} else."""
    pairs, first = read(output)
    good, bad = [one for one in pairs if one.works], [one for one in pairs if not one.works]
    if not good or not bad:
        return {}
    adapters = all(one.rails is not None for one in pairs)
    # Only the adapters of one rail reach each other, or not even those of all rails.
    rails = adapters and all(one.rails or not one.works for one in pairs)
    names = {one.one for one in pairs} | {one.other for one in pairs}
    lonely = [
        name
        for name in sorted(names)
        if all(name in (one.one, one.other) for one in bad) and not any(name in (one.one, one.other) for one in good)
    ]
    hosts = all(one.rails is None for one in pairs)
    reached = {name for one in good for name in (one.one, one.other)}
    everyone = not lonely and {name for one in bad for name in (one.one, one.other)} <= reached
    made = Reach(
        stated=True,
        tested=len(pairs),
        failed=len(bad),
        rails=rails,
        lonely=lonely[0] if len(lonely) == 1 else "",
        parted=adapters and not rails and everyone,
        islands=islands(good, bad) if hosts and everyone else 0,
        rdma=OF_RDMA.search(f"{output.command.shown}\n{output.text[:65536]}") is not None,
        origin=first,
    )
    return {"reaches": [made]}


def islands(good: Sequence[Pair], bad: Sequence[Pair]) -> int:
    """Into how many groups of two and more the hosts fall: all of a group reach each other, and nobody anybody else; 0 for one."""
    group = {name: name for one in (*good, *bad) for name in (one.one, one.other)}
    for one in good:
        old, new = group[one.one], group[one.other]
        group = {name: new if of == old else of for name, of in group.items()} if old != new else group
    groups = {*group.values()}
    if len(groups) < 2 or len(group) > 512 or any(list(group.values()).count(of) < 2 for of in groups):
        return 0
    return len(groups) if all(group[one.one] != group[one.other] for one in bad) else 0


def read(output: Output) -> tuple[list[Pair], Origin]:
    """The pairs of a list or of a table, and the first that failed."""
    found: list[Pair] = []
    first = Origin(output.origin_name(), 1, "")
    at = 0  # the row of the table
    titles: list[str] = []
    for number, raw in lines(output):
        line = STAMP.sub("", raw)
        if head := titles_of(line):
            titles, at = head, 0
            continue
        new = [*row_pairs(line, titles, at)]
        at += bool(new) and new[0].row
        if not first.line or (new and not first.text and any(not one.works for one in new)):
            first = Origin(output.origin_name(), number, line.strip())
        found += new[: MOST - len(found)]
    return found, first


def titles_of(line: str) -> list[str]:
    """The names above the columns of a table: nothing else stands in the line.

    >>> titles_of("         gpu-01  gpu-02"), titles_of("gpu-01 gpu-02 ok"), titles_of("size(MB) n01")
    (['gpu-01', 'gpu-02'], [], [])
    """
    words = line.replace("|", " ").split()
    return words if len(words) > 1 and all(TITLE.fullmatch(word) for word in words) else []


def row_pairs(line: str, titles: Sequence[str] = (), at: int = 0) -> Iterator[Pair]:
    """The test of a line, or those of a table's row, which is its row number `at`. What was measured is only told below titles."""
    if match := PAIR.match(line):
        word = match[3].lower().rstrip(".,:;")
        if word in GOOD or word in BAD or MEASURED.fullmatch(word):
            yield Pair(match[1], match[2], word not in BAD, same_rail(match[1], match[2]))
            return
    match = LABEL.match(line)
    if not match or GPU.match(match[1]):
        return
    cells = match[2].replace("|", " ").lower().split()
    headed = len(cells) == len(titles)
    if not headed and all(cell.isdecimal() for cell in cells):  # a row of counters is of 0 and 1 too
        return
    if len(cells) < 2 or not all(cell in GOOD or cell in BAD or (headed and MEASURED.fullmatch(cell)) for cell in cells):
        return
    adapters = RAIL.match(match[1]) is not None
    # a table from each to each: its columns are its rows, whatever is put before their names
    square = headed and (adapters or match[1] in titles or TAIL.sub("", match[1]) != TAIL.sub("", titles[0]))
    mine = titles[at] if square and at < len(titles) else match[1]
    for column, cell in enumerate(cells):
        if adapters or column != at:
            other = titles[column] if headed else f"column {column}"
            works = cell in GOOD or (headed and cell not in BAD)
            yield Pair(mine, other, works, column == at if adapters else None, row=True)


def same_rail(one: str, other: str) -> bool | None:
    """Whether two adapters that are named with their hosts are of one rail.

    >>> same_rail("gpu-01:mlx5_0", "gpu-02:mlx5_1"), same_rail("gpu-01", "gpu-02")
    (False, None)
    """
    (_, _, mine), (_, _, theirs) = one.partition(":"), other.partition(":")
    if not mine and not theirs and RAIL.match(one) and RAIL.match(other):
        mine, theirs = one, other
    return mine == theirs if mine and theirs else None


def neighbours(output: Output, about: Subject) -> Facts:
    """A record for each port of a host whose neighbour names itself."""
    found: list[Cable] = []
    interface, table = "", False
    for number, line in lines(output):
        origin = Origin(output.origin_name(), number, line.strip())
        if match := AT.match(line):
            interface = match[1]
        elif interface and (match := SYSTEM.match(line)) and len(found) < MOST:
            found.append(Cable(node=about.node, interface=interface, neighbour=match[1], origin=origin))
            interface = ""
        elif HEAD.match(line):
            table = True
        elif table and (match := ROW.match(line)) and len(found) < MOST:
            found.append(Cable(node=match[1], interface=match[2], neighbour=match[3], origin=origin))
    if not found and output.text.strip():
        raise ParseError(f"{output.origin_name()}: no neighbours of LLDP: {output.text.strip()[:80]!r}")
    return {"cables": [*found]}
