"""What nvidia-smi prints about a machine, from a short description of its GPUs: -q -x, -q, the table, -L, and --query-gpu CSV.

One tree of (XML tag, label of -q, value) is built for a card and a driver release, and printed in both forms, so that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from tests.nodes.smi_tree import GONE, Tree, architecture, power, reasons, release, retired, rows, temperature

STAMP = "Sun Mar  1 12:00:00 2026"
CUDA = {525: "12.0", 535: "12.2", 550: "12.4", 570: "12.8", 575: "12.9", 580: "13.0", 590: "13.1", 595: "13.2"}


@dataclass(frozen=True)
class Process:
    """One line of the process table."""

    pid: int
    name: str = "python"
    memory: int = 1024  # MiB
    kind: str = "C"


@dataclass(frozen=True)
class Card:
    """One GPU, healthy and idle unless told otherwise. `said` replaces single values: {"temperature/gpu_temp": "Unknown Error"}."""

    index: int = 0
    pci: str = "0000:1b:00.0"
    uuid: str = ""  # made of the index when empty
    product: str = "NVIDIA H100 80GB HBM3"
    serial: str = ""
    vbios: str = "96.00.74.00.0D"
    pstate: int = 0
    persistence: bool = True
    compute_mode: str = "Default"
    mig: tuple[str, str] = ("Disabled", "Disabled")  # current, pending
    memory_total: int = 81559
    memory_used: int = 4
    utilisation: int = 0
    temperature: int = 31
    memory_temperature: int | None = 40
    tlimit: int | None = 54
    fan: str = "N/A"
    power: float = 70.5
    power_limit: float = 700.0
    power_default: float = 700.0
    sm_clock: int = 1980
    sm_clock_max: int = 1980
    memory_clock: int = 2619
    application_clock: int | None = 1980
    active: tuple[str, ...] = ()  # names of knowledge/clock_reasons; an idle card needs ("idle",) on releases that show it
    counters: dict[str, int] = field(default_factory=dict)  # reason → µs, on releases that have them
    pcie: tuple[int, int, int, int] = (5, 5, 5, 5)  # generation: max, current, device max, host max
    width: tuple[int, int] = (16, 16)  # max, current
    replays: int = 0
    ecc: tuple[str, str] = ("Enabled", "Enabled")
    volatile: tuple[int, int, int, int] = (0, 0, 0, 0)  # SRAM corrected, SRAM uncorrected, DRAM corrected, DRAM uncorrected
    aggregate: tuple[int, int, int, int] = (0, 0, 0, 0)
    threshold: str = "No"
    remapped: tuple[int, int, str, str] = (0, 0, "No", "No")  # correctable, uncorrectable, pending, failure
    banks: tuple[int, int, int, int, int] = (2560, 0, 0, 0, 0)
    retired: tuple[int, int, str] | None = None  # single bit, double bit, pending: cards before Ampere
    recovery: str = "None"
    fabric: tuple[str, str] = ("Completed", "Success")  # N/A twice on cards without NVSwitch
    health: str = "Healthy"
    processes: tuple[Process, ...] = ()
    said: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its UUID."""
        return self.uuid or f"GPU-5a0c1f2e-0000-4000-8000-{self.index:012d}"

    @property
    def bus(self) -> str:
        """Its address as nvidia-smi prints it."""
        domain, _, rest = self.pci.partition(":")
        return f"{domain:0>8}:{rest}".upper()


