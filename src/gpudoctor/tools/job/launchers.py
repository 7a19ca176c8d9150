"""What launchers say of single ranks: torchrun's box and agent, mpirun, and the list of nccl-tests; and how far a program has come."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.common import pci
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.ranks.process import Process

BOX_LINES = 8  # of one entry of torchrun's box
TRACEBACK = 200  # lines of a traceback of which only the first may say whose it is

# (name, RE2, how many of a block are looked at; 0 = all of them)
MARKS: tuple[tuple[str, str, int], ...] = (
    ("=box", r"^(?:\[\S+ ?){0,2}\s*(?:time|host|rank|exitcode|traceback) {1,6}: ", 0),
    ("=mpi-exit", r"noticed that process rank \d+ with PID", 0),
    ("=agent-exit", r"failed \(exitcode: ", 0),
    ("=listed", r"#  Rank +\d+ (?:Group +\d+ )?Pid +\d+ on ", 0),
    ("=world", r"GLOBAL_RANK: \d+, MEMBER: |^\s*global_ranks=\[", 0),
    ("=torch", r"(?:PyTorch|torch) version(?: ?:|[ .]{2,}) ?\d", 0),
    (
        "=step",
        r"(?:\biteration +\d+/ *\d+ |\bglobal_step[=: ]+\d|\bstep[=:]? ?\d+(?:[^\w(]|$)|, iteration \d+/|\biter \d+[:,]"
        r"|(?i:train|epoch|step).{0,80}%\|.{0,120}\| *\d+/\d{3,10} \[|^ *\d{1,3}%\|.{0,120}\| *\d+/\d{3,10} \[)",
        1,
    ),
    ("=traceback", r"^\[(?:rank|default)\d+\]: ?Traceback \(most recent call last\)", 0),
    (
        "=printed",
        r"\b[Rr]ank[ :=#].{0,120}(?:CUDA_VISIBLE_DEVICES|CVD|GPU-[0-9a-f]{8}-|cuda:\d|[0-9a-fA-F]{4}(?::[0-9a-fA-F]{2}){2})",
        0,
    ),
    ("=raised", r"[a-z](?:Error|Exception|Interrupt)(?:: |$)", 0),
)

# mpirun noticed that process rank 3 with PID 812 on node gpu-07 exited on signal 9 (Killed).
MPI_EXIT = regex(r"process rank (\d{1,7}) with PID (\d{1,10}) on node ([\w.-]{1,253}) exited on signal (\d{1,3})")
# … failed (exitcode: -9) local_rank: 3 (pid: 812) of binary: /usr/bin/python3
AGENT_EXIT = regex(r"failed \(exitcode: (-?\d{1,4})\) local_rank: (\d{1,4}) \(pid: (\d{1,10})\)")
# #  Rank  0 Group  0 Pid 1947067 on gpu-01 device  0 [0x0f] NVIDIA H100 80GB HBM3
LISTED = regex(
    r"Rank +(\d{1,7}) (?:Group +\d{1,7} )?Pid +(\d{1,10}) on +([\w.-]{1,253}) device +(\d{1,4})(?: +\[(?:0x)?([0-9a-f:.]{2,16})\])?"
)
# Initializing distributed: GLOBAL_RANK: 1, MEMBER: 2/2 (Lightning)  |    global_ranks=[0, 1] (the agent of torchrun)
LIGHTNING = regex(r"GLOBAL_RANK: (\d{1,7}), MEMBER: \d{1,7}/(\d{1,7})")
AGENT_RANKS = regex(r"global_ranks=\[([\d, ]{0,4000})\]")
TORCH = regex(r"(?:PyTorch|torch) version(?: ?:|[ .]{2,}) ?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?[\w.+]{0,24})")
# "  iteration      120/    1000 | consumed samples: …" (Megatron)  |  step=10, skipped=0 (DeepSpeed)  |  step: 10  loss: … (torchtitan)
# No step is nccl-tests' own head: minBytes 8 maxBytes 1024 step: 2(factor)
# | Training epoch 0, iteration 10/99 | (NeMo)  |  iter 100: loss 2.3  |  Training:   6%|▌  | 400/6000 [04:11<58:20, 1.6it/s] (tqdm)
STEP = regex(
    r"(?:\biteration +(\d{1,10})/|\bglobal_step[=: ]+(\d{1,10})\b|\bstep[=:]? ?(\d{1,10})\b(?!\()|\biter (\d{1,10})[:,]"
    r"|%\|.{0,120}\| *(\d{1,10})/\d{3,10} \[(?!.{0,60}examples/s))"  # datasets counts examples, which are no steps
)
# torch.distributed.DistBackendError: …  |  KeyError: 'input_ids'
RAISED = regex(r"(?:^|[\s\]>:])([A-Za-z_][\w.]{0,120}(?:Error|Exception|Interrupt))(?:: |$)")
FIELD = regex(r"(?:^|\s)(time|host|rank|exitcode|traceback) {1,12}: (.{1,300})")


# What programs print as they start, in words of their own:
# rank 3/8 on gpu-01 CUDA_VISIBLE_DEVICES=0 …  |  (Worker pid=81) rank=3 CUDA_VISIBLE_DEVICES=0,1 device=cuda:1  |  Rank 3: bus 0000:1b:00.0
OWN = regex(r"\b[Rr]ank[ :=#]{1,2}(\d{1,7})\b")
HOST = regex(r"\b(?:on|host|hostname|node)[ =:]{1,2}([a-z][\w.-]{1,62})\b")
VISIBLE = regex(r"\b(?:CUDA_VISIBLE_DEVICES|CVD)['\"]?[ =:]{1,2}['\"]?(\d{1,2}(?:, ?\d{1,2}){0,15}|(?:GPU|MIG)-[\w-]{8,40})(?![\d,])")
CUDA = regex(r"\bcuda:(\d{1,2})\b")
BUS = regex(r"\b([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(?:\.0)?\b")
UUID = regex(r"\bGPU-[0-9a-f]{8}-[0-9a-f-]{27}\b")


class Printed(NamedTuple):
    """Which GPU a rank says that it has: its address, its UUID, or its place among those that it may see."""

    rank: int
    host: str
    gpu: str


def printed_rank(text: str) -> Printed | None:
    """A rank, its host and its GPU, of a line that a program prints as it starts; None where it doesn't name one GPU.

    >>> printed_rank("rank=3 CUDA_VISIBLE_DEVICES=0"), printed_rank("rank 1 on gpu-01 CVD=0,1 cuda:1")
    (Printed(rank=3, host='', gpu='visible 0'), Printed(rank=1, host='gpu-01', gpu='visible 1'))
    >>> printed_rank("rank 1: CUDA_VISIBLE_DEVICES=0,1")
    """
    own, host = OWN.search(text), HOST.search(text)
    if not own:
        return None
    bus, uuid, visible, device = BUS.search(text), UUID.search(text), VISIBLE.search(text), CUDA.search(text)
    seen = visible[1].replace(" ", "").split(",") if visible else []
    at = int(device[1]) if device else 0 if len(seen) == 1 else -1
    gpu = pci.canonical(bus[1]) if bus else uuid[0] if uuid else f"visible {seen[at]}" if 0 <= at < len(seen) else ""
    return Printed(int(own[1]), host[1] if host else "", gpu) if gpu else None


class Entry(NamedTuple):
    """One worker of torchrun's box; `code` is negative for a signal."""

    rank: int
    host: str
    pid: int | None
    code: int | None
    time: float | None


