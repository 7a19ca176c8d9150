"""What is pasted, `corpus/`: each text is diagnosed as is expected of it, and the files have their form."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from gpudoctor.library.index import library
from tests import pasted
from tests.pasted import CORPUS, Pasted, corpus, diagnosed_files, judge_corpus, read

TEXTS = corpus()
SOME = TEXTS[::25]
WRITTEN = """\
=== by its log
found
==> a.txt <==
one

=== no head: no word that is expected stands below
==> b.txt <==
two

=== alone
quiet
=== alone
as it was
"""


def called(one: Pasted) -> str:
    """The name of a text's test."""
    return f"{one.cause}/{one.name}"


def coloured(line: str) -> str:
    """A line as a terminal gets it."""
    return f"\x1b[0m{line}\x1b[K"


@pytest.mark.parametrize("one", TEXTS, ids=called)
def test_a_text(one: Pasted, tmp_path: Path) -> None:
    judge_corpus(diagnosed_files(tmp_path, one.text), one)


@pytest.mark.parametrize("one", SOME, ids=called)
def test_other_ends_of_lines_change_nothing(one: Pasted, tmp_path: Path) -> None:
    judge_corpus(diagnosed_files(tmp_path, one.text, lambda text: text.replace("\n", "\r\n")), one)


@pytest.mark.parametrize("one", SOME, ids=called)
def test_the_codes_of_a_terminal_change_nothing(one: Pasted, tmp_path: Path) -> None:
    judge_corpus(diagnosed_files(tmp_path, one.text, lambda text: "\n".join(map(coloured, text.split("\n")))), one)


def test_a_file_is_cut_only_at_heads() -> None:
    first, second = read("xid", WRITTEN)
    assert first[:3] == ("xid", "by its log", "found")
    assert first.text.endswith("two\n\n")
    assert second == ("xid", "alone", "quiet", "=== alone\nas it was\n")


def test_words_before_the_first_head_are_a_mistake() -> None:
    with pytest.raises(AssertionError, match=r"xid\.txt begins"):
        read("xid", "words\n" + WRITTEN)


def test_each_file_is_of_a_cause() -> None:
    assert {one.cause for one in TEXTS} - {*library().causes, "none"} == set()
    assert {path.suffix for path in CORPUS.iterdir()} == {".txt"}


def test_only_where_nothing_is_wrong_nothing_is_expected() -> None:
    assert [called(one) for one in TEXTS if (one.cause == "none") != (one.expected in ("quiet", "silent"))] == []


def test_texts_are_in_the_order_of_their_names() -> None:
    names = [(one.cause, one.name) for one in TEXTS]
    assert names == sorted(names)
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_text_is_there_twice() -> None:
    first = {one.text: one for one in reversed(TEXTS)}
    assert [(called(one), called(first[one.text])) for one in TEXTS if first[one.text] != one] == []


def test_no_head_has_a_word_that_nobody_knows() -> None:
    """It would be a line of the text before it."""
    misspelt = re.compile(r"^=== .+\n[a-z]+\n", re.MULTILINE)
    assert [found for one in TEXTS for found in misspelt.findall(one.text)] == []


def test_a_text_is_put_in_its_place_and_one_of_its_name_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted, "CORPUS", tmp_path)
    for name, text in (("b", "two\n"), ("a", "one\n"), ("b", "second\n")):
        pasted.put(Pasted("xid", name, "found", text))
    assert (tmp_path / "xid.txt").read_text() == "=== a\nfound\none\n=== b\nfound\nsecond\n"
