"""What short commands show of the Prometheus operator's objects: which monitors there are, and which of them a Prometheus takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Requirement
from gpudoctor.facts.monitoring import Monitor, NamespaceLabels, PrometheusServer, Selector
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.kubectl.columns import cells, header
from gpudoctor.tools.kubectl.get_labels import asked_labels
from gpudoctor.tools.parser import LINE, ParseError

GROUP = r"(?:\.monitoring\.coreos\.com)?"
MONITORS = regex(rf"(?:servicemonitors?|smon|podmonitors?|pmon){GROUP}\Z")
# servicemonitor.monitoring.coreos.com/nvidia-dcgm-exporter, where several kinds are listed
KIND = regex(r"(servicemonitor|podmonitor)\.monitoring\.coreos\.com/")
SERVERS = regex(rf"(?:prometheus|prometheuses|prom){GROUP}(?:/|\Z)")
NAMESPACES = regex(r"(?:namespaces?|ns)(?:/|\Z)")
PAIR = regex(r"([\w./-]{1,317})=([\w.-]{0,63})(?:,|\Z)")
# serviceMonitorSelector:  |  serviceMonitorNamespaceSelector: {}          (of `-o yaml`, often cut out by grep)
SELECTOR = regex(r"( *)(?:- )?(serviceMonitor|podMonitor)(Namespace)?Selector: *(\{\})? *\Z")
# jsonpath={.spec.serviceMonitorSelector}  |  jq .spec.serviceMonitorNamespaceSelector.matchLabels
ASKED = regex(r"\.spec\.(serviceMonitor|podMonitor)(Namespace)?Selector(\.matchLabels)?\b")
LABEL = regex(r"([\w./-]{1,317}): *[\"']?([\w.-]{0,63})[\"']? *\Z")
FIELD = {
    ("serviceMonitor", ""): "service_monitors",
    ("serviceMonitor", "Namespace"): "service_monitor_namespaces",
    ("podMonitor", ""): "pod_monitors",
    ("podMonitor", "Namespace"): "pod_monitor_namespaces",
}
TITLES = {"NAMESPACE", "NAME", "AGE", "LABELS"}


def requested_kinds(argv: tuple[str, ...]) -> list[str]:
    """The kinds that a `kubectl get` asks for."""
    return argv[argv.index("get") + 1].split(",") if "get" in argv[:-1] else []


def of_monitors(lines: list[str], argv: tuple[str, ...]) -> int:
    """The table that `kubectl get servicemonitors` prints: the command tells it, since NAME and AGE are columns of any kind."""
    if "get" not in argv or not any(MONITORS.match(kind) for word in argv for kind in word.split(",")):
        return 0
    found = [{title for _, title in header(line)} for line in lines]
    return 82 if any("NAME" in titles and titles <= TITLES for titles in found) else 0


def monitors(output: Output, about: Subject) -> Facts:
    """The listed monitors; what they select is a gap, and without --show-labels their labels."""
    made: dict[str, list[Monitor]] = {}
    titles: list[tuple[int, str]] = []
    lines = output.text.split("\n")
    rows = [line for line in lines if line.strip() and not header(line[:LINE])]
    alone = (
        "PodMonitor" if any(word.startswith(("podmon", "pmon")) for word in requested_kinds(output.command.argv)[:1]) else "ServiceMonitor"
    )
    for number, line in enumerate(lines, 1):
        line = line[:LINE].rstrip("\r ")
        if columns := header(line):
            titles = columns
        elif titles and line.strip():
            row = cells(line, titles)
            name = row.get("NAME", "")
            match = KIND.match(name)
            kind = alone if not match else "PodMonitor" if match[1] == "podmonitor" else "ServiceMonitor"
            shown = {"namespace", "monitor", "exporter", "listed"} | ({"labels"} if "LABELS" in row else set())
            made.setdefault("monitors" if kind == "ServiceMonitor" else "pod_monitors", []).append(
                Monitor(
                    namespace=row.get("NAMESPACE", "") or about.namespace,
                    monitor=f"{kind}/{KIND.sub('', name)}",
                    labels=dict(PAIR.findall(row.get("LABELS", ""))),
                    exporter="dcgm" in name.lower(),
                    listed=len(rows) if "NAMESPACE" in row else 1,  # a list of one namespace says nothing of the others
                    gaps=gaps(Monitor, shown, "not shown by kubectl get"),
                    origin=Origin(output.origin_name(), number, line.strip()),
                )
            )
    return {kind: [*records] for kind, records in made.items()}


def of_servers(lines: list[str], argv: tuple[str, ...]) -> int:
    """What a command takes out of a Prometheus object: the selectors of its monitors."""
    if not any(SERVERS.match(kind) for kind in requested_kinds(argv)) or any(line.startswith(("kind:", '    "kind"')) for line in lines):
        return 0
    return 98 if ASKED.search(" ".join(argv)) or any(SELECTOR.match(line) for line in lines) else 0


def servers(output: Output, about: Subject) -> Facts:
    """The Prometheus with those selectors; the others are a gap."""
    found: dict[str, Any] = of_answer(" ".join(output.command.argv), output.text) or dict(of_lines(output.text.split("\n")))
    if not found:
        raise ParseError(f"{output.origin_name()}: no selector of monitors: {output.text.strip()[:80]!r}")
    after = output.command.argv[output.command.argv.index("get") + 2 :]
    name = after[0] if after and not after[0].startswith(("-", "|")) else ""
    made = PrometheusServer(
        namespace=about.namespace,
        prometheus=name,
        gaps=gaps(PrometheusServer, {"namespace", "prometheus", "other_configs", *found}, "the command doesn't show it"),
        origin=Origin(output.origin_name(), 1, " ".join(output.text.split())[:LINE]),
        **found,
    )
    return {"prometheuses": [made]}


def of_answer(command: str, text: str) -> dict[str, Selector | None]:
    """The one selector that a jsonpath or jq asks for, as JSON."""
    asked = ASKED.findall(command)
    if len(asked) != 1:
        return {}
    try:
        value = json.loads(text) if text.strip() not in ("", "null") else None
    except (ValueError, RecursionError):
        return {}
    kind, space, inner = asked[0]
    wanted = value if inner or not isinstance(value, dict) else value.get("matchLabels", {})
    if value is not None and (not isinstance(wanted, dict) or (not inner and set(value) - {"matchLabels"})):
        return {}
    pairs = None if value is None else [Requirement(str(key), "In", (str(text),)) for key, text in (wanted or {}).items()]
    return {FIELD[kind, space]: pairs}


def of_lines(lines: list[str]) -> Iterator[tuple[str, Selector | None]]:
    """The selectors of YAML that may be cut anywhere. One of which nothing is left, or that isn't of labels alone, stays unknown."""
    for number, line in enumerate(lines):
        match = SELECTOR.match(line[:LINE].rstrip("\r"))
        if not match:
            continue
        if match[4]:
            yield FIELD[match[2], match[3] or ""], []
            continue
        depth = len(match[1])
        inner = [one for one in lines[number + 1 : number + 20] if one.strip()]
        end = next((at for at, one in enumerate(inner) if len(one) - len(one.lstrip()) <= depth), len(inner))
        pairs = [LABEL.match(one.strip()) for one in inner[1:end]]
        if end > 1 and inner[0].strip() == "matchLabels:" and all(pairs):
            yield FIELD[match[2], match[3] or ""], [Requirement(one[1], "In", (one[2],)) for one in pairs if one]


