"""Short texts are looked up by literals: all patterns that occur are among those that are named, as RE2's Set names them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.knowledge.literals import lower_literal
from gpudoctor.library.index import library
from gpudoctor.tools.common import messages
from gpudoctor.tools.common.scanner import SHORT, compile_scanner
from gpudoctor.tools.common.short_texts import ShortTexts


def test_a_pattern_is_named_for_a_text_with_one_of_its_literals() -> None:
    literals = [["i/o timeout", "[nN][oO] route"], [], [r"\[ab\]\.", "Größe"], ["timeout"]]
    known = ShortTexts([[lower_literal(literal) for literal in one] for one in literals])
    assert known.fitting(b"read: i/o timeout") == [0, 1, 3]
    assert known.fitting(b"NO ROUTE to host") == [0, 1]
    assert known.fitting("[AB]. or GRÖßE".encode()) == [1, 2]
    assert known.fitting(b"") == [1]


def test_every_known_line_is_found_by_its_words_as_by_the_set() -> None:
    known = messages.scanner()
    lines = [wording.line.encode() for message in library().messages for wording in message.wordings]
    for line in lines:
        assert set(known.hints.set.Match(line) or ()) <= set(known.hints.short.fitting(line)), line


@given(st.lists(st.sampled_from([b"alpha", b"beta ", b"\xc3\x84", b"Xid=", b"\n", b"79", b"\xff", b"ALPHA"]), max_size=30))
def test_both_ways_find_the_same(words: list[bytes]) -> None:
    entries = [("a", "alpha"), ("b", "(?i)beta alpha"), ("x", r"Xid=\d+"), ("u", "Ä"), ("n", r"\d\d")]
    literals = {"a": ["alpha"], "b": ["[bB][eE][tT][aA] "], "x": ["Xid="], "u": ["Ä"]}
    text = b"".join(words)
    looked_up, matched = compile_scanner(entries, literals), compile_scanner(entries, literals)
    matched.hints.left = 0
    assert sorted(looked_up.fitting(text)) == sorted(matched.fitting(text))


def test_after_much_text_the_set_is_asked() -> None:
    known = compile_scanner([("x", r"Xid=\d+")], {"x": ["Xid="]})
    assert known.fitting(b"Xid=79") == [0]
    assert "set" not in vars(known.hints)
    assert known.fitting(b"-" * SHORT + b"Xid=79") == [0]
    assert "set" in vars(known.hints)
