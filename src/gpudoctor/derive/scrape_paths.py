"""The way of the metrics followed link by link: exporter, Service, endpoints, monitor, Prometheus, target.

What each selects is that of the Prometheus operator (https://prometheus-operator.dev/docs/api-reference/api/): a monitor's selector looks
at the labels of Services (or of pods), in its own namespace unless `namespaceSelector` says otherwise; a Prometheus takes the monitors
that its selector fits, in its own namespace unless there is a namespace selector; no selector takes nothing, an empty one everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from gpudoctor.derive import scrape_ports
from gpudoctor.derive.selectors import matches_all, why_not
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Node, Pod
from gpudoctor.facts.monitoring import (
    Exporter,
    ExporterNode,
    Monitor,
    NamespaceLabels,
    PrometheusServer,
    ScrapePath,
    ScrapeTarget,
    Selector,
    Service,
    ServiceEndpoints,
)
from gpudoctor.patterns import regex

T = TypeVar("T", bound=Fact)
# By it OpenShift's own Prometheus chooses namespaces (openshift/cluster-monitoring-operator); the GPU operator's documentation asks for it.
OPENSHIFT = "openshift.io/cluster-monitoring"
OF_GPUS = regex(r"gpu|nvidia|dcgm", re.IGNORECASE)
SEVERAL = 2  # monitors in one list: who listed them all would have listed the exporter's too


class Read:
    """What was read, by type; None for a type of which nothing was."""

    def __init__(self, facts: Mapping[str, list[Fact]]) -> None:
        self.exporters = self.of(facts, "exporters", Exporter)
        self.services = self.of(facts, "services", Service)
        self.endpoints = self.of(facts, "service_endpoints", ServiceEndpoints)
        self.pod_monitors = self.of(facts, "pod_monitors", Monitor) or []
        self.monitors = self.of(facts, "monitors", Monitor)
        self.listed = [*(self.monitors or ()), *self.pod_monitors]
        self.prometheuses = self.of(facts, "prometheuses", PrometheusServer)
        self.targets = self.of(facts, "scrape_targets", ScrapeTarget)
        self.pods = [one for one in self.of(facts, "pods", Pod) or () if one.component == "dcgm-exporter"]
        spaces = self.of(facts, "namespace_labels", NamespaceLabels)
        whole = [one for one in spaces or () if not one.shown]
        self.namespaces = {one.namespace: one.labels for one in whole} if whole or spaces == [] else None
        self.watched = {one.namespace: one.labels.get(OPENSHIFT) == "true" for one in spaces or () if OPENSHIFT in one.shown}

    @staticmethod
    def of(facts: Mapping[str, list[Fact]], kind: str, shape: type[T]) -> list[T] | None:
        """The records of a type."""
        return [one for one in facts[kind] if isinstance(one, shape)] if kind in facts else None


def paths(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One for each Service that leads to exporters or should, and for exporters that no Service leads to; else for each monitor alone."""
    read = Read(facts)
    found = [path(service, read) for service in read.services or () if is_exporters(service, read)]
    led = {
        (one.namespace, one.pod, one.workload)
        for service in read.services or ()
        for one in selected_exporters(service, read.exporters or ())
    }
    alone: dict[str, list[Exporter]] = {}
    for one in read.exporters or ():
        if (one.namespace, one.pod, one.workload) not in led and not any(made.namespace == one.namespace for made in found):
            alone.setdefault(one.namespace, []).append(one)
    ways = [of_pods(space, pods, read) for space, pods in alone.items()]
    asked = read.services is not None or read.monitors is not None or read.pod_monitors
    found += [one for one in ways if asked or one.annotation_trouble]
    if not found and (read.prometheuses or read.watched):  # somebody shows a monitor and what should take it, and nothing else
        shown = (one for one in read.listed if one.exporter)
        found = [ScrapePath(namespace=one.namespace, origin=one.origin, **monitor_fields([one], None, read)) for one in shown]
    if not found and read.pods and read.exporters is None:  # a table of monitors beside a table of pods
        first = read.pods[0]
        if any(one.listed >= SEVERAL or one.namespace == first.namespace for one in read.monitors or ()):
            found = [ScrapePath(namespace=first.namespace, origin=first.origin, **monitor_fields([], None, read))]
    return {"scrape_paths": [*found]}


