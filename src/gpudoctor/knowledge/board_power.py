"""What boards may draw when nobody has changed it: the default power limit by product, in W.

Source: NVIDIA's data sheets ("Max thermal design power", "Graphics card power"). Where a name stands for several boards, the lowest limit
of them that allows what was drawn: then a share of it is never told lower than it is.
"""

from __future__ import annotations

from gpudoctor.patterns import regex

# The first that fits; what names one board stands before the name of the family, the limits of whose boards rise.
BOARDS: tuple[tuple[str, tuple[float, ...]], ...] = (
    (r"\bGB200\b", (1200.0,)),
    (r"\bB200\b", (1000.0,)),
    (r"\bH200 ?NVL\b", (600.0,)),
    (r"\bH200(?: SXM5?| HGX)?\b", (600.0, 700.0)),
    (r"\bH100 ?(?:SXM5?|80GB HBM3|HGX)\b|\b(?:HGX|DGX) H100\b", (700.0,)),
    (r"\bH100\b", (350.0, 400.0, 700.0)),  # PCIe, NVL, SXM
    (r"\bH20\b", (400.0,)),
    (r"\bA[18]00[ -]?SXM4?\b|\b(?:HGX|DGX) A100\b", (400.0,)),
    (r"\bA[18]00\b", (250.0, 300.0, 400.0)),  # PCIe with 40 and 80 GB, SXM
    (r"\bV100\b", (250.0, 300.0)),  # PCIe, SXM
    (r"\bL40S\b", (350.0,)),
    (r"\bL40\b", (300.0,)),
    (r"\bA40\b", (300.0,)),
    (r"\bA30\b", (165.0,)),
    (r"\bA10\b", (150.0,)),
    (r"\bL4\b", (72.0,)),
    (r"\bT4\b", (70.0,)),
    (r"\bRTX PRO 6000 (?:Blackwell )?(?:Server|SE)\b", (600.0,)),
    (r"\bRTX ?4090\b(?! ?(?:D|Laptop|Mobile))", (450.0,)),
    (r"\bRTX ?5090\b(?! ?(?:D|Laptop|Mobile))", (575.0,)),
    (r"\bRTX ?3090 ?Ti\b", (450.0,)),
    (r"\bRTX ?3090\b", (350.0,)),
    (r"\b(?:RTX )?A6000\b", (300.0,)),
)
NAMES = [(regex(name, 2), limits) for name, limits in BOARDS]
ABOVE = 1.05  # of a limit, that a reading may be


def default_limit(text: str, drawn: float = 0.0) -> float | None:
    """The default limit of the board that a text names, the lowest that allows what was drawn; None for none, or where other boards are
    named too.

    >>> default_limit("8x H100 SXM at 100 %"), default_limit("on an A100"), default_limit("on an A100", 290.0), default_limit("A100, T4")
    (700.0, 250.0, 300.0, None)
    """
    found: set[tuple[float, ...]] = set()
    for name, limits in NAMES:
        if name.search(text):
            found.add(limits)
            text = name.sub(" ", text)
    if len(found) != 1:
        return None
    return next((limit for limit in found.pop() if drawn <= ABOVE * limit), None)
