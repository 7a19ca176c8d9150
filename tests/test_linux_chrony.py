"""`chronyc tracking`: what is read of it, how it is recognised, and from where on a clock is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.node import Clock
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common.ends import cut_off
from gpudoctor.tools.linux import chrony
from gpudoctor.tools.parser import ParseError
from tests.nodes import bus
from tests.pasted import diagnosed

LOST = "Not synchronised"


def read(text: str) -> Facts:
    return chrony.chrony(Output(Command(("chronyc", "tracking")), pages=(text.encode(),)), Subject(kind="node", node="gpu-01"))


def clocks(text: str) -> list[Clock]:
    return [one for one in read(text)["clocks"] if isinstance(one, Clock)]


def test_an_answer_is_one_clock() -> None:
    (clock,) = clocks(bus.chrony(2.5, fast=True))
    assert (clock.node, clock.leap, clock.offset, clock.fast) == ("gpu-01", "Normal", 2.5, True)
    assert (clock.stratum, clock.reference, clock.origin.line) == (3, "ntp-1.local", 4)


def test_without_a_server_the_offset_is_not_zero_but_unknown() -> None:
    (clock,) = clocks(bus.chrony(0.0, LOST))
    assert (clock.offset, clock.gaps, clock.reference) == (None, {"offset": "not synchronised"}, "")
    assert clock.origin.text.endswith(LOST)


def test_two_answers_are_two_clocks() -> None:
    assert [clock.offset for clock in clocks(bus.chrony(1.0) + bus.chrony(3.0))] == [1.0, 3.0]


@pytest.mark.parametrize(("line", "leap"), [("Leap status … : Normal", "Normal"), ("Leap status     : Invalid", "Invalid")])
def test_a_line_alone_is_read_and_an_unknown_word_is_carried_on(line: str, leap: str) -> None:
    assert [clock.leap for clock in clocks(line)] == [leap]
    assert chrony.score([line])


@pytest.mark.parametrize("text", ["506 Cannot talk to daemon\n", "Name/IP address   Stratum Poll Reach\n"])
def test_another_text_of_chronyc_is_no_answer(text: str) -> None:
    assert not chrony.score(text.split("\n"))
    with pytest.raises(ParseError):
        read(text)


def test_an_answer_ends_with_the_leap_status() -> None:
    whole = bus.chrony()
    assert cut_off("linux.chrony", whole) == ""
    assert "cut off" in cut_off("linux.chrony", whole[: whole.index("Leap")])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (bus.chrony(0.999999), []),
        (bus.chrony(1.0), [("clock_off", "warning")]),
        (bus.chrony(99.999999), [("clock_off", "warning")]),
        (bus.chrony(100.0), [("clock_far_off", "critical")]),
        (bus.chrony(0.0, LOST), [("clock_not_synchronised", "warning")]),
        (f"ntp is broken there, Leap status     : {LOST}, can you look?\n", [("clock_not_synchronised", "warning")]),
    ],
)
def test_from_where_on_a_clock_is_wrong(text: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    report = diagnosed(tmp_path, text)
    assert [(one.check.rpartition(".")[2], one.severity) for one in report.findings] == found
    assert report.verdict == ("problem" if found else "inconclusive")
