"""Steps as rows: what a tracker exports or a script writes, as a table with a header or as JSON. Each row becomes a `Step`.

step,train/loss,step_time_s,data_time_s            {"step": 1200, "time/dataloader_wait_s": 1.71, "time/step_s": 2.41}
1200,2.21,2.41,1.71
Sources of names: https://docs.wandb.ai/ref/python/ (system metrics), https://docs.mosaicml.com/projects/composer (speed monitor), MLflow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.training.step_lines import UNITS, Step

STEP = regex(r"(?:.*/)?_?(?:global_?|trainer/global_|train_)?(?:steps?|iter(?:ation)?s?|it|batch_idx)\Z", re.IGNORECASE)
LAST = r"(?:_(?:time|sec|secs|seconds|s|ms))*\Z"
DATA = regex(
    r"(?:.*[/.])?(?:t_|dt_|avg_|time_)?(?:data(?:loader)?|batch|input|fetch)(?:_?(?:load(?:er|ing)?|wait(?:ing)?|fetch|get|prep))?" + LAST,
    re.IGNORECASE,
)
WHOLE = regex(r"(?:.*[/.])?(?:t_|dt_|avg_|time_)?(?:train_)?(?:step|iter(?:ation)?|total|batch)(?:_?time)?" + LAST, re.IGNORECASE)
TIMED = regex(r"(?:time|sec|_s|_ms|\bt_|\bdt_|wait)", re.IGNORECASE)
MEMORY = regex(
    r"(?!.*(?:max|peak|reserved|total|percent|pct|cpu|host|proc|rss))(?:.*[/._])?"
    r"(?:(?:gpu_?)?mem(?:ory)?_?(?:alloc(?:ated)?|used|usage)|alloc(?:ated)?(?:_mem(?:ory)?)?|gpu_?mem(?:ory)?|cuda_?mem(?:ory)?)"
    r"[ _(\[]*(bytes|b|kb|mb|mib|gb|gib|megabytes|gigabytes)?[)\]]?\Z",
    re.IGNORECASE,
)
CELL = regex(r'["\']([^"\']{1,80})["\']: ?(-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?)(?=[,}\s])')
NUMBER = regex(r"-?\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?\Z")
SEPARATORS = (",", "\t", "|")
WIDEST, MOST = 400, 20_000


def steps_in(log: Sequence[str]) -> Iterator[tuple[int, Step]]:
    """(number of the line from 1, what its row says)."""
    titles: list[str] = []
    by = ""
    for number, line in enumerate(log[:MOST], 1):
        if line.lstrip().startswith("{") and "step" in line:
            if step := step_of(dict(CELL.findall(line[:20_000]))):
                yield number, step
            continue
        if head := header(line):
            by, titles = head
            continue
        if not titles:
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split(by)]
        if len(cells) != len(titles):
            titles = [] if set(line) - set("-+|=: ") else titles
            continue
        if step := step_of(dict(zip(titles, cells, strict=True))):
            yield number, step


def header(line: str) -> tuple[str, list[str]] | None:
    """What separates the cells and the titles, where one of them is a step and another something known of it."""
    for by in (sign for sign in SEPARATORS if sign in line):
        names = [cell.strip().strip('"') for cell in line.strip().strip("|").split(by)[:WIDEST]]
        if any(STEP.match(name) for name in names) and any(map(is_read_column, names)):
            return by, names
    return None


def is_read_column(title: str) -> bool:
    """Whether a column is one that is read."""
    return bool(MEMORY.match(title) or (TIMED.search(title) and (DATA.match(title) or WHOLE.match(title))))


def step_of(row: dict[str, str]) -> Step | None:
    """What a row says, None where it has no step or nothing known.

    >>> one = step_of({"step": "10", "step_time_ms": "2000", "data_time_ms": "500"})
    >>> one.step, one.seconds, one.data
    (10, 2.0, 0.5)
    >>> step_of({"_step": "10", "system.gpu.0.memoryAllocatedBytes": "1048576"}).memory
    1.0
    """
    named = next((name for name in row if STEP.match(name) and NUMBER.match(row[name])), None)
    if named is None:
        return None
    seconds = data = memory = None
    for name, cell in row.items():
        if name == named or not NUMBER.match(cell):
            continue
        value = float(cell)
        if memory is None and (match := MEMORY.match(name)):
            memory = value / 2**20 if (match[1] or "")[:1].lower() == "b" else value * UNITS[(match[1] or "M")[:1].upper()]
        elif TIMED.search(name) and value >= 0:
            scaled = value / 1000 if name.lower().endswith("ms") else value
            if WHOLE.match(name) and "batch" not in name:
                seconds = scaled
            elif DATA.match(name):
                data = scaled
    if seconds is None and memory is None:
        return None
    return Step(int(float(row[named])), seconds=seconds or None, data=data, memory=memory)
