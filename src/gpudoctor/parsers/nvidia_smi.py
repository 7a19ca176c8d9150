"""nvidia-smi: the table, -L, -q (text and XML), --query-gpu CSV, and every error text it prints instead of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.parsers import LINE, pci
from gpudoctor.parsers.messages import scan_lines
from gpudoctor.parsers.nvidia_smi_query import UNREADABLE, details, from_csv
from gpudoctor.probes.base import Output

# What a line begins with or contains → the neutral word (texts: nvidia-smi 375 to 595; Linux; runc's and shells' word for no program).
# "Unknown Error" for the handle of one GPU is that GPU being out of reach; for the whole library it is `unknown_error`.
PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("Unable to determine the device handle for", "GPU requires reset", "reset_required"),
    ("Unable to determine the device handle for", "", "gpu_lost"),
    ("Failed to initialize NVML", "Driver/library version mismatch", "mismatch"),
    ("Failed to initialize NVML", "GPU is lost", "gpu_lost"),
    ("Failed to initialize NVML", "requires reset", "reset_required"),
    ("Failed to initialize NVML", "Insufficient Permissions", "insufficient_permissions"),
    ("Failed to initialize NVML", "GPU access blocked by the operating system", "insufficient_permissions"),
    ("Failed to initialize NVML", "Driver Not Loaded", "driver_not_loaded"),
    ("Failed to initialize NVML", "Driver is not loaded", "driver_not_loaded"),
    ("Failed to initialize NVML", "Not Found", "library_missing"),
    ("Failed to initialize NVML", "Timeout", "timeout"),
    ("Failed to initialize NVML", "Unknown Error", "unknown_error"),
    ("Failed to initialize NVML", "", "other"),
    ("NVIDIA-SMI has failed because it couldn't communicate", "", "driver_not_loaded"),
    ("NVIDIA-SMI couldn't find", "", "library_missing"),
    ("Mismatch in versions between nvidia-smi and NVML", "", "other"),
    ("GPU access blocked by the operating system", "", "insufficient_permissions"),
    ("No devices were found", "", "no_devices"),
    ("No devices found", "", "no_devices"),
    ('"nvidia-smi": executable file not found', "", "not_found"),
    ('"nvidia-smi": stat ', "no such file or directory", "not_found"),
    ("nvidia-smi: command not found", "", "not_found"),
    ("nvidia-smi: not found", "", "not_found"),
    ("nvidia-smi: No such file or directory", "", "not_found"),
    ("nvidia-smi: no such file or directory", "", "not_found"),
)
# Exit codes count only where the text says nothing (nvidia-smi(1), RETURN VALUE; 127 is the shell's).
EXITS = {4: "insufficient_permissions", 9: "driver_not_loaded", 12: "library_missing", 15: "gpu_lost", 127: "not_found"}

# | NVIDIA-SMI 570.172.08    Driver Version: 570.172.08    CUDA Version: 12.8 |  |  KMD Version: 610.57.04  CUDA UMD Version: 13.3
DRIVER = re.compile(r"(?:Driver|KMD) Version *: *(\d[\d.]*)")
CUDA = re.compile(r"CUDA (?:UMD )?Version *: *(\d[\d.]*)")
# GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-ba0890e9-…)
LISTED = re.compile(r"^\s*GPU (\d{1,3}): (.{1,100}?) \(UUID: (GPU-[0-9A-Za-z-]{4,60})\)")
# Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error  |  … for GPU0000:91:00.0: GPU is lost.
HANDLE = re.compile(r"device handle for GPU ?(?:(\d{1,3}): ?)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])?")
AMOUNTS = re.compile(r"(\d{1,9})MiB */ *(\d{1,9})MiB")


def smi(output: Output, about: Subject) -> Facts:
    """One Smi for the answer as a whole, a Gpu for every GPU it shows (with the identity it was shown with), known messages.

    Memory is in MiB, temperature in °C, utilisation in per cent. `Smi.inside` comes from `about`, else from a `kubectl exec`.
    """
    whole = output.text
    if output.stderr:
        whole += "\n" + output.stderr.decode("utf-8", "replace")
    lines = [line[:LINE].rstrip() for line in whole.split("\n")]
    problem, number = find_problem(lines)
    if not problem and output.exit in EXITS and not any("Driver Version" in line for line in lines):
        problem = EXITS[output.exit]
    gpus = [gpu for reader in (from_table, from_list, details, from_csv, from_handles) for gpu in reader(lines, output)]
    gpus = [named(gpu, about, output, lines) for gpu in merged(gpus)]
    versions = (search(DRIVER, lines), search(CUDA, lines))
    number = number or next((at for at, line in enumerate(lines, 1) if "Version" in line or LISTED.match(line)), 0)
    answer = Smi(
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        container=about.container,
        inside=inside(output, about),
        problem=problem,
        text=lines[number - 1].strip()[:500] if number else "",
        driver_version=versions[0],
        cuda_version=versions[1],
        gpus=len(gpus) if gpus else (0 if problem == "no_devices" else attached(lines)),
        mig=mig(gpus, lines),
        origin=Origin(output.named(), number, lines[number - 1].strip() if number else ""),
    )
    return {"smi": [answer], "gpus": list(gpus), "messages": [*scan_lines(output, about, source="exec")]}


def find_problem(lines: list[str]) -> tuple[str, int]:
    """The neutral word for the first error text and its line number; ("", 0) where there is none. Cells of tables don't count."""
    for number, line in enumerate(lines, 1):
        for begins, has, word in PROBLEMS:
            at = line.find(begins)
            if at >= 0 and "|" not in line[:at] and has in line:
                return word, number
    return "", 0


