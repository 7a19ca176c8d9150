"""A runbook on a real Prometheus that has kept some series."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.probes.live import Live
from gpudoctor.report import Report
from tests.prometheus.kept import Course, keeping

Courses = dict[tuple[str, str], Course]


def asked(folder: Path, courses: Courses, *, book: str, until: float = 0.0, **inputs: object) -> Report:
    """The report on a real Prometheus with these series."""
    if not shutil.which("prometheus"):
        pytest.skip("prometheus isn't installed (Debian: apt-get install prometheus)")
    with keeping(folder, courses, until=until) as url:
        return looked(url, book=book, **inputs)


def looked(url: str, *, book: str, **inputs: object) -> Report:
    """What a runbook says of a Prometheus."""
    chosen = library().runbooks[book]
    given = {name: one.default for name, one in chosen.inputs.items()}
    return diagnose(library(), chosen, {**given, "prometheus": url, **inputs}, Live(), timeout=30)


def found(report: Report) -> list[tuple[str, str]]:
    """What was found, and how sure that is."""
    return [(one.cause, one.confidence) for one in report.findings]
