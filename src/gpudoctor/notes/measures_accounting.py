"""Readers of what accounting and reports say of GPUs that somebody had and did not use.

551233.batch 1-04:10:22  RUNNING  cpu=00:01:12,fs/disk=1221,gres/gpumem=0,gres/gpuutil=0,mem=412K
GPU Utilization: 0.0%        beside  Job Wall-clock time: 01:34:06
     User   GPU-Hours-At-0%  Jobs  JobID          pod  | gpus | avg gpu util 24h (%) | owner
Sources: sacct(1), TRESUsageInAve, and AccountingStorageTRES in slurm.conf(5); seff of sites that add the GPUs to it; reportseff;
https://github.com/PrincetonUniversity/job_defense_shield.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.notes.comparison_tables import note_cells
from gpudoctor.notes.measure import Line, N, Reading
from gpudoctor.patterns import regex
from gpudoctor.tools.linux.ps import elapsed_seconds

UTILISED = regex(r"\bgres/gpuutil=(\d{1,6})\b")
JOB = regex(r"^\|?\s*(\d{1,12}(?:_\d{1,10})?)(?:\.\w{1,20}\+?)?\b")
ELAPSED = regex(r"(?<![\d:])((?:\d{1,3}-)?\d{1,3}:\d\d:\d\d)(?![\d:])")
# GPU Utilization: 0.0%  |  GPU Efficiency: 0.00% of 04:10:00 gpu-walltime  |  GPU usage: 0 %
SEFF = regex(rf"^\s*(?:Average )?GPU (?:[Uu]tili[sz]ation|[Ee]fficiency|[Uu]sage)\s*: +{N} ?%")
# State: FAILED (exit code 137)
STATE = regex(r"^State: FAILED \(exit code (\d{1,3})\)")
WALL = regex(r"^\s*Job Wall-clock time: +(\S{5,20})")
# GPU-Hours-At-0%  |  GPU hours at 0%  |  Idle GPU-hours  |  wasted_gpu_hours
HOURS = regex(r"(?:gpu[-_ ]?hours?[-_ ](?:at|with|of)[-_ ]0 ?%|(?:idle|wasted|unused)[-_ ]gpu[-_ ]?hours?)", 2)
USED = regex(r"(?:\butil|usage|\beff|gpueff)", 2)
NOT_USED = regex(r"(?:mem|cpu|disk|max|peak)", 2)
OF_GPU = regex(r"(?:\bgpus?\b|gpu[-_ ]?(?:util|eff|usage)|\bsm\b)", 2)
SPAN = regex(r"\b(\d{1,4}) ?(h|d|hours?|days?)\b", 2)
LASTED = regex(r"^(?:elapsed|run ?time|duration|wall(?:time|[-_ ]clock)?|age|hours?|gpu[-_ ]?hours?)\b", 2)
HOLDER = regex(r"^(?:user|owner|pod|job(?:[-_ ]?(?:id|name))?|account|namespace|name|workload|netid)\b", 2)
PERCENT = regex(rf"^{N} ?%?$")
NOBODY = frozenset(("", "-", "none", "free", "n/a", "idle"))
DAY, HOUR = 86400.0, 3600.0
LITTLE = 1.0  # per cent, as of idle GPUs (derive.gpu_use)


def accounts(lines: Sequence[Line]) -> Iterator[Reading]:
    """All of these: the seconds for which somebody had GPUs, and whose they were."""
    yield from of_sacct(lines)
    yield from of_seff(lines)
    yield from of_tables(lines)


def of_sacct(lines: Sequence[Line]) -> Iterator[Reading]:
    """Jobs whose every record of use says 0; the time is that of the row."""
    seen: dict[str, list[tuple[int, float, Line]]] = {}
    for number, text in lines:
        if "gres/gpuutil=" in text and (job := JOB.match(text)) and (took := ELAPSED.search(text)):
            used = max(int(one) for one in UTILISED.findall(text))
            seen.setdefault(job[1], []).append((used, elapsed_seconds(took[1]) or 0.0, (number, text)))
    for number_of, rows in seen.items():
        longest = max(rows, key=lambda row: row[1])
        if not any(used for used, *_ in rows):
            yield Reading("gpu_unused", longest[1], longest[2], label=f"job {number_of}")


def of_seff(lines: Sequence[Line]) -> Iterator[Reading]:
    """One job's summary."""
    for number, text in lines:
        if ended := STATE.match(text):
            yield Reading("exit_code", float(ended[1]), (number, text))
    took = next((elapsed_seconds(match[1]) for _, text in lines if (match := WALL.match(text))), None)
    for number, text in lines if took else ():
        if (match := SEFF.match(text)) and float(match[1]) <= LITTLE:
            yield Reading("gpu_unused", took or 0.0, (number, text), label="the job")


