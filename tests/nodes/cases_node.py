"""Racks of machines, and what `diagnose node` finds by comparing them: with each other, and with what Kubernetes knows of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.nodes import bus, dcgmi
from tests.nodes.case import Case, Said
from tests.nodes.smi import Card, smi_xml

QUIET = "2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n"
UNITS = "systemctl show -p Id,LoadState,ActiveState,SubState,Result,UnitFileState nvidia-fabricmanager nvidia-persistenced nvidia-dcgm"
# PCIe cards: no NVLink, no fabric
CARD = Card(product="NVIDIA L40S", fabric=("N/A", "N/A"), health="N/A", power_limit=350.0, power_default=350.0, memory_total=46068)
CARDS = [replace(CARD, index=index, pci=f"0000:{slot}:00.0") for index, slot in enumerate(("1b", "43", "52", "61"))]
NAMES = ("gpu-01", "gpu-02", "gpu-03")
LONE = CARDS[:2]
LOST = (
    "2026-03-01T11:40:12,000000+00:00 NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    "2026-03-01T11:40:12,000000+00:00 NVRM: GPU 0000:61:00.0: GPU has fallen off the bus.\n"
)
MORE = ("tail -c 262144 /var/log/fabricmanager.log", "dcgmi policy --get -g 0", "dcgmi health -g 0 -c -j")
FORBIDDEN = Said(exit=1, failure="refused", reason='nodes "gpu-01" is forbidden: User "me" cannot get resource "nodes"')
SILENT = Said(exit=255, failure="unreachable", reason="ssh to gpu-02: no answer in 10 s; is the machine up?")


def machine(name: str, cards: list[Card], driver: str = "570.172.08", **said: str | Said | None) -> dict[str, Any]:
    """What the commands of one machine print; `said` replaces some, None is a program that isn't there."""
    answers: dict[str, Any] = {
        "lspci -D -nn -k -vv -d 10de:": bus.lspci([bus.Slot(card.pci, product="AD102GL [L40S]", device="26b9") for card in cards]),
        "cat /proc/driver/nvidia/version": bus.version(driver),
        "cat /proc/modules": bus.NVIDIA_MODULES,
        UNITS: bus.units(nvidia_fabricmanager="absent", nvidia_persistenced="active", nvidia_dcgm="absent"),
        "dmesg --time-format=iso": QUIET,
        "nvidia-smi -q -x": smi_xml(cards, driver),
        "nvidia-smi nvlink -s": "",
        "nvidia-smi nvlink -e": "",
    }
    return {f"{name}: {command}": answer for command, answer in (answers | said).items() if answer is not None}


def silent(name: str) -> dict[str, Any]:
    """A machine that can't be reached: no command has an answer."""
    further = ("nvidia-smi topo -m", "nvidia-smi topo -p2p n", "journalctl -k -b 0 -o short-iso --no-pager", "dcgmi discovery -l")
    commands = [*machine(name, LONE), *(f"{name}: {command}" for command in (*further, *MORE))]
    return dict.fromkeys(commands, SILENT)


def rack(*different: list[Card], driver: str = "", **inputs: Any) -> Case:
    """Three machines of four cards; those of `different` stand for the last ones, `driver` is that of the last."""
    cards = [*[CARDS] * (len(NAMES) - len(different)), *different]
    answers: dict[str, Any] = {}
    for name, own in zip(NAMES, cards, strict=True):
        answers |= machine(name, own, driver if driver and name == NAMES[-1] else "570.172.08")
    return Case("node-health", {"nodes": ",".join(NAMES)} | inputs, answers)


def fell_off() -> Case:
    """Three machines; a card of the last one left the bus, and the driver shows the other three."""
    slots = [bus.Slot(card.pci, product="AD102GL [L40S]", device="26b9", revision="a1" if card.index < 3 else "ff") for card in CARDS]
    more = {"lspci -D -nn -k -vv -d 10de:": bus.lspci(slots), "dmesg --time-format=iso": QUIET + LOST}
    return Case("node-health", {"nodes": ",".join(NAMES)}, rack(CARDS[:3]).answers | machine(NAMES[-1], CARDS[:3], **more))


def node(gpus: int, ready: str = "True", cordoned: bool = False, runtime: str = "") -> str:
    """`kubectl get nodes gpu-01 -o json`, offering so many GPUs."""
    made = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "gpu-01", "creationTimestamp": "2026-02-01T00:00:00Z", "labels": {"nvidia.com/gpu.count": "2"}},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            **({"nodeInfo": {"containerRuntimeVersion": runtime}} if runtime else {}),
            "capacity": {"cpu": "64", "nvidia.com/gpu": "2"},
            "allocatable": {"cpu": "64", "nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletReady", "lastTransitionTime": "2026-02-01T00:00:00Z"}],
        },
    }
    return json.dumps(made)


def known(answer: str | Said, cards: list[Card] = LONE) -> Case:
    """One machine that is a node of a cluster."""
    answers = machine("gpu-01", cards) | {"kubectl get nodes gpu-01 -o json": answer}
    return Case("node-health", {"nodes": "gpu-01", "cluster": True}, answers)


def known_to_dcgm(shown: list[Card], bus_has: list[Card]) -> Case:
    """A machine whose host engine has started with four cards, of which nvidia-smi shows some, and the bus has some."""
    listed = dcgmi.discovery({card.index: (card.name, card.bus) for card in CARDS}, CARD.product)
    slots = [bus.Slot(card.pci, product="AD102GL [L40S]", device="26b9") for card in bus_has]
    more = {"dcgmi discovery -l": listed, "dcgmi health -g 0 -c -j": dcgmi.health("Healthy"), "dcgmi policy --get -g 0 -v": dcgmi.policy()}
    answers = machine("gpu-01", shown, **{"lspci -D -nn -k -vv -d 10de:": bus.lspci(slots)}, **more)
    return Case("node-health", {"nodes": "gpu-01"}, answers)


def warm(index: int, degrees: int) -> list[Card]:
    """Four cards at one power, one of them as warm as told."""
    busy = [replace(card, power=300.0, temperature=58 + card.index, tlimit=27 - card.index, utilisation=97) for card in CARDS]
    return [replace(card, temperature=degrees, tlimit=85 - degrees) if card.index == index else card for card in busy]


CASES: dict[str, Case] = {
    "rack-healthy": rack(),
    "rack-fewer-gpus": rack(CARDS[:3]),
    "rack-fell-off": fell_off(),
    "rack-other-driver": rack(CARDS, driver="550.163.01"),
    "rack-other-vbios": rack([*CARDS[:3], replace(CARDS[3], vbios="95.02.66.00.02")]),
    "rack-one-hot": rack(warm(0, 58), warm(2, 81)),
    "rack-one-silent": Case("node-health", {"nodes": "gpu-01,gpu-02"}, machine("gpu-01", LONE) | silent("gpu-02")),
    "dcgm-lists-one-more": known_to_dcgm(CARDS[:3], CARDS),
    "dcgm-alone-lists-one": known_to_dcgm(CARDS[:3], CARDS[:3]),
    "kubernetes-agrees": known(node(2)),
    "kubernetes-offers-fewer": known(node(1)),
    "kubernetes-not-ready": known(node(2, ready="Unknown")),
    "kubernetes-cordoned": known(node(2, cordoned=True)),
    "kubernetes-shut-down": known(node(2, ready="False", cordoned=True, runtime="containerd://Unknown")),
    "kubernetes-refused": known(FORBIDDEN),
}
