"""What small commands say of nodes and their taints: `kubectl taint`, and columns of one's own choice."""

from __future__ import annotations

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Node, Taint
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.kubectl.columns import Row
from gpudoctor.tools.parser import LINE

# kubectl taint nodes gpu-1 gpu-2 nvidia.com/gpu=present:NoSchedule --overwrite   (a `-` at the end takes the taint away)
TAINTED = regex(
    r"\bkubectl(?: -\S+(?: \S+)?){0,4} taint nodes? (?P<nodes>[a-z0-9][a-z0-9. -]{0,400}?) "
    r"(?P<key>[A-Za-z0-9][\w./-]{0,316})(?:=(?P<value>[\w.-]{0,63}))?:(?P<effect>NoSchedule|NoExecute)(?:\s|$)"
)
DONE = regex(r"^node/\S+ (?:tainted|modified)$")
# .spec.taints as Go prints it: [map[effect:NoSchedule key:nvidia.com/gpu value:present]]
GO_TAINT = regex(r"\bkey:([^\s\]]{1,317})")
NAME = regex(r"[a-z0-9][a-z0-9.-]{0,252}$")


def score(lines: list[str], argv: tuple[str, ...]) -> int:
    """0 or 60: whether a taint was set, as kubectl says it."""
    done = any(DONE.match(line) for line in lines)
    return 60 if done and (taints_set(" ".join(argv)) or any(taints_set(line) for line in lines)) else 0


def tainted_nodes(output: Output, about: Subject) -> Facts:
    """The nodes that were tainted; everything else about them is a gap."""
    found: dict[str, Node] = {}
    for number, line in enumerate([" ".join(output.command.argv), *output.text.split("\n")]):
        origin = Origin(output.origin_name(), number, line.strip()[:LINE])
        found |= {name: node_of(name, [taint], origin) for name, taint in taints_set(line[:LINE])}
    return {"nodes": [*found.values()]}


def taints_set(line: str) -> list[tuple[str, Taint]]:
    """(node, taint) of a `kubectl taint` that sets one."""
    match = TAINTED.search(line)
    if not match:
        return []
    taint = Taint(key=match["key"], value=match["value"] or "", effect=match["effect"])
    return [(name, taint) for name in match["nodes"].split() if NAME.match(name)]


def node_of(name: str, taints: list[Taint], origin: Origin, shown: frozenset[str] = frozenset()) -> Node:
    """A node of which the taints are known."""
    missing = gaps(Node, {"node", "taints", "taint_keys", *shown}, "not shown by this command")
    return Node(node=name, taints=taints, taint_keys=[one.key for one in taints], gaps=missing, origin=origin)


def columns(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """One node of `-o custom-columns=NAME:…,TAINTS:.spec.taints[*].key,GPU:.status.allocatable.nvidia\\.com/gpu`.

    `<none>` is a node that has no taint or offers no GPU.
    """
    gpus = 0 if row.get("GPU") == "<none>" else whole_number(row.get("GPU", ""))
    if gpus is None and "TAINTS" not in row:
        return []
    shown: set[str] = {"node"}
    keys: list[str] = []
    if "TAINTS" in row:
        shown |= {"taints", "taint_keys"}
        cell = row["TAINTS"]
        keys = GO_TAINT.findall(cell) if "map[" in cell else [] if cell == "<none>" else cell.split(",")
    if gpus is not None:
        shown |= {"allocatable", "gpus_allocatable", "gpu_resources"}
    amounts = {"nvidia.com/gpu": gpus} if gpus else {}
    return [
        Node(
            node=row.get("NAME", ""),
            taints=[Taint(key=key) for key in keys],
            taint_keys=keys,
            allocatable=amounts,
            gpus_allocatable=gpus or 0,
            gpu_resources=[*amounts],
            gaps=gaps(Node, shown, "not shown by these columns"),
            origin=origin,
        )
    ]


def whole_number(text: str) -> int | None:
    """A cell that is a whole number."""
    return int(text) if text.isdecimal() and len(text) < 10 else None
