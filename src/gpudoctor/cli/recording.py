"""What keeps a run: a recorder around its probe, and what is said when it can't."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudoctor.cli.errors import Refused, complain

if TYPE_CHECKING:
    from gpudoctor.report import Report


def recorder(probe: Any, folder: Path, runbook: str, inputs: dict[str, Any], started: float, go_on: bool = False) -> Any:
    """A probe that keeps what the other one answers. Raises `Refused` for a folder that can't be used."""
    from gpudoctor.probes.bundle import BundleError
    from gpudoctor.probes.record import Recorder

    try:
        return Recorder(probe, folder, runbook, inputs, started, go_on)
    except BundleError as error:
        raise Refused(str(error)) from None


def finish_recording(recorder: Any, interrupted: bool) -> bool:
    """End a recording; → whether it is complete. One that isn't is said on stderr: the report is worth having all the same."""
    from gpudoctor.probes.bundle import BundleError

    try:
        recorder.close(interrupted)
    except BundleError as error:
        complain(str(error))
        return False
    return True


def mark_incomplete(report: Report, why: str) -> Report:
    """The report of a bundle in which answers may be missing: that nothing was found in it isn't healthy."""
    import msgspec

    from gpudoctor.report import Missing

    missing = [Missing("the bundle", f"it is incomplete: {why}"), *report.coverage.missing]
    return msgspec.structs.replace(
        report,
        verdict="inconclusive" if report.verdict == "healthy" else report.verdict,
        coverage=msgspec.structs.replace(report.coverage, missing=missing),
    )
