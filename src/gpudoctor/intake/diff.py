"""Two looks at the same counters that somebody printed beside each other: `diff a b`, `paste a b`, `diff -y a b`.

$ cat /tmp/mlx5_2.a                            > PortXmitWait:....................48153901844216      (diff)
PortXmitWait:..............48120077331902      PortXmitWait:.......48120077331902	48153901844216    (paste)

They become what the tool itself printed: the first look, and the second one after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from gpudoctor.intake.split import Section
from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.jsonpath import words_of

# PortXmitWait:....................48153901844216
COUNTER = r"[A-Z]\w{3,60}:\.{2,40}"
# < PortXmitData:....................915120338842210  |  > PortXmitData:....................915232110492338
CHANGED = regex(rf"^(?:(?P<side>[<>]) )?(?P<name>{COUNTER})(?P<value>\S{{1,24}})\s*$")
# PortXmitWait:....44780119833010	44812760094471  |  PortXmitWait:....44780119833010   | PortXmitWait:....44812760094471
BESIDE = regex(rf"^(?P<name>{COUNTER})(?P<first>\d{{1,20}})\s+(?:\|\s+)?(?:{COUNTER})?(?P<last>\d{{1,20}})\s*$")
SHORT = 65536  # characters: such an answer has some forty lines
KEPT = 64  # files whose contents are remembered
AGAIN = "# sleep 0"  # what separates two looks at one port (tools/infiniband/counters)


def restore_looks(sections: Iterable[Section]) -> Iterator[Section]:
    """The sections, those that show two looks beside each other as the looks."""
    files: dict[str, str] = {}
    for section in join_diffs(sections):
        if len(section.text) > SHORT or ":.." not in section.text:
            yield section
            continue
        words = words_of(section.command)
        if words[:1] == ["cat"] and len(words) == 2 and len(files) < KEPT:
            files[words[1]] = section.text
        named = [word for word in words[1:] if not word.startswith("-")]
        text = of_diff(section.text, files.get(named[0], "") if named else "") if words[:1] == ["diff"] else ""
        text = text or of_columns(section.text)
        yield msgspec.structs.replace(section, text=text) if text else section


def join_diffs(sections: Iterable[Section]) -> Iterator[Section]:
    """The sections, those of one diff as one: they were cut at its rules (---)."""
    held: Section | None = None
    for section in sections:
        if held is not None and section.command == held.command and len(held.text) <= SHORT:
            held = msgspec.structs.replace(held, text=f"{held.text}\n{section.text}")
            continue
        if held is not None:
            yield held
        held = section if section.command.startswith("diff ") else None
        if held is None:
            yield section
    if held is not None:
        yield held


def of_diff(text: str, first: str) -> str:
    """The looks of a diff: the second is the first, where that was printed before, with what changed; "" where it shows no two.

    The mark of a new line may have been taken for one of a quotation, and off.
    """
    changes = [match for line in text.split("\n") if (match := CHANGED.match(line))]
    new = {match["name"]: match["value"] for match in changes if match["side"] != "<"}
    old = [f"{match['name']}{match['value']}" for match in changes if match["side"] == "<"]
    if new and first:
        return "\n".join(f"{name}{new[name]}" if (name := counter(line)) in new else line for line in first.split("\n"))
    return "\n".join([*old, AGAIN, *(f"{name}{value}" for name, value in new.items())]) if new and old else ""


def of_columns(text: str) -> str:
    """The looks of two columns, with the heading above them; "" for anything else."""
    lines = text.split("\n")
    pairs = [match for line in lines if (match := BESIDE.match(line))]
    if len(pairs) < 2:
        return ""
    head = [line.split("\t")[0].split("  ")[0] for line in lines if line.startswith("# Port")][:1]
    return "\n".join(
        [*head, *(f"{match['name']}{match['first']}" for match in pairs), AGAIN, *(f"{match['name']}{match['last']}" for match in pairs)]
    )


def counter(line: str) -> str:
    """The name of a counter with its dots, as it stands before the value.

    >>> counter("PortXmitWait:....................12"), counter("CounterSelect")
    ('PortXmitWait:....................', '')
    """
    name, colon, rest = line.partition(":")
    return f"{name}:{'.' * (len(rest) - len(rest.lstrip('.')))}" if colon else ""
