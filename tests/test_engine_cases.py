"""Paired tests: what differs from the expectation is told, in whichever direction, and every check must be seen to fire and to be quiet."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.engine.cases import Tally, coverage_gaps, run_case, run_file
from gpudoctor.engine.diagnose import diagnose
from gpudoctor.probes.record import Recorder
from gpudoctor.runbook.model import Library
from gpudoctor.runbook.paired import Case, PairedTest
from tests.engine_fakes import CAUSES, Fake, book, cause, facts, fake_parsers, refused  # noqa: F401 - a fixture
from tests.nodes import case as nodes
from tests.nodes.record import chosen

pytestmark = pytest.mark.usefixtures("fake_parsers")
MENDS = {"title": "t", "risk": "safe", "run": ["kubectl", "uncordon", "${node}"], "manifest": "spec: {unschedulable: false}\n"}
LIBRARY = Library(causes=CAUSES | {"sick-node": cause("sick-node", "node", explains=("sick-pod",), fixes=[MENDS])})
STEPS = """\
- id: nodes
  run: [kubectl, get, nodes]
  parse: test.nodes
  checks:
    - {id: down, each: node in nodes, when: '!node.ready && node.age > input.grace', finds: sick-node, title: '${node.node} is down'}
    - {id: short, each: node in nodes, when: node.gpus_capacity == 7, finds: sick-gpu, confidence: possible, title: t}
- id: pods
  when: found.down
  run: [kubectl, get, pods]
  parse: test.pods
  checks: [{id: sick, each: pod in pods, finds: sick-pod, title: t}]