class Box:
    """torchrun's box: `time`, `host`, `rank`, `exitcode` of a failed worker, a line each. And a worker's traceback."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.since = 0
        self.thrown: tuple[int, Process] | None = None  # the first line of a traceback that names its rank, and whose it is

    def thrower(self, process: Process, at: int) -> Process:
        """Who raised the exception of a line: of a traceback often only the first line says whose it is."""
        return self.thrown[1] if self.thrown and at - self.thrown[0] < TRACEBACK else process

    def line(self, text: str, at: int) -> Entry | None:
        """One line of it; the entry, when the exit code completes it."""
        match = FIELD.search(text)
        if not match:
            return None
        if match[1] == "time" or at - self.since > BOX_LINES:
            self.fields, self.since = {}, at
        self.fields[match[1]] = match[2].strip()
        if match[1] != "exitcode" or "rank" not in self.fields:
            return None
        rank = re.match(r"\d{1,7}", self.fields["rank"])
        code = re.match(r"(-?\d{1,4})(?: \(pid: (\d{1,10})\))?", self.fields["exitcode"])
        if not rank:
            return None
        when = line_time(self.fields.get("time", "").replace("_", " "))
        host = self.fields.get("host", "")
        pid = int(code[2]) if code and code[2] else None
        return Entry(int(rank[0]), host if " " not in host else "", pid, int(code[1]) if code else None, when)


def step_of(text: str) -> int | None:
    """The training step that a line reports.

    >>> step_of(" iteration      120/    1000 | consumed samples: 1"), step_of("step: 10  loss: 2.1"), step_of("stepping")
    (120, 10, None)
    """
    match = STEP.search(text)
    return int(next(group for group in match.groups() if group)) if match else None


def raised_exception(text: str) -> str:
    """The exception that a line reports, "" for none; the launcher's own summary of its children is none.

    >>> raised_exception("[rank1]: KeyError: 'input_ids'")
    'KeyError'
    >>> raised_exception("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:")
    ''
    """
    match = RAISED.search(text)
    name = match[1].rpartition(".")[2] if match else ""
    return "" if name in ("ChildFailedError", "SignalException", "ProcessExitedException", "ProcessRaisedException") else name
