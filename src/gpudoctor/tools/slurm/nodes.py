"""Nodes as the controller sees them: `scontrol show node` (with and without -o, --json), and the tables of `sinfo`.

NodeName=gpu-01 … State=IDLE+DRAIN … Gres=gpu:h100:8(S:0-1) … Reason=Kill task failed [root@2026-03-01T11:02:13]
REASON               USER      TIMESTAMP           NODELIST
Not responding       root      2026-03-01T11:03:03 gpu-02
Sources: scontrol(1), sinfo(1); slurm_sprint_node_table in src/api/node_info.c, https://github.com/SchedMD/slurm.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.slurm import SlurmNode
from gpudoctor.knowledge import slurm
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines, plain_text
from gpudoctor.tools.slurm.client import complaints
from gpudoctor.tools.slurm.text import Row, cells, described_records, expand, gpus, json_objects, pairs, titles_of, whole_number

NAME = regex(r"[A-Za-z][\w.-]{0,252}")
MOST = 50_000  # records of one text
# Kill task failed [root@2026-03-01T11:02:13]
SET_BY = regex(r"^(.*?)\s*\[([^@\[\]]{1,60})@([0-9T:.-]{1,30}|Unknown)\]$")
# Titles of sinfo's tables: sinfo(1), `-o` and `-O`. More than one %-letter may share a title.
TITLES = slurm.word_set(
    "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST REASON USER TIMESTAMP GRES GRES_USED S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE"
    " FEATURES CPUS AVAIL_FEATURES ACTIVE_FEATURES FREE_MEM CPU_LOAD HOSTNAMES NODE_ADDR SOCKETS CORES THREADS JOB_SIZE ROOT"
    " OVERSUBS OVERSUBSCRIBE GROUPS NODES(A/I) NODES(A/I/O/T) CPUS(A/I/O/T) VERSION PRIO_TIER CLUSTER ALLOCMEM STATECOMPACT"
    " ALLOCNODES DEFAULTTIME"
)
FREE = ["REASON"]
# sinfo(1), -o: what its letters stand for; and the columns of -R
LETTERS = {
    "n": "HOSTNAMES",
    "N": "NODELIST",
    "E": "REASON",
    "T": "STATE",
    "t": "STATE",
    "H": "TIMESTAMP",
    "u": "USER",
    "P": "PARTITION",
} | {
    "G": "GRES",
    "D": "NODES",
    "a": "AVAIL",
    "l": "TIMELIMIT",
    "m": "MEMORY",
    "c": "CPUS",
}
OF_REASONS = ["REASON", "USER", "TIMESTAMP", "NODELIST"]
LETTER = regex(r"%[.0-9]{0,6}([A-Za-z])")
NONE = frozenset({"none", "(null)", "N/A", "Unknown", ""})


def nodes(output: Output, about: Subject) -> Facts:
    """A record for each node that the text shows, and what a client of Slurm complains of."""
    text = plain_text(output)
    said = complaints(output, about)
    if text.lstrip()[:1] == "{":
        found = of_json(text, output.origin_name())
    else:
        found = [one for one in (*of_scontrol(output), *tables(output)) if one.node or one.reason]
    return {"slurm_nodes": [*found], **said} if found or not said else said


def of_scontrol(output: Output) -> Iterator[SlurmNode]:
    """The nodes of `scontrol show node`; a cut-out `Reason=…` alone is a node without a name, or the one that the command names."""
    if (name := named_by(output.command.argv)) and "NodeName=" not in output.text:
        rows = [(number, line, dict(pairs(line))) for number, line in lines(output)]
        values = {key: value for *_, part in rows for key, value in part.items()}
        if number_line := next(((number, line) for number, line, part in rows if {"State", "Reason"} & part.keys()), None):
            yield make_node({"NodeName": name, **values}, Origin(output.origin_name(), number_line[0], number_line[1].strip()))
            return
    for record in itertools.islice(described_records(lines(output), "NodeName", ("Reason", "State"), "JobId"), MOST):
        values = {key: value for *_, part in record for key, value in part.items()}
        number, line, first = next((part for part in reversed(record) if "Reason" in part[2]), record[0])
        if {"Reason", "NodeName"} <= first.keys():  # all on one line
            line = f"Reason={values['Reason']}"
        yield make_node(values, Origin(output.origin_name(), number, line.strip()))


def named_by(argv: tuple[str, ...]) -> str:
    """The one node that a command asks for whose answer was cut to a few lines.

    >>> named_by(("scontrol", "show", "node", "gpu07", "|", "grep", "State")), named_by(("scontrol", "show", "node"))
    ('gpu07', '')
    """
    at = next((place for place, word in enumerate(argv) if word in ("node", "nodes") and argv[place - 1] == "show"), None)
    name = argv[at + 1] if at is not None and len(argv) > at + 1 else ""
    return name if NAME.fullmatch(name) else ""


def make_node(values: dict[str, str], origin: Origin) -> SlurmNode:
    """Make a node from the keys of scontrol."""
    reason, by, since = values.get("Reason", ""), "", ""
    if match := SET_BY.match(reason[:2000]):
        reason, by, since = match.groups()
    allocated = values.get("AllocTRES")
    return node_of(
        node=values.get("NodeName", "").split(" ")[0],
        shown=values.get("State", "").split(" ")[0],
        reason=reason,
        reason_by=by,
        since=since,
        restarted="2" < since < values.get("SlurmdStartTime", "").split(" ")[0],  # both as 2026-03-01T11:03:03, or no time: Unknown
        gres=values.get("Gres", ""),
        gpus_allocated=None if allocated is None else gpus(allocated) or 0,
        memory=whole_number(values.get("RealMemory", "").split(" ")[0]),
        partitions=[name for name in values.get("Partitions", "").split(",") if name],
        version=values.get("Version", "").split(" ")[0],
        origin=origin,
    )


def tables(output: Output) -> list[SlurmNode]:
    """The nodes of sinfo's tables, a record for each name of a row. `-N` and `%all` repeat a node for each of its partitions."""
    found: dict[tuple[str, str, str], SlurmNode] = {}
    titles: list[tuple[int, str]] = []
    barred = False
    hidden = requested_titles(output.command.argv)
    for number, line in lines(output):
        if hidden and (row := hidden_row(line, hidden)):
            for one in of_row(row, Origin(output.origin_name(), number, line.strip())):
                found.setdefault((one.node, one.shown, one.reason), one)
            continue
        if "|" in line and "STATE" in line and (names := [cell.strip() for cell in line.split("|")]) and TITLES.issuperset(names[:1]):
            titles, barred = [(0, name) for name in names], True
            continue
        if head := titles_of(line, TITLES):
            titles, barred = (head, False) if any(name in ("NODELIST", "HOSTNAMES") for _, name in head) else ([], False)
            continue
        if not titles or not line.strip():
            continue
        row = barred_row(line, titles) if barred else cells(line, titles, FREE, is_row)
        if row is None or len(found) >= MOST:
            continue
        for one in of_row(row, Origin(output.origin_name(), number, line.strip())):
            found.setdefault((one.node, one.shown, one.reason), one)
    return list(found.values())


