"""GPU metrics that don't arrive: each case breaks one link of a way that is otherwise whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from gpudoctor.library.index import library
from tests.kube.case import Case
from tests.kube.cases_stack import NODE, NS, place
from tests.kube.monitoring import APP, SERVED, endpointslice, metrics, monitor, prometheus, rule, service, target, targets, vector
from tests.kube.objects import cluster, container, namespace, node, pod, pod_name, stack_pod
from tests.nodes.error_metrics import SOUND, Values, at_once

ASK = ["run", "gpu-metrics"]
RELEASE = {"release": "prom-stack"}
TAKEN = APP | RELEASE
POD = pod_name("dcgm_exporter", NODE)
SERVER = "/api/v1/namespaces/monitoring/services/prometheus-operated:9090/proxy/api/v1"
QUERY = f'{SERVER}/query?query=count by (__name__)({{__name__=~"DCGM_.+"}})'
SERIES = f"{SERVER}/query?query=DCGM_FI_DEV_GPU_TEMP"
ERRORS = [
    f"{SERVER}/query?query={unquote(step.run[-1].partition('?query=')[2])}"
    for step in library().runbooks["gpu-metrics"].steps
    if step.id in ("errors_now", "errors_before")
]
TEMPERATURE = {"__name__": "DCGM_FI_DEV_GPU_TEMP", "gpu": "0", "UUID": "GPU-7c1f00aa", "instance": "10.244.1.7:9400", "job": "dcgm"}
HOT = rule("GpuHot", "DCGM_FI_DEV_GPU_TEMP > 85")
STARTS = 'time=2026-03-01T09:00:01.000Z level=INFO msg="Starting webserver"'
OTHERS = (
    monitor("prom-stack-kubelet", "monitoring", labels=RELEASE, selector={"app.kubernetes.io/name": "kubelet"}, port="https-metrics"),
    monitor("prom-stack-node", "monitoring", labels=RELEASE, selector={"app": "node"}, port="http-metrics"),
    monitor("operator-pods", "monitoring", kind="PodMonitor", labels=RELEASE, selector={"app": "prom-stack-operator"}, port="http"),
)


def exporter(env: Mapping[str, str] | None = None, port: int = 9400, ready: bool = True) -> Any:
    """The operator's exporter with its options and port."""
    options = {"DCGM_EXPORTER_LISTEN": f":{port}", "DCGM_EXPORTER_KUBERNETES": "true"} | dict(env or {})
    made = stack_pod("dcgm_exporter", NODE, state={"env": options} if ready else {"env": options, "ready": False})
    made["spec"]["containers"][0]["ports"] = [{"name": "metrics", "containerPort": port, "protocol": "TCP"}]
    return made


def case(
    *more: Any,
    runs: Any = None,
    svc: Any = None,
    monitors: Sequence[Any] = (monitor(labels=TAKEN),),
    server: Any = None,
    scraped: Sequence[Any] | None = None,
    served: str | None = None,
    stored: Sequence[str] = tuple(SERVED),
    temperatures: Sequence[Mapping[str, str]] = ({},),
    logs: Mapping[str, str] | None = None,
    errors: Values | None = None,
    faults: Sequence[Any] = (),
    words: Sequence[str] = (),
) -> Case:
    """A cluster whose metrics arrive, except for what is said."""
    runs = exporter() if runs is None else runs
    proxied = {
        f"/api/v1/namespaces/{NS}/pods/{POD}:9400/proxy/metrics": metrics() if served is None else served,
        f"{SERVER}/targets": targets(*([target(pod=POD)] if scraped is None else scraped)),
        QUERY: vector(*({"__name__": name} for name in stored)),
        SERIES: vector(*(TEMPERATURE | dict(labels) for labels in temperatures)),
        **{query: at_once(SOUND if errors is None else errors, NODE) for query in ERRORS},
    }
    objects = [
        node(NODE, gpus=2),
        *([runs] if runs else []),
        service() if svc is None else svc,
        endpointslice(),
        *OTHERS,
        *monitors,
        prometheus(selector=RELEASE) if server is None else server,
        *(namespace(name) for name in (NS, "monitoring")),
        HOT,
        *more,
    ]
    log = {place("dcgm_exporter"): STARTS + "\n"} | dict(logs or {})
    return Case([*ASK, *words], cluster(objects, logs=log, proxied=proxied, faults=faults))


