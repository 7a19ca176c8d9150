"""DCGM's sentences where somebody else has written them down: the host engine's own log, a node's health agent, a result that was cut out.

GPU 5 is running at PCI link width 8X, below the minimum allowed link width of 16X (parameter 'pcie.test_pinned.min_pci_width')
"warning": "Max power of 696.3 did not reach desired power minimum target_power of 700.0 for GPU 2"
Only sentences that state a result of their own are taken, each of them once. Source: dcgmlib/dcgm_errors.h, DCGM 2.1.4 to 4.6.0.
"""

from __future__ import annotations

import re

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.dcgm import DcgmError
from gpudoctor.knowledge.dcgm_errors import of_text
from gpudoctor.parsers.dcgm_report import error
from gpudoctor.parsers.plain import lines
from gpudoctor.probes.base import Output

SAID = re.compile(
    r"(?:GPU \d{1,3} is running at PCI link (?:width|generation) |(?:There (?:have|has) been )?[Tt]hermal violations totaling "
    r"|Detected (?:clocks? event|clocks? throttling) due to thermal violation in GPU "
    r"|GPU \d{1,3} had an uncontained error|SRAM Threshold Count exceeded|A pending retired page has been detected"
    r"|Max (?:power|stress level) of [\d.]{1,12} did not reach |(?:GPU \d{1,3}'s )?NvLink link \d{1,3}\b.{0,20} is currently down)"
    r"[^\"|\n]{0,300}"
)
MOST = 256  # sentences


def sentences(output: Output, about: Subject) -> Facts:
    """An error for each different sentence, as of a diagnostic that failed."""
    found: dict[str, DcgmError] = {}
    for at, line in lines(output):
        match = SAID.search(line) if "GPU " in line else None
        if match and match.group(0) not in found and of_text(match.group(0)) is not None and len(found) < MOST:
            origin = Origin(output.named(), at, line.strip())
            found[match.group(0)] = error("diag", "", "fail", "", None, match.group(0), origin, about)
    return {"dcgm_errors": [*found.values()]} if found else {}
