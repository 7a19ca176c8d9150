"""Rows of RDMA ports as people print them themselves: a table of any columns, one line for each port in a loop, CSV, or JSON.

HCA      State   Physical  Rate                     10:12:01 mlx5_3 xmit_wait=99812233441 symbol_error=0
mlx5_0   Active  LinkUp    400                      mlx5_2: 2: INIT / 5: LinkUp sm_lid=0x0

[{"ifname": "mlx5_2", "port": 1, "state": "DOWN", "physical_state": "POLLING"}]                      (rdma -j link)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from gpudoctor.knowledge.port_titles import COUNTERS, meaning
from gpudoctor.patterns import regex

MOST = 20_000  # rows
# mlx5_0  |  mlx5_ib3  |  mlx5_bond_0  |  bnxt_re1  |  rocep23s0  |  ibp26s0f1
NAME = r"(?:mlx[45]_(?:ib|bond_?|core_)?\d{1,3}|bnxt_re\d{1,3}|hfi1_\d{1,2}|irdma\d{1,2}|ionic_\d{1,2}|(?:roce|ib)p\d{1,4}s\d\w{0,12})"
DEVICE = regex(rf"({NAME})(?:[/:](\d{{1,3}}))?(?![\w-])")
ADAPTER = regex(rf"[(\[]?({NAME})(?:[/:](\d{{1,3}}))?[)\]:]?$")
GUID = regex(r"0x[0-9a-f]{16}$")
HINTS = ("mlx", "bnxt_re", "hfi1_", "irdma", "ionic_", "roce", "ibp", "PortGUID", "VL15", "ACTIVE")
# 10:12:01  |  2026-03-01 10:12:01  |  [10:12:01]  |  2026-03-01T10:12:01Z
CLOCK = regex(r"\[?(?:\d{4}-\d\d-\d\d[T ])?(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?Z?\]?[ ,|]\s{0,8}")
# gpu-01 mlx5_0 …  |  gpu-01: CA: mlx5_0 …
BEFORE = regex(r"^\s{0,16}(?:([a-z][\w.-]{0,50}\d[\w.-]{0,20})\s{0,16}[:|, ]\s{0,16})?(?:CA|HCA|dev(?:ice)?|port)?[:= ]{0,3}['\"]?$", 2)
# 4: ACTIVE  |  PORT_ACTIVE (4)  |  Initializing
STATE = r"(?:\d: ?)?(?:PORT_)?(ACTIVE|DOWN|INIT|INITIALIZING|ARMED|Active|Down|Init|Initializing|Initialize|Armed)(?![\w])"
PHYSICAL = (
    r"(?:\d: ?)?(LinkUp|LINK_?UP|Polling|POLLING|Disabled|DISABLED|LinkErrorRecovery|LINK_ERROR_RECOVERY|PortConfigurationTraining)\b"
)
RATE = r"(\d{1,4}(?:\.\d)?) ?(?:Gb/s(?:ec)?|Gbps|G)\b(?: ?\((\d{1,2}X) ([A-Z]{2,4}\d{0,2})\))?"
WORDS = {
    "state": regex(rf"(?:^|[\s:=/|,(]){STATE}"),
    "physical": regex(rf"(?:^|[\s:=/|,(]){PHYSICAL}"),
    "rate": regex(rf"(?:^|[\s:=/|,(]){RATE}"),
    "sm_lid": regex(r"\bsm[_ ]?lid[:= ]{1,3}(0x[0-9a-f]{1,4}|\d{1,5})\b", 2),
    "lid": regex(r"(?<!sm)(?<!sm[_ ])\b(?:base )?lid[:= ]{1,3}(0x[0-9a-f]{1,4}|\d{1,5})\b", 2),
    "bare_rate": regex(r"\b[Rr]ate[:= ]{1,3}(\d{2,4})\b(?! ?G)"),
}
FIRST = regex(rf"[\s:=/|,>-]{{0,8}}(?:(?:[Pp]ort ?\d )?[Ss]tate[:= ]{{1,3}})?(?:{STATE}|{PHYSICAL}|{RATE})")
PAIR = regex(r"([A-Za-z][\w.]{2,40})(?: ?[=:] ?|\s{1,16})\+?(\d{1,19})(?![\w.])")
# xmit_data(MB)  |  tx_GB/s  |  rcv_data_bytes  |  port_xmit_data
TRAFFIC = regex(r"(?:port_)?(xmit|xmt|tx|send|rcv|rx|recv)_?(data)?[ _]?[\[(]?([kmgt]?i?b(?:ytes?)?|words?)?(/s|ps)?[\])]?$", 2)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
SPACES = regex(r"\s{2,}|\t")
FULL = regex(r"\s+")


class Row(NamedTuple):
    """What one row says of one port: text by property, counters by sysfs' name, traffic in bytes, or in bytes a second."""

    line: int
    text: str
    ca: str
    said: dict[str, str]
    counts: dict[str, int]
    traffic: dict[str, float]
    each_second: bool = False
    clock: float | None = None  # s of the day
    grown: bool = False  # the counts are growth


