"""Tables that people make of nodes: columns of a command that isn't shown, a loop, notes of what is free.

A title names a resource (GPU, CPU, MEM; GPUs where none is named) and what is counted of it (capacity, allocatable, in use, free), or two
of that in one column: `4/8`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Node, NodeUsage
from gpudoctor.knowledge.resources import gpu_count, gpu_names
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.kubectl import events, get
from gpudoctor.tools.kubernetes.quantity import quantity
from gpudoctor.tools.parser import LINE

GPU = "nvidia.com/gpu"
MOST_UNNAMED = 16  # GPUs of one machine; a larger number in a column that names no resource is of something else
FIRST = regex(r"(?:#\s*)?(?:NAME|NODE|HOST|HOSTNAME|N)$", re.IGNORECASE)
NAME = regex(r"[a-z0-9][a-z0-9.-]{1,252}$")
TOTALS = ("total", "sum", "all", "name", "node", "nodes")
# gpu-b4  nvidia.com/gpu  8  used 8   |   gpu-b4: 8/8 GPUs in use
SAID = (
    regex(
        r"^\s*(?:node/)?(?P<node>[a-z0-9][a-z0-9.-]{1,252})[:,]?\s+(?:nvidia\.com/gpu[:=]?|gpus?[:=]?)\s+(?P<offered>\d{1,3})\s+"
        r"\(?(?:used|in use|requested|allocated)[:= ]\s*(?P<used>\d{1,3})\b"
    ),
    regex(
        r"^\s*(?:node/)?(?P<node>[a-z0-9][a-z0-9.-]{1,252})[:,]?\s+(?P<used>\d{1,3}) ?(?:/|of) ?(?P<offered>\d{1,3}) (?:GPUs? )?"
        r"(?:used|in use|requested|allocated|busy)\b"
    ),
)
RESOURCES = (("gpu", GPU), ("cpu", "cpu"), ("core", "cpu"), ("mem", "memory"), ("ram", "memory"))
MEANINGS = (  # the first word that a title has; `alloc` alone depends on the columns beside it
    ("allocatable", "offered"),
    ("allocated", "used"),
    ("capacity", "capacity"),
    ("cap", "capacity"),
    ("total", "capacity"),
    ("free", "free"),
    ("avail", "free"),
    ("use", "used"),
    ("busy", "used"),
    ("req", "used"),
    ("alloc", "alloc"),
)


def score(lines: Sequence[str]) -> int:
    """0 to 79: whether rows of nodes stand below titles that count their GPUs, or say so themselves."""
    if any(table_titles(line) for line in lines):
        return 79
    return 40 if any(form.match(line) for form in SAID for line in lines) else 0


def table_titles(line: str) -> list[str]:
    """The titles of a table that counts resources of nodes, [] for other lines."""
    pieces = re.findall(r"\S+(?: \S+)*", line[:400].strip())
    if len(pieces) < 2 or not FIRST.match(pieces[0]) or pieces[0] == pieces[0].lower() != "node":
        return []
    counted = [one for one in pieces[1:] if meanings(one)]
    whole = len(counted) >= 2 or any(len(meanings(one)) == 2 for one in counted)
    return pieces if whole and len(counted) + 2 >= len(pieces) else []


def meanings(title: str) -> list[str]:
    """What a column counts: one word, or two for `free/alloc`; [] for a column of something else."""
    words = title.lower()
    for name, _ in RESOURCES:
        words = words.replace(name, " ") if name in words else words
    parts = [part for part in re.split(r"[/ ]", words) if part.strip("s()")]
    found = [next((meaning for word, meaning in MEANINGS if part.startswith(word)), "") for part in parts]
    found = [one for one in found if one]
    return found[:2] if len(found) == len([part for part in parts if part not in ("in", "of")]) else []


def resource(title: str) -> str:
    """The resource that a title names, "" for none."""
    return next((name for word, name in RESOURCES if word in title.lower()), "")


def node_cells(line: str) -> list[str]:
    """The cells of a row whose first one is a node's name."""
    cells = line.split()
    return cells if len(cells) >= 2 and NAME.match(cells[0]) and cells[0].lower() not in TOTALS else []


