"""How many series there are of each metric of DCGM, as people count them: one that has none is wanted and isn't there.

count(DCGM_FI_DEV_GPU_UTIL) or vector(0)                        {} => 0 @[1772366400]                      (promtool)
panel      expr                                series           PCIe   DCGM_FI_PROF_PCIE_TX_BYTES{…}   0   (a script of theirs)
… grep -c "^$m{"                                                DCGM_FI_DEV_ROW_REMAP_FAILURE 0
query=DCGM_FI_PROF_SM_ACTIVE                                    {"status":"success","data":{"resultType":"vector","result":[]}}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import Exposition, WantedMetric
from gpudoctor.knowledge import dcgm_metrics
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.parser import LINE
from gpudoctor.tools.prometheus.exposition import NAME
from gpudoctor.tools.prometheus.rows import unescape_query

# count(DCGM_FI_DEV_GPU_UTIL)  |  count by (gpu) (DCGM_FI_DEV_GPU_UTIL{…})
COUNTED = regex(r"\bcount\s*(?:by\s*\([^()]{0,80}\)\s*)?\(\s*(?:DCGM_|dcgm_)\w{1,80}(?:\{[^{}]{0,500}\})?\s*\)")
PROMTOOL = regex(r"^\s*\{\} => (\d{1,9})(?:\.0)? @\[")
# {"metric":{},"value":[1772366400.2,"32"]}
SINGLE = regex(r'"metric": ?\{\}, ?"value": ?\[\d{9,11}(?:\.\d{1,9})?, ?"(\d{1,9})"\]')
EMPTY = regex(r'"resultType": ?"(?:vector|matrix)", ?"result": ?\[\]')
QUERY = regex(r"\bquery(?:_range)?\b|\bpromtool\b")
# A title over a column of counts, and commands that count: other rows of a metric and a number are its values.
TITLE = regex(r"^(?=.*\b(?:expr|query|metric|name)\b).*\b(?:series|count|samples|results?|matches)\s*$", 2)
COUNTS = regex(r"\bgrep (?:-\w+ )*-\w*c\b|\bwc -l\b|result ?\| ?length")
ROW = regex(r"(?:^|[\s|=:,])(\d{1,6})\s*\|?\s*$")
FEWEST = 2  # rows of which one has none
MOST = 20_000


def counted_series(whole: str, argv: Sequence[str] = ()) -> Iterator[tuple[str, int, int, str]]:
    """Metric, how many series it has, the number of the line from 0 (the command's), and the line."""
    command = unescape_query(" ".join(argv)[:5000])
    rows: list[tuple[str, int, int, str]] = []
    asked, tabled = "", False
    for number, line in enumerate([command, *whole.split("\n")[:MOST]]):
        line = unescape_query(line[:LINE].rstrip("\r")) if "%28" in line else line[:LINE].rstrip("\r")
        names = list(dict.fromkeys(NAME.findall(line)))
        if len(names) == 1 and (COUNTED.search(line) or QUERY.search(line)) and not line.startswith("{"):
            asked = names[0] if COUNTED.search(line) or asks_metric_itself(line, names[0]) else ""
        elif asked and (match := PROMTOOL.match(line) or SINGLE.search(line)):
            yield asked, int(match[1]), number, line
        elif asked and EMPTY.search(line):
            yield asked, 0, number, line
        if not tabled:
            tabled = bool(TITLE.match(line) or COUNTS.search(line))
        elif len(names) == 1 and (match := ROW.search(line)):
            rows.append((names[0], int(match[1]), number, line))
    if asked and not whole.strip():
        yield asked, 0, 0, command
    if len(rows) >= FEWEST and any(not count for _, count, _, _ in rows) and any(count for _, count, _, _ in rows):
        yield from rows


def asks_metric_itself(line: str, name: str) -> bool:
    """Whether a question is for the metric itself: an empty answer to one with labels may be the labels'.

    >>> asks_metric_itself("curl http://prom:9090/api/v1/query?query=DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_TEMP")
    True
    >>> asks_metric_itself('promtool query instant http://p DCGM_FI_DEV_GPU_TEMP{pod="a"}', "DCGM_FI_DEV_GPU_TEMP")
    False
    """
    return line.partition(name)[2].lstrip("'\"`) ")[:1] not in ("{", "[", ">", "<", "=")


def score(whole: str, argv: Sequence[str] = ()) -> int:
    """Whether a text counts the series of metrics."""
    return 23 if ("DCGM_" in whole or "DCGM_" in " ".join(argv)) and any(True for _ in counted_series(whole, argv)) else 0


def counts(output: Output, about: Subject) -> Facts:
    """The metrics that have series as one exposition of Prometheus, those without as wanted."""
    found = list(counted_series(plain_text(output), output.command.argv))
    there = list(dict.fromkeys(name for name, count, _, _ in found if count))
    absent = {name: (number, line) for name, count, number, line in found if not count and name not in there}
    wanted = [
        WantedMetric(
            metric=name,
            by="Somebody",
            rare=dcgm_metrics.is_rare(name),
            absent=True,
            origin=Origin(output.origin_name(), number, line.strip()[:500]),
        )
        for name, (number, line) in absent.items()
    ]
    said = Origin(output.origin_name(), 0, f"{len(there)} metrics of DCGM with series, {len(absent)} without")
    made = [Exposition(node=about.node, place="prometheus", names=there, origin=said)] if there else []
    return {"expositions": [*made], "wanted_metrics": [*wanted]}
