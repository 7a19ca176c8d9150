"""The table of recognisers, each with a score for a text and the parser that reads it.

A shown command and a file's name add names to the facts (see `hints`); they never decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.analyze import (
    answered,
    autoscaler_status,
    config_forms,
    dcgm_forms,
    job_forms,
    kubectl_describe,
    kubectl_events,
    kubectl_tables,
    log_forms,
    manifests,
    metric_forms,
    monitor_forms,
    monitoring_forms,
    node_amounts,
    node_columns,
    node_forms,
    rank_forms,
    ray_status,
    rdma_forms,
    said_forms,
    setting_forms,
    slurm_forms,
    stall_forms,
    version_forms,
)
from gpudoctor.analyze.hints import Hint
from gpudoctor.facts import Facts, Subject
from gpudoctor.parsers import (
    LINE,
    PARSERS,
    cuda_peers,
    ecc_table,
    engine_load,
    gdb_stacks,
    gpu_means,
    ib_portstate,
    ib_series,
    ib_tables,
    kernel_outcomes,
    linux_nets,
    linux_orphans,
    load,
    rank_counters,
)
from gpudoctor.probes.base import Output

Parse = Callable[[Output, Subject], Facts]


class Text(NamedTuple):
    """A text as recognisers see it: its beginning as lines, the whole, and the hint."""

    lines: list[str]
    whole: str
    hint: Hint


class Recogniser(NamedTuple):
    """`score` is 0 for "not this"; of all the highest wins, the earlier one where two are equal.

    One that is `embedded` reads its text also out of a log that another recogniser has won.
    """

    name: str
    score: Callable[[Text], int]
    parse: Parse
    embedded: bool = False


def _parser(name: str) -> Parse:
    if PARSERS[name].streams:
        return lambda output, about: load(name)([output], about)  # type: ignore[arg-type]
    return lambda output, about: load(name)(output, about)


def _events(output: Output, about: Subject) -> Facts:
    return kubectl_events.events([line[:LINE] for line in output.text.split("\n")], output.named(), about)


def _scheduler(output: Output, about: Subject) -> Facts:
    return kubectl_events.scheduler_words([line[:LINE] for line in output.text.split("\n")], output.named(), about)


RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("program.answer", lambda text: said_forms.score(text.hint.argv, text.whole), said_forms.facts),
    Recogniser("program.version", lambda text: version_forms.score(text.hint.argv, text.whole), version_forms.facts),
    Recogniser("kubectl.fields", lambda text: answered.score(text.hint.argv, text.whole), answered.facts),
    Recogniser("kubernetes.objects", lambda text: manifests.score(text.whole), manifests.objects),
    Recogniser(
        "nvidia.smi",
        lambda text: node_forms.of_smi(text.lines) or node_forms.of_query(text.lines, text.hint.argv),
        _parser("nvidia.smi"),
        embedded=True,
    ),
    Recogniser("nvidia.nvml", lambda text: node_forms.of_nvml(text.whole), _parser("nvml.gpus")),
    Recogniser("nvidia.nvlink", lambda text: node_forms.of_nvlink(text.lines), _parser("nvidia.nvlink"), embedded=True),
    Recogniser("nvidia.topo", lambda text: node_forms.of_topo(text.lines), _parser("nvidia.topo"), embedded=True),
    Recogniser("cuda.peers", lambda text: cuda_peers.score(text.lines), _parser("cuda.peers"), embedded=True),
    Recogniser("nvidia.version", lambda text: node_forms.of_version(text.lines), _parser("nvidia.version"), embedded=True),
    Recogniser("linux.lspci", lambda text: node_forms.of_lspci(text.lines), _parser("linux.lspci")),
    Recogniser("linux.modules", lambda text: node_forms.of_modules(text.lines), _parser("linux.modules"), embedded=True),
    Recogniser(
        "slurm.nodes", lambda text: slurm_forms.of_nodes(text.lines, text.whole, text.hint.argv), _parser("slurm.nodes"), embedded=True
    ),
    Recogniser(
        "slurm.jobs", lambda text: slurm_forms.of_jobs(text.lines, text.whole, text.hint.argv), _parser("slurm.jobs"), embedded=True
    ),
    Recogniser("slurm.conf", lambda text: slurm_forms.of_conf(text.lines), _parser("slurm.conf")),
    Recogniser("slurm.log", lambda text: slurm_forms.of_log(text.lines), _parser("slurm.log")),
    Recogniser("runtime.stack_config", lambda text: config_forms.of_stack(text.lines), _parser("runtime.stack_config")),
    Recogniser("runtime.config", lambda text: config_forms.of_runtime(text.lines, text.whole), _parser("runtime.config"), embedded=True),
    Recogniser("kubelet.config", lambda text: config_forms.of_kubelet(text.lines, text.whole), _parser("kubelet.config")),
    Recogniser("linux.units", lambda text: node_forms.of_units(text.lines), _parser("linux.units")),
    Recogniser("dcgm.diag", lambda text: dcgm_forms.of_diag(text.lines, text.whole), _parser("dcgm.diag"), embedded=True),
    Recogniser("dcgm.said", lambda text: dcgm_forms.of_said(text.lines, text.whole), _parser("dcgm.said"), embedded=True),
    Recogniser("dcgm.health", lambda text: dcgm_forms.of_health(text.lines), _parser("dcgm.health"), embedded=True),
    Recogniser("dcgm.discovery", lambda text: dcgm_forms.of_discovery(text.lines), _parser("dcgm.discovery"), embedded=True),
    Recogniser("dcgm.dmon", lambda text: dcgm_forms.of_dmon(text.lines), _parser("dcgm.dmon"), embedded=True),
    Recogniser("dcgm.policy", lambda text: dcgm_forms.of_policy(text.lines), _parser("dcgm.policy"), embedded=True),
    Recogniser("dcgm.stats", lambda text: dcgm_forms.of_stats(text.lines), _parser("dcgm.stats"), embedded=True),
    Recogniser(
        "infiniband.ports",
        lambda text: rdma_forms.of_ports(text.lines, text.whole, text.hint.argv),
        _parser("infiniband.ports"),
        embedded=True,
    ),
    Recogniser("infiniband.perfquery", lambda text: rdma_forms.of_counters(text.lines), _parser("infiniband.perfquery"), embedded=True),
    Recogniser(
        "infiniband.ibqueryerrors", lambda text: rdma_forms.of_errors(text.lines), _parser("infiniband.ibqueryerrors"), embedded=True
    ),
    Recogniser("infiniband.iblinkinfo", lambda text: rdma_forms.of_links(text.lines), _parser("infiniband.iblinkinfo"), embedded=True),
    Recogniser("infiniband.gids", lambda text: rdma_forms.of_gids(text.lines), _parser("infiniband.gids"), embedded=True),
    Recogniser("infiniband.mlxlink", lambda text: rdma_forms.of_mlxlink(text.lines), _parser("infiniband.mlxlink"), embedded=True),
    Recogniser(
        "linux.ip_link",
        lambda text: rdma_forms.of_interfaces(text.lines, text.whole, text.hint.argv),
        _parser("linux.ip_link"),
        embedded=True,
    ),
    Recogniser("infiniband.portstate", lambda text: ib_portstate.score(text.lines), _parser("infiniband.portstate"), embedded=True),
    Recogniser("infiniband.series", lambda text: ib_series.score(text.lines, text.whole), _parser("infiniband.series"), embedded=True),
    Recogniser("infiniband.tables", lambda text: ib_tables.score(text.lines, text.whole), _parser("infiniband.tables"), embedded=True),
    Recogniser("linux.nets", lambda text: linux_nets.score(text.lines), _parser("linux.nets"), embedded=True),
    Recogniser("collective.tests", lambda text: rank_forms.of_tests(text.lines), _parser("collective.tests"), embedded=True),
    Recogniser("network.reach", lambda text: rdma_forms.of_reach(text.lines), _parser("network.reach"), embedded=True),
    Recogniser(
        "kernel.outcomes",
        lambda text: kernel_outcomes.score(text.lines, f"{' '.join(text.hint.argv)}\n{text.whole}"),
        _parser("kernel.outcomes"),
    ),
    Recogniser("network.neighbours", lambda text: rdma_forms.of_neighbours(text.lines), _parser("network.neighbours")),
    Recogniser("linux.limits", lambda text: rdma_forms.of_limits(text.lines, text.hint.argv), _parser("linux.limits"), embedded=True),
    Recogniser("linux.df", lambda text: stall_forms.of_df(text.lines), _parser("linux.df"), embedded=True),
    Recogniser("linux.ps", lambda text: stall_forms.of_ps(text.lines, text.hint.argv), _parser("linux.ps"), embedded=True),
    Recogniser("linux.orphans", lambda text: linux_orphans.score(text.lines), _parser("linux.orphans"), embedded=True),
    Recogniser("linux.device_users", lambda text: linux_orphans.users_score(text.lines), _parser("linux.device_users"), embedded=True),
    Recogniser("linux.quota", lambda text: stall_forms.of_quota(text.lines), _parser("linux.quota"), embedded=True),
    Recogniser("nvidia.gpustat", lambda text: metric_forms.of_gpustat(text.lines), _parser("nvidia.gpustat"), embedded=True),
    Recogniser("nvidia.ecc_table", lambda text: ecc_table.score(text.lines), _parser("nvidia.ecc_table"), embedded=True),
    Recogniser("tracker.gpus", lambda text: metric_forms.of_tracker(text.lines), _parser("tracker.gpus"), embedded=True),
    Recogniser("nvidia.dmon", lambda text: metric_forms.of_dmon(text.lines), _parser("nvidia.dmon"), embedded=True),
    Recogniser("torch.flight_recorder", lambda text: job_forms.of_flight_recorder(text.whole), _parser("torch.flight_recorder")),
    Recogniser("nccl.ras", lambda text: job_forms.of_ras(text.lines, text.whole), _parser("nccl.ras")),
    Recogniser("python.stacks", lambda text: job_forms.of_stacks(text.lines), _parser("python.stacks"), embedded=True),
    Recogniser("serving.load", lambda text: engine_load.score(text.lines), _parser("serving.load"), embedded=True),
    Recogniser("gpu.means", lambda text: gpu_means.score(text.lines), _parser("gpu.means"), embedded=True),
    Recogniser("gdb.stacks", lambda text: gdb_stacks.score(text.lines), _parser("gdb.stacks"), embedded=True),
    Recogniser("prometheus.targets", lambda text: monitoring_forms.of_targets(text.whole), _parser("prometheus.targets")),
    Recogniser("prometheus.rules", lambda text: monitoring_forms.of_rules(text.lines, text.whole), _parser("prometheus.rules")),
    Recogniser("prometheus.names", lambda text: monitoring_forms.of_names(text.whole), _parser("prometheus.names")),
    Recogniser("prometheus.listing", lambda text: monitoring_forms.of_listing(text.lines, text.hint.argv), monitoring_forms.listing),
    Recogniser("dcgm.counters", lambda text: monitoring_forms.of_counters(text.lines), _parser("dcgm.counters"), embedded=True),
    Recogniser("kubectl.services", lambda text: monitoring_forms.of_services(text.lines), monitoring_forms.services, embedded=True),
    Recogniser("kubectl.endpoints", lambda text: monitoring_forms.of_endpoints(text.lines), monitoring_forms.endpoints),
    Recogniser("kubectl.monitors", lambda text: monitor_forms.of_monitors(text.lines, text.hint.argv), monitor_forms.monitors),
    Recogniser("kubectl.prometheuses", lambda text: monitor_forms.of_servers(text.lines, text.hint.argv), monitor_forms.servers),
    Recogniser("kubectl.namespaces", lambda text: monitor_forms.of_namespaces(text.lines, text.hint.argv), monitor_forms.namespaces),
    Recogniser("python.functions", lambda text: job_forms.of_functions(text.lines), _parser("python.functions")),
    Recogniser("prometheus.range", lambda text: metric_forms.of_range(text.whole), _parser("prometheus.range")),
    Recogniser(
        "prometheus.queries", lambda text: metric_forms.of_queries(text.whole, text.hint.argv), _parser("prometheus.queries"), embedded=True
    ),
    Recogniser("prometheus.counts", lambda text: metric_forms.of_counts(text.whole, text.hint.argv), _parser("prometheus.counts")),
    Recogniser("prometheus.said", lambda text: metric_forms.of_said(text.lines), _parser("prometheus.said"), embedded=True),
    Recogniser("prometheus.up", lambda text: metric_forms.of_up(text.whole, text.hint.argv), _parser("prometheus.up")),
    Recogniser("prometheus.text", lambda text: metric_forms.of_metrics(text.lines), _parser("prometheus.text"), embedded=True),
    Recogniser("kubectl.describe", lambda text: kubectl_describe.score(text.lines), kubectl_describe.describe),
    Recogniser("kubectl.get", lambda text: kubectl_tables.score(text.lines), kubectl_tables.tables),
    Recogniser("kubectl.columns", lambda text: node_amounts.score(text.lines), node_amounts.tables, embedded=True),
    Recogniser("kubectl.events", lambda text: log_forms.of_events(text.lines), _events),
    Recogniser("autoscaler.status", lambda text: autoscaler_status.score(text.lines), autoscaler_status.status, embedded=True),
    Recogniser("ray.status", lambda text: ray_status.score(text.lines), ray_status.status, embedded=True),
    Recogniser("kubectl.taint", lambda text: node_columns.score(text.lines, text.hint.argv), node_columns.tainted, embedded=True),
    Recogniser("kubectl.labels", lambda text: manifests.label_score(text.lines, text.hint.argv), manifests.labels),
    Recogniser("kernel.log", lambda text: log_forms.of_kernel(text.lines, text.hint.verb), _parser("kernel.log")),
    Recogniser("logs.errors", lambda text: log_forms.of_errors(text.lines), _parser("logs.errors")),
    Recogniser("scheduler.message", lambda text: log_forms.of_scheduler(text.lines, text.whole), _scheduler),
    Recogniser("job.counters", lambda text: rank_counters.score(text.lines), _parser("job.counters"), embedded=True),
    Recogniser("nccl.log", lambda text: rank_forms.score(text.lines, text.whole), _parser("nccl.log"), embedded=True),
    Recogniser("logs.text", lambda text: log_forms.of_log(text.lines, text.hint.verb), _parser("logs.text")),
    Recogniser("program.memory", lambda text: stall_forms.of_memory(text.lines), _parser("program.memory"), embedded=True),
    Recogniser("training.log", lambda text: stall_forms.of_progress(text.lines), _parser("training.log"), embedded=True),
    Recogniser("text.measures", lambda text: stall_forms.of_measures(text.lines, text.hint.argv), _parser("text.measures"), embedded=True),
    Recogniser("gpu.stated", lambda text: stall_forms.of_told(text.lines, text.whole), _parser("gpu.stated"), embedded=True),
    Recogniser("environment.settings", lambda text: setting_forms.score(text.lines, text.hint.argv), _parser("environment.settings")),
)
# What no other one knows.
LINES = Recogniser("text", lambda text: 1, _parser("logs.text"))
