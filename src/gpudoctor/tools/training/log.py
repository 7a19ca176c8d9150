"""The log of a training program → its pace: how long a step takes, since when it takes longer, what it waits for, when it last got on.

Only lines of progress are read (`step_words`); lines of several processes are told apart by what stands before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from statistics import median

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import Pace
from gpudoctor.knowledge.trend import FEWEST, change, climb, is_clear_change, steady_rise
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.parser import LINE, ParseError
from gpudoctor.tools.ranks.line import Line, line_of
from gpudoctor.tools.ranks.table import FILE
from gpudoctor.tools.training.step_compare import Slowest, slowest_in
from gpudoctor.tools.training.step_lines import Step, memory_in, peak_in, step_in
from gpudoctor.tools.training.step_tables import steps_in

MOST, PROCESSES = 20_000, 256  # lines of progress of a process; processes of a log
# [2026-03-01 13:00:05] llm-7b is running for 1-05:27:54 since …   (what looks after jobs writes into their log)
RUNS, ENDED = (
    regex(r"(?<!not )\b(?:running|RUNNING)\b"),
    regex(r"\bexiting program\b|\b[Tt]raining (?:is )?(?:done|complete|finished)|\bnot RUNNING\b"),
)
# Lines from which on only some of a log's middle are read, and how many are at either end: a step a second makes 600,000 in a week, and
# their course shows in a part of them.
MANY, EDGE = 10_000, 1_000
SPREAD = 2_654_435_761  # Knuth's multiplier: whose numbers are taken follows no period, since ranks may write in turn
FEW = 3  # such lines after the last line of progress, of which the first and the last tell how long it has been silent
HOUR, LONG, SHORT = 3600.0, 8, 4  # s; readings
WARM = 2  # the first lines: compiling, filling of caches
WARMED = 20  # a step by which that is over, where no more than one or two lines were pasted
# [2026-03-01 10:11:30][train] - [rank 2] iter 30 loss 7.700
NAMED = regex(r"\[[Rr]ank[ :=]{1,2}(\d{1,6})\]")
# iter 30 loss nan  |  'loss': nan,  |  lm loss: inf
LOSS = regex(r"(?i)\bloss['\"]?(?: ?[:=] ?| )[-+]?(?:(nan|inf(?!o))|\d)")
TABLE = ("table", None, None)
Key = tuple[str, int | None, int | None]


class Seen:
    """The lines of progress of one process."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.steps: list[Step] = []
        self.times: list[float] = []
        self.origin = Origin()
        self.slowest: Slowest | None = None
        self.diverged = False
        self.memory: list[float] = []  # MiB, of lines without a step
        self.peaks: list[float] = []  # the same of the most so far

    def add(self, step: Step, time: float | None, origin: Origin) -> None:
        """One more line. A lower number than the last is a new life or a new epoch: what was before is history, and so with a batch of
        another size."""
        if self.steps and (step.step < self.steps[-1].step or step.batch != self.steps[-1].batch):
            self.diverged = self.diverged and step.step >= self.steps[-1].step
            self.steps, self.times = [], []
        if len(self.steps) < MOST:
            self.steps.append(step)
        else:
            self.steps[-1] = step
        if time is not None:
            self.times.append(time)
            del self.times[:-MOST]
        self.origin = origin
        if loss := LOSS.search(origin.text):
            self.diverged = loss[1] is not None

    def add_line_beside(self, slowest: Slowest | None, memory: float | None, peak: float | None, origin: Origin) -> None:
        """A line between those of steps: a comparison of ranks, the memory that is allocated now, or the most so far."""
        if slowest is not None:
            self.slowest, self.origin = slowest, origin
        for value, kept in ((memory, self.memory), (peak, self.peaks)):
            if value is None or len(kept) >= MOST:
                continue
            kept.append(value)
            if not self.steps and self.slowest is None:
                self.origin = origin

    def fact(self, about: Subject, read_at: float, ended: float | None, after: float | None) -> Pace:
        """The record; `ended` is the time of the log's last line, `after` that of the first one after all lines of progress."""
        warmed = 0 if self.steps and self.steps[0].step >= WARMED and len(self.steps) < FEWEST else WARM
        paces = [one.seconds if one.seconds is not None else one.relative for one in self.steps[warmed:]]
        known = [one for one in paces if one]
        # The time since the beginning climbs; a mean since the start creeps after what it is made of: neither says how long a step took.
        if climb(known) or all(one.mean for one in self.steps[warmed:]):
            known = []
        own = [one.seconds for one in self.steps[WARM:] or self.steps if one.seconds is not None]
        fed = self.steps[WARM:] or [one for one in self.steps if one.step >= WARMED]
        shares = [min(1.0, one.data / one.seconds) for one in fed if one.data is not None and one.seconds]
        memory = [one.memory for one in self.steps if one.memory is not None] or self.memory
        at = [one.step for one in self.steps if one.memory is not None and one.numbered]
        peaks = [one.peak for one in self.steps if one.peak is not None] or self.peaks
        steady = climb(memory, at=at) if len(memory) >= LONG else None  # what a cache takes later comes in ever smaller steps
        slower, since = change(known)
        numbered = [one.step for one in self.steps[warmed:] if one.seconds or one.relative]
        gaps = [later - earlier for earlier, later in pairwise(self.times)]
        last = self.times[-1] if self.times else None
        if last is None and after and own:  # its lines have no time, and what came after them has
            between = [later.step - earlier.step for earlier, later in pairwise(self.steps)]
            if between or (ended or 0.0) - after > HOUR:  # of one line alone nobody knows how many steps lie between two
                last, gaps = after, [median(own) * max(1, one) for one in between or [1]]
        silent = max(0.0, max(read_at, ended or 0.0) - last) if last is not None else None
        went_on = max(0.0, ended - last) if last is not None and ended is not None else None
        if last is None and (stood := standing_seconds(self.steps)) is not None:
            silent, went_on, gaps = stood, stood, own[-1:]
        return Pace(
            node=about.node or ("" if about.pod else self.line.node),
            namespace=about.namespace,
            pod=self.line.pod or about.pod,
            rank=self.line.rank if self.line.rank is not None else rank_named(self.origin),
            lines=len(self.steps),
            diverged=self.diverged,
            step=self.steps[-1].step if self.steps and self.steps[-1].numbered else None,
            total=self.steps[-1].total if self.steps else None,
            seconds=median(own) if own else None,
            slower=slower,
            slower_clear=is_clear_change(known, since),
            since=None if since is None else numbered[since],
            data_share=median(shares) if shares else None,
            slowest=self.slowest.names if self.slowest else "",
            slowest_by=self.slowest.factor if self.slowest else None,
            memory=memory[-1] if memory else peaks[-1] if peaks else None,
            memory_rise=steady_rise(memory),
            memory_climb=steady if steady and steady > memory[-1] / 2 else climb(peaks),
            memory_climb_few=climb(memory or peaks, SHORT, at),
            memory_never_falls=all(later >= earlier for earlier, later in pairwise(memory)),
            last=last,
            every=median(gaps) if gaps else None,
            silent=silent,
            went_on=went_on,
            origin=self.origin,
        )


