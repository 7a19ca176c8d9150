"""What the resource names, labels and pod names of the GPU stack mean."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.knowledge import components
from gpudoctor.knowledge.components import BY_NAME, COMPONENTS, ORDER
from gpudoctor.knowledge.resources import expected_gpus, gpu_count, has_nvidia_gpu, is_gpu


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
        "nvidia.com/mig-3g.20gb",
        "nvidia.com/mig-1g.10gb.me",
        "nvidia.com/tesla-t4.shared",
        "nvidia.com/GH100_H100_SXM5_80GB",
        "nvidia.com/NVIDIA_A10-12Q",
        "amd.com/gpu",
        "gpu.intel.com/i915",
        "gpu.intel.com/xe",
    ],
)
def test_gpus(name: str) -> None:
    assert is_gpu(name)


@pytest.mark.parametrize(
    "name",
    [
        "cpu",
        "nvidia.com/gpumem",
        "nvidia.com/gpucores",
        "nvidia.com/hostdev",
        "nvidia.com/rdma_shared_device_a",
        "rdma/hca",
        "gpu.intel.com/i915_monitoring",
        "amd.com/gpumem",
        "example.com/nvidia.com/gpu",
        "example.com/x.shared",
        "",
    ],
)
def test_no_gpus(name: str) -> None:
    assert not is_gpu(name)


def test_counts_and_labels() -> None:
    assert gpu_count({"nvidia.com/gpu": 2, "nvidia.com/mig-1g.5gb": 7, "cpu": 64000, "nvidia.com/gpumem": 4096}) == 9
    assert expected_gpus({"nvidia.com/gpu.count": "8"}) == 8
    assert expected_gpus({"nvidia.com/gpu.count": "8", "nvidia.com/gpu.replicas": "0"}) == 8
    assert expected_gpus({"nvidia.com/gpu.count": "²"}) is None
    assert expected_gpus({"nvidia.com/gpu.count": "9" * 5000}) is None
    assert has_nvidia_gpu({"feature.node.kubernetes.io/pci-10de.present": "true"}, [])
    assert not has_nvidia_gpu({"nvidia.com/gpu.present": "false", "accelerator": "tpu"}, ["cpu"])


@pytest.mark.parametrize(
    ("name", "component"),
    [
        ("gpu-operator-859cb64846-57hfn", "operator"),
        ("gpu-operator", "operator"),
        ("gpu-operator-1700000000-node-feature-discovery-worker-9s5tc", "nfd-worker"),
        ("nfd-master-6d6649d597-7l8bj", "nfd-master"),
        ("nvidia-driver-daemonset-48.84.202110270303-0-9df9j", "driver"),
        ("nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b-lmh7s", "driver"),
        ("nvidia-driver-installer-x2x4z", "driver"),
        ("mofed-ubuntu22.04-5b8c-ds-abcde", "mofed-driver"),
        ("nvidia-container-toolkit-daemonset-6ltbv", "container-toolkit"),
        ("nvidia-device-plugin-daemonset-rwslh", "device-plugin"),
        ("nvidia-gpu-device-plugin-small-cos-aaaaa", "device-plugin"),
        ("nvdp-nvidia-device-plugin-2f5kc", "device-plugin"),
        ("nvidia-device-plugin-mps-control-daemon-x", "mps-control-daemon"),
        ("nvidia-device-plugin-validator-gq4ww", "plugin-validator"),
        ("nvidia-cuda-validator-62w6r", "cuda-validator"),
        ("nvidia-operator-validator-78mzv", "operator-validator"),
        ("nvidia-dcgm-exporter-fh5wz", "dcgm-exporter"),
        ("prometheus-dcgm-exporter-fh5wz", "dcgm-exporter"),
        ("nvidia-dcgm-4bq8l", "dcgm"),
        ("nvidia-mig-manager-4gn76", "mig-manager"),
        ("gpu-feature-discovery-pzzr8", "gpu-feature-discovery"),
        ("nvidia-sandbox-device-plugin-daemonset-x", "sandbox-device-plugin"),
        ("nvidia-vgpu-manager-daemonset-x", "vgpu-manager"),
        ("nvidia-dra-driver-gpu-kubelet-plugin-4kfhk", "dra-driver"),
        ("gpu-test-4rtkn", ""),
        ("gpu-operator-test-job-1", ""),
        ("train-nvidia-0", ""),
    ],
)
def test_pods_by_name(name: str, component: str) -> None:
    assert components.of_name(name) == component


def test_the_name_decides_before_the_label_that_several_parts_share() -> None:
    shared = {"app.kubernetes.io/name": "nvidia-device-plugin"}
    assert components.of_pod("x-2x4z5", "nvdp-gpu-feature-discovery", shared) == "gpu-feature-discovery"
    assert components.of_pod("x-2x4z5", "gpus", shared) == "device-plugin"
    assert components.of_pod("x", "", {"name": "nvidia-device-plugin-ds"}) == "device-plugin"
    assert components.of_pod("x", "", {"role": "worker", "app.kubernetes.io/name": "node-feature-discovery"}) == "nfd-worker"
    assert components.of_pod("x", "", {"role": "worker"}) == ""


def test_the_table_is_sound() -> None:
    assert len(BY_NAME) == len(COMPONENTS)
    for component in COMPONENTS:
        re.compile(component.names)
        assert set(component.after) <= BY_NAME.keys()
        assert all(ORDER[name] < ORDER[component.name] for name in component.after), component.name


@given(st.text(max_size=300))
def test_any_name_is_safe(name: str) -> None:
    assert components.of_name(name) in {"", *BY_NAME}
