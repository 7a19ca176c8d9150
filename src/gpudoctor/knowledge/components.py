"""The parts of the GPU stack on Kubernetes: how their pods are recognised, which part each waits for, and what can be read in them.

Sources: the assets/ and manifests/ folders of NVIDIA/gpu-operator, the charts of NVIDIA/k8s-device-plugin, NVIDIA/dcgm-exporter and
kubernetes-sigs/node-feature-discovery; GKE's nvidia-gpu-device-plugin and nvidia-driver-installer; Mellanox/network-operator.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple


class Component(NamedTuple):
    """One part. `name` is the word that facts use.

    `names` is a regex on the name of the DaemonSet or Deployment that owns the pod, or of the pod itself. It decides before `selectors`
    (label=value; a label alone: any value), because the charts put one and the same label on several parts. `after` names the parts for
    which this one always waits in an init container, without those that a cluster may do without. Of `containers` the first that exists
    has the log that tells most; `commands` are the programs that it has.
    """

    name: str
    names: str
    selectors: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


# In the order in which they come up on a node; the position is the part's `order`.
COMPONENTS: tuple[Component, ...] = (
    Component("operator", r"gpu-operator(?:-[0-9a-f]{6,10}(?:-\w{5})?)?$", ("app=gpu-operator",), (), ("gpu-operator",)),
    Component(
        "nfd-master",
        r"(?:.*-)?(?:node-feature-discovery|nfd)-master\b",
        ("app=nfd-master", "role=master,app.kubernetes.io/name=node-feature-discovery"),
        (),
        ("master", "nfd-master"),
    ),
    Component(
        "nfd-worker",
        r"(?:.*-)?(?:node-feature-discovery|nfd)-worker\b",
        ("app=nfd-worker", "role=worker,app.kubernetes.io/name=node-feature-discovery"),
        (),
        ("worker", "nfd-worker"),
    ),
    Component("mofed-driver", r"(?:mofed|doca-driver)-", ("nvidia.com/ofed-driver",), (), ("mofed-container",), ("dmesg",)),
    Component(
        "vgpu-manager",
        r"nvidia-vgpu-manager-daemonset\b",
        ("app=nvidia-vgpu-manager-daemonset", "app.kubernetes.io/component=nvidia-vgpu-host-manager"),
        (),
        ("nvidia-vgpu-manager-ctr",),
        ("nvidia-smi", "dmesg"),
    ),
    Component("vgpu-device-manager", r"nvidia-vgpu-device-manager\b", ("app=nvidia-vgpu-device-manager",), ("vgpu-manager",)),
    Component("vfio-manager", r"nvidia-vfio-manager\b", ("app=nvidia-vfio-manager",)),
    Component(
        "driver",
        # nvidia-driver-daemonset-48.84.202110270303-0 (OpenShift), nvidia-gpu-driver-ubuntu22.04-7c6d7bd86b (NVIDIADriver), GKE's installer
        r"nvidia-driver-daemonset\b|nvidia-gpu-driver-|nvidia-driver-installer\b",
        ("app.kubernetes.io/component=nvidia-driver", "app=nvidia-driver-daemonset", "k8s-app=nvidia-driver-installer"),
        (),
        ("nvidia-driver-ctr", "nvidia-driver-installer"),
        ("nvidia-smi", "dmesg"),
    ),
    Component(
        "container-toolkit",
        r"(?:.*-)?nvidia-container-toolkit\b",
        ("app=nvidia-container-toolkit-daemonset",),
        ("driver",),
        ("nvidia-container-toolkit-ctr",),
        ("dmesg",),
    ),
    Component(
        "mig-manager",
        r"(?:.*-)?nvidia-mig-manager\b",
        ("app=nvidia-mig-manager",),
        ("container-toolkit",),
        ("nvidia-mig-manager",),
        ("nvidia-smi",),
    ),
    Component(
        "mps-control-daemon",
        r"(?:.*-)?mps-control-daemon\b",
        ("app=nvidia-device-plugin-mps-control-daemon",),
        ("container-toolkit",),
        ("mps-control-daemon-ctr",),
        ("nvidia-smi",),
    ),
    Component(
        "sandbox-device-plugin",
        r"nvidia-(?:kata-)?sandbox-device-plugin\b",
        ("app=nvidia-sandbox-device-plugin-daemonset",),
        (),
        ("nvidia-sandbox-device-plugin-ctr",),
    ),
    Component(
        "gpu-feature-discovery",
        r"(?:.*-)?gpu-feature-discovery\b",
        ("app=gpu-feature-discovery", "app.kubernetes.io/name=gpu-feature-discovery"),
        ("container-toolkit",),
        ("gpu-feature-discovery", "gpu-feature-discovery-ctr"),
        ("nvidia-smi",),
    ),
    Component(
        "device-plugin",
        # nvidia-device-plugin-daemonset, nvdp-nvidia-device-plugin (helm), nvidia-gpu-device-plugin-small-cos (GKE)
        r"(?:.*-)?nvidia-(?:gpu-)?device-plugin(?!-validator)\b",
        (
            "app=nvidia-device-plugin-daemonset",
            "name=nvidia-device-plugin-ds",
            "app.kubernetes.io/name=nvidia-device-plugin",
            "k8s-app=nvidia-gpu-device-plugin",
        ),
        ("container-toolkit",),
        ("nvidia-device-plugin", "nvidia-device-plugin-ctr", "nvidia-gpu-device-plugin"),
        ("nvidia-smi",),
    ),
    Component(
        "dra-driver",
        r"(?:.*-)?nvidia-dra-driver(?:-gpu)?-",
        ("app.kubernetes.io/name=nvidia-dra-driver", "app.kubernetes.io/name=nvidia-dra-driver-gpu"),
        ("driver",),
        ("gpus", "compute-domains"),
        ("nvidia-smi",),
    ),
    Component(
        "dcgm",
        r"(?:nvidia-)?dcgm(?!-exporter)(?:-|$)",
        ("app=nvidia-dcgm", "app=nvidia-dcgm-dra"),
        ("container-toolkit",),
        ("nvidia-dcgm-ctr",),
        ("nvidia-smi", "dcgmi"),
    ),
    Component(
        "dcgm-exporter",
        r"(?:.*-)?dcgm-exporter\b",
        ("app=nvidia-dcgm-exporter", "app.kubernetes.io/name=dcgm-exporter"),
        ("container-toolkit",),
        ("nvidia-dcgm-exporter", "exporter"),
        ("nvidia-smi",),
    ),
    Component("node-status-exporter", r"nvidia-node-status-exporter\b", ("app=nvidia-node-status-exporter",)),
    Component("cuda-validator", r"nvidia-cuda-validator\b", ("app=nvidia-cuda-validator",)),
    Component("plugin-validator", r"nvidia-device-plugin-validator\b", ("app=nvidia-device-plugin-validator",)),
    Component(
        "operator-validator",
        r"nvidia-operator-validator\b",
        ("app=nvidia-operator-validator",),
        ("driver", "container-toolkit", "device-plugin"),
        ("nvidia-operator-validator",),
        ("nvidia-smi",),
    ),
    Component(
        "sandbox-validator",
        r"nvidia-sandbox-validator\b",
        ("app=nvidia-sandbox-validator",),
        (),
        ("nvidia-sandbox-validator",),
    ),
)

BY_NAME: dict[str, Component] = {component.name: component for component in COMPONENTS}
ORDER: dict[str, int] = {component.name: position for position, component in enumerate(COMPONENTS, 1)}

# The labels that selectors look at.
TELLING = {term.partition("=")[0] for component in COMPONENTS for text in component.selectors for term in text.split(",")}

# A cheap test before twenty regexes: each name pattern needs one of these words.
WORDS = ("nvidia", "gpu", "dcgm", "nfd", "node-feature", "mofed", "doca", "mps-control")


@functools.lru_cache(maxsize=4096)
def of_name(name: str) -> str:
    """The part whose DaemonSet, Deployment or pod has this name, "" for other names.

    >>> [of_name(name) for name in ("nvidia-device-plugin-daemonset-4zk2x", "nvdp-nvidia-device-plugin-mps-control-daemon", "train-0")]
    ['device-plugin', 'mps-control-daemon', '']
    """
    name = name[:253]
    if not any(word in name for word in WORDS):
        return ""
    return next((component.name for component in COMPONENTS if re.match(component.names, name)), "")


def of_labels(labels: Mapping[str, str]) -> str:
    """The part that a pod's labels name, "" for other pods."""
    telling = tuple((key, value) for key, value in labels.items() if key in TELLING)
    return told_by(telling) if telling else ""


@functools.lru_cache(maxsize=4096)
def told_by(labels: tuple[tuple[str, str], ...]) -> str:
    """`of_labels` of those that selectors name: thousands of pods have few different ones."""
    given = dict(labels)
    return next((component.name for component in COMPONENTS if any(selects(text, given) for text in component.selectors)), "")


def of_pod(name: str, owner: str, labels: Mapping[str, str]) -> str:
    """The part of the GPU stack that a pod is, by its owner's name, its own name, or its labels; "" for other pods."""
    return of_name(owner) or of_name(name) or of_labels(labels)


def selects(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether labels satisfy a selector of the form `key=value,key`; a key alone stands for any value."""
    terms = (term.partition("=") for term in selector.split(","))
    return all(key in labels and want in ("", labels[key]) for key, _, want in terms)
