"""The objects between an exporter and Prometheus: Services, what stands behind them, monitors, Prometheus objects, namespaces.

The Prometheus operator's are those of monitoring.coreos.com/v1 (https://prometheus-operator.dev/docs/api-reference/api/).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Requirement
from gpudoctor.facts.monitoring import Monitor, NamespaceLabels, Port, PrometheusServer, Scrape, Selector, Service, ServiceEndpoints
from gpudoctor.knowledge import components
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Meta, Object, evidence, objects, strings
from gpudoctor.tools.kubernetes.monitoring_shape import (
    EndpointsObject,
    Entry,
    MonitorObject,
    MonitorSpec,
    Namespaces,
    PortSpec,
    PrometheusObject,
    PrometheusSpec,
    ServiceObject,
    ServiceSpec,
)
from gpudoctor.tools.kubernetes.pod_shape import selector

EXPORTER = "dcgm-exporter"
SPEAKS = ("dcgm", "nvidia", "gpu")  # of a monitor's name, labels and selector
OWNER = "kubernetes.io/service-name"  # the label of an EndpointSlice
PORTS = 50  # of one object
ENTRIES = 50  # of one monitor
SCRAPE = "prometheus.io/"


def services(output: Output, about: Subject) -> Facts:
    """The Services that select something."""
    found = []
    for item in objects(output, ServiceObject, ("Service",)):
        meta, spec = item.meta, item.spec or ServiceSpec()
        if meta.name and spec.selector:
            found.append(service(meta, spec, output))
    return {"services": [*found]}


def service(meta: Meta, spec: ServiceSpec, output: Output) -> Service:
    """The record of one Service."""
    notes, labels, selector = meta.annotations or {}, meta.labels or {}, spec.selector or {}
    made = ports(spec.ports)
    shown = ", ".join(shown_port(port) for port in made)
    return Service(
        namespace=meta.namespace or "",
        service=meta.name or "",
        labels=labels,
        selector=selector,
        ports=made,
        numbers=list(dict.fromkeys(text for port in made for text in (str(port.number), port.target) if text.isdecimal())),
        exporter=EXPORTER in (components.of_name(meta.name or ""), components.of_labels(labels), components.of_labels(selector)),
        address=spec.clusterIP or "",
        scrape=notes.get(f"{SCRAPE}scrape", ""),
        scrape_port=notes.get(f"{SCRAPE}port", ""),
        scrape_path=notes.get(f"{SCRAPE}path", ""),
        origin=evidence(output, f"Service {meta.namespace}/{meta.name} selector {shown_labels(selector)} ports {shown}"),
    )


def ports(given: Iterable[PortSpec] | None) -> list[Port]:
    """The ports of an object."""
    return [
        Port(port.name or "", port.port or 0, str(port.targetPort if port.targetPort not in (None, 0, "") else port.port or ""))
        for port in list(given or ())[:PORTS]
    ]


def shown_port(port: Port) -> str:
    """`gpu-metrics 9400 to 9400`."""
    return f"{port.name} {port.number} to {port.target}".strip()


def shown_labels(labels: Mapping[str, str]) -> str:
    """`app=nvidia-dcgm-exporter`."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "(none)"


def endpoints(output: Output, about: Subject) -> Facts:
    """The endpoints of Services, one record for each slice."""
    found = []
    for item in objects(output, EndpointsObject, ("EndpointSlice", "Endpoints")):
        sliced = item.kind == "EndpointSlice"
        name = (item.meta.labels or {}).get(OWNER, "") if sliced else item.meta.name or ""
        if not name:
            continue
        parts = item.subsets or []
        states = [one.conditions is None or one.conditions.ready is not False for one in item.endpoints or () if one.addresses]
        ready = states.count(True) + sum(len(part.addresses or ()) for part in parts)
        waiting = states.count(False) + sum(len(part.notReadyAddresses or ()) for part in parts)
        found.append(
            ServiceEndpoints(
                namespace=item.meta.namespace or "",
                service=name,
                ready=ready,
                not_ready=waiting,
                ports=ports([*(item.ports or ()), *(port for part in parts for port in part.ports or ())]),
                origin=evidence(output, f"{item.kind} of {item.meta.namespace}/{name}: {ready} ready, {waiting} not ready"),
            )
        )
    return {"service_endpoints": [*found]}


def service_monitors(output: Output, about: Subject) -> Facts:
    """The ServiceMonitors."""
    return {"monitors": [*of_kind("ServiceMonitor", output)]}