def nodes(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The GPU nodes with the exporters on each."""
    pods = [one for one in facts.get("exporters", ()) if isinstance(one, Exporter) and one.pod]
    return {
        "exporter_nodes": [
            ExporterNode(
                node=node.node,
                exporters=sum(pod.node == node.node for pod in pods),
                ready=sum(pod.node == node.node and bool(pod.ready) for pod in pods),
                origin=node.origin,
            )
            for node in facts.get("nodes", ())
            if isinstance(node, Node) and node.gpu_present
        ]
    }


def is_exporters(service: Service, read: Read) -> bool:
    """Whether a Service is about dcgm-exporter: by its own names, or by what it selects."""
    return service.exporter or any(selected_exporters(service, read.exporters or ()))


def selected_exporters(service: Service, exporters: Iterable[Exporter]) -> Iterator[Exporter]:
    """The exporters that a Service selects."""
    return (one for one in exporters if one.namespace == service.namespace and service.selector.items() <= one.labels.items())


def path(service: Service, read: Read) -> ScrapePath:
    """The path that begins at a Service."""
    pods = None if read.exporters is None or "selector" in service.gaps else list(selected_exporters(service, read.exporters))
    others = [one for one in read.exporters or () if one.namespace == service.namespace]
    of_service = [one for one in read.endpoints or () if (one.namespace, one.service) == (service.namespace, service.service)]
    choosing = [one for one in read.listed if selects(one, service, pods or ())]
    return ScrapePath(
        namespace=service.namespace,
        service=service.service,
        exporters=None if pods is None else len(pods),
        others=None if read.exporters is None else len(others),
        misses=why_none_selected(service, others) if pods == [] else "",
        endpoints=sum(one.ready for one in of_service) if read.endpoints is not None and of_service else None,
        port_trouble=scrape_ports.of_service(service, pods or ()),
        annotation_trouble=scrape_ports.of_annotations(service, pods or ()) or scrape_ports.of_pod_annotations(pods or ()),
        targets=None if read.targets is None else sum(is_target(one, service, pods or ()) for one in read.targets),
        origin=service.origin,
        **monitor_fields(choosing, service, read),
    )


def of_pods(space: str, pods: list[Exporter], read: Read) -> ScrapePath:
    """The path of exporters that no Service leads to: a PodMonitor, or a scrape configuration, may ask them all the same."""
    choosing = [one for one in read.pod_monitors if of_labels(one, space, pods)]
    targets = None if read.targets is None else sum(one.exporter and one.namespace in ("", space) for one in read.targets)
    return ScrapePath(
        namespace=space,
        exporters=len(pods),
        others=len(pods),
        annotation_trouble=scrape_ports.of_pod_annotations(pods),
        targets=targets,
        origin=pods[0].origin,
        **monitor_fields(choosing, None, read),
    )


def why_none_selected(service: Service, others: list[Exporter]) -> str:
    """Why a Service selects none of the exporters in its namespace."""
    if not others:
        return "" if service.selector else "it has no selector"
    wanted = ",".join(f"{key}={value}" for key, value in sorted(service.selector.items()))
    has = {key: others[0].labels.get(key) for key, value in service.selector.items() if others[0].labels.get(key) != value}
    return f"it selects {wanted}, and the pods have " + ", ".join(f"{key}={value}" if value else f"no {key}" for key, value in has.items())


def selects(monitor: Monitor, service: Service, pods: Iterable[Exporter]) -> bool:
    """Whether a monitor selects a Service, or a PodMonitor one of its pods."""
    if monitor.monitor.startswith("PodMonitor/"):
        return of_labels(monitor, service.namespace, pods)
    return in_namespace(monitor, service.namespace) and matches_all(monitor.selector, service.labels)


def of_labels(monitor: Monitor, space: str, pods: Iterable[Exporter]) -> bool:
    """Whether a PodMonitor selects one of the pods."""
    return in_namespace(monitor, space) and any(matches_all(monitor.selector, pod.labels) for pod in pods)


def in_namespace(monitor: Monitor, space: str) -> bool:
    """Whether a monitor looks into a namespace; a manifest that names none is in any."""
    return monitor.everywhere or not space or space in (monitor.namespaces or [monitor.namespace or space])


def monitor_fields(choosing: list[Monitor], service: Service | None, read: Read) -> dict[str, Any]:
    """The fields of a path about its monitors and the Prometheus that takes them."""
    unseen = "labels" in service.gaps if service else False
    blind = [one for one in read.listed if one.exporter and "selector" in one.gaps]
    operator = {"operator": None if read.prometheuses is None else bool(read.prometheuses)}
    if (read.monitors is None and not choosing) or unseen or blind:
        # What it selects isn't shown, but it has the exporter's name, and whether a Prometheus takes it doesn't hang on that.
        own = [one for one in blind if not service or one.namespace in ("", service.namespace)]
        if not blind and not choosing and len(read.listed) >= SEVERAL and not any(OF_GPUS.search(one.monitor) for one in read.listed):
            return operator | {"monitors": 0}  # all of them were listed, and none has a name that could mean the exporter
        return operator | (whether_taken(own, read) if own and not read.targets else {})
    near = [one for one in read.listed if one.exporter]
    fields: dict[str, Any] = {
        **operator,
        "monitors": len(choosing),
        "other_configs": any(one.other_configs for one in read.prometheuses or ()),
    }
    if not choosing:
        closest = next(iter(near), None)
        if closest and service and closest.monitor.startswith("ServiceMonitor/"):
            fields |= {"monitor": f"{closest.monitor} in {closest.namespace}", "monitor_misses": monitor_misses(closest, service)}
        elif not closest and 0 < len(read.listed) < SEVERAL:  # one monitor of something else: nobody has listed them
            fields["monitors"] = None
        return fields
    best = next((one for one in choosing if why_monitor_ignored(one, read) == ""), choosing[0])
    if service and best.monitor.startswith("ServiceMonitor/"):
        troubles = [scrape_ports.of_monitor(one, service) for one in choosing]
        fields["monitor_port_trouble"] = "" if "" in troubles else troubles[0]
    return fields | whether_taken(choosing, read)


def whether_taken(choosing: list[Monitor], read: Read) -> dict[str, Any]:
    """The fields about the Prometheus that takes one of some monitors."""
    taken = [(one, why_monitor_ignored(one, read)) for one in choosing]
    best = next((one for one, why in taken if why == ""), choosing[0])
    fields: dict[str, Any] = {"monitor": f"{best.monitor} in {best.namespace}"}
    if read.prometheuses:
        reasons = [why for _, why in taken]
        known = [why for why in reasons if why is not None]
        fields["taken"] = True if "" in known else False if len(known) == len(reasons) else None
        fields["not_taken"] = "" if fields["taken"] else next((why for why in known if why), "")
    elif read.watched and all(read.watched.get(one.namespace) is False for one in choosing):
        fields |= {"taken": False, "not_taken": f"the namespace {best.namespace} has no label {OPENSHIFT}=true"}
    return fields


def monitor_misses(monitor: Monitor, service: Service) -> str:
    """Why the closest monitor doesn't select a Service."""
    if not in_namespace(monitor, service.namespace):
        return (
            f"it looks in the namespace {', '.join(monitor.namespaces or [monitor.namespace])}, and the Service is in {service.namespace}"
        )
    return f"it selects Services with {why_not(monitor.selector, service.labels, 'the Service')}"


def why_monitor_ignored(monitor: Monitor, read: Read) -> str | None:
    """Why no Prometheus takes a monitor, "" when one does, None where that can't be said."""
    reasons: list[str | None] = []
    for server in read.prometheuses or ():
        pods = monitor.monitor.startswith("PodMonitor/")
        chosen = server.pod_monitors if pods else server.service_monitors
        spaces = server.pod_monitor_namespaces if pods else server.service_monitor_namespaces
        field = "pod_monitors" if pods else "service_monitors"
        name = "Prometheus " + "/".join(part for part in (server.namespace, server.prometheus) if part)
        elsewhere = None if f"{field[:-1]}_namespaces" in server.gaps else why_namespace_ignored(spaces, server, monitor, read, name)
        if field in server.gaps or (chosen and "labels" in monitor.gaps):
            reasons.append(elsewhere or None)
        elif chosen is None:
            reasons.append(f"{name} has no selector for such monitors, so it takes none")
        elif not matches_all(chosen, monitor.labels):
            reasons.append(f"{name} takes monitors with {why_not(chosen, monitor.labels, 'this one')}")
        else:
            reasons.append(elsewhere)
    if "" in reasons:
        return ""
    return None if None in reasons else next(iter(reasons), None)


def why_namespace_ignored(spaces: Selector | None, server: PrometheusServer, monitor: Monitor, read: Read, name: str) -> str | None:
    """Why the monitor's namespace is none that a Prometheus looks into, "" when it is, None where its labels are not known."""
    if spaces is None:
        here = server.namespace == monitor.namespace or not monitor.namespace or not server.namespace
        return "" if here else f"{name} looks for monitors in its own namespace only, and this one is in {monitor.namespace}"
    if not spaces:
        return ""
    labels = (read.namespaces or {}).get(monitor.namespace)
    if labels is None:
        return None
    return "" if matches_all(spaces, labels) else f"{name} looks into namespaces with {why_not(spaces, labels, monitor.namespace)}"


def is_target(target: ScrapeTarget, service: Service, pods: Iterable[Exporter]) -> bool:
    """Whether a target of Prometheus is one of a Service's exporters."""
    if target.service:
        return (target.namespace or service.namespace, target.service) == (service.namespace, service.service)
    if target.target_pod:
        return target.target_pod in {pod.pod for pod in pods}
    return target.exporter
