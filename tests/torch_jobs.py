"""Real distributed jobs on the CPU: ranks of tests/torch_worker.py under a Python that has torch, started and ended as by a launcher."""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

PYTHON = "/usr/bin/python3"  # Debian's python3-torch; our own environment has no torch
WORKER = str(Path(__file__).with_name("torch_worker.py"))
GRACE = 4.0  # seconds that the others have when one rank has failed, before they are ended: torchrun ends them at once
LONGEST = 25.0


class Ended(NamedTuple):
    """One rank that has ended: its exit code (-15: ended by us), and all that it printed."""

    exit: int
    text: str


@functools.cache
def missing() -> str:
    """Why there can be no such job here; "" when there can."""
    try:
        asked = subprocess.run(
            [PYTHON, "-c", "import torch.distributed as d; d.is_gloo_available() or exit(1)"], capture_output=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{PYTHON}: {error}"
    return "" if asked.returncode == 0 else f"{PYTHON} has no torch with gloo: install python3-torch"


def environment(rank: int, world: int, port: int, **more: str) -> dict[str, str]:
    """What a launcher gives a rank."""
    return {
        "PATH": os.defpath,
        "HOME": "/tmp",
        "LC_ALL": "C",
        "RANK": str(rank),
        "WORLD_SIZE": str(world),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
        **more,
    }


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def run(scenario: str, world: int = 2, port: int = 0, **more: str) -> list[Ended]:
    """The ranks of a job, in their order, when all have ended."""
    at = port or free_port()
    ranks = [
        subprocess.Popen(
            [PYTHON, WORKER, scenario], env=environment(rank, world, at, **more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        for rank in range(world)
    ]
    deadline = time.monotonic() + LONGEST
    while any(one.poll() is None for one in ranks) and time.monotonic() < deadline:
        if any(one.poll() for one in ranks):
            deadline = min(deadline, time.monotonic() + GRACE)
        time.sleep(0.05)
    for one in ranks:
        if one.poll() is None:
            one.terminate()
    texts = [one.communicate(timeout=10)[0].decode("utf-8", "replace") for one in ranks]
    return [Ended(one.returncode, text) for one, text in zip(ranks, texts, strict=True)]


def write(folder: Path, ranks: list[Ended]) -> None:
    """What each rank printed as a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, one in enumerate(ranks):
        (folder / f"rank-{rank}.log").write_text(one.text)
