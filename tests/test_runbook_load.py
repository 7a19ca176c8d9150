"""Loading: strict YAML 1.2, every mistake of a file at once and with its place, and nothing runs before a runbook is right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.runbook import load, schema, yamlfile
from gpudoctor.runbook.model import Library, Runbook
from tests.engine_fakes import CAUSES, problems_of

HEAD = "schema: 1\nid: book\ntitle: T\n"
ONE = "steps:\n  - {id: a, run: [kubectl, get, pods, -o, json], parse: kubernetes.pods}\n"


def value(text: str) -> Any:
    document = yamlfile.parse(f"x: {text}\n".encode(), "f.yaml")
    assert not document.problems, document.problems
    assert document.value is not None
    return document.value["x"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("No", "No"),
        ("y", "y"),
        ("true", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("12:30", "12:30"),
        ("1:1:1", "1:1:1"),
        ("010", 10),
        ("0o10", "0o10"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("-7", -7),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1.2.3", "1.2.3"),
        ("2026-01-01", "2026-01-01"),
        ("~", None),
        ("", None),
        ("null", None),
        ("'null'", "null"),
        ('"1"', "1"),
        ("<<", "<<"),
        ("9" * 5000, "9" * 5000),
        ("[a, b]", ["a", "b"]),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, wanted: Any) -> None:
    got = value(text)
    assert got == wanted
    assert type(got) is type(wanted)


def test_on_is_a_key_and_not_a_boolean() -> None:
    assert yamlfile.parse(b"on: 1\nyes: 2\n1: 3\n", "f").value == {"on": 1, "yes": 2, "1": 3}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: 1\na: 2\n", "f:2: the key 'a' is there twice"),
        ("a: &x 1\nb: 2\n", "f:1: anchors, aliases and tags"),
        ("a: *x\n", "f:1: anchors, aliases and tags"),
        ("a: !!str 1\n", "f:1: anchors, aliases and tags"),
        ("a: !!python/object/apply:os.system [ls]\n", "f:1: anchors, aliases and tags"),
        ("[a]: 1\n", "f:1: a key must be a plain string"),
        ("? {a: 1}\n: 1\n", "f:1: a key must be a plain string"),
        ("a: 1\n---\nb: 2\n", "f:2: a second document begins here"),
        ("- a\n", "f:1: is not a mapping"),
        ("~\n", "f:1: is not a mapping"),
        ("just words\n", "f:1: is not a mapping"),
        ("", "f: is empty"),
        ("# only a comment\n", "f: is empty"),
        ("a: [1\n", "f:2: not YAML"),
        ("a:\n\t- b\n", "f:2: not YAML"),
        ("a: \x01\n", "f: not YAML"),
        ('a: "\\ud800"\n', "f:1: not YAML"),
    ],
)
def test_what_is_not_strict_yaml_is_told_with_its_line(text: str, wanted: str) -> None:
    document = yamlfile.parse(text.encode(), "f")
    assert any(str(problem).startswith(wanted) for problem in document.problems), document.problems


def test_every_problem_of_a_file_is_told() -> None:
    document = yamlfile.parse(b"a: 1\na: 2\nb: &x 1\nc: *x\nb: 3\n", "f")
    assert [problem.line for problem in document.problems] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 1_000_000,
        b"{" * 500_000,
        b"{a: " * 100_000,
        b"- " * 500_000 + b"a",
        b"? " * 300_000,
        b"".join(b" " * i + b"a:\n" for i in range(1000)),
        b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20)),
        b"a: &a [*a]",
        b"x" * 5_000_000,
        bytes(range(256)) * 100,
        b"\x00" * 100,
        b"\xff\xfea\x00:\x00",
        b"a: " + b'"' * 100_001,
        b"a: |\n" + b" \n" * 300_000,
        b"k: v\n" * 20_000,
    ],
    ids=[
        "flow",
        "maps",
        "flow-maps",
        "dashes",
        "keys",
        "block",
        "bomb",
        "ring",
        "huge",
        "binary",
        "nul",
        "utf-16",
        "quotes",
        "lines",
        "twice",
    ],
)
def test_hostile_yaml_is_refused_in_time(data: bytes) -> None:
    started = time.monotonic()
    document = yamlfile.parse(data, "f")
    assert time.monotonic() - started < 10
    assert document.problems or document.value is not None
    if document.value is None:
        assert document.problems


@given(st.binary(max_size=300) | st.text(alphabet="ab:-[]{}?&*!|>'\"#%@`,\n 01~\t", max_size=120).map(str.encode))
def test_any_bytes_give_a_mapping_or_a_problem(data: bytes) -> None:
    document = yamlfile.parse(data, "f")
    assert isinstance(document.value, dict) or document.problems


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        book, problems = load.runbook(path)
        assert book is None
        assert "can't be read" in str(problems[0])


def test_a_minimal_runbook_has_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "book.yaml"
    path.write_text(HEAD + ONE)
    book, problems = load.runbook(path)
    assert not problems
    assert isinstance(book, Runbook)
    assert (book.status, book.steps[0].limit, book.steps[0].timeout, book.steps[0].line) == ("stable", 16, 30.0, 5)


TEN = """\
schema: 1
id: book
title: Ten mistakes
inputs:
  grace: {type: duration, default: 5m, help: How long.}
