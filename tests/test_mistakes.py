"""A parser or a measurement of ours that fails in an unforeseen way: it is named, its checks are unknown, everything else goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpudoctor import derive, registry
from gpudoctor.analyze.gather import gather
from gpudoctor.engine.cases import inputs_of
from gpudoctor.engine.diagnose import analyze, diagnose
from gpudoctor.intake import recognise
from gpudoctor.library.index import library
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Report
from gpudoctor.tools.linux import modules
from gpudoctor.tools.nvidia_smi import smi

SMI = Path(__file__).parent / "fixtures" / "gpu-health" / "wants-reset"
XID = "[   12.300000] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python3, GPU has fallen off the bus.\n"
SAID = "not read by a bug of gpudoctor, please report it"


def broken(*_: Any) -> Any:
    raise KeyError("a field that was not thought of")


def replayed(folder: Path) -> Report:
    probe = Replay(folder)
    book = library().runbooks[probe.bundle.runbook]
    return diagnose(library(), book, inputs_of(book, probe.bundle.inputs, {}), probe, recorded=True)


def test_a_run_goes_on_without_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smi, "smi", broken)
    report = replayed(SMI)
    assert report.verdict == "inconclusive"
    assert report.unknown
    (missing,) = report.coverage.missing
    assert missing.why == f"gpu-07: nvidia-smi -q -x: {SAID}: parser nvidia.smi: KeyError: 'a field that was not thought of'"


def test_an_analysis_goes_on_with_the_other_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "modules.txt").write_text("nvidia_uvm 4956160 4 - Live 0x0000000000000000 (POE)\nnvidia 56823808 120 - Live 0x0 (POE)\n")
    (tmp_path / "dmesg.txt").write_text(XID)
    monkeypatch.setattr(modules, "modules", broken)
    gathered = gather([str(tmp_path)])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    assert [one.cause for one in report.findings] == ["gpu-fallen-off-bus"]
    (missing,) = report.coverage.missing
    assert missing.what.endswith("modules.txt")
    assert f"{SAID}: parser linux.modules: KeyError" in missing.why


def test_an_analysis_goes_on_when_the_cutting_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dmesg.txt").write_text(XID)
    (tmp_path / "other.txt").write_text("strange\n")
    asked = recognise.recognise

    def strange(text: str, hint: Any) -> Any:
        return broken() if text.startswith("strange") else asked(text, hint)

    monkeypatch.setattr(recognise, "recognise", strange)
    gathered = gather([str(tmp_path)])
    assert {one.path[-9:]: SAID in one.note for one in gathered.inputs} == {"dmesg.txt": False, "other.txt": True}
    assert gathered.facts["xids"]


def test_a_measurement_that_fails_leaves_the_rest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dmesg.txt").write_text(XID)
    from gpudoctor.derive import timeline

    monkeypatch.setattr(timeline, "timeline", broken)
    assert "kernel.timeline" in derive.DERIVATIONS
    gathered = gather([str(tmp_path)])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    assert [one.cause for one in report.findings] == ["gpu-fallen-off-bus"]
    assert [(one.what, SAID in one.why) for one in report.coverage.missing] == [("kernel.timeline", True)]


def test_what_comes_with_the_pages_is_not_taken_for_the_parser_s(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpudoctor.engine.reading import read_pages
    from gpudoctor.facts import Subject
    from gpudoctor.probes.base import Command

    def pages() -> Any:
        yield broken()

    with pytest.raises(KeyError):
        read_pages("kernel.log", pages(), Command(("dmesg",)), Subject(kind="node"))
    assert registry.PARSERS["kernel.log"].streams
