"""Every match of a pattern has one of its literals: else the scanner would pass over lines that it knows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import analyze, innocent_lines, kernel_log, nccl_log
from gpudoctor.knowledge.literals import SHORTEST, length, literals
from gpudoctor.library.index import library
from gpudoctor.tools.common import messages
from gpudoctor.tools.common.scanner import compile_scanner

PATTERNS = (
    r"dial tcp \S+: (?:i/o timeout|connection refused)",
    r"(?i:failed to (?:initialize|open) NVML?)",
    r"[Dd]river/library version mismatch|ERROR_LIB_RM_VERSION_MISMATCH",
    r"(?:worker )?(?:\d+ )?is killed by signal[:=]? (?:Killed|Bus error)",
    r"\bquota (?:is [\d.]+ GPUs?, while )+[\d.]+ GPUs? (?:are|is) allocated",
    r"(?i)connection (?:reset|closed)\s+by (?:remote )?peer",
    r"Xid \(PCI:[0-9a-f:]{4,12}\): (?:79|48), *pid=",
)


@given(st.data())
@settings(max_examples=80)
def test_a_match_has_a_literal(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    text = data.draw(st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True))
    wanted = literals(pattern)
    assert wanted
    assert re.search("|".join(wanted), text), (pattern, text)


@pytest.mark.parametrize("pattern", [r"a.c|longer than that", r"\d+ \S+", r"ab", r".*", r"(?:long enough)?", r"(unclosed"])
def test_no_literal_where_a_match_may_have_none(pattern: str) -> None:
    assert literals(pattern) == []


def test_known_messages_are_found_by_their_literals() -> None:
    known = library()
    assert len(known.literals) > len(known.messages) * 9 // 10
    for message in known.messages:
        wanted = known.literals.get(message.name, [])
        assert all(length(text) >= SHORTEST for text in wanted), message.name
        for wording in message.wordings if wanted else ():
            assert re.search("|".join(wanted), wording.line), wording.line


def test_a_literal_alone_is_no_hit() -> None:
    known = compile_scanner([("timeout", r"dial tcp \S+: i/o timeout"), ("plain", "no literal")], {"timeout": ["i/o timeout"]})
    assert known.fitting(b"read: i/o timeout") == []
    assert known.fitting(b"dial tcp 10.0.0.1:443: i/o timeout") == [0]
    assert known.fitting(b"no literal") == [1]


def test_no_literal_stands_in_the_lines_that_logs_are_full_of() -> None:
    """One that does makes the scanner search every part of every log for its pattern: the whole then takes half as long again."""
    names = {"n": 5, "at": "11:22:33.555555", "node": "gpu-05", "pod": "trainer-5", "rank": 5, "gpu": 5, "peer": 5}
    lines = [*nccl_log.BULK, *analyze.KUBELET, *analyze.CONTAINERD, *analyze.POD, *analyze.DMESG, *kernel_log.NOISE]
    known = messages.scanner()
    text = "\n".join(line.format(**names) for line in lines).encode()
    assert [known.names[which] for which in known.hints.set.Match(text) or ()] == []


@pytest.mark.parametrize("kind", innocent_lines.KINDS)
def test_no_innocent_line_says_something_that_is_counted(kind: str) -> None:
    """Each such line is taken apart, which takes a hundred times as long as to pass over it."""
    text = "\n".join(innocent_lines.lines_of(kind)).encode()
    known = messages.scanner()
    assert {known.names[which] for which in known.fitting(text)} <= messages.sampled()
