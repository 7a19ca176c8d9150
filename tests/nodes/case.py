"""One recorded incident of machines: what each of their commands printed, and the runbook that looked at it."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpudoctor.probes.base import Failure


class Said(NamedTuple):
    """What a command did when it did more than print and exit with 0."""

    stdout: str = ""
    exit: int = 0
    stderr: str = ""
    failure: Failure = ""
    reason: str = ""  # of a time-out the probe's own words
    seconds: float = 0.0  # that a time-out took; 0 = all that the command had


class Case(NamedTuple):
    """`answers` maps a command line to what it printed: `gpu-02: dmesg --time-format=iso`, or without a host for what runs here.

    A command that isn't named is a program that isn't there. For a step that samples, a list gives one answer a sample, in order.
    """

    runbook: str
    inputs: dict[str, Any]
    answers: dict[str, str | Said | list[str]]
    consent: bool = True  # to steps that disturb running work
