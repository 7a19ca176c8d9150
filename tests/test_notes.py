"""What people write of GPUs in their own words: amounts with units, clauses, and tables of counters."""

from __future__ import annotations

import pytest

from gpudoctor.facts import Subject
from gpudoctor.knowledge.board_power import default_limit
from gpudoctor.notes import rank_counters
from gpudoctor.notes.amounts import stated_amounts
from gpudoctor.notes.clauses import clauses
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.parser import ParseError


def test_of_several_boards_the_lowest_limit_counts() -> None:
    assert default_limit("an A100 PCIe") == 250.0
    assert default_limit("no board") is None


def test_an_amount_is_of_what_stands_beside_it() -> None:
    assert stated_amounts("GPUs 0-3: 100% util, ~100W (cap 600W)").fields == {
        "utilisation": (100.0,),
        "power": (100.0,),
        "power_limit": (600.0,),
    }
    assert stated_amounts("CPU 100 %, GPU 30 %, PSU 1200 W").fields == {"utilisation": (30.0,)}
    assert stated_amounts("limit 30 W not 60 W").fields == {"power_limit": (30.0,), "power_limit_default": (60.0,)}


def test_a_row_of_a_table_becomes_a_sentence() -> None:
    rows = ["| GPU | util (%) | power (W) |", "|---|---|---|", "| 0 | 100 | 86 |"]
    assert [one.text for one in clauses([*enumerate(rows, 1)])] == ["GPU 0, util: 100 %, power: 86 W"]


def output(text: str) -> Output:
    return Output(Command(("cat",)), pages=(text.encode(),), source="x.txt")


def test_what_is_no_table_of_counters_is_said() -> None:
    with pytest.raises(ParseError, match=r"x\.txt"):
        rank_counters.counters(output("rank  enqueued  completed\n"), Subject(kind="cluster"))
