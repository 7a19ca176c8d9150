"""Which Kubernetes resource names stand for GPUs, and which labels say that a machine has one.

Sources: the NVIDIA device plugin (`nvidia.com/gpu`, `renameByDefault` gives `.shared`, MIG strategy `mixed` gives `mig-<profile>`),
the KubeVirt device plugin (the product's name: `nvidia.com/GA102GL_A10`, `nvidia.com/NVIDIA_A10-12Q`), AMD's and Intel's device plugins.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from gpudoctor.patterns import regex

# p4d.24xlarge, g5.xlarge, g6e.2xlarge  |  Standard_NC24ads_A100_v4, Standard_ND96isr_H100_v5  |  a2-highgpu-1g, g2-standard-4
GPU_INSTANCE = regex(r"p[2-6][a-z0-9-]*\.\d*x?large|g(?!4ad)[3-7][a-z0-9]*\.|Standard_N[CD](?!\S*MI\d)|a[234]-\w+gpu-|g2-standard-")
# HAMi and other sharing schedulers: amounts of memory or cores, not devices.
NOT_DEVICES = ("nvidia.com/gpumem", "nvidia.com/gpucores", "nvidia.com/gpu-memory", "nvidia.com/gpu.memory")

# nvidia.com/gpu, nvidia.com/gpu.shared, nvidia.com/mig-1g.10gb, nvidia.com/GH100_H100_SXM5_80GB, nvidia.com/NVIDIA_A10-12Q
NVIDIA = regex(r"nvidia\.com/(?:gpu|mig-|NVIDIA_|(?:G[ABHKMPV]|AD|TU)\d)")
# amd.com/gpu, amd.com/cpx_nps4 (a partition), gpu.intel.com/i915, gpu.intel.com/xe, k8s.amazonaws.com/vgpu
OTHERS = regex(r"(?:amd\.com/(?:gpu|[sdqc]px_nps\d)|gpu\.intel\.com/(?:i915|xe)|k8s\.amazonaws\.com/vgpu)$")

# Labels that only a machine with an NVIDIA GPU has. Value "" = any value.
# Set by: GPU Operator, GFD, NFD (two forms), GKE, EKS, Karpenter, AKS.
GPU_LABELS: tuple[tuple[str, str], ...] = (
    ("nvidia.com/gpu.present", "true"),
    ("nvidia.com/gpu.product", ""),
    ("nvidia.com/gpu.count", ""),
    ("feature.node.kubernetes.io/pci-10de.present", "true"),
    ("feature.node.kubernetes.io/pci-0300_10de.present", "true"),
    ("feature.node.kubernetes.io/pci-0302_10de.present", "true"),
    ("cloud.google.com/gke-accelerator", ""),
    ("k8s.amazonaws.com/accelerator", ""),
    ("karpenter.k8s.aws/instance-gpu-manufacturer", "nvidia"),
    ("kubernetes.azure.com/accelerator", "nvidia"),
)


def is_nvidia(resource: str) -> bool:
    """Whether a resource name counts NVIDIA GPUs, whole, shared or cut into MIG instances.

    >>> [is_nvidia(name) for name in ("nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/tesla-t4.shared", "nvidia.com/gpumem")]
    [True, True, True, False]
    """
    if resource.startswith(NOT_DEVICES):
        return False
    return NVIDIA.match(resource) is not None or (resource.startswith("nvidia.com/") and resource.endswith(".shared"))


def instance_has_gpu(labels: Mapping[str, str]) -> bool:
    """Whether the machine type of a cloud has NVIDIA's GPUs: AWS p and g (g4ad has AMD's), Azure NC, ND, NV, Google's accelerator families.

    >>> [instance_has_gpu({"node.kubernetes.io/instance-type": kind}) for kind in ("g5.xlarge", "m6i.large", "Standard_NC6s_v3")]
    [True, False, True]
    """
    return GPU_INSTANCE.match(labels.get("node.kubernetes.io/instance-type", "")) is not None


@functools.lru_cache(maxsize=4096)  # a cluster has a handful of names and asks about them for every pod
def is_gpu(resource: str) -> bool:
    """Whether a resource name counts GPUs of any vendor."""
    return is_nvidia(resource) or OTHERS.match(resource) is not None


def gpu_names(resources: Iterable[str]) -> list[str]:
    """The GPU resource names among the given ones, sorted."""
    return sorted(filter(is_gpu, resources))


def gpu_count(resources: Mapping[str, int]) -> int:
    """How many devices the amounts have together, over all GPU resource names."""
    return sum(amount for resource, amount in resources.items() if is_gpu(resource))


def has_nvidia_gpu(labels: Mapping[str, str], resources: Iterable[str]) -> bool:
    """Whether a node's labels or resource names say that the machine has an NVIDIA GPU.

    A resource name counts even with the amount 0: a device plugin that has lost its devices leaves the name behind.
    """
    labelled = any(key in labels and want in ("", labels[key]) and labels[key] != "false" for key, want in GPU_LABELS)
    return labelled or instance_has_gpu(labels) or any(map(is_nvidia, resources))


def expected_gpus(labels: Mapping[str, str]) -> int | None:
    """How many `nvidia.com/gpu` the labels of GPU feature discovery promise: count by replicas. None without the label.

    With the MIG strategy `mixed`, whole GPUs and MIG instances have different names and one number says nothing: None.
    `replicas` is 1 or 0 where GPUs are not shared.
    """
    if labels.get("nvidia.com/mig.strategy") == "mixed":
        return None
    count = small_number(labels.get("nvidia.com/gpu.count", ""))
    return None if count is None else count * max(small_number(labels.get("nvidia.com/gpu.replicas", "")) or 1, 1)


def small_number(text: str) -> int | None:
    """A label's value as a number of at most four digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None
