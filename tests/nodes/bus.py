"""What a Linux machine says of its bus and modules: lspci, /proc/modules, /proc/driver/nvidia/version, systemctl show."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "gpu": "3D controller [0302]",
    "vga": "VGA compatible controller [0300]",
    "switch": "Bridge [0680]",
    "audio": "Audio device [0403]",
}


@dataclass(frozen=True)
class Slot:
    """One NVIDIA device as `lspci -D -nn -k -vv` shows it. `driver` "" has none in use; `revision` "ff" doesn't answer."""

    pci: str = "0000:1b:00.0"
    kind: str = "gpu"
    product: str = "GH100 [H100 SXM5 80GB]"
    device: str = "2330"
    revision: str = "a1"
    driver: str = "nvidia"
    speed: tuple[str, str] = ("32GT/s", "32GT/s")  # of the device, now
    width: tuple[int, int] = (16, 16)
    bars: tuple[str, ...] = (
        "Memory at 208042000000 (64-bit, prefetchable) [size=16M]",
        "Memory at 206000000000 (64-bit, prefetchable) [size=128G]",
        "Memory at 208040000000 (64-bit, prefetchable) [size=32M]",
    )
    root: bool = True  # whether lspci may read the capabilities


def lspci(slots: list[Slot]) -> str:
    """`lspci -D -nn -k -vv -d 10de:`."""
    return "\n".join(line for slot in slots for line in [*device(slot), ""])


def device(slot: Slot) -> list[str]:
    """The lines of one device."""
    lines = [f"{slot.pci} {KINDS[slot.kind]}: NVIDIA Corporation {slot.product} [10de:{slot.device}] (rev {slot.revision})"]
    if slot.revision == "ff":
        lines[0] += " (prog-if ff)"
        lines += ["\t!!! Unknown header type 7f", "\tPhysical Slot: 17"]
    else:
        lines += ["\tSubsystem: NVIDIA Corporation Device [10de:16c1]", "\tPhysical Slot: 17"]
        lines.append("\tControl: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr+ Stepping- SERR+ FastB2B- DisINTx+")
        lines += ["\tInterrupt: pin A routed to IRQ 18", "\tNUMA node: 0"]
        lines += [f"\tRegion {2 * number}: {bar}" for number, bar in enumerate(slot.bars)]
        lines += link(slot) if slot.root else ["\tCapabilities: <access denied>"]
    if slot.driver:
        lines.append(f"\tKernel driver in use: {slot.driver}")
    return [*lines, "\tKernel modules: nvidiafb, nouveau, nvidia_drm, nvidia"]


def link(slot: Slot) -> list[str]:
    """The Express capability; what is below the device's own is marked, as lspci 3.7 and later do."""
    slow = " (downgraded)" if slot.speed[0] != slot.speed[1] else ""
    narrow = " (downgraded)" if slot.width[0] != slot.width[1] else ""
    return [
        "\tCapabilities: [60] Express (v2) Endpoint, MSI 00",
        "\t\tDevCap:\tMaxPayload 256 bytes, PhantFunc 0, Latency L0s unlimited, L1 <64us",
        f"\t\tLnkCap:\tPort #0, Speed {slot.speed[0]}, Width x{slot.width[0]}, ASPM not supported",
        "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes, Disabled- CommClk+",
        f"\t\tLnkSta:\tSpeed {slot.speed[1]}{slow}, Width x{slot.width[1]}{narrow}",
        "\tCapabilities: [100 v2] Advanced Error Reporting",
    ]


def modules(*loaded: str) -> str:
    """`cat /proc/modules`: names, or `name:users`."""
    lines = []
    for one in loaded:
        name, _, users = one.partition(":")
        lines.append(f"{name} 1540096 {users or 0} - Live 0x0000000000000000 (OE)\n")
    return "".join(lines)


NVIDIA_MODULES = modules("nvidia_uvm:4", "nvidia_drm:0", "nvidia_modeset:1", "nvidia:120", "i2c_core:2", "ext4:1")


def version(driver: str = "570.172.08", *, is_open: bool = True) -> str:
    """`cat /proc/driver/nvidia/version`."""
    if is_open:
        kernel = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {driver}  Release Build  (dvs-builder@U22-I3-AE18-09-6)"
    else:
        kernel = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {driver}  Wed Jun  4 12:54:46 UTC 2025"
    return f"{kernel}\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04) \n"


def units(**states: str) -> str:
    """`systemctl show -p Id,LoadState,… UNIT…`: `nvidia_dcgm="active"`; also "inactive", "failed", "absent"."""
    blocks = []
    for name, state in states.items():
        load, active, sub, result, enabled = {
            "active": ("loaded", "active", "running", "success", "enabled"),
            "inactive": ("loaded", "inactive", "dead", "success", "disabled"),
            "failed": ("loaded", "failed", "failed", "exit-code", "enabled"),
            "absent": ("not-found", "inactive", "dead", "success", ""),
        }[state]
        shown = {"Id": f"{name.replace('_', '-')}.service", "LoadState": load, "ActiveState": active, "SubState": sub}
        shown |= {"Result": result, "UnitFileState": enabled}
        blocks.append("".join(f"{key}={value}\n" for key, value in shown.items()))
    return "\n".join(blocks)


def chrony(offset: float = 0.000012042, leap: str = "Normal", *, fast: bool = False) -> str:
    """`chronyc tracking`; a machine that follows no server shows zeros."""
    server = "00000000 ()" if leap == "Not synchronised" else "0A000001 (ntp-1.local)"
    return (
        f"Reference ID    : {server}\nStratum         : 3\nRef time (UTC)  : Sun Mar 01 11:58:12 2026\n"
        f"System time     : {offset:.9f} seconds {'fast' if fast else 'slow'} of NTP time\n"
        "Last offset     : +0.000004331 seconds\nRMS offset      : 0.000017224 seconds\nFrequency       : 12.118 ppm slow\n"
        "Residual freq   : +0.001 ppm\nSkew            : 0.024 ppm\nRoot delay      : 0.000412043 seconds\n"
        f"Root dispersion : 0.000214311 seconds\nUpdate interval : 64.7 seconds\nLeap status     : {leap}\n"
    )
