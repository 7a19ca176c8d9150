"""A recording that somebody has packed is the run itself: its hosts, its question, what had no answer."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from gpudoctor.cli.execute import analyze_paths, execute
from gpudoctor.cli.paths import recorded_run
from gpudoctor.cli.printing import Shown
from gpudoctor.cli.where import Where
from gpudoctor.probes import packed
from gpudoctor.probes.base import Command
from gpudoctor.probes.bundle import BundleError
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay

CASE = Path(__file__).parent / "fixtures" / "node-health" / "rack-fell-off.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three nodes, as `--record` keeps it."""
    replay = Replay(CASE)
    made = tmp_path_factory.mktemp("recorded") / "incident-42"
    recorder = Recorder(replay, made, replay.bundle.runbook, replay.bundle.inputs, 1_772_366_400.0)
    for answer in replay.bundle.outputs:
        recorder(Command(argv=tuple(answer.argv), host=answer.host, sample=answer.sample))
    recorder.close()
    return made


def told(capsys: pytest.CaptureFixture[str], path: Path, replayed: bool = False) -> dict[str, object]:
    shown = Shown("json")
    code = execute("", [], Where(replay=path), timeout=60.0, shown=shown) if replayed else analyze_paths([str(path)], 60.0, shown)
    assert code == 1
    made: dict[str, object] = json.loads(capsys.readouterr().out)
    for step in made["steps"]:  # type: ignore[attr-defined]
        step["seconds"] = 0.0
    return made


@pytest.mark.parametrize("form", ["gztar", "tar", "zip"])
@pytest.mark.parametrize("inside", [True, False], ids=["with its folder", "its files"])
def test_an_archive_of_a_recording_is_the_run(
    folder: Path, tmp_path: Path, form: str, inside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    root = {"root_dir": folder.parent, "base_dir": folder.name} if inside else {"root_dir": folder, "base_dir": "."}
    archive = Path(shutil.make_archive(str(tmp_path / "recording"), form, **root))
    whole = told(capsys, folder)
    assert whole["asked"] == "3 nodes gpu-[01-03]"
    assert told(capsys, archive) == whole
    assert told(capsys, archive, replayed=True) == whole


def tar(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return path


def test_what_is_no_recording_stays_what_it_is(folder: Path, tmp_path: Path) -> None:
    held = {f"incident-42/{one.name}": one.read_bytes() for one in folder.iterdir()}
    plain = tmp_path / "a.txt"
    plain.write_text("bundle.json\n")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as made:
        made.writestr("logs/dmesg.txt", "x")
    others = [
        plain,
        tmp_path / "b.zip",
        tar(tmp_path / "more.tgz", held | {"incident-42/notes.md": b"x"}),
        tar(tmp_path / "two.tgz", held | {"incident-43/bundle.json": b"{}"}),
        tar(tmp_path / "climbs.tgz", held | {"../evil-0123abcd.txt": b"x"}),
        tmp_path,
    ]
    for path in others:
        assert (packed.load(path) if path.is_file() else None) is None
        assert recorded_run([str(path)]) is None
    cut = tmp_path / "cut.tgz"
    cut.write_bytes(tar(tmp_path / "whole.tgz", held).read_bytes()[:-200])
    assert recorded_run([str(cut)]) is None


def test_a_recording_without_one_of_its_files_says_so(folder: Path, tmp_path: Path) -> None:
    held = {one.name: one.read_bytes() for one in folder.iterdir()}
    gone = next(name for name in sorted(held) if name.startswith("dmesg"))
    with pytest.raises(BundleError, match=rf"is incomplete: the file {gone} is missing"):
        Replay(tar(tmp_path / "a.tgz", {name: data for name, data in held.items() if name != gone}))


def test_what_macos_adds_is_no_part_of_it(folder: Path, tmp_path: Path) -> None:
    held = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert packed.load(tar(tmp_path / "a.tgz", {"._bundle.json": b"x", **held, ".DS_Store": b"x"})) is not None
