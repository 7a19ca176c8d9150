"""A sound machine as eight H100 with NVSwitches and four InfiniBand adapters make it: what each of its programs answers, and the same with
a part that is sick. Nothing is executed here: `programs` makes scripts of it, a `Case` can hold it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from gpudoctor.library.index import library
from tests.nodes import bus, dcgmi, nvlink
from tests.nodes.case import Said
from tests.nodes.cases_fabric import MODULES
from tests.nodes.cases_nvlink import LOG, SWITCH
from tests.nodes.cases_thermal import csv
from tests.nodes.rdma import Hca, interfaces, sysfs
from tests.nodes.smi import Card, smi_xml
from tests.test_ras import HEALTHY

Answers = dict[str, str | Said]

DRIVER = "570.172.08"
CARDS = [
    Card(index, f"0000:{slot}:00.0", temperature=31 + index % 3, power=70.5 + index)
    for index, slot in enumerate(("1b", "43", "52", "61", "9d", "c3", "d1", "df"))
]
SWITCHES = [replace(SWITCH, pci=f"0000:{slot:02x}:00.0") for slot in range(5, 9)]
ADAPTERS = [Hca(number) for number in range(4)]
STEPS = {
    f"{book}.{step.id}": shlex.join(step.run)
    for book in ("gpu-not-detected", "xid-triage", "gpu-health", "nvlink-fabric", "thermal-throttle", "dcgm-health", "fabric")
    for step in library().runbooks[book].steps
    if step.run
}
PORTS, WATCH = STEPS["fabric.ports"], STEPS["thermal-throttle.watch"]
RAS = "ncclras -v -h gpu-01 -p 28028"
BOOT = [
    "Linux version 5.15.0-105-generic (buildd@lcy02-amd64-007) #115-Ubuntu SMP Mon Apr 15 09:52:04 UTC 2024",
    "Command line: BOOT_IMAGE=/vmlinuz-5.15.0-105-generic root=/dev/mapper/vg0-root ro iommu=pt",
    "mlx5_core 0000:18:00.0: firmware version: 28.41.1000",
    "nvidia: loading out-of-tree module taints kernel.",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 508",
    f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}  Release Build  (dvs-builder@U22-I3-AE18-09-6)",
    "nvidia-modeset: Loading NVIDIA UNIX Open Kernel Mode Setting Driver for x86_64",
    "systemd[1]: Started Session 42 of user root.",
]


def kernel(*lines: str) -> dict[str, str]:
    """The kernel log as dmesg and as journalctl print it: the start of the machine, then some lines."""
    told = [f"2026-03-01T08:0{number}:11" for number in range(len(BOOT))] + [f"2026-03-01T11:4{number}:02" for number in range(len(lines))]
    said = list(zip(told, [*BOOT, *lines], strict=True))
    return {
        STEPS["xid-triage.kernel_log"]: "".join(f"{time},118204+00:00 {line}\n" for time, line in said),
        "journalctl -k -b 0 -o short-iso --no-pager": "".join(
            f"{time}+0000 gpu-01 {'' if line.startswith('systemd') else 'kernel: '}{line}\n" for time, line in said
        ),
    }


def ibstat(adapters: list[Hca]) -> str:
    """What ibstat says of adapters."""
    shown = [
        f"CA '{one.name}'\n\tCA type: {one.kind}\n\tNumber of ports: 1\n\tFirmware version: 28.41.1000\n\tHardware version: 0\n"
        f"\tNode GUID: 0x{one.guid.replace(':', '')}\n\tSystem image GUID: 0x{one.guid.replace(':', '')}\n\tPort 1:\n"
        f"\t\tState: {one.state}\n\t\tPhysical state: {one.physical}\n\t\tRate: {one.rate.split()[0]}\n\t\tBase lid: {64 + one.number}\n"
        f"\t\tLMC: 0\n\t\tSM lid: {one.manager}\n\t\tCapability mask: 0xa751e848\n\t\tPort GUID: 0x{one.guid.replace(':', '')}\n"
        f"\t\tLink layer: {one.layer}\n"
        for one in adapters
    ]
    return "".join(shown)


def perfquery(lid: int) -> str:
    """What perfquery says of a port that is well."""
    zero = ("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortRcvRemotePhysicalErrors")
    zero += ("PortRcvSwitchRelayErrors", "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors")
    more = ("LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "QP1Dropped", "VL15Dropped")
    rows = {"PortSelect": "1", "CounterSelect": "0x0000", **dict.fromkeys(zero, "0"), "CounterSelect2": "0x00", **dict.fromkeys(more, "0")}
    rows |= {"PortXmitData": "3101", "PortRcvData": "3244", "PortXmitPkts": "43", "PortRcvPkts": "45", "PortXmitWait": "0"}
    return f"# Port counters: Lid {lid} port 1 (CapMask: 0x5A00)\n" + "".join(f"{name + ':':.<33}{value}\n" for name, value in rows.items())


@cache
def machine() -> Mapping[str, str | Said]:
    """The sound machine."""
    return {
        **slots(),
        STEPS["gpu-not-detected.module_version"]: bus.version(DRIVER),
        STEPS["gpu-not-detected.modules"]: bus.NVIDIA_MODULES + MODULES,
        **kernel(),
        **smi(CARDS),
        **services(),
        STEPS["nvlink-fabric.fabric_manager_log"]: LOG,
        STEPS["dcgm-health.discovery"]: dcgmi.discovery({card.index: (card.name, card.bus) for card in CARDS}),
        STEPS["dcgm-health.policy"]: dcgmi.policy(),
        STEPS["dcgm-health.health"]: dcgmi.health("Healthy"),
        PORTS: sysfs(ADAPTERS),
        "ibstat": ibstat(ADAPTERS),
        "ip -j link": interfaces(ADAPTERS),
        "chronyc tracking": bus.chrony(),
        **{f"perfquery -C {one.name} -P 1": perfquery(64 + one.number) for one in ADAPTERS},
        RAS: HEALTHY,
    }


def cards(which: int, **changes: Any) -> list[Card]:
    """The cards of the machine with one of them changed."""
    return [replace(card, **changes) if card.index == which else card for card in CARDS]


class Sick(NamedTuple):
    """A machine with one fault: which runbook is asked, what its programs answer otherwise, the cause, and the programs that show it."""

    book: str
    answers: Answers
    cause: str
    shown_by: tuple[str, ...]


def smi(shown: list[Card]) -> Answers:
    """What nvidia-smi says of cards."""
    return {
        "nvidia-smi -q -x": smi_xml(shown, DRIVER),
        WATCH: csv(tuple(shown), 0),
        STEPS["nvlink-fabric.links"]: nvlink.status(shown),
        STEPS["nvlink-fabric.link_errors"]: nvlink.errors(shown),
        STEPS["nvlink-fabric.paths"]: nvlink.topo(len(shown)),
        STEPS["nvlink-fabric.access"]: nvlink.p2p(len(shown)),
    }


def slots(*last: bus.Slot, **changes: Any) -> Answers:
    """What lspci says of the machine, with other last slots of GPUs, or all of them changed."""
    gpus = [bus.Slot(card.pci, **changes) for card in CARDS]
    devices = [*gpus[: len(gpus) - len(last)], *last, *(replace(one, driver=changes.get("driver", one.driver)) for one in SWITCHES)]
    return {STEPS["gpu-not-detected.bus"]: bus.lspci(devices)}


def every(program: str, said: Said) -> Answers:
    """A program that says one thing whatever it is asked."""
    return {line: said for line in machine() if line.split()[0] == program}


def services(fabric_manager: str = "active", dcgm: str = "active") -> Answers:
    """The states of the machine's services."""
    return {STEPS["nvlink-fabric.services"]: bus.units(nvidia_fabricmanager=fabric_manager, nvidia_persistenced="active", nvidia_dcgm=dcgm)}


