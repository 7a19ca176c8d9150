"""How GPUs are wired for NVLink, by their product name: what decides whether links that are down are a fault.

Sources: the fabric manager user guide ("NVSwitch-Based Systems"), the data sheets of the products; names as nvidia-smi prints them.
"""

from __future__ import annotations

import re

from gpudoctor.patterns import regex

# The first pattern that fits decides.
#   rack      switches in trays of their own, managed there by NMX; the GPU always has a fabric state
#   switched  on a baseboard with NVSwitches where eight (or sixteen) are together; fewer on one board are wired to each other
#   direct    wired GPU to GPU on the baseboard, no switch
#   bridge    a card: NVLink only where somebody plugged a bridge in
#   none      no NVLink
FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("rack", regex(r"\bGB[23]00\b")),
    ("bridge", regex(r"\b(?:PCIe|PCIE|NVL|NVL16|Bridge)\b|-PCIE-")),
    ("direct", regex(r"\b[PV]100-SXM2|\bGH200\b")),
    (
        "switched",
        regex(r"\b(?:[AHV]100|[AH]800|H200|H20|B200|B300|B100)\b.*\b(?:SXM\d?|HBM3e?)\b|\b(?:H200|H20|B200|B300|V100-SXM3)\b|-SXM[3-6]\b"),
    ),
    (
        "bridge",
        regex(
            r"\b(?:A30|A40|A6000|A5500|A5000|A4500|RTX 3090(?: Ti)?|RTX 2080(?: Ti| SUPER)?|TITAN RTX|TITAN V|GV100|GP100|RTX [5-8]000)\b"
        ),
    ),
    (
        "none",
        regex(r"\b(?:T4|L4|L20|L40S?|A2|A10G?|A16|P4|P40|M60|RTX 40\d\d|RTX 50\d\d|RTX 30[5-8]0|RTX (?:4000|PRO)|RTX [4-6]000 Ada|GTX)\b"),
    ),
    ("bridge", regex(r"\bGeForce\b")),  # nvidia-smi's table cuts the name off: "NVIDIA GeForce ..."
)
# Links of one GPU on its baseboard, whatever is beside it (V100 boards differ: those with fewer GPUs leave some unwired).
LINKS: tuple[tuple[re.Pattern[str], int], ...] = (
    (regex(r"\bA100-SXM"), 12),
    (regex(r"\b(?:A800-SXM|H800\b)"), 8),
    (regex(r"\b(?:H100|H200|H20|B200|B300|GB200|GB300)\b"), 18),
)
# Baseboards of four are wired GPU to GPU; from eight on there are NVSwitches.
SWITCHED_FROM = 8
# Products whose switches are managed through ConnectX bridges instead of PCI functions of their own (NVLink 5 baseboards): none on the bus
# says nothing. https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
WITHOUT_SWITCH_FUNCTION = regex(r"\bB[123]00\b")
# NVLink 5: what counts packets that were lost or spoilt in spite of all corrections. Zero on a healthy link.
PACKET_ERRORS = (
    "Malformed packet Errors",
    "Buffer overrun Errors",
    "Rx Errors",
    "Rx remote Errors",
    "Rx General Errors",
    "Local link integrity Errors",
    "Tx discards",
)
FAILED_RECOVERIES = "Link recovery failed events"


def form_of(product: str) -> str:
    """How a product is wired, "" where its name isn't known.

    >>> form_of("NVIDIA A100-SXM4-80GB"), form_of("NVIDIA H100 80GB HBM3"), form_of("NVIDIA H100 NVL"), form_of("NVIDIA GB200")
    ('switched', 'switched', 'bridge', 'rack')
    >>> form_of("Tesla V100-SXM2-32GB"), form_of("Tesla T4"), form_of("")
    ('direct', 'none', '')
    """
    return next((form for form, pattern in FORMS if pattern.search(product)), "")


def links_of(product: str) -> int | None:
    """How many NVLinks the product has on its baseboard, None for cards and for names that aren't known.

    >>> links_of("NVIDIA A100-SXM4-40GB"), links_of("NVIDIA H100 80GB HBM3"), links_of("NVIDIA H100 PCIe")
    (12, 18, None)
    """
    if form_of(product) not in ("switched", "rack"):
        return None
    return next((count for pattern, count in LINKS if pattern.search(product)), None)
