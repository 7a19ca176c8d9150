"""The way of a metric: what is read of each link, how links are compared, and what files of them show."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.derive.scrape_paths import paths
from gpudoctor.derive.selectors import matches_all, why_not
from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Requirement
from gpudoctor.facts.monitoring import Exporter, ScrapePath
from gpudoctor.knowledge import proxy_paths
from gpudoctor.knowledge.dcgm_metrics import scale
from gpudoctor.probes import promql
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.kube_request import NotAllowed, parse
from gpudoctor.registry import load
from gpudoctor.runbook.allowed import refusal
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.prometheus.api import trouble
from tests.kube.cases_metrics import exporter
from tests.kube.monitoring import metrics, monitor, prometheus, rule, service, target, targets, vector
from tests.kube.objects import namespace
from tests.pasted import of_files

ABOUT = Subject(kind="cluster")
RELEASE = {"release": "prom-stack"}
KINDS = {"Service": "kubernetes.services", "ServiceMonitor": "kubernetes.service_monitors", "PodMonitor": "kubernetes.pod_monitors"} | {
    "Prometheus": "kubernetes.prometheuses",
    "Namespace": "kubernetes.namespaces",
    "Pod": "kubernetes.exporters",
}


def read(parser: str, text: str, *argv: str) -> Facts:
    facts: Facts = load(parser)(Output(Command(argv or ("kubectl",)), pages=(text.encode(),), time=1_772_366_400.0), ABOUT)
    return facts


def path_of(*objects: dict[str, Any]) -> ScrapePath:
    """The one path of a cluster of these objects."""
    facts: dict[str, list[Fact]] = {}
    for one in objects:
        for kind, records in read(KINDS[one["kind"]], json.dumps(one)).items():
            facts.setdefault(kind, []).extend(records)
    (made,) = paths(facts, {}, 0.0)["scrape_paths"]
    assert isinstance(made, ScrapePath)
    return made


# --- the links against each other


@pytest.mark.parametrize(
    ("objects", "wanted"),
    [
        (
            [service(), exporter(), monitor(labels=RELEASE), prometheus(selector=RELEASE)],
            {"taken": True, "not_taken": "", "port_trouble": ""},
        ),
        ([service(target="metrics"), exporter()], {"port_trouble": "", "monitors": None, "operator": None, "taken": None}),
        (
            [service(target="gpu-metrics"), exporter()],
            {"port_trouble": 'its targetPort is the port named "gpu-metrics", which no container has,'},
        ),
        ([service(target=9100), exporter()], {"port_trouble": "its targetPort is port 9100, and the exporter listens on 9400"}),
        ([service(selector={"app": "x"}), exporter()], {"exporters": 0, "others": 1, "misses": "it selects app=x, and the pods have app="}),
        ([service(annotations={"prometheus.io/port": "9100"})], {"annotation_trouble": "the annotation prometheus.io/port is 9100"}),
        ([service(annotations={"prometheus.io/port": "9400"})], {"annotation_trouble": ""}),
        ([service(), monitor(port="9400")], {"monitor_port_trouble": "`port` is a name, not a number"}),
        ([service(), monitor(port="metrics")], {"monitor_port_trouble": 'the port named "metrics", and the Service has gpu-metrics'}),
        ([service(), monitor(ns="monitoring")], {"monitors": 0, "monitor_misses": "it looks in the namespace monitoring"}),
        ([service(), monitor(ns="monitoring", namespaces=["gpu-operator"])], {"monitors": 1, "monitor_misses": ""}),
        (
            [service(), monitor(selector={"app": "b"})],
            {"monitors": 0, "monitor_misses": "app=b, and the Service has app=nvidia-dcgm-exporter"},
        ),
        ([service(), monitor("web", "web", labels={}, selector={"app": "web"})], {"monitors": None}),
        (
            [service(), monitor(), prometheus(selector=RELEASE)],
            {"taken": False, "not_taken": "release=prom-stack, and this one has no release"},
        ),
        ([service(), monitor(), prometheus(serviceMonitorSelector=None)], {"taken": False, "not_taken": "so it takes none"}),
        ([service(), monitor(), prometheus(serviceMonitorNamespaceSelector=None)], {"taken": False, "not_taken": "its own namespace only"}),
        ([service(), monitor(), prometheus(spaces={"a": "b"})], {"taken": None}),
        ([service(), monitor(), prometheus(spaces={"a": "b"}), namespace("gpu-operator")], {"taken": False, "not_taken": "a=b"}),
        ([exporter(), monitor(kind="PodMonitor", port="metrics"), prometheus()], {"monitors": 1, "taken": True}),
    ],
)
def test_the_first_broken_link(objects: list[dict[str, Any]], wanted: dict[str, Any]) -> None:
    made = path_of(*objects)
    for field, value in wanted.items():
        if isinstance(value, str) and value:
            assert value in getattr(made, field)
        else:
            assert getattr(made, field) == value, field


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3)
REQUIREMENTS = st.lists(
    st.builds(
        Requirement,
        st.sampled_from("abc"),
        st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Near"]),
        st.tuples(st.sampled_from("xyz")),
    ),
    max_size=3,
)


@given(REQUIREMENTS, LABELS)
@settings(max_examples=60)
def test_a_selector_fits_or_says_why_not(wanted: list[Requirement], labels: dict[str, str]) -> None:
    assert matches_all(wanted, labels) == (why_not(wanted, labels, "it") == "")


# --- what each link is read from


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"DCGM_EXPORTER_LISTEN": ":9401"}, {"listens": 9401, "port": 9401}),
        ({"DCGM_EXPORTER_LISTEN": "0.0.0.0:9400", "DCGM_EXPORTER_KUBERNETES": "FALSE"}, {"listens": 9400, "maps_pods": False}),
        ({"DCGM_EXPORTER_CONFIGMAP_DATA": "gpu-operator:counters"}, {"config_map": "counters", "config_namespace": "gpu-operator"}),
        ({"DCGM_EXPORTER_CONFIGMAP_DATA": "none"}, {"config_map": ""}),
    ],
)
def test_the_exporters_options(options: dict[str, str], wanted: dict[str, Any]) -> None:
    (made,) = read("kubernetes.exporters", json.dumps(exporter(options)))["exporters"]
    assert {field: getattr(made, field) for field in wanted} == wanted


def test_arguments_go_before_variables() -> None:
    pod = exporter()
    pod["spec"]["containers"][0]["args"] = ["-f", "/etc/counters.csv", "--address=:9500", "-k=false"]
    (made,) = read("kubernetes.exporters", json.dumps(pod))["exporters"]
    assert isinstance(made, Exporter)
    assert (made.collectors, made.listens, made.maps_pods) == ("/etc/counters.csv", 9500, False)


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ("", ""),
        ('Get "http://10.0.0.7:9400/metrics": dial tcp 10.0.0.7:9400: connect: connection refused', "refused"),
        ('Get "http://10.0.0.7:9400/metrics": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', "timeout"),
        ('Get "http://10.0.0.7:9400/metrics": dial tcp 10.0.0.7:9400: i/o timeout', "timeout"),
        ('Get "http://10.0.0.7:9400/metrics": dial tcp 10.0.0.7:9400: connect: no route to host', "unreachable"),
        ('Get "http://10.0.0.7:9400/metrics": EOF', "unreachable"),
        ('Get "http://dcgm:9400/metrics": dial tcp: lookup dcgm on 10.96.0.10:53: no such host', "name"),
        ('Get "https://10.0.0.7:9400/metrics": tls: failed to verify certificate: x509: certificate signed by unknown authority', "tls"),
        ('Get "https://10.0.0.7:9400/metrics": http: server gave HTTP response to HTTPS client', "tls"),
        ("server returned HTTP status 401 Unauthorized", "credentials"),
        ("server returned HTTP status 404 Not Found", "not-found"),
        ("server returned HTTP status 500 Internal Server Error", "http"),
        ("sample limit exceeded", "limit"),
        ("body size limit exceeded", "limit"),
        ('"INVALID" is not a valid start token', "not-metrics"),
        ('expected a valid start token, got "<" ("INVALID") while parsing: "<"', "not-metrics"),
        ('received unsupported Content-Type "text/html" and no fallback_scrape_protocol specified for target', "not-metrics"),
        ("something new", "other"),
    ],
)
def test_the_word_for_an_error(error: str, word: str) -> None:
    assert trouble(error) == word


def test_what_an_exporter_serves() -> None:
    (whole,) = read("prometheus.text", metrics())["expositions"]
    (part,) = read("prometheus.text", "\n".join(line for line in metrics().split("\n") if "_UTIL{" in line))["expositions"]
    (old,) = read("prometheus.text", 'dcgm_gpu_temp{gpu="0",UUID="GPU-1",container="",namespace="",pod=""} 54\n')["expositions"]
    for one, wanted in ((whole, (True, 2, True)), (part, (False, 2, True)), (old, (False, 1, True))):
        assert (one.whole, one.gpus, one.maps_pods) == wanted  # type: ignore[attr-defined]
    assert old.mapped == 0  # type: ignore[attr-defined]
    (unused,) = read("prometheus.text", metrics(pod=""))["expositions"]
    assert not unused.maps_pods  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("expr", "thresholds"),
    [
        ("DCGM_FI_DEV_GPU_TEMP > 85", {"DCGM_FI_DEV_GPU_TEMP": 85.0}),
        ('max by (gpu) (DCGM_FI_DEV_GPU_TEMP{modelName="NVIDIA H100"}) >= 85', {"DCGM_FI_DEV_GPU_TEMP": 85.0}),
        ("avg_over_time(DCGM_FI_PROF_SM_ACTIVE[5m]) > 90", {"DCGM_FI_PROF_SM_ACTIVE": 90.0}),
        ("DCGM_FI_PROF_SM_ACTIVE * 100 > 90", {"DCGM_FI_PROF_SM_ACTIVE": None}),
        ("rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) > 3", {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER": None}),
        (
            "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.9",
            {"DCGM_FI_DEV_FB_USED": None, "DCGM_FI_DEV_FB_FREE": None},
        ),
        ("DCGM_FI_DEV_GPU_UTIL < 10", {"DCGM_FI_DEV_GPU_UTIL": None}),
        ("up == 0", {}),
    ],
)
def test_what_a_rule_asks_for(expr: str, thresholds: dict[str, float | None]) -> None:
    found = read("kubernetes.prometheus_rules", json.dumps(rule("Alert", expr)))["wanted_metrics"]
    assert {one.metric: one.threshold for one in found} == thresholds  # type: ignore[attr-defined]


def test_rules_and_dashboards_as_files() -> None:
    rules = "  - alert: Hot\n    expr: |\n      DCGM_FI_DEV_GPU_TEMP\n        > 85\n    for: 5m\n  - record: x\n    expr: up\n"
    text = f"groups:\n- name: gpu\n  rules:\n{rules}"
    found = read("prometheus.rules", text)["wanted_metrics"]
    assert [(one.metric, one.by, one.origin.line) for one in found] == [("DCGM_FI_DEV_GPU_TEMP", "Hot", 6)]  # type: ignore[attr-defined]
    board = json.dumps({"panels": [{"title": "Temperature", "targets": [{"expr": "avg(DCGM_FI_DEV_GPU_TEMP)"}]}]}, indent=1)
    assert [one.by for one in read("prometheus.rules", board)["wanted_metrics"]] == ["Temperature"]  # type: ignore[attr-defined]


def test_units() -> None:
    assert scale("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE") == ("a ratio from 0 to 1", 1.0)
    assert scale("DCGM_FI_DEV_GPU_UTIL") == ("percent", 100.0)
    assert scale("DCGM_FI_DEV_PCIE_REPLAY_COUNTER") is None


# --- what may be asked


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("/api/v1/namespaces/gpu-operator/pods/dcgm-x7:9400/proxy/metrics", 'get pods/proxy in namespace "gpu-operator"'),
        ("/api/v1/namespaces/m/services/prometheus-operated:9090/proxy/api/v1/targets?state=active", 'get services/proxy in namespace "m"'),
        ("/api/v1/namespaces/m/services/prometheus-operated:9090/proxy/-/quit", ""),
        ("/api/v1/namespaces/m/services/x:9090/proxy/api/v1/admin/tsdb/delete_series", ""),
        ("/api/v1/namespaces/m/pods/x:9400/proxy/metrics/../../y", ""),
        ("/api/v1/namespaces/m/pods/../secrets", ""),
        ("/api/v1/namespaces/m/services/x:9090/proxy/api/v1/query?query=up&time=0", ""),
        ("/api/v1/secrets", ""),
    ],
)
def test_what_is_read_through_the_api_server(path: str, right: str) -> None:
    argv = ("kubectl", "get", "--raw", path)
    assert proxy_paths.is_allowed(path) == (refusal(list(argv)) == "") == bool(right)
    if right:
        request = parse(argv)
        assert (request.target(), request.rule()) == (path, right)
    else:
        with pytest.raises(NotAllowed):
            parse(argv)


def test_questions_to_prometheus() -> None:
    assert promql.question(("promql", "http://p:9090/x", "up"))[1:] == ("/api/v1/query", {"query": "up"})
    assert promql.question(("promql", "http://p:9090", "/targets"))[1:] == ("/api/v1/targets", {"state": "active"})
    assert promql.question(("promql", "http://p:9090", "up", "60", "15")).api == "/api/v1/query_range"


FIRST_USE = """
import sys, threading
sys.setswitchinterval(1e-6)
from gpudoctor.tools.kubernetes.pod_shape import PodObject
from gpudoctor.probes.base import decoder
start = threading.Barrier(8)
def use():
    start.wait()
    assert decoder(PodObject).decode(b'{"spec": {"containers": [{"env": [{"name": "a"}]}]}, "status": {"conditions": [{}]}}').spec