def of_tables(lines: Sequence[Line]) -> Iterator[Reading]:
    """Rows of users, jobs or pods with a use of next to nothing; the longest of a table."""
    titles: list[str] = []
    best: Reading | None = None
    for number, text in lines:
        cells = cells_of(text)
        if len(cells) >= 2 and any(map(HOLDER.match, cells)) and any(HOURS.search(one) or USED.search(one) for one in cells):
            if best:
                yield best
            titles, best = cells, None
            continue
        if not titles or not set(text) - set("-+|=: "):
            continue
        if not (row := row_of(titles, text)):
            titles = titles if len(cells) > 1 else []
        elif (found := row_reading(row, (number, text))) and (best is None or found.value > best.value):
            best = found
    if best:
        yield best


def cells_of(text: str) -> list[str]:
    """The cells of a header, by bars, tabs or wide gaps; by blanks where there are no others."""
    cells = [cell.strip("*` ") for cell in note_cells(text)]
    return cells if len(cells) > 1 else text.split()


def row_of(titles: list[str], text: str) -> dict[str, str]:
    """A row by title; one that is numbered has a cell more."""
    for cells in (cells_of(text), text.replace("|", " ").split()):
        if len(cells) in (len(titles), len(titles) + 1):
            return dict(zip(titles, cells[len(cells) - len(titles) :], strict=True))
    return {}


def row_reading(row: dict[str, str], line: Line) -> Reading | None:
    """What a row says, where it is of somebody and tells for how long."""
    holder = next((cell for title, cell in row.items() if HOLDER.match(title)), "")
    if holder.lower() in NOBODY:
        return None
    hours = next((cell for title, cell in row.items() if HOURS.search(title)), "")
    if (match := PERCENT.match(hours.replace(",", ""))) and float(match[1]) > 0:
        return Reading("gpu_unused", float(match[1]) * HOUR, line, label=holder[:80])
    shown = " ".join(row)
    title = next((title for title in row if USED.search(title) and not NOT_USED.search(title)), "")
    if not title or not (OF_GPU.search(title) or OF_GPU.search(shown)):
        return None
    use = PERCENT.match(row[title])
    seconds = mean_seconds(title) or next((length(cell, name) for name, cell in row.items() if LASTED.match(name)), 0.0)
    return Reading("gpu_unused", seconds, line, label=holder[:80]) if use and float(use[1]) <= LITTLE and seconds else None


def mean_seconds(title: str) -> float:
    """The seconds of which a title says that its column is a mean.

    >>> mean_seconds("avg util 24h (%)"), mean_seconds("GPU util (7 days)"), mean_seconds("util")
    (86400.0, 604800.0, 0.0)
    """
    match = SPAN.search(title)
    return float(match[1]) * (HOUR if match[2][0] in "hH" else DAY) if match else 0.0


def length(cell: str, title: str) -> float:
    """The seconds of a cell: a time, or hours where the title says so.

    >>> length("1-04:10:22", "Elapsed"), length("6.5", "Hours"), length("22h", "age"), length("?", "age")
    (101422.0, 23400.0, 79200.0, 0.0)
    """
    if "hour" in title.lower() and (match := PERCENT.match(cell)):
        return float(match[1]) * HOUR
    return mean_seconds(cell) or elapsed_seconds(cell) or 0.0
