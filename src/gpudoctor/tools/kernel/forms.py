"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from gpudoctor.patterns import regex
from gpudoctor.tools.form import Form
from gpudoctor.tools.kernel import module_version as version_forms
from gpudoctor.tools.kernel.driver_version import RELEASE

# [   37.010658] …  |  kern  :err   : 2026-…  |  … host kernel: …
KERNEL = regex(r"^(?:\[ *\d{1,9}\.\d{6}\]|<\d{1,3}>\[|kern +:)|^.{0,120}\bkernel: |\bNVRM: ")


def of_version(lines: list[str]) -> int:
    """/proc/driver/nvidia/version, which a log may quote: it begins its line."""
    return 72 if any(line.startswith("NVRM version:") and RELEASE.search(line) for line in lines) else 0


def of_kernel(lines: list[str], verb: str) -> int:
    """A kernel log: most lines are the kernel's, or one is the driver's."""
    kernel = sum(KERNEL.search(line) is not None for line in lines if line[:1] in "[<k" or "kernel: " in line or "NVRM: " in line)
    filled = sum(bool(line.strip()) for line in lines) or 1
    if kernel * 2 >= filled or verb == "dmesg":
        return 58
    if any("NVRM: Xid" in line for line in lines):
        return 35
    return 5 if kernel > 1 else 0  # a few below another answer


FORMS: tuple[Form, ...] = (
    Form("program.version", lambda text: version_forms.score(text.argv, text.whole), version_forms.facts),
    Form("nvidia.version", lambda text: of_version(text.lines), embedded=True, mixed=True),
    Form("kernel.log", lambda text: of_kernel(text.lines, text.verb), log=True),
)