def pod_monitors(output: Output, about: Subject) -> Facts:
    """The PodMonitors."""
    return {"pod_monitors": [*of_kind("PodMonitor", output)]}


def of_kind(kind: str, output: Output) -> list[Monitor]:
    """The monitors of one kind."""
    items = [item for item in objects(output, MonitorObject, (kind,)) if item.meta.name]
    return [monitor(item, len(items), output) for item in items]


def monitor(item: MonitorObject, listed: int, output: Output) -> Monitor:
    """The record of one monitor."""
    meta, spec = item.meta, item.spec or MonitorSpec()
    wanted = selector(spec.selector) or []
    where = spec.namespaceSelector or Namespaces()
    given = [*(spec.endpoints or ()), *(spec.podMetricsEndpoints or ())][:ENTRIES]
    entries = [scrape(one) for one in given]
    words = " ".join([meta.name or "", *(meta.labels or {}).values(), *(value for one in wanted for value in one.values)]).lower()
    asks = ", ".join(f"port {one.port or one.target_port or '?'}" for one in entries)
    return Monitor(
        namespace=meta.namespace or "",
        monitor=f"{item.kind}/{meta.name}",
        labels=meta.labels or {},
        selector=wanted,
        everywhere=bool(where.any),
        namespaces=strings(where.matchNames),
        scrapes=entries,
        drops=dropping_regex(given),
        exporter="dcgm" in words or (any(word in words for word in SPEAKS) and "exporter" in words),
        listed=listed,
        origin=evidence(output, f"{item.kind} {meta.namespace}/{meta.name} selector {selector_text(wanted)} {asks}"),
    )


def scrape(entry: Entry) -> Scrape:
    """One entry of a monitor."""
    return Scrape(port=entry.port or "", target_port=str(entry.targetPort or ""), path=entry.path or "")


def dropping_regex(entries: Iterable[Entry]) -> str:
    """The regex of the first rule that drops metrics by their name; a rule on other labels is not followed."""
    rules = (rule for entry in entries for rule in entry.metricRelabelings or () if (rule.action or "").lower() == "drop")
    return next((rule.regex[:1000] for rule in rules if rule.sourceLabels == ["__name__"] and rule.regex), "")


def selector_text(wanted: Selector | None) -> str:
    """`app=nvidia-dcgm-exporter,release in (a,b)`; words for those that select nothing or everything."""
    if wanted is None:
        return "(none)"
    return ",".join(shown_requirement(one) for one in wanted) or "(everything)"


def shown_requirement(one: Requirement) -> str:
    """One requirement, as kubectl writes it."""
    if one.operator == "In" and len(one.values) == 1:
        return f"{one.key}={one.values[0]}"
    if one.operator in ("Exists", "DoesNotExist"):
        return one.key if one.operator == "Exists" else f"!{one.key}"
    return f"{one.key} {one.operator.lower()} ({','.join(one.values)})"


def prometheuses(output: Output, about: Subject) -> Facts:
    """The Prometheus objects."""
    found = []
    for item in objects(output, PrometheusObject, ("Prometheus", "PrometheusAgent")):
        spec, meta = item.spec or PrometheusSpec(), item.meta
        if not meta.name:
            continue
        taken, spaces = selector(spec.serviceMonitorSelector), selector(spec.serviceMonitorNamespaceSelector)
        says = f"serviceMonitorSelector {selector_text(taken)} serviceMonitorNamespaceSelector {selector_text(spaces)}"
        found.append(
            PrometheusServer(
                namespace=meta.namespace or "",
                prometheus=meta.name,
                service_monitors=taken,
                service_monitor_namespaces=spaces,
                pod_monitors=selector(spec.podMonitorSelector),
                pod_monitor_namespaces=selector(spec.podMonitorNamespaceSelector),
                other_configs=spec.additionalScrapeConfigs is not None or spec.scrapeConfigSelector is not None,
                origin=evidence(output, f"{item.kind} {meta.namespace}/{meta.name} {says}"),
            )
        )
    return {"prometheuses": [*found]}


def namespaces(output: Output, about: Subject) -> Facts:
    """The namespaces with their labels."""
    found = [
        NamespaceLabels(
            namespace=item.meta.name,
            labels=item.meta.labels or {},
            terminating=item.meta.deletionTimestamp is not None,
            origin=evidence(output, f"Namespace {item.meta.name} labels {shown_labels(item.meta.labels or {})}"),
        )
        for item in objects(output, Object, ("Namespace",))
        if item.meta.name
    ]
    return {"namespace_labels": [*found]}
