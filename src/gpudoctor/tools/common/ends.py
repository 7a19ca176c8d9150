"""How the answers of tools end. One that breaks off before that isn't whole: what is missing may be what is wrong. A live answer and a file
are looked at alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from gpudoctor.patterns import regex

SHOWN = 80  # characters of the last line
# +-----------------------------+-----…   the upper and lower edge of a box; a heading has one of = below it
EDGE, HEADED = regex(r"\s*\+[-=]{3,}"), regex(r"\s*\+={3,}")
# Containers:  |  Capacity:     of `kubectl describe` of a pod or a node, both of which end with their events
DESCRIBED = regex(r"^(?:Containers|Init Containers|Capacity|System Info|QoS Class):")
# #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
TESTED = regex(r"^#\s+\(B\)\s+\(elements\)\s")
# NAME      STATUS   ROLES    AGE   VERSION  |  Filesystem      Size  Used  |  index, uuid, memory.used [MiB]
HEADING = regex(
    r"(?:[A-Z][A-Z0-9-]*(?:\([A-Z]+\))?(?: [A-Z]+)?(?: {2,}|\s*$)){2,}|Filesystem +[A-Z1]"
    r"|(?:index|name|uuid|timestamp|pci\.bus_id), [a-z_., ]+"
)
# # Port counters: Lid 21 port 1 (CapMask: 0x5A00)
PORT = regex(r"# Port (?:extended )?counters:")
# GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)
NAMED = regex(r"GPU \d{1,3}: .{1,80} \(UUID: ")
# GPU0  |  NIC3        of nvidia-smi topo
MEMBER = regex(r"(?:GPU|NIC)\d{1,3}\Z")
# GPU 00000000:1B:00.0
BLOCK = regex(r"\s*GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$")
NOUNS = ("Node GUID:", "System image GUID:")  # of an adapter that ibstat shows with all that it knows


def cut_off(name: str, text: str) -> str:
    """Why the answer that a parser or form reads isn't whole, "" where it is.

    >>> cut_off("dcgm.diag", "+-----+\\n| a   |\\n+-----+"), cut_off("dcgm.diag", "+-----+\\n| a   |")
    ('', "cut off after '| a   |'")
    """
    rule = ENDS.get(name)
    lines = text.rstrip().split("\n") if rule else []
    return f"cut off after {lines[-1].strip()[:SHOWN]!r}" if rule and lines and rule(lines) else ""


def open_box(lines: Sequence[str]) -> bool:
    """Whether one of the boxes has no lower edge."""
    inside = edged = False  # among the lines of a box, and behind its last edge
    for line in lines:
        edge = EDGE.match(line) is not None
        if not (edge or (inside and line.lstrip().startswith("|"))):
            if inside and not edged:
                return True
            inside = False
        else:
            inside, edged = True, edge and not HEADED.match(line)
    return inside and not edged


def without_processes(lines: Sequence[str]) -> bool:
    """Whether the last GPU of `nvidia-smi -q` has no list of its processes, which comes behind everything but what newer releases add."""
    at = max((number for number, line in enumerate(lines) if BLOCK.match(line)), default=-1)
    block = [line.strip() for line in lines[at:]] if at >= 0 else []
    return any(line.startswith("Product Name") for line in block) and not any(line.startswith("Processes") for line in block)


def heading_alone(lines: Sequence[str]) -> bool:
    """Whether a table is its heading."""
    return len(lines) == 1 and HEADING.match(lines[0].strip()) is not None


def without_events(lines: Sequence[str]) -> bool:
    """Whether the last object of `kubectl describe` has no list of its events."""
    at = max((number for number, line in enumerate(lines) if line.startswith("Name:")), default=0)
    return any(DESCRIBED.match(line) for line in lines[at:]) and not any(line.startswith("Events:") for line in lines[at:])


def without_average(lines: Sequence[str]) -> bool:
    """Whether the last table of nccl-tests has no closing lines (common.cu prints them when all sizes are done)."""
    at = max((number for number, line in enumerate(lines) if TESTED.search(line)), default=-1)
    return at >= 0 and not any("# Avg bus bandwidth" in line for line in lines[at:])


def few_counters(lines: Sequence[str]) -> bool:
    """Whether the last port of perfquery lacks what stands behind its first error counter (libibmad, dump.c)."""
    at = max((number for number, line in enumerate(lines) if PORT.match(line)), default=-1)
    block = {line.partition(":")[0] for line in lines[at:]} if at >= 0 else {"VL15Dropped"}
    return "VL15Dropped" not in block and ("SymbolErrorCounter" in block or "PortMulticastRcvPkts" not in block)


def fewer_rows(lines: Sequence[str]) -> bool:
    """Whether a square of `nvidia-smi topo` has fewer rows than columns."""
    heads = [line.split() for line in lines]
    columns = next((words for words in heads if len(words) > 1 and all(MEMBER.match(word) for word in words[:2])), [])
    names = {word for word in columns if word.startswith("GPU") and MEMBER.match(word)}
    return not names <= {words[0] for words in heads if words and words != columns}


def fewer_links(lines: Sequence[str]) -> bool:
    """Whether the last GPU of `nvidia-smi nvlink` has fewer lines than each one before it: an inactive link has a line too."""
    starts = [number for number, line in enumerate(lines) if NAMED.match(line)]
    sizes = [two - one for one, two in pairwise([*starts, len(lines)])]
    return len(sizes) > 1 and sizes[-1] < min(sizes[:-1]) and "inActive" not in lines[-1]


def without_warnings(lines: Sequence[str]) -> bool:
    """Whether NCCL's RAS says nothing behind its list of communicators (ras_client.cc prints both headings, whatever stands below them)."""
    return "Job summary" in lines and "Warnings" not in lines


def without_leap(lines: Sequence[str]) -> bool:
    """Whether the last answer of `chronyc tracking` that shows its first line lacks its last one."""
    at = max((number for number, line in enumerate(lines) if line.startswith("Reference ID ")), default=-1)
    return at >= 0 and not any(line.startswith("Leap status ") for line in lines[at:])


def adapter_in_part(lines: Sequence[str]) -> bool:
    """Whether the last adapter, of which ibstat shows all or of those before it did, has no port with all that belongs to it."""
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith("CA '")]
    blocks = [[line.strip() for line in lines[one:two]] for one, two in pairwise([*starts, len(lines)])]
    whole = any(all(any(line.startswith(noun) for line in block) for noun in NOUNS) for block in blocks)
    block = blocks[-1] if blocks else []
    last = max((number for number, line in enumerate(block) if line.startswith("Port ") and line.endswith(":")), default=0)
    return whole and not any(line.startswith("Port GUID:") for line in block[last:])


Rule = Callable[[Sequence[str]], bool]
ENDS: dict[str, Rule] = {
    "nvidia.smi": lambda lines: open_box(lines) or heading_alone(lines) or without_processes(lines),
    "dcgm.diag": open_box,
    "dcgm.health": open_box,
    "dcgm.discovery": open_box,
    "dcgm.policy": open_box,
    "dcgm.stats": open_box,
    "dcgm.nvlink": open_box,
    "kubectl.describe": without_events,
    "kubectl.get": heading_alone,
    "kubectl.endpoints": heading_alone,
    "linux.df": heading_alone,
    "linux.chrony": without_leap,
    "collective.tests": without_average,
    "infiniband.perfquery": few_counters,
    "infiniband.ports": adapter_in_part,
    "nvidia.nvlink": fewer_links,
    "nvidia.topo": fewer_rows,
    "nccl.ras": without_warnings,
}