def parse_rows(lines: Sequence[tuple[int, str]], whole: str = "") -> list[Row]:
    """All rows of a text."""
    if not any(hint in whole for hint in HINTS):
        return []
    if whole.lstrip()[:1] in ("{", "["):
        return [*of_json(whole)][:MOST]
    found: list[Row] = []
    titles: list[str] = []
    for number, line in lines:
        if head := header(line):
            titles = head
        elif titles and (row := of_table(titles, number, line)):
            found.append(row)
        elif "_" in line or ":" in line or " " in line:
            found += of_line(number, line)
        if len(found) >= MOST:
            break
    return found


def cells(line: str) -> Iterator[list[str]]:
    """The cells of a line, by each of the ways in which it may have been cut."""
    if line.count("|") > 1:
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]
    elif line.count(",") > 1:
        yield [cell.strip() for cell in line.split(",")]
    else:
        yield [cell for cell in SPACES.split(line.strip()) if cell]
        yield FULL.split(line.strip())


def header(line: str) -> list[str]:
    """The titles of a table of ports: three that are known, and no row of it."""
    if any(sign.isdigit() for sign in line.replace("15", "")) and DEVICE.search(line):
        return []
    best: list[str] = []
    for titles in cells(line):
        known = [name for title in titles if (name := meaning(title))]
        if len({*known}) >= 3 and len(titles) > len(best) and not any(title.isdecimal() for title in titles):
            best = titles
    return best


def of_table(titles: list[str], number: int, line: str) -> Row | None:
    """A row below its titles; the first column may have none."""
    clock, line = split_clock(line)
    for values in cells(line):
        heads = ["", *titles] if len(values) == len(titles) + 1 else titles
        if len(values) != len(heads):
            continue
        ca, said, counts, traffic, each = "", dict[str, str](), dict[str, int](), dict[str, float](), False
        for title, value in zip(heads, values, strict=True):
            name, bare = meaning(title), value.replace(",", "").removeprefix("+")
            if name == "ca" or (not ca and ADAPTER.match(value)):
                match = ADAPTER.match(value)
                ca = match[1] if match else ca
                said |= {"port": match[2]} if match and match[2] else {}
            elif name in COUNTERS and bare.isdecimal() and len(bare) < 20:
                counts[name] = int(bare)
            elif not name and (read := volume(title, bare)):
                traffic[read[0]], each = read[1], each or read[2]
            elif name and name not in COUNTERS:
                said[name] = value
        if not ca and counts and GUID.match(said.get("guid", "")):
            ca = said["guid"]
        if ca and (said or counts):
            return Row(number, line.strip(), ca, said, counts, traffic, each, clock, any(grows(title) for title in heads))
    return None


def grows(title: str) -> bool:
    """Whether a title says that its numbers are differences."""
    return title.endswith(("(d)", "/s", "(delta)", "_d")) or title.lower().startswith(("delta", "d_", "Δ", "+", "diff"))


def volume(title: str, value: str) -> tuple[str, float, bool] | None:
    """Direction, bytes, and whether it is so much a second; sysfs' own counters are of words of four bytes."""
    match = TRAFFIC.match(title.strip())
    if not match or not (match[2] or match[3]):
        return None
    try:
        number = float(value[:32])
    except ValueError:
        return None
    unit = match[3] or ""
    bits = 8 if unit.endswith("b") and match[4] else 1
    factor = 4 if not unit or unit.lower().startswith("word") else UNITS.get(unit.lower().rstrip("s").removesuffix("yte")[:-1], 1)
    return "rcv" if match[1].lower() in ("rcv", "rx", "recv") else "xmit", max(0.0, number) * factor / bits, bool(match[4])


