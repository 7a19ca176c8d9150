"""What `gpudoctor new` writes works as it is: lint is clean, the paired tests pass, the parser's own test passes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpudoctor.cli.app import app
from gpudoctor.library import index

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what `new` writes to."""
    for folder in ("src/gpudoctor", "runbooks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("pyproject.toml", "tests/parser_samples.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def gpudoctor(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the copy's own code."""
    return python(folder, "-m", "gpudoctor", *words)


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(folder / "src"), "COLUMNS": "200"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_new_runbook_passes_as_it_is(checkout: Path) -> None:
    done = gpudoctor(checkout, "new", "runbook", "storage-latency")
    assert (done.returncode, done.stderr) == (0, "")
    assert "runbooks/storage-latency.yaml" in done.stdout
    tested = gpudoctor(checkout, "test", "runbooks/storage-latency.yaml")
    assert (tested.returncode, tested.stdout.split("\n")[-2]) == (0, "4 passed, 0 failed"), tested.stdout
    assert gpudoctor(checkout, "lint", "runbooks/storage-latency.yaml").returncode == 0
    again = gpudoctor(checkout, "new", "runbook", "storage-latency")
    assert (again.returncode, "is there already" in again.stderr) == (2, True)


def test_a_new_check_stands_in_its_step_and_its_cause_in_the_catalogue(checkout: Path) -> None:
    done = gpudoctor(checkout, "new", "check", "gpu-health.fan_stopped", "gpu-fan-stopped")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "runbooks/catalogue" in done.stdout
    problems = gpudoctor(checkout, "lint").stdout
    assert problems.endswith(": clean\n") or "gpu-fan-stopped" in problems, problems
    shown = gpudoctor(checkout, "show", "gpu-health").stdout
    assert "fan_stopped → gpu-fan-stopped" in shown
    tested = gpudoctor(checkout, "test", "runbooks/gpu-health.yaml").stdout
    assert "fan_stopped" in tested, "its case is still to be written"


def test_a_new_check_of_a_runbook_that_another_ones_test_covers_goes_into_that(checkout: Path) -> None:
    done = gpudoctor(checkout, "new", "check", "network.plugin_silent", "net-plugin-not-found")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "runbooks/nccl.test.yaml" in done.stdout
    assert not (checkout / "runbooks" / "network.test.yaml").exists()
    tested = gpudoctor(checkout, "test", "runbooks/network.yaml").stdout
    assert tested.startswith("nccl.test.yaml\n")
    assert "check plugin_silent is found in no case" in tested


@pytest.mark.parametrize("tool", ["linux", "nvidia_smi"])
def test_a_new_parser_passes_its_test_and_the_rules_of_style(tool: str, checkout: Path) -> None:
    done = gpudoctor(checkout, "new", "parser", tool, "sensors", "--command", "sensors -u")
    assert (done.returncode, done.stderr) == (0, "")
    tested = python(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/test_{tool}_sensors.py")
    assert tested.returncode == 0, tested.stdout
    for rules in (["check"], ["format", "--check"]):
        styled = python(checkout, "-m", "ruff", *rules, "--no-cache", *(line for line in done.stdout.split("\n") if line.startswith("/")))
        assert styled.returncode == 0, styled.stdout
    (checkout / "a.txt").write_text("state: ready\n")
    told = gpudoctor(checkout, "analyze", "a.txt", "--format", "json").stdout
    assert f'"{tool.removesuffix("_smi")}.sensors"' in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["runbook", "../up"], "is no name for a runbook"),
        (["check", "nope.x", "fan-failed"], "there is no runbook 'nope'"),
        (["check", "gpu-health.memory_is_sound", "Fan"], "is no name for a cause"),
        (["check", "gpu-health.x", "fan-failed", "--step", "nope"], "there is no step with checks 'nope'"),
        (["parser", "nvidia", "x"], "there is no tool 'nvidia'"),
        (["parser", "linux", "X"], "is no name for a parser"),
    ],
)
def test_a_mistake_writes_nothing(words: list[str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = sorted(index.runbooks_folder().rglob("*"))
    done = CliRunner().invoke(app, ["new", *words])
    assert done.exit_code == 2 or said in str(done.exception)
    assert said in (done.output + str(done.exception))
    assert sorted(index.runbooks_folder().rglob("*")) == before


def test_an_installed_gpudoctor_writes_a_runbook_where_one_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(index, "in_checkout", lambda: False)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "runbook", "mine"]).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.cases", "mine.test.yaml", "mine.yaml"]