def tree(card: Card, driver: str) -> Tree:
    """Everything `nvidia-smi -q` prints of one card."""
    number = release(driver)
    yes = {True: "Enabled", False: "Disabled"}
    bus = card.bus.rpartition(":")[0].split(":")
    made: Tree = [
        ("product_name", "Product Name", card.product),
        ("product_brand", "Product Brand", "NVIDIA"),
        ("product_architecture", "Product Architecture", architecture(card.product)),
        ("display_mode", "Display Mode", "Disabled"),
        ("display_active", "Display Active", "Disabled"),
        ("persistence_mode", "Persistence Mode", yes[card.persistence]),
        ("addressing_mode", "Addressing Mode", "None") if number >= 535 else GONE,
        ("mig_mode", "MIG Mode", [("current_mig", "Current", card.mig[0]), ("pending_mig", "Pending", card.mig[1])]),
        ("accounting_mode", "Accounting Mode", "Disabled"),
        ("serial", "Serial Number", card.serial or f"16500230000{card.index:02d}"),
        ("uuid", "GPU UUID", card.name),
        ("minor_number", "Minor Number", str(card.index)),
        ("vbios_version", "VBIOS Version", card.vbios),
        ("board_part_number", "Board Part Number", "692-2G520-0200-000"),
        ("gpu_part_number", "GPU Part Number", "2330-885-A1"),
        ("inforom_version", "Inforom Version", [("img_version", "Image Version", "G520.0200.00.05"), ("ecc_object", "ECC Object", "7.16")]),
        ("gsp_firmware_version", "GSP Firmware Version", driver),
        ("gpu_recovery_action", "GPU Recovery Action", card.recovery) if number >= 565 else GONE,
        (
            "pci",
            "PCI",
            [
                ("pci_bus", "Bus", f"0x{bus[1]}"),
                ("pci_bus_id", "Bus Id", card.bus),
                (
                    "pci_gpu_link_info",
                    "GPU Link Info",
                    [
                        (
                            "pcie_gen",
                            "PCIe Generation",
                            [
                                ("max_link_gen", "Max", str(card.pcie[0])),
                                ("current_link_gen", "Current", str(card.pcie[1])),
                                ("device_current_link_gen", "Device Current", str(card.pcie[1])),
                                ("max_device_link_gen", "Device Max", str(card.pcie[2])),
                                ("max_host_link_gen", "Host Max", str(card.pcie[3])),
                            ],
                        ),
                        (
                            "link_widths",
                            "Link Width",
                            [("max_link_width", "Max", f"{card.width[0]}x"), ("current_link_width", "Current", f"{card.width[1]}x")],
                        ),
                    ],
                ),
                ("replay_counter", "Replays Since Reset", str(card.replays)),
            ],
        ),
        ("fan_speed", "Fan Speed", card.fan),
        ("performance_state", "Performance State", f"P{card.pstate}"),
        *reasons(card.active, card.counters, number),
        (
            "fb_memory_usage",
            "FB Memory Usage",
            [
                ("total", "Total", f"{card.memory_total} MiB"),
                ("reserved", "Reserved", "551 MiB"),
                ("used", "Used", f"{card.memory_used} MiB"),
                ("free", "Free", f"{card.memory_total - card.memory_used - 551} MiB"),
            ],
        ),
        (
            "bar1_memory_usage",
            "BAR1 Memory Usage",
            [("total", "Total", "131072 MiB"), ("used", "Used", "1 MiB"), ("free", "Free", "131071 MiB")],
        ),
        ("compute_mode", "Compute Mode", card.compute_mode),
        (
            "utilization",
            "Utilization",
            [("gpu_util", "GPU" if number >= 560 else "Gpu", f"{card.utilisation} %"), ("memory_util", "Memory", "0 %")],
        ),
        (
            "ecc_mode",
            "ECC Mode" if number >= 535 else "Ecc Mode",
            [("current_ecc", "Current", card.ecc[0]), ("pending_ecc", "Pending", card.ecc[1])],
        ),
        *rows(card.ecc[0], card.volatile, card.aggregate, card.threshold, number),
        *retired(card.retired, card.remapped, card.banks),
        temperature(card.temperature, card.tlimit, card.memory_temperature),
        power(card.power, card.power_limit, card.power_default, number),
        (
            "clocks",
            "Clocks",
            [
                ("graphics_clock", "Graphics", f"{card.sm_clock} MHz"),
                ("sm_clock", "SM", f"{card.sm_clock} MHz"),
                ("mem_clock", "Memory", f"{card.memory_clock} MHz"),
            ],
        ),
        *(
            (tag, label, [("graphics_clock", "Graphics", mhz(card.application_clock)), ("mem_clock", "Memory", f"{card.memory_clock} MHz")])
            for tag, label in (
                ("applications_clocks", "Applications Clocks"),
                ("default_applications_clocks", "Default Applications Clocks"),
            )
        ),
        (
            "max_clocks",
            "Max Clocks",
            [
                ("graphics_clock", "Graphics", f"{card.sm_clock_max} MHz"),
                ("sm_clock", "SM", f"{card.sm_clock_max} MHz"),
                ("mem_clock", "Memory", f"{card.memory_clock} MHz"),
            ],
        ),
        fabric(card, number) if number >= 535 else GONE,
    ]
    return [replaced(branch, card.said) for branch in made if branch != GONE]


def mhz(clock: int | None) -> str:
    """A clock as shown; None is N/A."""
    return "N/A" if clock is None else f"{clock} MHz"


