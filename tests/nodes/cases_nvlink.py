"""Machines with NVLink: boards with NVSwitches, bridged cards, a rack's tray, and what goes wrong with each."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

from gpudoctor.library.index import library
from tests.nodes import bus, nvlink
from tests.nodes.case import Case, Said
from tests.nodes.nvlink import status
from tests.nodes.smi import Card, smi_xml

BOOK = "nvlink-fabric"
RUN = {step.id: shlex.join(step.run) for step in library().runbooks[BOOK].steps if step.run}
QUIET = "2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n"
LOG = (
    "[Mar 01 2026 08:01:12] [INFO] [tid 1811] Connected to 1 node.\n"
    "[Mar 01 2026 08:01:14] [INFO] [tid 1811] Successfully configured all the available NVSwitches to route GPU NVLink traffic. "
    "NVLink Peer-to-Peer support will be enabled once the GPUs are successfully registered with the NVLink fabric.\n"
)
HOPPER = [Card(index, f"0000:{address}:00.0") for index, address in enumerate(("1b", "43", "52", "61"))]
PAIR = HOPPER[:2]
SWITCH = bus.Slot("0000:05:00.0", "switch", "GH100 [H100 NVSwitch]", "22a3", driver="nvidia-nvswitch", bars=())
SWITCHES = [SWITCH, replace(SWITCH, pci="0000:06:00.0")]
CARD = replace(HOPPER[0], product="NVIDIA A100 80GB PCIe", fabric=("N/A", "N/A"), health="N/A")
CARDS = [CARD, replace(CARD, index=1, pci="0000:43:00.0")]
TRAY = [replace(card, product="NVIDIA GB200", fabric=("N/A", "N/A"), health="N/A") for card in HOPPER[:2]]
B300 = [replace(card, product="NVIDIA B300 SXM6 AC") for card in HOPPER[:2]]


def machine(cards: list[Card] = PAIR, switches: list[bus.Slot] = SWITCHES, width: int = 18, **said: str | Said | None) -> Case:
    """A machine on which everything is in order but what is `said` differently, by the step's id; None is a program that isn't there."""
    count = len(cards)
    answers: dict[str, Any] = {
        "bus": bus.lspci([*(bus.Slot(card.pci) for card in cards), *switches]),
        "services": bus.units(nvidia_fabricmanager="active", nvidia_persistenced="active", nvidia_dcgm="active"),
        "fabric_manager_log": LOG,
        "kernel_log": QUIET,
        "gpus": smi_xml(cards),
        "links": nvlink.status(cards, width),
        "link_errors": nvlink.errors(cards, width),
        "paths": nvlink.topo(count, width),
        "access": nvlink.p2p(count),
    } | said
    return Case(BOOK, {"nodes": "gpu-01"}, {f"gpu-01: {RUN[step]}": answer for step, answer in answers.items() if answer is not None})


def fabric_log(*lines: str) -> str:
    """The fabric manager's log with lines of its own format behind the start."""
    return LOG + "".join(f"[Mar 01 2026 11:40:{second:02d}] [ERROR] [tid 1830] {line}\n" for second, line in enumerate(lines))


def kernel(*lines: str) -> str:
    """The kernel log with lines of the driver."""
    return QUIET + "".join(f"2026-03-01T11:41:{second:02d},000000+00:00 {line}\n" for second, line in enumerate(lines))


def fabric(state: str, status: str, health: str = "N/A") -> list[Card]:
    """The machine's cards, the first of them in another state of the fabric."""
    return [replace(PAIR[0], fabric=(state, status), health=health), PAIR[1]]


WAITING = [replace(card, fabric=("In Progress", "N/A"), health="N/A") for card in PAIR]
DOWN = bus.units(nvidia_fabricmanager="failed", nvidia_persistenced="active", nvidia_dcgm="active")
OTHER_VERSION = (
    "[Mar 01 2026 08:01:12] [ERROR] [tid 1811] fabric manager NVIDIA GPU driver interface version 570.195.03 don't match with driver "
    "version 570.172.08. Please update with matching NVIDIA driver package.\n"
)
NOTHING_TO_DO = (
    "[Mar 01 2026 08:01:12] [ERROR] [tid 1811] request to query NVSwitch device information from NVSwitch driver failed with error:WARNING "
    "Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
)
SYNC = (
    "NVRM: nvCheckOkFailedNoLog: Check failed: NVLink fabric state cached by the driver is out of sync [NV_ERR_FABRIC_STATE_OUT_OF_SYNC]"
    " (0x00000087) @ mem_multicast_fabric.c:3119"
)
INBAND = "NVRM: knvlinkSendInbandData_IMPL: Failed to send inband data: 0"

