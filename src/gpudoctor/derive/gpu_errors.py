"""What the numbered errors of one GPU add up to: which codes, in which order, of how many programs, and what the driver asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import GpuErrors, Xid
from gpudoctor.knowledge.xids import book

NVLINK5 = range(144, 151)
# Codes of memory errors whose number tells which memory it was (xids.yaml). The text of 48 names the memory; that of 94 and 95 names
# who met the bad data, which may have come from anywhere.
DRAM, SRAM = frozenset({63, 64, 171}), frozenset({172})
DRAM_UNITS = ("FB", "DED", "DRAM", "HBM", "framebuffer")
# Memory errors that are notes, or cost only one program: the memory is the card's all the same.
OF_MEMORY = frozenset({63, 92, 94})


def errors(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One record for each GPU with a numbered error, in the order in which they first come up."""
    by_gpu: dict[tuple[str, str], list[Xid]] = defaultdict(list)
    for xid in facts.get("xids", []):
        if isinstance(xid, Xid):
            by_gpu[xid.node, xid.gpu].append(xid)
    on_node: dict[str, int] = defaultdict(int)
    for node, _ in by_gpu:
        on_node[node] += 1
    asked = {
        (gpu.node, name): gpu.recovery_action
        for gpu in facts.get("gpus", [])
        if isinstance(gpu, Gpu) and gpu.recovery_action
        for name in (gpu.uuid, gpu.pci)
        if name
    }
    return {"gpu_errors": [sum_errors(found, on_node[node] - 1, asked.get((node, gpu), "")) for (node, gpu), found in by_gpu.items()]}


def sum_errors(found: list[Xid], peers: int, asked: str) -> GpuErrors:
    """The errors of one GPU, in the order in which they happened; `asked` is the recovery action that nvidia-smi names now."""
    found = sorted(found, key=lambda xid: (xid.moment, xid.origin.line))
    first = found[0]
    action = asked or next((xid.action for xid in reversed(found) if xid.code == 154 and xid.action), "")
    memory = [xid.unit for xid in found if xid.code == 48 and xid.unit]
    return GpuErrors(
        node=first.node,
        gpu=first.gpu,
        uuid=first.uuid,
        pci=first.pci,
        named=first.named,
        codes=list(dict.fromkeys(xid.code for xid in found)),
        beyond=list(dict.fromkeys(xid.code for xid in found if beyond_one_program(xid))),
        age=min((xid.age for xid in found if xid.age is not None), default=None),
        last=max((when for xid in found if (when := xid.last or xid.time) is not None), default=None),
        lines=sum(xid.count for xid in found),
        programs=len({xid.process for xid in found if xid.process}),
        faulty=faulty_units(found),
        faulting=len({xid.process for xid in found if xid.code == 31 and xid.process}),
        action=action,
        act=next((row.act for row in book().recovery if row.action == action), ""),
        fatal=any(xid.code in NVLINK5 and xid.fatal for xid in found),
        dram=any(xid.code in DRAM for xid in found) or any(unit.startswith(DRAM_UNITS) for unit in memory),
        sram=any(xid.code in SRAM for xid in found) or any(not unit.startswith(DRAM_UNITS) for unit in memory),
        pages=any("Retire" in xid.text or "retired page" in xid.text for xid in found if xid.code in (63, 64)),
        peers_hit=peers,
        time=first.time,
        origin=first.origin,
    )


def beyond_one_program(xid: Xid) -> bool:
    """Whether an error concerns more than the program that met it."""
    return (xid.scope != "process" and xid.severity in ("error", "critical")) or bool(xid.fatal) or xid.code in OF_MEMORY


def faulty_units(found: list[Xid]) -> list[str]:
    """The GPCs and TPCs that were alone in bursts of 13, of at least two programs: a bad address hits many, a bad die one.

    A place that the same program meets again may be its own doing, since its blocks are placed alike each time.
    """
    programs: dict[str, set[str]] = defaultdict(set)
    for xid in found:
        if xid.code == 13 and xid.tpcs == 1 and xid.process:
            programs[xid.tpc].add(xid.process)
    return sorted(place for place, names in programs.items() if len(names) > 1)
