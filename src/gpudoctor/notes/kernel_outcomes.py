"""Rows that name a kernel and how a test of RDMA went with it: of hosts, or of the boots of one.

host   kernel               ib_write_bw --use_cuda          boot -3 6.17.0-1008-nvidia reg_mr_fail=0 ok=1
n01    6.8.0-49-generic     391.2 Gb/s                      boot -2 6.17.0-1014-nvidia reg_mr_fail=4 ok=0
n03    6.8.0-52-generic     Couldn't allocate MR
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kernel import KernelOutcome
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines

FEWEST = 3  # rows: two kernels, and one of them twice
RELEASE = regex(r"(?<![\w.-])(\d{1,2}\.\d{1,2}\.\d{1,3}-\d[\d.]{0,12}[\w.~+-]{0,30})")
# What a test of memory for RDMA is called, or what it says where that fails.
SUBJECT = regex(r"ibv_reg|reg_mr|enomem|allocate MR|use_cuda|gpu ?direct|peermem|memory regist|dma-?buf|\bgdr", 2)
# enomem=8  |  fail: 0  |  errors 3
COUNTED = regex(r"\b(\w{0,20}(?:fail|err|enomem|refused)\w{0,20}) ?[=: ] ?(\d{1,9})\b", 2)
BAD = regex(r"couldn't|cannot|can't|\bfail(?:s|ed|ure)?\b|\berror\b|\benomem\b|\beinval\b|\bbroken\b|\bbad\b|\btime[d -]{0,2}out\b|✗|❌", 2)
GOOD = regex(r"\bok\b|\bpass(?:ed)?\b|\bworks?\b|\bgood\b|\bfine\b|\bsuccess\w*|\d Gb/s|\d GB/s|✓|✅", 2)


def verdict(text: str) -> bool | None:
    """Whether a row speaks of success; None where it says neither.

    >>> verdict("n01 391.2 Gb/s"), verdict("boot -2 enomem=4 ok=0"), verdict("boot 0 enomem=0 ok=1"), verdict("installed")
    (True, False, True, None)
    """
    counted = [int(number) for _, number in COUNTED.findall(text)]
    rest = COUNTED.sub(" ", text)
    if any(counted) or BAD.search(rest):
        return False
    return True if counted or GOOD.search(rest) else None


def score(texts: Sequence[str], whole: str) -> int:
    """0 or 12: as many rows as are needed, with verdicts of both kinds."""
    if not SUBJECT.search(whole[:100_000]):
        return 0
    told = [verdict(RELEASE.sub(" ", line)) for line in texts if "-" in line and RELEASE.search(line)]
    return 12 if len(told) >= FEWEST and True in told and False in told else 0


def outcomes(output: Output, about: Subject) -> Facts:
    """One record where each kernel has one outcome, and not all the same."""
    found: defaultdict[str, list[tuple[bool, Origin]]] = defaultdict(list)
    for at, line in lines(output):
        if "-" in line and (match := RELEASE.search(line)) and (works := verdict(RELEASE.sub(" ", line))) is not None:
            found[match[1]].append((works, Origin(output.origin_name(), at, line.strip())))
    rows = [one for its in found.values() for one in its]
    good = sorted(release for release, its in found.items() if all(works for works, _ in its))
    bad = sorted(release for release, its in found.items() if not any(works for works, _ in its))
    if not good or not bad or len(rows) < FEWEST or len(good) + len(bad) < len(found):
        return {"kernel_outcomes": []}
    first = next(origin for works, origin in rows if not works)
    return {"kernel_outcomes": [KernelOutcome(node=about.node, good=good, bad=bad, rows=len(rows), origin=first, stated=True)]}
