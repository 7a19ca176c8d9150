"""Samples changed at random: bytes, numbers, lines, pieces of other samples, and values inside of JSON. A seed gives the same again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

LARGEST = 20_000  # bytes; what takes long for its length is looked for by `deep` and `test_parsers_hostile.py`
NUMBER = re.compile(rb"\d+")
NUMBERS = [
    b"0",
    b"-1",
    b"9" * 20,
    b"9" * 400,
    b"1e400",
    b"nan",
    b"inf",
    b"0x7fffffffffffffff",
    b"18446744073709551616",
    b"4294967295",
    b"00",
]
NUMBERS += ["१२".encode(), "０".encode(), "²".encode(), b"1.5", b"1_000", b"-0", b"2147483648", b"253402300800", b"99999999999"]
TOKENS = [
    b"\x00",
    b"\xff\xfe",
    b"\xc3",
    b"\x1b[0m",
    b"\r",
    b"\x85",
    b"\xe2\x80\xa8",
    b"\x1c",
    b"\x0c",
    b"\t",
    b" ",
    b"\n",
    b"\n\n",
    b"---\n",
    b"```\n",
]
TOKENS += [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"N/A",
    b"[Unknown Error]",
    b"-",
]
TOKENS += [
    b"%",
    b"${",
    b":",
    b"=",
    b",",
    b"|",
    b"/",
    b"..",
    b"(",
    b")",
    b"<none>",
    b"<unknown>",
    b"Err!",
    b"ERR!",
    b"[N/A]",
    b"(null)",
    b"n/a",
]
TOKENS += [
    b"2026-13-45T99:99:99Z",
    b"0000-00-00",
    b"9999-12-31T23:59:59.999999999+23:59",
    b"Feb 30 25:61:61",
    b"GPU-",
    b"0000:00:00.0",
    b"$ ",
]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    float("inf"),
    "",
    "x",
    "\ud800",
    "0",
    [],
    [None],
    {},
    {"": None},
    [[[]]],
    {"items": None},
]

Mutation = Callable[[bytes, random.Random, list[bytes]], bytes]


def other_byte(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """One byte is another one."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]


def cut(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """A piece is missing, mostly a short one."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + data[at + dice.choice((1, 2, 8, 64, len(data))) :]


def doubled(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """A piece stands there again."""
    at, size = dice.randrange(len(data) + 1), dice.choice((1, 8, 64, 512))
    return data[: at + size] * dice.choice((1, 1, 2)) + data[at:]


def token(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """Something that has a meaning somewhere is put in, or takes a place."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + dice.choice(TOKENS) + data[at + dice.choice((0, 0, 1, 4)) :]


def number(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """A number is another one."""
    found = list(NUMBER.finditer(data))
    if not found:
        return data + dice.choice(NUMBERS)
    match = dice.choice(found)
    return data[: match.start()] + dice.choice(NUMBERS) + data[match.end() :]


def lines(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """Lines are missing, come twice or change places."""
    rows = data.split(b"\n")
    one, two = dice.randrange(len(rows)), dice.randrange(len(rows))
    rows[one], rows[two] = rows[two], rows[dice.choice((one, two))]
    if dice.random() < 0.3:
        del rows[dice.randrange(len(rows))]
    return b"\n".join(rows)


def spliced(data: bytes, dice: random.Random, others: list[bytes]) -> bytes:
    """A piece of another sample stands in this one."""
    other, at = dice.choice(others), dice.randrange(len(data) + 1)
    begin = dice.randrange(len(other) + 1)
    return data[:at] + other[begin : begin + dice.choice((8, 64, 2000))] + data[at + dice.choice((0, 64)) :]


def typed(data: bytes, dice: random.Random, _: list[bytes]) -> bytes:
    """A value of a JSON text has another type; of any other text a word is missing."""
    try:
        root = [json.loads(data)]
    except (ValueError, RecursionError):
        words = data.split(b" ")
        del words[dice.randrange(len(words))]
        return b" ".join(words)
    holder: Any = root
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and dice.random() < 0.85:
        holder = holder[key]
        key = dice.choice(list(holder)) if isinstance(holder, dict) else dice.randrange(len(holder))
    holder[key] = dice.choice(VALUES)
    return json.dumps(root[0]).encode()


MUTATIONS: tuple[Mutation, ...] = (other_byte, cut, doubled, token, number, lines, spliced, typed, typed, number)


def mutated(sample: bytes, others: list[bytes], dice: random.Random) -> bytes:
    """A sample after one to five changes."""
    for _ in range(dice.choice((1, 1, 2, 3, 5))):
        sample = dice.choice(MUTATIONS)(sample, dice, others)[:LARGEST]
    return sample


def deep(sample: bytes, size: int, dice: random.Random) -> bytes:
    """A text of `size` bytes in which a piece of the sample, or what opens something, comes over and over; on one line, or on many."""
    at = dice.randrange(len(sample) + 1)
    piece = dice.choice(
        (sample[at : at + dice.choice((1, 3, 12, 80, 400))], dice.choice(TOKENS), dice.choice((b"[", b'{"a":', b"(", b" ", b"a")))
    )
    piece = (piece or b"a") + dice.choice((b"", b"", b"\n", b" "))
    return sample[:at] + piece * (size // len(piece)) + dice.choice((b"", sample[at:]))
