"""PyTorch: its distributed layer, its allocator, its flight recorder."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "program.memory": Parser(("allocations",), "memory_reports:reports"),  # failed allocations, completed by what was said of memory
    "torch.flight_recorder": Parser(("ranks", "collectives", "communicators"), "flight_recorder:dump"),  # one rank's dump
}
