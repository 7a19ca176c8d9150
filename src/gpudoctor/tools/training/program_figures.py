"""What a program, its profiler or its tracker tells of its own pace: the part of a step that waits for data, how much of the
GPU its kernels fill, since when there was no step.

Sources: Megatron-LM's timers (megatron/core/timers.py), the GPU summary of PyTorch's TensorBoard plugin (kineto/tb_plugin), the public
API of Weights & Biases (runs, summaryMetrics).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median

from gpudoctor.patterns import regex
from gpudoctor.tools.common import measures
from gpudoctor.tools.common.measures import SECONDS, Line, N, Reading

DATA = (
    r"batch[ _]input|host[ _]input|"
    r"(?:t_|dt_|avg_|time_)?(?:data|input|batch)[ _-]?(?:load(?:er|ing)?|wait(?:ing)?|fetch(?:ing)?|read(?:ing)?|get|prep)"
    r"|(?:t_|dt_)?data(?:_t)?|data(?:loader)?|load(?:er|ing)?|(?:load|get|fetch|next|wait)[ _-](?:batch|data|input)|fetch|batch-generator"
)
WHOLE = r"(?:t_|dt_|avg_)?(?:step|iter(?:ation)?|batch|total|train_step|it)"
# data 1.91s | fwd 0.31s | total 2.70s   |   data_time=1.9 s step_time=2.7 s   |   t_data: 812ms t_step: 1100 ms
PAIR = regex(
    rf"(?:^|[\s,|;(\[])([A-Za-z][A-Za-z_+-]{{0,30}}?(?: (?:load(?:ing)?|wait|fetch|time|input))?)"
    rf"(?:_time|_s|_ms| time)?(?: ?[:=] ?| ){N} ?(ms|s|sec)\b"
)
# time (ms) | batch_input: 2911.22 | forward: 410.11 | backward: 812.20 | step: 91.04             (DeepSpeed; `step` is the optimizer's)
MS_HEAD, MS_PAIR = regex(r"\btime \(ms\)"), regex(rf"\| ([a-z][a-z_]{{1,40}}): {N}(?= ?\||\s*$)")
PARTS = ("forward", "backward", "backward_inner", "step", "fwd", "bwd")
# data_time=0.812 batch_time=1.021: no unit, and so the same one
BARE_DATA = regex(rf"\b(?:avg_)?(?:data|dataload|data_load(?:ing)?|data_wait|load|fetch)_time[=:] ?{N}(?![\d.]| ?[a-z]?s\b)")
# 412/2290 [21:44<1:39:02,  3.16s/it, loss=0.441, data_t=2.71]
BAR_DATA, BAR_WHOLE = regex(rf"\b(?:data|load|dl|fetch|io)_?t(?:ime)?={N}(?=[,\]])"), regex(rf"[<?]\S{{1,12}}, *{N}s/it, ")
BARE_WHOLE = regex(rf"\b(?:avg_)?(?:batch|step|iter|total)_time[=:] ?{N}(?![\d.]| ?[a-z]?s\b)")
IS_DATA, IS_WHOLE = regex(rf"(?:{DATA})\Z", 2), regex(rf"(?:{WHOLE})\Z", 2)
# dataloader wait: 71% of step  |  time waiting for data 62 %  |  71.2 % of the step time is spent in the data loader
OF_STEP = regex(
    rf"\b(?:data[ _-]?(?:loader|loading|wait|fetch)|waiting (?:for|on) (?:data|input)|input (?:wait|pipeline))\b[^%\d\n]{{0,40}}{N} ?%"
    rf"|{N} ?% of (?:the |each |its )?(?:total |training )?(?:step|iteration|wall|epoch)\b.{{0,40}}\b(?:data|input|dataloader)\b",
    2,
)
OTHER = regex(r"download|\bcached?\b|tokeniz|progress", 2)
#     * Total time user thread is blocked by Ray Data iter_batches: 309.76s   (beneath "* Total time overall: 412.53s"; us, ms or s)
RAY = regex(rf"^\s*\* Total time (overall|user thread is blocked by Ray Data iter_batches): {N}(us|ms|s)\b")
RAY_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
ITERATION = regex(rf"elapsed time per iteration \(ms\): {N}")
#     batch-generator ................................: (3120.55, 3398.12)
TIMER = regex(rf"^\s*batch-generator \.+: \({N}, {N}\)")
# GPU Utilization            97.3 %   |   Est. SM Efficiency         2.1 %
SUMMARY = regex(rf"^\s*(GPU Utilization|Est\. SM Efficiency):?\s+{N} ?%")
NAMES = {"GPU Utilization": "gpu_utilisation", "Est. SM Efficiency": "sm_efficiency"}
# DCGM_FI_PROF_SM_ACTIVE 0.131  (without labels, as people copy it)
BARE = regex(r"\bDCGM_FI_PROF_SM_ACTIVE(?:\{\})?[ =:]+(0(?:\.\d{1,6})?|1(?:\.0{1,6})?)\b")
# "heartbeatAt":"2025-09-10T14:31:55Z" | "_timestamp":1757506908.41 | "state":"running"
BEAT = regex(r'"heartbeat_?[aA]t": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z?"')
LAST_ROW, RUNNING = regex(r'"_timestamp": ?(\d{9,11}(?:\.\d{1,9})?)'), regex(r'"state": ?"running"')
PER_STEP = regex(rf'"[\w/]{{0,40}}(?:sec(?:ond)?s?_per_(?:step|it\w*)|step_time\w*|iter_time\w*)": ?{N}')
# 03:26:08 of `date +%T`  |  Fri Aug  1 02:31:40 UTC 2025  |  2025-08-01T02:31:40+00:00
DATE = regex(
    r"^(?:[A-Z][a-z]{2} +(?:\d{1,2} +)?[A-Z][a-z]{2} +(?:\d{1,2} +)?(?:\d{4} +)?|\d{4}-\d\d-\d\d[T ])?"
    r"(\d\d):(\d\d):(\d\d)(?: ?(?:[AP]M )?(?:[A-Z]{3,4}|[+-]\d\d:?\d\d|Z))?(?: \d{4})?$"
)
CLOCK = regex(r"\b(\d\d):(\d\d):(\d\d)\b")
# -rw-r--r-- 1 ann ml 90112201122 Feb 11 01:02 step_20000.pt
SAVED = regex(
    r"^[d-][rwxsStT-]{9}\S? +\d+ \S+ +\S+ +[\d.]+[KMGT]? [A-Z][a-z]{2} +\d{1,2} (\d\d):(\d\d)() \S*(?:step|iter|ckpt|checkpoint)\S*$"
)
DAY, FEWEST = 86400, 3
STEP = regex(r"\b(?:step|iter(?:ation)?|global_step)\b ?[:=]? ?\d", 2)
TOOK = regex(rf"\b{N} ?s(?:ec)?/(?:step|it)\b|\bstep_time[=: ]+{N}")


def shares(lines: Sequence[Line]) -> Iterator[Reading]:
    """The part of a step that waits for data: told as such, or as one of the times of its parts, the median over the lines."""
    found: list[tuple[float, Line]] = []
    for number, text in lines:
        if "%" in text and not OTHER.search(text) and (match := OF_STEP.search(text)):
            yield Reading("data_share", float(match[1] or match[2]) / 100, (number, text))
        if not any(word in text for word in ("data", "Data", "batch", "fetch", "input", "load")):
            continue
        if (share := part(text)) is not None:
            found.append((share, (number, text)))
    if len(found) >= 2:
        found = found[1:]  # the first one fills the loader's queue
        middle = median(share for share, _ in found)
        yield Reading("data_share", middle, min(found, key=lambda one: abs(one[0] - middle))[1])


def part(text: str) -> float | None:
    """Data's part of the times that a line names.

    >>> part("step 100 | data 1.5s | fwd 0.3s | bwd 0.2s | total 2.0s"), part("data_time=1.0 s other=3.0 s"), part("data 3 s")
    (0.75, 0.25, None)
    """
    data = whole = None
    rest = 0.0
    for match in PAIR.finditer(text):
        name, value = match[1].strip().removesuffix("_time").removesuffix(" time"), float(match[2]) * SECONDS[match[3]]
        if IS_DATA.match(name):
            data = value if data is None else data
        elif IS_WHOLE.match(name):
            whole = value
        else:
            rest += value
    if data is None and (bare := BARE_DATA.search(text)) and (other := BARE_WHOLE.search(text)):
        data, whole = float(bare[1]), float(other[1])
    if data is None and "s/it" in text and (bare := BAR_DATA.search(text)) and (other := BAR_WHOLE.search(text)):
        data, whole = float(bare[1]), float(other[1])
    if data is None and "time (ms)" in text and MS_HEAD.search(text):
        times = {name: float(value) for name, value in MS_PAIR.findall(text)}
        data = next((value for name, value in times.items() if IS_DATA.match(name)), None)
        rest = sum(value for name, value in times.items() if name in PARTS)
    if whole and data is not None and data > whole * 1.05:  # then the step is what comes after the data
        whole += data
    total = whole or (data + rest if data is not None and rest else None)
    return min(1.0, data / total) if data is not None and total and data <= total * 1.05 else None


def timers(lines: Sequence[Line]) -> Iterator[Reading]:
    """Megatron: the least time that a rank spent on making batches, of the time of the iteration before."""
    whole = None
    for number, text in lines:
        if "elapsed time per iteration" in text and (match := ITERATION.search(text)):
            whole = float(match[1])
        elif whole and "batch-generator" in text and (match := TIMER.match(text)):
            yield Reading("data_share", min(1.0, float(match[1]) / whole), (number, text))


def ray_data(lines: Sequence[Line]) -> Iterator[Reading]:
    """Ray Data: the time that a program was blocked by the iterator over its batches, of all its time.

    >>> blocked = "    * Total time user thread is blocked by Ray Data iter_batches: 900.00ms"
    >>> [one.value for one in ray_data([(1, "* Total time overall: 1.2s"), (2, blocked)])]
    [0.75]
    """
    whole = 0.0
    for number, text in lines:
        if "* Total time" not in text or not (match := RAY.match(text)):
            continue
        seconds = float(match[2]) * RAY_UNITS[match[3]]
        if match[1] == "overall":
            whole = seconds
        elif whole > 0:
            yield Reading("data_share", min(1.0, seconds / whole), (number, text))


# 0, NVIDIA H100 80GB HBM3, 97 %, 62000 MiB, 214.80 W, 700.00 W   (nvidia-smi --query-gpu, without its header)
ROW = regex(rf"^(?:\d{{1,2}}, )?(?:NVIDIA|Tesla|GeForce|Quadro) [^,]{{1,60}}, (?:[^,]{{1,40}}, ){{0,4}}?{N} %,")


def summaries(lines: Sequence[Line]) -> Iterator[Reading]:
    """PyTorch's summary of a GPU; a counter of DCGM without labels."""
    for number, text in lines:
        if match := SUMMARY.match(text):
            yield Reading(NAMES[match[1]], float(match[2]) / 100, (number, text))
        elif match := ROW.match(text):
            yield Reading("gpu_utilisation", float(match[1]) / 100, (number, text))
        elif "DCGM_FI_PROF_SM_ACTIVE" in text and (match := BARE.search(text)):
            yield Reading("sm_efficiency", float(match[1]), (number, text))


