"""nvidia-smi's long answers, -q as text and -q -x as XML: one card for each `GPU <address>` block, with its processes.

The XML is read tag by tag, without a parser: an answer that is cut off gives what came before, and no entity is ever expanded but the five.
"""

from __future__ import annotations

from gpudoctor.knowledge import clock_reasons
from gpudoctor.patterns import regex
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.nvidia_smi.field_names import COLUMNS, LABELS, LONELY, LONELY_TAGS, PARTS, TAGS
from gpudoctor.tools.nvidia_smi.values import LONGEST, Card

DEPTH = 12  # of sections in each other; six are real
# GPU 00000000:1B:00.0  |  GPU 00000000:1B:00.0 (indented by a log that quotes it)
HEAD = regex(r"^(?:GPU (?=\S+\s*$)|\s*<gpu id=\")([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])")
#     Performance State                     : P0  |          Current                           : Disabled
LINE = regex(r"^( *)(\S[^:]{0,60}?) *: (.{0,400})")
# #        SW Power Cap                      : Active  |  - **HW Slowdown**: Active  |  `Pending : Yes`: as notes and comments quote it
DECORATED = regex(r"^(\s{0,40})(?:#+|//|[-*\u2022](?= ))(?=\s*\S)")
EMPHASIS = regex(r"[*`]")
# ecc.errors.uncorrected.volatile.total:    7: the name that --query-gpu takes, where somebody wrote the answer down
QUERIED = regex(r"[a-z_]{2,40}(?:\.[a-z_]{2,40}){1,5}\Z")
ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
# <gpu id="00000000:1B:00.0">  |  <current_mig>Disabled</current_mig>  |  text between two tags
TOKEN = regex(r"<(/?)([A-Za-z_][\w.]{0,79})([^<>]{0,400})>|([^<>]{1,400})")
ID = regex(r'id="([0-9A-Fa-f:.]{7,20})"')
# Values of a MIG instance, of the whole module and lists of what could be set: not the GPU's own.
OTHERS = frozenset({"MIG Device", "MIG Devices", "mig_devices", "mig_device", "Module Power Readings", "supported_clocks"})
PROCESS_LABELS = {"Process ID": "pid", "Type": "kind", "Name": "process", "Used GPU Memory": "memory"}
PROCESS_TAGS = {"pid": "pid", "type": "kind", "process_name": "process", "used_memory": "memory"}
# The driver of a guest prints 0 C for the sensor that only the host reads; its power is N/A.
VIRTUAL = ("Virtualization Mode", "Virtualization mode", "virtualization_mode")
COUNTERS = ("Clocks Event Reasons Counters", "clocks_event_reasons_counters")
REASONS = ("Clocks Event Reasons", "Clocks Throttle Reasons", "clocks_event_reasons", "clocks_throttle_reasons")
# A section's title, in lower case → as -q prints it: releases and people differ (Retired pages)
TITLES = {part.lower(): part for name in LABELS for part in name.split("/")[:-1]} | {title.lower(): title for title in REASONS[:2]}

Held = tuple[Card, dict[str, str]]  # a process under a card: pid, kind, process, memory as shown


class Reader:
    """The cards and processes of one answer, while its values come by one after the other."""

    def __init__(self) -> None:
        self.cards: list[Card] = []
        self.held: list[Held] = []
        self.time: float | None = None
        self.head: dict[str, str] = {}

    def gpu(self, address: str, line: int) -> None:
        """A GPU's block begins."""
        self.cards.append(Card(line, pci=pci.canonical(address)))
        self.cards[-1].time = self.time

    def value(self, path: list[str], text: str, line: int, names: dict[str, str], process: dict[str, str]) -> None:
        """One value under the sections `path`, whose last element is its own name."""
        key = path[-1]
        if key in ("Timestamp", "timestamp") and len(path) == 1:
            self.time = line_time(text)
        if OTHERS.intersection(path):
            return
        field = next((names[tail] for depth in (3, 2) if (tail := "/".join(path[-depth:])) in names), "")
        field = field or (COLUMNS.get(key, "") if QUERIED.match(key) else "")
        alone = len(path) == 1
        field = field or ((names.get(key) or LONELY.get(key) or LONELY_TAGS.get(key, "")) if alone else "")
        reasons, counters = (any(section in path[:-1] for section in sections) for sections in (REASONS, COUNTERS))
        reasons = reasons or (alone and text in ("Active", "Not Active") and bool(clock_reasons.from_word(key)))
        if not self.cards:  # a part of an answer, without the line that names the GPU
            if not (field or reasons or counters):
                return
            self.cards.append(Card(line))
        card = self.cards[-1]
        card.guest = card.guest or (key in VIRTUAL and text == "VGPU")
        if field == "temperature" and card.guest and text == "0 C":
            text = "N/A"
        if key in process and any(section in ("Processes", "processes", "process_info") for section in path[:-1]):
            self.process(card, process[key], text)
        elif counters:
            if name := clock_reasons.from_word(key):
                card.spent(name, text)
        elif reasons:
            if name := clock_reasons.from_word(key):
                card.reason(name, text, line)
        else:
            if key in ("Processes", "processes") and text.strip() == "None":
                card.processes = 0
            card.put(field, text, key, line)

    def process(self, card: Card, field: str, text: str) -> None:
        """One value of a process; its number begins a new one."""
        if field == "pid":
            self.held.append((card, {"pid": text}))
            card.processes = (card.processes or 0) + 1
        elif self.held and self.held[-1][0] is card:
            self.held[-1][1].setdefault(field, text[:LONGEST])


