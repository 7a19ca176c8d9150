"""At which temperature of the die the driver begins to lower a board's clocks ("GPU Max Operating Temp"), by product, in °C.

Source: what the boards say themselves in `nvidia-smi -q -d TEMPERATURE`, with drivers 450 to 535, which still print it as a temperature.
Boards since Ada and Hopper tell the degrees that are left instead (T.Limit), so only what is known of both stands here.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

BOARDS: tuple[tuple[str, int], ...] = (
    (r"\bH100\b.*\bHBM3\b", 87),  # SXM5; slowdown 89, shutdown 92
    (r"\bA[18]00\b", 85),  # SXM4 and PCIe, 40 and 80 GB; slowdown 89, shutdown 92
    (r"\bV100\b", 83),  # slowdown 87, shutdown 90
    (r"\bT4\b", 85),  # slowdown 93, shutdown 96
)
NAMES = [(regex(name, 2), limit) for name, limit in BOARDS]


def operating_limit(product: str) -> int | None:
    """The limit of the board that a product's name tells.

    >>> operating_limit("NVIDIA A100-SXM4-80GB"), operating_limit("NVIDIA H100 80GB HBM3"), operating_limit("NVIDIA L40S")
    (85, 87, None)
    """
    return next((limit for name, limit in NAMES if name.search(product)), None)
