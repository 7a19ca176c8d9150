"""Work that is shared with a second process is the work of one, whatever becomes of the second."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import cores

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="a second process is made on Linux, with a second core"
)

HERE = cores.share([cores.WORTH] * 100, 0.36)  # of a hundred equal things, what the first process takes

# pytest has threads, beside which nothing is forked: these run in a process of their own.
PROGRAM = """
import os, signal, sys
from collections.abc import Sequence
from gpudoctor import cores

cores.WORTH, cores.AHEAD = 1, {ahead}
first = os.getpid()


def work(some: Sequence[int]):
    for number in some:
        if number == {dies} and os.getpid() != first:
            os.kill(os.getpid(), signal.SIGKILL)
        yield [number, os.getpid() == first, "x" * {size}]


made = []
for one in cores.share_work(range(100), [10] * 100, work, list, 0.36):
    made.append(one[:2])
    if len(made) == {enough}:
        break
try:
    os.waitpid(-1, os.WNOHANG)
    left = True
except ChildProcessError:
    left = False
assert not left, "a process was left behind"
print([number for number, _ in made] == list(range(len(made))), len(made), sum(here for _, here in made))
"""


def ran(**given: int) -> str:
    program = PROGRAM.format(**{"dies": -1, "size": 10, "enough": 1000, "ahead": 1 << 26, **given})
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_two_processes_make_what_one_makes_in_its_order() -> None:
    assert ran() == f"True 100 {HERE}"


@pytest.mark.parametrize("ahead", [0, 1, 1 << 26])
def test_more_than_a_pipe_holds(ahead: int) -> None:
    assert ran(size=1 << 20, ahead=ahead) == f"True 100 {HERE}"


@pytest.mark.parametrize("dies", [HERE, HERE + 1, 99])
def test_what_a_second_process_did_not_live_to_make_is_made_here(dies: int) -> None:
    assert ran(dies=dies, size=1 << 16) == f"True 100 {HERE + 100 - dies}"


@pytest.mark.parametrize("enough", [1, HERE - 1, HERE + 1, 60])
def test_who_stops_early_leaves_nothing_behind(enough: int) -> None:
    assert ran(enough=enough, size=1 << 16).startswith(f"True {enough} ")


def test_nothing_is_forked_beside_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores.threading, "active_count", lambda: 2)
    assert not cores.possible()


def test_logs_of_ranks_say_the_same_on_one_core_and_on_two(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for rank in range(48):
        head = f"gpu-{rank // 8:02d}:{400 + rank}:{500 + rank} [{rank % 8}] NCCL INFO"
        init = f"{head} ncclCommInitRank comm 0x5{rank:03x} rank {rank} nranks 48 cudaDev {rank % 8} busId {rank % 8}b000 commId 0x9 - Init"
        lines = [f"{head} Channel {n % 32:02d}/0 : {rank}[0] -> {(rank + 1) % 48}[0] [send] via NET/IB/{rank % 8}" for n in range(9_000)]
        lines = [f"{init} START", *lines, f"{init} COMPLETE"]
        if rank == 41:
            failed = "NET/IB : Got completion from peer 10.0.0.7<4182> with status=12 opcode=0 len=0 vendor err 129 (Send)"
            lines.append(f"{head.replace('INFO', 'WARN')} {failed}")
        (logs / f"rank-{rank}.log").write_text("\n".join(lines) + "\n")
    assert sum(path.stat().st_size for path in logs.iterdir()) > cores.WORTH
    one, two = on_one_core_and_on_two("nccl", logs)
    assert one == two
    assert one["findings"][0]["subject"]["name"].startswith("gpu-05")


def test_long_logs_of_machines_say_the_same_on_one_core_and_on_two(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for node in range(6):
        lines = [
            f"2026-03-01T12:{n // 600:02d}:{n // 10 % 60:02d}+00:00 gpu-{node:02d} kernel: device veth{n:06x} up" for n in range(24_000)
        ]
        if node == 4:
            lines[9_000] = "2026-03-01T12:15:00+00:00 gpu-04 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=812, GPU has fallen off the bus."
        if node == 5:
            lines[-1] = "2026-03-01T12:39:59+00:00 gpu-05 kernel: E0301 12:39:59.000000 1 main.go:12] the flux inverter was lost"
        (logs / f"gpu-{node:02d}.log").write_text("\n".join(lines) + "\n")
    assert sum(path.stat().st_size for path in logs.iterdir()) > cores.WORTH
    one, two = on_one_core_and_on_two("analyze", logs)
    assert one == two
    assert [(found["cause"], found["subject"]["name"]) for found in one["findings"]] == [("gpu-fallen-off-bus", "gpu-04/0000:3b:00")]
    assert [Path(left["source"]).name for left in one["unexplained"]] == ["gpu-05.log"]


def on_one_core_and_on_two(command: str, logs: Path) -> list[Any]:
    """The reports, without what differs from run to run."""
    program = "import os, sys; os.sched_setaffinity(0, {0}) if sys.argv.pop() == '1' else None; from gpudoctor.cli.main import main; main()"
    reports = []
    for how in ("1", "2"):
        argv = [sys.executable, "-c", program, command, str(logs), "--format", "json", how]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        report = json.loads(done.stdout)
        reports.append({key: value for key, value in report.items() if key not in ("started", "steps")})
    return reports
