"""Whether Prometheus reaches the exporters, by its own metric `up`, where a program made rows of the answer.

query=up{job="dcgm-exporter"}' | jq -r '.data.result[] | [.metric.instance, .value[1]] | @tsv'
10.20.0.7:9400  1
10.20.0.8:9400  0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import ScrapeTarget
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import plain_text
from gpudoctor.tools.prometheus.rows import unescape_query

# query=up  |  query=up{job="dcgm-exporter"}  |  promtool query instant http://p:9090 'up{job="dcgm"}', and nothing is done with it
ASKED = regex(r"""(?:query=|['" ])up(\{[^{}]{0,500}\})?(?=['"& ]|\Z)""")
# 10.20.0.8:9400  0  |  ["gpu-02:9400","0"]  |  http://gpu-02:9400/metrics 1
ROW = regex(r"""^\s*[\["']*(?:https?://)?([\w.-]{1,253}:\d{2,5})(?:/\S{0,80})?["']?[\s,=>]{1,40}["']?([01])["'\]]*\s*$""")
# up{instance="10.20.0.8:9400", job="dcgm-exporter"}  0      (the page of Prometheus; promtool writes => 0 @[…])
SERIES = regex(r"""^\s*up\{(.{1,2000})\}\s{0,200}(?:=>\s*)?([01])(?:\s|\Z)""")
INSTANCE = regex(r"""\binstance="(?:https?://)?([^"/]{1,253})""")
GPUS = regex(r"dcgm|gpu", re.IGNORECASE)
PORTS = ("9400", "9401", "9445", "9835")  # of exporters of GPUs


def up_rows(whole: str, argv: Sequence[str]) -> Iterator[tuple[int, str, str, bool]]:
    """The number of the line, the line, the instance, whether it was reached; of exporters of GPUs alone."""
    match = ASKED.search(unescape_query(" ".join(argv)[:5000]))
    for number, line in enumerate(whole.split("\n")[:20_000], 1):
        if series := SERIES.match(line[:2500]):
            named = INSTANCE.search(series[1])
            if named and (GPUS.search(series[1]) or named[1].rpartition(":")[2] in PORTS):
                yield number, line, named[1], series[2] == "1"
            continue
        row = ROW.match(line[:500])
        if row is None:
            match = ASKED.search(line[:2000]) or match
        elif match and (GPUS.search(match[1] or "") or row[1].rpartition(":")[2] in PORTS):
            yield number, line, row[1], row[2] == "1"


def score(whole: str, argv: Sequence[str]) -> int:
    """Whether a text is such an answer."""
    return 62 if any(True for _ in up_rows(whole, argv)) else 0


def scrape_targets(output: Output, about: Subject) -> Facts:
    """A scrape target for each row."""
    found = [
        ScrapeTarget(
            url=instance,
            port=int(text) if (text := instance.rpartition(":")[2]).isdecimal() else None,
            health="up" if up else "down",
            error="" if up else "up is 0",
            trouble="" if up else "other",
            exporter=True,
            origin=Origin(output.origin_name(), number, line.strip()),
        )
        for number, line, instance, up in up_rows(plain_text(output), output.command.argv)
    ]
    return {"scrape_targets": [*found]}
