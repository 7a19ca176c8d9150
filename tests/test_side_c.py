# ruff: noqa: E501 - what is pasted has long lines
"""What two texts tell beside each other of scheduling, clocks, exporters and loaders, in several tools' forms, with the look-alikes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

REFUSED = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"
WAITS = "Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 1 cannot allocate all claims, 3 node(s) didn't match Pod's node affinity/selector.\n"
CLAIMING = """\
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: lab}
spec:
  containers: [{name: main, image: registry.example.com/lab/work:3, resources: {claims: [{name: card}]}}]
  resourceClaims: [{name: card, %s}]
"""
DESCRIBED = (
    """\
Name:             two
Namespace:        lab
Node:             <none>
Status:           Pending
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  """
    + WAITS
)
DEMANDS = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: gpu-dra-plugin, namespace: dra}
spec:
  selector: {matchLabels: {app: gpu-dra-plugin}}
  template:
    metadata: {labels: {app: gpu-dra-plugin}}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
            - matchExpressions: [{key: %s, operator: In, values: ["true"]}]
      containers: [{name: main, image: registry.example.com/dra:1}]
status: {desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0, numberMisscheduled: 0}
"""
LISTED = "$ kubectl get ds -n gpu -o wide\nNAME        DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE\ngpu-probe   0         0         0       0            0           %s   3d\n"
NODES = "$ kubectl get nodes --show-labels\nNAME   STATUS   ROLES    AGE   VERSION   LABELS\nw-1    Ready    <none>   12d   v1.32.1   kubernetes.io/os=linux,%s\n"
AZURE = "kubernetes.azure.com/accelerator=nvidia"
EXPORTER = "      containers:\n      - name: exporter\n        image: nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04\n        resources: {limits: {memory: 256Mi}}\n"
UNMEASURED = '2026-03-01T10:0%d:00Z\tINFO\tNo saturation metrics available for model, skipping analysis\t{"modelID": "acme/llm-8b"}\n'

