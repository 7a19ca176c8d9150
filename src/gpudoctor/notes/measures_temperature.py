"""Reader of how hot the memory of a GPU is, where nvidia-smi doesn't tell it (GeForce): monitors of other makers, and tables of any titles.

VRAM Temps: |  104°c |                         (gddr6)          core C   mem junction C   MH/s
GPU Memory Junction Temperature: 108.0 °C      (HWiNFO)         55-60    110              121
mem:          +94.0°C  (crit = +105.0°C, …     (sensors, amdgpu)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.notes.measure import Line, Reading
from gpudoctor.notes.measures_load_tests import cells_of
from gpudoctor.patterns import regex

NAME = r"(?:\b(?:mem(?:ory)?|vram|gddr\dx?|hbm\d?e?)[ _-]?(?:junction|tjunction|tj|temp(?:erature)?s?\b)|sensor memory|^mem(?=: +\+\d))"
NAMED = regex(NAME, 2)
# Memory Temperature [°C]  |  mem junction C  |  vram_temp_c  |  Temperature (Sensor memory) (C)
TITLE = regex(rf"(?:^|[\s_(]){NAME}.{{0,30}}$", 2)
# what memory may have, not what it has
BOUND = regex(r"limit|thresh|rated|spec\b|max\.? (?:operating|allowed)|crit|shutdown|slowdown|target|headroom|margin", 2)
STATED = regex(rf"{NAME}[^\d:=|]{{0,24}}[:=|\s]\s*\|?\s*\+?(\d{{2,3}}(?:\.\d{{1,2}})?) ?°? ?C\b", 2)
BARE = regex(r"(\d{2,3}(?:\.\d{1,2})?)(?: ?°? ?[Cc])?$")
CELSIUS = regex(r"(?:°|\b|_)c(?:elsius)?(?:\b|$)|°", 2)
WORDS = ("emp", "EMP", "unction", "UNCTION", "tj", "TJ", "Tj", "mem:", "ensor memory")  # one is in each of the names


def heat(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest temperature of the memory that a text tells."""
    found: list[tuple[float, Line]] = []
    titles: list[str] = []
    column = -1
    for number, text in lines:
        if column >= 0:
            if len(cells := cells_of(text)) == len(titles):
                if match := BARE.match(cells[column]):
                    found.append((float(match[1]), (number, text)))
                continue
            column = -1
        if not any(word in text for word in WORDS) or not NAMED.search(text):
            continue
        if (match := STATED.search(text)) and not BOUND.search(text[: match.end()]):
            found.append((float(match[1]), (number, text)))
        elif len(cells := cells_of(text)) >= 3 and not any(map(BARE.match, cells)):
            titles, column = cells, next((at for at, title in enumerate(cells) if is_memory_temperature(title)), -1)
    if found:
        value, line = max(found)
        yield Reading("memory_temperature", value, line)


def is_memory_temperature(title: str) -> bool:
    """Whether a column is of the memory's temperature in °C.

    >>> is_memory_temperature("mem junction C"), is_memory_temperature("Memory Temperature [°C]")
    (True, True)
    >>> is_memory_temperature("memory junction limit C"), is_memory_temperature("Memory Used [MB]")
    (False, False)
    """
    return bool(TITLE.search(title) and CELSIUS.search(title) and not BOUND.search(title))
