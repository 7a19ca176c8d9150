"""Texts too long to hold: a log is read from one end to the other as it is, anything else is cut into sections piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.intake import files, forms
from gpudoctor.intake.packed_texts import Keep
from gpudoctor.intake.pieces import whole_lines
from gpudoctor.intake.split import Section, clean, split
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.common import line_numbers
from gpudoctor.tools.form import Form, Text
from gpudoctor.tools.kernel import forms as kernel_forms
from gpudoctor.tools.logs import forms as log_forms
from gpudoctor.tools.logs import program
from gpudoctor.tools.parser import LINE

LOG = 256 << 10  # bytes from which on a text that begins and ends as a log does is read as one, without a look at every line of its middle
LOOKED_AT = 30  # lines at its beginning and at its end
LIKE_A_LOG = 0.95  # of them
OF_A_KIND = ("nccl.log", "slurm.log")  # logs that have a reader of their own
PACE = "training.log"  # what reads lines of progress
PACED = 16 << 10  # bytes of a log's beginning, and of its end, whose lines of progress are read: a hundred steps or more
WINDOW = 4 << 20  # bytes that are cut into sections together
SECTION = 8 << 20  # characters of one section; a longer one is read in parts
ANSWER = 128 << 20  # bytes of one answer in JSON, which is decoded as a whole
OBJECTS = 2_000_000  # in it: each takes 300 bytes of memory at least, and a cluster's are 60 bytes or more of text
# Keys of such answers: the Kubernetes API's, a flight recorder's dump, Prometheus'.
KEYS = (b'"kind"', b'"collective_seq_id"', b'"pg_config"', b'"resultType"')


def log(source: files.Source, ends: bytes) -> Form | None:
    """What reads a long text that is a plain log by its beginning and its end; None for any other."""
    if source.size < LOG:
        return None
    lines = [line[:LINE] for line in clean(ends).split("\n") if line.strip()]
    lines = lines[:LOOKED_AT] + lines[-LOOKED_AT:]
    whole = "\n".join(lines)
    kernel = [kernel_forms.KERNEL.search(line[:256]) is not None for line in lines]
    like = sum(one or log_forms.LOG.match(line) is not None for one, line in zip(kernel, lines, strict=True))
    if not lines or like < LIKE_A_LOG * len(lines) or any(section.numbers or section.command for section in split("", whole)):
        return None
    text = Text(lines, whole)
    if any(one.score(text) for one in forms.FORMS if one.name in OF_A_KIND):
        return None
    name = "kernel.log" if sum(kernel) * 2 >= len(lines) else "logs.text"
    return next(one for one in forms.FORMS if one.name == name)


def read_log(pages: Iterable[Output], one: Form, about: Subject) -> Facts:
    """The facts of a long log."""
    if one.name == "kernel.log":
        return load("kernel.log")(pages, about)  # type: ignore[arg-type]
    ends = Ends()
    facts = program.stream(ends.watch_pages(pages), about)
    return {**facts, **ends.paces(about)}


class Ends:
    """The beginning and the end of a log on its way."""

    def __init__(self) -> None:
        self.keep = Keep(None, PACED, PACED)
        self.lines = 0
        self.page = Output(Command(()))

    def watch_pages(self, pages: Iterable[Output]) -> Iterator[Output]:
        """The pages as they come."""
        for page in pages:
            for piece in page.pages:
                self.keep.add(piece)
                self.lines += piece.count(b"\n")
            self.page = page
            yield page

    def paces(self, about: Subject) -> Facts:
        """How the steps of a training program went on, by their first and their last ones; {} for any other log."""
        head, tail = bytes(self.keep.head), self.keep.end
        first, last = clean(head[: head.rfind(b"\n") + 1]), clean(tail[tail.find(b"\n") + 1 :])
        behind = self.lines - last.count("\n") + 1  # the number of the end's first line
        numbers = [*range(1, first.count("\n") + 1), *range(behind, self.lines + 2)]
        text = first + last
        found = load(PACE)(msgspec.structs.replace(self.page, pages=(text.encode(),)), about)
        return line_numbers.place_facts(found, text, 1, numbers) if found["paces"] else {}


def is_answer(source: files.Source) -> bool:
    """Whether a long text is one answer in JSON."""
    return source.ends.lstrip()[:1] in (b"{", b"[") and any(key in source.ends for key in KEYS)


def answer(source: files.Source) -> tuple[bytes, str]:
    """The whole of such a text, and a note on why it isn't read."""
    whole = files.up_to(source.pieces(), ANSWER)
    if not whole and not source.note:
        return b"", f"an answer of more than {ANSWER >> 20} MiB: not read, ask for less of it"
    if whole.count(b"{") > OBJECTS:
        return b"", f"an answer of more than {OBJECTS // 1_000_000} million objects: not read, ask for less of it"
    return whole, ""


def sections(source: files.Source) -> Iterator[Section]:
    """The sections of a long text, in order.

    A window of it is cut at a time. Its last section may go on in the next window, and is cut again together with that, unless it is so
    long that it is read in parts.
    """
    rest, first = "", 1  # what is still to be cut, and the number of its first line
    before: Section | None = None  # the section that it belongs to
    for block in whole_lines(source.pieces(), WINDOW):
        text = rest + clean(block)
        made = [continue_section(one, first, before) for one in split(source.path, text)]
        rest, before = "", made[-1] if made else before
        if made and not made[-1].numbers:
            start = line_start(text, made[-1].line - first)
            if len(text) - start < SECTION:
                made, rest = made[:-1], text[start:]
        yield from made
        first += text.count("\n", 0, len(text) - len(rest))
    if rest:
        yield from (continue_section(one, first, before) for one in split(source.path, rest))


def continue_section(section: Section, first: int, before: Section | None) -> Section:
    """A section of a text that begins at line `first` of the file, where the section before it may go on."""
    line = section.line + first - 1
    command, about = section.command, section.about
    if before is not None:
        command = command or (before.command if section.line == 1 else "")
        about = before.about if about.kind == "cluster" and before.about.kind == "node" else about  # a bug report is of one machine
    numbers = [number + first - 1 for number in section.numbers]
    return msgspec.structs.replace(section, line=line, numbers=numbers, command=command, about=about)


def line_start(text: str, lines: int) -> int:
    """The offset behind so many lines."""
    at = 0
    for _ in range(lines):
        at = text.find("\n", at) + 1
    return at
