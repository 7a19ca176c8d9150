"""nvidia-smi's CSV: --query-gpu, -remapped-rows, -retired-pages and -compute-apps, with or without units and header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpudoctor.knowledge import clock_reasons
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.nvidia_smi.field_names import COLUMNS
from gpudoctor.tools.nvidia_smi.values import Card

# Columns that are no field of a GPU but are known: a header is recognised by them too.
OTHERS = frozenset({"timestamp", "pid", "process_name", "used_memory", "used_gpu_memory", "count", "memory.free", "utilization.memory"})
FAMILIES = (
    "clocks.",
    "clocks_",
    "power.",
    "pcie.",
    "ecc.",
    "retired_pages.",
    "remapped_rows.",
    "encoder.",
    "pci.",
    "fabric.",
    "temperature.",
)
QUERIES = ("--query-gpu=", "--query-compute-apps=", "--query-remapped-rows=", "--query-retired-pages=", "--query-accounted-apps=")
REASONS, COUNTERS = ("clocks_event_reasons.", "clocks_throttle_reasons."), "clocks_event_reasons_counters."
WIDEST = 128  # columns
# 69.75 W, 700.00 W  |  98 %, 61020 MiB, 81559 MiB: rows without a header (--format=csv,noheader) say what they are by their units
WITH_UNIT = regex(r"(\d{1,9}(?:\.\d{1,3})?) (W|%|MiB|MHz)\Z")
# unit → the columns that are asked for most, in the order of their sizes
BY_UNIT = {"W": ("power.draw", "power.limit"), "%": ("utilization.gpu",), "MiB": ("memory.used", "memory.total"), "MHz": ("clocks.sm",)}


def read_csv(lines: list[str], output: Output) -> tuple[list[Card], list[tuple[Card, dict[str, str]]]]:
    """The cards, a card for each row, and the processes of --query-compute-apps, each with a card that only names its GPU."""
    cards: list[Card] = []
    held: list[tuple[Card, dict[str, str]]] = []
    pages: dict[str, Card] = {}
    for number, row in table(lines, output):
        card = card_of(row, number)
        if "pid" in row:
            held.append((card, {"pid": row["pid"], "process": row.get("process_name", ""), "memory": memory(row)}))
        elif "retired_pages.address" in row:  # a row for each page; of a card that retires none, one for each cause
            if not row["retired_pages.address"].startswith("0x"):
                continue
            known = pages.setdefault(str(card.values.get("uuid") or card.values.get("pci")), card)
            kind, counts = "double" if "Double" in row.get("retired_pages.cause", "") else "single", known.parts.get("retired", {})
            known.parts["retired"] = {**counts, kind: counts.get(kind, 0) + 1}
        elif has_gpu_name(card) or measures(row):
            cards.append(card)
    return [*cards, *pages.values()], held


def memory(row: dict[str, str]) -> str:
    """What a process uses, under the old or the new title."""
    return row.get("used_memory") or row.get("used_gpu_memory", "")


def has_gpu_name(card: Card) -> bool:
    """Whether a row says which GPU it is of."""
    return any(key in card.values for key in ("uuid", "pci", "index"))


def measures(row: dict[str, str]) -> bool:
    """Whether a row without a name is one GPU's all the same: nvidia-smi prints one a GPU, in the order of the indexes."""
    return sum(title in COLUMNS for title in row) >= (1 if "timestamp" in row else 2)


