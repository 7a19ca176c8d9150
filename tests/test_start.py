"""`gpudoctor` alone on a terminal: what is here, and what to start with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpudoctor.cli import start
from tests.test_screen import on_terminal


def machine(root: Path, gpus: int, driver: bool) -> Path:
    for number in range(gpus):
        device = root / "sys/bus/pci/devices" / f"0000:{number:02x}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de\n")
        (device / "class").write_text("0x030200\n")
    other = root / "sys/bus/pci/devices/0000:f0:00.0"  # a NIC of the same vendor
    other.mkdir(parents=True)
    (other / "vendor").write_text("0x10de\n")
    (other / "class").write_text("0x020000\n")
    if driver:
        (root / "proc/driver/nvidia").mkdir(parents=True)
    return root


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
    folder.mkdir()
    for name in programs:
        (folder / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


NOTHING = "none found on this machine", "no kubeconfig was found", "scontrol is not installed"
ALL = "8 NVIDIA GPUs on this machine\n", "context 'prod', namespace ml", "/scontrol is installed"


@pytest.mark.parametrize(
    ("gpus", "driver", "programs", "cluster", "said", "commands"),
    [
        (0, False, (), False, NOTHING, ("demo", "analyze", "xid")),
        (8, True, ("nvidia-smi", "scontrol"), True, ALL, ("diagnose pod", "diagnose node", "run slurm")),
        (1, False, (), False, ("1 NVIDIA GPU on this machine; the NVIDIA driver is not loaded",), ("diagnose node", "demo", "analyze")),
        (2, True, (), True, ("2 NVIDIA GPUs on this machine; nvidia-smi is not installed",), ("diagnose pod", "diagnose node", "demo")),
    ],
)
def test_the_page_is_about_this_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gpus: int,
    driver: bool,
    programs: tuple[str, ...],
    cluster: bool,
    said: tuple[str, ...],
    commands: tuple[str, ...],
) -> None:
    config = {
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "namespace": "ml"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / ("config" if cluster else "none")))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    installed(tmp_path / "bin", monkeypatch, *programs)
    text = start.page("gpudoctor", machine(tmp_path / "root", gpus, driver))
    assert all(words in text for words in said), text
    shown = [line.strip().removeprefix("gpudoctor ") for line in text.partition("Start with:\n")[2].splitlines()[:3]]
    assert [one.startswith(command) for one, command in zip(shown, commands, strict=True)] == [True] * 3, text


def test_a_terminal_gets_the_page() -> None:
    text = on_terminal()
    assert "Start with:" in text
    assert max(map(len, text.splitlines())) <= 80 or "Kubernetes" in max(text.splitlines(), key=len)


def test_a_kubeconfig_that_is_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config").write_text("{a: [")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert "config is not YAML: line " in start.page("kubectl gpudoctor", tmp_path)


def test_nothing_that_asks_a_network_is_loaded() -> None:
    program = (
        "import sys; from gpudoctor.cli.start import start; start('gpudoctor');"
        "assert not {'socket', 'urllib3', 'kubernetes', 'pydantic', 'cel_expr_python', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)
