"""How the scheduling table writes amounts and lists."""

from __future__ import annotations

from collections.abc import Iterable

BYTES = ("memory", "ephemeral-storage", "hugepages-")


def amount(resource: str, value: int) -> str:
    """A quantity for a person: CPU in cores, bytes in GiB, the rest as it is.

    >>> amount("cpu", 7500), amount("memory", 64 * 2**30), amount("nvidia.com/gpu", 8)
    ('7.5', '64Gi', '8')
    """
    if resource == "cpu":
        return f"{value / 1000:.6g}"
    if resource.startswith(BYTES):
        return f"{value / 2**30:.4g}Gi" if value >= 2**30 else f"{value / 2**20:.4g}Mi"
    return str(value)


def first_words(words: Iterable[str], most: int = 3) -> str:
    """The first few words and how many more there are: `a, b, c and 4 more`."""
    several = list(words)
    shown = ", ".join(several[:most])
    return shown if len(several) <= most else f"{shown} and {len(several) - most} more"
