"""NCCL: its log lines, its RAS, and the tables of nccl-tests."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "collective.tests": Parser(("collective_tests",), "tests:tests"),  # nccl-tests
    "nccl.ras": Parser(("ranks", "collectives", "communicators"), "ras:status"),  # ncclras, text and JSON
}
