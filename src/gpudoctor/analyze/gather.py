"""From paths to facts: every source is cut into sections, each is recognised by its content and read by its parser."""

from __future__ import annotations

import hashlib
import re
import time
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from gpudoctor.analyze import files, hints, merge, place, rank_files, recognise
from gpudoctor.analyze.split import Section, clean, split
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Smi
from gpudoctor.parsers import ParseError, load, plain_pickle
from gpudoctor.parsers.timestamps import line_time
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import InputFile

SPLIT = 8 << 20  # a text up to this size is cut into sections; a larger one is one log, or one answer in JSON
DUMP = "torch.flight_recorder"  # the one parser of what isn't text
WRAPPED = 64 << 10  # an unknown text up to this size is also read with its lines joined
# "creationTimestamp": "2026-03-01T12:00:00Z"  |  lastTransitionTime: "…"  |  startedAt: …
STAMP = re.compile(
    r'(?:[tT]imestamp|Time|startedAt|finishedAt)"?:\s{0,8}"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z'
    r"|\w{3}, (\d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})"
)
LAST_LINES = 200  # of a log that are looked at for the newest time


class Gathered(msgspec.Struct, frozen=True):
    """The facts of all inputs, what each input was, and the newest time that any of them shows (0: none)."""

    facts: Facts
    inputs: list[InputFile]
    now: float


class Read(msgspec.Struct):
    """One source on its way."""

    source: files.Source
    sections: list[Section]
    facts: Facts = {}
    names: list[str] = []
    note: str = ""
    ranks: rank_files.Long | None = None  # a long log of ranks, which are read together


def gather(paths: Iterable[str]) -> Gathered:
    """Read everything behind the paths. Never raises for what is in a file: it gives fewer facts, or a note."""
    reads = [begun(source) for source in files.read(paths, rank_files.wanted)]
    ranks = [read.ranks for read in reads if read.ranks is not None]
    texts = [section.text for read in reads for section in read.sections]
    # Syslog carries no year: where no text has a full date, ages are counted from its last line, in the latest year that fits.
    now = max([*map(newest, texts), *(one.newest for one in ranks)], default=0.0) or max(
        (newest(text, time.time()) for text in texts), default=0.0
    )
    facts: Facts = {}
    # In the order of their content: what the files are called and how they were listed changes nothing.
    for read in sorted(reads, key=lambda one: (zlib.crc32(one.source.data[: 1 << 20]), len(one.source.data), one.source.data[:4096])):
        parse(read, now)
        for kind, records in read.facts.items():
            facts.setdefault(kind, []).extend(records)
    for kind, records in rank_files.parsed(ranks, now).items():
        facts.setdefault(kind, []).extend(records)
    inputs = [InputFile(path=read.source.path, recognised_as=read.names, note=read.note) for read in reads]
    return Gathered(merge.merged(facts), inputs, now)


def begun(source: files.Source) -> Read:
    """A source with its sections; one that is too large to cut keeps its beginning as a sample."""
    read = Read(source, [], {}, [], source.note)
    if plain_pickle.looks_like(source.data):
        return dumped(source)
    if source.ends:
        return Read(source, [], {}, [rank_files.PARSER], source.note, rank_files.long_log(source))
    if source.large or len(source.data) > SPLIT:
        read.sections = [Section(source.path, 1, clean(source.data[: 1 << 20]))]
    elif source.data.strip():
        read.sections = split(source.path, clean(source.data))
    elif not source.note:
        read.note = "empty"
    return read


def dumped(source: files.Source) -> Read:
    """A source that is no text but a pickle, which only a flight recorder's dump is; what else it may be stays a note.

    It is read at once and let go, since a job has one for each rank. A digest stands for it in the order of the content.
    """
    hint = hints.of_section(source.path, "")
    output = as_output(Section(source.path, 1, ""), (source.data,), hint, 0.0)
    rest = msgspec.structs.replace(source, data=hashlib.sha256(source.data).digest())
    try:
        return Read(rest, [], load(DUMP)(output, hint.about), [DUMP], source.note)
    except ParseError as error:
        return Read(rest, [], {}, [], str(error)[:300])


def newest(text: str, read_at: float = 0.0) -> float:
    """The newest time that a text shows: in the fields of objects, or at the beginning of its last lines. 0 where there is none."""
    from email.utils import parsedate_to_datetime

    times = [0.0]
    for api, mail in STAMP.findall(text):
        if api:
            times.append(line_time(api) or 0.0)
        else:
            try:
                times.append(parsedate_to_datetime(mail).timestamp())
            except (ValueError, TypeError, OverflowError):
                continue
    lines = text[-LAST_LINES * 200 :].split("\n")
    times += [at for line in lines[-LAST_LINES:] if (at := line_time(line, read_at)) is not None]
    return max(times)


def parse(read: Read, now: float) -> None:
    """Fill a source's facts and the names of what it was recognised as."""
    large = read.source.large or len(read.source.data) > SPLIT
    if not read.sections:
        return
    pieces = large_sections(read, now) if large else ((s, read_section(s, now)) for s in read.sections)
    names: list[str] = []
    notes: list[str] = []
    facts: Facts = {}
    for _, (found, recognised, note) in pieces:
        names += recognised
        notes += [note] if note else []
        for kind, records in found.items():
            facts.setdefault(kind, []).extend(records)
    read.facts, read.names = facts, list(dict.fromkeys(names))
    if notes and not read.note:
        read.note = notes[0] + (f" (and {len(notes) - 1} more)" if len(notes) > 1 else "")


