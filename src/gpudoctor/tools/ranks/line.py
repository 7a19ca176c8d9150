"""The beginning of a line of a rank's log: which process wrote it. What follows is the text.

NCCL names host, process, thread and CUDA device; PyTorch and the launchers put a rank, a local rank or a task number in front; kubectl a
pod. All of them may stand on one line, in any order, some twice.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.common.timestamps import line_time

PREFIXES = 8  # at most that many stand before a text

# gpu-02:812:930 [3] NCCL INFO …  |  [2026-03-01 12:00:00] gpu-02:812:930 [3] misc/socket.cc:484 (ncclSocketConnect) NCCL WARN …
NCCL = regex(
    r"(?P<host>[A-Za-z0-9][\w.-]{0,252}):(?P<pid>\d{1,10}):(?P<tid>\d{1,10}) \[(?P<device>-?\d{1,4})\] "
    r"(?:(?P<file>[\w./-]{1,120}):\d{1,6} (?:\(\w{1,80}\) )?|\w{1,80}:\d{1,6} )?NCCL (?P<level>WARN|INFO|TRACE|ERROR|ABORT|VERSION) ?"
)
# misc/socket.cc:484 NCCL WARN … | NCCL INFO …: the process was cut off by who passed it on
BARE = regex(r"(?:(?P<file>[\w./-]{1,120}):\d{1,6} (?:\(\w{1,80}\) )?)?NCCL (?P<level>WARN|INFO|TRACE|ERROR|ABORT|VERSION) ")
# [pod/train-0/main] …
POD = regex(r"\[pod/(?P<pod>[a-z0-9][a-z0-9.-]{0,252})/(?P<container>[a-z0-9-]{1,63})\] ?")
# [rank5]:… (PyTorch since 2.2, Lightning)  |  [default3]:… (torchrun --tee: role and local rank)
RANK = regex(r"\[rank(?P<rank>\d{1,7})\]:? ?")
# rank 5: …  |  [Rank 5]: … (heads of people's own, and of scripts that gather logs)  |  [Rank 5] WorkNCCL(… (a watchdog's line, cut)
NAMED = regex(r"\[?[Rr]ank[ _](?P<rank>\d{1,7})(?:\]?: |\] (?=WorkNCCL\())")
ROLE = regex(r"\[(?!rank)[a-z_]{1,32}(?P<local>\d{1,4})\]:")
# [1,5]<stdout>:… (mpirun --tag-output: job and rank)
MPI = regex(r"\[\d{1,9},(?P<rank>\d{1,7})\]<std(?:out|err|diag)>: ?")
# 5: … (srun --label)
TASK = regex(r" {0,6}(?P<task>\d{1,6}): ")
# 2026-03-01T12:00:00.123456789Z …  (kubectl --timestamps)  |  [2026-03-01 12:00:00] …  |  2026-03-01 12:00:00,123 …
STAMP = regex(r"\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?,? ")
# gpu-07: …  before what is a rank's for sure (pdsh, DeepSpeed)
NODE = regex(r"(?P<node>[A-Za-z][\w.-]{0,62}): (?=\[rank\d|\[\d{4}-|\S{1,253}:\d{1,10}:\d{1,10} \[)")
# [E906 15:16:01.123456789 ProcessGroupNCCL.cpp:607] …: month and day without a year (c10)  |  W0516 10:49:23.951000 10143 torch/… (Python)
GLOG = regex(r"\[?[IWEF](\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(\.\d{1,9})?")
# I20260301 12:00:00.402 …: with a year (absl, in Python and in JAX)
ABSL = regex(r"[IWEF](\d{4})(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(\.\d{1,9})?")
MILD = regex(r"\[?[IW]\d{3,4} \d\d:|\[[IW] |\[?W\b")
# (trial) [rank=2] || lab-04:402:588 [0] NCCL INFO …: heads that platforms and people make up, in which a rank is mostly named like this
OTHER_RANK = regex(r"(?<![\w-])[Rr]ank[ =:_]{1,2}(?P<rank>\d{1,7})(?!\d)")
FARTHEST = 200  # characters of such a head
FORMS = (POD, RANK, NAMED, MPI, ROLE, TASK, STAMP, NODE)


class Line(NamedTuple):
    """One line: its text, and what stands before it."""

    text: str
    rank: int | None = None
    local: int | None = None
    task: int | None = None
    pod: str = ""
    container: str = ""
    node: str = ""
    pid: int | None = None
    device: int | None = None
    severe: bool = True  # False: the writer itself calls it information or a warning that it goes on after
    time: float | None = None


def line_of(text: str, now: float = 0.0) -> Line:
    """A line taken apart; `now` is when the log was read, for dates without a year.

    >>> line = line_of("[rank5]: 5: gpu-02:812:930 [3] NCCL INFO Using network IB")
    >>> line.rank, line.task, line.node, line.pid, line.device, line.text
    (5, 5, 'gpu-02', 812, 3, 'Using network IB')
    """
    text = text.lstrip(" \t")  # who quotes a log indents it
    head = NCCL.match(text)  # most lines have nothing else
    if head:
        host, pid, _, device, _, level = head.groups()
        severe = level != "INFO"
        return Line(text[head.end() :].strip(), node=host, pid=int(pid), device=int(device), severe=severe)
    found: dict[str, str] = {}
    at = 0
    for _ in range(PREFIXES):
        match = next((match for form in FORMS if (match := form.match(text, at))), None)
        if match is None:
            break
        found.update(match.groupdict())
        at = match.end()
    if head := NCCL.match(text, at):
        found.update(pid=head["pid"], device=head["device"], level=head["level"], node=head["host"])
    elif head := BARE.match(text, at):
        found["level"] = head["level"]
    elif " NCCL " in text and (head := NCCL.search(text, at, at + FARTHEST)):
        found.update(pid=head["pid"], device=head["device"], level=head["level"], node=head["host"])
        if named := OTHER_RANK.search(text, at, head.start()):
            found.setdefault("rank", named["rank"])
    return Line(
        text=text[head.end() if head else at :].strip(),
        rank=number(found, "rank"),
        local=number(found, "local"),
        task=number(found, "task"),
        pod=found.get("pod", ""),
        container=found.get("container", ""),
        node=found.get("node", ""),
        pid=number(found, "pid"),
        device=number(found, "device"),
        severe=found.get("level") != "INFO" if head else not MILD.match(text, at),
        time=time_of(text, at, now),
    )


def nccl_head(text: str) -> str:
    """What stands before NCCL's own words in a line that begins with it, "" in any other.

    >>> nccl_head("gpu-02:812:930 [3] NCCL INFO Using network IB")
    'gpu-02:812:930 [3] NCCL INFO '
    """
    head = NCCL.match(text)
    return head.group() if head else ""


def number(found: dict[str, str], name: str) -> int | None:
    """A number of a prefix, None where there was none."""
    return int(found[name]) if name in found else None


def time_of(text: str, at: int, now: float) -> float | None:
    """Seconds since the epoch, from a prefix or from PyTorch's own head after it."""
    if match := GLOG.match(text, at):
        return without_year(match, now)
    if match := ABSL.match(text, at):
        return line_time(f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{match[6]}{match[7] or ''}")
    return line_time(text[: at + 40], now) if at or text[:1] in "[012{" else None


def without_year(match: re.Match[str], now: float) -> float | None:
    """The latest such day that doesn't lie after `now` (a day of grace for zones); None without `now`."""
    if not now:
        return None
    month, day, hour, minute, second = (int(part) for part in match.groups()[:5])
    year = datetime.fromtimestamp(now, UTC).year
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if moment.timestamp() > now + 86400:
            moment = moment.replace(year=year - 1)
    except ValueError:  # month 13, 30 February
        return None
    return moment.timestamp() + float(match.group(6) or 0)


def unglue_lines(text: str) -> list[str]:
    """The lines that a line really is: ranks that write to one pipe glue theirs together.

    >>> unglue_lines("gpu-02:8:9 [0] NCCL INFO Connected all treesgpu-02:7:6 [1] NCCL INFO Using network IB")
    ['gpu-02:8:9 [0] NCCL INFO Connected all trees', 'gpu-02:7:6 [1] NCCL INFO Using network IB']
    """
    if text.count(" NCCL ") < 2:
        return [text]
    heads = list(NCCL.finditer(text))
    if len(heads) < 2:
        return [text]
    first = heads[0]["host"]
    starts = [0]
    for head in heads[1:]:
        # Where the text before it ends can't be seen: the host of the first one is a good guess, the whole word else.
        host = head["host"]
        starts.append(head.end("host") - len(first) if host.endswith(first) else head.start())
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
