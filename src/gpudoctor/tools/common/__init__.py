"""What the readers of all tools share: lines and their times, many patterns at once, known messages, and what a text says is not well."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "person.answer": Parser(("answers",), "person:answer"),
}
