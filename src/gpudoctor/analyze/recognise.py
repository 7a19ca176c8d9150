"""What a text is, by its content: a table of recognisers, each with a score for a text and the parser that reads it.

A shown command and a file's name add names to the facts (see `hints`); they never decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.analyze import kubectl_describe, kubectl_events, kubectl_tables, manifests
from gpudoctor.analyze.hints import Hint
from gpudoctor.facts import Facts, Subject
from gpudoctor.parsers import LINE, load
from gpudoctor.parsers.nvidia_smi import LISTED, find_problem
from gpudoctor.parsers.nvidia_smi_query import HEAD
from gpudoctor.probes.base import Output

SAMPLE = 2000  # lines that are looked at

Parse = Callable[[Output, Subject], Facts]


class Text(NamedTuple):
    """A text as recognisers see it: its beginning as lines, the whole, and the hint."""

    lines: list[str]
    whole: str
    hint: Hint


class Recogniser(NamedTuple):
    """`score` is 0 for "not this"; of all the highest wins, the earlier one where two are equal.

    One that is `embedded` reads its text also out of a log that another recogniser has won.
    """

    name: str
    score: Callable[[Text], int]
    parse: Parse
    embedded: bool = False


# [   37.010658] …  |  kern  :err   : 2026-…  |  … host kernel: …
KERNEL = re.compile(r"^(?:\[ *\d{1,9}\.\d{6}\]|<\d{1,3}>\[|kern +:)|^.{0,120}\bkernel: |\bNVRM: ")
# time="2026-…" level=…  |  I0624 22:58:05.4 1 main.go:1] …  |  2026/05/11 12:46:28 …  |  2026-11-17T12:08:33.9Z … |  {"level":"…
LOG = re.compile(
    r'^(?:\[pod/\S{1,300}\] ?)?(?:time="|[IWEF]\d{4} \d\d:\d\d:\d\d|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{"(?:level|ts|time|msg)"|'
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d |(?:INFO|WARN|ERROR|DEBUG|FATAL)\b)"
)
BANNER = re.compile(r"^\| NVIDIA-SMI \d|^=+NVSMI LOG=+|<nvidia_smi_log>|^\s*(?:Driver Version|Attached GPUs) +: ")
CSV = re.compile(r"^\s*(?:index|uuid|name|pci\.bus_id|timestamp|gpu_uuid|gpu_bus_id|gpu_name)(?: \[\w+\])?, ?[a-z_.]+")
ROW = re.compile(r"^\|\s+\d{1,3}\s+\S.{1,60}\|\s+[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d ")


def of_smi(text: Text) -> int:
    """nvidia-smi in any form; an error text must begin its line, since logs quote the same words."""
    if any(BANNER.search(line) or LISTED.match(line) or HEAD.match(line) or CSV.match(line) or ROW.match(line) for line in text.lines):
        return 88
    for line in text.lines:
        bare = line.strip().removeprefix("bash: ").removeprefix("sh: 1: ")
        word, _ = find_problem([bare])
        starts = bare.startswith(
            ("Failed to initialize NVML", "Unable to determine", "NVIDIA-SMI", "No devices", "nvidia-smi:", "OCI runtime exec")
        )
        if word and (starts or "executable file not found" in bare):
            return 75
    return 0


def of_kernel(text: Text) -> int:
    """A kernel log: most lines are the kernel's, or one is the driver's."""
    kernel = sum(KERNEL.search(line) is not None for line in text.lines)
    filled = sum(bool(line.strip()) for line in text.lines) or 1
    if kernel * 2 >= filled or text.hint.verb == "dmesg":
        return 58
    return 35 if any("NVRM: Xid" in line for line in text.lines) else 0


def of_log(text: Text) -> int:
    """A log: a third of its lines begin like one, or it was printed by `kubectl logs`."""
    if text.hint.verb in ("logs", "journalctl"):
        return 30
    matching = sum(LOG.match(line) is not None for line in text.lines)
    return 30 if matching and matching * 3 >= len([line for line in text.lines if line.strip()]) else 0


def of_events(text: Text) -> int:
    """Event lines without a table's header or a described object around them."""
    return 62 if any(kubectl_events.match_line(line) for line in text.lines) else 0


def of_scheduler(text: Text) -> int:
    """The scheduler's words alone."""
    return 40 if any(kubectl_events.CLAUSE.search(line) for line in text.lines) else 0


def _parser(name: str) -> Parse:
    return lambda output, about: load(name)(output, about)


def _events(output: Output, about: Subject) -> Facts:
    return kubectl_events.events([line[:LINE] for line in output.text.split("\n")], output.named(), about)


def _scheduler(output: Output, about: Subject) -> Facts:
    return kubectl_events.scheduler_words([line[:LINE] for line in output.text.split("\n")], output.named(), about)


RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("kubernetes.objects", lambda text: manifests.score(text.whole), manifests.objects),
    Recogniser("nvidia.smi", of_smi, _parser("nvidia.smi"), embedded=True),
    Recogniser("kubectl.describe", lambda text: kubectl_describe.score(text.lines), kubectl_describe.describe),
    Recogniser("kubectl.get", lambda text: kubectl_tables.score(text.lines), kubectl_tables.tables),
    Recogniser("kubectl.events", of_events, _events),
    Recogniser("kubectl.labels", lambda text: manifests.label_score(text.lines), manifests.labels),
    Recogniser("kernel.log", of_kernel, _parser("kernel.log")),
    Recogniser("scheduler.message", of_scheduler, _scheduler),
    Recogniser("logs.text", of_log, _parser("logs.text")),
)
LOGS = ("kernel.log", "logs.text")
LINES = Recogniser("text", lambda text: 1, _parser("logs.text"))


def recognise(whole: str, hint: Hint) -> list[Recogniser]:
    """The recognisers that read a text, the best first; `text` alone when none knows it."""
    lines = [line[:LINE].rstrip("\r") for line in whole[: SAMPLE * 256].split("\n")[:SAMPLE]]
    text = Text(lines, whole, hint)
    scores = [(one.score(text), one) for one in RECOGNISERS]
    best, chosen = max(scores, key=lambda pair: pair[0])
    if not best:
        return [LINES]
    beside = [one for score, one in scores if one.embedded and score and one is not chosen and chosen.name in LOGS]
    # What nvidia-smi printed may stand in a log: the rest of the log is read too.
    if chosen.name == "nvidia.smi" and (others := [one for score, one in scores if score and one.name in LOGS]):
        beside = others[:1]
    return [chosen, *beside]
