"""The logs of programs that are no tool of ours: their last words, known messages and numbered errors."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "logs.text": Parser(("messages", "xids", "sxids", "allocations", "endings", "troubles"), "program:text"),
    "logs.errors": Parser(("xids", "sxids"), "program:errors"),
}
