"""`diagnose node` from end to end: over ssh to machines that one sshd plays, recorded, and replayed to the same report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes import ssh
from tests.nodes.cases_node import CARDS, machine
from tests.ssh.server import SSHD, Sshd, free_port

pytestmark = pytest.mark.skipif(not SSHD, reason="sshd is not installed (openssh-server)")
AWAY = "Host gpu-03\n  HostName 127.0.0.1\n  Port {port}\n"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("session")
    server = Sshd(folder / "sshd", ["gpu-01", "gpu-02"], AWAY.format(port=free_port()))
    server.machines({line.partition(": ")[2]: answer for line, answer in machine("any", CARDS[:2]).items()})
    server.start()
    yield os.environ | {ssh.CONFIG: str(server.config), "KUBECONFIG": str(folder / "none"), "HOME": str(folder)}
    server.stop()


def diagnose(env: dict[str, str], *words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "gpudoctor", "diagnose", "node", *words, "--format", "json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_two_machines_are_well(env: dict[str, str]) -> None:
    code, report = diagnose(env, "gpu-[01-02]", "--via", "ssh")
    assert (code, report["verdict"], report["findings"]) == (0, "healthy", [])


def test_one_out_of_reach_is_said_and_a_replay_says_the_same(env: dict[str, str], tmp_path: Path) -> None:
    bundle = str(tmp_path / "bundle")
    code, live = diagnose(env, "gpu-[01-03]", "--record", bundle)
    assert (code, live["verdict"]) == (3, "inconclusive")
    (away,) = {missing["why"] for missing in live["coverage"]["missing"] if missing["what"].startswith("gpu-03")}
    assert "gpu-03 refuses ssh connections" in away
    assert diagnose(env, "gpu-[01-03]", "--replay", bundle) == (code, live)
