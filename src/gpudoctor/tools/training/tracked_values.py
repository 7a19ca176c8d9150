"""The rows that a trainer or an experiment tracker keeps, one object a line → a Series for each value that is known.

{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 2e-05, 'epoch': 0.5}                               (the Trainer of transformers)
{"_step": 100, "_timestamp": 1772366400.5, "train/loss": 2.31, "train/grad_norm": 1.2}               (an export of Weights & Biases)
Sources: transformers/trainer.py (Trainer.log), https://docs.wandb.ai/guides/track/public-api-guide (scan_history).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.knowledge import job_metrics
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus.series import of_points

ROW = regex(r"\{(['\"][\w/ .-]{1,80}['\"]: ?.{1,3000})\}\s*\Z")
VALUE = regex(r"['\"]([\w/.-]{1,80})['\"]: ?(-?(?:\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?|nan|NaN|inf|Infinity))(?=[,\s]|\Z)")
FEWEST, MOST = 3, 20_000  # rows
JUDGED = frozenset({"loss", "validation_loss", "gradient_norm"})  # how fast it goes, its lines of progress tell


def values_of(text: str) -> dict[str, float]:
    """The known values of a row, {} for any other line.

    >>> values_of("{'loss': 2.5, 'grad_norm': nan, 'epoch': 0.5}"), values_of("{'epoch': 1.0}")
    ({'loss': 2.5, 'grad_norm': nan}, {})
    """
    match = ROW.search(text[:4000]) if "loss" in text or "norm" in text else None
    return {name: float(value) for name, value in VALUE.findall(match[1]) if job_metrics.about(name) in JUDGED} if match else {}


def series(output: Output, about: Subject) -> Facts:
    """A Series for each value; their time is not told by all, so none has one."""
    found: dict[str, list[tuple[float, float]]] = {}
    where: dict[str, Origin] = {}
    for number, text in lines(output):
        for name, value in values_of(text).items():
            if len(found.setdefault(name, [])) < MOST:
                found[name].append((0.0, value))
                where[name] = Origin(output.origin_name(), number, text.strip()[:1000])
    if not found and output.failure:
        raise ParseError(f"{output.origin_name()}: no log")
    made = [of_points(name, {}, points, 0.0, about, where[name]) for name, points in found.items() if len(points) >= FEWEST]
    return {"series": [one for one in made if one]}


def score(rows: Sequence[str]) -> int:
    """Rows with a known value."""
    return 21 if sum(bool(values_of(row)) for row in rows) >= FEWEST else 0
