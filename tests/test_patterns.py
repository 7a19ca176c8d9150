"""Regular expressions are compiled late: all that the modules name do compile, and none is compiled by being imported."""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import pkgutil
import re
import sys
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpudoctor
from gpudoctor.patterns import TRIES, Later, literals, regex
from tests.test_architecture import MODULES


@functools.cache
def named() -> list[Later[Any]]:
    """All patterns that the modules name."""
    for module in pkgutil.walk_packages(gpudoctor.__path__, "gpudoctor."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [one for one in gc.get_objects() if isinstance(one, Later)]


def test_every_pattern_that_a_module_names_compiles() -> None:
    assert len(named()) > 400
    for one in named():
        re.compile(one.pattern, one.flags)


@settings(max_examples=400)
@given(st.data())
def test_what_fits_a_pattern_has_one_of_its_literals(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from([one for one in named() if one.literals()]))
    made = re.compile(one.pattern, one.flags)
    text = data.draw(st.from_regex(made))
    assert any(part in text for part in one.literals()) or not made.search(text), (one.pattern, text)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        (r"colou?r: \d{2}", ["colo"]),
        (r"ab{0,2}c|x{2}yz", ["a", "yz"]),
        (r"NVRM: Xid \((?:PCI:)?\S+\): (\d+)", ["NVRM: Xid ("]),
        (r"[|] (?=next)last", ["last"]),
        (r"a{1}b{,3}c{x}", ["c{x}"]),
        (r"\x1b7\u20ac8\0719\1", ["7"]),
        (r"a|", []),
        (r"(?:all|of|it)", []),
        (r"(?i:x)yz", []),
        (r"\bword\b\.\n", ["word"]),
        (r"[]|]ab[^]|]", ["ab"]),
        (r"(?P<q>['\"])text(?P=q)", ["text"]),
    ],
)
def test_the_literals_of_a_pattern(pattern: str, needed: list[str]) -> None:
    assert literals(pattern) == needed


def test_a_pattern_is_compiled_for_a_text_that_may_fit_it() -> None:
    late, made = Later(r"Xid (\d+)", 0), re.compile(r"Xid (\d+)")
    for method in ("search", "match", "fullmatch", "findall", "finditer", "sub"):
        given = ("-", "nothing at all") if method == "sub" else ("nothing at all",)
        ours, theirs = getattr(late, method)(*given), getattr(made, method)(*given)
        assert list(ours) == list(theirs) if method == "finditer" else ours == theirs, method
    assert late.made is None
    for _ in range(TRIES):
        assert late.match("nothing") is None
    assert late.made is made  # re keeps what it has compiled


def test_a_bound_method_goes_on_after_the_pattern_was_compiled() -> None:
    late = regex(r"Xid (\d+)")
    bound = late.search
    assert (late.sub("-", "an Xid 79 here"), late.groups, bound("Xid")) == ("an - here", 1, None)
    assert bound("Xid 13", 1) is None
    assert bound("Xid 13") is not None


def test_many_threads_may_use_a_pattern_for_the_first_time_at_once() -> None:
    before, wrong = sys.getswitchinterval(), []

    def use(start: threading.Barrier, patterns: list[re.Pattern[str]]) -> None:
        start.wait()
        try:
            for number, one in enumerate(patterns):
                assert (one.search("nothing"), one.sub("-", f"an Xid {number}")) == (None, "an -")
                assert one.findall(f"Xid {number}") == [str(number)]
        except BaseException as error:
            wrong.append(error)

    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            patterns = [regex(rf"Xid ({number})") for number in range(100)]
            start = threading.Barrier(8)
            threads = [threading.Thread(target=use, args=(start, patterns)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


@pytest.mark.parametrize("module", MODULES)
def test_no_module_compiles_one_when_it_is_imported(module: str) -> None:
    inside = [node for one in ast.walk(MODULES[module]) if isinstance(one, ast.FunctionDef | ast.Lambda) for node in ast.walk(one)]
    outside = [node for node in ast.walk(MODULES[module]) if isinstance(node, ast.Call) and node not in inside]
    assert [f"line {node.lineno}" for node in outside if ast.unparse(node.func) == "re.compile"] == []


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    late, made = regex(r"(?P<code>\d+)|x", re.ASCII), re.compile(r"(?P<code>\d+)|x", re.ASCII)
    for method in ("search", "match", "fullmatch", "split", "findall"):
        assert repr(getattr(late, method)("Xid 79")) == repr(getattr(made, method)("Xid 79")), method
    assert (late.sub("y", "Xid 79"), late.subn("y", "Xid 79")) == ("Xid y", ("Xid y", 1))
    assert (late.groups, dict(late.groupindex)) == (1, {"code": 1})
    assert [one[0] for one in late.finditer("x 79", 1)] == ["79"]
    assert regex(rb"\d").findall(b"a1") == [b"1"]
    with pytest.raises(re.error):
        regex("(").search("")