# What was pasted, in one file or more → the first cause; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "MIG without instances: the DRA driver, by canonical name": (
        "mig-enabled-without-instances",
        ("W0301 07:11:02.000001       1 nvlib.go:211] Physical GPU gpu-3 has MIG mode enabled but no configured MIG devices\n", WAITS),
    ),
    "MIG without instances: another agent's words": (
        "mig-enabled-without-instances",
        ("WARN GPU has MIG mode enabled but no MIG instances configured; it cannot run workloads until partitioned, skipping index=0\n",),
    ),
    "MIG without instances: nothing of the kind is said": ("", ("GPU 0: MIG mode is disabled\n",)),
    "claims: the nodes that remain have no device": ("resource-claim-not-allocated", (WAITS,)),
    "claims: by old words": (
        "resource-claim-not-allocated",
        (WAITS.replace("1 cannot allocate all claims", "1 waiting for resource driver to provide information"),),
    ),
    "claims: the GPU nodes are tainted, and the others have no device": (
        "untolerated-taint",
        (WAITS.replace("3 node(s) didn't match Pod's node affinity/selector", "3 node(s) had untolerated taint {dedicated: gpu}"),),
    ),
    "claims: the selector alone": ("affinity-mismatch", (WAITS.replace("1 cannot allocate all claims, 3", "4"),)),
    "claims: two of one template": (
        "gpu-capacity-exhausted",
        (
            CLAIMING % ("one", "resourceClaimTemplateName: one-card") + "---\n" + CLAIMING % ("two", "resourceClaimTemplateName: one-card"),
            DESCRIBED,
        ),
    ),
    "claims: two of one template, and no pod is named": (
        "gpu-capacity-exhausted",
        (CLAIMING % ("one", "resourceClaimTemplateName: a") + "---\n" + CLAIMING % ("two", "resourceClaimTemplateName: a"), WAITS),
    ),
    "claims: both pods name one claim": (
        "resource-claim-not-allocated",
        (CLAIMING % ("one", "resourceClaimName: card") + "---\n" + CLAIMING % ("two", "resourceClaimName: card"), DESCRIBED),
    ),
    "claims: two templates": (
        "resource-claim-not-allocated",
        (
            CLAIMING % ("one", "resourceClaimTemplateName: small") + "---\n" + CLAIMING % ("two", "resourceClaimTemplateName: large"),
            DESCRIBED,
        ),
    ),
    "clock: kubelet": (
        "clock-skew",
        (
            f'Failed to pull image "nvcr.io/acme/llm:2": failed to resolve reference: failed to do request: Head "https://nvcr.io/v2/acme/llm/manifests/2": {REFUSED}\n',
        ),
    ),
    "clock: docker": ("clock-skew", (f'Error response from daemon: Get "https://registry-1.docker.io/v2/": {REFUSED}\n',)),
    "clock: skopeo, escaped": (
        "clock-skew",
        (f'time="2026-03-01T10:00:00Z" level=fatal msg="pinging: Get \\"https://quay.io/v2/\\": {REFUSED}"\n',),
    ),
    "clock: a registry of one's own": (
        "certificate-expired",
        (f'Error response from daemon: Get "https://hub.corp.example/v2/": {REFUSED}\n',),
    ),
    "clock: a name that only begins so": ("certificate-expired", (f'Get "https://quay.io.corp.example/v2/": {REFUSED}\n',)),
    "clock: the times are told": (
        "certificate-expired",
        (f'Get "https://quay.io/v2/": {REFUSED}: current time 2026-03-01T07:45:55Z is after 2026-02-27T06:55:59Z\n',),
    ),
    "discovery: affinity in a manifest": ("nfd-labels-missing", (DEMANDS % "nvidia.com/gpu.present", NODES % AZURE)),
    "discovery: selector in a table": (
        "nfd-labels-missing",
        (LISTED % "feature.node.kubernetes.io/pci-0302_10de.present=true", NODES % "node.kubernetes.io/instance-type=g5.xlarge"),
    ),
    "discovery: columns left away, labels cut into lines": (
        "nfd-labels-missing",
        (
            "$ kubectl -n dra get ds\nNAME        DESIRED  CURRENT  READY  NODE SELECTOR\ngpu-probe   0        0        0      nvidia.com/gpu.present=true\n",
            f"$ kubectl get no w-1 --show-labels | tr ',' '\\n' | grep -E 'gpu|nvidia|feature'\n{AZURE}\n",
        ),
    ),
    "discovery: no GPU in the cluster": ("", (LISTED % "nvidia.com/gpu.present=true", NODES % "kubernetes.io/arch=amd64")),
    "discovery: columns of other labels": (
        "",
        (
            LISTED % "nvidia.com/gpu.present=true",
            "$ kubectl get nodes -L cloud.google.com/gke-accelerator\nNAME   STATUS   ROLES    AGE   VERSION   GKE-ACCELERATOR\nw-1    Ready    <none>   12d   v1.32.1   nvidia-l4\n",
        ),
    ),
    "discovery: labels of something else": ("", (DEMANDS % "example.com/ready", NODES % AZURE)),
    "discovery: it works": ("", (DEMANDS % "nvidia.com/gpu.present", NODES % f"{AZURE},feature.node.kubernetes.io/cpu-model.id=1")),
    "loader: columns": (
        "?gpu-starved-by-input",
        ("run     num_workers   samples/s   GPU util\nfirst   0             38          4%\nlast    12            301         71%\n",),
    ),
    "loader: bars": ("?gpu-starved-by-input", ("| num_workers | img/s |\n|---|---|\n| 0 | 210 |\n| 4 | 640 |\n| 8 | 655 |\n",)),
    "loader: comma-separated": ("?gpu-starved-by-input", ("num_workers,step_time_ms\n0,912\n4,240\n",)),
    "loader: lines of a benchmark": ("?gpu-starved-by-input", ("num_workers=0: 1.92 s/it\nnum_workers=8: 0.31 s/it\n",)),
    "loader: no gain": ("", ("num_workers,step_time_ms\n0,250\n4,240\n",)),
    "loader: slower": ("", ("| num_workers | img/s |\n|---|---|\n| 0 | 640 |\n| 8 | 210 |\n",)),
    "loader: ranks of Ray Train": ("", ("num_workers   tok/s     GPU util\n1             1000      91%\n8             7800      90%\n",)),
    "exporter: a share": (
        "?exporter-oomkilled",
        ("tier     pods   OOMKilled   working set\nsmall    40     0%          170 MiB\nlarge    25     31%         240 MiB\n", EXPORTER),
    ),
    "exporter: a number, in its own row": (
        "?exporter-oomkilled",
        ("| daemonset | OOM kills |\n|---|---|\n| node-exporter | 0 |\n| dcgm-exporter | 7 |\n",),
    ),
    "exporter: none was killed": (
        "",
        ("tier     pods   OOMKilled   working set\nsmall    40     0%          170 MiB\nlarge    25     0%          240 MiB\n", EXPORTER),
    ),
    "autoscaler: again and again": ("hpa-metric-unavailable", ("".join(UNMEASURED % at for at in range(6)),)),
    "autoscaler: at its start": ("", (UNMEASURED % 0,)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_pasted(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)
