"""Machines whose cards are bridged in pairs, and a driver that DKMS learns of when it is too late."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes import bus, nvlink
from tests.nodes.case import Case
from tests.nodes.cases_nvlink import CARD, machine
from tests.nodes.cases_smi import BOOTED, CARDS, GONE, NO_DRIVER, NO_FILE, detection
from tests.nodes.smi import smi_xml

FOUR = [replace(CARD, index=at, pci=f"0000:{0x1B + 0x28 * at:02x}:00.0") for at in range(4)]
APART = [(0, 2), (0, 3), (1, 2), (1, 3)]
ADAPTER = "GPU 1 sits on an M.2 to PCIe x16 adapter\n"
DESKTOP = [
    replace(card, product="NVIDIA GeForce RTX 5060 Ti", fabric=("N/A", "N/A"), width=(8, width))
    for card, width in zip(CARDS, (8, 4), strict=True)
]
LEARNS = "Creating symlink /var/lib/dkms/nvidia/550.54.15/source -> /usr/src/nvidia-550.54.15\n"


def bridged(refused: list[tuple[int, int]]) -> Case:
    """Four cards, bridged in pairs; these have no access to each other."""
    return machine(
        FOUR,
        [],
        services=bus.units(nvidia_fabricmanager="absent"),
        fabric_manager_log=None,
        links=nvlink.status(FOUR, 12),
        link_errors=nvlink.errors(FOUR, 12),
        paths=nvlink.topo(4, 12, dict.fromkeys(APART, "SYS")),
        access=nvlink.p2p(4, dict.fromkeys(refused, "NS")),
    )


def slots(speed: str) -> Case:
    """Two GPUs on the bus, the second at this speed; there is no nvidia-smi."""
    return detection(bus=bus.lspci([bus.Slot(), bus.Slot(pci="0000:5d:00.0", speed=("32GT/s", speed))]), smi=GONE)


CASES: dict[str, Case] = {
    "fabric-no-p2p-in-a-pair": bridged([*APART, (0, 1)]),
    "fabric-p2p-in-pairs": bridged(APART),
    "dkms-told-by-hand": detection(version=NO_FILE, log=LEARNS, smi=NO_DRIVER),
    "dkms-told-by-a-package": detection(version=NO_FILE, log=f"Loading new nvidia-550.54.15 DKMS files...\n{LEARNS}", smi=NO_DRIVER),
    "desktop-card-on-an-adapter": detection(log=ADAPTER, smi=smi_xml(DESKTOP)),
    "desktop-card-in-a-short-slot": detection(log=BOOTED, smi=smi_xml(DESKTOP)),
    "link-slow-beside-another": slots("8GT/s"),
    "link-at-rest-beside-another": slots("2.5GT/s"),
}
