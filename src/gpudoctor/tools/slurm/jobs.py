"""Jobs: `scontrol show job` (with and without -o, --json), the tables of `squeue`, and `sacct` as a table or with bars (-P, -p).

JobId=4242 JobName=train … JobState=PENDING Reason=Resources … TresPerNode=gres:gpu:8
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
              4242       gpu    train    alice PD       0:00      4 (QOSMaxGRESPerUser)
JobID|JobName|Partition|State|ExitCode
Sources: scontrol(1), squeue(1), sacct(1); src/api/job_info.c, https://github.com/SchedMD/slurm.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.slurm import SlurmJob
from gpudoctor.knowledge import slurm
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines, plain_text
from gpudoctor.tools.linux.ps import elapsed_seconds
from gpudoctor.tools.slurm.client import complaints
from gpudoctor.tools.slurm.text import Row, cells, described_records, expand, gpus, json_objects, titles_of, whole_number

MOST = 50_000  # records of one text
# 4242  |  4242_7  |  4242_[1-8%2]  |  4242+0  |  4242.batch  |  4242.0
ID = regex(r"(\d{1,10}(?:_\d{1,10})?)(?:_\[[\d,%:.-]{1,200}\])?(?:\+\d{1,4})?(?:\.(\w{1,20}\+?))?\Z", re.ASCII)
CODE = regex(r"(\d{1,3}):(\d{1,3})\Z", re.ASCII)  # exit code:signal
# Titles of squeue (STATE, %i and its like) and of sacct (State).
TITLES = slurm.word_set(
    "JOBID PARTITION NAME USER ST STATE TIME TIME_LIMI TIME_LIMIT NODES NODELIST NODELIST(REASON) REASON PRIORITY QOS ACCOUNT CPUS"
    " MIN_MEMORY START_TIME SUBMIT_TIME END_TIME TRES_PER_NODE TRES_PER_JOB GRES TRES_ALLOC TIME_LEFT FEATURES MIN_CPUS DEPENDENCY"
    " EXC_NODES REQ_NODES SCHEDNODES COMMAND WORK_DIR ARRAY_JOB_ID COMMENT JobID JobName Partition Account AllocCPUS State ExitCode"
    " Elapsed NodeList User Start End Submit AllocTRES ReqTRES QOS MaxRSS ReqMem AllocNodes NNodes NCPUS Timelimit Reason"
    " DerivedExitCode JobIDRaw Comment AdminComment Restarts FailedNode Cluster ElapsedRaw"
)
FREE = ["NODELIST(REASON)", "REASON", "State", "NAME", "JobName", "COMMAND"]
# ReqNodeNotAvail, UnavailableNodes:gpu-[02,07]
UNAVAILABLE = regex(r"UnavailableNodes:(\S{1,2000})")


def jobs(output: Output, about: Subject) -> Facts:
    """A record for each job, and for each step that sacct shows; and what a client of Slurm complains of."""
    text = plain_text(output)
    said = complaints(output, about)
    found = of_json(text, output.origin_name()) if text.lstrip()[:1] == "{" else [*of_scontrol(output), *tables(output)]
    return {"slurm_jobs": [*found], **said} if found or not (said or output.stderr.strip()) else said


def of_scontrol(output: Output) -> Iterator[SlurmJob]:
    """The jobs of `scontrol show job`."""
    for record in itertools.islice(described_records(lines(output), "JobId", ("JobState",), "NodeName"), MOST):
        values = {key: value for *_, part in record for key, value in part.items()}
        states = (number for number, _, part in reversed(record) if "JobState" in part)
        number, line, _ = record[0]
        if state := next(states, None):
            number, line = state, f"JobState={values['JobState']} Reason={values.get('Reason', '')}"
        yield make_job(values, Origin(output.origin_name(), number, line.strip()))


def make_job(values: dict[str, str], origin: Origin) -> SlurmJob:
    """Make a job from the keys of scontrol."""
    words = {key: value.split(" ")[0] for key, value in values.items()}
    # 22.05 writes what is held in TRES, later releases in ReqTRES and AllocTRES; a request by node is times the nodes.
    asked = next((count for key in ("TRES", "AllocTRES", "ReqTRES") if (count := gpus(words.get(key, ""))) is not None), None)
    if asked is None and (each := gpus(words.get("TresPerNode", ""))) is not None:
        asked = each * (whole_number(words.get("NumNodes", "").partition("-")[0]) or 1)
    job, array, task = (words.get(key, "") for key in ("JobId", "ArrayJobId", "ArrayTaskId"))
    return job_of(
        f"{array}_{task}" if array.isdecimal() and task.isdecimal() else job,
        words.get("JobState", ""),
        reason=values.get("Reason", ""),
        nodes=words.get("NodeList", ""),
        code=words.get("ExitCode", ""),
        name=values.get("JobName", ""),
        user=values.get("UserId", "").partition("(")[0],
        partition=words.get("Partition", ""),
        restarts=whole_number(words.get("Restarts", "")),
        time_limit=words.get("TimeLimit", ""),
        elapsed=elapsed_seconds(words.get("RunTime", "")),
        gpus=asked,
        origin=origin,
    )


def tables(output: Output) -> list[SlurmJob]:
    """The jobs of squeue's and sacct's tables."""
    found: list[SlurmJob] = []
    alone = asked_for(output.command.argv)
    titles: list[tuple[int, str]] = []
    barred = False
    ruled: list[tuple[int, int]] = []  # where sacct's rule below the header says that columns begin and end
    for number, line in lines(output):
        names = [cell.strip() for cell in line.split("|")]
        if "|" in line and names[0] in ("JobID", "JobIDRaw", "JOBID", "Account", "ACCOUNT") and {"JobID", "JOBID", "JobIDRaw"} & set(names):
            titles, barred, ruled = [(0, name) for name in names], True, []
            continue
        if head := titles_of(line, TITLES):
            ruled = []
            titles, barred = (head, False) if alone or {"JOBID", "JobID"} & {name for _, name in head} else ([], False)
            continue
        if not titles or not line.strip():
            continue
        if set(line) <= set("- "):
            ruled = [match.span() for match in re.finditer("-+", line)]
            continue
        if barred or len(ruled) == len(titles):
            values = names if barred else [line[begin:end].strip() for begin, end in ruled]
            row: Row | None = dict(zip((name for _, name in titles), values, strict=False))
        else:
            row = cells(line, titles, FREE, is_row)
        numbered = alone and not {"JOBID", "JobID", "JobIDRaw"} & {name for _, name in titles}
        row = {"JobID": alone, **row} if numbered and row is not None else row
        if ruled and not numbered and row is not None and not is_row(row):
            row = cells(line, titles, FREE, is_row)
        if row is not None and is_row(row) and len(found) < MOST:
            found.append(of_row(row, Origin(output.origin_name(), number, line.strip())))
    return found


def asked_for(argv: tuple[str, ...]) -> str:
    """The one job whose accounting a command asks for, perhaps without a column for its number.

    >>> asked_for(("sacct", "-j", "812", "-X", "-o", "Elapsed,State")), asked_for(("sacct", "-j", "1,2")), asked_for(("squeue",))
    ('812', '', '')
    """
    if not argv or argv[0].rpartition("/")[2] != "sacct":
        return ""
    found = [after for word, after in itertools.pairwise(argv) if word in ("-j", "--jobs")]
    found += [word.partition("=")[2] for word in argv if word.startswith("--jobs=")]
    return found[0] if len(found) == 1 and ID.match(found[0]) else ""


# a state that no release had so far: NODE_LOST, NL
UNKNOWN_STATE = regex(r"[A-Z][A-Z_]{1,24}\+?\Z")


def is_row(row: Row) -> bool:
    """Whether cells can be a job's: its id, a state where one stands, an exit code where one stands."""
    state = first_cell(row, "ST", "STATE", "State")
    code = row.get("ExitCode")
    known = bool(ID.match(first_cell(row, "JOBID", "JobID", "JobIDRaw")))
    return known and (not state or bool(slurm.job_state(state) or UNKNOWN_STATE.match(state))) and (not code or bool(CODE.match(code)))


