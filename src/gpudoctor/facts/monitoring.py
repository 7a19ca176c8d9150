"""Facts about the way of a metric: the exporter, the Service before it, what tells Prometheus to scrape it, and what Prometheus has.

Field names follow the APIs of Kubernetes, the Prometheus operator (monitoring.coreos.com/v1) and Prometheus (/api/v1).
"""

from __future__ import annotations

import msgspec

from gpudoctor.facts.base import Fact
from gpudoctor.facts.kubernetes import Requirement

Selector = list[Requirement]  # all must hold, so an empty one selects everything; None selects nothing


class Port(msgspec.Struct, frozen=True):
    """A port of a container, a Service or an EndpointSlice. `target` is what a Service's port leads to: a number or a port's name."""

    name: str = ""
    number: int = 0
    target: str = ""


class Exporter(Fact, frozen=True, kw_only=True):
    """One pod (or pod template) of dcgm-exporter, as far as what its manifest says of its metrics."""

    namespace: str
    pod: str = ""
    workload: str = ""  # of a template
    node: str = ""
    labels: dict[str, str] = {}
    ready: bool | None = None  # None: a template
    listens: int | None = None  # the port of DCGM_EXPORTER_LISTEN or --address; None where neither is set
    port: int = 9400  # where to ask it: that, else the first that it declares, else the program's own
    ports: list[Port] = []
    maps_pods: bool | None = None  # DCGM_EXPORTER_KUBERNETES or --kubernetes; None where neither is set
    collectors: str = ""  # the file of counters
    config_map: str = ""  # the ConfigMap with the counters, and its namespace
    config_namespace: str = ""
    image: str = ""
    scrape_port: str = ""  # the annotation prometheus.io/port of its pod


class ExporterNode(Fact, frozen=True, kw_only=True):
    """One GPU node with the exporters on it."""

    node: str
    exporters: int = 0
    ready: int = 0


class Service(Fact, frozen=True, kw_only=True):
    """A Service that may lead to an exporter."""

    namespace: str
    service: str
    labels: dict[str, str] = {}
    selector: dict[str, str] = {}
    ports: list[Port] = []
    numbers: list[str] = []  # of the ports, and those that they lead to
    exporter: bool = False  # its name, its labels or what it selects are those of dcgm-exporter
    address: str = ""  # its cluster IP
    scrape: str = ""  # the annotations prometheus.io/scrape, prometheus.io/port, prometheus.io/path
    scrape_port: str = ""
    scrape_path: str = ""


class ServiceEndpoints(Fact, frozen=True, kw_only=True):
    """What stands behind a Service: its Endpoints, or one EndpointSlice."""

    namespace: str
    service: str
    ready: int = 0
    not_ready: int = 0
    ports: list[Port] = []


class Scrape(msgspec.Struct, frozen=True):
    """One entry of a monitor's `endpoints` or `podMetricsEndpoints`."""

    port: str = ""  # the name of the port
    target_port: str = ""
    path: str = ""


class Monitor(Fact, frozen=True, kw_only=True):
    """A ServiceMonitor or a PodMonitor."""

    namespace: str
    monitor: str  # KIND/NAME
    labels: dict[str, str] = {}
    selector: Selector = []
    everywhere: bool = False  # namespaceSelector.any
    namespaces: list[str] = []  # [] = its own
    scrapes: list[Scrape] = []
    drops: str = ""  # the regex of the first rule that drops whole metrics by name
    exporter: bool = False  # it speaks of dcgm-exporter, whether it selects one or not
    listed: int = 1  # how many the list had that it came in


class PrometheusServer(Fact, frozen=True, kw_only=True):
    """A Prometheus object of the operator: which monitors it takes. `None` takes none, an empty selector all."""

    namespace: str
    prometheus: str
    service_monitors: Selector | None = None
    service_monitor_namespaces: Selector | None = None  # None = its own namespace
    pod_monitors: Selector | None = None
    pod_monitor_namespaces: Selector | None = None
    other_configs: bool = False  # additionalScrapeConfigs or ScrapeConfigs, which aren't read


class NamespaceLabels(Fact, frozen=True, kw_only=True):
    """The labels of one namespace, and whether it is being deleted."""

    describes = True
    namespace: str
    labels: dict[str, str] = {}
    terminating: bool = False
    shown: list[str] = []  # the labels that somebody asked for, where not all were shown


class ScrapeTarget(Fact, frozen=True, kw_only=True):
    """One active target of Prometheus (/api/v1/targets). `trouble` is a word for its last error:

    refused, timeout, unreachable, name, tls, credentials, not-found, http, not-metrics, limit, other; "" without one.
    """

    job: str = ""
    pool: str = ""
    url: str = ""
    port: int | None = None
    health: str = ""  # up, down, unknown
    error: str = ""
    trouble: str = ""
    scrape_interval: float | None = None
    age: float | None = None  # seconds since the last scrape
    namespace: str = ""
    target_pod: str = ""
    service: str = ""
    exporter: bool = False  # a label or the address says that it is dcgm-exporter


class Exposition(Fact, frozen=True, kw_only=True):
    """The metrics of DCGM that one exporter serves (`place` is exporter), or that Prometheus has (prometheus)."""

    namespace: str = ""
    pod: str = ""
    node: str = ""
    place: str = "exporter"
    names: list[str] = []
    whole: bool = False  # everything that it has, not a part that somebody has cut out
    gpus: int = 0
    label_names: list[str] = []
    mapped: int = 0  # series with a pod's name
    maps_pods: bool = False  # series have a label for the pod, empty or not
    twice: str = ""  # a GPU and metric that stands there from two sources


class WantedMetric(Fact, frozen=True, kw_only=True):
    """A metric of DCGM that a rule, a dashboard or a person asks for."""

    metric: str
    by: str  # the alert, the record, the panel
    alert: bool = False
    absent: bool = False  # somebody asked for it, and there was no series
    rare: bool = False  # exported only once something has happened, so that its absence says nothing
    threshold: float | None = None  # of a comparison `metric > number`
    most: float | None = None  # the largest value that the metric can have in its unit
    unit: str = ""


class CounterList(Fact, frozen=True, kw_only=True):
    """A file or ConfigMap that tells dcgm-exporter what to export: `names` are in use, `commented` are not."""

    namespace: str = ""
    config_map: str = ""
    names: list[str] = []
    commented: list[str] = []


class ScrapePath(Fact, frozen=True, kw_only=True):
    """The way from one Service (or from exporters that no Service selects) to Prometheus, link by link.

    A number or a yes-or-no is None where what it needs was not read; a text that says what is broken is "" where nothing is.
    """

    namespace: str = ""
    service: str = ""
    exporters: int | None = None  # that the Service selects
    others: int | None = None  # exporters in its namespace
    misses: str = ""  # why it selects none
    endpoints: int | None = None  # ready
    port_trouble: str = ""  # the Service's ports against the exporter's
    annotation_trouble: str = ""  # the annotations against the Service's ports
    monitors: int | None = None  # that select the Service or its pods
    monitor: str = ""  # the one that selects it, or comes closest
    monitor_misses: str = ""  # why the closest one does not select it
    monitor_port_trouble: str = ""
    operator: bool | None = None  # whether there is a Prometheus of the operator
    taken: bool | None = None  # whether one of them takes a monitor that selects it
    not_taken: str = ""  # why not
    other_configs: bool = False  # a Prometheus has scrape configurations that were not read
    targets: int | None = None  # of Prometheus that are these exporters
