"""From paths to facts: every source is cut into sections, each is recognised by its content and read by its parser.

All sources are looked at before the first is read: ages are counted from the newest time that any of them shows. What is short is held
until then, what is long is read again.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Hashable, Iterable, Iterator
from functools import partial

import msgspec

import gpudoctor.library  # noqa: F401 - parsers look for what it has compiled
from gpudoctor.analyze import merge, trials
from gpudoctor.facts import Facts, Subject
from gpudoctor.intake import diff, files, folders, hints, log_files, long_texts, newest_time, rank_files, recorded_bundles, section_facts
from gpudoctor.intake.budget import PARTLY, UNREAD, Budget, TimeUp
from gpudoctor.intake.progress import Count, OnRead
from gpudoctor.intake.split import Section, clean, split
from gpudoctor.registry import load
from gpudoctor.report import InputFile
from gpudoctor.tools.form import Form
from gpudoctor.tools.parser import ParseError, mistake
from gpudoctor.tools.torch import plain_pickle

SPLIT = 32 << 20  # a text up to this size is cut into sections at once, a longer one piece by piece
HELD = 16 << 20  # characters of sections that are held from the first look to the reading
TINY = 512  # bytes; such a text is kept, it may be a host's name
UNKNOWN = 20  # parts of one source that are told as unknown
LOOKING = 0.5  # of the time may be gone after the first look: what was seen then is read
DUMP = "torch.flight_recorder"  # the one parser of what isn't text


class Gathered(msgspec.Struct, frozen=True):
    """The facts of all inputs, what each input was, and the newest time that any of them shows (0: none)."""

    facts: Facts
    inputs: list[InputFile]
    now: float


class Read(msgspec.Struct):
    """One source on its way."""

    source: files.Source
    sections: list[Section] | None = None  # None: cut again when they are read
    facts: Facts = {}
    names: list[str] = []
    gave: set[frozenset[str]] = set()  # the types of what its parts gave
    unknown: list[str] = []  # parts that no parser knows
    note: str = ""
    newest: newest_time.Newest = newest_time.Newest()
    key: tuple[int, int] = (0, 0)  # sources are read in the order of their content: what they are called changes nothing
    ranks: rank_files.Long | None = None  # a log of ranks: long ones are read together, short ones where there are many
    log: Form | None = None  # what reads a long log of anything else
    printed: recorded_bundles.Printed | None = None  # of a bundle's file: the command that printed it


def gather(paths: Iterable[str], on_read: OnRead | None = None, budget: Budget | None = None) -> Gathered:
    """Read everything behind the paths. Never raises for what is in a file: it gives fewer facts, or a note."""
    count = Count(on_read)
    budget = budget or Budget()
    reads = list(looked_at(paths, count, budget))
    apart_if_few(reads)
    hosts = folders.hosts((read.source.path, read.source.data or b"") for read in reads)
    sources = (read.source for read in reads if recorded_bundles.is_list(read.source.path))
    lists = ((source.path, files.up_to(source.pieces(), recorded_bundles.LARGEST)) for source in sources)
    printed = recorded_bundles.answers(lists)
    # Syslog carries no year: where no text has a full date, ages are counted from its last line, in the latest year that fits.
    now = max((read.newest.dated for read in reads), default=0.0) or max((read.newest.guessed for read in reads), default=0.0)
    count.begin("read", len(reads))
    facts: Facts = {}
    ranks: list[rank_files.Long] = []
    for read in reads:
        read.printed = printed.get(read.source.path)
        read.log = None if read.printed and not read.printed.command else read.log
    texts: dict[Hashable, Read] = {}
    ordered = sorted(reads, key=lambda one: (one.printed.time if one.printed else 0.0, one.key))
    logs = log_files.read([log_of(read, read.log, now, hosts) for read in ordered if read.log is not None], count.bytes, budget)
    budget.turns = len(reads) + any(read.ranks is not None for read in reads)
    for read in ordered:
        first = texts.setdefault(identity(read), read)
        if first is not read:  # saved twice: it says nothing more
            read.names, read.gave = first.names, first.gave
            count.file()
            continue
        if read.ranks is not None:
            ranks.append(read.ranks)
        try:
            if read.log is not None:
                said = budget.spend(budget.end, lambda: next(logs, log_files.Read(note=UNREAD)))
                read.facts, read.names, read.note = said.facts, said.names, said.note
                read.gave = {frozenset(said.facts)} if said.facts else set()
            elif budget.up:
                read.note = read.note or UNREAD
            else:
                budget.spend(budget.turn(), partial(parse, read, now, hosts, count, budget))
        except TimeUp as cut:
            read.note = read.note or str(cut)
        except Exception as error:  # of ours: the other sources still count
            read.note = mistake("analyze", read.source.path, error)
        count.file()
        for kind, records in read.facts.items():
            facts.setdefault(kind, []).extend(records)
        read.facts, read.sections = {}, []
    of_ranks: Facts = {}
    try:
        of_ranks = budget.spend(budget.end, lambda: rank_files.parse_logs(ranks, now)) if ranks else {}
    except Exception as error:
        for read in reads:
            why = PARTLY if isinstance(error, TimeUp) else mistake(f"parser {rank_files.PARSER}", read.source.path, error)
            read.note = read.note if read.ranks is None else why
    for kind, records in of_ranks.items():
        facts.setdefault(kind, []).extend(records)
    for read in reads if of_ranks else ():
        read.gave = read.gave if read.ranks is None else {frozenset(of_ranks)}
    inputs = [
        InputFile(
            path=read.source.path,
            recognised_as=read.names,
            facts=sorted(sorted(part) for part in read.gave),
            note=read.note or read.source.note,
            unknown=read.unknown,
        )
        for read in reads
    ]
    return Gathered(merge.merge_facts(facts), inputs, now)


def identity(read: Read) -> Hashable:
    """What makes two sources one: the same text about the same thing. Samples of a bundle count each, what is long, and numbered files:
    eight ranks may say the same.
    """
    if read.printed is not None or not read.source.size or read.source.size >= files.LONG or read.note:
        return id(read)
    numbers = tuple(re.findall(r"\d+", read.source.path.rpartition("/")[2]))
    return read.key, hints.of_section(read.source.path, "").about, numbers


def looked_at(paths: Iterable[str], count: Count, budget: Budget) -> Iterator[Read]:
    """All sources, each with its newest time; the sections of the first ones, as far as they may be held."""
    left = HELD
    until = budget.left(LOOKING)
    for source in files.read(paths, count.bytes, budget=budget, until=until):
        try:
            read = budget.spend(until, partial(inspect_source, source))
        except TimeUp as cut:
            read = Read(source, [], note=str(cut))
        except Exception as error:
            read = Read(source, [], note=mistake("analyze", source.path, error))
        left -= sum(len(section.text) for section in read.sections or ()) if read.ranks is None else len(source.data or b"")
        if left < 0 and (read.sections or read.ranks):
            read.sections = None
            if source.size > TINY:
                source.put_away()
        count.file()
        yield read


def inspect_source(source: files.Source) -> Read:
    """Look at a source for the first time."""
    ends = source.ends if source.data is None else source.data
    if plain_pickle.looks_like(ends):
        return read_dump(source)
    read = Read(source, key=(zlib.crc32(ends), source.size))
    if rank_files.is_rank_log(ends):
        read.ranks = rank_files.of_source(source, ends)
        read.newest = newest_time.Newest(read.ranks.newest)
    elif source.data is None and (log := long_texts.log(source, ends)):
        read.log, read.newest = log, newest_time.of_log(clean(ends))
    elif source.size > SPLIT:
        read.newest = newest_time.of_text(clean(ends))
    elif ends.strip():
        text = clean(b"".join(source.pieces()))
        read.sections, read.newest = split(source.path, text), newest_time.of_text(text)
    elif not source.note:
        read.sections, read.note = [], "empty"
    return read


def apart_if_few(reads: list[Read]) -> None:
    """A few short logs of ranks are read each for itself, as any text that may hold other outputs too."""
    short = [read for read in reads if read.ranks is not None and read.source.size < files.LONG]
    for read in short if len(short) < rank_files.MANY else ():
        read.ranks = None
        read.newest = newest_time.of_text(clean(b"".join(read.source.pieces())))
    for read in reads:
        if read.ranks is not None:
            read.names = [rank_files.PARSER]


def read_dump(source: files.Source) -> Read:
    """A source that is no text but a pickle, which only a flight recorder's dump is; what else it may be stays a note.

    It is read at once and let go, since a job has one for each rank.
    """
    hint = hints.of_section(source.path, "")
    data = files.up_to(source.pieces(), plain_pickle.LARGEST + 1)
    read = Read(source, [], key=(zlib.crc32(data), len(data)))
    source.data, source.open = b"", None
    try:
        read.facts = load(DUMP)(section_facts.as_output(Section(source.path, 1, ""), (data,), hint, 0.0), hint.about)
        read.gave = {frozenset(read.facts)}
        read.names = [DUMP]
    except ParseError as error:
        read.note = str(error)[:300]
    except Exception as error:
        read.note = mistake(f"parser {DUMP}", source.path, error)
    return read


def log_of(read: Read, kind: Form, now: float, hosts: dict[str, str]) -> log_files.Log:
    """A source that is a long log, with what is known of where it comes from."""
    path = read.source.path
    begun_by = in_its_place(Section(path, 1, ""), read.printed, {})
    hint = hints.of_section(path, begun_by.command, begun_by.about)
    hint = msgspec.structs.replace(hint, about=folders.on_host(hint.about, path, hosts))
    return log_files.Log(read.source, kind, hint, (read.printed.time if read.printed else 0.0) or now)


def parse(read: Read, now: float, hosts: dict[str, str], count: Count, budget: Budget) -> None:
    """Fill a source's facts and the names of what it was recognised as."""
    if read.printed is not None:
        if not read.printed.command:
            read.names = [recorded_bundles.LIST]
            return
        now = read.printed.time or now
    notes: list[str] = []
    for section in trials.watch_sections(read.facts, diff.restore_looks(sections_of(read))):
        section = in_its_place(section, read.printed, hosts)
        found, recognised, note, unknown = section_facts.read(section, now)
        notes += [note] if note else []
        read.unknown += [unknown] if unknown and len(read.unknown) < UNKNOWN else []
        for kind, records in found.items():
            read.facts.setdefault(kind, []).extend(records)
        if gave := frozenset(kind for kind, records in found.items() if records):
            read.gave.add(gave)
        read.names = [*dict.fromkeys([*read.names, *recognised])]
        count.bytes(len(section.text))
        if budget.up:
            read.note = read.note or PARTLY
            break
    if notes and not (read.note or read.source.note):  # what is cut off may not look like what it was
        read.note = notes[0] + (f" (and {len(notes) - 1} more)" if len(notes) > 1 else "")


def in_its_place(section: Section, printed: recorded_bundles.Printed | None, hosts: dict[str, str]) -> Section:
    """A section with what a bundle's list, or the report of a machine that it is in, says of its origin."""
    about, command = section.about, section.command
    if printed is not None:
        command = command or printed.command
        about = Subject(kind="node", node=printed.host) if printed.host and about.kind == "cluster" else about
    return msgspec.structs.replace(section, command=command, about=folders.on_host(about, section.path, hosts))


def sections_of(read: Read) -> Iterable[Section]:
    """The sections that are held, or those of a second reading."""
    source = read.source
    if read.sections is not None or read.ranks is not None:
        return read.sections or ()
    if source.size <= SPLIT:
        return split(source.path, clean(b"".join(source.pieces())))
    if not long_texts.is_answer(source):
        return long_texts.sections(source)
    whole, read.note = long_texts.answer(source)
    return [Section(source.path, 1, clean(whole))] if whole else []
