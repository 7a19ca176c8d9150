"""The log of a training program, and what experiment trackers keep."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "training.log": Parser(("paces",), "log:pace"),  # the lines of progress of a training program
    "training.figures": Parser(("measures",), "program_figures:numbers"),  # of programs, profilers and trackers
    "training.values": Parser(("series",), "tracked_values:series"),  # rows of a trainer or a tracker
    "tracker.gpus": Parser(("gpu_samples",), "tracker_gpus:samples"),
}
