"""The log of nvidia-bug-report.sh: a rule, then the file or the command, then what it holds. Releases since 2018.

The script says most of the kernel's lines twice: those of the driver out of each log that there is, and then all of dmesg.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.knowledge import components
from gpudoctor.patterns import regex

RULE = "_" * 44  # what the script prints between its sections
BEGINNING = "Start of NVIDIA bug report log file"
# uname: Linux gpu-07 5.15.0-105-generic #115-Ubuntu SMP …
UNAME = regex(r"^uname: Linux ([A-Za-z0-9][A-Za-z0-9.-]{0,252}) \d", re.MULTILINE)
# *** /proc/driver/nvidia/./version  |  *** /proc/pci does not exist
FILE = regex(r"^\*\*\* (?P<path>/\S{1,300})(?P<missing> does not exist| is not readable)?$")
# /usr/bin/nvidia-smi --query  |  dmesg:  |  journalctl -b -0 _COMM=Xorg  |  lspci -vvv output (via must-gather extended diagnostics)
COMMAND = regex(r"^(?:/\S{1,60}/)?(?P<command>[a-z][\w.-]{1,40}(?: \S.{0,200}?)?):?$")
# The places of "Scanning kernel log files for NVIDIA kernel messages:", each before what it says of the driver.
SCANNED = regex(r"^  (?:(?P<file>/var/log/[\w.-]{1,60})|(?P<journal>journalctl -b -\d)):$")
ENCODED = ("base64 ", "nvidia-debugdump ")  # nothing that a person or a program reads
UNITS = (" --query --unit", " -q -u")  # S-class boxes of 2008; a card is no unit
GREETING = "Linux version "  # the kernel's first line: the buffer still has its beginning
MOST = 8  # lines between a rule and what it is about


class Head:
    """What a rule is followed by: the command that printed the section, the line at which it begins, whether it is read."""

    __slots__ = ("command", "start", "wanted")

    def __init__(self, command: str, start: int, wanted: bool = True) -> None:
        self.command, self.start, self.wanted = command, start, wanted


def head(lines: Sequence[str], rule: int) -> Head:
    """The head of the section behind a rule, which stands at an index of the lines."""
    for index in range(rule + 1, min(rule + 1 + MOST, len(lines))):
        line = lines[index][:500].strip()
        if not line:
            continue
        if match := FILE.match(line):
            below = index + 1 < len(lines) and lines[index + 1].startswith("*** ls: ")
            return Head(f"cat {match['path']}", index + (2 if below else 1), wanted=not match["missing"])
        if match := COMMAND.match(line):
            command = match["command"].partition(" output (via ")[0]
            return Head(command, index + 1, wanted=not command.startswith(ENCODED))
        return Head("", index, wanted=not line.startswith("Skipping "))
    return Head("", rule + 1)


def log_command(line: str) -> str | None:
    """The command for what follows a line of the scanned logs, None for any other line."""
    match = SCANNED.match(line)
    return match and (match["journal"] or f"cat {match['file']}")


def host(text: str) -> str:
    """The machine of a bug report. In a container of the driver uname gives the pod's name, which is none."""
    match = UNAME.search(text[:20_000])
    return match.group(1) if match and not components.of_name(match.group(1)) else ""


def repeated_sections(commands: Sequence[tuple[str, str]]) -> set[int]:
    """The indexes of the sections (command, text) that say again what others say.

    The journal has what the files of syslog have; dmesg has this boot, as long as its buffer still has the beginning.
    """
    journal = any(command.startswith("journalctl -b ") for command, _ in commands)
    complete = any(command == "dmesg" and GREETING in text for command, text in commands)
    again = {"journalctl -b -0", "cat /var/log/dmesg"} if complete else set()
    again |= {"cat /var/log/messages", "cat /var/log/kern.log", "cat /var/log/kernel.log"} if journal else set()
    return {index for index, (command, _) in enumerate(commands) if command in again or command.endswith(UNITS)}
