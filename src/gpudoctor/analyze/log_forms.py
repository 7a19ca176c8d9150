"""Recognising logs: the kernel's, those of any program, events, and numbered errors of the driver among other words."""

from __future__ import annotations

from gpudoctor.analyze import kubectl_events
from gpudoctor.parsers.kernel_xid import retold_xid_of, sxid_of, xid_of
from gpudoctor.patterns import regex

# [   37.010658] …  |  kern  :err   : 2026-…  |  … host kernel: …
KERNEL = regex(r"^(?:\[ *\d{1,9}\.\d{6}\]|<\d{1,3}>\[|kern +:)|^.{0,120}\bkernel: |\bNVRM: ")
# time="2026-…" level=…  |  I0624 22:58:05.4 1 main.go:1] …  |  2026/05/11 12:46:28 …  |  2026-11-17T12:08:33.9Z … |  {"level":"…
# [Dec 19 2024 19:17:49] [ERROR] [tid 1579] … (fabric manager)
LOG = regex(
    r'^(?:\[pod/\S{1,300}\] ?)?(?:time="|[IWEF]\d{4} \d\d:\d\d:\d\d|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{"(?:level|ts|time|msg)"|'
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,6})? |(?:INFO|WARN|ERROR|DEBUG|FATAL)\b|\[[A-Z][a-z]{2} +\d{1,2} \d{4} \d\d:\d\d)"
)


def of_kernel(lines: list[str], verb: str) -> int:
    """A kernel log: most lines are the kernel's, or one is the driver's."""
    kernel = sum(KERNEL.search(line) is not None for line in lines if line[:1] in "[<k" or "kernel: " in line or "NVRM: " in line)
    filled = sum(bool(line.strip()) for line in lines) or 1
    if kernel * 2 >= filled or verb == "dmesg":
        return 58
    if any("NVRM: Xid" in line for line in lines):
        return 35
    return 5 if kernel > 1 else 0  # a few below another answer


def of_log(lines: list[str], verb: str) -> int:
    """A log: a third of its lines begin like one, or it was printed by `kubectl logs`."""
    if verb in ("logs", "journalctl"):
        return 30
    matching = sum(LOG.match(line) is not None for line in lines)
    return 30 if matching and matching * 3 >= len([line for line in lines if line.strip()]) else 0


def of_errors(lines: list[str]) -> int:
    """Numbered errors of the driver, in whatever words."""
    return 20 if any(xid_of(line) or retold_xid_of(line) or sxid_of(line) for line in lines if "id" in line.lower()) else 0


def of_events(lines: list[str]) -> int:
    """Event lines without a table's header or a described object around them."""
    return 62 if any(kubectl_events.match_line(line) for line in lines) else 0


def of_scheduler(lines: list[str], whole: str) -> int:
    """The scheduler's words alone, or a clause of them that a person quotes."""
    words = ("nodes", "olume", "device class", "esource")
    if any(word in whole for word in words) and any(kubectl_events.CLAUSE.search(line) for line in lines):
        return 40
    clauses = ("Insufficient ", "node affinity conflict", "node(s) had ")
    return 20 if any(word in whole for word in clauses) and any(map(kubectl_events.quoted, lines)) else 0
