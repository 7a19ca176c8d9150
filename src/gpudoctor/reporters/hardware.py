"""What a vendor asks for about a GPU, as rows of a name and a value: the same in every form of a report."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.report import Hardware, XidLine

# Field, name, and whether a vendor always asks for it, so that a report says where it was not read.
NAMES: tuple[tuple[str, str, bool], ...] = (
    ("node", "Node", False),
    ("product", "Product", False),
    ("serial", "Serial number", True),
    ("part_number", "Part number", True),
    ("uuid", "UUID", False),
    ("pci", "PCI address", True),
    ("slot", "Slot", False),
    ("index", "Index in nvidia-smi", False),
    ("vbios", "VBIOS", True),
    ("inforom", "InfoROM image", True),
    ("driver", "Driver", True),
    ("gsp_firmware", "GSP firmware", False),
)


def hardware_rows(one: Hardware) -> list[list[str]]:
    """[name, value] for each thing that is known, then what a vendor will ask for and was not read."""
    known = {field: str(value) for field, _, _ in NAMES if (value := getattr(one, field)) not in ("", None)}
    made = [["Found", ", ".join(one.causes)], *([name, known[field]] for field, name, _ in NAMES if field in known)]
    made += [[name, value] for name, value in memory(one) if value]
    made += [["Xid" if not number else "", xid_line(xid)] for number, xid in enumerate(one.xids)]
    if one.more_xids:
        made.append(["", f"and {one.more_xids} more in the kernel's log"])
    made += [["DCGM" if not number else "", result] for number, result in enumerate(one.diagnostics)]
    missing = [name for field, name, asked in NAMES if asked and field not in known]
    return [*made, *([["Not read", ", ".join(missing)]] if missing else [])]


def memory(one: Hardware) -> Iterator[tuple[str, str]]:
    """The state of the card's memory, and the driver's own word."""
    rows = [(one.remapped_correctable, "correctable"), (one.remapped_uncorrectable, "uncorrectable")]
    states = [f"{number} {kind}" for number, kind in rows if number is not None]
    for state, yes, no in ((one.remap_pending, "pending", "none pending"), (one.remap_failed, "failed", "none failed")):
        states += [] if state is None else [yes if state else no]
    yield "Remapped rows", ", ".join(states)
    pending = {True: ", more pending", False: ", none pending", None: ""}[one.retired_pending]
    yield "Retired pages", "" if one.retired_pages is None else f"{one.retired_pages}{pending}"
    yield "Uncorrected errors", "" if one.ecc_uncorrected is None else f"{one.ecc_uncorrected} over the card's life"
    yield "Driver advises", one.recovery_action


def xid_line(xid: XidLine) -> str:
    """`2026-03-01T11:52:03Z  79  NVRM: Xid (PCI:0000:1b:00): 79, …`, with how often and until when."""
    often = f" ×{xid.count}" if xid.count > 1 else ""
    until = f" until {xid.last}" if xid.last and xid.last != xid.time and xid.count > 1 else ""
    return f"{xid.time or 'no time'}  {xid.code}{often}{until}  {xid.text}"
