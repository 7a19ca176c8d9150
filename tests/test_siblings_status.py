# ruff: noqa: E501 - what is pasted has long lines
"""What status commands and cut objects show of monitoring, the cluster's own services and the device plugin, and beside each what is near it and well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

PODS = """\
$ kubectl get pods -n gpu-operator -l app=nvidia-dcgm-exporter
NAME                         READY   STATUS    RESTARTS   AGE
nvidia-dcgm-exporter-c4vhk   1/1     Running   0          12d
"""
MONITOR = """\
$ kubectl get servicemonitor -n gpu-operator nvidia-dcgm-exporter --show-labels
NAME                   AGE   LABELS
nvidia-dcgm-exporter   9d    app=nvidia-dcgm-exporter,team=infra
"""
TAKES = """\
$ kubectl get prometheus -n observe -o yaml | grep -A4 serviceMonitorSelector
    serviceMonitorNamespaceSelector: {}
    serviceMonitorSelector:
      matchLabels:
        %s
"""
SPACE = """\
$ kubectl get prometheus k8s -n observe -o jsonpath='{.spec.serviceMonitorNamespaceSelector}'
{"matchLabels":{"scrape":"yes"}}
$ kubectl get ns gpu-operator --show-labels
NAME           STATUS   AGE   LABELS
gpu-operator   Active   9d    kubernetes.io/metadata.name=gpu-operator%s
$ kubectl get servicemonitor -n gpu-operator
NAME                   AGE
nvidia-dcgm-exporter   9d
"""
ANNOTATED = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: dcgm-exporter, namespace: observe}
spec:
  selector: {matchLabels: {app.kubernetes.io/name: dcgm-exporter}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: dcgm-exporter}
      annotations: {prometheus.io/scrape: "true", prometheus.io/port: "%s"}
    spec:
      containers:
      - name: exporter
        image: nvcr.io/nvidia/k8s/dcgm-exporter:3.3.5-3.4.1-ubuntu22.04
        ports: [{containerPort: 9400, name: metrics}]
"""
SETS = """\
$ kubectl -n gpu-operator get ds
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                AGE
nvidia-dcgm-exporter             %s         %s         %s       %s            %s           nvidia.com/gpu.deploy.dcgm-exporter=true     9d
nvidia-device-plugin-daemonset   4         4         4       4            4           nvidia.com/gpu.deploy.device-plugin=true     9d
"""
TAINTED = """\
$ kubectl get ds -n plugins
NAME                   DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin   0         0         0       0            0           <none>          9d
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
NAME      TAINTS
gpu-x1    [map[effect:NoSchedule key:team value:vision]]
gpu-x2    [map[effect:NoSchedule key:team value:vision] map[effect:NoExecute key:slow]]
"""
NTP = "     remote           refid      st t when poll reach   delay   offset  jitter\n*10.0.0.3        10.9.9.9         3 u   12   64  377    0.210 %s   1.021"
SYSTEM = """\
NAMESPACE     NAME                    READY   STATUS             RESTARTS        AGE
kube-system   %s   0/1     CrashLoopBackOff   31 (3m ago)     4d
"""
# What was pasted → the first cause; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    # --- monitors and those who take them
    "monitors of the whole cluster, none of the exporter": (
        "servicemonitor-missing",
        (
            "$ kubectl get servicemonitor,podmonitor -A\nNAMESPACE   NAME                                                 AGE\n"
            "observe     servicemonitor.monitoring.coreos.com/kube-state      30d\nobserve     servicemonitor.monitoring.coreos.com/node-exporter   30d\n"
            + PODS,
        ),
    ),
    "monitors of another namespace": (
        "",
        ("$ kubectl get servicemonitor -n observe\nNAME            AGE\nkube-state      30d\nnode-exporter   30d\n" + PODS,),
    ),
    "a monitor of the exporter": (
        "",
        (
            "$ kubectl get servicemonitor -A\nNAMESPACE      NAME                   AGE\ngpu-operator   nvidia-dcgm-exporter   3d\nobserve        node-exporter          30d\n"
            + PODS,
        ),
    ),
    "a label that Prometheus asks for": ("servicemonitor-not-selected", (TAKES % "release: prom" + MONITOR,)),
    "a label that the monitor has": ("", (TAKES % "team: infra" + MONITOR,)),
    "a selector that is cut off": ("", ("\n".join((TAKES % "release: prom").split("\n")[:4]) + "\n" + MONITOR,)),
    "a namespace without the label": ("servicemonitor-not-selected", (SPACE % "",)),
    "a namespace with the label": ("", (SPACE % ",scrape=yes",)),
    "a pod template's annotation": ("scrape-port-mismatch", (ANNOTATED % "9100",)),
    "a pod template's right annotation": ("", (ANNOTATED % "9400",)),
    # --- exporters and engines
    "an exporter that wants no node": ("exporter-not-running", (SETS % (0, 0, 0, 0, 0),)),
    "an exporter on all nodes": ("", (SETS % (4, 4, 4, 4, 4),)),
    "dcgmi, another machine's engine": (
        "dcgm-hostengine-unreachable",
        (
            "Error: unable to establish a connection to the specified host: 10.20.0.7:5555\nError: Unable to connect to host engine. Host engine connection invalid/disconnected.",
        ),
    ),
    "the exporter, in small letters": (
        "dcgm-hostengine-unreachable",
        (
            'level=ERROR msg="Failed to initialize DCGM" error="error connecting to nv-hostengine: Host engine connection invalid/disconnected"',
        ),
    ),
    "a scaled object that isn't ready": (
        "hpa-metric-unavailable",
        (
            "NAME   SCALETARGETKIND      SCALETARGETNAME   MIN   MAX   TRIGGERS     AUTHENTICATION   READY   ACTIVE    FALLBACK   PAUSED    AGE\nllm    apps/v1.Deployment   llm               1     8     prometheus                    False   False     Unknown    Unknown   45m",
        ),
    ),
    "a scaled object that is ready": (
        "",
        (
            "NAME   SCALETARGETKIND      SCALETARGETNAME   MIN   MAX   TRIGGERS     AUTHENTICATION   READY   ACTIVE    FALLBACK   PAUSED    AGE\nllm    apps/v1.Deployment   llm               1     8     prometheus                    True    False     False      Unknown   45m",
        ),
    ),
    # --- the device plugin
    "taints as Go prints them": ("device-plugin-repelled-by-taint", (TAINTED,)),
    # --- control plane and network
    "etcd, a table of health": (
        "etcd-slow-or-restarting",
        ("| ENDPOINT | HEALTH | TOOK | ERROR |\n| https://10.3.0.6:2379      |  false | 5.00118s    | context deadline exceeded |",),
    ),
    "etcd, a table of followers": (
        "",
        ("| https://10.3.0.5:2379  | 8e9e05c52164694d |   3.5.9 |   98 MB |     false |      false |      1204 |",),
    ),
    "etcd's pod": ("etcd-slow-or-restarting", (SYSTEM % "etcd-cp-1     ",)),
    "the API server's pod": ("apiserver-down", (SYSTEM % "kube-apiserver-cp-1",)),
    "the server of RKE2": (
        "apiserver-down",
        (
            'FATA[0030] starting kubernetes: preparing server: failed to get CA certs: Get "https://10.3.0.5:9345/cacerts": dial tcp 10.3.0.5:9345: connect: connection refused',
        ),
    ),
    "a list that took half a minute": (
        "apiserver-slow-or-unreachable",
        (
            'I0301 11:00:01.100 1 trace.go:236] Trace[1131]: "List" accept:application/json,client:10.3.0.9,protocol:HTTP/2.0,resource:pods,verb:LIST (01-Mar-2026 11:00:01.100) (total time: 31034ms):',
        ),
    ),
    "a list that was traced": (
        "",
        (
            'I0301 11:00:01.100 1 trace.go:236] Trace[1131]: "List" accept:application/json,client:10.3.0.9,protocol:HTTP/2.0,resource:pods,verb:LIST (01-Mar-2026 11:00:01.100) (total time: 734ms):',
        ),
    ),
    "the service by its name, in the words of Python": (
        "apiserver-unreachable-from-pod",
        (
            "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='kubernetes.default.svc', port=443): Max retries exceeded with url: /api/v1/nodes (Caused by ConnectTimeoutError(<urllib3.connection.HTTPSConnection object at 0x7f>, 'Connection to kubernetes.default.svc timed out. (connect timeout=5)'))",
        ),
    ),
    "ntpq, minutes off": ("clock-skew", (NTP % "294212.31",)),
    "ntpq, well": ("", (NTP % "    0.312",)),
    "calicoctl, no session": (
        "cluster-network-broken",
        ("| 10.3.0.11    | node-to-node mesh | start | 08:58:01 | Active Socket: Connection      |",),
    ),
    "calicoctl, well": ("", ("| 10.3.0.11    | node-to-node mesh | up    | 08:58:01 | Established |",)),
    "cilium-health, a node's endpoints": (
        "cluster-network-broken",
        (
            "  Name                   IP              Node        Endpoints\n  default/gpu-01         10.3.0.11       reachable   unreachable",
        ),
    ),
    "cilium-health, well": (
        "",
        ("  Name                   IP              Node        Endpoints\n  default/gpu-01         10.3.0.11       reachable   reachable",),
    ),
    "dig, the server fails": ("dns-resolution-failure", (";; ->>HEADER<<- opcode: QUERY, status: SERVFAIL, id: 4711",)),
    "dig, no such name": ("", (";; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 4711",)),
    "a pod that its machine can't reach": (
        "cluster-network-broken",
        (
            'Get "https://10.96.0.1:443/api/v1/namespaces": dial tcp 10.96.0.1:443: connect: no route to host',
            "10.244.0.6 lladdr 7a:3d:78:86:10:bb REACHABLE\n10.244.0.7 FAILED",
        ),
    ),
    "pods that their machine reaches": (
        "host-firewall-blocks-pod-traffic",
        (
            'Get "https://10.96.0.1:443/api/v1/namespaces": dial tcp 10.96.0.1:443: connect: no route to host',
            "10.244.0.6 lladdr 7a:3d:78:86:10:bb REACHABLE",
        ),
    ),
    # --- the kubelet's refusal: a table of warnings doesn't say that nobody has scheduled the pod
    "refused, warnings alone": (
        "unexpected-admission-error",
        (
            "NAME          READY   STATUS                     RESTARTS   AGE\nsim-4-w7k2d   0/1     UnexpectedAdmissionError   0          6m",
            "LAST SEEN   TYPE      REASON                     OBJECT            MESSAGE\n32s         Warning   UnexpectedAdmissionError   pod/sim-4-w7k2d   Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 4, Available: 0, which is unexpected",
        ),
    ),
    # --- GPUs
    "a fatal link event, as somebody notes it": ("nvlink5-link-down", ("+0.6 ms    Xid 149  NETIR_LINK_EVT Fatal Link 03",)),
    "another link event, as somebody notes it": ("", ("+0.6 ms    Xid 149  NETIR_LINK_EVT Nonfatal Link 03",)),
    "a fabric manager with nothing to do, on a named host": (
        "",
        (
            "$ systemctl status nvidia-fabricmanager\n× nvidia-fabricmanager.service - NVIDIA fabric manager service\n     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)\n     Active: failed (Result: exit-code) since Sun 2026-03-01 09:00:01 UTC; 3min ago\nMar 01 09:00:01 pcie-07 nv-fabricmanager[1211]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *(text + "\n" for text in texts)), cause)
