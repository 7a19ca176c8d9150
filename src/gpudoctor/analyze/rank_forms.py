"""Recognising the logs of a distributed job: NCCL's lines, PyTorch's distributed layer, launchers and schedulers, nccl-tests."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.parsers import collective_tests
from gpudoctor.parsers.launcher_words import printed
from gpudoctor.patterns import regex

# What only such a log has. Looked for as words in the whole text: a program may talk for long before NCCL does.
WORDS = (
    "NCCL INFO ",
    "NCCL WARN ",
    "ProcessGroupNCCL",
    "DistBackendError",
    "torch.distributed.Dist",
    "Watchdog caught collective operation timeout",
    "WorkNCCL(",
    "ProcessGroupGloo",
    "[c10d]",
    "torch/distributed/elastic",
    "torch.distributed.elastic",
    "gloo/transport/",
    "init_process_group",
    "Detected mismatch between collectives",
    "PG status: last enqueued work",
    "last enqueued NCCL work",
)
# [rank5]: …  |  [default3]:…  |  srun: error: …  |  slurmstepd: error: …  |  mpirun noticed that …  |  #  Rank  0 Group  0 Pid 812 on …
#  iteration      120/    1000 | consumed samples: …  |  [1,5]<stdout>:…
LINE = regex(
    r"^(?:\[pod/\S{1,300}\] ?)?(?:\[(?:rank|default)\d{1,7}\]:|\[\d{1,9},\d{1,7}\]<std|s(?:run|lurmstepd|batch): "
    r"|(?:mpirun|prterun|ORTE|PRTE) "
    r"|# +Rank +\d+ .{0,40}Pid +\d+ on |# +(?:nThread |n?Rank|Using devices|size +count +type)| *iteration +\d+/ *\d+ \| )"
)


def score(lines: Sequence[str], whole: str) -> int:
    """Beats a log of any program, not an object, a table or a kernel log."""
    if any(word in whole for word in WORDS) or any(LINE.match(line) for line in lines):
        return 50
    # Which GPU each rank has, as programs print it when they start.
    if sum("ank" in line and printed(line) is not None for line in lines) > 1:
        return 50
    return 0


def of_tests(lines: Sequence[str]) -> int:
    """Tables of nccl-tests, alone or in a log."""
    return collective_tests.score(lines)