SEVEN = CARDS[:7]
WORKING: dict[str, Any] = {"utilisation": 100, "memory_used": 61020, "sm_clock": 600}
NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n\n"
NO_FILE = "cat: /proc/driver/nvidia/version: No such file or directory"
NO_ENGINE = "Error: unable to establish a connection to the specified host: localhost\n" + dcgmi.UNREACHABLE
DARK = [*ADAPTERS[:3], replace(ADAPTERS[3], state="Down", physical="Polling", rate="2.5 Gb/sec (1X SDR)")]
UNREGISTERED = [replace(card, fabric=("In Progress", "N/A"), health="N/A") for card in CARDS]
FELL_OFF = (
    "NVRM: Xid (PCI:0000:df:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    "NVRM: GPU 0000:df:00.0: GPU has fallen off the bus.",
)
NOT_CONFIGURED = "[Mar 01 2026 11:40:00] [ERROR] [tid 1830] failed to configure all the available GPUs or NVSwitches\n"
DBE = "NVRM: Xid (PCI:0000:52:00): 48, pid=4711, name=python3, DBE (double bit error) on FB"

SICK: dict[str, Sick] = {
    "Xid 79": Sick(
        "node-health",
        smi(SEVEN) | kernel(*FELL_OFF) | slots(bus.Slot(CARDS[7].pci, revision="ff")),
        "gpu-fallen-off-bus",
        ("dmesg", "lspci"),
    ),
    "Xid 48": Sick("xid-triage", {**kernel(DBE)}, "gpu-ecc-uncorrectable", ("dmesg",)),
    "a row waits": Sick("node-health", smi(cards(5, remapped=(0, 1, "Yes", "No"))), "row-remap-pending", ("nvidia-smi",)),
    "an uncorrectable error": Sick(
        "gpu-health",
        smi(cards(2, volatile=(0, 0, 0, 3), aggregate=(0, 0, 0, 3), remapped=(0, 1, "No", "No"))),
        "gpu-ecc-uncorrectable",
        ("nvidia-smi",),
    ),
    "a thermal slowdown of the hardware": Sick(
        "node-health",
        smi(cards(4, active=("hw_thermal", "hw_slowdown"), temperature=88, tlimit=-1, power=350.0, **WORKING)),
        "thermal-slowdown",
        ("nvidia-smi",),
    ),
    "a power brake": Sick(
        "thermal-throttle",
        smi(cards(4, active=("hw_power_brake", "hw_slowdown"), power=250.0, **WORKING)),
        "power-brake-external",
        ("nvidia-smi",),
    ),
    "four lanes": Sick("node-health", smi(cards(1, width=(16, 4))), "pcie-link-degraded", ("nvidia-smi",)),
    "dark NVLinks": Sick(
        "node-health",
        {
            STEPS["nvlink-fabric.links"]: nvlink.status(CARDS, down={3: [4, 5]}),
            STEPS["nvlink-fabric.paths"]: nvlink.topo(len(CARDS), instead={(0, 3): "NV16"}),
        },
        "nvlink-links-inactive",
        ("nvidia-smi",),
    ),
    "a port down": Sick(
        "fabric", {PORTS: sysfs(DARK), "ibstat": ibstat(DARK), "ip -j link": interfaces(DARK)}, "rdma-port-down", ("grep", "ibstat")
    ),
    "no driver": Sick(
        "node-health",
        every("nvidia-smi", Said(NO_DRIVER, exit=9))
        | slots(driver="")
        | {
            STEPS["gpu-not-detected.module_version"]: Said(exit=1, stderr=NO_FILE),
            STEPS["gpu-not-detected.modules"]: bus.modules("ext4:1", "i2c_core:2") + MODULES,
        },
        "driver-not-loaded",
        ("nvidia-smi", "cat"),
    ),
    "a GPU that the driver doesn't show": Sick("node-health", smi(SEVEN), "gpu-not-initialised", ("nvidia-smi", "lspci")),
    "a GPU that is gone": Sick(
        "node-health",
        smi(SEVEN) | {STEPS["gpu-not-detected.bus"]: bus.lspci([*(bus.Slot(card.pci) for card in SEVEN), *SWITCHES])},
        "gpu-fallen-off-bus",
        ("nvidia-smi", "lspci", "dcgmi"),
    ),
    "no fabric manager": Sick(
        "node-health",
        smi(UNREGISTERED) | services("failed") | {STEPS["nvlink-fabric.fabric_manager_log"]: LOG + NOT_CONFIGURED},
        "fabric-manager-not-running",
        ("nvidia-smi", "systemctl"),
    ),
    "no host engine": Sick(
        "node-health", every("dcgmi", Said(NO_ENGINE, exit=1)) | services(dcgm="inactive"), "dcgm-hostengine-not-running", ("dcgmi",)
    ),
    "no persistence": Sick(
        "gpu-health", smi([replace(card, persistence=False) for card in CARDS]), "persistence-mode-off", ("nvidia-smi",)
    ),
    "a reset that the driver wants": Sick("gpu-health", smi(cards(6, recovery="Reset")), "gpu-reset-required", ("nvidia-smi",)),
}
NOTED = ("no host engine", "no persistence")  # and nothing else is wrong