def requested_titles(argv: tuple[str, ...]) -> list[str]:
    """The titles of the columns that `sinfo -h` prints without them, [] for any other command.

    >>> requested_titles(("sinfo", "-R", "-h", "-o", "%n|%E")), requested_titles(("sinfo", "-hR")), requested_titles(("sinfo", "-R"))
    (['HOSTNAMES', 'REASON'], ['REASON', 'USER', 'TIMESTAMP', 'NODELIST'], [])
    """
    short = {letter for word in argv if word[:1] == "-" and word[1:2] != "-" for letter in word[1:].partition("=")[0]}
    if not argv or not argv[0].endswith("sinfo") or not ("h" in short or "--noheader" in argv):
        return []
    for word, value in zip(argv, [*argv[1:], ""], strict=True):
        form = (
            value
            if word[:1] == "-" and word[1:2] != "-" and word[-1:] == "o"
            else word.partition("=")[2]
            if word.startswith("--format")
            else ""
        )
        if form:
            return [LETTERS.get(letter, letter) for letter in LETTER.findall(form)]
    return OF_REASONS if "R" in short or "--list-reasons" in argv else []


def hidden_row(line: str, titles: list[str]) -> Row | None:
    """A row under titles that aren't shown: with bars, or with words, of which a reason takes what the others leave."""
    if "|" in line:
        return barred_row(line, [(0, title) for title in titles])
    words, at = line.split(), titles.index("REASON") if "REASON" in titles else len(titles)
    behind = len(titles) - at - 1
    if "REASON" in titles and len(words) >= len(titles):
        words = [*words[:at], " ".join(words[at : len(words) - behind]), *words[len(words) - behind :]]
    row: Row = dict(zip(titles, words, strict=False))
    return row if len(words) == len(titles) and is_row(row) else None


