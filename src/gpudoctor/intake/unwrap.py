"""Known messages that are found only where lines are joined: terminals, forms and mail wrap long lines.

In a text of unknown form the lines of a paragraph belong together, in a log a line and those behind it that begin no record of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake.split import Section
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.common.timestamps import SYSLOG, WITHIN, line_time

WRAPPED = 64 << 10  # a text up to this size is also read with its lines joined
ROWS = 6  # lines that one was cut into, at most: 300 characters in 60 columns, and what stands around
# E0301 09:00:00.000000  1 main.go:70] … | time="2026-… | {"level":"error",… | [ERROR] plugin/errors: … | [  12.345678] NVRM: …
# | [rank3]: … | gpu-02:812:930 [3] NCCL INFO … | misc/socket.cc:484 NCCL WARN …
HEAD = regex(
    r"""\s*(?:[IWEF]\d{4} \d\d:|(?:time|ts|level|msg)=|\{"|\[(?:[A-Z]{4,8}|\s*\d{1,9}\.\d{6}|rank\d{1,7})\]"""
    r"""|(?:INFO|WARN\w*|ERROR|FATAL|DEBUG)\b|[\w.-]{1,64}:\d{1,10}:\d{1,10} \[|(?:[\w./-]{1,64}:\d{1,6} )?NCCL [A-Z]{4})"""
)

TERMINAL = 60  # columns; nobody has a narrower one

Run = tuple[int, list[str]]  # number of the first line, the lines without the space behind them


def messages(section: Section, facts: Facts, about: Subject, *, log: bool) -> list[Message]:
    """What is known beyond the messages that are among the facts already."""
    known = {getattr(message, "name", "") for message in facts.get("messages", [])}
    found: list[Message] = []
    for number, lines in records(section) if log else paragraphs(section):
        source, time = ("log", line_time(lines[0].strip())) if log else ("file", None)
        for text in join_lines(lines):
            for message in scan_text(text, source=source, about=about, origin=Origin(section.path, 0, ""), time=time):
                if message.name not in known:
                    known.add(message.name)
                    found.append(replace(message, origin=Origin(section.path, number, lines[0].strip())))
    return found


def join_lines(lines: list[str]) -> Iterator[str]:
    """The lines as one: cut between words, as forms and mail do it, and cut at the width of a terminal, in the middle of a word.

    >>> cut = ["gpu-02:812:930 [3] NCCL WARN Call to ibv_modify_qp failed with 110 C", "onnection timed out"]
    >>> [text[-22:] for text in join_lines(cut)]
    [' C onnection timed out', '0 Connection timed out']
    """
    yield " ".join(line.strip() for line in lines)
    width = max(len(line) for line in lines)
    if width >= TERMINAL:
        yield "".join(line.ljust(width) if len(line) >= width - 1 else f"{line} " for line in lines).rstrip()


def paragraphs(section: Section) -> Iterator[Run]:
    """Each run of two or more lines without a blank one between them."""
    return runs(section, lambda line, run: False)


def records(section: Section) -> Iterator[Run]:
    """Each record of a log that stands on two lines or more."""
    return runs(section, lambda line, run: len(run) >= ROWS or begins(line))


def runs(section: Section, parted: Callable[[str, list[str]], bool]) -> Iterator[Run]:
    """Runs of lines that neither a blank line nor `parted` parts."""
    run: list[str] = []
    for number, line in enumerate([*section.lines, ""], section.line):
        blank = not line.strip()
        if blank or parted(line, run):
            if len(run) > 1:
                yield number - len(run), run
            run = []
        if not blank:
            run.append(line.rstrip())


def begins(line: str) -> bool:
    """Whether a line looks like the beginning of a log's record.

    >>> begins("E0301 09:00:00.100000       1 main.go:70] failed"), begins("tcp 10.96.0.1:443: connect: no route to host")
    (True, False)
    """
    head = line[:WITHIN]
    return bool(HEAD.match(head) or SYSLOG.match(head)) or line_time(head) is not None
