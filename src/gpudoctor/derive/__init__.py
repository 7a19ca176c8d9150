"""Measurements over facts of several types. They return facts and name no cause.

A derivation is `(facts, inputs, now) -> Facts`: `facts` holds by type what was read so far of its `needs` and `beside`, `inputs` are the
runbook's, `now` is the newest time among the facts (seconds since the epoch, 0.0 when none has one).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from gpudoctor.facts import Fact, Facts


class Derivation(NamedTuple):
    """`needs` are the fact types without which its checks are unknown, `beside` those that it reads when they are there, `fills` those
    that it returns; the function is imported when it is first used. One that is `asked` measures what a command line named, so it means
    nothing for files. What files gave is measured when there is a record of one of `files`, by default of the first that it needs.
    """

    needs: tuple[str, ...]
    fills: tuple[str, ...]
    function: str
    beside: tuple[str, ...] = ()
    asked: bool = False
    files: tuple[str, ...] = ()


DERIVATIONS: dict[str, Derivation] = {
    "scheduling.table": Derivation(
        needs=("pods", "nodes", "node_usage"),
        fills=("node_groups", "fits", "scheduling", "waits"),
        function="scheduling:table",
        beside=("claims", "volumes", "schedule_reasons", "namespace_labels"),
    ),
    "hosts.asked": Derivation((), ("hosts", "targets"), "hosts:requested_hosts", beside=("nodes",), asked=True),
    "hosts.of_stack": Derivation(("stack",), ("hosts",), "hosts:of_stack", asked=True),
    "kernel.errors": Derivation(("xids",), ("gpu_errors",), "gpu_errors:errors", beside=("gpus",)),
    "kernel.timeline": Derivation(
        ("xids",), ("timeline",), "timeline:timeline", beside=("sxids", "messages", "gpus", "pods", "process_pods")
    ),
    "gpus.compared": Derivation(("gpus",), ("outliers",), "outliers:find_outliers", beside=("kernel_modules",)),
    "fabric.measured": Derivation(
        needs=("gpus",),
        fills=("nvlink_sums", "fabrics"),
        function="fabric:measure_fabric",
        beside=("nvlinks", "gpu_paths", "pci_devices"),
        files=("gpus", "nvlinks", "gpu_paths", "pci_devices"),
    ),
    "fabric.links": Derivation(("ib_ports",), ("ib_links",), "ib_links:links"),
    "fabric.growth": Derivation(("ib_counters",), ("ib_growth",), "ib_growth:growth", beside=("ib_ports",)),
    "gpus.error_moves": Derivation(("error_readings",), ("error_moves",), "error_moves:measure_moves"),
    "gpus.programs": Derivation(("gpu_processes",), ("gpu_programs",), "gpu_programs:programs"),
    "gpus.table": Derivation(("gpus",), ("gpu_rows",), "gpu_table:table", beside=("xids", "pci_devices"), asked=True),
    "gpus.throttling": Derivation(("gpu_samples",), ("throttling",), "throttling:measure_throttling", beside=("gpus",)),
    "gpus.use": Derivation(
        ("gpu_samples",), ("gpu_use", "node_use"), "gpu_use:measure_gpu_use", beside=("gpus", "gpu_processes", "slurm_jobs")
    ),
    "job.state": Derivation(
        needs=("ranks",),
        fills=("jobs", "rank_groups", "rank_differences"),
        function="job:state",
        beside=("communicators", "collectives", "collective_tests", "messages", "settings", "pods", "nodes", "paces"),
        files=("ranks", "collectives", "communicators"),
    ),
    "job.hosts": Derivation(("jobs",), ("hosts",), "job_hosts:suspects", beside=("ranks", "pods"), asked=True),
    "monitoring.paths": Derivation(
        needs=("exporters", "services", "monitors", "pod_monitors", "prometheuses", "namespace_labels", "scrape_targets"),
        fills=("scrape_paths",),
        function="scrape_paths:paths",
        beside=("service_endpoints", "pods"),
        files=("exporters", "services", "prometheuses", "monitors"),
    ),
    "monitoring.nodes": Derivation(("exporters", "nodes"), ("exporter_nodes",), "scrape_paths:nodes", asked=True),
    "monitoring.uncovered": Derivation(
        ("pods",), ("exporter_nodes",), "exporters_missing:nodes_without", beside=("nodes", "workloads"), files=("pods", "workloads")
    ),
    "pods.siblings": Derivation(("pods",), ("siblings",), "siblings:siblings"),
    "queues.short": Derivation(("allowances",), ("queue_shortages",), "queues:shortages", beside=("pod_templates", "pods", "workloads")),
    "settings.compared": Derivation(
        ("settings",), ("setting_rows", "setting_matches"), "settings:compare_settings", beside=("interfaces", "ib_ports", "pods")
    ),
    "slurm.hosts": Derivation(("slurm_nodes",), ("hosts",), "slurm:hosts", asked=True),
    "stack.order": Derivation(("pods", "containers"), ("stack",), "stack:order"),
    "stacks.summed": Derivation(("stacks",), ("stack_sums",), "stack_sum:sum_stacks"),
    "targets.found": Derivation(("pods", "workloads", "names"), ("targets",), "targets:find_targets", asked=True),
}

# A measurement that is taken again replaces the earlier one.
DERIVED = frozenset(kind for derivation in DERIVATIONS.values() for kind in derivation.fills)

Function = Callable[[Mapping[str, list[Fact]], Mapping[str, object], float], Facts]


def load(name: str) -> Function:
    """The function behind a name of the table."""
    from importlib import import_module

    module, _, function = DERIVATIONS[name].function.partition(":")
    loaded: Function = getattr(import_module(f"{__name__}.{module}"), function)
    return loaded


def run_derivation(name: str, facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """What a measurement gives. Taken over what people state it is no better than that."""
    made = load(name)(facts, inputs, now)
    read = [record for kind in DERIVATIONS[name].needs for record in facts.get(kind, ())]
    if not read or not all(record.stated for record in read):
        return made
    return {kind: [msgspec.structs.replace(record, stated=True) for record in records] for kind, records in made.items()}
