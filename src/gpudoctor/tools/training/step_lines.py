"""What a training program says of one step: its number, how long it took, how much of that it waited for data, what memory it has.

Each library has a form of its own; a table of words is searched in a line that names a step.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.torch.memory_lines import division


class Step(NamedTuple):
    """One line of progress. `seconds` for a step; where a line only tells a rate, `relative` is its inverse, in any unit."""

    step: int
    total: int | None = None
    seconds: float | None = None
    relative: float | None = None
    data: float | None = None  # seconds
    memory: float | None = None  # MiB
    peak: float | None = None  # MiB, the most so far
    batch: int | None = None  # samples of all ranks, where the line says so
    numbered: bool = True  # False: `step` is only something that grows
    elapsed: float | None = None  # seconds since the bar was begun
    mean: bool = False  # `seconds` is the mean since the start: the line also tells the time of all steps together


N = r"(\d{1,9}(?:\.\d{1,9})?)"
#  iteration      120/    1000 | consumed samples: …  (Megatron)  |  Training epoch 0, iteration 10/99 | … (NeMo)
#  … global_step=10, RunningAvgSamplesPerSec=… (DeepSpeed)  |  steps: 10 loss: 2.3 iter time (s): 3.2 (its pipelines)
#  step: 10  loss: 7.9 … tps: 7,123 (torchtitan)  |  iter 100: loss 2.3, time 235.11ms (nanoGPT)  |  eta: 1:10:10  iter: 119 … (detectron2)
#  Epoch(train) [1][ 50/1000]  lr: … (mmengine)  |  Epoch: [0][  10/5005]  Time … (PyTorch's examples)  |  Epoch: [0]  [ 120/5004]  eta: …
#  step 100 | loss 2.3 | …, Step 100/5000: loss … (people's own loops)
#  Train: 0 [  50/1251 (  4%)]  Loss: … (timm)  |  Training:  12%|█▏  | 120/1000 [04:11<30:40,  2.09s/it] (tqdm)
#  <epoch:  0, iter:   2,200, lr:1.000e-04> l_pix: 8.8e-03 (BasicSR: padded, and with commas)
# {'loss': 1.8121, 'grad_norm': 0.71, 'learning_rate': 1.8e-05, 'epoch': 0.31}    (transformers' Trainer, which names no step)
TRAINER = regex(r"\{'loss': [^{}]{1,400}'epoch': (\d{1,5}(?:\.\d{1,9})?)\}")
STEP = regex(
    r"\biteration +(\d{1,10})/ *(\d{1,10})|\biteration[ :=]{1,3}(\d{1,10})()(?= ?[|,;]| +\w{2,12}[=:])"
    r"|\bglobal_step[=: ]+(\d{1,10})\b()|\bsteps?[=:] {0,9}(\d{1,3}(?:,\d{3})+|\d{1,10})\b(?!\()()"
    r"|\biter:? {1,9}(\d{1,3}(?:,\d{3})+|\d{1,10})(?::|,| |\b)()"
    r"|\b[Ss]tep (\d{1,3}(?:,\d{3})+|\d{1,10})(?: ?/ ?(\d{1,10})|())(?= ?[|:,(]| +(?:loss|mfu|tok|tps|lr|dt|step_time|time|samples)\b)"
    r"|\]? ?\[ *(\d{1,10})/ *(\d{1,10})(?:\]| \()|\| *(\d{1,10})/(\d{3,10}) \[(?=\d)"
)
PART = regex(r"[\[|] *\d{1,10}/")  # [ 50/1000]  |  | 120/1000 [
SECONDS = regex(
    rf"iter time \(s\): {N}|elapsed time per iteration \(s\): {N}"
    rf"|train_step_timing in s[:=] ?{N}|(?:^|[\s,|])[Tt]ime:? +{N}(?:s\b|\s|$|,)|[,|] *{N} ?s/(?:it|step)\b"
    rf"|\bstep_time(?:_s)?[=: ] {{0,3}}{N}s?\b(?! ?ms)"
)
MILLISECONDS = regex(rf"elapsed time per iteration \(ms\): {N}|, time {N}ms|\bstep_time_ms[=:] ?{N}")
PER_SECOND = regex(rf", *{N}it/s")
# tps: 7,123  |  tok/s/gpu 6134  |  samples_per_sec=812.4  |  throughput per GPU (TFLOP/s/GPU): 402.1  |  mfu 0.46  |  812.4 img/s
COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,9}(?:\.\d{1,9})?)(?![\d,]*\d|[kKM]\b)"  # 6,134  |  0.46, not 6.1k
PER = r"(?:/|_per_)s(?:ec)?(?:ond)?(?:[/_](?:per_)?(?:gpu|device|rank|node|chip))?"
RATE = regex(
    rf"\btps: (\d[\d,]{{0,15}})|CurrSamplesPerSec={N}"
    rf"|\b(?:tok(?:en)?s?|samples?|im(?:g|age)s?|seqs?|examples?|frames?|words?){PER}(?: ?\([^()]{{1,20}}\))?[=: ]{{1,4}}{COUNT}"
    rf"|\bthroughput(?: per GPU)?(?: ?\([^()]{{1,30}}\))?[=: ]{{1,4}}{COUNT}"
    rf"|\b[Tt]?(?:FLOP|flop|Flop)[Ss]?(?:/s)?(?:/GPU|/gpu)?[=: ]{{1,4}}{COUNT}"
    rf"|\b(?:mfu|MFU)[=: ]{{1,4}}{COUNT}|(?<![\w.]){COUNT} ?(?:tok(?:en)?s?|samples?|im(?:g|age)s?|seqs?|examples?|frames?)/s(?:ec)?\b"
)
DATA = regex(rf"\bdata_time[=: ] {{0,3}}{N}|\bdata_time in s[:=] ?{N}|(?:^|\s)[Dd]ata:? +{N}")
# MemAllocated=4.34GB (DeepSpeed)  |  memory: 40.51GiB(42.6%) (torchtitan)  |  allocated: 20480.5 (Megatron, MB). The highest ones so far,
# as mmengine and detectron2 print them, can't fall and say nothing. mem 21.4 GB, gpu_mem=21.4GB, allocated: 18.2GiB (people's own lines)
MEMORY = regex(
    rf"\bMemAllocated={N} ?([KMG]i?)B|\bmemory: +{N}([KMG]i)B ?\(|\| allocated: {N}()"
    rf"|(?<!max )(?<!peak )\b(?:gpu_|cuda_)?(?:mem|memory|allocated)[=: ]+{N} ?([KMG]i?)B\b(?! ?\()"
)
# [mem] allocated: 1024.0 MB | …  |  Mem memory (MB) | allocated: 20.5 | max allocated: 21.9 | …  |  cuda memory_allocated=812.5MB
ALLOCATED = regex(
    rf"(?<!max )(?<!peak )(?<!max_memory_)(?<!cannot )\b(?:memory_)?allocated(?:\(\))? ?[:= ] ?{N}(?: ?([MG])i?B)?\b", re.IGNORECASE
)
# epoch 3 gpu mem in use 4027 MB  |  vram=13.1G  |  GPU memory usage: 9.2 GiB, of a line without a step's number
IN_USE = regex(
    rf"(?<!max )(?<!peak )(?<!total )(?<!free )\b(?:gpu|cuda|vram)(?:[ _]mem(?:ory)?)?(?:[ _](?:in[ _]use|used|usage|now))?"
    rf"(?: ?[:=] ?| ){N} ?([MG])(?:i?B)?\b(?! ?(?:/|free|total))",
    re.IGNORECASE,
)
# [Epoch 2/150][Batch 500/4828] … Losses = ['31.62'] Mem 5611/10989, in MB
OF_ALL = regex(r"\b[Mm]em(?:ory)?(?: ?[:=] ?| )(\d{3,6})(?: ?MB)? ?/ ?(\d{4,6})(?: ?MB)?\b")
# max_mem: 3204M (detectron2, fvcore)  |  max mem: 3204 (torchvision, MB)  |  memory: 3204 (mmengine, MB)  |  peak_mem=21.4GB
# max_memory_allocated: 41200000000 (NeMo, bytes). They can't fall: only that they go on rising by the same says something.
PEAK = regex(
    rf"\bmax[_ ]mem(?:ory)?(?:_allocated)?[:=] ?(\d{{1,15}}(?:\.\d{{1,9}})?) ?([KMG]?)(?:i?B)?\b"
    rf"|\bpeak[_ ](?:gpu[_ ])?(?:mem|memory|allocated)[=: ]+{N} ?([KMG])i?B\b"
    rf"|  memory: (\d{{3,6}})()  "
)
# | global batch size:  1536 |  (Megatron, which may let it grow by a plan: steps take longer then, and nothing is slow)
BATCH = regex(r"\bglobal batch size: +(\d{1,9})\b")
ELAPSED = regex(r"\[(?:(\d{1,4}):)?(\d{1,2}):(\d{2})<")  # 1852/5004 [2:11:21<3:43:31,  1.34s/it
IN_MB = regex(r"\(Mi?B\)")
BYTES = 10_000_000.0  # MB that no GPU has
UNITS = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0}
OTHER = ("examples/s", " b/s", "download", "loading", "map ", "map:", "map(", "filter", "tokeniz", "shards")  # bars that aren't of training
LONGEST = 4000  # characters of a line


# What people call it themselves, with the unit behind the number or in the name: mem_allocated=20.5GB, step time: 1.2 s, data_wait_ms=40,
# vram (GiB): 31.2, iter_s=0.8
PAIR = regex(
    rf"\b([A-Za-z][A-Za-z_./]{{0,30}}(?: [a-z]{{1,12}}){{0,2}})(?: ?\(([A-Za-z]{{1,6}})\))? ?"
    rf"([=:]|(?<= )) {{0,3}}{N}(?: ?(seconds|secs?|s|ms|[MG]i?B|[MG]))?(?![A-Za-z])"
)
WORD = regex(r"[a-z]+")
LENGTHS = {"time": 1.0, "s": 1.0, "sec": 1.0, "secs": 1.0, "seconds": 1.0, "ms": 0.001}
SIZES = {"mb": 1.0, "mib": 1.0, "gb": 1024.0, "gib": 1024.0, "g": 1024.0, "m": 1.0}
OF_MEMORY = frozenset({"mem", "memory", "vram", "allocated", "alloc"})
NOT_NOW = frozenset({"max", "peak", "total", "free", "host", "cpu", "ram", "reserved", "cached", "limit", "available"})
OF_DATA = frozenset({"data", "dataloader", "dataload", "input", "fetch"})
OF_STEP = frozenset({"step", "iter", "iteration", "batch", "dt"})
OF_A_PART = frozenset(
    {"forward", "backward", "fwd", "bwd", "opt", "optimizer", "comm", "sync", "val", "eval", "warmup", "compile", "total", "eta"}
)


class Pairs(NamedTuple):
    """What the pairs of a line say that no form of a library is for: seconds of a step and of its wait for data, MiB."""

    seconds: float | None = None
    data: float | None = None
    memory: float | None = None


def told_by(pairs: list[tuple[str, ...]]) -> Pairs:
    """What the pairs of a line tell: names and numbers with a unit, as people print them.

    >>> told_by(PAIR.findall("step 9 loss 2.1 mem_allocated=20.5GB iter_s=0.8 data wait: 40 ms"))
    Pairs(seconds=0.8, data=0.04, memory=20992.0)
    >>> told_by(PAIR.findall("step 9 peak_mem=20GB fwd_ms=40 eta: 3 s"))
    Pairs(seconds=None, data=None, memory=None)
    """
    made: dict[str, float] = {}
    for name, inside, sign, number, behind in pairs:
        words = WORD.findall(name.lower())
        if not sign and (len(words) < 2 and (words[0] in OF_STEP or not behind)):
            continue  # step 9 loss 2.1
        unit = behind.lower() or inside.lower() or words[-1]
        of = set(words)
        if unit in SIZES and of & OF_MEMORY and not of & NOT_NOW:
            made.setdefault("memory", float(number) * SIZES[unit])
        elif unit in LENGTHS and of & OF_DATA:
            made.setdefault("data", float(number) * LENGTHS[unit])
        elif unit in LENGTHS and of & OF_STEP and not of & OF_A_PART:
            made.setdefault("seconds", float(number) * LENGTHS[unit])
    return Pairs(**made)


def memory_in(text: str) -> float | None:
    """MiB that a line without a step says to be allocated now, as people print it beside their own work.

    >>> memory_in("[mem] allocated: 1024.0 MB | reserved: 2048.0 MB"), memory_in("memory (MB) | allocated: 20.5 | max allocated: 21.9")
    (1024.0, 20.5)
    >>> memory_in("alloc 4.5G reserved 6.0G max 5.0G")
    4608.0
    """
    text = text[:LONGEST]
    if "alloc" not in text or not (match := ALLOCATED.search(text)):
        divided = division(text) if "eserved" in text else None
        return divided.allocated / 2**20 if divided else in_use(text)
    unit = match[2] or ("M" if IN_MB.search(text) else "")
    return float(match[1]) * UNITS[unit] if unit else None


def in_use(text: str) -> float | None:
    """The same in other words; beside the whole of the memory where the line is of training.

    >>> in_use("epoch 3 gpu mem in use 4027 MB"), in_use("vram=1.5G"), in_use("Losses = 3.1 Mem 5611/10989"), in_use("Mem 5611/10989")
    (4027.0, 1536.0, 5611.0, None)
    """
    lower = text.lower()
    if ("gpu" in lower or "cuda" in lower or "vram" in lower) and (match := IN_USE.search(text)):
        return float(match[1]) * UNITS[match[2].upper()]
    if "loss" in lower and "em" in text and (match := OF_ALL.search(text)) and int(match[1]) <= int(match[2]):
        return float(match[1])
    return None


def step_in(text: str) -> Step | None:
    """What a line of progress says, None for any other line.

    >>> one = step_in(" iteration  120/ 1000 | elapsed time per iteration (ms): 1234.5 |")
    >>> one.step, one.total, one.seconds, one.numbered, one.mean
    (120, 1000, 1.2345, True, False)
    """
    text = text[:LONGEST]
    if "'epoch': " in text and (match := TRAINER.search(text)):
        return Step(int(float(match[1]) * 1000), numbered=False)
    if not ("iter" in text or "tep" in text or ("[" in text and "/" in text and PART.search(text))):  # a quick look before the patterns
        return None
    match = STEP.search(text)
    if match is None:
        return None
    lower = text.lower()
    if any(word in lower for word in OTHER):
        return None
    step, total = (group.replace(",", "") for group in match.groups() if group is not None)
    seconds = first_number(SECONDS, text)
    if seconds is None and (thousand := first_number(MILLISECONDS, text)) is not None:
        seconds = thousand / 1000
    if seconds is None and (per_second := first_number(PER_SECOND, text)):
        seconds = 1 / per_second
    rate = None if seconds is not None else first_number(RATE, text)
    data = first_number(DATA, text)
    memory = memory_in(text)
    if held := MEMORY.search(text):
        number, unit = (group for group in held.groups() if group is not None)
        memory = float(number) * UNITS[unit.removesuffix("i")]
    pairs = PAIR.findall(text)
    own = told_by(pairs)  # for what the library's form leaves open
    seconds, data, memory = (mine if theirs is None else theirs for theirs, mine in zip((seconds, data, memory), own, strict=True))
    peak, batch = peak_in(text), BATCH.search(text)
    if (
        seconds is None
        and rate is None
        and memory is None
        and peak is None
        and not re.search(r"loss|lr\b|learning rate|samples", text, re.IGNORECASE)
    ):
        return None
    whole, relative, size = int(total) if total else None, 1 / rate if rate else None, int(batch[1]) if batch else None
    mean = is_mean(pairs, int(step), seconds)
    return Step(int(step), whole, seconds, relative, data, memory, peak, size, elapsed=elapsed_in(text), mean=mean)


def elapsed_in(text: str) -> float | None:
    """Seconds since a bar of progress was begun.

    >>> elapsed_in("12%|# | 120/1000 [04:11<30:40,  2.09s/it]"), elapsed_in("[1:00:05<2:10, 3s/it]"), elapsed_in("120/1000")
    (251.0, 3605.0, None)
    """
    if not (match := ELAPSED.search(text)):
        return None
    hours, minutes, seconds = match.groups()
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(seconds)


def is_mean(pairs: list[tuple[str, ...]], step: int, seconds: float | None) -> bool:
    """Whether the pairs of a line tell the time of all steps so far too, and `seconds` is that by their number.

    >>> is_mean(PAIR.findall("step:60/1880 train_time:2089ms step_avg:34.82ms"), 60, 0.03482)
    True
    >>> is_mean(PAIR.findall("step:60/1880 train_time:2089ms dt:88ms"), 60, 0.088)
    False
    """
    if not seconds or step < 2:
        return False
    lengths = (float(number) * LENGTHS.get(behind.lower() or inside.lower(), 0.0) for _, inside, _, number, behind in pairs)
    return any(abs(length - seconds * step) <= 0.01 * seconds * step for length in lengths)


def peak_in(text: str) -> float | None:
    """MiB of the most memory so far. A bare number is in MB, as torchvision and mmengine print it, or in bytes where it is as large.

    >>> peak_in("max_mem: 3204M"), peak_in("max mem: 5120"), peak_in("max_memory_allocated: 1048576000 |")
    (3204.0, 5120.0, 1000.0)
    """
    if not (match := PEAK.search(text)):
        return None
    number, unit = (group for group in match.groups() if group is not None)
    value = float(number)
    return value / 2**20 if not unit and value > BYTES else value * UNITS[unit or "M"]


def first_number(pattern: re.Pattern[str], text: str) -> float | None:
    """The number that a pattern finds."""
    match = pattern.search(text)
    return float(next(group for group in match.groups() if group is not None).replace(",", "")) if match else None
