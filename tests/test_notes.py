"""What people write of GPUs in their own words: amounts with units, clauses, and the one door to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor import notes
from gpudoctor.facts import Facts, Subject
from gpudoctor.knowledge.board_power import default_limit
from gpudoctor.library.index import library
from gpudoctor.notes import said
from gpudoctor.notes.amounts import stated_amounts
from gpudoctor.notes.clauses import clauses
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.parser import ParseError
from tests.pasted import corpus, diagnosed

HELD = "GPUs 0-3: 100 % util but only ~100 W (cap 600 W), for 40 min, rank 0 to 3 of the training\n"


def read(text: str) -> Facts:
    return said.read(Output(Command(("cat",)), pages=(text.encode(),), source="x.txt"), Subject(kind="cluster"))


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


def test_there_is_one_door_and_no_step_of_a_runbook_goes_through_it() -> None:
    assert [*notes.PARSERS] == ["notes.said"]
    assert [book.id for book in library().runbooks.values() for step in book.steps if step.parse in notes.PARSERS] == []


def test_every_fact_of_a_note_is_stated() -> None:
    written = [one.text for one in corpus() if said.score(one.text.split("\n"), one.text)]
    facts = [fact for text in (HELD, *written) for records in read(text).values() for fact in records]
    assert len(facts) > len(written) > 50
    assert all(fact.stated for fact in facts)
    places = [path.name for path in Path(notes.__path__[0]).glob("*.py") if "stated=" in path.read_text(encoding="utf-8")]
    assert places == ["said.py"]


def test_a_note_that_tells_of_no_gpu_is_refused() -> None:
    with pytest.raises(ParseError, match=r"x\.txt"):
        read("Looked at it with Kim.\n")


def test_a_note_finds_at_most_what_is_possible(tmp_path: Path) -> None:
    report = diagnosed(tmp_path, HELD)
    assert (report.verdict, report.findings) == ("inconclusive", [])
    assert "collective-hang" in [one.cause for one in report.candidates]


def test_beside_what_a_tool_has_printed_a_note_tells_nothing(tmp_path: Path) -> None:
    printed = (
        "index, name, utilization.gpu [%], power.draw [W], enforced.power.limit [W]\n0, NVIDIA H100 80GB HBM3, 97 %, 640.10 W, 700.00 W\n"
    )
    report = diagnosed(tmp_path, HELD, printed)
    assert [one.cause for one in (*report.findings, *report.candidates)] == []
