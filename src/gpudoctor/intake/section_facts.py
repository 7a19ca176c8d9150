"""One section to facts: recognised by its content, read by its parsers, searched for known lines."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Smi
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake import hints, recognise, unwrap
from gpudoctor.intake.forms import LINES, reader
from gpudoctor.intake.split import Section
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import line_numbers, trouble
from gpudoctor.tools.common.ends import cut_off
from gpudoctor.tools.form import Form
from gpudoctor.tools.parser import ParseError, mistake

CALLED = 80  # characters of a section's command


class SectionRead(NamedTuple):
    """What a section gave: its facts, the names of what it is, a note when it could not be read as what it looked like; and its command
    or first line where nobody knows it.
    """

    facts: Facts
    names: list[str]
    note: str
    unknown: str


def read(section: Section, now: float) -> SectionRead:
    """Read a section by what it is recognised as."""
    hint = hints.of_section(section.path, section.command, section.about)
    facts: Facts = {}
    names: list[str] = []
    note = ""
    said = Said()
    chosen = recognise.recognise(section.text, hint)
    for one in chosen:
        found, problem = attempt(one, section, hint, now, said)
        note = note or problem
        if problem and not found:  # looked like it, but isn't: what it says in plain lines still counts
            found, _ = attempt(LINES, section, hint, now, said)
            one = LINES
        if one.embedded and any(other is not one and recognise.scans(other) for other in chosen):  # the log around it is scanned as a whole
            found.pop("messages", None)
        if one is LINES:  # nobody asked this text anything: that it is silent says nothing
            found = {kind: records for kind, records in found.items() if records}
        if found or one.name not in ("text", "kernel.log"):  # `dmesg: Operation not permitted` in a file dmesg.txt is no kernel log
            names.append(one.name)
        for kind, records in found.items():
            if kind != "schedule_reasons" or not facts.get(kind):  # a table's reader reads the events below it too
                facts.setdefault(kind, []).extend(records)
    poor = not any(facts.values()) or "pod_templates" in facts
    if poor and len(section.text) <= unwrap.WRAPPED and not any(map(recognise.scans, chosen)):
        # It gave nothing as what it is, a part of a manifest for example: its lines may.
        facts |= {kind: found for kind, found in attempt(LINES, section, hint, now, said)[0].items() if found}
    elif recognise.may_stand_among_lines(chosen):
        add_lines(facts, attempt(LINES, section, hint, now, said)[0])
    alone = chosen == [LINES]
    short = len(section.text) <= unwrap.WRAPPED and any(recognise.scans(one) for one in chosen)
    if short and (extra := unwrap.messages(section, facts, hint.about, log=not alone)):
        facts.setdefault("messages", []).extend(extra)
        names = [LINES.name] if alone else names
    unknown = section_name(section) if alone and not any(facts.values()) else ""
    if troubles := said.troubles if said.read else of_any(section, hint, now):
        facts["troubles"] = list({one.origin.line: one for one in troubles}.values())
    return SectionRead(facts, names, note, unknown)


class Said:
    """What a section itself says is not well, and whether a reader of logs has looked for that."""

    def __init__(self) -> None:
        self.read, self.troubles = False, list[Fact]()


def of_any(section: Section, hint: hints.Hint, now: float) -> list[Fact]:
    """The same of a section that no reader of logs has read."""
    found = trouble.of_text(section.text, hint.about, section.path, now)
    return line_numbers.place_facts({"troubles": [*found]}, section.text, section.line, section.numbers)["troubles"]


def add_lines(facts: Facts, found: Facts) -> None:
    """Add what lines among the answers of tools tell; a line that the tool's own reader knows has told its part."""
    known = {fact.origin.line for records in facts.values() for fact in records}
    names = {fact.name for fact in facts.get("messages", ()) if isinstance(fact, Message)}
    for kind, records in found.items():
        if kind == "messages":
            facts.setdefault(kind, []).extend(
                fact for fact in records if isinstance(fact, Message) and fact.name not in names and fact.origin.line not in known
            )
        elif records and not facts.get(kind):
            facts[kind] = records


def section_name(section: Section) -> str:
    """A section by its command, else by its first line; "" for an answer of one line, which says too little to be missed."""
    lines = section.text.strip().split("\n", 2)
    return (section.command or lines[0])[:CALLED].strip() if len(lines) > 1 else ""


def attempt(one: Form, section: Section, hint: hints.Hint, now: float, said: Said) -> tuple[Facts, str]:
    """(facts with places in the file, "" or why the parser refused the rest); what it says is not well is `said`."""
    output = as_output(section, (section.text.encode("utf-8", "replace"),), hint, now)
    try:
        facts = reader(one)(output, hint.about)
        problem = cut_off(one.name, section.text)
    except ParseError as error:
        facts, problem = error.facts, str(error)[:300]
    except Exception as error:
        return {}, mistake(f"parser {one.name}", section.path, error)
    facts = {kind: [complete_fact(fact, one, hint) for fact in records] for kind, records in facts.items()}
    found = line_numbers.place_facts(facts, section.text, section.line, section.numbers)
    said.read = said.read or (recognise.scans(one) and bool(found))
    said.troubles += found.pop("troubles", [])
    return found, problem


def as_output(section: Section, pages: tuple[bytes, ...], hint: hints.Hint, now: float) -> Output:
    """The section as the answer of a command, which is what parsers read."""
    return Output(command=Command(hint.argv), pages=pages, time=now, source=section.path)


def complete_fact(fact: Fact, one: Form, hint: hints.Hint) -> Fact:
    """What the hint knows and the parser can't: where nvidia-smi ran, and that unknown text is a file and no log."""
    if isinstance(fact, Smi) and not fact.inside and hint.inside:
        return msgspec.structs.replace(fact, inside=hint.inside)
    if one is LINES and getattr(fact, "source", "") == "log":
        return msgspec.structs.replace(fact, source="file")
    return fact