def inside(output: Output, about: Subject) -> str:
    """Where nvidia-smi ran: `pod`, `node`, or "" where nobody says."""
    if about.pod:
        return "pod"
    if about.node:
        return "node"
    return "pod" if "exec" in output.command.argv[:3] else ""


def search(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    """The first capture of a pattern over all lines."""
    return next((match.group(1) for line in lines if "Version" in line and (match := pattern.search(line))), None)


def attached(lines: list[str]) -> int | None:
    """The number after `Attached GPUs`."""
    line = next((line for line in lines if line.strip().startswith("Attached GPUs")), "")
    count = line.rpartition(":")[2].strip()
    return int(count) if count.isdecimal() and len(count) < 5 else None


def mig(gpus: list[Gpu], lines: list[str]) -> bool | None:
    """Whether any GPU is partitioned; None where the answer doesn't show it."""
    if any(gpu.mig_mode == "Enabled" for gpu in gpus) or any(line.lstrip().startswith("MIG ") and "(UUID: MIG-" in line for line in lines):
        return True
    return False if any(gpu.mig_mode in ("Disabled", "N/A") for gpu in gpus) else None


def merged(gpus: list[Gpu]) -> list[Gpu]:
    """One record a GPU: a handle that failed and a table row of the same address are one GPU."""
    by_key: dict[object, Gpu] = {}
    for gpu in gpus:
        key = gpu.uuid or gpu.pci or gpu.index
        known = by_key.get(key)
        if known is None or len(gpu.unreadable) > len(known.unreadable):
            by_key[key] = gpu
    return list(by_key.values())


def named(gpu: Gpu, about: Subject, output: Output, lines: list[str]) -> Gpu:
    """The record with its node and its place in the text."""
    number = gpu.origin.line
    origin = Origin(output.named(), number, lines[number - 1].strip() if number else "")
    return msgspec.structs.replace(gpu, node=about.node, gpu=gpu.uuid or gpu.pci, origin=origin)


def from_list(lines: list[str], output: Output) -> Iterator[Gpu]:
    """`nvidia-smi -L`."""
    for number, line in enumerate(lines, 1):
        if match := LISTED.match(line):
            yield Gpu(index=int(match.group(1)), product=match.group(2), uuid=match.group(3), origin=Origin(line=number))


def from_handles(lines: list[str], output: Output) -> Iterator[Gpu]:
    """The GPUs of which nvidia-smi could not get the handle."""
    for number, line in enumerate(lines, 1):
        match = HANDLE.search(line) if "device handle for GPU" in line else None
        if match and (match.group(1) or match.group(2)):
            index = int(match.group(1)) if match.group(1) else None
            yield Gpu(index=index, pci=pci.canonical(match.group(2) or ""), unreadable=["handle"], origin=Origin(line=number))


def from_table(lines: list[str], output: Output) -> Iterator[Gpu]:
    """The GPU rows of the default table: two or three lines each.

    |   2  ERR!                On   | 00000000:3B:00.0 Off |                 ERR! |
    |ERR!  ERR! ERR!    ERR! / ERR! |      3MiB / 81559MiB |    ERR!      Default |
    |                               |                      |             Disabled |
    """
    for number, line in enumerate(lines, 1):
        cells = line.strip().strip("|").split("|") if line.lstrip().startswith("|") else []
        left = cells[0].split() if len(cells) == 3 else []
        address = pci.canonical((cells[1].split() or [""])[0]) if left else ""
        if not address or not left[0].isdecimal():
            continue
        below = [following.strip().strip("|").split("|") for following in lines[number : number + 2]]
        state = below[0] if below and len(below[0]) == 3 else ["", "", ""]
        mode = below[1][2].strip() if len(below) == 2 and len(below[1]) == 3 and not below[1][0].strip() else ""
        memory = AMOUNTS.search(state[1])
        shown = {
            "name": " ".join(left[1:-1] if left[-1] in ("On", "Off", "N/A", "ERR!") and len(left) > 2 else left[1:]),
            "temperature": " ".join(state[0].split()[1:2]),
            "utilisation": " ".join(state[2].split()[:1]),
            "mig_mode": mode,
        }
        yield Gpu(
            index=int(left[0]),
            pci=address,
            product="" if shown["name"] in UNREADABLE else shown["name"],
            mig_mode=mode if mode and mode not in UNREADABLE else None,
            memory_used=int(memory.group(1)) if memory else None,
            memory_total=int(memory.group(2)) if memory else None,
            utilisation=leading_int(shown["utilisation"]),
            temperature=leading_int(shown["temperature"]),
            unreadable=[field for field, value in shown.items() if value in UNREADABLE],
            origin=Origin(line=number),
        )


def leading_int(text: str) -> int | None:
    """`34C` → 34, `N/A` → None."""
    match = re.match(r"\d{1,6}", text)
    return int(match.group()) if match else None
