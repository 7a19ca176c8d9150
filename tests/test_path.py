"""`--explain-path`: which check found it by which values, what ties findings together, and by which part of a condition others are out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gpudoctor.cli.app import app
from gpudoctor.engine.cases import inputs_of
from gpudoctor.engine.diagnose import diagnose
from gpudoctor.engine.steps import NotThere
from gpudoctor.library.index import library
from gpudoctor.probes import transcript
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Reason, Report, Tried
from gpudoctor.reporters import render
from gpudoctor.runbook import scope
from gpudoctor.runbook.conditions import compile_expression
from gpudoctor.runbook.terms import Term, deciding_terms, operands
from tests.fixture_files import FIXTURES, cases

PAGE = 120  # rows of the path of one report, two pages and a bit
OF_ONE = 50  # of one cause, where many are explained
TYPES = {f"x.{name}": bool for name in "abcd"} | {"x.t": str}


def replayed(name: str, *, explain_path: bool = True) -> Report:
    probe = Replay(FIXTURES / name)
    book = library().runbooks[probe.bundle.runbook]
    inputs = inputs_of(book, probe.bundle.inputs, {})
    return diagnose(library(), book, inputs, probe, recorded=True, consent=True, explain_path=explain_path)


def reasons(report: Report) -> list[Reason]:
    assert not isinstance(report.path, msgspec.UnsetType)
    return report.path


def of(found: list[Reason], cause: str) -> Reason:
    return next(one for one in found if one.cause == cause)


def other(one: Reason, cause: str) -> Tried:
    return next(tried for tried in one.others if tried.cause == cause)


def test_a_finding_names_its_check_its_values_and_their_lines() -> None:
    (one,) = reasons(replayed("gpu-health/fields-unreadable"))
    (check,) = one.checks
    assert (one.role, one.confidence) == ("root", "likely: evidence of its signature")
    assert (check.check, check.outcome) == ("gpu-health.fields_unreadable", "found")
    name, _, line = check.place.partition(":")
    text = (Path(__file__).parents[1] / "runbooks" / name).read_text().split("\n")
    assert "fields_unreadable: {" in text[int(line) - 1]
    assert [part.holds for part in check.decides] == [True, True]
    value = next(value for value in check.values if value.name == "gpu.problem")
    assert (value.value, value.source) == ('"unknown_error"', "gpu-07: nvidia-smi -q -x")
    assert "Unknown Error" in read_line("gpu-health/fields-unreadable", value.line)


def test_a_rule_of_a_table_names_the_line_of_its_row() -> None:
    (check,) = [tried for one in reasons(replayed("dcgm-health/dcgm-remap-pending")) for tried in one.checks if "row_remap" in tried.check]
    name, _, line = check.place.partition(":")
    assert name == "rules/dcgm-health.yaml"
    text = (Path(__file__).parents[1] / "runbooks" / name).read_text().split("\n")
    assert "row_remap_pending: {" in text[int(line) - 1]


def read_line(name: str, line: int) -> str:
    (page,) = transcript.load(FIXTURES / f"{name}.txt")[1].values()
    return page.decode().split("\n")[line - 1]


def test_others_are_out_by_the_part_of_their_condition_that_is_false() -> None:
    (one,) = reasons(replayed("gpu-health/fields-unreadable"))
    remapped = other(one, "row-remap-pending")
    assert [(part.text, part.holds) for part in remapped.decides] == [("gpu.remap_pending", False)]
    assert [(value.name, value.value) for value in remapped.values] == [("gpu.remap_pending", "false")]


def test_links_say_the_catalogue_the_place_and_the_time() -> None:
    found = reasons(replayed("diagnose-pod/whole-lost-gpu"))
    root = of(found, "gpu-fallen-off-bus")
    tie = next(tie for tie in root.explains if tie.cause == "capacity-allocatable-gap" and tie.holds)
    assert tie.why.startswith("the catalogue says gpu-fallen-off-bus → device-unhealthy → capacity-allocatable-gap; both on gpu-01; ")
    effect = of(found, "capacity-allocatable-gap")
    assert effect.role == "symptom"
    assert ("gpu-fallen-off-bus", True) in {(tie.cause, tie.holds) for tie in effect.explained_by}
    assert root.checks[0].joined


def test_a_join_says_what_it_looked_for_and_what_it_found() -> None:
    root = of(reasons(replayed("diagnose-pod/whole-lost-gpu")), "gpu-fallen-off-bus")
    assert any(line.startswith("seen: gpu_errors (measured) with the same node, gpu: 1 found") for line in root.checks[0].joined)


def test_what_could_not_be_read_is_named() -> None:
    checks = [tried for one in reasons(replayed("diagnose-pod/whole-lost-gpu")) for tried in one.others]
    assert all(tried.why for tried in checks if tried.outcome in ("unknown", "skipped"))
    assert all(part.holds is False for tried in checks if tried.outcome == "clear" for part in tried.decides)


def test_nobody_pays_who_did_not_ask() -> None:
    plain = replayed("diagnose-pod/whole-lost-gpu", explain_path=False)
    asked = replayed("diagnose-pod/whole-lost-gpu")
    assert "path" not in json.loads(render(plain, "json"))
    assert msgspec.structs.replace(asked, path=msgspec.UNSET, steps=[]) == msgspec.structs.replace(plain, steps=[])


def test_it_stays_a_page_or_two_and_says_the_same_as_json() -> None:
    report = replayed("diagnose-pod/whole-lost-gpu")
    bare = msgspec.structs.replace(report, path=msgspec.UNSET)
    rows = len(render(report, width=100).split("\n")) - len(render(bare, width=100).split("\n"))
    assert 10 < rows < PAGE
    told = json.loads(render(report, "json"))["path"]
    assert [one["cause"] for one in told] == [one.cause for one in reasons(report)]
    assert told[0]["checks"][0]["values"][0]["source"]
    assert len(render(report, width=100, verbose=True)) > len(render(report, width=100))


@pytest.mark.parametrize("case", cases()[::16], ids=lambda path: path.stem)
def test_every_report_can_be_explained(case: Path) -> None:
    try:
        report = replayed(str(case.relative_to(FIXTURES)))
    except NotThere:
        return
    for one in reasons(report):
        assert one.checks, one.cause
        assert all(part.holds for check in one.checks for part in check.decides)
    bare = msgspec.structs.replace(report, path=msgspec.UNSET)
    rows = len(render(report, width=100).split("\n")) - len(render(bare, width=100).split("\n"))
    assert rows < max(PAGE, OF_ONE * len(reasons(report)))


COMMANDS: list[list[str]] = [
    ["analyze", "{dmesg}"],
    ["xid", "{dmesg}"],
    ["nccl", "{log}"],
    ["run", "--replay", str(FIXTURES / "gpu-health" / "wants-reset")],
    ["diagnose", "node", "--replay", str(FIXTURES / "node-health" / "rack-fell-off")],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_that_reports_takes_it(command: list[str], tmp_path: Path) -> None:
    dmesg, log = tmp_path / "dmesg.txt", tmp_path / "rank.log"
    dmesg.write_text("[   12.300000] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n")
    log.write_text("gpu-01:4101:4133 [0] NCCL WARN NET/IB : No device found.\n")
    argv = [word.format(dmesg=dmesg, log=log) if word.startswith("{") else word for word in command]
    result = CliRunner().invoke(app, [*argv, "--explain-path"])
    assert result.exit_code in (0, 1, 3), result.output
    assert "Why this and nothing else" in result.output or "there is nothing to explain" in result.output


def test_every_condition_of_ours_is_cut_into_parts_that_are_conditions() -> None:
    for book in library().runbooks.values():
        for check in book.checks():
            types = scope.check_types(book, check)
            for term in deciding_terms(check.when, lambda text: Term(text, True)):
                compile_expression(term.text, types)


LEAVES = ["x.a", "x.b", "!x.c", "x.d", 'x.t == "a && (b"', r'x.t == "\" || x.a"', r'x.t.matches(r"\w+ && [(]b")', "(x.a ? x.b : x.c)"]
CONDITIONS: Any = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.tuples(inner, st.sampled_from([" && ", "||", " ||\n "]), inner).map(lambda three: f"({''.join(three)})"),
    max_leaves=6,
)


@settings(max_examples=60, derandomize=True)
@given(CONDITIONS, CONDITIONS, st.sampled_from([" && ", " || "]))
def test_the_parts_together_are_the_condition(one: str, two: str, word: str) -> None:
    condition = f"{one}{word}{two}"
    whole = compile_expression(condition, TYPES)
    kind, parts = operands(condition)
    for bits in itertools.product((True, False), repeat=4):
        values = dict(zip(("x.a", "x.b", "x.c", "x.d"), bits, strict=True)) | {"x.t": "a && (b"}
        answers = [compile_expression(part, TYPES).holds(values) for part in parts]
        assert whole.holds(values) is {"all": all, "any": any, "": all}[kind](answers)
        terms = deciding_terms(condition, lambda text, values=values: Term(text, compile_expression(text, TYPES).holds(values)))  # type: ignore[misc]
        assert {term.holds for term in terms} == {whole.holds(values)}
