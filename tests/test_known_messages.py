"""The project's own messages: each entry finds its own line, and a line found by nobody is an error of the entry."""

from __future__ import annotations

import pytest
import yaml

from gpudoctor.library.index import messages_folder
from gpudoctor.tools.common.messages import find
from gpudoctor.tools.common.scanner import Scanner, compile_scanner

ENTRIES = [entry for path in sorted(messages_folder().glob("*.yaml")) for entry in yaml.safe_load(path.read_text())["messages"]]


@pytest.fixture(scope="module")
def known() -> Scanner:
    return compile_scanner([(entry["name"], entry["pattern"]) for entry in ENTRIES])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_an_entry_finds_its_line(entry: dict[str, str], known: Scanner) -> None:
    hits = list(find([entry["line"].encode()], known))
    assert entry["name"] in [hit.name for hit in hits]


def test_one_capture_group_at_most(known: Scanner) -> None:
    assert [name for name, pattern in zip(known.names, known.patterns, strict=True) if pattern.groups > 1] == []