steps:
  - id: one
    run: [kubectl, get, pods, -o, json]
    prase: kubernetes.pods
  - id: two
    run: [kubectl, get, pods, -o, json]
    parse: kubernetes.pod
  - id: three
    run: [kubectl, delete, pods, --all]
    parse: kubernetes.pods
  - id: four
    run: [kubectl, get, nodes, -o, json]
    parse: kubernetes.nodes
    timeout: 5 minutes
    checks:
      - id: five
        each: node in nodes
        when: node.redy == false
      - id: six
        each: node in nodes
        when: node.gpus_capacity
      - id: seven
        each: node in nodez
      - id: eight
        each: node in nodes
        finds: sick-nod
        title: ${node.node} is sick
      - id: nine
        each: node in nodes
        when: node.age > input.grase
  - id: ten
    when: found.eleven
    run: [kubectl, get, pods, -o, json]
    parse: kubernetes.pods
    checks:
      - id: eleven
        each: pod in pods
        title: ${pod.pod
"""


def test_ten_mistakes_give_ten_located_messages(tmp_path: Path) -> None:
    found = problems_of(TEN, tmp_path)
    wanted = [
        (7, "steps.0: has run without parse"),
        (9, "unknown key; did you mean 'parse'?"),
        (10, "steps.two: unknown parser 'kubernetes.pod'; did you mean 'kubernetes.pods'?"),
        (13, "steps.three: run: 'kubectl delete' is not a verb that only reads"),
        (19, "steps.3.timeout: is a duration such as"),
        (21, "undeclared reference to 'node.redy'; did you mean 'node.ready'?"),
        (24, "is a INT, not a BOOL"),
        (27, "unknown fact type 'nodez'; did you mean 'nodes'?"),
        (29, "unknown cause 'sick-nod'; did you mean 'sick-node'?"),
        (33, "undeclared reference to 'input.grase'; did you mean 'input.grace'?"),
        (36, "steps.ten: when: column 6: undeclared reference to 'found.eleven'"),
        (41, "title: '${pod.pod' has a '${' that is not closed"),
    ]
    rest = list(found)
    for line, text in wanted[1:]:
        match = [problem for problem in rest if problem.startswith(f"book.yaml:{line}: ") and text in problem]
        assert match, (line, text, found)
        rest.remove(match[0])
    assert not rest, rest


def test_a_wrong_runbook_is_refused_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "book.yaml"
    path.write_text(TEN)
    command = [sys.executable, "-m", "gpudoctor", "run", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "KUBECONFIG": ""})
    assert done.returncode == 2
    assert done.stdout == ""
    assert len([line for line in done.stderr.splitlines() if "book.yaml:" in line]) >= 10


def one_step(line: str) -> str:
    return (
        HEAD
        + "steps:\n  - id: a\n    run: [kubectl, get, pods, -o, json]\n    parse: kubernetes.pods\n"
        + textwrap.indent(line, "    ")
        + "\n"
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "schema: 2\nid: book\ntitle: T\nanything: 1\n" + ONE,
            "book.yaml:1: is written for schema 2; this gpudoctor reads schema 1: upgrade gpudoctor",
        ),
        ("schema: one\nid: book\ntitle: T\n" + ONE, "book.yaml:1: schema: "),
        ("schema: true\nid: book\ntitle: T\n" + ONE, "book.yaml:1: schema: "),
        ("id: book\ntitle: T\n" + ONE, "book.yaml:1: schema: is missing"),
        (HEAD, "book.yaml:1: steps: is missing"),
        (HEAD + "steps: []\n", "book.yaml:4: steps: "),
        (HEAD + "steps: {}\n", "book.yaml:4: steps: "),
        (HEAD + "stepz: 1\n" + ONE, "book.yaml:4: stepz: unknown key; did you mean 'steps'?"),
        ("schema: 1\nid: Book_1\ntitle: T\n" + ONE, "book.yaml:2: id: "),
        (HEAD + "references: [ftp://x]\n" + ONE, "book.yaml:4: references.0: "),
        (HEAD + "inputs: {n: {type: int, default: 1.5, help: h}}\n" + ONE, "book.yaml:4: inputs.n: default is not a int"),
        (HEAD + "inputs: {n: {type: duration, default: 5, help: h}}\n" + ONE, "book.yaml:4: inputs.n: is a duration"),
        (
            HEAD + "inputs: {n: {type: string, default: [a], help: h}}\n" + ONE,
            "book.yaml:4: inputs.n.default: is a text, a number, true or false",
        ),
        (HEAD + "inputs: {strict: {type: string, help: h}}\n" + ONE, "book.yaml:4: inputs.strict.default: is missing"),
        (one_step("each: pods"), "book.yaml:8: steps.0.each: has the form 'pod in pods'"),
        (one_step("each: input in pods"), "book.yaml:8: steps.0.each: 'input' can't be the name of a record"),
        (one_step("each: namespace in pods"), "book.yaml:8: steps.0.each: 'namespace' can't be the name of a record"),
        (one_step("limit: 0"), "book.yaml:8: steps.0.limit: "),
        (one_step("timeout: 10"), "book.yaml:8: steps.0.timeout: is a duration"),
        (one_step("timeout: ٣s"), "book.yaml:8: steps.0.timeout: is a duration"),
        (one_step("when: 5"), "book.yaml:8: steps.0.when: is a CEL expression"),
        (one_step("derive: stack.order"), "book.yaml:5: steps.0: has run and derive: a step does one of"),
        (
            one_step("checks: [{id: c, each: pod in pods, with_: {}}]"),
            "book.yaml:8: steps.0.checks.0.with_: unknown key; did you mean 'with'?",
        ),
        (
            one_step("checks: [{id: c, each: pod in pods, with: {x: {from: nodes, on: 5}}}]"),
            "steps.0.checks.0.with.x.on: is a list of fields",
        ),
        (
            one_step("checks: [{id: c, each: pod in pods, with: {x: {from: nodes, from_: nodes}}}]"),
            "steps.0.checks.0.with.x.from_: unknown key; did you mean 'from'?",
        ),
        (
            one_step("checks: [{id: c, each: pod in pods, with: {pod: {from: nodes}}}]"),
            "steps.0.checks.0: with.pod has the name of the record",
        ),
        (
            one_step("checks: [{id: c, with: {x: {from: nodes, on: [node]}}}]"),
            "steps.0.checks.0: with.x.on is a list of fields of two records",
        ),
        (
            one_step("checks: [{id: c, each: pod in pods, with: {x: {from: nodes, within: 5m}}}]"),
            "with.x: has within without before or after",
        ),
        (one_step("checks: [{id: c, each: pod in pods, finds: Bad Cause}]"), "book.yaml:8: steps.0.checks.0.finds: "),
        (one_step("checks: [{id: c, confidence: sure}]"), "book.yaml:8: steps.0.checks.0.confidence: "),
        (HEAD + "steps:\n  - {id: a}\n", "book.yaml:5: steps.0: does nothing"),
        (HEAD + "steps:\n  - just text\n", "book.yaml:5: steps.0: "),
        (HEAD + "steps:\n  - {run: [kubectl, get, pods], parse: kubernetes.pods}\n", "book.yaml:5: steps.0: needs an id"),
        (HEAD + "steps:\n  - {id: a, run: [kubectl, 1.5], parse: kubernetes.pods}\n", "book.yaml:5: steps.0.run.1: "),
        (HEAD + "steps:\n  - {include: x, checks: [{id: c}]}\n", "book.yaml:5: steps.0: an include has only set and when"),
    ],
)
def test_one_mistake_gives_one_message(text: str, wanted: str, tmp_path: Path) -> None:
    found = problems_of(text, tmp_path)
    assert len(found) == 1, found
    assert wanted in found[0]


def test_a_broken_step_hides_no_mistake_of_the_others_and_invents_none(tmp_path: Path) -> None:
    text = HEAD + textwrap.dedent("""\
        steps:
          - id: a
            run: [kubectl, get, pods, -o, json]
            parse: kubernetes.pods
            timeout: soon
            checks:
              - {id: first, each: pod in pods}
              - {id: second, each: pods}
          - id: b
            when: found.first && found.second && found.third
            run: [kubectl, get, nodes, -o, json]
            parse: kubernetes.nodez
        """)
    found = problems_of(text, tmp_path)
    assert [problem.split(": ", 1)[0] for problem in found] == ["book.yaml:8", "book.yaml:11", "book.yaml:12", "book.yaml:12"]
    assert "found.third" in "".join(found)
    assert "kubernetes.nodez" in "".join(found)


def test_the_header_of_a_runbook_may_be_anything(tmp_path: Path) -> None:
    for text in (
        "schema: 1\nid: [a]\ntitle: {}\ninputs: 7\nsteps: 8\n",
        "schema: {}\nsteps: [[], 1, {checks: 5}, {checks: [1, {id: [2]}]}]\n",
    ):
        assert problems_of(text, tmp_path)


def test_the_json_schema_is_of_what_is_written_in_a_file() -> None:
    made = json.dumps(schema.Runbook.model_json_schema())
    definitions = json.loads(made)["$defs"]
    assert definitions["Step"]["properties"]["timeout"]["type"] == "string"
    assert definitions["Check"]["properties"]["each"]["anyOf"][0] == {"type": "string"}
    assert "from" in definitions["Join"]["properties"]
    assert "with" in definitions["Check"]["properties"]


def test_catalogue_messages_and_tests_have_located_problems_too(tmp_path: Path) -> None:
    path = tmp_path / "layer.yaml"
    path.write_text("causes:\n  Bad: {title: x}\n  good:\n    title: x\n    severty: warning\n")
    causes, problems = load.catalogue(path, "layer.yaml")
    assert not causes
    assert any(str(problem).startswith("layer.yaml:5: causes.good.severty: unknown key; did you mean 'severity'?") for problem in problems)
    path.write_text("messages:\n  - {name: a, pattern: b}\n")
    messages, problems = load.messages(path, "m.yaml")
    assert not messages
    assert str(problems[0]) == "m.yaml:2: messages.0: needs a pattern and a line, or any: a list of both"
    path.write_text("messages:\n  - name: a\n    any:\n      - {pattern: b, line: b}\n      - {pattern: c}\n")
    messages, problems = load.messages(path, "m.yaml")
    assert str(problems[0]) == "m.yaml:5: messages.0.any.1.line: is missing"
    path.write_text("runbook: a.yaml\nfixtures: f\ncases:\n  - {name: n, bundle: b, verdict: well}\n")
    test, problems = load.paired_test(path, "t.yaml")
    assert test is None
    assert str(problems[0]).startswith("t.yaml:4: cases.0.verdict: ")


def test_our_own_runbooks_are_read_without_the_library(tmp_path: Path) -> None:
    book, problems = load.runbook(tmp_path / "none.yaml", "none.yaml", Library(causes=CAUSES))
    assert book is None
    assert len(problems) == 1
