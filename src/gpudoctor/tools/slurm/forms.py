"""How Slurm's answers, files and logs are recognised: a score for the lines of a text, 0 for "not this"."""

from __future__ import annotations

import re

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.slurm import accounting, jobs, jobstats, nodes
from gpudoctor.tools.slurm.text import titles_of

HEAD = 1 << 20  # characters of a JSON text that are looked at
# NodeName=gpu-01 Arch=x86_64 CoresPerSocket=48  |  what somebody cut out of one line: a state of several words, a reason with who and when
NODE = regex(
    r"^\s*NodeName=\S+ (?:Arch=|CoresPerSocket=|CPUAlloc=|.{0,200}\bCPUAlloc=|.{0,400}\bState=[A-Z_]+\+[A-Z_]"
    r"|.{0,600}\bReason=[^\s\"].{0,300}\[[^@\[\]]{1,60}@[^\]]{4,30}\])"
)
#    State=IDLE+DRAIN ThreadsPerCore=1 …  |     Reason=Kill task failed [root@2026-03-01T11:02:13]
OF_NODE = regex(r"^\s*(?:State=[A-Z_]+(?:\+[A-Z_]+)*\*? ThreadsPerCore=|Reason=\S.{0,500}\[[^@\[\]]{1,60}@[^\]]{4,30}\]\s*$)")
REASON = regex(r"^\s*Reason=\S")
NAMED = regex(r"^\s*NodeName=\S+\s*$")
JOB = regex(r"^\s*(?:JobId=\d+ |JobState=[A-Z_]+ Reason=)")
# NodeName=gpu-[01-16] CPUs=192 …  |  NodeName=gpu-01 Name=gpu File=/dev/nvidia0  |  Name=gpu Type=h100 File=…  |  AutoDetect=nvml
CONF = regex(
    r"^\s*(?:NodeName=\S+\s.{0,300}?\b(?:CPUs|Sockets|SocketsPerBoard|RealMemory|Gres|Feature|Name|State)=|Name=gpu\b|AutoDetect=\w|GresTypes=\w"
    r"|SlurmctldHost=|PartitionName=\S+\s.{0,300}?\bNodes=)",
    re.IGNORECASE,
)
# [2026-03-01T11:02:14.001] error: …  |  slurmd: error: …  |  Mar  1 11:02:14 gpu-01 slurmd[812]: …
DAEMON = regex(
    r"^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?\] |^(?:slurmctld|slurmd|slurmdbd): "
    r"|\b(?:slurmctld|slurmd|slurmdbd|munged)\[\d+\]: "
)
# 2026-03-01 11:02:37 +0000 Info:      Invalid credential  (munged.log)
MUNGED = regex(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} (?:Info|Notice|Warning|Error|Alert|Emergency):  ")


def of_nodes(lines: list[str], whole: str, argv: tuple[str, ...] = ()) -> int:
    """`scontrol show node` whole or in part, or a table of sinfo."""
    if whole[:HEAD].lstrip().startswith("{"):
        return 85 if '"nodes"' in whole[:HEAD] and '"slurmd_start_time"' in whole[:HEAD] else 0
    if any(JOB.match(line) for line in lines):
        return 0
    if any(NODE.match(line) or OF_NODE.match(line) for line in lines):
        return 82
    if any(is_barred_header(line, "NODELIST", "HOSTNAMES") or is_head(line, nodes.TITLES, "NODELIST", "HOSTNAMES") for line in lines):
        return 82
    if (titles := nodes.requested_titles(argv)) and any(nodes.hidden_row(line, titles) for line in lines):
        return 82
    # A reason that somebody cut out stands alone, or below the node's name.
    filled = [line for line in lines if line.strip()]
    if any(map(REASON.match, filled)) and all(REASON.match(line) or NAMED.match(line) for line in filled):
        return 70
    return 0


def of_jobs(lines: list[str], whole: str, argv: tuple[str, ...] = ()) -> int:
    """`scontrol show job`, or a table of squeue or sacct."""
    if whole[:HEAD].lstrip().startswith("{"):
        return 85 if '"jobs"' in whole[:HEAD] and '"job_id"' in whole[:HEAD] and '"job_state"' in whole[:HEAD] else 0
    if any(JOB.match(line) for line in lines):
        return 82
    names = ("State", "STATE") if jobs.asked_for(argv) else ("JOBID", "JobID")
    return 82 if any(is_barred_header(line, "JobID", "JOBID", "JobIDRaw") or is_head(line, jobs.TITLES, *names) for line in lines) else 0


def of_conf(lines: list[str]) -> int:
    """slurm.conf or gres.conf: what `scontrol show node` prints begins in the same way, and has more."""
    if any(NODE.match(line) for line in lines):
        return 0
    return 74 if any(CONF.match(line) for line in lines) else 0


def of_log(lines: list[str]) -> int:
    """The log of a daemon of Slurm or of munged: at least half of its lines begin like one."""
    fit = sum(
        DAEMON.search(line[:200]) is not None or MUNGED.match(line) is not None
        for line in lines
        if line[:2] in ("[2", "20") or "d[" in line or "slurm" in line
    )
    return 59 if fit and fit * 2 >= sum(bool(line.strip()) for line in lines) else 0


def is_barred_header(line: str, *needed: str) -> bool:
    """Whether a line is the header of a table with bars that has one of these titles."""
    cells = [cell.strip() for cell in line.split("|", 200)] if "|" in line else []
    return any(name in cells for name in needed) and sum(cell in nodes.TITLES or cell in jobs.TITLES for cell in cells) >= 2


def is_head(line: str, known: frozenset[str], *needed: str) -> bool:
    """Whether a line is the header of a table that has one of these titles."""
    return any(name in line for name in needed) and any(name in needed for _, name in titles_of(line, known))


FORMS: tuple[Form, ...] = (
    Form("slurm.nodes", lambda text: of_nodes(text.lines, text.whole, text.argv), embedded=True, mixed=True),
    Form("slurm.jobs", lambda text: of_jobs(text.lines, text.whole, text.argv), embedded=True, among_lines=True, mixed=True),
    Form("slurm.conf", lambda text: of_conf(text.lines)),
    Form("slurm.log", lambda text: of_log(text.lines), log=True),
    Form("slurm.jobstats", lambda text: jobstats.score(text.lines), embedded=True, beside=True, among_lines=True),
    form("slurm.accounting", accounting.READERS),
)
