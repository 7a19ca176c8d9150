"""How hot the memory of a GPU is, where nvidia-smi doesn't tell it (GeForce, other makers): one line of a monitor, or its log.

VRAM Temps: |  104°c |                         (gddr6)          Date,GPU Temperature [°C],Memory Temperature [°C]
GPU Memory Junction Temperature: 108.0 °C      (HWiNFO)         2026-03-01 12:00:01,58.1,108.0
mem:          +94.0°C  (crit = +105.0°C, …     (sensors, amdgpu)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import Line, Reading

NAME = r"(?:\b(?:mem(?:ory)?|vram|gddr\dx?|hbm\d?e?)[ _-]?(?:junction|tjunction|tj|temp(?:erature)?s?\b)|sensor memory|^mem(?=: +\+\d))"
NAMED = regex(NAME, 2)
# Memory Temperature [°C]  |  mem junction C  |  vram_temp_c  |  Temperature (Sensor memory) (C)
TITLE = regex(rf"(?:^|[\s_(]){NAME}.{{0,30}}$", 2)
# what memory may have, not what it has
BOUND = regex(r"limit|thresh|rated|spec\b|max\.? (?:operating|allowed)|crit|shutdown|slowdown|target|headroom|margin", 2)
STATED = regex(rf"{NAME}[^\d:=|]{{0,24}}[:=|\s]\s*\|?\s*\+?(\d{{2,3}}(?:\.\d{{1,2}})?) ?°? ?C\b", 2)
VALUE = regex(r"\d{2,3}(?:\.\d{1,2})?$")
WORDS = ("emp", "EMP", "unction", "UNCTION", "tj", "TJ", "Tj", "mem:", "ensor memory")  # one is in each of the names


def memory_heat(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest temperature of the memory that a text tells."""
    found: list[tuple[float, Line]] = []
    titles: list[str] = []
    column = -1
    for number, text in lines:
        if column >= 0 and len(cells := text.split(",")) == len(titles):
            if VALUE.match(cells[column].strip()):
                found.append((float(cells[column]), (number, text)))
        elif any(word in text for word in WORDS) and NAMED.search(text):
            if (match := STATED.search(text)) and not BOUND.search(text[: match.end()]):
                found.append((float(match[1]), (number, text)))
            titles = [title.strip() for title in text.split(",")]
            column = next((at for at, title in enumerate(titles) if TITLE.search(title) and not BOUND.search(title)), -1)
    if found:
        value, line = max(found)
        yield Reading("memory_temperature", value, line)
