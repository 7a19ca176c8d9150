"""Real torch.distributed jobs on the CPU: what their ranks print when something goes wrong, read by the `nccl` runbook.

Debian's python3-torch runs them; `.ci/run` installs it. `python -m tests.test_torch_real` records their words as tests/fixtures/torch.
"""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.report import Report
from tests import torch_jobs
from tests.torch_jobs import Ended

RECORDED = Path(__file__).parent / "fixtures" / "torch"
DETAIL = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}

# 127.0.0.1]:33667  |  /work/main/tests/torch_worker.py  |  W20261121 15:57:19.405454 16375: what differs from run to run
LOCAL = [(re.compile(r"\]:\d{4,5}\b"), "]:40400"), (re.compile(r"\d{1,3}(?:\.\d{1,3}){3}:\d{4,5}"), "0.0.0.0:40400")]
LOCAL += [
    (re.compile(r"/\S*/tests/torch_worker\.py"), "/workspace/train.py"),
    (re.compile(r"(?m)^([IWE])\d{8} [\d:.]{15} +\d+"), r"\g<1>20260301 12:00:00.000000 4242"),
]


def port_in_use() -> list[Ended]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return torch_jobs.run("port", port=taken.getsockname()[1])


JOBS: dict[str, Callable[[], list[Ended]]] = {
    "healthy": lambda: torch_jobs.run("healthy"),
    "rank-dies": lambda: torch_jobs.run("dies", world=3),
    "rank-sleeps": lambda: torch_jobs.run("sleeps"),
    "mismatch": lambda: torch_jobs.run("mismatch", world=3, **DETAIL),
    "sizes": lambda: torch_jobs.run("sizes", **DETAIL),
    "port-in-use": port_in_use,
    "rank-absent": lambda: torch_jobs.run("absent"),
    "barrier": lambda: torch_jobs.run("barrier"),
}
# What the runbook must say of each: its roots are among these. Where a rank only waits in vain, nothing of it tells why.
ROOTS: dict[str, set[str]] = {
    "healthy": set(),
    "rank-dies": {"peer-rank-died"},
    "rank-sleeps": {"nccl-timeout", "rank-stuck", "rank0-only-work", "straggler-rank"},
    "mismatch": {"collective-mismatch"},
    "sizes": {"collective-mismatch", "collective-size-mismatch"},
    "port-in-use": {"port-in-use"},
    "rank-absent": {"rank-missing", "rendezvous-timeout", "nccl-timeout"},
    "barrier": {"hang-one-rank-outside-collective", "nccl-timeout", "rank-stuck", "rank-missing", "rank0-only-work", "straggler-rank"},
}
# What the ranks really print, through torch's versions.
WORDS = {
    "rank-dies": "Connection (closed by peer|reset by peer)",
    "rank-sleeps": r"Timed out waiting 3000ms for (recv|send) operation",
    "mismatch": r"Detected mismatch between collectives on ranks.*OpType=BROADCAST",
    "sizes": r"Detected mismatch between collectives on ranks.*TensorShape=\[8\]",
    "port-in-use": r"errno: 98 - Address already in use",
    "rank-absent": r"Socket Timeout|timed out|Timed out",
    "barrier": r"Rank 1 failed to pass monitoredBarrier in 2000 ms",
}


def diagnosed(folder: Path) -> Report:
    gathered = gather([str(folder)])
    return analyze(library(), gathered.facts, gathered.inputs, gathered.now)


def judge(report: Report, name: str) -> None:
    """The roots are what they may be; a job that failed is never called healthy."""
    roots = {one.cause for one in report.findings if one.role == "root"}
    assert roots <= ROOTS[name], roots
    if name == "healthy":
        assert report.verdict != "problem"
    else:
        assert report.verdict != "healthy"


@pytest.mark.skipif(bool(torch_jobs.missing()), reason=torch_jobs.missing() or "torch is here")
@pytest.mark.parametrize("name", JOBS)
def test_a_real_job(name: str, tmp_path: Path) -> None:
    ranks = JOBS[name]()
    assert all(one.exit == 0 for one in ranks) == (name == "healthy")
    printed = "\n".join(one.text for one in ranks)
    assert re.search(WORDS.get(name, "rank 0 is done"), printed), printed
    torch_jobs.write(tmp_path / "logs", ranks)
    judge(diagnosed(tmp_path / "logs"), name)


@pytest.mark.parametrize("name", JOBS)
def test_what_they_said_once(name: str) -> None:
    judge(diagnosed(RECORDED / name), name)


def record() -> None:
    """Write what the ranks print, without what differs from run to run."""
    for name in sys.argv[1:] or list(JOBS):
        ranks = []
        for one in JOBS[name]():
            text = one.text
            for pattern, instead in LOCAL:
                text = pattern.sub(instead, text)
            ranks.append(Ended(one.exit, text))
        torch_jobs.write(RECORDED / name, ranks)


if __name__ == "__main__":
    record()