def barred_row(line: str, titles: list[tuple[int, str]]) -> Row | None:
    """A row of `sinfo -o "%all"` or another format with bars; of two columns with one title the first counts."""
    row: Row = {}
    for (_, title), value in zip(titles, line.split("|"), strict=False):
        row.setdefault(title, value.strip())
    return row if is_row(row) else None


# a state that no release had so far, in a column of sinfo's own table
UNKNOWN_STATE = regex(r"[a-z][a-z_]{2,20}[*$@^#%~!+-]?\Z")


def is_row(row: Row) -> bool:
    """Whether cells can be a node's: a state where one stands, names of nodes, and a time where one stands."""
    state = row.get("STATE")
    stamp = row.get("TIMESTAMP")
    return (
        (state is None or slurm.node_state(state) is not None or ("NODES" in row and bool(UNKNOWN_STATE.match(state))))
        and (stamp is None or stamp == "Unknown" or bool(re.match(r"\d{4}-\d\d-\d\dT", stamp)))
        and (state is not None or stamp is not None or "GRES" in row or "REASON" in row)
        and bool(expand(row.get("NODELIST") or row.get("HOSTNAMES") or ""))
    )


def of_row(row: Row, origin: Origin) -> list[SlurmNode]:
    """The nodes of a row."""
    reason = row.get("REASON", "")
    values: dict[str, Any] = {
        "shown": row.get("STATE", ""),
        "reason": "" if reason in NONE else reason,
        "reason_by": row.get("USER", "") if reason not in NONE else "",
        "since": "" if row.get("TIMESTAMP", "") in NONE else row["TIMESTAMP"],
        "gres": "" if row.get("GRES", "") in NONE else row["GRES"],
        "partitions": [row["PARTITION"].rstrip("*")] if row.get("PARTITION") else [],
        "avail": row.get("AVAIL", ""),
        "origin": origin,
    }
    return [node_of(node=name, **values) for name in expand(row.get("NODELIST") or row.get("HOSTNAMES") or "")]


def of_json(text: str, source: str) -> list[SlurmNode]:
    """The nodes of `scontrol show node --json`, of releases 21.08 and later."""
    found = []
    for one in json_objects(text, source, "nodes")[:MOST]:
        if not isinstance(one.get("name"), str):
            continue
        state = one.get("state")  # ["IDLE", "DRAIN"]; before 23.02 "idle" and state_flags
        parts = [*(state if isinstance(state, list) else [state]), *(flags if isinstance(flags := one.get("state_flags"), list) else [])]
        shown = "+".join(part for part in parts if isinstance(part, str))
        reason = one.get("reason") if isinstance(one.get("reason"), str) else ""
        found.append(
            node_of(
                node=one["name"],
                shown=shown,
                reason=str(reason),
                reason_by=str(one.get("reason_set_by_user") or ""),
                gres=str(one.get("gres") or ""),
                gpus_allocated=gpus(str(one.get("tres_used") or "")) or 0,
                memory=whole_number(one.get("real_memory")),
                version=str(one.get("version") or ""),
                origin=Origin(source, 0, f"{one['name']}: {shown} {reason}".strip()),
            )
        )
    return found


def node_of(*, node: str, shown: str, reason: str, gres: str = "", **rest: Any) -> SlurmNode:
    """A node with what its state and its reason mean."""
    state = slurm.node_state(shown)
    base, flags = state or ("", ())
    kind = slurm.reason_kind(reason)
    down = base == "DOWN"
    drained = bool({"DRAIN", "FAIL"} & set(flags))
    silent = "NOT_RESPONDING" in flags
    intended = bool(slurm.INTENDED & set(flags)) or base == "FUTURE" or kind == "reboot"
    out: bool | None = (down or drained or silent or "INVALID_REG" in flags or base == "ERROR") and not intended
    if state is None:  # sinfo -R, or a cut-out reason: Slurm keeps one only for a node that is out
        out = not intended if reason else None
    amounts = slurm.AMOUNTS.search(reason[:300])
    return SlurmNode(
        node=node,
        shown=shown,
        state=base,
        flags=list(flags),
        out=out,
        down=down,
        drained=drained,
        silent=silent,
        intended=intended,
        reason=reason,
        reason_kind=kind,
        reported=int(amounts.group(1)) if amounts else None,
        configured=int(amounts.group(2)) if amounts else None,
        gpus=(gpus(gres) or 0) if gres else None,
        gres=gres,
        **rest,
    )
