"""What servers of models and load tests print as single numbers → measures."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import measures
from gpudoctor.tools.serving.load_tests import load_tests
from gpudoctor.tools.serving.server_load import server_load

READERS = (load_tests, server_load)


def numbers(output: Output, about: Subject) -> Facts:
    """A Measure for each number."""
    return measures.measures(output, about, READERS)


def score(lines: Sequence[str], argv: Sequence[str]) -> int:
    """Score a text with one of these numbers."""
    return measures.score(lines, argv, READERS)