"""
DECLARED = (
    "{grace: {type: duration, default: 1m, help: h}, name: {type: string, default: '', help: h}, n: {type: int, default: 1, help: h}}"
)
DOWN = {"node": "a", "ready": False, "age": 90.0}


@pytest.fixture
def made(tmp_path: Path) -> Any:
    """The runbook with recordings of a node that is down, a healthy one, and an API that refuses."""
    runbook = book(STEPS, tmp_path, inputs=DECLARED)
    answers: dict[str, dict[str, Any]] = {
        "down": {"kubectl get nodes": facts(nodes=[DOWN]), "kubectl get pods": facts(pods=[])},
        "short": {"kubectl get nodes": facts(nodes=[{"node": "a", "ready": True, "gpus_capacity": 7}])},
        "healthy": {"kubectl get nodes": facts(nodes=[{"node": "a", "ready": True}])},
        "refused": {"kubectl get nodes": refused("forbidden")},
    }
    for name, given in answers.items():
        recorder = Recorder(Fake(given), tmp_path / name, "book", {"grace": 60.0, "old": "x"}, 0.0)
        diagnose(LIBRARY, runbook, {"grace": 60.0, "name": "", "n": 1}, recorder)
        recorder.close()
    return runbook, tmp_path


def differences(made: Any, tally: Tally | None = None, **case: Any) -> list[str]:
    runbook, folder = made
    return run_case(LIBRARY, runbook, Case.model_validate({"name": "case", **case}), folder, tally or Tally(seen={}))


RIGHT: dict[str, dict[str, Any]] = {
    "down": {
        "verdict": "problem",
        "findings": [
            {"check": "down", "cause": "sick-node", "subject": "a", "role": "root", "title": "a is down", "fix": "kubectl uncordon a"}
        ],
    },
    "short": {"verdict": "inconclusive", "candidates": [{"cause": "sick-gpu", "check": "short"}], "skipped": ["sick"]},
    "healthy": {"verdict": "healthy", "skipped": ["book.sick"]},
    "refused": {"verdict": "inconclusive", "unknown": ["down", "short", "sick"]},
}


@pytest.mark.parametrize("bundle", RIGHT)
def test_a_right_expectation_differs_in_nothing(bundle: str, made: Any) -> None:
    assert differences(made, bundle=bundle, **RIGHT[bundle]) == []


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("down", {"verdict": "healthy"}, "verdict is problem, not healthy"),
    ("down", {"findings": []}, "finding 1 is not expected: book.down (cause sick-node, subject a, role root"),
    ("down", {"findings": [{"check": "down", "cause": "sick-pod"}]}, "finding 1 is book.down (cause sick-node"),
    ("down", {"findings": [{"check": "down", "role": "symptom"}]}, "finding 1 is book.down"),
    ("down", {"findings": [{"check": "down", "fix": "kubectl cordon"}]}, "'kubectl cordon' is not in its first fix: kubectl uncordon a"),
    ("down", {"findings": [{"check": "down", "confidence": "likely"}]}, "finding 1 is book.down"),
    ("down", {"findings": [{"check": "down"}, {"check": "sick"}]}, "finding 2 is missing: book.sick"),
    ("down", {"findings": [{"check": "dwon"}]}, "there is no check 'book.dwon'"),
    ("down", {"candidates": [{"cause": "sick-gpu"}]}, "candidates are none"),
    ("down", {"skipped": ["down"]}, "check down is found, not skipped"),
    ("down", {"skipped": ["dwon"]}, "skipped: there is no check 'dwon'"),
    ("short", {"candidates": []}, "candidates are sick-gpu (book.short)"),
    ("short", {"candidates": [{"cause": "sick-gpu", "check": "down"}]}, "candidates are sick-gpu (book.short)"),
    ("short", {"candidates": [{"cause": "sick-gpu", "check": "shrt"}]}, "there is no check 'book.shrt'"),
    ("healthy", {"unknown": ["sick"]}, "check sick is skipped, not unknown"),
    ("healthy", {"unknown": ["other.sick"]}, "unknown: there is no check 'other.sick'"),
    ("nowhere", {}, "nowhere"),
    ("down", {"inputs": {"garce": 1}}, "inputs: book has no input 'garce'"),
    ("down", {"inputs": {"n": "many"}}, "'many' is not an int"),
]


@pytest.mark.parametrize(("bundle", "change", "wanted"), WRONG)
def test_what_differs_is_told(bundle: str, change: dict[str, Any], wanted: str, made: Any) -> None:
    found = differences(made, bundle=bundle, **{**RIGHT.get(bundle, {"verdict": "healthy"}), **change})
    assert any(wanted in one for one in found), found


def test_inputs_of_a_case_are_typed_like_those_of_a_command_line(made: Any) -> None:
    assert differences(made, bundle="down", inputs={"grace": "5m"}, verdict="healthy") == []
    assert differences(made, bundle="down", inputs={"grace": "30s"}, **RIGHT["down"]) == []


def test_the_coverage_rule(made: Any) -> None:
    runbook, _ = made
    tally = Tally(seen={})
    assert len(list(coverage_gaps(runbook, tally))) == 8
    for bundle, case in RIGHT.items():
        assert differences(made, tally, bundle=bundle, **case) == []
    assert list(coverage_gaps(runbook, tally)) == ["check sick is found in no case"]
    assert (tally.healthy, tally.unanswered) == (True, True)


def test_a_test_file_runs_all_cases_and_then_the_coverage(made: Any) -> None:
    _, folder = made
    test = PairedTest.model_validate(
        {"runbook": "book.yaml", "fixtures": ".", "cases": [{"name": name, "bundle": name, **case} for name, case in RIGHT.items()]}
    )
    results = list(run_file(LIBRARY, folder / "book.test.yaml", test))
    assert [(name, len(problems)) for name, problems in results] == [
        ("down", 0),
        ("short", 0),
        ("healthy", 0),
        ("refused", 0),
        ("coverage", 1),
    ]


def test_a_test_of_a_wrong_runbook_says_what_is_wrong_with_it(made: Any) -> None:
    _, folder = made
    (folder / "bad.yaml").write_text(
        textwrap.dedent("""\
            schema: 1
            id: bad
            title: T
            steps:
              - {id: a, run: [kubectl, get, pods], parse: test.pods, checks: [{id: c, each: pod in pods, finds: no-such, title: t}]}
            """)
    )
    case = {"name": "c", "bundle": "down", "verdict": "healthy"}
    for name, wanted in (("bad.yaml", "unknown cause 'no-such'"), ("none.yaml", "can't be read")):
        test = PairedTest.model_validate({"runbook": name, "fixtures": ".", "cases": [case]})
        ((shown, problems),) = run_file(LIBRARY, folder / "bad.test.yaml", test)
        assert shown == name
        assert wanted in problems[0]


def test_the_cases_of_a_runbook_are_recorded_by_its_name() -> None:
    known = {
        "hot": nodes.Case("thermal-throttle", {}, {}),
        "links": nodes.Case("nvlink-fabric", {}, {}),
        "dark": nodes.Case("nvlink-fabric", {}, {}),
    }
    assert chosen(known, ["nvlink-fabric"]) == ["links", "dark"]
    assert chosen(known, ["dark", "thermal-throttle"]) == ["hot", "dark"]
    assert chosen(known, []) == [*known]
    with pytest.raises(SystemExit, match="no case and no runbook with cases: nope"):
        chosen(known, ["hot", "nope"])
