"""What Slurm's accounting says of a job's memory and of GPUs that it had and did not use: sacct, seff and reports of sites that add GPUs.

551233.batch 1-04:10:22  RUNNING  cpu=00:01:12,fs/disk=1221,gres/gpumem=0,gres/gpuutil=0,mem=412K
GPU Utilization: 0.0%        beside  Job Wall-clock time: 01:34:06
Memory Efficiency: 99.98% of 64.00 GB
     User   GPU-Hours-At-0%  Jobs  JobID        (job_defense_shield)
Sources: sacct(1), TRESUsageInAve, and AccountingStorageTRES in slurm.conf(5); https://github.com/SchedMD/slurm/tree/master/contribs/seff,
https://github.com/PrincetonUniversity/job_defense_shield.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common import measures
from gpudoctor.tools.common.measures import Line, N, Reading, size
from gpudoctor.tools.linux.ps import elapsed_seconds

# Memory Efficiency: 99.98% of 64.00 GB  |  … 12.1% of 512.00 GB (64.00 GB/node)
MEMORY = regex(rf"^Memory Efficiency: {N}% of (\S+ ?[KMGT]?B?)")
UTILISED = regex(r"\bgres/gpuutil=(\d{1,6})\b")
JOB = regex(r"^\|?\s*(\d{1,12}(?:_\d{1,10})?)(?:\.\w{1,20}\+?)?\b")
ELAPSED = regex(r"(?<![\d:])((?:\d{1,3}-)?\d{1,3}:\d\d:\d\d)(?![\d:])")
# GPU Utilization: 0.0%  |  GPU Efficiency: 0.00% of 04:10:00 gpu-walltime  |  GPU usage: 0 %
SEFF = regex(rf"^\s*(?:Average )?GPU (?:[Uu]tili[sz]ation|[Ee]fficiency|[Uu]sage)\s*: +{N} ?%")
# State: FAILED (exit code 137)
STATE = regex(r"^State: FAILED \(exit code (\d{1,3})\)")
WALL = regex(r"^\s*Job Wall-clock time: +(\S{5,20})")
LITTLE = 1.0  # per cent, as of idle GPUs (derive.gpu_use)
UNUSED = "GPU-Hours-At-0%"
RULE = regex(r"-{2,80}")


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
        elif match := MEMORY.match(text):
            yield Reading("memory_share", float(match[1]) / 100, (number, text))
    took = next((elapsed_seconds(match[1]) for _, text in lines if (match := WALL.match(text))), None)
    for number, text in lines if took else ():
        if (match := SEFF.match(text)) and float(match[1]) <= LITTLE:
            yield Reading("gpu_unused", took or 0.0, (number, text), label="the job")


def job_memory(lines: Sequence[Line]) -> Iterator[Reading]:
    """sacct: the most that a step used beside what the job had asked for, by the columns that the rule below the titles makes."""
    asked: float | None = None
    spans: dict[str, tuple[int, int]] = {}
    titles, ends = "", 0
    for number, text in lines:
        if "MaxRSS" in text and "ReqMem" in text:
            titles, spans = text, {}
        elif titles and text.strip() and set(text) <= set("- "):
            spans = {titles[m.start() : m.end()].strip(): m.span() for m in RULE.finditer(text)}
            ends = max(end for _, end in spans.values())
        elif spans:
            cell = {name: text[begin : end if end < ends else None].strip() for name, (begin, end) in spans.items()}
            asked = size(cell.get("ReqMem", "").rstrip("nc")) or asked
            used = size(cell.get("MaxRSS", ""))
            if used and asked:
                yield Reading("memory_share", used / asked, (number, text), of=asked)


def of_report(lines: Sequence[Line]) -> Iterator[Reading]:
    """job_defense_shield: the user with most hours of GPUs that did nothing; a row begins with its number."""
    titles: list[str] = []
    found: list[Reading] = []
    for line in lines:
        words = line[1].replace("|", " ").split()
        if UNUSED in words and "User" in words:
            titles = words
        elif titles and len(words) in (len(titles), len(titles) + 1):
            row = dict(zip(titles, words[-len(titles) :], strict=True))
            if row[UNUSED].isdecimal() and int(row[UNUSED]):
                found.append(Reading("gpu_unused", int(row[UNUSED]) * 3600.0, line, label=row["User"][:80]))
    if found:
        yield max(found, key=lambda one: one.value)


READERS = (of_sacct, of_seff, job_memory, of_report)
numbers = measures.parser(READERS)