def fabric(card: Card, number: int) -> tuple[str, str, Tree]:
    """The state of the NVSwitch fabric as the card knows it."""
    here = card.fabric[0] not in ("N/A",)
    made: Tree = [("state", "State", card.fabric[0]), ("status", "Status", card.fabric[1])]
    if number >= 550:
        uuid = "00000000-0000-0000-0000-000000000000"
        made += [("cliqueId", "CliqueId", "0" if here else "N/A"), ("clusterUuid", "ClusterUUID", uuid if here else "N/A")]
    if number >= 570:
        shown = card.health if here else "N/A"
        made += [("health", "Health", [("summary", "Summary", shown), ("bandwidth", "Bandwidth", "Full" if here else "N/A")])]
    return ("fabric", "Fabric", made)


def replaced(branch: tuple[str, str, str | Tree], said: dict[str, str], path: str = "") -> tuple[str, str, str | Tree]:
    """A branch with the values that the case wants to see instead."""
    tag, label, value = branch
    here = f"{path}/{tag}".lstrip("/")
    if here in said:
        return (tag, label, said[here])
    return branch if isinstance(value, str) else (tag, label, [replaced(one, said, here) for one in value])


def smi_xml(cards: list[Card], driver: str = "570.172.08", stamp: str = STAMP) -> str:
    """`nvidia-smi -q -x`."""
    lines = ['<?xml version="1.0" ?>', '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">', "<nvidia_smi_log>"]
    head = {"timestamp": stamp, "driver_version": driver, "cuda_version": CUDA[release(driver)], "attached_gpus": str(len(cards))}
    lines += [f"\t<{tag}>{value}</{tag}>" for tag, value in head.items()]
    for card in cards:
        lines.append(f'\t<gpu id="{card.bus}">')
        lines += [line for branch in tree(card, driver) for line in xml(branch, 2)]
        lines.append("\t\t<processes>")
        for one in card.processes:
            shown = {"pid": one.pid, "type": one.kind, "process_name": one.name, "used_memory": f"{one.memory} MiB"}
            lines += ["\t\t\t<process_info>", "\t\t\t\t<gpu_instance_id>N/A</gpu_instance_id>"]
            lines += [f"\t\t\t\t<{tag}>{escape(str(value))}</{tag}>" for tag, value in shown.items()]
            lines.append("\t\t\t</process_info>")
        lines += ["\t\t</processes>", "\t</gpu>", ""]
    return "\n".join([*lines, "</nvidia_smi_log>", ""])


def xml(branch: tuple[str, str, str | Tree], depth: int) -> list[str]:
    """A branch as XML lines."""
    tag, _, value = branch
    tabs = "\t" * depth
    if isinstance(value, str):
        return [f"{tabs}<{tag}>{escape(value)}</{tag}>"]
    return [f"{tabs}<{tag}>", *(line for one in value for line in xml(one, depth + 1)), f"{tabs}</{tag}>"]


def smi_q(cards: list[Card], driver: str = "570.172.08", stamp: str = STAMP) -> str:
    """`nvidia-smi -q`."""
    head = {"Timestamp": stamp, "Driver Version": driver, "CUDA Version": CUDA[release(driver)]}
    lines = ["", "==============NVSMI LOG==============", "", *(f"{label:<41} : {value}" for label, value in head.items()), ""]
    lines.append(f"{'Attached GPUs':<41} : {len(cards)}")
    for card in cards:
        lines += [f"GPU {card.bus}", *(line for branch in tree(card, driver) for line in text(branch, 1))]
        if not card.processes:
            lines.append(f"{'    Processes':<41} : None")
        else:
            lines.append("    Processes")
        for one in card.processes:
            shown = {"Process ID": one.pid, "    Type": one.kind, "    Name": one.name, "    Used GPU Memory": f"{one.memory} MiB"}
            lines += [f"{f'        {label}':<41} : {value}" for label, value in {"GPU instance ID": "N/A", **shown}.items()]
        lines.append("")
    return "\n".join(lines)


def text(branch: tuple[str, str, str | Tree], depth: int) -> list[str]:
    """A branch as lines of -q; one without a label is only a tag of the XML."""
    _, label, value = branch
    if not label and not isinstance(value, str):
        return [line for one in value for line in text(one, depth)]
    indented = "    " * depth + label
    if isinstance(value, str):
        return [f"{indented:<41} : {value}"]
    return [indented, *(line for one in value for line in text(one, depth + 1))]
