"""What the text of an Xid line says beside its number: the unit, the link, the place, the function that got no answer, the action.

The forms of the messages, and what their words mean, are data (`xids.yaml`): a named group of a form that is a field of `Decoded` fills
it, any other one becomes a line for a person, with the meaning where `words` has one. Three tables need code: the registers of Xid 74,
the sub-codes of 144 to 150, the recovery action of 154.
"""

from __future__ import annotations

import functools
import re

import msgspec

from gpudoctor.knowledge.xids import Book, Rule, book
from gpudoctor.patterns import regex

LONGEST = 1024  # characters of a message that are looked at; the driver's longest are about 300
WORDED = ("registers", "interrupt", "status", "to_name", "to_value")  # groups that tables explain
NONFATAL = regex(r"non-?fatal", re.IGNORECASE)
REASON_BITS = slice(-26, -20)  # link-down reason: bits 25:20 of the first word, in its 32 binary digits


class Decoded(msgspec.Struct):
    """What a message says; "" and None: it doesn't say."""

    unit: str = ""  # 144-150: RLW_SRC_TRACK …; 48, 94, 95, 171, 172: the unit with the memory error; 31: the engine
    fatal: bool | None = None  # the text's own word
    link: int | None = None
    place: str = ""  # "GPC 1, TPC 3, SM 0"; of memory errors the location
    function: int | None = None  # 119: the RPC function that got no answer
    action: str = ""  # 154, after "to": none, reset, reboot, drain_p2p, drain_and_reset, recover_imex, bus_reset
    lines: list[str] = []  # for a person, in the order of the text


def decode(code: int, text: str) -> Decoded:
    """What the message of an Xid says. `text` is the line or what follows the code in it.

    >>> decode(13, "Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Out Of Range Address").place
    'GPC 1, TPC 3, SM 0'
    """
    known = book()
    groups = captured_fields(code, text[:LONGEST])
    made = Decoded(
        unit=groups.get("unit", ""),
        fatal=not NONFATAL.match(groups["fatal"]) if "fatal" in groups else None,
        link=number(groups.get("link", "")),
        place=groups.get("place", ""),
        function=number(groups.get("function", "")),
    )
    made.lines = [line for name, value in groups.items() if (line := describe_group(known, name, value))]
    made.lines += registers(known, groups.get("registers", ""))
    if "status" in groups and "interrupt" in groups:
        made.lines += sub_code(known, code, groups)
    if "to_name" in groups:
        made.action, line = recovery(known, groups.get("to_value", ""), groups["to_name"])
        made.lines.append(line)
    return made


@functools.cache
def forms(code: int) -> list[re.Pattern[str]]:
    """The forms of a code's messages."""
    entry = book().xid(code)
    return [re.compile(form.pattern) for form in entry.forms] if entry else []


def captured_fields(code: int, text: str) -> dict[str, str]:
    """The named groups of the first form that the text has."""
    for form in forms(code):
        if match := form.search(text):
            return {name: value.strip() for name, value in match.groupdict().items() if value}
    return {}


def number(text: str) -> int | None:
    """The number that a text begins with."""
    match = re.match(r"\d{1,9}", text)
    return int(match.group()) if match else None


def describe_group(known: Book, name: str, value: str) -> str:
    """One line for what a group captured: `link 14`, `function 76: a control call …`. "" for what tables explain."""
    if name in WORDED:
        return ""
    if name == "fatal":
        return value.lower()
    words = known.words.get(name, {})
    begins = (word for word in words if value.startswith(f"{word} "))
    meaning = words.get(value) or words.get(max(begins, key=len, default=""), "")
    shown = str(number(value)) if name == "link" else value
    return f"{name.replace('_', ' ')} {shown}" + (f": {meaning}" if meaning else "")


def registers(known: Book, text: str) -> list[str]:
    """The set bits of the seven words of Xid 74, with their meaning.

    >>> [line.split(":")[0] for line in registers(book(), "0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0")]
    ['word 3, bit 16']
    """
    made = []
    for word, value in enumerate((int(item, 16) for item in re.findall(r"0x([0-9a-fA-F]{1,8})\b", text)), 1):
        for bit in range(32):
            if value >> bit & 1:
                means = next((row.means for row in known.registers if row.word == word and bit in row.bits), "no published meaning")
                made.append(f"word {word}, bit {bit}: {means}")
    return made


def recovery(known: Book, value: str, name: str) -> tuple[str, str]:
    """The recovery action in our word, and the line that explains it. The driver's name decides; the number where the name is new."""
    wanted = int(value, 16) if value else None
    row = next((row for row in known.recovery if row.name.lower() == name.lower()), None) or next(
        (row for row in known.recovery if row.value == wanted), None
    )
    return (row.action, f"recovery action {name}: {row.means}") if row else ("", f"recovery action {name}")


def sub_code(known: Book, code: int, groups: dict[str, str]) -> list[str]:
    """What NVIDIA's table says of a sub-code of NVLink 5, by unit, first and second word of the message."""
    bits = f"{int(groups['interrupt'], 16):032b}"
    status, reason = int(groups["status"], 16), int(bits[REASON_BITS], 2)
    rows = [row for row in known.nvlink5 if row.code == code and row_fits(row, groups.get("unit", ""), bits, status, reason)]
    made = []
    if reason and any(row.reason is not None for row in known.nvlink5 if row.code == code):
        made.append(f"link-down reason {reason}: {known.link_down_reasons.get(str(reason), 'not in the table')}")
    if not rows:
        return [*made, "NVIDIA's table has no such sub-code: do what Xid 154 says, else report it"]
    row = rows[0]
    action = row.promoted if row.promoted and bits.endswith(row.promoted_bits) else row.now
    made.append(f"at once: {known.buckets[action]}; then: {known.buckets[row.then]}")
    return [*made, f"expected beside it: {', '.join(row.beside)}"] if row.beside else made


def row_fits(row: Rule, unit: str, bits: str, status: int, reason: int) -> bool:
    """Whether a row is about this message: by the unit's name or the low bits, then by reason and status."""
    if unit not in row.units and not bits.endswith((row.bits_before_575, row.bits)):
        return False
    return (row.reason is None or row.reason == reason) and (not row.statuses or status in {int(text, 16) for text in row.statuses})
