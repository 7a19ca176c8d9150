"""The table of GPUs: equal ones of all machines in one row, so that a healthy rack is a line and a sick GPU stands out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.node import GpuRow, PciDevice
from gpudoctor.nodesets import fold

OK = "ok"
WORTH = ("error", "critical")  # severities of codes that the table shows
DONE = ("completed", "", "n/a", "not supported")  # states of the fabric that need no word
Looks = tuple[str, ...]  # what makes GPUs equal: product, driver, ecc, remapped, state


def table(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The rows, those with something to say first."""
    gpus = [gpu for gpu in facts.get("gpus", []) if isinstance(gpu, Gpu) and gpu.node]
    codes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for xid in facts.get("xids", []):
        if isinstance(xid, Xid) and xid.severity in WORTH:
            code = f"Xid {xid.code}"
            for key in {(xid.node, name) for name in (xid.pci, xid.uuid, xid.gpu) if name}:
                if code not in codes[key]:
                    codes[key].append(code)
    groups: defaultdict[Looks, list[Gpu]] = defaultdict(list)
    for gpu in gpus:
        seen = codes.get((gpu.node, gpu.pci)) or codes.get((gpu.node, gpu.uuid)) or []
        groups[gpu.product, gpu.driver_version, ecc(gpu), remap_state(gpu), ", ".join([*states(gpu), *seen]) or OK].append(gpu)
    totals: defaultdict[str, int] = defaultdict(int)
    for gpu in gpus:
        totals[gpu.node] += 1
    gone = [*lost_gpus(facts, gpus, codes)]
    ordered = sorted(groups.items(), key=lambda group: (group[0][-1] == OK, len(group[1]), group[0]))
    return {"gpu_rows": [*gone, *(table_row(looks, members, totals) for looks, members in ordered)]}


def lost_gpus(facts: Mapping[str, list[Fact]], gpus: Sequence[Gpu], codes: Mapping[tuple[str, str], list[str]]) -> Iterator[GpuRow]:
    """The GPUs that the bus or the kernel log names and the driver, which shows others of the machine, doesn't."""
    shown = {(gpu.node, gpu.pci) for gpu in gpus}
    answering = {gpu.node for gpu in gpus if gpu.pci}
    on_bus = [(one.node, one.pci) for one in facts.get("pci_devices", []) if isinstance(one, PciDevice) and one.kind == "gpu"]
    in_log = [(one.node, one.pci) for one in facts.get("xids", []) if isinstance(one, Xid) and one.pci and one.severity in WORTH]
    for node, pci in dict.fromkeys([*on_bus, *in_log]):
        if node in answering and (node, pci) not in shown:
            state = ", ".join([*codes.get((node, pci), []), "not shown by the driver"])
            yield GpuRow(machines=node, which=pci, product="?", driver="?", temperature="?", draws="?", ecc="?", remapped="?", state=state)


def table_row(looks: Looks, gpus: Sequence[Gpu], totals: Mapping[str, int]) -> GpuRow:
    """One row of equal GPUs."""
    product, driver, errors, rows, state = looks
    nodes = {gpu.node for gpu in gpus}
    return GpuRow(
        machines=fold(nodes),
        which=which_gpus(gpus, totals[gpus[0].node]) if len(nodes) == 1 else str(len(gpus)),
        product=product or "?",
        driver=driver or "?",
        temperature=range_text([gpu.temperature for gpu in gpus], "°C"),
        draws=range_text([gpu.power for gpu in gpus], "W"),
        ecc=errors,
        remapped=rows,
        state=state,
    )


def which_gpus(gpus: Sequence[Gpu], total: int) -> str:
    """Which GPUs of one node: `all 8`, `GPU 3`, `GPUs 0-2,5`; without indexes how many."""
    if len(gpus) == total:
        return f"all {total}" if total > 1 else "1"
    numbers = [gpu.index for gpu in gpus if gpu.index is not None]
    if len(numbers) < len(gpus):
        return str(len(gpus))
    return f"GPU{'s' * (len(numbers) > 1)} {fold(map(str, numbers)).strip('[]')}"


def range_text(values: Iterable[float | None], unit: str) -> str:
    """The range of what was read: `34-41 °C`, "?" for nothing."""
    known = [round(value) for value in values if value is not None]
    if not known:
        return "?"
    low, high = min(known), max(known)
    return f"{low} {unit}" if low == high else f"{low}-{high} {unit}"


def ecc(gpu: Gpu) -> str:
    """The uncorrected errors since the driver was loaded."""
    if gpu.ecc_mode is False:
        return "off"
    return "?" if gpu.ecc_uncorrected_volatile is None else str(gpu.ecc_uncorrected_volatile)


def remap_state(gpu: Gpu) -> str:
    """The state of row remapping, or of page retirement on older GPUs."""
    if gpu.remap_failed:
        return "failed"
    if gpu.remap_pending or gpu.retired_pending:
        return "pending"
    counts = [count for count in (gpu.remapped_correctable, gpu.remapped_uncorrectable, gpu.retired_pages) if count is not None]
    return str(sum(counts)) if counts else "?"


def states(gpu: Gpu) -> list[str]:
    """What the driver says is wrong with it, in its words where it has some."""
    made = [gpu.problem.replace("_", " ")] if gpu.problem else ["unreadable"] if gpu.unreadable else []
    if gpu.recovery_action not in (None, "", "none"):
        made.append(f"needs {gpu.recovery_action}".replace("_", " "))
    if gpu.sram_threshold_exceeded:
        made.append("SRAM threshold exceeded")
    if (gpu.fabric_state or "").lower() not in DONE:
        made.append(f"fabric {gpu.fabric_state}".lower())
    return made
