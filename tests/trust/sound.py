"""Sound outputs of our own, one for each kind that is read: what `mutants` makes bad. The rest of them stands in files of `sound/`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.nodes import dcgmi, nvlink
from tests.nodes.healthy import A100, BUSY, DIAG, GEFORCE, H100, MIG, PAST, T4, V100, beside
from tests.nodes.smi import smi_q, smi_xml
from tests.nodes.smi_table import smi_list, smi_table

FILES = Path(__file__).with_name("sound")
EIGHT = beside(H100, 8)
MADE = {
    "a100.xml": smi_xml(beside(A100, 8), "535.183.06"),
    "geforce-busy.xml": smi_xml([replace(GEFORCE, pstate=2, temperature=74, power=310.0, **BUSY)], "535.183.06"),
    "geforce.txt": smi_q([GEFORCE]),
    "h100.txt": smi_q(EIGHT),
    "h100.xml": smi_xml(EIGHT),
    "h100-list.txt": smi_list(EIGHT),
    "h100-past.xml": smi_xml(beside(PAST)),
    "h100-table.txt": smi_table(EIGHT),
    "mig.xml": smi_xml(beside(MIG), "535.183.06"),
    "t4.xml": smi_xml(beside(replace(T4, fan="33 %")), "550.90.07"),
    "v100.txt": smi_q(beside(V100, 8), "535.183.06"),
    "nvlink-s.txt": nvlink.status(EIGHT),
    "nvlink-e.txt": nvlink.errors(beside(A100, 8), 12),
    "nvlink-e-5.txt": nvlink.errors5(beside(replace(H100, product="NVIDIA B200"))),
    # alone the counters show nothing to be sound
    "dcgmi-nvlink-e.txt": (FILES / "dcgmi-nvlink-s.txt").read_text(encoding="utf-8") + dcgmi.nvlink(0, 18),
    "dcgmi-nvlink-e-5.txt": (FILES / "dcgmi-nvlink-s.txt").read_text(encoding="utf-8") + dcgmi.nvlink5(0),
    "topo-p2p.txt": nvlink.p2p(8),
    "diag-3.txt": dcgmi.diag_3(DIAG),
    "diag-4.txt": dcgmi.diag_4(DIAG),
    "diag-4.json": dcgmi.diag_json(DIAG),
    "diag-3.json": dcgmi.diag_json_3(DIAG),
    "health.json": dcgmi.health("Healthy"),
}


def texts() -> dict[str, str]:
    """Name → text of all of them."""
    return {**MADE, **{path.name: path.read_text(encoding="utf-8") for path in sorted(FILES.iterdir())}}
