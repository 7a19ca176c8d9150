"""What becomes of a machine's programs: each of them with each defect that a program has."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.nodes.case import Said
from tests.nodes.hgx import Answers, machine

PART = 0.45  # of an answer that is printed before something happens
REFUSED = Said(exit=1, stderr="dmesg: read kernel buffer failed: Operation not permitted")
chance = random.Random(7)
RUBBISH = bytes(chance.randrange(256) for _ in range(4000)).decode(errors="surrogateescape")
# 70.50 W, in a language that writes 70,50: never a part of a version or an address
DECIMAL = re.compile(r"(?<![\w:.,])(\d+)\.(\d+)(?= ?[A-Za-z%<,]| *$)", re.MULTILINE)


def lines(text: str) -> str:
    """The first lines of a text."""
    kept = text.splitlines(keepends=True)
    return "".join(kept[: int(len(kept) * PART)])


def begin(text: str) -> str:
    """The beginning of a text, up to the middle of a line."""
    made = text[: int(len(text) * PART)]
    return made[:-1] if made.endswith("\n") else made


# What a program says instead of what it would say.
DEFECTS: dict[str, Callable[[Said], Said | None]] = {
    "is not installed": lambda said: None,
    "fails without a word": lambda said: Said(exit=1),
    "fails with a word": lambda said: Said(exit=1, stderr="fatal: the flume is torn"),
    "may not do it": lambda said: Said(exit=1, stderr="Permission denied"),
    "crashes": lambda said: Said(exit=139),
    "crashes in the middle": lambda said: Said(begin(said.stdout), exit=139),
    "says nothing": lambda said: Said(),
    "says what nobody knows": lambda said: Said("Unable to frobnicate the flume\n"),
    "says what nobody knows, and fails": lambda said: Said("Unable to frobnicate the flume\n", exit=1),
    "breaks off": lambda said: Said(begin(said.stdout)),
    "breaks off, and fails": lambda said: Said(begin(said.stdout), exit=1),
    "leaves lines out": lambda said: Said(lines(said.stdout)),
    "leaves lines out, and fails": lambda said: Said(lines(said.stdout), exit=1),
    "says all, and fails": lambda said: Said(said.stdout, exit=1),
    "says all, warns, and fails": lambda said: Said(said.stdout, exit=1, stderr="warning: the flume is torn"),
    "prints rubbish": lambda said: Said(RUBBISH),
    "writes decimal commas": lambda said: Said(DECIMAL.sub(r"\1,\2", said.stdout)),
    "hangs": lambda said: Said(failure="timeout"),
    "hangs in the middle": lambda said: Said(begin(said.stdout), failure="timeout"),
}


class Tool(NamedTuple):
    """The commands that begin so; `instead` is the program whose place it takes, where that has no answer."""

    begins: str
    instead: str = ""

    @property
    def program(self) -> str:
        """The program."""
        return self.begins.split()[0]

    @property
    def name(self) -> str:
        """What a report calls it: the program, or the file that is read."""
        return self.begins.split()[-1] if self.program == "cat" else self.program

    def of(self, line: str) -> bool:
        """Whether a command is one of them."""
        return f"{line} ".startswith(f"{self.begins} ") or line.startswith(f"{self.begins}=")


TOOLS = [
    *(
        Tool(begins)
        for begins in (
            "lspci",
            "cat /proc/driver/nvidia/version",
            "cat /proc/modules",
            "dmesg",
            "systemctl",
            "tail",
            "grep",
            "ip",
            "ncclras",
        )
    ),
    *(Tool(f"nvidia-smi{words}") for words in ("", " -q -x", " nvlink -s", " nvlink -e", " topo -m", " topo -p2p n")),
    *(Tool(f"dcgmi{words}") for words in ("", " discovery", " policy", " health")),
    Tool("journalctl", "dmesg"),
    Tool("ibstat", "grep"),
    Tool("perfquery", "grep"),
]


def without(program: str, answers: Mapping[str, str | Said]) -> Answers:
    """A machine on which a program has no answer, and another one has to give it: dmesg is refused, any other isn't there."""
    if program == "dmesg":
        return {line: REFUSED if line.startswith("dmesg") else said for line, said in answers.items()}
    return {line: said for line, said in answers.items() if line.split()[0] != program}


def broken(tool: Tool, defect: str, answers: Mapping[str, str | Said] | None = None) -> Answers:
    """A machine, a sound one by default, with a program that has a defect."""
    made: Answers = {}
    for line, answer in without(tool.instead, answers or machine()).items() if tool.instead else (answers or machine()).items():
        said = answer if isinstance(answer, Said) else Said(answer)
        other = DEFECTS[defect](said) if tool.of(line) else said
        made |= {line: other} if other is not None else {}
    return made
