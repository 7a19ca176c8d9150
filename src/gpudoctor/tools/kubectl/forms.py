"""How kubectl's outputs are recognised: a score for a text, 0 for "not this", and which reader reads it."""

from __future__ import annotations

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output
from gpudoctor.tools.form import Form
from gpudoctor.tools.kubectl import (
    describe,
    events,
    get,
    get_endpoints,
    get_monitors,
    get_taints,
    jsonpath_answers,
    manifests,
    node_columns,
    services,
)
from gpudoctor.tools.parser import LINE


def of_events(lines: list[str]) -> int:
    """Event lines without a table's header or a described object around them."""
    return 62 if any(events.match_line(line) for line in lines) else 0


def of_scheduler(lines: list[str], whole: str) -> int:
    """The scheduler's words alone, or a clause of them that a person quotes."""
    words = ("nodes", "olume", "device class", "esource")
    if any(word in whole for word in words) and any(events.CLAUSE.search(line) for line in lines):
        return 40
    clauses = ("Insufficient ", "node affinity conflict", "node(s) had ")
    return 20 if any(word in whole for word in clauses) and any(map(events.quoted_clause, lines)) else 0


def _events(output: Output, about: Subject) -> Facts:
    return events.events([line[:LINE] for line in output.text.split("\n")], output.origin_name(), about)


def _scheduler(output: Output, about: Subject) -> Facts:
    return events.scheduler_words([line[:LINE] for line in output.text.split("\n")], output.origin_name(), about)


FORMS: tuple[Form, ...] = (
    Form("kubectl.services", lambda text: services.score(text.lines), services.services, embedded=True, beside=True),
    Form("kubectl.endpoints", lambda text: get_endpoints.score(text.lines), get_endpoints.endpoints),
    Form("kubectl.monitors", lambda text: get_monitors.of_monitors(text.lines, text.argv), get_monitors.monitors),
    Form("kubectl.prometheuses", lambda text: get_monitors.of_servers(text.lines, text.argv), get_monitors.servers),
    Form("kubectl.namespaces", lambda text: get_monitors.of_namespaces(text.lines, text.argv), get_monitors.namespaces),
    Form("kubectl.fields", lambda text: jsonpath_answers.score(text.argv, text.whole), jsonpath_answers.facts),
    Form("kubernetes.objects", lambda text: manifests.score(text.whole), manifests.objects),
    Form("kubectl.describe", lambda text: describe.score(text.lines), describe.describe),
    Form("kubectl.get", lambda text: get.score(text.lines), get.tables, mixed=True),
    Form("kubectl.events", lambda text: of_events(text.lines), _events),
    Form("kubectl.taint", lambda text: get_taints.score(text.lines, text.argv), get_taints.tainted_nodes, embedded=True),
    Form("kubectl.labels", lambda text: manifests.label_score(text.lines, text.argv), manifests.labels),
    Form("scheduler.message", lambda text: of_scheduler(text.lines, text.whole), _scheduler, mixed=True, in_logs=True),
    Form("kubectl.columns", lambda text: node_columns.score(text.lines), node_columns.tables, embedded=True, beside=True),
)
