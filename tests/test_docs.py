"""The pages that list all causes and runbooks: made from the library, fresh, and right where they lead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpudoctor.cli import pages
from gpudoctor.runbook import index
from gpudoctor.runbook.model import Library, Runbook, Step
from tests.engine_fakes import cause

DOCS = Path(__file__).parents[1] / "docs"
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")  # [gpu-hung](causes/gpu.md#gpu-hung)
FENCED = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The pages as they would be written now."""
    return pages.pages(index.library())


def test_the_pages_are_what_the_library_says() -> None:
    assert sorted(pages.stale(index.library(), DOCS)) == [], "run `make docs`"


def test_every_cause_and_runbook_has_its_place(made: dict[str, str]) -> None:
    library = index.library()
    for one in library.causes.values():
        assert f"\n## {one.id}\n" in made[f"causes/{one.layer}.md"]
        assert made["causes.md"].count(f"[{one.id}](causes/{one.layer}.md#{one.id.lower()})") == 1
    for name in library.runbooks:
        assert f"\n## {name}\n" in made["runbooks.md"]


def test_every_link_leads_to_a_heading(made: dict[str, str]) -> None:
    anchors = {name: {title.lower() for title in re.findall(r"^## (.+)$", text, re.MULTILINE)} for name, text in made.items()}
    for name, text in made.items():
        for target, anchor in set(LINK.findall(FENCED.sub("", text))):
            other = str((Path("/") / name).parent.joinpath(target).resolve()).removeprefix("/") if target else name
            assert other in made, (name, target)
            assert not anchor or anchor in anchors[other], (name, target, anchor)


def test_texts_stand_as_they_are() -> None:
    one = cause(
        "a", tell="`x | y <z>` shows <unknown> or DCGM_FI_*", fixes=[{"title": "do | it", "risk": "safe", "run": ["look", "${pod}"]}]
    )
    other = cause("b-D", "node", title="this | that", broader=True, confused_with={"a": "a says `1 | 2`."})
    shown = pages.pages(Library(causes={"a": one, "b-D": other}))
    assert r"**How to tell:** `x | y <z>` shows \<unknown\> or DCGM\_FI\_\*" in shown["causes/test.md"]
    assert "- *safe:* do | it\n  - `look POD`" in shown["causes/test.md"]
    assert "- [b-D](test.md#b-d): a says `1 | 2`." in shown["causes/test.md"].split("## b-D")[0], "the other side says it"
    assert r"| [b-D](causes/test.md#b-d) | this \| that |" in shown["causes.md"]
    assert pages.BROADER in shown["causes/test.md"].split("## b-D")[1]


def test_what_is_gone_is_removed_and_the_rest_left_alone(tmp_path: Path) -> None:
    (tmp_path / "causes").mkdir()
    (tmp_path / "causes" / "old.md").write_text("x")
    (tmp_path / "own.md").write_text("mine")
    book = Runbook(id="r", title="r", steps=[Step(id="s"), Step(id="", include="r")])
    library = Library(runbooks={"r": book}, causes={"a": cause("a")})
    assert pages.write(library, tmp_path) == ["causes.md", "causes/old.md", "causes/test.md", "runbooks.md"]
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")) == [
        "causes.md",
        "causes/test.md",
        "own.md",
        "runbooks.md",
    ]
    assert pages.write(library, tmp_path) == []


def test_an_installed_gpudoctor_has_no_pages_to_write(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(index, "in_checkout", lambda: False)
    assert pages.main() == 2
    assert "run `make docs` in a checkout" in capsys.readouterr().err