def of_namespaces(lines: list[str], argv: tuple[str, ...]) -> int:
    """`kubectl get namespaces --show-labels`, or with columns of labels."""
    if not any(NAMESPACES.match(kind) for kind in requested_kinds(argv)):
        return 0
    wanted = {"LABELS", *asked_labels(argv)}
    titles = [{title for _, title in header(line)} for line in lines]
    return 82 if any({"NAME", "STATUS"} <= one and wanted & one for one in titles) else 0


def namespaces(output: Output, about: Subject) -> Facts:
    """The labels of the listed namespaces."""
    found: list[NamespaceLabels] = []
    titles: list[tuple[int, str]] = []
    asked = asked_labels(output.command.argv)
    for number, line in enumerate(output.text.split("\n"), 1):
        line = line[:LINE].rstrip("\r ")
        if columns := header(line):
            titles = columns
        elif titles and line.strip():
            row, where = cells(line, titles), Origin(output.origin_name(), number, line.strip())
            if row.get("LABELS"):
                found.append(NamespaceLabels(namespace=row.get("NAME", ""), labels=dict(PAIR.findall(row["LABELS"])), origin=where))
            elif shown := {label: row.get(title, "") for title, label in asked.items() if title in {name for _, name in titles}}:
                labels = {label: text for label, text in shown.items() if text and text != "<none>"}
                found.append(NamespaceLabels(namespace=row.get("NAME", ""), labels=labels, shown=list(shown), origin=where))
    return {"namespace_labels": [*found]}
