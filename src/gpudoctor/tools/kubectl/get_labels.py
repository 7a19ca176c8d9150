"""Labels of nodes that a table shows: the columns of `-L`, the last one of `--show-labels`, and those by which the rows were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gpudoctor.tools.kubectl.columns import cells

# Columns of `-L LABEL`: kubectl prints what follows the label's slash, in capitals.
LABELS = {
    label.rpartition("/")[2].upper(): label
    for label in (
        "nvidia.com/gpu-driver-upgrade-state",
        "nvidia.com/mig.config",
        "nvidia.com/mig.config.state",
        "nvidia.com/mig.strategy",
        "nvidia.com/device-plugin.config",
        "nvidia.com/gpu.count",
        "nvidia.com/gpu.present",
        "nvidia.com/gpu.product",
        "nvidia.com/gpu.replicas",
        "nvidia.com/gpu.sharing-strategy",
        "feature.node.kubernetes.io/pci-10de.present",
        "topology.kubernetes.io/zone",
        "node.kubernetes.io/instance-type",
        "cloud.google.com/gke-accelerator",
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/nodegroup",
        "karpenter.sh/nodepool",
        "nvidia.com/gpu.deploy.dcgm-exporter",
        "nvidia.com/gpu.deploy.device-plugin",
        "nvidia.com/gpu.deploy.driver",
    )
}


def asked_labels(argv: Sequence[str]) -> dict[str, str]:
    """Title → label of the columns that a command asks for.

    >>> asked_labels(("kubectl", "get", "nodes", "-L", "example.com/pool,gpu-type"))
    {'POOL': 'example.com/pool', 'GPU-TYPE': 'gpu-type'}
    """
    words = [after for word, after in pairwise(argv) if word in ("-L", "--label-columns")]
    words += [word.partition("=")[2] for word in argv if word.startswith(("-L=", "--label-columns="))]
    words += [word[2:] for word in argv if word.startswith("-L") and len(word) > 2 and word[2] != "="]
    return {label.rpartition("/")[2].upper(): label for word in words for label in word.split(",") if label}


def label_cells(line: str, titles: list[tuple[int, str]], known: dict[str, str]) -> dict[str, str]:
    """The labels that the columns of `-L` show, or the last one of `--show-labels`."""
    if titles and titles[-1][1] == "LABELS":
        last = line.split()[-1]
        return {key: value for key, mark, value in (pair.partition("=") for pair in last.split(",")) if mark and key}
    row = cells(line, titles) if any(title in known for _, title in titles) else {}
    return {known[title]: text for title, text in row.items() if title in known and " " not in text and text != "<none>"}


def selector_labels(argv: Sequence[str]) -> dict[str, str]:
    """The labels that `-l` asks for, which every row then has.

    >>> selector_labels(("kubectl", "get", "nodes", "-l", "nvidia.com/gpu.present=true,!spot"))
    {'nvidia.com/gpu.present': 'true'}
    """
    words = [after for word, after in pairwise(argv) if word in ("-l", "--selector")]
    words += [word.partition("=")[2] for word in argv if word.startswith(("-l=", "--selector="))]
    pairs = [one.replace("==", "=").partition("=") for word in words for one in word.split(",") if "!" not in one and "(" not in one]
    return {key: value for key, mark, value in pairs if mark and key}
