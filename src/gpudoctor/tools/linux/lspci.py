"""lspci: the NVIDIA and Mellanox devices of a machine, their drivers, links and memory regions; -D, -nn, -k, -vv as far as given."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import PciDevice
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.parser import LINE, reject_foreign

# 0000:1b:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)
# 1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff)
DEVICE = regex(r"^((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]) ([A-Z0-9][^:\[]{2,60}?)(?: \[([0-9a-f]{4})\])?: (.{3,300})$")
DEVICE_LINES = regex(DEVICE.pattern, re.MULTILINE)
SELECTS = regex(r"-[vnkDbtmPq]*s$")
BUS = regex(r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
IDS = regex(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")
REVISION = regex(r"\(rev ([0-9a-f]{2})\)")
# LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported  |  LnkSta:	Speed 2.5GT/s (downgraded), Width x8 (downgraded)
FRAGMENT = regex(r"^\s*(LnkCap|LnkSta):\s")
SPEED, WIDTH = regex(r"Speed (\d{1,3}(?:\.\d)?)GT/s"), regex(r"Width x(\d{1,2})")
# Region 1: Memory at <unassigned> (64-bit, prefetchable)  |  Memory at <unassigned> (…)  (-v)  |  … <ignored> …  |  … [virtual] …
REGION = regex(r"^\s*(?:Region \d: )?Memory at (\S+) (.*)")
# of a card that is shared between virtual machines: 	Initial VFs: 32, Total VFs: 32, Number of VFs: 16, Function Dependency Link: 00
VIRTUAL = regex(r"^\s*Initial VFs: .{0,60}Number of VFs: (\d{1,5})")
# 		VF offset: 4, stride: 1, Device ID: 2235
OFFSET = regex(r"^\s*VF offset: (\d{1,5}), stride: (\d{1,5})")
# 	Kernel driver in use: nvidia  |  	Kernel modules: nvidia: of `lspci -k`, which names the driver of each device that has one
DRIVER = regex(r"^\s+Kernel (?:driver in use|modules): ", re.MULTILINE)
IN_USE = regex(r"^\s+Kernel driver in use: ", re.MULTILINE)
NVIDIA = "10de"
VENDORS = {NVIDIA: "NVIDIA", "15b3": "Mellanox"}
# PCI class codes (pci.ids): 0300 VGA, 0302 3D, 0680 bridge, 0604 PCI bridge, 0403 audio, 0200 Ethernet, 0207 InfiniBand.
KINDS = {"0300": "gpu", "0302": "gpu", "0380": "gpu", "0680": "switch", "0604": "bridge", "0403": "audio", "0200": "nic", "0207": "nic"}
NAMES = {
    "VGA compatible controller": "gpu",
    "3D controller": "gpu",
    "Display controller": "gpu",
    "PCI bridge": "bridge",
    "Audio device": "audio",
    "Ethernet controller": "nic",
    "Infiniband controller": "nic",
    "Bridge": "switch",
}
MOST = 1024  # devices


def lspci(output: Output, about: Subject) -> Facts:
    """One PciDevice for each device of the two vendors. Without root the link is "<access denied>": its fields are then gaps.

    A list of the whole bus, or one of NVIDIA's devices, that has none of NVIDIA says so by one record of kind `none`.
    """
    devices: list[PciDevice] = []
    virtual: set[str] = set()
    found: dict[str, Any] | None = None
    address, functions = "", 0
    argv = output.command.argv
    # -s 52:00.0  |  -vvs 52:00.0
    asked = next((after for option, after in pairwise(argv) if SELECTS.match(option)), "")
    if BUS.fullmatch(asked) and not DEVICE_LINES.search(output.text[:LINE]):  # `lspci -vv -s 52:00.0 | grep Lnk` hides the first line
        found = {
            "node": about.node,
            "pci": pci.canonical(asked),
            "origin": Origin(output.origin_name(), 1, output.text[:LINE].split("\n")[0]),
        }
        found["gaps"] = {}
    whole = output.exit == 0 and f"{NVIDIA}:" in output.command.argv
    drivers = DRIVER.search(output.text) is not None
    # the lines of the device before went on to the next device's first one; of a list that shows drivers and each device once
    # (`lspci -k | grep -v Subsystem`) a device that has no line of its own was shown in whole too
    once = IN_USE.search(output.text) is not None and len(set(firsts := DEVICE_LINES.findall(output.text))) == len(firsts)
    complete = False
    for number, raw in enumerate(output.text.split("\n"), 1):
        line = raw[:LINE].rstrip()
        if match := DEVICE.match(line):
            address, functions = match.group(1), 0
            whole = whole or match.group(2) == "Host bridge"
            if found:
                if drivers and complete:
                    found.setdefault("driver", "")
                devices.append(PciDevice(**found))
            complete = once
            found = first_line_fields(match, about, Origin(output.origin_name(), number, line)) if len(devices) < MOST else None
            if found and full_address(match.group(1)) in virtual:
                found |= {"kind": "virtual", "gpu": "", "pci": full_address(match.group(1))}
        elif found and line[:1] in ("\t", " "):
            detail(line, found)
            complete = True
            functions = int(count.group(1)) if (count := VIRTUAL.match(line)) else functions
            if address and (at := OFFSET.match(line)):
                virtual |= virtual_functions(address, min(functions, MOST), int(at.group(1)), int(at.group(2)))
                address = ""  # a device says it once
        else:
            complete = False  # `--` of a grep that cut lines away
    if found:
        devices.append(PciDevice(**found))
    if not devices and not DEVICE_LINES.search(output.text):
        reject_foreign(output, "lspci")
    if whole and not any(device.vendor == NVIDIA for device in devices):
        devices.append(PciDevice(node=about.node, pci="", kind="none", origin=Origin(output.origin_name(), 0, "")))
    return {"pci_devices": list(devices)}


def first_line_fields(match: re.Match[str], about: Subject, origin: Origin) -> dict[str, Any] | None:
    """The fields that a device's first line gives; None for a device of another vendor."""
    address, name, code, text = match.groups()
    ids, revision = IDS.findall(text), REVISION.search(text)
    vendor, device = ids[-1] if ids else ("", "")
    if not vendor:
        vendor = next((number for number, maker in VENDORS.items() if text.startswith(maker)), "")
    if vendor not in VENDORS:
        return None
    kind = KINDS.get(code or "", "") or NAMES.get(name, "other")
    place = pci.canonical(address)
    return {
        "node": about.node,
        "pci": place if kind == "gpu" else f"{place}.{address[-1]}",
        "gpu": place if kind == "gpu" else "",
        "vendor": vendor,
        "device": device,
        "kind": kind,
        "infiniband": code == "0207" or name == "Infiniband controller",
        "product": IDS.sub("", REVISION.sub("", text)).partition(" Corporation ")[2].partition("(prog-if")[0].strip()[:100],
        "revision": revision.group(1) if revision else "",
        "answers": revision is None or revision.group(1) != "ff",
        "origin": origin,
        "gaps": {},
    }