def plain(svc: Any) -> Case:
    """A cluster without the Prometheus operator: whoever scrapes there goes by the Service's annotations."""
    proxied = {f"/api/v1/namespaces/{NS}/pods/{POD}:9400/proxy/metrics": metrics()}
    objects = [node(NODE, gpus=2), exporter(), svc, endpointslice(), namespace(NS)]
    return Case(ASK, cluster(objects, logs={place("dcgm_exporter"): STARTS}, proxied=proxied))


def said(name: str, box: str, line: str) -> tuple[Any, dict[str, str]]:
    """A pod of the monitoring namespace, and its log."""
    made = pod(
        f"{name}-0",
        "monitoring",
        node="cpu-01",
        labels={"app.kubernetes.io/name": name},
        containers=[container(box, f"quay.io/prometheus/{name}:v3.1.0", running=True)],
    )
    return made, {f"monitoring/{name}-0/{box}": line + "\n"}


def logged(line: str, name: str = "prometheus", **rest: Any) -> Case:
    """A case with a line in the log of Prometheus, or of its operator."""
    made, log = said(name, name, line)
    return case(made, logs=log, **rest)


def counters(*names: str, off: Sequence[str] = ()) -> Any:
    """The ConfigMap with the list of counters."""
    lines = ["# Format", *(f"{name}, gauge, in use." for name in names), *(f"# {name}, counter, not in use." for name in off)]
    data = {"dcgm-metrics.csv": "\n".join(lines) + "\n"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "gpu-counters", "namespace": NS, "uid": "4e1d"}, "data": data}


WITH_LIST = exporter({"DCGM_EXPORTER_CONFIGMAP_DATA": f"{NS}:gpu-counters"})
REFUSED = 'Get "http://10.244.1.7:9100/metrics": dial tcp 10.244.1.7:9100: connect: connection refused'
LATE = 'Get "http://10.244.1.7:9400/metrics": context deadline exceeded'
SCRAPED = "scrape_pool=serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0 target=http://10.244.1.7:9400/metrics"
ABSENT = rule("PowerCap", "rate(DCGM_FI_DEV_POWER_VIOLATION[5m]) > 0")

