"""The fields of Services, endpoints, monitors and Prometheus objects that the parser reads."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.tools.kubernetes.api_json import Object, Strings
from gpudoctor.tools.kubernetes.pod_shape import LabelSelector


class PortSpec(msgspec.Struct):
    """A port of a Service, an Endpoints object or an EndpointSlice."""

    name: str | None = None
    port: int | None = None
    targetPort: int | str | None = None


class ServiceSpec(msgspec.Struct):
    """A Service, as far as where it leads."""

    ports: list[PortSpec] | None = None
    selector: Strings = None
    clusterIP: str | None = None


class ServiceObject(Object):
    """A Service."""

    spec: ServiceSpec | None = None


class Conditions(msgspec.Struct):
    """The conditions of one endpoint of a slice; without them it is ready."""

    ready: bool | None = None


class EndpointSpec(msgspec.Struct):
    """One endpoint of a slice."""

    addresses: list[str] | None = None
    conditions: Conditions | None = None


class Subset(msgspec.Struct):
    """One subset of an Endpoints object."""

    addresses: list[Any] | None = None
    notReadyAddresses: list[Any] | None = None
    ports: list[PortSpec] | None = None


class EndpointsObject(Object):
    """An EndpointSlice (`endpoints`, `ports`) or an Endpoints object (`subsets`)."""

    endpoints: list[EndpointSpec] | None = None
    ports: list[PortSpec] | None = None
    subsets: list[Subset] | None = None


class Namespaces(msgspec.Struct):
    """A monitor's namespaceSelector."""

    any: bool | None = None
    matchNames: list[str] | None = None


class Relabeling(msgspec.Struct):
    """One rule of metricRelabelings."""

    action: str | None = None
    regex: str | None = None
    sourceLabels: list[str] | None = None


class Entry(msgspec.Struct):
    """One endpoint of a monitor."""

    port: str | None = None
    targetPort: int | str | None = None
    path: str | None = None
    metricRelabelings: list[Relabeling] | None = None


class MonitorSpec(msgspec.Struct):
    """A monitor, as far as what it selects and asks."""

    selector: LabelSelector | None = None
    namespaceSelector: Namespaces | None = None
    endpoints: list[Entry] | None = None
    podMetricsEndpoints: list[Entry] | None = None


class MonitorObject(Object):
    """A ServiceMonitor or PodMonitor."""

    spec: MonitorSpec | None = None


class PrometheusSpec(msgspec.Struct):
    """A Prometheus object, as far as which monitors it takes."""

    serviceMonitorSelector: LabelSelector | None = None
    serviceMonitorNamespaceSelector: LabelSelector | None = None
    podMonitorSelector: LabelSelector | None = None
    podMonitorNamespaceSelector: LabelSelector | None = None
    scrapeConfigSelector: LabelSelector | None = None
    additionalScrapeConfigs: dict[str, Any] | None = None


class PrometheusObject(Object):
    """A Prometheus (or PrometheusAgent)."""

    spec: PrometheusSpec | None = None
