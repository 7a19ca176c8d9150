"""Runs of one program that somebody pasted one after the other, of which one fails and the next works with one variable set otherwise.

    $ mpirun -x NCCL_IB_GID_INDEX=1 ./all_reduce_perf -g 8        $ NCCL_P2P_DISABLE=1 vllm serve … -tp 2
    Test NCCL failure common.cu:958 'unhandled system error …     INFO 01-01 12:00:33 model_runner.py:1067] Loading model weights took …

What made the difference is said as a known message; what that means is in the runbooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from gpudoctor.analyze import commands, tensor_sizes, trial_tables
from gpudoctor.facts import Facts, Origin
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake.split import Section
from gpudoctor.knowledge.nccl_settings import PREFIXES
from gpudoctor.patterns import regex
from gpudoctor.tools.linux.environment import line_assignments

MOST = 200  # sections of one file that are compared
LONGEST = 200_000  # characters of one that are looked at
NAME = "works_with_setting"
# A test's result, a server that is up, a step that was made.
WORKS = regex(
    r"(?m)^# Avg bus bandwidth\s*:\s*(?:[1-9]|0\.\d*[1-9])|^# Out of bounds values : 0 OK|Application startup complete|Uvicorn running on"
    r"|^[Ll]istening on |Loading model weights took|Model loading took"
    r"|(?:iteration|iter|step|Step|epoch|Epoch)\b[ :=#\[]{0,8}\d{1,9}\b.{0,80}(?:loss|it/s|s/it|ms)"
    r"|^\s*\d{4,12}\s+\d{1,12}\s+(?:float|half|bfloat16|double|u?int\d*)\s+\w{2,8}\s+-?\d+\s+\d"
)
# NCCL's and PyTorch's failures, and the hand that stopped what hung.
FAILS = regex(
    r"(?m)Test NCCL failure|NCCL error|unhandled (?:system|cuda) error|DistBackendError|Watchdog caught collective|^\s*\^C"
    r"|KeyboardInterrupt|[Ss]egmentation fault|^(?:\[rank\d{1,6}\]: ?)?\w*(?:Error|Exception)\b|CANCELLED AT"
    r"|\b(?:hangs?|hung|stuck)\b|waited \d+ ?(?:min|h|s)"
    # ended by `timeout`, whose own exit status is 124, or by somebody's kill
    r"|^(?:exit|rc|status)\S{0,8}[ =:]+(?:124|137|143)\s*$|^(?:Terminated|Killed)\s*$"
)
WRAPPERS = ("mpirun", "mpiexec", "srun", "sudo", "env", "time", "timeout", "nohup", "docker", "podman", "kubectl", "exec", "run", "prterun")
WORD = regex(r"[\w./-]{1,200}")


class Trial(NamedTuple):
    """One run: its program (empty where no command is shown), its variables, whether it worked."""

    program: str
    settings: dict[str, str]
    works: bool
    origin: Origin


def watch_sections(facts: Facts, sections: Iterable[Section]) -> Iterator[Section]:
    """The sections as they come; when all of one file were read, what its runs and ranks tell beside each other is added to its facts."""
    runs: list[Trial] = []
    told: list[Message] = []
    kept: dict[str, str] = {}  # what the shell hands to every run that follows
    for section in sections:
        if (words := section.command[:2000].split())[:1] == ["export"]:
            kept |= dict(line_assignments(section.command[:2000]))
        elif words[:1] == ["unset"]:
            kept = {name: value for name, value in kept.items() if name not in words}
        if len(runs) < MOST and (one := trial(section, kept)) is not None:
            runs.append(one)
        told += [*tensor_sizes.messages(section), *trial_tables.messages(section), *commands.messages(section)]
        yield section
    if told := [*compare_runs(runs), *told]:
        facts.setdefault("messages", []).extend(told)


def compare_runs(runs: list[Trial]) -> list[Message]:
    """A message for each variable that alone tells a run that worked from one before it that failed."""
    found: dict[str, Message] = {}
    for at, good in enumerate(runs):
        if not good.works:
            continue
        for bad in runs[max(0, at - 3) : at]:
            name = "" if bad.works or (bad.program and bad.program != good.program) else difference(bad.settings, good.settings)
            if name and name not in found:
                found[name] = Message(name=NAME, detail=name, source="file", origin=good.origin)
    return list(found.values())


def trial(section: Section, kept: Mapping[str, str] = MappingProxyType({})) -> Trial | None:
    """A run under the variables that its shell has exported.

    None for a text that shows neither success nor failure, or a command that runs nothing.
    """
    text = section.text[:LONGEST]
    works = WORKS.search(text) is not None
    if not works and FAILS.search(text) is None:
        return None
    command = section.command[:2000]
    settings = {name: value for name, value in {**kept, **dict(line_assignments(command))}.items() if name.startswith(PREFIXES)}
    line = command or next((line for line in text.split("\n") if line.strip()), "")
    return Trial(program_of(command), settings, works, Origin(section.path, max(section.line - bool(command), 1), line[:300]))


def program_of(command: str) -> str:
    """The program that a command line runs, behind its launchers.

    >>> program_of("NCCL_DEBUG=WARN mpirun -np 2 -x NCCL_IB_HCA=mlx5_0 ./all_reduce_perf -g 8"), program_of("vllm serve m -tp 2")
    ('all_reduce_perf', 'vllm')
    """
    words = [word for word in command.split() if "=" not in word and not word.startswith("-") and WORD.fullmatch(word)]
    tests = [word for word in words if word.endswith(("_perf", ".py"))]
    named = tests or [word for word in words if word.rpartition("/")[2] not in WRAPPERS]
    return named[0].rpartition("/")[2] if named else ""


def difference(bad: dict[str, str], good: dict[str, str]) -> str:
    """The one variable in which two runs differ, as the good one has it; "" for none or several.

    What the bad run alone had switched off was another try.

    >>> difference({"NCCL_IB_GID_INDEX": "1"}, {"NCCL_IB_GID_INDEX": "3"}), difference({"NCCL_IB_HCA": "mlx5_9"}, {})
    ('NCCL_IB_GID_INDEX=3', 'NCCL_IB_HCA unset')
    """
    quiet = ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE")
    names = [name for name in {**bad, **good} if bad.get(name) != good.get(name) and name not in quiet]
    names = [name for name in names if name in good or not (name.endswith("_DISABLE") and bad[name] == "1" and good)]
    if len(names) != 1:
        return ""
    return f"{names[0]}={good[names[0]]}" if names[0] in good else f"{names[0]} unset"