CASES: dict[str, Case] = {
    "metrics-healthy": case(),
    "metrics-refused": case(faults=[{"match": "GET .*(/api/v1/services|monitors|/proxy/)", "status": 403}]),
    "metrics-none-stored": case(stored=(), temperatures=()),
    "metrics-with-an-xid": case(errors={**SOUND, "XID_ERRORS": (0, 79)}),
    "metrics-plain-prometheus": plain(service()),
    "metrics-no-exporter": case(runs=False, scraped=[], served=""),
    "metrics-exporter-waits": case(runs=exporter(ready=False)),
    "metrics-labels-off": case(runs=exporter({"DCGM_EXPORTER_KUBERNETES": "false"})),
    "metrics-service-selector": case(svc=service(selector={"app": "dcgm-exporter"}), scraped=[]),
    "metrics-service-port": case(
        svc=service(target=9401), scraped=[target("http://10.244.1.7:9401/metrics", error=REFUSED.replace("9100", "9401"))]
    ),
    "metrics-annotation-port": plain(service(annotations={"prometheus.io/port": "9100"})),
    "metrics-port-name": case(monitors=(monitor(labels=TAKEN, port="metrics"),), scraped=[]),
    "metrics-no-monitor": case(monitors=(), scraped=[]),
    "metrics-monitor-misses": case(monitors=(monitor(labels=TAKEN, selector={"app.kubernetes.io/name": "dcgm-exporter"}),), scraped=[]),
    "metrics-nothing-scrapes": case(
        monitors=(), server=prometheus(selector=RELEASE, additionalScrapeConfigs={"name": "more", "key": "a"}), scraped=[]
    ),
    "metrics-release-label": case(monitors=(monitor(),), scraped=[]),
    "metrics-other-namespace": case(server=prometheus(spaces={"monitored": "yes"}), scraped=[]),
    "metrics-other-port-asked": case(
        scraped=[target("http://10.244.1.7:9100/metrics", error=REFUSED, pool="kubernetes-pods", service="", pod=POD)]
    ),
    "metrics-target-down": case(scraped=[target(pod=POD, error=LATE)]),
    "metrics-sample-limit": case(scraped=[target(pod=POD, error="sample limit exceeded")]),
    "metrics-scraped-twice": case(scraped=[target(pod=POD), target(pod=POD, pool="serviceMonitor/monitoring/dcgm/0")]),
    "metrics-threshold": case(rule("Busy", "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[5m]) > 90", ns="ml")),
    "metrics-commented-out": case(
        {**ABSENT, "metadata": {**ABSENT["metadata"], "name": "power"}},
        counters("DCGM_FI_DEV_GPU_TEMP", off=["DCGM_FI_DEV_POWER_VIOLATION"]),
        runs=WITH_LIST,
    ),
    "metrics-not-served": case({**ABSENT, "metadata": {**ABSENT["metadata"], "name": "power"}}),
    "metrics-asked": case(words=["--set", "metric=DCGM_FI_DEV_ROW_REMAP_PENDING"]),
    "metrics-list-unread": case(
        runs=WITH_LIST,
        logs={
            place("dcgm_exporter"): "level=ERROR msg=\"malformed ConfigMap 'gpu-operator:gpu-counters'; no 'metrics' key\"\n"
            "level=INFO msg=\"Falling back to metric file '/etc/dcgm-exporter/default-counters.csv'\"\n"
        },
    ),
    "metrics-counter-skipped": case(
        logs={place("dcgm_exporter"): "level=WARN msg=\"Skipping line 31 ('DCGM_FI_PROF_SM_ACTIVE'): metric not enabled\"\n"}
    ),
    "metrics-dropped": case(
        monitors=(monitor(labels=TAKEN, drops="DCGM_FI_DEV_GPU_.*"),),
        stored=[name for name in SERVED if "DEV_GPU_" not in name],
        temperatures=(),
    ),
    "metrics-same-gpu-twice": case(
        served=metrics().replace('Hostname="gpu-02"', 'Hostname="gpu-02",job="a",instance="10.244.1.7:9400"', 1)
        + metrics().replace('Hostname="gpu-02"', 'Hostname="gpu-02",job="b",instance="10.244.1.8:9400"', 1)
    ),
    "metrics-pod-renamed": case(temperatures=[{"exported_pod": "train-0", "exported_namespace": "ml", "pod": POD, "namespace": NS}]),
    "metrics-discovery-forbidden": logged(
        'level=error msg="Failed to watch *v1.Pod: pods is forbidden: User \\"system:serviceaccount:monitoring:prometheus-k8s\\"'
        ' cannot list resource \\"pods\\" in API group \\"\\" in the namespace \\"gpu-operator\\""',
        scraped=[],
    ),
    "metrics-limit-logged": logged(f'level=WARN msg="Scrape failed" {SCRAPED} err="sample limit exceeded"'),
    "metrics-no-metrics-logged": logged(f'level=WARN msg="Append failed" {SCRAPED} err="expected a valid start token, got \\"<\\""'),
    "metrics-same-time-logged": logged(
        f'level=WARN {SCRAPED} msg="Error on ingesting samples with different value but same timestamp" num_dropped=16'
    ),
    "metrics-monitors-unknown": logged(
        'level=error msg="resource mapping not found"'
        ' err="no matches for kind \\"ServiceMonitor\\" in version \\"monitoring.coreos.com/v1\\""'
    ),
    "metrics-monitor-rejected": logged(
        'level=warn component=prometheusoperator msg="skipping servicemonitor" error="it accesses file system via bearer token file which'
        ' Prometheus specification prohibits" servicemonitor=gpu-operator/nvidia-dcgm-exporter',
        "prometheus-operator",
        scraped=[],
    ),
}
