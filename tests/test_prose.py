"""Lint of the texts that people read: a text that breaks a rule is named, with what to write instead; one that keeps it is not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from gpudoctor.runbook import prose
from gpudoctor.runbook.model import Check, Each, Library, Runbook, Step
from tests.engine_fakes import CAUSES, cause

ROOT = Path(__file__).parents[1]
THIRTY = "a " * 29 + "b."


def said(words: str, kind: str = "title", gpu: str = "") -> list[str]:
    return list(prose.text_problems(prose.Text("book.yaml:1", kind, words, gpu), {"ecc_uncorrected_volatile"}))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("x" * 101, "has 101 characters, at most 100"),
        ("${gpu.gpu} " + "x" * 92, "has 101 characters"),  # a name counts as eight
        ('${n.a == 1 ? "' + "x" * 101 + '" : "short"}', "has 101 characters"),  # the longest of what it may say
        ("a " + THIRTY, "a sentence has 31 words"),
        ("The brake holds. Three GPUs wait for want of power", "'for want of'"),
        ("3 node(s) are down", "'(s)'"),
        ('${n.a == 1 ? "The GPU\'s last words" : ""}', "'last words'"),
        ("nvidia-smi can't read ecc_uncorrected_volatile", "'ecc_uncorrected_volatile' is a name of this program"),
        ('GPU ${n.a == "" ? "" : "x"} is lost', "a name is empty there"),
    ],
)
def test_what_breaks_a_rule_is_named(words: str, told: str) -> None:
    assert any(told in problem for problem in said(words))


@pytest.mark.parametrize(
    "words",
    [
        "x" * 100,
        "${gpu.gpu} " + "x" * 91,
        THIRTY,
        '${n.a == "last words" ? "3 nodes" : "a node"} wait for nvidia_peermem',  # a value that is compared; a name of others
        "Look at `ecc_uncorrected_volatile` of the record",
        "NCCL_SOCKET_IFNAME names eth0",
        "Symptoms: the pods last, words of 4 bits",
    ],
)
def test_what_keeps_the_rules_is_not(words: str) -> None:
    assert said(words) == []


def test_a_why_is_a_sentence() -> None:
    assert said("py-spy reads the stacks from outside.", "why") == []
    assert said("the stacks", "why") == ["is no sentence: say why in one, with a full stop"]


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("GPU ${gpu.gpu} is hot", []),
        ("GPU ${gpu.index} is hot", []),
        ("The GPU has ${gpu.temperature} °C", ["does not name the GPU: ${gpu.gpu}"]),
        ("It is hot: ${gpu.gpu}", ["begins with a pronoun: begin with the name of the thing"]),
    ],
)
def test_a_title_names_the_gpu_that_it_is_about(title: str, told: list[str]) -> None:
    assert said(title, gpu="gpu") == told


@pytest.mark.parametrize(("fact", "finds", "name"), [("gpus", "sick-gpu", "r"), ("gpus", "sick-node", ""), ("messages", "sick-gpu", "")])
def test_a_gpu_is_named_where_the_record_is_of_one_and_so_is_the_cause(fact: str, finds: str, name: str) -> None:
    check = Check(id="c", each=Each(name="r", type=fact), finds=finds, title="T")
    assert prose.gpu_record(check, Library(causes=CAUSES)) == name


def test_problems_name_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "catalogue").mkdir()
    (tmp_path / "catalogue" / "gpu.yaml").write_text(
        "causes:\n  sick-gpu:\n    title: A sick GPU\n    means: It acts up.\n    tell: t\n", encoding="utf-8"
    )
    sick = cause("sick-gpu", "gpu", title="A sick GPU", means="It acts up.", tell="t")
    book = Runbook(id="b", title="T", path="runbooks/b.yaml", steps=[Step(id="s", title="Look for last words", line=7)])
    assert list(prose.problems(Library(runbooks={"b": book}, causes={"sick-gpu": sick}), tmp_path)) == [
        "runbooks/b.yaml:7: title: 'last words': write last messages",
        "runbooks/catalogue/gpu.yaml:4: means: 'acts up': write what it does: fails, hangs, restarts",
    ]


SOURCES = ROOT / "src" / "gpudoctor"
QUOTED = {"node(s)", "PORT(S)", "device(s)"}  # what others write, and we recognise


def test_no_string_of_the_program_has_a_phrase_that_we_do_not_write() -> None:
    made = []
    for path in (path for path in sorted(SOURCES.rglob("*.py")) if path.relative_to(SOURCES).parts[0] not in ("cli", "reporters")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        comments = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        strings = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in comments]
        said = [one for one in strings if isinstance(one.value, str) and not any(word in str(one.value) for word in QUOTED)]
        made += [f"{path.name}:{one.lineno}: {words}" for one in said for words in prose.unwanted().findall(str(one.value))]
    assert [one for one in made if not one.startswith("prose.py")] == []


@pytest.mark.parametrize("page", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"], ids=lambda path: path.name)
def test_no_page_has_a_phrase_that_we_do_not_write(page: Path) -> None:
    assert prose.unwanted().findall(re.sub(r"(?m)^    .*$|`[^`]*`", "", page.read_text(encoding="utf-8"))) == []
