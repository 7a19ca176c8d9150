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
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.report import error

SAID = regex(
    r"(?:GPU \d{1,3} is running at PCI link (?:width|generation) |(?:There (?:have|has) been )?[Tt]hermal violations totaling "
    r"|Detected (?:clocks? event|clocks? throttling) due to thermal violation in GPU "
    r"|Clocks? event for GPU \d{1,3} because of clocks? event|Temperature \d{1,3} of .{1,40} exceeded user-specified maximum"
    # memory
    r"|GPU (?:\d{1,3} )?had an? (?:un)?contained error|SRAM Threshold Count exceeded|A pending retired page has been detected"
    r"|Pending page retirements together with a DBE|\d{1,3} or more retired pages have been detected|An excess of \d{1,3} retired pages"
    r"|Detected \d{1,19} (?:volatile double-bit ECC error|ecc_[ds]be_\w{1,40} for GPU )|More than \d{1,9} single-bit ECC error"
    r"|CUDA APIs have indicated that a double-bit|GPU \d{1,3} had uncorrectable memory errors and \d{1,9} rows were remapped"
    r"|GPU \d{1,3} exceeded uncorrectable row remap limit"
    # wrong or slow results
    r"|Found \d{1,19} (?:faulty|NaN-value) memory elements|A memory mismatch was detected on GPU "
    r"|Detected a miscompare failure in the L1 cache"
    r"|GPU \d{1,3} (?:was unsuccessfully written to|unsuccessfully wrote data)|GPU \d{1,3} only achieved a memory bandwidth of "
    r"|Bandwidth of GPU \d{1,3} in direction |Detected [\d.]{1,12} \S{1,40}(?: GFLOPs)? for GPU \d{1,3} which is below the threshold"
    r"|Max (?:power|stress level) of [\d.]{1,12} did not reach "
    # links, switches, the fabric
    r"|Detected more than \d{1,9} PCIe replays per minute|GPU \d{1,3} host-side PCIe replay violation"
    r"|(?:GPU \d{1,3}'s )?NvLink link \d{1,3}\b.{0,20} is currently down"
    r"|NvSwitch physical ID \d{1,9}'s NvLink port \d{1,3} is currently down"
    r"|(?:NvSwitch \d{1,9} - )?Only \d{1,3} NvLinks are up out of|NV[Ss]witch \d{1,9}'s NvLink \d{1,3} is down"
    r"|Detected \d{1,19} \w{1,60} NvLink errors on GPU |[\d.]{1,12} \w{1,60} NvLink errors found occuring"
    r"|Detected (?:effective|symbol) BER "
    r"|Detected (?:non)?fatal errors on NvSwitch |Detected fatal NvSwitch SXID |GPU \d{1,3}: Fabric State is "
    r"|Fabric Manager \(Cluster UUID: "
    r"|IMEX (?:domain|daemon) status is "
    # what the driver asks for
    r"|GPU \d{1,3} requires a reset to recover|GPU \d{1,3} fault may have left the OS|GPU \d{1,3} operating at reduced capacity)"
    r"[^\"|\n]{0,300}"
)
# One of these words is in each of them: other lines needn't be searched
WORDS = ("GPU", "NvLink", "NVLink", "witch", "IMEX", "L1 cache", "Fabric Manager")
REPLAYS = "PCIe replays per minute"  # the one that only the health check says, and that has no condition of its own
MOST = 256  # sentences


def find_sentence(line: str) -> re.Match[str] | None:
    """A sentence in a line."""
    return SAID.search(line) if any(word in line for word in WORDS) else None


def sentences(output: Output, about: Subject) -> Facts:
    """An error for each different sentence, as of a diagnostic that failed."""
    found: dict[str, DcgmError] = {}
    for at, line in lines(output):
        match = find_sentence(line)
        if match and match.group(0) not in found and of_text(match.group(0)) is not None and len(found) < MOST:
            origin = Origin(output.origin_name(), at, line.strip())
            source, status = ("health", "failure") if REPLAYS in match.group(0) else ("diag", "fail")
            found[match.group(0)] = error(source, "", status, "", None, match.group(0), origin, about)
    return {"dcgm_errors": [*found.values()]} if found else {}