def read_section(section: Section, now: float) -> tuple[Facts, list[str], str]:
    """(facts, names of what it is, a note when it could not be read as what it looked like)."""
    hint = hints.of_section(section.path, section.command)
    facts: Facts = {}
    names: list[str] = []
    note = ""
    chosen = recognise.recognise(section.text, hint)
    for one in chosen:
        found, problem = attempt(one, section, hint, now)
        note = note or problem
        if problem:  # looked like it, but isn't: what it says in plain lines still counts
            found, _ = attempt(recognise.LINES, section, hint, now)
            one = recognise.LINES
        if one.embedded and any(other is not one and scans(other) for other in chosen):  # the log around it is scanned as a whole
            found.pop("messages", None)
        if one is recognise.LINES:  # nobody asked this text anything: that it is silent says nothing
            found = {kind: records for kind, records in found.items() if records}
        if found or one.name not in ("text", "kernel.log"):  # `dmesg: Operation not permitted` in a file dmesg.txt is no kernel log
            names.append(one.name)
        for kind, records in found.items():
            facts.setdefault(kind, []).extend(records)
    alone = chosen == [recognise.LINES] and len(section.text) <= WRAPPED
    if alone and (extra := unwrapped(section, facts, hint, now)):
        facts.setdefault("messages", []).extend(extra)
        names = [recognise.LINES.name]
    return facts, names, note


def scans(one: recognise.Recogniser) -> bool:
    """Whether it looks at every line of a text for known messages."""
    return one.name in recognise.LOGS or one is recognise.LINES


def attempt(one: recognise.Recogniser, section: Section, hint: hints.Hint, now: float) -> tuple[Facts, str]:
    """(facts with places in the file, "" or why the parser refused)."""
    output = as_output(section, (section.text.encode("utf-8", "replace"),), hint, now)
    try:
        facts = one.parse(output, hint.about)
    except ParseError as error:
        return {}, str(error)[:300]
    facts = {kind: [completed(fact, one, hint) for fact in records] for kind, records in facts.items()}
    return place.placed(facts, section.text, section.line), ""


def as_output(section: Section, pages: tuple[bytes, ...], hint: hints.Hint, now: float) -> Output:
    """The section as the answer of a command, which is what parsers read."""
    return Output(command=Command(hint.argv), pages=pages, time=now, source=section.path)


def completed(fact: Fact, one: recognise.Recogniser, hint: hints.Hint) -> Fact:
    """What the hint knows and the parser can't: where nvidia-smi ran, and that unknown text is a file and no log."""
    if isinstance(fact, Smi) and not fact.inside and hint.inside:
        return msgspec.structs.replace(fact, inside=hint.inside)
    if one is recognise.LINES and getattr(fact, "source", "") == "log":
        return msgspec.structs.replace(fact, source="file")
    return fact


def unwrapped(section: Section, facts: Facts, hint: hints.Hint, now: float) -> list[Fact]:
    """Known messages that are found only when the lines of a paragraph are joined: terminals and forms wrap long lines."""
    from gpudoctor.facts import Origin
    from gpudoctor.parsers.messages import scan_text

    known = {getattr(message, "name", "") for message in facts.get("messages", [])}
    found: list[Fact] = []
    for number, paragraph in paragraphs(section):
        origin = Origin(section.path, 0, "")
        for message in scan_text(" ".join(paragraph), source="file", about=hint.about, origin=origin):
            if message.name not in known:
                known.add(message.name)
                place_ = Origin(section.path, number, paragraph[0].strip())
                found.append(msgspec.structs.replace(message, origin=place_))
    return found


def paragraphs(section: Section) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, lines) of each run of two or more lines without a blank one between them."""
    run: list[str] = []
    for number, line in enumerate([*section.lines, ""], section.line):
        if line.strip():
            run.append(line.strip())
        else:
            if len(run) > 1:
                yield number - len(run), run
            run = []


def large_sections(read: Read, now: float) -> Iterator[tuple[Section, tuple[Facts, list[str], str]]]:
    """A source that is too large to cut: one answer in JSON as it is, anything else block by block as a log."""
    sample = read.sections[0]
    hint = hints.of_section(sample.path, "")
    if sample.text.lstrip()[:1] in "{[" and '"kind"' in sample.text:
        pages = (b"".join(read.source.blocks()),)
        objects = recognise.RECOGNISERS[0]
        try:
            found = objects.parse(as_output(sample, pages, hint, now), hint.about)
            yield sample, (found, [objects.name], "")
        except ParseError as error:
            yield sample, ({}, [], str(error)[:300])
        return
    one = next((one for one in recognise.recognise(sample.text, hint) if one.name in recognise.LOGS), recognise.LINES)
    line = 1
    for block in read.source.blocks():
        section = Section(sample.path, line, "")
        facts = one.parse(as_output(section, (block,), hint, now), hint.about)
        yield section, (place.placed(facts, "", line), [one.name] if one is not recognise.LINES or any(facts.values()) else [], "")
        line += block.count(b"\n")
