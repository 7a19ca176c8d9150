"""`gpudoctor explain` for every cause, and the regression guard of the catalogue: what a check finds fires in a recorded case."""

from __future__ import annotations

import json

import pytest

from gpudoctor.cli import explain
from gpudoctor.cli.errors import Refused
from gpudoctor.cli.explain import fix_with_placeholders, with_placeholders
from gpudoctor.library import index
from gpudoctor.reporters.text import command
from gpudoctor.reporters.words import ACTIONS, ACTORS, with_risk
from gpudoctor.runbook import load
from gpudoctor.runbook.model import Cause, Library
from gpudoctor.runbook.paired import Case
from tests.engine_fakes import cause


@pytest.fixture(scope="module")
def causes() -> dict[str, Cause]:
    """The catalogue."""
    return index.library().causes


def shown(name: str, capsys: pytest.CaptureFixture[str], form: str = "terminal") -> str:
    assert explain.explain_name(name, form, no_color=True) == 0
    return capsys.readouterr().out


def test_every_entry_reads_well(causes: dict[str, Cause], capsys: pytest.CaptureFixture[str]) -> None:
    for one in causes.values():
        text = shown(one.id, capsys)
        flat = " ".join(text.split())
        assert text.startswith(f"{one.id}: ")
        for part in (one.title, one.means, f"How to tell {one.tell}", f"What to do: {ACTIONS[one.act]} ({ACTORS[one.who]})"):
            assert part in flat, one.id
        for fix in one.fixes:
            assert with_risk(fix_with_placeholders(fix)) in flat, one.id
            assert fix.risk == "safe" or f"({fix.risk})" in flat, one.id
        for look in one.look:
            assert f"{command(with_placeholders(look.run))} {look.title}" in flat, one.id
        for other, how in one.confused_with.items():
            assert f"{other} {causes[other].title} {how}" in flat, one.id
        assert "${" not in text, one.id
        assert (explain.BROADER in flat) == one.broader
        assert "checked in: " in flat, one.id
        assert (
            max(len(line) for line in text.splitlines() if " " in line.strip() and not line.startswith(("    ", "  fix", "  look")))
            <= explain.WIDTH
        ), one.id


def test_every_entry_has_a_source_and_is_told_from_another(causes: dict[str, Cause]) -> None:
    given = index.library()
    assert not [one.id for one in causes.values() if not one.references]
    assert not [one.id for one in causes.values() if not given.told_apart(one.id)]


def test_the_words_are_short_enough_for_a_tired_person(causes: dict[str, Cause]) -> None:
    for one in causes.values():
        assert len(one.tell) <= 320, one.id
        assert one.tell.count("`") % 2 == 0, one.id
        assert one.tell.endswith((".", "?")), one.id
        for other, how in one.confused_with.items():
            assert len(how) <= 220, (one.id, other)
            assert how.count("`") % 2 == 0, (one.id, other)
            assert how.endswith("."), (one.id, other)


def test_json_has_the_entry_and_what_stands_around_it(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(shown("gpu-hung", capsys, "json"))
    assert told["schema"] == "gpudoctor.cause/1"
    assert told["id"] == "gpu-hung"
    assert "gpu-fallen-off-bus" in told["explained_by"]
    assert "gpu-fallen-off-bus" in told["confused_with"], "said by the other entry"
    assert "gpu-not-detected.smi_hangs" in told["found_by"]
    assert any("${node}" in fix.get("run", []) for fix in told["fixes"])
    variable = json.loads(shown("NCCL_IB_TIMEOUT", capsys, "json"))
    assert (variable["schema"], variable["variable"]["name"]) == ("gpudoctor.variable/1", "NCCL_IB_TIMEOUT")
    assert shown("NCCL_IB_TIMEOUT", capsys).startswith("NCCL_IB_TIMEOUT: ")


def test_what_is_not_there_is_refused_with_what_comes_close() -> None:
    with pytest.raises(Refused, match=r"there is no cause 'gpu-hang'; did you mean .*gpu-hung"):
        explain.explain_name("gpu-hang", "terminal", no_color=True)
    with pytest.raises(Refused, match=r"there is no cause 'zzz'; completion lists the names"):
        explain.explain_name("zzz", "terminal", no_color=True)
    with pytest.raises(Refused, match=r"did you mean thermal-cooling-fault or thermal-memory-junction or thermal-slowdown\?"):
        explain.explain_name("Thermal", "terminal", no_color=True)
    with pytest.raises(Refused, match=r"did you mean .*gpu-fallen-off-bus"):
        explain.explain_name("fallen off PCIe bus", "terminal", no_color=True)
    with pytest.raises(Refused, match="'Xid 79' is a code of the driver: gpudoctor xid 79"):
        explain.explain_name("Xid 79", "terminal", no_color=True)
    with pytest.raises(Refused, match="explain has no format 'html'; there are terminal, json"):
        explain.explain_name("gpu-hung", "html", no_color=True)


def test_the_name_of_a_check_leads_to_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("gpu-not-detected.smi_hangs", capsys) == shown("gpu-hung", capsys)


def test_colour_is_there_only_when_it_is_asked_for() -> None:
    library = Library(causes={"a": cause("a", tell="ask `nvidia-smi`.")})
    told = explain.explain_cause(library, library.causes["a"])
    assert "\x1b[" in explain.screen(library, told, color=True)
    assert "\x1b" not in explain.screen(library, told, color=False)
    hostile = cause("a", title="\x1b[2Jgone", means="a\u202eb", tell="\x07")
    assert not {"\x1b", "\u202e", "\x07"} & set(explain.screen(library, explain.explain_cause(library, hostile), color=False))


def test_one_sentence_of_a_pair_serves_both_sides_and_the_own_one_comes_first() -> None:
    three = {"a": cause("a", confused_with={"b": "of a"}), "b": cause("b", confused_with={"c": "of b"}), "c": cause("c")}
    library = Library(causes=three | {"d": cause("d", confused_with={"b": "of d"})})
    assert library.told_apart("b") == {"c": "of b", "a": "of a", "d": "of d"}
    assert library.told_apart("c") == {"b": "of b"}


# --- the regression guard


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """All cases of the paired tests."""
    tests = [load.paired_test(path) for path in sorted(index.runbooks_folder().glob("*.test.yaml"))]
    assert [problem for _, problems in tests for problem in problems] == []
    return [case for test, _ in tests if test for case in test.cases]


def test_every_cause_fires_in_a_recorded_case(causes: dict[str, Cause], cases: list[Case]) -> None:
    """A cause is a finding somewhere; one that no check is sure of may stay a candidate."""
    checks = [check for book in index.library().runbooks.values() for check in book.checks() if check.finds]
    sure = {check.finds for check in checks if check.confidence != "possible"}
    findings = {one.cause for case in cases for one in case.findings}
    candidates = {one.cause for case in cases for one in case.candidates}
    assert sure - findings == set(), "no case finds these: give each one in its runbook's .test.yaml"
    assert {check.finds for check in checks} - findings - candidates == set()
    assert causes.keys() - {check.finds for check in checks} == set(), "no check finds these"


def test_no_case_expects_a_cause_that_is_not_there(causes: dict[str, Cause], cases: list[Case]) -> None:
    assert {one.cause for case in cases for one in [*case.findings, *case.candidates] if one.cause} - causes.keys() == set()
