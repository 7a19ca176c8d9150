"""Cluster services that fail: API server, DNS, pod network, clocks, and the metrics pipeline."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_stack import CRASHES, NODE, place
from tests.kube.objects import cluster, container, event, node, pod, stack_pod

SERVICES = ["run", "cluster-services"]


def system(name: str, *lines: str, box: str = "", **state: Any) -> tuple[list[Any], dict[str, str]]:
    """A pod of kube-system with its log; a crashing one has the same text before its last restart."""
    box = box or name.split("-")[0]
    made = pod(
        name, "kube-system", node="cpu-01", containers=[container(box, "registry.k8s.io/coredns/coredns:v1.11.3", **state)], age="30d"
    )
    text = "\n".join(lines) + "\n"
    key = f"kube-system/{name}/{box}"
    return [made], {key: text, f"{key}:previous": text}


def services(*parts: tuple[list[Any], dict[str, str]], objects: tuple[Any, ...] = (), faults: tuple[Any, ...] = ()) -> Case:
    """A case over some pods of the cluster's services."""
    made = [each for some, _ in parts for each in some]
    logs = {key: text for _, more in parts for key, text in more.items()}
    return Case(SERVICES, cluster([node("cpu-01", gpus=0), *made, *objects], logs=logs, faults=faults))


def failing(name: str, *lines: str, **state: Any) -> Case:
    """A case with one crashing pod of kube-system."""
    return services(system(name, *lines, waiting=CRASHES, last=("Error", 1), restarts=11, **state))


def exporter(*lines: str, **state: Any) -> tuple[list[Any], dict[str, str]]:
    """The DCGM exporter with its log."""
    made = stack_pod("dcgm_exporter", NODE, state=state or None)
    text = "\n".join(lines) + "\n"
    return [made], {place("dcgm_exporter"): text, f"{place('dcgm_exporter')}:previous": text}


def exporting(*lines: str) -> Case:
    """A case with one exporter that crashes after these lines."""
    return services(exporter(*lines, waiting=CRASHES, last=("Error", 1), restarts=11))


DNS = "coredns-6f6b679f8f-4hqzp"
HPA = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "llm", "namespace": "ml", "uid": "0f8b1f8e-5f4c-4a51-9a63-52e4b3d5a001"},
}
NO_METRIC = (
    "unable to get metric queue_depth: unable to fetch metrics from custom metrics API: the server could not find the metric queue_depth"
)
INACTIVE = "  ScalingActive  False  FailedGetPodsMetric  the HPA was unable to compute the replica count"
LEASE = "https://10.96.0.1:443/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler?timeout=5s"

PULL = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"

UNMEASURED = '{"level":"info","msg":"No saturation metrics available for model, skipping analysis","modelID":"acme/llm-8b"}'

SKIPPED = '{"level":"info","msg":"Skipping pod that doesn\'t match any scale target","pod":"edge-proxy-0","scale targets":["decode"]}'

