"""/proc/driver/nvidia/version: the release and the flavour of the kernel module that is loaded."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import KernelModule
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import ParseError

# NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Wed Feb 14 17:56:12 UTC 2024                          (proprietary)
# NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.172.08  Release Build  (dvs-builder@U22-I3-AE18-09-6)      (open)
RELEASE = regex(r"NVRM version: NVIDIA UNIX .{0,60}?\bKernel Module\b(?: for \S{1,20})? +(\d{3}\.[\d.]{2,12})")
OPEN = regex(r"\bOpen Kernel Module\b")


def version(output: Output, about: Subject) -> Facts:
    """The module `nvidia` with its version. The file is there as long as the module is: without it `loaded` is False."""
    text = output.text[:65536]
    for number, line in enumerate(text.split("\n"), 1):
        if match := RELEASE.search(line[:512]):
            origin = Origin(output.origin_name(), number, line[:512].strip())
            flavour = OPEN.search(line) is not None
            return {"kernel_modules": [KernelModule(node=about.node, module="nvidia", version=match.group(1), open=flavour, origin=origin)]}
    said = output.stderr[:4096].decode("utf-8", "replace") + text
    if "No such file or directory" in said:
        origin = Origin(output.origin_name(), 0, said.strip().rsplit("\n", 1)[-1][:512])
        return {"kernel_modules": [KernelModule(node=about.node, module="nvidia", loaded=False, origin=origin)]}
    if text.strip():
        raise ParseError(f"{output.origin_name()}: not the version of the NVIDIA driver: {text.strip()[:80]!r}")
    return {"kernel_modules": []}