def read_text(lines: list[str]) -> Reader:
    """`nvidia-smi -q`, whole, a part of it (`-d ECC`), or several one after the other."""
    reader = Reader()
    stack: list[tuple[int, str]] = []
    for number, line in enumerate(map(strip_marks, lines), 1):
        if match := HEAD.match(line):
            reader.gpu(match.group(1), number)
            stack = []
        elif match := LINE.match(line):
            indent, key, text = len(match.group(1)), match.group(2), match.group(3)
            # a paste without its indentation: what stands below a title, and belongs there, is inside
            while stack and stack[-1][0] >= indent and not (stack[-1][0] == indent and section_has(stack[-1][1], key)):
                stack.pop()
            reader.value([*(name for _, name in stack), key], text, number, LABELS, PROCESS_LABELS)
        elif bare := line.strip():
            indent = len(line) - len(line.lstrip())
            while stack and stack[-1][0] >= indent:
                stack.pop()
            if len(stack) < DEPTH:
                stack.append((indent, TITLES.get(bare[:64].lower(), bare[:64])))
    return reader


def strip_marks(line: str) -> str:
    """A line of -q without the marks of a comment, a list or Markdown, in the same columns; any other line as it is.

    >>> strip_marks("#    SW Power Cap  : Active"), strip_marks("- **HW Slowdown** : Active"), strip_marks("    Pending : Yes")
    ('     SW Power Cap  : Active', '  HW Slowdown : Active', '    Pending : Yes')
    """
    bare = line.lstrip()
    if not bare.startswith(("#", "//", "-", "*", "\u2022", "`")):
        return line
    return EMPHASIS.sub("", DECORATED.sub(lambda match: match.group(1) + " " * (match.end() - match.end(1)), line))


def section_has(title: str, key: str) -> bool:
    """Whether a section has such a value."""
    return f"{title}/{key}" in LABELS or (title in REASONS and bool(clock_reasons.from_word(key)))


def unescape(text: str) -> str:
    """The five entities of XML as what they stand for. The standard library's own would load its network client."""
    for entity, sign in ENTITIES:
        text = text.replace(entity, sign)
    return text


def read_xml(text: str) -> Reader:
    """`nvidia-smi -q -x`, in whatever lines it is broken."""
    reader = Reader()
    path: list[str] = []
    line = 1
    for match in TOKEN.finditer(text):
        closes, tag, rest, said = match.groups()
        if said is not None:
            if path and (bare := said.strip()):
                reader.value(path_below_gpu(path), unescape(bare), line + said[: said.find(bare[0])].count("\n"), TAGS, PROCESS_TAGS)
            line += said.count("\n")
        elif closes:
            if tag in path:
                del path[len(path) - 1 - path[::-1].index(tag) :]
            if tag == "processes" and reader.cards and reader.cards[-1].processes is None:
                reader.cards[-1].processes = 0
        elif not rest.endswith("/"):
            if tag == "gpu" and (address := ID.search(rest)):
                reader.gpu(address.group(1), line)
                path = ["gpu"]
            elif len(path) < DEPTH:
                path.append(tag)
    return reader


def partly_xml(text: str) -> bool:
    """Whether it has a section or an unmistakable value of -q -x, as sed and grep cut them out.

    >>> partly_xml("\t<remapped_row_pending>Yes</remapped_row_pending>"), partly_xml("<state>Yes</state>")
    (True, False)
    """
    return "</" in text and any(match[2] in PARTS or match[2] in REASONS for match in TOKEN.finditer(text[:100_000]) if match[2])


def path_below_gpu(path: list[str]) -> list[str]:
    """The path below the GPU, or below the log."""
    if path[0] == "gpu":
        return path[1:] or path
    return path[1:] if path[0] == "nvidia_smi_log" and len(path) > 1 else path