CASES: dict[str, Case] = {
    "services-healthy": services(
        system(DNS, ".:53", "[INFO] plugin/reload: Running configuration", running=True),
        exporter(
            'level=info msg="Starting webserver"',
            'level=info msg="Not collecting DCP metrics: Profiling is not supported for this group of GPUs"',
        ),
    ),
    "services-refused": services(
        system(DNS, "", waiting=CRASHES, last=("Error", 1), restarts=2),
        exporter('level=info msg="Starting webserver"'),
        faults=({"match": "GET .*/log", "status": 403},),
    ),
    "dns-loop": failing(
        DNS, '[FATAL] plugin/loop: Loop (127.0.0.1:55953 -> :53) detected for zone ".", see https://coredns.io/plugins/loop'
    ),
    "network-restarts": failing(
        "calico-node-x7k2p", "container runtime network not ready: message: cni plugin not initialized", box="calico-node"
    ),
    "etcd-restarts": failing("etcd-cp-01", "starting etcd"),
    "api-server-restarts": failing("kube-apiserver-cp-01", "Serving securely on [::]:6443", box="kube-apiserver"),
    "pod-cut-off": services(
        system(
            DNS,
            'Failed to list *v1.Service: Get "https://10.96.0.1:443/api/v1/services": dial tcp 10.96.0.1:443: connect: no route to host',
            "10.244.0.7 dev cni0 FAILED",
            waiting=CRASHES,
            last=("Error", 1),
            restarts=2,
        )
    ),
    "dns-upstream": failing(
        "cluster-autoscaler-0", "dial tcp: lookup sts.example.com on 10.96.0.10:53: server misbehaving", box="autoscaler"
    ),
    "clock": failing(
        "kube-proxy-p5s8d",
        "x509: certificate has expired or is not yet valid: current time 2026-03-01T06:55:59Z is before 2026-03-01T07:45:55Z",
        box="kube-proxy",
    ),
    "api-refused": failing(
        "metrics-server-0",
        'Get "https://10.96.0.1:443/api/v1/nodes": dial tcp 10.96.0.1:443: connect: connection refused',
        box="metrics-server",
    ),
    "network-not-set-up": failing(
        "multus-0",
        'failed to setup network for sandbox "5e1c": plugin type="calico" name="k8s-pod-network" failed (add): x509: certificate signed by '
        "unknown authority",
        box="multus",
    ),
    "second-network-not-set-up": failing(
        "multus-1",
        'failed to setup network for sandbox "5e1d": plugin type="multus" name="multus-cni-network" failed (add): '
        '[default/train-0:rdma-net]: error adding container to network "rdma-net": '
        "RDMA subsystem namespace awareness mode is set to shared, expecting it to be set to "
        "exclusive, invalid RDMA subsystem namespace awareness mode",
        box="multus",
    ),
    "no-kubeconfig": failing(
        "cluster-autoscaler-1",
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        box="autoscaler",
    ),
    "api-slow": failing(
        "kube-scheduler-cp-1",
        f'Failed to update lock: Put "{LEASE}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        "rpc error: code = Unknown desc = etcdserver: request timed out",
        "leader election lost",
        box="kube-scheduler",
    ),
    "lease": failing("kube-controller-manager-cp-1", "leaderelection lost", box="kube-controller-manager"),
    "service-timeout": failing(
        "metrics-server-1", 'Get "https://10.96.0.1:443/api/v1/nodes": dial tcp 10.96.0.1:443: i/o timeout', box="metrics-server"
    ),
    "service-rejected": failing(
        DNS, "Failed to list *v1.Endpoints: Get https://10.96.0.1:443/api/v1/endpoints: dial tcp 10.96.0.1:443: connect: no route to host"
    ),
    "service-no-route": failing(DNS, 'Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: connect: network is unreachable'),
    "exporter-library": exporting(
        "Error: Failed to initialize NVML", 'level=fatal msg="Error starting nv-hostengine: DCGM initialization error"'
    ),
    "exporter-without-dcgm": exporting('level=ERROR msg="the libdcgm.so.4 library was not found. Install Data Center GPU Manager (DCGM)."'),
    "exporter-without-root": exporting('level=fatal msg="Error watching fields: Host engine is running as non-root"'),
    "exporter-engine": exporting(
        'level=INFO msg="Attempting to connect to remote hostengine at nvidia-dcgm:5555"',
        'level=ERROR msg="Encountered a failure." stacktrace="goroutine 1 [running]:"',
        'level=ERROR msg="Failed to connect to remote hostengine" address=nvidia-dcgm:5555',
    ),
    "exporter-stale": services(
        exporter(
            'level=info msg="Starting webserver"',
            'level=error msg="Failed to collect metrics; err: latest value for fields: Host engine connection invalid/disconnected"',
        )
    ),
    "exporter-elsewhere": exporting(
        "Error getting device cpu affinity: open /sys/bus/pci/devices/0000:8b:00.0/local_cpulist: no such file or directory"
    ),
    "exporter-profiling": exporting(
        'level=info msg="Not collecting DCP metrics: Profiling is not supported for this group of GPUs or GPU"',
        'level=fatal msg="Error watching fields: Profiling is not supported for this group of GPUs or GPU"',
    ),
    "exporter-no-profiling": exporting(
        'level=info msg="Not collecting DCP metrics: Profiling is not supported for this group of GPUs or GPU"'
    ),
    "exporter-profiler": exporting('msg="Error watching fields: The third-party Profiling module returned an unrecoverable error"'),
    "exporter-module": exporting('msg="Error watching fields: This request is serviced by a module of DCGM that is not currently loaded"'),
    "exporter-field": exporting('level=fatal msg="Failed to watch metrics: Error watching fields: Feature not supported"'),
    "exporter-address": exporting(
        'msg="Failed to Listen and Server HTTP server." error="listen tcp: address 9400: missing port in address"'
    ),
    "exporter-port": exporting('msg="Failed to Listen and Server HTTP server." error="listen tcp :9400: bind: address already in use"'),
    "exporter-mapping": services(
        exporter('level=info msg="Starting webserver"', "failure connecting to '/var/lib/kubelet/pod-resources/kubelet.sock'; err: timeout")
    ),
    "scrape": failing("prometheus-0", 'err="Get \\"http://10.20.0.7:9400/metrics\\": context deadline exceeded"', box="prometheus"),
    "hpa-metric": services(
        objects=(
            event(HPA, "FailedGetPodsMetric", NO_METRIC, component="horizontal-pod-autoscaler", count=21),
            event(HPA, "Inactive", INACTIVE, component="horizontal-pod-autoscaler"),
        )
    ),
    "certificate": failing(
        "kube-scheduler-cp-2",
        "x509: certificate has expired or is not yet valid: current time 2026-03-01T07:45:55Z is after 2026-02-27T06:55:59Z",
        box="kube-scheduler",
    ),
    "hpa-described": services(
        objects=(
            event(HPA, "FailedGetPodsMetric", NO_METRIC, component="horizontal-pod-autoscaler", age="12m"),
            event(HPA, "Described", '"queue_depth" on pods:  <unknown> / 4', component="horizontal-pod-autoscaler", age="12m"),
        )
    ),
    "keda-trigger": services(
        objects=(
            event(
                HPA,
                "KEDAScalerFailed",
                'error parsing prometheus metadata: missing required parameter "serverAddress" in [triggerMetadata]',
                count=9,
            ),
        )
    ),
    "hpa-target": services(objects=(event(HPA, "Inactive", "llm   Deployment/llm   <unknown>/80%   1   8   1   3d4h"),)),
    "public-certificate": failing("image-cache-0", f'Get "https://quay.io/v2/": {PULL}', box="cache"),
    "own-certificate": failing("image-cache-0", f'Get "https://registry.corp.example/v2/": {PULL}', box="cache"),
    "autoscaler-model-unmeasured": failing("variant-autoscaler-0", SKIPPED, UNMEASURED, box="manager"),
    "autoscaler-model-once": failing("variant-autoscaler-0", UNMEASURED, box="manager"),
}