def full_address(address: str) -> str:
    """An address with its domain and function.

    >>> full_address("41:00.4")
    '0000:41:00.4'
    """
    return f"{pci.canonical(address)}.{address[-1]}"


def virtual_functions(address: str, count: int, offset: int, stride: int) -> set[str]:
    """The addresses of a device's virtual functions: bus, device and function are one number of 8, 5 and 3 bits (PCIe 9.2.1.2).

    >>> sorted(virtual_functions("41:00.0", 2, 4, 4))
    ['0000:41:00.4', '0000:41:01.0']
    """
    domain, bus, device = pci.canonical(address).split(":")
    first = (int(bus, 16) << 8 | int(device, 16) << 3 | int(address[-1])) + offset
    numbers = range(first, first + max(stride, 1) * count, max(stride, 1))
    return {f"{domain}:{one >> 8 & 0xFF:02x}:{one >> 3 & 0x1F:02x}.{one & 7}" for one in numbers}


def detail(line: str, found: dict[str, Any]) -> None:
    """One indented line of a device."""
    bare = line.strip()
    if bare.startswith("Kernel driver in use: "):
        found["driver"] = bare.partition(": ")[2][:64]
    elif bare.startswith("Kernel modules: "):
        found.setdefault("driver", "")  # -k was asked: no driver was named
        found["modules"] = [name.strip()[:64] for name in bare.partition(": ")[2].split(",")[:32]]
    elif bare.startswith("Physical Slot: "):
        found["slot"] = bare.partition(": ")[2][:64]
    elif bare.startswith("!!! Unknown header type"):
        found["answers"] = False
    elif bare == "Capabilities: <access denied>":
        found["gaps"].update(dict.fromkeys(("width", "width_max", "speed", "speed_max"), "<access denied>"))
    elif bare.startswith("DevSta:"):  # 		DevSta:	CorrErr+ NonFatalErr- FatalErr- UnsupReq+ AuxPwr- TransPend-
        found["fatal"] = " FatalErr+" in bare
    elif match := FRAGMENT.match(line):
        end = "_max" if match.group(1) == "LnkCap" else ""
        if (speed := SPEED.search(bare)) and f"speed{end}" not in found:
            found[f"speed{end}"] = float(speed.group(1))
        if (width := WIDTH.search(bare)) and f"width{end}" not in found:
            found[f"width{end}"] = int(width.group(1))
    elif (match := REGION.match(line)) and match.group(1) in ("<unassigned>", "<ignored>"):
        found["bars_unassigned"] = found.get("bars_unassigned", 0) + 1
