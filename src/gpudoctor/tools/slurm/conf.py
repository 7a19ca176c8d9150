"""The GPUs that slurm.conf and gres.conf give to nodes, and the memory; beside them what `slurmd -C` finds on a machine, in the same form.

NodeName=gpu-[01-16] CPUs=192 RealMemory=2063000 Gres=gpu:h100:8 State=UNKNOWN
NodeName=gpu-[01-16] Name=gpu Type=h100 File=/dev/nvidia[0-7]
AutoDetect=nvml
NodeName=gpu-01 CPUs=192 Boards=1 SocketsPerBoard=2 CoresPerSocket=48 ThreadsPerCore=2 RealMemory=2063000      (slurmd -C)
UpTime=3-02:11:11
Sources: slurm.conf(5), gres.conf(5). Key words are read without regard to case, and a backslash joins lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.slurm import SlurmGres
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.slurm.text import GPU, expand, gpus, whole_number

# NodeName=gpu-[01-16] …  |  Name=gpu …  |  AutoDetect=nvml  |  GresTypes=gpu
SETTING = regex(r"^\s*(NodeName|Name|AutoDetect|GresTypes|ClusterName|SlurmctldHost|PartitionName)=(\S{1,2000})", re.IGNORECASE)
WORD = regex(r"(?:^|\s)(\w{1,30})=(\"[^\"]{0,500}\"|\S{1,2000})")
DEVICE = regex(r"[^\s,\[\]]{0,200}(?:\[([0-9,-]{1,100})\])?[^\s,\[\]]{0,100}")


def gres(output: Output, about: Subject) -> Facts:
    """A record for each node of slurm.conf with GPUs or an amount of memory; for each node, or all, of gres.conf, where counts add up."""
    made: dict[tuple[str, str], dict[str, Any]] = {}
    any_setting = False
    # On a machine, what gres.conf says without a NodeName it says of that one.
    own = about.node if output.command.host else ""
    found = [*joined_lines(output)]
    asked = {"slurmd", "-C"} <= {word.rpartition("/")[2] for word in output.command.argv}
    for at, (number, line) in enumerate(found):
        match = SETTING.match(line)
        if not match:
            continue
        any_setting = True
        origin = Origin(output.origin_name(), number, line.strip())
        words = {key.lower(): value.strip('"') for key, value in WORD.findall(line)}
        by_slurmd = asked or any(below.startswith("UpTime=") for _, below in found[at + 1 : at + 2])
        for node, file, count, kinds, detected in of_line(match.group(1).lower(), words):
            node, file = node or own, "slurmd -C" if by_slurmd else file
            if len(made) >= 50_000:
                break
            one = made.setdefault(
                (node, file),
                {"node": node, "file": file, "devices": None, "types": [], "detected": "", "memory": None, "origin": origin},
            )
            one["memory"] = whole_number(words.get("realmemory", "")) or one["memory"]
            if count is not None:
                # Lines of gres.conf add up; a node has one line of slurm.conf, and where two are shown one is before or beside the other.
                one["devices"] = count + (one["devices"] or 0) if file == "gres.conf" else count
            one["types"] = list(dict.fromkeys([*one["types"], *kinds]))
            one["detected"] = detected or one["detected"]
    if not any_setting and not made and (text := output.text.strip()) and not text.startswith("#"):
        raise ParseError(f"{output.origin_name()}: no configuration of Slurm: {text[:80]!r}")
    return {"slurm_gres": [SlurmGres(**one) for one in made.values()]}


def joined_lines(output: Output) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end in a backslash with the next."""
    held, begun = "", 0
    for number, line in lines(output):
        bare = line.split("#", 1)[0].rstrip()
        begun = begun or number
        held = (held + bare.removesuffix("\\"))[:4096]
        if not bare.endswith("\\"):
            yield begun, held
            held, begun = "", 0


def of_line(first: str, words: dict[str, str]) -> Iterator[tuple[str, str, int | None, list[str], str]]:
    """(node, file, count, types, detection) for each node of a line."""
    in_gres = "name" in words or "autodetect" in words
    names = expand(words.get("nodename", "")) or ([""] if in_gres else [])
    if in_gres:
        if words.get("name", "gpu").lower() != "gpu":
            return
        count = whole_number(words["count"]) if "count" in words else devices(words["file"]) if "file" in words else None
        for node in names:
            yield node, "gres.conf", count, [words["type"]] if "type" in words else [], words.get("autodetect", "")
    elif first == "nodename" and ((count := gpus(words.get("gres", ""))) or "realmemory" in words):
        kinds = [match.group(1) for match in GPU.finditer(words.get("gres", "")[:1000]) if match.group(1)]
        for node in names:
            yield node, "slurm.conf", count or None, kinds, ""


def devices(files: str) -> int:
    """How many devices a File= names.

    >>> devices("/dev/nvidia[0-7]"), devices("/dev/nvidia0,/dev/nvidia1"), devices("/dev/nvidia[0-2,5]")
    (8, 2, 4)
    """
    total = 0
    for piece in re.split(r",(?![^\[\]]{0,100}\])", files[:2000]):
        match = DEVICE.fullmatch(piece)
        if not match or not match.group(1):
            total += bool(piece)
            continue
        for part in match.group(1).split(","):
            begin, dash, end = part.partition("-")
            if begin.isdecimal() and (end.isdecimal() or not dash):
                total += min(max(0, int(end[:6] or begin[:6]) - int(begin[:6]) + 1) if dash else 1, 1024)
    return total
