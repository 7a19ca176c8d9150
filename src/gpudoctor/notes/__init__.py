"""What people write in their own words and tables. All facts of it are `stated`."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    # Logs of the ranks of a distributed job, and of what launches it.
    "job.counters": Parser(("collectives",), "rank_counters:counters"),
    "kernel.outcomes": Parser(("kernel_outcomes",), "kernel_outcomes:outcomes"),  # rows of kernels and how RDMA went with them
    "text.measures": Parser(("measures", "paces"), "measures:measures"),  # numbers that tools, programs and notes state
    "prometheus.said": Parser(("wanted_metrics",), "missing_metrics:missing_metrics"),  # metrics that somebody says he misses
    "gpu.stated": Parser(("gpu_samples",), "gpu_statements:samples"),  # in notes
    "gpu.means": Parser(("gpu_samples",), "gpu_means:means"),  # of a job, of a query over a time
}
