"""Reader of what a PromQL expression over DCGM's metrics says by itself: how much a counter grew, which share of the memory is in use.

increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])
{Hostname="gpu-12", gpu="4"} 18211
100 * DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)
{Hostname="inf-03", gpu="0"} 98.71
Sources: https://prometheus.io/docs/prometheus/latest/querying/functions/, https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.notes.measure import Line, Reading
from gpudoctor.patterns import regex

# What is asked → what its rows then are.
QUERIES = (
    (
        "ecc_corrected_rise",
        regex(
            r"\b(?:increase|delta|idelta)\(\(?\s{0,4}DCGM_FI_DEV_ECC_SBE_(?:VOL|AGG)_TOTAL.{0,300}?\[\w{2,8}(?::\w{0,8})?\]",
        ),
    ),
    (
        "gpu_memory_share",
        regex(
            r"\bDCGM_FI_DEV_FB_USED(?:\{.{0,200}?\})? ?/ ?(?:ignoring\(.{0,60}?\) ?)?"
            r"\(? ?DCGM_FI_DEV_FB_(?:TOTAL|USED(?:\{.{0,200}?\})? ?\+ ?DCGM_FI_DEV_FB_FREE|FREE(?:\{.{0,200}?\})? ?\+"
            r" ?DCGM_FI_DEV_FB_USED)\b"
        ),
    ),
)
ROW = regex(r"^\s*\{(.{1,2000})\} *(?:=>)? *(\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(?: @\[\S{1,20}\])?\s*$")
LABEL = regex(r'\b(Hostname|node|instance|gpu|exported_pod|pod)="([^"]{1,253})"')
WHOLE = 1.5  # above it a share is told in per cent


def queries(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest row of each expression."""
    asked = ""
    best: Reading | None = None
    for number, text in lines:
        if "DCGM_FI_" in text and (kind := next((name for name, pattern in QUERIES if pattern.search(text)), "")):
            if best:
                yield best
            asked, best = kind, None
        elif asked and (match := ROW.match(text)):
            value = float(match[2])
            value = value / 100 if asked == "gpu_memory_share" and value > WHOLE else value
            if best is None or value > best.value:
                label = " ".join(f"{name} {said}" for name, said in LABEL.findall(match[1]))
                best = Reading(asked, value, (number, text), label=label[:120])
        elif text.strip() and not text.lstrip().startswith(("#", "{")):
            asked = ""
    if best:
        yield best
