"""What keeps a run: a recorder around its probe, and what is said when it can't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpudoctor.cli.errors import Refused, complain


def recorder(probe: Any, folder: Path, runbook: str, inputs: dict[str, Any], started: float, go_on: bool = False) -> Any:
    """A probe that keeps what the other one answers. Raises `Refused` for a folder that can't be used."""
    from gpudoctor.probes.bundle import BundleError
    from gpudoctor.probes.record import Recorder

    try:
        return Recorder(probe, folder, runbook, inputs, started, go_on)
    except BundleError as error:
        raise Refused(str(error)) from None


def closed(recorder: Any) -> None:
    """End a recording. An incomplete one is said on stderr: the report is worth having all the same."""
    from gpudoctor.probes.bundle import BundleError

    try:
        recorder.close()
    except BundleError as error:
        complain(str(error))
