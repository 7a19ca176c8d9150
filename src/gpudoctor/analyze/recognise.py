"""What a text is, by its content: of all recognisers the best, and those that read what stands beside it."""

from __future__ import annotations

from gpudoctor.analyze.hints import Hint
from gpudoctor.analyze.recognisers import LINES, RECOGNISERS, Recogniser, Text
from gpudoctor.parsers import LINE

__all__ = ["LINES", "RECOGNISERS", "Recogniser", "Text", "recognise", "scans"]

SAMPLE = 2000  # lines that are looked at
LOGS = ("kernel.log", "nccl.log", "slurm.log", "logs.text")
# Stand beside other answers in what somebody pasted.
PARTS = (
    "prometheus.rules",
    "prometheus.said",
    "prometheus.counts",
    "kubectl.services",
    "kubectl.columns",
    "kubelet.config",
    "nvidia.nvlink",
    "nvidia.topo",
    "cuda.peers",
    "prometheus.names",
    "environment.settings",
    "gpu.means",
    "gpu.stated",
    "linux.df",
    "linux.orphans",
    "linux.device_users",
    "linux.ps",
    "linux.quota",
    "kernel.outcomes",
    "network.reach",
    "collective.tests",
    "program.memory",
    "prometheus.queries",
    "text.measures",
    "job.counters",
    "serving.load",
    "training.log",
    "logs.errors",
)
# Seldom alone: what was printed beside it is read line by line.
AMONG_LINES = (
    "cuda.peers",
    "prometheus.counts",
    "environment.settings",
    "gdb.stacks",
    "gpu.means",
    "linux.df",
    "linux.ip_link",
    "linux.lspci",
    "linux.orphans",
    "linux.device_users",
    "linux.ps",
    "linux.quota",
    "linux.units",
    "program.memory",
    "prometheus.queries",
    "python.stacks",
    "job.counters",
    "serving.load",
    "slurm.jobs",
    "text.measures",
    "training.log",
)
FEW = 20  # the score of a few lines that stand among others
# Answers of tools, which people paste one below the other, with lines of logs between: each is read, and the lines too.
MIXED = ("nvidia.", "slurm.nodes", "slurm.jobs", "dcgm.", "infiniband.", "linux.", "kubectl.get", "scheduler.message")
ANSWERS = ("nvidia.smi", "nvidia.topo", "nccl.ras", "infiniband.", "linux.", "python.stacks", "scheduler.message")
# Nobody asks for a limit or for counters without a reason, and that stands beside the answer.
REASONED = ("linux.limits", "infiniband.perfquery", "infiniband.ibqueryerrors")


def scans(one: Recogniser) -> bool:
    """Whether it looks at every line of a text for known messages."""
    return one.name in LOGS or one is LINES


def may_stand_among_lines(chosen: list[Recogniser]) -> bool:
    """Whether lines of a log may stand among the answers of tools that were recognised, and none of their readers looks for them."""
    return chosen[0].name.startswith(MIXED) and not any(scans(one) or one.name.startswith("dcgm.") for one in chosen)


def recognise(whole: str, hint: Hint) -> list[Recogniser]:
    """The recognisers that read a text, the best first; `text` alone when none knows it."""
    text = Text([line[:LINE].rstrip("\r") for line in whole[: SAMPLE * 256].split("\n")[:SAMPLE]], whole, hint)
    scores = [(one.score(text), one) for one in RECOGNISERS]
    best, chosen = max(scores, key=lambda pair: pair[0])
    if not best:
        return [LINES]
    beside = [one for score, one in scores if one.embedded and score and one is not chosen and chosen.name in LOGS]
    # What nvidia-smi, a tool of the fabric or the scheduler printed may stand in a log: the rest of the log is read too.
    if chosen.name.startswith(ANSWERS) and (others := [one for score, one in scores if score and one.name in LOGS]):
        beside = others[:1]
    elif chosen.name in REASONED:
        beside = [LINES]
    beside += [one for score, one in scores if score and one.name in PARTS and one is not chosen and one not in beside]
    if chosen.name.startswith(MIXED):
        beside += [one for score, one in scores if score and one.name.startswith(MIXED) and one is not chosen and one not in beside]
    if (chosen.name in AMONG_LINES or best <= FEW) and not any(one.name in LOGS for one in beside):
        beside.append(LINES)
    found = [chosen, *beside]
    # The readers of a log, of a text's lines and of DCGM's answers find the numbered errors themselves.
    read = any(scans(one) or one.name.startswith("dcgm.") for one in found)
    # What nvidia-smi printed needs nobody who reads the same numbers out of sentences.
    printed = any(one.name.startswith("nvidia.") for one in found)
    return [one for one in found if not ((read and one.name == "logs.errors") or (printed and one.name == "gpu.stated"))]