def standing_seconds(steps: list[Step]) -> float | None:
    """How long a bar of progress has been drawn with the same step, by its own clock; None where its last state is a new one.

    >>> standing_seconds([Step(9, elapsed=90.0), Step(10, elapsed=100.0), Step(10, elapsed=4000.0)])
    3900.0
    """
    clocks = [one.elapsed for one in steps if one.step == steps[-1].step and one.elapsed is not None]
    return clocks[-1] - clocks[0] if len(clocks) > 1 and clocks[-1] > clocks[0] else None


def pace(output: Output, about: Subject) -> Facts:
    """A record for each process that tells of its steps; [] for a log without such lines."""
    found: dict[Key, Seen] = {}
    newest = 0
    whole = plain_text(output)
    log = whole.split("\n")
    for number, text in sample_lines(drawn_lines(log), whole.count("\n") + whole.count("\r")):
        step, slowest, memory = step_in(text), slowest_in(text), memory_in(text)
        peak = peak_in(text) if step is None and "max" in text else None
        if step is None and slowest is None and memory is None and peak is None:
            continue
        line = line_of(text, output.time)
        key = (line.pod, line.rank if line.rank is not None else line.task, line.local)
        if key in found or len(found) < PROCESSES:
            seen, origin = found.setdefault(key, Seen(line)), Origin(output.origin_name(), number, text.strip())
            if step is not None:
                newest = number
                seen.add(step, line.time, origin)
            else:
                seen.add_line_beside(slowest, memory, peak, origin)
    if not output.text.strip() and output.failure:
        raise ParseError(f"{output.origin_name()}: no log")
    for number, row in steps_in(log):
        origin = Origin(output.origin_name(), number, log[number - 1].strip()[:500])
        found.setdefault(TABLE, Seen(Line(""))).add(row, None, origin)
    ended = last_time(log, output.time) if found else None
    after = first_time(log[newest:], output.time) if newest else None
    return {"paces": [one.fact(about, output.time, ended, after) for one in found.values()]}


def rank_named(origin: Origin) -> int | None:
    """The rank that a line names in words, or the name of its file.

    >>> rank_named(Origin("train.log", 1, "[rank 2] iter 30 loss 7.7")), rank_named(Origin("logs/rank_3.out", 1, "step 4"))
    (2, 3)
    """
    match = NAMED.search(origin.text) or FILE.search(origin.source.rpartition("/")[2])
    return int(match[1]) if match else None


def drawn_lines(log: list[str]) -> Iterator[tuple[int, str]]:
    """The lines with their numbers from 1. A bar of progress writes over its line: each state of it is one."""
    for number, line in enumerate(log, 1):
        for text in line.split("\r"):
            if text:
                yield number, text[:LINE]


def sample_lines(lines: Iterator[tuple[int, str]], total: int) -> Iterator[tuple[int, str]]:
    """The lines, of a long log's steps about `MANY` and those at both ends."""
    for at, (number, text) in enumerate(lines):
        middle = EDGE <= at < total - EDGE and total > MANY and ("tep" in text or "iter" in text)
        if not middle or at * SPREAD % 2**32 < 2**32 * MANY // total:
            yield number, text


def first_time(log: list[str], read_at: float) -> float | None:
    """The time of the first line that says of the job that it runs, of at least three; None where it has ended by itself."""
    if any(ENDED.search(line[:LINE]) for line in log[:MOST]):
        return None
    texts = (line[:LINE] for line in log[:MOST] if RUNS.search(line[:LINE]))
    some = list(islice((time for text in texts if (time := line_of(text, read_at).time) is not None), FEW))
    return some[0] if len(some) == FEW else None


def last_time(log: list[str], read_at: float) -> float | None:
    """The time of the last line that has one."""
    texts = (text[:LINE] for line in reversed(log) for text in reversed(line.split("\r")) if text)
    return next((time for text in islice(texts, MOST) if (time := line_of(text, read_at).time) is not None), None)
