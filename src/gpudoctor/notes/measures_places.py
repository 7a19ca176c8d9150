"""What people measure of one program in several places or runs: the time of an epoch by where the data lies, how far the GPU's use swings.

where the data is      GPU    minutes per epoch          NVMe (staged in): 18 min/epoch          run      epoch   GPU util
node-local NVMe        A100   18                         NFS home: 44 min/epoch                  1 GPU    60 s    35-90 %
NFS                    A100   44

A run that is fast from a disk of the node and slow from a file system of the network waits for its data: for the difference at least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpudoctor.notes.comparison_tables import note_cells
from gpudoctor.notes.measure import Line, Reading
from gpudoctor.patterns import regex

LOCAL = regex(
    r"\bnvme|\bssd\b|\btmpfs\b|/dev/shm|\bram ?disk|\bin[- ](?:ram|memory)\b|\blocal (?:disk|drive|scratch|storage|copy)|\bnode[- ]local"
    r"|\bstaged?[- ]in",
    2,
)
REMOTE = regex(
    r"\bnfs|\blustre|\bgpfs|\bbeegfs|\bceph|\bwekafs|\bglusterfs|\bs3(?:fs)?\b|\bgcs(?:fuse)?\b|\bfuse\b|\befs\b|\bfsx\b"
    r"|\bobject stor|\bblob|\bnetwork (?:mount|drive|share|file ?system|storage)|\bshared (?:file ?system|storage|scratch)"
    r"|\bspectrum scale|\bnas\b",
    2,
)
UNIT = r"(?:min(?:ute)?s?|s|sec(?:ond)?s?|ms|h|hours?)"
PART = r"(?:epoch|step|it|iter(?:ation)?|batch)"
THINGS = r"(?:samples?|img|im(?:g|ages)|it|iter\w*|steps?|tok(?:ens)?|batches|seq\w*)"
# minutes per epoch | s/step | epoch (min) | step time | epoch_time [s]           images/s
TIME = regex(rf"(?:{UNIT} ?(?:per|/|an?) ?{PART}|{PART}(?:[ _]?time)?(?:[ _/(\[]{{1,2}}{UNIT}[)\]]?)?)\Z", 2)
RATE = regex(rf"{THINGS}[ _]?(?:/|per) ?s(?:ec(?:ond)?)?\Z", 2)
# 18 min/epoch | 3.1 s per step | 40-44 s/it | 2110 img/s
SAID = regex(
    rf"(?<![\w.-])(\d{{1,6}}(?:\.\d{{1,4}})?)(?: ?[-–] ?\d{{1,6}}(?:\.\d{{1,4}})?)? ?"
    rf"(?:({UNIT} ?(?:/|per|an?) ?{PART})|({THINGS} ?(?:/|per) ?s))\b",
    2,
)
# Not the time of a step: a model is loaded, a state is written, files are copied.
OTHER = regex(
    r"checkpoint|\bckpt|\bsav(?:e|ing)\b|\bwrite|\bmodel load|\bload(?:ing)? (?:time|weights)|start-?up|\bcopy|\bdownload|\binstall"
    r"|\bimport|\bvalid",
    2,
)
NUMBER = regex(r"(\d{1,6}(?:\.\d{1,4})?)(?: ?[-–] ?\d{1,6}(?:\.\d{1,4})?)?(?: ?(ms|s|sec|min|h))?\b")
MACHINE = regex(r"\b(?:[ABHLV]\d{2,3}|GB?\d{3}|T4|MI\d{3}X?|RTX[ \w]{0,8}\d{4}|\d{1,5} ?[x×]? ?GPUs?)\b")
SECONDS = {"ms": 0.001, "min": 60.0, "h": 3600.0}
# 35-90 %  |  0 - 100%
SWING = regex(r"(?<![\d.-])(\d{1,3}) ?%? ?(?:-|–|to|\.\.) ?(\d{1,3}) ?%")
USE = regex(r"\bgpu[ _-]?(?:util|use|usage|busy|load)|\butili[sz]ation\b|\bsm ?(?:util|%)", 2)
MOST = 500  # lines of a text that is a note and not a log


class Place(NamedTuple):
    """How long the same work takes with its data in one place; in seconds, or in any unit that is the same for all."""

    remote: bool
    seconds: float
    machine: tuple[str, ...]
    unit: str
    line: Line


def places(lines: Sequence[Line]) -> Iterator[Reading]:
    """The part of a step that waits for data of the network, by what it takes without; and how far the use of a GPU swings."""
    if len(lines) > MOST:
        return
    whole = "\n".join(text for _, text in lines)
    if "%" in whole and USE.search(whole):
        yield from swings(lines)
    found = [*timed_places(lines)] if LOCAL.search(whole) and REMOTE.search(whole) else []
    for slow in (one for one in found if one.remote):
        same = [one for one in found if not one.remote and (one.machine, one.unit) == (slow.machine, slow.unit)]
        if same and slow.seconds > (fast := max(one.seconds for one in same)):
            yield Reading("data_share", 1 - fast / slow.seconds, slow.line)


def timed_places(lines: Sequence[Line]) -> Iterator[Place]:
    """The lines that name one kind of place, with the time or rate of their column or of their own words."""
    column, rate, width, title = -1, False, 0, ""
    for number, text in lines:
        cells = note_cells(text)
        near, far = bool(LOCAL.search(text)), bool(REMOTE.search(text))
        if near == far or OTHER.search(text):
            heads = [at for at, cell in enumerate(cells) if TIME.fullmatch(cell) or RATE.fullmatch(cell)]
            if len(cells) > 1 and heads:
                column, width, title = heads[0], len(cells), cells[heads[0]]
                rate = RATE.fullmatch(title) is not None
            elif OTHER.search(text) and not near and not far:
                column = -1
            continue
        machine = tuple(MACHINE.findall(text))
        if said := SAID.search(text):
            value, unit = float(said[1]), (said[2] or said[3]).replace(" ", "").lower()
            is_rate = said[3] is not None
        elif 0 <= column < len(cells) and len(cells) == width and (value_ := NUMBER.match(cells[column])):
            value, unit, is_rate = float(value_[1]) * SECONDS.get(value_[2] or "", 1.0), title, rate
        else:
            continue
        if value > 0:
            yield Place(far, 1 / value if is_rate else value, machine, unit, (number, text))


def swings(lines: Sequence[Line]) -> Iterator[Reading]:
    """The lowest and the highest use of a GPU that a note names, from the line with the widest span."""
    headed = False
    found: list[tuple[int, int, Line]] = []
    for number, text in lines:
        named = USE.search(text) is not None
        match = SWING.search(text)
        headed = headed or (named and match is None)
        if match and (named or headed) and int(match[1]) < int(match[2]) <= 100:
            found.append((int(match[1]), int(match[2]), (number, text)))
    if found:
        low, high, line = max(found, key=lambda one: one[1] - one[0])
        yield Reading("utilisation_swing", low / 100, line, of=high / 100)
