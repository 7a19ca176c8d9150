"""`--record` on the cluster and `analyze` at the desk are one workflow: a bundle is diagnosed as the run that wrote it was."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpudoctor.analyze.gather import gather
from gpudoctor.cli.app import app
from gpudoctor.engine.diagnose import analyze
from gpudoctor.intake import recorded_bundles
from gpudoctor.library.index import library
from tests.fixture_files import FIXTURES, cases, unpacked

LOST = FIXTURES / "diagnose-pod" / "whole-lost-gpu.txt"


def shown(*argv: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*argv, "--format", "json"])
    return done.exit_code, done.output


@pytest.mark.parametrize("case", cases()[::31], ids=lambda path: path.stem)
def test_a_recorded_run_alone_is_the_run_itself(case: Path, tmp_path: Path) -> None:
    folder = unpacked(case, tmp_path / "kept")
    assert shown("analyze", str(folder)) == shown("run", "--replay", str(folder))
    assert shown("analyze", str(case)) == shown("run", "--replay", str(case)) == shown("run", "--replay", str(case.with_suffix("")))


def test_its_list_stands_for_the_bundle(tmp_path: Path) -> None:
    assert shown("analyze", str(unpacked(LOST, tmp_path / "kept") / "bundle.json")) == shown("run", "--replay", str(LOST))


def test_a_bundle_in_an_archive_is_read_with_the_commands_that_its_list_names(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "incident.tar.gz", "w:gz") as archive:
        archive.add(unpacked(LOST, tmp_path / "kept"), arcname="incident-42")
    gathered = gather([str(tmp_path / "incident.tar.gz")])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    assert report.findings[0].cause == "gpu-fallen-off-bus"
    assert report.coverage.missing == []
    assert {one.recognised_as[0] for one in gathered.inputs if one.path.endswith("bundle.json")} == {recorded_bundles.LIST}
    nodes = {getattr(xid, "node", "") for xid in gathered.facts["xids"] if "dmesg" in xid.origin.source}
    assert nodes == {"gpu-01"}


def test_a_bundle_beside_other_files_is_read_with_them(tmp_path: Path) -> None:
    unpacked(LOST, tmp_path / "bundle")
    (tmp_path / "more.txt").write_text("[   12.300000] NVRM: Xid (PCI:0000:9b:00): 48, pid=1, name=python3, Ch 1\n")
    code, output = shown("analyze", str(tmp_path))
    causes = {one["cause"] for one in json.loads(output)["findings"]}
    assert code == 1
    assert {"gpu-fallen-off-bus", "gpu-ecc-uncorrectable"} <= causes


def test_a_bundle_that_is_damaged_or_of_an_unknown_runbook_is_read_as_files(tmp_path: Path) -> None:
    for name, change in (("strange", '"runbook": "somebodys-own"'), ("cut", "")):
        folder = tmp_path / name
        unpacked(LOST, folder)
        text = (folder / "bundle.json").read_text()
        changed = text.replace('"runbook": "diagnose-pod"', change) if change else text[: len(text) // 2]
        assert changed != text
        (folder / "bundle.json").write_text(changed)
        code, output = shown("analyze", str(folder))
        assert code == 1
        assert json.loads(output)["findings"][0]["cause"] == "gpu-fallen-off-bus"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"bundle": 1}', b'{"bundle": "x", "outputs": []}', b'{"bundle": 1, "outputs": [7]}'])
def test_what_is_no_list_names_nothing(data: bytes) -> None:
    assert recorded_bundles.answers([("a/bundle.json", data)]) == {}


def test_samples_are_read_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Which of two files of counters is the older one, only the list says."""
    found = unpacked(FIXTURES / "fabric" / "rdma-counters-reset.txt", tmp_path / "kept")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.add(found, arcname="b")
    (tmp_path / "b.tar").write_bytes(made.getvalue())
    gathered = gather([str(tmp_path / "b.tar")])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    replay = json.loads(shown("run", "--replay", str(found))[1])
    assert {one.cause for one in report.findings if one.severity != "info"} == {
        one["cause"] for one in replay["findings"] if one["severity"] != "info"
    }