FOUR = [replace(CARD, index=at, pci=f"0000:{0x1B + 0x28 * at:02x}:00.0") for at in range(4)]

APART = [(0, 2), (0, 3), (1, 2), (1, 3)]


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


PACKAGES = (
    "ii  nvidia-driver-570-server      570.172.08-0ubuntu0.22.04.1  amd64  NVIDIA Server Driver metapackage\n"
    "ii  nvidia-fabricmanager-570      570.195.03-1                 amd64  Fabric Manager for NVSwitch based systems.\n"
)

UNNAMED = [replace(card, product="NVIDIA Graphics Device") for card in PAIR]  # what the driver calls a product that it doesn't know

CASES: dict[str, Case] = {
    "fabric-healthy": machine(),
    "fabric-healthy-cards": machine(CARDS, [], width=12, services=bus.units(nvidia_fabricmanager="absent"), fabric_manager_log=None),
    "fabric-healthy-b300": machine(B300, [], link_errors=nvlink.errors5(B300)),
    "fabric-no-answer": machine(gpus=Said(failure="timeout"), access=None),
    "fabric-other-version": machine(WAITING, services=DOWN, fabric_manager_log=OTHER_VERSION),
    "fabric-manager-failed": machine(
        WAITING, services=DOWN, fabric_manager_log=fabric_log("failed to configure all the available GPUs or NVSwitches")
    ),
    "fabric-manager-needless": machine(
        CARDS, [], width=12, services=bus.units(nvidia_fabricmanager="failed"), fabric_manager_log=NOTHING_TO_DO
    ),
    "fabric-switches-out-of-reach": machine(WAITING, services=DOWN, fabric_manager_log=NOTHING_TO_DO),
    "fabric-no-subnet-manager": machine(
        [replace(card, fabric=("In Progress", "N/A")) for card in B300],
        [],
        services=DOWN,
        fabric_manager_log='/opt/nvidia/nvlsm/sbin/nvlsm does not exist. Please install "Nvidia NVLink Subnet Manager" (nvlsm) package\n',
        link_errors=nvlink.errors5(B300),
    ),
    "fabric-switches-unbound": machine(WAITING, [replace(switch, driver="vfio-pci") for switch in SWITCHES], services=DOWN),
    "fabric-service-failed": machine(
        [Card(index, f"0000:{index + 1:02x}:00.0", fabric=("N/A", "N/A"), product="NVIDIA A100-SXM4-80GB") for index in range(8)],
        bus=None,
        services=DOWN,
        fabric_manager_log=None,
        links=None,
        link_errors=None,
        paths=None,
        access=None,
    ),
    "fabric-refused": machine(fabric("Completed", "Insufficient Resources")),
    "fabric-degraded": machine(fabric("Completed", "Success", "Limited Capacity")),
    "fabric-rack-silent": machine(TRAY, [], services=bus.units(nvidia_fabricmanager="absent"), fabric_manager_log=None),
    "fabric-imex-down": machine(
        [replace(card, fabric=("Completed", "Success"), health="Healthy") for card in TRAY],
        [],
        fabric_manager_log=(
            "Domain State: DOWN\nnvidia-imex.service: Failed with result 'exit-code'.\n"
            "could not open /dev/nvidia-caps-imex-channels/channel0: No such file or directory\n"
        ),
    ),
    "fabric-monitors": machine(
        fabric_manager_log=(
            '{"level":"warn","ts":"2026-03-01T10:34:29.644Z","msg":"fabric state is not healthy","reason":"GPU 1: state=In Progress"}\n'
            "no GPU pairs report NVLink P2P connectivity on 8-GPU NVLink-capable system (peer nvlink p2p statuses=NS)\n"
        )
    ),
    "fabric-links-not-trained": machine(
        kernel_log=kernel("NVRM: GPU2 knvlinkCoreSetTxSublinkModeCallback: Error setting TX sublink mode. mode = 0x00000008"),
    ),
    "fabric-receiver-not-detected": machine(
        kernel_log=kernel("NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer1's postRxDetLinkMask failed!")
    ),
    "fabric-out-of-sync": machine(
        fabric_manager_log=fabric_log(
            "failed to find the GPU handle 5410063385821516767 in the multicast team request setup 61302854119257."
        ),
        kernel_log=kernel(INBAND, SYNC, SYNC),
    ),
    "fabric-multicast-used-up": machine(
        fabric_manager_log=fabric_log("all the NVSwitch multicast resources/slot ids are used for partition id -1.")
    ),
    "fabric-inband-harmless": machine(kernel_log=kernel("NVRM: knvlinkSendInbandData_IMPL: Failed to send inband data: 0")),
    "fabric-inband-refused": machine(
        fabric("Completed", "Success"), gpus=None, kernel_log=kernel("NVRM: knvlinkSendInbandData_IMPL: Failed to send inband data: 0")
    ),
    "fabric-fatal-link": machine(fabric_manager_log=fabric_log("Fabric Manager detected GPU NVL Fatal error on :")),
    "fabric-split-vms": machine(
        CARDS,
        [],
        width=12,
        services=bus.units(nvidia_fabricmanager="absent"),
        fabric_manager_log=None,
        kernel_log=kernel(
            "Hypervisor detected: KVM",
            "NVRM: Xid (PCI:0000:1b:00): 119, pid=2211, name=python, Timeout after 6s of waiting for RPC response from GPU0 GSP! "
            "Expected function 76 (GSP_RM_CONTROL) (0x20803023 0x4).",
            "NVRM: Xid (PCI:0000:43:00): 119, pid=2211, name=python, Timeout after 6s of waiting for RPC response from GPU1 GSP! "
            "Expected function 76 (GSP_RM_CONTROL) (0x20803023 0x4).",
        ),
    ),
    "fabric-gpu-dark": machine(
        HOPPER,
        links=nvlink.status(HOPPER, down={2: range(18)}),
        paths=nvlink.topo(4, instead={(0, 2): "SYS", (1, 2): "SYS", (2, 3): "SYS"}),
        access=nvlink.p2p(4, {(0, 2): "NS", (1, 2): "NS", (2, 3): "NS"}),
    ),
    "fabric-gpu-unseen": machine(HOPPER[:3], bus=bus.lspci([*(bus.Slot(card.pci) for card in HOPPER), *SWITCHES])),
    "fabric-none-joined": machine(
        HOPPER, links="", paths=nvlink.topo(4, instead={(a, b): "SYS" for a in range(4) for b in range(a + 1, 4)}), access=None
    ),
    "fabric-links-dark": machine(HOPPER, links=nvlink.status(HOPPER, down={1: [4, 5]}), paths=nvlink.topo(4, instead={(0, 1): "NV16"})),
    "fabric-narrow": machine(HOPPER, paths=nvlink.topo(4, instead={(0, 3): "NV16", (1, 3): "NV16", (2, 3): "NV16"})),
    "fabric-one-v100": machine(
        [replace(HOPPER[0], index=3, product="Tesla V100-SXM2-32GB", fabric=("N/A", "N/A"), health="N/A")],
        [],
        width=6,
        links=nvlink.status([replace(HOPPER[0], index=3, product="Tesla V100-SXM2-32GB")], 6, {3: [3, 5]}),
        services=bus.units(nvidia_fabricmanager="absent"),
        fabric_manager_log=None,
    ),
    "fabric-card-without-bridge": machine(
        [*CARDS, replace(CARD, index=2, pci="0000:52:00.0")],
        [],
        services=bus.units(nvidia_fabricmanager="absent"),
        fabric_manager_log=None,
        links=nvlink.status([*CARDS, replace(CARD, index=2)], 12, {2: range(12)}),
        link_errors=nvlink.errors(CARDS, 12),
        paths=nvlink.topo(3, 12, {(0, 2): "NODE", (1, 2): "NODE"}),
        access=nvlink.p2p(3, {(0, 2): "NS", (1, 2): "NS"}),
    ),
    "fabric-no-p2p": machine(access=nvlink.p2p(2, usual="NS")),
    "fabric-no-p2p-cards": machine(CARDS, [], width=12, fabric_manager_log=None, access=nvlink.p2p(2, usual="NS")),
    "fabric-mig": machine([replace(card, mig=("Enabled", "Enabled")) for card in PAIR], access=nvlink.p2p(2, usual="NS")),
    "fabric-retrained": machine(link_errors=nvlink.errors(PAIR, counts={(1, 7, "Recovery"): 2, (1, 7, "Replay"): 41})),
    "fabric-lost-packets": machine(
        B300,
        [],
        link_errors=nvlink.errors5(B300, counts={(1, 11, "Local link integrity Errors"): 12, (1, 11, "Link recovery failed events"): 1}),
    ),
    "fabric-replays": machine(link_errors=nvlink.errors(PAIR, counts={(0, 2, "Replay"): 5120, (0, 2, "CRC"): 880})),
    "fabric-no-p2p-in-a-pair": bridged([*APART, (0, 1)]),
    "fabric-p2p-in-pairs": bridged(APART),
    "nvlink-unknown-product": machine(
        UNNAMED, gpus=None, links=status(UNNAMED, 1, {0: [0], 1: [0]}), link_errors=None, paths=None, access=None
    ),
    "nvlink-packages-differ": machine(fabric_manager_log=LOG + PACKAGES, gpus=None),
}
