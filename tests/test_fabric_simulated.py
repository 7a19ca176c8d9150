"""The runbook of the fabric over a simulated one: the real tools ask it, and what they print is read and judged."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.report import Report
from tests.fabric.simulated import HOSTS, Fabric, fabric, missing
from tests.fabric.tools import NOW, Tools

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"not on this machine: {missing()} (Debian: ibsim-utils opensm infiniband-diags)")


def look(running: Fabric, meanwhile: Callable[[], None] = lambda: None) -> Report:
    """The report on all hosts, with the sweep from the first."""
    books = library()
    book = books.runbooks["fabric"]
    inputs = {name: declared.default for name, declared in book.inputs.items()} | {"nodes": ",".join(HOSTS), "sweep": HOSTS[0]}
    return diagnose(books, book, inputs, Tools(running, meanwhile), started=NOW, recorded=True)


def found(report: Report) -> list[tuple[str, str, str]]:
    """What was found: check, cause, subject; equal findings of several subjects are one in a report, that names the others."""
    return [(one.check.rpartition(".")[2], one.cause, name) for one in report.findings for name in (one.subject.name, *one.also)]


def test_a_healthy_fabric_is_quiet() -> None:
    with fabric() as running:
        report = look(running)
    assert (report.verdict, found(report)) == ("healthy", [])
    assert report.coverage.answered >= 3 * len(HOSTS)  # ibstat, and perfquery twice


def test_a_link_that_is_down_is_named_by_its_host() -> None:
    with fabric() as running:
        running.console('Unlink "gpu-03"')
        report = look(running)
    assert found(report) == [("port_went_down", "rdma-port-down", "gpu-03")]  # it keeps the lid that the subnet manager gave it


def test_without_a_subnet_manager_every_port_waits() -> None:
    with fabric(managed=False) as running:
        report = look(running)
    assert {(cause, subject) for _, cause, subject in found(report)} == {("ib-port-init-no-subnet-manager", host) for host in HOSTS}
    assert report.verdict == "problem"


def test_errors_that_rise_are_a_cable_and_both_ends_are_named() -> None:
    def rise() -> None:
        running.console(
            'PerformanceSet "gpu-02"[1] PortCounters.SymbolErrorCounter=912',
            'PerformanceSet "gpu-02"[1] PortCounters.LinkErrorRecoveryCounter=7',
        )

    with fabric() as running:
        running.console(
            'PerformanceSet "gpu-02"[1] PortCounters.SymbolErrorCounter=200',
            'PerformanceSet "gpu-05"[1] PortCounters.SymbolErrorCounter=200',
        )
        report = look(running, rise)
    assert found(report) == [("errors_grow", "ib-bad-cable-symbol-errors", "gpu-02")]
    assert "to leaf-1 port 2" in report.findings[0].title
    assert "symbol errors +712, link recoveries +7" in report.findings[0].title


def test_a_saturated_counter_is_no_growth() -> None:
    with fabric() as running:
        running.console('PerformanceSet "gpu-02"[1] PortCounters.LinkErrorRecoveryCounter=255')
        report = look(running)
    assert found(report) == []


def test_a_link_with_one_lane_is_slow() -> None:
    with fabric(slow="gpu-06") as running:
        report = look(running)
    assert found(report) == [("could_be_faster", "ib-link-speed-degraded", "gpu-06")]
    assert "gpu-06 port 1 to leaf-2 port 2 runs at 1X" in report.findings[0].title
