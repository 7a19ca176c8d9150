"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.form import Form
from gpudoctor.tools.job import ray_status
from gpudoctor.tools.job.launchers import printed_rank

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
    if sum("ank" in line and printed_rank(line) is not None for line in lines) > 1:
        return 50
    return 0


FORMS: tuple[Form, ...] = (
    Form("ray.status", lambda text: ray_status.score(text.lines), ray_status.status, embedded=True),
    Form("nccl.log", lambda text: score(text.lines, text.whole), embedded=True, log=True),
)
