# ruff: noqa: E501 - lines as programs print them
"""The line with which a program gives up is told where nothing known is, and such a log is never called healthy."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.facts import Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.logs import program
from tests.pasted import diagnosed, diagnosed_files, judge

STACK = 'Traceback (most recent call last):\n  File "/srv/app.py", line 9, in <module>\n    main()\n'
STEPS = "2026-03-01 12:00:00 INFO loading shard 3\n2026-03-01 12:00:01 INFO loading shard 4\n"


def ending(text: str) -> str:
    facts = program.text(Output(Command(()), pages=(text.encode(),), source="app.log"), Subject(kind="cluster"))
    return "".join(getattr(one, "said", "") for one in facts.get("endings", []))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STEPS + STACK + "zarr.errors.GroupNotFoundError: nothing at /a\n", "zarr.errors.GroupNotFoundError: nothing at /a"),
        (STACK + "KeyError\n" + STEPS, "KeyError"),
        (STEPS + "2026-03-01T12:00:02.5Z LookupError: no shard 5\n", "LookupError: no shard 5"),
        (STEPS + "[rank3]: AssertionError: 3 != 4", "AssertionError: 3 != 4"),
        (
            STEPS + "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n",
            "panic: runtime error: index",
        ),
        (STEPS + "thread 'main' panicked at src/main.rs:4:5:\nno shard\n", "thread 'main' panicked at src/main.rs:4:5:"),
        (
            STEPS + "F0301 12:00:02.000000       1 main.go:70] no configuration\n",
            "F0301 12:00:02.000000       1 main.go:70] no configuration",
        ),
        (STEPS + 'time="2026-03-01T12:00:02Z" level=fatal msg="no configuration"\n', 'time="2026-03-01T12:00:02Z" level=fatal'),
        (STEPS + "run.sh: line 4:  812 Segmentation fault      (core dumped) ./solver\n", "run.sh: line 4:  812 Segmentation fault"),
        (STEPS, ""),
        (STEPS + "retrying after IOError: no shard 5\n" + STEPS, ""),
        ("TimeoutError: shard 5 is late, once more\n" + STEPS, ""),  # without its stack it was caught
        (STEPS + "ErrorRate: 0.0\nErrors: 0\n", ""),
    ],
)
def test_the_last_word_of_a_program(text: str, said: str) -> None:
    found = ending(text)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def test_what_is_known_says_more() -> None:
    assert ending(STEPS + STACK + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n") == ""


def test_the_place_in_a_long_log() -> None:
    text = STEPS * 4_000 + STACK + "LookupError: no shard 5\n"
    facts = program.text(Output(Command(()), pages=(text.encode(),), source="app.log"), Subject(kind="cluster"))
    assert facts["endings"][0].origin.line == text.count("\n")


@pytest.mark.parametrize("folder", ["/srv/", "/srv/torch/distributed/"], ids=["a program", "a rank"])
def test_a_log_that_ends_in_an_unknown_error_is_not_healthy(folder: str, tmp_path: Path) -> None:
    report = diagnosed(tmp_path, STEPS + STACK.replace("/srv/", folder) + "LookupError: no shard 5\n")
    judge(report, "?program-exits-with-error")
    assert report.verdict == "inconclusive"
    assert report.candidates[0].why.endswith("LookupError: no shard 5")


RESULT = "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, {} (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n"


TRACEBACK = (
    "Traceback (most recent call last):\n  File \"/app/run.py\", line 4, in <module>\nModuleNotFoundError: No module named 'adapters'\n"
)


GAVE_UP = "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout\n"


def test_a_cancelled_job_is_told_and_no_alarm(tmp_path: Path) -> None:
    report = diagnosed_files(tmp_path, "slurmstepd: error: *** JOB 4411 ON qn1 CANCELLED AT 2026-02-02T02:02:02 ***\n")
    assert [(one.cause, one.severity) for one in report.findings] == [("job-cancelled", "info")]


@pytest.mark.parametrize("text", [RESULT.format("unhandled system error"), TRACEBACK, GAVE_UP])
def test_an_error_is_never_healthy(tmp_path: Path, text: str) -> None:
    assert diagnosed_files(tmp_path, text).verdict != "healthy"
