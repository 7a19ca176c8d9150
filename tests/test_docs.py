"""The pages that list all causes and runbooks: made from the library, fresh, and every link of all pages leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpudoctor.cli import pages
from gpudoctor.library import index
from gpudoctor.runbook.model import Library
from tests.engine_fakes import cause

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")  # [the form](docs/formats.md#a-recorded-run)
FENCED = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


def test_the_pages_are_what_the_library_says() -> None:
    assert sorted(pages.stale_pages(index.library(), DOCS)) == [], "run `make docs`"


def test_every_cause_and_runbook_has_its_line() -> None:
    library, made = index.library(), pages.pages(index.library())
    for one in library.causes.values():
        assert made["causes.md"].count(f"\n| `{one.id}` |") == 1
    for name in library.runbooks:
        assert made["runbooks.md"].count(f"\n| [{name}](../runbooks/{name}.yaml) |") == 1


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = HEADING.findall(path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda path: path.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in set(LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8")))):
        if "://" in target:
            continue
        other = (page.parent / target).resolve() if target else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), (target, anchor)


def test_texts_stand_as_they_are() -> None:
    shown = pages.pages(Library(causes={"b-D": cause("b-D", title="this | that, <unknown> or DCGM_FI_*")}))
    assert r"| `b-D` | this \| that, \<unknown\> or DCGM\_FI\_\* |" in shown["causes.md"]


def test_an_installed_gpudoctor_has_no_pages_to_write(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(index, "in_checkout", lambda: False)
    assert pages.main() == 2
    assert "run `make docs` in a checkout" in capsys.readouterr().err
