"""Names of metrics alone, one a line, as somebody cut them out of what an exporter or Prometheus has."""

from __future__ import annotations

from gpudoctor.facts import Facts, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.prometheus.exposition import WHOLE, Summary

# DCGM_FI_DEV_SM_CLOCK  |  # TYPE DCGM_FI_DEV_SM_CLOCK gauge, after `grep` and `awk`
METRIC = regex(r"(?:# (?:HELP|TYPE) )?(DCGM_(?:FI|EXP)_[A-Z0-9_]{1,80})(?: (?:gauge|counter))?")
# curl -s http://prometheus:9090/api/v1/label/__name__/values | jq -r ".data[]" | grep DCGM        (all names of it, however few)
ALL_NAMES = regex(r"__name__/values|:\d{4,5}/metrics")
GREP = regex(
    r"\bgrep (?:-\w+ )*[\"']?\^?DCGM(?:_(?:FI_?)?)?[^\w\s]{0,20}(?:A-Z\S{0,20})?(?:[\"']|\s|$)|^[^|]*(?:\| ?(?:jq|sort|uniq)\b[^|]*)*$"
)
FEW = 3


def score(lines: list[str], argv: tuple[str, ...]) -> int:
    """Names of metrics alone, one a line, where the command or the number of them says that these are all."""
    filled = [line.strip() for line in lines if line.strip() and not line.startswith(("#", "$"))]
    named = [line for line in filled if METRIC.fullmatch(line)]
    fewest = FEW if ALL_NAMES.search(" ".join(argv)) and GREP.search(" ".join(argv)) else WHOLE
    return 63 if len(named) >= fewest and len(named) * 10 >= len(filled) * 9 else 0


def names(output: Output, about: Subject) -> Facts:
    """The summary of such a list."""
    summary = Summary()
    for line in output.text.split("\n"):
        if match := METRIC.fullmatch(line.strip()):
            summary.add(match[1], {})
    return {"expositions": [summary.fact(place="exporter", whole=True, source=output.origin_name(), node=about.node, pod=about.pod)]}
