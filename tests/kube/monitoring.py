"""What stands between dcgm-exporter and Prometheus, as the GPU operator, the exporter's chart and kube-prometheus-stack make it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.kube.shapes import Object, lean, meta

MONITORING = "monitoring.coreos.com/v1"
APP = {"app": "nvidia-dcgm-exporter"}
LABELS = (
    'gpu="{0}",UUID="GPU-7c1f0{0}aa-5d2e-4f6b-9d1c-2f6f8a1b3c4d",pci_bus_id="00000000:{1}:00.0",device="nvidia{0}",'
    'modelName="NVIDIA H100 80GB HBM3"'
)
# name → (type, help, value), a part of etc/dcp-metrics-included.csv
SERVED: dict[str, tuple[str, str, str]] = {
    "DCGM_FI_DEV_SM_CLOCK": ("gauge", "SM clock frequency (in MHz).", "1980"),
    "DCGM_FI_DEV_MEM_CLOCK": ("gauge", "Memory clock frequency (in MHz).", "2619"),
    "DCGM_FI_DEV_MEMORY_TEMP": ("gauge", "Memory temperature (in C).", "44"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "GPU temperature (in C).", "41"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "Power draw (in W).", "312.450000"),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": ("counter", "Total energy consumption since boot (in mJ).", "9382114702"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", "Total number of PCIe retries.", "0"),
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "GPU utilization (in %).", "87"),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("gauge", "Memory utilization (in %).", "35"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "Framebuffer memory free (in MiB).", "20480"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "Framebuffer memory used (in MiB).", "60529"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("gauge", "Ratio of time the graphics engine is active.", "0.871204"),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("gauge", "Ratio of cycles the tensor (HMMA) pipe is active.", "0.402113"),
}


def metrics(node: str = "gpu-02", gpus: int = 2, without: Sequence[str] = (), pod: str = "train-0") -> str:
    """What an exporter serves."""
    lines = []
    for name, (kind, words, value) in SERVED.items():
        if name in without:
            continue
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
        for gpu in range(gpus):
            bus = f"{0x1B + 0x20 * gpu:02X}"
            owner = f',container="main",namespace="ml",pod="{pod}"' if pod and gpu == 0 else ""
            lines.append(f'{name}{{{LABELS.format(gpu, bus)},Hostname="{node}",DCGM_FI_DRIVER_VERSION="550.127.08"{owner}}} {value}')
    return "\n".join(lines) + "\n"


def service(
    name: str = "nvidia-dcgm-exporter",
    ns: str = "gpu-operator",
    *,
    labels: Mapping[str, str] = APP,
    selector: Mapping[str, str] = APP,
    port: str = "gpu-metrics",
    number: int = 9400,
    target: int | str = 9400,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """A Service of one port."""
    ports = [lean(name=port, port=number, targetPort=target, protocol="TCP")]
    spec = {"type": "ClusterIP", "clusterIP": "10.96.44.12", "internalTrafficPolicy": "Cluster", "ports": ports, "selector": dict(selector)}
    given = {"prometheus.io/scrape": "true"} | dict(annotations or {})
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta("Service", name, ns, labels=labels, annotations=given), "spec": spec}


def endpointslice(
    name: str = "nvidia-dcgm-exporter", ns: str = "gpu-operator", ready: int = 1, waiting: int = 0, number: int = 9400
) -> Object:
    """What stands behind a Service."""
    made = [{"addresses": [f"10.244.1.{7 + each}"], "conditions": {"ready": each < ready}} for each in range(ready + waiting)]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": meta("EndpointSlice", f"{name}-x7k2m", ns, labels={"kubernetes.io/service-name": name}),
        "addressType": "IPv4",
        "endpoints": made,
        "ports": [{"name": "gpu-metrics", "port": number, "protocol": "TCP"}],
    }


def monitor(
    name: str = "nvidia-dcgm-exporter",
    ns: str = "gpu-operator",
    *,
    kind: str = "ServiceMonitor",
    labels: Mapping[str, str] = APP,
    selector: Mapping[str, str] = APP,
    namespaces: Sequence[str] = (),
    port: str = "gpu-metrics",
    drops: str = "",
) -> Object:
    """A ServiceMonitor or PodMonitor with one endpoint."""
    rules = [{"action": "drop", "sourceLabels": ["__name__"], "regex": drops}] if drops else []
    entry = lean(port=port, path="/metrics", interval="15s", metricRelabelings=rules)
    spec = lean(
        selector={"matchLabels": dict(selector)},
        namespaceSelector={"matchNames": list(namespaces)} if namespaces else {},
        **{"endpoints" if kind == "ServiceMonitor" else "podMetricsEndpoints": [entry]},
    )
    return {"apiVersion": MONITORING, "kind": kind, "metadata": meta(kind, name, ns, labels=labels), "spec": spec}


def prometheus(
    ns: str = "monitoring",
    *,
    selector: Mapping[str, str] | None = None,
    spaces: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A Prometheus object. Without `selector` it takes every monitor, without `spaces` in every namespace."""

    def chosen(labels: Mapping[str, str] | None) -> Object:
        return {"matchLabels": dict(labels)} if labels else {}

    made = {
        "replicas": 1,
        "serviceMonitorSelector": chosen(selector),
        "serviceMonitorNamespaceSelector": chosen(spaces),
        "podMonitorSelector": chosen(selector),
        "podMonitorNamespaceSelector": chosen(spaces),
        **spec,
    }
    return {"apiVersion": MONITORING, "kind": "Prometheus", "metadata": meta("Prometheus", "prom-stack", ns), "spec": made}


def rule(alert: str, expr: str, ns: str = "monitoring") -> Object:
    """A PrometheusRule with one alert."""
    groups = [{"name": "gpu", "rules": [{"alert": alert, "expr": expr, "for": "5m", "labels": {"severity": "warning"}}]}]
    return {"apiVersion": MONITORING, "kind": "PrometheusRule", "metadata": meta("PrometheusRule", "gpu", ns), "spec": {"groups": groups}}


def target(
    url: str = "http://10.244.1.7:9400/metrics",
    *,
    pool: str = "serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0",
    error: str = "",
    service: str = "nvidia-dcgm-exporter",
    ns: str = "gpu-operator",
    pod: str = "nvidia-dcgm-exporter-9xk4p",
) -> Object:
    """One active target of Prometheus."""
    address = url.split("/")[2]
    labels = lean(container=service, endpoint="gpu-metrics", instance=address, job=service, namespace=ns, pod=pod, service=service)
    return {
        "discoveredLabels": {"__address__": address, "__meta_kubernetes_service_name": service, "__meta_kubernetes_namespace": ns},
        "labels": labels,
        "scrapePool": pool,
        "scrapeUrl": url,
        "globalUrl": url,
        "lastError": error,
        "lastScrape": "2026-03-01T11:59:51.512Z",
        "lastScrapeDuration": 0.0123,
        "health": "down" if error else "up",
        "scrapeInterval": "15s",
        "scrapeTimeout": "10s",
    }


def targets(*made: Object) -> str:
    """Prometheus' answer to /api/v1/targets."""
    return json.dumps({"status": "success", "data": {"activeTargets": list(made), "droppedTargets": []}})


def vector(*labels: Mapping[str, str]) -> str:
    """Prometheus' answer to an instant query."""
    result = [{"metric": dict(each), "value": [1772366400, "1"]} for each in labels]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})
