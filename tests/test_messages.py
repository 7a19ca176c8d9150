"""The scanner finds known messages line by line, in texts of any size, whatever the cuts between chunks."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.facts import Origin, Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import messages
from gpudoctor.tools.common.blocks import LONGEST_LINE
from gpudoctor.tools.common.messages import MANY, MOST_DIFFERENT, SAMPLE, Hit, find, fold, scan_lines, scan_text, tally_hits
from gpudoctor.tools.common.scanner import compile_scanner

ENTRIES = [
    ("no_runtime", r'no runtime for "([^"]+)" is configured'),
    ("bare_start", r"^boot ok$"),
    ("xid", r"Xid=(\d+)"),
    ("either", r"alpha|beta"),
    ("euro", r"costs (\d+) €"),
]
KNOWN = compile_scanner(ENTRIES)
PLUGIN = Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", container="plugin", node="gpu-02", component="device-plugin")


@pytest.fixture(autouse=True)
def small_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The five entries above in place of the project's."""
    monkeypatch.setattr(messages, "scanner", lambda: KNOWN)


def found(text: str) -> list[tuple[int, str, str]]:
    return [(hit.line, hit.name, hit.detail) for hit in find([text.encode()])]


def test_lines_are_found_with_number_and_detail() -> None:
    text = 'starting\nboot ok\nE1 no runtime for "nvidia" is configured\nXid=79 on a, Xid=63 on b\nend'
    assert found(text) == [(2, "bare_start", ""), (3, "no_runtime", "nvidia"), (4, "xid", "79")]


def test_a_line_may_say_several_things() -> None:
    assert found("beta Xid=31 alpha") == [(1, "either", ""), (1, "xid", "31")]


def test_nothing_matches_across_lines() -> None:
    assert found('no runtime for "nvi\ndia" is configured') == []
    assert found('no runtime for "\nno runtime for "nvidia" is configured') == [(2, "no_runtime", "nvidia")]


def test_carriage_returns_colours_and_utf8() -> None:
    assert found("boot ok\r\n\x1b[31mboot\x1b[0m ok\r\nit costs 5 €\r\n") == [
        (1, "bare_start", ""),
        (2, "bare_start", ""),
        (3, "euro", "5"),
    ]


def test_what_lies_beyond_the_longest_line_is_not_looked_at() -> None:
    assert found("x" * (LONGEST_LINE - 6) + "Xid=79\nXid=63\n") == [(1, "xid", "79"), (2, "xid", "63")]
    assert found("x" * LONGEST_LINE + "Xid=79\nXid=63\n") == [(2, "xid", "63")]
    assert found("x" * 3_000_000 + "Xid=79\n" + "y" * 2_000_000 + "\nXid=63") == [(3, "xid", "63")]


def test_undecodable_bytes_do_no_harm() -> None:
    assert [hit.detail for hit in find([b'\xff\xfe no runtime for "\xff" is configured \x00'])] == ["�"]


def test_equal_messages_are_one_record_with_the_first_origin_and_the_last_age() -> None:
    log = b"2026-03-01T11:00:00Z Xid=79\n2026-03-01T11:30:00Z Xid=31\n2026-03-01T11:50:00Z Xid=79\n"
    output = Output(Command(("kubectl", "logs", "plugin-x")), pages=(log,), time=1772366400.0)  # 12:00
    first, second = scan_lines(output, PLUGIN, source="log")
    assert (first.name, first.detail, first.count, first.age, first.time) == ("xid", "79", 2, 600.0, 1772366400.0 - 3600)
    assert first.origin == Origin("kubectl logs plugin-x", 1, "2026-03-01T11:00:00Z Xid=79")
    assert first.subject() == PLUGIN
    assert (second.detail, second.count, second.origin.line) == ("31", 1, 2)


