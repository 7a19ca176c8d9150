"""How configurations of runtimes and of the kubelet are recognised."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.parsers.kubelet_config import FIELD, FLAG
from gpudoctor.parsers.runtime_config import DRIVER_ALONE, INFO, OF_DOCKER, program_of
from gpudoctor.parsers.toml_lines import PART, TABLE
from gpudoctor.patterns import regex

KEY = regex(r'(?:^|[{,])\s*"([a-z-]{3,40})"\s*:', re.MULTILINE)
TOP = regex(r"^([A-Za-z][\w-]{0,40}):(?:\s|$)")
HEAD = 65_536  # characters of JSON that are looked at
FEW = 19  # the score of a line or two that were picked out by grep: what stands around them is read, too


def of_runtime(lines: Sequence[str], whole: str) -> int:
    """containerd's, CRI-O's or NVIDIA's TOML by a table, Docker's daemon.json and `docker info` by their own words, `crictl info`."""
    head = whole[:HEAD].lstrip()
    if head.startswith("{"):
        if '"kind"' in head:
            return 0
        docker = {"runtimes", "default-runtime", "exec-opts"} & set(KEY.findall(head)) and set(KEY.findall(head)) & OF_DOCKER
        return 90 if docker or ('"containerd"' in head and '"runtimes"' in head and '"config"' in head) else 0
    for line in lines:
        if (match := TABLE.match(line)) and program_of(
            tuple("".join(filter(None, part.groups())) for part in PART.finditer(match["path"]))
        ):
            return 78
    shown = {match[1] for line in lines if (match := INFO.match(line))}
    if {"Default Runtime", "Cgroup Driver"} <= shown:
        return 78
    return FEW if any(DRIVER_ALONE.match(line) for line in lines) else 0


def of_stack(lines: Sequence[str]) -> int:
    """What the device plugin (sharing) or the MIG manager (layouts) is configured with, without the ConfigMap around it."""
    keys = {match[1] for line in lines if (match := TOP.match(line))}
    if "kind" in keys or "apiVersion" in keys:
        return 0
    inner = {line.strip() for line in lines[:400]}
    shares = any(line.startswith("replicas:") for line in inner)
    sharing = "sharing" in keys and (shares or inner & {"timeSlicing:", "mps:"})
    return 90 if "mig-configs" in keys or sharing or (keys & {"timeSlicing", "mps"} and shares) or keys == {"timeSlicing"} else 0


def of_kubelet(lines: Sequence[str], whole: str) -> int:
    """A KubeletConfiguration, or /configz of a node."""
    if '"kubeletconfig"' in whole[:200]:
        return 96
    if any(line.strip().rstrip(",") in ("kind: KubeletConfiguration", '"kind": "KubeletConfiguration"') for line in lines[:400]):
        return 96
    return FEW if any(FLAG.search(line) or FIELD.match(line) for line in lines) else 0
