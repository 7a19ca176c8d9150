"""nvidia-smi's short answers for people: the table of GPUs and of processes, and -L."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.patterns import regex
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.nvidia_smi.values import ERRORS, Card

# GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-ba0890e9-…)
LISTED = regex(r"^\s*GPU (\d{1,3}): (.{1,100}?) \(UUID: (GPU-[0-9A-Za-z-]{4,60})\)")
AMOUNTS = regex(r"(\d{1,9})MiB */ *(\d{1,9})MiB")
# |    0   N/A  N/A    280059      C   ...-m4/bin/python    15992MiB |      and, up to R440, without GI and CI
PROCESS = regex(
    r"^\|\s{1,8}(\d{1,3})\s{1,12}(?:(?:N/A|\d{1,3})\s{1,8}(?:N/A|\d{1,3})\s{1,12})?(\d{1,10})\s{1,10}([CGM](?:\+[CG])?)\s{1,6}(\S.{0,80}?)\s{1,80}"
    r"(\d{1,9}MiB|N/A) *\|"
)
# | N/A   34C    P0    60W / 400W |  |  |ERR!  ERR! ERR!    ERR! / ERR! |  |  | 30%   33C    P8    N/A /  N/A |
STATE = regex(r"^(\S{1,5}) +(\S{1,6}) +(\S{1,4}) +(\S{1,9}) */ *(\S{1,9})")
MODES = {"E. Process": "Exclusive_Process", "E. Thread": "Exclusive_Thread", "Prohibited": "Prohibited", "Default": "Default"}
PERSISTENCE = ("On", "Off", "N/A", *ERRORS)


def from_list(lines: list[str]) -> Iterator[Card]:
    """`nvidia-smi -L`."""
    for number, line in enumerate(lines, 1):
        if match := LISTED.match(line):
            yield Card(number, index=int(match.group(1)), product=match.group(2), uuid=match.group(3))


def from_table(lines: list[str]) -> tuple[list[Card], list[tuple[Card, dict[str, str]]]]:
    """The GPU rows of the default table, and the processes below them.

    |   2  ERR!                On   | 00000000:3B:00.0 Off |                 ERR! |
    |ERR!  ERR! ERR!    ERR! / ERR! |      3MiB / 81559MiB |    ERR!      Default |
    |                               |                      |             Disabled |
    """
    cards: list[Card] = []
    held: list[tuple[Card, dict[str, str]]] = []
    by_index: dict[int, Card] = {}
    time: float | None = None
    listed = False  # the list of processes has begun; it is pasted without the GPUs, too
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("|"):
            time = line_time(line) or time  # the line above the table
            continue
        cells = cut(line)
        left = cells[0].split() if len(cells) == 3 else []
        address = pci.canonical((cells[1].split() or [""])[0]) if left else ""
        if address and left[0].isdecimal() and len(left[0]) < 4:
            card = row_card(number, left, address, cells, lines[number : number + 2])
            card.time = time
            cards.append(card)
            by_index.setdefault(int(left[0]), card)
        elif line.startswith("| Processes:"):
            listed = True
            for card in cards:
                card.processes = card.processes or 0
        elif (match := PROCESS.match(line)) and (cards or listed):
            index, pid, kind, name, memory = match.groups()
            owner = by_index.setdefault(int(index), Card(number, index=int(index)))
            owner.processes = (owner.processes or 0) + 1
            held.append((owner, {"pid": pid, "kind": kind, "process": name.strip(), "memory": memory}))
    return cards, held


def cut(line: str) -> list[str]:
    """The cells of a row."""
    return line.strip().strip("|").split("|")


def row_card(number: int, left: list[str], address: str, cells: list[str], below: list[str]) -> Card:
    """The card of a row of three lines, the lower two of which may be cut off."""
    card = Card(number, index=int(left[0]), pci=address)
    named = left[-1] in PERSISTENCE and len(left) > 2
    card.put("product", " ".join(left[1:-1] if named else left[1:]), "name")
    if named:
        card.put("persistence", left[-1])
    uncorrected = cells[2].strip()
    if uncorrected == "Off":
        card.values["ecc_mode"] = False
    elif uncorrected.isdecimal():
        card.values["ecc_mode"] = True
        card.part("_uncorrected_volatile/total", uncorrected)
    else:
        card.put("ecc_uncorrected_volatile", uncorrected)
    second, third = [*(cut(line) for line in below), [], []][:2]
    if len(second) == 3:
        if state := STATE.match(second[0].strip()):
            for field, shown in zip(("fan", "temperature", "pstate", "power", "power_limit"), state.groups(), strict=True):
                card.put(field, shown)
        if memory := AMOUNTS.search(second[1]):
            card.values["memory_used"], card.values["memory_total"] = int(memory.group(1)), int(memory.group(2))
        busy, _, mode = second[2].strip().partition(" ")
        card.put("utilisation", busy)
        card.put("compute_mode", MODES.get(mode.strip(), mode))
    if len(third) == 3 and not third[0].strip():
        card.put("mig_mode", third[2].strip().rstrip("*"))
        if third[2].strip().endswith("*"):  # nvidia-smi(1): a change of the mode is pending
            card.values["mig_pending"] = {"Enabled": "Disabled", "Disabled": "Enabled"}.get(card.values.get("mig_mode", ""), "")
    return card
