"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.knowledge import clock_reasons
from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.nvidia_smi import azure_ecc_table, cuda_samples, gpustat, host_bandwidth
from gpudoctor.tools.nvidia_smi.dmon import HEAD as DMON
from gpudoctor.tools.nvidia_smi.errors import exit_said, find_problem
from gpudoctor.tools.nvidia_smi.field_names import COLUMNS, LONELY
from gpudoctor.tools.nvidia_smi.nvlink import ALL_DOWN, GPU_ID, LINK, NONE, value
from gpudoctor.tools.nvidia_smi.query_csv import QUERIES, by_units, titles_in
from gpudoctor.tools.nvidia_smi.query_long import HEAD, partly_xml, strip_marks
from gpudoctor.tools.nvidia_smi.table import LISTED
from gpudoctor.tools.nvidia_smi.topo import CELLS

#             SRAM Threshold Exceeded       : Yes
ALIGNED = regex(r"^ {4,20}(\S[^:]{2,40}?) {1,40}: \S")
VALUE = regex(r"^\s*\S[^:]{1,40}\s{0,40}: \S")
# A part of -q that somebody cut out:     HW Thermal Slowdown               : Not Active
SECTION = regex(
    r"^\s*(?:Clocks (?:Event|Throttle) Reasons|Remapped Rows|ECC Errors|FB Memory Usage|PCIe Generation|Link Width|Retired Pages|Fabric"
    r"|Temperature|(?:GPU )?Power Readings|MIG Mode|Ecc Mode)\s*$",
    re.IGNORECASE,
)
STARTS = (
    "Failed to initialize NVML",
    "Unable to determine",
    "NVIDIA-SMI",
    "No devices",
    "nvidia-smi:",
    "command not found: nvidia-smi",
    "Command 'nvidia-smi' not found",
    "OCI runtime exec",
)
SHELL = regex(r"^-?(?:ba|z|da|a|k)?sh: (?:(?:line )?\d{1,4}: )?")
INNER = regex(r"^\s+(?:Volatile|Aggregate|Current|Max|GPU|Bank Remap Availability Histogram|Single Bit|Double Bit)\s*$")
# HW Slowdown: Active  |  ecc.errors.uncorrected.volatile.total:    7: without its indentation a value must say which of them it is
WRITTEN = regex(r"^\s*(\S[^:]{2,60}?) *: *(?:Active|Yes|\d{1,9})\s*$")
BANNER = regex(r"^\| NVIDIA-SMI \d|^\|\s{1,4}Processes:\s|^=+NVSMI LOG=+|<nvidia_smi_log>|^\s*(?:Driver Version|Attached GPUs) +: ")
ROW = regex(r"^\|\s+\d{1,3}\s+\S.{1,60}\|\s+[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d ")
# -bash: nvidia-smi: command not found  |  zsh: command not found: …  |  sh: 1: nvidia-smi: not found  |  bash: line 1: …
# Found 16 pods, using pod/driver-x7k  |  Defaulted container "ctr" out of: ctr, init: kubectl's own word before an answer
NOTED = regex(r"^(?:Found \d{1,6} pods, using pod/\S+|Defaulted container .*)$")


def of_smi(lines: list[str]) -> int:
    """nvidia-smi in any form; an error text must begin its line, since logs quote the same words."""
    for line in lines:
        if BANNER.search(line) or LISTED.match(line) or HEAD.match(line) or ROW.match(line):
            return 88
        if "," in line and titles_in([cell.strip() for cell in line.split(",", 128)]):
            return 88
    filled = [line for line in lines if line.strip()]
    if filled and all("," in line and by_units([cell.strip() for cell in line.split(",", 128)]) for line in filled[:64]):
        return 70
    for line in lines:
        bare = SHELL.sub("", line.strip())
        if (bare.startswith(STARTS) or "executable file not found" in bare) and find_problem([bare])[0]:
            return 75
    if partly_xml("\n".join(lines)):
        return 70
    # A section's title with a value below it, or a value that needs none.
    lines = [strip_marks(line) for line in lines]
    outer = [line for line in lines if not INNER.match(line)]
    if any(SECTION.match(line) and VALUE.match(below) for line, below in zip(outer, [*outer[1:], ""], strict=True)):
        return 70
    if any((match := ALIGNED.match(line)) and (match.group(1) in LONELY or reason(line, match.group(1))) for line in lines):
        return 60
    return 60 if any((match := WRITTEN.match(line)) and has_label(line, match.group(1)) for line in lines) else 0