def table(lines: list[str], output: Output) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, title → cell) of each row: titles from the header, else from the command; without both what its cells tell.

    In a loop the time may stand above the rows (`date; nvidia-smi …`): then a GPU without a name comes anew.
    """
    titles = requested_columns(output)
    anonymous = 0
    stamp = ""
    for number, line in enumerate(lines, 1):
        if "," not in line and not titles and not line.strip().startswith(("index", "uuid", "gpu_uuid", "pci.bus_id")):
            continue
        cells = [cell.strip() for cell in line.split(",", WIDEST)]
        if header := titles_in(cells):
            titles, anonymous = header, 0
        elif titles and len(cells) == len(titles):
            row = dict(zip(titles, cells, strict=True))
            if not {"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "timestamp"}.intersection(row):
                row["index"] = str(anonymous)
                anonymous += 1
            if stamp:
                row.setdefault("timestamp", stamp)
            yield number, row
        elif len(cells) == 1 and line_time(line) is not None:
            stamp, anonymous = line.strip(), 0
        elif len(cells) > 1 and cells[0].isdecimal() and any(cell.startswith("GPU-") and len(cell) == 40 for cell in cells):
            yield number, guess_cells(cells)
        elif not titles and (row := by_units(cells)):
            row.setdefault("index", str(anonymous))
            anonymous += 1
            yield number, row


def titles_in(cells: list[str]) -> list[str]:
    """The titles of a header line without their units, [] for a line that is none.

    >>> titles_in(["index", "memory.used [MiB]"]), titles_in(["0", "GPU-1"])
    (['index', 'memory.used'], [])
    """
    titles = [cell.partition(" [")[0].lower().lstrip("# ") for cell in cells]  # a script writes its header as a comment
    known = sum(title in COLUMNS or title in OTHERS or title.startswith(FAMILIES) for title in titles)
    alone = titles in (["index"], ["uuid"], ["pci.bus_id"], ["gpu_uuid"])
    return titles if alone or (known >= 2 and known * 2 >= len(titles)) else []


def requested_columns(output: Output) -> list[str]:
    """The columns that the command asked for."""
    option = next((argument for argument in output.command.argv if argument.startswith(QUERIES)), "")
    return [column.strip().lower() for column in option.partition("=")[2].split(",")[:WIDEST] if column]


def card_of(row: dict[str, str], number: int) -> Card:
    """The card that a row shows."""
    card = Card(number)
    for title, cell in row.items():
        if title == "timestamp":
            card.time = line_time(cell)
        elif title.startswith(COUNTERS):
            if name := clock_reasons.from_word(title):
                card.spent(name, cell)
        elif title.startswith(REASONS) and not title.endswith((".active", ".supported")):
            if name := clock_reasons.from_word(title):
                card.reason(name, cell)
        else:
            card.put(COLUMNS.get(title, ""), cell, title)
    if "pci" in card.values:
        card.values["pci"] = pci.canonical(card.values["pci"])
    return card


def by_units(cells: list[str]) -> dict[str, str]:
    """Two or more values with units and nothing else but a number or a name before them; {} for anything else.

    >>> by_units(["69.75 W", "700.00 W"]), by_units(["3", "98 %"]), by_units(["a", "b"])
    ({'power.draw': '69.75 W', 'power.limit': '700.00 W'}, {}, {})
    """
    found: dict[str, list[str]] = {}
    for cell in cells:
        if match := WITH_UNIT.match(cell):
            found.setdefault(match[2], []).append(cell)
    values = sum(map(len, found.values()))
    prose = any(": " in cell for cell in cells)  # "GPU 1: 381 MiB / 40960 MiB, 0 %, 52 W"
    if prose or values < 2 or values < len(cells) - 2 or any(len(texts) > len(BY_UNIT[unit]) for unit, texts in found.items()):
        return {}
    row = guess_cells([cell for cell in cells if not WITH_UNIT.match(cell)])
    for unit, texts in found.items():
        row |= zip(BY_UNIT[unit], sorted(texts, key=lambda text: float(text.split()[0])), strict=False)
    return row


def guess_cells(cells: list[str]) -> dict[str, str]:
    """Cells that say what they are: a UUID, a PCI address, a leading number, the first other text."""
    row: dict[str, Any] = {}
    for cell in cells:
        if cell.startswith("GPU-"):
            row.setdefault("uuid", cell)
        elif pci.canonical(cell):
            row.setdefault("pci.bus_id", cell)
        elif cell.isdecimal() and not row:
            row["index"] = cell
        elif cell[:1].isalpha():
            row.setdefault("name", cell)
    return row
