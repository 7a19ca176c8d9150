"""Machines whose links, fans, counters and packages tell what is wrong beside the usual log lines."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.bus import lspci
from tests.nodes.case import Case, Said
from tests.nodes.cases_fabric import RUN as FABRIC
from tests.nodes.cases_fabric import kernel, simulated
from tests.nodes.cases_nvlink import LOG, PAIR
from tests.nodes.cases_nvlink import machine as linked
from tests.nodes.cases_smi import GONE, SLOTS, detection
from tests.nodes.cases_thermal import COOL, QUIET, also, node
from tests.nodes.nvlink import status

STAMP = "2026-03-01T10:00:00,000000+00:00"
NARROW = replace(SLOTS[1], width=(16, 8))
OTHER = replace(SLOTS[1], pci="0000:9d:00.0", product="GA100 [A100 PCIe 80GB]", device="20b5", width=(16, 8))
DROPS = 'Errors for "gpu-04"\n   GUID 0x100007 port 1: [PortXmitDiscards == 24411]\n\n## Summary: 10 nodes checked, 1 bad nodes found\n'
PACKAGES = (
    "ii  nvidia-driver-570-server      570.172.08-0ubuntu0.22.04.1  amd64  NVIDIA Server Driver metapackage\n"
    "ii  nvidia-fabricmanager-570      570.195.03-1                 amd64  Fabric Manager for NVSwitch based systems.\n"
)
UNNAMED = [replace(card, product="NVIDIA Graphics Device") for card in PAIR]  # what the driver calls a product that it doesn't know
BRAKE = "GPU-00000000-0000-4000-8000-000000000000: HW Power Brake Slowdown is engaged (External Power Brake Assertion being triggered)"
HEAT = "GPU-00000000-0000-4000-8000-000000000001: HW Thermal Slowdown is engaged (temperature being too high)"
FAN = "sel: 1a | 03/01/2026 | 09:58:11 | Fan #0x42 | Lower Critical going low  | Asserted"


def told(*lines: str) -> str:
    """The kernel log beside which a monitor writes."""
    return QUIET + "".join(f"{STAMP} {line}\n" for line in lines)


CASES: dict[str, Case] = {
    "one-narrow-link": detection(bus=lspci([SLOTS[0], NARROW]), smi=GONE),
    "one-narrow-slot": detection(bus=lspci([SLOTS[0], OTHER]), smi=GONE),
    "rdma-frames-dropped": kernel("tx_discards_phy: 5423411"),
    "rdma-many-discards": simulated({f"gpu-02: {FABRIC['errors']}": Said(DROPS, exit=1)}, sweep=True),
    "nvlink-unknown-product": linked(
        UNNAMED, gpus=None, links=status(UNNAMED, 1, {0: [0], 1: [0]}), link_errors=None, paths=None, access=None
    ),
    "nvlink-packages-differ": linked(fabric_manager_log=LOG + PACKAGES, gpus=None),
    "throttle-reported": also(node(COOL), dmesg=told(f"gpud[911]: {BRAKE}", f"gpud[911]: {HEAT}", FAN)),
}
