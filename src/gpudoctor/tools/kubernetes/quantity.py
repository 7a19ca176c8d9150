"""Kubernetes quantities: `1500m`, `64Gi`, `1e3`, exact and bounded.

Source: k8s.io/apimachinery/pkg/api/resource (Quantity): at most one suffix or exponent, values saturate at 2^63-1, fractions round up.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from fractions import Fraction

from gpudoctor.patterns import regex

LARGEST = 2**63 - 1  # what Kubernetes itself saturates at
MAX_CHARS = 64  # no real quantity is longer
MAX_EXPONENT = 40

# 1500m, .5, 64Gi, 1e3, 2E-1, 3E (exa)
QUANTITY = regex(r"([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?")

SUFFIXES: dict[str, Fraction] = {
    "": Fraction(1),
    **{letter: Fraction(1, 1000**power) for power, letter in enumerate("mun", 1)},
    **{letter: Fraction(1000**power) for power, letter in enumerate("kMGTPE", 1)},
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)},
}


@functools.lru_cache(maxsize=4096)
def quantity(text: str | int | float, *, milli: bool = False) -> int | None:
    """The amount in whole units, or in thousandths with `milli`, rounded up as Kubernetes does. None for what is no quantity.

    >>> quantity("64Gi"), quantity("1500m"), quantity("1500m", milli=True), quantity("1e3"), quantity("3E"), quantity("eight")
    (68719476736, 2, 1500, 1000, 3000000000000000000, None)
    """
    written = str(text)
    match = QUANTITY.fullmatch(written) if len(written) <= MAX_CHARS and written.isascii() else None
    if match is None:
        return None
    sign, whole, part, suffix, exponent = match.groups()
    if not whole and not part:
        return None
    if exponent and abs(int(exponent)) > MAX_EXPONENT:
        return None
    scale = Fraction(10) ** int(exponent) if exponent else SUFFIXES[suffix or ""]
    exact = Fraction(int((whole or "") + (part or "")), 10 ** len(part or "")) * scale * (1000 if milli else 1)
    rounded = min(-(-exact.numerator // exact.denominator), LARGEST)
    return -rounded if sign == "-" else rounded


def in_milli(resource: str) -> bool:
    """Whether a resource is counted in thousandths: CPU, in a pod or in a quota (`requests.cpu`)."""
    return resource == "cpu" or resource in ("requests.cpu", "limits.cpu")


def amounts(resources: Mapping[str, str | int | float] | None) -> dict[str, int]:
    """A resource list with its amounts as numbers: CPU in milli-cores, the rest in units or bytes. Unreadable entries are left out."""
    read = ((name, quantity(text, milli=in_milli(name))) for name, text in (resources or {}).items())
    return {name: amount for name, amount in read if amount is not None}
