"""Servers of models."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "serving.load": Parser(("engine_loads",), "engine_load:loads"),  # requests of the engines of a server, side by side
    "serving.measures": Parser(("measures",), "measures:numbers"),  # load tests, counters and logs of servers
}
