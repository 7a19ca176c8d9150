"""What is wanted beside what is there, as people paste it: what is decided, what stays open, and what is well though it looks alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

DS = "NAME   DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE\n"
PLUGIN = "nvidia-device-plugin-daemonset   4   4   4   4   4   nvidia.com/gpu.deploy.device-plugin=true   9d\n"
# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "exporter on fewer nodes": (
        "exporter-not-running",
        DS + "nvidia-dcgm-exporter   3   3   3   3   3   nvidia.com/gpu.deploy.dcgm-exporter=true   9d\n" + PLUGIN,
    ),
    "exporter on as many": ("", DS + "nvidia-dcgm-exporter   4   4   4   4   4   nvidia.com/gpu.deploy.dcgm-exporter=true   9d\n" + PLUGIN),
    "exporter of GPU nodes, plugin of all": (
        "",
        DS + "dcgm-exporter   3   3   3   3   3   gpu=true   9d\n" + PLUGIN.replace("nvidia.com/gpu.deploy.device-plugin=true", "<none>"),
    ),
    "no pod was made": ("?pod-security-forbidden", DS + PLUGIN.replace("4   4   4   4   4", "4   0   0   0   0")),
    "a metric is missed": ("?metric-not-exported", "In Grafana DCGM_FI_PROF_SM_ACTIVE is missing since the update.\n"),
    "a metric is praised": ("", "DCGM_FI_PROF_SM_ACTIVE is what our dashboards are made of.\n"),
    "vendor label in a sentence": (
        "nfd-label-format-mismatch",
        "feature.node.kubernetes.io/pci-0302_10de.present=true\nlabel `feature.node.kubernetes.io/pci-10de.present=true` is missing\n",
    ),
    "vendor label": (
        "",
        "feature.node.kubernetes.io/pci-0302_10de.present=true\nfeature.node.kubernetes.io/pci-10de.present=true\n",
    ),
    "last error alone": ("prometheus-target-down", 'received unsupported Content-Type "text/html; charset=utf-8"\n'),
    "up on a page": ("prometheus-target-down", 'up{instance="10.20.0.8:9400", job="dcgm-exporter"}\t0\n'),
    "up is one": ("", 'up{instance="10.20.0.8:9400", job="dcgm-exporter"}\t1\n'),
    "DNS without endpoints": ("dns-resolution-failure", "NAME       ENDPOINTS   AGE\nkube-dns   <none>      90d\n"),
    "DNS with endpoints": ("", "NAME       ENDPOINTS                     AGE\nkube-dns   10.244.0.3:53,10.244.0.4:53   90d\n"),
    "a large region": (
        "?pci-bar-not-assigned",
        "[    1.1] pci 0000:41:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: can't assign; no space\n",
    ),
    "a small region": ("", "[    1.1] pci 0000:41:00.0: BAR 6 [mem size 0x00080000 pref]: can't assign; no space\n"),
    "CDI names one of two": (
        "cdi-device-unresolvable",
        "$ nvidia-ctk cdi list\nnvidia.com/gpu=0\nnvidia.com/gpu=all\n$ nvidia-smi -L\n"
        "GPU 0: NVIDIA L40S (UUID: GPU-4a1f2c9e-8b3d-4e21-9c77-1d2e3f4a5b60)\n"
        "GPU 1: NVIDIA L40S (UUID: GPU-5a1f2c9e-8b3d-4e21-9c77-1d2e3f4a5b61)\n",
    ),
    "CDI names both": (
        "",
        "$ nvidia-ctk cdi list\nnvidia.com/gpu=0\nnvidia.com/gpu=1\n$ nvidia-smi -L\n"
        "GPU 0: NVIDIA L40S (UUID: GPU-4a1f2c9e-8b3d-4e21-9c77-1d2e3f4a5b60)\n"
        "GPU 1: NVIDIA L40S (UUID: GPU-5a1f2c9e-8b3d-4e21-9c77-1d2e3f4a5b61)\n",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)