def tables(output: Output, about: Subject) -> Facts:
    """The nodes of all such tables, and what is in use on them."""
    nodes: list[Node] = []
    usage: list[NodeUsage] = []
    titles: list[str] = []
    lines = [line[:LINE].rstrip("\r ") for line in output.text.split("\n")]
    for number, line in enumerate(lines, 1):
        origin = Origin(output.origin_name(), number, line.strip())
        if found := table_titles(line):
            titles = found
        elif not line.strip():
            titles = []
        elif titles and (cells := node_cells(line)) and len(cells) == len(titles):
            made = node_counts(cells[0], titles, cells, origin)
            nodes += [one for one in made if isinstance(one, Node)]
            usage += [one for one in made if isinstance(one, NodeUsage)]
        elif match := next((match for form in SAID if (match := form.match(line))), None):
            nodes.append(node(match["node"], {GPU: int(match["offered"])}, origin))
            usage.append(NodeUsage(node=match["node"], requested={GPU: int(match["used"])}, origin=origin))
    facts: Facts = {kind: [*records] for kind, records in (("nodes", nodes), ("node_usage", usage)) if records}
    if not get.score(lines):  # whose reader reads the events
        facts |= events.events(lines, output.origin_name(), about)
    return facts


def node_counts(name: str, titles: Sequence[str], cells: Sequence[str], origin: Origin) -> list[Node | NodeUsage]:
    """One row below titles: the node, and what is in use on it where that is shown or follows."""
    amounts: dict[str, dict[str, int]] = {}
    unnamed = not any(resource(title) for title in titles[1:])
    for title, cell in zip(titles[1:], cells[1:], strict=True):
        what, kinds = resource(title) or (GPU if unnamed else ""), meanings(title)
        parts = cell.split("/") if len(kinds) == 2 else [cell]
        if not what or not kinds or len(parts) != len(kinds):
            continue
        for kind, part in zip(kinds, parts, strict=True):
            amount = 0 if part in ("<none>", "-", "–") else quantity(part, milli=what == "cpu")
            if amount is None or (unnamed and amount > MOST_UNNAMED):
                return []
            amounts.setdefault(what, {})[kind] = amount
    offered: dict[str, int] = {}
    used: dict[str, int] = {}
    for what, one in amounts.items():
        if "alloc" in one:  # allocatable beside what is free or in use; allocated beside the capacity
            one["used" if "capacity" in one and "used" not in one and "free" not in one else "offered"] = one["alloc"]
        there = one.get("offered", one.get("capacity"))
        if there is None:
            continue
        offered |= {what: there} if there else {}
        if "used" in one or "free" in one:
            used[what] = one["used"] if "used" in one else there - one["free"]
    if not amounts:
        return []
    made = node(name, offered, origin)
    if all("capacity" in one and "offered" in one for one in amounts.values()):
        capacity = {what: one["capacity"] for what, one in amounts.items()}
        missing = {field: why for field, why in made.gaps.items() if field not in ("capacity", "gpus_capacity")}
        made = msgspec.structs.replace(made, capacity=capacity, gpus_capacity=gpu_count(capacity), gaps=missing)
    return [made, *([NodeUsage(node=name, requested=used, origin=origin)] if used else [])]


def node(name: str, allocatable: dict[str, int], origin: Origin) -> Node:
    """A node of which a table shows what it offers; everything else is a gap."""
    return Node(
        node=name,
        allocatable=allocatable,
        gpus_allocatable=gpu_count(allocatable),
        gpu_resources=gpu_names(allocatable),
        gpu_present=bool(gpu_count(allocatable)),
        gaps=gaps(Node, {"node", "allocatable", "gpus_allocatable", "gpu_resources", "gpu_present"}, "not shown by these columns"),
        origin=origin,
    )