def of_query(lines: list[str], argv: tuple[str, ...]) -> int:
    """The rows of `nvidia-smi --query-gpu=… --format=csv,noheader`, of which the command says what they are.

    In a loop something may stand between them: the time, a rule, the ^C that ended it.
    """
    if exit_said(argv, lines)[0] and len(lines) <= 3:
        return 85
    asked = next((word for word in argv if word.startswith(QUERIES)), "")
    filled = [line for line in lines if line.strip() and not NOTED.match(line)]
    rows = [line for line in filled if line.count(",") == asked.count(",")]
    between = [line for line in filled if "," not in line] if "," in asked else []
    return 85 if asked and rows and len(rows) + len(between) == len(filled) and len(rows) >= len(between) else 0


def has_label(line: str, label: str) -> bool:
    """Whether a label of nvidia-smi is unmistakable wherever it stands."""
    return label in LONELY or (label in COLUMNS and "." in label) or (" " in label and reason(line, label))


def reason(line: str, label: str) -> bool:
    """Whether a line says of one reason whether it holds the clock now."""
    return line.rstrip().endswith(": Active") and bool(clock_reasons.from_word(label))


def of_nvml(whole: str) -> int:
    """The JSON of gpudoctor's own look at NVML."""
    return 90 if whole.lstrip()[:1] == "{" and '"nvml"' in whole[:200] else 0


def of_nvlink(lines: list[str]) -> int:
    """nvlink of nvidia-smi or dcgmi: links with a value, or the sentence for all. It wins over `-L`, whose lines it has too."""
    known = any(
        ALL_DOWN.search(line) or NONE.search(line) or GPU_ID.match(line) or ((link := LINK.match(line)) and value(link.group(2)))
        for line in lines
    )
    return 0 if not known else 60 if any(BANNER.search(line) or ROW.match(line) for line in lines) else 92


def of_topo(lines: list[str]) -> int:
    """nvidia-smi topo: a row of a GPU with cells."""
    return 84 if any(CELLS.match(line) for line in lines) else 0


def of_dmon(lines: list[str]) -> int:
    """nvidia-smi dmon: the header that names its columns."""
    return 86 if any(DMON.match(line.lstrip()) for line in lines) else 0


def of_gpustat(lines: Sequence[str]) -> int:
    """gpustat: its rows."""
    return gpustat.score(lines)


FORMS: tuple[Form, ...] = (
    Form("nvidia.smi", lambda text: of_smi(text.lines) or of_query(text.lines, text.argv), embedded=True, mixed=True, in_logs=True),
    Form("nvidia.nvml", lambda text: of_nvml(text.whole), "nvml.gpus", mixed=True),
    Form("nvidia.nvlink", lambda text: of_nvlink(text.lines), embedded=True, beside=True, mixed=True),
    Form("nvidia.topo", lambda text: of_topo(text.lines), embedded=True, beside=True, mixed=True, in_logs=True),
    Form("cuda.peers", lambda text: cuda_samples.score(text.lines), embedded=True, beside=True, among_lines=True),
    Form("nvidia.gpustat", lambda text: of_gpustat(text.lines), embedded=True, mixed=True),
    Form("nvidia.ecc_table", lambda text: azure_ecc_table.score(text.lines), embedded=True, mixed=True),
    Form("nvidia.dmon", lambda text: of_dmon(text.lines), embedded=True, mixed=True),
    form("cuda.bandwidth", host_bandwidth.READERS),
)
