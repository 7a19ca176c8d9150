"""PCI addresses as drivers, tools and kernels print them, in one canonical form."""

from __future__ import annotations

import functools

from gpudoctor.patterns import regex

# 00000000:1B:00.0 (nvidia-smi), 0000:1b:00 (NVRM), 1b:00.0 (lspci)
ADDRESS = regex(r"(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.[0-7])?$")


@functools.lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """`domain:bus:device` in lower case, without the function; "" where the text is no PCI address.

    >>> canonical("00000000:1B:00.0"), canonical("PCI:0000:1b:00"), canonical("1b:00.0"), canonical("GPU-1")
    ('0000:1b:00', '0000:1b:00', '0000:1b:00', '')
    """
    match = ADDRESS.match(text.strip().removeprefix("PCI:"))
    if not match:
        return ""
    domain, bus, device = match.groups(default="0")
    return f"{int(domain, 16):04x}:{bus}:{device}".lower()
