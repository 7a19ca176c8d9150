"""/proc/modules and lsmod: which of the kernel modules around GPUs are loaded."""

from __future__ import annotations

import re

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import KernelModule
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import ParseError

# nvidia 14381056 120 nvidia_uvm,nvidia_modeset, Live 0x0000000000000000 (POE)
MODULE = regex(r"^([a-z_0-9-]{1,64}) (\d{1,12}) (\d{1,6}|-) (\S{1,2000}) (?:Live|Loading|Unloading)\b", re.IGNORECASE)
# Module                  Size  Used by
LSMOD = regex(r"^Module +Size +Used by")
# nvidia              14381056  120 nvidia_uvm,nvidia_modeset
LISTED = regex(r"^([A-Za-z_0-9-]{1,64}) +(\d{1,12}) +(-?\d{1,6})\b")
# nvidia_uvm           1540096  0            (lsmod | grep nvidia: without the header, what isn't there proves nothing)
PICKED = regex(
    r"^(nvidia(?:_uvm|_drm|_modeset|_peermem)?|nouveau|mlx5_(?:core|ib)) {1,40}(\d{4,12}) {1,6}(\d{1,6})(?: [a-z][\w,]{0,400})?\s*$"
)
# The modules that say something about GPUs; a machine has hundreds of others.
KNOWN = frozenset(
    {"nvidia", "nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia_peermem", "nvidia_fs", "nvidia_vgpu_vfio", "gdrdrv", "nv_peer_mem"}
    | {"nouveau", "nova_core", "nova_drm", "vfio_pci", "ib_core", "ib_uverbs", "mlx5_core", "mlx5_ib"}
)


def modules(output: Output, about: Subject) -> Facts:
    """A KernelModule for each known one: `loaded` False for those of `nvidia` and `nouveau` that are not in the list."""
    lines = [line[:512] for line in output.text.split("\n")]
    listed = any(LSMOD.match(line) for line in lines)
    found: dict[str, KernelModule] = {}
    seen = picked = 0
    for number, line in enumerate(lines, 1):
        match = MODULE.match(line) or (LISTED.match(line) if listed else PICKED.match(line))
        if not match:
            continue
        seen += 1
        picked += not listed and not MODULE.match(line)
        name, users = match.group(1), match.group(3)
        if name in KNOWN:
            count = int(users) if users.lstrip("-").isdecimal() else None
            found[name] = KernelModule(node=about.node, module=name, users=count, origin=Origin(output.origin_name(), number, line.strip()))
    if not seen and not listed and output.text.strip():
        raise ParseError(f"{output.origin_name()}: no list of kernel modules: {output.text.strip()[:80]!r}")
    absent = [name for name in ("nvidia", "nouveau") if name not in found] if seen > picked else []
    gone = [KernelModule(node=about.node, module=name, loaded=False, origin=Origin(output.origin_name(), 0, "")) for name in absent]
    return {"kernel_modules": [*found.values(), *gone]}
