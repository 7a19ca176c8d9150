"""The log of a distributed job as a whole, and those who launch it."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "nccl.log": Parser(
        ("ranks", "communicators", "collectives", "settings", "messages", "xids", "allocations", "endings", "troubles"),
        "log:log",
        streams=True,
    ),
}
