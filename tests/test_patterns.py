"""Regular expressions are compiled late: all that the modules name do compile, and none is compiled by being imported."""

from __future__ import annotations

import ast
import gc
import importlib
import pkgutil
import re

import pytest

import gpudoctor
from gpudoctor.patterns import METHODS, Later, regex
from tests.test_architecture import MODULES


def test_every_pattern_that_a_module_names_compiles() -> None:
    for module in pkgutil.walk_packages(gpudoctor.__path__, "gpudoctor."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    named = [one for one in gc.get_objects() if isinstance(one, Later)]
    assert len(named) > 400
    for one in named:
        re.compile(one.pattern, one.flags)


@pytest.mark.parametrize("module", MODULES)
def test_no_module_compiles_one_when_it_is_imported(module: str) -> None:
    inside = [node for one in ast.walk(MODULES[module]) if isinstance(one, ast.FunctionDef | ast.Lambda) for node in ast.walk(one)]
    outside = [node for node in ast.walk(MODULES[module]) if isinstance(node, ast.Call) and node not in inside]
    assert [f"line {node.lineno}" for node in outside if ast.unparse(node.func) == "re.compile"] == []


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    late, made = regex(r"(?P<code>\d+)|x", re.ASCII), re.compile(r"(?P<code>\d+)|x", re.ASCII)
    assert vars(late).keys() == {"pattern", "flags"}
    for method in ("search", "match", "fullmatch", "split", "findall"):
        assert repr(getattr(late, method)("Xid 79")) == repr(getattr(made, method)("Xid 79")), method
    assert vars(late).keys() == {"pattern", "flags", *METHODS}
    assert (late.sub("y", "Xid 79"), late.groups, dict(late.groupindex)) == ("Xid y", 1, {"code": 1})
    assert regex(rb"\d").findall(b"a1") == [b"1"]
    with pytest.raises(re.error):
        regex("(").search("")
    with pytest.raises(AttributeError):
        regex("x").sucht  # type: ignore[attr-defined]  # noqa: B018