def test_a_text_keeps_the_place_it_stands_at() -> None:
    (message,) = scan_text("first\nXid=79", source="event", about=PLUGIN, origin=Origin("events.txt", 40, "…"), age=5.0, count=3)
    assert (message.origin, message.age, message.count, message.source) == (Origin("events.txt", 41, "Xid=79"), 5.0, 3, "event")
    (message,) = scan_text("first\nXid=79", source="status", about=PLUGIN, origin=Origin("kubectl get pods"))
    assert message.origin.line == 0


def test_folding_adds_up_per_subject() -> None:
    other = Subject(kind="pod", namespace="ml", pod="b")
    origin = Origin("events")
    parts = [
        *scan_text("Xid=79", source="event", about=PLUGIN, origin=origin, age=9.0),
        *scan_text("Xid=79", source="event", about=other, origin=origin),
        *scan_text("Xid=79", source="event", about=PLUGIN, origin=origin, age=4.0, count=2),
    ]
    assert [(m.pod, m.count, m.age) for m in fold(parts)] == [("plugin-x", 3, 4.0), ("b", 1, None)]


def test_the_number_of_different_messages_is_bounded() -> None:
    endless = (Hit(line, "", "xid", str(line)) for line in range(MOST_DIFFERENT * 2))
    assert len(tally_hits(endless)) == MOST_DIFFERENT


def test_of_very_many_lines_that_nobody_counts_a_sample_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "sampled", lambda: frozenset({"either"}))
    texts = ["alpha Xid=31" if number % 1000 == 0 else "alpha and what a packet filter says" for number in range(MANY * 10)]
    hits = list(find(["".join(f"{text}\n" for text in texts).encode()]))
    either = [hit.line for hit in hits if hit.name == "either"]
    assert either[:MANY] == [*range(1, MANY + 1)]
    assert SAMPLE <= len(either) - MANY < MANY
    assert all("alpha" in texts[line - 1] for line in either)
    assert [hit.line for hit in hits if hit.name == "xid"] == [*range(1, len(texts) + 1, 1000)]  # every one, among what is passed over


lines = st.lists(
    st.sampled_from(["boot ok", "Xid=79", "Xid=31 alpha", "nothing", "", 'no runtime for "a" is configured', "x" * 5000]), max_size=30
)


@given(lines, st.lists(st.integers(0, 2000), max_size=8), st.booleans())
def test_cuts_between_chunks_change_nothing(parts: list[str], cuts: list[int], newline: bool) -> None:
    whole = "\n".join(parts).encode() + (b"\n" if newline else b"")
    places = sorted({0, *(min(cut, len(whole)) for cut in cuts), len(whole)})
    chunks = [whole[start:end] for start, end in itertools.pairwise(places)]
    expected = [hit for number, part in enumerate(parts, 1) for hit in (Hit(number, *h[1:]) for h in find([part.encode()]))]
    assert list(find(chunks)) == expected


@given(st.binary(max_size=500))
def test_any_bytes_are_safe(data: bytes) -> None:
    for hit in find([data]):
        assert 1 <= hit.line <= data.count(b"\n") + 1


def test_a_long_log_takes_neither_memory_nor_time() -> None:
    block = b"2026-03-01T12:00:00Z an ordinary line of an ordinary log with nothing to it\n" * 4096

    def log() -> Iterator[bytes]:
        for _ in range(200):  # 60 MiB
            yield block
        yield b"Xid=79\n"

    tracemalloc.start()
    started = time.perf_counter()
    (hit,) = find(log())
    seconds = time.perf_counter() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert hit.line == 200 * 4096 + 1
    assert peak < 8 << 20
    assert seconds < 5  # about 0.2 s on an idle core


def test_a_hostile_log_is_no_slower_than_its_size() -> None:
    unterminated = b'no runtime for "' * 200 + b"\n"
    started = time.perf_counter()
    assert list(find([unterminated * 2000])) == []  # 6 MiB in which every line almost matches
    assert len(tally_hits(find([b"Xid=79\n" * 200_000]))) == 1
    assert time.perf_counter() - started < 10


def test_no_entries_find_nothing() -> None:
    assert list(find([b"Xid=79"], compile_scanner([]))) == []
