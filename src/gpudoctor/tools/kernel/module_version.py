"""What a command prints that is asked for one version and nothing else: of the NVIDIA module that is loaded, or of the one on disk."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import KernelModule
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.parser import ParseError

# cat /sys/module/nvidia/version  |  modinfo -F version nvidia  |  modinfo --field=version nvidia-current
LOADED = regex(r"(?:cat|head|more) (?:-\S+ )*/sys/module/nvidia/version$")
ON_DISK = regex(
    r"modinfo (?:(?:-k|-b) \S+ )?(?:(?:-F ?version|--field[= ]version) nvidia\S*|nvidia\S* (?:-F ?version|--field[= ]version))$"
)
VERSION = regex(r"\d{3}\.\d{2,3}(?:\.\d{2})?")


def score(argv: tuple[str, ...], whole: str) -> int:
    """0 or 90."""
    command = " ".join(argv).removeprefix("sudo ")
    return 90 if VERSION.fullmatch(whole.strip()) and (LOADED.match(command) or ON_DISK.match(command)) else 0


def facts(output: Output, about: Subject) -> Facts:
    """The module, or the known message that `modinfo` without the option would have been. Raises `ParseError` for anything else."""
    version = output.text.strip()
    if not score(output.command.argv, version):
        raise ParseError(f"{output.origin_name()}: not a version of the NVIDIA module: {version[:80]!r}")
    number = 1 + output.text[: output.text.find(version)].count("\n")
    where = Origin(output.origin_name(), number, version)
    if LOADED.match(" ".join(output.command.argv).removeprefix("sudo ")):
        return {"kernel_modules": [KernelModule(node=about.node, module="nvidia", version=version, origin=where)]}
    return {"messages": [*scan_text(f"version:        {version}", source="exec", about=about, origin=where)]}