def first_cell(row: Row, *names: str) -> str:
    """The first of the named cells that is not empty."""
    return next((row[name] for name in names if row.get(name)), "")


def of_row(row: Row, origin: Origin) -> SlurmJob:
    """The job of a row. `(Resources)` in the last column of squeue is a reason, anything else the nodes."""
    last = row.get("NODELIST(REASON)", "")
    state = first_cell(row, "ST", "STATE", "State")
    reason = last.strip("()") if last.startswith("(") else first_cell(row, "REASON", "Reason")
    return job_of(
        first_cell(row, "JOBID", "JobID", "JobIDRaw"),
        state,
        reason=reason,
        nodes=first_cell(row, "NODELIST", "NodeList") or ("" if last.startswith("(") else last),
        code=row.get("ExitCode", ""),
        name=first_cell(row, "NAME", "JobName"),
        user=first_cell(row, "USER", "User"),
        partition=first_cell(row, "PARTITION", "Partition"),
        restarts=whole_number(row.get("Restarts", "")),
        time_limit=first_cell(row, "TIME_LIMIT", "TIME_LIMI", "Timelimit"),
        elapsed=elapsed_seconds(first_cell(row, "TIME", "ELAPSED", "Elapsed")),
        gpus=gpus(first_cell(row, "TRES_ALLOC", "AllocTRES", "ReqTRES")) or of_each(row),
        origin=origin,
    )


