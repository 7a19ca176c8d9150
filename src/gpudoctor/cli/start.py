"""`gpudoctor` alone on a terminal: what it could ask from here, and the commands to start with.

Only this machine's files are looked at: no program is run, no network is asked, and nothing of the driver can hang it.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from gpudoctor.reporters.text import count, safe

NVIDIA = "0x10de"  # PCI vendor
DISPLAY = "0x03"  # PCI class of what draws or computes: VGA and 3D controllers


def start(program: str) -> int:
    """Print the page."""
    print(page(program))
    return 0


def page(program: str, root: Path = Path("/")) -> str:
    """What is here, and three commands for it; `root` is where the machine's files are."""
    gpus, (cluster, kubernetes), (slurm, controller) = gpus_of(root), kubeconfig(), has_slurm()
    commands = [
        *([("diagnose pod -A", "every GPU pod that isn't well, by cause")] if cluster else []),
        *([("diagnose node --local", "the GPUs of this machine, from the bus up")] if gpus else []),
        *([("run slurm", "which nodes Slurm took out of service, and why")] if slurm else []),
        ("demo lost-gpu", "a recorded incident: needs no GPU and no cluster"),
        ("analyze FILE", "what you have: logs, kubectl output, nvidia-smi, archives"),
        ("xid 79", "what an error code of the driver means and what to do"),
    ][:3]
    here = {"GPU": gpus or "none found on this machine", "Kubernetes": kubernetes, "Slurm": controller}
    width = len(program) + max(len(command) for command, _ in commands) + 1
    return "\n".join(
        [
            "gpudoctor says why GPUs, or the pods and jobs that use them, do not work.",
            "It only reads.",
            "",
            *(f"{what:<12}{said}" for what, said in here.items()),
            "",
            "Start with:",
            *(f"  {f'{program} {command}':<{width}}  {what}" for command, what in commands),
            "",
            f"All commands: {program} --help",
        ]
    )


def gpus_of(root: Path) -> str:
    """The NVIDIA GPUs of this machine in words, "" where there are none. The bus is asked by the kernel's files, not by the driver."""
    found = 0
    for device in (root / "sys/bus/pci/devices").glob("*"):
        with suppress(OSError):
            found += (device / "vendor").read_text().startswith(NVIDIA) and (device / "class").read_text().startswith(DISPLAY)
    driver = (root / "proc/driver/nvidia").is_dir()
    if not (found or driver):
        return ""
    number = count(found, "NVIDIA GPU") if found else "NVIDIA GPUs"
    missing = "the NVIDIA driver is not loaded" if not driver else "" if shutil.which("nvidia-smi") else "nvidia-smi is not installed"
    return f"{number} on this machine" + (f"; {missing}" if missing else "")


def kubeconfig() -> tuple[bool, str]:
    """Whether there is a cluster to ask, and which, or why not."""
    from gpudoctor.probes.kube_config import find_context

    context = find_context()
    if context.trouble:
        return False, safe(context.trouble)
    return True, safe(f"{context.shown}, namespace {context.namespace}")


def has_slurm() -> tuple[bool, str]:
    """Whether Slurm's commands are here."""
    found = shutil.which("scontrol")
    return bool(found), safe(f"{found} is installed") if found else "scontrol is not installed"
