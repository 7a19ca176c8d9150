"""Every parser of the table with what the world may hand it: cut off, recoded, coloured, endless. It raises nothing but a ParseError that
names its source, takes time in proportion to the text, and loses no good line for a bad one.
"""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import PARSERS, load
from gpudoctor.tools.parser import ParseError
from tests.parser_samples import SAMPLES

SOURCE = "answers/answer-7.txt"
NOW = 1_772_366_400.0
SMALL = 3000  # bytes up to which a text is cut at every byte, else at so many places
SIZE = 1_000_000
QUICK = 1.0  # s: what is so quick for a megabyte needs no comparison with half of it
STEEPEST = 3.2  # times as long for twice the text: linear is 2, quadratic 4
ABOUT = Subject(kind="node", node="gpu-07")
JSON = sorted(name for name, text in SAMPLES.items() if text.startswith("{"))
LINES = sorted(set(SAMPLES) - set(JSON))


def read(name: str, data: bytes) -> Facts | None:
    """What a parser makes of some bytes; None where it refuses them."""
    output = Output(Command(("cat", "/proc/4711/cgroup"), host="gpu-07"), pages=(data,), time=NOW, source=SOURCE)
    try:
        facts: Facts = load(name)([output] if PARSERS[name].streams else output, ABOUT)  # type: ignore[arg-type]
    except ParseError as error:
        assert SOURCE in str(error)  # noqa: PT017
        return None
    assert set(facts) <= set(PARSERS[name].fills)
    return facts


def shown(facts: Facts | None) -> Counter[str]:
    """The facts without where they stand, which differs between two forms of a text."""
    assert facts is not None
    return Counter(re.sub(r"Origin\((?:[^'\"()]|'[^']*'|\"[^\"]*\")*\)", "", repr(one)) for found in facts.values() for one in found)


def counted(facts: Facts | None) -> Counter[str]:
    """How many facts of each type."""
    assert facts is not None
    return Counter({kind: len(found) for kind, found in facts.items()})


def test_every_parser_has_a_sample_and_reads_it() -> None:
    assert set(SAMPLES) == set(PARSERS)
    assert [name for name in PARSERS if not any((read(name, SAMPLES[name].encode()) or {}).values())] == []


@pytest.mark.parametrize("name", SAMPLES)
def test_cut_off_anywhere(name: str) -> None:
    data = SAMPLES[name].encode()
    for end in range(0, len(data), max(1, len(data) // SMALL)):
        read(name, data[:end])
        read(name, data[end:])


@pytest.mark.parametrize("name", SAMPLES)
def test_other_line_ends_colours_and_half_a_character_change_nothing(name: str) -> None:
    text = SAMPLES[name]
    wanted = shown(read(name, text.encode()))
    assert shown(read(name, text.replace("\n", "\r\n").encode())) == wanted
    if name in LINES:
        for end in (b"\n\xc3", b"\x00\n\x00", b"\x1b[0m\n"):
            assert counted(read(name, text.encode() + end)) == counted(read(name, text.encode()))


@pytest.mark.parametrize("name", SAMPLES)
def test_colours_and_nuls_within(name: str) -> None:
    data = SAMPLES[name].encode()
    for changed in (
        data.replace(b" ", b" \x00"),
        data.replace(b" ", b" \x1b[1;31m"),
        data.replace(b"0", "\N{FULLWIDTH DIGIT ZERO}".encode()),
        data.replace(b"0", b"0" * 400),
        data.replace(b".", b","),
        b"\xef\xbb\xbf" + data,
        data.decode().encode("utf-16"),
        data[: len(data) // 2] + b"\xe2\x82" + data[len(data) // 2 :],
    ):
        read(name, changed)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("bad", [b"\xff\xfe\x00 [] {} | : = %s", b"(" * 600, "№ ６４ ·".encode(), b"Error: x\x1b[0m"], ids=range(4))
def test_a_bad_line_loses_no_good_ones(name: str, bad: bytes) -> None:
    data = SAMPLES[name].encode()
    kept = counted(read(name, bad + b"\n" + data + b"\n" + bad + b"\n"))
    assert not counted(read(name, data)) - kept


def hostile(name: str) -> dict[str, bytes]:
    """A megabyte made of a sample: one line without an end, short lines, its longest line over and over, and what nests."""
    text = SAMPLES[name]
    line = max(text.split("\n"), key=len)
    whole = text if text.endswith("\n") else f"{text}\n"
    return {
        "one line": (line * (SIZE // len(line))).encode(),
        "the longest line": (f"{line}\n" * (SIZE // (len(line) + 1))).encode(),
        "the whole": (whole * (SIZE // len(whole))).encode(),
        "short lines": (f"{line[:12]}\n" * (SIZE // 13)).encode(),
        "blanks": line[:20].encode() + b" " * SIZE,
        "brackets": b"[{" * (SIZE // 2),
        "digits": line[: len(line) // 2].encode() + b"7" * SIZE,
    }


def seconds(name: str, data: bytes) -> float:
    """How long a parser takes, by this process's own clock."""
    began = time.process_time()
    read(name, data)
    return time.process_time() - began


@pytest.mark.parametrize("name", SAMPLES)
def test_a_megabyte_takes_twice_as_long_as_half_of_it(name: str) -> None:
    for form, data in hostile(name).items():
        whole = seconds(name, data)
        if whole > QUICK:
            half = min(seconds(name, data[: len(data) // 2]) for _ in range(2))
            whole = min(whole, seconds(name, data))
            assert whole < STEEPEST * half + QUICK, f"{form}: {whole:.2f} s, {half:.2f} s for half of it"


@settings(max_examples=60, derandomize=True, database=None)
@given(st.binary(max_size=200), st.integers(0, 3000), st.integers(0, 40))
def test_any_bytes_raise_nothing_else(rubbish: bytes, at: int, lost: int) -> None:
    for name, text in SAMPLES.items():
        data = text.encode()
        read(name, rubbish)
        read(name, data[:at] + rubbish + data[at + lost :])
