"""Metrics of DCGM that somebody says he misses: in a sentence, or beside a panel's "No data".

Missing metrics DCGM_FI_DEV_RETIRED_SBE and DCGM_FI_DEV_XID_ERRORS        DCGM_FI_PROF_SM_ACTIVE is not exported
Panel "Tensor cores": No data, its query is on the next line
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import WantedMetric
from gpudoctor.knowledge import dcgm_metrics
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import LINE, ParseError
from gpudoctor.tools.prometheus.exposition import NAME
from gpudoctor.tools.prometheus.rules import COUNTER

# Missing metrics DCGM_…  |  we don't see DCGM_…  |  there is no DCGM_…
BEFORE = regex(
    r"\b(?:missing|no (?:data|series|metrics?|results?) (?:for|from|of|in)|there(?: i|')s no|lacks?|without"
    r"|(?:not|n't|never|cannot|no longer) (?:see|seeing|find|get|getting|show|have|export|exporting|expose|serve|contain|include"
    r"|report)\w{0,3})\b[^.;]{0,120}$",
    2,
)
# DCGM_… is missing  |  DCGM_… isn't exported  |  DCGM_… returns nothing  |  DCGM_… -> "No data"
AFTER = regex(
    r"^[^.;]{0,200}(?:\b(?:missing|empty|absent)\b(?!\()"
    r"|\b(?:not|n't|never) (?:there|present|available|exported|exposed|served|collected|showing|visible|found|reported|returned"
    r"|in the (?:list|output))"
    r"|\b(?:returns?|shows?|gives?|has|have|yields?) (?:no(?:thing)?\b|an? empty|empty)|\bno (?:data|series)\b)",
    2,
)
ALONE = regex(r"\bno data ?(?:points)?\b|\bempty query result\b|\bno datapoints found\b", 2)
LOGGED = regex(r"\blevel=|\bmsg=|\bcaller=|could not find the metric|^\s*[{#]|\b(?:expr|alert|record)\b ?[:=]")
BESIDE = 2  # lines between a panel's words and its query
MOST = 400  # lines of a text in which somebody writes


def missed_metrics(texts: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Each metric that is missed, with the number of its line from 1, and the line."""
    for number, line in enumerate(texts, 1):
        names = list(NAME.finditer(line))
        if LOGGED.search(line) or COUNTER.match(line):
            continue
        if names:
            if BEFORE.search(line[: names[0].start()]) or AFTER.match(line[names[-1].end() :]):
                yield from ((name[0], number, line) for name in names)
        elif ALONE.search(line):
            yield from ((name, number, line) for name in nearest(texts, number - 1))


def nearest(texts: Sequence[str], at: int) -> list[str]:
    """The metrics of the query that stands nearest to a line, a little below or above it."""
    for step in (1, -1, 2, -2)[: 2 * BESIDE]:
        if 0 <= at + step < len(texts) and (names := NAME.findall(texts[at + step])):
            return list(dict.fromkeys(names))
    return []


def score(texts: Sequence[str]) -> int:
    """0 or 15: whether somebody misses a metric in a text that isn't long."""
    return 15 if len(texts) < MOST and any(True for _ in missed_metrics(texts)) else 0


def missing_metrics(output: Output, about: Subject) -> Facts:
    """The metrics as wanted ones that are absent. Raises `ParseError` for a text in which none is missed."""
    found: dict[str, WantedMetric] = {}
    for name, number, line in missed_metrics([line for _, line in lines(output)]):
        where = Origin(output.origin_name(), number, line.strip()[:LINE][:500])
        found.setdefault(
            name, WantedMetric(metric=name, by="Somebody", rare=dcgm_metrics.is_rare(name), absent=True, stated=True, origin=where)
        )
    if not found:
        raise ParseError(f"{output.origin_name()}: nobody misses a metric: {output.text[:120]!r}")
    return {"wanted_metrics": [*found.values()]}
