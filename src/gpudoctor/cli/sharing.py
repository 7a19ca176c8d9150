"""A report made fit to leave the machine: redacted as a bundle is, whatever it was made of."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.probes.redact import Redactor
from gpudoctor.report import Report

COMMANDS = ("argv", "run", "undo", "verify")  # fields that hold the words of a command
OUTPUTS = ("text", "errors")  # of an output, which was redacted as a whole where that is: in a step


def redact_report(report: Report, redactor: Redactor | None = None) -> Report:
    """The report without what has the form of a secret: in evidence from a log, in titles, in cells of tables."""
    made = redact_value(msgspec.to_builtins(report), redactor or Redactor(), "")
    return msgspec.convert(made, Report)


def redact_value(value: Any, redactor: Redactor, key: str) -> Any:
    """Plain data with every text redacted, commands by their options too. `key` is the field that holds the value."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, list):
        return redactor.argv(value) if key in COMMANDS else [redact_value(one, redactor, key) for one in value]
    if isinstance(value, dict):
        return {field: one if key == "outputs" and field in OUTPUTS else redact_value(one, redactor, field) for field, one in value.items()}
    return value
