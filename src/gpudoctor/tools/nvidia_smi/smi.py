"""nvidia-smi in every form: the table, -L, -q (text and XML), the queries' CSV, and every error text it prints instead of an answer."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample, Smi
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_lines
from gpudoctor.tools.nvidia_smi.errors import from_handles, library_version, problem_of
from gpudoctor.tools.nvidia_smi.query_csv import read_csv
from gpudoctor.tools.nvidia_smi.query_long import partly_xml, read_text, read_xml
from gpudoctor.tools.nvidia_smi.table import LISTED, from_list, from_table
from gpudoctor.tools.nvidia_smi.values import LONGEST, NUMBER, Card
from gpudoctor.tools.parser import LINE, ParseError

# | NVIDIA-SMI 570.172.08    Driver Version: 570.172.08    CUDA Version: 12.8 |  |  KMD Version: 610.57.04  CUDA UMD Version: 13.3
# <driver_version>570.172.08</driver_version>
DRIVER = regex(r"(?:Driver|KMD) Version *: *(\d[\d.]*)|<driver_version>(\d[\d.]*)<")
CUDA = regex(r"CUDA (?:UMD )?Version *: *(\d[\d.]*)|<cuda_version>(\d[\d.]*)<")
HEAD = regex(r"^\| NVIDIA-SMI +\d[\d.]{0,20} .{0,40}Version:", re.MULTILINE)
# Attached GPUs                             : 8  |  <attached_gpus>8</attached_gpus>
ATTACHED = regex(r"^\s*(?:Attached GPUs *: *|<attached_gpus>)(\d{1,4})")
# GPU 00000000:1B:00.0  |  <gpu id="00000000:1B:00.0">
ADDRESS = regex(r"\s*(?:GPU |<gpu id=\")([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\b")
MOST = 1024  # GPUs of an answer; processes of it are 16 times as many
ROWS = 16 * MOST  # of a CSV that was written for hours

Named = dict[tuple[str, Any], Gpu]  # ("uuid", …), ("pci", …), ("index", …) → GPU


def smi(output: Output, about: Subject) -> Facts:
    """One Smi for the answer as a whole, a Gpu for every GPU it shows with its processes and what it did at that moment, known messages.

    `Smi.inside` comes from `about`, else from a `kubectl exec`. A command that did not return has `problem` timeout.
    """
    whole = output.text
    if output.stderr:
        whole += "\n" + output.stderr.decode("utf-8", "replace")
    lines = [line[:LINE].rstrip() for line in whole.split("\n")]
    problem, number = problem_of(output, lines)
    if output.failure and not problem:  # no word of nvidia-smi: refused, not reachable
        return {}
    cards, held = cards_of(whole, lines, output)
    driver = search(DRIVER, lines)
    if not (cards or problem or output.failure) and ("</nvidia_smi_log>" in whole or attached_gpus(lines) == 0):
        problem = "no_devices"
    known = [(card, gpu_record(card, about, output, lines, driver)) for card in cards[:ROWS]]
    gpus = merge_gpus([gpu for _, gpu in known])[:MOST]
    names = index_of(gpus)
    samples = [sample_record(sample, card, output, lines) for card, gpu in known if (sample := card.sample(gpu, output.time))]
    number = number or next((at for at, line in enumerate(lines, 1) if DRIVER.search(line) or LISTED.match(line)), 0)
    answer = Smi(
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        container=about.container,
        inside=where_it_ran(output, about),
        problem=problem,
        waited=output.seconds if output.failure and problem == "timeout" else None,
        text=(lines[number - 1].strip() if number else output.reason)[:500],
        driver_version=driver,
        library_version=library_version(lines),
        cuda_version=search(CUDA, lines),
        # of an answer that breaks off nobody knows how many would follow
        gpus=attached_gpus(lines)
        if breaks_off(whole, bool(cards or problem))
        else len(gpus) or (0 if problem == "no_devices" else attached_gpus(lines)),
        mig=mig(gpus, lines),
        mig_profiles=sorted({match[1] for line in lines if (match := INSTANCE.match(line))}),
        origin=Origin(output.origin_name(), number, lines[number - 1].strip() if number else output.reason),
    )
    facts: Facts = {
        "smi": [answer],
        "gpus": list(gpus),
        "gpu_processes": [*processes(held, names, about, output, lines)],
        "gpu_samples": [with_names(sample, names) for sample in samples],
        "messages": [*scan_lines(output, about, source="exec")],
    }
    if not output.failure and (why := cut_off(whole, lines, bool(cards or problem), output)):
        raise ParseError(f"{output.origin_name()}: {why}", {kind: many for kind, many in facts.items() if many})
    # What an error or a command that did not return hasn't shown is not known: an empty list would say that there is none.
    silent = output.failure or problem not in ("", "no_devices")
    return {kind: records for kind, records in facts.items() if records or (kind == "messages" and not output.failure)} if silent else facts


def cut_off(whole: str, lines: list[str], said: bool, output: Output) -> str:
    """Why the answer isn't whole: it ends in the middle (XML without its end, a table without a row of what its head announces), or shows
    fewer GPUs than it says are attached, and nobody asked for one of them.
    """
    if breaks_off(whole, said):
        return "the answer of nvidia-smi breaks off"
    number = attached_gpus(lines) or 0
    blocks = {match[1].upper() for line in lines if (match := ADDRESS.match(line))}
    chosen = any(word in ("-i", "--id") or word.startswith("--id=") for word in output.command.argv)
    if 0 < len(blocks) < number and not chosen:
        return f"nvidia-smi shows {len(blocks)} of the {number} GPUs that are attached"
    return ""


def breaks_off(whole: str, said: bool) -> bool:
    """Whether the text has a beginning and no end: XML without its last tag, a table's head without a row or a word."""
    return ("<nvidia_smi_log>" in whole and "</nvidia_smi_log>" not in whole) or (not said and HEAD.search(whole) is not None)