threads = [threading.Thread(target=use) for _ in range(8)]
[one.start() for one in threads], [one.join() for one in threads]
"""


def test_a_type_is_first_used_by_one_thread() -> None:
    """msgspec (0.22) ends the process, about every third time, where two threads use a type for the first time at once."""
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", FIRST_USE], check=False, timeout=60).returncode == 0


# --- files


DESCRIBED = """Name:                     nvidia-dcgm-exporter
Namespace:                gpu-operator
Labels:                   app=nvidia-dcgm-exporter
                          app.kubernetes.io/managed-by=gpu-operator
Annotations:              prometheus.io/scrape: true
                          prometheus.io/port: 9100
Selector:                 app=nvidia-dcgm-exporter
Type:                     ClusterIP
IP:                       10.96.44.12
Port:                     gpu-metrics  9400/TCP
TargetPort:               9400/TCP
Endpoints:                10.244.1.7:9400
Session Affinity:         None
Events:                   <none>
"""
SERVICES = """NAMESPACE      NAME                   TYPE        CLUSTER-IP     EXTERNAL-IP   PORT(S)    AGE
gpu-operator   gpu-operator           ClusterIP   10.96.44.11    <none>        8080/TCP   7d
gpu-operator   nvidia-dcgm-exporter   ClusterIP   10.96.44.12    <none>        9400/TCP   7d
"""
MONITORS = """NAMESPACE    NAME                 AGE
monitoring   prom-stack-kubelet   90d
monitoring   prom-stack-node      90d
"""
REFUSED = 'Get "http://10.244.1.7:9100/metrics": dial tcp 10.244.1.7:9100: connect: connection refused'
COUNTERS = """# Format: DCGM FIELD, Prometheus metric type, help message
DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_GPU_TEMP,    gauge, GPU temperature (in C).
# DCGM_FI_DEV_POWER_VIOLATION,       counter, Throttling duration due to power constraints (in ns).
"""
POWER = "groups:\n- name: a\n  rules:\n  - alert: PowerCap\n    expr: rate(DCGM_FI_DEV_POWER_VIOLATION[5m]) > 0\n"


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"svc.txt": DESCRIBED}, ["scrape-port-mismatch"]),
        ({"svc.txt": DESCRIBED.replace("9100", "9400")}, []),
        ({"kubectl-get-svc.txt": SERVICES, "metrics.txt": metrics()}, []),
        ({"all.json": json.dumps([service(), monitor(), prometheus(selector=RELEASE)])}, ["servicemonitor-not-selected"]),
        ({"svc.json": json.dumps(service()), "sm.json": json.dumps(monitor(selector={"app": "b"}))}, ["servicemonitor-missing"]),
        ({"svc.json": json.dumps(service()), "sm.txt": f"$ kubectl get servicemonitors -A\n{MONITORS}"}, ["servicemonitor-missing"]),
        ({"svc.json": json.dumps(service()), "t.json": targets(target())}, []),
        ({"t.json": targets(target("http://10.244.1.7:9100/metrics", error=REFUSED))}, ["scrape-port-mismatch"]),
        ({"t.json": targets(target(error=REFUSED.replace("9100", "9400")))}, ["prometheus-target-down"]),
        ({"t.json": targets(target("http://10.1.1.1:8080/metrics", pool="web", service="web", pod="web-0", error=REFUSED))}, []),
        ({"rules.yml": POWER, "metrics.txt": metrics()}, ["metric-not-exported"]),
        ({"rules.yml": POWER, "counters.csv": COUNTERS}, ["metric-not-exported"]),
        ({"rules.yml": POWER.replace("POWER_VIOLATION", "XID_ERRORS"), "metrics.txt": metrics()}, []),
        ({"counters.csv": COUNTERS}, []),
        ({"rules.yml": POWER}, []),
        ({"names.json": vector({"__name__": "DCGM_FI_DEV_GPU_TEMP"}), "rules.yml": POWER}, ["metric-not-exported"]),
        ({"metrics.txt": metrics(pod="")}, []),
    ],
)
def test_files(files: dict[str, str], wanted: list[str], tmp_path: Path) -> None:
    report = of_files(tmp_path, files)
    assert [one.cause for one in report.findings if one.role == "root" and one.severity != "info"] == wanted


# --- logs, in the words of several releases


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Could not retrieve ConfigMap 'gpu:counters', err: configmaps \"counters\" not found, falling back", "exporter_counters_not_read"),
        ('level=info msg="Malformed configmap contents. No metrics found, falling back to metric file"', "exporter_counters_not_read"),
        ("WARN[0000] Skipping line 1 ('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE'): metric not enabled", "exporter_counter_skipped"),
        (
            "E0301 1 reflector.go:138] Failed to watch *v1.Service: failed to list *v1.Service: services is forbidden: User"
            ' "system:serviceaccount:monitoring:prometheus-k8s" cannot list resource "services" in API group "" in the namespace "gpu"',
            "prometheus_may_not_list",
        ),
        (
            'level=debug component="scrape manager" scrape_pool=serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0'
            ' target=http://10.20.0.7:9400/metrics msg="Append failed" err="sample limit exceeded"',
            "prometheus_scrape_limit",
        ),
        (
            'level=warn scrape_pool=dcgm target=http://10.20.0.7:9400/ msg="Append failed" err="\\"INVALID\\" is not a valid start token"',
            "prometheus_scrape_not_metrics",
        ),
        ("level=INFO msg=\"Falling back to metric file '/etc/dcgm-exporter/default-counters.csv'\"", ""),
        ('level=warn scrape_pool=kubelet target=https://10.0.0.1:10250/metrics err="sample limit exceeded"', ""),
        (
            'User "system:serviceaccount:ml:trainer" cannot list resource "pods" in API group "" in the namespace "ml": pods is forbidden',
            "",
        ),
    ],
)
def test_known_lines(line: str, name: str) -> None:
    ours = ("exporter_counter", "prometheus_", "operator_rejects")
    found = [one.name for one in scan_text(line, source="log", about=ABOUT, origin=Origin()) if one.name.startswith(ours)]
    assert found == ([name] if name else [])
