"""The table of parsers: the name that runbooks use → what it fills and the function. Adding a parser is one function and one line.

A parser is `(output, about) -> Facts`: `output` is what one command printed, `about` the subject the command was run for (the record of
the step's `each`, or the host), from which the facts take names that the text itself doesn't carry. It returns a mapping fact type →
records: {} for an answer that says nothing, an empty list for "asked, and there is none". Text that isn't what the parser reads raises
`ParseError` quoting it. A streaming parser gets the pages one by one and keeps only what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output

LINE = 4096  # characters of one line that are looked at: log drivers cut at 16 KiB, and what a line says stands at its beginning


class Parser(NamedTuple):
    """`fills` names the fact types that the parser may return; `module:function` is imported when it is first used."""

    fills: tuple[str, ...]
    function: str
    streams: bool = False


PARSERS: dict[str, Parser] = {
    "kubernetes.pods": Parser(("pods", "containers", "messages", "schedule_reasons"), "kubernetes_pods:pods"),
    # Only pods of the GPU stack, target=False.
    "kubernetes.stack": Parser(("pods", "containers", "messages", "schedule_reasons"), "kubernetes_pods:stack"),
    "kubernetes.gpu_pods": Parser(
        ("pods", "containers", "messages", "schedule_reasons", "targets"), "kubernetes_gpu_pods:gpu_pods", streams=True
    ),
    "kubernetes.names": Parser(("names",), "kubernetes_names:names"),
    "kubernetes.nodes": Parser(("nodes",), "kubernetes_nodes:nodes"),
    "kubernetes.all_nodes": Parser(("nodes",), "kubernetes_nodes:all_nodes", streams=True),  # target=False
    "kubernetes.usage": Parser(("node_usage",), "kubernetes_nodes:usage", streams=True),
    "kubernetes.events": Parser(("events", "messages", "schedule_reasons"), "kubernetes_events:events"),
    "kubernetes.workloads": Parser(("workloads", "messages"), "kubernetes_workloads:workloads"),
    "kubernetes.quotas": Parser(("quotas",), "kubernetes_storage:quotas"),
    "kubernetes.claims": Parser(("claims",), "kubernetes_storage:claims"),
    "kubernetes.volumes": Parser(("volumes",), "kubernetes_storage:volumes"),
    "kubernetes.runtime_classes": Parser(("runtime_classes",), "kubernetes_storage:runtime_classes"),
    "kubernetes.stack_configs": Parser(("stack_configs",), "kubernetes_configs:stack_configs"),
    "logs.text": Parser(("messages", "xids", "allocations"), "logs:text"),
    "kernel.log": Parser(("xids", "sxids", "messages"), "kernel:log"),
    "nvidia.smi": Parser(("smi", "gpus", "gpu_processes", "gpu_samples", "messages"), "nvidia_smi:smi"),
    "nvidia.nvlink": Parser(("nvlinks", "messages"), "nvidia_nvlink:nvlink"),
    "nvidia.topo": Parser(("gpu_paths",), "nvidia_topo:topo"),
    "nvidia.version": Parser(("kernel_modules",), "nvidia_version:version"),  # /proc/driver/nvidia/version
    "nvml.gpus": Parser(("smi", "gpus", "gpu_processes"), "nvml:gpus"),  # JSON of probes/nvml_child.py
    "nvml.samples": Parser(("gpu_samples",), "nvml:samples"),
    "linux.lspci": Parser(("pci_devices",), "linux_lspci:lspci"),
    "linux.modules": Parser(("kernel_modules",), "linux_modules:modules"),  # /proc/modules
    "linux.units": Parser(("units",), "linux_units:units"),  # systemctl show
    "linux.cgroup": Parser(("process_pods",), "linux_cgroup:cgroup"),  # /proc/PID/cgroup
    "dcgm.discovery": Parser(("gpus",), "dcgm_discovery:discovery"),
    "dcgm.health": Parser(("dcgm_health",), "dcgm_health:health"),
    "dcgm.diag": Parser(("dcgm_tests",), "dcgm_diag:diag"),
    "dcgm.dmon": Parser(("gpu_samples",), "dcgm_dmon:dmon"),
    "dcgm.policy": Parser(("dcgm_policies",), "dcgm_policy:policy"),
    "dcgm.stats": Parser(("dcgm_stats",), "dcgm_stats:stats"),
    "prometheus.range": Parser(("gpu_samples",), "prometheus_range:samples"),
}


class ParseError(ValueError):
    """The text is not what the parser reads. The message names the source and quotes the line."""


def load(name: str) -> Callable[[Output, Subject], Facts]:
    """The function behind a name of the table."""
    from importlib import import_module

    module, _, function = PARSERS[name].function.partition(":")
    loaded: Callable[[Output, Subject], Facts] = getattr(import_module(f"{__name__}.{module}"), function)
    return loaded


Pages = Iterable[Output]