def split_clock(line: str) -> tuple[float | None, str]:
    """The time of day before a line, and the rest.

    >>> split_clock("10:12:01 mlx5_3 xmit_wait=5")
    (36721.0, 'mlx5_3 xmit_wait=5')
    """
    match = CLOCK.match(line)
    if not match:
        return None, line
    return int(match[1]) * 3600.0 + int(match[2]) * 60.0 + int(match[3] or 0), line[match.end() :]


def of_line(number: int, line: str) -> Iterator[Row]:
    """What a line says behind each adapter's name in it; with a time before it of a port without a name."""
    clock, rest = split_clock(line)
    found = [*DEVICE.finditer(rest)]
    if not found and clock is not None and (read := read_cell(rest, coded=True)):
        yield Row(number, line.strip(), "", *read, clock=clock)
    if not found or not (before := BEFORE.match(rest[: found[0].start()])):
        return
    host = {"node": before[1]} if before[1] else {}
    ends = [*(match.start() for match in found[1:]), len(rest)]
    for match, end in zip(found, ends, strict=True):
        if read := read_cell(rest[match.end() : end].strip("'\"")):
            said, counts, traffic = read
            port = {"port": match[2]} if match[2] else {}
            yield Row(number, line.strip(), match[1], said | port | host, counts, traffic, clock=clock)


def read_cell(text: str, *, coded: bool = False) -> tuple[dict[str, str], dict[str, int], dict[str, float]] | None:
    """State and rate, counters, traffic of a text that begins with one of them; `coded`: a state has its number, as sysfs prints it."""
    pairs = PAIR.findall(text)
    counts = {name: int(value) for title, value in pairs if (name := meaning(title)) in COUNTERS}
    traffic = {read[0]: read[1] for title, value in pairs if (read := volume(title, value)) and not read[2]}
    first = FIRST.match(text)
    if (not first and not counts) or (coded and not counts and not regex(r"\d: ?[A-Z]").match(text.strip())):
        return None
    said = {}
    for name, pattern in WORDS.items():
        if match := pattern.search(text):
            said[name.removeprefix("bare_")] = " ".join(match[0].strip(" :=/|,(").split()) if name == "rate" else match[1]
    return said, counts, traffic


def of_json(whole: str) -> Iterator[Row]:
    """The objects that have an adapter's name, with what lies in them; those of several lines of JSON as well."""
    texts = [whole] if len(whole) < 8_000_000 else []
    for text in texts:
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            try:
                value = msgspec.json.decode(f"[{','.join(line for line in text.splitlines() if line.strip())}]")
            except (msgspec.DecodeError, RecursionError):
                return
        yield from of_value(value)


def of_value(value: Any) -> Iterator[Row]:
    """The ports in a value of JSON."""
    waiting = [value]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, list):
            waiting += one[:MOST]
        if not isinstance(one, dict):
            continue
        own = {str(key): inner for key, inner in one.items()}
        for inner in [inner for inner in own.values() if isinstance(inner, dict)]:
            if not any(isinstance(part, str) and ADAPTER.match(part) for part in inner.values()):
                own |= {str(key): part for key, part in inner.items()}
        match = next((match for key, part in own.items() if meaning(key) == "ca" or key == "name" if (match := adapter(part))), None)
        if not match:
            waiting += [inner for inner in one.values() if isinstance(inner, dict | list)]
            continue
        said = {name: str(part) for key, part in own.items() if isinstance(part, str | int | float) and (name := meaning(key))}
        counts = {name: int(part) for name, part in said.items() if name in COUNTERS and part.isdecimal() and len(part) < 20}
        said = {name: part for name, part in said.items() if name not in COUNTERS and name != "ca"}
        if match[2]:
            said["port"] = match[2]
        shown = ", ".join(f"{name} {part}" for name, part in [*said.items(), *counts.items()] if name != "node")
        yield Row(0, f"{match[1]}: {shown}"[:300], match[1], said, counts, {})


def adapter(part: object) -> Any:
    """The match of an adapter's name that is a whole value."""
    return ADAPTER.match(part) if isinstance(part, str) else None
