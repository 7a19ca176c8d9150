"""Prometheus: its API, the pages of exporters, rules, and the objects of its operator."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "kubernetes.prometheus_rules": Parser(("wanted_metrics",), "rules:prometheus_rules"),
    "kubernetes.counters": Parser(("counter_lists",), "rules:config_maps"),
    "prometheus.queries": Parser(("gpu_samples",), "queries:queries"),  # questions with their answers, as people keep them
    "prometheus.answers": Parser(("measures",), "answers:numbers"),  # to questions of which the expression is the meaning
    "prometheus.range": Parser(("gpu_samples",), "range:samples", failures=True),
    "prometheus.errors": Parser(("gpus", "xids", "error_readings"), "errors:errors"),  # metrics that count errors, now, before or over time
    "prometheus.answer": Parser(("gpu_samples", "gpus", "xids", "error_readings"), "errors:answer"),  # one that somebody has kept
    "prometheus.measures": Parser(("measures",), "asked_measures:measures"),  # to questions that say what they measure
    "prometheus.series": Parser(("series",), "series:series"),  # what a job says of itself: an answer, or the page of an exporter
    "prometheus.text": Parser(  # what an exporter serves
        ("gpu_samples", "expositions", "gpus", "xids", "error_readings"), "metrics_page:metrics"
    ),
    "prometheus.targets": Parser(("scrape_targets",), "api:targets"),
    "prometheus.counts": Parser(("expositions", "wanted_metrics"), "series_counts:counts"),  # how many series each metric has
    "prometheus.up": Parser(("scrape_targets",), "up:scrape_targets"),  # rows made of an answer about `up`
    "prometheus.names": Parser(("expositions",), "api:names"),  # an instant query, or the values of a label
    "prometheus.rules": Parser(("wanted_metrics",), "rules:rule_texts"),  # a file of rules, a dashboard
    "dcgm.counters": Parser(("counter_lists",), "rules:counters"),  # the exporter's list
}
