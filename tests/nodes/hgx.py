"""A sound machine as eight H100 with NVSwitches and four InfiniBand adapters make it: what each of its programs answers, and the same with
a part that is sick. Nothing is executed here: `programs` makes scripts of it, a `Case` can hold it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from gpudoctor.runbook.index import library
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
    smi = [name for name in STEPS if STEPS[name] == "nvidia-smi -q -x"]
    assert len(smi) > 1
    return {
        STEPS["gpu-not-detected.bus"]: bus.lspci([*(bus.Slot(card.pci) for card in CARDS), *SWITCHES]),
        STEPS["gpu-not-detected.module_version"]: bus.version(DRIVER),
        STEPS["gpu-not-detected.modules"]: bus.NVIDIA_MODULES + MODULES,
        **kernel(),
        "nvidia-smi -q -x": smi_xml(CARDS, DRIVER),
        WATCH: csv(tuple(CARDS), 0),
        STEPS["nvlink-fabric.services"]: bus.units(nvidia_fabricmanager="active", nvidia_persistenced="active", nvidia_dcgm="active"),
        STEPS["nvlink-fabric.fabric_manager_log"]: LOG,
        STEPS["nvlink-fabric.links"]: nvlink.status(CARDS),
        STEPS["nvlink-fabric.link_errors"]: nvlink.errors(CARDS),
        STEPS["nvlink-fabric.paths"]: nvlink.topo(len(CARDS)),
        STEPS["nvlink-fabric.access"]: nvlink.p2p(len(CARDS)),
        STEPS["dcgm-health.discovery"]: dcgmi.discovery({card.index: (card.name, card.bus) for card in CARDS}),
        STEPS["dcgm-health.policy"]: dcgmi.policy(),
        STEPS["dcgm-health.health"]: dcgmi.health("Healthy"),
        PORTS: sysfs(ADAPTERS),
        "ibstat": ibstat(ADAPTERS),
        "ip -j link": interfaces(ADAPTERS),
        **{f"perfquery -C {one.name} -P 1": perfquery(64 + one.number) for one in ADAPTERS},
        RAS: HEALTHY,
    }


def cards(which: int, **changes: object) -> list[Card]:
    """The cards of the machine with one of them changed."""
    return [replace(card, **changes) if card.index == which else card for card in CARDS]  # type: ignore[arg-type]
