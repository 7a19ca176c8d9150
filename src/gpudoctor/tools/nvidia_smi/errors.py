"""What nvidia-smi prints instead of an answer: a table of its error texts, and the GPUs that an error names."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.nvidia_smi.values import Card

# What a line begins with or contains → the neutral word. Texts: nvidia-smi and libnvidia-ml 375 to 595; Linux; runc's and shells' word
# for no program. "Unknown Error" for the handle of one GPU is that GPU being out of reach; for the whole library it is `unknown_error`.
PROBLEMS: tuple[tuple[str, str, str], ...] = (
    ("Unable to determine the device handle for", "requires reset", "reset_required"),
    ("Unable to determine the device handle for", "Insufficient Permissions", "insufficient_permissions"),
    ("Unable to determine the device handle for", "Insufficient External Power", "power_cable"),
    ("Unable to determine the device handle for", "power cables", "power_cable"),
    ("Unable to determine the device handle for", "Interrupt Request Issue", "interrupt"),
    ("Unable to determine the device handle for", "orrupted infoROM", "inforom"),
    ("Unable to determine the device handle for", "Timeout", "timeout"),
    ("Unable to determine the device handle for", "", "gpu_lost"),
    ("Failed to initialize NVML", "Driver/library version mismatch", "mismatch"),
    ("Failed to initialize NVML", "GPU is lost", "gpu_lost"),
    ("Failed to initialize NVML", "requires reset", "reset_required"),
    ("Failed to initialize NVML", "Insufficient Permissions", "insufficient_permissions"),
    ("Failed to initialize NVML", "GPU access blocked by the operating system", "insufficient_permissions"),
    ("Failed to initialize NVML", "Driver Not Loaded", "driver_not_loaded"),
    ("Failed to initialize NVML", "Driver is not loaded", "driver_not_loaded"),
    ("Failed to initialize NVML", "Insufficient External Power", "power_cable"),
    ("Failed to initialize NVML", "Interrupt Request Issue", "interrupt"),
    ("Failed to initialize NVML", "Not Found", "library_missing"),
    ("Failed to initialize NVML", "Timeout", "timeout"),
    ("Failed to initialize NVML", "Unknown Error", "unknown_error"),
    ("Failed to initialize NVML", "", "other"),
    ("NVIDIA-SMI has failed because it couldn't communicate", "", "driver_not_loaded"),
    ("NVIDIA-SMI has failed because you do not have sufficient permissions", "", "insufficient_permissions"),
    ("NVIDIA-SMI has failed because you are not running as administrator", "", "insufficient_permissions"),
    ("NVIDIA-SMI has failed because you have not connected", "power", "power_cable"),
    ("NVIDIA-SMI couldn't find", "", "library_missing"),
    ("Mismatch in versions between nvidia-smi and NVML", "", "other"),
    ("GPU access blocked by the operating system", "", "insufficient_permissions"),
    ("currently in use by another process", "", "in_use"),
    ("device(s) is/are currently being used by one or more other processes", "", "in_use"),
    ("GPU ", ": In use by another client", "in_use"),
    ("No devices were found", "", "no_devices"),
    ("No devices found", "", "no_devices"),
    ('"nvidia-smi": executable file not found', "", "not_found"),
    ('"nvidia-smi": stat ', "no such file or directory", "not_found"),
    ("nvidia-smi: command not found", "", "not_found"),
    ("command not found: nvidia-smi", "", "not_found"),
    ("Command 'nvidia-smi' not found", "", "not_found"),
    ("nvidia-smi: not found", "", "not_found"),
    ("nvidia-smi: No such file or directory", "", "not_found"),
    ("nvidia-smi: no such file or directory", "", "not_found"),
)
# Exit codes count only where the text says nothing (nvidia-smi(1), RETURN VALUE; 127 is the shell's).
EXITS = {
    4: "insufficient_permissions",
    8: "power_cable",
    9: "driver_not_loaded",
    10: "interrupt",
    12: "library_missing",
    14: "inforom",
    15: "gpu_lost",
    127: "not_found",
}
# of `timeout 30 nvidia-smi`, and with -s KILL
ENDED = {124: "timeout", 137: "timeout"}
# rc=14  |  exit code: 14  |  14        (nvidia-smi; echo rc=$?)
SAID = regex(r"(?:(?i:rc|ret|exit[ _]?(?:code|status)?|status) ?[=:]? ?)?(\d{1,3})\Z")
# Why a command had no answer → the neutral word.
FAILURES = {"timeout": "timeout", "unkillable": "timeout", "not-found": "not_found"}
# Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error  |  … for GPU0000:91:00.0: GPU is lost.
HANDLE = regex(r"device handle for GPU ?(?:(\d{1,3}): ?)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])?")
# NVML library version: 550.54          (below "Driver/library version mismatch", R550 and later)
LIBRARY = regex(r"NVML library version *: *(\d[\d.]{2,20})")


def find_problem(lines: list[str]) -> tuple[str, int]:
    """The neutral word for the first error text and its line number; ("", 0) where there is none. Cells of tables don't count."""
    for number, line in enumerate(lines, 1):
        for begins, has, word in PROBLEMS:
            at = line.find(begins)
            if at >= 0 and "|" not in line[:at] and has in line[at:]:
                return word, number
    return "", 0


def problem_of(output: Output, lines: list[str]) -> tuple[str, int]:
    """The problem of an answer as a whole: its text, else why there is none, else its exit code."""
    word, number = find_problem(lines)
    if word or output.failure:
        return word or FAILURES.get(output.failure, ""), number
    code, number = exit_said(output.command.argv, lines)
    if number:
        return (EXITS | ENDED).get(code, ""), number
    answered = any("Driver Version" in line or "driver_version" in line for line in lines)
    return (EXITS.get(output.exit, ""), 0) if not answered else ("", 0)


def exit_said(argv: tuple[str, ...], lines: list[str]) -> tuple[int, int]:
    """The exit code that a shell was made to print behind nvidia-smi, and the number of its line; (0, 0) where none was.

    >>> exit_said(("nvidia-smi", "-L"), ["GPU 0: …", "rc=14"]), exit_said(("timeout", "30", "nvidia-smi"), ["124"])
    ((14, 2), (124, 1))
    """
    command = " ".join(argv)
    number, last = next(((at, line.strip()) for at, line in reversed([*enumerate(lines, 1)]) if line.strip()), (0, ""))
    match = SAID.match(last) if "nvidia-smi" in command else None
    # a bare number may be an answer
    sure = match and (
        not last.isdecimal() or "$?" in command or "PIPESTATUS" in command or (argv[0] == "timeout" and last in ("124", "137"))
    )
    return (int(match.group(1)), number) if match and sure else (0, 0)


def from_handles(lines: list[str]) -> Iterator[Card]:
    """The GPUs of which nvidia-smi could not get the handle."""
    for number, line in enumerate(lines, 1):
        match = HANDLE.search(line) if "device handle for GPU" in line else None
        if match and (match.group(1) or match.group(2)):
            index = int(match.group(1)) if match.group(1) else None
            card = Card(number, index=index, pci=pci.canonical(match.group(2) or ""))
            card.unreadable.append("handle")
            card.problem = find_problem([line])[0]
            yield card


def library_version(lines: list[str]) -> str | None:
    """The version of libnvidia-ml that the error names, where it does."""
    return next((match.group(1) for line in lines if (match := LIBRARY.search(line))), None)
