"""Machines whose bus, driver or nvidia-smi tells what is wrong: for the runbooks gpu-not-detected and gpu-health."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.nodes import bus
from tests.nodes.bus import NVIDIA_MODULES, Slot, lspci, modules, version
from tests.nodes.case import Case, Said
from tests.nodes.smi import Card, Process, smi_xml

NODE = "gpu-07"
CARDS = [Card(), Card(index=1, pci="0000:5d:00.0")]
SLOTS = [Slot(), Slot(pci="0000:5d:00.0"), Slot(pci="0000:07:00.0", kind="switch", product="GH100 [H100 NVSwitch]", device="22a3")]
BOOT = "2026-03-01T08:00:02,118204+00:00 "
BOOTED = f"{BOOT}systemd[1]: Started Journal Service.\n"
STARTED = f"{BOOT}NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.172.08  Release Build  (dvs-builder@U22-I3-AE18-09-6)\n"
UNTOLD = re.compile(r"\s*<persistence_mode>.*</persistence_mode>")
NO_FILE = Said("", 1, "cat: /proc/driver/nvidia/version: No such file or directory\n")
NO_DRIVER = Said(
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed "
    "and running.\n\n",
    9,
)
HUNG = Said(failure="timeout")
GONE = Said(exit=127, failure="not-found", reason="nvidia-smi: command not found")


def detection(**changed: str | Said) -> Case:
    """A machine of two H100 asked by gpu-not-detected: what differs from the healthy one, by command."""
    answers = {"bus": lspci(SLOTS), "version": version(), "modules": NVIDIA_MODULES, "log": STARTED, "smi": smi_xml(CARDS), **changed}
    commands = {
        "bus": "lspci -D -nn -k -vv -d 10de:",
        "version": "cat /proc/driver/nvidia/version",
        "modules": "cat /proc/modules",
        "log": "dmesg --time-format=iso",
        "smi": "nvidia-smi -q -x",
    }
    return Case("gpu-not-detected", {"nodes": NODE}, {f"{NODE}: {commands[name]}": answer for name, answer in answers.items()})


def held_by(driver: str, *available: str) -> str:
    """The bus with both GPUs held by a driver ("" = none), and the modules that this kernel has for them."""
    shown = lspci([replace(slot, driver=driver) for slot in SLOTS])
    return (
        shown.replace("Kernel modules: nvidiafb, nouveau, nvidia_drm, nvidia", f"Kernel modules: {', '.join(available)}")
        if available
        else shown
    )


def failed(text: str, exit: int = 255) -> Said:
    """nvidia-smi that prints only an error."""
    return Said(f"{text}\n", exit)


def health(*cards: Card, below: str = "", driver: str = "570.172.08") -> Case:
    """A machine with these GPUs asked by gpu-health; `below` is printed after the answer."""
    return Case("gpu-health", {"nodes": NODE}, {f"{NODE}: nvidia-smi -q -x": smi_xml(list(cards), driver) + below})


def pair(driver: str = "570.172.08", **faults: object) -> Case:
    """Two GPUs, the second with faults."""
    return health(CARDS[0], replace(CARDS[1], **faults), driver=driver)  # type: ignore[arg-type]


V100 = Card(product="Tesla V100-SXM2-32GB", memory_total=32768, tlimit=None, pcie=(3, 3, 3, 3), retired=(0, 0, "No"), fabric=("N/A", "N/A"))

ADAPTER = "GPU 1 sits on an M.2 to PCIe x16 adapter\n"

DESKTOP = [
    replace(card, product="NVIDIA GeForce RTX 5060 Ti", fabric=("N/A", "N/A"), width=(8, width))
    for card, width in zip(CARDS, (8, 4), strict=True)
]

LEARNS = "Creating symlink /var/lib/dkms/nvidia/550.54.15/source -> /usr/src/nvidia-550.54.15\n"


def slots(speed: str) -> Case:
    """Two GPUs on the bus, the second at this speed; there is no nvidia-smi."""
    return detection(bus=bus.lspci([bus.Slot(), bus.Slot(pci="0000:5d:00.0", speed=("32GT/s", speed))]), smi=GONE)


NARROW = replace(SLOTS[1], width=(16, 8))

OTHER = replace(SLOTS[1], pci="0000:9d:00.0", product="GA100 [A100 PCIe 80GB]", device="20b5", width=(16, 8))

FASTER = replace(SLOTS[0], pci="0000:9d:00.0")

CASES: dict[str, Case] = {
    # --- gpu-not-detected
    "detected": detection(),
    "no-gpu-on-the-bus": detection(bus="", modules=modules("ext4:1"), version=NO_FILE, log=BOOTED, smi=GONE),
    "revision-ff": detection(
        bus=lspci([SLOTS[0], replace(SLOTS[1], revision="ff")]),
        smi=Said("Unable to determine the device handle for GPU0000:5D:00.0: Unknown Error\n", 255),
    ),
    "nouveau-holds-the-gpus": detection(
        bus=held_by("nouveau"), version=NO_FILE, modules=modules("nouveau:2", "ext4:1"), log=BOOTED, smi=NO_DRIVER
    ),
    "gpus-for-guests": detection(bus=held_by("vfio-pci"), smi=failed("No devices were found", 6)),
    "no-memory-window": detection(
        bus=lspci([SLOTS[0], replace(SLOTS[1], driver="", bars=("Memory at <unassigned> (64-bit, prefetchable) [size=128G]",))]),
        smi=smi_xml(CARDS[:1]),
        log=STARTED + BOOT + "NVRM: GPU 0000:5d:00.0: RmInitAdapter failed! (0x24:0x72:1568)\n",
    ),
    "open-module-needed": detection(
        version=version(is_open=False),
        log=BOOT
        + "NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:2901)\n"
        + BOOT
        + "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n",
        smi=failed("No devices were found", 6),
    ),
    "smi-hangs": detection(smi=HUNG),
    "smi-hung-for-seconds": detection(smi=Said(failure="timeout", seconds=20)),  # --timeout 20
    "driver-not-there": detection(bus=held_by("", "nvidiafb", "nouveau"), version=NO_FILE, modules=modules("ext4:1"), log=BOOTED, smi=GONE),
    "no-module-for-this-kernel": detection(
        bus=held_by("", "nvidiafb", "nouveau"), version=NO_FILE, modules=modules("ext4:1"), log=BOOTED, smi=NO_DRIVER
    ),
    "module-not-loaded": detection(bus=held_by(""), version=NO_FILE, modules=modules("ext4:1"), log=BOOTED, smi=NO_DRIVER),
    "library-upgraded": detection(
        smi=failed("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195", 18)
    ),
    "access-denied": detection(smi=failed("Failed to initialize NVML: Insufficient Permissions", 4)),
    "power-cable": detection(smi=Said("", 8)),
    "interrupt": detection(smi=Said("", 10)),
    "nvml-unknown-error": detection(smi=failed("Failed to initialize NVML: Unknown Error")),
    "nvml-gpu-is-lost": detection(smi=failed("Failed to initialize NVML: GPU is lost", 15)),
    "driver-started-none": detection(smi=failed("No devices were found", 6)),
    # what a person's shell showed, read as a log
    "driver-files-not-there": detection(
        bus=held_by("", "nvidiafb", "nouveau"),
        version=HUNG,
        modules=HUNG,
        log=BOOT + "ls: cannot access '/dev/nvidia*': No such file or directory\n",
        smi=GONE,
    ),
    "only-no-nvidia-smi": detection(bus=held_by("", "nvidiafb", "nouveau"), version=HUNG, modules=HUNG, log=BOOTED, smi=GONE),
    "distribution-offers-nvidia-smi": detection(
        bus=HUNG,
        version=HUNG,
        modules=HUNG,
        log=BOOT + "Command 'nvidia-smi' not found, but can be installed with:\nsudo apt install nvidia-utils-570-server\n",
        smi=GONE,
    ),
    "guest-of-hyper-v": detection(
        bus="", version=NO_FILE, modules="", log=BOOT + "ls: cannot access '/dev/dxg': No such file or directory\n", smi=NO_DRIVER
    ),
    "guest-of-hyper-v-no-module": detection(
        bus="",
        version=NO_FILE,
        modules="",
        log=BOOT + "modprobe: FATAL: Module dxgkrnl not found in directory /lib/modules/6.8.0-71-generic\n",
        smi=GONE,
    ),
    "secure-boot-and-no-module": detection(
        version=NO_FILE,
        modules=HUNG,
        bus=held_by(""),
        log=f"{BOOT}secureboot: Secure boot enabled\n{BOOT}/lib/modules/6.8.0-71-generic/updates/dkms/nvidia.ko.zst\n",
        smi=NO_DRIVER,
    ),
    "proprietary-module-for-blackwell": detection(
        bus=lspci([replace(slot, product="GB100 [B200]", device="2901") for slot in SLOTS]),
        version=version(is_open=False),
        smi=failed("No devices were found", 6),
    ),
    "device-files-gone": detection(log=STARTED + BOOT + "ls: cannot access '/dev/nvidia*': No such file or directory\n"),
    "persistence-daemon-alone": detection(
        log=STARTED
        + BOOT
        + "nvidia-persistenced[812]: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, "
        + "and that user 0 has read and write permissions for those files.\n",
    ),
    "only-control-device-shown": detection(
        bus=GONE, log=STARTED + BOOT + "crw-rw-rw- 1 root root 195, 255 Mar  3 09:22 /dev/nvidiactl\n", smi=GONE
    ),
    "only-control-device": detection(log=STARTED + BOOT + "crw-rw-rw- 1 root root 195, 255 Mar  3 09:22 /dev/nvidiactl\n"),
    "nouveau-loaded": detection(bus=held_by(""), version=NO_FILE, modules=modules("nouveau:2", "ext4:1"), log=BOOTED, smi=NO_DRIVER),
    "package-upgraded": detection(
        log=STARTED + BOOT + "ii  libnvidia-compute-570:amd64  570.195.03-0ubuntu0.22.04.1  amd64  NVIDIA libcompute package\n"
    ),
    "virtual-gpu-refused": detection(
        bus=lspci([replace(SLOTS[0], product="GH100 [GRID H100-10C]", driver="")]),
        version=NO_FILE,
        log=BOOT + "NVRM: installed in this system is not supported by the NVIDIA 570.172.08 driver release.\n",
        smi=failed("No devices were found", 6),
    ),
    "one-gpu-missing": detection(smi=smi_xml(CARDS[:1])),
    "two-nodes-one-silent": Case(
        "gpu-not-detected",
        {"nodes": f"{NODE},gpu-08"},
        {
            **detection().answers,
            **{
                command.replace(NODE, "gpu-08"): Said(failure="unreachable", reason="ssh: connect to host gpu-08 port 22: No route to host")
                for command in detection().answers
            },
        },
    ),
    # --- gpu-health
    "sound": health(*CARDS),
    "sound-v100": health(V100, replace(V100, index=1, pci="0000:5d:00.0"), driver="535.161.08"),
    "one-node-refuses": Case(
        "gpu-health",
        {"nodes": f"{NODE},gpu-08"},
        {
            f"{NODE}: nvidia-smi -q -x": smi_xml(CARDS),
            "gpu-08: nvidia-smi -q -x": Said(failure="unreachable", reason="ssh: connect to host gpu-08 port 22: Connection timed out"),
        },
    ),
    "wants-reset": pair(recovery="Reset"),
    "wants-reboot": pair(recovery="Reboot"),
    "wants-drain": pair(recovery="Drain P2P"),
    "reads-reset-required": pair(
        said={"temperature/gpu_temp": "GPU requires reset", "utilization/gpu_util": "GPU requires reset", "gpu_recovery_action": "N/A"}
    ),
    "fields-unreadable": pair(said={"temperature/gpu_temp": "Unknown Error", "gpu_power_readings/instant_power_draw": "Unknown Error"}),
    "inforom-warning": health(*CARDS, below="WARNING: infoROM is corrupted at gpu 0000:5D:00.0\n"),
    "smi-without-gpus": health(),
    "inforom-exit": Case("gpu-health", {"nodes": NODE}, {f"{NODE}: nvidia-smi -q -x": Said("", 14)}),
    "remap-failed": pair(remapped=(0, 9, "Yes", "Yes"), banks=(2550, 0, 0, 9, 1)),
    "remap-pending": pair(remapped=(1, 1, "Yes", "No"), volatile=(0, 0, 31, 1), aggregate=(0, 0, 31, 1)),
    "sram-threshold": pair(aggregate=(0, 7, 0, 0), threshold="Yes"),
    "sram-counted": pair(driver="535.161.08", aggregate=(2, 6, 0, 0)),
    "pages-waiting": health(V100, replace(V100, index=1, pci="0000:5d:00.0", retired=(3, 1, "Yes")), driver="535.161.08"),
    "pages-used-up": health(V100, replace(V100, index=1, pci="0000:5d:00.0", retired=(40, 24, "No")), driver="535.161.08"),
    "errors-without-rows": pair(aggregate=(0, 0, 3, 12)),
    "errors-with-rows": pair(remapped=(0, 2, "No", "No"), aggregate=(0, 0, 3, 2)),
    "at-its-limit": pair(temperature=86, tlimit=-1),
    "replays": pair(replays=48211),
    "link-narrow": pair(width=(16, 4)),
    "link-narrow-in-a-desktop": health(
        *(
            replace(card, product="NVIDIA GeForce RTX 4090", fabric=("N/A", "N/A"), width=(16, width))
            for card, width in zip(CARDS, (16, 8), strict=True)
        )
    ),
    "link-of-one-lane": health(replace(CARDS[0], width=(16, 1))),
    "link-of-one-lane-in-a-desktop": health(replace(CARDS[0], product="NVIDIA GeForce RTX 3060", width=(16, 1))),
    "link-slow": health(
        replace(CARDS[0], utilisation=98, memory_used=60000), replace(CARDS[1], utilisation=97, memory_used=60000, pcie=(5, 1, 5, 5))
    ),
    "slots-of-the-platform": health(
        *(replace(card, pcie=(4, 4, 5, 4), width=(16, 8)) for card in CARDS),
    ),
    "modes-pending": pair(mig=("Disabled", "Enabled"), ecc=("Enabled", "Disabled"), compute_mode="Prohibited", persistence=False),
    "busy-with-nothing": pair(utilisation=100, memory_used=4, power=142.0),
    "busy-with-nothing-perhaps": Case(
        "gpu-health",
        {"nodes": NODE},
        {f"{NODE}: nvidia-smi -q -x": UNTOLD.sub("", smi_xml([CARDS[0], replace(CARDS[1], utilisation=100, memory_used=4, power=142.0)]))},
    ),
    "held-by-nobody": pair(utilisation=0, memory_used=40300, processes=(Process(4711, "Unknown Error", 40100),)),
    "held-by-somebody": pair(utilisation=0, memory_used=20900, processes=(Process(4712, "[Not Found]", 20700),)),
    "busy-with-work": pair(utilisation=100, memory_used=70000, processes=(Process(4711, "python3", 69000),)),
    "dkms-told-by-hand": detection(version=NO_FILE, log=LEARNS, smi=NO_DRIVER),
    "dkms-told-by-a-package": detection(version=NO_FILE, log=f"Loading new nvidia-550.54.15 DKMS files...\n{LEARNS}", smi=NO_DRIVER),
    "desktop-card-on-an-adapter": detection(log=ADAPTER, smi=smi_xml(DESKTOP)),
    "desktop-card-in-a-short-slot": detection(log=BOOTED, smi=smi_xml(DESKTOP)),
    "link-slow-beside-another": slots("8GT/s"),
    "link-at-rest-beside-another": slots("2.5GT/s"),
    "one-narrow-link": detection(bus=lspci([SLOTS[0], NARROW]), smi=GONE),
    "one-narrow-slot": detection(bus=lspci([SLOTS[0], OTHER]), smi=GONE),
    "one-slow-link": detection(bus=lspci([SLOTS[0], replace(SLOTS[1], speed=("32GT/s", "8GT/s")), FASTER]), smi=GONE),
    "one-slow-link-or-at-rest": detection(bus=lspci([SLOTS[0], replace(SLOTS[1], speed=("32GT/s", "2.5GT/s")), FASTER]), smi=GONE),
}