def tracker(lines: Sequence[Line]) -> Iterator[Reading]:
    """Weights & Biases: a run whose process is alive, and the time of its last row."""
    whole = "\n".join(text for _, text in lines[:2000])
    beat, row = BEAT.search(whole), LAST_ROW.search(whole)
    if not (beat and row and RUNNING.search(whole)):
        return
    try:
        now = datetime.fromisoformat(f"{beat[1]}+00:00").timestamp()
    except ValueError:
        return
    every = PER_STEP.search(whole)
    here = next(line for line in lines if "_timestamp" in line[1])
    yield Reading("since_progress", max(0.0, now - float(row[1])), here, of=float(every[1]) if every else None)


def last_progress_time(lines: Sequence[Line]) -> Iterator[Reading]:
    """The time of day of the last line of progress, and what `date` said: often two sections of one text."""
    last: Reading | None = None
    every: list[float] = []
    saved: list[tuple[float, Line]] = []
    for (number, text), (_, below) in zip(lines, [*lines[1:], (0, "")], strict=False):
        if (match := DATE.match(text.strip())) and not below.startswith("+--"):  # nvidia-smi begins with the time
            yield Reading("clock", float(of_day(match)), (number, text))
        elif (clock := CLOCK.search(text)) and STEP.search(text):
            took, now = TOOK.search(text), float(of_day(clock))
            every.append((now - last.value) % DAY if last else 0.0)
            last = Reading("step_clock", now, (number, text), of=float(took[1] or took[2]) if took else median(every[1:] or [0.0]) or None)
        elif "step" in text or "iter" in text or "ckpt" in text or "checkpoint" in text:
            saved += [(float(of_day(found)), (number, text))] if (found := SAVED.match(text)) else []
    if last is None and len(saved) >= FEWEST:  # `ls -l` sorts by name or by time: the distances are those of neighbours
        moments = [moment for moment, _ in saved]
        gap = median(min((later - earlier) % DAY, (earlier - later) % DAY) for earlier, later in pairwise(moments))
        newest = max(saved[0], saved[-1], key=lambda one: one[0])
        last = Reading("step_clock", newest[0], newest[1], of=gap or None)
    if last:
        yield last


def of_day(clock: object) -> int:
    """The second of the day."""
    hours, minutes, seconds = (int(clock[at] or 0) for at in (1, 2, 3))  # type: ignore[index]
    return hours * 3600 + minutes * 60 + seconds


READERS = (shares, timers, ray_data, summaries, tracker, last_progress_time)
numbers = measures.parser(READERS)
