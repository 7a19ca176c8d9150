"""`nvidia-smi nvlink`: -s (state), -e (error counters), -R and -p (the other ends), -c (capabilities, of which only the GPU counts here);
and `dcgmi nvlink -s`, which shows the states as letters.

All print a line for each GPU and an indented one for each link and value. Which values there are depends on the generation: NVLink 1 to 4
count replays, recoveries and CRC errors; NVLink 5 has a dozen other counters. A GPU without one link up prints a sentence instead.
Sources: nvidia-smi(1); answers of drivers 396 to 595 in public reports.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu, NvLink
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.messages import scan_lines
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import LINE, ParseError

# GPU 6: NVIDIA A100-SXM4-80GB (UUID: GPU-2036f67e-…)  |  GPU 0: Tesla V100-SXM2-16GB  |  the header and its sentence on one line
GPU = regex(r"^\s*GPU (\d{1,3}): +([^()]{1,100}?)(?: \(UUID: ?([^()]{0,60})\)?)?\s*(?:Device does|(?:NVML: )?Unable|$)")
UUID = regex(r"GPU-[0-9A-Za-z-]{4,60}\Z")  # people black out parts of it
# Link 3: 25 GB/s  |  Link 0: <inactive>  |  Link 2, CRC Errors: 0  |  Link 0: Remote Device 00000000:CD:00.0: Link 25
LINK = regex(r"^\s*Link (\d{1,3})(?:, Lane \d{1,2})?\s*[:,]\s*(\S.{0,200}?)\s*$")
# 25.781 GB/s; some locales write 25,781
SPEED = regex(r"^(\d{1,5})(?:[.,](\d{1,6}))? ?GB/s$")
# Replay Errors: 0  |  FEC Errors - 0: 36140749276  |  Effective BER: 15e-255  |  CRC Errors: N/A
COUNTER = regex(r"^([A-Z][A-Za-z -]{1,60}(?:\d{1,2})?): +(\S.{0,40})$")
REMOTE = regex(r"^(?:Remote Device )?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])(?:: Link \d{1,3})?$")
# NVML: Unable to retrieve NVLink information as all links are inActive
ALL_DOWN = regex(r"all links are in-?active", re.IGNORECASE)
NONE = regex(r"does not have or support NvLink|NVLink is not supported|does not support NVLink", re.IGNORECASE)
WORD = regex(r"<([a-z][a-z _-]{2,30})>\Z", re.IGNORECASE)
DOWN = {"<inactive>": "inactive", "inactive": "inactive", "<disabled>": "disabled", "disabled": "disabled"}
# gpuId 0:, and in the next line its links: U up, D down, X disabled, _ not supported (dcgmi nvlink -s)
GPU_ID = regex(r"^\s*gpuId (\d{1,3}):\s*$")
# physicalId 11:, and in the next line its links: of a switch, many of which lead nowhere in a sound machine
SWITCH_ID = regex(r"^\s*physicalId \d{1,5}:\s*$")
LETTERS = regex(r"^\s*[A-Z_?](?: +[A-Z_?]){0,63}\s*$")
STATES = {"U": "active", "D": "inactive", "X": "disabled", "_": "not_supported"}
FIELDS = {"Replay Errors": "replay_errors", "Recovery Errors": "recovery_errors", "CRC Errors": "crc_errors"}
# What counts before correction is large on a healthy link (FEC Errors - 0: billions), and a bit error rate is no count.
NO_ERROR = regex(r"^(?:FEC |Raw |PLR |Tx (?:packets|bytes)|Rx (?:packets|bytes))|BER")
MOST = 64  # further counters of one link

# Words of one of these texts: the parser reads nothing else.
MINE = regex(r"NvLink|gpuId|^\s*Link \d{1,3}[,:]|^\s*GPU \d{1,3}:", re.IGNORECASE | re.MULTILINE)


def nvlink(output: Output, about: Subject) -> Facts:
    """A record for each link that is shown, one without a number for a GPU whose links are all down, and the GPUs with their names."""
    gpus: list[Gpu] = []
    links: dict[tuple[str, int | None, int | None], NvLink] = {}
    gpu: Gpu | None = None
    for number, line in lines(output):
        origin = Origin(output.origin_name(), number, line.strip())
        if head := GPU.match(line):
            gpu = gpu_of_header(head, about, origin)
            gpus.append(gpu)
        if of_dcgm := GPU_ID.match(line):
            gpu = Gpu(node=about.node, index=int(of_dcgm.group(1)), origin=origin)
        elif SWITCH_ID.match(line):
            gpu = None
        elif gpu is not None and LETTERS.match(line):
            for at, one in enumerate(line.split()):
                links[*owner(gpu), at] = replace(link(gpu, about, origin, at), state=STATES.get(one, one))
        if found := LINK.match(line):
            if new := value(found.group(2)):
                key = (*owner(gpu), int(found.group(1)))
                links[key] = add_value(links.get(key) or link(gpu, about, origin, key[-1]), new, origin)
        elif state := ("inactive" if ALL_DOWN.search(line) else "not_supported" if NONE.search(line) else ""):
            links[(*owner(gpu), None)] = replace(link(gpu, about, origin, None), state=state)
    if not gpus and not links:
        if output.text.strip() and not MINE.search(output.text[: 64 * LINE]):
            raise ParseError(f"{output.origin_name()}: not an answer of nvidia-smi nvlink: {first_line(output)!r}")
        return {"messages": [*scan_lines(output, about, source="log")]} if output.text.strip() else {}
    return {
        "nvlinks": [*links.values()],
        "gpus": [gpu for gpu in gpus if gpu.uuid],
        "messages": [*scan_lines(output, about, source="log")],
    }


def gpu_of_header(match: re.Match[str], about: Subject, origin: Origin) -> Gpu:
    """The GPU that a header line names."""
    index, product, uuid = match.groups(default="")
    name = uuid if UUID.match(uuid) else ""
    return Gpu(node=about.node, gpu=name, uuid=name, index=int(index), product=product.strip(), origin=origin)


def owner(gpu: Gpu | None) -> tuple[str, int | None]:
    """What tells one GPU's links from another's."""
    return (gpu.uuid, gpu.index) if gpu else ("", None)


def link(gpu: Gpu | None, about: Subject, origin: Origin, number: int | None) -> NvLink:
    """A link of which nothing is known yet but whose it is."""
    if gpu is None:
        return NvLink(node=about.node, link=number, origin=origin)
    return NvLink(node=about.node, gpu=gpu.gpu, uuid=gpu.uuid, index=gpu.index, product=gpu.product, link=number, origin=origin)


def value(text: str) -> dict[str, Any]:
    """What stands behind `Link N:`, as fields of NvLink; {} for what says nothing about its state, its errors or its other end.

    >>> value("25.781 GB/s"), value("<inactive>"), value("Replay Errors: 3"), value("Replay Errors: N/A")
    ({'state': 'active', 'speed': 25.781}, {'state': 'inactive'}, {'replay_errors': 3}, {'gaps': {'replay_errors': 'N/A'}})
    """
    if match := SPEED.match(text):
        return {"state": "active", "speed": float(f"{match.group(1)}.{match.group(2) or 0}")}
    if text.lower() in DOWN:
        return {"state": DOWN[text.lower()]}
    if match := WORD.match(text):  # of a later release
        return {"state": match.group(1).lower()}
    if match := REMOTE.match(text):
        return {"remote": pci.canonical(match.group(1))}
    match = COUNTER.match(text)
    if not match or NO_ERROR.search(match.group(1)):
        return {}
    name, count = match.groups()
    field = FIELDS.get(name)
    number = count.replace(",", "")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        return {"gaps": {field: count}} if field else {}
    return {field: int(number)} if field else {"other_errors": {name: int(number)}}


def add_value(known: NvLink, new: dict[str, Any], origin: Origin) -> NvLink:
    """A link with one more value. The line that tells of an error or of a link that is down is the one to quote."""
    telling = new.get("state") not in (None, "active") or any(isinstance(count, int) and count for count in new.values())
    changes = {name: {**getattr(known, name), **value} if isinstance(value, dict) else value for name, value in new.items()}
    if len(changes.get("other_errors", ())) > MOST:
        return known
    return replace(known, **changes, origin=origin if telling else known.origin)


def first_line(output: Output) -> str:
    """The first line that isn't empty, to be quoted."""
    return next((line.strip()[:120] for _, line in lines(output) if line.strip()), "")
