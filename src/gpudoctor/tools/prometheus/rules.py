"""What is wanted of dcgm-exporter and what it is told to export: alerting rules, dashboards, and its list of counters.

DCGM_FI_DEV_GPU_TEMP,  gauge, GPU temperature (in C).            a counter of /etc/dcgm-exporter/*.csv or of a ConfigMap
# DCGM_FI_DEV_POWER_VIOLATION, counter, Throttling …             one that is there and not in use
- alert: GpuHot / expr: DCGM_FI_DEV_GPU_TEMP > 85                a rule of a PrometheusRule or of a file of rules
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import CounterList, WantedMetric
from gpudoctor.knowledge import dcgm_metrics
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, Strings, evidence, objects
from gpudoctor.tools.parser import LINE, ParseError
from gpudoctor.tools.prometheus.exposition import NAME

# DCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization (in %).
COUNTER = regex(r"\s{0,20}(#?)\s{0,8}(DCGM_(?:FI|EXP)_[A-Z0-9_]{1,80})\s{0,40},\s{0,40}(?:gauge|counter|histogram|summary|label)\s{0,8},")
# - alert: GpuHot  |  - record: gpu:temp  |  expr: DCGM_FI_DEV_GPU_TEMP > 85  |  "expr": "…"  |  "title": "GPU temperature"
KEY = regex(r"""\s{0,200}(?:- +)?["']?(alert|record|expr|query|title)["']?\s{0,4}:\s{0,4}(.{0,3500})""")
# GpuHot : DCGM_FI_DEV_GPU_TEMP > 85  |  GpuHot   avg(DCGM_FI_DEV_GPU_TEMP) >= 85   (rows of jsonpath, custom-columns and jq)
ROW = regex(
    r"\s{0,20}([A-Z][A-Za-z0-9_-]{3,80})(?:\s{0,40}[:|=,]\s{0,40}|\s{1,40})"
    r"((?:[^\s:].{0,1000}?)?DCGM_.{1,1000}?(?:[<>]=?|==)\s{0,9}[0-9].{0,500})"
)
# DCGM_FI_DEV_GPU_TEMP{node="a"} > 85  |  max by (gpu) (DCGM_FI_DEV_GPU_TEMP) >= 85  |  avg_over_time(DCGM_FI_DEV_GPU_UTIL[5m]) > 0.9
COMPARED = regex(
    r"(DCGM_(?:FI|EXP)_[A-Z0-9_]{1,80})(?:\{[^{}]{0,500}\})?(?:\[\w{1,12}\])?[\s)]{0,20}(?:by\s?\([^()]{0,200}\))?\s{0,9}>=?\s{0,9}([0-9.]{1,20}(?:e\d{1,2})?)\b(?!\s{0,9}[*/+-])"
)
# What turns a level into another quantity: a comparison with its result says nothing of the unit.
TURNED = regex(r"\b(?:rate|irate|increase|delta|idelta|deriv|changes|count|sum|sum_over_time|count_over_time|resets)\b|[*/]")
RULES = 2000  # of one object
KEYS, TEXT = 20, 1_000_000  # texts of one ConfigMap, and characters of one


class Rule(msgspec.Struct):
    """One rule."""

    alert: str | None = None
    record: str | None = None
    expr: str | int | float | None = None


class Group(msgspec.Struct):
    """One group of rules."""

    rules: list[Rule] | None = None


class RuleSpec(msgspec.Struct):
    """The spec of a PrometheusRule."""

    groups: list[Group] | None = None


class RuleObject(Object):
    """A PrometheusRule."""

    spec: RuleSpec | None = None


class ConfigMapObject(Object):
    """A ConfigMap, as far as its texts."""

    data: Strings = None


def prometheus_rules(output: Output, about: Subject) -> Facts:
    """The metrics that PrometheusRules ask for."""
    found: list[WantedMetric] = []
    for item in objects(output, RuleObject, ("PrometheusRule",)):
        for rule in [rule for group in (item.spec or RuleSpec()).groups or () for rule in group.rules or ()][:RULES]:
            name, expr = rule.alert or rule.record or "", str(rule.expr or "")
            found += wanted_metrics(
                expr, name, bool(rule.alert), evidence(output, f"{item.meta.namespace}/{item.meta.name} {name}: {expr}")
            )
    return {"wanted_metrics": [*unique(found)]}


def rule_texts(output: Output, about: Subject) -> Facts:
    """The metrics that a file of rules or a dashboard asks for, read line by line. Raises `ParseError` for a text without one."""
    found: list[WantedMetric] = []
    name, alert, open_ = "", False, False
    text, one_line = laid_out(output.text)
    for number, line in enumerate(text.split("\n"), 1):
        number = 1 if one_line else number
        line = line[:LINE].rstrip("\r")
        if match := KEY.match(line):
            key, value = match.groups()
            if key in ("alert", "record", "title"):
                name, alert, open_ = value.strip("\"', ")[:200], key == "alert", False
                continue
            line, open_ = value, True
        elif not open_ and (match := ROW.match(line)):
            found += wanted_metrics(match[2], match[1], True, Origin(output.origin_name(), number, line.strip()))
        elif ":" in line.partition(" #")[0] and not NAME.search(line):
            open_ = False  # the next key ends an expression of several lines
        if open_:
            found += wanted_metrics(line, name or "an expression", alert, Origin(output.origin_name(), number, line.strip()))
    if not found:
        raise ParseError(f"{output.origin_name()}: no expression over metrics of DCGM: {output.text[:120]!r}")
    return {"wanted_metrics": [*unique(found)]}


def laid_out(text: str) -> tuple[str, bool]:
    """A dashboard or a panel that stands in one line with a line for each key, and whether it did."""
    bare = text.strip()
    if "\n" in bare or bare[:1] not in ("{", "[") or len(bare) > TEXT:
        return text, False
    try:
        return msgspec.json.format(bare, indent=1), True
    except (msgspec.MsgspecError, RecursionError):
        return text, False


def wanted_metrics(expr: str, by: str, alert: bool, where: Origin) -> Iterator[WantedMetric]:
    """The metrics in one expression, with what they are compared with."""
    limits: dict[str, float] = {}
    for match in COMPARED.finditer(expr[:LINE]) if not TURNED.search(expr[:LINE]) else ():
        try:
            limits.setdefault(match[1], float(match[2]))
        except ValueError:
            continue
    absent = "absent" in expr
    for name in dict.fromkeys(NAME.findall(expr[:LINE])):
        known = dcgm_metrics.scale(name)
        yield WantedMetric(
            metric=name,
            by=by[:200],
            alert=alert,
            rare=absent or dcgm_metrics.is_rare(name),
            threshold=limits.get(name),
            most=known.most if known else None,
            unit=known.unit if known else "",
            origin=where,
        )


def unique(found: list[WantedMetric]) -> list[WantedMetric]:
    """Each metric once for each rule."""
    return list({(one.metric, one.by): one for one in reversed(found)}.values())[::-1]


def counters(output: Output, about: Subject) -> Facts:
    """The counters of a file. Raises `ParseError` for a text without one."""
    made = counter_list(output.text, output, "")
    if made is None:
        raise ParseError(f"{output.origin_name()}: no counters of dcgm-exporter: {output.text[:120]!r}")
    return {"counter_lists": [made]}


def config_maps(output: Output, about: Subject) -> Facts:
    """The ConfigMaps whose texts have counters; nothing where none does."""
    found: list[CounterList] = []
    for item in objects(output, ConfigMapObject, ("ConfigMap",)):
        name, space = item.meta.name or "", item.meta.namespace or ""
        lists = [counter_list(text[:TEXT], output, f"ConfigMap {space}/{name}: ") for text in list((item.data or {}).values())[:KEYS]]
        found += [msgspec.structs.replace(one, namespace=space, config_map=name) for one in lists if one]
    return {"counter_lists": [*found]}


def counter_list(text: str, output: Output, before: str) -> CounterList | None:
    """The record of one list, None for a text that is none."""
    names: dict[str, None] = {}
    commented: dict[str, None] = {}
    for line in text.split("\n") if "DCGM_" in text else ():
        if match := COUNTER.match(line[:LINE]):
            (commented if match[1] else names).setdefault(match[2])
    if not names and not commented:
        return None
    off = [name for name in commented if name not in names]
    said = f"{before}{len(names)} counters in use, {len(off)} commented out"
    return CounterList(names=list(names), commented=off, origin=Origin(output.origin_name(), 0, said))