def cards_of(whole: str, lines: list[str], output: Output) -> tuple[list[Card], list[tuple[Card, dict[str, str]]]]:
    """Everything that the forms of nvidia-smi show of GPUs and their processes."""
    rows, running = from_table(lines)
    long = [read_xml(whole)] if "<nvidia_smi_log>" in whole or '<gpu id="' in whole or partly_xml(whole) else []
    if not long or any(line.startswith("GPU ") and ADDRESS.match(line) for line in lines):  # a collection of answers has both
        long.append(read_text(["" if long and line.lstrip().startswith("<") else line for line in lines]))
    answers, asked = read_csv(lines, output)
    cards, held = [card for one in long for card in one.cards], [held for one in long for held in one.held]
    return [*rows, *from_list(lines), *cards, *answers, *from_handles(lines)], [*running, *held, *asked]


def where_it_ran(output: Output, about: Subject) -> str:
    """Where nvidia-smi ran: `pod`, `node`, or "" where nobody says."""
    if about.pod:
        return "pod"
    if about.node:
        return "node"
    return "pod" if "exec" in output.command.argv[:3] else ""


def search(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    """The first capture of a pattern over all lines."""
    hits = (match for line in lines if "ersion" in line and (match := pattern.search(line)))
    return next((match.group(1) or match.group(2) for match in hits), None)


def attached_gpus(lines: list[str]) -> int | None:
    """The number of GPUs after `Attached GPUs`."""
    return next((int(match.group(1)) for line in lines if (match := ATTACHED.match(line))), None)


#   MIG 3g.40gb     Device  0: (UUID: MIG-c7d14c26-0f5f-5fd0-8a71-d1d2f5a0b3c5)
INSTANCE = regex(r"\s*MIG (\d{1,2}g\.\d{1,4}gb\S{0,10})\s+Device\s+\d{1,3}: \(UUID: MIG-")


def mig(gpus: list[Gpu], lines: list[str]) -> bool | None:
    """Whether any GPU is partitioned; None where the answer doesn't show it."""
    if any(gpu.mig_mode == "Enabled" for gpu in gpus) or any(line.lstrip().startswith("MIG ") and "(UUID: MIG-" in line for line in lines):
        return True
    return False if any(gpu.mig_mode == "Disabled" or gpu.gaps.get("mig_mode") == "N/A" for gpu in gpus) else None


def gpu_record(card: Card, about: Subject, output: Output, lines: list[str], driver: str | None) -> Gpu:
    """The record with its node and its place in the text: the line of what no sound GPU shows, else where the GPU begins."""
    at = card.telling or card.line
    origin = Origin(output.origin_name(), at, lines[at - 1].strip() if 0 < at <= len(lines) else "")
    known = {"driver_version": driver} if driver else {}
    return card.done(node=about.node, gpu=card.values.get("uuid") or card.values.get("pci", ""), origin=origin, **known)


def sample_record(sample: GpuSample, card: Card, output: Output, lines: list[str]) -> GpuSample:
    """The sample with the line of a reason that no healthy GPU has as its place, where there is one."""
    if not 0 < card.alarm <= len(lines):
        return sample
    return msgspec.structs.replace(sample, origin=Origin(output.origin_name(), card.alarm, lines[card.alarm - 1].strip()))


def merge_gpus(gpus: list[Gpu]) -> list[Gpu]:
    """One record a GPU: what a list, a table and a handle that failed say of one UUID, address or index is one GPU's."""
    made: list[Gpu] = []
    places: dict[tuple[str, Any], int] = {}
    for gpu in gpus:
        keys = [(name, value) for name in ("uuid", "pci", "index") if (value := getattr(gpu, name)) not in (None, "")]
        at = next((places[key] for key in keys if key in places and may_be_same_gpu(made[places[key]], gpu)), None)
        if at is None:
            at = len(made)
            made.append(gpu)
        else:
            made[at] = join_gpus(made[at], gpu)
        for key in keys:
            places.setdefault(key, at)
    return made


def may_be_same_gpu(one: Gpu, other: Gpu) -> bool:
    """Whether two records may be the same GPU: no name that both have differs."""
    return all(not (a and b) or a == b for a, b in ((one.uuid, other.uuid), (one.pci, other.pci)))


# What two answers about one GPU may differ in: what was counted, or got hot, between them, and what became bad. The worse one counts.
WORSENS = (
    "temperature",
    "pcie_replays",
    "ecc_uncorrected_volatile",
    "ecc_uncorrected_aggregate",
    "sram_uncorrected_aggregate",
    "retired_pages",
    "retired_double",
    "retired_pending",
    "remap_pending",
    "remap_failed",
    "sram_threshold_exceeded",
)


def join_gpus(first: Gpu, second: Gpu) -> Gpu:
    """The first record, completed by the second, with the worse of both where it grows worse."""
    changes: dict[str, Any] = {}
    for name in Gpu.__struct_fields__:
        if name not in ("gaps", "origin", "unreadable") and getattr(first, name) in (None, "") and getattr(second, name) not in (None, ""):
            changes[name] = getattr(second, name)
    for name in WORSENS:
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and other is not None and other > one:
            changes[name] = other
    lacks = {**second.gaps, **first.gaps}
    changes["gaps"] = {name: why for name, why in lacks.items() if name not in changes and getattr(first, name, None) in (None, "")}
    changes["unreadable"] = list(dict.fromkeys([*first.unreadable, *second.unreadable]))
    made = msgspec.structs.replace(first, **changes)
    return msgspec.structs.replace(made, gpu=made.uuid or made.pci)


def index_of(gpus: list[Gpu]) -> Named:
    """The GPUs under each of their names."""
    found: Named = {}
    for gpu in gpus:
        for name in ("uuid", "pci", "index"):
            if getattr(gpu, name) not in (None, ""):
                found.setdefault((name, getattr(gpu, name)), gpu)
    return found


def owner(known: Named, uuid: str, address: str, index: int | None) -> Gpu | None:
    """The GPU that goes by one of the names."""
    return known.get(("uuid", uuid)) or known.get(("pci", address)) or known.get(("index", index))


def with_names(sample: GpuSample, known: Named) -> GpuSample:
    """A sample under all names that the answer has for its GPU."""
    gpu = owner(known, sample.uuid, sample.pci, sample.index)
    return sample if gpu is None else msgspec.structs.replace(sample, uuid=gpu.uuid, pci=gpu.pci, gpu=gpu.gpu, index=gpu.index)


def processes(held: list[tuple[Card, dict[str, str]]], known: Named, about: Subject, output: Output, lines: list[str]) -> list[GpuProcess]:
    """The processes that hold GPUs; one whose number can't be read is left out."""
    made: list[GpuProcess] = []
    for card, said in held[: MOST * 16]:
        pid = said.get("pid", "").strip()
        if not pid.isdecimal() or len(pid) > 10:
            continue
        uuid, address = str(card.values.get("uuid", "")), str(card.values.get("pci", ""))
        gpu = owner(known, uuid, address, card.values.get("index"))
        uuid, address = (gpu.uuid, gpu.pci) if gpu else (uuid, address)
        memory = NUMBER.match(said.get("memory", "").strip())
        made.append(
            GpuProcess(
                node=about.node,
                gpu=uuid or address or (f"GPU {card.values['index']}" if "index" in card.values else ""),
                uuid=uuid,
                pci=address,
                pid=int(pid),
                process=said.get("process", "")[:LONGEST],
                kind=said.get("kind", "")[:8],
                memory=int(memory.group(1)) if memory else None,
                namespace=about.namespace,
                pod=about.pod,
                origin=Origin(output.origin_name(), card.line, lines[card.line - 1].strip() if 0 < card.line <= len(lines) else ""),
                gaps={} if memory else {"memory": said.get("memory", "N/A")[:LONGEST]},
                time=card.time,
            )
        )
    return made
