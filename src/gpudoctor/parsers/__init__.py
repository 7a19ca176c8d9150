"""The table of parsers: the name that runbooks use → what it fills and the function. Adding a parser is one function and one line.

A parser is `(output, about) -> Facts`: `output` is what one command printed, `about` the subject the command was run for (the record of
the step's `each`, or the host), from which the facts take names that the text itself doesn't carry. It returns a mapping fact type →
records: {} for an answer that says nothing, an empty list for "asked, and there is none". Text that isn't what the parser reads raises
`ParseError` quoting it. A streaming parser gets the pages one by one and keeps only what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output

LINE = 4096  # characters of one line that are looked at: log drivers cut at 16 KiB, and what a line says stands at its beginning


class Parser(NamedTuple):
    """`fills` names the fact types that the parser may return; `module:function` is imported when it is first used.

    One with `failures` is also given an Output whose program hung or isn't there: that says something of the program.
    """

    fills: tuple[str, ...]
    function: str
    streams: bool = False
    failures: bool = False
    all_of: tuple[str, ...] = ()  # the types of which its text would have every record: that there is none is an answer
    sifts: tuple[str, ...] = ()  # the types of which it leaves out the records that are well


PARSERS: dict[str, Parser] = {
    "kubernetes.pods": Parser(("pods", "containers", "messages", "schedule_reasons", "settings"), "kubernetes_pods:pods"),
    # Only pods of the GPU stack, target=False.
    "kubernetes.stack": Parser(("pods", "containers", "messages", "schedule_reasons"), "kubernetes_pods:stack"),
    "kubernetes.gpu_pods": Parser(
        ("pods", "containers", "messages", "schedule_reasons", "targets"),
        "kubernetes_gpu_pods:gpu_pods",
        streams=True,
        sifts=("pods", "containers"),
    ),
    "kubernetes.names": Parser(("names",), "kubernetes_names:names"),
    "kubernetes.nodes": Parser(("nodes",), "kubernetes_nodes:nodes"),
    "kubernetes.all_nodes": Parser(("nodes",), "kubernetes_nodes:all_nodes", streams=True),  # target=False
    "kubernetes.usage": Parser(("node_usage",), "kubernetes_nodes:usage", streams=True),
    "kubernetes.neighbours": Parser(("node_usage",), "kubernetes_nodes:neighbours", streams=True),  # with the labels of all pods
    "kubernetes.events": Parser(("events", "messages", "schedule_reasons"), "kubernetes_events:events"),
    "kubernetes.workloads": Parser(("workloads", "messages"), "kubernetes_workloads:workloads"),
    "kubernetes.quotas": Parser(("quotas",), "kubernetes_storage:quotas"),
    "kubernetes.device_claims": Parser(("device_claims",), "kubernetes_devices:claims"),
    "kubernetes.device_slices": Parser(("device_slices",), "kubernetes_devices:slices"),
    "kubernetes.claims": Parser(("claims",), "kubernetes_storage:claims"),
    "kubernetes.volumes": Parser(("volumes",), "kubernetes_storage:volumes"),
    "kubernetes.runtime_classes": Parser(("runtime_classes",), "kubernetes_storage:runtime_classes"),
    "kubernetes.stack_configs": Parser(("stack_configs",), "kubernetes_configs:stack_configs"),
    "runtime.stack_config": Parser(("stack_configs",), "kubernetes_configs:plain_config"),  # what such a ConfigMap holds, alone
    # The way of the metrics: exporters' pods as kubernetes.stack reads them, and the objects between them and Prometheus.
    "kubernetes.exporters": Parser(("pods", "containers", "messages", "schedule_reasons", "exporters"), "kubernetes_exporters:pods"),
    "kubernetes.exporter_templates": Parser(("exporters",), "kubernetes_exporters:templates"),
    "kubernetes.services": Parser(("services",), "kubernetes_monitoring:services"),
    "kubernetes.endpoints": Parser(("service_endpoints",), "kubernetes_monitoring:endpoints"),
    "kubernetes.service_monitors": Parser(("monitors",), "kubernetes_monitoring:service_monitors"),
    "kubernetes.pod_monitors": Parser(("pod_monitors",), "kubernetes_monitoring:pod_monitors"),
    "kubernetes.prometheuses": Parser(("prometheuses",), "kubernetes_monitoring:prometheuses"),
    "kubernetes.namespaces": Parser(("namespace_labels",), "kubernetes_monitoring:namespaces"),
    "kubernetes.prometheus_rules": Parser(("wanted_metrics",), "metric_rules:prometheus_rules"),
    "kubernetes.counters": Parser(("counter_lists",), "metric_rules:config_maps"),
    "person.answer": Parser(("answers",), "person:answer"),
    "logs.text": Parser(("messages", "xids", "sxids", "allocations", "endings", "troubles"), "logs:text"),
    "logs.errors": Parser(("xids", "sxids"), "logs:errors"),
    "kernel.log": Parser(("xids", "sxids", "messages", "kernel_logs", "troubles"), "kernel:log", streams=True, all_of=("xids", "sxids")),
    # Logs of the ranks of a distributed job, and of what launches it.
    "job.counters": Parser(("collectives",), "rank_counters:counters"),
    "nccl.log": Parser(
        ("ranks", "communicators", "collectives", "settings", "messages", "xids", "allocations", "endings", "troubles"),
        "nccl_log:log",
        streams=True,
    ),
    "nvidia.smi": Parser(("smi", "gpus", "gpu_processes", "gpu_samples", "messages"), "nvidia_smi:smi", failures=True),
    "nvidia.nvlink": Parser(("nvlinks", "gpus", "messages"), "nvidia_nvlink:nvlink"),
    "nvidia.topo": Parser(("gpu_paths",), "nvidia_topo:topo"),
    "cuda.peers": Parser(("gpu_paths",), "cuda_peers:peers"),  # CUDA's own tests
    "nvidia.version": Parser(("kernel_modules",), "nvidia_version:version"),  # /proc/driver/nvidia/version
    "nvml.gpus": Parser(("smi", "gpus", "gpu_processes"), "nvml:gpus", failures=True),  # JSON of probes/nvml_child.py
    "nvml.samples": Parser(("gpu_samples",), "nvml:samples"),
    "linux.lspci": Parser(("pci_devices",), "linux_lspci:lspci"),
    "linux.modules": Parser(("kernel_modules",), "linux_modules:modules"),  # /proc/modules
    # containerd, CRI-O, nvidia-container-runtime, Docker; a part of a configuration too
    "runtime.config": Parser(("runtime_configs",), "runtime_config:configs"),
    "kubelet.config": Parser(("kubelets", "messages"), "kubelet_config:kubelet"),
    "linux.units": Parser(("units",), "linux_units:units"),  # systemctl show
    # env, /proc/PID/environ, scripts, manifests, nccl.conf
    "environment.settings": Parser(("settings",), "environment:settings"),
    "linux.net_dev": Parser(("interfaces",), "linux_net_dev:interfaces"),  # /proc/net/dev
    "linux.cgroup": Parser(("process_pods",), "linux_cgroup:cgroup"),  # /proc/PID/cgroup
    # ibstat, ibstatus, ibv_devinfo, a listing of /sys/class/infiniband: whichever it is
    "infiniband.ports": Parser(("ib_ports", "ib_counters", "gids", "interfaces", "messages"), "ib_ports:ports"),
    "infiniband.perfquery": Parser(("ib_counters", "messages"), "ib_counters:perfquery"),
    "infiniband.ibqueryerrors": Parser(("ib_counters", "ib_ports", "messages"), "ib_counters:ibqueryerrors"),
    "infiniband.iblinkinfo": Parser(("ib_ports", "messages"), "ib_links:iblinkinfo"),
    "infiniband.gids": Parser(("gids", "ib_ports", "interfaces"), "ib_gids:table"),  # show_gids, rdma link, ibdev2netdev
    "infiniband.portstate": Parser(("ib_ports",), "ib_portstate:query"),  # ibportstate, smpquery portinfo
    "infiniband.series": Parser(("ib_counters", "ib_ports"), "ib_series:series"),  # node_exporter's, by Prometheus
    "infiniband.tables": Parser(("ib_ports", "ib_counters", "interfaces"), "ib_tables:table"),  # rows that people print of ports
    "infiniband.mlxlink": Parser(("ib_ports", "messages"), "ib_mlxlink:mlxlink"),
    "linux.limits": Parser(("limits",), "linux_limits:limits"),  # /proc/PID/limits, ulimit, df /dev/shm
    "collective.tests": Parser(("collective_tests",), "collective_tests:tests"),  # nccl-tests
    "network.reach": Parser(("reaches",), "reach:tests"),  # who reaches whom, as people write it down
    "kernel.outcomes": Parser(("kernel_outcomes",), "kernel_outcomes:outcomes"),  # rows of kernels and how RDMA went with them
    "network.neighbours": Parser(("cables",), "reach:neighbours"),  # lldpcli show neighbors
    "linux.ip_link": Parser(("interfaces",), "linux_ip_link:link"),
    "linux.nets": Parser(("interfaces", "messages"), "linux_nets:nets"),  # nmcli, /sys/class/net
    "linux.df": Parser(("file_systems",), "linux_df:file_systems", failures=True),  # what hangs says something
    "linux.ps": Parser(("processes",), "linux_ps:processes"),  # those that sleep in the kernel, and those that have ended
    "linux.orphans": Parser(("orphans",), "linux_orphans:orphans"),
    "linux.device_users": Parser(("gpu_processes",), "linux_orphans:users"),  # fuser, lsof
    "program.memory": Parser(("allocations",), "memory_reports:reports"),  # failed allocations, completed by what was said of memory
    "prometheus.queries": Parser(("gpu_samples",), "prometheus_queries:queries"),  # questions with their answers, as people keep them
    "text.measures": Parser(("measures", "paces"), "measures:measures"),  # numbers that tools, programs and notes state
    "training.log": Parser(("paces",), "training_log:pace"),  # the lines of progress of a training program
    "dcgm.discovery": Parser(("gpus",), "dcgm_discovery:discovery"),
    "dcgm.health": Parser(("dcgm_health", "dcgm_errors"), "dcgm_health:health"),
    "dcgm.said": Parser(("dcgm_errors",), "dcgm_said:sentences"),
    "dcgm.diag": Parser(("dcgm_tests", "dcgm_errors"), "dcgm_diag:diag"),
    "dcgm.dmon": Parser(("gpu_samples", "gpus"), "dcgm_dmon:dmon"),
    "dcgm.policy": Parser(("dcgm_policies",), "dcgm_policy:policy"),
    "dcgm.stats": Parser(("dcgm_stats", "gpu_samples"), "dcgm_stats:stats"),
    "linux.quota": Parser(("file_systems",), "quotas:quotas"),
    "nvidia.ecc_table": Parser(("gpus",), "ecc_table:gpus"),
    "nvidia.gpustat": Parser(("gpus", "gpu_samples", "gpu_processes"), "gpustat:gpustat"),
    "tracker.gpus": Parser(("gpu_samples",), "tracker_gpus:samples"),
    "nvidia.dmon": Parser(("gpu_samples",), "nvidia_dmon:dmon"),
    "prometheus.range": Parser(("gpu_samples",), "prometheus_range:samples", failures=True),
    "prometheus.text": Parser(("gpu_samples", "expositions", "gpus"), "prometheus_text:metrics"),  # what an exporter serves
    "prometheus.targets": Parser(("scrape_targets",), "prometheus_api:targets"),
    "prometheus.said": Parser(("wanted_metrics",), "metric_said:said"),  # metrics that somebody says he misses
    "prometheus.counts": Parser(("expositions", "wanted_metrics"), "metric_counts:counts"),  # how many series each metric has
    "prometheus.up": Parser(("scrape_targets",), "prometheus_up:reached"),  # rows made of an answer about `up`
    "prometheus.names": Parser(("expositions",), "prometheus_api:names"),  # an instant query, or the values of a label
    "prometheus.rules": Parser(("wanted_metrics",), "metric_rules:rule_texts"),  # a file of rules, a dashboard
    "dcgm.counters": Parser(("counter_lists",), "metric_rules:counters"),  # the exporter's list
    "torch.flight_recorder": Parser(("ranks", "collectives", "communicators"), "flight_recorder:dump"),  # one rank's dump
    "nccl.ras": Parser(("ranks", "collectives", "communicators"), "nccl_ras:status"),  # ncclras, text and JSON
    "python.stacks": Parser(("stacks",), "py_spy:stacks"),  # py-spy dump
    "serving.load": Parser(("engine_loads",), "engine_load:loads"),  # requests of the engines of a server, side by side
    "gpu.stated": Parser(("gpu_samples",), "gpu_stated:samples"),  # in notes
    "gpu.means": Parser(("gpu_samples",), "gpu_means:means"),  # of a job, of a query over a time
    "gdb.stacks": Parser(("stacks",), "gdb_stacks:stacks"),  # gdb, pstack
    "python.functions": Parser(("stacks",), "stack_summary:summary"),  # the innermost function of many processes
    "slurm.nodes": Parser(("slurm_nodes", "messages"), "slurm_nodes:nodes"),  # scontrol show node, sinfo
    "slurm.jobs": Parser(("slurm_jobs", "messages"), "slurm_jobs:jobs"),  # scontrol show job, squeue, sacct
    "slurm.conf": Parser(("slurm_gres",), "slurm_conf:gres"),  # slurm.conf, gres.conf
    # logs of slurmctld, slurmd, slurmdbd and munged
    "slurm.log": Parser(("slurm_nodes", "messages", "xids", "sxids", "allocations", "troubles"), "slurm_log:log"),
}


def foreign(output: Output, program: str) -> None:
    """Raise `ParseError` where nothing was recognised in what a program printed that was run. In a file other things may stand."""
    if not output.source and (text := output.text.strip()):
        raise ParseError(f"{output.named()}: not an answer of {program}: {text[:60]!r}")


class ParseError(ValueError):
    """The text is not what the parser reads. The message names the source and quotes the line; `facts` are what it did read."""

    def __init__(self, message: str, facts: Facts | None = None) -> None:
        super().__init__(message)
        self.facts = facts or {}


def mistake(what: str, source: str, error: Exception) -> str:
    """What is said where code of ours fails on a text. The text counts as unread, and everything else goes on.

    >>> mistake("parser kernel.log", "dmesg.txt", KeyError("code"))
    "dmesg.txt: not read by a bug of gpudoctor, please report it: parser kernel.log: KeyError: 'code'"
    """
    return f"{source}: not read by a bug of gpudoctor, please report it: {what}: {type(error).__name__}: {str(error)[:120]}"


def load(name: str) -> Callable[[Output, Subject], Facts]:
    """The function behind a name of the table."""
    from importlib import import_module

    module, _, function = PARSERS[name].function.partition(":")
    loaded: Callable[[Output, Subject], Facts] = getattr(import_module(f"{__name__}.{module}"), function)
    return loaded
