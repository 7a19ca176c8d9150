"""TOML line by line: tables and their plain values, also of a part of a file that somebody pasted, or around a line that is broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.parser import LINE

# [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
TABLE = regex(r"^\s{0,64}\[{1,2}(?P<path>[^\[\]]{1,300})\]{1,2}\s*(?:#.*)?$")
PART = regex(r"\"([^\"]*)\"|'([^']*)'|([^.\s\"']+)")
# SystemdCgroup = true
PAIR = regex(r"^\s{0,64}(?P<key>[A-Za-z0-9_-]{1,100}|\"[^\"]{1,100}\")\s{0,16}=\s{0,16}(?P<value>\S.{0,2000}?)\s*$")
TEXT = regex(r"\"([^\"]*)\"|'([^']*)'")


class Value(NamedTuple):
    """One line: the table it stands in, key and value (texts without quotes, lists as they are), and its number from 1.

    A table's own line has no key.
    """

    table: tuple[str, ...]
    key: str
    value: str
    line: int


def values(text: str) -> Iterator[Value]:
    """The tables and values of a text, in order."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        shown = line[:LINE]
        if match := TABLE.match(shown):
            table = tuple(next((one for one in part.groups() if one is not None), "") for part in PART.finditer(match["path"]))
            yield Value(table, "", "", number)
        elif match := PAIR.match(shown):
            value = match["value"]
            quoted = TEXT.match(value)
            plain = value.split("#")[0].strip()
            yield Value(
                table, match["key"].strip('"'), next(one for one in quoted.groups() if one is not None) if quoted else plain, number
            )
