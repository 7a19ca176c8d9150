"""How the answers of dcgmi are recognised: a score for a text, 0 for "not this"."""

from __future__ import annotations

import re

from gpudoctor.knowledge.dcgm_errors import of_text
from gpudoctor.patterns import regex
from gpudoctor.tools.dcgm.boxes import cells
from gpudoctor.tools.dcgm.diag import piece
from gpudoctor.tools.dcgm.dmon import HEAD
from gpudoctor.tools.dcgm.health import OLD_SYSTEM, OVERALL
from gpudoctor.tools.dcgm.nvlink import HEADING
from gpudoctor.tools.dcgm.sentences import find_sentence
from gpudoctor.tools.dcgm.stats import JOB, PID
from gpudoctor.tools.form import Form

# | Diagnostic                | Result                                         |    Successfully ran diagnostic for group.
DIAG = regex(
    r"\s*\| Diagnostic +\| Result|\s*Successfully ran diagnostic for group|\s*[|+]-+  (?:Deployment|Integration|Hardware|Stress)  -+\+"
)
# "DCGM Diagnostic" : {     "DCGM GPU Diagnostic" : {     "error_severity" : 4
DIAG_JSON = regex(r'"DCGM (?:GPU )?Diagnostic"\s*:|"test_categories"\s*:|"error_severity"\s*:')
# {"name":"memory","results":[{"gpu_id":"2","status":"Fail"      a test that a filter has left
TEST_JSON = regex(
    r'^\s*\{\s*"name"\s*:\s*"[\w /]{2,40}",\s*"results"\s*:\s*\[\s*\{[^{}]{0,400}"status"\s*:\s*"(?:Pass|Fail|Skip|Warn)', re.MULTILINE
)
HEALTH = regex(
    r"Health Monitor Report|Health monitor systems report|^\s*\| Overall Health +\| |Health watches not enabled|check health watches\."
)
DISCOVERY = regex(r"^\s*\|? ?GPU ID +\| Device Information|^\s*\d{1,3} (?:active )?GPUs? found\.")
# Error: Unable to complete diagnostic for group 0. Return: (-38) A diag instance is already running, …
REFUSED = regex(r"\s*Error: (?:Unable to complete diagnostic for group|Diagnostic c(?:an|ould) )")
# | Error                     | A corrupt InfoROM has been detected in GPU 7.  |      a row that somebody has cut out
ERROR = regex(r"\s*\| ?(?:Error|Warning(?:: GPU ?\d+)?)\s+\| ")
# | GPU Memory                | Fail - GPU: 5                                  |      what grep left of the table
FAILED_ROW = regex(r"\s*\| [A-Z][\w /]{2,40}?\s*\| Fail - (?:All|GPUs?: \d[\d, ]*)\s*\|")
POLICY = regex(r'^\s*(?:\| )?"?Policy [Ii]nformation\b')
# Error: Unable to connect to host engine. Host engine connection invalid/disconnected.
DCGMI = regex(r"\s*Error: [Uu]nable to (?:connect to host engine|establish a connection to the specified host|start an embedded host)")
# Error: unable to establish a connection to the specified host: 10.20.0.7:5555      (a known message: not the engine of this machine)
REMOTE = regex(r"\s*Error: [Uu]nable to establish a connection to the specified host: (?!localhost|127\.|\[?::1)\S")


def of_diag(lines: list[str], whole: str) -> int:
    """`dcgmi diag`, as a table or JSON."""
    if any(DIAG.match(line) or FAILED_ROW.match(line) for line in lines):
        return 90
    if any(REFUSED.match(line) for line in lines) or any(
        of_text(sentence(lines, at)) for at, line in enumerate(lines) if ERROR.match(line)
    ):
        return 74
    return 90 if "{" in whole[:4096] and (DIAG_JSON.search(whole[: 1 << 20]) or TEST_JSON.search(whole[: 1 << 20])) else 0


def sentence(lines: list[str], at: int) -> str:
    """The sentence that begins in a row, which goes over three rows at most before it has said which error it is."""
    return " ".join("".join(piece(row) for row in cells(lines[at : at + 3])).split())


def of_health(lines: list[str]) -> int:
    """`dcgmi health`, in any form; also the sentences with which dcgmi says that there is no host engine."""
    if any(HEALTH.search(line) or OVERALL.search(line) for line in lines):
        return 89
    if any(REMOTE.match(line) for line in lines):
        return 0
    return 74 if any(DCGMI.match(line) or OLD_SYSTEM.match(line.strip()) for line in lines) else 0


def of_said(lines: list[str], whole: str) -> int:
    """DCGM's sentences in a text that is no answer of dcgmi."""
    if not any(find_sentence(line) for line in lines) or of_diag(lines, whole) or of_health(lines):
        return 0
    return 40


def of_discovery(lines: list[str]) -> int:
    """`dcgmi discovery -l`."""
    return 86 if any(DISCOVERY.match(line) for line in lines) else 0


def of_dmon(lines: list[str]) -> int:
    """`dcgmi dmon`: its header."""
    return 88 if any(HEAD.match(line.lstrip()) for line in lines) else 0


def of_policy(lines: list[str]) -> int:
    """`dcgmi policy --get`."""
    return 88 if any(POLICY.match(line) for line in lines) else 0


def of_stats(lines: list[str]) -> int:
    """`dcgmi stats -j` or `-p`."""
    return 88 if any(JOB.search(line) or PID.search(line) for line in lines) else 0


def of_nvlink(lines: list[str]) -> int:
    """`dcgmi nvlink -e`: the heading of its box."""
    return 88 if any(line.lstrip().startswith("|") and HEADING in line for line in lines) else 0


FORMS: tuple[Form, ...] = (
    Form("dcgm.diag", lambda text: of_diag(text.lines, text.whole), embedded=True, mixed=True),
    Form("dcgm.said", lambda text: of_said(text.lines, text.whole), embedded=True, mixed=True),
    Form("dcgm.health", lambda text: of_health(text.lines), embedded=True, mixed=True),
    Form("dcgm.discovery", lambda text: of_discovery(text.lines), embedded=True, mixed=True),
    Form("dcgm.dmon", lambda text: of_dmon(text.lines), embedded=True, mixed=True),
    Form("dcgm.policy", lambda text: of_policy(text.lines), embedded=True, mixed=True),
    Form("dcgm.stats", lambda text: of_stats(text.lines), embedded=True, mixed=True),
    Form("dcgm.nvlink", lambda text: of_nvlink(text.lines), embedded=True, mixed=True),
)