def of_each(row: Row) -> int | None:
    """The GPUs of a job that asked for so many a node."""
    each, many = gpus(first_cell(row, "TRES_PER_NODE", "TRES_PER_N")), whole_number(row.get("NODES", ""))
    alone = many is None and len(expand(first_cell(row, "NODELIST", "NodeList"))) <= 1
    return each * (many or 1) if each is not None and (many or alone) else None


def of_json(text: str, source: str) -> list[SlurmJob]:
    """The jobs of `scontrol show job --json` and `squeue --json`, of releases 21.08 and later."""
    found = []
    for one in json_objects(text, source, "jobs")[:MOST]:
        if not isinstance(one.get("job_id"), int):
            continue
        state = one.get("job_state")
        shown = str(state[0]) if isinstance(state, list) and state else str(state or "")
        reason = str(one.get("state_description") or one.get("state_reason") or "")
        found.append(
            job_of(
                str(one["job_id"]),
                shown,
                reason=reason,
                nodes=str(one.get("nodes") or ""),
                name=str(one.get("name") or ""),
                user=str(one.get("user_name") or ""),
                partition=str(one.get("partition") or ""),
                restarts=whole_number(one.get("restart_cnt")),
                gpus=gpus(str(one.get("tres_alloc_str") or one.get("tres_req_str") or "")),
                origin=Origin(source, 0, f"job {one['job_id']}: {shown} {reason}".strip()),
            )
        )
    return found


def job_of(shown: str, state: str, *, reason: str, nodes: str, code: str = "", **rest: Any) -> SlurmJob:
    """A job with what its state and its reason mean."""
    match = ID.match(shown)
    long = slurm.job_state(state) or (state if UNKNOWN_STATE.match(state) else "")
    said = "" if reason in ("None", "none") else reason.replace("_", " ") if " " not in reason and reason.count("_") > 1 else reason
    waits = slurm.wait_kind(reason) if long in ("PENDING", "FAILED", "REQUEUE_HOLD", "SPECIAL_EXIT") else ""
    names = expand(nodes) or (expand(away.group(1)) if (away := UNAVAILABLE.search(reason)) else [])
    codes = CODE.match(code)
    rest["limit"] = elapsed_seconds(str(rest.get("time_limit") or ""))
    return SlurmJob(
        workload=match.group(1) if match else "",
        step=(match.group(2) or "") if match else "",
        state=long,
        reason=said,
        wait=waits,
        nodes=names,
        nodes_text=nodes if expand(nodes) else "",
        exit_code=int(codes.group(1)) if codes else None,
        signal=int(codes.group(2)) if codes else None,
        **rest,
    )
